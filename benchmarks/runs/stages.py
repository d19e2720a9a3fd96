"""The other stages of a benchmark run, each a function that adds to the `Findings`; `bench` says in which order.

Everything runs in processes of its own (`workers`, `sessions`): a method that crashes, hangs or raises there loses its
own cells, with the reason, and stops nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from dynbench import methods
from dynbench.benchmarks import papers
from dynbench.benchmarks.processes import hosts
from dynbench.benchmarks.processes.jobs import INTERRUPTED, Answer, Job
from dynbench.benchmarks.processes.keys import key
from dynbench.benchmarks.processes.plugins import owner
from dynbench.benchmarks.processes.progress import Progress
from dynbench.benchmarks.results.environment import instruction_set
from dynbench.benchmarks.runs.checking import scaling_cells
from dynbench.benchmarks.runs.findings import NOT_KEPT, Findings
from dynbench.benchmarks.runs.plan import REFERENCE
from dynbench.benchmarks.timing import counts, engines, loop_ratios, passes, ratios, scaling
from dynbench.benchmarks.timing.cases import Cell
from dynbench.benchmarks.timing.passes import Spec, Timing
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.registry import is_foreign

COMPILE_TIMEOUT = 600.0  # seconds
TRY_TIMEOUT = 120.0  # of a method that has nothing to compile
COUNTED = ("inverse_dynamics", "forward_dynamics", "mass_matrix")


def _words(*keys: str) -> Callable[[Job], str]:
    return lambda job: " ".join(str(job.arguments[key]) for key in keys)


def ask_whom(findings: Findings, with_scaling: bool) -> None:
    """Ask methods of other packages which robots they take: their answer is their code too."""
    plan, matrix = findings.plan, findings.matrix
    names = [name for name in plan.methods if is_foreign(methods.get(name))]
    sources = [*plan.sources.values()]
    if with_scaling:
        sources += [*scaling.members(plan.quick), *map(counts.sample, scaling.families())]
    where = "dynbench.benchmarks.timing.startup:refusals"
    jobs = [Job(where, {"robots": sources, "method": name}, TRY_TIMEOUT, owner=name) for name in names]
    answers = findings.ask("asking plugins", jobs, _words("method")) if jobs else []
    for name, answer in zip(names, answers, strict=True):
        said = answer.value or [answer.why] * len(sources)
        findings.told |= {(source, name): why for source, why in zip(sources, said, strict=True)}
    for robot, name in matrix.pairs():
        for quantity in matrix.able(robot, name):
            matrix.refuse(robot, name, quantity, findings.told.get((plan.sources[robot], name), ""))


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
            owner=owner(name),
        )
        for name, quantity, width in keys
    ]
    findings.compiled = dict(zip(keys, findings.ask("compiling", jobs, _words("method", "quantity")), strict=True))
    for (name, quantity, width), answer in findings.compiled.items():
        for robot in plan.robots:
            affected = [quantity, "bias"] if quantity == "inverse_dynamics" else [quantity]
            for each in affected:
                if answer.reason and width != "batch with wrenches" and (robot, name, each) in matrix.reasons:
                    matrix.refuse(robot, name, each, f"failed to compile: {answer.why}")


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
            COMPILE_TIMEOUT if isinstance(methods.get(name), KernelMethod) else TRY_TIMEOUT,
            owner=owner(name),
        )
        for robot, name in pairs
    ]
    for (robot, name), answer in zip(pairs, findings.ask("trying out", jobs, _words("robot", "method")), strict=True):
        for quantity in matrix.able(robot, name):
            matrix.refuse(robot, name, quantity, answer.why or answer.value.get(quantity, ""))


def time_cells(findings: Findings, with_scaling: bool, folder: Path) -> None:
    """Time every cell that is left, and those of the scaling families, in one go."""
    plan = findings.plan
    wanted, refused = findings.matrix.cells()
    grown: list[Cell] = []
    grown_refused: dict[Cell, str] = {}
    if with_scaling:
        grown, grown_refused = scaling_cells(findings)
        left = [family for family in scaling.families() if not scaling.sizes(family, plan.quick)]
        if left:
            findings.notes.append(f"the families {' and '.join(left)} were left to the full run")
    spec = Spec(
        (*wanted, *grown),
        passes=(0, 1, 2),
        seed=plan.seed,
        max_time=0.006 if plan.quick else 0.02,
        min_rounds=3 if plan.quick else 5,
        call_limit=0.005 if plan.quick else 0.02,
        give_up=0.1 if plan.quick else 0.5,
        checked=findings.checked,
    )
    journal = TimingJournal(findings, spec)
    begin = not findings.interrupted
    place = hosts.place(alone=True) if begin else nullcontext()
    with Progress("timing", journal.left() if begin else 0) as progress, place:
        limit = min(60.0 if plan.quick else 120.0, findings.limits.seconds)
        kept = folder / "pytest-benchmark"
        found = passes.run(spec, limit, progress.step, kept, journal, findings.limits.memory, begin)
    findings.asked += len(spec.cells) * len(spec.passes)
    findings.missing += sum(len(spec.passes) - t.passes for t in found if not t.reason or t.reason == INTERRUPTED)
    findings.timings = found[: len(wanted)] + [Timing(cell, reason=reason) for cell, reason in refused.items()]
    findings.grown = found[len(wanted) :] + [Timing(cell, reason=reason) for cell, reason in grown_refused.items()]
    findings.exponents = scaling.exponents(findings.grown)
    compared = ratios.ratios(findings.timings, plan.peers, instruction_set(findings.environment))
    names = {source: name for name, source in plan.sources.items()}  # cells know a robot of a file by its path
    findings.compared = [replace(ratio, robot=names[ratio.robot]) for ratio in compared]


def time_loops(findings: Findings, whole: bool) -> None:
    """Closed loops against the route that Pinocchio's user has, which is no call of the engine's own."""
    plan = findings.plan
    names = [name for name in loop_ratios.ROBOTS if whole or name in plan.robots]
    if not names or loop_ratios.METHOD not in plan.methods or loop_ratios.PEER not in plan.peers:
        return
    arguments = {"names": names, "passes": 3 if plan.quick else 7, "seed": plan.seed}
    (answer,) = findings.ask("timing loops", [Job(f"{loop_ratios.__name__}:job", arguments, 300.0)])
    found = [ratios.Ratio(**row) for row in answer.value or ()]
    findings.compared += found or loop_ratios.absent(names, answer.why)


class TimingJournal:
    """The journal as `passes` uses it: a cell in a pass is a job, although one process does many."""

    def __init__(self, findings: Findings, spec: Spec) -> None:
        self.store = findings.store
        self.spec = spec

    def left(self) -> int:
        """How many are still to be measured."""
        return sum(self.find(cell, number) is None for cell in self.spec.cells for number in self.spec.passes)

    def find(self, cell: Cell, number: int) -> Answer | None:
        return self.store.find(key(self._job(cell, number)))

    def put(self, cell: Cell, number: int, answer: Answer) -> None:
        job = self._job(cell, number)
        if not answer.reason.startswith(NOT_KEPT):
            self.store.put(key(job), job, answer)

    def _job(self, cell: Cell, number: int) -> Job:
        how = {name: getattr(self.spec, name) for name in ("seed", "max_time", "min_rounds", "call_limit", "give_up")}
        arguments = {"cell": cell.plain(), "number": number, **how}
        return Job("dynbench.benchmarks.timing.bench_timing:test_time", arguments, owner=owner(cell.method))


def start_up(findings: Findings) -> None:
    """Time prepare for every robot and method, and the first call in a new process once for every method."""
    plan, matrix = findings.plan, findings.matrix
    pairs = matrix.pairs()
    jobs = [
        Job(
            "dynbench.benchmarks.timing.startup:prepare_seconds",
            {"robot": plan.sources[robot], "method": name},
            owner=owner(name),
        )
        for robot, name in pairs
    ]
    findings.prepared = dict(zip(pairs, findings.ask("preparing", jobs, _words("robot", "method")), strict=True))
    first = {name: (robot, matrix.able(robot, name)[0]) for robot, name in reversed(pairs)}
    left = {name for name in first if plan.quick and name != REFERENCE and not owner(name)}
    asked = [name for name in first if name not in left]
    jobs = [
        Job(
            "dynbench.benchmarks.timing.startup:first_call",
            {"robot": plan.sources[robot], "method": name, "quantity": quantity},
            owner=owner(name),
        )
        for name, (robot, quantity) in first.items()
        if name in asked
    ]
    answers = findings.ask("first calls", jobs, _words("method", "robot"), alone=not plan.quick)
    found = dict.fromkeys(left, Answer(reason=f"left to the full run: mostly the same imports as those of {REFERENCE}"))
    found |= dict(zip(asked, answers, strict=True))
    findings.first_calls = {name: (*first[name], found[name]) for name in first}
    asked = [name for name in first if name in engines.NULL_CALLS]
    jobs = [Job("dynbench.benchmarks.timing.engines:call_overhead", {"method": name}, owner=name) for name in asked]
    answers = findings.ask("null calls", jobs, _words("method"), alone=not plan.quick)
    findings.null_calls = dict(zip(asked, answers, strict=True))


def count(findings: Findings, with_families: bool) -> None:
    """Count operations on every robot, as polynomials on families, and measure the floating-point peak."""
    plan, matrix = findings.plan, findings.matrix
    pairs = [(robot, name) for robot, name in matrix.pairs() if not methods.get(name).floor]
    keys = []
    if with_families:
        names = [n for n in plan.methods if isinstance(methods.get(n), KernelMethod) and not methods.get(n).floor]
        quantities = [quantity for quantity in COUNTED if quantity in plan.quantities]
        for family in scaling.families():
            if not scaling.sizes(family, plan.quick):
                continue
            sample = counts.sample(family)
            keys += [
                (family, n, q) for n in names for q in quantities if not scaling.why_not(n, sample, q, findings.told)
            ]
    limit = 60.0 if plan.quick else 300.0
    jobs = [
        *(
            Job(
                "dynbench.benchmarks.timing.counts:count",
                {"robot": plan.sources[robot], "method": name, "quantities": matrix.able(robot, name)},
                limit,
                owner=owner(name),
            )
            for robot, name in pairs
        ),
        *(
            Job(
                "dynbench.benchmarks.timing.counts:polynomials",
                {"method": n, "family": f, "quantity": q},
                limit,
                owner=owner(n),
            )
            for f, n, q in keys
        ),
    ]
    answers = findings.ask("counting", jobs, _words("method"))
    findings.counts = dict(zip(pairs, answers[: len(pairs)], strict=True))
    findings.polynomials = dict(zip(keys, answers[len(pairs) :], strict=True))
    (findings.peak,) = findings.ask("peak", [Job("dynbench.benchmarks.timing.peak:flops_per_second")], alone=True)


def run_papers(findings: Findings) -> None:
    """The papers' experiments."""
    findings.claimed = papers.run_papers(papers.names(), findings.plan.quick, findings.ask)


def flop_fraction(flops: float, seconds: float, peak: Answer) -> float:
    """The share of the machine's peak that a method reaches; NaN where either is not known."""
    return flops / seconds / peak.value if peak.value and seconds > 0.0 else math.nan
