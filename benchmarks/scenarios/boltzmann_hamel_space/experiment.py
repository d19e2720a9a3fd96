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

from dynbench import methods, robots
from dynbench.benchmarks.simulation.simulate import Force, Trajectory, simulate
from dynbench.robots import kinematics, quaternion
from dynbench.robots.errors import UnknownNameError, near
from dynbench.robots.robot import FloatArray, Robot

PAPER = "boltzmann-hamel-space"
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


@dataclass(frozen=True)
class Run:
    """One simulation, and what its balances leave over. World axes; K samples, n bodies."""

    robot: Robot
    geometry: str
    force_frame: str
    trajectory: Trajectory
    position: FloatArray  # (K, n, 3) centres of mass, m
    attitude: FloatArray  # (K, n, 3, 3) rotations, body to world
    momentum: FloatArray  # (K, 6) linear, then angular about the world's origin
    kinetic_energy: FloatArray  # (K,) J
    fed: FloatArray  # (K, 7) impulse, angular impulse and work of the forces since the start

    @property
    def linear_residual(self) -> FloatArray:
        """Linear momentum gained less the forces' impulse, (K, 3), kg m/s."""
        return np.asarray(self.momentum[:, :3] - self.momentum[0, :3] - self.fed[:, :3])

    @property
    def angular_residual(self) -> FloatArray:
        """Angular momentum gained less the moments' impulse, (K, 3), kg m^2/s."""
        return np.asarray(self.momentum[:, 3:] - self.momentum[0, 3:] - self.fed[:, 3:6])

    @property
    def energy_residual(self) -> FloatArray:
        """Kinetic energy gained less the forces' work, (K,), J."""
        return np.asarray(self.kinetic_energy - self.kinetic_energy[0] - self.fed[:, 6])

    def residuals(self) -> dict[str, float]:
        """Return the largest of each."""
        found = {"linear": self.linear_residual, "angular": self.angular_residual, "energy": self.energy_residual}
        return {name: float(np.abs(residual).max()) for name, residual in found.items()}


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


def run(
    method: str = "boltzmann-hamel",
    geometry: str = "opposed_z",
    force_frame: str = "body",
    *,
    duration: float = DURATION,
    samples: int = SAMPLES,
    v0: FloatArray | None = None,
    scale: float = 1.0,
    force: Force | None = None,
    rtol: float = RTOL,
    atol: float = ATOL,
    **options: Any,
) -> Run:
    """Simulate the paper's experiment with a method.

    Parameters
    ----------
    method : str
        Name of a method that computes forward dynamics; ``options`` are its own.
    geometry : "opposed_z" or "parallel_x"
    force_frame : "body" or "inertial"
    duration : float
        Seconds.
    samples : int
        Equal steps at whose ends states are wanted; the integrator stops there, so none is interpolated.
    v0 : ndarray, shape (nv,)
        Velocity at the start; at rest unless given.
    scale : float
        Factor on the paper's forces.
    force : callable
        ``f(t, q, v)``: generalized forces (nv,) besides; the paper's joints have no actuators.

    Returns
    -------
    Run
        With samples + 1 states, the first at t = 0.
    """
    tips = tip_forces(geometry, force_frame, scale)
    robot = tips.robot
    solver = methods.get(method, **options).prepare(robot)
    times = np.linspace(0.0, duration, samples + 1)
    none = np.zeros(robot.nv)
    trajectory = simulate(
        solver,
        robot.neutral(),
        none if v0 is None else np.asarray(v0, dtype=float),
        force or (lambda t, q, v: none),
        duration,
        wrench=tips.wrench,
        integrals=tips.input,
        times=times,
        switches=times.tolist(),
        rtol=rtol,
        atol=atol,
    )
    R, p = kinematics.poses(robot, trajectory.q)
    return Run(
        robot=robot,
        geometry=geometry,
        force_frame=force_frame,
        trajectory=trajectory,
        position=p + np.einsum("sbij,bj->sbi", R, robot.com),
        attitude=R,
        momentum=kinematics.momentum(robot, trajectory.q, trajectory.v),
        kinetic_energy=np.asarray(kinematics.kinetic_energy(robot, trajectory.q, trajectory.v)),
        fed=trajectory.integrals,
    )


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    (a1, a2, a3), (b1, b2, b3) = a, b
    return np.array([a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1])
