"""The Robot as a value: read-only, equal by content, the same in every process, checked when changed."""

import copy
import dataclasses
import pickle
import subprocess
import sys

import numpy as np
import pytest
from made_bodies import build, link

from dynbench import robots
from dynbench.robots.errors import RobotError, UnknownNameError, near


def test_arrays_are_read_only_and_independent_of_their_source():
    com = np.array([0.1, 0.0, 0.0])
    robot = build(link(com=com))
    com[0] = 99.0
    assert robot.com[0, 0] == 0.1
    for field in dataclasses.fields(robot):
        value = getattr(robot, field.name)
        for array in value if isinstance(value, tuple) else (value,):
            assert not (isinstance(array, np.ndarray) and array.flags.writeable), field.name
    with pytest.raises(ValueError, match="read-only"):
        robot.mass[0] = 2.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        robot.name = "leg"


def test_equality_and_hash_are_by_content():
    one, same = robots.chain(4, seed=1), robots.chain(4, seed=1)
    assert one is not same
    assert one == same
    assert hash(one) == hash(same)
    assert len({one, same, robots.chain(4, seed=2)}) == 2
    for change in ({"name": "x"}, {"gravity": [0, 0, 0]}, {"mass": one.mass * (1 + 1e-15)}):
        assert dataclasses.replace(one, **change) != one
    assert one != "chain"


def test_negative_zero_is_zero():
    assert build(link(com=[0.1, -0.0, 0.0])) == build(link(com=[0.1, 0.0, 0.0]))


def test_digest_is_the_same_in_another_process():
    code = "from dynbench import robots; print(robots.random_tree(6, seed=5, floating=True).digest)"
    other = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert other == robots.random_tree(6, seed=5, floating=True).digest


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda robot: pickle.loads(pickle.dumps(robot))])
def test_copies_are_equal_and_read_only(clone):
    robot = robots.random_tree(5, seed=2)
    other = clone(robot)
    assert other == robot
    assert not other.mass.flags.writeable


def test_replacing_a_field_is_checked_too():
    robot = robots.chain(3)
    with pytest.raises(RobotError, match="mass has shape"):
        dataclasses.replace(robot, mass=np.ones(4))
    with pytest.raises(RobotError, match="parent index 2"):
        dataclasses.replace(robot, parent=[-1, 2, 1])
    with pytest.raises(RobotError, match="expected length 1"):
        dataclasses.replace(robot, axis=2 * robot.axis)


def test_repr_is_a_line():
    assert repr(robots.two_link()) == "<Robot 'two-link': 2 bodies, nq=2, nv=2, fixed base, tree>"


def test_body_index_and_near_names():
    robot = robots.two_link()
    assert robot.body_index("link2") == 1
    with pytest.raises(
        UnknownNameError, match="has no body 'lnk2'; did you mean 'link2' or 'link1'"
    ) as error:
        robot.body_index("lnk2")
    assert isinstance(error.value, KeyError)
    assert str(error.value).startswith("robot 'two-link' has no body")
    assert near("zzz", ["a", "b"]) == "known: a, b"
    assert near("Panda", ["panda", "ur5"]) == "did you mean 'panda'?"
    assert near("x", [str(k) for k in range(20)]).endswith(" and 8 more")
    assert near("x", []) == "there are none"


def test_import_is_light():
    """`import dynbench.robots` must not pull in the heavy libraries."""
    heavy = {"numba", "scipy", "pandas", "matplotlib"}
    code = f"import sys, dynbench.robots; print({heavy} & set(sys.modules))"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "set()"
    )
