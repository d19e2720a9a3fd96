"""Methods by name, through entry points: those of this package and of others are found in the same way.

A package offers methods under the group ``dynbench.methods``, one line each, name = "module:Class":

    [project.entry-points."dynbench.methods"]
    newton-euler = "dynbench.methods.newton_euler:NewtonEuler"

A plugin that cannot be used (it fails to import, is not a `Method`, was written for another version of the contract, or
has a name that another package uses) is listed separately with the reason, and affects no other method. One that
crashes or hangs the process on import must not be imported at all: see `leave_out`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import os
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from inspect import isabstract, isclass
from typing import Any

from dynbench.methods.base import CONTRACT, QUANTITIES, Method
from dynbench.robots.errors import DynbenchError, MethodError, UnknownNameError, near

GROUP = "dynbench.methods"
OURS = "dynbench"
LEFT_OUT = "DYNBENCH_LEFT_OUT"  # JSON, reasons by name; an environment variable, so that child processes inherit it


def available() -> tuple[dict[str, type[Method]], dict[str, str]]:
    """Return the usable method classes by name, and the reasons why others cannot be used, by name."""
    found, broken = _scan()
    return dict(found), dict(broken)


def names() -> tuple[str, ...]:
    """Return the names that `get` accepts. Whether a peer's engine is installed is reported by its `supports`."""
    return tuple(_scan()[0])


def get(name: str, **options: Any) -> Method:
    """Return the method of that name, with its options set.

    Parameters
    ----------
    name : str
        One of `names`; ``_`` and ``-`` are the same.
    **options
        Options of the method; an unknown one raises an error that lists the known ones.

    Raises
    ------
    UnknownNameError
        With similar names.
    MethodError
        If the plugin of that name is broken, or an option is wrong.
    """
    found, broken = _scan()
    for known in (name, str(name).replace("_", "-")):
        if known in found:
            return _with_options(found[known], options)
        if known in broken:
            raise MethodError(f"the method {known!r} cannot be used: {broken[known]}")
    raise UnknownNameError(f"no method is called {name!r}; {near(name, found)}")


def options_of(method: type[Method] | Method) -> dict[str, dataclasses.Field[Any]]:
    """Return the options of a method by name: the fields of its dataclass."""
    if not dataclasses.is_dataclass(method):
        return {}
    return {field.name: field for field in dataclasses.fields(method) if field.init}


def foreign() -> tuple[str, ...]:
    """Return the names that other packages register, without importing them."""
    return tuple(dict.fromkeys(point.name for point in entry_points(group=GROUP) if _package(point) != OURS))


def load_alone(name: str) -> None:
    """Import only the plugins of that name. Errors are ignored here and reported by `available`."""
    for point in entry_points(group=GROUP, name=name):
        if _package(point) != OURS:
            with contextlib.suppress(Exception, SystemExit):
                point.load()


def leave_out(reasons: Mapping[str, str]) -> None:
    """Do not import these plugins any more, in this process and in its future child processes."""
    os.environ[LEFT_OUT] = json.dumps({**_left_out(), **reasons})
    _scan.cache_clear()


def _left_out() -> dict[str, str]:
    found: dict[str, str] = json.loads(os.environ.get(LEFT_OUT, "{}"))
    return found


@functools.cache
def _scan() -> tuple[dict[str, type[Method]], dict[str, str]]:
    """Load every entry point of the group, once per process. Ours come first: plugins cannot take their names."""
    found: dict[str, type[Method]] = {}
    broken: dict[str, str] = {}
    owner: dict[str, str] = {}
    left_out = _left_out()
    for point in sorted(entry_points(group=GROUP), key=lambda point: (_package(point) != OURS, _package(point))):
        package = _package(point)
        if point.name in owner:
            broken[f"{point.name} ({package})"] = (
                f"the name {point.name!r} is taken by the package {owner[point.name]!r}; "
                f"{package!r} must register {point.value} under another"
            )
            continue
        owner[point.name] = package
        if package != OURS and point.name in left_out:
            broken[point.name] = f"{point.value} of the package {package!r}: {left_out[point.name]}"
            continue
        try:
            found[point.name] = _checked(point.name, point.load())
        except (Exception, SystemExit) as error:  # a plugin that fails must not affect the others
            message = str(error) if isinstance(error, MethodError) else f"{type(error).__name__}: {error}"
            broken[point.name] = f"{point.value} of the package {package!r}: {message}"
    return found, broken


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else ""


def _checked(name: str, loaded: Any) -> type[Method]:
    """Return the object that an entry point loaded, if it is a valid Method class."""
    if not (isclass(loaded) and issubclass(loaded, Method)):
        raise MethodError(f"expected a subclass of dynbench.methods.Method, got {loaded!r}")
    if loaded.contract != CONTRACT:
        newer = isinstance(loaded.contract, int) and loaded.contract > CONTRACT
        remedy = "a newer dynbench is needed" if newer else "a newer release of the package is needed"
        raise MethodError(
            f"{loaded.__name__} was written for version {loaded.contract!r} of the contract of methods, "
            f"this dynbench has version {CONTRACT}: {remedy}"
        )
    if isabstract(loaded):
        raise MethodError(f"{loaded.__name__} lacks {', '.join(sorted(loaded.__abstractmethods__))}")
    absent = [word for word in ("name", "title", "reference") if not isinstance(getattr(loaded, word, None), str)]
    if absent:
        raise MethodError(f"{loaded.__name__} lacks the class attribute {', '.join(absent)}")
    if loaded.name != name:
        raise MethodError(f"it is registered as {name!r}, but {loaded.__name__}.name is {loaded.name!r}")
    unknown = [quantity for quantity in loaded.computes if quantity not in QUANTITIES]
    if unknown:
        raise MethodError(f"{loaded.__name__}.computes names {unknown[0]!r}; {near(unknown[0], QUANTITIES)}")
    return loaded


def _with_options(method: type[Method], options: dict[str, Any]) -> Method:
    known = options_of(method)
    listed = f"its options are {', '.join(known)}" if known else "it has no options"
    for option in options:
        if option not in known:
            close = f"; {near(option, known)}" if known else ""
            raise MethodError(f"method {method.name!r} has no option {option!r}: {listed}{close}")
    try:
        return method(**options)
    except DynbenchError:
        raise
    except (TypeError, ValueError) as error:
        given = ", ".join(f"{option}={value!r}" for option, value in options.items())
        raise MethodError(f"method {method.name!r} with ({given}): {error}; {listed}") from error


def is_foreign(method: Method) -> bool:
    """Whether a method comes from another package."""
    return not type(method).__module__.startswith("dynbench.")
