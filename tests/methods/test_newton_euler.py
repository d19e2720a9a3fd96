"""Newton-Euler against closed forms, against the identities that dynamics obeys, and against its own plain reading."""

from __future__ import annotations

import numpy as np
import pytest
from round_trip import close

from dynbench import methods
from dynbench.methods.kernels.linear import mirror
from dynbench.methods.kernels.scalar import ONE
from dynbench.methods.newton_euler import NewtonEuler
from dynbench.robots import kinematics, quaternion
from dynbench.robots.body import Body
from dynbench.robots.families.trees import KINDS, pendulum, random_tree, two_link
from dynbench.robots.joints import Free, Spherical
from dynbench.robots.robot import Robot

g = 9.81
N = 5

# Trees of 1 to 12 bodies with every kind of joint; free bases, free bodies in the middle, massless bodies
TREES = [
    random_tree(n, seed=seed, kinds=KINDS if seed % 3 else KINDS[:3], floating=seed % 2 == 0, massless=seed % 4 == 3)
    for seed, n in enumerate([1, 2, 3, 4, 5, 6, 8, 10, 12])
]


@pytest.fixture(params=TREES, ids=lambda robot: robot.name)
def robot(request):
    return request.param


@pytest.fixture
def solver(robot):
    return NewtonEuler().prepare(robot)


def wrenches(robot, seed=0):
    return np.random.default_rng(seed).standard_normal((N, robot.n, 6)) * 10


# Closed forms ------------------------------------------------------------------------------------------------------


def test_pendulum():
    m, l, I = 1.3, 0.7, 0.05
    solver = NewtonEuler().prepare(pendulum(length=l, mass=m, inertia=I))
    q, v, a = np.random.default_rng(0).standard_normal((3, N, 1))
    tau = (m * l**2 + I) * a + m * g * l * np.sin(q)
    np.testing.assert_allclose(solver.inverse_dynamics(q, v, a), tau, rtol=1e-14)
    np.testing.assert_allclose(solver.forward_dynamics(q, v, tau), a, rtol=1e-12)
    np.testing.assert_allclose(solver.mass_matrix(q)[:, 0], (m * l**2 + I) * np.ones_like(q), rtol=1e-14)


def test_two_link_arm():
    (l1, _), (m1, m2), (c1, c2), (I1, I2) = lengths, masses, coms, inertias = (
        (0.8, 0.6),
        (2.0, 1.5),
        (0.3, 0.4),
        (0.1, 0.2),
    )
    solver = NewtonEuler().prepare(two_link(lengths, masses, coms, inertias))
    q, v, a = np.random.default_rng(1).standard_normal((3, N, 2))
    cos2, sin2 = np.cos(q[:, 1]), np.sin(q[:, 1])
    M11 = I1 + I2 + m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * cos2)
    M12 = I2 + m2 * (c2**2 + l1 * c2 * cos2)
    M22 = I2 + m2 * c2**2
    h = m2 * l1 * c2 * sin2
    g2 = m2 * g * c2 * np.cos(q[:, 0] + q[:, 1])
    g1 = (m1 * c1 + m2 * l1) * g * np.cos(q[:, 0]) + g2
    tau1 = M11 * a[:, 0] + M12 * a[:, 1] - h * (2 * v[:, 0] * v[:, 1] + v[:, 1] ** 2) + g1
    tau2 = M12 * a[:, 0] + M22 * a[:, 1] + h * v[:, 0] ** 2 + g2
    tau = np.column_stack([tau1, tau2])
    np.testing.assert_allclose(solver.inverse_dynamics(q, v, a), tau, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(solver.forward_dynamics(q, v, tau), a, rtol=1e-11, atol=1e-12)


def test_a_rigid_body_in_free_fall_obeys_euler():
    I, gravity = np.array([0.3, 0.5, 0.7]), np.array([0.4, -1.0, -9.0])
    body = Body(name="stone", joint=Free(), mass=2.0, inertia=np.diag(I))
    robot = Robot.from_bodies("stone", [body], gravity=gravity)
    q, v, _ = robot.sample(N, seed=2)
    linear, w = v[:, :3], v[:, 3:]
    falling = np.einsum("kji,j->ki", kinematics.poses(robot, q)[0][:, 0], gravity) - np.cross(w, linear)
    turning = -np.cross(w, I * w) / I
    a = NewtonEuler().prepare(robot).forward_dynamics(q, v, np.zeros((N, 6)))
    np.testing.assert_allclose(a, np.hstack([falling, turning]), rtol=1e-13, atol=1e-13)


def test_a_spinning_top_precesses_steadily():
    """At the spin w3 for which m g l = I3 w3 W - I1 W^2 cos(tilt), a top keeps its tilt and turns at the rate W."""
    m, l, I1, I3, tilt, W = 0.5, 0.2, 0.004, 0.002, 0.6, 3.0
    body = Body(name="top", joint=Spherical(), mass=m, com=[0, 0, l], inertia=np.diag([I1, I1, I3]))
    robot = Robot.from_bodies("top", [body], gravity=[0, 0, -g])
    spin = (m * g * l + (I1 + m * l**2) * W**2 * np.cos(tilt)) / (I3 * W)  # total, about its own axis
    q = np.array([np.sin(tilt / 2), 0, 0, np.cos(tilt / 2)])
    up = quaternion.matrix(q).T @ [0, 0, 1]
    w = W * up + [0, 0, spin - W * np.cos(tilt)]
    a = NewtonEuler().prepare(robot).forward_dynamics(q[None], w[None], np.zeros((1, 3)))[0]
    # the vertical, seen from the body, turns backwards: d(up)/dt = -w x up
    np.testing.assert_allclose(a, -W * np.cross(w, up), rtol=1e-12, atol=1e-12)


# Identities --------------------------------------------------------------------------------------------------------


def test_columns_of_inverse_dynamics_are_the_mass_matrix(robot, solver):
    q, v, _ = robot.sample(N, seed=1)
    M = solver.mass_matrix(q)
    bias = solver.bias(q, v)
    for k in range(robot.nv):
        unit = np.broadcast_to(np.eye(robot.nv)[k], (N, robot.nv))
        assert close(solver.inverse_dynamics(q, v, unit) - bias, M[:, :, k], 1e-11), k


def test_the_mass_matrix_is_symmetric_and_holds_the_kinetic_energy(robot, solver):
    q, v, _ = robot.sample(N, seed=2)
    M = solver.mass_matrix(q)
    np.testing.assert_array_equal(M, M.transpose(0, 2, 1))
    assert (np.linalg.eigvalsh(M) > 0).all()
    kinetic = 0.5 * np.einsum("ki,kij,kj->k", v, M, v)
    np.testing.assert_allclose(kinetic, kinematics.kinetic_energy(robot, q, v), rtol=1e-12)


def test_the_mass_matrix_keeps_its_digits_far_from_the_origin():
    """A free base a kilometre away moves with the inertia it has at home; Pinocchio, if it is there, agrees."""
    robot = random_tree(9, seed=4, kinds=KINDS[:3], floating=True)
    solver = NewtonEuler().prepare(robot)
    home = robot.sample(N, seed=9)[0]
    far = home.copy()
    far[:, :3] += [600.0, -800.0, 100.0]
    M = solver.mass_matrix(far)
    np.testing.assert_array_equal(M, solver.mass_matrix(home))
    pytest.importorskip("pinocchio")
    assert close(M, methods.get("pinocchio").prepare(robot).mass_matrix(far))


def test_forward_undoes_inverse(robot, solver):
    q, v, a = robot.sample(N, seed=3)
    wrench = wrenches(robot)
    tau = solver.inverse_dynamics(q, v, a, wrench=wrench)
    condition = np.linalg.cond(solver.mass_matrix(q)).max()
    assert close(solver.forward_dynamics(q, v, tau, wrench=wrench), a, 1e-14 * condition)


def test_power_equals_the_rate_of_energy(robot, solver):
    q, v, a = robot.sample(N, seed=4)
    power = (solver.inverse_dynamics(q, v, a) * v).sum(axis=1)
    h = 1e-5
    ahead = robot.energy(robot.integrate(q, h * v), v + h * a)
    behind = robot.energy(robot.integrate(q, -h * v), v - h * a)
    assert close(power, (ahead - behind) / (2 * h), 1e-7)


def test_external_wrenches_do_the_work_of_their_bodies_twists(robot, solver):
    q, v, a = robot.sample(N, seed=5)
    wrench = wrenches(robot)
    saved = ((solver.inverse_dynamics(q, v, a) - solver.inverse_dynamics(q, v, a, wrench=wrench)) * v).sum(axis=1)
    work = (wrench * kinematics.velocities(robot, q, v)).sum(axis=(1, 2))
    assert close(saved, work, 1e-11)


def test_reactions_along_the_freedoms_are_the_joint_forces(robot, solver):
    q, v, a = robot.sample(N, seed=6)
    wrench = wrenches(robot)
    tau, reactions = solver.inverse_dynamics(q, v, a, wrench=wrench), solver.reactions(q, v, a, wrench=wrench)
    axes = [kinematics.joint_motion(robot, i, q)[2] for i in range(robot.n)]
    along = np.hstack([np.einsum("kc,kcf->kf", reactions[:, i], S) for i, S in enumerate(axes)])
    assert close(along, tau)


def test_reactions_at_the_ground_balance_the_change_of_momentum(robot, solver):
    q, v, a = robot.sample(N, seed=7)
    wrench = wrenches(robot)
    R, p = kinematics.poses(robot, q)

    def in_world(six):
        """Sum over bodies of wrenches in body axes, about the world's origin."""
        force = np.einsum("kbij,kbj->kbi", R, six[..., :3])
        moment = np.einsum("kbij,kbj->kbi", R, six[..., 3:]) + np.cross(p, force)
        return np.concatenate([force, moment], axis=-1)

    given = in_world(wrench).sum(axis=1)
    given += in_world(solver.reactions(q, v, a, wrench=wrench))[:, robot.parent < 0].sum(axis=1)
    weight = robot.mass.sum() * robot.gravity
    given += np.hstack([np.broadcast_to(weight, (N, 3)), np.cross(kinematics.com(robot, q), weight)])
    h = 1e-5
    ahead = kinematics.momentum(robot, robot.integrate(q, h * v), v + h * a)
    behind = kinematics.momentum(robot, robot.integrate(q, -h * v), v - h * a)
    assert close(given, (ahead - behind) / (2 * h), 1e-7)


# Readings ----------------------------------------------------------------------------------------------------------


def test_plain_python_and_one_lane_and_pack_agree():
    robot = TREES[4]
    solver = NewtonEuler().prepare(robot)
    q, v, a = robot.sample(N, seed=8)
    method = NewtonEuler()
    for quantity, kernel in method.kernels.items():
        state = (q,) if quantity == "mass_matrix" else (q, v, a)
        packed = solver.whole(quantity)(*state)
        single = solver.whole(quantity)(*(x[0] for x in state))
        plain = np.zeros(single.size)
        work = np.full(method.work_size(robot, quantity), np.nan)
        kernel(ONE, solver.model, *(x[0] for x in state), *([None] if len(state) > 1 else []), plain, work)
        if quantity == "mass_matrix":
            mirror(ONE, plain, 0, robot.nv)
        tolerance = 1e-10 if quantity.startswith("forward_dynamics") else 1e-13
        assert close(packed[0].ravel(), plain, tolerance), quantity
        assert close(single.ravel(), plain, tolerance), quantity
