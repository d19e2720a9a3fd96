"""Springs and dampers between two points: energy, every method, loops, and against Pinocchio."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.robots import Robot, Spring
from dynbench.robots.body import Springs
from dynbench.robots.errors import UnsupportedError


def sprung(name: str = "tree-6") -> Robot:
    robot = robots.load(name)
    springs = Springs(
        np.array([1, -1]), np.array([robot.n - 1, 2]), np.array([[0.1, 0.2, 0.3], [0.5, 0.0, 0.4]]),
        np.array([[-0.2, 0.1, 0.0], [0.0, 0.3, 0.1]]), np.array([40.0, 25.0]), np.array([3.0, 0.0]),
        np.array([0.4, 0.0]),
    )  # fmt: skip
    return dataclasses.replace(robot, springs=springs)


def without(robot: Robot) -> Robot:
    return dataclasses.replace(robot, springs=None)


def test_the_generalized_force_is_the_gradient_of_the_energy():
    robot = sprung()
    q, v, _ = robot.sample(4, seed=1)
    still = np.zeros_like(v)
    solve, plain = (methods.get("newton-euler").prepare(each) for each in (robot, without(robot)))
    push = solve.bias(q, still) - plain.bias(q, still)
    h = 1e-5
    ahead, behind = robot.integrate(q, h * v), robot.integrate(q, -h * v)

    def stored(x):
        return robot.energy(x, still) - without(robot).energy(x, still)

    rate = (stored(ahead) - stored(behind)) / (2 * h)
    assert np.einsum("sj,sj->s", push, v) == pytest.approx(rate, rel=1e-6, abs=1e-7)


def test_dampers_lose_what_dissipation_says():
    robot = sprung()
    q, v, _ = robot.sample(4, seed=2)
    solve, plain = (methods.get("newton-euler").prepare(each) for each in (robot, without(robot)))
    both = solve.bias(q, v) - plain.bias(q, v)
    elastic = solve.bias(q, 0.0 * v) - plain.bias(q, 0.0 * v)
    assert np.einsum("sj,sj->s", both - elastic, v) == pytest.approx(robot.dissipation(q, v), rel=1e-10)
    assert robot.dissipation(q[0], v[0]) > 0.0


@pytest.mark.parametrize("name", ["gibbs-appell", "kane", "lagrange-euler", "denoc"])
def test_every_method_has_them(name):
    robot = sprung()
    q, v, a = robot.sample(3, seed=3)
    judge = methods.get("newton-euler").prepare(robot)
    tau = judge.inverse_dynamics(q, v, a)
    solve = methods.get(name).prepare(robot)
    assert np.abs(solve.inverse_dynamics(q, v, a) - tau).max() < 1e-10 * np.abs(tau).max()
    if "forward_dynamics" in solve.computes:
        assert np.abs(solve.forward_dynamics(q, v, tau) - a).max() < 1e-9 * np.abs(a).max()


def test_against_pinocchio_with_the_springs_forces_as_wrenches():
    pytest.importorskip("pinocchio")
    robot = sprung()
    q, v, a = robot.sample(3, seed=4)
    from dynbench.robots.kinematics import poses, velocities

    R, p = poses(robot, q)
    twist = velocities(robot, q, v, axes="world")
    wrench = np.zeros((3, robot.n, 6))
    s = robot.springs
    for k in range(2):
        ends, rates = [], []
        for body, point in ((s.body1[k], s.point1[k]), (s.body2[k], s.point2[k])):
            if body < 0:
                ends.append(np.tile(point, (3, 1)))
                rates.append(np.zeros((3, 3)))
            else:
                arm = R[:, body] @ point
                ends.append(p[:, body] + arm)
                rates.append(twist[:, body, :3] + np.cross(twist[:, body, 3:], arm))
        d = ends[1] - ends[0]
        l = np.linalg.norm(d, axis=1)
        rate = np.einsum("si,si->s", d, rates[1] - rates[0]) / l
        force = (s.stiffness[k] * (l - s.rest_length[k]) + s.damping[k] * rate)[:, None] * d / l[:, None]
        for sign, body, point in ((1.0, s.body1[k], s.point1[k]), (-1.0, s.body2[k], s.point2[k])):
            if body >= 0:
                local = sign * np.einsum("sji,sj->si", R[:, body], force)
                wrench[:, body, :3] += local
                wrench[:, body, 3:] += np.cross(point, local)
    wanted = methods.get("pinocchio").prepare(without(robot)).inverse_dynamics(q, v, a, wrench=wrench)
    assert methods.get("newton-euler").prepare(robot).inverse_dynamics(q, v, a) == pytest.approx(wanted, abs=1e-9)
    # external wrenches add up
    own = methods.get("newton-euler").prepare(robot).inverse_dynamics(q, v, a, wrench=wrench)
    more = methods.get("newton-euler").prepare(without(robot)).inverse_dynamics(q, v, a, wrench=2.0 * wrench)
    assert own == pytest.approx(more, abs=1e-9)


def test_points_that_coincide_have_no_force():
    spring = Spring(body1=None, body2="pendulum", stiffness=10.0, damping=1.0, rest_length=0.2)
    body = robots.Body(name="pendulum", joint=robots.Revolute([0, 0, 1]), mass=1.0, com=[1, 0, 0], inertia=[1, 1, 1])
    robot = Robot.from_bodies("still", [body], springs=[spring])
    tau = methods.get("newton-euler").prepare(robot).inverse_dynamics(np.zeros(1), np.ones(1), np.ones(1))
    assert tau == pytest.approx([2.0])


def test_a_method_that_cannot_says_so():
    robot = sprung()
    assert methods.get("pinocchio").supports(robot) in (
        "pinocchio does not handle springs between bodies", "pinocchio is not installed"
    )  # fmt: skip
    with pytest.raises(UnsupportedError, match="lagrange-stewart"):
        methods.get("lagrange-stewart").prepare(robot)


@pytest.mark.parametrize("name", ["newton-euler", "denoc", "screw"])
def test_traced_code_has_them(name):
    """Frames of bodies must stay where the ends of springs expect them."""
    robot = sprung()
    q, v, a = robot.sample(3, seed=4)
    judge = methods.get("newton-euler").prepare(robot).inverse_dynamics(q, v, a)
    for code in ("generic", "traced"):
        found = methods.get(name).prepare(robot, code=code).inverse_dynamics(q, v, a)
        assert found == pytest.approx(judge, rel=1e-11, abs=1e-12 * np.abs(judge).max())


def test_canonical_momenta_says_why_not():
    assert "springs" in methods.get("canonical-momenta").supports(sprung())
