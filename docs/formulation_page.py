"""The tables of docs/which-formulation.md, made from a run: ``python docs/formulation_page.py RESULTS_FOLDER``.

Speed, operations and agreement are read from the run's files; what each method gives comes from its class. Digits near
singular positions are computed here, since a benchmark does not go there on purpose.
"""

from __future__ import annotations

import csv
import itertools
import math
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))  # loaded by its path
from paper_pages import between, table

if TYPE_CHECKING:
    from dynbench.methods.kernel_method import KernelMethod

PAGE = Path(__file__).parent / "which-formulation.md"
ROBOT = "panda"
GIVES = {
    "reactions": "joint reactions",
    "coriolis_matrix": "Coriolis matrix",
    "inverse_dynamics_derivatives": "derivatives by a recursion",
    "regressor": "regressor",
    "multipliers": "loop forces",
}
LIGHT = (1e-3, 1e-6, 1e-9)  # mass of the last body, times its own


def rows(folder: Path, name: str, **wanted: str) -> list[dict[str, str]]:
    """Return the rows of a table that have these cells."""
    with open(folder / f"{name}.csv", encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if all(row.get(key, "") == value for key, value in wanted.items())]


def formulations() -> dict[str, KernelMethod]:
    """The formulations of ours that handle the robot, by name."""
    from dynbench import methods, robots
    from dynbench.methods.kernel_method import KernelMethod

    robot = robots.load(ROBOT)
    found = {name: methods.get(name) for name in methods.names()}
    return {
        name: method
        for name, method in found.items()
        if isinstance(method, KernelMethod) and not method.floor and method.supports(robot) is None
    }


def costs(folder: Path) -> str:
    """Operations and times of inverse and forward dynamics, by formulation and tier."""
    lines = []
    for name in formulations():
        cells: list[str] = [f"[`{name}`](methods/{_page(name)})"]
        for quantity in ("inverse_dynamics", "forward_dynamics"):
            for code in ("generic", "traced"):
                counted = rows(folder, "counts", robot=ROBOT, method=name, quantity=quantity, code=code)
                cells.append(next((row["flops"] for row in counted if row["flops"]), "–"))
        for quantity in ("inverse_dynamics", "forward_dynamics"):
            for code in ("generic", "traced"):
                timed = rows(folder, "timing", robot=ROBOT, label=name, quantity=quantity, mode="batch", code=code)
                quiet = [row for row in timed if row["seconds"] and row["outcome"] == "number"]
                cells.append(next((f"{1e9 * float(row['seconds']):.0f}" for row in quiet), "–"))
        if any(cell != "–" for cell in cells[1:]):
            lines.append(cells)
    columns = itertools.product(("operations", "ns"), ("inverse", "forward"), ("generic", "traced"))
    head = [ROBOT, *map(", ".join, columns)]
    return table(head, lines)


def gives() -> str:
    """What each formulation computes besides torques and accelerations, and on which robots."""
    lines = []
    for name, method in formulations().items():
        computed = [words for quantity, words in GIVES.items() if quantity in method.computes]
        own = {"screw": "rate of the torques", "canonical-momenta": "momenta; motion in (q, p)"}.get(name)
        lines.append((f"`{name}`", method.cost, ", ".join([*computed, *filter(None, [own])]) or "–"))
    return table(("formulation", "cost of inverse dynamics", "besides forces and accelerations"), lines)


def digits() -> str:
    """Digits of forward dynamics, against its own inverse, when the last body gets light."""
    from dataclasses import replace

    import numpy as np

    from dynbench import robots

    base = robots.load("chain-7")
    lines = []
    for name, method in formulations().items():
        if not {"inverse_dynamics", "forward_dynamics"} <= set(method.computes):
            continue
        cells = [f"`{name}`"]
        for share in (1.0, *LIGHT):
            scale = np.r_[np.ones(base.n - 1), share]
            robot = replace(base, mass=base.mass * scale, inertia=base.inertia * scale[:, None, None])
            solver = method.prepare(robot, code="auto")
            q, v, a = robot.sample(200, seed=7)
            tau = solver.inverse_dynamics(q, v, a)
            error = np.abs(solver.forward_dynamics(q, v, tau) - a).max() / np.abs(a).max()
            cells.append(f"{-math.log10(max(error, 1e-16)):.1f}")
        lines.append(cells)
    return table(("digits", "chain-7", *(f"last body × {share:.0e}" for share in LIGHT)), lines)


def _page(name: str) -> str:
    pages = {path.stem for path in (PAGE.parent / "methods").glob("*.md")}
    return f"{next(page for page in (name, *_shorter(name)) if page in pages)}.md"


def _shorter(name: str) -> Iterable[str]:
    parts = name.split("-")
    return ("-".join(parts[:k]) for k in range(len(parts) - 1, 0, -1))


def main(folder: Path) -> None:
    """Write the tables into the page."""
    text = PAGE.read_text(encoding="utf-8")
    for name, content in (("costs", costs(folder)), ("gives", gives()), ("digits", digits())):
        text = between(text, name, content)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
