"""The solver of the Gough-Stewart methods: the common quantities, and those in the platform's coordinates.

    tree state (q, v, a)    as for all methods; see `dynbench.robots.families.gough_stewart`
    x, xd, xdd              the paper's coordinates [X, Y, Z, alpha, beta, gamma] and their time derivatives
    twist                   velocity and angular velocity of the platform, world axes

All take one state or a batch, by shape.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynbench.methods.base import Solver
from dynbench.methods.lagrange_stewart import coordinates, kinematics
from dynbench.methods.lagrange_stewart.run import platform_pose
from dynbench.robots.errors import StateError
from dynbench.robots.families.stewart_legs import StewartParts, platform_state, require_parts
from dynbench.robots.robot import FloatArray

Pose = tuple[FloatArray, FloatArray]


class Equations(NamedTuple):
    """M(x) x'' + C(x, x') x' + G(x) = J(x)^T F, (10)."""

    M: FloatArray  # (..., 6, 6)
    C: FloatArray  # (..., 6, 6), the one of Christoffel's symbols: M' - 2 C is skew
    G: FloatArray  # (..., 6)
    J: FloatArray  # (..., 6, 6), leg length rates per coordinate rate, (8)


class StewartSolver(Solver):
    """A Gough-Stewart method bound to a robot."""

    twist_mass_matrix: Callable[..., FloatArray]  # of a configuration q, for the platform's twist: (6, 6) or (N, 6, 6)

    @cached_property
    def parts(self) -> StewartParts:
        """Base, legs and platform of the robot."""
        return require_parts(self.robot)

    # ------------------------------------------------------------------ pose of the platform, and legs

    def pose(self, q: ArrayLike) -> Pose:
        """Return rotation and position of the platform in a tree configuration: (R, p)."""
        return platform_pose(self.robot, np.asarray(q, dtype=np.float64))

    def inverse_kinematics(self, pose: tuple[ArrayLike, ArrayLike]) -> FloatArray:
        """Return the leg lengths (6,) or (N, 6) at a pose (R, p)."""
        R, p = (np.asarray(x, dtype=np.float64) for x in pose)
        return kinematics.leg_lengths(self.robot, self.parts, R, p)

    def forward_kinematics(self, lengths: ArrayLike, guess: tuple[ArrayLike, ArrayLike] | None = None) -> Pose:
        """Return the pose with the given leg lengths (6,) that Newton's iteration finds from ``guess`` (or home)."""
        start = self.pose(self.robot.home) if guess is None else guess
        return kinematics.forward_kinematics(self.robot, self.parts, lengths, start)

    def jacobian(self, pose: tuple[ArrayLike, ArrayLike]) -> FloatArray:
        """Return H (6, 6) or (N, 6, 6): leg length rates per platform twist."""
        R, p = (np.asarray(x, dtype=np.float64) for x in pose)
        kinematics.leg_lengths(self.robot, self.parts, R, p)
        return kinematics.twist_jacobian(self.parts, R, p)

    # ------------------------------------------------------------------ the paper's coordinates

    def state(
        self, x: ArrayLike, xd: ArrayLike | None = None, xdd: ArrayLike | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the tree state (q, v, a) of coordinates x and their derivatives, (6,) or (N, 6)."""
        at = np.asarray(x, dtype=np.float64)
        if at.ndim not in (1, 2) or at.shape[-1] != 6:
            raise StateError(f"x has shape {at.shape}, robot {self.robot.name!r} needs (6,) or (N, 6)")
        first, second = (
            np.zeros_like(at) if y is None else np.broadcast_to(np.asarray(y, dtype=np.float64), at.shape)
            for y in (xd, xdd)
        )
        return platform_state(self.robot, *coordinates.platform_motion(at, first, second))

    def coordinates(self, q: ArrayLike) -> FloatArray:
        """Return x, (6,) or (N, 6), of a tree configuration; raises a StateError at cos alpha = 0."""
        R, p = self.pose(q)
        return np.concatenate([p, coordinates.angles(R)], axis=-1)

    def equations(self, x: ArrayLike, xd: ArrayLike) -> Equations:
        """Return M, C, G and J of (10) in the paper's coordinates; a StateError at cos alpha = 0 and singular poses.

        Q(x, x') = C x' + G is the generalized force without acceleration, J^T F. It is quadratic in x', so that
        column j of C is exactly (Q(x' + e_j) - Q(x' - e_j)) / 4.
        """
        at, rates = (np.asarray(y, dtype=np.float64) for y in (x, xd))
        D = coordinates.twist_matrix(at)
        J = self.jacobian((coordinates.rotation(at[..., 3:]), at[..., :3])) @ D
        q, _, _ = self.state(at)
        M = np.swapaxes(D, -1, -2) @ self.twist_mass_matrix(q) @ D

        def force(rates: FloatArray) -> FloatArray:
            F = self.inverse_dynamics(*self.state(at, rates))
            return np.asarray((np.swapaxes(J, -1, -2) @ F[..., None])[..., 0])

        columns = [0.25 * (force(rates + e) - force(rates - e)) for e in np.eye(6)]
        return Equations(M, np.stack(columns, axis=-1), force(np.zeros_like(at)), J)
