"""What the constraint formulations share: agreement, redundant rows and actuators, following a motion.

Most kernels run here as plain Python functions (on counting scalars): nothing compiles.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
from looped import doubled_parallelogram, relative
from random_loops import KINDS, random_loop

from dynbench import methods, robots
from dynbench.benchmarks.problems.andrews import andrews
from dynbench.benchmarks.problems.bricard import bricard, shape
from dynbench.benchmarks.problems.n_four_bar import configuration, n_four_bar
from dynbench.methods.base import QUANTITIES
from dynbench.methods.kernels.count import count_operations, run_counting
from dynbench.robots.errors import NotComputedError, StateError, UnsupportedError
from dynbench.robots.families.random_stewart import random_gough_stewart
from dynbench.robots.robot import Robot

NAMES = ("udwadia-kalaba", "augmented-lagrangian", "maximal-coordinates", "constraint-embedding", "maggi")
WIDE = ("udwadia-kalaba", "augmented-lagrangian", "maggi")  # redundant actuators and joint extras too
BY_INVERSE = tuple(name for name in NAMES if "inverse_dynamics" in methods.get(name).computes)
FOUR = ("forward_dynamics", "inverse_dynamics", "mass_matrix", "bias")
MACHINES = [
    robots.four_bar(), robots.five_bar(), robots.planar_3rrr(), robots.delta(), bricard().robot, andrews().robot,
    doubled_parallelogram(), n_four_bar(2).robot,
]  # fmt: skip
each = pytest.mark.parametrize("name", NAMES)


def plain(name: str, robot: Robot, quantity: str, seed: int = 0, wrench: bool = False) -> np.ndarray:
    return np.array(run_counting(methods.get(name), robot, quantity, wrench, seed)[1])


@functools.cache
def expected(robot: Robot, quantity: str, seed: int = 0, wrench: bool = False) -> np.ndarray:
    """By Newton-Euler, once for all methods that are compared with it."""
    return plain("newton-euler", robot, quantity, seed, wrench)


drawn_loop = functools.cache(random_loop)


def opened(robot: Robot) -> Robot:
    """The spanning tree, without springs."""
    bodies = {field.name: getattr(robot, field.name) for field in dataclasses.fields(robot)}
    cut = {"loops": None, "actuated": None, "home": None, "platform": -1, "force_weights": None, "springs": None}
    return Robot(**{**bodies, **cut})


# Agreement ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", MACHINES, ids=lambda robot: robot.name)
@each
def test_it_agrees_with_newton_euler(name, robot):
    for quantity in methods.get(name).prepare(robot).computes:
        for wrench in (False,) if quantity == "mass_matrix" else (False, True):
            found = plain(name, robot, quantity, 3, wrench)
            assert relative(found, expected(robot, quantity, 3, wrench)) < 1e-11, (quantity, wrench)


@pytest.mark.long
@pytest.mark.parametrize("robot", [robots.load("gough-stewart"), random_gough_stewart(1, "6-3")], ids=lambda r: r.name)
@each
def test_it_agrees_with_newton_euler_on_large_machines(name, robot):
    test_it_agrees_with_newton_euler(name, robot)


def stress(name: str, seeds: range) -> None:
    """On redundant loops, at several states each."""
    for seed in seeds:
        robot = drawn_loop(seed)
        for state in range(2):
            found = plain(name, robot, "forward_dynamics", state)
            assert relative(found, expected(robot, "forward_dynamics", state)) < 1e-9, (seed, state)


@each
def test_random_redundant_loops(name):
    stress(name, range(3 * len(KINDS)))


@pytest.mark.long
@each
def test_many_random_redundant_loops(name):
    stress(name, range(200))


@pytest.mark.parametrize("name", BY_INVERSE)
def test_inverse_dynamics_against_pinocchio_and_multipliers(name):
    """[B A^T] [tau; lambda] = M a + h by least squares, the right side by Pinocchio."""
    pytest.importorskip("pinocchio")
    for robot in [*(random_loop(seed) for seed in range(len(KINDS))), bricard().robot, robots.planar_3rrr()]:
        q, v, a = (x[:1] for x in robot.sample(1, seed=4))
        r = methods.get("pinocchio").prepare(opened(robot)).inverse_dynamics(q, v, a)[0]
        both = np.hstack([np.eye(robot.nv)[:, robot.actuated], robot.loop_jacobian(q[0]).T])
        wanted, *_ = np.linalg.lstsq(both, r, rcond=1e-9)
        assert np.abs(both @ wanted - r).max() < 1e-9 * max(1.0, np.abs(r).max())
        assert relative(plain(name, robot, "inverse_dynamics", 4), wanted[: len(robot.actuated)]) < 1e-9, robot.name


@each
def test_forward_dynamics_against_pinocchio_and_multipliers(name):
    """[[M, -A^T], [A, 0]] [a; lambda] = [B tau - h; -g] by least squares, M and h by Pinocchio."""
    pytest.importorskip("pinocchio")
    for robot in (random_loop(0), random_loop(4), bricard().robot, robots.five_bar()):
        q, v, drawn = (x[0] for x in robot.sample(1, seed=2))
        engine = methods.get("pinocchio").prepare(opened(robot))
        A, force = robot.loop_jacobian(q), -engine.bias(q, v)
        force[robot.actuated] += drawn[robot.actuated]
        system = np.block([[engine.mass_matrix(q), -A.T], [A, np.zeros((len(A), len(A)))]])
        right = np.concatenate([force, -robot.loop_rate(q, v)])
        a = np.linalg.lstsq(system, right, rcond=1e-12)[0][: robot.nv]
        assert relative(plain(name, robot, "forward_dynamics", 2), a) < 1e-9, robot.name


@pytest.mark.parametrize("weights", [None, [1.0, 3.0]])
@pytest.mark.parametrize("name", WIDE)
def test_more_actuators_than_freedoms_share_the_force(name, weights):
    robot = dataclasses.replace(bricard().robot, actuated=np.array([0, 2]), force_weights=weights)
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        assert relative(plain(name, robot, quantity, 1), expected(robot, quantity, 1)) < 1e-10
    with pytest.raises(NotComputedError, match="mass_matrix"):
        methods.get(name).prepare(robot).mass_matrix  # noqa: B018


@pytest.mark.parametrize("name", ["maximal-coordinates", "constraint-embedding"])
def test_forward_dynamics_takes_more_actuators_than_freedoms(name):
    robot = dataclasses.replace(bricard().robot, actuated=np.array([0, 1, 2]))
    assert relative(*(plain(one, robot, "forward_dynamics", 1) for one in (name, "newton-euler"))) < 1e-10
    with pytest.raises(NotComputedError, match="inverse_dynamics"):
        methods.get(name).prepare(robot).inverse_dynamics  # noqa: B018


@pytest.mark.parametrize("name", WIDE)
def test_joint_extras(name):
    can = np.array([0.3, 0.5, 0.7])
    robot = dataclasses.replace(robots.four_bar(), armature=can, damping=can, friction=can)
    for quantity in FOUR:
        assert relative(plain(name, robot, quantity, 1), expected(robot, quantity, 1)) < 1e-11, quantity


def test_what_is_not_supported_has_a_reason():
    for name in set(NAMES) - {"maximal-coordinates"}:
        with pytest.raises(UnsupportedError, match=f"{name} is for robots with closed loops"):
            methods.get(name).prepare(robots.load("panda"))
    can = np.full(3, 0.1)
    robot = dataclasses.replace(robots.four_bar(), armature=can, damping=can)
    for name in ("maximal-coordinates", "constraint-embedding"):
        assert "armature, damping or friction" in str(methods.get(name).supports(robot))


# Compiled -------------------------------------------------------------------------------------------------------------


@each
def test_both_tiers_on_batches_and_what_they_refuse(name):
    robot = robots.four_bar()
    q, v, _ = robot.sample(11, seed=5)
    tau = np.random.default_rng(0).standard_normal((11, 1))
    right = methods.get("newton-euler").prepare(robot).forward_dynamics(q, v, tau)
    method = methods.get(name)
    for code in ("generic", "traced"):
        solver = method.prepare(robot, code=code)
        assert solver.why_not_traced("forward_dynamics") is None
        assert relative(solver.forward_dynamics(q, v, tau), right) < 1e-10
    assert relative(solver.forward_dynamics(q[2], v[2], tau[2]), right[2]) < 1e-10
    with pytest.raises(StateError, match="q is off the loops"):
        solver.forward_dynamics(q[0] + [0.1, 0.0, 0.0], v[0], tau[0])
    assert "choose pivots" in str(method.prepare(bricard().robot).why_not_traced("forward_dynamics"))


@pytest.mark.long
@pytest.mark.parametrize("name", BY_INVERSE)
def test_both_tiers_of_the_other_quantities(name):
    robot = robots.five_bar()
    q, v, a = robot.sample(9, seed=5)
    for code in ("generic", "traced"):
        solver, judge = methods.get(name).prepare(robot, code=code), methods.get("newton-euler").prepare(robot)
        for quantity, state in (("inverse_dynamics", (q, v, a)), ("mass_matrix", (q,)), ("bias", (q, v))):
            assert relative(getattr(solver, quantity)(*state), getattr(judge, quantity)(*state)) < 1e-10, quantity


@each
def test_a_singular_position_is_refused(name):
    """All bars on one line: two of four loop equations are lost."""
    robot = n_four_bar(2).robot
    q = configuration(2, 0.0)
    solver = methods.get(name).prepare(robot)
    run = solver.runs["forward_dynamics"]
    out, work = np.zeros(5), np.full(run.size, np.nan)
    with np.errstate(all="ignore"):
        run.kernel((0,), run.model, q, np.zeros(5), np.zeros(1), None, out, work)
    assert not np.isfinite(out).any()


# Following ------------------------------------------------------------------------------------------------------------


@each
def test_following_agrees_with_forward_dynamics(name):
    """As plain Python: on the loops a state is not moved, and accelerates as forward dynamics says."""
    for robot in (robots.four_bar(), bricard().robot, random_loop(1)):
        q, v, drawn = (x[0] for x in robot.sample(1, seed=0))
        stages = methods.get(name).prepare(robot).follow.stages
        out, work = np.zeros(stages.shape), np.full(stages.size, np.nan)
        stages.kernel((0,), stages.model, q, v, drawn[robot.actuated], None, out, work)
        a, moving, moved, rest = np.split(out, (robot.nv, 2 * robot.nv, 2 * robot.nv + robot.nq))
        assert relative(a, plain("newton-euler", robot, "forward_dynamics", 0)) < 1e-9
        assert relative(moving, v) < 1e-12
        assert relative(moved, q) < 1e-12
        assert rest[1] < 1e-12
        assert 1e-3 < rest[3] <= 1.0


@each
def test_following_moves_a_state_onto_the_loops(name):
    robot = bricard().robot
    q, v, _ = (x[0] for x in robot.sample(1, seed=1))
    off = np.random.default_rng(0).standard_normal((2, robot.nv))
    stages = methods.get(name).prepare(robot).follow.stages
    out, work = np.zeros(stages.shape), np.full(stages.size, np.nan)
    stages.kernel((0,), stages.model, q + 1e-5 * off[0], v + 1e-3 * off[1], np.zeros(1), None, out, work)
    moved, moving = out[2 * robot.nv : 2 * robot.nv + robot.nq], out[robot.nv : 2 * robot.nv]
    assert np.abs(robot.loop_residual(moved)).max() < 1e-9
    assert np.abs(robot.loop_jacobian(moved) @ moving).max() < 1e-8


@pytest.mark.parametrize("d", [1e-2, 1e-4, 1e-6])
@each
def test_following_keeps_the_parallelogram_where_its_loops_hardly_hold_it(name, d):
    """Forces act along the one motion that is left, at any distance d from the position with all bars in line.

    Damped with the demands, the free accelerations, which differ by 10 %, would act where s is about d.
    """
    for N in (2, 5):
        robot = n_four_bar(N).robot
        stages = methods.get(name).prepare(robot).follow.stages
        out, work = np.zeros(stages.shape), np.full(stages.size, np.nan)
        stages.kernel(
            (0,), stages.model, configuration(N, d), configuration(N, -3.0), np.zeros(1), None, out, work
        )  # fmt: skip
        exact = -9.81 * np.cos(d) * ((N + 1) / 2 + N) / ((N + 1) / 3 + N)
        assert relative(out[: robot.nv], configuration(N, exact)) < 1e-6
        assert relative(out[robot.nv : 2 * robot.nv], configuration(N, -3.0)) < 1e-12


@each
def test_following_gives_numbers_at_a_singular_position(name):
    """Exactly in line, where rows of the loops are zero: some of the accelerations that are free there, same v."""
    robot = n_four_bar(2).robot
    stages = methods.get(name).prepare(robot).follow.stages
    out, work = np.zeros(stages.shape), np.full(stages.size, np.nan)
    v = configuration(2, -3.0)
    stages.kernel((0,), stages.model, configuration(2, 0.0), v, np.zeros(1), None, out, work)
    assert np.isfinite(out).all()
    assert np.abs(out[:5]).max() < 100.0
    assert relative(out[5:10], v) < 1e-12


# Counts ---------------------------------------------------------------------------------------------------------------


def test_counts_of_forward_dynamics_are_these():
    found = {
        robot.name: tuple(count_operations(methods.get(name), robot, "forward_dynamics").flops for name in NAMES)
        for robot in (robots.four_bar(), robots.planar_3rrr(), bricard().robot)
    }
    assert found == {
        "four-bar": (2538, 2793, 7880, 3063, 2514),
        "3rrr": (9620, 11504, 42173, 13737, 9572),
        "bricard": (6357, 7100, 23094, 6813, 6859),
    }


def test_shapes_of_bricard_are_regular_where_rows_of_home_are_not():
    """At a = pi/2 four rows chosen at home would be singular; all five are not."""
    robot = bricard().robot
    q = shape(0.5 * np.pi)
    assert set(QUANTITIES) >= set(FOUR)
    for name in NAMES:
        forward = methods.get(name).prepare(robot).runs["forward_dynamics"]
        out, work = np.zeros(5), np.full(forward.size, np.nan)
        forward.kernel((0,), forward.model, q, np.zeros(5), np.array([0.7]), None, out, work)
        assert np.abs(robot.loop_jacobian(q) @ out).max() < 1e-10
        assert np.isfinite(out).all()
