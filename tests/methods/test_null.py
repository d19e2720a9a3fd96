"""The baseline: zeros for any robot, with the same validation and drivers as other methods."""

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.robots.errors import StateError


@pytest.mark.parametrize("name", ["panda", "gough-stewart", "elastic-rp1"])
def test_zeros_for_any_robot(name):
    robot = robots.load(name)
    solver = methods.get("null").prepare(robot)
    q, v, a = robot.sample(10)
    assert not solver.inverse_dynamics(q, v, a).any()
    assert solver.inverse_dynamics(q, v, a).shape == (10, len(robot.actuated))
    assert not solver.mass_matrix(q).any()
    assert not solver.reactions(q, v, a).any()


def test_it_checks_its_arguments_as_the_others_do():
    robot = robots.load("two-link")
    solver = methods.get("null").prepare(robot)
    with pytest.raises(StateError, match=r"v\[0\] is nan"):
        solver.inverse_dynamics(np.zeros(2), np.array([np.nan, 0.0]), np.zeros(2))


def test_it_is_the_floor_and_compared_with_nothing():
    assert methods.get("null").floor
    assert [name for name in methods.names() if methods.get(name).floor] == ["null"]
