"""The stages that check agreement: every method is evaluated in another process, all pairs are compared in this one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dynbench import methods, robots
from dynbench.benchmarks.checks import gate
from dynbench.benchmarks.checks.check import compared
from dynbench.benchmarks.checks.evaluate import Evaluated, evaluation, with_tau
from dynbench.benchmarks.checks.sampling import draw
from dynbench.benchmarks.processes.jobs import Answer, Job
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.results.rows import Row
from dynbench.benchmarks.runs.findings import Findings
from dynbench.benchmarks.runs.plan import owner
from dynbench.benchmarks.timing import scaling
from dynbench.benchmarks.timing.cases import Cell
from dynbench.robots.errors import RobotError

EVALUATE = "dynbench.benchmarks.checks.evaluate"
FAMILY_STATES = 3
FAMILY_QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")  # of a full run


@dataclass
class Subject:
    """A robot, the methods to compare on it, and the forces and condition of M that they share."""

    source: str  # as `robots.load` takes it
    names: list[str]
    tau: str | None = None
    condition: float = 0.0


def check(findings: Findings) -> None:
    """Agreement and invariants on every robot; what does not agree is not timed."""
    plan, matrix = findings.plan, findings.matrix
    chosen = {
        robot: [name for name in plan.methods if matrix.able(robot, name) and not methods.get(name).floor]
        for robot in plan.robots
    }
    subjects = [Subject(plan.sources[robot], names) for robot, names in chosen.items() if names]
    states = 16 if plan.quick else 64
    find_references(findings, subjects, list(plan.quantities), states)
    pairs = [(subject, name) for subject in subjects for name in subject.names]
    jobs = [_evaluate(findings, [subject], name, list(plan.quantities), states) for subject, name in pairs]
    answers = findings.ask("checking agreement", jobs, _words)
    for subject in subjects:
        of = {name: answer for (other, name), answer in zip(pairs, answers, strict=True) if other is subject}
        findings.checks += _rows(findings, subject, {name: _nth(answer, 0) for name, answer in of.items()}, states)
    refused = gate.refusals(findings.checks)
    for robot, name, quantity in matrix.missing:
        matrix.refuse(robot, name, quantity, gate.reason(refused, robot, name, quantity))


def scaling_cells(findings: Findings) -> tuple[list[Cell], dict[Cell, Missing]]:
    """Compare all pairs on every size of the families; return the cells to time, and why the others are not."""
    plan = findings.plan
    names = [name for name in plan.methods if not methods.get(name).floor]
    allowed = scaling.QUICK_QUANTITIES if plan.quick else FAMILY_QUANTITIES
    quantities = [quantity for quantity in plan.quantities if quantity in allowed]
    wanted, refused = scaling.cells(names, quantities, plan.quick, findings.plugin_refusals)
    of_family: dict[str, dict[str, Subject]] = {}
    for cell in wanted:
        subjects = of_family.setdefault(scaling.family(cell), {})
        subject = subjects.setdefault(cell.robot, Subject(cell.robot, []))
        if cell.method not in subject.names:
            subject.names.append(cell.method)
    everyone = [subject for subjects in of_family.values() for subject in subjects.values()]
    find_references(findings, everyone, quantities, FAMILY_STATES)
    groups = [
        (name, sized)
        for subjects in of_family.values()
        for name in names
        if (sized := [subject for subject in subjects.values() if name in subject.names])
    ]
    jobs = [_evaluate(findings, sized, name, quantities, FAMILY_STATES, brief=True) for name, sized in groups]
    answers = findings.ask("checking families", jobs, _words)
    found: dict[str, dict[str, Answer]] = {subject.source: {} for subject in everyone}
    for (name, sized), answer in zip(groups, answers, strict=True):
        for place, subject in enumerate(sized):
            found[subject.source][name] = _nth(answer, place)
    rows = [row for s in everyone for row in _rows(findings, s, found[s.source], FAMILY_STATES)]
    findings.checks += rows
    stopped = gate.refusals(rows)
    reasons = {cell: gate.reason(stopped, cell.robot, cell.method, cell.quantity) for cell in wanted}
    kept = [cell for cell, missing in reasons.items() if not missing]
    return kept, {**refused, **{cell: missing for cell, missing in reasons.items() if missing}}


def find_references(findings: Findings, subjects: Sequence[Subject], quantities: list[str], states: int) -> None:
    """Find each robot's forces and the condition of its M, which all methods share, by the first method that can.

    Only forward dynamics needs them. A method that fails is skipped here, and reported when it is evaluated.
    """
    if "forward_dynamics" not in quantities:
        return
    for turn in range(max((len(subject.names) for subject in subjects), default=0)):
        open_ones = [s for s in subjects if turn < len(s.names) and _could_help(s, s.names[turn], quantities)]
        jobs = [
            Job(
                f"{EVALUATE}:reference",
                {
                    "robot": subject.source,
                    "method": subject.names[turn],
                    "quantities": quantities,
                    "states": states,
                    "seed": findings.plan.seed,
                },
                _timeout(findings),
                owner=owner(subject.names[turn]),
            )
            for subject in open_ones
        ]
        if jobs:
            for subject, answer in zip(open_ones, findings.ask("finding forces", jobs, _words), strict=True):
                if not answer.reason:
                    subject.tau = subject.tau or answer.value["tau"]
                    subject.condition = subject.condition or answer.value["condition"]


def _could_help(subject: Subject, name: str, quantities: Sequence[str]) -> bool:
    method = methods.get(name)
    can = set(method.computes) & set(quantities)
    forces = subject.tau is None and "inverse_dynamics" in can
    return forces or (subject.condition == 0.0 and "mass_matrix" in can and method.exact)


def _evaluate(
    findings: Findings, subjects: Sequence[Subject], name: str, quantities: list[str], states: int, brief: bool = False
) -> Job:
    arguments: dict[str, Any] = {
        "robots": [subject.source for subject in subjects],
        "method": name,
        "quantities": quantities,
        "states": states,
        "seed": findings.plan.seed,
        "tau": [subject.tau for subject in subjects],
        "condition": [subject.condition for subject in subjects],
        "brief": brief,
    }
    return Job(f"{EVALUATE}:evaluate", arguments, _timeout(findings), owner=owner(name))


def _timeout(findings: Findings) -> float:
    return 300.0 if findings.plan.quick else 900.0


def _nth(answer: Answer, place: int) -> Answer:
    """The part of an answer that is about one of its robots."""
    return answer if answer.reason else Answer(answer.value[place])


def _rows(findings: Findings, subject: Subject, answers: dict[str, Answer], states: int) -> list[Row]:
    """All rows of a robot whose methods were evaluated."""
    robot = robots.load(subject.source)
    rows: list[Row] = []
    found: list[Evaluated] = []
    try:
        sample = with_tau(draw(robot, states, findings.plan.seed), subject.tau)
    except RobotError as error:
        return [Row(robot.name, name, "", "sample", None, "", "unsupported", str(error)) for name in answers]
    for name, answer in answers.items():
        head, ended = (robot.name, name, ""), answer.outcome
        if ended is Outcome.INTERRUPTED:
            rows.append(Row(*head, "error", None, "", "unsupported", answer.why, ended=ended))
        elif answer.reason:
            rows.append(Row(*head, "check", None, "", "failed", f"did not finish: {answer.why}", ended=ended))
        else:
            found.append(evaluation(answer.value, methods.get(name), states))
    return rows + compared(sample, found, subject.condition)


def _words(job: Job) -> str:
    return f"{job.arguments.get('robot') or ', '.join(job.arguments['robots'])} {job.arguments['method']}"
