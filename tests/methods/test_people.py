"""For people: tables of methods, pictures of robots, HTML in notebooks."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.robots.errors import RobotError, StateError


def test_methods_are_compared() -> None:
    robot = robots.load("two-link")
    q, v, a = (x[0] for x in robot.sample(1))
    found = methods.compare(robot, q, v, a, ["newton-euler", "kane", "gibbs-appell-rp", "mujoco"])
    assert set(found.forces) >= {"newton-euler", "kane"}
    assert "gibbs-appell-rp" in found.reasons
    assert found.spread < 1e-12
    np.testing.assert_array_equal(
        found.forces["kane"], methods.get("kane").prepare(robot).inverse_dynamics(q, v, a)
    )
    for text in (str(found), found._repr_html_()):
        assert f"{found.forces['kane'][0]:.9g}" in text
        assert robot.joint_names[1] in text
        assert "gibbs-appell-rp" in text
    with pytest.raises(StateError, match=r"q has shape \(1, 2\), expected one state \(2,\)"):
        methods.compare(robot, q[None], v[None], a[None])


def test_a_wrong_method_shows() -> None:
    from dynbench.methods.compare import Comparison

    found = Comparison("r", ("j",), {"one": np.array([1.0]), "two": np.array([1.5])}, {}, frozenset({"one", "two"}))
    assert found.spread == pytest.approx(1 / 3)
    assert "5.0e-01" in str(found)


@pytest.mark.parametrize("name", ["panda", "space-dual-arm", "five-bar", "tree-12"])
def test_robots_are_drawn(name: str) -> None:
    pytest.importorskip("matplotlib")
    robot = robots.load(name)
    axes = robot.plot()
    assert len(axes.lines) >= robot.n
    assert axes.get_title() == robot.name
    # the joints are where kinematics puts them
    from dynbench.robots import kinematics

    q = robot.sample(1, seed=2)[0][0]
    drawn = np.stack(robot.plot(q).collections[0]._offsets3d, axis=1)
    np.testing.assert_allclose(drawn, kinematics.poses(robot, q)[1], atol=1e-12)


def test_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(RobotError, match="elastic"):
        robots.load("elastic-rp1").plot()
    with pytest.raises(StateError, match="one state"):
        robots.load("panda").plot(np.zeros((2, 7)))


def test_notebooks_show_what_was_read() -> None:
    shown = robots.load("panda")._repr_html_()
    assert shown.startswith("<h4>panda</h4><table>")
    assert "panda_joint7" in shown
