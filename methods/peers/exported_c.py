"""Our own exported C (``dynbench export``), compiled by the C compiler of this machine, one file per quantity.

The same straight-line code as the tier "traced" of newton-euler, but one state at a time and compiled by cc: what a
user of the exported file gets. External wrenches are added to its results, since the exported function has none.
"""

from __future__ import annotations

from typing import ClassVar

from dynbench.methods.base import Solver
from dynbench.methods.newton_euler import NewtonEuler
from dynbench.methods.peers import native
from dynbench.methods.peers.generated import GeneratedMethod, generated_solver
from dynbench.methods.traced.export import identifier
from dynbench.methods.traced.export_c import declaration, export_c
from dynbench.robots.body import EXTRAS
from dynbench.robots.robot import Robot


class ExportedC(GeneratedMethod):
    """Newton-Euler, articulated bodies and composite inertias, exported to C99 and compiled by cc."""

    name: ClassVar[str] = "exported-c"
    title: ClassVar[str] = "newton-euler, exported C"
    reference: ClassVar[str] = NewtonEuler.reference

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
