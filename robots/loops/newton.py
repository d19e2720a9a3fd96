"""Newton's iteration over a batch of configurations, to close loops.

Steps are damped least squares, x = J^T (J J^T + mu 1)^-1 c with mu proportional to |c| (Levenberg, Marquardt): they
have minimum norm, converge quadratically, and need not know the rank of J. Off the loops by x, redundant equations have
singular values of order x; a plain solve, or a tolerance on the rank, would divide by them.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from dynbench.robots.arrays import FloatArray, IntArray
from dynbench.robots.loops.closures import frames_at, jacobian_at, residual_at
from dynbench.robots.manifold import integrate

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot

CLOSED = 1e-9  # tolerance, metres and radians: after reaching it, Newton takes two more steps
RANK = 1e-7  # singular values below this, relative to the largest, count as zero
MAX_NEWTON_STEP = 0.5  # in any coordinate, metres and radians
FURTHER = 2  # steps after `CLOSED`, to rounding
DAMPING = 0.1  # of |c|, relative to the mean diagonal of J J^T
LEAST_DAMPING, MOST_DAMPING = 1e-13, 1e-4  # relative; the least keeps J J^T + mu 1 positive definite in rounding

Equations = Callable[[FloatArray], tuple[FloatArray, FloatArray]]  # q -> residual (N, m), Jacobian (N, m, nv)


def solve(
    robot: "Robot", q: FloatArray, equations: Equations, columns: IntArray | None = None, iterations: int = 60
) -> tuple[FloatArray, FloatArray]:
    """Newton's iteration from ``q`` (N, nq), in all or some columns of v; return q and the largest residuals (N,)."""
    q = q.copy()
    used = slice(None) if columns is None else columns
    further = FURTHER
    c, J = equations(q)
    for _ in range(iterations):
        if further == 0:
            break
        further -= int((_largest(c) < CLOSED).all())
        dv = np.zeros((len(q), robot.nv))
        dv[:, used] = -least_squares_step(J[:, :, used], c)
        dv /= np.maximum(1.0, np.abs(dv).max(axis=1, keepdims=True, initial=0.0) / MAX_NEWTON_STEP)
        q = integrate(robot, q, dv)
        c, J = equations(q)
    return q, _largest(c)


def _largest(c: FloatArray) -> FloatArray:
    return np.asarray(np.abs(c).max(axis=1, initial=0.0))


def least_squares_step(J: FloatArray, c: FloatArray) -> FloatArray:
    """Return x (N, k) of small norm with J x = c to second order in c; J has shape (N, m, k) and any rank."""
    m = J.shape[1]
    S = J @ J.transpose(0, 2, 1)
    size = np.maximum(np.einsum("smm->s", S) / max(1, m), np.finfo(np.float64).tiny)
    damping = size * np.clip(DAMPING * _largest(c), LEAST_DAMPING, MOST_DAMPING)
    S[:, np.arange(m), np.arange(m)] += damping[:, None]
    return np.asarray(np.einsum("smk,sm->sk", J, np.linalg.solve(S, c[..., None])[..., 0]))


def least_norm(J: FloatArray, x: FloatArray, rank: int) -> FloatArray:
    """Return y (N, k) of least norm with J y = x, by the ``rank`` largest singular values of J (N, m, k).

    Where the smallest of them vanishes y stays finite: 1/s becomes s / (s^2 + mu) with mu = (1e-7 s_1)^2.
    """
    if rank == 0:
        return np.zeros((len(J), J.shape[2]))
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    s, mu = s[:, :rank], (RANK * s[:, :1]) ** 2
    filtered = np.einsum("smr,sm->sr", U[:, :, :rank], x) * s / (s**2 + mu + np.finfo(np.float64).tiny)
    return np.asarray(np.einsum("srk,sr->sk", Vt[:, :rank], filtered))


def closures(robot: "Robot") -> Equations:
    """Return the loop closures as equations for `solve`."""

    def equations(q: FloatArray) -> tuple[FloatArray, FloatArray]:
        at = frames_at(robot, q)
        return residual_at(robot, at), jacobian_at(robot, q, at)

    return equations
