"""Every planted fault is found by what is behind ``dynbench check``, and nothing that is right is ever flagged."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from faults import FAULTS, Fault
from faults.planting import NEWTON_EULER, TREES
from faults.printed import CORRECTED
from planted import install

from dynbench import methods
from dynbench.benchmarks.checks.check import DEFAULT_ROBOTS, CheckSettings, Comparison, check, in_this_process
from dynbench.benchmarks.checks.evaluate import load
from dynbench.benchmarks.cli import main
from dynbench.benchmarks.processes.jobs import Answer, Ask, Job
from dynbench.benchmarks.results.rows import Row
from dynbench.methods.base import DERIVATIVES, QUANTITIES
from dynbench.robots import Robot
from dynbench.robots.families.trees import KINDS, random_tree

SEEDS = 50
PLANTED = [name for name in QUANTITIES if name not in (*DERIVATIVES, "regressor")]  # in which faults are planted
FEW_STATES = 9
ARMS = ("two-link", "puma560", "panda", "rp-3")
STATES = 33  # enough to have the special configurations, and an incomplete block of eight


@functools.cache
def robots() -> dict[str, Robot]:
    """By name, those that the check takes when it is told none."""
    return {robot.name: robot for robot in map(load, DEFAULT_ROBOTS)}


def alarms(
    robot: Robot, chosen: Sequence[methods.Method], settings: CheckSettings, ask: Ask = in_this_process
) -> list[Row]:
    return [row for row in check([Comparison(robot, chosen)], settings, ask) if not row.ok]


answers: dict[Any, Answer] = {}  # of right methods


def right_once(stage: str, jobs: Sequence[Job]) -> list[Answer]:
    """Run jobs in this process. What a right method is asked is the same beside every fault: it is evaluated once."""
    given = []
    for job in jobs:
        if isinstance(job.arguments["method"], Fault):
            given += in_this_process(stage, [job])
            continue
        asked = (job.function, *(tuple(x) if isinstance(x, list) else x for x in job.arguments.values()))
        if asked not in answers:
            (answers[asked],) = in_this_process(stage, [job])
        given.append(answers[asked])
    return given


def found(fault: Fault, brief: bool = False) -> list[Row]:
    """What the check says of a method and the right one beside it, on the first robot that shows the fault."""
    for name in fault.robots:
        settings = CheckSettings(PLANTED, states=fault.states, brief=brief)
        rows = alarms(robots()[name], [fault.base, fault], settings, right_once)
        assert all("faulty" in (row.method, row.other) for row in rows), f"{fault.base.name} was accused: {rows[0]}"
        if rows:
            return rows
    return []


results: dict[str, list[Row]] = {}
false_alarms: dict[str, int] = {}


@pytest.fixture(scope="module", autouse=True)
def table(request):
    """Print what was found by what, when all is done."""
    yield
    tally = "\n".join(f"  {label:<70.70} {said(rows)}" for label, rows in results.items())
    caught = sum(bool(rows) for rows in results.values())
    line = f"caught {caught} of {len(results)}, false alarms {sum(false_alarms.values())} in {len(false_alarms)} checks"
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        print(f"\nplanted faults\n{tally}\n{line}")


def said(rows: list[Row]) -> str:
    measures = Counter(f"{row.quantity} {row.measure}".strip() for row in rows)
    return ", ".join(measures) if rows else "NOT FOUND"


def test_there_are_enough_of_them_and_no_two_alike():
    assert len(FAULTS) >= 40
    assert len({fault.label for fault in FAULTS}) == len(FAULTS)


def was_found(rows: list[Row]) -> None:
    assert rows
    assert all(row.measure != "prepare" for row in rows), f"it was refused, not found: {rows[0].reason}"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.label)
def test_every_fault_is_found(fault):
    """A brief check makes some of the comparisons of a whole one: what it finds, the whole one finds."""
    results[fault.label] = found(fault, brief=True) or found(fault)
    was_found(results[fault.label])


@pytest.mark.long  # as above, and the table at the end tells everything that each fault is found by
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.label)
def test_every_fault_is_found_by_a_whole_check(fault):
    results[fault.label] = found(fault)
    was_found(results[fault.label])


@pytest.mark.parametrize("fault", CORRECTED, ids=lambda fault: fault.label)
def test_without_its_fault_nothing_is_found(fault):
    rows = found(fault)
    false_alarms[fault.label] = len(rows)
    assert rows == []


@pytest.mark.parametrize("name", TREES)
def test_planting_itself_is_no_fault(name):
    chosen = [NEWTON_EULER, Fault("none", lambda on: {}, NEWTON_EULER)]
    rows = alarms(robots()[name], chosen, CheckSettings(PLANTED, states=STATES))
    false_alarms[f"no fault on {name}"] = len(rows)
    assert rows == []


def tree_of(seed: int) -> Robot:
    """Every kind of joint, fixed and free bases, massless bodies, 1 to 12 bodies."""
    kinds = KINDS if seed % 4 == 1 else KINDS[:3]
    return random_tree(1 + seed % 12, seed=seed, kinds=kinds, floating=seed % 2 == 0, massless=seed % 3 == 0)


# A free body without mass, all kinds of joints, a floating tree with massless bodies, all of that on the ground
FIRST_SEEDS = (0, 5, 6, 9)
OTHER_SEEDS = [seed for seed in range(SEEDS) if seed not in FIRST_SEEDS]


@pytest.mark.parametrize("seed", [*FIRST_SEEDS, *(pytest.param(seed, marks=pytest.mark.long) for seed in OTHER_SEEDS)])
def test_what_is_right_is_never_flagged(seed):
    """All methods that take trees, all pairs and all invariants, another robot and other states for every seed."""
    every = [methods.get(name) for name in methods.names()]
    rows = alarms(tree_of(seed), every, CheckSettings(states=STATES, seed=seed))
    false_alarms[f"seed {seed}"] = len(rows)
    assert rows == [], rows[0]


def arms_with(seeds: Sequence[int], name: str) -> None:
    chosen = [methods.get(method) for method in ("newton-euler", "denoc", "pinocchio", "mujoco")]
    for seed in seeds:
        rows = alarms(robots()[name], chosen, CheckSettings(states=FEW_STATES, seed=seed))
        false_alarms[f"{name}, seed {seed}"] = len(rows)
        assert rows == [], f"seed {seed}: {rows[0]}"


@pytest.mark.parametrize("name", ARMS)
def test_arms_are_never_flagged(name):
    """Light wrists, planar motion, massless sleeves; by engines too, whose roundings are others."""
    arms_with(range(3), name)


@pytest.mark.long  # as above, at other states
@pytest.mark.parametrize("name", ARMS)
def test_arms_are_never_flagged_at_many_states(name):
    arms_with(range(3, 3 + SEEDS // len(ARMS)), name)


BY_COMMAND = ("no gyroscopic term", "float32 arguments", "stale buffer")


FAULTY = """
from faults import FAULTS, Fault

(fault,) = (fault for fault in FAULTS if fault.label == {label!r})

class Faulty(Fault):
    name = "faulty"
    def __init__(self):
        super().__init__(fault.label, fault.plant, fault.base)
"""


@pytest.mark.parametrize("label", BY_COMMAND)
def test_the_command_finds_it_too(label, monkeypatch, capsys, tmp_path):
    install(monkeypatch, tmp_path, FAULTY.format(label=label), faulty="Faulty")
    assert main(["check", "-m", "faulty", "-r", "puma560"]) == 1
    out, _ = capsys.readouterr()
    assert "newton-euler and faulty" in out or "faulty: " in out
    assert out.rstrip().endswith("do not agree")


def test_the_command_finds_nothing_where_nothing_is_wrong():
    assert main(["check", "-m", "newton-euler", "-r", "puma560"]) == 0
