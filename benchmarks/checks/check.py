"""The check: all pairs of methods and every invariant, on given robots. Rows are returned, nothing is printed.

`dynbench check`, `bench` and the agreement campaigns all call `check`. It takes three steps:

    forces      the first method that can computes the forces of a robot's accelerations, and the condition of M
    evaluate    each method at the same seeded states: its numbers, and its own invariants
    compare     all pairs, in this process

The first two are jobs of `evaluate`. Whoever calls says where they run: in worker processes, from a journal, on a
cluster, or, by default, in this process. `refusals` then tells which cells may not be timed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dynbench.benchmarks.checks import evaluate
from dynbench.benchmarks.checks.agreement import agreement
from dynbench.benchmarks.checks.evaluate import MethodSource, RobotSource, code_of, method_of
from dynbench.benchmarks.processes.jobs import INTERRUPTED, Answer, Ask, Job, one_line
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.processes.plugins import owner
from dynbench.benchmarks.results.rows import Row
from dynbench.benchmarks.tiers import Variant
from dynbench.methods.base import QUANTITIES, Solver
from dynbench.methods.registry import is_foreign
from dynbench.robots.errors import RobotError

# Robots on which an error cannot hide: twisted axes, exact ones, full inertias, branches, a moving base with and
# without anything on it, every joint, rotors. Then some that not every method takes: R-P chains (the planar one of the
# paper hides errors that the twisted one shows), space robots, closed loops, elastic links (the motion of a bent tip
# shows only in the next arm).
DEFAULT_ROBOTS = (
    "two-link", "puma560", "panda", "tree-12", "random-tree-12-seed1", "random-tree-9-seed2", "random-tree-8-seed4",
    "aligned-tree-12", "geared-tree-7", "free-body", "rp3", "rp-3",
    "space-dual-arm", "3rrr", "gough-stewart", "elastic-rp1", "elastic-rp-2-torsion",
)  # fmt: skip
TIMEOUT = 900.0  # seconds a job; methods that were never used before are compiled in it
EVERYTHING = "*"  # in place of a quantity: all of a method's

Key = tuple[str, Variant, str]  # robot, method in a tier, quantity
Refusals = dict[Key, Missing]


@dataclass
class Comparison:
    """A robot, the methods to be compared on it, and what they share."""

    robot: RobotSource
    methods: Sequence[MethodSource]
    family: str = ""  # robots of one family, smallest first, are evaluated in one job
    quantities: Mapping[MethodSource, Sequence[str]] = field(default_factory=dict)  # of methods, if not all
    tau: str | None = None  # packed
    condition: float = 0.0  # of M
    answers: list[Answer] = field(default_factory=list)  # of its methods


@dataclass(frozen=True)
class CheckSettings:
    """How a check is done: what is evaluated, where, and for how long."""

    quantities: Sequence[str] = tuple(QUANTITIES)
    states: int = 64
    seed: int = 0
    brief: bool = False  # without wrenches and invariants
    timeout: float = TIMEOUT  # seconds a job
    without_wrenches: Collection[str] = ()  # methods that are not evaluated with external wrenches

    def job(self, function: str, method: MethodSource, **arguments: Any) -> Job:
        """Return a job of `evaluate`, in a process of the method's owner."""
        common = {"method": method, "quantities": list(self.quantities), "states": self.states, "seed": self.seed}
        if isinstance(method, Variant):
            common |= {"method": method.method, "code": method.code}
        whose = owner(common["method"]) if isinstance(common["method"], str) else ""
        return Job(f"{evaluate.__name__}:{function}", common | arguments, self.timeout, owner=whose)


def in_this_process(stage: str, jobs: Sequence[Job]) -> list[Answer]:
    """Run jobs of `evaluate` here, one after the other; robots and methods may be objects."""
    answers = []
    for job in jobs:
        try:
            value = getattr(evaluate, job.function.partition(":")[2])(**job.arguments)
            answers.append(Answer(value))
        except Exception as error:
            answers.append(Answer(reason=f"raised {one_line(error)}"))
    return answers


def check(comparisons: Sequence[Comparison], settings: CheckSettings, ask: Ask = in_this_process) -> list[Row]:
    """Compare all pairs of methods on every robot, and check each method for its invariants.

    Parameters
    ----------
    ask : callable
        Runs the jobs of a stage and returns their answers. Unless it is `in_this_process`, robots and methods must be
        given by name.

    Returns
    -------
    list of Row
        Robot by robot. Each method has at least one row: where it could not be evaluated, the row gives the reason.
    """
    refused = [_refuse(comparison) for comparison in comparisons]
    find_references(comparisons, settings, ask)
    _evaluate(comparisons, settings, ask)
    return [row for one, rows in zip(comparisons, refused, strict=True) for row in (*rows, *_rows(one, settings))]


def _refuse(comparison: Comparison) -> list[Row]:
    """Drop the methods of this package that do not take the robot; return the rows that say why.

    Plugins are asked in the process that evaluates them: `supports` is their code.
    """
    rows, kept = [], []
    robot = evaluate.load(comparison.robot)
    for source in comparison.methods:
        method = method_of(source)
        prepared = isinstance(source, Solver)
        reason = None if prepared or is_foreign(method) else evaluate.refusal(method, robot)
        if reason is None:
            kept.append(source)
        else:
            head = (robot.name, method.name, "", "supports")
            rows.append(Row(*head, None, "", "unsupported", reason, code=code_of(source)))
    comparison.methods = kept
    return rows


def find_references(comparisons: Sequence[Comparison], settings: CheckSettings, ask: Ask) -> None:
    """Have the first method that can compute each robot's forces and the condition of its M.

    Only forward dynamics needs them. A method that fails is skipped; its evaluation will give the reason.
    """
    if "forward_dynamics" not in settings.quantities:
        return
    for turn in range(max((len(one.methods) for one in comparisons), default=0)):
        turns = [(one, one.methods[turn]) for one in comparisons if turn < len(one.methods)]
        asked = [(one, source) for one, source in turns if _could_help(one, source, settings)]
        jobs = [settings.job("reference", source, robot=one.robot) for one, source in asked]
        for (one, _), answer in zip(asked, ask("finding forces", jobs) if jobs else [], strict=True):
            if not answer.reason:
                one.tau = one.tau or answer.value["tau"]
                one.condition = one.condition or answer.value["condition"]


def _could_help(comparison: Comparison, source: MethodSource, settings: CheckSettings) -> bool:
    method = method_of(source)
    can = set(method.computes) & set(settings.quantities)
    forces = comparison.tau is None and "inverse_dynamics" in can
    return forces or (comparison.condition == 0.0 and "mass_matrix" in can and method.exact)


def _evaluate(comparisons: Sequence[Comparison], settings: CheckSettings, ask: Ask) -> None:
    """Fill in the answers of all methods on all robots."""
    groups: dict[Any, list[tuple[Comparison, int]]] = {}  # one job each
    for number, one in enumerate(comparisons):
        one.answers = [Answer(reason=INTERRUPTED.reason, outcome=INTERRUPTED.outcome)] * len(one.methods)
        for place, source in enumerate(one.methods):
            groups.setdefault((one.family, source) if one.family else (number, place), []).append((one, place))
    jobs = []
    for members in groups.values():
        first, source = members[0][0], members[0][0].methods[members[0][1]]
        jobs.append(
            settings.job(
                "evaluate",
                source,
                robots=[one.robot for one, _ in members],
                quantities=list(first.quantities.get(source, settings.quantities)),
                tau=[one.tau for one, _ in members],
                condition=[one.condition for one, _ in members],
                brief=settings.brief,
                wrenches=method_of(source).name not in settings.without_wrenches,
            )
        )
    stage = "checking families" if settings.brief else "checking agreement"
    for members, answer in zip(groups.values(), ask(stage, jobs) if jobs else [], strict=True):
        for number, (one, place) in enumerate(members):
            one.answers[place] = answer if answer.reason else Answer(answer.value[number])


def _rows(comparison: Comparison, settings: CheckSettings) -> list[Row]:
    """Return all rows of a robot whose methods were evaluated."""
    if not comparison.methods:
        return []
    robot, rows, found = evaluate.load(comparison.robot), [], []
    names = [Variant(method_of(source).name, code_of(source)) for source in comparison.methods]
    try:
        sample = evaluate.with_tau(evaluate.drawn(comparison.robot, settings.states, settings.seed), comparison.tau)
    except RobotError as error:
        return [
            Row(robot.name, name, "", "sample", None, "", "unsupported", str(error), code=code) for name, code in names
        ]
    for (name, code), answer in zip(names, comparison.answers, strict=True):
        head, ended = (robot.name, name, ""), answer.outcome
        if ended is Outcome.INTERRUPTED:
            rows.append(Row(*head, "error", None, "", "unsupported", answer.why, code=code, ended=ended))
        elif answer.reason:
            said = f"did not finish: {answer.why}"
            rows.append(Row(*head, "check", None, "", "failed", said, code=code, ended=ended))
        else:
            found.append(evaluate.evaluated_from(answer.value, settings.states))
    rows += agreement(sample, [one.numbers for one in found], comparison.condition)
    return rows + [row for one in found for row in one.rows]


def label(job: Job) -> str:
    """Return a job of a check in a few words, for progress."""
    who = Variant(job.arguments["method"], job.arguments.get("code", "")).label
    return f"{job.arguments.get('robot') or ', '.join(job.arguments['robots'])} {who}"


def refusals(rows: Iterable[Row]) -> Refusals:
    """Return the cells that may not be timed, each with its reason; only what agrees is timed.

    Where two methods differ, a third tells which of them is wrong: a method is refused when it differs from more than
    half of those it was compared with. Two that differ without a third are both refused. Traced code beside generic
    code has no vote: it is refused with its generic code, and where it differs from that or from the reference.
    """
    found: Refusals = {}
    pairs: dict[Key, list[Row]] = {}
    beside: dict[Key, Key] = {}  # traced code: the generic code of the same method
    known = list(rows)
    for row in known:
        if row.other and row.method == row.other and row.status in ("agrees", "differs"):
            beside[_key(row, other=True)] = _key(row)
    for row in known:
        if row.status in ("agrees", "differs") and row.other:
            other = _key(row, other=True)
            for key in (other,) if other in beside else (_key(row), other):
                pairs.setdefault(key, []).append(row)
        elif row.status in ("differs", "failed") or (row.status == "unsupported" and row.measure == "error"):
            key = (row.robot, Variant(row.method, row.code), row.quantity or EVERYTHING)
            found.setdefault(key, Missing(row.outcome, _sentence(row)))
    for key, compared in sorted(pairs.items(), key=lambda item: item[0] in beside):
        apart = [row for row in compared if row.status == "differs"]
        if key in beside:
            refused = refusal_of(found, *beside[key])
            if refused:
                found[key] = Missing(refused.outcome, f"its generic code {refused.reason}")
                continue
            apart = [row for row in apart if not refusal_of(found, *_key(row))]
        if apart and (key in beside or 2 * len(apart) > len(compared)):
            worst = max(apart, key=lambda row: row.value or 0.0)
            others = ", ".join(sorted({_opponent(row, key) for row in apart}))
            reason = f"disagreed with {others}: error {worst.value:.2g}, {worst.reason} (seed {worst.seed})"
            found[key] = Missing(Outcome.DISAGREED, reason)
    return found


def _key(row: Row, other: bool = False) -> Key:
    who = Variant(row.other, row.other_code) if other else Variant(row.method, row.code)
    return row.robot, who, row.quantity


def _opponent(row: Row, key: Key) -> str:
    """What a cell was compared with, in words; of the same method, its tier."""
    mine = _key(row) == key
    who = Variant(row.other, row.other_code) if mine else Variant(row.method, row.code)
    return f"its own {who.code} code" if who.method == key[1].method else who.label


def refusal_of(found: Refusals, robot: str, variant: Variant, quantity: str) -> Missing | None:
    """Return why a cell may not be timed, None if it may."""
    key = "inverse_dynamics" if quantity == "bias" and (robot, variant, "bias") not in found else quantity
    return found.get((robot, variant, key)) or found.get((robot, variant, EVERYTHING))


def _sentence(row: Row) -> str:
    if row.value is None:
        return f"{row.measure}: {row.reason}" if row.status == "failed" else row.reason
    return f"violates '{row.measure}': {row.value:.2g} {row.unit}, {row.reason}"
