"""Robots by name: ``load("panda")``, or by file: ``load("arm.urdf")``, ``load("arm.xml")``, ``load("arm.toml")``.

The names of `dynbench.robots.registry` are always available, those of `dynbench.robots.files.example_models` if
the package `example-robot-data` is installed, and those of installed plugins.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Collection
from pathlib import Path

from dynbench.robots import edit, registry
from dynbench.robots.errors import RobotError, RobotWarning, UnknownNameError, near
from dynbench.robots.files import example_models
from dynbench.robots.robot import Robot
from dynbench.robots.sources import Options
from dynbench.robots.text import short

_MODELS = Path(__file__).with_name("models")
_MAX_N = 10_000  # of N in chain-N: larger robots take minutes to build, and are more likely a typing error


def names() -> tuple[str, ...]:
    """Return the names that `load` accepts, without loading any; the N of ``chain-N`` is a number from 1."""
    return tuple(dict.fromkeys((*registry.ROBOTS, *example_models.names(), *registry.plugins())))


def load(
    name_or_path: str | os.PathLike[str],
    *,
    base: str | None = None,
    locked: Collection[str] = (),
    mimic: str | None = None,
) -> Robot:
    """Return a robot of the zoo, or the one that a file describes.

    The base is as the file says: a robot file and MJCF have free joints. A URDF file does not say; its base is fixed,
    unless the file is one of example-robot-data's that this package loads with a free base. This holds for names and
    paths alike; `Robot.inspect` repeats it.

    Parameters
    ----------
    name_or_path : str or path
        One of `names` (``-`` and ``_`` are the same), or a file that ends in ``.urdf``, ``.xacro``, ``.xml`` (MJCF)
        or ``.toml``.
        The arguments below may follow a question mark (`dynbench.robots.sources`).
    base : "floating" or "fixed", optional
        The base, whatever the file says.
    locked : names of joints
        Joints held at zero; their links are merged with the parent.
    mimic : "coupled", "independent" or "refuse", optional
        What is done with joints of URDF and MJCF files that follow others, see `from_urdf`.

    Raises
    ------
    UnknownNameError
        If no robot has this name; suggests similar names.
    RobotError
        If the file is invalid; names the file and the error.
    """
    given = Options(base, tuple(locked) if not isinstance(locked, str) else locked, mimic)  # type: ignore[arg-type]
    if isinstance(name_or_path, os.PathLike):
        return _load_file(os.fspath(name_or_path), given)
    if not isinstance(name_or_path, str):
        raise RobotError(f"expected a robot's name or file, got {name_or_path!r}")
    source, options = Options.of(given.added_to(name_or_path))
    for name in (source, source.replace("_", "-")):
        robot = _load_name(name, options)
        if robot is not None:
            return robot
    if _is_path(source):
        return _load_file(source, options)
    if example_models.offers(source.replace("_", "-")):
        raise UnknownNameError(
            f"the robot '{source}' is in the package example-robot-data, which is not installed: "
            "`pip install example-robot-data`"
        )
    raise UnknownNameError(f"no robot is called '{short(source, 200)}'; {near(source, names())}")


def _load_name(name: str, options: Options) -> Robot | None:
    if name.endswith("-N") and name in names():
        raise UnknownNameError(f"in '{name}', N is a number: '{name[:-1]}10', for example")
    target, plugin = registry.ROBOTS.get(name), registry.plugins().get(name)
    if target is None and name in example_models.names():
        return example_models.load(name, **options.for_urdf())
    if target is not None:
        robot = registry.builder(target)() if ":" in target else _load_shipped(target)
    elif plugin is not None:
        robot = registry.plugin_builder(plugin)()
    else:
        found = _load_pattern(name)
        if found is None:
            return None
        robot = found
    return edit.edited(robot, options)


def _load_shipped(file: str) -> Robot:
    from dynbench.robots.files.robotfile import read_robot

    with warnings.catch_warnings():
        # The header of the file lists the published inertias that are not physical.
        warnings.simplefilter("ignore", RobotWarning)
        return read_robot(_MODELS / file)


def _load_pattern(name: str) -> Robot | None:
    """Return the robot of a name such as chain-12, None if no name ending in -N begins like it."""
    patterns = [known for known in (*registry.ROBOTS, *registry.plugins()) if known.endswith("-N")]
    pattern = max((known for known in patterns if name.startswith(known[:-1])), key=len, default=None)
    if pattern is None:
        return None
    number = name[len(pattern) - 1 :]
    if not re.fullmatch(r"[1-9][0-9]{0,8}", number) or int(number) > _MAX_N:
        raise UnknownNameError(
            f"no robot is called '{short(name, 80)}': in '{pattern}', N must be a whole number from 1 to {_MAX_N}, "
            f"got '{short(number, 80)}'"
        )
    if pattern in registry.ROBOTS:
        return registry.builder(registry.ROBOTS[pattern])(int(number))
    return registry.plugin_builder(registry.plugins()[pattern])(int(number))


def _is_path(text: str) -> bool:
    has_folder = any(separator in text for separator in ("/", os.sep))
    suffix = Path(text).suffix.lower()
    return has_folder or suffix in (".urdf", ".toml", ".xacro", ".xml", ".mjcf", ".sdf") or os.path.exists(text)


def _load_file(path: str, options: Options) -> Robot:
    suffix = Path(path).suffix.lower()
    if suffix == ".urdf":
        from dynbench.robots.files.urdf import from_urdf

        return from_urdf(path, **options.for_urdf())
    if suffix == ".toml":
        from dynbench.robots.files.robotfile import read_robot

        return read_robot(path, options)
    if not os.path.exists(path):
        raise RobotError(f"{path}: no such file")
    if suffix in (".xml", ".mjcf"):
        return _load_xml(path, options)
    if suffix == ".xacro":
        from dynbench.robots.files.xacro import from_xacro

        return from_xacro(path, **options.for_urdf())
    hint = ""
    if suffix == ".sdf":
        hint = "; SDF is not read: convert it to URDF (`gz sdf`, sdformat_urdf) or MJCF"
    expected = "a .urdf, .xacro, .xml (MJCF) or .toml file"
    raise RobotError(f"{path}: expected {expected}, got '{suffix or 'no suffix'}'{hint}")


def _load_xml(path: str, options: Options) -> Robot:
    """Read a file of either format, told apart by its outermost element."""
    from dynbench.robots.files.urdf_xml import read_xml

    root = read_xml(path).root.tag.rpartition("}")[2]
    if root == "mujoco":
        from dynbench.robots.files.mjcf import from_mjcf

        return from_mjcf(path, **options.for_mjcf())
    if root == "robot":
        from dynbench.robots.files.urdf import from_urdf

        return from_urdf(path, **options.for_urdf())
    raise RobotError(f"{path}: expected the outermost element <mujoco> (MJCF) or <robot> (URDF), got <{root}>")
