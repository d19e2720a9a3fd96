"""The methods for Gough-Stewart platforms, prepared once, and numerical derivatives: what their tests share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dynbench import methods, robots

MODELS = {
    "a_massless": "lagrange-stewart-massless",
    "b_lumped": "lagrange-stewart-lumped",
    "c_full": "lagrange-stewart",
}
LAYOUTS = ("6-6", "6-3")


@functools.cache
def prepared(model: str) -> Any:
    """The solver of one of `MODELS` for the robot of the zoo."""
    return methods.get(MODELS[model]).prepare(robots.load("gough-stewart"))


def relative(got: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.abs(got - wanted).max() / np.abs(wanted).max())


def derivative(f: Callable[[np.ndarray], Any], x: np.ndarray, h: float = 1e-3) -> np.ndarray:
    """Central differences of order six along the last axis."""
    weights = {1: 0.75, 2: -0.15, 3: 1.0 / 60.0}
    return np.stack(
        [sum(w * (f(x + k * h * e) - f(x - k * h * e)) for k, w in weights.items()) / h for e in np.eye(6)], axis=-1
    )
