"""Elastic arms: mode shapes, the chain and its errors, sampled states, energies against closed forms."""

import pickle

import numpy as np
import pytest

from dynbench import robots
from dynbench.robots import kinematics
from dynbench.robots.elastic import modes
from dynbench.robots.elastic.particles import tip_deflection
from dynbench.robots.errors import RobotError, StateError
from dynbench.robots.families.elastic_rp_chain import elastic_rp_family

STEEL = {"length": [1.0], "density": [3.0], "bending_z": [150.0]}
SECTION = np.diag([0.01, 0.005, 0.005])


def chain(**changes):
    return robots.elastic_rp_chain(**{**STEEL, "modes": [[("y", 1), ("y", 2)]], **changes})


def mixed():
    """Two arms, modes of every kind."""
    return chain(
        length=[1.0, 0.8],
        density=[3.0, 2.0],
        bending_z=[150.0, 60.0],
        bending_y=90.0,
        axial=5000.0,
        torsion=40.0,
        section_inertia=SECTION,
        modes=[[("y", 1), ("z", 2), ("t", 1)], [("x", 1), ("y", 1)]],
        twist=[0.5, -1.2],
        gravity=(1.0, -9.0, 2.0),
    )


# Mode shapes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "b", "sg"),
    [
        (1, 1.8751040687119611, 0.7340955138),
        (2, 4.6940911329741746, 1.0184673188),
        (3, 7.8547574382376126, 0.9992244965),
    ],
)
def test_bending_modes_are_those_of_a_cantilever(order, b, sg):
    xi, w = modes.nodes(3)
    value, _, curve = (modes.shape(modes.Y, order, xi, d) for d in range(3))
    sign = (-1) ** (order + 1)
    assert modes.wave_number(modes.Y, order) == pytest.approx(b, rel=1e-15)
    assert w @ value == pytest.approx(2 * sg / b, rel=1e-9)
    assert w @ (xi * value) == pytest.approx(2 / b**2, rel=1e-13)
    assert w @ curve**2 == pytest.approx(b**4, rel=1e-13)
    ends = np.array([0.0, 1.0])
    np.testing.assert_allclose(modes.shape(modes.Y, order, ends), [0.0, 2 * sign], atol=1e-14)
    np.testing.assert_allclose(modes.shape(modes.Y, order, ends, 1), [0.0, 2 * sign * b * sg], rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(modes.shape(modes.Y, order, ends, 2), [2 * b**2, 0.0], rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("direction", [modes.X, modes.Z])
def test_shapes_are_orthonormal_up_to_high_orders(direction):
    xi, w = modes.nodes(30)
    values = np.array([modes.shape(direction, order, xi) for order in range(1, 31)])
    np.testing.assert_allclose(values * w @ values.T, np.eye(30), atol=1e-13)


@pytest.mark.parametrize("direction", [modes.X, modes.Y])
@pytest.mark.parametrize("derivative", [0, 1])
def test_derivatives_of_shapes_by_complex_step(direction, derivative):
    xi = np.linspace(0.0, 1.0, 7)
    for order in (1, 4):
        by_step = modes.shape(direction, order, xi + 1e-30j, derivative).imag / 1e-30
        expected = modes.shape(direction, order, xi, derivative + 1)
        np.testing.assert_allclose(by_step, expected, rtol=1e-12, atol=1e-11)


# The robot ---------------------------------------------------------------------------------------------------------


def test_amplitudes_follow_the_length_of_their_arm():
    robot = mixed()
    assert robot.body_names == ("sleeve1", "arm1", "sleeve2", "arm2")
    assert (robot.nq, robot.nv) == (9, 9)
    assert robot.iv.tolist() == [0, 1, 5, 6]
    assert robot.is_elastic
    assert robot.elastic.direction.tolist() == [modes.Y, modes.Z, modes.TORSION, modes.X, modes.Y]
    np.testing.assert_array_equal(robot.elastic.mouth, [1.0, 0.8])  # a sleeve as long as its arm


def test_content_decides_equality_and_digest():
    assert chain() == chain()
    variants = [chain(), chain(bending_z=[151.0]), chain(mouth=[0.9]), chain(modes=[[("y", 1), ("y", 3)]])]
    variants += [chain(axial=[1.0]), chain(section_inertia=SECTION), robots.rigid_twin(chain())]
    assert len({robot.digest for robot in variants}) == len(variants)
    again = pickle.loads(pickle.dumps(mixed()))
    assert again == mixed()
    assert not again.elastic.length.flags.writeable


def test_zoo():
    robot = robots.load("elastic-rp1")
    arm = robot.elastic
    assert (robot.nv, arm.length[0], arm.mouth[0]) == (4, 1.0, 1.0)
    assert (arm.density[0], arm.bending_z[0]) == pytest.approx((3.14, 500 / 3), rel=1e-14)
    short, long = robots.load("elastic-rp-2"), robots.load("elastic-rp-5")
    assert (long.n, long.nv) == (10, 20)
    np.testing.assert_array_equal(long.elastic.length[:2], short.elastic.length)
    np.testing.assert_array_equal(long.rotation[:4], short.rotation)
    assert elastic_rp_family(2, seed=1) != elastic_rp_family(2, seed=2)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"modes": []}, "modes is"),
        ({"modes": [[]]}, "arm 1 has no modes"),
        ({"modes": [[("y", 1)], []], "length": 1.0, "density": 3.0, "bending_z": 150.0}, "arm 2 has no modes"),
        ({"modes": [[("w", 1)]]}, "mode \\('w', 1\\)"),
        ({"modes": [["y"]]}, "mode 'y'"),
        ({"modes": [[("y", 0)]]}, "order from 1 to 50"),
        ({"modes": [[("y", 51)]]}, "order from 1 to 50"),
        ({"modes": [[("y", 1), ("y", 1)]]}, "twice; the mass matrix would be singular"),
        ({"bending_z": [-150.0]}, "bending_z is -150"),
        ({"bending_z": [0.0]}, "bending_z is 0"),
        ({"modes": [[("x", 1)]]}, "axial is 0"),
        ({"axial": [-1.0]}, "axial is -1"),
        ({"bending_z": [np.nan]}, "bending_z is nan"),
        ({"length": [0.0]}, "length\\[0\\] is 0"),
        ({"length": [-1.0]}, "length\\[0\\] is -1"),
        ({"density": [-3.0]}, "density\\[0\\] is -3"),
        ({"length": [1.0, 1.0]}, "length has shape \\(2,\\)"),
        ({"mouth": [np.inf]}, "mouth|placement"),
        ({"section_inertia": np.eye(2)}, "section_inertia has shape"),
        ({"section_inertia": -SECTION}, "inertia"),
        ({"modes": [[("t", 1)]], "torsion": [40.0]}, "torsion mode on the last arm without section_inertia"),
    ],
)
def test_invalid_elastic_chains_are_rejected(changes, words):
    with pytest.raises(RobotError, match=words):
        chain(**changes)


def test_torsion_before_the_last_arm_needs_no_section_inertia_but_two_modes_of_it_do():
    data = {"length": 1.0, "density": 3.0, "bending_z": 150.0, "torsion": 40.0}
    robots.elastic_rp_chain(**data, modes=[[("t", 1)], [("y", 1)]], twist=[0.0, 1.0])
    with pytest.raises(RobotError, match="2 torsion modes on an arm without section_inertia"):
        robots.elastic_rp_chain(**data, modes=[[("t", 1), ("t", 2)], [("y", 1)]])


# States ------------------------------------------------------------------------------------------------------------


def test_modes_by_number_are_four_of_every_order_up_to_fifty():
    robot = robots.load("elastic-modes-3")
    assert (robot.n, robot.nv) == (2, 2 + 4 * 3)
    assert robot.elastic.order.tolist() == [1] * 4 + [2] * 4 + [3] * 4
    assert sorted(robot.elastic.direction[:4].tolist()) == [0, 1, 2, 3]
    with pytest.raises(robots.RobotError, match="50"):
        robots.load("elastic-modes-51")


def test_sampled_states_are_inside_the_sleeves_and_bent_little():
    robot = mixed()
    Q, V, A = robot.sample(500, seed=3)
    for arm, length in zip(robot.elastic.arm, robot.elastic.length, strict=True):
        l = Q[:, robot.iq[arm]]
        assert 0.19 * length < l.min() < 0.3 * length
        assert 0.7 * length < l.max() < 0.81 * length
    assert 0.0 < np.abs(tip_deflection(robot, Q)).max() < 0.05
    assert np.abs(V).min() > 0.0
    assert np.abs(A).min() > 0.0
    np.testing.assert_array_equal(Q, robot.sample(500, seed=3)[0])


def test_neutral_is_a_state():
    robot = mixed()
    assert robot.neutral()[[1, 6]].tolist() == [0.5, 0.4]
    assert robot.energy(robot.neutral(), np.zeros(robot.nv)) < 1e3


@pytest.mark.parametrize("l", [0.0, -0.1, 1.0, 1.2])
def test_an_arm_fully_inside_or_outside_its_sleeve_is_rejected(l):
    robot = mixed()
    q = robot.neutral()
    q[1] = l
    with pytest.raises(StateError, match=rf"q\[1\], the length of 'arm1'.*is {l:g}, expected a number inside \(0, 1\)"):
        robot.energy(q, np.zeros(robot.nv))
    with pytest.raises(StateError, match=r"q\[1, 1\]"):
        robot.energy(np.array([robot.neutral(), q]), np.zeros((2, robot.nv)))


def test_kinematics_of_rigid_bodies_are_rejected():
    with pytest.raises(RobotError, match="has elastic links"):
        kinematics.poses(mixed(), mixed().neutral())


# Energies ----------------------------------------------------------------------------------------------------------

# int (1 - xi) phi_f phi_g' and int (1 - xi)^2 phi_f' phi_g' of bending modes 1 and 2
N = np.array([[0.5, -0.654951299365], [0.654951299365, 0.5]])
P = np.array([[0.755083631772, 0.527069788677], [0.527069788677, 4.337835658970]])


def test_energy_of_one_planar_arm_is_the_closed_form():
    """(E40) to (E46) of the formulation: kinetic energy by the mass matrix, strain and weight."""
    L, h, mu, EI, g = 1.0, 0.7, 3.0, 150.0, np.array([1.0, -9.0])
    robot = chain(mouth=[h], gravity=(*g, 0.0))
    b = np.array([1.8751040687119611, 4.6940911329741746])
    A, B = 2 * np.array([0.7340955138, 1.0184673188]) / b, 2 / b**2
    Q, V, _ = robot.sample(20, seed=5)
    for q, v in zip(Q, V, strict=True):
        angle, l, d = q[0], q[1], q[2:]
        M = np.empty((4, 4))  # of angle, length, amplitudes
        M[0, 0] = mu * ((h + l) ** 3 - (h + l - L) ** 3) / 3 + mu * l * d @ d
        M[0, 2:] = M[2:, 0] = mu * l * (h * A + l * B)
        M[0, 1] = M[1, 0] = mu * (h * A + 2 * l * (B - A)) @ d
        M[2:, 2:] = mu * l * np.eye(2)
        M[1, 2:] = M[2:, 1] = mu * N @ d
        M[1, 1] = mu * L + mu / l * d @ P @ d
        c, s = np.cos(angle), np.sin(angle)
        along, across = c * g[0] + s * g[1], c * g[1] - s * g[0]
        potential = EI / (2 * l**3) * b**4 @ d**2 - mu * (along * L * (h + l - L / 2) + across * l * A @ d)
        assert kinematics.kinetic_energy(robot, q, v) == pytest.approx(0.5 * v @ M @ v, rel=1e-9)
        assert kinematics.potential_energy(robot, q) == pytest.approx(potential, rel=1e-9)


def test_a_batch_of_energies_is_that_of_single_states():
    robot = mixed()
    Q, V, _ = robot.sample(5)
    singles = [robot.energy(q, v) for q, v in zip(Q, V, strict=True)]
    np.testing.assert_allclose(robot.energy(Q, V), singles, rtol=1e-14)
    assert isinstance(singles[0], float)


def test_energy_of_straight_arms_is_that_of_rigid_rods():
    robot = mixed()
    rigid = robots.rigid_twin(robot)
    Q, V, _ = robot.sample(10)
    joints = [0, 1, 5, 6]
    straight = [2, 3, 4, 7, 8]
    Q[:, straight] = V[:, straight] = 0.0
    np.testing.assert_allclose(robot.energy(Q, V), rigid.energy(Q[:, joints], V[:, joints]), rtol=1e-12)


def test_tip_deflection_is_twice_the_amplitude_of_a_bending_mode():
    robot = chain()
    np.testing.assert_allclose(
        tip_deflection(robot, np.array([0.3, 0.5, 0.01, 0.002])), [[0.0, 0.016, 0.0]], atol=1e-15
    )
