"""Methods by name, through entry points: ours and those of other packages take the same road.

A package offers methods under the group ``dynbench.methods``, one line each, name = "module:Class":

    [project.entry-points."dynbench.methods"]
    newton-euler = "dynbench.methods.newton_euler:NewtonEuler"

A plugin that cannot be used (it does not import, is no `Method`, was written for another version of the contract, or
takes a name that another package has) is kept in a list of its own with the reason, and stops nothing. One that
crashes or hangs when it is imported would stop the process: `leave_out` names those that are not to be tried.
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
LEFT_OUT = "DYNBENCH_LEFT_OUT"  # JSON, reasons by name: an environment variable, so that processes inherit it


def available() -> tuple[dict[str, type[Method]], dict[str, str]]:
    """Return the method classes by name, and why each of the others cannot be used, by name."""
    found, broken = _scan()
    return dict(found), dict(broken)


def names() -> tuple[str, ...]:
    """Return the names that `get` knows; whether the engine behind a peer is installed, its `supports` says."""
    return tuple(_scan()[0])


def get(name: str, **options: Any) -> Method:
    """Return the method of that name, with its options set.

    Parameters
    ----------
    name : str
        One of `names`; ``_`` and ``-`` are the same.
    **options
        The method's own; a wrong one is answered with those there are.

    Raises
    ------
    UnknownNameError
        With the nearest names.
    MethodError
        When the plugin of that name is broken, or an option is wrong.
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
    """Import the plugins of that name and no others; what they raise is for `available` to tell."""
    for point in entry_points(group=GROUP, name=name):
        if _package(point) != OURS:
            with contextlib.suppress(Exception, SystemExit):
                point.load()


def leave_out(reasons: Mapping[str, str]) -> None:
    """Import these plugins no more, here and in processes that are started from now on."""
    os.environ[LEFT_OUT] = json.dumps({**_left_out(), **reasons})
    _scan.cache_clear()


def _left_out() -> dict[str, str]:
    found: dict[str, str] = json.loads(os.environ.get(LEFT_OUT, "{}"))
    return found


@functools.cache
def _scan() -> tuple[dict[str, type[Method]], dict[str, str]]:
    """Load every entry point of the group, once in a process; ours first, so that nobody takes their names."""
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
        except (Exception, SystemExit) as error:  # whatever it is, somebody else's import stops nothing here
            said = str(error) if isinstance(error, MethodError) else f"{type(error).__name__}: {error}"
            broken[point.name] = f"{point.value} of the package {package!r}: {said}"
    return found, broken


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else ""


def _checked(name: str, loaded: Any) -> type[Method]:
    """Return what an entry point gave if it keeps the contract of a Method class."""
    if not (isclass(loaded) and issubclass(loaded, Method)):
        raise MethodError(f"a subclass of dynbench.methods.Method was wanted, got {loaded!r}")
    if loaded.contract != CONTRACT:
        newer = isinstance(loaded.contract, int) and loaded.contract > CONTRACT
        mend = "a newer dynbench is needed" if newer else "a newer release of the package is needed"
        raise MethodError(
            f"{loaded.__name__} was written for version {loaded.contract!r} of the contract of methods, "
            f"this dynbench has version {CONTRACT}: {mend}"
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
