"""URDF: invalid files are rejected with file, line and element."""

from __future__ import annotations

from pathlib import Path

import pytest
from urdf_text import ONE, SOLID, Files, joint, link, two_links

from dynbench.robots import RobotError, from_urdf

LINES = {  # case: elements, and the message from the line number on
    "no link": ((), ":1: <robot> has no <link>"),
    "two links": ((*ONE, link("tip")), ":5: two links are called 'tip' (the first is on line 3)"),
    "two joints": ((*ONE, joint("hinge", "tip", "base")), ":5: two joints are called 'hinge'"),
    "nameless": ((*ONE, "<link/>\n"), ":5: <link> has no attribute 'name'"),
    "parent": (
        (link("tip"), joint("hinge", "bass", "tip")),
        ":3: joint 'hinge' has parent 'bass', which no <link> defines",
    ),
    "child": (
        (link("base"), joint("hinge", "base", "tap")),
        ":3: joint 'hinge' has child 'tap', which no <link> defines",
    ),
    "no child": (
        (link("base"), '<joint name="j" type="revolute"><parent link="base"/></joint>\n'),
        ":3: joint 'j' has no <child>",
    ),
    "type": (
        two_links("ball"),
        ":4: joint 'j' has type 'ball', expected one of revolute, continuous, prismatic, fixed, floating, planar",
    ),
    "no type": (
        (link("base"), '<joint name="j"><parent link="base"/></joint>\n'),
        ":3: joint 'j' has no attribute 'type'",
    ),
    "two roots": ((*ONE, link("lonely")), ":1: expected one link without parent, got base, lonely"),
    "two parents": (
        (*ONE, link("other"), joint("k", "other", "tip")),
        ":6: link 'tip' has two parents, by joints 'hinge' and 'k'",
    ),
    "cycle": (
        (*ONE, link("c"), link("d"), joint("cd", "c", "d"), joint("dc", "d", "c")),
        "the joints of these links form a cycle: c, d",
    ),
    "only a cycle": (
        (link("c"), link("d"), joint("cd", "c", "d"), joint("dc", "d", "c")),
        "the joints of these links form a cycle: c, d",
    ),
    "axis": (
        two_links(inside='<axis xyz="0 0 0"/>'),
        ":4: joint 'j' has axis '0 0 0', expected a direction",
    ),
    "short axis": (
        two_links(inside='<axis xyz="0 1"/>'),
        ":4: joint 'j', <axis>, attribute 'xyz' must be 3 finite numbers, got '0 1'",
    ),
    "empty axis": (
        two_links(inside="<axis/>"),
        ":4: joint 'j', <axis> has no attribute 'xyz'",
    ),
    "quaternion": (
        two_links(inside='<origin quat_xyzw="0 0 0 1"/>'),
        ":4: joint 'j', <origin> has quat_xyzw, which is not supported; expected rpy",
    ),
    "two inertials": (
        (link("base", SOLID + SOLID),),
        ":2: link 'base': expected one <inertial> element, got 2",
    ),
}


@pytest.mark.parametrize("case", LINES)
def test_errors_name_the_line(files: Files, case: str) -> None:
    elements, expected = LINES[case]
    assert expected in files.refusal(*elements)


INERTIALS = {
    SOLID.replace('<mass value="2"/>', ""): "link 'tip', <inertial> has no <mass>",
    SOLID.replace('value="2"', ""): "link 'tip', <inertial><mass> has no attribute 'value'",
    SOLID.replace("<inertia ", "<inertias "): "link 'tip', <inertial> has no <inertia>",
    SOLID.replace('ixy="0.01"', ""): "link 'tip', <inertial><inertia> has no attribute 'ixy'",
    SOLID.replace('"0.4"', '"nan"'): "<inertia>, attribute 'ixx' must be a finite number, got 'nan'",
    SOLID.replace('"2"', '"inf"'): "<mass>, attribute 'value' must be a finite number, got 'inf'",
    SOLID.replace('"2"', '"2,5"'): "<mass>, attribute 'value' must be a finite number, got '2,5'",
    SOLID.replace('"2"', '"1_0"'): "<mass>, attribute 'value' must be a finite number, got '1_0'",
    SOLID.replace('"2"', '"-1"'): "<mass> must not be negative, got -1",
    SOLID.replace('"0 0 0"', '"0 0 zero"'): "attribute 'rpy' must be 3 finite numbers, got '0 0 zero'",
}


@pytest.mark.parametrize("inertial", INERTIALS)
def test_an_inertial_is_never_silently_zero(files: Files, inertial: str) -> None:
    message = files.refusal(link("base"), link("tip", inertial.replace("</inertias>", "")), ONE[2])
    assert INERTIALS[inertial] in message
    assert message.startswith(":3: ")


def refused(files: Files, text: str | bytes) -> str:
    with pytest.raises(RobotError) as caught:
        from_urdf(files.write(text))
    return str(caught.value)


def test_malformed_xml_names_file_and_position(files: Files) -> None:
    assert "arm.urdf: not well-formed XML: mismatched tag: line 2" in refused(files, "<robot>\n<link></robot>")
    assert "not well-formed XML: no element found" in refused(files, "")
    assert "not well-formed XML" in refused(files, b"\xff\xfe\x00junk")
    assert "unknown encoding: utff8" in refused(files, '<?xml version="1.0" encoding="utff8"?><robot/>')


def test_document_types_and_entities_are_rejected(files: Files, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hunter2")
    external = f'<!DOCTYPE robot [<!ENTITY x SYSTEM "{secret.as_uri()}">]>\n<robot name="&x;"/>'
    laughs = '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>\n<robot name="&b;"/>'
    for text in (external, laughs, '<!DOCTYPE robot SYSTEM "http://localhost/x.dtd"><robot/>'):
        message = refused(files, text)
        assert "arm.urdf:1: document types and entities are not allowed" in message
        assert "hunter2" not in message


def test_other_xml_is_rejected(files: Files) -> None:
    assert "arm.urdf:1: the outermost element must be <robot>, got <sdf>" in refused(files, "<sdf/>")


def test_xacro_is_rejected_with_a_hint(files: Files) -> None:
    space = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
    for text in (
        f'<robot {space} name="a">\n<xacro:include filename="b"/></robot>',
        '<robot name="a">\n<link name="${prefix}base"/></robot>',
    ):
        message = refused(files, text)
        assert "arm.urdf:2:" in message
        assert "xacro FILE" in message
    assert "xacro FILE" in refused(files, '<robot name="a"><xacro:macro/></robot>')
    # declaring the name space, as expanded files do, is harmless
    assert from_urdf(files.write(f'<robot {space} name="a">{"".join(ONE)}</robot>')).n == 1


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(RobotError, match=r"none\.urdf: no such file"):
        from_urdf(tmp_path / "none.urdf")
    with pytest.raises(RobotError, match="expected a robot file, got a folder"):
        from_urdf(str(tmp_path))
