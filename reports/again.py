"""How to run one row of a report again: the command, and the same in Python.

The script of the page fills `TEMPLATES`, with names quoted for a shell (``{robot}``) or as a literal of Python
(``{robot!r}``).
"""

from __future__ import annotations

from dynbench.reports.rows import StoredRun

TEMPLATES = {
    "time": "dynbench time -r {robot} -m {method} --quantity {quantity} --mode {mode}{rows}{code}{seed}",
    "time_python": """\
import timeit
from dynbench.benchmarks.timing import cases

cell = cases.Cell({robot!r}, {method!r}, {quantity!r}, {mode!r}, {rows!r}{code!r})
timed = cases.timed(cell, seed={seed!r})  # compiled and warm
print(timed.code)
print(min(timeit.repeat(timed.call, number=10, repeat=50)) / 10 / timed.rows, "s a state")
""",
    "check": "dynbench check -r {robot} -m {method} -m {other} --states {states} --seed {seed}",
    "check_python": """\
import numpy as np
from dynbench import methods, robots
from dynbench.benchmarks.checks.sampling import draw

robot = robots.load({robot!r})
sample = draw(robot, {states!r}, seed={seed!r})  # q, v, a, tau, wrench
inputs = sample.inputs({quantity!r}, wrench={wrench!r})
{forces!r}
def result(method, **code):
    found = getattr(methods.get(method).prepare(robot, **code), {quantity!r})(**inputs)
    return (np.stack(found, axis=1) if isinstance(found, tuple) else found)[{state!r}]

one, two = result({method!r}{code!r}), result({other!r}{other_code!r})
print(np.ravel(one)[{component!r}], np.ravel(two)[{component!r}])
print("relative error", abs(one - two).max() / max(abs(one).max(), abs(two).max()))
""",
}


def source(run: StoredRun, robot: str) -> str:
    """Return what `robots.load` takes for a robot: its name, or the file it was read from."""
    return str(run.facts["robots"].get(robot, {}).get("source") or robot)
