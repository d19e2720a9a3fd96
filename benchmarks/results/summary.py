"""A screen of text from the rows of a check: a table of the largest errors, then whatever needs a reader's eye."""

from __future__ import annotations

from collections.abc import Sequence

from dynbench.benchmarks.results import tables
from dynbench.benchmarks.results.rows import AS_ARMATURE, Row
from dynbench.robots.text import clipped

WIDTH = 118
COLUMNS = {
    "inverse_dynamics": "inverse",
    "forward_dynamics": "forward",
    "mass_matrix": "mass matrix",
    "bias": "bias",
    "reactions": "reactions",
    "inverse_dynamics_derivatives": "d inverse",
    "forward_dynamics_derivatives": "d forward",
}


def summary(rows: Sequence[Row], shown: int) -> str:
    """Return the table of errors, the disagreements (``shown`` at most), the reasons, and a last line that counts."""
    parts = [table(rows), disagreements(rows, shown), reported(rows), rotors(rows), reasons(rows), verdict(rows)]
    return "\n\n".join(part for part in parts if part)


def table(rows: Sequence[Row]) -> str:
    """For each robot and quantity: largest error of the pairs held to it, noise floor in brackets; invariants held."""
    robots = list(dict.fromkeys(row.robot for row in rows if row.value is not None))
    if not robots:
        return ""
    lines = [[robot, *(cell(rows, robot, name) for name in COLUMNS), invariants(rows, robot)] for robot in robots]
    legend = "largest error of all pairs of exact methods, relative [noise floor]; ! beyond tolerance, - no pair"
    return tables.aligned(["robot", *COLUMNS.values(), "invariants"], lines) + "\n" + legend


def cell(rows: Sequence[Row], robot: str, quantity: str) -> str:
    """Such as ``3.1e-14 [2.0e-15]``."""
    pairs = [row for row in rows if row.robot == robot and row.quantity == quantity and row.other]
    held = [row for row in pairs if row.status in ("agrees", "differs")]
    if any(row.robot == robot and row.quantity == quantity and row.status == "failed" for row in rows):
        return "failed !"
    if not held:
        return "-"
    worst = max(held, key=lambda row: (row.status == "differs", row.value or 0.0))
    mark = " !" if worst.status == "differs" else ""
    return f"{worst.value:.1e} [{worst.noise or 0.0:.0e}]{mark}"


def invariants(rows: Sequence[Row], robot: str) -> str:
    """Such as ``24 of 24``."""
    asked = [row for row in rows if row.robot == robot and is_invariant(row) and row.status != "reported"]
    good = sum(row.ok for row in asked)
    return f"{good} of {len(asked)}" + (" !" if good < len(asked) else "")


def is_invariant(row: Row) -> bool:
    apart = row.measure.startswith(("noise", "error")) or row.measure == AS_ARMATURE
    return not row.other and row.status != "unsupported" and not apart


def disagreements(rows: Sequence[Row], shown: int) -> str:
    """What is wrong, worst first, with enough to run it again: robot, seed, state and both vectors."""
    bad = sorted((row for row in rows if not row.ok), key=lambda row: -(row.value if row.value is not None else 1e300))
    blocks = [disagreement(row) for row in bad[:shown]]
    if len(bad) > shown:
        blocks.append(f"... and {len(bad) - shown} more; --json FILE has them all")
    return "\n".join(blocks)


def disagreement(row: Row) -> str:
    mine, other = (f"{name}, {code}" if code == "traced" else name for name, code in
                   ((row.method, row.code), (row.other, row.other_code)))  # fmt: skip
    who = f"{mine} and {other}" if row.other else mine
    what = " ".join(word for word in (row.quantity, row.measure) if word)
    if row.value is None:
        return clip(f"FAILED   {row.robot}: {who}: {what}: {row.reason}")
    limit = f"{row.value:.3g} {row.unit}, {row.reason}"
    lines = [clip(f"DIFFERS  {row.robot}: {who}: {what}: {limit}")]
    if row.worst is not None:
        where = f"seed {row.seed}, state {row.worst.state}"
        lines.append(clip(f"         {where}: {vector(row.worst.value)}"))
        lines.append(clip(f"         {'against':>{len(where)}}: {vector(row.worst.other)}"))
    return "\n".join(lines)


def vector(numbers: Sequence[float]) -> str:
    return " ".join(f"{number:.6g}" for number in numbers)


def reported(rows: Sequence[Row]) -> str:
    """The largest error of methods that are not exact: one line each."""
    pairs = [row for row in rows if row.other]
    lines = []
    for name in dict.fromkeys(name for row in pairs for name in (row.method, row.other)):
        mine = [row for row in pairs if name in (row.method, row.other)]
        if all(row.status == "reported" for row in mine):
            worst = max(mine, key=lambda row: row.value or 0.0)
            lines.append(f"{name} is not exact: error up to {worst.value:.1e} ({worst.robot}, {worst.quantity})")
    return "\n".join(lines)


def rotors(rows: Sequence[Row]) -> str:
    """How much the forces of each robot with rotors change if armatures take their place: one line each."""
    found = {row.robot: row.value for row in rows if row.measure == AS_ARMATURE and row.value is not None}
    return "\n".join(f"{robot}: armatures for rotors change forces by up to {x:.1e}" for robot, x in found.items())


def reasons(rows: Sequence[Row]) -> str:
    """Why some methods have no number on some robots: one line for each method, with the first of its reasons."""
    where: dict[str, dict[str, str]] = {}
    for row in rows:
        if row.status == "unsupported" and row.measure in ("supports", "sample"):
            where.setdefault(row.method, {}).setdefault(row.robot, row.reason)
    everywhere = len({row.robot for row in rows})
    lines = []
    for method, robots in where.items():
        on = f" on {', '.join(robots)}" if len(robots) < 4 else f" on {len(robots)} of {everywhere} robots"
        lines.append(clip(f"not compared: {method}{on}: {next(iter(robots.values()))}"))
    return "\n".join(lines)


def verdict(rows: Sequence[Row]) -> str:
    bad = sum(not row.ok for row in rows)
    pairs = sum(bool(row.other) for row in rows)
    checked = sum(is_invariant(row) for row in rows)
    counted = f"{pairs} comparisons of pairs, {checked} invariants"
    if not pairs:
        return f"{counted}: no two methods were compared, so that nothing can be said about agreement"
    return f"{counted}: all agree" if not bad else f"{counted}: {bad} do not agree"


def clip(line: str) -> str:
    return clipped(" ".join(line.split("\n")), WIDTH)
