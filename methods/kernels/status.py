"""The status that compiled code returns for a state, in both tiers."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """0, or why the result must not be used."""

    OK = 0
    BAD_SHAPE = 1  # an array has the wrong length
    NOT_FINITE = 2  # NaN or infinity in an argument
    NOT_UNIT = 3  # a quaternion is not of unit length
    NO_MEMORY = 4  # for the workspace
    TOO_LARGE = 5  # an angle beyond the range of traced code; generic code has no such limit
