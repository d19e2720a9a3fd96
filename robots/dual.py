"""Dual numbers: arrays with their time derivatives, so that velocities follow from positions.

``Dual(x, x_dot)`` supports +, *, / and @ (stacked matrices) with the derivative rules of each, so velocities need no
formulas of their own. Both parts may be complex.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Dual:
    """A value and its rate, arrays that broadcast together."""

    value: Array
    rate: Array

    __array_ufunc__ = None  # numpy arrays leave mixed operations to the methods below

    def __add__(self, other: Dual | Array | float) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value + other.value, self.rate + other.rate)
        return Dual(self.value + other, self.rate)

    def __mul__(self, other: Dual | Array | float) -> Dual:
        if isinstance(other, Dual):
            return Dual(self.value * other.value, self.rate * other.value + self.value * other.rate)
        return Dual(self.value * other, self.rate * other)

    def __truediv__(self, other: Dual) -> Dual:
        ratio = self.value / other.value
        return Dual(ratio, (self.rate - ratio * other.rate) / other.value)

    def __matmul__(self, other: Dual) -> Dual:
        return Dual(self.value @ other.value, self.rate @ other.value + self.value @ other.rate)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.rate)

    def __getitem__(self, index: Any) -> Dual:
        return Dual(self.value[index], self.rate[index])


def constant(x: Array) -> Dual:
    """Return ``x`` as a dual number with zero rate."""
    return Dual(x, np.zeros_like(x))


def sin(x: Dual) -> Dual:
    return Dual(np.sin(x.value), np.cos(x.value) * x.rate)


def cos(x: Dual) -> Dual:
    return Dual(np.cos(x.value), -np.sin(x.value) * x.rate)


def stack(parts: Sequence[Dual], axis: int = -1) -> Dual:
    """Return the parts side by side along a new axis."""
    values = np.broadcast_arrays(*(part.value for part in parts))
    rates = np.broadcast_arrays(*(part.rate for part in parts))
    return Dual(np.stack(values, axis), np.stack(rates, axis))
