"""The array aliases of the project, and the read-only copies that make a Robot immutable."""

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

Scalar = TypeVar("Scalar", bound=np.generic)


def frozen(value: ArrayLike, dtype: type[Scalar]) -> NDArray[Scalar]:
    """Return a read-only, C-contiguous copy of ``value`` as ``dtype``."""
    # Adding zero turns -0.0 into 0.0: arrays that compare equal then have equal bytes, hence equal digests.
    array: NDArray[Any] = np.asarray(np.array(value, dtype=dtype, order="C") + dtype(0))
    array.flags.writeable = False
    return array
