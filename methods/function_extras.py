"""Armature, damping and friction of joints around functions of one state, as `kernels.extras` does for kernels."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from dynbench.robots.extras import Extras
from dynbench.robots.robot import FloatArray, Robot

Function = Callable[..., Any]


def with_extras(robot: Robot, functions: dict[str, Function], which: Collection[str]) -> dict[str, Function]:
    """Return the functions of rigid bodies with some of the extras added; see `function_solver` for their arguments.

    Forward dynamics with an armature solves (M + armature) a = tau - h. Without functions for M and inverse dynamics it
    is left out. So are the derivatives of forward dynamics, -(M + armature)^-1 times those of inverse dynamics, which
    include damping; friction has none.
    """
    extras = Extras(*(x if name in which else 0.0 * x for name, x in robot.extras._asdict().items()))
    found = dict(functions)
    inverse, forward = functions.get("inverse_dynamics"), functions.get("forward_dynamics")
    matrix, bias = functions.get("mass_matrix"), functions.get("bias")
    rotors = bool(extras.armature.any())

    def losses(v: FloatArray) -> FloatArray:
        return np.asarray(extras.damping * v + extras.friction * np.sign(v))

    if inverse is not None:
        found["inverse_dynamics"] = lambda q, v, a, wrench: (
            np.asarray(inverse(q, v, a, wrench)) + extras.armature * a + losses(v)
        )
    if bias is not None:
        found["bias"] = lambda q, v, wrench: np.asarray(bias(q, v, wrench)) + losses(v)
    if matrix is not None and rotors:
        found["mass_matrix"] = lambda q: np.asarray(matrix(q)) + np.diag(extras.armature)
    if forward is not None and not rotors:
        found["forward_dynamics"] = lambda q, v, tau, wrench: forward(q, v, tau - losses(v), wrench)
    elif forward is not None and inverse is not None and matrix is not None:
        still = np.zeros(robot.nv)

        def solved(q: FloatArray, v: FloatArray, tau: FloatArray, wrench: FloatArray | None) -> FloatArray:
            h = np.asarray(inverse(q, v, still, wrench)) + losses(v)
            return np.asarray(np.linalg.solve(np.asarray(matrix(q)) + np.diag(extras.armature), tau - h))

        found["forward_dynamics"] = solved
    elif forward is not None:
        del found["forward_dynamics"]
    rates = functions.get("inverse_dynamics_derivatives")
    if rates is not None:
        found["inverse_dynamics_derivatives"] = lambda q, v, a, wrench: (
            np.asarray(rates(q, v, a, wrench)) + np.array([np.zeros((robot.nv, robot.nv)), np.diag(extras.damping)])
        )
    if "forward_dynamics_derivatives" in found:
        if rates is None or matrix is None or "forward_dynamics" not in found:
            del found["forward_dynamics_derivatives"]
        else:
            found["forward_dynamics_derivatives"] = lambda q, v, tau, wrench: -np.linalg.solve(
                np.asarray(found.get("mass_matrix", matrix)(q)),
                found["inverse_dynamics_derivatives"](q, v, found["forward_dynamics"](q, v, tau, wrench), wrench),
            )
    return found
