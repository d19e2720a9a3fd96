"""The two tiers of machine code: generic code, the same for all robots, and traced code, made for one robot.

Every method made of kernels has both (`KernelMethod.prepare`). What is compared is a method in a tier, a `Variant`;
times, ratios and verdicts of one tier are not mixed with those of the other. Engines and methods of plain Python have
no tier (""), and stand beside both.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from dynbench import methods
from dynbench.methods.base import Method, Solver
from dynbench.methods.kernel_method import KernelMethod
from dynbench.robots.robot import Robot

GENERIC, TRACED = "generic", "traced"
TIERS = (GENERIC, TRACED)
BOTH = "both"  # as an option, for the two of them


class Variant(NamedTuple):
    """A method in a tier; ``code`` is "" for one that has none."""

    method: str
    code: str = ""

    @property
    def traced(self) -> bool:
        return self.code == TRACED

    @property
    def label(self) -> str:
        """The method, with its tier where that is traced code."""
        return f"{self.method}, {self.code}" if self.traced else self.method


def tiers(option: str) -> tuple[str, ...]:
    """Return the tiers that an option names: "generic", "traced" or "both"."""
    return TIERS if option == BOTH else (option,)


def variants(names: Iterable[str], chosen: Iterable[str] = TIERS) -> tuple[Variant, ...]:
    """Return methods in the chosen tiers: generic code and methods without a tier first, then traced code."""
    found = [
        Variant(name, code)
        for name in names
        for code in (chosen if isinstance(methods.get(name), KernelMethod) else ("",))
    ]
    return tuple(sorted(found, key=lambda one: one.traced))


def prepare(method: Method, robot: Robot, code: str = "") -> Solver:
    """Return the solver of a method in a tier."""
    made: Any = method
    solver: Solver = made.prepare(robot, code=code) if code == TRACED else made.prepare(robot)
    return solver


def why_not_traced(solver: Solver, quantity: str) -> str | None:
    """Return why a quantity cannot be compared as traced code, None if it can."""
    reason = solver.why_not_traced(quantity)
    return f"is not traced: {reason}" if reason else None
