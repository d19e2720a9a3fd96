"""The status that compiled code returns for a state, in both tiers."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """0, or why the result must not be used."""

    OK = 0
    BAD_SHAPE = 1  # an array has the wrong length
    NOT_FINITE = 2  # NaN, infinity, or a number of 1e30 and more (`dynbench.robots.states.LARGEST`) in an argument
    NOT_UNIT = 3  # a quaternion is not of unit length
    NO_MEMORY = 4  # for the workspace
    TOO_LARGE = 5  # a number beyond the range of traced code, such as an angle above 1e5; generic code decides
