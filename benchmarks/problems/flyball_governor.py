"""Stiff flyball governor (A05 of the IFToMM library): a shaft, a slider on it, two rods with balls, stiff springs.

A tree: the shaft turns about z, the slider moves along it, the rods are hinged at its top. Each rod's middle is held to
the slider by a spring with a damper, so stiff that they act as links: the difficulty is the integrator's.

Sources disagree on the initial speed of the shaft: 2 pi rad/s in one port, 0.16 * 2 pi in another. Both are run.

Both rods move alike, so that three coordinates remain: the shaft's angle, the rods' angle b below the horizontal, and
the slider's height s. The angular momentum about z, I(b) w, is constant, which leaves

    m s'' = -m g - 2 F dl/ds,    2 J b'' = I'(b) w^2 / 2 - dV/db - 2 F dl/db,    F = k (l - l_0) + c l',

with m the slider's mass, J the inertia of a rod about its hinge, and l the length of a spring. These equations, written
without the robot (`reduced`), gave the table of answers: DOP853 at 1e-12 and Radau at 1e-12 differ by at most 8e-12 in
angles and height, and 5e-11 in their rates.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dynbench.benchmarks.problems.problem import Problem
from dynbench.robots import Body, Fixed, Prismatic, Revolute, Robot, Spring
from dynbench.robots.robot import FloatArray

LENGTH, WIDTH, DENSITY = 1.0, 0.01, 3000.0  # of shaft and rods
SLIDER = 0.1  # edge
BALL = 5.0
AXLES = 0.05  # of the rods, from the axis
STIFFNESS, DAMPING, REST_LENGTH = 8e5, 4e4, 0.5
ANGLE = np.deg2rad(30.0)  # of the rods below the horizontal at the start
HEIGHT = 0.5  # of the slider at the start
GRAVITY, HORIZON = 9.81, 10.0
ROD_MASS, SLIDER_MASS = DENSITY * LENGTH * WIDTH**2, DENSITY * SLIDER**3
SPEEDS = {"flyball-governor": 2.0 * np.pi, "flyball-governor-slow": 0.16 * 2.0 * np.pi}
EYE = np.eye(3)
Rates = Callable[[float, FloatArray], list[float]]
# at t = 1, 2, ..., 10 s: shaft's angle, b, s, b', s'
ANSWERS: dict[str, list[list[float]]] = {
    "flyball-governor": [
        [5.586346965869, 0.5218333016255, 0.5014209223796, 0.1408855794795, -0.1221514928977],
        [11.17326707566, 0.5166637973646, 0.5059092942967, 0.2769261885722, -0.2407831469836],
        [16.76130897169, 0.5082455269692, 0.5132460783402, 0.4035648531924, -0.3525436217167],
        [22.35094043357, 0.4968599825883, 0.523223371026, 0.5169131926013, -0.4543844518121],
        [27.94253199104, 0.4828745765869, 0.5355631037216, 0.6139170473889, -0.5436826902778],
        [33.53634491777, 0.4667207804495, 0.5499286659056, 0.6924419320104, -0.6183259213866],
        [39.13253062851, 0.4488714492184, 0.5659381577194, 0.7512568316937, -0.6767591661929],
        [44.73113923982, 0.4298195471851, 0.5831783367098, 0.7899419465793, -0.7179948235217],
        [50.33213420282, 0.4100597595854, 0.6012184020475, 0.8087523425123, -0.7415906601115],
        [55.9354099091, 0.3900737018446, 0.6196229170614, 0.8084670513456, -0.7476033541643],
    ],
    "flyball-governor-slow": [
        [3.470742298357, 0.5269333016121, 0.4970948184998, -0.2407769600669, 0.2081661118165],
        [6.941278344978, 0.536934514715, 0.4884740084922, -0.4810134136793, 0.413385351911],
        [10.41138880959, 0.5535752807642, 0.4742446319806, -0.720127366977, 0.6126439354072],
        [13.88082542713, 0.5768154478125, 0.4546171847809, -0.9574698429401, 0.8026269891576],
        [17.34929294504, 0.6065952598381, 0.4298990896753, -1.192263210395, 0.979630738869],
        [20.81642523657, 0.6428307694023, 0.4005068739923, -1.423522088993, 1.139464951203],
        [24.2817520185, 0.6854065736649, 0.3669805932122, -1.649936436956, 1.277390928808],
        [27.74465000716, 0.7341645695759, 0.3299992542196, -1.869696843141, 1.388115251511],
        [31.20426798062, 0.7888867250908, 0.2903953108196, -2.080230272225, 1.465868716572],
        [34.65940704998, 0.8492687004765, 0.2491653323812, -2.2777912334, 1.504611508618],
    ],
}


def cuboid(mass: float, x: float, y: float, z: float) -> FloatArray:
    """Return the moments of inertia of a cuboid, (3,)."""
    return mass / 12.0 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])


def robot() -> Robot:
    """Return the governor; q is shaft, slider (from its height at the start), right rod, left rod (from theirs)."""
    bodies = [
        Body(name="shaft", joint=Revolute([0, 0, 1]), mass=ROD_MASS, com=[0.0, 0.0, 0.5 * LENGTH],
             inertia=cuboid(ROD_MASS, WIDTH, WIDTH, LENGTH)),
        Body(name="slider", parent="shaft", joint=Prismatic([0, 0, 1]), placement=(EYE, [0.0, 0.0, HEIGHT]),
             mass=SLIDER_MASS, inertia=cuboid(SLIDER_MASS, SLIDER, SLIDER, SLIDER)),
    ]  # fmt: skip
    c, s = np.cos(ANGLE), np.sin(ANGLE)
    springs = []
    for name, side in (("right", 1.0), ("left", -1.0)):
        # x along the rod, y the hinge's axis
        turn = np.array([[side * c, 0.0, side * s], [0.0, side, 0.0], [-s, 0.0, c]])
        bodies += [
            Body(name=name, parent="shaft", joint=Revolute([0, 1, 0]), placement=(turn, [side * AXLES, 0.0, LENGTH]),
                 mass=ROD_MASS, com=[0.5 * LENGTH, 0.0, 0.0], inertia=cuboid(ROD_MASS, LENGTH, WIDTH, WIDTH)),
            Body(name=f"{name} ball", parent=name, joint=Fixed(), placement=(EYE, [LENGTH, 0.0, 0.0]), mass=BALL),
        ]  # fmt: skip
        springs.append(
            Spring(body1="slider", body2=name, point1=[side * 0.5 * SLIDER, 0.0, 0.0], point2=[0.5 * LENGTH, 0.0, 0.0],
                   stiffness=STIFFNESS, damping=DAMPING, rest_length=REST_LENGTH)
        )  # fmt: skip
    return Robot.from_bodies("flyball-governor", bodies, gravity=(0.0, 0.0, -GRAVITY), springs=springs)


def reduced(speed: float) -> tuple[FloatArray, Rates]:
    """Return the start (shaft's angle, b, s, b', s') and the right-hand side f(t, y) of the three coordinates."""
    moments = cuboid(ROD_MASS, LENGTH, WIDTH, WIDTH)
    swing = moments[1] + ROD_MASS * (0.5 * LENGTH) ** 2 + BALL * LENGTH**2  # of one rod with its ball about its hinge
    hub = cuboid(ROD_MASS, WIDTH, WIDTH, LENGTH)[2] + cuboid(SLIDER_MASS, SLIDER, SLIDER, SLIDER)[2]

    def about_z(b: float) -> tuple[float, float]:
        """I(b) and I'(b)."""
        c, s = np.cos(b), np.sin(b)
        middle, end = AXLES + 0.5 * LENGTH * c, AXLES + LENGTH * c
        one = moments[0] * s * s + moments[2] * c * c + ROD_MASS * middle**2 + BALL * end**2
        slope = 2.0 * (moments[0] - moments[2]) * s * c - ROD_MASS * middle * LENGTH * s - 2.0 * BALL * end * LENGTH * s
        return float(hub + 2.0 * one), float(2.0 * slope)

    momentum = about_z(float(ANGLE))[0] * speed
    weight = (0.5 * ROD_MASS + BALL) * LENGTH * GRAVITY  # of one rod: its height is LENGTH - ... sin(b)

    def rates(t: float, y: FloatArray) -> list[float]:
        _, b, height, db, dheight = y
        inertia, slope = about_z(b)
        w = momentum / inertia
        c, s = np.cos(b), np.sin(b)
        across, up = 0.5 * LENGTH * c + AXLES - 0.5 * SLIDER, LENGTH - 0.5 * LENGTH * s - height
        l = np.hypot(across, up)
        by_b, by_height = -0.5 * LENGTH * (across * s + up * c) / l, -up / l
        pull = STIFFNESS * (l - REST_LENGTH) + DAMPING * (by_b * db + by_height * dheight)
        ddb = (0.5 * slope * w * w + 2.0 * weight * c - 2.0 * pull * by_b) / (2.0 * swing)
        ddheight = -GRAVITY - 2.0 * pull * by_height / SLIDER_MASS
        return [w, db, dheight, ddb, ddheight]

    return np.array([0.0, ANGLE, HEIGHT, 0.0, 0.0]), rates


def state(row: FloatArray, speed: float) -> tuple[FloatArray, FloatArray]:
    """Return q and v of the robot at a state of `reduced`."""
    _, rates = reduced(speed)
    turn, b, height, db, dheight = row
    w = rates(0.0, row)[0]
    return np.array([turn, height - HEIGHT, b - ANGLE, b - ANGLE]), np.array([w, dheight, db, db])


def flyball_governor(name: str = "flyball-governor") -> Problem:
    """Return the problem with one of the two initial speeds, by its name in `SPEEDS`."""
    speed, made = SPEEDS[name], robot()
    times = np.linspace(0.0, HORIZON, 11)[1:]

    def row(t: float) -> FloatArray:
        k = int(np.argmin(np.abs(times - t)))
        if abs(times[k] - t) > 1e-9:
            raise ValueError(f"the answers of the flyball governor are for t = 1, 2, ..., 10 s, not for {t:g} s")
        return np.array(ANSWERS[name][k])

    def outputs(q: FloatArray, v: FloatArray) -> FloatArray:
        return np.array([HEIGHT + q[1], ANGLE + q[2], q[0]])

    return Problem(
        name=name,
        title=f"Flyball governor, {speed:.3g} rad/s at the start",
        robot=made,
        q0=np.zeros(4),
        v0=np.array([speed, 0.0, 0.0, 0.0]),
        horizon=HORIZON,
        output_names=("slider, m", "rods below the horizontal, rad", "shaft, rad"),
        outputs=outputs,
        answer=lambda t: row(t)[[2, 1, 0]],
        source="IFToMM A05; by symmetry three coordinates, integrated to 1e-12",
        compared=times,
        energy=lambda t: float(made.energy(*state(row(t), speed))),
        solvers=("Radau", "DOP853"),
        rtols=(1e-4, 1e-6, 1e-8, 1e-10),
    )


def problems() -> list[Problem]:
    """Return the problem with either initial speed."""
    return [flyball_governor(name) for name in SPEEDS]
