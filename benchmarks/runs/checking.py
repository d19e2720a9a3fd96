"""The stages of a run that check agreement: which methods are compared on which robots, and what may then be timed."""

from __future__ import annotations

from collections.abc import Sequence

from dynbench import methods
from dynbench.benchmarks.checks.check import (
    TIMEOUT,
    CheckSettings,
    Comparison,
    check,
    label,
    refusal_of,
    refusals,
)
from dynbench.benchmarks.processes.jobs import Answer, Job
from dynbench.benchmarks.processes.outcomes import Missing
from dynbench.benchmarks.results.rows import Row
from dynbench.benchmarks.runs import short
from dynbench.benchmarks.runs.findings import Findings
from dynbench.benchmarks.tiers import Variant
from dynbench.benchmarks.timing import scaling
from dynbench.benchmarks.timing.cases import Cell

STATES, QUICK_STATES = 64, 16
FAMILY_STATES = 3
QUICK_TIMEOUT = 300.0  # seconds a job
FAMILY_QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")  # of a full run


def check_robots(findings: Findings) -> None:
    """Check agreement and invariants on every robot; what does not agree is not timed."""
    plan, matrix = findings.plan, findings.matrix
    compared = {
        robot: [one for place, one in matrix.run() if place == robot and not methods.get(one.method).floor]
        for robot in plan.robots
    }
    comparisons = [
        Comparison(plan.sources[robot], chosen, quantities={one: matrix.checked(robot, one) for one in chosen})
        for robot, chosen in compared.items()
        if chosen
    ]
    refused = refusals(_checked(findings, comparisons, plan.quantities, QUICK_STATES if plan.quick else STATES))
    for robot, variant, quantity in matrix.missing:
        matrix.refuse(robot, variant, quantity, refusal_of(refused, robot, variant, quantity))


def scaling_cells(findings: Findings) -> tuple[list[Cell], dict[Cell, Missing]]:
    """Return the cells of the families that may be timed, and why the others may not.

    All pairs are compared on every size first, at a few states.
    """
    plan = findings.plan
    chosen = [variant for variant in plan.variants if short.scaled(plan, variant)]
    allowed = scaling.QUICK_QUANTITIES if plan.quick else FAMILY_QUANTITIES
    quantities = [quantity for quantity in plan.quantities if quantity in allowed]
    cells, refused = scaling.cells(chosen, quantities, plan.quick, findings.plugin_refusals)
    compared: dict[str, set[Variant]] = {}
    for cell in cells:
        compared.setdefault(cell.robot, set()).add(cell.variant)
    comparisons = [
        Comparison(robot, [one for one in chosen if one in found], family=robot.rpartition("-")[0])
        for robot, found in compared.items()
    ]
    stopped = refusals(_checked(findings, comparisons, quantities, FAMILY_STATES, brief=True))
    reasons = {cell: refusal_of(stopped, cell.robot, cell.variant, cell.quantity) for cell in cells}
    kept = [cell for cell, reason in reasons.items() if not reason]
    return kept, {**refused, **{cell: reason for cell, reason in reasons.items() if reason}}


def _checked(
    findings: Findings, comparisons: Sequence[Comparison], quantities: Sequence[str], states: int, brief: bool = False
) -> list[Row]:
    """Return the rows of a check by the jobs of the run, and keep them."""

    def ask(stage: str, jobs: Sequence[Job]) -> list[Answer]:
        return findings.ask(stage, jobs, label)

    timeout = QUICK_TIMEOUT if findings.plan.quick else TIMEOUT
    bare = short.without_wrenches(findings.plan)
    settings = CheckSettings(quantities, states, findings.plan.seed, brief, timeout, bare)
    rows = check(comparisons, settings, ask)
    findings.checks += rows
    for one in comparisons:
        findings.checked.setdefault(str(one.robot), (states, one.tau))  # of families, those of the robot's own check
    return rows
