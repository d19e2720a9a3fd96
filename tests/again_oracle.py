"""What the script of a report's page makes of `again.TEMPLATES`, in Python: commands and programs to be copied."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

from dynbench.benchmarks.results.verdicts import compared_mode
from dynbench.reports import again
from dynbench.reports.rows import Record, StoredRun

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

    return FIELD.sub(value, again.TEMPLATES[template])


class Code(str):
    """Text that goes into a template without quotes."""


def time_command(run: StoredRun, row: Record) -> str:
    """Return the command that measures a row of timing.csv again."""
    mode, rows, code = compared_mode(row["mode"]), row["rows"], row.get("code", "")
    return filled(
        "time",
        robot=again.source(run, row["robot"]),
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
        robot=again.source(run, row["robot"]),
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
        "robot": again.source(run, case["robot"]),
        "states": int(case.get("states") or 16),
        "seed": int(float(case.get("seed") or 0)),
        "state": state,
        "component": int(case.get("component") or 0),
        "wrench": "wrenches" in case["measure"],
        **{k: Code(f", code={json.dumps(case[k])}" if case.get(k) else "") for k in ("code", "other_code")},
        "forces": Code(TAU.format(state=state, tau=json.dumps(tau)) if tau else ""),
    }
