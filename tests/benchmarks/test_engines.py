"""The engines' own calls, as they are timed, give what Newton-Euler gives, in their coordinates."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.benchmarks.timing import engines
from dynbench.benchmarks.timing.cases import Cell, timed
from dynbench.methods import own_calls
from dynbench.methods.base import QUANTITIES
from dynbench.robots.families.trees import random_tree

FOUR = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias")
OFFERING = [name for name in methods.names() if methods.get(name).own_calls]
PEERS = [
    pytest.param(
        name, marks=pytest.mark.skipif(methods.get(name).unavailable() is not None, reason=f"{name} is not available")
    )
    for name in OFFERING
]
CALLS = [
    pytest.param(name, quantity, marks=peer.marks)
    for peer in PEERS
    for name in peer.values
    for quantity in FOUR
    if (quantity, "single") in methods.get(name).own_calls or (quantity, "batch") in methods.get(name).own_calls
]


def arguments(robot, rows: int) -> dict[str, np.ndarray]:
    q, v, a = robot.sample(rows, seed=3)
    return {"q": q, "v": v, "a": a, "tau": np.random.default_rng(3).standard_normal(v.shape)}


@pytest.mark.parametrize(("name", "quantity"), CALLS)
def test_an_arm_gives_the_same_numbers(name, quantity):
    """Its coordinates mean the same to all."""
    robot, given = robots.load("panda"), arguments(robots.load("panda"), 3)
    inputs = [given[argument] for argument in QUANTITIES[quantity].arguments]
    wanted = getattr(methods.get("newton-euler").prepare(robot), quantity)(*inputs)
    solver = methods.get(name).prepare(robot)
    found = np.reshape(own_calls.single(solver, quantity, inputs).call(), wanted[0].shape)
    if name == "dynibo" and quantity != "forward_dynamics":  # its unit of length makes its gravity ours: forces scale
        scale = np.vdot(found, wanted[0]) / np.vdot(wanted[0], wanted[0])
        assert 0.99 < scale < 1.01
        found = found / scale
    np.testing.assert_allclose(found, wanted[0], rtol=1e-9, atol=1e-11 * np.abs(wanted[0]).max())


def test_pinocchio_s_regressor_is_its_own_call():
    pytest.importorskip("pinocchio")
    robot, given = robots.load("panda"), arguments(robots.load("panda"), 3)
    inputs = [given[argument] for argument in QUANTITIES["regressor"].arguments]
    wanted = methods.get("newton-euler").prepare(robot, code="traced").regressor(*inputs)
    call = own_calls.single(methods.get("pinocchio").prepare(robot), "regressor", inputs)
    np.testing.assert_allclose(call.call(), wanted[0], rtol=0, atol=1e-12 * np.abs(wanted[0]).max())
    assert "computeJointTorqueRegressor" in call.code
    ready = timed(Cell("two-link", "pinocchio", "regressor", "engine-batch", 300), call_limit=math.inf)
    assert ready.rows == 300


@pytest.mark.parametrize("name", [peer for peer in PEERS if peer.values[0] in ("mujoco", "drake")])
def test_a_floating_tree_gives_the_same_numbers_in_the_engines_coordinates(name):
    robot = random_tree(7, seed=1, kinds=("revolute", "prismatic", "spherical"), floating=True)
    given = arguments(robot, 2)
    ours, solver = (methods.get(method).prepare(robot) for method in ("newton-euler", name))
    tau = ours.inverse_dynamics(given["q"], given["v"], given["a"])
    call = own_calls.single(solver, "inverse_dynamics", [given["q"], given["v"], given["a"]])
    back = own_calls.single(solver, "forward_dynamics", [given["q"], given["v"], tau])
    np.testing.assert_allclose(np.array(call.call()), back.arguments["tau"], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(np.array(back.call()), call.arguments["a"], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("name", "quantity"), CALLS)
@pytest.mark.parametrize("mode", ["engine-batch", "engine-threads"])
def test_a_batch_is_as_many_states(name, quantity, mode):
    """More rows than there are distinct states: they come round again. Each row is what the single call gives."""
    if not engines.offers(methods.get(name), robots.load("two-link"), quantity, mode):
        pytest.skip("it has no call for a batch")
    ready = timed(Cell("two-link", name, quantity, mode, 300), call_limit=math.inf, give_up=math.inf)
    single = timed(Cell("two-link", name, quantity, "engine"), give_up=math.inf)
    assert ready.rows == len(ready.own.out) == 300
    np.testing.assert_allclose(np.ravel(ready.own.out[0]), np.ravel(single.call()), rtol=1e-12)
    np.testing.assert_allclose(ready.own.out[192], ready.own.out[0], rtol=1e-12)
    assert not np.allclose(ready.own.out[1], ready.own.out[0])


@pytest.mark.parametrize("name", [peer for peer in PEERS if engines.with_null_call(peer.values)])
def test_a_null_call_takes_less_than_a_call(name):
    """Usually a tenth of inverse dynamics of two links; of JAX, whose dispatch takes microseconds, most of it."""
    null = engines.call_overhead(name, calls=200)
    ready = timed(Cell("two-link", name, "inverse_dynamics", "engine"), give_up=math.inf)
    assert 10e-9 < null < min(ready.seconds() for _ in range(50))


def test_what_is_timed_is_what_is_shown():
    """The text of an own call is the code that runs."""
    pytest.importorskip("pinocchio")
    ready = timed(Cell("two-link", "pinocchio", "inverse_dynamics", "engine"), give_up=math.inf)
    assert ready.code == "pin.rnea(model, data, q, v, a)"
    loop = timed(Cell("two-link", "pinocchio", "mass_matrix", "engine-batch", 8), give_up=math.inf)
    assert loop.code == "for k, (q,) in enumerate(states):\n    results[k] = pin.crba(model, data, q)"
