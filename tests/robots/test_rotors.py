"""Rotors as bodies: what is built, files, the way back to armatures, and what is refused."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from coupled import coupled

from dynbench import robots
from dynbench.robots import Body, Revolute, Robot, RobotError, Rotor, as_armature, with_rotors
from dynbench.robots.files.robotfile import read_robot, write_robot
from dynbench.robots.rotors import coordinates, rotors_of

ARM = """
name = "arm"

[[bodies]]
name = "upper"
joint = "revolute"
axis = [0, 0, 1]
mass = 2.0
com = [0.2, 0, 0]
inertia = [0.01, 0.03, 0.03]

[[bodies]]
name = "lower"
parent = "upper"
joint = "revolute"
axis = [0, 1, 0]
translation = [0.4, 0, 0]
mass = 1.0
com = [0.2, 0, 0]
inertia = [0.005, 0.02, 0.02]
armature = 0.5

[[bodies]]
name = "mount"
parent = "upper"
joint = "fixed"
rpy = [0, 0, 1.5707963267948966]

[[rotors]]
joint = "upper"
ratio = 50.0
inertia = 1e-4

[[rotors]]
joint = "lower"
ratio = -100.0
body = "mount"
axis = [1, 0, 0]
"""


def arm(folder: Path, text: str = ARM) -> Path:
    path = folder / "arm.toml"
    path.write_text(text)
    return path


def test_rotors_of_a_file(tmp_path: Path) -> None:
    robot = robots.load(arm(tmp_path))
    assert robot.body_names == ("upper", "lower", "upper_rotor", "lower_rotor")
    assert robot.parent.tolist() == [-1, 0, -1, 0]
    assert robot.actuated.tolist() == [0, 1]
    assert not robot.armature.any()
    np.testing.assert_allclose(robot.axis[3], [0, 1, 0], atol=1e-15)  # x of the mount is y of the upper arm
    np.testing.assert_allclose(robot.inertia[3], 0.5e-4 * np.diag([0.5, 1.0, 0.5]), atol=1e-18)  # armature / ratio^2
    np.testing.assert_allclose(robot.inertia[0] + robot.inertia[3], np.diag([0.01, 0.03, 0.03]), atol=1e-18)
    assert [x.tolist() for x in robot.couplings] == [[2, 3], [0, 1], [50.0, -100.0], [0.0, 0.0]]
    text = str(robot.inspect())
    assert "lower_rotor turns -100 times lower, 5e-05 kg m^2, on upper; as armature 0.5" in text
    assert robot.inspect().suspicions == ()


def test_they_are_written_as_bodies(tmp_path: Path) -> None:
    robot = robots.load(arm(tmp_path))
    write_robot(robot, tmp_path / "copy.toml")
    assert read_robot(tmp_path / "copy.toml") == robot
    assert rotors_of(read_robot(tmp_path / "copy.toml")) == [2, 3]


def test_rotors_of_locked_joints_are_still(tmp_path: Path) -> None:
    robot = robots.load(arm(tmp_path), locked=["lower"])
    assert robot.body_names == ("upper", "upper_rotor")
    assert robots.load(arm(tmp_path, 'locked = ["upper"]\n' + ARM)).body_names == ("lower", "lower_rotor")


def test_the_way_back(tmp_path: Path) -> None:
    robot, plain = robots.load(arm(tmp_path)), robots.load(arm(tmp_path, ARM.partition("[[rotors]]")[0]))
    back = as_armature(robot)
    np.testing.assert_allclose(back.armature, [50.0**2 * 1e-4, 0.5], rtol=1e-14)
    np.testing.assert_allclose(back.inertia, plain.inertia, atol=1e-17)
    assert (back.body_names, back.frame_names) == (plain.body_names, plain.frame_names)
    assert back.is_tree
    in_q, in_v = coordinates(robot, back)
    assert in_q.tolist() == in_v.tolist() == [0, 1]
    assert as_armature(plain) is plain


def test_a_rotor_of_a_joint_that_follows_another() -> None:
    """The slide of that robot goes as -1.4 times the elbow, plus 0.3."""
    robot = with_rotors(coupled(), [Rotor(joint="slide", ratio=10.0, inertia=1e-3)], name="geared")
    assert robot.name == "geared"
    row = [x[-1] for x in robot.couplings]
    assert row == [robot.n - 1, robot.joint_names.index("elbow"), pytest.approx(-14.0), pytest.approx(3.0)]
    q, v, _ = robot.sample(4, seed=0)
    slide = robot.iq[robot.joint_names.index("slide")]
    np.testing.assert_allclose(q[:, -1], 10.0 * q[:, slide], atol=1e-12)
    np.testing.assert_allclose(v[:, -1], 10.0 * v[:, robot.iv[robot.joint_names.index("slide")]], atol=1e-12)


def test_loops_keep_their_assembly() -> None:
    four = robots.load("four-bar")
    crank = four.joint_names[int(four.actuated[0])]
    robot = with_rotors(four, [Rotor(joint=crank, ratio=20.0, inertia=1e-4)])
    assert robot.loop_analysis.dof == four.loop_analysis.dof == 1
    np.testing.assert_array_equal(robot.home[:-1], four.home)
    back = as_armature(robot)
    np.testing.assert_array_equal(back.home, four.home)
    assert back.armature.max() == pytest.approx(0.04)


def test_a_follower_that_is_no_rotor() -> None:
    """Unbalanced, not symmetric, carrying something, or with friction: it stays a body."""
    robot = coupled()
    assert rotors_of(robot) == []
    assert as_armature(robot) is robot
    disc = {"mass": 1.0, "inertia": [0.1, 0.1, 0.2], "parent": "link"}
    link = Body(name="link", joint=Revolute([0, 1, 0]), mass=1.0, com=[0.1, 0, 0], inertia=[0.1, 0.1, 0.1])
    turned = robots.random_rotation(np.random.default_rng(0))
    cases = {
        True: [{}, {"com": [0, 0, 0.3]}, {"placement": (turned, [1, 2, 3])}],
        False: [{"com": [0.01, 0, 0]}, {"inertia": [0.1, 0.11, 0.2]}, {"friction": 0.1}],
    }
    follows = [robots.Coupling(joint="disc", follows="link", multiplier=3.0)]
    for spins, changes in cases.items():
        for change in changes:
            body = Body(name="disc", joint=Revolute([0, 0, 1]), **(disc | change))
            made = Robot.from_bodies("made", [link, body], couplings=follows)
            assert rotors_of(made) == [1] * spins, change
            if spins:
                assert as_armature(made).armature.tolist() == [pytest.approx(9.0 * 0.2)]
                assert as_armature(made).mass.tolist() == [2.0]
    tip = Body(name="tip", parent="disc", joint=robots.Fixed())
    body = Body(name="disc", joint=Revolute([0, 0, 1]), **disc)
    assert rotors_of(Robot.from_bodies("made", [link, body, tip], couplings=follows)) == []


def test_the_geared_puma() -> None:
    robot, plain = robots.load("puma560-geared"), robots.load("puma560")
    back = as_armature(robot)
    ratios, moments = robot.couplings.multiplier, robot.inertia[6:].max(axis=(1, 2))
    np.testing.assert_allclose(back.armature, ratios**2 * moments, rtol=1e-12)
    # the discs are added to the links they are on
    np.testing.assert_allclose(back.inertia.trace(axis1=1, axis2=2) - plain.inertia.trace(axis1=1, axis2=2),
                               2.0 * np.append(moments[1:], 0.0), rtol=1e-9)  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        as_armature(robot)


@pytest.mark.parametrize(
    ("rotor", "message"),
    [
        ({"joint": "elbou", "ratio": 2.0}, "a rotor names 'elbou', which is no moving joint; did you mean 'elbow'"),
        ({"joint": "ball", "ratio": 2.0}, "a rotor names 'ball', a spherical joint; expected a revolute or"),
        ({"joint": "elbow", "ratio": 2.0}, "rotor of joint 'elbow': expected its inertia, since the joint has no"),
        ({"joint": "elbow", "ratio": 0.0}, "rotor of joint 'elbow': ratio is 0, expected a finite number, not zero"),
        ({"joint": "elbow", "ratio": 2.0, "inertia": -1.0}, "inertia is -1, expected a finite number > 0"),
        ({"joint": "elbow", "ratio": 2.0, "inertia": 1.0}, "expected a body that includes the rotor .*'shoulder'"),
        ({"joint": "elbow", "ratio": 2.0, "axis": [0, 0, 0]}, r"axis is \[0.0, 0.0, 0.0\], expected finite numbers"),
        ({"joint": "elbow", "ratio": 2.0, "inertia": 1e-4, "body": "wrist"}, "expected its axis, since it is on body"),
        ({"joint": "elbow", "ratio": 2.0, "body": "wirst"}, "body is 'wirst', which is no body or frame; did you mean"),
    ],
)
def test_wrong_rotors_are_refused(rotor: dict[str, object], message: str) -> None:
    with pytest.raises(RobotError, match=message):
        with_rotors(coupled(), [Rotor(**rotor)])


def test_wrong_uses_are_refused(tmp_path: Path) -> None:
    one = Rotor(joint="elbow", ratio=2.0, inertia=1e-4)
    with pytest.raises(RobotError, match="two bodies are named 'elbow_rotor'"):
        with_rotors(coupled(), [one, one])
    with pytest.raises(RobotError, match=r"rotors holds 'elbow', expected robots.Rotor\(...\)"):
        with_rotors(coupled(), ["elbow"])
    with pytest.raises(RobotError, match="has elastic links, which cannot carry rotors"):
        with_rotors(robots.load("elastic-rp1"), [one])
    for old, new, message in (
        ("ratio = 50.0\n", "", r"rotors\[0\]: the key 'ratio' \(a number\) is missing"),
        ("ratio = 50.0", "gear = 50.0", r"rotors\[0\]: unknown key 'gear'"),
        ('joint = "upper"', 'joint = "uper"', "arm.toml: robot 'arm': a rotor names 'uper', .* did you mean 'upper'"),
    ):
        with pytest.raises(RobotError, match=message):
            robots.load(arm(tmp_path, ARM.replace(old, new)))
