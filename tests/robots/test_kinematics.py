"""Poses, twists, momentum and energy: closed forms, finite differences, Pinocchio."""

import numpy as np
import pytest

from dynbench import robots
from dynbench.robots import kinematics
from dynbench.robots.errors import StateError

EVERY_KIND = ("free", "spherical", "revolute", "prismatic")


def random_robots():
    """Trees with every joint type, on the ground and floating, with and without massless bodies."""
    for seed in range(6):
        floating, massless = seed % 2 == 1, seed % 3 == 2
        yield robots.random_tree(10, seed=seed, kinds=EVERY_KIND, floating=floating, massless=massless)


ROBOTS = list(random_robots())
every_robot = pytest.mark.parametrize("robot", ROBOTS, ids=[robot.name for robot in ROBOTS])


# ---------------------------------------------------------------------- closed forms


def test_pendulum():
    length, mass, inertia, q, v = 0.7, 2.0, 0.3, 0.4, 1.5
    robot = robots.pendulum(length, mass, inertia)
    kinetic = 0.5 * (mass * length**2 + inertia) * v**2
    assert kinematics.kinetic_energy(robot, [q], [v]) == pytest.approx(kinetic, rel=1e-14)
    assert robot.energy([q], [v]) == pytest.approx(kinetic - mass * 9.81 * length * np.cos(q), rel=1e-14)
    np.testing.assert_allclose(
        kinematics.com(robot, [q]), [length * np.sin(q), 0, -length * np.cos(q)], atol=1e-15
    )
    momentum = mass * length * v * np.array([np.cos(q), 0, np.sin(q)])
    np.testing.assert_allclose(kinematics.momentum(robot, [q], [v])[:3], momentum, atol=1e-14)
    spin = -(mass * length**2 + inertia) * v  # about -y
    np.testing.assert_allclose(kinematics.momentum(robot, [q], [v])[3:], [0, spin, 0], atol=1e-14)


def test_two_link_is_the_textbook_arm():
    l1, q, v = 0.8, np.array([0.3, 0.5]), np.array([1.1, -0.6])
    m, c, inertia = (2.0, 1.5), (0.3, 0.2), (0.05, 0.04)
    robot = robots.two_link(lengths=(l1, 0.6), masses=m, coms=c, inertias=inertia)
    m11 = inertia[0] + inertia[1] + m[0] * c[0] ** 2
    m11 += m[1] * (l1**2 + c[1] ** 2 + 2 * l1 * c[1] * np.cos(q[1]))
    m12 = inertia[1] + m[1] * (c[1] ** 2 + l1 * c[1] * np.cos(q[1]))
    m22 = inertia[1] + m[1] * c[1] ** 2
    kinetic = 0.5 * v @ np.array([[m11, m12], [m12, m22]]) @ v
    assert kinematics.kinetic_energy(robot, q, v) == pytest.approx(kinetic, rel=1e-13)
    height = m[0] * c[0] * np.sin(q[0]) + m[1] * (l1 * np.sin(q[0]) + c[1] * np.sin(q.sum()))
    assert kinematics.potential_energy(robot, q) == pytest.approx(9.81 * height, rel=1e-13)


def test_free_body_twist_is_its_v():
    robot = robots.random_tree(1, seed=1, kinds=("free",))
    Q, V, _ = robot.sample(5)
    np.testing.assert_allclose(kinematics.velocities(robot, Q, V)[:, 0], V, atol=1e-14)


# ---------------------------------------------------------------------- identities by finite differences


@every_robot
def test_velocities_are_the_rate_of_poses(robot):
    Q, V, _ = robot.sample(8, seed=1)
    h = 1e-6
    (R0, p0), (R1, p1) = (kinematics.poses(robot, robot.integrate(Q, s * h * V)) for s in (-1, 1))
    R, _ = kinematics.poses(robot, Q)
    twist = kinematics.velocities(robot, Q, V, axes="world")
    scale = np.abs(twist).max()
    np.testing.assert_allclose((p1 - p0) / (2 * h), twist[..., :3], atol=1e-7 * scale)
    R_dot = (R1 - R0) / (2 * h)
    spin = R_dot @ np.swapaxes(R, -1, -2)  # the cross matrix of omega, world axes
    omega = np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], axis=-1)
    np.testing.assert_allclose(omega, twist[..., 3:], atol=1e-7 * scale)


@every_robot
def test_body_and_world_axes_are_one_vector(robot):
    Q, V, _ = robot.sample(4, seed=2)
    R, _ = kinematics.poses(robot, Q)
    body, world = (kinematics.velocities(robot, Q, V, axes=axes) for axes in ("body", "world"))
    for part in (slice(0, 3), slice(3, 6)):
        np.testing.assert_allclose(
            np.einsum("sbij,sbj->sbi", R, body[..., part]), world[..., part], atol=1e-12
        )


@every_robot
def test_linear_momentum_moves_the_centre_of_mass(robot):
    Q, V, _ = robot.sample(8, seed=3)
    h = 1e-6
    before, after = (kinematics.com(robot, robot.integrate(Q, s * h * V)) for s in (-1, 1))
    momentum = kinematics.momentum(robot, Q, V)[:, :3]
    moved = robot.mass.sum() * (after - before) / (2 * h)
    np.testing.assert_allclose(momentum, moved, atol=1e-7 * np.abs(momentum).max())


def particles(robot, i):
    """Six point masses with the mass, com and inertia of body i: pairs on its principal axes."""
    moments, axes = np.linalg.eigh(robot.inertia[i])
    second = np.maximum(0.5 * moments.sum() - moments, 0.0)  # second moments of mass along the axes
    mass = robot.mass[i] / 6
    arms = np.sqrt(second / (2 * mass)) * axes
    return mass, np.concatenate([robot.com[i] + arms.T, robot.com[i] - arms.T])


@every_robot
def test_energy_and_momentum_are_those_of_particles(robot):
    """Each body as six points, moved by finite differences of its pose: no twist formula is shared."""
    Q, V, _ = robot.sample(3, seed=4)
    h = 1e-5
    (R0, p0), (R, p), (R1, p1) = (kinematics.poses(robot, robot.integrate(Q, s * h * V)) for s in (-1, 0, 1))
    energy, momentum = np.zeros(3), np.zeros((3, 6))
    for i in np.flatnonzero(robot.mass):
        mass, points = particles(robot, i)
        for x in points:
            here = R[:, i] @ x + p[:, i]
            rate = ((R1[:, i] - R0[:, i]) @ x + p1[:, i] - p0[:, i]) / (2 * h)
            energy += mass * (0.5 * np.sum(rate**2, axis=1) - here @ robot.gravity)
            momentum += mass * np.concatenate([rate, np.cross(here, rate)], axis=1)
    np.testing.assert_allclose(robot.energy(Q, V), energy, rtol=1e-7)
    np.testing.assert_allclose(kinematics.momentum(robot, Q, V), momentum, atol=1e-7 * np.abs(momentum).max())


# ---------------------------------------------------------------------- shapes and errors


@every_robot
def test_batch_equals_singles(robot):
    Q, V, _ = robot.sample(3, seed=5)
    for k in range(3):
        for one, many in zip(kinematics.poses(robot, Q[k]), kinematics.poses(robot, Q), strict=True):
            np.testing.assert_allclose(one, many[k], atol=1e-13)
        for function in (
            kinematics.velocities,
            kinematics.momentum,
            kinematics.kinetic_energy,
            kinematics.energy,
        ):
            np.testing.assert_allclose(
                function(robot, Q[k], V[k]), function(robot, Q, V)[k], rtol=1e-11, atol=1e-11
            )
        for function in (kinematics.com, kinematics.potential_energy):
            np.testing.assert_allclose(function(robot, Q[k]), function(robot, Q)[k], rtol=1e-12)
    assert isinstance(robot.energy(Q[0], V[0]), float)
    assert robot.energy(Q, V).shape == (3,)


def test_wrong_states_are_rejected():
    robot = robots.two_link()
    with pytest.raises(StateError, match=r"q has shape \(3,\), robot 'two-link' needs \(2,\)"):
        robot.energy([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="axes is 'local', expected 'body' or 'world'"):
        kinematics.velocities(robot, [0, 0], [0, 0], axes="local")


# ---------------------------------------------------------------------- Pinocchio


def pinocchio_model(pin, robot):
    """The same robot in Pinocchio. An unaligned joint's v and q are ours, since its conventions are."""
    model = pin.Model()
    for i in range(robot.n):
        axis = robot.axis[i]
        joint = [
            lambda axis=axis: pin.JointModelRevoluteUnaligned(axis),
            lambda axis=axis: pin.JointModelPrismaticUnaligned(axis),
            pin.JointModelSpherical,
            pin.JointModelFreeFlyer,
        ][robot.kind[i]]()
        placement = pin.SE3(robot.rotation[i], robot.translation[i])
        index = model.addJoint(int(robot.parent[i]) + 1, joint, placement, robot.joint_names[i])
        assert index == i + 1
        inertia = pin.Inertia(robot.mass[i], robot.com[i], robot.inertia[i])
        model.appendBodyToJoint(index, inertia, pin.SE3.Identity())
    model.gravity.linear = robot.gravity
    return model, model.createData()


@every_robot
def test_pinocchio_agrees(robot):
    pin = pytest.importorskip("pinocchio")
    model, data = pinocchio_model(pin, robot)
    np.testing.assert_array_equal([model.joints[i + 1].idx_q for i in range(robot.n)], robot.iq)
    Q, V, _ = robot.sample(5, seed=6)
    R, p = kinematics.poses(robot, Q)
    twist = kinematics.velocities(robot, Q, V)
    for k, (q, v) in enumerate(zip(Q, V, strict=True)):
        pin.forwardKinematics(model, data, q, v)
        for i in range(robot.n):
            np.testing.assert_allclose(R[k, i], data.oMi[i + 1].rotation, atol=1e-12)
            np.testing.assert_allclose(p[k, i], data.oMi[i + 1].translation, atol=1e-12)
            np.testing.assert_allclose(twist[k, i], data.v[i + 1].vector, atol=1e-11)
        expected = pin.computeKineticEnergy(model, data, q, v) + pin.computePotentialEnergy(model, data, q)
        np.testing.assert_allclose(robot.energy(q, v), expected, rtol=1e-12)
        np.testing.assert_allclose(kinematics.com(robot, q), pin.centerOfMass(model, data, q), atol=1e-12)
        momentum = pin.computeCentroidalMomentum(model, data, q, v).vector.copy()
        momentum[3:] += np.cross(data.com[0], momentum[:3])  # from the centre of mass to the world origin
        ours = kinematics.momentum(robot, q, v)
        np.testing.assert_allclose(ours, momentum, atol=1e-12 * np.abs(momentum).max())
