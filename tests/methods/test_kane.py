"""Kane's method against Newton-Euler, which shares its outward sweep but not what follows, and closed forms."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from dynbench.methods import kane
from dynbench.methods.kane import Kane
from dynbench.methods.newton_euler import NewtonEuler
from dynbench.robots.errors import NotComputedError
from dynbench.robots.families.trees import KINDS, chain, random_tree
from dynbench.robots.kinematics import velocities


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("pushed", [False, True], ids=["free", "pushed"])
def test_agrees_with_newton_euler_on_trees_of_every_joint_kind(seed, pushed):
    robot = random_tree(2 * seed + 1, seed=seed, kinds=KINDS, floating=seed % 2 == 0, massless=seed % 3 == 0)
    q, v, a = robot.sample(9, seed=seed)
    wrench = np.random.default_rng(seed).standard_normal((9, robot.n, 6)) * 10 if pushed else None
    right = NewtonEuler().prepare(robot).inverse_dynamics(q, v, a, wrench=wrench)
    found = Kane().prepare(robot).inverse_dynamics(q, v, a, wrench=wrench)
    assert np.abs(found - right).max() <= 1e-12 * np.abs(right).max()


def test_a_body_pushed_at_its_tip_loads_each_joint_by_its_partial_velocity():
    """With no motion and no gravity, the force of joint r is minus the push times the Jacobian's column r."""
    robot = chain(4, gravity=(0, 0, 0))
    q, v, _ = robot.sample(1, seed=1)
    push = np.zeros((4, 6))
    push[3] = 1.0, -2.0, 3.0, 0.5, -0.5, 0.25
    tau = Kane().prepare(robot).inverse_dynamics(q, 0 * v, 0 * v, wrench=push)[0]
    columns = np.array([velocities(robot, q[0], unit)[3] for unit in np.eye(4)])
    np.testing.assert_allclose(tau, -columns @ push[3], rtol=1e-13, atol=1e-14)


def test_it_is_the_tutorial_so_it_stays_within_forty_lines():
    source = inspect.getsource(kane)
    for docstring in (kane.__doc__, Kane.__doc__):
        source = source.replace(f'"""{docstring}"""', "")
    assert len([line for line in source.splitlines() if line.strip()]) <= 40


def test_what_it_does_not_compute_it_says():
    solver = Kane().prepare(chain(2))
    assert solver.computes == ("inverse_dynamics", "bias")
    with pytest.raises(NotComputedError, match="'kane' does not compute 'mass_matrix'"):
        solver.mass_matrix([0.0, 0.0])
