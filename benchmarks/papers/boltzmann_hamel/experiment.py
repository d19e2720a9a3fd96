"""The simulation of the Boltzmann-Hamel paper: a free-floating robot pushed at the tips of its two arms.

Khoshnood, Heidari Someeh and Hosseini Nami move a 400 kg base with two arms of two links on frictionless spherical
joints (table 1) from rest by constant forces at the arms' ends, and compare plots with a commercial program. Three
things are not in the paper:

    geometry      table 1 gives magnitudes; arms opposed along z ("opposed_z", a planar motion), or side by side
                  ("parallel_x", spatial)
    force_frame   "body", forces that turn with the link, as the index of F_2(1) suggests; or "inertial"
    duration      10 s

Any method that computes forward dynamics of trees can run it. Three balances are reported separately, because they do
not test the same equations: (19) and (20) alone enforce the momenta, whatever the joints do; only the energy sees E_i.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynbench import robots
from dynbench.benchmarks.simulation.inputs import Torques
from dynbench.benchmarks.simulation.scenario import Measure, Recording, Scenario
from dynbench.benchmarks.simulation.simulate import Force
from dynbench.methods.base import Method
from dynbench.robots import kinematics, quaternion
from dynbench.robots.errors import UnknownNameError, near
from dynbench.robots.robot import FloatArray, Robot

PAPER = "boltzmann-hamel"
METHOD = "boltzmann-hamel-recursions"  # the paper's own algorithm
ENGINES = ("pinocchio", "mujoco")  # in the part of ADAMS, those that are installed
GEOMETRIES = {"opposed_z": "space-dual-arm", "parallel_x": "space-dual-arm-parallel"}
FORCE_FRAMES = ("body", "inertial")
CASES = tuple((geometry, frame) for geometry in GEOMETRIES for frame in FORCE_FRAMES)
TIP_FORCES = {"arm1": (1.0, -1.0, 1.0), "arm2": (2.0, -2.0, -2.0)}  # F_2(1), F_2(2) in N, at the far end of link 2
DURATION = 10.0
SAMPLES = 30
RTOL, ATOL = 1e-12, 1e-13


@dataclass(frozen=True)
class TipForces:
    """Constant forces at the ends of arms, fixed in the last link or in space."""

    robot: Robot
    paths: tuple[tuple[int, ...], ...]  # of each arm, its links from the base outward
    points: FloatArray  # (k, 3) from the last link's frame, link axes, m
    forces: FloatArray  # (k, 3) link or world axes, N
    follow: bool  # whether the forces turn with their links

    def wrench(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return the external wrenches of all bodies, shape (n, 6)."""
        wrench = np.zeros((self.robot.n, 6))
        for path, point, force, (R, _, _) in zip(self.paths, self.points, self.forces, self.tips(q, v), strict=True):
            push = force if self.follow else R.T @ force
            wrench[path[-1]] += [*push, *_cross(point, push)]
        return wrench

    def input(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return what the forces feed in: total force, total moment about the world's origin, power; shape (7,)."""
        fed = np.zeros(7)
        for force, (R, place, velocity) in zip(self.forces, self.tips(q, v), strict=True):
            push = R @ force if self.follow else force
            fed += [*push, *_cross(place, push), push @ velocity]
        return fed

    def tips(self, q: FloatArray, v: FloatArray) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        """Yield the last link's rotation and the pushed point's position and velocity, in world, arm by arm.

        Written out for this robot (spherical joints, all frames parallel at zero): `kinematics` is made for batches
        and takes ten times as long for one state.
        """
        turns = quaternion.matrix(q[3:].reshape(-1, 4))  # of each body to its parent
        for path, point in zip(self.paths, self.points, strict=True):
            R, place = turns[0], q[:3]
            velocity, spin = R @ v[:3], R @ v[3:6]
            for body in path:
                step = R @ self.robot.translation[body]
                place, velocity = place + step, velocity + _cross(spin, step)
                R = R @ turns[body]
                spin = spin + R @ v[self.robot.iv[body] : self.robot.iv[body] + 3]
            step = R @ point
            yield R, place + step, velocity + _cross(spin, step)


MEASURES = {
    "position": Measure(lambda found: position(found), "m"),
    "attitude": Measure(lambda found: kinematics.poses(found.robot, found.q)[0]),
    "momentum": Measure(lambda found: kinematics.momentum(found.robot, found.q, found.v), "kg m/s, kg m^2/s"),
    "kinetic energy": Measure(lambda found: np.asarray(kinematics.kinetic_energy(found.robot, found.q, found.v)), "J"),
    "linear momentum": Measure(lambda found: gained(found, "momentum", slice(0, 3)), "kg m/s"),
    "angular momentum": Measure(lambda found: gained(found, "momentum", slice(3, 6)), "kg m^2/s"),
    "energy": Measure(lambda found: gained(found, "kinetic energy", 6), "J"),
}
BALANCES = ("linear momentum", "angular momentum", "energy")  # each what is gained less what the forces fed in


def position(found: Recording) -> FloatArray:
    """Centres of mass (K, n, 3), world, m."""
    R, p = kinematics.poses(found.robot, found.q)
    return np.asarray(p + np.einsum("sbij,bj->sbi", R, found.robot.com))


def displacement(found: Recording) -> FloatArray:
    """Displacements of the centres of mass since the start (K, n, 3), world, m; Figs. 3 to 7."""
    place = position(found)
    return np.asarray(place - place[0])


def angles(found: Recording) -> FloatArray:
    """Roll, pitch and yaw (3-2-1) of the links relative to space (K, n - 1, 3), rad, continuous; Figs. 8 to 11."""
    R = kinematics.poses(found.robot, found.q)[0][:, 1:]
    roll = np.arctan2(R[..., 2, 1], R[..., 2, 2])
    pitch = np.arcsin(np.clip(-R[..., 2, 0], -1.0, 1.0))
    yaw = np.arctan2(R[..., 1, 0], R[..., 0, 0])
    return np.unwrap(np.stack([roll, pitch, yaw], axis=-1), axis=0)


def gained(found: Recording, measure: str, part: slice | int) -> FloatArray:
    """What a part of a measure gained since the start, less what the forces fed in: zero."""
    value = found[measure] if isinstance(part, int) else found[measure][:, part]
    return np.asarray(value - value[0] - found.integrals[:, part])


def residuals(found: Recording) -> dict[str, float]:
    """Return the largest residual of each of `BALANCES`."""
    return {name: float(np.abs(found[name]).max()) for name in BALANCES}


def tip_forces(geometry: str, force_frame: str, scale: float = 1.0) -> TipForces:
    """Return the paper's forces on the robot of a geometry.

    Parameters
    ----------
    geometry : "opposed_z" or "parallel_x"
    force_frame : "body" or "inertial"
    scale : float
        Factor on the forces; 0 lets the robot coast.
    """
    for what, name, known in (("geometry", geometry, GEOMETRIES), ("force frame", force_frame, FORCE_FRAMES)):
        if name not in known:
            raise UnknownNameError(f"no {what} is called {name!r}; {near(name, known)}")
    robot = robots.load(GEOMETRIES[geometry])
    paths = tuple(tuple(robot.body_index(f"{arm}_link{i}") for i in (1, 2)) for arm in TIP_FORCES)
    last = [path[-1] for path in paths]
    forces = scale * np.array(list(TIP_FORCES.values()))
    # a link is as long beyond its centre of mass as before it: r_2 = R_2
    return TipForces(robot, paths, 2.0 * robot.com[last], forces, follow=force_frame == "body")


def pushed(
    geometry: str = "opposed_z",
    force_frame: str = "body",
    *,
    duration: float = DURATION,
    samples: int = SAMPLES,
    v0: FloatArray | None = None,
    scale: float = 1.0,
    force: Force | None = None,
) -> Scenario:
    """Return the paper's experiment.

    Parameters
    ----------
    geometry : "opposed_z" or "parallel_x"
    force_frame : "body" or "inertial"
    duration : float
        Seconds.
    samples : int
        Equal steps at whose ends the integrator stops, so that states there are not interpolated.
    v0 : ndarray, shape (nv,)
        Velocity at the start; at rest unless given.
    scale : float
        Factor on the paper's forces.
    force : callable
        ``f(t, q, v)``: generalized forces (nv,) besides; the paper's joints have no actuators.
    """
    tips = tip_forces(geometry, force_frame, scale)
    robot = tips.robot
    return Scenario(
        name=f"space-robot-{geometry.replace('_', '-')}-{force_frame}",
        title="a free-floating robot pushed at the tips of its two arms",
        robot=robot,
        q0=robot.neutral(),
        v0=np.zeros(robot.nv) if v0 is None else np.asarray(v0, dtype=float),
        horizon=duration,
        inputs=force or Torques.constant(np.zeros(robot.nv)),
        methods=(METHOD, "boltzmann-hamel", "newton-euler"),
        wrench=tips.wrench,
        integrals=tips.input,
        switches=tuple(np.linspace(0.0, duration, samples + 1).tolist()),
        measures=MEASURES,
        rtol=RTOL,
        atol=ATOL,
    )


def run(method: str | Method = METHOD, *where: str, rtol: float = RTOL, atol: float = ATOL, **how: Any) -> Recording:
    """Run `pushed` by a method; states at the ends of its steps, the first at t = 0."""
    scenario = pushed(*where, **how)
    return scenario.run(method, rtol=rtol, atol=atol, times=np.array(scenario.switches))


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    (a1, a2, a3), (b1, b2, b3) = a, b
    return np.array([a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1])
