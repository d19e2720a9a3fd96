"""From findings to files: one CSV table each, and results.csv, which has every measurement as one row.

In every table a row has a number or a reason.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dynbench import methods
from dynbench.benchmarks import papers
from dynbench.benchmarks.checks.worst import worst_cases
from dynbench.benchmarks.processes.jobs import here
from dynbench.benchmarks.results import files, schema
from dynbench.benchmarks.results.rows import plain, write_json
from dynbench.benchmarks.results.schema import Table
from dynbench.benchmarks.results.verdicts import compared_mode, verdict
from dynbench.benchmarks.runs.findings import Findings
from dynbench.benchmarks.runs.stages import flop_fraction
from dynbench.benchmarks.timing import scaling, startup
from dynbench.benchmarks.timing.cases import Cell
from dynbench.benchmarks.timing.passes import Timing
from dynbench.methods.base import QUANTITIES
from dynbench.methods.kernel_method import KernelMethod

Rows = Callable[[Findings], Iterator[dict[str, Any]]]

ABSENT = "no number: "


def agreement(findings: Findings) -> Iterator[dict[str, Any]]:
    """All pairs, noise floors and invariants."""
    for row in findings.checks:
        kept = {f.name: getattr(row, f.name) for f in dataclasses.fields(row) if f.name != "worst"}
        yield {**kept, "rows": row.states}


def times(findings: Findings) -> Iterator[dict[str, Any]]:
    """Every cell of the timing tables, compared with the fastest of its group and with the floor."""
    names = {source: name for name, source in findings.plan.sources.items()}
    groups: dict[tuple[str, str, str, int], list[Timing]] = {}
    for timing in findings.timings:
        groups.setdefault(group_key(timing.cell), []).append(timing)
    for timing in findings.timings:
        cell = timing.cell
        rivals = [t for t in groups[group_key(cell)] if not t.reason and not t.cell.again]
        floor = min((t.seconds for t in rivals if is_floor(t.cell)), default=math.nan)
        best = min((t.seconds for t in rivals if may_win(t.cell)), default=math.nan)
        yield {
            "robot": names[cell.robot],
            "method": cell.method,
            "label": cell.label,
            "quantity": cell.quantity,
            "mode": cell.mode,
            "rows": cell.rows,
            **{key: getattr(timing, key) for key in ("seconds", "median", "low", "high", "iqr", "noise")},
            "timed_rows": timing.rows or None,
            "rounds": timing.rounds,
            "passes": timing.passes,
            "floor": floor,
            "times_best": timing.seconds / best,
            "verdict": _said(timing, best),
            "reason": timing.reason,
            "host": timing.host or here(),
        }


def is_floor(cell: Cell) -> bool:
    return methods.get(cell.method).floor


def may_win(cell: Cell) -> bool:
    """Whether a cell can be the fastest of its group: not the floor, and not a method that solves another problem."""
    return not is_floor(cell) and methods.get(cell.method).exact


def _said(timing: Timing, best: float) -> str:
    """A cell beside the fastest of its group, in a word or two."""
    if timing.reason:
        return ""
    if is_floor(timing.cell):
        return "floor"
    if math.isnan(best):
        return "not exact"  # and neither is any other of its group
    return "fastest" if timing.seconds == best else verdict(timing.seconds, best, timing.noise)


def group_key(cell: Cell) -> tuple[str, str, str, int]:
    """What is compared with each other: an engine's own call stands beside the calls it answers."""
    return cell.robot, cell.quantity, compared_mode(cell.mode), cell.rows


def grown(findings: Findings) -> Iterator[dict[str, Any]]:
    """Time per state over size, then the exponents."""
    for timing in findings.grown:
        found = scaling.family_of(timing.cell.robot)
        yield {
            "family": scaling.family(timing.cell),
            "size": found[1] if found else None,
            "method": timing.cell.method,
            "quantity": timing.cell.quantity,
            "measure": "time per state",
            "value": timing.seconds,
            "low": timing.low,
            "high": timing.high,
            "unit": "s",
            "noise": timing.noise,
            "reason": timing.reason,
            "host": timing.host,
        }
    for fit in findings.exponents:
        yield {
            "family": fit.family,
            "method": fit.method,
            "quantity": fit.quantity,
            "measure": "exponent",
            "value": fit.exponent,
            "low": fit.low,
            "high": fit.high,
            "unit": f"95 % interval, N from {fit.smallest} to {fit.largest}" if not fit.reason else "",
            "reason": fit.reason,
        }


def counted(findings: Findings) -> Iterator[dict[str, Any]]:
    """Operations of each robot and method with the share of the peak that its batch reaches; then polynomials."""
    batch = {
        (t.cell.robot, t.cell.method, t.cell.quantity): t.seconds
        for t in sorted(findings.timings, key=lambda t: t.cell.rows)
        if t.cell.mode == "batch" and not t.reason and not t.cell.again and t.cell.rows <= 1000
    }
    for (robot, name), answer in findings.counts.items():
        for quantity in findings.plan.quantities:
            head = {"robot": robot, "method": name, "quantity": quantity, "host": answer.host}
            reason = answer.why or findings.matrix.reasons[robot, name, quantity]
            found = None if reason else answer.value.get(quantity, "was not counted")
            if isinstance(found, dict):
                seconds = batch.get((findings.plan.sources[robot], name, quantity), math.nan)
                share = flop_fraction(found["flops"], seconds, findings.peak)
                yield {**head, **found, "rate": found["flops"] / seconds, "fraction": share}
            else:
                yield {**head, "reason": reason or found}
    for (family, name, quantity), answer in findings.polynomials.items():
        head = {"robot": f"{family}-N", "method": name, "quantity": quantity, "host": answer.host}
        yield {**head, **answer.value} if not answer.reason else {**head, "reason": answer.why}


def starts(findings: Findings) -> Iterator[dict[str, Any]]:
    """What each method costs before its first result."""
    for name in findings.plan.methods:
        for quantity in QUANTITIES:
            for width in ("single", "batch", "batch with wrenches"):
                answer = findings.compiled.get((name, quantity, width))
                if answer is not None:
                    value = answer.value or {}
                    why, host = answer.why or value.get("why", ""), answer.host
                    yield _start(name, quantity, f"compile, {width}", value.get("compile"), "s", why, host=host)
                    if value.get("load") is not None:
                        measure = f"load from the cache, {width}"
                        yield _start(name, quantity, measure, value["load"], "s", "", host=host)
    for (robot, name), answer in findings.prepared.items():
        yield _start(name, "", "prepare", answer.value, "s", answer.why, robot, answer.host)
    for name, (robot, quantity, answer) in findings.first_calls.items():
        value, rest = answer.value or {}, (answer.why, robot, answer.host)
        yield _start(name, quantity, "first result in a new process", value.get("seconds"), "s", *rest)
        yield _start(name, quantity, "peak memory of that process", value.get("bytes"), "B", *rest)
    for name, answer in findings.null_calls.items():
        yield _start(name, "", "null call of the engine", answer.value, "s", answer.why, host=answer.host)
    for ratio in findings.compared:
        if ratio.mode == "batch" and not ratio.reason:
            yield from _break_even(findings, ratio)


def _break_even(findings: Findings, ratio: Any) -> Iterator[dict[str, Any]]:
    answer = findings.compiled.get((ratio.method, ratio.quantity, "batch"))
    seconds = (answer.value or {}).get("compile") if answer is not None else None
    mine = next(
        t.seconds
        for t in findings.timings
        if (t.cell.robot, t.cell.method) == (findings.plan.sources[ratio.robot], ratio.method)
        and (t.cell.quantity, t.cell.mode, t.cell.rows, t.cell.again) == (ratio.quantity, "batch", ratio.rows, False)
    )
    measure = f"break-even with {ratio.peer}, batches of {ratio.rows}"
    states = startup.break_even(seconds, mine * ratio.ratio, mine) if seconds is not None else None
    reason = "the compile time is not known" if states is None else ""
    if states == math.inf:
        states, reason = None, f"never: it is not faster than {ratio.peer}"
    yield _start(ratio.method, ratio.quantity, measure, states, "states", reason, ratio.robot)


def _start(
    method: str,
    quantity: str,
    measure: str,
    value: float | None,
    unit: str,
    reason: str,
    robot: str = "any",
    host: str = "",
) -> dict[str, Any]:
    reason = reason or ("" if value is not None else f"{ABSENT}nothing was measured")
    return {
        "robot": robot,
        "method": method,
        "quantity": quantity,
        "measure": measure,
        "value": value,
        "unit": unit,
        "reason": reason,
        "host": host,
    }


def compared(findings: Findings) -> Iterator[dict[str, Any]]:
    """Ratios to other engines."""
    for ratio in findings.compared:
        yield {**dataclasses.asdict(ratio), "met": ratio.met}


def results(findings: Findings) -> Iterator[dict[str, Any]]:
    """Every measurement once, in the same columns, with the host that made it."""
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
        polynomial = isinstance(row.get("flops"), str)  # of a family
        if row.get("reason") or polynomial:
            yield {**row, "measure": "operations", "reason": row.get("reason") or f"polynomial: {row['flops']}"}
        else:
            yield {**row, "measure": "operations", "value": row["flops"], "unit": "flops"}
            yield {**row, "measure": "fraction of the floating-point peak", "value": row["fraction"], "unit": "",
                   "reason": "" if row["fraction"] == row["fraction"] else "its batch was not timed"}  # fmt: skip
    yield from starts(findings)
    for row in compared(findings):
        measure = f"ratio to {row['peer']}, {row['mode']}"
        yield {**row, "measure": measure, "value": row["ratio"], "unit": "times faster", "other": row["peer"]}
    yield {
        "robot": "any",
        "method": "",
        "measure": "floating-point peak, one thread",
        "value": findings.peak.value,
        "unit": "flop/s",
        "reason": findings.peak.why,
        "host": findings.peak.host,
    }


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
    worst = plain({"rows": worst_cases(findings.checks)})
    files.write_json(folder / "worst.json", worst)
    about = {
        **findings.environment,
        "quick": findings.plan.quick,
        "seed": findings.plan.seed,
        "robots": {name: {"bodies": r.n, "nq": r.nq, "nv": r.nv} for name, r in findings.plan.robots.items()},
        "methods": {
            name: {
                **{word: getattr(methods.get(name), word) for word in ("title", "reference", "cost", "exact", "floor")},
                "peer": name in findings.plan.peers,
                "looped": not isinstance(methods.get(name), KernelMethod),  # batches are a loop in Python
            }
            for name in findings.plan.methods
        },
        "quantities": list(findings.plan.quantities),
        "left out": {**findings.plan.left_out},
        "notes": findings.notes,
        "peak flop/s": findings.peak.value,
    }
    files.write_json(folder / "environment.json", about, indent=2)
