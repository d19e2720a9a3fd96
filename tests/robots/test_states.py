"""Sampling is seeded and uniform; validation accepts valid states and names what is wrong with others."""

import re

import numpy as np
import pytest

from dynbench import robots
from dynbench.robots.errors import StateError, UnknownNameError
from dynbench.robots.states import as_array, check_quaternions, check_state

EVERY_KIND = ("free", "spherical", "revolute", "prismatic")


@pytest.fixture(scope="module")
def robot():
    return robots.random_tree(4, seed=1, kinds=EVERY_KIND)  # nq = 13: free, spherical, revolute, prismatic


# ---------------------------------------------------------------------- sampling


def test_the_same_seed_gives_the_same_states(robot):
    for one, same, other in zip(
        robot.sample(5, seed=3), robot.sample(5, seed=3), robot.sample(5, seed=4), strict=True
    ):
        np.testing.assert_array_equal(one, same)
        assert not np.array_equal(one, other)


def test_shapes_and_units(robot):
    Q, V, A = robot.sample(6, seed=0)
    assert (Q.shape, V.shape, A.shape) == ((6, robot.nq), (6, robot.nv), (6, robot.nv))
    assert all(x.flags.c_contiguous for x in (Q, V, A))
    check_quaternions(robot, Q)


def test_ranges(robot):
    Q, _, _ = robot.sample(4000, seed=0)
    angle, travel = Q[:, robot.iq[2]], Q[:, robot.iq[3]]
    assert np.abs(angle).max() < np.pi
    assert np.abs(angle).max() > 3.1
    assert np.abs(travel).max() < 1
    assert np.abs(travel).max() > 0.99
    np.testing.assert_allclose(Q[:, :3].std(axis=0), 1, atol=0.05)


def test_quaternions_are_uniform(robot):
    """Uniform over rotations: each component has mean 0 and variance 1/4, without correlation."""
    for start, _ in robot.quaternions:
        part = robot.sample(20000, seed=0)[0][:, start : start + 4]
        np.testing.assert_allclose(part.mean(axis=0), 0, atol=0.02)
        np.testing.assert_allclose(np.cov(part.T), np.eye(4) / 4, atol=0.01)


def test_regimes(robot):
    for regime, size in (("rest", 0.0), ("slow", 0.1), ("fast", 3.0)):
        _, V, A = robot.sample(2000, seed=0, regime=regime)
        np.testing.assert_allclose(V.std(), size, rtol=0.05)
        assert (A.std() > 0) == (size > 0)
    Q, _, _ = robot.sample(3, seed=0, regime="rest")
    np.testing.assert_array_equal(Q, robot.sample(3, seed=0, regime="fast")[0])


def test_wrong_requests(robot):
    with pytest.raises(UnknownNameError, match="no regime is named 'fst'; did you mean 'fast'"):
        robot.sample(1, regime="fst")
    for N in (0, -1, 2.5, float("inf"), float("nan"), "three"):
        with pytest.raises(StateError, match="expected a positive number of states"):
            robot.sample(N)


# ---------------------------------------------------------------------- validation


def test_clean_arrays_pass_without_a_copy(robot):
    _, V, _ = robot.sample(3)
    array, single = as_array("v", V, robot.nv, robot)
    assert array is V
    assert not single
    assert as_array("v", V[0], robot.nv, robot)[1]


@pytest.mark.parametrize(
    "convert",
    [
        lambda x: x.tolist(),
        lambda x: x.astype(np.float32),
        np.asfortranarray,
        lambda x: np.repeat(x, 2, axis=1)[:, ::2],
        lambda x: x.astype(">f8"),
        lambda x: np.round(x).astype(int),
    ],
    ids=["list", "float32", "fortran", "strided", "big endian", "int"],
)
def test_anything_numeric_is_accepted_and_copied(robot, convert):
    _, V, _ = robot.sample(3)
    given = convert(V)
    array, _ = as_array("v", given, robot.nv, robot)
    assert array.dtype == np.dtype("=f8")
    assert array.flags.c_contiguous
    np.testing.assert_array_equal(array, np.asarray(given))


def test_float32_quaternions_are_unit_enough(robot):
    Q, _, _ = robot.sample(100)
    check_state(robot, q=Q.astype(np.float32))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (np.zeros(3), "v has shape (3,), robot 'random-tree-4-seed1' needs (11,) or (N, 11)"),
        (np.zeros((2, 3)), "v has shape (2, 3), robot"),
        (np.zeros((1, 2, 11)), "v has shape (1, 2, 11), robot"),
        (1.0, "v has shape (), robot"),
        ([1.0] * 4 + [np.nan] + [0.0] * 6, "v[4] is nan, robot 'random-tree-4-seed1' needs finite numbers"),
        ([[0.0] * 11, [0.0, -np.inf] + [0.0] * 9], "v[1, 1] is -inf"),
        (np.zeros(11, complex), "v holds complex128 values, robot 'random-tree-4-seed1' needs real numbers"),
        (["1"] * 11, "v holds <U1 values"),
        ([None] * 11, "v holds object values"),
        (np.zeros(11, bool), "v holds bool values"),
        ([[1, 2], [3]], "v is a ragged list"),
    ],
)
def test_wrong_values_are_named(robot, value, sentence):
    with pytest.raises(StateError, match=re.escape(sentence)):
        as_array("v", value, robot.nv, robot)


def test_quaternions_off_unit_are_named(robot):
    Q, _, _ = robot.sample(3)
    start = int(robot.iq[1])
    Q[2, start : start + 4] *= 1.001
    sentence = (
        f"q[2, {start}:{start + 4}], the quaternion (x, y, z, w) of joint 'body2' of robot "
        "'random-tree-4-seed1', has length 1.001, expected 1"
    )
    with pytest.raises(StateError, match=re.escape(sentence)):
        check_state(robot, q=Q)
    with pytest.raises(StateError, match=re.escape(f"q[{start}:{start + 4}], the quaternion")):
        check_quaternions(robot, Q[2])


def test_numbers_of_states_must_agree(robot):
    Q, V, _ = robot.sample(3)
    with pytest.raises(StateError, match=re.escape("q (3, 13) is 3 states, v (2, 11) is 2 states")):
        check_state(robot, q=Q, v=V[:2])
    with pytest.raises(StateError, match=re.escape("q (13,) is one state, v (3, 11) is 3 states")):
        check_state(robot, q=Q[0], v=V)


def test_check_state_returns_in_the_order_given(robot):
    Q, V, A = robot.sample(3)
    arrays, single = check_state(robot, a=A, q=Q, v=V)
    assert not single
    for array, given in zip(arrays, (A, Q, V), strict=True):
        assert array is given
