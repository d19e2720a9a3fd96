"""The stored rows of a run, and how their numbers are written: everything a report is made from.

A folder may lack any table (a run of one robot has no scaling, ``dynbench papers`` writes claims alone); a missing one
is an empty one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dynbench.benchmarks.runs import tables
from dynbench.robots.errors import DynbenchError

Record = dict[str, str]

TABLES = ("agreement", "timing", "ratios", "scaling", "counts", "startup", "claims", "errata")
QUANTITY_WORDS = {
    "inverse_dynamics": "inverse dynamics",
    "forward_dynamics": "forward dynamics",
    "mass_matrix": "mass matrix",
    "coriolis_matrix": "Coriolis matrix",
}


@dataclass(frozen=True)
class Run:
    """What `read` found in a folder."""

    folder: Path
    facts: dict[str, Any]  # environment.json
    tables: dict[str, list[Record]]
    worst: list[dict[str, Any]]  # worst.json: the state with the largest error, for each robot and pair
    simulations: list[dict[str, Any]]  # simulations/*.json

    def __getitem__(self, table: str) -> list[Record]:
        return self.tables[table]

    @cached_property
    def methods(self) -> list[str]:
        """In the order of the plan; what only rows know of comes after."""
        return unique(
            self.facts["methods"], *(row["method"] for row in self["timing"] + self["agreement"] if row["method"])
        )

    @cached_property
    def robots(self) -> list[str]:
        return unique(self.facts["robots"], *(row["robot"] for row in self["timing"]))

    @cached_property
    def floors(self) -> set[str]:
        """Methods that compute nothing."""
        return {name for name, about in self.facts["methods"].items() if about.get("floor")}

    @cached_property
    def peers(self) -> list[str]:
        """Other engines."""
        return [name for name, about in self.facts["methods"].items() if about.get("peer")]

    @cached_property
    def title(self) -> str:
        return f"dynbench: {plural(len(self.methods), 'method')} on {plural(len(self.robots), 'robot')}"


def read(folder: Path) -> Run:
    """Read what is in a folder.

    Raises
    ------
    DynbenchError
        If it holds no run, or a file of it cannot be read.
    """
    found = {name: tables.read(folder / f"{name}.csv") for name in TABLES}
    about = folder / "environment.json"
    if not about.is_file() and not any(found.values()):
        raise DynbenchError(f"{folder} holds no run: neither {about.name} nor a table is there")
    facts = {"methods": {}, "robots": {}, "quantities": [], "notes": [], "versions": {}, **(_json(about) or {})}
    worst = (_json(folder / "worst.json") or {}).get("rows", [])
    simulations = [_json(path) for path in sorted((folder / "simulations").glob("*.json"))]
    return Run(folder, facts, found, worst, simulations)


def _json(path: Path) -> Any:
    if not path.is_file():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DynbenchError(f"{path} is no JSON: {error}") from error


def unique(first: Iterable[str], *more: str) -> list[str]:
    """Names in order, each once."""
    return list(dict.fromkeys([*first, *more]))


def number(text: str | None) -> float:
    """The number a cell holds, NaN if none."""
    try:
        return float(text or "nan")
    except ValueError:
        return math.nan


def known(*texts: str | None) -> bool:
    """Whether all cells hold finite numbers."""
    return all(math.isfinite(number(text)) for text in texts)


def short(text: str) -> str:
    """A number with four digits; anything else as it is."""
    value = number(text)
    return text if math.isnan(value) or text.isdigit() else f"{value:.4g}"


def words(quantity: str) -> str:
    """A quantity in plain words; a dash for none."""
    return QUANTITY_WORDS.get(quantity, quantity.replace("_", " ")) or "–"


def plural(count: int, noun: str) -> str:
    """One robot, 2 robots."""
    return f"{count or 'no'} {noun}{'s' * (count != 1)}"


def listed(names: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else list(names))


def seconds(value: float) -> str:
    """Seconds in a unit that suits them."""
    return tables.time_text(value).replace(" us", " µs") if math.isfinite(value) else "–"


def percent(value: float) -> str:
    """A share in per cent; a dash for what is not known."""
    return f"{100.0 * value:.0f} %" if math.isfinite(value) else "–"
