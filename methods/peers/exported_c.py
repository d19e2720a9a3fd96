"""Our own exported C (``dynbench export``), compiled by the C compiler of this machine, one file per quantity.

The same straight-line code as the tier "traced" of newton-euler, but one state at a time and compiled by cc: what a
user of the exported file gets. External wrenches are added to its results, since the exported function has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from dynbench.methods.base import Method, Solver
from dynbench.methods.newton_euler import NewtonEuler
from dynbench.methods.peers import native
from dynbench.methods.peers.generated import COMPUTES, generated_solver
from dynbench.methods.traced.export import identifier
from dynbench.methods.traced.export_c import declaration, export_c
from dynbench.robots.body import EXTRAS
from dynbench.robots.robot import Robot

MOST_COORDINATES = 64  # straight-line code of larger robots takes the compiler minutes


class ExportedC(Method):
    """Newton-Euler, articulated bodies and composite inertias, exported to C99 and compiled by cc."""

    name: ClassVar[str] = "exported-c"
    title: ClassVar[str] = "newton-euler, exported C"
    reference: ClassVar[str] = NewtonEuler.reference
    computes: ClassVar[tuple[str, ...]] = COMPUTES
    cost: ClassVar[str] = "O(n)"
    extras: ClassVar[bool] = True
    compiles: ClassVar[bool] = True
    own_calls: ClassVar[Mapping[tuple[str, str], str]] = native.own_calls(COMPUTES)

    @classmethod
    def unavailable(cls) -> str | None:
        return super().unavailable() or native.absent("c")

    def supports(self, robot: Robot) -> str | None:
        reason = super().supports(robot)
        if reason is None and robot.nv > MOST_COORDINATES:
            reason = f"straight-line code of {robot.nv} coordinates is too large, it is for {MOST_COORDINATES} at most"
        return reason

    def prepare(self, robot: Robot) -> Solver:
        self.require(robot)
        return generated_solver(self, robot, sources, included=EXTRAS)


def sources(robot: Robot, quantity: str) -> dict[str, str]:
    """Return the files of a quantity: the loop over rows, which includes the exported function."""
    method, name = NewtonEuler(), identifier(robot, quantity)
    code = export_c(method, robot, quantity)
    header = declaration(method, robot, quantity)
    loop = native.rows_source(robot, quantity, '#include "exported.h"', "", lambda x: f"{name}({', '.join(x)});")
    return {"loop.c": f'{loop}\n#include "exported.c"\n', "exported.c": code, "exported.h": header}
