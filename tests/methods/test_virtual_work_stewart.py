"""Virtual work of the Gough-Stewart platform, against three other formulations; and what spin-free legs leave out."""

from __future__ import annotations

import numpy as np
import pytest
from stewart import LAYOUTS, relative

from dynbench import methods, robots
from dynbench.methods.kernels.count import count_operations
from dynbench.methods.virtual_work_stewart import VirtualWorkStewart, VirtualWorkStewartSpinFree
from dynbench.robots.errors import StateError, UnsupportedError
from dynbench.robots.families.random_stewart import random_gough_stewart, random_platform_states

PLATFORMS = [robots.load("gough-stewart"), *(random_gough_stewart(s, LAYOUTS[s % 2]) for s in range(6))]


@pytest.fixture(params=PLATFORMS, ids=lambda robot: robot.name)
def robot(request):
    return request.param


@pytest.mark.parametrize("other", ["lagrange-stewart", "newton-euler"])
def test_inverse_dynamics_agrees(robot, other):
    q, v, a = random_platform_states(robot, 5, 3)
    right = methods.get(other).prepare(robot).inverse_dynamics(q, v, a)
    assert relative(VirtualWorkStewart().prepare(robot).inverse_dynamics(q, v, a), right) < 1e-11


def test_inverse_dynamics_agrees_with_pinocchio_s_tree_and_closure_forces(robot):
    pytest.importorskip("pinocchio")
    from dynbench.methods.peers.pinocchio_loops import PinocchioLoops

    engine = PinocchioLoops(robot)
    q, v, a = random_platform_states(robot, 3, 3)
    right = np.array([engine.inverse_dynamics(*row) for row in zip(q, v, a, strict=True)])
    assert relative(VirtualWorkStewart().prepare(robot).inverse_dynamics(q, v, a), right) < 1e-11


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "bias"])
def test_it_agrees_with_lagrange_under_external_wrenches_on_every_body(robot, quantity):
    q, v, a = random_platform_states(robot, 5, 4)
    state = (q, v) if quantity == "bias" else (q, v, a)
    wrench = np.random.default_rng(1).standard_normal((5, robot.n, 6)) * 10
    found, right = (
        getattr(method.prepare(robot), quantity)(*state, wrench=wrench)
        for method in (VirtualWorkStewart(), methods.get("lagrange-stewart"))
    )
    assert relative(found, right) < 1e-11


def test_forces_do_the_work_that_changes_the_energy(robot):
    """tau . d' is the rate of the energy along the motion."""
    q, v, a = (x[0] for x in random_platform_states(robot, 1, 5))
    tau = VirtualWorkStewart().prepare(robot).inverse_dynamics(q, v, a)
    h = 1e-5
    ends = [robot.energy(robot.integrate(q, t * v + t * t / 2 * a), v + t * a) for t in (-h, h)]
    assert tau @ v[robot.actuated] == pytest.approx((ends[1] - ends[0]) / (2 * h), rel=1e-5)


def test_spin_free_legs_are_exact_for_slender_rods():
    """The legs of the platform of the zoo have no inertia about themselves, and equal transverse ones."""
    robot = robots.load("gough-stewart")
    q, v, a = random_platform_states(robot, 20, 6)
    right = VirtualWorkStewart().prepare(robot).inverse_dynamics(q, v, a)
    assert relative(VirtualWorkStewartSpinFree().prepare(robot).inverse_dynamics(q, v, a), right) < 1e-12
    assert VirtualWorkStewart.exact
    assert not VirtualWorkStewartSpinFree.exact


def test_spin_free_legs_are_off_by_tens_of_percent_for_full_inertias():
    errors = []
    for robot in PLATFORMS[1:]:
        q, v, a = random_platform_states(robot, 5, 3)
        right = VirtualWorkStewart().prepare(robot).inverse_dynamics(q, v, a)
        errors.append(relative(VirtualWorkStewartSpinFree().prepare(robot).inverse_dynamics(q, v, a), right))
    assert min(errors) > 1e-3
    assert 0.1 < max(errors) < 1.0


def test_single_states_are_those_of_the_batch():
    robot = PLATFORMS[1]
    solver = VirtualWorkStewart().prepare(robot)
    q, v, a = random_platform_states(robot, 9, 7)
    batch, still = solver.inverse_dynamics(q, v, a), solver.bias(q, v)
    for k in (0, 8):
        assert relative(solver.inverse_dynamics(q[k], v[k], a[k]), batch[k]) < 1e-12
        assert relative(solver.bias(q[k], v[k]), still[k]) < 1e-12


@pytest.mark.parametrize("argument", range(3))
def test_a_state_off_the_loops_is_refused(argument):
    robot = PLATFORMS[1]
    state = [x[0].copy() for x in random_platform_states(robot, 1, 8)]
    state[argument][int(robot.actuated[2])] += 1e-3
    with pytest.raises(StateError, match="off the loops"):
        VirtualWorkStewart().prepare(robot).inverse_dynamics(*state)


def test_other_robots_are_refused_with_a_reason():
    with pytest.raises(UnsupportedError, match="for Gough-Stewart platforms only"):
        VirtualWorkStewart().prepare(robots.load("3rrr"))


def test_counts_are_these():
    """Of one evaluation; six legs, so they are constants."""
    robot = robots.load("gough-stewart")
    found = {
        method.name: (counts.multiplications, counts.additions)
        for method in (VirtualWorkStewart(), VirtualWorkStewartSpinFree(), methods.get("lagrange-stewart"))
        for counts in [count_operations(method, robot, "inverse_dynamics")]
    }
    assert found == {
        "virtual-work-stewart": (1692, 1359),
        "virtual-work-stewart-spin-free": (1674, 1347),
        "lagrange-stewart": (1593, 1278),
    }
