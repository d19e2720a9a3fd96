"""Wrong axes, points, units, and orders of numbers; reactions and external wrenches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dynbench.robots import kinematics, quaternion
from dynbench.robots.joints import NV, JointKind
from dynbench.robots.robot import Robot
from faults.planting import On, Plant, add, numbers, tau


def turned(on: On, kind: JointKind, q: Any, x: Any, back: bool = False) -> Any:
    """Three-vectors of all joints of a kind from parent to child axes, or back: parts of v, a or tau."""
    x = x.copy()
    for start, i in on.robot.quaternions:
        if on.robot.kind[i] == kind:
            R = quaternion.matrix(q[:, start : start + 4])
            for k in range(on.robot.iv[i], on.robot.iv[i] + NV[kind], 3):
                x[:, k : k + 3] = np.einsum("sij,sj->si" if back else "sji,sj->si", R, x[:, k : k + 3])
    return x


def in_parent_axes(kind: JointKind) -> Callable[..., Any]:
    def inverse_dynamics(on: On, wrench: Any, q: Any, v: Any, a: Any) -> Any:
        return turned(on, kind, q, tau(on, wrench, q, turned(on, kind, q, v), turned(on, kind, q, a)), back=True)

    return inverse_dynamics


def quaternions(change: Callable[[Any], Any]) -> Plant:
    """Every quantity, with quaternions read otherwise."""

    def read(on: On, q: Any) -> Any:
        q = q.copy()
        for start, _ in on.robot.quaternions:
            q[:, start : start + 4] = change(q[:, start : start + 4])
        return q

    return numbers(
        inverse_dynamics=lambda on, w, q, v, a: tau(on, w, read(on, q), v, a),
        bias=lambda on, w, q, v: on.solver.bias(read(on, q), v, wrench=w),
        forward_dynamics=lambda on, w, q, v, t: on.solver.forward_dynamics(read(on, q), v, t, wrench=w),
        mass_matrix=lambda on, w, q: on.solver.mass_matrix(read(on, q)),
    )


def in_degrees(on: On, wrench: Any, q: Any, v: Any, a: Any) -> Any:
    q = q.copy()
    q[:, on.robot.iq[on.robot.kind == JointKind.REVOLUTE]] *= np.pi / 180.0
    return tau(on, wrench, q, v, a)


def base_forces(change: Callable[[Robot, int, Any, Any], tuple[Any, Any]]) -> Callable[..., Any]:
    def inverse_dynamics(on: On, wrench: Any, q: Any, v: Any, a: Any) -> Any:
        found = tau(on, wrench, q, v, a)
        for i in np.flatnonzero(on.robot.kind == JointKind.FREE):
            s = on.robot.iv[i]
            found[:, s : s + 6] = np.hstack(change(on.robot, i, found[:, s : s + 3], found[:, s + 3 : s + 6]))
        return found

    return inverse_dynamics


add("spherical joints: velocity in parent axes", numbers(inverse_dynamics=in_parent_axes(JointKind.SPHERICAL)))
add("free base: velocity in world axes", numbers(inverse_dynamics=in_parent_axes(JointKind.FREE)))
add("quaternions w x y z", quaternions(lambda x: np.roll(x, -1, axis=1)))
add("quaternions conjugated", quaternions(lambda x: x * [-1, -1, -1, 1]))
add("angles in degrees", numbers(inverse_dynamics=in_degrees))
add("free base: moment about the com", numbers(
    inverse_dynamics=base_forces(lambda r, i, f, m: (f, m - np.cross(r.com[i], f)))))  # fmt: skip
add("free base: moment before force", numbers(inverse_dynamics=base_forces(lambda r, i, f, m: (m, f))))


def reactions(on: On, wrench: Any, q: Any, v: Any, a: Any) -> Any:
    return on.solver.reactions(q, v, a, wrench=wrench)


def turned_out(on: On, q: Any, x: Any) -> Any:
    """Wrenches in world axes."""
    R, _ = kinematics.poses(on.robot, q)
    return np.concatenate([np.einsum("snij,snj->sni", R, x[..., k : k + 3]) for k in (0, 3)], axis=2)


def at_com(on: On, x: Any) -> Any:
    return np.concatenate([x[..., :3], x[..., 3:] - np.cross(on.robot.com, x[..., :3])], axis=2)


def wrenches(change: Callable[..., Any], *quantities: str) -> Plant:
    """Quantities with external wrenches read otherwise: ``change(on, q, wrench)``."""

    def altered(quantity: str) -> Callable[..., Any]:
        return lambda on, w, *s: getattr(on.solver, quantity)(*s, wrench=None if w is None else change(on, s[0], w))

    return numbers(**{quantity: altered(quantity) for quantity in quantities})


add("reactions with the other sign", numbers(reactions=lambda on, w, *s: -reactions(on, w, *s)))
add("reactions in world axes", numbers(reactions=lambda on, w, *s: turned_out(on, s[0], reactions(on, w, *s))))
add("reactions at the com", numbers(reactions=lambda on, w, *s: at_com(on, reactions(on, w, *s))))
add("reactions with moment before force", numbers(reactions=lambda on, w, *s: np.roll(reactions(on, w, *s), 3, axis=2)))
for quantity in ("inverse_dynamics", "forward_dynamics", "bias", "reactions"):
    add(f"wrenches ignored in {quantity}", wrenches(lambda on, q, w: None, quantity))
add("wrenches with the other sign", wrenches(lambda on, q, w: -w, "inverse_dynamics"))
add("wrenches with the other sign in forward dynamics", wrenches(lambda on, q, w: -w, "forward_dynamics"))
add("wrenches in world axes", wrenches(lambda on, q, w: turned_out(on, q, w), "inverse_dynamics"))
add("wrenches at the com", wrenches(lambda on, q, w: at_com(on, w), "inverse_dynamics"))
add("wrench moments ignored", wrenches(lambda on, q, w: w * [1, 1, 1, 0, 0, 0], "inverse_dynamics"))
