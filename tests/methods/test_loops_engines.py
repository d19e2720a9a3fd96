"""Other engines judge closed loops: every quantity at states on the loops, with wrenches on every body."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.methods.peers.dense_loops import DenseLoops

LOOPS = ("four-bar", "3rrr", "gough-stewart")
ENGINES = {  # with the limits of torques and accelerations
    "simbody": (LOOPS, 1e-11, 1e-9),
    "drake": (LOOPS, 1e-11, 1e-9),
    "exudyn": (("four-bar", "3rrr"), 1e-11, 1e-8),  # extrapolated accelerations: 1e-10 seen
}
REFUSED = {
    ("exudyn", "gough-stewart"): "revolute and prismatic joints only, joint 'platform' is free",
    ("drake", "parallel-ankle-redundant"): "as many actuators as there are degrees of freedom",
    ("drake", "following"): "joints that follow others",
    ("simbody", "following"): "joints that follow others",
    ("exudyn", "following"): "joints that follow others",
}


def relative(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.abs(x - y).max() / np.abs(y).max())


def installed(engine: str) -> None:
    why = methods.get(engine).unavailable()
    if why is not None:
        pytest.skip(why)


def following() -> robots.Robot:
    """Two joints, of which the second follows the first."""
    box = {"mass": 1.0, "com": [0.1, 0.0, 0.2], "inertia": [0.1, 0.2, 0.3]}
    return robots.Robot.from_bodies(
        "following",
        [
            robots.Body(name="one", joint=robots.Revolute([0, 0, 1], name="first"), **box),
            robots.Body(name="two", parent="one", joint=robots.Revolute([0, 1, 0], name="second"), **box),
        ],
        couplings=[robots.Coupling(joint="second", follows="first", multiplier=2.0)],
    )


@pytest.mark.parametrize(("engine", "name"), [(engine, name) for engine in ENGINES for name in ENGINES[engine][0]])
def test_loops_agree(engine, name):
    installed(engine)
    robot = robots.load(name)
    _, torque, acceleration = ENGINES[engine]
    ours, theirs = (methods.get(method).prepare(robot) for method in ("newton-euler", engine))
    q, v, a = robot.sample(5, seed=1)
    wrench = 10.0 * np.random.default_rng(1).standard_normal((5, robot.n, 6))
    tau = ours.inverse_dynamics(q, v, a, wrench=wrench)
    assert relative(theirs.inverse_dynamics(q, v, a, wrench=wrench), tau) < torque
    assert relative(theirs.inverse_dynamics(q, v, a), ours.inverse_dynamics(q, v, a)) < torque
    assert relative(theirs.forward_dynamics(q, v, tau, wrench=wrench), a) < acceleration
    assert relative(theirs.forward_dynamics(q, v, tau), ours.forward_dynamics(q, v, tau)) < acceleration
    assert relative(theirs.mass_matrix(q), ours.mass_matrix(q)) < torque
    assert relative(theirs.bias(q, v), ours.bias(q, v)) < (acceleration if engine == "exudyn" else torque)


@pytest.mark.parametrize(("engine", "name"), REFUSED)
def test_what_it_cannot_do_has_a_reason(engine, name):
    installed(engine)
    robot = following() if name == "following" else robots.load(name)
    assert REFUSED[engine, name] in methods.get(engine).supports(robot)


@pytest.mark.parametrize("engine", ["drake", "exudyn"])
def test_with_loops_there_is_no_own_call(engine):
    installed(engine)
    method = methods.get(engine)
    assert ("forward_dynamics", "single") in method.own_calls_on(robots.load("panda"))
    assert ("forward_dynamics", "single") not in method.own_calls_on(robots.load("four-bar"))


def test_closures_with_redundant_rows_change_nothing():
    """The dense algebra alone, on the robot's own closures, each twice."""
    robot = robots.load("four-bar")
    ours = methods.get("newton-euler").prepare(robot)
    cut = {"loops": None, "actuated": None, "home": None, "platform": -1, "force_weights": None}
    tree = methods.get("newton-euler").prepare(dataclasses.replace(robot, **cut))
    q, v, a = robot.sample(1, seed=0)

    class Plain:
        def inverse_dynamics(self, q, v, a, wrench):
            return tree.inverse_dynamics(q, v, a, wrench=wrench)

        def mass_matrix(self, q):
            return tree.mass_matrix(q)

    def closures(q, v):
        A = robot.loop_jacobian(q[None])[0]
        return np.concatenate([A, A]), np.tile(robot.loop_rate(q, v), 2)

    made = DenseLoops(robot, Plain(), closures)
    np.testing.assert_allclose(made.inverse_dynamics(q[0], v[0], a[0], None), ours.inverse_dynamics(q[0], v[0], a[0]))
    tau = np.array([3.0])
    np.testing.assert_allclose(made.forward_dynamics(q[0], v[0], tau, None), ours.forward_dynamics(q[0], v[0], tau))
