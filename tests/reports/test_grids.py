"""What a cell of the coverage matrix says of a method on a robot, and that colours follow from outcomes."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.reports import grids, time_tables
from dynbench.reports.rows import StoredRun

NOT_OFFERED = (Outcome.UNSUPPORTED, "kane does not compute bias")
TOO_SLOW = (Outcome.LEFT_OUT, "8 states take 9 s, more than the limit of 5 s")
FINE = (Outcome.NUMBER, "")
DIED = (Outcome.CRASHED, "killed by signal 11 (SIGSEGV)")


@pytest.mark.parametrize(
    ("ended", "text", "look", "note"),
    [
        ({"inverse_dynamics": FINE, "bias": FINE}, "ok", "good", ""),
        ({"inverse_dynamics": FINE, "bias": NOT_OFFERED}, "ok", "good", "does not compute bias"),
        ({"inverse_dynamics": FINE, "bias": TOO_SLOW}, "1 of 2", "part", f"bias: {TOO_SLOW[1]}"),
        ({"inverse_dynamics": FINE, "bias": DIED}, "1 of 2", "bad", f"bias: {DIED[1]}"),
        ({"inverse_dynamics": TOO_SLOW, "bias": NOT_OFFERED}, "left out", "none", TOO_SLOW[1]),
        ({"inverse_dynamics": NOT_OFFERED, "bias": NOT_OFFERED}, "no", "none", NOT_OFFERED[1]),
        ({"inverse_dynamics": (Outcome.DISAGREED, "x"), "bias": NOT_OFFERED}, "disagreed", "bad", "x"),
        ({"inverse_dynamics": DIED, "bias": DIED}, "crashed", "bad", DIED[1]),
        ({}, "no", "none", "no row of the run names this robot with this method"),
    ],
)
def test_the_cell_of_a_method_and_a_robot_follows_from_its_outcomes(
    ended: dict[str, tuple[Outcome, str]], text: str, look: str, note: str, tmp_path: Path
) -> None:
    rows = [
        {"robot": "panda", "method": "kane", "code": "", "label": "kane", "quantity": quantity,
         "outcome": how, "reason": reason}
        for quantity, (how, reason) in ended.items()
    ]  # fmt: skip
    facts = {"methods": {"kane": {}}, "robots": {"panda": {}}}
    grid = time_tables.coverage(StoredRun(tmp_path, facts, {"timing": rows, "agreement": []}, [], [], []))
    (line,) = grid.lines
    cell = line.cells[1]
    assert (cell.text, cell.look) == (text, look)
    assert note in (grid.notes[cell.note - 1] if cell.note else "")
    assert bool(cell.note) == bool(note)


@pytest.mark.parametrize("ended", Outcome)
def test_every_outcome_has_a_place_among_the_others_and_a_look(ended: Outcome) -> None:
    assert ended in grids.SEVERITY
    assert (grids.look_of(ended) == "bad") == ended.failure
