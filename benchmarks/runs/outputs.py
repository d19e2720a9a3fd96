"""From findings to files: one CSV table each, and results.csv, which has every measurement as one row.

In every table a row has a number or a reason, and an outcome.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dynbench import methods
from dynbench.benchmarks import papers
from dynbench.benchmarks.checks.agreement import worst_cases
from dynbench.benchmarks.processes.jobs import Answer, here
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.results import files, schema
from dynbench.benchmarks.results.columns import Table
from dynbench.benchmarks.results.rows import plain, write_json
from dynbench.benchmarks.results.verdicts import Paired, with_verdicts
from dynbench.benchmarks.runs.findings import Findings
from dynbench.benchmarks.runs.plan import Plan
from dynbench.benchmarks.runs.stages import flop_fraction
from dynbench.benchmarks.tiers import GENERIC, TRACED, Variant
from dynbench.benchmarks.timing import scaling, startup
from dynbench.benchmarks.timing.passes import paired
from dynbench.methods.base import QUANTITIES, Method
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.registry import is_foreign

Rows = Callable[[Findings], Iterator[dict[str, Any]]]

NOTHING_MEASURED = Missing(Outcome.LEFT_OUT, "no number: nothing was measured")
NOT_TIMED = Missing(Outcome.LEFT_OUT, "its batch was not timed")


def agreement(findings: Findings) -> Iterator[dict[str, Any]]:
    """All pairs, noise floors and invariants."""
    for row in findings.checks:
        kept = {f.name: getattr(row, f.name) for f in dataclasses.fields(row) if f.name not in ("worst", "ended")}
        yield {**kept, "outcome": row.outcome, "rows": row.states}


def times(findings: Findings) -> Iterator[dict[str, Any]]:
    """Every cell of the timing tables, compared with the fastest of its group and with the baseline."""
    names = {source: name for name, source in findings.plan.sources.items()}
    rows = [
        {
            "robot": names[timing.cell.robot],
            **{key: getattr(timing.cell, key) for key in ("method", "code", "label", "quantity", "mode", "rows")},
            **{key: getattr(timing, key) for key in ("seconds", "low", "high", "median", "wall", "noise")},
            "timed_rows": timing.rows or None,
            **{key: getattr(timing, key) for key in ("rounds", "kept", "passes", "expression", "outcome", "reason")},
            "host": timing.host or here(),
        }
        for timing in findings.timings
    ]
    yield from with_verdicts(rows, method_facts(findings.plan), pairing(findings))


def pairing(findings: Findings) -> Paired:
    """Return the intervals of ratios of two rows of `times`, for those that were measured in turns."""
    names = {source: name for name, source in findings.plan.sources.items()}
    columns = ("label", "code", "quantity", "mode", "rows")
    timings = {
        (names[timing.cell.robot], *(getattr(timing.cell, name) for name in columns)): timing
        for timing in findings.timings
    }

    def of(row: Mapping[str, Any], best: Mapping[str, Any]) -> tuple[float, float] | None:
        one, other = (timings[at["robot"], *(at[name] for name in columns)] for at in (row, best))
        if one.group is None or one.group is not other.group:
            return None
        ratio = paired(one, other).quiet
        return ratio.low, ratio.high

    return of


def grown(findings: Findings) -> Iterator[dict[str, Any]]:
    """Time per state over size, then the exponents."""
    for timing in findings.grown:
        found = scaling.family_of(timing.cell.robot)
        yield {
            "family": scaling.family(timing.cell),
            "size": found[1] if found else None,
            "method": timing.cell.method,
            "code": timing.cell.code,
            "quantity": timing.cell.quantity,
            "measure": "time per state",
            "value": timing.seconds,
            "unit": "s",
            **{key: getattr(timing, key) for key in ("low", "high", "noise", "outcome", "reason", "host")},
        }
    for fit in findings.exponents:
        yield {
            "measure": "exponent",
            "value": fit.exponent,
            "unit": f"95 % interval, N from {fit.smallest} to {fit.largest}" if not fit.reason else "",
            **{key: getattr(fit, key) for key in ("family", "method", "code", "quantity", "low", "high")},
            **{key: getattr(fit, key) for key in ("outcome", "reason")},
        }


def counted(findings: Findings) -> Iterator[dict[str, Any]]:
    """Operations of each robot and method with the share of the peak that its batch reaches; then polynomials.

    Those of generic code are counted in the source, those of traced code in what tracing leaves of it.
    """
    batch = {
        (t.cell.robot, t.cell.variant, t.cell.quantity): t.seconds
        for t in sorted(findings.timings, key=lambda t: t.cell.rows)
        if t.cell.mode == "batch" and not t.reason and not t.cell.again and t.cell.rows <= 1000
    }
    for (robot, one), answer in findings.counts.items():
        for quantity in findings.plan.quantities:
            head = {"robot": robot, **one._asdict(), "quantity": quantity, "host": answer.host}
            missing = answer.missing or findings.matrix.missing[robot, one, quantity]
            found = missing._asdict() if missing else answer.value.get(quantity) or NOTHING_MEASURED._asdict()
            if "reason" in found:
                yield {**head, **found}
                continue
            seconds = batch.get((findings.plan.sources[robot], one, quantity), math.nan)
            share = flop_fraction(found["flops"], seconds, findings.peak)
            rate = found["flops"] / seconds
            yield {**head, **found, "rate": rate, "fraction": share, "outcome": Outcome.NUMBER}
    for (family, name, quantity), answer in findings.polynomials.items():
        head = {"robot": f"{family}-N", "method": name, "code": GENERIC, "quantity": quantity, "host": answer.host}
        found = answer.missing._asdict() if answer.missing else answer.value
        yield {**head, "outcome": Outcome.NUMBER, **found}


def starts(findings: Findings) -> Iterator[dict[str, Any]]:
    """What each method costs before its first result."""
    for name in findings.plan.methods:
        for quantity in QUANTITIES:
            for width in ("single", "batch", "batch with wrenches"):
                answer = findings.compiled.get((name, quantity, width))
                if answer is not None:
                    yield _start(name, quantity, f"compile, {width}", answer, "s", "compile")
                    if (answer.value or {}).get("load") is not None:
                        yield _start(name, quantity, f"load from the cache, {width}", answer, "s", "load")
    for (robot, name), answer in findings.prepared.items():
        yield _start(name, "", "prepare", answer, "s", robot=robot)
    for name, (robot, quantity, answer) in findings.first_calls.items():
        yield _start(name, quantity, "first result in a new process", answer, "s", "seconds", robot)
        yield _start(name, quantity, "peak memory of that process", answer, "B", "bytes", robot)
    for name, answer in findings.null_calls.items():
        yield _start(name, "", "null call of the engine", answer, "s")
    for ratio in findings.compared:
        if ratio.mode == "batch" and not ratio.reason and ratio.code != TRACED:
            yield _break_even(findings, ratio)


def _break_even(findings: Findings, ratio: Any) -> dict[str, Any]:
    answer = findings.compiled.get((ratio.method, ratio.quantity, "batch"))
    seconds = (answer.value or {}).get("compile") if answer is not None else None
    mine = next(
        t.seconds
        for t in findings.timings
        if (t.cell.robot, t.cell.variant) == (findings.plan.sources[ratio.robot], Variant(ratio.method, ratio.code))
        and (t.cell.quantity, t.cell.mode, t.cell.rows, t.cell.again) == (ratio.quantity, "batch", ratio.rows, False)
    )
    found = Answer(reason="the compile time is not known", outcome=Outcome.LEFT_OUT)
    if seconds is not None:
        states = startup.break_even(seconds, mine * ratio.ratio, mine)
        never = Answer(reason=f"never: it is not faster than {ratio.peer}", outcome=Outcome.UNSUPPORTED)
        found = never if states == math.inf else Answer(states)
    measure = f"break-even with {ratio.peer}, batches of {ratio.rows}"
    return _start(ratio.method, ratio.quantity, measure, found, "states", robot=ratio.robot)


def _start(
    method: str, quantity: str, measure: str, answer: Answer, unit: str, part: str = "", robot: str = "any"
) -> dict[str, Any]:
    """One row of startup.csv: the value of an answer, or one of its parts."""
    value, missing = answer.value, answer.missing
    if part and isinstance(value, dict):
        value = answer.value.get(part)
        if value is None and answer.value.get("reason"):
            missing = Missing(Outcome(answer.value["outcome"]), answer.value["reason"])
    if value is None and missing is None:
        missing = NOTHING_MEASURED
    head = {"robot": robot, "method": method, "quantity": quantity, "measure": measure}
    ended = missing._asdict() if missing else {"outcome": Outcome.NUMBER, "reason": ""}
    return {**head, "value": value, "unit": unit, **ended, "host": answer.host}


def compared(findings: Findings) -> Iterator[dict[str, Any]]:
    """Ratios to other engines."""
    for ratio in findings.compared:
        yield {**dataclasses.asdict(ratio), "met": ratio.met}


def results(findings: Findings) -> Iterator[dict[str, Any]]:
    """Every measurement once, in the same columns, with its host."""
    for row in _measurements(findings):
        yield {**row, "host": row.get("host") or here()}


def _measurements(findings: Findings) -> Iterator[dict[str, Any]]:
    yield from agreement(findings)
    for row in times(findings):
        measure = f"time per state, {row['mode']}"
        yield {**row, "method": row["label"], "measure": measure, "value": row["seconds"], "unit": "s"}
    for row in grown(findings):
        robot = f"{row['family']}-{row['size']}" if row.get("size") else f"{row['family']}-N"
        yield {**row, "robot": robot, "rows": scaling.ROWS if row.get("size") else None}
    for row in counted(findings):
        if row.get("reason"):
            yield {**row, "measure": "operations"}
        elif isinstance(row["flops"], str):  # of a family
            polynomial = Missing(Outcome.LEFT_OUT, f"polynomial: {row['flops']}")
            yield {**row, "measure": "operations", **polynomial._asdict()}
        else:
            yield {**row, "measure": "operations", "value": row["flops"], "unit": "flops"}
            known = row["fraction"] == row["fraction"]
            ended = {} if known else (findings.peak.missing or NOT_TIMED)._asdict()
            yield {**row, "measure": "fraction of the floating-point peak", "value": row["fraction"], **ended}
    yield from starts(findings)
    for row in compared(findings):
        measure = f"ratio to {row['peer']}, {row['mode']}"
        yield {**row, "measure": measure, "value": row["ratio"], "unit": "times faster", "other": row["peer"]}
    yield _start("", "", "floating-point peak, one thread", findings.peak, "flop/s")


ROWS: dict[Table, Rows] = {
    schema.AGREEMENT: agreement,
    schema.TIMING: times,
    schema.RATIOS: compared,
    schema.SCALING: grown,
    schema.COUNTS: counted,
    schema.STARTUP: starts,
    schema.RESULTS: results,
}


def write(folder: Path, findings: Findings) -> None:
    """Write all tables, the claims and errata, the disagreements with their states, and the surroundings."""
    folder.mkdir(parents=True, exist_ok=True)
    for table, rows in ROWS.items():
        table.write(folder, rows(findings))
    papers.write(folder, findings.claimed)
    write_json(folder / "disagreements.json", [row for row in findings.checks if not row.ok], seed=findings.plan.seed)
    files.write_json(folder / "worst.json", plain({"rows": worst_cases(findings.checks)}))
    about = {
        **findings.environment,
        "quick": findings.plan.quick,
        "seed": findings.plan.seed,
        "robots": {
            name: {"bodies": r.n, "nq": r.nq, "nv": r.nv, "source": findings.plan.sources[name]}
            for name, r in findings.plan.robots.items()
        },
        "methods": method_facts(findings.plan),
        "quantities": list(findings.plan.quantities),
        "code": list(findings.plan.codes),
        "left out": {**findings.plan.left_out},
        "left to the full run": findings.left,
        "notes": findings.notes,
        "peak flop/s": findings.peak.value,
    }
    files.write_json(folder / "environment.json", about, indent=2)


def engine_name(method: Method) -> str:
    """The engine behind a method: what must be installed for it, else dynbench; a plugin without needs is its own."""
    if method.requires:
        return method.requires[0]
    return method.name if is_foreign(method) and method.own_calls else "dynbench"


def method_facts(plan: Plan) -> dict[str, dict[str, Any]]:
    """What environment.json has of each method."""
    return {
        name: {
            **{word: getattr(methods.get(name), word) for word in ("title", "reference", "cost", "exact", "floor")},
            "peer": name in plan.peers,
            "engine": engine_name(methods.get(name)),
            "looped": not isinstance(methods.get(name), KernelMethod),  # batches are a loop in Python
        }
        for name in plan.methods
    }
