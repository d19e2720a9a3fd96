"""Newton's iteration over a batch of configurations, to close loops.

Steps have minimum norm, so that a state near the loops stays close and redundant closures are allowed.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from dynbench.robots.arrays import FloatArray, IntArray
from dynbench.robots.loops.closures import frames_at, jacobian_at, residual_at
from dynbench.robots.manifold import integrate

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot

CLOSED = 1e-9  # tolerance, metres and radians: after reaching it, Newton takes one more step
RANK = 1e-7  # singular values below this, relative to the largest, count as zero
MAX_NEWTON_STEP = 0.5  # in any coordinate, metres and radians

Equations = Callable[[FloatArray], tuple[FloatArray, FloatArray]]  # q -> residual (N, m), Jacobian (N, m, nv)


def solve(
    robot: "Robot", q: FloatArray, equations: Equations, columns: IntArray | None = None, iterations: int = 60
) -> tuple[FloatArray, FloatArray]:
    """Newton's iteration from ``q`` (N, nq), in all or some columns of v; return q and the largest residuals (N,)."""
    q = q.copy()
    for _ in range(iterations):
        c, J = equations(q)
        worst = np.abs(c).max(axis=1, initial=0.0)
        near = worst < CLOSED
        dv = np.zeros((len(q), robot.nv))
        used = slice(None) if columns is None else columns
        dv[:, used] = -_least_norm(J[:, :, used], c)
        dv /= np.maximum(1.0, np.abs(dv).max(axis=1, keepdims=True) / MAX_NEWTON_STEP)
        q = integrate(robot, q, dv)
        if near.all():
            break
    return q, np.abs(equations(q)[0]).max(axis=1, initial=0.0)


def _least_norm(J: FloatArray, c: FloatArray) -> FloatArray:
    """Return the least-squares solution x (N, k) of J x = c of minimum norm."""
    if J.shape[1] == J.shape[2]:
        try:
            return np.asarray(np.linalg.solve(J, c[..., None])[..., 0])
        except np.linalg.LinAlgError:
            pass  # singular somewhere in the batch
    return np.asarray(np.einsum("scm,sm->sc", np.linalg.pinv(J, rcond=RANK), c))


def closures(robot: "Robot") -> Equations:
    """Return the loop closures as equations for `solve`."""

    def equations(q: FloatArray) -> tuple[FloatArray, FloatArray]:
        at = frames_at(robot, q)
        return residual_at(robot, at), jacobian_at(robot, q, at)

    return equations
