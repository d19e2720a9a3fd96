"""Rows as `dynbench bench` has them, made up: real columns, invented numbers."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

QUANTITIES = ("inverse_dynamics", "forward_dynamics")
METHODS = ("newton-euler", "gibbs-appell", "lagrange-euler", "lagrange-stewart-lumped", "pinocchio", "null")
ROBOTS = ("panda", "chain-30", "gough-stewart")
PEERS = ("pinocchio",)


def pseudo(*key: str) -> float:
    """A number between 1 and 2 that depends on the key alone."""
    return 1.0 + zlib.crc32("|".join(key).encode()) / 2**32


@dataclass
class Tables:
    """The rows of a run's tables."""

    robots: Sequence[str] = ROBOTS
    methods: Sequence[str] = METHODS
    titles: dict[str, str] | None = None
    disagree: bool = False
    broken: bool = False
    scaling: bool = True
    claims: bool = True
    simulations: bool = True

    @property
    def real(self) -> list[str]:
        return [name for name in self.methods if name != "null"]

    @property
    def peers(self) -> list[str]:
        return [name for name in self.methods if name in PEERS]

    def reason(self, robot: str, method: str) -> str:
        if method == "lagrange-stewart-lumped" and robot != "gough-stewart":
            return "it is no Gough-Stewart platform"
        if self.broken and method == "lagrange-euler":
            return "failed: RuntimeError: no luck <b>today</b>"
        return ""

    def agreement(self) -> Iterator[dict[str, Any]]:
        for robot in self.robots:
            able = [name for name in self.real if not self.reason(robot, name)]
            for quantity in QUANTITIES:
                head = {"robot": robot, "quantity": quantity, "unit": "relative", "states": 16, "seed": 0}
                for one in able:
                    yield {
                        **head,
                        "measure": "noise floor",
                        "method": one,
                        "value": 2e-15 * pseudo(robot, one),
                        "status": "reported",
                    }
                for k, one in enumerate(able):
                    for two in able[k + 1 :]:
                        exact = "lumped" not in one + two
                        off = self.disagree and "lagrange-euler" in (one, two) and robot == self.robots[0]
                        value = 1e-3 if off or not exact else 3e-14 * pseudo(robot, one, two, quantity)
                        status = "reported" if not exact else "differs" if off else "agrees"
                        yield {
                            **head,
                            "measure": "error",
                            "method": one,
                            "other": two,
                            "value": value,
                            "status": status,
                            "tolerance": 1e-10 if exact else None,
                            "noise": 3e-15,
                            "reason": "tolerance 1e-10",
                        }
            for name in able:
                yield {
                    "robot": robot,
                    "quantity": "mass_matrix",
                    "measure": "M is symmetric",
                    "method": name,
                    "unit": "relative",
                    "value": 1e-16 * pseudo(name),
                    "status": "agrees" if "lumped" not in name else "reported",
                    "tolerance": 1e-12,
                    "states": 16,
                    "seed": 0,
                    "reason": "tolerance 1e-12: sums in another order",
                }

    def timing(self) -> Iterator[dict[str, Any]]:
        for robot in self.robots:
            for quantity in QUANTITIES:
                for mode, rows in (("call", 1), ("unchecked", 1), ("batch", 1000), ("threads", 10_000)):
                    group = [(name, name, mode) for name in self.methods]
                    group.insert(1, (self.methods[0], f"{self.methods[0]} (again)", mode))
                    group += [
                        (name, name, "engine" if rows == 1 else "engine-batch")
                        for name in self.peers
                        if mode in ("unchecked", "batch")
                    ]
                    seconds = {
                        key: 1e-7 * (rows == 1 or 0.05) * len(robot) * pseudo(robot, quantity, *key) ** 3
                        for key in group
                    }
                    best = min(seconds.values())
                    for key, value in seconds.items():
                        reason = self.reason(robot, key[0])
                        head = {
                            "robot": robot,
                            "method": key[0],
                            "label": key[1],
                            "quantity": quantity,
                            "mode": key[2],
                            "rows": rows,
                        }
                        if reason:
                            yield {**head, "reason": reason}
                        else:
                            yield {
                                **head,
                                "seconds": value,
                                "low": 0.99 * value,
                                "high": 1.01 * value,
                                "median": 1.05 * value,
                                "wall": 1.06 * value,
                                "noise": 0.02,
                                "timed_rows": rows,
                                "rounds": 40,
                                "kept": 38,
                                "passes": 2,
                                "floor": 1e-9,
                                "times_best": value / best,
                                "times_best_low": 0.96 * value / best,
                                "times_best_high": 1.04 * value / best,
                                "verdict": "fastest"
                                if value == best
                                else "no difference"
                                if value < 1.04 * best
                                else "slower",
                            }

    def ratios(self) -> Iterator[dict[str, Any]]:
        for peer in self.peers:
            for robot in self.robots:
                for quantity in QUANTITIES:
                    for mode, rows in (("unchecked", 1), ("batch", 1000)):
                        for name in self.real:
                            if name != peer:
                                head = {
                                    "robot": robot,
                                    "quantity": quantity,
                                    "mode": mode,
                                    "rows": rows,
                                    "method": name,
                                    "peer": peer,
                                }
                                reason = self.reason(robot, name)
                                aim = 10.0 if (name, robot, mode) == ("newton-euler", "panda", "batch") else None
                                ratio = 8.0 * pseudo(robot, name) ** 2 if mode == "batch" else pseudo(name, robot) - 0.4
                                yield (
                                    {**head, "reason": reason}
                                    if reason
                                    else {
                                        **head,
                                        "ratio": ratio,
                                        "low": 0.95 * ratio,
                                        "high": 1.05 * ratio,
                                        "shared": 0.9 * ratio,
                                        "verdict": "faster",
                                        "peer_call": "its own call" if mode == "unchecked" else "its own batch call",
                                        "target": aim,
                                        "met": ("yes" if ratio > aim else "no") if aim else "",
                                    }
                                )

    def grown(self) -> Iterator[dict[str, Any]]:
        if not self.scaling:
            return
        for name in self.real[:3]:
            power = {"lagrange-euler": 3.0}.get(name, 1.0)
            head = {"family": "chain", "method": name, "quantity": "inverse_dynamics"}
            for size in (4, 8, 16, 32):
                value = 1e-8 * size**power * pseudo(name, str(size)) ** 0.1
                yield {
                    **head,
                    "size": size,
                    "measure": "time per state",
                    "value": value,
                    "low": value,
                    "high": 1.1 * value,
                    "unit": "s",
                    "noise": 0.03,
                }
            yield {
                **head,
                "measure": "exponent",
                "value": power,
                "low": power - 0.1,
                "high": power + 0.1,
                "unit": "95 % interval, N from 8 to 32",
            }

    def counts(self) -> Iterator[dict[str, Any]]:
        for robot in self.robots:
            for name in self.real:
                head = {"robot": robot, "method": name, "quantity": "inverse_dynamics"}
                reason = self.reason(robot, name) or (
                    "it is not written over the generic scalar" if name in PEERS else ""
                )
                yield (
                    {**head, "reason": reason}
                    if reason
                    else {
                        **head,
                        "additions": 700,
                        "multiplications": 900,
                        "divisions": 0,
                        "square_roots": 0,
                        "sincos": 7,
                        "flops": 1866,
                        "rate": 1.3e10,
                        "fraction": 0.2 * pseudo(name, robot),
                    }
                )
        if self.scaling:
            yield {
                "robot": "chain-N",
                "method": self.methods[0],
                "quantity": "inverse_dynamics",
                "additions": "131 n - 48",
                "multiplications": "150 n - 48",
                "divisions": "0",
                "square_roots": "0",
                "sincos": "n",
                "flops": "319 n - 96",
            }

    def startup(self) -> Iterator[dict[str, Any]]:
        for name in self.methods:
            yield {
                "robot": "any",
                "method": name,
                "quantity": "inverse_dynamics",
                "measure": "compile, batch",
                "value": 2.5,
                "unit": "s",
            }
            yield {
                "robot": "any",
                "method": name,
                "quantity": "",
                "measure": "prepare",
                "unit": "s",
                "reason": "no number: nothing was measured",
            }
