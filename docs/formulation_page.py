"""The tables of docs/which-formulation.md:

    python docs/formulation_page.py build/formulations

measures cells that the folder lacks (a benchmark of all formulations on two robots, some minutes on a quiet machine;
then the instructions of kernels whose time is not what their operations say), and writes the page. What each method
gives comes from its class. Digits near singular positions are computed here, since a benchmark does not go there on
purpose.
"""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent))  # loaded by its path
from paper_pages import between, table

if TYPE_CHECKING:
    from dynbench.methods.base import Method
    from dynbench.methods.kernel_method import KernelMethod

PAGE = Path(__file__).parent / "which-formulation.md"
ROBOT, LONG = "panda", "chain-30"  # the second in generic code only
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
REFERENCE = "newton-euler"
GIVES = {
    "reactions": "joint reactions",
    "coriolis_matrix": "Coriolis matrix",
    "inverse_dynamics_derivatives": "derivatives by a recursion",
    "regressor": "regressor",
    "multipliers": "loop forces",
}
LIGHT = (1e-3, 1e-6, 1e-9)  # mass of the last body, times its own
EXPECTED = (0.7, 1.4)  # time over operations, divided by the same of the reference


def rows(folder: Path, name: str, **wanted: str) -> list[dict[str, str]]:
    """Return the rows of a table that have these cells."""
    with open(folder / f"{name}.csv", encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if all(row.get(key, "") == value for key, value in wanted.items())]


def registered() -> dict[str, Method]:
    """All formulations of ours, by name: no engines, and not the method that returns zeros."""
    from dynbench import methods

    found = {name: methods.get(name) for name in methods.names()}
    ours = "dynbench.methods."
    return {
        name: method
        for name, method in found.items()
        if type(method).__module__.startswith(ours) and ".peers." not in type(method).__module__ and not method.floor
    }


def formulations() -> dict[str, KernelMethod]:
    """Those that handle the robot."""
    from dynbench import robots
    from dynbench.methods.kernel_method import KernelMethod

    robot = robots.load(ROBOT)
    return {
        name: method
        for name, method in registered().items()
        if isinstance(method, KernelMethod) and method.supports(robot) is None
    }


def measure(folder: Path) -> None:
    """Run the benchmark of both robots, unless its tables are in the folder."""
    chosen = [word for name in formulations() for word in ("-m", name)]
    asked = [word for quantity in QUANTITIES for word in ("--quantity", quantity)]
    for robot, more in ((ROBOT, []), (LONG, ["--code", "generic"])):
        if not (folder / robot / "timing.csv").is_file():
            command = ["-c", "from dynbench.benchmarks.cli import main; main()", "bench", "-r", robot, *more]
            subprocess.run([sys.executable, *command, *chosen, *asked, "--output", str(folder / robot)], check=True)


def operations(folder: Path, robot: str, method: str, quantity: str, code: str = "generic") -> float | None:
    """Return the operations of one state."""
    found = rows(folder / robot, "counts", robot=robot, method=method, quantity=quantity, code=code)
    return next((float(row["flops"]) for row in found if row["flops"]), None)


def seconds(folder: Path, robot: str, method: str, quantity: str, code: str = "generic") -> float | None:
    """Return the time of one state in a batch on a quiet core."""
    found = rows(folder / robot, "timing", robot=robot, label=method, quantity=quantity, mode="batch", code=code)
    return next((float(row["seconds"]) for row in found if row["seconds"] and row["outcome"] == "number"), None)


def quotient(folder: Path, robot: str, method: str, quantity: str) -> float | None:
    """Return time over operations in generic code, divided by the same of the reference."""
    numbers = [
        (seconds(folder, robot, name, quantity), operations(folder, robot, name, quantity))
        for name in (method, REFERENCE)
    ]
    (time, work), (reference_time, reference_work) = numbers
    if not (time and work and reference_time and reference_work):
        return None
    return time / work / (reference_time / reference_work)


def costs(folder: Path) -> str:
    """Operations and times of each quantity, by formulation and tier."""
    parts = []
    for quantity in QUANTITIES:
        lines = []
        for name in formulations():
            work = [operations(folder, ROBOT, name, quantity, code) for code in ("generic", "traced")]
            time = [seconds(folder, ROBOT, name, quantity, code) for code in ("generic", "traced")]
            ratio = [quotient(folder, robot, name, quantity) for robot in (ROBOT, LONG)]
            cells = [
                *("–" if x is None else f"{x:.0f}" for x in work),
                *("–" if x is None else f"{1e9 * x:.0f}" for x in time),
                *("–" if x is None else f"{x:.2f}" for x in ratio),
            ]
            if any(cell != "–" for cell in cells):
                lines.append([f"[`{name}`](methods/{_page(name)})", *cells])
        head = (
            f"{quantity.replace('_', ' ')}, {ROBOT}", "operations, generic", "operations, traced", "ns, generic",
            "ns, traced", "time over operations", f"the same, {LONG}",
        )  # fmt: skip
        parts.append(table(head, lines))
    return "\n\n".join(parts)


def unexpected(folder: Path) -> list[tuple[str, str, str, float]]:
    """Return robot, quantity, method and quotient of the kernels whose time is not what their operations say."""
    found = []
    for robot in (ROBOT, LONG):
        for quantity in QUANTITIES:
            for name in formulations():
                ratio = quotient(folder, robot, name, quantity)
                if ratio is not None and not EXPECTED[0] <= ratio <= EXPECTED[1]:
                    found.append((robot, quantity, name, ratio))
    return found


def instructions(folder: Path, only: str = "") -> str:
    """What those kernels execute, beside the reference; of one method, or of all."""
    from dynbench.benchmarks.timing.executed import executed

    kept = folder / "executed.json"
    known: dict[str, dict[str, Any]] = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
    lines = []
    for robot, quantity, name, ratio in unexpected(folder):
        if only not in ("", name):
            continue
        counts = []
        for method in (REFERENCE, name):
            key = f"{robot} {quantity} {method}"
            if key not in known:
                made = executed(robot, method, quantity)
                known[key] = {**vars(made), "flops": made.flops, "issued": made.issued, "all": made.instructions}
                kept.write_text(json.dumps(known, indent=1), encoding="utf-8")
            counts.append(known[key])
        theirs, ours = counts
        work = [operations(folder, robot, method, quantity) or math.nan for method in (REFERENCE, name)]
        by_all = ratio * (work[1] / work[0]) / (ours["all"] / theirs["all"])
        for method, one, words in ((REFERENCE, theirs, ("", "")), (name, ours, (f"{ratio:.2f}", f"{by_all:.2f}"))):
            others = one["all"] - one["issued"]
            lines.append(
                (
                    f"{robot}, {quantity.replace('_', ' ')}", f"`{method}`", str(one["flops"]), str(one["issued"]),
                    str(others), f"{others / one['issued']:.2f}", *words,
                )
            )  # fmt: skip
    if not lines:
        return f"None is outside {EXPECTED[0]} to {EXPECTED[1]}."
    head = (
        "a block of eight states", "formulation", "operations executed", "instructions that compute", "all others",
        "others for each that computes", "time over operations", "time over instructions",
    )  # fmt: skip
    return table(head, lines)


def gives() -> str:
    """What each formulation computes besides torques and accelerations, and why it is not in the tables of costs."""
    from dynbench import robots

    robot = robots.load(ROBOT)
    lines = []
    for name, method in registered().items():
        computed = [words for quantity, words in GIVES.items() if quantity in method.computes]
        own = {"screw": "rate of the torques", "canonical-momenta": "momenta; motion in (q, p)"}.get(name)
        more = ", ".join([*computed, *filter(None, [own])]) or "–"
        lines.append((f"[`{name}`](methods/{_page(name)})", method.cost or "–", more, method.supports(robot) or "yes"))
    return table(("formulation", "cost", "besides forces and accelerations", f"takes {ROBOT}"), lines)


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
    """Return the file of the page that says what a method is."""
    pages = sorted((PAGE.parent / "methods").glob("*.md"))
    return next(page.name for page in pages if f"<!-- facts {name} -->" in page.read_text(encoding="utf-8"))


def main(folder: Path) -> None:
    """Measure what is missing, and write the tables into the page."""
    measure(folder)
    text = PAGE.read_text(encoding="utf-8")
    parts = {"costs": costs(folder), "instructions": instructions(folder), "gives": gives(), "digits": digits()}
    for name, content in parts.items():
        text = between(text, name, content)
    PAGE.write_text(text, encoding="utf-8")
    for name in sorted({name for _, _, name, _ in unexpected(folder)}):
        page = PAGE.parent / "methods" / _page(name)
        text = page.read_text(encoding="utf-8")
        if "<!-- begin instructions -->" in text:
            page.write_text(between(text, "instructions", instructions(folder, name), page.name), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
