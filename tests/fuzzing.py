"""Hypothesis strategies for malformed robot files.

    urdf()        content of a URDF file: edited, or a random structure
    attacks()     known attacks on XML readers, all of them
    toml()        content of a robot file: edited, a call of a family, or a file beyond the limits of the parser
    dh_rows()     rows of a DH table, with values of any type

A drawn file is a valid one with a few edits, so that a failure shrinks to the edit that causes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

URDF = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0.1 0.2" rpy="0.1 0 0"/><mass value="2.5"/>
    <inertia ixx="0.03" ixy="0.001" ixz="0" iyy="0.02" iyz="-0.001" izz="0.025"/></inertial></link>
  <link name="lower"><inertial><mass value="1.5"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.012" iyz="0" izz="0.015"/></inertial></link>
  <link name="tool"><inertial><mass value="0.1"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.3" rpy="0 0.5 0"/><axis xyz="0 0 1"/><limit lower="-1" upper="1"/></joint>
  <joint name="elbow" type="prismatic"><parent link="upper"/><child link="lower"/><axis xyz="1 0 0"/></joint>
  <joint name="weld" type="fixed"><parent link="lower"/><child link="tool"/><origin xyz="0 0 0.1"/></joint>
</robot>
"""
TOML = """name = "arm"
gravity = [0.0, 0.0, -9.81]

[[bodies]]
name = "upper"
joint = "revolute"
axis = [0.0, 0.0, 1.0]
translation = [0.0, 0.0, 0.3]
rpy = [0.0, 0.5, 0.0]
mass = 2.5
com = [0.0, 0.1, 0.2]
inertia = [[0.03, 0.001, 0.0], [0.001, 0.02, -0.001], [0.0, -0.001, 0.025]]

[[bodies]]
name = "lower"
parent = "upper"
joint = "spherical"
translation = [0.5, 0.0, 0.0]
mass = 1.5
com = [0.1, 0.0, 0.0]
inertia = [0.01, 0.012, 0.015]
"""
LOOP = """name = "bars"
actuated = ["left"]
[[bodies]]
name = "left"
joint = "revolute"
axis = [0.0, 0.0, 1.0]
mass = 1.0
com = [0.5, 0.0, 0.0]
inertia = [0.01, 0.1, 0.1]
[[bodies]]
name = "right"
parent = "left"
joint = "revolute"
axis = [0.0, 0.0, 1.0]
translation = [1.0, 0.0, 0.0]
mass = 1.0
com = [0.5, 0.0, 0.0]
inertia = [0.01, 0.1, 0.1]
[[loops]]
body1 = "right"
closes = [false, true, false, false, false, false]
"""
DH = """name = "dh"
[dh]
convention = "standard"
[[dh.rows]]
a = 0.4
alpha = 1.5
d = 0.1
mass = 2.0
com = [0.1, 0.0, 0.0]
inertia = [0.02, 0.02, 0.02]
"""
FAMILIES = ("chain", "tree", "random_tree", "pendulum", "two_link", "four_bar", "five_bar", "planar_3rrr", "delta",
            "gough_stewart", "rp_chain", "random_space_manipulator", "elastic_rp_chain", "os", "os:system", "chain-N",
            "../../etc/passwd", "dynbench.robots.families.trees:chain", "__import__", "")  # fmt: skip
ARGUMENTS = ("n", "seed", "branching", "length", "mass", "modes", "kinds", "name", "gravity", "arms", "density",
             "__class__", "base_points", "platform_mass", "ground", "floating", "bending_z")  # fmt: skip
NUMBERS = ("nan", "inf", "-inf", "1e400", "1e308", "-1e308", "1e-320", "-1", "0", "x", "", "1_000", "0x10", "1,5", "١",
           "9" * 5000, "1e200", "1 2", "1e31", "0.5", "0.02", "2.0", "1e-9", "1e6")  # fmt: skip
NAMES = ("", "../../../etc/passwd", "a\nb", "\x1b[2Jgone", "<script>alert(1)</script>", "=cmd|'/c calc'!A1", "%s%n",
         "{0}", "{{ 7*7 }}", "$x^2$", "x" * 20_000, "\u202etxt", "a/b", "-N", "nan", "ñ\U0001f916", "'")  # fmt: skip
LAUGHS = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True))
NUMBER = re.compile(r"-?\b\d+(?:\.\d+)?\b")
QUOTED = re.compile(r'"([^"\n]*)"')
ELEMENT = re.compile(r"<(\w+)[^<>]*/>|<(joint|link|inertial)\b.*?</\2>|^[^\n]+$", re.DOTALL | re.MULTILINE)

VALUES = ("0", "-1", "3", "1.5", "-5.0", "1e300", "nan", "inf", "1000000000", "9223372036854775807", "true", '"text"',
          '"../../etc/passwd"', "[]", "[[[]]]", "[0.0, 0.0, 0.0]", "[1.0, 2.0, 3.0]", "[nan, 0.0, 0.0]", '["a", 1]',
          "[[1.0], [1.0, 2.0]]", "{}", "{ a = 1 }", "1979-05-27", "[" + "1.0," * 5000 + "]")  # fmt: skip

Edit = Callable[[DrawFn, bytes], bytes]


def position(draw: DrawFn, content: bytes | str) -> int:
    return draw(st.integers(0, len(content)))


def delete(draw: DrawFn, content: bytes) -> bytes:
    """Delete some bytes, or everything after a position."""
    at = position(draw, content)
    return content[:at] + content[at + draw(st.integers(1, 80) | st.just(len(content))) :]


def insert(draw: DrawFn, content: bytes) -> bytes:
    """Insert arbitrary bytes, or repeat some of the content."""
    at = position(draw, content)
    return content[:at] + draw(st.binary(min_size=1, max_size=50) | st.just(content[at : at + 200])) + content[at:]


def overwrite(draw: DrawFn, content: bytes) -> bytes:
    """Replace single bytes."""
    changed = bytearray(content)
    for at, byte in draw(st.lists(st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255)), max_size=20)):
        changed[at] = byte
    return bytes(changed)


def matches(pattern: re.Pattern[str], content: bytes) -> tuple[str, list[re.Match[str]]]:
    """Return the content as text, and all places of a pattern in it."""
    text = content.decode("utf-8", "replace")
    return text, list(pattern.finditer(text))


def change_number(draw: DrawFn, content: bytes) -> bytes:
    """Replace a number by another number or by something that is not one."""
    text, found = matches(NUMBER, content)
    if not found:
        return content
    one, number = draw(st.sampled_from(found)), draw(st.sampled_from(NUMBERS) | st.floats().map(repr))
    return (text[: one.start()] + number + text[one.end() :]).encode()


def change_name(draw: DrawFn, content: bytes) -> bytes:
    """Replace a quoted name by another one of the file, or by an arbitrary one."""
    text, found = matches(QUOTED, content)
    if not found:
        return content
    one = draw(st.sampled_from(found))
    name = draw(st.sampled_from([other[1] for other in found]) | st.sampled_from(NAMES) | st.text(max_size=8))
    return (text[: one.start(1)] + name.replace('"', "") + text[one.end(1) :]).encode("utf-8", "replace")


def change_element(draw: DrawFn, content: bytes) -> bytes:
    """Remove, repeat or move an element or a line."""
    text, found = matches(ELEMENT, content)
    if not found:
        return content
    one = draw(st.sampled_from(found))
    without = text[: one.start()] + text[one.end() :]
    at = position(draw, without)
    repeated, moved = text[: one.end()] + one[0] + text[one.end() :], without[:at] + one[0] + without[at:]
    return draw(st.sampled_from((without, repeated, moved))).encode()


def change_value(draw: DrawFn, content: bytes) -> bytes:
    """Give a TOML key a value of another type, or replace it by an unknown key."""
    lines = content.decode("utf-8", "replace").split("\n")
    at = draw(st.integers(0, len(lines) - 1))
    key = lines[at].partition("=")[0].strip() or "mass"
    lines[at] = f"{draw(st.sampled_from((key, 'colour')))} = {draw(st.sampled_from(VALUES))}"
    return "\n".join(lines).encode()


BYTES: tuple[Edit, ...] = (delete, insert, overwrite)


@st.composite
def edited(draw: DrawFn, valid: tuple[str, ...], edits: tuple[Edit, ...]) -> bytes:
    """Return one of the valid files after one to three edits."""
    content = draw(st.sampled_from(valid)).encode()
    for _ in range(draw(st.integers(1, 3))):
        content = draw(st.sampled_from(edits))(draw, content or b" ")
    return content


def attacks() -> dict[str, bytes]:
    """Return known attacks on XML readers, and unusual files."""
    body = URDF.partition("?>")[2]
    weld = '<link name="l{0}"/><joint name="j{0}" type="fixed"><parent link="l{1}"/><child link="l{0}"/></joint>'
    chain = "".join(weld.format(i, i - 1) for i in range(1, 3000))
    include = '<xi:include href="/etc/passwd" xmlns:xi="http://www.w3.org/2001/XInclude"/><link'
    return {
        "billion laughs": f'<!DOCTYPE r [<!ENTITY a "ha">{LAUGHS}]><robot name="&j;"><link name="a"/></robot>'.encode(),
        "entity": f'<!DOCTYPE r [<!ENTITY e "x">]>{body.replace("arm", "&e;")}'.encode(),
        "external": f'<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>{body.replace("arm", "&e;")}'.encode(),
        "dtd": f'<!DOCTYPE robot SYSTEM "http://localhost:1/x.dtd">{body}'.encode(),
        "deep": b"<robot>" + b"<a>" * 10_000 + b"</a>" * 10_000 + b"</robot>",
        "deep, open": b"<robot>" + b"<a>" * 10_000,
        "long": f'<robot name="a"><link name="l0"/>{chain}</robot>'.encode(),
        "wide": URDF.replace('name="arm"', f'name="{"a" * 1_000_000}"').encode(),
        "utf-16": URDF.replace('version="1.0"', 'version="1.0" encoding="utf-16"').encode("utf-16"),
        "unknown encoding": URDF.replace('version="1.0"', 'version="1.0" encoding="klingon"').encode(),
        "cycle": URDF.replace('parent link="base"', 'parent link="lower"').encode(),
        "self": URDF.replace('child link="upper"', 'child link="base"').encode(),
        "include": body.replace("<link", include, 1).encode(),
        "empty": b"",
        "zeros": bytes(1000),
    }


@st.composite
def structures(draw: DrawFn) -> bytes:
    """Return a URDF file with random links and joints: a tree, or a cycle, a forest, an undefined link."""
    links = draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6, unique=True))
    ends = st.sampled_from(links) | st.just("undefined")
    number = st.sampled_from(("0", "0.5", "-1", "1e-9", "1e31", "nan"))
    kinds = st.sampled_from(("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "ball"))
    inertia = '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>'
    parts = []
    for name in links:
        inertial = f'<inertial><mass value="{draw(st.just("1.5") | number)}"/>{inertia}</inertial>'
        parts.append(f'<link name="{name}">{inertial if draw(st.booleans()) else ""}</link>')
    for k, child in enumerate(links[1:]):
        parent = draw(st.just(links[k]) | ends)
        axis = " ".join(draw(st.tuples(number, number, st.just("1"))))
        parts.append(
            f'<joint name="j{k}" type="{draw(kinds)}"><parent link="{parent}"/><child link="{child}"/>'
            f'<axis xyz="{axis}"/></joint>'
        )
    return f"<robot name='drawn'>{''.join(parts)}</robot>".encode()


@st.composite
def families(draw: DrawFn) -> bytes:
    """Return a robot file that calls a family, known or not, with arguments of any type."""
    keys = draw(st.lists(st.sampled_from(ARGUMENTS), max_size=3, unique=True))
    lines = [f"family = {json.dumps(draw(st.sampled_from(FAMILIES)))}", "[arguments]"]
    return "\n".join(lines + [f"{key} = {draw(st.sampled_from(VALUES))}" for key in keys]).encode()


LIMITS = (b"a = " + b"[" * 20_000, b"a." * 20_000 + b"b = 1", b"x = {" + b'"a".' * 9000 + b"b = 1}", b"\xff\xfe", b"",
          b"name = 1", b"n = " + b"9" * 5000, TOML.encode() + b"[[bodies]]\n" * 3000,
          b"include = '../../etc/passwd'\n" + TOML.encode())  # fmt: skip


def mostly(often: Callable[[], SearchStrategy[bytes]], *others: SearchStrategy[bytes]) -> SearchStrategy[bytes]:
    """Return a strategy that draws four times as often from the first; `one_of` would merge equal ones."""
    return st.one_of(*(often() for _ in range(4)), *others)


def urdf() -> SearchStrategy[bytes]:
    """Return the strategy of URDF files."""
    edits: tuple[Edit, ...] = (change_number, change_name, change_element, *BYTES)
    return st.one_of(edited((URDF,), edits), structures())


def toml() -> SearchStrategy[bytes]:
    """Return the strategy of robot files."""
    edits: tuple[Edit, ...] = (change_value, change_value, change_number, change_name, change_element, *BYTES)
    return mostly(lambda: edited((TOML, LOOP, DH), edits), families(), st.sampled_from(LIMITS))


def dh_rows() -> SearchStrategy[list[dict[str, Any]]]:
    """Return the strategy of DH tables: rows with valid numbers, of which one or two are replaced."""
    number = st.floats(-2.0, 2.0)
    valid = st.fixed_dictionaries(
        {"a": number, "alpha": number, "d": number, "theta": number, "mass": st.floats(0.1, 10.0)},
        optional={"type": st.sampled_from(("revolute", "prismatic")), "offset": number},
    ).map(lambda row: {**row, "com": [0.1, 0.0, row["a"]], "inertia": [0.02, 0.02, 0.03]})
    anything = st.none() | st.booleans() | st.floats() | st.text(max_size=3) | st.lists(st.floats(), max_size=4)
    keys = ("a", "alpha", "d", "theta", "mass", "com", "inertia", "type", "offset", "name", "colour")
    changes = st.dictionaries(st.sampled_from(keys), anything, max_size=2)
    return st.lists(st.tuples(valid, changes).map(lambda pair: {**pair[0], **pair[1]}), max_size=4)
