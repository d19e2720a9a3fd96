"""Other engines, with conventions that are not ours, against Newton-Euler; and what they cannot do.

What is peculiar to one of them is in its own file; Pinocchio's, which judges two methods, has its agreement there too.
"""

from __future__ import annotations

import dataclasses
from importlib import import_module

import numpy as np
import pytest
from round_trip import assert_agree, tree_of

from dynbench import methods, robots
from dynbench.methods.peers import native
from dynbench.methods.peers.generated import GeneratedMethod
from dynbench.robots.families.trees import KINDS, random_tree
from dynbench.robots.robot import Robot


def sliding_tree(seed: int) -> Robot:
    """Revolute and prismatic joints about oblique axes."""
    return random_tree(1 + seed * 7 % 30, seed=seed, kinds=KINDS[:2], massless=seed % 3 == 0)


def one_base_tree(seed: int) -> Robot:
    """Revolute and prismatic joints, on a fixed and on a free base."""
    return random_tree(1 + seed * 7 % 30, seed=seed, kinds=KINDS[:2], floating=seed % 2 == 0, massless=seed % 3 == 0)


def small_tree(seed: int) -> Robot:
    """Up to 6 bodies, joints of every kind: C code is compiled for each."""
    kinds = KINDS if seed % 4 == 1 else KINDS[:3]
    return random_tree(1 + seed * 7 % 6, seed=seed, kinds=kinds, floating=seed % 2 == 0, massless=seed % 3 == 0)


def upright_tree(seed: int) -> Robot:
    """As `one_base_tree`, up to 12 bodies, with gravity straight down: XLA compiles code for each."""
    robot = random_tree(1 + seed * 7 % 12, seed=seed, kinds=KINDS[:2], floating=seed % 2 == 0, massless=seed % 3 == 0)
    return dataclasses.replace(robot, gravity=np.array([0.0, 0.0, -9.81]))


TREES = {"drake": tree_of, "mujoco": tree_of, "exudyn": sliding_tree}
NEWER = {
    "dynibo": one_base_tree,
    "frax": upright_tree,
    "simbody": tree_of,
    "pinocchio-cpp": tree_of,
    "casadi-c": small_tree,
    "exported-c": small_tree,
}
FEW = {
    "dynibo": 20,
    "frax": 2,
    "simbody": 8,
    "pinocchio-cpp": 20,
    "casadi-c": 2,
    "exported-c": 2,
}  # trees of the default suite
# Among them bodies without mass that have inertia, which Drake cannot say and MuJoCo's own compiler refuses
ARMS = ("pendulum", "two-link", "puma560", "panda", "tree-12", "rp-3")
ZOO = {"drake": (*ARMS, "space-dual-arm"), "mujoco": (*ARMS, "space-dual-arm"), "exudyn": ARMS}
NEWER_ZOO = {
    "dynibo": ARMS,
    "frax": ("panda", "tree-12"),
    "simbody": ("panda", "tree-12", "space-dual-arm"),
    "pinocchio-cpp": ("panda", "tree-12"),
}
REFUSED = {
    **{
        (peer, robot): said
        for peer in ("mujoco", "pinocchio")
        for robot, said in (("gough-stewart", "closed loops"), ("elastic-rp1", "elastic links"))
    },
    ("drake", "elastic-rp1"): "elastic links",
    ("exudyn", "elastic-rp1"): "elastic links",
    ("dynibo", "gough-stewart"): "closed loops",
    ("dynibo", "space-dual-arm"): "revolute and prismatic joints and a free base, joint 'arm1_joint1' is spherical",
    ("frax", "gough-stewart"): "closed loops",
    ("frax", "space-dual-arm"): "revolute and prismatic joints and a free base, joint 'arm1_joint1' is spherical",
    ("frax", "rp3"): "its gravity is (0.0, 0.0, -9.81), and this robot's is",
    ("simbody", "elastic-rp1"): "elastic links",
    ("exported-c", "tree-80"): "straight-line code of 80 coordinates is too large",
    ("casadi-c", "gough-stewart"): "closed loops",
    ("exudyn", "space-dual-arm"): "revolute and prismatic joints only, joint 'base' is free",
}


@pytest.fixture(autouse=True)
def _installed(peer: str) -> None:
    why = methods.get(peer).unavailable()
    if why is None and peer == "exudyn" and not hasattr(import_module("exudyn"), "ComputeItemType"):
        why = "this exudyn does not give the mass matrix of an object"
    if why is not None:
        pytest.skip(why)


@pytest.mark.parametrize("tens", range(0, 60, 20))
@pytest.mark.parametrize("peer", TREES)
def test_random_trees_agree(peer: str, tens: int) -> None:
    for seed in range(tens, tens + 20):
        assert_agree(peer, TREES[peer](seed), seed)


@pytest.mark.parametrize("peer", NEWER)
def test_some_random_trees_agree(peer: str) -> None:
    for seed in range(FEW[peer]):
        assert_agree(peer, NEWER[peer](seed), seed)


@pytest.mark.long
@pytest.mark.parametrize("tens", range(0, 100, 10))
@pytest.mark.parametrize("peer", NEWER)
def test_a_hundred_random_trees_agree(peer: str, tens: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """C code with -O1, which takes the compiler a third of the time."""
    if isinstance(methods.get(peer), GeneratedMethod):
        monkeypatch.setattr(native, "FLAGS", tuple("-O1" if flag == "-O3" else flag for flag in native.FLAGS))
    for seed in range(tens, tens + 10):
        assert_agree(peer, NEWER[peer](seed), seed)


@pytest.mark.parametrize(
    ("peer", "name"), [(peer, name) for zoo in (ZOO, NEWER_ZOO) for peer in zoo for name in zoo[peer]]
)
def test_robots_of_the_zoo_agree(peer: str, name: str) -> None:
    assert_agree(peer, robots.load(name), seed=3)


@pytest.mark.parametrize(("peer", "name"), REFUSED)
def test_what_it_cannot_do_has_a_reason(peer: str, name: str) -> None:
    reason = methods.get(peer).supports(robots.load(name))
    assert reason is not None
    assert REFUSED[peer, name] in reason
