"""Base parameters: known ranks, textbook combinations, certificates, and torques that depend on nothing else."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dynbench import robots
from dynbench.robots import identifiable, inertial
from dynbench.robots.families.trees import KINDS, random_tree

# rank and number of parameters. panda 43 and ur5 36 are the numbers that identification papers report; of a tree with a
# free base each revolute joint hides three parameters
RANKS = {
    "pendulum": (3, 10),
    "two-link": (6, 20),
    "panda": (43, 70),
    "ur5": (36, 60),
    "puma560": (36, 60),
    "space-dual-arm": (46, 50),
    "four-bar": (8, 30),
    "3rrr": (14, 90),
}


@pytest.mark.parametrize("name", RANKS)
def test_ranks_with_certificates(name):
    found = robots.base_parameters(robots.load(name))
    assert (found.rank, len(found.parameter_names)) == RANKS[name]
    assert found.certificate.kept > 1e-3 * found.certificate.largest
    assert found.certificate.dropped < 1e-14 * found.certificate.largest


@pytest.mark.skipif("talos" not in robots.names(), reason="needs example-robot-data")
def test_talos():
    robot = robots.load("talos")
    found = robots.base_parameters(robot)
    joints = robot.n - 1
    assert (found.rank, len(found.parameter_names)) == (10 * robot.n - 3 * joints, 10 * robot.n)
    assert found.certificate.kept > 1e11 * found.certificate.dropped


@pytest.mark.parametrize("name", ["two-link", "panda", "3rrr", "four-bar"])
def test_base_parameters_give_the_forces_and_nothing_else_does(name):
    robot = robots.load(name)
    found = robots.base_parameters(robot)
    Y = inertial.free_regressor(robot, *robot.sample(7, seed=3))
    theta = robot.inertial_parameters()
    force = Y @ theta
    np.testing.assert_allclose(found.regressor(Y) @ found.values, force, atol=1e-13 * np.abs(force).max())
    assert np.abs(Y @ found.null).max() <= 1e-13 * np.abs(Y).max()
    np.testing.assert_allclose(found.null.T @ found.null, np.eye(found.null.shape[1]), atol=1e-13)
    # other parameters with the same base parameters: the same forces
    other = theta + found.null @ np.random.default_rng(0).standard_normal(found.null.shape[1])
    np.testing.assert_allclose(found.matrix @ other, found.values, atol=1e-12)
    np.testing.assert_allclose(Y @ other, force, atol=1e-12 * np.abs(Y).max())


def test_the_combinations_of_two_links_are_those_of_the_textbook():
    """Links of length l = 1 about y: first moments, and the second's mass at the end of the first."""
    found = robots.base_parameters(robots.load("two-link"))
    assert found.names == (
        "mx[link1] + m[link2]", "mz[link1]", "Jyy[link1] + m[link2]", "mx[link2]", "mz[link2]", "Jyy[link2]",
    )  # fmt: skip
    assert "Jzz[link1]" in found.without_effect
    assert "m[link2]" not in found.without_effect


@pytest.mark.parametrize("seed", range(12))
def test_the_rule_gives_the_rank_of_the_singular_values(seed):
    robot = random_tree(
        2 + seed % 5, seed=seed, kinds=KINDS[:3] if seed % 2 else KINDS, floating=seed % 3 == 0, massless=seed % 4 == 1
    )
    if seed % 4 == 2:
        robot = dataclasses.replace(robot, gravity=np.zeros(3))
    found = robots.base_parameters(robot, seed=seed + 1)
    assert found.certificate.kept > 1e8 * found.certificate.dropped
    Y = inertial.regressor(robot, *robot.sample(5, seed=99))
    assert np.abs(Y @ found.null).max() <= 1e-12 * np.abs(Y).max()


@pytest.mark.parametrize(
    ("joint", "hidden"),
    [(robots.Revolute([0, 0, 1]), 9), (robots.Revolute([1, 0, 0]), 7), (robots.Prismatic([0, 0, 1]), 9)],
)
def test_the_first_joint_hides_what_never_moves(joint, hidden):
    body = robots.Body(name="one", joint=joint, mass=1.0, com=[0.1, 0.2, 0.3], inertia=[0.1, 0.2, 0.25])
    assert robots.base_parameters(robots.Robot.from_bodies("one", [body])).rank == 10 - hidden


def test_it_prints_as_text_and_as_html():
    found = robots.base_parameters(robots.load("two-link"))
    text = str(found)
    assert text.startswith("two-link: 6 base parameters of 20 inertial parameters\nrank from the structure of the tree")
    assert "without effect: m[link1]" in text
    assert "<td>mx[link1] + m[link2]</td>" in found._repr_html_()
    assert repr(found) == "<BaseParameters of 'two-link': 6 of 20>"
    assert "rank from the singular values" in str(robots.base_parameters(robots.load("four-bar")))


def test_wrong_arguments_are_explained():
    robot = robots.load("two-link")
    with pytest.raises(robots.RobotError, match=r"states is 3, expected at least 10: 20 parameters, 2 rows"):
        robots.base_parameters(robot, states=3)
    with pytest.raises(robots.RobotError, match=r"Y has shape \(2, 6\), robot 'two-link' needs \(\.\.\., 20\)"):
        robots.base_parameters(robot).regressor(np.zeros((2, 6)))
    with pytest.raises(robots.RobotError, match="elastic"):
        robots.base_parameters(robots.load("elastic-rp1"))


def test_a_rank_without_a_gap_is_refused(monkeypatch):
    """As if the rule had missed some transfers."""
    right = identifiable._transfers

    def fewer(robot):
        null, dependent = right(robot)
        return null[:, 1:], dependent[1:]

    monkeypatch.setattr(identifiable, "_transfers", fewer)
    with pytest.raises(robots.RobotError, match=r"expected a clear gap at rank 7, got: .*no clear gap"):
        robots.base_parameters(robots.load("two-link"))
