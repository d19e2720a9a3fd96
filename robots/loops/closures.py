"""Loop closures as equations: residual c(q), Jacobian A = dc/dv, rate, all over a batch of states in numpy.

A closure holds frame 1 (on the first body) and frame 2 (on the second) together in some of six relative
components, in axes of frame 1 (`dynbench.robots.body.Loop`). Its rows are, with d the origin of frame 2 seen in
frame 1 and R the rotation of frame 2 seen from frame 1,

    translation along an axis e        c = e . d
    rotation, one axis a closed        c = -b . R c, (a, b, c) cyclic: a universal joint, b on body 1, c on body 2
    rotation, two closed, f free       c_a = (a x f) . R f: a hinge about f, which may turn all the way round
    rotation, all three closed         the first form for each of the three axes

To first order each is the translation or the angle, and each is smooth everywhere, so A is the exact gradient of c
also where the loops are not closed. Rows are ordered by closure, then by component. With ``c' = A v`` and
``c'' = A a + rate``; a multiplier is the force (moment) along its row on body 2; body 1 has the opposite. The rows of
couplings (`dynbench.robots.couplings`) come last; their multiplier is a force on the coordinate that follows.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots import couplings
from dynbench.robots.arrays import FloatArray, IntArray, frozen
from dynbench.robots.joints import NV
from dynbench.robots.kinematics import accelerations, motion_subspace, poses
from dynbench.robots.states import check_state

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot


class LoopRows(NamedTuple):
    """The closed components of all closures, one row per equation, then the couplings."""

    closure: IntArray  # (m,) which closure, -1 for a coupling
    turn: IntArray  # (m,) 0 a translation, 1 a rotation, 2 a coupling
    u: FloatArray  # (m, 3) in frame 1: c = u . d, or c = u . R w
    w: FloatArray  # (m, 3) in frame 2; zero for translations
    sign: IntArray  # (m, nv) 1 where a coordinate moves only body 2, -1 only body 1, 0 both or neither
    coupled: FloatArray  # (c, nv) the last rows of A, which are constant

    @property
    def of_closures(self) -> "LoopRows":
        """The rows of closures alone."""
        count = len(self.closure) - len(self.coupled)
        return LoopRows(
            self.closure[:count], self.turn[:count], self.u[:count], self.w[:count], self.sign[:count], self.coupled[:0]
        )


def loop_rows(robot: "Robot") -> LoopRows:
    """Return the rows of all closures and couplings of ``robot``; none for a tree."""
    e = np.eye(3)
    moves = ancestors(robot)
    closure: list[int] = []
    turn: list[int] = []
    u: list[FloatArray] = []
    w: list[FloatArray] = []

    def row(k: int, is_turn: int, in_one: FloatArray, in_two: FloatArray) -> None:
        closure.append(k)
        turn.append(is_turn)
        u.append(in_one)
        w.append(in_two)

    for k, closed in enumerate(robot.loops.rows):
        for axis in np.flatnonzero(closed[:3]):
            row(k, 0, e[axis], np.zeros(3))
        turns = np.flatnonzero(closed[3:])
        for a in turns:
            other = 3 - turns.sum() if len(turns) == 2 else (a + 2) % 3  # the free axis, or the last of (a, b, c)
            row(k, 1, np.cross(e[a], e[other]), e[other])
    at = np.array(closure, dtype=np.int64)
    sign = moves[robot.loops.body2[at]] - moves[robot.loops.body1[at]]
    coupled = couplings.rows(robot)
    none = np.zeros((len(coupled), 3))
    return LoopRows(
        frozen([*closure, *[-1] * len(coupled)], np.int64),
        frozen([*turn, *[2] * len(coupled)], np.int64),
        frozen(np.vstack([np.array(u).reshape(-1, 3), none]), np.float64),
        frozen(np.vstack([np.array(w).reshape(-1, 3), none]), np.float64),
        frozen(np.vstack([sign, np.zeros_like(coupled, dtype=np.int64)]), np.int64),
        coupled,
    )


def ancestors(robot: "Robot") -> IntArray:
    """Return (n + 1, nv): 1 where a coordinate moves a body; the last row is the ground (index -1)."""
    moves = np.zeros((robot.n + 1, robot.nv), dtype=np.int64)
    for i, parent in enumerate(robot.parent):
        moves[i] = moves[parent]
        moves[i, robot.iv[i] : robot.iv[i] + NV[robot.kind[i]]] = 1
    return moves


def residual(robot: "Robot", q: ArrayLike) -> FloatArray:
    """Return c(q), shape (m,) or (N, m): metres and radians (to first order), zero on the loops."""
    (q,), single = check_state(robot, q=q)
    c = residual_at(robot, frames_at(robot, np.atleast_2d(q)))
    return c[0] if single else c


def jacobian(robot: "Robot", q: ArrayLike) -> FloatArray:
    """Return A = dc/dv, shape (m, nv) or (N, m, nv), so that the rate of c is A v."""
    (q,), single = check_state(robot, q=q)
    q = np.atleast_2d(q)
    A = jacobian_at(robot, q, frames_at(robot, q))
    return A[0] if single else A


def rate(robot: "Robot", q: ArrayLike, v: ArrayLike) -> FloatArray:
    """Return the second derivative of c at zero ``a`` (A' v), shape (m,) or (N, m)."""
    (q, v), single = check_state(robot, q=q, v=v)
    q, v = np.atleast_2d(q), np.atleast_2d(v)
    g = second_at(robot, q, v, np.zeros_like(v), frames_at(robot, q))
    return g[0] if single else g


class Frames(NamedTuple):
    """Bodies (the ground is the last, index -1) and closure frames in world, for N states."""

    R: FloatArray  # (N, n + 1, 3, 3)
    p: FloatArray  # (N, n + 1, 3)
    R1: FloatArray  # (N, k, 3, 3) frame 1 of each closure
    p1: FloatArray
    R2: FloatArray
    p2: FloatArray
    coupled: FloatArray  # (N, c) residuals of the couplings


def frames_at(robot: "Robot", q: FloatArray) -> Frames:
    R, p = poses(robot, q)
    R = np.concatenate([R, np.broadcast_to(np.eye(3), (len(q), 1, 3, 3))], axis=1)
    p = np.concatenate([p, np.zeros((len(q), 1, 3))], axis=1)
    loops = robot.loops
    one, two = loops.body1, loops.body2
    return Frames(
        R,
        p,
        R[:, one] @ loops.rotation1,
        p[:, one] + np.einsum("skij,kj->ski", R[:, one], loops.translation1),
        R[:, two] @ loops.rotation2,
        p[:, two] + np.einsum("skij,kj->ski", R[:, two], loops.translation2),
        couplings.residual(robot, q),
    )


def _directions(robot: "Robot", at: Frames) -> tuple[FloatArray, FloatArray]:
    """Return u and w of every row of a closure in world axes, shapes (N, m, 3)."""
    rows = robot.loop_rows.of_closures
    U = np.einsum("smij,mj->smi", at.R1[:, rows.closure], rows.u)
    return U, np.einsum("smij,mj->smi", at.R2[:, rows.closure], rows.w)


def residual_at(robot: "Robot", at: Frames) -> FloatArray:
    rows = robot.loop_rows.of_closures
    U, W = _directions(robot, at)
    apart = (at.p2 - at.p1)[:, rows.closure]
    closed = np.einsum("smi,smi->sm", U, np.where(rows.turn[:, None] == 1, W, apart))
    return np.concatenate([closed, at.coupled], axis=1)


def jacobian_at(robot: "Robot", q: FloatArray, at: Frames) -> FloatArray:
    """A row is a unit wrench on body 2 at the origin of frame 2, its opposite on body 1, times joint twists."""
    rows = robot.loop_rows.of_closures
    U, W = _directions(robot, at)
    turn = rows.turn[:, None] == 1
    force = np.where(turn, 0.0, U)
    moment = np.where(turn, np.cross(W, U), np.cross(at.p2[:, rows.closure], U))
    linear, angular = joint_twists(robot, q, at.R, at.p)
    columns = np.einsum("smi,sci->smc", force, linear) + np.einsum("smi,sci->smc", moment, angular)
    coupled = robot.loop_rows.coupled
    return np.concatenate([rows.sign * columns, np.broadcast_to(coupled, (len(q), *coupled.shape))], axis=1)


def joint_twists(robot: "Robot", q: FloatArray, R: FloatArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return per unit v the velocity of the body's point at the world origin, and the angular one: (N, nv, 3)."""
    linear, angular = np.empty((len(q), robot.nv, 3)), np.empty((len(q), robot.nv, 3))
    for i in range(robot.n):
        S = motion_subspace(robot, i)
        here = slice(robot.iv[i], robot.iv[i] + S.shape[1])
        angular[:, here] = (R[:, i] @ S[3:]).transpose(0, 2, 1)
        at_body = (R[:, i] @ S[:3]).transpose(0, 2, 1)
        linear[:, here] = at_body + np.cross(p[:, i, None], angular[:, here])
    return linear, angular


def second_at(robot: "Robot", q: FloatArray, v: FloatArray, a: FloatArray, at: Frames) -> FloatArray:
    """Return the second time derivative of c, shape (N, m)."""
    rows, loops = robot.loop_rows.of_closures, robot.loops
    ground = np.zeros((len(q), 1, 3))
    motion = accelerations(robot, at.R[:, :-1], at.p[:, :-1], q, v, a)
    linear, w, acc, alpha = (np.concatenate([x, ground], axis=1) for x in motion)

    def point(body: IntArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Velocity and acceleration of a point of the body, r from its origin."""
        turned = np.cross(w[:, body], r)
        second = acc[:, body] + np.cross(alpha[:, body], r) + np.cross(w[:, body], turned)
        return linear[:, body] + turned, second

    # the origin of frame 2, and the point of body 1 that is there now
    v2, a2 = point(loops.body2, at.p2 - at.p[:, loops.body2])
    v1, a1 = point(loops.body1, at.p2 - at.p[:, loops.body1])
    w1, w2 = w[:, loops.body1], w[:, loops.body2]
    slide = (a2 - a1 - 2.0 * np.cross(w1, v2 - v1))[:, rows.closure]
    U, W = _directions(robot, at)
    w1, w2 = w1[:, rows.closure], w2[:, rows.closure]
    U_dot, W_dot = np.cross(w1, U), np.cross(w2, W)
    U_second = np.cross(alpha[:, loops.body1][:, rows.closure], U) + np.cross(w1, U_dot)
    W_second = np.cross(alpha[:, loops.body2][:, rows.closure], W) + np.cross(w2, W_dot)
    turned = (U_second * W + U * W_second + 2.0 * U_dot * W_dot).sum(axis=-1)
    closed = np.where(rows.turn == 1, turned, (U * slide).sum(axis=-1))
    return np.concatenate([closed, a @ robot.loop_rows.coupled.T], axis=1)
