"""Assembly of robots with closed loops: configurations and states that satisfy the loops.

Long motions (to a platform pose, to actuated coordinates, a random walk for samples) are divided into short steps,
each warm-started by the previous one: the robot stays in the assembly mode of its ``home`` unless the path crosses a
singularity.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots import couplings
from dynbench.robots.arrays import FloatArray, IntArray
from dynbench.robots.errors import RobotError, StateError
from dynbench.robots.loops.closures import frames_at, jacobian_at, second_at
from dynbench.robots.loops.mobility import complement, dependent_part
from dynbench.robots.loops.newton import CLOSED, closures, least_norm, solve
from dynbench.robots.manifold import integrate, neutral
from dynbench.robots.states import as_array, check_quaternions, check_state, sample_configurations

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot

MAX_STEP = 0.1  # of a long motion: radians, or robot sizes


def assemble(robot: "Robot", guess: ArrayLike | None) -> FloatArray:
    """Return a configuration on the loops: from the guess, or from neutral, or from random ones.

    Raises
    ------
    RobotError
        If the loops cannot be closed; names the closure with the largest residual.
    """
    if guess is None and robot.is_tree:
        return neutral(robot)
    if guess is not None:
        try:
            starts = np.array(guess, dtype=np.float64).reshape(1, -1)
        except (TypeError, ValueError):
            starts = np.zeros((1, 0))
        if starts.shape[1] != robot.nq or not np.isfinite(starts).all():
            raise RobotError(f"robot {robot.name!r}: home is {guess!r}, expected {robot.nq} finite numbers")
    else:
        starts = np.vstack([neutral(robot), sample_configurations(robot, 63, np.random.default_rng(5))])
    if robot.is_tree:
        return np.asarray(starts[0])
    for start, _ in robot.quaternions:
        starts[:, start : start + 4] /= np.linalg.norm(starts[:, start : start + 4], axis=1, keepdims=True)
    equations = closures(robot)
    if guess is not None and np.abs(equations(starts)[0]).max() < 1e-3 * CLOSED:
        return np.asarray(starts[0])  # keep a stored home bit for bit
    q, worst = solve(robot, couplings.follow(robot, starts), equations)
    worst = np.where(_flipped(robot, q), np.maximum(worst, 1.0), worst)
    if worst.min() > CLOSED:
        best = int(worst.argmin())
        c = np.abs(equations(q[best : best + 1])[0][0])
        k = int(robot.loop_rows.closure[c[: len(robot.loop_rows.of_closures.closure)].argmax()])
        ends = " and ".join(_body(robot, int(end[k])) for end in (robot.loops.body1, robot.loops.body2))
        tried = "the given home" if guess is not None else f"{len(starts)} starts"
        raise RobotError(
            f"robot {robot.name!r}: its loops cannot be closed: from {tried}, loop {k} (between {ends}) has "
            f"residual {c.max():.3g}; expected compatible closures, or a home= near a configuration that satisfies them"
        )
    return np.asarray(q[int(np.argmax(worst <= CLOSED))])


def project(
    robot: "Robot", q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None
) -> FloatArray | tuple[FloatArray, ...]:
    """Return the state on the loops nearest to a given one: q by Newton steps of least norm, v and a by least squares.

    Parameters
    ----------
    q, v, a : array_like, shapes (nq,) or (N, nq), (nv,) or (N, nv)
        Whichever are given, one state or a batch.
    """
    given = {name: x for name, x in (("q", q), ("v", v), ("a", a)) if x is not None}
    arrays, single = check_state(robot, **given)
    states = dict(zip(given, (np.atleast_2d(x) for x in arrays), strict=True))
    equations = closures(robot)
    moved, worst = solve(robot, states["q"], equations)
    if not np.all(worst < CLOSED):
        k = int(np.argmax(~(worst < CLOSED)))
        raise StateError(
            f"q{'' if single else f'[{k}]'} is too far from the loops of robot {robot.name!r} to be projected on "
            f"them: the residual is {worst[k]:.3g}"
        )
    results = [moved]
    at = frames_at(robot, moved)
    A = jacobian_at(robot, moved, at)
    rank = robot.loop_analysis.rank if not robot.is_tree else 0
    still = np.zeros((len(moved), robot.nv))
    v_on = states.get("v", still)
    if "v" in states:
        v_on = v_on - least_norm(A, np.einsum("smc,sc->sm", A, v_on), rank)
        results.append(v_on)
    if "a" in states:
        second = second_at(robot, moved, v_on, states["a"], at)
        results.append(states["a"] - least_norm(A, second, rank))
    shaped = tuple(x[0] if single else x for x in results)
    return shaped if len(shaped) > 1 else shaped[0]


def close(robot: "Robot", q: ArrayLike) -> FloatArray:
    """Return ``q`` with the same actuated coordinates and the others changed so that the loops are closed.

    This is the forward kinematics of a parallel robot; the other coordinates are the initial guess.

    Raises
    ------
    StateError
        If the loops cannot be closed: out of reach, or beyond a singularity.
    """
    (q,), single = check_state(robot, q=q)
    moved, worst = solve(robot, np.atleast_2d(q), closures(robot), robot.loop_analysis.dependent)
    check_reached(robot, worst, single, "these actuated coordinates")
    return moved[0] if single else moved


def state_from_actuated(
    robot: "Robot",
    q: ArrayLike,
    v: ArrayLike | None = None,
    a: ArrayLike | None = None,
    guess: ArrayLike | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the state (q, v, a) whose actuated joints are at ``q``, with rates ``v`` and accelerations ``a``.

    Parameters
    ----------
    q, v, a : array_like, shape (dof,) or (N, dof)
        Of the actuated coordinates (of ``loop_analysis.driven``, if more are actuated than there are degrees of
        freedom), all revolute or prismatic; v and a default to zero.
    guess : array_like, shape (nq,) or (N, nq)
        Configurations on the loops to start from; default the robot's home.
    """
    dof = robot.loop_analysis.dof
    at_q = _coordinates(robot)
    target, single = as_array("q", q, dof, robot)
    target = np.atleast_2d(target)
    rates, rates2 = (
        np.zeros_like(target) if x is None else np.atleast_2d(as_array(name, x, dof, robot)[0])
        for name, x in (("v", v), ("a", a))
    )
    moved = start_from(robot, guess, len(target))
    begin = moved[:, at_q]
    steps = step_count(np.abs(target - begin).max())
    for s in range(1, steps + 1):
        moved[:, at_q] = begin + (target - begin) * (s / steps)
        moved, worst = solve(robot, moved, closures(robot), robot.loop_analysis.dependent)
        if not (worst < CLOSED).any():
            break
    check_reached(robot, worst, single, "these actuated coordinates")
    full_v, full_a = _derivatives(robot, moved, rates, rates2)
    return (moved[0], full_v[0], full_a[0]) if single else (moved, full_v, full_a)


def sample_on_loops(
    robot: "Robot", N: int, rng: np.random.Generator, rates: tuple[float, float]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return N random states on the loops: a random walk of the driven coordinates away from home.

    The walk begins at a regular configuration if home is singular. A step that cannot be closed, or that comes near a
    singularity, is rejected, so that every state returned is on the loops.
    """
    equations = closures(robot)
    q = np.tile(robot.loop_analysis.start, (N, 1))
    least = 0.2 * _conditioning(robot, equations(q[:1])[1])
    A = equations(q)[1]
    dependent = robot.loop_analysis.dependent
    for _ in range(6):
        step = rng.normal(0.0, 0.25, (N, robot.loop_analysis.dof))
        start = integrate(robot, q, np.einsum("scd,sd->sc", complement(robot, A), step))
        tried, worst = solve(robot, start, equations, dependent, iterations=10)
        A_tried = equations(tried)[1]
        good = (worst < CLOSED) & (_conditioning(robot, A_tried) > least)
        q = np.where(good[:, None], tried, q)
        A = np.where(good[:, None, None], A_tried, A)
    closer, worst = solve(robot, q, equations)  # to rounding
    q = np.where((worst < CLOSED)[:, None], closer, q)
    v_rates, a_rates = (scale * rng.standard_normal((N, robot.loop_analysis.dof)) for scale in rates)
    return q, *_derivatives(robot, q, v_rates, a_rates)


def _derivatives(
    robot: "Robot", q: FloatArray, rates: FloatArray, rates2: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return v and a on the loops from those of the actuated coordinates."""
    found = robot.loop_analysis
    at = frames_at(robot, q)
    A = jacobian_at(robot, q, at)
    W = complement(robot, A)
    v = np.einsum("scd,sd->sc", W, rates)
    a = np.einsum("scd,sd->sc", W, rates2)
    second = second_at(robot, q, v, a, at)
    a[:, found.dependent] -= dependent_part(A, second[..., None], found)[..., 0]
    return v, a


def start_from(robot: "Robot", guess: ArrayLike | None, N: int) -> FloatArray:
    if guess is None:
        return np.tile(robot.home, (N, 1))
    start, single = as_array("guess", guess, robot.nq, robot)
    check_quaternions(robot, start, "guess")
    if not single and len(start) != N:
        raise StateError(f"guess has {len(start)} configurations, robot {robot.name!r} needs 1 or {N}")
    return np.broadcast_to(start, (N, robot.nq)).copy()


def _coordinates(robot: "Robot") -> IntArray:
    """Return the indices into q of the coordinates that drive the motion: the actuated ones, if they are as many."""
    places = []
    for k in robot.loop_analysis.driven:
        i = int(np.searchsorted(robot.iv, k, side="right")) - 1
        if any(body == i for _, body in robot.quaternions):
            raise StateError(
                f"robot {robot.name!r}: joint {robot.joint_names[i]!r} is actuated and has a quaternion, so q has "
                "no single coordinate for each v; use robot.close(q)"
            )
        places.append(int(robot.iq[i] + k - robot.iv[i]))
    return np.array(places, dtype=np.int64)


def step_count(distance: float) -> int:
    return max(1, min(200, int(np.ceil(distance / MAX_STEP))))


def check_reached(robot: "Robot", worst: FloatArray, single: bool, what: str) -> None:
    if not np.all(worst < CLOSED):
        k = int(np.argmax(~(worst < CLOSED)))
        where = "" if single else f" (state {k})"
        raise StateError(
            f"robot {robot.name!r} cannot reach {what}{where}: the residual of its loops is {worst[k]:.3g}; "
            "they are out of reach, or beyond a singularity"
        )


def _conditioning(robot: "Robot", A: FloatArray) -> FloatArray:
    """Return the smallest singular value of the dependent part over the largest, for each state."""
    s = np.linalg.svd(A[:, :, robot.loop_analysis.dependent], compute_uv=False)
    return np.asarray(s[:, -1] / s[:, 0]) if s.shape[1] else np.ones(len(A))


def _flipped(robot: "Robot", q: FloatArray) -> FloatArray:
    """Return which states have a hinge or rigid closure with opposed axes; the equations do not exclude that."""
    at = frames_at(robot, q)
    cosines = np.einsum("skia,skia->ska", at.R1, at.R2)
    turns = robot.loops.rows[:, 3:]
    watched = np.where(turns.sum(axis=1, keepdims=True) == 2, 1 - turns, turns.sum(axis=1, keepdims=True) == 3)
    return np.asarray(((cosines < 0.0) & (watched == 1)).any(axis=(1, 2)))


def _body(robot: "Robot", index: int) -> str:
    return "the ground" if index < 0 else repr(robot.body_names[index])
