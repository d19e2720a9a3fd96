"""Boltzmann-Hamel: two forms of one formulation against others, closed forms and the definitions of its terms."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.methods.boltzmann_hamel import KERNELS, BoltzmannHamel
from dynbench.methods.kernels.scalar import ONE
from dynbench.robots import (
    ArmLink,
    Body,
    Free,
    Robot,
    StateError,
    kinematics,
    quaternion,
    random_space_manipulator,
    random_tree,
    space_manipulator,
)
from dynbench.robots.errors import UnknownNameError, UnsupportedError
from dynbench.robots.files import example_models

FORMS = tuple(KERNELS)
ROBOTS, BLOCKS = 400, 8
LIMITS = {"inverse": 1e-12, "wrenches": 1e-12, "mass matrix": 1e-12, "bias": 1e-12, "forward": 1e-9}


def solvers(robot: Robot) -> dict:
    return {form: BoltzmannHamel(form).prepare(robot) for form in FORMS}


def error(found, right) -> float:
    return float(np.abs(found - right).max() / np.abs(right).max())


def at(function, *state, **keywords):
    """Call with one state as a batch: every lane width a kernel is compiled for takes seconds."""
    return function(*(x[None] for x in state), **keywords)[0]


def others(robot: Robot) -> dict:
    """The formulations to agree with, those that are there."""
    there = [methods.get(name) for name in ("newton-euler", "gibbs-appell", "pinocchio") if name in methods.names()]
    return {method.name: method.prepare(robot) for method in there if method.supports(robot) is None}


def differences(ours, theirs, state, wrench) -> dict[str, float]:
    q, v, a = state
    tau = theirs.inverse_dynamics(q, v, a)
    return {
        "inverse": error(ours.inverse_dynamics(q, v, a), tau),
        "wrenches": error(ours.inverse_dynamics(q, v, a, wrench), theirs.inverse_dynamics(q, v, a, wrench)),
        "mass matrix": error(ours.mass_matrix(q), theirs.mass_matrix(q)),
        "bias": error(ours.bias(q, v), theirs.bias(q, v)),
        "forward": error(ours.forward_dynamics(q, v, tau), a),
        "forward, wrenches": error(
            ours.forward_dynamics(q, v, theirs.inverse_dynamics(q, v, a, wrench), wrench), a
        ),
    }


def assert_agreement(robot: Robot, seed: int = 0, states: int = 3) -> None:
    state = robot.sample(states, seed)
    wrench = np.random.default_rng(seed).normal(0.0, 5.0, (states, robot.n, 6))
    judges = others(robot)
    assert "newton-euler" in judges
    for form, ours in solvers(robot).items():
        for name, theirs in judges.items():
            for what, found in differences(ours, theirs, state, wrench).items():
                limit = LIMITS.get(what, LIMITS["forward"])
                assert found < limit, f"{robot.name}, seed {seed}: {what} of {form} and {name} differ by {found:.1e}"


@pytest.mark.parametrize("block", [0, *(pytest.param(k, marks=pytest.mark.long) for k in range(1, BLOCKS))])
def test_random_space_robots_agree(block: int) -> None:
    """1 to 4 arms, 1 to 5 links, joints of 1, 2 and 3 freedoms, oblique axes, full inertias, turned zero poses."""
    for seed in range(block, ROBOTS, BLOCKS):
        rng = np.random.default_rng(seed)
        links = rng.integers(1, 6, size=rng.integers(1, 5)).tolist()
        assert_agreement(random_space_manipulator(arms=len(links), links=links, seed=seed), seed)


def test_fixed_bases_branches_gravity_and_offset_bases_agree() -> None:
    for seed in range(24):
        floating = seed % 2 == 0  # otherwise several bodies may hang on the ground
        robot = random_tree(
            1 + seed % 12, seed=seed, kinds=("revolute", "spherical"), floating=floating, massless=seed % 3 == 0
        )
        assert robot.gravity.all()
        assert_agreement(robot, seed)


@pytest.mark.parametrize("name", ["panda", "chain-20", "tree-15", "pendulum", "space-dual-arm-parallel"])
def test_robots_of_the_zoo_agree(name: str) -> None:
    assert_agreement(robots.load(name))


@pytest.mark.skipif("talos" not in example_models.names(), reason="needs example-robot-data")
def test_a_humanoid_agrees() -> None:
    assert_agreement(robots.load("talos"))


# ---------------------------------------------------------------------- closed forms


@pytest.mark.parametrize("form", FORMS)
def test_a_free_body_obeys_newton_and_euler(form: str) -> None:
    """Equations (1) and (2)."""
    inertia = robots.random_inertia(np.random.default_rng(0), 3.0)
    body = Body(name="base", joint=Free(), mass=3.0, inertia=inertia)
    robot = Robot.from_bodies("body", [body], gravity=[0, 0, 0])
    q, v, a = (x[0] for x in robot.sample(1))
    V, omega, V_dot, omega_dot = v[:3], v[3:], a[:3], a[3:]
    F = 3.0 * (V_dot + np.cross(omega, V))
    M = inertia @ omega_dot + np.cross(omega, inertia @ omega)
    found = at(BoltzmannHamel(form).prepare(robot).inverse_dynamics, q, v, a)
    np.testing.assert_allclose(found, [*F, *M], rtol=1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_the_papers_robot_at_rest(form: str) -> None:
    """Mass matrix, generalized forces and accelerations at t = 0, arms opposed along z, by hand."""
    robot = robots.load("space-dual-arm")
    solver, q, v = BoltzmannHamel(form).prepare(robot), robot.neutral(), np.zeros(18)
    per_arm = [163.4615, 163.4615, 0.152, 20.4615, 20.4615, 0.076]
    diagonal = [645.08] * 3 + [1533.276, 1533.276, 900.304] + per_arm * 2
    np.testing.assert_allclose(np.diag(at(solver.mass_matrix, q)), diagonal, rtol=2e-5)
    wrench = np.zeros((5, 6))
    for body, force, tip in ((2, [1, -1, 1], 1.0), (4, [2, -2, -2], -1.0)):
        wrench[body] = [*force, *np.cross([0, 0, tip], force)]
    pushed = [3, -3, -1, -2.5, -2.5, 0, 2, 2, 0, 1, 1, 0, -4, -4, 0, -2, -2, 0]
    np.testing.assert_allclose(-at(solver.inverse_dynamics, q, v, v, wrench=wrench), pushed, atol=1e-13)
    moved = [0.000972337, -0.000972337, -0.001550195, -0.000077597, -0.000077597, 0,
             -0.014984018, -0.014984018, 0, 0.085086472, 0.085086472, 0,
             0.029102085, 0.029102085, 0, -0.168710683, -0.168710683, 0]  # fmt: skip
    np.testing.assert_allclose(at(solver.forward_dynamics, q, v, v, wrench=wrench), moved, atol=6e-10)


# ---------------------------------------------------------------------- identities


@pytest.mark.parametrize("form", FORMS)
def test_arms_are_decoupled_exactly_and_M_is_positive_definite(form: str) -> None:
    robot = random_space_manipulator(arms=3, links=3, seed=4)
    M = BoltzmannHamel(form).prepare(robot).mass_matrix(robot.sample(50)[0])
    arms = [[k for i, k in enumerate(robot.iv) if robot.body_names[i].startswith(f"arm{a}")] for a in (1, 2, 3)]
    edges = [arm[0] for arm in arms] + [robot.nv]
    for a in range(3):
        for b in range(3):
            block = M[:, edges[a] : edges[a + 1], edges[b] : edges[b + 1]]
            assert np.all(block == 0.0) == (a != b)
    assert np.array_equal(M, M.transpose(0, 2, 1))
    assert np.linalg.eigvalsh(M)[:, 0].min() > 0.0


@pytest.mark.parametrize("form", FORMS)
def test_M_v_are_the_momenta(form: str) -> None:
    """dK/dV0 is the linear momentum, dK/domega0 the angular momentum about the base's centre of mass; K = v'Mv/2."""
    robot = random_space_manipulator(arms=2, links=3, seed=1)
    for q, v in zip(*robot.sample(5)[:2], strict=True):
        momenta = at(BoltzmannHamel(form).prepare(robot).mass_matrix, q) @ v
        R, total = quaternion.matrix(q[3:7]), kinematics.momentum(robot, q, v)
        about_base = total[3:] - np.cross(q[:3], total[:3])
        np.testing.assert_allclose(R @ momenta[:3], total[:3], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(R @ momenta[3:6], about_base, rtol=1e-12, atol=1e-12)
        assert 0.5 * v @ momenta == pytest.approx(kinematics.kinetic_energy(robot, q, v), rel=1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_joints_with_two_axes_take_the_components_of_21_along_them(form: str) -> None:
    """H^T of a spherical joint's moment at omega = H eta; without (dH/dt) eta it is wrong."""
    axes = np.array([[0.0, 0.0, 1.0], [0.6, 0.0, 0.8]])
    inertia = robots.random_inertia(np.random.default_rng(2), 2.0)
    rod = {"mass": 2.0, "inertia": inertia, "to_joint": [0.2, 0.1, 0.4], "to_com": [0.1, 0.3, 0.2]}
    two, three = (space_manipulator(5.0, [1, 2, 2.5], [[ArmLink(**rod, axes=x)]]) for x in (axes, None))
    q, v, a = (x[0] for x in two.sample(1, seed=3))
    inner, outer = (quaternion.exponential(angle * axis) for angle, axis in zip(q[7:], axes, strict=True))
    first = quaternion.rotate(quaternion.conjugate(outer), axes[0])
    H = np.column_stack([first, axes[1]])
    H_dot_eta = -v[6] * v[7] * np.cross(axes[1], first)
    tau = at(BoltzmannHamel(form).prepare(two).inverse_dynamics, q, v, a)

    def projected(extra):
        ball = (np.append(q[:7], quaternion.multiply(inner, outer)), np.append(v[:6], H @ v[6:]))
        forces = at(BoltzmannHamel(form).prepare(three).inverse_dynamics, *ball, np.append(a[:6], H @ a[6:] + extra))
        return np.append(forces[:6], H.T @ forces[6:])

    assert error(projected(H_dot_eta), tau) < 1e-13
    assert error(projected(np.zeros(3)), tau) > 1e-3


@pytest.mark.parametrize("form", FORMS)
def test_joint_torques_do_not_move_the_whole_robot(form: str) -> None:
    """Momentum is conserved when only joints push: (19), (20) with F0 = M0 = 0."""
    robot = random_space_manipulator(arms=2, links=2, seed=8)
    solver = BoltzmannHamel(form).prepare(robot)
    q, v, tau = (x[0] for x in robot.sample(1))
    tau[:6] = 0.0
    a, h = at(solver.forward_dynamics, q, v, tau), 1e-5
    before, after = (
        kinematics.momentum(robot, robot.integrate(q, s * h * v), v + s * h * a) for s in (-1.0, 1.0)
    )
    assert np.abs(after - before).max() / (2 * h) < 1e-6 * np.abs(tau).max()


# ---------------------------------------------------------------------- running and refusing


@functools.cache
def mixed() -> Robot:
    return random_space_manipulator(arms=2, links=[3, 2], seed=11)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
def test_the_plain_source_gives_the_compiled_numbers(form: str, quantity: str) -> None:
    robot, method = mixed(), BoltzmannHamel(form)
    q, v, a = (x[0] for x in robot.sample(1))
    out, work = np.empty(robot.nv), np.full(method.work_size(robot, quantity), np.nan)
    method.kernels[quantity](ONE, method.pack(robot), q, v, a, None, out, work)
    assert error(at(getattr(method.prepare(robot), quantity), q, v, a), out) < 1e-12


def test_an_unknown_form_is_named_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match="no form 'momenta'; did you mean 'momentum'"):
        methods.get("boltzmann-hamel", form="momenta")
    assert methods.get("boltzmann-hamel").form == "momentum"
    assert (BoltzmannHamel("momentum").cost, BoltzmannHamel("recursions").cost) == ("O(n)", "O(n^2) an arm")


def test_the_papers_recursions_are_a_method_of_their_own() -> None:
    recursions = methods.get("boltzmann-hamel-recursions")
    assert (recursions.name, recursions.cost) == ("boltzmann-hamel-recursions", "O(n^2) an arm")
    assert recursions.kernels == BoltzmannHamel("recursions").kernels
    with pytest.raises(UnknownNameError, match="has the form 'recursions' only, got 'momentum'"):
        methods.get("boltzmann-hamel-recursions", form="momentum")


def test_robots_out_of_reach_are_refused_with_the_reason() -> None:
    method = methods.get("boltzmann-hamel")
    sliding = random_tree(3, kinds=("prismatic",))
    assert method.supports(sliding) == "its joints only turn, and joint 'body1' is prismatic"
    assert "only a base floats" in method.supports(random_tree(4, kinds=("revolute", "free")))
    assert method.supports(robots.load("space-dual-arm")) is None
    with pytest.raises(UnsupportedError, match=r"cannot do robot .* prismatic"):
        method.prepare(sliding)


@pytest.mark.parametrize("form", FORMS)
def test_bad_states_are_refused_by_name(form: str) -> None:
    robot = robots.load("space-dual-arm")
    solver = BoltzmannHamel(form).prepare(robot)
    q, v = robot.neutral(), np.zeros(18)
    bent = q.copy()
    bent[6] = 1.1
    with pytest.raises(StateError, match=r"quaternion .* of joint 'base' .* has length 1\.1, expected 1"):
        solver.inverse_dynamics(bent, v, v)
    with pytest.raises(StateError, match=r"wrench has shape \(6,\), robot 'space-dual-arm' needs \(5, 6\)"):
        solver.forward_dynamics(q, v, v, wrench=np.zeros(6))
    with pytest.raises(StateError, match=r"a\[2\] is nan"):
        solver.inverse_dynamics(q, v, np.where(np.arange(18) == 2, np.nan, 0.0))
