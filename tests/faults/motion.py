"""Faults that are the same in inverse and in forward dynamics, and do no work: only a motion shows them.

M is right, forward undoes inverse, power is balanced, energy is kept. The momentum of a robot that floats is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from faults.planting import On, Plant, add, numbers, tau
from faults.terms import no_gyroscopic

FLOATING = ("random-tree-12-seed1", "space-dual-arm")  # of the robots that `dynbench check` takes by default


def alike(inverse: Callable[..., Any]) -> Plant:
    """Inverse dynamics, its value at rest as the bias, and forward dynamics that solves for it."""

    def bias(on: On, wrench: Any, q: Any, v: Any) -> Any:
        return inverse(on, wrench, q, v, np.zeros_like(v))

    def forward(on: On, wrench: Any, q: Any, v: Any, t: Any) -> Any:
        right = t - bias(on, wrench, q, v)
        return np.linalg.solve(on.solver.mass_matrix(q), right[..., None])[..., 0]

    return numbers(inverse_dynamics=inverse, forward_dynamics=forward, bias=bias)


def sideways(on: On, wrench: Any, q: Any, v: Any, a: Any) -> Any:
    """A force across the velocity, as a wrong Coriolis matrix with the right symmetric part gives."""
    skew = np.triu(np.full((on.robot.nv, on.robot.nv), 1e-4), 1)
    return tau(on, wrench, q, v, a) + v @ (skew - skew.T)


def rubbing(on: On, wrench: Any, q: Any, v: Any, t: Any) -> Any:
    """Friction, where nobody modelled any."""
    return on.solver.forward_dynamics(q, v, t - 1e-5 * v, wrench=wrench)


add("no gyroscopic term, in forward dynamics too", alike(no_gyroscopic), robots=FLOATING)
add("force across the velocity, in forward dynamics too", alike(sideways), robots=FLOATING)
add("friction in forward dynamics", numbers(forward_dynamics=rubbing))
