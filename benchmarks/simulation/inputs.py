"""Forces that depend on time alone, as a table: a periodic cubic spline, or constants.

A table is evaluated in machine code, so that a run under it stays out of Python (`equations`); it is also an ordinary
input ``f(t, q, v)`` of `simulate`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynbench.robots.robot import FloatArray


@dataclass(frozen=True, eq=False)
class Torques:
    """A periodic cubic spline: ``coefficients`` (4, K, na) on K equal intervals of ``period`` seconds."""

    period: float
    coefficients: FloatArray

    @classmethod
    def through(cls, samples: FloatArray, period: float) -> Torques:
        """Return the spline through samples (K, na) at equal times over one period."""
        from scipy.interpolate import CubicSpline

        times = np.linspace(0.0, period, len(samples) + 1)
        spline = CubicSpline(times, np.vstack([samples, samples[:1]]), bc_type="periodic")
        return cls(period, np.ascontiguousarray(spline.c))

    @classmethod
    def constant(cls, values: ArrayLike) -> Torques:
        """Return forces (na,) that never change."""
        last = np.asarray(values, dtype=float)
        return cls(1.0, np.stack([np.zeros_like(last)] * 3 + [last])[:, None, :].copy())

    def __call__(self, t: float, *state: FloatArray) -> FloatArray:
        width = self.period / self.coefficients.shape[1]
        phase = t % self.period
        k = min(int(phase / width), self.coefficients.shape[1] - 1)
        x = phase - k * width
        c = self.coefficients[:, k]
        return np.asarray(((c[0] * x + c[1]) * x + c[2]) * x + c[3])
