"""The tables of docs/rivals.md:

    python docs/rivals_page.py build/rivals

runs the benchmark of all engines on four robots, unless its tables are in the folder (minutes; the first time a C++
compiler works for ten more), and writes the page.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))  # loaded by its path
from paper_pages import between, table

PAGE = Path(__file__).parent / "rivals.md"
ROBOTS = ("panda", "ur5", "chain-30", "talos")
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
OURS = "exported-c"  # our own code, in C
ENGINES = (
    OURS, "pinocchio", "pinocchio-cpp", "casadi-c", "dynibo", "mujoco", "drake", "simbody", "frax",
)  # fmt: skip
KINDS = {"call": "one checked call from Python", "batch": "a batch of 1000 states, one thread"}


def command(folder: str) -> list[str]:
    """The benchmark, as one would type it."""
    chosen = [word for name in ROBOTS for word in ("-r", name)]
    chosen += [word for name in ("newton-euler", *ENGINES) for word in ("-m", name)]
    chosen += [word for name in QUANTITIES for word in ("--quantity", name)]
    return ["dynbench", "bench", *chosen, "--memory", "12G", "--output", folder]


def read(folder: Path) -> list[dict[str, str]]:
    with open(folder / "ratios.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def cell(row: dict[str, str]) -> str:
    """A ratio with its interval, or why there is none."""
    if row["outcome"] != "number":
        return row["outcome"]
    value, low, high = (float(row[key]) for key in ("ratio", "low", "high"))
    digits = 1 if value < 99.5 else 0
    return f"{value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def ratios(rows: list[dict[str, str]], mode: str, code: str) -> str:
    """How many times as long as newton-euler every engine takes, by quantity, engine and robot."""
    lines = []
    for quantity in QUANTITIES:
        for engine in ENGINES:
            key = {"mode": mode, "code": code, "quantity": quantity, "peer": engine}
            found = {row["robot"]: row for row in rows if all(row[name] == value for name, value in key.items())}
            if found:
                called = next(iter(found.values()))["peer_call"]
                numbers = (cell(found[robot]) if robot in found else "–" for robot in ROBOTS)
                lines.append((quantity.replace("_", " "), f"`{engine}`", called, *numbers))
    return table(("quantity", "engine", "what was called", *ROBOTS), lines)


def strongest(rows: list[dict[str, str]]) -> str:
    """The engine that comes nearest to traced code, and where any is faster than either tier."""
    sentences = []
    for mode, kind in KINDS.items():
        means = {}
        for engine in ENGINES:
            wanted = {"mode": mode, "code": "traced", "peer": engine, "outcome": "number"}
            found = [float(r["ratio"]) for r in rows if all(r[name] == value for name, value in wanted.items())]
            if found and engine != OURS:
                means[engine] = float(np.exp(np.mean(np.log(found))))
        best = min(means, key=lambda name: means[name])
        sentences.append(
            f"- {kind}: the strongest rival is `{best}`, {means[best]:.1f} times the time of traced code"
            " (geometric mean of all robots and quantities)."
        )
    faster = [
        f"`{r['peer']}` {r['quantity'].replace('_', ' ')} of {r['robot']}, {KINDS[r['mode']]}, {r['code']} code:"
        f" {cell(r)}"
        for r in rows
        if r["mode"] in KINDS and r["outcome"] == "number" and float(r["high"]) < 1.0
    ]
    sentences.append(f"- Faster than `newton-euler`: {'; '.join(faster)}." if faster else "- None is faster.")
    return "\n".join(sentences)


def facts(folder: Path) -> str:
    """What was run, where, and how quiet it was."""
    found = json.loads((folder / "environment.json").read_text(encoding="utf-8"))
    names = ("pin", "casadi", "dynibo", "mujoco", "drake", "opensim", "frax", "jax")
    versions = ", ".join(f"{name} {found['versions'][name]}" for name in names if name in found["versions"])
    told = found["timing"]["resolution"]
    return (
        f"Made by `{' '.join(command('build/rivals'))}` on {found['cores']} cores of {found['cpu']}"
        f" ({found['simd'][-1]}), {found['date'][:10]}. Timing was {found['timing']['sentence']}. The smallest"
        f" difference that can be told is {100 * told['single']:.1f} % for single calls and"
        f" {100 * told['batch']:.1f} % for batches. Versions: {versions}."
        f" Compilers: {'; '.join(found['compilers'].values())}."
    )


def main(folder: Path) -> None:
    if not (folder / "ratios.csv").is_file():
        subprocess.run([sys.executable, "-m", "dynbench.benchmarks", *command(str(folder))[1:]], check=True)
    rows, text = read(folder), PAGE.read_text(encoding="utf-8")
    parts = {"facts": facts(folder), "strongest": strongest(rows)}
    parts |= {f"{mode} {code}": ratios(rows, mode, code) for mode in KINDS for code in ("traced", "generic")}
    for name, content in parts.items():
        text = between(text, name, content, PAGE.name)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/rivals"))
