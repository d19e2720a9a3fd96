"""Robot files (TOML): the arguments of `Robot.from_bodies`, a call of a family, or a DH table.

The format is documented in ``docs/robot-files.md``. A file cannot execute code or refer to other files: a family
is one of the names in `dynbench.robots.registry`. Unknown keys are errors. Numbers are written with the fewest
digits that read back to the same float, so ``read_robot`` returns a robot equal to the one written by
``write_robot``.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dynbench.robots import registry
from dynbench.robots.arrays import FloatArray
from dynbench.robots.body import EXTRAS, Body, Coupling, Loop, Spring
from dynbench.robots.couplings import described
from dynbench.robots.edit import edited
from dynbench.robots.errors import RobotError, UnknownNameError, near
from dynbench.robots.files.dh import from_dh
from dynbench.robots.files.reading import finite_numbers, read_toml
from dynbench.robots.files.urdf_xml import MAX_BODIES
from dynbench.robots.joints import Fixed, Free, Joint, JointKind, Prismatic, Revolute, Spherical
from dynbench.robots.origin import Origin
from dynbench.robots.robot import Robot
from dynbench.robots.rotations import from_rpy
from dynbench.robots.rotors import Rotor, with_rotors
from dynbench.robots.sources import Options

MAX_BYTES = 4_000_000  # of a file: the parser, written in Python, takes about a second per megabyte
AS_WRITTEN = Options()
_PLACEMENT = ("translation", "rotation", "rpy")
_BODY = ("name", "parent", "joint", "axis", "joint_name", *_PLACEMENT, "mass", "com", "inertia", *EXTRAS)
_LOOP = ("body1", "body2", "placement1", "placement2", "closes")
_SPRING = ("body1", "body2", "point1", "point2", "stiffness", "damping", "rest_length")
_COUPLING = ("joint", "follows", "multiplier", "offset")
_ROTOR = ("joint", "ratio", "inertia", "body", "axis", "included")
_TOP = ("name", "source", "licence", "gravity", "rotors")
_JOINTS: dict[str, Callable[..., Joint]] = {
    "revolute": Revolute,
    "prismatic": Prismatic,
    "spherical": Spherical,
    "free": Free,
    "fixed": Fixed,
}


def read_robot(path: str | os.PathLike[str], options: Options = AS_WRITTEN) -> Robot:
    """Return the robot that a robot file describes; ``options`` take the place of its keys ``base`` and ``locked``.

    Raises
    ------
    RobotError
        Naming the file, the table and the key (for TOML that cannot be parsed, line and column).
    """
    where = os.fspath(path)
    values = read_toml(path, MAX_BYTES)
    table = _Table(where, values)
    kinds = [key for key in ("bodies", "family", "dh") if key in values]
    if len(kinds) != 1:
        got = " and ".join(kinds) or "none"
        raise table.error(f"expected exactly one of 'bodies', 'family' and 'dh', got {got}")
    for key in ("source", "licence"):
        table.text(key)
    read = {"bodies": _from_bodies, "family": _from_family, "dh": _from_dh}[kinds[0]]
    try:
        return _geared(table, read(table, options), options)
    except (RobotError, UnknownNameError) as error:
        if str(error).startswith(where):
            raise
        raise RobotError(f"{where}: {error}") from error


def write_robot(
    robot: Robot, path: str | os.PathLike[str], *, source: str = "", licence: str = "", comment: str = ""
) -> None:
    """Write a robot file; `read_robot` returns an equal robot.

    Parameters
    ----------
    robot : Robot
        Without elastic links; for those, write a file that calls the family.
    path : path
    source, licence : str
        Where the numbers are from, and on what terms.
    comment : str
        Lines for the head of the file.
    """
    if robot.is_elastic:
        raise RobotError(
            f"robot '{robot.name}' has elastic links, which a robot file cannot list; "
            "write a file that calls its family"
        )
    text = "\n".join(_lines(robot, source, licence, comment)) + "\n"
    Path(path).write_text(text, encoding="utf-8", newline="\n")


# ---------------------------------------------------------------------- reading


class _Table:
    """A table of the file, with its location for error messages."""

    def __init__(self, where: str, values: dict[str, Any]) -> None:
        self.where, self.values = where, values

    def error(self, message: str) -> RobotError:
        return RobotError(f"{self.where}: {message}")

    def only(self, keys: Sequence[str]) -> None:
        for key in self.values:
            if key not in keys:
                raise self.error(f"unknown key '{key}'; {near(key, keys)}")

    def get(self, key: str, kind: type, expected: str, required: bool = False) -> Any:
        value = self.values.get(key)
        if value is None and not required:
            return None
        if value is None:
            raise self.error(f"the key '{key}' ({expected}) is missing")
        if not isinstance(value, kind):
            raise self.error(f"'{key}' must be {expected}, got {value!r}")
        return value

    def text(self, key: str, required: bool = False) -> str | None:
        value: str | None = self.get(key, str, "a string", required)
        return value

    def flag(self, key: str, default: bool) -> bool:
        value: bool | None = self.get(key, bool, "true or false")
        return default if value is None else value

    def array(self, key: str, *shapes: tuple[int, ...]) -> FloatArray | None:
        """Return finite numbers of one of the shapes, None if the key is absent; () is a single number."""
        return finite_numbers(self.where, key, self.values[key], *shapes) if key in self.values else None

    def table(self, key: str) -> _Table:
        return _Table(f"{self.where}: {key}", self.get(key, dict, "a table") or {})

    def tables(self, key: str) -> list[_Table]:
        rows = self.get(key, list, f"a list of tables [[{key}]]") or []
        for row in rows:
            if not isinstance(row, dict):
                raise self.error(f"'{key}' must be a list of tables [[{key}]], got the entry {row!r}")
        if len(rows) > MAX_BODIES:
            raise self.error(f"'{key}' has {len(rows)} entries, expected at most {MAX_BODIES}")
        return [
            _Table(f"{self.where}: {key}[{i}]" + (f" '{row['name']}'" if "name" in row else ""), row)
            for i, row in enumerate(rows)
        ]

    def placement(self, keys: Sequence[str] = _PLACEMENT) -> tuple[FloatArray, FloatArray]:
        """Return (R, p) of the keys translation and rotation or rpy, the identity where they are absent."""
        self.only(keys)
        rpy, rotation = self.array("rpy", (3,)), self.array("rotation", (3, 3))
        if rpy is not None and rotation is not None:
            raise self.error("expected 'rotation' or 'rpy', got both")
        if rpy is not None:
            rotation = from_rpy(rpy.tolist())
        translation = self.array("translation", (3,))
        return (
            np.eye(3) if rotation is None else rotation,
            np.zeros(3) if translation is None else translation,
        )


def _given(**arguments: Any) -> dict[str, Any]:
    """Return the arguments that are not None."""
    return {key: value for key, value in arguments.items() if value is not None}


def _from_bodies(table: _Table, options: Options) -> Robot:
    keys = ("strict", "bodies", "loops", "actuated", "platform", "home", "springs", "force_weights", "base", "locked")
    table.only((*_TOP, *keys, "couplings"))
    locked = table.get("locked", list, "a list of joint names") or []
    if not all(isinstance(name, str) for name in locked):
        raise table.error(f"'locked' must be a list of joint names, got {locked!r}")
    options = Options(options.base or table.text("base"), (*locked, *options.locked), options.mimic)
    bodies, why = _based([_body(row) for row in table.tables("bodies")], options)
    actuated = table.get("actuated", list, "a list of joint names or of indices into v")
    for entry in actuated or ():
        if isinstance(entry, bool) or not isinstance(entry, str | int):
            raise table.error(f"'actuated' must hold joint names or indices into v, got {entry!r}")
    robot = Robot.from_bodies(
        str(table.text("name", required=True)),
        bodies,
        origin=Origin(table.where, "robot file", base=why),
        loops=[_loop(row) for row in table.tables("loops")],
        springs=[_spring(row) for row in table.tables("springs")],
        couplings=[_coupling(row) for row in table.tables("couplings")],
        strict=table.flag("strict", True),
        **_given(
            gravity=table.array("gravity", (3,)),
            actuated=actuated,
            platform=table.text("platform"),
            home=table.get("home", list, "a list of nq numbers"),
            force_weights=table.get("force_weights", list, "a list of numbers, one for each actuated coordinate"),
        ),
    )
    return edited(robot, options)


def _based(bodies: list[Body], options: Options) -> tuple[list[Body], str]:
    """Return the bodies with the base that is asked for, and why it is so."""
    floats = any(body.parent is None and isinstance(body.joint, Free) for body in bodies)
    if options.base != "floating" or floats:
        return bodies, f"{'floating' if floats else 'fixed'}, as the file says"
    base = [body for body in bodies if body.parent is None]
    if len(base) != 1 or not isinstance(base[0].joint, Fixed):
        return bodies, ""  # an error, which `edited` words
    freed = dataclasses.replace(base[0], joint=Free(name=base[0].joint.name or "root_joint"))
    return [freed if body is base[0] else body for body in bodies], "floating, as asked for"


def _body(row: _Table) -> Body:
    placement = row.placement(_BODY)
    kind = str(row.text("joint", required=True))
    if kind not in _JOINTS:
        raise row.error(f"'joint' must be one of {', '.join(_JOINTS)}, got '{kind}'; {near(kind, _JOINTS)}")
    motion: dict[str, Any] = {"name": row.text("joint_name")}
    axis = row.array("axis", (3,))
    if kind in ("revolute", "prismatic"):
        if axis is None:
            raise row.error(f"a {kind} joint needs the key 'axis' (3 numbers)")
        motion["axis"] = axis
    elif axis is not None:
        raise row.error(f"a {kind} joint has no 'axis'")
    single = {key: None if (value := row.array(key, ())) is None else float(value) for key in ("mass", *EXTRAS)}
    return Body(
        name=str(row.text("name", required=True)),
        parent=row.text("parent"),
        joint=_JOINTS[kind](**motion),
        placement=placement,
        **_given(
            **single,
            com=row.array("com", (3,)),
            inertia=row.array("inertia", (3, 3), (3,)),
        ),
    )


def _loop(row: _Table) -> Loop:
    row.only(_LOOP)
    return Loop(
        body1=row.text("body1"),
        body2=row.text("body2"),
        placement1=row.table("placement1").placement(),
        placement2=row.table("placement2").placement(),
        **_given(closes=row.get("closes", list, "a list of six bools")),
    )


def _spring(row: _Table) -> Spring:
    row.only(_SPRING)
    return Spring(
        body1=row.text("body1"),
        body2=row.text("body2"),
        **_given(
            point1=row.array("point1", (3,)),
            point2=row.array("point2", (3,)),
            **{key: row.array(key, ()) for key in ("stiffness", "damping", "rest_length")},
        ),
    )


def _coupling(row: _Table) -> Coupling:
    row.only(_COUPLING)
    return Coupling(
        joint=str(row.text("joint", required=True)),
        follows=str(row.text("follows", required=True)),
        **_given(**{key: row.array(key, ()) for key in ("multiplier", "offset")}),
    )


def _geared(table: _Table, robot: Robot, options: Options) -> Robot:
    """Return the robot with the rotors of the file, except those of locked joints, which are still."""
    still = {*options.locked, *(table.values.get("locked") or ())}
    rotors = [_rotor(row) for row in table.tables("rotors")]
    return with_rotors(robot, [one for one in rotors if one.joint not in still])


def _rotor(row: _Table) -> Rotor:
    row.only(_ROTOR)
    ratio = row.array("ratio", ())
    if ratio is None:
        raise row.error("the key 'ratio' (a number) is missing")
    return Rotor(
        joint=str(row.text("joint", required=True)),
        ratio=float(ratio),
        included=row.flag("included", True),
        **_given(inertia=row.array("inertia", ()), body=row.text("body"), axis=row.array("axis", (3,))),
    )


def _from_dh(table: _Table, options: Options) -> Robot:
    table.only((*_TOP, "strict", "dh"))
    dh = table.table("dh")
    dh.only(("convention", "base", "tool", "rows"))
    robot = from_dh(
        [row.values for row in dh.tables("rows")],
        dh.text("convention", required=True),  # type: ignore[arg-type]  # from_dh checks the value
        name=str(table.text("name", required=True)),
        base=dh.table("base").placement(),
        tool=dh.table("tool").placement(),
        strict=table.flag("strict", True),
        **_given(gravity=table.array("gravity", (3,))),
    )
    return edited(robot, options)


def _from_family(table: _Table, options: Options) -> Robot:
    table.only((*_TOP, "family", "arguments"))
    name = str(table.text("family", required=True))
    build = registry.family(name)
    if build is None:
        raise table.error(f"no family is called '{name}'; {near(name, registry.family_names())}")
    arguments = dict(table.table("arguments").values)
    signature = inspect.signature(build)
    named = [key for key, parameter in signature.parameters.items() if parameter.kind != parameter.VAR_KEYWORD]
    if len(named) == len(signature.parameters):
        table.table("arguments").only(named)
    for key, value in arguments.items():
        count = key in named and key != "seed" and signature.parameters[key].annotation in (int, "int")
        if count and isinstance(value, int) and value > MAX_BODIES:
            raise table.error(f"family '{name}': {key} is {value}, expected at most {MAX_BODIES}")
    try:
        signature.bind(**arguments)
        robot = build(**arguments)
    except RobotError:
        raise
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
        plain = isinstance(error, TypeError | ValueError)
        said = str(error) if plain else f"the arguments do not fit ({type(error).__name__}: {error})"
        raise table.error(f"family '{name}': {said}") from error
    robot = dataclasses.replace(robot, **_given(name=table.text("name"), gravity=table.array("gravity", (3,))))
    return edited(robot, options)


# ---------------------------------------------------------------------- writing


def _lines(robot: Robot, source: str, licence: str, comment: str) -> list[str]:
    def parent(index: int) -> list[str]:
        return [] if index < 0 else [f"parent = {_text(robot.body_names[index])}"]

    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines += [f"name = {_text(robot.name)}"]
    lines += [f"{key} = {_text(text)}" for key, text in (("source", source), ("licence", licence)) if text]
    lines += [f"gravity = {_numbers(robot.gravity)}", "strict = false"][: 1 if _physical(robot) else 2]
    if not robot.is_tree:
        lines += [f"actuated = {robot.actuated.tolist()}", f"home = {_numbers(robot.home)}"]
        if robot.force_weights.size:
            lines += [f"force_weights = {_numbers(robot.force_weights)}"]
    if robot.platform >= 0:
        lines += [f"platform = {_text(robot.body_names[robot.platform])}"]
    for i, name in enumerate(robot.body_names):
        kind = JointKind(int(robot.kind[i]))
        lines += ["", "[[bodies]]", f"name = {_text(name)}", *parent(int(robot.parent[i]))]
        lines += [f'joint = "{kind.name.lower()}"']
        if robot.joint_names[i] != name:
            lines += [f"joint_name = {_text(robot.joint_names[i])}"]
        if kind in (JointKind.REVOLUTE, JointKind.PRISMATIC):
            lines += [f"axis = {_numbers(robot.axis[i])}"]
        lines += _placement(robot.rotation[i], robot.translation[i])
        lines += [f"mass = {float(robot.mass[i])!r}", f"com = {_numbers(robot.com[i])}"]
        lines += [f"inertia = {_numbers(robot.inertia[i])}"]
        lines += [f"{key} = {float(value)!r}" for key in EXTRAS if (value := getattr(robot, key)[i])]
    for frame in robot.frames:
        lines += ["", "[[bodies]]", f"name = {_text(frame.name)}", *parent(frame.body), 'joint = "fixed"']
        lines += _placement(frame.rotation, frame.translation)
    loops = robot.loops
    for k in range(len(loops.body1)):
        lines += ["", "[[loops]]"]
        for side, body in (("1", loops.body1[k]), ("2", loops.body2[k])):
            if body >= 0:
                lines += [f"body{side} = {_text(robot.body_names[body])}"]
        lines += [f"closes = {json.dumps(loops.rows[k].astype(bool).tolist())}"]
        for side, R, p in (
            ("1", loops.rotation1[k], loops.translation1[k]),
            ("2", loops.rotation2[k], loops.translation2[k]),
        ):
            lines += [f"placement{side}.{line}" for line in _placement(R, p)]
    springs = robot.springs
    for k in range(len(springs.body1)):
        lines += ["", "[[springs]]"]
        ends = (("1", springs.body1[k], springs.point1[k]), ("2", springs.body2[k], springs.point2[k]))
        for side, body, point in ends:
            if body >= 0:
                lines += [f"body{side} = {_text(robot.body_names[body])}"]
            lines += [f"point{side} = {_numbers(point)}"]
        for key in ("stiffness", "damping", "rest_length"):
            lines += [f"{key} = {float(getattr(springs, key)[k])!r}"]
    for one in described(robot):
        lines += ["", "[[couplings]]", f"joint = {_text(one.joint)}", f"follows = {_text(one.follows)}"]
        lines += [f"multiplier = {one.multiplier!r}", f"offset = {one.offset!r}"]
    return lines


def _physical(robot: Robot) -> bool:
    from dynbench.robots.validate import unphysical

    return not unphysical(robot.body_names, robot.inertia)


def _placement(rotation: FloatArray, translation: FloatArray) -> list[str]:
    lines = [] if np.array_equal(rotation, np.eye(3)) else [f"rotation = {_numbers(rotation)}"]
    return [f"translation = {_numbers(translation)}", *lines]


def _numbers(values: FloatArray) -> str:
    return repr(values.tolist())


def _text(text: str) -> str:
    # JSON and TOML have the same escapes, but TOML also requires DEL to be escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
