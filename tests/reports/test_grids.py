"""What a cell of the coverage matrix says of a method on a robot."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynbench.reports import grids
from dynbench.reports.rows import StoredRun

NOT_OFFERED = "kane does not compute bias"
TOO_SLOW = "8 states take 9 s, more than the limit of 5 s"


@pytest.mark.parametrize(
    ("reasons", "text", "note"),
    [
        ({"inverse_dynamics": "", "bias": ""}, "ok", ""),
        ({"inverse_dynamics": "", "bias": NOT_OFFERED}, "ok", "does not compute bias"),
        ({"inverse_dynamics": "", "bias": TOO_SLOW}, "1 of 2", f"bias: {TOO_SLOW}"),
        ({"inverse_dynamics": TOO_SLOW, "bias": NOT_OFFERED}, "no", TOO_SLOW),
        ({"inverse_dynamics": NOT_OFFERED, "bias": NOT_OFFERED}, "no", NOT_OFFERED),
        ({"inverse_dynamics": "disagreed with all", "bias": NOT_OFFERED}, "failed", "disagreed with all"),
        ({}, "no", "no row of the run names this robot with this method"),
    ],
)
def test_what_a_method_does_not_offer_is_no_gap_and_all_else_is(
    reasons: dict[str, str], text: str, note: str, tmp_path: Path
) -> None:
    rows = [
        {"robot": "panda", "method": "kane", "label": "kane", "quantity": quantity, "reason": reason}
        for quantity, reason in reasons.items()
    ]
    facts = {"methods": {"kane": {}}, "robots": {"panda": {}}}
    grid = grids.coverage(StoredRun(tmp_path, facts, {"timing": rows, "agreement": []}, [], [], []))
    (line,) = grid.lines
    cell = line.cells[1]
    assert cell.text == text
    assert note in (grid.notes[cell.note - 1] if cell.note else "")
    assert bool(cell.note) == bool(note)
