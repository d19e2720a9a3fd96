"""Campaign files: TOML with one table, ``[campaign]``, of which every key is checked before anything is computed.

An unknown key, a wrong type, an empty axis, an unknown robot or method, a product of absurd size: each is refused with
the file, the key, what was expected and what came.

    "chain-{2..30}"  "chain-{2..30..4}"      robots by number, both ends included, and by steps
    { name = "virtual-spring-denoc", stiffness = [1e3, 1e6] }     a method with options; a list is an axis
    seeds = 3,  [1, 5, 7],  { from = 0, to = 999 }                one, some, a range with both ends

Robot files are found from the folder of the campaign file. A parser takes the value of TOML and returns what it means,
or raises `Expected` with what should have been there, or a `DynbenchError` that says more.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dynbench import methods, robots
from dynbench.benchmarks.campaigns.campaign import Campaign, Choice, Target
from dynbench.benchmarks.campaigns.kinds import FREE, KINDS
from dynbench.benchmarks.checks.agreement import COMPARED
from dynbench.benchmarks.processes.jobs import MEMORY, Job
from dynbench.benchmarks.simulation.integrators import INTEGRATORS
from dynbench.methods.base import QUANTITIES
from dynbench.methods.registry import options_of
from dynbench.robots.errors import DynbenchError, near
from dynbench.robots.files.reading import read_toml
from dynbench.robots.text import clipped

ALWAYS = ("name", "kind", "methods", "timeout", "memory")
LARGEST_FILE = 1 << 20  # bytes
MOST_CELLS = 10_000_000
MOST_ROBOTS = 1000  # each is built before anything begins
MOST_CHOICES = 10_000  # methods with options
LARGEST_SEED = 2**32 - 1
RANGE = re.compile(r"\{(\d{1,9})\.\.(\d{1,9})(?:\.\.(\d{1,9}))?\}", re.ASCII)
DEFAULT_QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")

Parser = Callable[[Any], Any]


class Expected(Exception):
    """What was expected in place of a value; `File` adds the file, the key and what came."""


class File:
    """The table of a campaign file, with errors that say where."""

    def __init__(self, path: Path) -> None:
        self.path = path
        content = read_toml(path, LARGEST_FILE, "a campaign file (.toml)", DynbenchError)
        other = [key for key in content if key != "campaign"]
        if other or not isinstance(content.get("campaign"), dict):
            got = f"got {other[0]!r}" if other else "there is none"
            raise DynbenchError(f"{path}: expected one table, [campaign]; {got}")
        self.table: dict[str, Any] = content["campaign"]

    def error(self, key: str, sentence: str) -> DynbenchError:
        return DynbenchError(f"{self.path}: {key}: {sentence}")

    def take(self, key: str, parse: Parser, default: Any = None) -> Any:
        """Return the value of a key; without a default it must be there."""
        if key not in self.table:
            if default is None:
                raise self.error(key, "expected, and not there")
            return default
        value = self.table[key]
        try:
            return parse(value)
        except Expected as expected:
            raise self.error(key, f"expected {expected}, got {shown(value)}") from None
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
        In one line: the file, the key, what was expected and what came.
    """
    file = File(path)
    kind_name = file.take("kind", one_of(tuple(KINDS), "a kind of campaign"))
    kind = KINDS[kind_name]
    known = (*ALWAYS, *kind.keys)
    for key in file.table:
        if key not in known:
            raise file.error(key, f"a campaign of kind {kind_name!r} has no such key; {near(key, known)}")
    machines = file.take("robots", robots_in(path.parent), ())
    named = file.take("scenarios", scenarios_by(ask), ())
    if bool(machines) == bool(named):
        also = " or scenarios" if "scenarios" in known else ""
        raise file.error(f"robots{also}", f"expected {'one of the two' if named else 'at least one'}")
    common = {key: file.take(key, *COMMON[key]) for key in kind.common}
    if named:
        for key in ("seeds", "reference"):
            if key in file.table:
                raise file.error(key, "a scenario has its own; this goes with robots only")
        common.pop("reference")
        common["horizon"] = file.take("horizon", number(1e-3, 1e4), 0.0)
    quantity = one_of(COMPARED if kind_name == "agreement" else tuple(QUANTITIES), "a quantity")
    axes = {"quantity": file.take("quantities", some(quantity, "quantity"), DEFAULT_QUANTITIES)}
    if kind_name == "simulation":
        axes["solver"] = file.take("solver", some(one_of(INTEGRATORS, "an integrator"), "integrator"), ("DOP853",))
        axes["rtol"] = file.take("rtol", some(number(1e-13, 0.1), "tolerance"), (1e-6,))
    axes["seed"] = (None,) if named else file.take("seeds", seeds, (0,))
    campaign = Campaign(
        name=file.take("name", text, path.stem),
        kind_name=kind_name,
        targets=machines or named,
        choices=file.take("methods", choices),
        axes={name: axes[name] for name in kind.axes},
        common=common,
        timeout=file.take("timeout", number(1.0, 1e6), 300.0),
        memory=file.take("memory", whole(256 << 20, 1 << 50), MEMORY),
        path=path,
    )
    if len(campaign) > MOST_CELLS:
        raise DynbenchError(f"{path}: {len(campaign)} cells, expected at most {MOST_CELLS}: make several campaigns")
    return campaign


# ---------------------------------------------------------------------- values


def shown(value: Any) -> str:
    return clipped(repr(value), 80)


def text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Expected("a text")
    return value


def one_of(known: Sequence[str], what: str) -> Callable[[Any], str]:
    """Parse one of some names, in which - and _ are the same; ``what`` has an article."""

    def parse(value: Any) -> str:
        for name in (value, str(value).replace("-", "_"), str(value).replace("_", "-")):
            if isinstance(value, str) and name in known:
                return str(name)
        raise Expected(f"{what} ({near(str(value), known)})")

    return parse


def whole(least: int, most: int) -> Callable[[Any], int]:
    def parse(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise Expected(f"a whole number from {least} to {most}")
        return value

    return parse


def number(least: float, most: float) -> Callable[[Any], float]:
    def parse(value: Any) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
            raise Expected(f"a number from {least:g} to {most:g}")
        return float(value)

    return parse


def some(parse: Parser, what: str) -> Callable[[Any], tuple[Any, ...]]:
    """Parse a list that is not empty and has nothing twice, or one value alone."""

    def parse_all(value: Any) -> tuple[Any, ...]:
        values = value if isinstance(value, list) else [value]
        if not values:
            raise Expected(f"at least one {what}")
        return once(tuple(map(parse, values)))

    return parse_all


def once(values: tuple[Hashable, ...]) -> tuple[Any, ...]:
    """Return the values, none of which may be there twice."""
    if len(set(values)) < len(values):
        value, count = Counter(values).most_common(1)[0]
        raise DynbenchError(f"{shown(value)} is there {'twice' if count == 2 else f'{count} times'}")
    return values


def seeds(value: Any) -> Sequence[int]:
    """Parse one seed, a list, or a range with both ends."""
    seed = whole(0, LARGEST_SEED)
    if not isinstance(value, dict):
        return some(seed, "seed")(value)
    if set(value) != {"from", "to"}:
        raise Expected("{ from = FIRST, to = LAST }")
    first, last = seed(value["from"]), seed(value["to"])
    if last < first:
        raise Expected("a range that is not empty (from <= to)")
    return range(first, last + 1)


def method_name(value: Any) -> str:
    """Parse the name of a method that exists."""
    return methods.get(text(value)).name


COMMON: dict[str, tuple[Parser, Any]] = {
    "reference": (method_name, "newton-euler"),
    "states": (whole(1, 100_000), 16),
    "horizon": (number(1e-3, 1e4), 1.0),
    "limit": (whole(100, 100_000_000), 40_000),
}


# ---------------------------------------------------------------------- robots, methods, scenarios


def robots_in(folder: Path) -> Callable[[Any], tuple[Target, ...]]:
    """Parse names and files of robots; each is loaded once, to see that it is there."""

    def parse(value: Any) -> tuple[Target, ...]:
        every = (one for item in some(text, "robot")(value) for one in spread(item))
        names = tuple(itertools.islice(every, MOST_ROBOTS + 1))
        if len(names) > MOST_ROBOTS:
            raise Expected(f"a list of at most {MOST_ROBOTS} robots")
        return tuple(_robot(name, folder) for name in once(names))

    return parse


def _robot(name: str, folder: Path) -> Target:
    source = str((folder / name).resolve()) if (folder / name).is_file() else name
    try:
        robots.load(source)
    except OSError as error:
        raise DynbenchError(f"{source}: {error.strerror or error}") from error
    return Target(name, (("scenario", FREE), ("robot", name)), (("robot", source),))


def spread(name: str) -> Iterator[str]:
    """Yield the names that one with a ``{2..30}`` stands for."""
    found = RANGE.search(name)
    if found is None:
        if "{" in name:
            raise DynbenchError(f"{name!r}: expected a range such as {{2..30}} or {{2..30..4}} between the braces")
        yield name
        return
    first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
    if last < first or step < 1 or (last - first) // step >= MOST_ROBOTS:
        raise DynbenchError(f"{name!r}: expected a range of 1 to {MOST_ROBOTS} numbers, the smaller first")
    for each in range(first, last + 1, step):
        yield from spread(f"{name[: found.start()]}{each}{name[found.end() :]}")


def choices(value: Any) -> tuple[Choice, ...]:
    """Parse methods: names, or tables of a name and options, lists of which are axes."""
    found = tuple(choice for item in (value if isinstance(value, list) else [value]) for choice in _choices(item))
    if not found:
        raise Expected("at least one method")
    once(tuple(choice.label for choice in found))
    return found


def _choices(item: Any) -> list[Choice]:
    if isinstance(item, str):
        return [Choice(method_name(item))]
    if not isinstance(item, dict) or "name" not in item:
        raise Expected('a list of names or of tables such as { name = "virtual-spring-denoc", stiffness = [1e3, 1e6] }')
    name = method_name(item["name"])
    defaults = options_of(methods.get(name))
    axes: list[list[tuple[str, Any]]] = []
    for option, given in item.items():
        values = given if isinstance(given, list) else [given]
        if not values:
            raise DynbenchError(f"{name}: {option}: expected at least one value, got []")
        if option != "name":
            axes.append([(option, _option(name, option, value, defaults)) for value in values])
    if math.prod(map(len, axes)) > MOST_CHOICES:
        raise DynbenchError(f"{name}: expected at most {MOST_CHOICES} combinations of options")
    found = [Choice(name, options) for options in itertools.product(*axes)]
    for choice in found:
        methods.get(name, **dict(choice.options))  # says what is wrong with an option
    return found


def _option(method: str, option: str, value: Any, known: Mapping[str, dataclasses.Field[Any]]) -> Any:
    """Return one value of an option: plain data, a whole number as a float where the method has floats."""
    if isinstance(value, list):
        return tuple(_option(method, option, item, known) for item in value)
    if not isinstance(value, str | int | float) or value != value:
        raise DynbenchError(f"{method}: {option}: expected a text, number or truth value, got {shown(value)}")
    default = known[option].default if option in known else None
    return float(value) if isinstance(default, float) and type(value) is int else value


def scenarios_by(ask: Callable[[Job], Any] | None) -> Callable[[Any], tuple[Target, ...]]:
    """Parse scenarios, ``paper/name`` or ``paper`` for all of one; a paper is imported in another process."""
    from dynbench.benchmarks.papers import registry
    from dynbench.benchmarks.processes.workers import run_job

    def parse(value: Any) -> tuple[Target, ...]:
        found: list[Target] = []
        for item in some(text, "scenario")(value):
            paper, slash, name = item.partition("/")
            (paper,) = registry.checked_names([paper])
            answer = (ask or run_job)(Job("dynbench.benchmarks.campaigns.kinds:listed", {"paper": paper}, owner=paper))
            if answer.reason:
                raise DynbenchError(f"the scenarios of {paper!r} cannot be listed: {answer.why}")
            there, sources = answer.value["names"], answer.value["sources"]
            if (slash and name not in there) or not there:
                raise DynbenchError(f"no scenario of {paper!r} is called {name!r}; {near(name, there)}")
            full = [f"{paper}/{each}" for each in ([name] if slash else there)]
            found += [Target(one, (("scenario", one),), (("scenario", one), ("sources", sources))) for one in full]
        return tuple(found)

    return parse
