"""The check: all pairs of methods and every invariant, on given robots. Rows come out, nothing is printed.

Here all methods run in this process, one after the other; a benchmark has each evaluated in a process of its own, and
ends in the same `compared`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dynbench.benchmarks.checks.agreement import agreement, condition
from dynbench.benchmarks.checks.evaluate import Evaluated, evaluated, prepared
from dynbench.benchmarks.checks.sampling import Sample, draw, with_forces
from dynbench.benchmarks.results.rows import Row
from dynbench.methods.base import Method, Solver
from dynbench.robots.errors import RobotError
from dynbench.robots.families.elastic_rp_chain import elastic_rp_family
from dynbench.robots.families.trees import KINDS, random_tree
from dynbench.robots.robot import Robot
from dynbench.robots.zoo import load

Progress = Callable[[str], None]


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
    solvers: list[Solver] = []
    for method in methods:
        outcome = prepared(method, robot)
        if isinstance(outcome, Row):
            rows.append(outcome)
        else:
            solvers.append(outcome)
    if not solvers:
        return rows
    progress(f"{robot.name}: {', '.join(solver.method.name for solver in solvers)}")
    try:
        sample = draw(robot, states, seed)
    except RobotError as error:
        rows += [Row(robot.name, s.method.name, "", "sample", None, "", "unsupported", str(error)) for s in solvers]
        return rows
    sample = with_forces(sample, solvers)
    cond = condition(sample, solvers)
    found = []
    for solver in solvers:
        progress(f"{robot.name}: {solver.method.name}")
        found.append(evaluated(sample, solver, cond))
    return rows + compared(sample, found, cond)


def compared(sample: Sample, found: Sequence[Evaluated], cond: float) -> list[Row]:
    """Return the rows of a robot whose methods have been evaluated: all pairs, then what each has of its own."""
    return agreement(sample, [one.numbers for one in found], cond) + [row for one in found for row in one.rows]
