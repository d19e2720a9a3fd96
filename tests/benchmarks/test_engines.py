"""The engines' own calls, as they are timed, give what Newton-Euler gives, in their coordinates."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.benchmarks.timing import engines
from dynbench.benchmarks.timing.cases import Cell, timed
from dynbench.methods.base import QUANTITIES
from dynbench.robots.families.trees import random_tree

PEERS = [
    pytest.param(
        name, marks=pytest.mark.skipif(methods.get(name).unavailable() is not None, reason=f"{name} is not installed")
    )
    for name in engines.ENGINES
]


def arguments(robot, rows: int) -> dict[str, np.ndarray]:
    q, v, a = robot.sample(rows, seed=3)
    return {"q": q, "v": v, "a": a, "tau": np.random.default_rng(3).standard_normal(v.shape)}


@pytest.mark.parametrize("quantity", engines.FOUR)
@pytest.mark.parametrize("name", PEERS)
def test_an_arm_gives_the_same_numbers(name, quantity):
    """Its coordinates mean the same to all."""
    robot, given = robots.load("panda"), arguments(robots.load("panda"), 3)
    inputs = [given[argument] for argument in QUANTITIES[quantity].arguments]
    wanted = getattr(methods.get("newton-euler").prepare(robot), quantity)(*inputs)
    found = np.array(engines.timed(name, robot, quantity, inputs, batch=False)())
    np.testing.assert_allclose(found, wanted[0], rtol=1e-9, atol=1e-11 * np.abs(wanted[0]).max())


def test_pinocchio_s_regressor_is_its_own_call():
    pytest.importorskip("pinocchio")
    robot, given = robots.load("panda"), arguments(robots.load("panda"), 3)
    inputs = [given[argument] for argument in QUANTITIES["regressor"].arguments]
    wanted = methods.get("newton-euler").prepare(robot, code="traced").regressor(*inputs)
    found = engines.timed("pinocchio", robot, "regressor", inputs, batch=False)()
    np.testing.assert_allclose(found, wanted[0], rtol=0, atol=1e-12 * np.abs(wanted[0]).max())
    assert "computeJointTorqueRegressor" in engines.called("pinocchio", "regressor", batch=True)
    ready = timed(Cell("two-link", "pinocchio", "regressor", "engine-batch", 300), call_limit=math.inf)
    assert ready.rows == 300


@pytest.mark.parametrize("name", [peer for peer in PEERS if peer.values[0] in ("mujoco", "drake")])
def test_a_floating_tree_gives_the_same_numbers_in_the_engines_coordinates(name):
    robot = random_tree(7, seed=1, kinds=("revolute", "prismatic", "spherical"), floating=True)
    given = arguments(robot, 2)
    ours = methods.get("newton-euler").prepare(robot)
    tau = ours.inverse_dynamics(given["q"], given["v"], given["a"])
    call = engines.timed(name, robot, "inverse_dynamics", [given["q"], given["v"], given["a"]], batch=False)
    back = engines.timed(name, robot, "forward_dynamics", [given["q"], given["v"], tau], batch=False)
    np.testing.assert_allclose(np.array(call()), back.arguments[2], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(np.array(back()), call.arguments[2], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", PEERS)
def test_a_batch_is_as_many_states(name):
    """More rows than there are distinct states: they come round again."""
    for quantity in engines.FOUR:
        ready = timed(Cell("two-link", name, quantity, "engine-batch", 300), call_limit=math.inf, give_up=math.inf)
        assert ready.rows == 300


def test_pinocchio_alone_has_calls_for_a_batch():
    assert engines.batched("pinocchio", "inverse_dynamics")
    assert not engines.batched("pinocchio", "mass_matrix")
    assert not any(engines.batched(name, q) for name in ("mujoco", "drake", "exudyn") for q in engines.FOUR)


@pytest.mark.parametrize("name", PEERS)
def test_a_null_call_takes_less_than_a_call(name):
    """Half of the time of inverse dynamics of two links at the very most; usually a tenth."""
    null = engines.call_overhead(name, calls=200)
    ready = timed(Cell("two-link", name, "inverse_dynamics", "engine"), give_up=math.inf)
    assert 10e-9 < null < 0.5 * min(ready.seconds() for _ in range(50))


def test_every_engine_has_its_null_call():
    assert set(engines.NULL_CALLS) == set(engines.ENGINES) == set(engines.QUANTITIES_OF)
