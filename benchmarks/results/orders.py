"""What tracing does to operation counts: before and after beside each other, and where it changes the order of methods.

From rows of counts.csv, whose cells may be numbers or text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

SHOWN = 3  # changes that the sentence names


class Counts(NamedTuple):
    """The operations of a method on a robot, in generic code and as traced."""

    robot: str
    quantity: str
    method: str
    generic: float
    traced: float


class Order(NamedTuple):
    """The exact methods of a robot and quantity, fewest operations first, before and after tracing."""

    robot: str
    quantity: str
    before: tuple[Counts, ...]
    after: tuple[Counts, ...]

    @property
    def changed(self) -> bool:
        """Whether two methods change places."""
        return any((a.generic - b.generic) * (a.traced - b.traced) < 0.0 for a, b in combinations(self.before, 2))

    @property
    def other_first(self) -> bool:
        """Whether the method with the fewest operations had more than another before."""
        return self.after[0].generic > self.before[0].generic


def beside(rows: Iterable[Mapping[str, Any]]) -> list[Counts]:
    """Return what was counted in both tiers."""
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in rows:
        count = _number(row.get("flops"))
        if row.get("code") and math.isfinite(count):
            key = (row["robot"], row["quantity"], row["method"])
            found.setdefault(key, {})[row["code"]] = count
    return [Counts(*key, of["generic"], of["traced"]) for key, of in found.items() if len(of) == 2]


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):  # none, or a polynomial
        return math.nan


def orders(counts: Iterable[Counts], methods: Mapping[str, Mapping[str, Any]]) -> list[Order]:
    """Return the orders of robots and quantities with two exact methods or more; ``methods`` as in environment.json."""
    groups: dict[tuple[str, str], list[Counts]] = {}
    for one in counts:
        if methods.get(one.method, {}).get("exact") is not False:
            groups.setdefault((one.robot, one.quantity), []).append(one)
    return [
        Order(
            *key,
            tuple(sorted(mine, key=lambda one: (one.generic, one.method))),
            tuple(sorted(mine, key=lambda one: (one.traced, one.method))),
        )
        for key, mine in groups.items()
        if len(mine) > 1
    ]


def sentence(rows: Iterable[Mapping[str, Any]], methods: Mapping[str, Mapping[str, Any]]) -> str:
    """Say how many operations tracing leaves, and where it changes the order of formulations; "" without counts."""
    counts = beside(rows)
    shares = [one.traced / one.generic for one in counts if one.generic > 0.0 and one.traced > 0.0]
    if not shares:
        return ""
    mean = math.exp(sum(map(math.log, shares)) / len(shares))
    left = f"Tracing leaves {mean:.0%} of the operations (geometric mean of {len(shares)} counts, {min(shares):.0%} to "
    left += f"{max(shares):.0%})"
    found = orders(counts, methods)
    if not found:
        return f"{left}."
    changed = [order for order in found if order.changed]
    if not changed:
        return f"{left}; it changes the order of formulations for none of {len(found)} pairs of robot and quantity."
    where = f"{len(changed)} of {len(found)} pairs of robot and quantity"
    said = f"{left}; it changes the order of formulations for {where}"
    first = [order for order in changed if order.other_first]
    if not first:
        return f"{said}, and nowhere which of them takes the fewest."
    return f"{said}, and which of them takes the fewest for {len(first)}: {_named(first)}."


def _named(first: Sequence[Order]) -> str:
    texts = [
        f"{order.quantity.replace('_', ' ')} of {order.robot} ({order.before[0].method} before, "
        f"{order.after[0].method} after)"
        for order in first[:SHOWN]
    ]
    return "; ".join(texts) + (f"; and {len(first) - SHOWN} more" if len(first) > SHOWN else "")
