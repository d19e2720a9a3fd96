"""How to run one row of a report again: the command, and the same in Python.

`TEMPLATES` are filled by `filled` here and by the script of the page, with names quoted for a shell (``{robot}``) or as
a literal of Python (``{robot!r}``).
"""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

from dynbench.benchmarks.results.verdicts import compared_mode
from dynbench.reports.rows import Record, StoredRun

TEMPLATES = {
    "time": "dynbench time -r {robot} -m {method} --quantity {quantity} --mode {mode}{rows}{code}{seed}",
    "time_python": """\
import timeit
from dynbench.benchmarks.timing import cases

cell = cases.Cell({robot!r}, {method!r}, {quantity!r}, {mode!r}, {rows!r}{code!r})
call = cases.timed(cell, seed={seed!r})  # compiled and warm
print(call.code)
print(min(timeit.repeat(call, number=10, repeat=50)) / 10 / call.rows, "s a state")
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
FIELD = re.compile(r"\{(\w+)(!r)?\}")
TAU = 'inputs["tau"][{state}] = {tau}\n'  # forces come from another method, so that they are stored


def filled(template: str, **values: Any) -> str:
    """Return a template with its fields: text quoted for a shell, or with ``!r`` as Python; code goes in as it is."""

    def value(match: re.Match[str]) -> str:
        found, python = values[match[1]], bool(match[2])
        if isinstance(found, Code):
            return found
        if python:
            return json.dumps(found, ensure_ascii=False) if isinstance(found, str) else repr(found)
        return shlex.quote(str(found))

    return FIELD.sub(value, TEMPLATES[template])


class Code(str):
    """Text that goes into a template without quotes."""


def source(run: StoredRun, robot: str) -> str:
    """Return what `robots.load` takes for a robot: its name, or the file it was read from."""
    return str(run.facts["robots"].get(robot, {}).get("source") or robot)


def time_command(run: StoredRun, row: Record) -> str:
    """Return the command that measures a row of timing.csv again."""
    mode, rows, code = compared_mode(row["mode"]), row["rows"], row.get("code", "")
    return filled(
        "time",
        robot=source(run, row["robot"]),
        method=row["method"],
        quantity=row["quantity"],
        mode=mode,
        rows=Code(f" --rows {int(rows)}" if mode in ("batch", "threads") else ""),
        code=Code(f" --code {shlex.quote(code)}" if code else ""),
        seed=Code(f" --seed {int(seed)}" if (seed := run.facts.get("seed") or 0) else ""),
    )


def time_python(run: StoredRun, row: Record) -> str:
    """Return the same in Python."""
    code = row.get("code", "")
    return filled(
        "time_python",
        robot=source(run, row["robot"]),
        method=row["method"],
        quantity=row["quantity"],
        mode=row["mode"],
        rows=int(row["rows"]),
        code=Code(f", code={json.dumps(code)}" if code else ""),
        seed=int(run.facts.get("seed") or 0),
    )


def check_command(run: StoredRun, case: dict[str, Any]) -> str:
    """Return the command that compares a pair of methods again."""
    return filled("check", **_case(run, case))


def check_python(run: StoredRun, case: dict[str, Any]) -> str:
    """Return the worst case of a pair in Python: the same batch of states, so that the numbers are the same to the bit.

    States and wrenches are drawn again from their seed.
    """
    return filled("check_python", **_case(run, case))


def _case(run: StoredRun, case: dict[str, Any]) -> dict[str, Any]:
    tau = (case.get("inputs") or {}).get("tau")
    state = int(case.get("state") or 0)
    return {
        **{name: case[name] for name in ("method", "other", "quantity")},
        "robot": source(run, case["robot"]),
        "states": int(case.get("states") or 16),
        "seed": int(float(case.get("seed") or 0)),
        "state": state,
        "component": int(case.get("component") or 0),
        "wrench": "wrenches" in case["measure"],
        **{k: Code(f", code={json.dumps(case[k])}" if case.get(k) else "") for k in ("code", "other_code")},
        "forces": Code(TAU.format(state=state, tau=json.dumps(tau)) if tau else ""),
    }
