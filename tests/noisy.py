"""Results folders of runs that never happened, with the noise of a busy two-core machine.

Each pass of a cell is its true time, times 3 % log-normal noise, times 1.2 to 2 when a neighbour is busy (one pass in
three), times 2 to 5 once in thirty; the shortest of three passes is kept, as the harness does. Each method of a run
is off by 1.5 % in all its cells (its place in memory). These are the scatters that real runs of this project showed
before times were those of a quiet core; a ``quiet`` run has 1 % of noise, and methods are off by 0.7 %.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dynbench.benchmarks.results import schema
from dynbench.benchmarks.timing.quiet import resolution

METHODS = ("newton-euler", "kane", "gibbs-appell", "denoc", "lagrange-euler", "null", "pinocchio")
ROBOTS = ("panda", "chain-30", "talos", "rp3")
QUANTITIES = ("inverse_dynamics", "forward_dynamics")
MODES = (("call", 1), ("unchecked", 1), ("batch", 1000), ("threads", 10_000))
PASSES = 3


def write_run(
    folder: Path,
    seed: int,
    slow: Mapping[str, float] | None = None,
    drift: float = 1.0,
    methods: Sequence[str] = METHODS,
    robots: Sequence[str] = ROBOTS,
    quantities: Sequence[str] = QUANTITIES,
    facts: Mapping[str, Any] | None = None,
    quiet: bool = False,
) -> Path:
    """Write a run in which the methods of ``slow`` take so many times their usual time, and all cells ``drift``."""
    random = np.random.default_rng(seed)
    place = {method: math.exp((0.007 if quiet else 0.015) * random.standard_normal()) for method in methods}
    rows = []
    for robot in robots:
        for quantity in quantities:
            for mode, count in MODES:
                cells = [(method, method, mode) for method in methods]
                cells.insert(1, (methods[0], f"{methods[0]} (again)", mode))
                own = {"unchecked": "engine", "batch": "engine-batch"}.get(mode)
                cells += [("pinocchio", "pinocchio", own)] if own and "pinocchio" in methods else []
                for method, label, how in cells:
                    key = zlib.crc32(f"{robot} {quantity} {how} {method}".encode())
                    true = 1e-7 * (1.0 + key % 1000) * place[method] * drift * (slow or {}).get(method, 1.0)
                    times = true * (np.exp(0.01 * random.standard_normal(PASSES)) if quiet else _passes(random))
                    head = dict(zip(("robot", "quantity", "mode", "rows"), (robot, quantity, how, count), strict=True))
                    rows.append({**head, "method": method, "label": label, **_merged(times)})
    for mode, _ in MODES:
        pairs = _pairs([row for row in rows if row["mode"] == mode])
        for row in rows:
            if row["mode"] == mode:
                row["noise"] = resolution([a / b for a, b in pairs])
    folder.mkdir(parents=True)
    schema.TIMING.write(folder, rows)
    about = {
        "date": f"2026-01-01T00:00:{seed % 60:02d}+00:00",
        "methods": {name: {"peer": name == "pinocchio", "floor": name == "null"} for name in methods},
        "robots": {name: {"bodies": 7, "nq": 7, "nv": 7} for name in robots},
        "quantities": list(quantities),
        **(facts or {}),
    }
    (folder / "environment.json").write_text(json.dumps(about), encoding="utf-8")
    return folder


def _passes(random: np.random.Generator) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Factors of the passes of one cell."""
    quiet = np.exp(0.03 * random.standard_normal(PASSES))
    busy = np.where(random.random(PASSES) < 1.0 / 3.0, random.uniform(1.2, 2.0, PASSES), 1.0)
    wild = np.where(random.random(PASSES) < 1.0 / 30.0, random.uniform(2.0, 5.0, PASSES), 1.0)
    return quiet * busy * wild


def _merged(times: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, float]:
    low, high = float(times.min()), float(times.max())
    middle = float(np.median(times))
    return {"seconds": low, "median": middle, "low": low, "high": high, "passes": len(times)}


def _pairs(rows: Sequence[Mapping[str, Any]]) -> list[tuple[float, float]]:
    found: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        found.setdefault((row["robot"], row["quantity"], row["method"]), []).append(row["seconds"])
    return [(pair[0], pair[1]) for pair in found.values() if len(pair) == 2]
