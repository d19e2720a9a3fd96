"""integrate and difference: group identities, extreme angles, scipy's matrix exponential, Pinocchio."""

import numpy as np
import pytest
from scipy.linalg import expm

from dynbench import robots
from dynbench.robots import Body, Free, Robot, Spherical, quaternion
from dynbench.robots.errors import StateError

EVERY_KIND = ("free", "spherical", "revolute", "prismatic")
ANGLES = [0.0, 1e-300, 1e-12, 1e-8, 1e-4, 0.1, 0.2 - 1e-9, 0.2 + 1e-9, 1.0, 3.0, np.pi - 1e-9]


def single(joint):
    return Robot.from_bodies(
        "one", [Body(name="a", joint=joint, mass=1.0, com=[0.1, 0.2, 0.3], inertia=[1, 1, 1])]
    )


def hat(twist):
    """The 4x4 matrix of a twist (linear, angular)."""
    v, w = twist[:3], twist[3:]
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = np.cross(np.eye(3), w).T @ -np.eye(3)
    matrix[:3, 3] = v
    return matrix


def pose(q):
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = quaternion.matrix(q[3:]), q[:3]
    return matrix


def test_neutral_is_where_difference_is_zero():
    robot = robots.random_tree(8, seed=1, kinds=EVERY_KIND)
    q = robot.neutral()
    assert q.shape == (robot.nq,)
    np.testing.assert_array_equal(robot.difference(q, q), np.zeros(robot.nv))
    np.testing.assert_array_equal(robot.normalise(q), q)


@pytest.mark.parametrize("seed", range(5))
def test_difference_undoes_integrate(seed):
    robot = robots.random_tree(9, seed=seed, kinds=EVERY_KIND, floating=seed % 2 == 0)
    Q, V, _ = robot.sample(50, seed=seed, regime="slow")
    np.testing.assert_allclose(robot.difference(Q, robot.integrate(Q, V)), V, atol=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_integrate_undoes_difference(seed):
    robot = robots.random_tree(9, seed=seed, kinds=EVERY_KIND, floating=seed % 2 == 0)
    Q0, Q1 = robot.sample(50, seed=seed)[0], robot.sample(50, seed=seed + 100)[0]
    reached = robot.integrate(Q0, robot.difference(Q0, Q1))
    for start, _ in robot.quaternions:  # a quaternion and its negative are one configuration
        part = slice(start, start + 4)
        reached[:, part] *= np.sign(np.sum(reached[:, part] * Q1[:, part], axis=1, keepdims=True))
    np.testing.assert_allclose(reached, Q1, atol=1e-12)


@pytest.mark.parametrize("angle", [*ANGLES, 4.0, 7.0, 40.0])
def test_free_joint_follows_the_exponential_of_its_twist(angle):
    """Against scipy's matrix exponential, which shares no formula with ours."""
    robot = single(Free())
    q = robot.sample(1, seed=3)[0][0]
    twist = np.array([0.4, -1.1, 0.7, *(angle * np.array([2, -3, 6]) / 7)])
    expected = pose(q) @ expm(hat(twist))
    np.testing.assert_allclose(pose(robot.integrate(q, twist)), expected, atol=1e-13 * max(1.0, angle))


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("joint", [Free(), Spherical()])
def test_small_and_large_angles_keep_their_digits(joint, angle):
    robot = single(joint)
    dv = np.array([0.4, -1.1, 0.7, *(angle * np.array([2, -3, 6]) / 7)])[-robot.nv :]
    q0 = robot.neutral()
    back = robot.difference(q0, robot.integrate(q0, dv))
    np.testing.assert_allclose(back[-3:], dv[-3:], rtol=1e-9 if angle > 3.1 else 2e-15, atol=1e-300)
    np.testing.assert_allclose(back, dv, rtol=1e-9 if angle > 3.1 else 1e-14)


def test_difference_takes_the_short_way():
    robot = single(Spherical())
    q0 = robot.neutral()
    turned = robot.integrate(q0, [0, 0, 2 * np.pi - 0.5])
    np.testing.assert_allclose(robot.difference(q0, turned), [0, 0, -0.5], atol=1e-14)
    np.testing.assert_array_equal(robot.difference(q0, -q0), np.zeros(3))


def test_steps_add_up_along_one_velocity():
    robot = robots.random_tree(6, seed=4, kinds=EVERY_KIND, floating=True)
    Q, V, _ = robot.sample(20, seed=4)
    twice = robot.integrate(robot.integrate(Q, 0.3 * V), 0.7 * V)
    np.testing.assert_allclose(robot.difference(robot.integrate(Q, V), twice), 0, atol=1e-12)


def test_velocity_is_the_rate_of_difference():
    robot = robots.random_tree(6, seed=4, kinds=EVERY_KIND)
    Q, V, _ = robot.sample(20, seed=4)
    h = 1e-5
    rate = robot.difference(robot.integrate(Q, -h * V), robot.integrate(Q, h * V)) / (2 * h)
    np.testing.assert_allclose(rate, V, rtol=1e-8, atol=1e-9)


def test_batch_equals_singles_and_inputs_stay():
    robot = robots.random_tree(6, seed=2, kinds=EVERY_KIND)
    Q, V, _ = robot.sample(7, seed=2)
    q_before, v_before = Q.copy(), V.copy()
    moved = robot.integrate(Q, V)
    for k in range(7):
        np.testing.assert_array_equal(robot.integrate(Q[k], V[k]), moved[k])
        np.testing.assert_array_equal(robot.difference(Q[k], moved[k]), robot.difference(Q, moved)[k])
    np.testing.assert_array_equal(Q, q_before)
    np.testing.assert_array_equal(V, v_before)


def test_long_integration_keeps_unit_quaternions():
    robot = single(Free())
    q = robot.neutral()
    for _ in range(2000):
        q = robot.integrate(q, [0.1, 0, 0, 0.3, 0.2, 0.1])
    assert abs(np.linalg.norm(q[3:]) - 1) < 1e-15


def test_normalise():
    robot = single(Free())
    np.testing.assert_allclose(robot.normalise([1, 2, 3, 0, 0, 3, 4]), [1, 2, 3, 0, 0, 0.6, 0.8], rtol=1e-15)
    with pytest.raises(StateError, match="joint 'a' of robot 'one' is zero"):
        robot.normalise(np.zeros((2, 7)))


def test_not_unit_input_is_rejected():
    robot = single(Spherical())
    with pytest.raises(StateError, match=r"q1.*has length 2"):
        robot.difference(robot.neutral(), 2 * robot.neutral())


@pytest.mark.parametrize("joint", [Free(), Spherical()])
def test_pinocchio_has_the_same_manifold(joint):
    pin = pytest.importorskip("pinocchio")
    robot = single(joint)
    model = pin.Model()
    kind = pin.JointModelFreeFlyer() if isinstance(joint, Free) else pin.JointModelSpherical()
    model.addJoint(0, kind, pin.SE3.Identity(), "a")
    Q, V, _ = robot.sample(50, seed=8)
    Q1 = robot.sample(50, seed=9)[0]
    for q, v, q1 in zip(Q, V, Q1, strict=True):
        expected = pin.integrate(model, q, v)
        ours = robot.integrate(q, v)
        np.testing.assert_allclose(ours[:-4], expected[:-4], atol=1e-12)
        sign = np.sign(ours[-4:] @ expected[-4:])
        np.testing.assert_allclose(sign * ours[-4:], expected[-4:], atol=1e-12)
        np.testing.assert_allclose(robot.difference(q, q1), pin.difference(model, q, q1), atol=1e-11)
