"""Closed loops of any mechanism through the shared projection and through DeNOC, and which states are refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from looped import doubled_parallelogram, every_way, projected, relative, solver

from dynbench import methods, robots
from dynbench.methods.kernels import closure, projection
from dynbench.methods.kernels.scalar import ONE
from dynbench.methods.loops import around
from dynbench.robots import Body, Loop, Revolute, Robot, StateError
from dynbench.robots.errors import NotComputedError, UnsupportedError


@every_way
@pytest.mark.parametrize("make", [robots.five_bar, robots.delta, robots.four_bar, doubled_parallelogram])
def test_other_mechanisms(way, make):
    robot = make()
    solve = solver(way, robot) if make is not robots.delta or "multipliers" not in way else solver(way, heavy_delta())
    robot = solve.robot
    q, v, a = robot.sample(9, seed=4)
    tau = solve.inverse_dynamics(q, v, a)
    assert relative(tau, projected(robot, q, v, a)) < 1e-10
    assert relative(solve.forward_dynamics(q, v, tau), a) < 1e-9
    # tau = M a_act + bias, M symmetric positive definite
    M, h = solve.mass_matrix(q), solve.bias(q, v)
    assert relative(np.einsum("sij,sj->si", M, a[:, robot.actuated]) + h, tau) < 1e-9
    assert np.linalg.eigvalsh(M).min() > 0.0
    # power of the actuators is the rate of the energy
    dt = 1e-5
    ahead, behind = (robot.project(robot.integrate(q, s * dt * v + 0.5 * dt**2 * a)) for s in (1.0, -1.0))
    va, vb = (robot.project(x, v + s * dt * a)[1] for s, x in ((1.0, ahead), (-1.0, behind)))
    rate = (robot.energy(ahead, va) - robot.energy(behind, vb)) / (2.0 * dt)
    power = np.einsum("sj,sj->s", tau, v[:, robot.actuated])
    assert np.abs(rate - power).max() < 1e-5 * np.abs(power).max()


def heavy_delta() -> Robot:
    """The delta robot with inertia in the crosses, so that its spanning tree can be inverted."""
    delta = robots.delta()
    mass, inertia = delta.mass.copy(), delta.inertia.copy()
    for i, name in enumerate(delta.body_names):
        if name.startswith(("cross", "slide")):
            mass[i], inertia[i] = 0.1, 1e-3 * np.eye(3)
    return dataclasses.replace(delta, mass=mass, inertia=inertia)


@pytest.mark.parametrize("name", ["newton-euler", "kane", "gibbs-appell", "lagrange-euler", "denoc"])
@pytest.mark.parametrize("make", [robots.planar_3rrr, robots.delta])
def test_every_tree_method_does_loops_through_the_one_projection(name, make):
    """The plain Python reading: torques, and back to the accelerations."""
    method, robot = methods.get(name), make()
    assert method.loops
    assert method.supports(robot) is None
    home, tree = type(method).__module__, {f"tree_{name}": kernel for name, kernel in method.kernels.items()}
    inverse = around(projection.inverse_dynamics, home, tree_inverse_dynamics=tree["tree_inverse_dynamics"])
    forward = around(projection.forward_dynamics, home, **tree)
    model = closure.pack(robot, method.pack(robot), robot.loop_analysis.independent)
    size = max(method.work_size(robot, quantity) for quantity in method.kernels)
    work = np.full(closure.layout(robot, robot.loop_analysis.rank)[-1] + size, np.nan)
    q, v, a = robot.sample(2, seed=6)
    for s in range(2):
        tau, back = np.empty(3), np.empty(robot.nv)
        inverse(ONE, model, q[s], v[s], a[s], None, tau, work)
        assert relative(tau, projected(robot, q[s : s + 1], v[s : s + 1], a[s : s + 1])[0]) < 1e-10
        if "mass_matrix" in method.kernels:
            forward(ONE, model, q[s], v[s], tau, None, back, work)
            assert relative(back, a[s]) < 1e-10


def test_external_wrenches_reach_the_actuators():
    robot = robots.load("five-bar")
    solve = solver("newton-euler", robot)
    q, v, a = robot.sample(5, seed=1)
    wrench = np.random.default_rng(0).normal(size=(5, robot.n, 6))
    tau = solve.inverse_dynamics(q, v, a, wrench=wrench)
    # virtual work: what the wrenches do for a motion on the loops, the actuators need not
    from dynbench.robots.kinematics import velocities

    less = solve.inverse_dynamics(q, v, a) - tau
    power = np.einsum("sbk,sbk->s", wrench, velocities(robot, q, v))
    assert np.einsum("sj,sj->s", less, v[:, robot.actuated]) == pytest.approx(power, rel=1e-10)


def test_reactions_of_redundant_loops_are_absent():
    solve = solver("newton-euler", doubled_parallelogram())
    for quantity in ("reactions", "multipliers"):
        with pytest.raises(NotComputedError, match=quantity):
            getattr(solve, quantity)


def test_massless_legs_are_beyond_multipliers_but_not_beyond_elimination():
    bodies = [
        Body(name="crank", joint=Revolute([0, 0, 1]), mass=1.0, com=[0.2, 0, 0], inertia=[0.1, 0.1, 0.1]),
        Body(name="rod", parent="crank", joint=Revolute([0, 0, 1]), placement=(np.eye(3), [0.4, 0, 0])),
        Body(name="rocker", joint=Revolute([0, 0, 1]), placement=(np.eye(3), [1, 0, 0]), mass=1.0, inertia=[0.1] * 3),
    ]
    loop = Loop(body1="rocker", body2="rod", placement1=(np.eye(3), [0.8, 0, 0]), placement2=(np.eye(3), [0.9, 0, 0]),
                closes=(True, True, False, False, False, False))  # fmt: skip
    robot = Robot.from_bodies("light", bodies, loops=[loop], actuated=["crank"], home=[1.1, -0.6, 1.6])
    q, v, a = robot.sample(4)
    solve = solver("denoc, elimination", robot)
    assert relative(solve.forward_dynamics(q, v, solve.inverse_dynamics(q, v, a)), a) < 1e-10
    with pytest.raises(UnsupportedError, match="its loops need loops_by='elimination'"):
        solver("denoc, multipliers", robot)


@every_way
def test_states_off_the_loops_are_refused(way):
    robot = robots.load("five-bar")
    solve = solver(way, robot)
    q, v, a = robot.sample(11, seed=2)
    tau = solve.inverse_dynamics(q, v, a)
    bent = q.copy()
    bent[7] += 1e-4
    with pytest.raises(StateError, match=r"q\[7\] is off the loops of robot 'five-bar': the loops are open by"):
        solve.inverse_dynamics(bent, v, a)
    if way == "newton-euler":  # one state is another compilation
        with pytest.raises(StateError, match="v is off the loops"):
            solve.inverse_dynamics(q[0], v[0] + [0, 1e-3, 0, 0], a[0])
        assert relative(solve.inverse_dynamics(q[0], v[0], a[0]), tau[0]) < 1e-13
    with pytest.raises(StateError, match=r"a\[0\] is off the loops"):
        solve.inverse_dynamics(q, v, 0.0 * a)
    with pytest.raises(StateError, match=r"v\[0\] is off the loops"):
        solve.forward_dynamics(q, v + 1.0, tau)
    bent[7] += 0.1
    with pytest.raises(StateError, match=r"q\[7\] is off the loops of robot 'five-bar': the loops are open by 0.0"):
        solve.forward_dynamics(bent, v, tau)


def test_a_singular_configuration_is_refused():
    robot = robots.load("five-bar")
    # couplers in line: cranks straight up, couplers towards each other, 2 * 0.35 apart
    bar = robots.five_bar(ground=0.7)
    q = np.array([np.pi / 2, -np.pi / 2, np.pi / 2, np.pi / 2])
    assert np.abs(bar.loop_residual(q)).max() < 1e-15
    with pytest.raises(StateError, match="q is a singular configuration of robot 'five-bar'"):
        solver("newton-euler", bar).inverse_dynamics(q, np.zeros(4), np.zeros(4))
    assert robot.loop_analysis.dof == 2
