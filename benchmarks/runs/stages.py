"""The stages of a benchmark run except the checks, each a function that adds to the `Findings`; `bench` has the order.

All code of methods runs in separate processes (`workers`, `sessions`): a method that crashes, hangs or raises loses its
own cells, with the reason, and does not stop the run.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from dynbench import methods
from dynbench.benchmarks import papers
from dynbench.benchmarks.papers import recordings, sweeps
from dynbench.benchmarks.problems import exudyn_judge, registry, running
from dynbench.benchmarks.processes import hosts
from dynbench.benchmarks.processes.jobs import Answer, Job
from dynbench.benchmarks.processes.keys import key
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.processes.plugins import owner
from dynbench.benchmarks.processes.progress import Progress
from dynbench.benchmarks.results import environment
from dynbench.benchmarks.results.environment import instruction_set
from dynbench.benchmarks.results.schema import PROBLEMS
from dynbench.benchmarks.runs import kept, short
from dynbench.benchmarks.runs.checking import scaling_cells
from dynbench.benchmarks.runs.findings import NO_TIME_LEFT, Findings
from dynbench.benchmarks.runs.short import REFERENCE
from dynbench.benchmarks.tiers import GENERIC, Variant
from dynbench.benchmarks.timing import calibration, counts, engines, loop_ratios, passes, ratios, scaling
from dynbench.benchmarks.timing.cases import Cell
from dynbench.benchmarks.timing.passes import Spec, Timing
from dynbench.benchmarks.timing.ratios import unique
from dynbench.methods.base import DERIVATIVES
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.registry import is_foreign

COMPILE_TIMEOUT = 600.0  # seconds
TRY_TIMEOUT = 120.0  # of a method that has nothing to compile
COUNTED = ("inverse_dynamics", "forward_dynamics", "mass_matrix", *DERIVATIVES)


def _words(*keys: str) -> Callable[[Job], str]:
    return lambda job: " ".join(str(job.arguments[key]) for key in keys)


def _job(function: str, method: str, timeout: float = TRY_TIMEOUT, **arguments: Any) -> Job:
    """A job of `benchmarks.timing` that runs code of a method, in a process of the method's owner."""
    return Job(f"dynbench.benchmarks.timing.{function}", {**arguments, "method": method}, timeout, owner=owner(method))


def _missing(stored: Any) -> Missing | None:
    """The outcome and reason that a job returned as plain data; None if it returned none."""
    return Missing(Outcome(stored[0]), stored[1]) if stored else None


def query_plugin_support(findings: Findings, with_scaling: bool) -> None:
    """Query which robots the methods of other packages support, in separate processes since this runs their code."""
    plan, matrix = findings.plan, findings.matrix
    names = [name for name in plan.methods if is_foreign(methods.get(name))]
    sources = [*plan.sources.values()]
    if with_scaling:
        sources += [*scaling.members(plan.quick), *map(counts.sample, scaling.families())]
    jobs = [_job("startup:refusals", name, robots=sources) for name in names]
    answers = findings.ask("querying plugins", jobs, _words("method")) if jobs else []
    for name, answer in zip(names, answers, strict=True):
        refusals = [answer.missing] * len(sources) if answer.reason else list(map(_missing, answer.value))
        findings.plugin_refusals |= {(source, name): one for source, one in zip(sources, refusals, strict=True)}
    for robot, one in matrix.pairs():
        for quantity in matrix.able(robot, one):
            matrix.refuse(robot, one, quantity, findings.plugin_refusals.get((plan.sources[robot], one.method)))


def compile_kernels(findings: Findings) -> None:
    """Compile the kernels that will be called, in parallel."""
    plan, matrix = findings.plan, findings.matrix
    keys: list[tuple[str, str, str]] = []
    bare = short.without_wrenches(plan)
    for one in dict.fromkeys(one for _, one in matrix.run()):
        name, method = one.method, methods.get(one.method)
        if isinstance(method, KernelMethod) and not one.traced:
            # closed loops use other kernels, which are compiled when they are tried out
            mine = [robot for robot, other in matrix.run() if other == one]
            trees = [robot for robot in mine if plan.robots[robot].is_tree]
            wanted = {quantity for robot in trees for quantity in matrix.able(robot, one)}
            wanted = {"inverse_dynamics" if quantity == "bias" else quantity for quantity in wanted}
            for quantity in method.kernels:
                if quantity in wanted:
                    keys += [(name, quantity, "batch"), (name, quantity, "single")]
                    if quantity == "inverse_dynamics" and not method.floor and name not in bare:
                        keys.append((name, quantity, "batch with wrenches"))  # for the check
    jobs = []
    for name, quantity, width in keys:
        widths = {"batch": "batch" in width, "wrench": "wrench" in width}
        arguments = {"quantity": quantity, **widths, "anew": not plan.quick}
        jobs.append(_job("startup:compile_quantity", name, COMPILE_TIMEOUT, **arguments))
    findings.compiled = dict(zip(keys, findings.ask("compiling", jobs, _words("method", "quantity")), strict=True))
    for (name, quantity, width), answer in findings.compiled.items():
        if answer.reason and width != "batch with wrenches":
            missing = Missing(answer.outcome, f"did not compile: {answer.why}")
            for robot in plan.robots:
                for affected in (quantity, "bias") if quantity == "inverse_dynamics" else (quantity,):
                    if (robot, Variant(name, GENERIC), affected) in matrix.missing:
                        matrix.refuse(robot, Variant(name, GENERIC), affected, missing)


def try_out(findings: Findings) -> None:
    """Call everything once, so that crashes and hangs are known before other stages use a method."""
    plan, matrix = findings.plan, findings.matrix
    parts: list[tuple[str, Variant, list[str]]] = []
    for robot, one in matrix.run():
        able = matrix.able(robot, one)
        # generic code of loops is compiled now: a quantity at a time, so that all processors have something to do
        split = not plan.robots[robot].is_tree and one.code == GENERIC
        parts += [(robot, one, [quantity]) for quantity in able] if split else [(robot, one, able)]
    parts.sort(key=lambda part: plan.robots[part[0]].is_tree or part[1].code != GENERIC)  # the longest first
    jobs = []
    for robot, one, quantities in parts:
        limit = COMPILE_TIMEOUT if isinstance(methods.get(one.method), KernelMethod) else TRY_TIMEOUT
        modes = ["batch"] if (robot, one) in matrix.not_timed else ["call", "unchecked", "batch"]
        arguments = {"robot": plan.sources[robot], "quantities": quantities, "modes": modes, "code": one.code}
        jobs.append(_job("startup:try_out", one.method, limit, **arguments))
    answers = findings.ask("trying out", jobs, _words("robot", "method", "code"))
    for (robot, one, quantities), answer in zip(parts, answers, strict=True):
        for quantity in quantities:
            matrix.refuse(robot, one, quantity, answer.missing or _missing(answer.value.get(quantity)))
    findings.compiling = findings.seconds()


def time_cells(findings: Findings, with_scaling: bool, folder: Path) -> None:
    """Time every remaining cell, and those of the scaling families, together."""
    plan = findings.plan
    wanted, refused = findings.matrix.cells()
    grown: list[Cell] = []
    grown_refused: dict[Cell, Missing] = {}
    if with_scaling:
        grown, grown_refused = scaling_cells(findings)
    numbers, budget = short.rounds(plan, len(wanted) + len(grown))
    spec = Spec(
        (*wanted, *grown),
        passes=numbers,
        seed=plan.seed,
        budget=budget,
        call_limit=short.call_limit(plan),
        give_up=0.1 if plan.quick else 0.5,
        checked=findings.checked,
        best=calibration.remembered(),
    )
    journal = TimingJournal(findings, spec)
    begin = not findings.interrupted
    lock = hosts.machine_lock(alone=True) if begin else nullcontext()
    with Progress("timing", journal.left() if begin else 0) as progress, lock:
        limit = min(60.0 if plan.quick else 120.0, findings.limits.seconds)
        saved = folder / "pytest-benchmark"
        found = passes.run(spec, limit, progress.step, saved, journal, findings.limits.memory, begin)
    findings.asked += len(spec.cells) * len(spec.passes)
    unfinished = (t for t in found if t.outcome in (Outcome.NUMBER, Outcome.INTERRUPTED))
    findings.unanswered += sum(len(spec.passes) - timing.passes for timing in unfinished)
    findings.timings = found[: len(wanted)] + [Timing.without(*one) for one in refused.items()]
    findings.grown = found[len(wanted) :] + [Timing.without(*one) for one in grown_refused.items()]
    timed = [*findings.timings, *findings.grown]
    findings.environment["timing"] = passes.disturbance(timed, environment.load(), os.cpu_count() or 1)
    findings.exponents = scaling.exponents(findings.grown)
    compared = ratios.ratios(findings.timings, plan.peers, instruction_set(findings.environment))
    names = {source: name for name, source in plan.sources.items()}  # cells have the path of a robot file
    findings.compared = [replace(ratio, robot=names[ratio.robot]) for ratio in compared]


def time_loops(findings: Findings, whole: bool) -> None:
    """Time closed loops against the code that users of Pinocchio write, since the engine has no such call."""
    plan = findings.plan
    names = [name for name in loop_ratios.ROBOTS if whole or name in plan.robots]
    if not names or loop_ratios.METHOD not in plan.methods or loop_ratios.PEER not in plan.peers:
        return
    arguments = {"names": names, "seed": plan.seed, "codes": list(plan.codes)}
    job = Job(f"{loop_ratios.__name__}:job", arguments, 300.0, fresh=True)
    (answer,) = findings.ask("timing loops", [job], alone=True)
    missing = answer.missing
    absent = loop_ratios.absent(names, missing, plan.codes) if missing else []
    findings.compared += absent or loop_ratios.from_job(answer.value)


class TimingJournal:
    """The journal as `passes` uses it: a group of cells in a pass is a job, although one process runs many."""

    def __init__(self, findings: Findings, spec: Spec) -> None:
        self.journal = findings.journal
        self.spec = spec

    def left(self) -> int:
        """The number of cells, in all passes, that are still to be measured."""
        state = passes.Run(self.spec, self, lambda key, outcome, cells: None)
        for number in self.spec.passes:
            state.recall(number)
        return sum(len(state.left(number)) for number in self.spec.passes)

    def find(self, cells: Sequence[Cell], number: int) -> Answer | None:
        return self.journal.find(key(self._job(cells, number)))

    def put(self, cells: Sequence[Cell], number: int, answer: Answer) -> None:
        job = self._job(cells, number)
        self.journal.put(key(job), job, answer)

    def _job(self, cells: Sequence[Cell], number: int) -> Job:
        how = {"seed": self.spec.seed, "call_limit": self.spec.call_limit, "give_up": self.spec.give_up}
        arguments = {"group": [cell.plain() for cell in cells], "number": number, "budget": asdict(self.spec.budget)}
        return Job("dynbench.benchmarks.timing.bench_timing:test_time", {**arguments, **how})


def start_up(findings: Findings) -> None:
    """Time prepare for every robot and method, and the first call in a new process once for every method."""
    plan, matrix = findings.plan, findings.matrix
    timed = [pair for pair in matrix.run() if pair not in matrix.not_timed]
    pairs = list(dict.fromkeys((robot, one.method) for robot, one in timed))
    jobs = [_job("startup:prepare_seconds", name, robot=plan.sources[robot]) for robot, name in pairs]
    findings.prepared = dict(zip(pairs, findings.ask("preparing", jobs, _words("robot", "method")), strict=True))
    first = {one.method: (robot, matrix.able(robot, one)[0]) for robot, one in reversed(timed)}
    left = {name for name in first if plan.quick and name != REFERENCE and not owner(name)}
    chosen = {name: pair for name, pair in first.items() if name not in left}
    jobs = [
        _job("startup:first_call", name, robot=plan.sources[robot], quantity=quantity)
        for name, (robot, quantity) in chosen.items()
    ]
    answers = findings.ask("first calls", jobs, _words("method", "robot"), alone=not plan.quick)
    reason = f"left to the full run: mostly the same imports as those of {REFERENCE}"
    found = dict.fromkeys(left, Answer(reason=reason, outcome=Outcome.LEFT_OUT))
    found |= dict(zip(chosen, answers, strict=True))
    findings.first_calls = {name: (*first[name], found[name]) for name in first}
    names = engines.with_null_call(list(first))
    jobs = [_job("engines:call_overhead", name) for name in names]
    answers = findings.ask("null calls", jobs, _words("method"), alone=not plan.quick)
    findings.null_calls = dict(zip(names, answers, strict=True))


def count(findings: Findings, with_families: bool) -> None:
    """Count operations on every robot, as polynomials on families, and measure the floating-point peak."""
    plan, matrix = findings.plan, findings.matrix
    pairs = [(robot, one) for robot, one in matrix.pairs() if not methods.get(one.method).floor]
    keys: list[tuple[str, str, str]] = []
    if with_families:
        kernels = [one.method for one in plan.variants if one.code]
        names = [n for n in unique(kernels) if not methods.get(n).floor and (not plan.short or short.timed(n))]
        left = () if not plan.short or plan.named else short.ON_ONE_ROBOT
        quantities = [quantity for quantity in COUNTED if quantity in plan.quantities and quantity not in left]
        for family in scaling.families():
            if scaling.sizes(family, plan.quick):
                robot, refusals = counts.sample(family), findings.plugin_refusals
                able = ((n, q) for n in names for q in quantities if not scaling.why_not(n, robot, q, refusals))
                keys += [(family, *pair) for pair in able]
    limit = 60.0 if plan.quick else 300.0
    jobs = [
        _job("counts:count", one.method, limit, robot=plan.sources[robot], quantities=asked, code=one.code)
        for robot, one in pairs
        if (asked := matrix.able(robot, one))
    ]
    jobs += [_job("counts:polynomials", name, limit, family=family, quantity=q) for family, name, q in keys]

    def counting(stage: str, jobs: Sequence[Job]) -> list[Answer]:
        return findings.ask(stage, jobs, _words("method"))

    answers = (kept.using if plan.short else kept.keeping)(counting)("counting", jobs)
    findings.counts = dict(zip(pairs, answers[: len(pairs)], strict=True))
    findings.polynomials = dict(zip(keys, answers[len(pairs) :], strict=True))
    (findings.peak,) = findings.ask("peak", [Job(f"{calibration.__name__}:flops_per_second")], alone=True)


def run_papers(findings: Findings, folder: Path) -> None:
    """Run the papers' experiments, their simulations, and work against precision; the default run only new ones."""
    quick, names = findings.plan.quick, papers.names()
    ask = kept.keeping(findings.ask)
    used: list[Job] = []
    left: set[str] = set()
    if findings.plan.short:
        until, expected = short.papers_until(findings.compiling), short.paper_seconds(findings.compiling)

        def in_time(stage: str, jobs: Sequence[Job]) -> list[Answer]:
            listing = all("papers" in job.arguments for job in jobs)  # what there is to run is listed in any case
            answers = findings.ask(stage, jobs, until=math.inf if listing else until, expected=expected)
            for job, answer in zip(jobs, answers, strict=True):
                if answer.reason == NO_TIME_LEFT.reason:
                    left.add(str(job.arguments.get("paper") or job.arguments.get("name")))
            return answers

        ask = kept.using(in_time, used.append)
    findings.claimed = papers.run_papers(names, quick, ask)
    recordings.run(folder, names, quick, ask)
    sweeps.run(folder, names, quick, ask)
    if used:
        said = f"{len(used)} answers about papers are of an earlier run with the same sources, versions and processor"
        findings.notes.append(f"{said}: `dynbench papers` runs all of them again")
    if quick:
        findings.notes.append("simulations that take more than a few seconds were left to the full run")
    if left:
        findings.notes.append(f"{NO_TIME_LEFT.reason}: {', '.join(sorted(left))}")


def run_problems(findings: Findings, folder: Path) -> None:
    """Run the benchmark problems with known answers in a full run; a quick one says how to run them."""
    if findings.plan.quick:
        no_problems(folder)
        findings.notes.append("benchmark problems with known answers were left out: `dynbench problems` runs them")
        return
    peers = [exudyn_judge.NAME] if "exudyn" in findings.plan.methods else []
    found = running.run(registry.names(), [*findings.plan.methods, *peers], True, findings.ask)
    running.write(folder, found.rows)
    running.record_all(folder, found.problems, findings.ask)


def no_problems(folder: Path) -> None:
    """Remove what an earlier run left of problems."""
    (folder / PROBLEMS.file).unlink(missing_ok=True)


def flop_fraction(flops: float, seconds: float, peak: Answer) -> float:
    """The share of the machine's peak that a method reaches; NaN if one of the numbers is not known."""
    return flops / seconds / peak.value if peak.value and seconds > 0.0 else math.nan
