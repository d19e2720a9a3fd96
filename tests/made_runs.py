"""A folder as `dynbench bench` leaves it, made up in milliseconds: real columns, real writers, invented numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from made_tables import PEERS, QUANTITIES, Tables

from dynbench.benchmarks import papers
from dynbench.benchmarks.checks.derivatives import COMPLEX_STEPS, DUAL_NUMBERS
from dynbench.benchmarks.results import schema
from dynbench.benchmarks.simulation.recording import Panel, Plot, Series, Simulation


@dataclass
class Made(Tables):
    """The content of a run; tests change it before it is written."""

    def facts(self) -> dict[str, Any]:
        return {
            "date": "2026-01-02T03:04:05+00:00",
            "command": "dynbench bench --quick",
            "folder": "/home/x",
            "system": "Linux",
            "python": "3.11",
            "cpu": "AMD EPYC",
            "simd": ["avx2", "fma"],
            "cores": 2,
            "cores usable": 2,
            "memory GB": 8,
            "load": [0.1, 0.2, 0.3],
            "governor": "unknown",
            "turbo": "on",
            "versions": {"numpy": "2.0", "pin": "not installed"},
            "commit": "abc",
            "threads": {},
            "load before timing": [0.1],
            "load after timing": [0.2],
            "quick": True,
            "seed": 0,
            "robots": {name: {"bodies": 7, "nq": 7, "nv": 7} for name in self.robots},
            "methods": {
                name: {
                    "title": (self.titles or {}).get(name, name.title()),
                    "reference": "somebody, 1980, eq. (3)",
                    "cost": "O(n)",
                    "exact": "lumped" not in name,
                    "peer": name in PEERS,
                    "floor": name == "null",
                }
                for name in self.methods
            },
            "quantities": list(QUANTITIES),
            "left out": {},
            "notes": ["talos: not installed"],
            "peak flop/s": 5e10,
        }

    def paper(self) -> papers.Paper:
        said = [
            {
                "paper": "a-paper",
                "statement": f"statement {k}",
                "printed": f"{k}",
                "measured": k + 0.01,
                "unit": "additions" if k == 1 else "s",
                "verdict": ("reproduced", "differs", "not reproducible")[k % 3],
                "reason": "because",
            }
            for k in range(7)
        ]
        wrong = [
            {
                "paper": "a-paper",
                "where": "(3)",
                "printed": "x & y",
                "correct": "x_1^2",
                "evidence": "5 % off",
                "test": "tests/test_x.py::test_y",
            }
        ]
        return papers.Paper("a-paper", said, wrong)

    def simulated(self) -> list[Simulation]:
        t = [0.02 * k for k in range(60)]
        swing = [[0.0, 0.0, 0.0, math.sin(3 * x), -math.cos(3 * x), 0.0] for x in t]
        tower = [[0.0, 0.0, 0.0, math.sin(x), math.cos(x), 1.0] for x in t]
        parts = {"t": t, "lines": [[0, 1, "link"]], "dots": [[0, "ground"], [1, "joint"]]}
        first, second = self.real[0], self.real[-1]
        plot = Plot(
            "motion",
            "Angle of a pendulum",
            "Read it from left to right.",
            "time (s)",
            [
                Panel(
                    "angle",
                    "angle (rad)",
                    [
                        Series(f"q{k}", name, t, [k + math.sin(3 * x) for x in t])
                        for name in (first, second)
                        for k in (1, 2)
                    ],
                ),
                Panel("energy", "energy (J)", [Series("E", first, t, [math.cos(x) for x in t])]),
            ],
        )
        cost = Plot(
            "work-precision",
            "Work against precision",
            "Lower left is better.",
            "error (rad)",
            [
                Panel(
                    "",
                    "time (s)",
                    [Series("RK45", name, [1e-3, 1e-5, 1e-7], [0.01, 0.02, 0.05]) for name in (first, second)],
                )
            ],
            "log",
            "log",
        )
        return [
            Simulation(
                "pendulum", "a-paper", "A pendulum", "pendulum", [plot], {**parts, "points": swing, "planar": True}
            ),
            Simulation("tower", "a-paper", "A tower", "tower", [cost], {**parts, "points": tower, "planar": False}),
            Simulation("stuck", "", "stuck", "", [], None, "timed out after 600 s"),
        ]

    def worst(self) -> Iterator[dict[str, Any]]:
        for row in self.agreement():
            if row.get("other") and row["quantity"] == "inverse_dynamics":
                yield {**row, "state": 5, "component": 2, "ours": 1.25, "theirs": 1.5, "inputs": {"q": [0.1, 0.2]}}

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        content = {
            schema.AGREEMENT: self.agreement,
            schema.TIMING: self.timing,
            schema.RATIOS: self.ratios,
            schema.SCALING: self.grown,
            schema.COUNTS: self.counts,
            schema.STARTUP: self.startup,
        }
        for table, rows in content.items():
            table.write(folder, rows())
        papers.write(folder, [self.paper()] if self.claims else [])
        (folder / "environment.json").write_text(json.dumps(self.facts()), encoding="utf-8")
        (folder / "worst.json").write_text(json.dumps({"rows": list(self.worst())}), encoding="utf-8")
        for simulation in self.simulated() if self.simulations else []:
            target = folder / "simulations" / f"{simulation.name}.json"
            target.parent.mkdir(exist_ok=True)
            target.write_text(json.dumps(asdict(simulation)), encoding="utf-8")
        return folder


def add_traced(folder: Path) -> Path:
    """Give a run's methods a second tier of code that takes half the time; engines have none."""
    tiers = []
    for row in schema.TIMING.read(folder):
        if row["method"] in PEERS:
            tiers.append({**row, "code": ""})
            continue
        half = {name: str(0.5 * float(row[name])) for name in ("seconds", "low", "high") if row[name]}
        tiers += [{**row, "code": "generic"}, {**row, **half, "code": "traced"}]
    schema.TIMING.write(folder, tiers)
    return folder


def add_derivatives(folder: Path, robot: str = "panda", quantity: str = "inverse_dynamics_derivatives") -> Path:
    """Give a run derivatives of a robot that take four times the inverse dynamics, in generic code alone."""
    coded = {"newton-euler": "generic", "gibbs-appell": "generic"}
    timing, more = list(schema.TIMING.read(folder)), []
    for row in timing:
        row["code"] = coded.get(row["method"], "")
        own = (row["robot"], row["quantity"]) == (robot, "inverse_dynamics")
        if own and row["mode"] != "threads" and row["seconds"]:
            slower = {name: str(4.0 * float(row[name])) for name in ("seconds", "low", "high")}
            more.append({**row, **slower, "quantity": quantity})
    schema.TIMING.write(folder, [*timing, *more])
    counts = [{**row, "code": coded.get(row["method"], "")} for row in schema.COUNTS.read(folder)]
    owned = [row for row in counts if (row["robot"], row["quantity"]) == (robot, "inverse_dynamics") and row["flops"]]
    thrice = [{**row, "quantity": quantity, "flops": str(3 * int(row["flops"]))} for row in owned]
    schema.COUNTS.write(folder, [*counts, *thrice])
    ratios = [{**row, "code": coded.get(row["method"], "")} for row in schema.RATIOS.read(folder)]
    beside = [row for row in ratios if (row["robot"], row["quantity"]) == (robot, "inverse_dynamics")]
    line = "for k, (q, v, a) in enumerate(states):\n    found = pin.computeRNEADerivatives(model, data, q, v, a)"
    schema.RATIOS.write(folder, [*ratios, *({**row, "quantity": quantity, "expression": line} for row in beside)])
    found = [{**row, "code": coded.get(row["method"], "")} for row in schema.AGREEMENT.read(folder)]
    head = {"robot": robot, "quantity": quantity, "method": "newton-euler", "code": "generic", "unit": "relative",
            "status": "agrees", "outcome": "number", "states": "2", "seed": "0"}  # fmt: skip
    found += [
        {**head, "measure": COMPLEX_STEPS, "value": "3e-15"},
        {**head, "measure": DUAL_NUMBERS, "value": "2e-16"},
        {**head, "measure": "error", "other": "pinocchio", "value": "4e-14"},
    ]
    schema.AGREEMENT.write(folder, found)
    return folder
