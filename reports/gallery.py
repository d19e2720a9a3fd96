"""All figures of a run, by section, drawn on all processors.

Drawing takes most of the time of a report: a second for a large figure, in Python. Each process reads the same rows,
finds the same figures in the same order and draws its share of them; what a process does not return is drawn here.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dynbench.reports import curves, figures, problems, rows, style
from dynbench.reports.figure import Figure, Rendered, render
from dynbench.reports.rows import StoredRun

PRECISION = "work-precision"  # plots of a simulation that have a section of their own
FEW = 12  # figures that one process draws while another would still be starting
TIMEOUT = 600.0  # seconds a process; a figure takes one
Forms = dict[str, str]  # of a figure: as in `Rendered`, the PDF in base 64


def draw(run: StoredRun, only: Callable[[str], bool] | None = None) -> dict[str, list[Rendered]]:
    """Draw all figures, by section; those of simulations under the simulation's name.

    ``only`` tells which sections to draw, in this process; the others are there without figures.
    """
    found = sections(run)
    if only is not None:
        return {section: [render(one) for one in group if only(section)] for section, group in found.items()}
    everything = [figure for group in found.values() for figure in group]
    parts = min(os.cpu_count() or 1, len(everything) // FEW)
    drawn = iter(_together(run.path, everything, parts) if parts > 1 else map(render, everything))
    return {section: [next(drawn) for _ in group] for section, group in found.items()}


def sections(run: StoredRun) -> dict[str, list[Figure]]:
    """The figures there are rows for, by section; nothing is drawn yet."""
    found: dict[str, Iterable[Figure]] = {
        "agreement": figures.agreement(run),
        "speed": figures.speed(run),
        "ratios": figures.ratios(run),
        "batches": curves.batches(run),
        "scaling": curves.scaling(run),
        "peak": figures.peak(run),
        "problems": problems.figures(run),
    }
    precise: list[Figure] = list(curves.precision(run))
    for simulation in run.simulations:
        plots = list(curves.simulation(simulation))
        precise += [plot for plot in plots if plot.name.endswith(PRECISION)]
        found[f"simulation {simulation['name']}"] = [plot for plot in plots if not plot.name.endswith(PRECISION)]
    found[PRECISION] = precise
    return {section: list(group) for section, group in found.items()}


def _together(folder: Path, everything: list[Figure], parts: int) -> list[Rendered]:
    command = [sys.executable, "-P", "-m", __name__, str(folder.absolute()), str(parts)]
    with ThreadPoolExecutor(parts) as threads:
        shares = threads.map(lambda part: _share([*command, str(part)]), range(parts))
        given = {part + parts * k: forms for part, share in enumerate(shares) for k, forms in enumerate(share)}
    return [
        Rendered(figure, forms["inline"], forms["svg"], base64.b64decode(forms["pdf"]), forms["csv"])
        if (forms := given.get(number))
        else render(figure)
        for number, figure in enumerate(everything)
    ]


def _share(command: list[str]) -> list[Forms]:
    """Return what another process drew; nothing if it failed."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=True)
        found: list[Forms] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return []
    return found


def share(folder: str, parts: int, part: int) -> list[Forms]:
    """Draw every ``parts``-th figure of the run in a folder, beginning with number ``part``."""
    run = rows.read(Path(folder))
    style.assign(run.methods)
    everything = [figure for group in sections(run).values() for figure in group]
    return [
        {"inline": one.inline, "svg": one.svg, "pdf": base64.b64encode(one.pdf).decode(), "csv": one.csv}
        for one in map(render, everything[part::parts])
    ]


if __name__ == "__main__":
    json.dump(share(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])), sys.stdout)
