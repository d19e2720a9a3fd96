"""Newton-Euler and DeNOC against Pinocchio, an independent engine: 200 random trees with every joint, real robots.

Errors are relative to the largest component of each state's result. Forward dynamics solves with the mass matrix, so
its error grows with the condition of that matrix (scaled to a unit diagonal, where units drop out).
"""

from __future__ import annotations

import numpy as np
import pytest
from round_trip import FORWARD, TYPICAL_CONDITION, condition, relative, tree_of

from dynbench import methods, robots
from dynbench.robots.robot import Robot

pin = pytest.importorskip("pinocchio")

SEEDS = range(200)
STATES = 9
TOLERANCE = {"inverse_dynamics": 1e-12, "mass_matrix": 1e-12, "bias": 1e-12, "reactions": 1e-11}


def compare(robot: Robot, seed: int, name: str = "newton-euler") -> dict[str, float]:
    """The largest error of every quantity, with external wrenches on every body."""
    ours = methods.get(name).prepare(robot)
    theirs = methods.get("pinocchio").prepare(robot)
    q, v, a = robot.sample(STATES, seed=seed)
    wrench = 10.0 * np.random.default_rng(seed).standard_normal((STATES, robot.n, 6))
    tau = theirs.inverse_dynamics(q, v, a, wrench=wrench)
    M = theirs.mass_matrix(q)
    errors = {
        "inverse_dynamics": relative(ours.inverse_dynamics(q, v, a, wrench=wrench), tau),
        "mass_matrix": relative(ours.mass_matrix(q), M),
        "bias": relative(ours.bias(q, v, wrench=wrench), theirs.bias(q, v, wrench=wrench)),
        "reactions": relative(ours.reactions(q, v, a, wrench=wrench), theirs.reactions(q, v, a, wrench=wrench)),
    }
    forward, wanted = (solver.forward_dynamics(q, v, tau, wrench=wrench) for solver in (ours, theirs))
    errors["forward_dynamics"] = relative(forward, wanted) / max(1.0, condition(M) / TYPICAL_CONDITION)
    without = {
        "inverse_dynamics": relative(ours.inverse_dynamics(q, v, a), theirs.inverse_dynamics(q, v, a)),
        "bias": relative(ours.bias(q, v), theirs.bias(q, v)),
    }
    return {name: max(error, without.get(name, 0.0)) for name, error in errors.items()}


def assert_agree(errors: dict[str, float], about: str) -> None:
    for quantity, error in errors.items():
        limit = TOLERANCE.get(quantity, FORWARD)
        assert error <= limit, f"{about}: {quantity} differs by {error:.2e} relative, tolerance {limit:g}"


@pytest.mark.parametrize("name", ["newton-euler", "denoc"])
@pytest.mark.parametrize("tens", range(0, len(SEEDS), 20))
def test_random_trees_agree(tens, name):
    for seed in SEEDS[tens : tens + 20]:
        robot = tree_of(seed)
        assert_agree(compare(robot, seed, name), f"{name}, random tree of {robot.n} bodies, seed {seed}")


def test_the_random_trees_are_of_every_sort():
    trees = [tree_of(seed) for seed in SEEDS]
    assert {robot.n for robot in trees} == set(range(1, 31))
    assert {int(kind) for robot in trees for kind in robot.kind} == {0, 1, 2, 3}
    assert any(robot.is_floating for robot in trees)
    assert any(not robot.is_floating for robot in trees)
    assert any((robot.mass == 0.0).any() for robot in trees)
    assert any((robot.kind[1:] == 3).any() for robot in trees)


@pytest.mark.parametrize("name", ["panda", "ur5", "talos"])
def test_real_robots_agree(name):
    try:
        robot = robots.load(name)
    except robots.UnknownNameError as error:
        pytest.skip(str(error))
    assert_agree(compare(robot, seed=1), name)


def test_a_tree_that_is_not_numbered_depth_first_is_reordered():
    """Level by level: Pinocchio's own algorithms would read such a numbering wrongly."""
    robot = robots.tree(7)
    assert robot.parent.tolist() == [-1, 0, 0, 1, 1, 2, 2]
    solver = methods.get("pinocchio").prepare(robot)
    assert [solver.model.names[i] for i in range(1, 8)] == [f"body{i}" for i in (1, 2, 4, 5, 3, 6, 7)]
    assert_agree(compare(robot, seed=0), robot.name)


def test_the_engines_own_model_is_offered():
    robot = robots.load("panda")
    model = methods.get("pinocchio").prepare(robot).model
    assert isinstance(model, pin.Model)
    assert (model.nq, model.nv, model.name) == (robot.nq, robot.nv, "panda")
    assert np.array_equal(model.gravity.linear, robot.gravity)
    assert model.existBodyName(robot.body_names[-1])


def test_aligned_axes_get_aligned_joints():
    R, P = robots.Revolute, robots.Prismatic
    joints = [R([0, 1, 0]), P([0, 0, 1]), R([0, 0, -1]), P([1, 1, 0])]
    bodies = [
        robots.Body(name=f"b{i}", parent=f"b{i - 1}" if i else None, joint=joint, mass=1.0, inertia=[1.0, 1.0, 1.0])
        for i, joint in enumerate(joints)
    ]
    model = methods.get("pinocchio").prepare(robots.Robot.from_bodies("aligned", bodies)).model
    kinds = [model.joints[i].shortname() for i in range(1, 5)]
    assert kinds == ["JointModelRY", "JointModelPZ", "JointModelRevoluteUnaligned", "JointModelPrismaticUnaligned"]


def test_threads_give_the_numbers_of_one():
    robot = robots.tree(9)
    solver = methods.get("pinocchio").prepare(robot)
    q, v, a = robot.sample(50)
    for quantity in (solver.inverse_dynamics, solver.forward_dynamics):
        assert np.array_equal(quantity(q, v, a, threads=2), quantity(q, v, a))
