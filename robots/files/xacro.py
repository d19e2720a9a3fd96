"""xacro files: ``from_xacro("arm.urdf.xacro") -> Robot``, expanded by `xacrodoc` (extra ``xacro``) and read as URDF.

A xacro file is a program: expanding it evaluates the expressions in it and reads the files that it includes. Expand no
file that you do not trust.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dynbench.robots.errors import RobotError
from dynbench.robots.files.urdf import from_urdf
from dynbench.robots.files.urdf_xml import read_xml
from dynbench.robots.robot import Robot


def from_xacro(
    path: str | os.PathLike[str], arguments: Mapping[str, object] | None = None, **options: Any
) -> Robot:
    """Return the robot that a xacro file describes.

    Parameters
    ----------
    path : path of the file
        Packages that it refers to (``$(find ...)``) are searched for in the folders above it.
    arguments : mapping from name to value, optional
        Values of its ``<xacro:arg>``.
    **options
        Those of `from_urdf`.

    Raises
    ------
    RobotError
        If xacrodoc is not installed, if the file cannot be expanded, or if what comes out is no valid URDF. Lines in
        messages are those of the expanded file.
    """
    where = os.fspath(path)
    if not os.path.isfile(where):
        raise RobotError(f"{where}: no such file")
    document = read_xml(f"{where} (expanded)", expanded(where, arguments or {}).encode())
    return from_urdf(path, document=document, **options)


def expanded(where: str, arguments: Mapping[str, object]) -> str:
    """Return the URDF that a xacro file expands to, as text."""
    try:
        from xacrodoc import XacroDoc
    except ImportError as error:
        raise RobotError(
            f"{where}: xacro files are expanded by xacrodoc, which is not installed: `pip install xacrodoc`; or expand "
            "it first: `xacro FILE > robot.urdf`"
        ) from error
    given = {name: str(value) for name, value in arguments.items()}
    said = io.StringIO()  # xacro prints its warnings
    try:
        # xacrodoc looks for included files from the working directory
        with contextlib.chdir(Path(where).absolute().parent), contextlib.redirect_stderr(said):
            document = XacroDoc.from_file(Path(where).name, subargs=given, resolve_packages=False)
            return str(document.to_urdf_string())
    except (Exception, SystemExit) as error:  # its errors have no common class, and it may exit
        reason = " ".join(f"{error} {said.getvalue()}".split()) or type(error).__name__
        raise RobotError(f"{where}: xacro does not expand it: {reason}") from error
