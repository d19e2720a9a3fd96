"""The array aliases of the project, input arrays with their checks, and the read-only copies of an immutable Robot."""

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynbench.robots.errors import RobotError

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

Scalar = TypeVar("Scalar", bound=np.generic)


def frozen(value: ArrayLike, dtype: type[Scalar]) -> NDArray[Scalar]:
    """Return a read-only, C-contiguous copy of ``value`` as ``dtype``."""
    # Adding zero turns -0.0 into 0.0: arrays that compare equal then have equal bytes, hence equal digests.
    array: NDArray[Any] = np.asarray(np.array(value, dtype=dtype, order="C") + dtype(0))
    array.flags.writeable = False
    return array


def is_count(n: object) -> bool:
    """Whether ``n`` is a whole number >= 1; not for NaN, infinities and values that are not numbers."""
    number = isinstance(n, int | float | np.integer | np.floating) and not isinstance(n, bool)
    return number and bool(n >= 1) and bool(n % 1 == 0)  # type: ignore[operator]


def numbers(owner: str, argument: str, value: ArrayLike, *shapes: tuple[int, ...], finite: bool = False) -> FloatArray:
    """Return a copy of ``value`` as an array of one of ``shapes``; () is a single number.

    Values are checked by the Robot: NaN and infinities are only checked here if ``finite``.

    Raises
    ------
    RobotError
        Naming ``owner`` and ``argument``, what was expected and what was given.
    """
    expected = " or ".join("a number" if shape == () else str(shape) for shape in shapes)
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "biuf" and given.dtype != object:  # numpy reads text, with digits of any script
            raise TypeError
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise RobotError(f"{owner}: {argument} is {value!r:.200}, expected {expected}") from None
    if array.shape not in shapes:
        raise RobotError(f"{owner}: {argument} has shape {array.shape}, expected {expected}")
    if finite and not np.isfinite(array).all():
        raise RobotError(f"{owner}: {argument} is {array.tolist()}, expected finite numbers")
    return array


def repeated(
    owner: str, argument: str, value: ArrayLike, n: int, shape: tuple[int, ...] = (), finite: bool = False
) -> FloatArray:
    """Return ``value`` for each of n parts, shape (n, *shape); a value of the given shape is used for all of them."""
    array = numbers(owner, argument, value, (n, *shape), shape, finite=finite)
    return np.array(np.broadcast_to(array, (n, *shape)))
