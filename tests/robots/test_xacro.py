"""xacro files: expanded as xacro does, then read as URDF; errors name the file."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from urdf_text import SOLID, joint, link

from dynbench import robots
from dynbench.robots import RobotError

SPACE = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
PARTS = f"""<robot {SPACE}>
<xacro:macro name="segment" params="name parent reach">
  <link name="${{prefix}}${{name}}">{SOLID}</link>
  <joint name="${{prefix}}${{name}}_joint" type="revolute">
    <parent link="${{parent}}"/><child link="${{prefix}}${{name}}"/>
    <origin xyz="${{reach}} 0 ${{reach / 2}}"/><axis xyz="0 1 0"/>
  </joint>
</xacro:macro>
</robot>"""
ARM = f"""<robot name="arm" {SPACE}>
<xacro:arg name="prefix" default="left_"/>
<xacro:property name="prefix" value="$(arg prefix)"/>
<xacro:include filename="parts.xacro"/>
<link name="base">{SOLID}</link>
<xacro:segment name="upper" parent="base" reach="0.4"/>
<xacro:segment name="lower" parent="${{prefix}}upper" reach="0.6"/>
</robot>"""


def written(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "parts.xacro").write_text(PARTS)
    path = folder / "arm.urdf.xacro"
    path.write_text(ARM)
    return path


def test_macros_arguments_and_includes_are_expanded(tmp_path, monkeypatch):
    pytest.importorskip("xacrodoc")
    path = written(tmp_path / "description")
    monkeypatch.chdir(tmp_path)  # files that are included lie beside the file, not here
    by_hand = tmp_path / "by_hand.urdf"
    by_hand.write_text(
        '<robot name="arm">' + link("base") + link("left_upper") + link("left_lower")
        + joint("left_upper_joint", "base", "left_upper", inside='<origin xyz="0.4 0 0.2"/><axis xyz="0 1 0"/>')
        + joint("left_lower_joint", "left_upper", "left_lower", inside='<origin xyz="0.6 0 0.3"/><axis xyz="0 1 0"/>')
        + "</robot>"
    )  # fmt: skip
    assert robots.from_xacro(path) == robots.from_urdf(by_hand)
    assert robots.load(path) == robots.load("description/arm.urdf.xacro") == robots.load(by_hand)
    right = robots.from_xacro(path, arguments={"prefix": "right_"}, gravity=[0, 0, 0], floating_base=True)
    assert right.body_names == ("base", "right_upper", "right_lower")
    assert not np.any(right.gravity)
    assert robots.load(path, locked=["left_lower_joint"]).n == 1
    assert Path.cwd() == tmp_path


def test_what_cannot_be_expanded_is_refused(tmp_path, capfd):
    pytest.importorskip("xacrodoc")
    for text, message in {
        f'<robot name="a" {SPACE}><link name="${{nothing}}"/></robot>': "xacro does not expand it: .*nothing",
        f'<robot name="a" {SPACE}><xacro:include filename="none.xacro"/></robot>': "does not expand it: .*none.xacro",
        "<robot": "xacro does not expand it",
        f'<robot name="a" {SPACE}><link name="b"/></robot>': "no body moves",
        f'<robot name="a" {SPACE}><link/></robot>': r"\(expanded\):\d+: .*name",
    }.items():
        path = tmp_path / "wrong.xacro"
        path.write_text(text)
        with pytest.raises(RobotError, match=message) as caught:
            robots.load(path)
        assert str(caught.value).startswith(str(path))
    assert capfd.readouterr().err == ""


def test_without_the_package_the_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    with pytest.raises(RobotError, match="expanded by xacrodoc, which is not installed: `pip install xacrodoc`"):
        robots.load(written(tmp_path))
    with pytest.raises(RobotError, match=r"none\.xacro: no such file"):
        robots.load(tmp_path / "none.xacro")
