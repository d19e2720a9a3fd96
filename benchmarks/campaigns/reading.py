"""Campaign files: TOML with one table, ``[campaign]``, read with no mercy for typing errors.

A key that nobody knows, a wrong type, an empty axis, a robot or method that does not exist, a product of absurd size:
each is refused with the file, the key, what was wanted and what came. Nothing has been computed by then.

    "chain-{2..30}"  "chain-{2..30..4}"      robots by number, ends included, and by steps
    { name = "virtual-spring-denoc", stiffness = [1e3, 1e6] }     a method with options; a list is an axis
    seeds = 3,  [1, 5, 7],  { from = 0, to = 999 }                one, some, a range with both ends

Robot files are found from the folder of the campaign file.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dynbench import methods, robots
from dynbench.benchmarks.campaigns.campaign import Campaign, Choice, Subject
from dynbench.benchmarks.campaigns.kinds import FREE, KINDS
from dynbench.benchmarks.campaigns.values import Parser, Wanted, number, once, one_of, shown, some, text, whole
from dynbench.benchmarks.checks.agreement import COMPARED
from dynbench.benchmarks.processes.jobs import MEMORY, Job
from dynbench.methods.base import QUANTITIES
from dynbench.methods.registry import options_of
from dynbench.robots.errors import DynbenchError, near
from dynbench.robots.files.reading import read_toml

ALWAYS = ("name", "kind", "methods", "timeout", "memory")
LARGEST_FILE = 1 << 20  # bytes
MOST_CELLS = 10_000_000
MOST_ROBOTS = 1000  # each is built before anything begins
MOST_CHOICES = 10_000  # methods with options
LARGEST_SEED = 2**32 - 1
RANGE = re.compile(r"\{(\d{1,9})\.\.(\d{1,9})(?:\.\.(\d{1,9}))?\}")
DEFAULT_QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")


class File:
    """The table of a campaign file, with errors that say where."""

    def __init__(self, path: Path) -> None:
        self.path = path
        told = read_toml(path, LARGEST_FILE, "a campaign file (.toml)", DynbenchError)
        other = [key for key in told if key != "campaign"]
        if other or not isinstance(told.get("campaign"), dict):
            got = f"got {other[0]!r}" if other else "there is none"
            raise DynbenchError(f"{path}: one table, [campaign], was wanted; {got}")
        self.table: dict[str, Any] = told["campaign"]

    def error(self, key: str, said: str) -> DynbenchError:
        return DynbenchError(f"{self.path}: {key}: {said}")

    def take(self, key: str, parse: Parser, default: Any = None) -> Any:
        """The value of a key; without a default it must be there."""
        if key not in self.table:
            if default is None:
                raise self.error(key, "wanted, and not there")
            return default
        value = self.table[key]
        try:
            return parse(value)
        except Wanted as wanted:
            raise self.error(key, f"{wanted} was wanted, got {shown(value)}") from None
        except DynbenchError as error:
            raise self.error(key, str(error)) from error


def read(path: Path, ask: Callable[[Job], Any] | None = None) -> Campaign:
    """Return the campaign that a file describes.

    Parameters
    ----------
    ask : callable, optional
        Runs a job: the scenarios of a paper are found in another process. Default `processes.workers.run_job`.

    Raises
    ------
    DynbenchError
        In one line: the file, the key, what was wanted and what came.
    """
    file = File(path)
    kind_name = file.take("kind", one_of(tuple(KINDS), "a kind of campaign"))
    kind = KINDS[kind_name]
    known = (*ALWAYS, *kind.keys)
    for key in file.table:
        if key not in known:
            raise file.error(key, f"a campaign of kind {kind_name!r} has no such key; {near(key, known)}")
    subjects = file.take("robots", robots_in(path.parent), ())
    named = file.take("scenarios", scenarios_by(ask), ())
    if bool(subjects) == bool(named):
        also = " or scenarios" if "scenarios" in known else ""
        raise file.error(f"robots{also}", f"{'one of the two' if named else 'at least one'} was wanted")
    common = {key: file.take(key, *COMMON[key]) for key in kind.common}
    if named:
        _without(file, ("seeds", "reference"))
        common.pop("reference")
        common["horizon"] = file.take("horizon", number(1e-3, 1e4), 0.0)
    axes = {"quantity": file.take("quantities", _quantities(kind_name), DEFAULT_QUANTITIES)}
    if kind_name == "simulation":
        axes |= {"solver": file.take("solver", _solvers, ("DOP853",)), "rtol": file.take("rtol", _rtols, (1e-6,))}
    axes["seed"] = (None,) if named else file.take("seeds", seeds, (0,))
    campaign = Campaign(
        name=file.take("name", text, path.stem),
        kind_name=kind_name,
        subjects=subjects or named,
        choices=file.take("methods", choices),
        axes={name: axes[name] for name in kind.axes},
        common=common,
        timeout=file.take("timeout", number(1.0, 1e6), 300.0),
        memory=file.take("memory", whole(256 << 20, 1 << 50), MEMORY),
        path=path,
    )
    if len(campaign) > MOST_CELLS:
        raise DynbenchError(f"{path}: {len(campaign)} cells; at most {MOST_CELLS} were wanted: make several campaigns")
    return campaign


def _without(file: File, keys: Sequence[str]) -> None:
    for key in keys:
        if key in file.table:
            raise file.error(key, "a scenario has its own; this goes with robots only")


def _quantities(kind: str) -> Parser:
    return some(one_of(COMPARED if kind == "agreement" else tuple(QUANTITIES), "a quantity"), "quantity")


def _solvers(value: Any) -> tuple[str, ...]:
    from dynbench.benchmarks.simulation.integrators import INTEGRATORS

    found: tuple[str, ...] = some(one_of(INTEGRATORS, "an integrator"), "integrator")(value)
    return found


_rtols = some(number(1e-13, 0.1), "tolerance")


def seeds(value: Any) -> Sequence[int]:
    """One seed, a list, or a range with both ends."""
    seed = whole(0, LARGEST_SEED)
    if not isinstance(value, dict):
        return some(seed, "seed")(value)
    other = [key for key in value if key not in ("from", "to")]
    if other or len(value) != 2:
        raise Wanted("{ from = FIRST, to = LAST }")
    first, last = seed(value["from"]), seed(value["to"])
    if last < first:
        raise Wanted("a range that is not empty (from <= to)")
    return range(first, last + 1)


def method_name(value: Any) -> str:
    """The name of a method that exists, as it is written."""
    return methods.get(text(value)).name


COMMON: dict[str, tuple[Parser, Any]] = {
    "reference": (method_name, "newton-euler"),
    "states": (whole(1, 100_000), 16),
    "horizon": (number(1e-3, 1e4), 1.0),
    "limit": (whole(100, 100_000_000), 40_000),
}


def robots_in(folder: Path) -> Callable[[Any], tuple[Subject, ...]]:
    """Parse names and files of robots; each is loaded once, to see that it is there."""

    def parse(value: Any) -> tuple[Subject, ...]:
        every = (one for item in some(text, "robot")(value) for one in spread(item))
        names = list(itertools.islice(every, MOST_ROBOTS + 1))
        if len(names) > MOST_ROBOTS:
            raise Wanted(f"a list of at most {MOST_ROBOTS} robots")
        once(names)
        return tuple(_robot(name, folder) for name in names)

    return parse


def _robot(name: str, folder: Path) -> Subject:
    source = str((folder / name).resolve()) if (folder / name).is_file() else name
    try:
        robots.load(source)
    except OSError as error:
        raise DynbenchError(f"{source}: {error.strerror or error}") from error
    return Subject(name, (("scenario", FREE), ("robot", name)), (("robot", source),))


def spread(name: str) -> Iterator[str]:
    """Yield the names that one with a ``{2..30}`` stands for."""
    found = RANGE.search(name)
    if found is None:
        if "{" in name:
            raise DynbenchError(f"{name!r}: a range such as {{2..30}} or {{2..30..4}} was wanted between the braces")
        yield name
        return
    first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
    if last < first or step < 1 or (last - first) // step >= MOST_ROBOTS:
        raise DynbenchError(f"{name!r}: a range of 1 to {MOST_ROBOTS} numbers, the smaller first, was wanted")
    for each in range(first, last + 1, step):
        yield from spread(f"{name[: found.start()]}{each}{name[found.end() :]}")


def choices(value: Any) -> tuple[Choice, ...]:
    """Parse methods: names, or tables of a name and options, lists of which are axes."""
    found = [choice for item in (value if isinstance(value, list) else [value]) for choice in _choices(item)]
    if not found:
        raise Wanted("at least one method")
    once([choice.label for choice in found])
    return tuple(found)


def _choices(item: Any) -> list[Choice]:
    if isinstance(item, str):
        return [Choice(method_name(item))]
    if not isinstance(item, dict) or "name" not in item:
        raise Wanted('a list of names or of tables such as { name = "virtual-spring-denoc", stiffness = [1e3, 1e6] }')
    name = method_name(item["name"])
    defaults = options_of(methods.get(name))
    axes: list[list[tuple[str, Any]]] = []
    for option, given in item.items():
        values = given if isinstance(given, list) else [given]
        if not values:
            raise DynbenchError(f"{name}: {option}: at least one value was wanted, got []")
        if option != "name":
            axes.append([(option, _option(name, option, value, defaults)) for value in values])
    if math.prod(map(len, axes)) > MOST_CHOICES:
        raise DynbenchError(f"{name}: at most {MOST_CHOICES} combinations of options were wanted")
    found = [Choice(name, options) for options in itertools.product(*axes)]
    for choice in found:
        methods.get(name, **dict(choice.options))  # says what is wrong with an option
    return found


def _option(method: str, option: str, value: Any, known: Mapping[str, dataclasses.Field[Any]]) -> Any:
    """One value of an option: plain data, a whole number as a float where the method has floats."""
    if isinstance(value, list):
        return tuple(_option(method, option, item, known) for item in value)
    if not isinstance(value, str | int | float) or value != value:
        raise DynbenchError(f"{method}: {option}: a text, number or truth value was wanted, got {shown(value)}")
    default = known[option].default if option in known else None
    return float(value) if isinstance(default, float) and type(value) is int else value


def scenarios_by(ask: Callable[[Job], Any] | None) -> Callable[[Any], tuple[Subject, ...]]:
    """Parse scenarios, ``paper/name`` or ``paper`` for all of one; a paper is imported in another process."""
    from dynbench.benchmarks.papers import registry
    from dynbench.benchmarks.processes.workers import run_job

    def parse(value: Any) -> tuple[Subject, ...]:
        found: list[Subject] = []
        for item in some(text, "scenario")(value):
            paper, slash, name = item.partition("/")
            (paper,) = registry.checked_names([paper])
            answer = (ask or run_job)(Job("dynbench.benchmarks.campaigns.kinds:listed", {"paper": paper}, owner=paper))
            if answer.reason:
                raise DynbenchError(f"the scenarios of {paper!r} cannot be listed: {answer.why}")
            there = answer.value["names"]
            if (slash and name not in there) or not there:
                raise DynbenchError(f"no scenario of {paper!r} is called {name!r}; {near(name, there)}")
            found += [
                Subject(full, (("scenario", full),), (("scenario", full), ("sources", answer.value["sources"])))
                for full in (f"{paper}/{each}" for each in ([name] if slash else there))
            ]
        return tuple(found)

    return parse
