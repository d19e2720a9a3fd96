"""Robots by name: ``load("panda")``, or by file: ``load("arm.urdf")``, ``load("arm.toml")``.

The names of `dynbench.robots.registry` are always available, those of `dynbench.robots.files.example_models` if
the package `example-robot-data` is installed, and those of installed plugins.
"""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path

from dynbench.robots import registry
from dynbench.robots.errors import RobotError, RobotWarning, UnknownNameError, near
from dynbench.robots.files import example_models
from dynbench.robots.robot import Robot

_MODELS = Path(__file__).with_name("models")
_MAX_N = 10_000  # of N in chain-N: larger robots take minutes to build, and are more likely a typing error


def names() -> tuple[str, ...]:
    """Return the names that `load` accepts, without loading any; the N of ``chain-N`` is a number from 1."""
    return tuple(dict.fromkeys((*registry.ROBOTS, *example_models.names(), *registry.plugins())))


def load(name_or_path: str | os.PathLike[str]) -> Robot:
    """Return a robot of the zoo, or the one that a file describes.

    Parameters
    ----------
    name_or_path : str or path
        One of `names` (``-`` and ``_`` are the same), or a file that ends in ``.urdf`` or ``.toml``.

    Raises
    ------
    UnknownNameError
        If no robot has this name; suggests similar names.
    RobotError
        If the file is invalid; names the file and the error.
    """
    if isinstance(name_or_path, os.PathLike):
        return _load_file(os.fspath(name_or_path))
    if not isinstance(name_or_path, str):
        raise RobotError(f"expected a robot's name or file, got {name_or_path!r}")
    for name in (name_or_path, name_or_path.replace("_", "-")):
        robot = _load_name(name)
        if robot is not None:
            return robot
    if _is_path(name_or_path):
        return _load_file(name_or_path)
    if example_models.offers(name_or_path.replace("_", "-")):
        raise UnknownNameError(
            f"the robot '{name_or_path}' is in the package example-robot-data, which is not installed: "
            "`pip install example-robot-data`"
        )
    raise UnknownNameError(f"no robot is called '{name_or_path}'; {near(name_or_path, names())}")


def _load_name(name: str) -> Robot | None:
    if name.endswith("-N") and name in names():
        raise UnknownNameError(f"in '{name}', N is a number: '{name[:-1]}10', for example")
    target, plugin = registry.ROBOTS.get(name), registry.plugins().get(name)
    if target is not None:
        return registry.builder(target)() if ":" in target else _load_shipped(target)
    if name in example_models.names():
        return example_models.load(name)
    if plugin is not None:
        return registry.plugin_builder(plugin)()
    return _load_pattern(name)


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
            f"no robot is called '{name}': in '{pattern}', N must be a whole number from 1 to {_MAX_N}, "
            f"got '{number}'"
        )
    if pattern in registry.ROBOTS:
        return registry.builder(registry.ROBOTS[pattern])(int(number))
    return registry.plugin_builder(registry.plugins()[pattern])(int(number))


def _is_path(text: str) -> bool:
    has_folder = any(separator in text for separator in ("/", os.sep))
    suffix = Path(text).suffix.lower()
    return has_folder or suffix in (".urdf", ".toml", ".xacro", ".xml", ".sdf") or os.path.exists(text)


def _load_file(path: str) -> Robot:
    suffix = Path(path).suffix.lower()
    if suffix == ".urdf":
        from dynbench.robots.files.urdf import from_urdf

        return from_urdf(path)
    if suffix == ".toml":
        from dynbench.robots.files.robotfile import read_robot

        return read_robot(path)
    if not os.path.exists(path):
        raise RobotError(f"{path}: no such file")
    hint = "; expand it first: `xacro FILE > robot.urdf`" if suffix == ".xacro" else ""
    raise RobotError(f"{path}: expected a .urdf or .toml file, got '{suffix or 'no suffix'}'{hint}")
