"""What is peculiar to the C++ loop over Pinocchio: derivatives, against those of its wheel."""

from __future__ import annotations

import numpy as np
import pytest
from round_trip import tree_of

from dynbench import methods, robots
from dynbench.methods import own_calls
from dynbench.robots.robot import Robot

DERIVATIVES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
TOLERANCE = {DERIVATIVES[0]: 1e-12, DERIVATIVES[1]: 1e-9}  # the second solves with the mass matrix


@pytest.fixture(autouse=True)
def _installed() -> None:
    why = methods.get("pinocchio-cpp").unavailable()
    if why is not None:
        pytest.skip(why)


def relative(x: np.ndarray, y: np.ndarray) -> float:
    x, y = x.reshape(len(x), -1), y.reshape(len(y), -1)
    return float((np.abs(x - y).max(axis=1) / np.abs(y).max(axis=1)).max())


def state(robot: Robot, quantity: str, count: int, seed: int) -> list[np.ndarray]:
    q, v, a = robot.sample(count, seed=seed)
    return [q, v, a if quantity == DERIVATIVES[0] else 3.0 * np.random.default_rng(seed).standard_normal(v.shape)]


def with_losses() -> Robot:
    """An arm with rotors, damping and friction."""
    box = {"mass": 2.0, "com": [0.1, 0.2, 0.3], "inertia": [0.3, 0.4, 0.5], "friction": 0.2}
    return robots.Robot.from_bodies(
        "losses",
        [
            robots.Body(name="one", joint=robots.Revolute([0, 0, 1]), armature=0.7, damping=0.3, **box),
            robots.Body(name="two", parent="one", joint=robots.Prismatic([1, 0, 0]), damping=0.5, **box),
        ],
    )


@pytest.mark.parametrize("quantity", DERIVATIVES)
def test_derivatives_are_those_of_the_wheel(quantity):
    """Trees of every kind and not numbered depth first, a robot with losses; single, batch, threads, wrenches."""
    for robot in (robots.tree(7), with_losses(), *(tree_of(seed) for seed in range(1, 30, 4))):
        given = state(robot, quantity, 5, robot.n)
        ours, theirs = (methods.get(name).prepare(robot).whole(quantity) for name in ("pinocchio-cpp", "pinocchio"))
        wrench = 10.0 * np.random.default_rng(robot.n).standard_normal((5, robot.n, 6))
        limit, wanted = TOLERANCE[quantity], theirs(*given)
        assert relative(ours(*given), wanted) < limit, robot.name
        assert relative(ours(*given, threads=2), wanted) < limit, robot.name
        assert relative(ours(*(x[0] for x in given))[None], wanted[:1]) < limit, robot.name
        assert relative(ours(*given, wrench=wrench), theirs(*given, wrench=wrench)) < limit, robot.name


@pytest.mark.parametrize("quantity", DERIVATIVES)
def test_its_own_calls_give_derivatives(quantity):
    robot = robots.load("panda")
    given = state(robot, quantity, 3, 0)
    solver = methods.get("pinocchio-cpp").prepare(robot)
    wanted = methods.get("pinocchio").prepare(robot).whole(quantity)(*given)
    one, every = own_calls.single(solver, quantity, given), own_calls.batch(solver, quantity, given, threads=2)
    every.call()
    assert relative(np.array(one.call())[None], wanted[:1]) < TOLERANCE[quantity]
    assert relative(every.out, wanted) < TOLERANCE[quantity]
    assert every.code.startswith(f"{quantity}(robot, threads, rows, q, v, ")


def test_an_axis_near_a_coordinate_axis_keeps_its_direction():
    axis = np.array([1e-8, 0.0, 1.0])  # its third component is 1 after scaling
    box = {"mass": 2.0, "com": [0.1, 0.2, 0.3], "inertia": [0.3, 0.4, 0.5]}
    body = robots.Body(name="one", joint=robots.Revolute(axis), **box)
    robot = robots.Robot.from_bodies("oblique", [body], gravity=(0.0, -9.81, 0.0))
    q, v, a = robot.sample(4, seed=0)
    found, wanted = (
        methods.get(name).prepare(robot).inverse_dynamics(q, v, a) for name in ("pinocchio-cpp", "pinocchio")
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
