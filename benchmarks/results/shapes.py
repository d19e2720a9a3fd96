"""The JSON files of a results folder, read as untrusted input: size, depth and content are checked.

A class lists the fields that readers rely on, with their types; other fields are kept as they are. A field with a
default may be absent or null.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field

from dynbench.benchmarks.results.columns import MAX_BYTES, MAX_NAME, MAX_TEXT
from dynbench.robots.errors import DynbenchError
from dynbench.robots.text import visible

MAX_DEPTH = 50  # brackets inside each other; ours have eight

Name = Annotated[str, Meta(max_length=MAX_NAME)]
Text = Annotated[str, Meta(max_length=MAX_TEXT)]


class MethodFacts(Struct):
    title: Name | None = None
    reference: Text | None = None
    cost: Name | None = None


class RobotFacts(Struct):
    bodies: float
    nq: float
    nv: float


class TimingFacts(Struct):
    """Whether the machine was quiet while it was timed."""

    quiet: bool
    sentence: Text
    resolution: dict[Name, float] | None = None


class Machine(Struct):
    """environment.json of one machine."""

    methods: dict[Name, MethodFacts] | None = None
    robots: dict[Name, RobotFacts] | None = None
    quantities: list[Name] | None = None
    notes: list[Text] | None = None
    versions: dict[Name, Name] | None = None
    left_out: dict[Name, Text] | None = field(default=None, name="left out")
    left_to_full: list[Text] | None = field(default=None, name="left to the full run")
    code: list[Name] | None = None
    simd: list[Name] | None = None
    peak: float | None = field(default=None, name="peak flop/s")
    host: Name | None = None
    date: Text | None = None  # of a merged folder: all of them
    command: Text | None = None
    commit: Text | None = None
    timing: TimingFacts | None = None
    targets: bool | None = None


class Facts(Machine):
    """environment.json; that of a merged folder has those of each machine."""

    hosts: dict[Name, Machine] | None = None


class CheckRow(Struct):
    robot: Name


class WorstRow(CheckRow):
    method: Name
    other: Name
    quantity: Name
    measure: Name


class Disagreements(Struct):
    """disagreements.json."""

    rows: list[CheckRow] | None = None


class Worst(Struct):
    """worst.json."""

    rows: list[WorstRow] | None = None


class Series(Struct):
    label: Name
    method: Name
    x: list[float]
    y: list[float]

    def __post_init__(self) -> None:
        if len(self.x) != len(self.y):
            raise ValueError(f"Expected as many x as y, got {len(self.x)} and {len(self.y)}")


class Panel(Struct):
    title: Name
    ylabel: Name
    series: list[Series]


class Plot(Struct):
    name: Name
    title: Name
    xlabel: Name
    xscale: Name
    yscale: Name
    caption: Text
    panels: list[Panel]


class Motion(Struct):
    t: list[float]
    points: list[list[float]]
    lines: list[tuple[int, int, Name]]
    dots: list[tuple[int, Name]]
    planar: bool


class Simulation(Struct):
    """simulations/*.json."""

    name: Name
    paper: Name
    title: Name
    robot: Name
    reason: Text
    plots: list[Plot]
    motion: Motion | None = None
    provenance: list[tuple[Text, Text, Text, Text]] | None = None


def read(path: Path, shape: type[Struct]) -> dict[str, Any]:
    """Return the fields of a JSON file that are not null, checked; those of an absent file are none.

    Raises
    ------
    DynbenchError
        Naming the file, the place in it, what was expected and what is there.
    """
    if not path.is_file():
        return {}
    if path.stat().st_size > MAX_BYTES:
        raise DynbenchError(f"{path}: expected at most {MAX_BYTES} bytes, got {path.stat().st_size}")
    try:
        value = msgspec.json.decode(path.read_bytes())
        if depth(value) > MAX_DEPTH:
            raise DynbenchError(f"{path}: expected at most {MAX_DEPTH} brackets inside each other, got more")
        msgspec.convert(value, shape)
    except (msgspec.MsgspecError, ValueError, RecursionError, OverflowError) as error:
        raise DynbenchError(f"{path}: {error}") from error
    return {key: item for key, item in shown(value).items() if item is not None}


def shown(value: Any) -> Any:
    """Return plain data with all its text made visible, keys too."""
    if isinstance(value, str):
        return visible(value, keep="\n\t")
    if isinstance(value, dict):
        return {visible(key): shown(item) for key, item in value.items()}
    return [shown(item) for item in value] if isinstance(value, list) else value


def depth(value: Any) -> int:
    """Return how many brackets are inside each other, by a walk that does not recurse."""
    deepest, level = 0, [value]
    while level := [item for item in level if isinstance(item, dict | list)]:
        deepest += 1
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return deepest
