"""Terms of the equations of motion that are missing or wrong; mass matrices, and what solves with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dynbench.robots import kinematics
from dynbench.robots.joints import JointKind
from faults.planting import On, Plant, add, numbers, tau
from faults.robots import steiner


def body_axes(on: On, q: Any, v: Any) -> tuple[Any, Any, Any]:
    """Rotations (N, n, 3, 3) of the bodies, and their angular velocities in world and in body axes, (N, n, 3)."""
    R, p = kinematics.poses(on.robot, q)
    _, w, _, _ = kinematics.accelerations(on.robot, R, p, q, v, np.zeros_like(v))
    return R, w, np.einsum("snji,snj->sni", R, w)


def less(on: On, wrench: Any, q: Any, v: Any, a: Any, force: Any, moment: Any) -> Any:
    """Inverse dynamics without some inertia force (at the com) and moment of each body, body axes (N, n, 3)."""
    lost = np.concatenate([force, moment + np.cross(on.robot.com, force)], axis=2)
    return tau(on, lost if wrench is None else lost + wrench, q, v, a)


def no_gyroscopic(on: On, wrench: Any, q: Any, v: Any, a: Any) -> Any:
    _, _, w = body_axes(on, q, v)
    spin = np.cross(w, np.einsum("nij,snj->sni", on.robot.inertia, w))
    return less(on, wrench, q, v, a, np.zeros_like(spin), spin)


def no_parallel_axes(on: On, wrench: Any, q: Any, v: Any, a: Any) -> Any:
    """The inertia about the com taken for that about the origin, in a balance of moments about the origin."""
    R, p = kinematics.poses(on.robot, q)
    _, w, _, alpha = kinematics.accelerations(on.robot, R, p, q, v, a)
    w, alpha = (np.einsum("snji,snj->sni", R, x) for x in (w, alpha))
    S = steiner(on.robot)
    moment = np.einsum("nij,snj->sni", S, alpha) + np.cross(w, np.einsum("nij,snj->sni", S, w))
    return less(on, wrench, q, v, a, np.zeros_like(moment), moment)


def no_centripetal(on: On, wrench: Any, q: Any, v: Any, a: Any) -> Any:
    _, _, w = body_axes(on, q, v)
    force = on.robot.mass[:, None] * np.cross(w, np.cross(w, on.robot.com))
    return less(on, wrench, q, v, a, force, np.zeros_like(force))


def prismatic_factor_1(on: On, wrench: Any, q: Any, v: Any, a: Any) -> Any:
    """The Coriolis acceleration of what slides is 2 w x v, here w x v; it moves all bodies further out."""
    robot, (R, w, _) = on.robot, body_axes(on, q, v)
    lost = np.zeros_like(w)
    for i, parent in enumerate(robot.parent):
        if parent >= 0:
            lost[:, i] = lost[:, parent]
        if robot.kind[i] == JointKind.PRISMATIC:
            slide = v[:, robot.iv[i], None] * np.einsum("sij,j->si", R[:, i], robot.axis[i])
            lost[:, i] += np.cross(w[:, i], slide)
    force = robot.mass[:, None] * np.einsum("snji,snj->sni", R, lost)
    return less(on, wrench, q, v, a, force, np.zeros_like(force))


def classical_base(on: On, wrench: Any, q: Any, v: Any, a: Any) -> Any:
    """A free body's linear acceleration read as the classical one: w x v is missing."""
    a = a.copy()
    for i in np.flatnonzero(on.robot.kind == JointKind.FREE):
        s = on.robot.iv[i]
        a[:, s : s + 3] -= np.cross(v[:, s + 3 : s + 6], v[:, s : s + 3])
    return tau(on, wrench, q, v, a)


def power_of_motion(factor: float) -> Callable[..., Any]:
    return lambda on, wrench, q, v, a: tau(on, wrench, q, factor * v, a)


add("no Coriolis and centrifugal terms", numbers(inverse_dynamics=power_of_motion(0.0)))
add("velocity terms twice", numbers(inverse_dynamics=power_of_motion(np.sqrt(2.0))))
add("no gyroscopic term", numbers(inverse_dynamics=no_gyroscopic))
add("parallel axes forgotten", numbers(inverse_dynamics=no_parallel_axes))
add("no centripetal acceleration of the centres of mass", numbers(inverse_dynamics=no_centripetal))
add("prismatic Coriolis factor 1 for 2", numbers(inverse_dynamics=prismatic_factor_1))
add("free base: acceleration without w x v", numbers(inverse_dynamics=classical_base))
add("forces with the other sign", numbers(inverse_dynamics=lambda on, w, *s: -tau(on, w, *s)))
add("inertia forces forgotten", numbers(inverse_dynamics=lambda on, w, q, v, a: tau(on, w, q, v, 0.0 * a)))
add("bias with an acceleration in it", numbers(bias=lambda on, w, q, v: tau(on, w, q, v, v)))
add(
    "bias without gravity at rest",
    numbers(bias=lambda on, w, q, v: tau(on, w, q, v, 0 * v) - tau(on, None, q, 0 * v, 0 * v)),
)


def changed_mass(change: Callable[[Any], Any]) -> Plant:
    return numbers(mass_matrix=lambda on, w, q: change(on.solver.mass_matrix(q)))


def not_definite(M: Any) -> Any:
    M = M.copy()
    M[:, 0, 0] *= -1.0
    return M


def uneven(M: Any) -> Any:
    M = M.copy()
    M[:, 0, -1] += 1e-9 * M[:, 0, 0]
    return M


def with_gravity(on: On, wrench: Any, q: Any) -> Any:
    nv = on.robot.nv
    a, v = np.tile(np.eye(nv), (len(q), 1)), np.zeros((len(q) * nv, nv))
    return np.swapaxes(on.solver.inverse_dynamics(np.repeat(q, nv, axis=0), v, a).reshape(-1, nv, nv), 1, 2)


def solved(change: Callable[[Any], Any], bias: float = 1.0) -> Callable[..., Any]:
    """Forward dynamics by solving with a changed mass matrix, and with so much of the bias."""

    def forward_dynamics(on: On, wrench: Any, q: Any, v: Any, t: Any) -> Any:
        right = t - bias * on.solver.bias(q, v, wrench=wrench)
        return np.linalg.solve(change(on.solver.mass_matrix(q)), right[..., None])[..., 0]

    return forward_dynamics


add("M: upper triangle only", changed_mass(np.triu))
add("M: not symmetric by 1e-9", changed_mass(uneven))
add("M: not positive definite", changed_mass(not_definite))
add("M: diagonal only", changed_mass(lambda M: M * np.eye(M.shape[-1])))
add("M: couplings with the other sign", changed_mass(lambda M: M * (2.0 * np.eye(M.shape[-1]) - 1.0)))
add("M: inverse", changed_mass(np.linalg.inv))
add("M: armature added", changed_mass(lambda M: M + 1e-6 * np.eye(M.shape[-1])))
add("M: columns with gravity left in", numbers(mass_matrix=with_gravity))
add("forward dynamics with regularised M", numbers(forward_dynamics=solved(lambda M: M + 1e-6 * np.eye(M.shape[-1]))))
add("forward dynamics without bias", numbers(forward_dynamics=solved(lambda M: M, bias=0.0)))
add("forward dynamics with bias added", numbers(forward_dynamics=solved(lambda M: M, bias=-1.0)))
add("forward dynamics by the diagonal of M", numbers(forward_dynamics=solved(lambda M: M * np.eye(M.shape[-1]))))
