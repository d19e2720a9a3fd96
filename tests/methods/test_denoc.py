"""DeNOC on trees: against Newton-Euler, Pinocchio, its own identities; and virtual springs against each other."""

from __future__ import annotations

import numpy as np
import pytest
from round_trip import pinocchio_tree

from dynbench import methods, robots
from dynbench.methods.kernels import closure
from dynbench.methods.kernels.scalar import ONE
from dynbench.methods.virtual_spring_denoc import VirtualSpringDenoc
from dynbench.robots.errors import MethodError, UnsupportedError
from dynbench.robots.families.trees import KINDS, random_tree

N = 5
TREES = [
    random_tree(n, seed=seed, kinds=KINDS if seed % 3 else KINDS[:3], floating=seed % 2 == 0, massless=seed % 4 == 3)
    for seed, n in enumerate([1, 2, 3, 4, 5, 6, 8, 10, 12] * 2)
]


def relative(mine: np.ndarray, judge: np.ndarray) -> float:
    return float(np.abs(mine - judge).max() / max(1e-300, np.abs(judge).max()))


@pytest.fixture(params=TREES, ids=lambda robot: robot.name)
def robot(request):
    return request.param


def test_trees_agree_with_newton_euler(robot):
    ours, judge = (methods.get(name).prepare(robot) for name in ("denoc", "newton-euler"))
    q, v, a = robot.sample(N, seed=3)
    tau = judge.inverse_dynamics(q, v, a)
    assert relative(ours.inverse_dynamics(q, v, a), tau) < 1e-12
    assert relative(ours.mass_matrix(q), judge.mass_matrix(q)) < 1e-12
    assert relative(ours.reactions(q, v, a), judge.reactions(q, v, a)) < 1e-12
    assert relative(ours.forward_dynamics(q, v, tau), a) < 1e-9


def test_convective_matrix(robot):
    """C v is the bias without gravity, and dI/dt - 2 C is skew: not so with M' in place of Omega M, as printed."""
    solver = methods.get("denoc").prepare(robot)
    q, v, _ = robot.sample(N, seed=1, regime="slow")
    C = solver.coriolis_matrix(q, v)
    wanted = solver.bias(q, v) - solver.bias(q, 0.0 * v)
    assert np.abs(np.einsum("sij,sj->si", C, v) - wanted).max() < 1e-11 * (1.0 + np.abs(solver.bias(q, v)).max())
    h = 1e-5
    rate = (solver.mass_matrix(robot.integrate(q, h * v)) - solver.mass_matrix(robot.integrate(q, -h * v))) / (2.0 * h)
    skew = rate - 2.0 * C
    assert np.abs(skew + skew.transpose(0, 2, 1)).max() < 1e-7 * max(1.0, np.abs(solver.mass_matrix(q)).max())


def test_printed_convective_matrix_is_not_skew():
    """With M'_i = [omega] I - I [omega] the product with v is the same, but dI/dt - 2 C is not skew in space.

    One body on a ball joint, com at the joint: I is its inertia, Omega M gives C = [omega] I, M' gives
    [omega] I - I [omega]; in body axes the inertia is constant, so C itself would have to be skew.
    """
    J, w = np.diag([1.0, 2.0, 2.5]), np.array([0.3, -0.5, 0.7])
    cross = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    # inertial axes: dJ/dt = [w] J - J [w]
    rate = cross @ J - J @ cross
    right, printed = rate - 2.0 * (cross @ J), rate - 2.0 * (cross @ J - J @ cross)
    assert np.abs(right + right.T).max() < 1e-15
    assert np.abs(printed + printed.T).max() > 0.4
    assert (cross @ J - J @ cross) @ w == pytest.approx(cross @ J @ w, abs=1e-15)


def test_chains_agree_with_pinocchio():
    pin = pytest.importorskip("pinocchio")
    for seed in range(5):
        robot = robots.chain(6, seed=seed)
        model = pinocchio_tree(pin, robot)
        data = model.createData()
        solver = methods.get("denoc").prepare(robot)
        q, v, a = robot.sample(N, seed=seed)
        wanted = np.array([pin.rnea(model, data, *state) for state in zip(q, v, a, strict=True)])
        assert relative(solver.inverse_dynamics(q, v, a), wanted) < 1e-12
        back = np.array([pin.aba(model, data, *state) for state in zip(q, v, wanted, strict=True)])
        assert relative(solver.forward_dynamics(q, v, wanted), back) < 1e-9


def test_wrong_options_are_refused():
    with pytest.raises(MethodError, match="got 'magic'"):
        methods.get("denoc", loops_by="magic")
    with pytest.raises(MethodError, match="stiffness"):
        methods.get("virtual-spring-denoc", stiffness=-1.0)
    assert "no loops" in methods.get("virtual-spring-denoc").supports(robots.load("panda"))
    with pytest.raises(UnsupportedError, match="prestretch has 2 numbers, expected 6, one per loop row"):
        methods.get("virtual-spring-denoc", prestretch=(1.0, 2.0)).prepare(robots.load("3rrr"))


# ---------------------------------------------------------------------- virtual springs


def plain(method, robot, q, v, tau):
    """Forward dynamics by the plain Python reading of the kernel: nothing to compile for a few states."""
    out, work = np.empty(robot.nv), np.empty(method.work_size(robot, "forward_dynamics"))
    method.kernels["forward_dynamics"](ONE, method.pack(robot), q, v, tau, None, out, work)
    return out


def test_both_readings_of_virtual_springs_are_one_equation():
    robot = robots.load("3rrr")
    q, v, _ = robot.sample(4, seed=2)
    q = q + np.random.default_rng(0).normal(0.0, 0.02, q.shape)  # springs are about states off the loops
    tau = np.array([3.0, -2.0, 5.0])
    for s, stiffness in enumerate((1e2, 1e4, 1e6, 1e6)):
        options = {"stiffness": stiffness, "damping": 10.0 * s, "prestretch": (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)}
        one, two = (
            plain(methods.get(f"virtual-spring-{name}", **options), robot, q[s], v[s], tau)
            for name in ("denoc", "lagrange")
        )
        assert relative(one, two) < 1e-11


def test_springs_pull_their_ends_together_with_the_gradient_of_their_energy():
    robot = robots.load("3rrr")
    q = robot.sample(1, seed=4)[0][0] + 0.01 * np.arange(9)
    still, none = np.zeros(9), np.zeros(3)
    soft, stiff = VirtualSpringDenoc(stiffness=1.0), VirtualSpringDenoc(stiffness=1.0 + 1e3)
    pushed = plain(stiff, robot, q, still, none) - plain(soft, robot, q, still, none)
    tree = methods.get("denoc").kernels["mass_matrix"]
    M = np.empty(81)
    tree(ONE, methods.get("denoc").pack(robot), q, M, np.empty(25 * 10))
    h, gradient = 1e-6, np.empty(9)
    for i in range(9):
        ends = [0.5 * np.sum(robot.loop_residual(q + s * h * np.eye(9)[i]) ** 2) for s in (1.0, -1.0)]
        gradient[i] = (ends[0] - ends[1]) / (2.0 * h)
    assert relative(M.reshape(9, 9) @ pushed, -1e3 * gradient) < 1e-7


def test_prestretched_springs_start_with_the_right_acceleration():
    robot = robots.load("3rrr")
    q, v, a = robot.sample(1, seed=5)
    exact = methods.get("newton-euler").prepare(robot)
    tau, force = exact.inverse_dynamics(q, v, a), exact.multipliers(q, v, a)
    method = VirtualSpringDenoc(stiffness=1e5, prestretch=tuple(force[0]))
    assert relative(plain(method, robot, q[0], v[0], tau[0]), a[0]) < 1e-10
    assert relative(plain(VirtualSpringDenoc(stiffness=1e5), robot, q[0], v[0], tau[0]), a[0]) > 0.01


def test_layout_of_the_loop_model_is_what_it_says():
    robot = robots.load("3rrr")
    model = VirtualSpringDenoc(stiffness=7.0, damping=3.0).pack(robot)
    start = int(model[closure.METHOD])
    assert model[start : start + 8].tolist() == [7.0, 3.0, *[0.0] * 6]
