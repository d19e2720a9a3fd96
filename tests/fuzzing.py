"""Malformed robot files, seeded, as carelessness or malice would leave them.

    urdf(random)    text of a URDF file, as bytes
    toml(random)    text of a robot file, as bytes

Each is made from a sound one by one to three mutations, or is one of the classical attacks.
"""

from __future__ import annotations

import re
from random import Random

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
NUMBER = re.compile(r"-?\b\d+(?:\.\d+)?\b")
TAG = re.compile(r"<(\w+)[^<>]*/>|<(joint|link|inertial)\b.*?</\2>|^[^\n]+$", re.DOTALL | re.MULTILINE)
LAUGHS = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True))


def garbled(random: Random, data: bytes) -> bytes:
    """Flip, cut, repeat or insert bytes."""
    out = bytearray(data)
    match random.randrange(5):
        case 0:
            for _ in range(random.randint(1, 20)):
                out[random.randrange(len(out))] = random.randrange(256)
        case 1:
            del out[random.randrange(len(out)) :]
        case 2:
            at = random.randrange(len(out))
            del out[at : at + random.randint(1, 80)]
        case 3:
            a = random.randrange(len(out))
            out[a:a] = out[a : a + random.randint(1, 200)]
        case _:
            at = random.randrange(len(out))
            out[at:at] = random.randbytes(random.randint(1, 50))
    return bytes(out)


def renumbered(random: Random, data: bytes) -> bytes:
    """Put something else in the place of a number."""
    text = data.decode("utf-8", "replace")
    found = list(NUMBER.finditer(text))
    if not found:
        return data
    one = random.choice(found)
    return (text[: one.start()] + random.choice(NUMBERS) + text[one.end() :]).encode()


def renamed(random: Random, data: bytes) -> bytes:
    """Put another name, or none, in the place of a quoted one."""
    text = data.decode("utf-8", "replace")
    found = list(re.finditer(r'"([^"\n]*)"', text))
    if not found:
        return data
    one, other = random.choice(found), random.choice(found)
    name = random.choice((*NAMES, other[1], other[1]))
    return (text[: one.start(1)] + name.replace('"', "") + text[one.end(1) :]).encode()


def _tags(random: Random, data: bytes) -> bytes:
    """Remove, repeat or move an element, or a line."""
    text = data.decode("utf-8", "replace")
    found = list(TAG.finditer(text))
    if not found:
        return data
    one = random.choice(found)
    without = text[: one.start()] + text[one.end() :]
    at = random.randrange(len(without) + 1)
    twice, moved = text[: one.end()] + one[0] + text[one.end() :], without[:at] + one[0] + without[at:]
    return random.choice((without, twice, moved)).encode()


def attacks() -> dict[str, bytes]:
    """What an XML reader must not fall for."""
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


def urdf(random: Random) -> bytes:
    """Return a malformed URDF file."""
    if random.random() < 0.2:
        return random.choice(list(attacks().values()))
    data = URDF.encode()
    for _ in range(random.choice((1, 1, 2, 3))):
        data = random.choice((garbled, renumbered, renumbered, renamed, renamed, _tags, _tags))(random, data or b" ")
    return data


def toml(random: Random) -> bytes:
    """Return a malformed robot file."""
    chance = random.random()
    if chance < 0.35:
        return _family(random)
    if chance < 0.4:
        return random.choice(
            (
                *(b"a = " + b"[" * 20_000, b"a." * 20_000 + b"b = 1", b"x = {" + b'"a".' * 9000 + b"b = 1}"),
                *(b"\xff\xfe", b"", b"name = 1", b"n = " + b"9" * 5000, TOML.encode() + b"[[bodies]]\n" * 3000),
                b"include = '../../etc/passwd'\n" + TOML.encode(),
            )
        )
    data = random.choice((TOML, LOOP, DH)).encode()
    for _ in range(random.choice((1, 1, 2, 3))):
        change = random.choice((garbled, renumbered, renumbered, renamed, _tags, _retyped, _retyped))
        data = change(random, data or b" ")
    return data


def _retyped(random: Random, data: bytes) -> bytes:
    """Give a key a value of another type, a ragged list, or an unknown key."""
    lines = data.decode("utf-8", "replace").split("\n")
    at = random.randrange(len(lines))
    key = lines[at].partition("=")[0].strip() or "mass"
    lines[at] = f"{random.choice((key, key, 'colour'))} = {_value(random)}"
    return "\n".join(lines).encode()


def _value(random: Random) -> str:
    values = ("-5.0", "1e300", "nan", "inf", "1000000000", "-1", "0", "true", '"text"', "[]", "[[1.0], [1.0, 2.0]]",
              "[1.0, 2.0, 3.0]", '["a", 1]', "{}", "{ a = 1 }", "1979-05-27", "[[[]]]", '"../../etc/passwd"', "1.5",
              "3", "[nan, 0.0, 0.0]", "[0.0, 0.0, 0.0]", "9223372036854775807", "[" + "1.0," * 5000 + "]")  # fmt: skip
    return random.choice(values)


def _family(random: Random) -> bytes:
    lines = [f'family = "{random.choice(FAMILIES)}"', "[arguments]"]
    lines += [f"{key} = {_value(random)}" for key in random.sample(ARGUMENTS, random.randint(0, 3))]
    return "\n".join(lines).encode()
