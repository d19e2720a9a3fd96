"""Wrong methods, one fault each: all that `dynbench check` must find.

robots      the right equations of another robot
terms       terms of the equations of motion, mass matrices, solving
frames      axes, points, units, orders of numbers, wrenches
motion      what does no work, and only shows when the robot moves
behaviour   rare states, precision, memory, batches, arguments
escaped     states, robots, sizes and counts that a smaller check did not try
printed     the papers' equations as printed
"""

from faults import behaviour, escaped, frames, motion, printed, robots, terms
from faults.planting import FAULTS, Fault

__all__ = ["FAULTS", "Fault", "behaviour", "escaped", "frames", "motion", "printed", "robots", "terms"]
