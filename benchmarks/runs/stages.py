"""The stages of a benchmark run, each a function that adds to the `Findings`; `bench` says in which order.

Everything but timing runs as jobs in other processes (`workers`): a method that crashes, hangs or raises there loses
its own cells, with the reason, and stops nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dynbench import methods
from dynbench.benchmarks import papers
from dynbench.benchmarks.checks import gate
from dynbench.benchmarks.runs.plan import Matrix, Plan
from dynbench.benchmarks.runs.progress import Progress
from dynbench.benchmarks.runs.records import Row
from dynbench.benchmarks.runs.workers import Answer, Job, Worker, run_jobs
from dynbench.benchmarks.timing import counts, passes, ratios, scaling
from dynbench.benchmarks.timing.cases import Cell
from dynbench.benchmarks.timing.passes import Spec, Timing
from dynbench.methods.kernel_method import KernelMethod

COMPILE_TIMEOUT = 600.0
NOT_MEASURED = Answer(reason="was not measured")
COUNTED = ("inverse_dynamics", "forward_dynamics", "mass_matrix")


@dataclass
class Findings:
    """Everything a run found."""

    plan: Plan
    matrix: Matrix
    environment: dict[str, Any]
    checks: list[Row] = field(default_factory=list)
    compiled: dict[tuple[str, str, str], Answer] = field(default_factory=dict)  # method, quantity, single or batch
    timings: list[Timing] = field(default_factory=list)  # cells that were refused have theirs, with the reason
    grown: list[Timing] = field(default_factory=list)  # of the scaling families
    exponents: list[scaling.Exponent] = field(default_factory=list)
    prepared: dict[tuple[str, str], Answer] = field(default_factory=dict)  # robot, method
    first_calls: dict[str, tuple[str, str, Answer]] = field(default_factory=dict)  # method: robot, quantity, answer
    counts: dict[tuple[str, str], Answer] = field(default_factory=dict)  # robot, method
    polynomials: dict[tuple[str, str, str], Answer] = field(default_factory=dict)  # family, method, quantity
    peak: Answer = NOT_MEASURED
    compared: list[ratios.Ratio] = field(default_factory=list)
    claimed: list[papers.Paper] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what was left out, and why
    pool: list[Worker] = field(default_factory=list)  # processes that go from stage to stage


def _run(
    findings: Findings, stage: str, jobs: Sequence[Job], name: Callable[[Job], str], processes: int | None = None
) -> list[Answer]:
    with Progress(stage, len(jobs)) as progress:

        def done(job: Job, answer: Answer) -> None:
            progress.step(name(job), bool(answer.reason))

        return run_jobs(jobs, processes, done, pool=findings.pool)


def _words(*keys: str) -> Callable[[Job], str]:
    return lambda job: " ".join(str(job.arguments[key]) for key in keys)


def compile_kernels(findings: Findings) -> None:
    """Compile what will be called, and nothing else, as many kernels at a time as there are processors."""
    plan, matrix = findings.plan, findings.matrix
    keys: list[tuple[str, str, str]] = []
    for name in dict.fromkeys(name for _, name in matrix.pairs()):
        method = methods.get(name)
        if isinstance(method, KernelMethod):
            # with closed loops other kernels run, which are compiled when they are tried out
            trees = [robot for robot in plan.robots if plan.robots[robot].is_tree]
            wanted = {quantity for robot in trees for quantity in matrix.able(robot, name)}
            wanted = {"inverse_dynamics" if quantity == "bias" else quantity for quantity in wanted}
            for quantity in method.kernels:
                if quantity in wanted:
                    keys += [(name, quantity, "batch"), (name, quantity, "single")]
                    if quantity == "inverse_dynamics" and not method.floor:
                        keys.append((name, quantity, "batch with wrenches"))  # the check asks for it
    jobs = [
        Job(
            "dynbench.benchmarks.timing.startup:compile_quantity",
            {
                "method": name,
                "quantity": quantity,
                "batch": "batch" in width,
                "wrench": "wrench" in width,
                "anew": not plan.quick,
            },
            COMPILE_TIMEOUT,
        )
        for name, quantity, width in keys
    ]
    findings.compiled = dict(zip(keys, _run(findings, "compiling", jobs, _words("method", "quantity")), strict=True))
    for (name, quantity, width), answer in findings.compiled.items():
        for robot in plan.robots:
            affected = [quantity, "bias"] if quantity == "inverse_dynamics" else [quantity]
            for each in affected:
                if answer.reason and width != "batch with wrenches" and (robot, name, each) in matrix.reasons:
                    matrix.refuse(robot, name, each, f"failed to compile: {answer.reason}")


def try_out(findings: Findings) -> None:
    """Call everything once, so that what crashes or hangs is known before anything depends on it."""
    plan, matrix = findings.plan, findings.matrix
    pairs = matrix.pairs()
    jobs = [
        Job(
            "dynbench.benchmarks.timing.startup:try_out",
            {
                "robot": plan.sources[robot],
                "method": name,
                "quantities": matrix.able(robot, name),
                "modes": ["call", "unchecked", "batch"],
            },
            COMPILE_TIMEOUT,
        )
        for robot, name in pairs
    ]
    for (robot, name), answer in zip(pairs, _run(findings, "trying out", jobs, _words("robot", "method")), strict=True):
        for quantity in matrix.able(robot, name):
            matrix.refuse(robot, name, quantity, answer.reason or answer.value.get(quantity, ""))


def check(findings: Findings) -> None:
    """Agreement and invariants on every robot; what does not agree is not timed."""
    plan, matrix = findings.plan, findings.matrix
    chosen = {
        robot: [name for name in plan.methods if matrix.able(robot, name) and not methods.get(name).floor]
        for robot in plan.robots
    }
    robots = [robot for robot, names in chosen.items() if names]
    jobs = [
        Job(
            "dynbench.benchmarks.checks.gate:check_robot",
            {
                "robot": plan.sources[robot],
                "names": chosen[robot],
                "quantities": list(plan.quantities),
                "states": 16 if plan.quick else 64,
                "seed": plan.seed,
            },
            300.0 if plan.quick else 900.0,
        )
        for robot in robots
    ]
    for robot, answer in zip(robots, _run(findings, "checking agreement", jobs, _words("robot")), strict=True):
        if answer.reason:
            why = f"the check did not finish: {answer.reason}"
            findings.checks += [Row(robot, name, "", "check", None, "", "failed", why) for name in chosen[robot]]
        else:
            findings.checks += [gate.row_from(row) for row in answer.value]
    refused = gate.refusals(findings.checks)
    for robot, name, quantity in matrix.reasons:
        matrix.refuse(robot, name, quantity, gate.reason(refused, robot, name, quantity))


def time_cells(findings: Findings, with_scaling: bool, folder: Path) -> None:
    """Time every cell that is left, and those of the scaling families, in one go."""
    plan = findings.plan
    wanted, refused = findings.matrix.cells()
    grown: list[Cell] = []
    grown_refused: dict[Cell, str] = {}
    if with_scaling:
        grown, grown_refused = _scaling_cells(findings)
    spec = Spec(
        (*wanted, *grown),
        passes=(0, 1, 2),
        seed=plan.seed,
        max_time=0.01 if plan.quick else 0.02,
        min_rounds=3 if plan.quick else 5,
        call_limit=0.005 if plan.quick else 0.02,
        give_up=0.5 if plan.quick else 5.0,
    )
    with Progress("timing", len(spec.cells) * len(spec.passes)) as progress:
        found = passes.run(spec, 60.0 if plan.quick else 120.0, progress.step, folder / "pytest-benchmark")
    findings.timings = found[: len(wanted)] + [Timing(cell, reason=reason) for cell, reason in refused.items()]
    findings.grown = found[len(wanted) :] + [Timing(cell, reason=reason) for cell, reason in grown_refused.items()]
    findings.exponents = scaling.exponents(findings.grown)
    from dynbench.benchmarks.runs.environment import instruction_set

    findings.compared = ratios.ratios(findings.timings, plan.peers, instruction_set(findings.environment))


def _scaling_cells(findings: Findings) -> tuple[list[Cell], dict[Cell, str]]:
    """The cells of the families, after comparing all pairs on every size."""
    plan = findings.plan
    names = [name for name in plan.methods if not methods.get(name).floor]
    allowed = scaling.QUICK_QUANTITIES if plan.quick else COUNTED
    quantities = [quantity for quantity in plan.quantities if quantity in allowed]
    wanted, refused = scaling.cells(names, quantities, plan.quick)
    somewhere = {(scaling.family(cell), cell.method) for cell in wanted}
    families = scaling.families()
    jobs = [
        Job(
            "dynbench.benchmarks.checks.gate:compare_family",
            {
                "family": family,
                "sizes": list(scaling.sizes(family, plan.quick)),
                "names": [name for name in names if (family, name) in somewhere],
                "quantities": quantities,
                "seed": plan.seed,
            },
            300.0 if plan.quick else 900.0,
        )
        for family in families
    ]
    why: dict[str, str] = {}
    for family, answer in zip(families, _run(findings, "checking families", jobs, _words("family")), strict=True):
        if answer.reason:
            why[family] = f"the check did not finish: {answer.reason}"
        else:
            findings.checks += [gate.row_from(row) for row in answer.value]
    stopped = gate.refusals(findings.checks)
    kept = []
    for cell in wanted:
        reason = why.get(scaling.family(cell), "") or gate.reason(stopped, cell.robot, cell.method, cell.quantity)
        if reason:
            refused[cell] = reason
        else:
            kept.append(cell)
    return kept, refused


def start_up(findings: Findings) -> None:
    """Time prepare for every robot and method, and the first call in a new process once for every method."""
    plan, matrix = findings.plan, findings.matrix
    pairs = matrix.pairs()
    jobs = [
        Job("dynbench.benchmarks.timing.startup:prepare_seconds", {"robot": plan.sources[robot], "method": name})
        for robot, name in pairs
    ]
    findings.prepared = dict(zip(pairs, _run(findings, "preparing", jobs, _words("robot", "method")), strict=True))
    first = {name: (robot, matrix.able(robot, name)[0]) for robot, name in reversed(pairs)}
    jobs = [
        Job(
            "dynbench.benchmarks.timing.startup:first_call",
            {"robot": plan.sources[robot], "method": name, "quantity": quantity},
        )
        for name, (robot, quantity) in first.items()
    ]
    # One at a time where it is worth the wait: two that start together slow each other down.
    answers = _run(findings, "first calls", jobs, _words("method", "robot"), None if plan.quick else 1)
    findings.first_calls = {name: (*first[name], answer) for name, answer in zip(first, answers, strict=True)}


def count(findings: Findings, with_families: bool) -> None:
    """Count operations on every robot, as polynomials on families, and measure the floating-point peak."""
    plan, matrix = findings.plan, findings.matrix
    pairs = [(robot, name) for robot, name in matrix.pairs() if not methods.get(name).floor]
    keys = []
    if with_families:
        names = [n for n in plan.methods if isinstance(methods.get(n), KernelMethod) and not methods.get(n).floor]
        quantities = [quantity for quantity in COUNTED if quantity in plan.quantities]
        for family in scaling.families():
            sample = f"{family}-{counts.SIZES[0]}"
            keys += [(family, n, q) for n in names for q in quantities if not scaling.why_not(n, sample, q)]
    limit = 60.0 if plan.quick else 300.0
    jobs = [
        *(
            Job(
                "dynbench.benchmarks.timing.counts:count",
                {"robot": plan.sources[robot], "method": name, "quantities": matrix.able(robot, name)},
                limit,
            )
            for robot, name in pairs
        ),
        *(
            Job("dynbench.benchmarks.timing.counts:polynomials", {"method": n, "family": f, "quantity": q}, limit)
            for f, n, q in keys
        ),
    ]
    answers = _run(findings, "counting", jobs, _words("method"))
    findings.counts = dict(zip(pairs, answers[: len(pairs)], strict=True))
    findings.polynomials = dict(zip(keys, answers[len(pairs) :], strict=True))
    (findings.peak,) = _run(
        findings, "peak", [Job("dynbench.benchmarks.timing.peak:flops_per_second")], lambda job: "multiply-add"
    )


def run_papers(findings: Findings) -> None:
    """The papers' experiments."""
    findings.claimed = papers.run_papers(papers.names(), findings.plan.quick)


def flop_fraction(flops: float, seconds: float, peak: Answer) -> float:
    """The share of the machine's peak that a method reaches; NaN where either is not known."""
    return flops / seconds / peak.value if peak.value and seconds > 0.0 else math.nan
