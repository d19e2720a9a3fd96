"""The rules of comparison: which of two times is shorter, which method is the fastest, which calls are compared.

Used by the terminal, summary.md, the report, `merge` and the tables, so that all of them say the same.
"""

from __future__ import annotations

import math

COMPARED_WITH = {"engine": "unchecked", "engine-batch": "batch"}  # an engine's own call: the mode it is compared with


def compared_mode(mode: str) -> str:
    """Return the mode whose times a mode is compared with: for an engine's own call, ours of the same kind."""
    return COMPARED_WITH.get(mode, mode)


def verdict(a: float, b: float, noise: float) -> str:
    """Say which of two times is shorter: "faster" (a is), "slower", or "within the noise".

    Parameters
    ----------
    a, b : float
        Seconds.
    noise : float
        Relative; NaN (never measured) allows no verdict.
    """
    if not (a > 0.0 and b > 0.0 and noise >= 0.0):
        return "within the noise" if a > 0.0 and b > 0.0 else "not measured"
    if abs(math.log(a / b)) <= math.log1p(noise):
        return "within the noise"
    return "faster" if a < b else "slower"
