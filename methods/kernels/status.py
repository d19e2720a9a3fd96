"""The status that compiled code returns for a state, in both tiers, and handles with it."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """0, or why there is no result; a handle then fills ``out`` with NaN."""

    OK = 0
    BAD_SHAPE = 1  # an array has the wrong length
    NOT_FINITE = 2  # NaN, infinity, or a number of 1e30 and more (`dynbench.robots.states.LARGEST`) in an argument
    NOT_UNIT = 3  # a quaternion is not of unit length
    NO_MEMORY = 4  # for the workspace
    TOO_LARGE = 5  # a number beyond the range of traced code, such as an angle above 1e5; generic code decides
    NO_RESULT = 6  # of a good argument: off the loops, a singular position, or an acceleration that overflows
