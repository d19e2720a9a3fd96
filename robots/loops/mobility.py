"""Mobility of closed loops: nominal rank, degrees of freedom, redundancy, and independent and dependent coordinates.

The rank belongs to the mechanism: it is that of the equations at general positions, which a random walk on the loops
finds; home may be singular. At a state where fewer equations are independent the mechanism is singular, and its nominal
rank is the same.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dynbench.robots.arrays import FloatArray, IntArray, frozen
from dynbench.robots.errors import RobotError
from dynbench.robots.joints import NV, JointKind
from dynbench.robots.kinematics import kinetic_energy
from dynbench.robots.loops.newton import RANK, closures, least_squares_step, solve
from dynbench.robots.manifold import integrate

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot

WALKERS = 8
STEPS = (0.1, 0.4)  # of the walkers, radians and metres
CLOSED_TO_ROUNDING = 1e-12  # of positions at which the rank is counted
DEPENDENT = 1e-9  # singular values of redundant equations, relative to the largest, there
MOVES = 1e-6  # least part of a joint in a motion of unit length that moves it
NAMED = 6  # joints in a message


class LoopAnalysis(NamedTuple):
    """Mobility of the loops, and the equations and coordinates to solve them by, given the actuated coordinates."""

    rows: int  # equations
    rank: int  # nominal: number of independent ones at a general position
    dof: int  # nv - rank
    independent: IntArray  # (rank,) independent rows; the others follow from them
    driven: IntArray  # (dof,) actuated coordinates that determine the motion: all of them, unless they are redundant
    dependent: IntArray  # (rank,) all other coordinates
    length: float  # typical lever of the loops, m: the scale of translations against rotations
    start: FloatArray  # (nq,) a regular configuration: home unless it is singular

    @property
    def redundant(self) -> bool:
        """Whether some equations follow from others: multipliers and reactions are then not determined."""
        return self.rank < self.rows


def analyse(robot: "Robot") -> LoopAnalysis:
    """Return rank, degrees of freedom and partition of the loops.

    Raises
    ------
    RobotError
        If the loops leave no freedom that is actuated, if there are fewer actuated coordinates than degrees of freedom,
        if they do not determine the motion (in general, or at home), or if some motion has no inertia.
    """
    name, nv, m = robot.name, robot.nv, len(robot.loop_rows.closure)
    actuated = robot.actuated
    q, A = _positions(robot)
    s = _relative(A)
    counts = np.sum(s > RANK, axis=1)
    clear = ~np.any((s > DEPENDENT) & (s <= RANK), axis=1)  # neither dependent nor independent: near a singularity
    clear[1:] &= clear[1:].any()
    walked = counts[1:][clear[1:]] if len(q) > 1 else counts
    rank = int(np.bincount(walked if len(walked) else counts).argmax())  # that of most: a few may be singular
    rank = max(rank, int(counts[0]))
    dof = nv - rank
    if dof == 0 and len(actuated):
        raise RobotError(_no_freedom(robot, A[0]))
    regular = np.flatnonzero(counts == rank)
    passive = np.setdiff1d(np.arange(nv), actuated)
    if len(actuated) < dof:
        _, free = _movable(robot, A[regular[-1]][:, passive], passive)
        raise RobotError(
            f"robot {name!r}: {len(actuated)} coordinates are actuated, expected at least {dof}: the tree has {nv} "
            f"coordinates and its loops {m} equations, {rank} of them independent (a degree of freedom without a "
            f"motor counts as actuated, with zero force); {_joints(robot, free)} can still move"
        )
    held = np.sum(_relative(A[regular][:, :, passive]) > RANK, axis=1)
    if held.max(initial=0) < len(passive):
        raise RobotError(_undetermined(robot, A[regular[int(held.argmax())]], passive, rank))
    if counts[0] == rank and held[0] < len(passive):
        _, free = _movable(robot, A[0][:, passive], passive)
        raise RobotError(
            f"robot {name!r}: home is singular for the actuated joints {_joints(robot, actuated)}: with them held, "
            f"{_joints(robot, free)} can still move; expected a home= at which they determine the motion"
        )
    kept = regular[held == len(passive)]
    driven = actuated if len(actuated) == dof else _driven(A[kept], actuated, rank)
    dependent = np.setdiff1d(np.arange(nv), driven)
    full = np.sum(_relative(A[kept][:, :, dependent]) > RANK, axis=1) == rank
    kept = kept[full] if full.any() else kept
    independent = _independent(A[kept][:, :, dependent], rank)
    found = LoopAnalysis(
        m, rank, dof, frozen(independent, np.int64), frozen(driven, np.int64), frozen(dependent, np.int64),
        _length(robot, A[0]), frozen(q[kept[0]], np.float64),
    )  # fmt: skip
    _check_inertia(robot, complement(robot, A[kept[:1]], found)[0], found.start)
    return found


def complement(robot: "Robot", A: FloatArray, analysis: LoopAnalysis | None = None) -> FloatArray:
    """Return W, shape (N, nv, dof): velocities on the loops are ``v = W v[driven]``."""
    found = robot.loop_analysis if analysis is None else analysis
    W = np.zeros((len(A), robot.nv, found.dof))
    W[:, found.driven, np.arange(found.dof)] = 1.0
    W[:, found.dependent] = dependent_part(A, -A[:, :, found.driven], found)
    return W


def dependent_part(A: FloatArray, x: FloatArray, found: LoopAnalysis) -> FloatArray:
    """Return y (N, rank, k) with A[:, :, dependent] y = x (N, m, k); all rows take part, by least squares."""
    A_d = A[:, :, found.dependent]
    if not found.redundant:
        return np.asarray(np.linalg.solve(A_d, x))
    Q, R = np.linalg.qr(A_d)  # (N, m, rank): the nominal rank is that of its columns
    return np.asarray(np.linalg.solve(R, Q.transpose(0, 2, 1) @ x))


def internal_forces(robot: "Robot", q: FloatArray) -> FloatArray:
    """Return actuator forces that move nothing, shape (N, na, na - dof): orthonormal columns, none if na = dof.

    With more actuators than degrees of freedom, any of them may be added to the forces of inverse dynamics.
    """
    found = robot.loop_analysis
    A = closures(robot)(q)[1]
    Z = np.linalg.svd(A)[2][:, found.rank :].transpose(0, 2, 1)  # (N, nv, dof)
    turned = np.linalg.svd(Z[:, robot.actuated].transpose(0, 2, 1))[2]
    return np.asarray(turned[:, found.dof :].transpose(0, 2, 1))


def _positions(robot: "Robot") -> tuple[FloatArray, FloatArray]:
    """Return home and general configurations on the loops, shape (K, nq), and A there."""
    equations = closures(robot)
    rng = np.random.default_rng(3)
    places = [robot.home[None]]
    jacobians = [equations(robot.home[None])[1]]
    q = np.tile(robot.home, (WALKERS, 1))
    A = np.repeat(jacobians[0], WALKERS, axis=0)
    for size in STEPS:
        step = rng.normal(0.0, size, (WALKERS, robot.nv))
        step -= least_squares_step(A, np.einsum("smc,sc->sm", A, step))  # along the loops
        tried, worst = solve(robot, integrate(robot, q, step), equations, iterations=12)
        good = worst < CLOSED_TO_ROUNDING
        q = np.where(good[:, None], tried, q)
        A = equations(q)[1]
        places.append(q[good])
        jacobians.append(A[good])
    return np.concatenate(places), np.concatenate(jacobians)


def _relative(A: FloatArray) -> FloatArray:
    """Return singular values over the largest, shape (N, min(m, k)), descending."""
    if not A.size:
        return np.zeros((len(A), 0))
    s = np.linalg.svd(A, compute_uv=False)
    return np.asarray(s / np.maximum(s[:, :1], np.finfo(np.float64).tiny))


def _independent(A: FloatArray, rank: int) -> IntArray:
    """Return the best-conditioned independent rows over all configurations of A, shape (N, m, k)."""
    left = A.copy()
    kept: list[int] = []
    for _ in range(rank):
        lengths = np.linalg.norm(left, axis=2)
        best = int(lengths.min(axis=0).argmax())
        kept.append(best)
        unit = left[:, best] / np.maximum(lengths[:, best, None], np.finfo(np.float64).tiny)
        left -= np.einsum("smc,sc->sm", left, unit)[..., None] * unit[:, None]
    return np.array(sorted(kept), dtype=np.int64)


def _driven(A: FloatArray, actuated: IntArray, rank: int) -> IntArray:
    """Return the actuated coordinates that determine the motion best: as rows of the null space of A."""
    Z = np.linalg.svd(A)[2][:, rank:].transpose(0, 2, 1)
    return np.asarray(actuated[_independent(Z[:, actuated], Z.shape[2])])


def _length(robot: "Robot", A: FloatArray) -> float:
    """Return the root mean square of the levers with which joints turn the translations of the closures."""
    turns = np.repeat(robot.kind != JointKind.PRISMATIC, NV[robot.kind])
    levers = A[robot.loop_rows.turn == 0][:, turns]
    levers = levers[np.abs(levers) > RANK]
    return float(np.sqrt(np.mean(levers**2))) if levers.size else 1.0


def _no_freedom(robot: "Robot", A: FloatArray) -> str:
    closure = robot.loop_rows.closure
    freed = [
        k for k in range(len(robot.loops.body1)) if np.sum(_relative(A[None, closure != k])[0] > RANK) < robot.nv
    ]
    ends = [
        " and ".join("the ground" if i < 0 else repr(robot.body_names[i]) for i in (one, two))
        for one, two in zip(robot.loops.body1, robot.loops.body2, strict=True)
    ]
    hint = f"; without loop {freed[0]} (between {ends[freed[0]]}) it could move" if freed else ""
    return (
        f"robot {robot.name!r}: its loops leave no freedom: the tree has {robot.nv} coordinates and the closures "
        f"{len(closure)} equations, {robot.nv} of them independent{hint}"
    )


def _undetermined(robot: "Robot", A: FloatArray, passive: IntArray, rank: int) -> str:
    """Say which joints still move when the actuated coordinates are held, and which of these no motion moves."""
    count, free = _movable(robot, A[:, passive], passive)
    motions = np.linalg.svd(A)[2][rank:]
    stuck = robot.actuated[np.abs(motions[:, robot.actuated]).max(axis=0) < MOVES]
    why = f"; the loops hold {_joints(robot, stuck)}, so that a force there moves nothing" if len(stuck) else ""
    return (
        f"robot {robot.name!r}: the actuated joints {_joints(robot, robot.actuated)} do not determine its motion: with "
        f"them held, {count} of the others can still move, such as {_joints(robot, free)}{why}"
    )


def _movable(robot: "Robot", A: FloatArray, passive: IntArray) -> tuple[int, IntArray]:
    """Return the freedoms that are left when all but ``passive`` coordinates are held, and which of these move then.

    A are the columns of these coordinates.
    """
    s, Vt = np.linalg.svd(A)[1:]
    rank = int(np.sum(s > RANK * s.max(initial=0.0)))
    return len(passive) - rank, passive[np.abs(Vt[rank:]).max(axis=0, initial=0.0) > MOVES]


def _joints(robot: "Robot", coordinates: IntArray) -> str:
    """Name the joints of coordinates, the first few of many."""
    names = [robot.joint_names[int(np.searchsorted(robot.iv, k, side="right")) - 1] for k in coordinates]
    unique = list(dict.fromkeys(names))
    return ", ".join(map(repr, unique[:NAMED])) + (", ..." if len(unique) > NAMED else "")


def _check_inertia(robot: "Robot", W: FloatArray, q: FloatArray) -> None:
    """Raise a RobotError unless every motion that the loops allow has kinetic energy."""
    dof = W.shape[1]
    pairs = [(i, j) for i in range(dof) for j in range(i, dof)]
    V = np.array([W[:, i] + W[:, j] for i, j in pairs]).reshape(-1, robot.nv)
    both = np.asarray(kinetic_energy(robot, np.tile(q, (len(V), 1)), V))
    M = np.zeros((dof, dof))
    for (i, j), energy in zip(pairs, both, strict=True):
        M[i, j] = M[j, i] = energy
    own = np.diag(M) / 4.0
    M = M - own[:, None] - own
    np.fill_diagonal(M, 2.0 * own)
    values, vectors = np.linalg.eigh(M)
    if dof and values[0] <= 1e-12 * np.abs(M).max():
        motion = np.abs(W @ vectors[:, 0])
        moving = np.flatnonzero(motion > MOVES * motion.max())
        raise RobotError(
            f"robot {robot.name!r}: some motion that its loops or couplings allow, of {_joints(robot, moving)}, has no "
            "inertia; the equations of motion would be singular"
        )
