"""Mobility of closed loops: rank, degrees of freedom, redundancy, and independent and dependent coordinates."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dynbench.robots.arrays import FloatArray, IntArray, frozen
from dynbench.robots.errors import RobotError
from dynbench.robots.kinematics import kinetic_energy
from dynbench.robots.loops.newton import CLOSED, RANK, closures, solve
from dynbench.robots.manifold import integrate

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot


class LoopAnalysis(NamedTuple):
    """Mobility of the loops, and the equations and coordinates to solve them by, given the actuated coordinates."""

    rows: int  # equations
    rank: int  # number of independent ones, at a generic configuration
    dof: int  # nv - rank, one actuated coordinate each
    independent: IntArray  # (rank,) independent rows; the others follow from them
    dependent: IntArray  # (rank,) coordinates that are not actuated

    @property
    def redundant(self) -> bool:
        """Whether some equations follow from others: multipliers and reactions are then not determined."""
        return self.rank < self.rows


def analyse(robot: "Robot") -> LoopAnalysis:
    """Return rank, degrees of freedom and partition of the loops.

    Raises
    ------
    RobotError
        If the number of actuated coordinates is not the number of degrees of freedom, if they do not determine the
        motion, if home is singular, or if some motion has no inertia.
    """
    name, nv, m = robot.name, robot.nv, len(robot.loop_rows.closure)
    dependent = np.setdiff1d(np.arange(nv), robot.actuated)
    q = _nearby(robot)
    A = closures(robot)(q)[1]
    ranks = _ranks(A)
    rank = int(ranks.max())
    if ranks[0] < rank:
        raise RobotError(
            f"robot {name!r}: home is a singular configuration: the loops have rank {ranks[0]} there and {rank} near "
            "it; expected a regular home="
        )
    if len(robot.actuated) != nv - rank:
        raise RobotError(
            f"robot {name!r}: {len(robot.actuated)} coordinates are actuated, expected {nv - rank}: the tree has {nv} "
            f"coordinates and its loops {m} equations, {rank} of them independent (a degree of freedom without a "
            "motor counts as actuated, with zero force)"
        )
    passive = _ranks(A[:, :, dependent])
    if passive.max() < rank:
        raise RobotError(
            f"robot {name!r}: the actuated coordinates {robot.actuated.tolist()} do not determine its motion: with "
            f"them held, {rank - int(passive.max())} of the others can still move"
        )
    if passive[0] < rank:
        raise RobotError(
            f"robot {name!r}: home is singular for the actuated coordinates {robot.actuated.tolist()}; expected "
            "a home= at which they determine the motion"
        )
    independent = _independent(A[passive == rank][:, :, dependent], rank)
    found = LoopAnalysis(m, rank, nv - rank, frozen(independent, np.int64), frozen(dependent, np.int64))
    _check_inertia(robot, complement(robot, A[:1], found)[0])
    return found


def complement(robot: "Robot", A: FloatArray, analysis: LoopAnalysis | None = None) -> FloatArray:
    """Return W, shape (N, nv, dof): velocities on the loops are ``v = W v[actuated]``."""
    found = robot.loop_analysis if analysis is None else analysis
    kept = A[:, found.independent]
    W = np.zeros((len(A), robot.nv, found.dof))
    W[:, robot.actuated, np.arange(found.dof)] = 1.0
    W[:, found.dependent] = -np.linalg.solve(kept[:, :, found.dependent], kept[:, :, robot.actuated])
    return W


def _nearby(robot: "Robot") -> FloatArray:
    """Return home and some configurations near it, on the loops."""
    equations = closures(robot)
    home = robot.home[None]
    A = equations(home)[1][0]
    _, s, Vt = np.linalg.svd(A)
    free = Vt[int(np.sum(s > RANK * s.max(initial=0.0))) :]
    step = np.random.default_rng(3).normal(0.0, 0.05, (12, len(free))) @ free
    tried, worst = solve(robot, integrate(robot, np.tile(home, (12, 1)), step), equations)
    return np.vstack([home, tried[worst < CLOSED]])


def _ranks(A: FloatArray) -> IntArray:
    if not A.size:
        return np.zeros(len(A), dtype=np.int64)
    s = np.linalg.svd(A, compute_uv=False)
    return np.asarray((s > RANK * s.max(axis=1, keepdims=True, initial=0.0)).sum(axis=1))


def _independent(A: FloatArray, rank: int) -> IntArray:
    """Return the best-conditioned independent rows over all configurations of A, shape (N, m, k)."""
    left = A.copy()
    kept: list[int] = []
    for _ in range(rank):
        lengths = np.linalg.norm(left, axis=2)
        best = int(lengths.min(axis=0).argmax())
        kept.append(best)
        unit = left[:, best] / lengths[:, best, None]
        left -= np.einsum("smc,sc->sm", left, unit)[..., None] * unit[:, None]
    return np.array(sorted(kept), dtype=np.int64)


def _check_inertia(robot: "Robot", W: FloatArray) -> None:
    """Raise a RobotError unless every motion that the loops allow has kinetic energy."""
    dof = W.shape[1]
    pairs = [(i, j) for i in range(dof) for j in range(i, dof)]
    V = np.array([W[:, i] + W[:, j] for i, j in pairs]).reshape(-1, robot.nv)
    both = np.asarray(kinetic_energy(robot, np.tile(robot.home, (len(V), 1)), V))
    M = np.zeros((dof, dof))
    for (i, j), energy in zip(pairs, both, strict=True):
        M[i, j] = M[j, i] = energy
    own = np.diag(M) / 4.0
    M = M - own[:, None] - own
    np.fill_diagonal(M, 2.0 * own)
    if dof and np.linalg.eigvalsh(M)[0] <= 1e-12 * np.abs(M).max():
        raise RobotError(
            f"robot {robot.name!r}: some motion that its loops allow has no inertia; the equations of motion would "
            "be singular"
        )
