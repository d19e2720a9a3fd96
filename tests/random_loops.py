"""Random mechanisms with redundant loops, seeded: a stress test of everything that follows closed loops.

    hinged four-bar      planar, turned in space, closed by a hinge (five rows, two of them independent) or a ball joint
    parallelogram        two to four equal cranks on one coupler, closed by hinges: passes aligned positions
    slider-crank         planar, turned in space, with a slider
    ladder               two four-bars in a row, closed by hinges
    Bennett              four hinges in space, sin(alpha) / a = sin(beta) / b: overconstrained, one degree of freedom

Centres of mass are in the plane of planar mechanisms or not; gravity has any direction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dynbench.robots import Body, Loop, Prismatic, Revolute, Robot, random_inertia, random_rotation
from dynbench.robots.robot import FloatArray

HINGE = (True, True, True, True, True, False)
BALL = (True, True, True, False, False, False)
KINDS = ("hinged four-bar", "parallelogram", "slider-crank", "ladder", "bennett")
EYE = np.eye(3)


def random_loop(seed: int) -> Robot:
    """Return the mechanism of a seed; kinds take turns."""
    rng = np.random.default_rng([seed, 18])
    kind = KINDS[seed % len(KINDS)]
    bodies, loops, home = _MADE[kind](rng)
    gravity = 9.81 * random_rotation(rng)[:, 0]
    return Robot.from_bodies(
        f"{kind.replace(' ', '-')}-{seed}", bodies, gravity=gravity, loops=loops, actuated=[bodies[0].name], home=home
    )


Made = tuple[list[Body], list[Loop], FloatArray]


def _link(
    rng: np.random.Generator, name: str, parent: str | None, joint: Any, R: FloatArray, p: Any, length: float
) -> Body:
    com = [0.5 * length, *rng.normal(0.0, 0.05, 2)]
    return Body(name=name, parent=parent, joint=joint, placement=(R, p), mass=rng.uniform(0.5, 2.0), com=com,
                inertia=0.1 * length**2 * random_inertia(rng))  # fmt: skip


def _four_bar(rng: np.random.Generator) -> Made:
    ground, crank, coupler, rocker = _grashof(rng)
    R, origin = random_rotation(rng), rng.normal(0.0, 1.0, 3)
    z = Revolute([0, 0, 1])
    bodies = [
        _link(rng, "crank", None, z, R, origin, crank),
        _link(rng, "coupler", "crank", z, EYE, [crank, 0, 0], coupler),
        _link(rng, "rocker", None, z, R, origin + R @ [ground, 0, 0], rocker),
    ]
    closes = HINGE if rng.random() < 0.7 else BALL
    loops = [_joined("coupler", coupler, "rocker", rocker, closes)]
    return bodies, loops, _angles(ground, crank, coupler, rocker, rng.uniform(0.3, 1.2))


def _parallelogram(rng: np.random.Generator) -> Made:
    count = int(rng.integers(2, 5))
    crank = rng.uniform(0.3, 1.0)
    places = np.cumsum(np.r_[0.0, rng.uniform(0.4, 1.0, count - 1)])
    R, origin = random_rotation(rng), rng.normal(0.0, 1.0, 3)
    z = Revolute([0, 0, 1])
    bodies = [
        _link(rng, "crank0", None, z, R, origin, crank),
        _link(rng, "coupler", "crank0", z, EYE, [crank, 0, 0], places[-1]),
        *(_link(rng, f"crank{k}", None, z, R, origin + R @ [places[k], 0, 0], crank) for k in range(1, count)),
    ]
    loops = [_joined("coupler", places[k], f"crank{k}", crank, HINGE) for k in range(1, count)]
    start = rng.uniform(0.5, 2.5)
    return bodies, loops, np.array([start, -start, *[start] * (count - 1)])


def _slider_crank(rng: np.random.Generator) -> Made:
    crank = rng.uniform(0.2, 0.4)
    rod = crank * rng.uniform(2.0, 4.0)
    R, origin = random_rotation(rng), rng.normal(0.0, 1.0, 3)
    start = rng.uniform(0.3, 2.5)
    tilt = -np.arcsin(crank * np.sin(start) / rod)
    bodies = [
        _link(rng, "crank", None, Revolute([0, 0, 1]), R, origin, crank),
        _link(rng, "rod", "crank", Revolute([0, 0, 1]), EYE, [crank, 0, 0], rod),
        _link(rng, "slider", None, Prismatic([1, 0, 0]), R, origin, 0.2),
    ]
    at = crank * np.cos(start) + rod * np.cos(tilt)
    return bodies, [_joined("rod", rod, "slider", 0.0, HINGE)], np.array([start, tilt - start, at])


def _ladder(rng: np.random.Generator) -> Made:
    R, origin = random_rotation(rng), rng.normal(0.0, 1.0, 3)
    z = Revolute([0, 0, 1])
    ground, crank, coupler, rocker = _grashof(rng)
    first = _angles(ground, crank, coupler, rocker, rng.uniform(0.3, 1.2))
    # a second four-bar whose crank is the rocker of the first, with a coupler and a rocker of its own
    far = ground + rng.uniform(0.9, 1.1)
    theta = first[2]
    tip = np.array([ground + rocker * np.cos(theta), rocker * np.sin(theta)])
    end = np.array([far + 0.3 * rocker, 0.8 * rocker])
    second, third = float(np.linalg.norm(end - tip)), float(np.hypot(*(end - [far, 0.0])))
    along, up = np.arctan2(*(end - tip)[::-1]), np.arctan2(end[1], end[0] - far)
    bodies = [
        _link(rng, "crank", None, z, R, origin, crank),
        _link(rng, "coupler", "crank", z, EYE, [crank, 0, 0], coupler),
        _link(rng, "rocker", None, z, R, origin + R @ [ground, 0, 0], rocker),
        _link(rng, "coupler2", "rocker", z, EYE, [rocker, 0, 0], second),
        _link(rng, "rocker2", None, z, R, origin + R @ [far, 0, 0], third),
    ]
    loops = [_joined("coupler", coupler, "rocker", rocker, HINGE), _joined("coupler2", second, "rocker2", third, HINGE)]
    return bodies, loops, np.array([*first, along - theta, up])


def _bennett(rng: np.random.Generator) -> Made:
    a, alpha = rng.uniform(0.4, 0.8), rng.uniform(0.4, 1.0)
    beta = rng.uniform(1.2, 2.0)
    b = a * np.sin(beta) / np.sin(alpha)
    R, origin = random_rotation(rng), rng.normal(0.0, 1.0, 3)
    z = Revolute([0, 0, 1])
    steps = [(_about_x(alpha), [a, 0, 0]), (_about_x(beta), [b, 0, 0]), (_about_x(alpha), [a, 0, 0])]
    bodies = [
        _link(rng, "first", None, z, R, origin, a),
        _link(rng, "second", "first", z, *steps[0], b),
        _link(rng, "third", "second", z, *steps[1], a),
    ]
    # the last bar is the ground's: back from the fourth hinge to the first
    back = _about_x(beta)
    loop = Loop(
        body1=None, body2="third", placement1=(R @ back.T, origin - R @ [b, 0, 0]), placement2=steps[2],
        closes=HINGE,
    )  # fmt: skip
    theta = rng.uniform(0.6, 1.8)
    other = 2.0 * np.arctan(np.sin(0.5 * (beta + alpha)) / np.sin(0.5 * (beta - alpha)) / np.tan(0.5 * theta))
    return bodies, [loop], np.array([theta, other, -theta])


_MADE = dict(zip(KINDS, (_four_bar, _parallelogram, _slider_crank, _ladder, _bennett), strict=True))


def _joined(one: str, x: float, two: str, y: float, closes: tuple[bool, ...]) -> Loop:
    return Loop(body1=one, body2=two, placement1=(EYE, [x, 0, 0]), placement2=(EYE, [y, 0, 0]), closes=closes)


def _grashof(rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Ground, crank, coupler and rocker of a four-bar whose crank turns all the way, with some margin."""
    crank = rng.uniform(0.2, 0.35)
    ground, coupler, rocker = rng.uniform(0.8, 1.0, 3)
    return float(ground), float(crank), float(coupler), float(rocker)


def _angles(ground: float, crank: float, coupler: float, rocker: float, theta: float) -> FloatArray:
    """Joint angles of a four-bar with the crank at theta."""
    tip = crank * np.array([np.cos(theta), np.sin(theta)])
    d = np.array([ground, 0.0]) - tip
    distance = np.hypot(*d)
    inner = np.arccos((coupler**2 + distance**2 - rocker**2) / (2.0 * coupler * distance))
    along = np.arctan2(d[1], d[0]) + inner
    end = tip + coupler * np.array([np.cos(along), np.sin(along)])
    return np.array([theta, along - theta, np.arctan2(end[1], end[0] - ground)])


def _about_x(angle: float) -> FloatArray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
