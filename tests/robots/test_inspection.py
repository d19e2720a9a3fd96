"""`Robot.inspect`: mistakes planted in a file are named, or refused when it is read; sound robots are not suspected."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from dynbench import robots
from dynbench.robots.errors import RobotError

BOX = '<collision><origin xyz="0.2 0 0" rpy="{rpy}"/><geometry><box size="0.4 0.1 0.1"/></geometry></collision>'
LINK = """  <link name="{name}">
    {visual}
    <inertial><origin xyz="{com}"/><mass value="{mass}"/>
      <inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="{ixy}" ixz="0" iyz="0"/></inertial>
  </link>
"""
JOINT = """  <joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
    <origin xyz="{at}"/><axis xyz="{axis}"/><limit lower="{lower}" upper="{upper}" effort="10" velocity="2"/></joint>
"""


def arm(folder: Path, link: dict[str, object] | None = None, joint: dict[str, object] | None = None) -> Path:
    """Write a sound arm of two links, except for what is changed of the second link and its joint."""
    sound = {"com": "0.2 0 0", "mass": 3, "ixx": 0.005, "iyy": 0.0425, "izz": 0.0425, "ixy": 0}
    sound |= {"visual": BOX.format(rpy="0 0 0")}
    second = {"name": "second", "parent": "one", "child": "two", "at": "0.4 0 0"}
    turning = {"kind": "revolute", "axis": "0 0 1", "lower": -2, "upper": 2}
    parts = [
        LINK.format(name="one", **sound),
        LINK.format(**({"name": "two"} | sound | (link or {}))),
        JOINT.format(name="first", parent="world", child="one", at="0 0 0.1", **turning),
        JOINT.format(**(second | turning | (joint or {}))),
    ]
    path = folder / "arm.urdf"
    path.write_text('<robot name="arm">\n  <link name="world"/>\n' + "".join(parts) + "</robot>\n")
    return path


# mistake -> changes of the second link and of its joint, and a word of the sentence that names it
MISTAKES: dict[str, tuple[dict[str, object], dict[str, object], str]] = {
    "millimetres": ({}, {"at": "400 0 0"}, "'two' is 400 m from its parent; millimetres"),
    "com in millimetres": ({"com": "200 0 0"}, {}, "centre of mass 200 m from its origin"),
    "com far from the shape": ({"com": "1.5 0 0"}, {}, "centre of mass 1.3 m from its shapes"),
    "grams": ({"mass": 3000, "ixx": 5, "iyy": 42.5, "izz": 42.5}, {"at": "0.4 0 0"}, "denser than metal; grams"),
    "inertia without mass": ({"mass": 0}, {}, "inertia .* but no mass"),
    "inertia in g cm^2": ({"ixx": 5e4, "iyy": 4.25e5, "izz": 4.25e5}, {}, "radius of gyration of .* another scale"),
    "inertia missing": ({"ixx": 0, "iyy": 0, "izz": 0}, {}, "no inertia: a point mass"),
    "sign of a product": (
        {"visual": BOX.format(rpy="0 0 0.7854"), "ixx": 0.0238, "iyy": 0.0238, "ixy": 0.0188},
        {},
        "ixy 0.0188 kg m.2, but its shapes have -0.0",
    ),
    "two visuals of a name": (
        {"visual": '<visual name="v"/><visual name="v"/>'},
        {},
        "two <visual> elements are called 'v'",
    ),
    "limits in degrees": ({}, {"lower": -170, "upper": 170}, "may turn by 170 rad, 27 turns; degrees"),
    "limits exchanged": ({}, {"lower": 2, "upper": -2}, "has limits 2 to -2"),
    "axis of zeros": ({}, {"axis": "0 0 0"}, "axis '0 0 0', expected a direction"),
    "negative mass": ({"mass": -3}, {}, "must not be negative"),
    "triangle inequality": ({"ixx": 0.005, "iyy": 0.005}, {}, "triangle inequality"),
    "negative moment": ({"ixx": -0.005}, {}, "not positive semidefinite"),
    "unknown parent": ({}, {"parent": "oen"}, "which no <link> defines"),
    "two parents": ({}, {"child": "one", "parent": "two"}, "two parents"),
    "not a number": ({"mass": "3,0"}, {}, "must be a finite number, got '3,0'"),
}


def said(path: Path) -> str:
    """Return what is suspected of a file's robot, or why it is refused."""
    try:
        return "\n".join(robots.load(path).inspect().suspicions)
    except RobotError as error:
        return str(error)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_planted_mistake_is_named(mistake: str, tmp_path: Path) -> None:
    link, joint, expected = MISTAKES[mistake]
    import re

    assert re.search(expected, said(arm(tmp_path, link, joint))), said(arm(tmp_path, link, joint))


def test_a_sound_arm_is_not_suspected(tmp_path: Path) -> None:
    found = robots.load(arm(tmp_path)).inspect()
    assert found.suspicions == ()
    assert found.ignored == ()
    text = str(found)
    for part in ("arm.urdf (URDF)", "base", "fixed", "2 bodies, nq 2, nv 2", "6 kg", "-2 to 2", "world on the ground"):
        assert part in text
    assert "<table>" in found._repr_html_()


def test_robots_of_the_zoo_are_not_suspected() -> None:
    for name in ("panda", "two-link", "rp3", "chain-8", "tree-20", "space-dual-arm", "gough-stewart", "elastic-rp1"):
        assert robots.load(name).inspect().suspicions == (), name


def test_what_is_ignored_is_listed(tmp_path: Path) -> None:
    path = arm(tmp_path, joint={"axis": '0 0 1"/><dynamics damping="1" D="2'})
    text = path.read_text().replace("</robot>", '<transmission name="t"/><gazebo/><gazebo/></robot>')
    path.write_text(text)
    ignored = robots.load(path).inspect().ignored
    assert ignored == ("1 transmissions", "2 <gazebo> elements", "attributes D of <dynamics> of joint 'second'")


def test_html_is_escaped() -> None:
    body = robots.Body(name="<script>", joint=robots.Revolute((0, 0, 1)), mass=1.0, inertia=(1.0, 1.0, 1.0))
    found = robots.Robot.from_bodies("<b>", [body]).inspect()
    assert "<script>" not in found._repr_html_()
    assert "<b>" not in found._repr_html_()


def test_every_zoo_robot_can_be_inspected() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in robots.names():
            one = name[:-1] + "3" if name.endswith("-N") else name
            found = robots.load(one).inspect()
            assert str(found).startswith(found.robot)
