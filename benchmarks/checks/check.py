"""The check: all pairs of methods and every invariant, on given robots. Rows come out, nothing is printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dynbench.benchmarks.checks.agreement import agreement, condition
from dynbench.benchmarks.checks.invariants import invariants
from dynbench.benchmarks.checks.sampling import draw, with_forces
from dynbench.benchmarks.runs.records import Row
from dynbench.methods.base import Method, Solver
from dynbench.robots.errors import RobotError
from dynbench.robots.families.elastic_rp_chain import elastic_rp_family
from dynbench.robots.families.trees import KINDS, random_tree
from dynbench.robots.robot import Robot
from dynbench.robots.zoo import load

Progress = Callable[[str], None]

FLOOR = "it is the floor of the timing tables: it computes nothing, and is compared with nothing"


def default_robots() -> list[Robot]:
    """Robots on which an error cannot hide: twisted axes, full inertias, branches, a moving base, every joint.

    Then some of each sort that not every method takes: R-P chains (the planar one of the paper hides errors that the
    twisted one shows), space robots, closed loops, elastic links (what a bent tip does shows in the next arm only).
    """
    return [
        *map(load, ("two-link", "puma560", "panda", "tree-12")),
        random_tree(12, seed=1, kinds=KINDS[:3], floating=True, massless=True),
        random_tree(9, seed=2, kinds=KINDS),
        *map(load, ("rp3", "rp-3", "space-dual-arm", "3rrr", "gough-stewart", "elastic-rp1")),
        replace(elastic_rp_family(2, modes=(("y", 1), ("t", 1))), name="elastic-rp-2-torsion"),
    ]


def check(
    robots: Sequence[Robot],
    methods: Sequence[Method],
    states: int = 64,
    seed: int = 0,
    progress: Progress = lambda line: None,
) -> list[Row]:
    """Return the rows of `check_robot` for every robot, one after the other."""
    return [row for robot in robots for row in check_robot(robot, methods, states, seed, progress)]


def check_robot(robot: Robot, methods: Sequence[Method], states: int, seed: int, progress: Progress) -> list[Row]:
    """Prepare every method, compare all pairs, and ask each for its invariants.

    Returns
    -------
    list of Row
        Each method has at least one: where it could not be prepared, the row gives the reason.
    """
    rows: list[Row] = []
    solvers: dict[str, Solver] = {}
    for method in methods:
        outcome = _prepare(method, robot)
        if isinstance(outcome, Row):
            rows.append(outcome)
        else:
            solvers[method.name] = outcome
    if not solvers:
        return rows
    progress(f"{robot.name}: {', '.join(solvers)}")
    try:
        sample = draw(robot, states, seed)
    except RobotError as error:
        rows += [Row(robot.name, name, "", "sample", None, "", "unsupported", str(error)) for name in solvers]
        return rows
    sample = with_forces(sample, solvers.values())
    rows += agreement(sample, solvers)
    cond = condition(sample, solvers)
    for name, solver in solvers.items():
        progress(f"{robot.name}: invariants of {name}")
        rows += invariants(sample, solver, cond)
    return rows


def _prepare(method: Method, robot: Robot) -> Solver | Row:
    """A solver, or the row that says why there is none."""
    reason = FLOOR if method.floor else method.supports(robot)
    if reason is not None:
        return Row(robot.name, method.name, "", "supports", None, "", "unsupported", reason)
    try:
        return method.prepare(robot)
    except Exception as error:  # anybody's plugin: named, and the others go on
        return Row(robot.name, method.name, "", "prepare", None, "", "failed", f"{type(error).__name__}: {error}")
