"""Reading URDF files."""

from __future__ import annotations

import numpy as np
import pytest
from urdf_text import INERTIAL, ONE, Files, joint, link

from dynbench.robots import JointKind, RobotError, RobotWarning, from_urdf
from dynbench.robots.kinematics import poses


def test_one_joint_with_the_defaults_of_the_format(files: Files) -> None:
    robot = files.load(*ONE)
    assert (robot.name, robot.body_names, robot.joint_names) == ("arm", ("tip",), ("hinge",))
    np.testing.assert_array_equal(robot.axis, [[1, 0, 0]])
    np.testing.assert_array_equal(robot.rotation, [np.eye(3)])
    np.testing.assert_array_equal(robot.mass, [2.0])
    np.testing.assert_array_equal(robot.com, [[0.1, 0.2, 0.3]])
    np.testing.assert_array_equal(robot.inertia, [[[0.4, 0.01, 0.02], [0.01, 0.5, 0.03], [0.02, 0.03, 0.6]]])
    np.testing.assert_array_equal(robot.gravity, [0, 0, -9.81])
    assert [frame.name for frame in robot.frames] == ["base"]


def test_name_and_gravity_can_be_given(files: Files) -> None:
    robot = files.load(*ONE, name="mine", gravity=(1, 2, 3))
    assert robot.name == "mine"
    np.testing.assert_array_equal(robot.gravity, [1, 2, 3])


def test_rpy_turns_about_fixed_axes_x_then_y_then_z(files: Files) -> None:
    origin = '<origin xyz="1 2 3" rpy="0.3 -0.7 1.1"/>'
    robot = files.load(link("base"), link("tip"), joint("hinge", "base", "tip", inside=origin))
    c, s = np.cos([0.3, -0.7, 1.1]), np.sin([0.3, -0.7, 1.1])
    Rx = [[1, 0, 0], [0, c[0], -s[0]], [0, s[0], c[0]]]
    Ry = [[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]]
    Rz = [[c[2], -s[2], 0], [s[2], c[2], 0], [0, 0, 1]]
    np.testing.assert_allclose(robot.rotation[0], np.array(Rz) @ Ry @ Rx, atol=1e-15)
    np.testing.assert_array_equal(robot.translation[0], [1, 2, 3])


def test_the_origin_of_the_inertial_turns_the_inertia(files: Files) -> None:
    # A quarter turn about z: the link's x axis is the inertial frame's minus y axis.
    turned = INERTIAL.format(rpy="0 0 1.5707963267948966")
    robot = files.load(link("base"), link("tip", turned), joint("hinge", "base", "tip"))
    expected = [[0.5, -0.01, -0.03], [-0.01, 0.4, 0.02], [-0.03, 0.02, 0.6]]
    np.testing.assert_allclose(robot.inertia[0], expected, atol=1e-15)


def test_every_kind_of_joint(files: Files) -> None:
    kinds = ("continuous", "prismatic", "floating", "revolute")
    robot = files.load(
        link("base"),
        *(link(kind) for kind in kinds),
        *(joint(f"j-{kind}", "base", kind, kind, '<axis xyz="0 3 4"/>') for kind in kinds),
    )
    assert robot.body_names == ("continuous", "floating", "prismatic", "revolute")
    assert robot.kind.tolist() == [
        JointKind.REVOLUTE,
        JointKind.FREE,
        JointKind.PRISMATIC,
        JointKind.REVOLUTE,
    ]
    np.testing.assert_allclose(robot.axis[[0, 2, 3]], [[0, 0.6, 0.8]] * 3, atol=1e-15)


def test_bodies_come_depth_first_sorted_by_joint_name(files: Files) -> None:
    robot = files.load(
        *(link(name) for name in "rabcd"),
        joint("z", "r", "a"),
        joint("m", "r", "b"),
        joint("y", "b", "c"),
        joint("x", "b", "d", "fixed"),
    )
    assert robot.joint_names == ("m", "y", "z")
    assert robot.body_names == ("b", "c", "a")


@pytest.mark.parametrize("axis", ["0 0 1", "1 0 0", "-0.3 0.5 2"])
def test_a_planar_joint_moves_in_the_plane_normal_to_its_axis(files: Files, axis: str) -> None:
    place = f'<origin xyz="0.4 0.1 -0.2" rpy="0.3 0.2 0.1"/><axis xyz="{axis}"/>'
    robot = files.load(link("base"), link("disc"), joint("slide", "base", "disc", "planar", place))
    assert robot.joint_names == ("slide/x", "slide/y", "slide")
    assert robot.mass.tolist() == [0, 0, 2]
    normal = np.array(axis.split(), float)
    R, p = poses(robot, [0.7, -0.4, 0.9])
    moved = robot.rotation[0].T @ (p[-1] - robot.translation[0])
    assert abs(moved @ normal) < 1e-14
    assert np.linalg.norm(moved) == pytest.approx(np.hypot(0.7, 0.4), rel=1e-14)
    np.testing.assert_allclose(R[-1] @ normal, robot.rotation[0] @ normal, atol=1e-14)
    if axis == "0 0 1":
        np.testing.assert_allclose(moved, [0.7, -0.4, 0], atol=1e-15)


def test_a_floating_base_carries_the_inertia_of_the_root(files: Files) -> None:
    robot = files.load(*ONE, floating_base=True)
    assert robot.joint_names == ("root_joint", "hinge")
    assert robot.mass.tolist() == [2.0, 2.0]
    assert robot.nq == 8
    assert robot.is_floating


def test_links_on_fixed_joints_are_merged_and_remembered(files: Files) -> None:
    robot = files.load(
        link("base"), link("arm"), link("hand", '<inertial><mass value="3"/><inertia ixx="1" ixy="0" ixz="0" '
        'iyy="1" iyz="0" izz="1"/></inertial>'),
        joint("hinge", "base", "arm"),
        joint("weld", "arm", "hand", "fixed", '<origin xyz="0 0 1"/>'),
    )  # fmt: skip
    assert robot.mass.tolist() == [5.0]
    np.testing.assert_allclose(robot.com[0], (2 * np.array([0.1, 0.2, 0.3]) + 3 * np.array([0, 0, 1])) / 5)
    hand = robot.frames[-1]
    assert (hand.name, hand.body) == ("hand", 0)
    np.testing.assert_array_equal(hand.translation, [0, 0, 1])


def test_welded_links_are_judged_as_one_body(files: Files) -> None:
    ones = " ".join(f'{key}="1e-6"' for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    placeholder = f'<inertial><mass value="1e-6"/><inertia {ones}/></inertial>'
    parts = (link("base"), link("arm", placeholder), joint("hinge", "base", "arm"))
    assert "triangle inequality" in files.refusal(*parts)
    with pytest.warns(RobotWarning, match="triangle inequality"):
        files.load(*parts, strict=False)
    robot = files.load(*parts, link("inertia"), joint("weld", "arm", "inertia", "fixed"))
    assert robot.mass.tolist() == [2.000001]


def test_a_massless_link_is_legal_when_something_hangs_on_it(files: Files) -> None:
    between = (joint("a", "base", "between"), joint("b", "between", "tip", inside='<axis xyz="0 0 1"/>'))
    robot = files.load(link("base"), link("between", ""), link("tip"), *between)
    assert robot.mass.tolist() == [0, 2]


def test_a_massless_leaf_is_rejected(files: Files) -> None:
    message = files.refusal(link("base"), link("tip", ""), joint("hinge", "base", "tip"))
    assert "'hinge'" in message
    assert "mass 0" in message


MIMIC = (
    *ONE,
    link("finger"),
    joint("follower", "base", "finger", "prismatic", '<mimic joint="hinge" multiplier="2"/>'),
)


def test_a_mimic_joint_is_coupled_by_default(files: Files) -> None:
    robot = files.load(*MIMIC)
    assert robot.joint_names == ("follower", "hinge")
    assert [x.tolist() for x in robot.couplings] == [[0], [1], [2.0], [0.0]]
    assert robot.actuated.tolist() == [1]
    offset = MIMIC[-1].replace('multiplier="2"', 'multiplier="-0.5" offset="0.1"')
    assert [x.tolist() for x in files.load(*MIMIC[:-1], offset).couplings[2:]] == [[-0.5], [0.1]]


def test_mimic_joints_can_be_refused_or_independent(files: Files) -> None:
    assert "joint 'follower' mimics 'hinge'" in files.refusal(*MIMIC, mimic="refuse")
    assert files.load(*MIMIC, mimic="independent").is_tree
    with pytest.raises(RobotError, match="mimic must be 'coupled' or 'independent' or 'refuse', got 'ignore'"):
        files.load(*MIMIC, mimic="ignore")
    assert files.load(*MIMIC, mimic="independent").joint_names == ("follower", "hinge")
    assert files.load(*MIMIC, locked=["follower"]).joint_names == ("hinge",)


@pytest.mark.parametrize(
    ("mimic", "options", "message"),
    [
        ('<mimic joint="hinje"/>', {}, "joint 'follower' mimics 'hinje', which is fixed, locked, or no joint"),
        ('<mimic joint="hinge"/>', {"locked": ["hinge"]}, "joint 'follower' mimics 'hinge', which is fixed, locked"),
        ('<mimic joint="follower"/>', {}, "coupling of joint 'follower': it follows itself"),
        ('<mimic joint="hinge" multiplier="two"/>', {}, "multiplier"),
        ("<mimic/>", {}, "<mimic>"),
    ],
)
def test_a_mimic_that_cannot_be_followed_is_refused(files: Files, mimic: str, options: dict, message: str) -> None:
    wrong = joint("follower", "base", "finger", "prismatic", mimic)
    assert message in files.refusal(*ONE, link("finger"), wrong, **options)


def test_a_mimic_on_a_fixed_joint_has_no_effect(files: Files) -> None:
    fixed = joint("follower", "base", "finger", "fixed", '<mimic joint="hinge"/>')
    assert files.load(*ONE, link("finger"), fixed).joint_names == ("hinge",)


def test_locking_names_what_it_does_not_know(files: Files) -> None:
    assert "no joint 'hinje' to lock; did you mean 'hinge'?" in files.refusal(*ONE, locked=["hinje"])
    with pytest.raises(RobotError, match="collection of joint names"):
        files.load(*ONE, locked="hinge")


def test_a_default_name_space_is_read_through(files: Files) -> None:
    text = f'<robot name="a" xmlns="http://www.ros.org">{"".join(ONE)}</robot>'
    assert from_urdf(files.write(text)).body_names == ("tip",)


def test_elements_of_extensions_are_not_read(files: Files) -> None:
    more = '<gazebo><link name="x"/></gazebo><transmission><joint name="hinge"/></transmission>'
    assert files.load(*ONE, more) == files.load(*ONE)
