"""The tables of agreement: what is an invariant, and what is reported beside them."""

from __future__ import annotations

from pathlib import Path

from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results.rows import AS_ARMATURE
from dynbench.reports import agreement
from dynbench.reports.rows import StoredRun


def test_robots_with_rotors_have_a_table_of_their_own(tmp_path: Path) -> None:
    """What armatures in the place of rotors change is no invariant; a robot that has no such row is not listed."""

    def row(robot: str, method: str, measure: str, value: str) -> dict[str, str]:
        head = {"robot": robot, "method": method, "measure": measure, "value": value, "quantity": "inverse_dynamics"}
        return head | {"other": "", "code": "", "status": "reported", "outcome": Outcome.NUMBER, "reason": ""}

    rows = [
        row("geared", "kane", AS_ARMATURE, "0.0123"),
        row("plain", "kane", "power balance", "1e-9"),
        row("geared", "screw", "power balance", "1e-9"),
    ]
    facts = {"methods": {"kane": {}, "screw": {}}, "robots": {"geared": {}, "plain": {}}}
    run = StoredRun(tmp_path, facts, {"timing": [], "agreement": rows}, [], [], [])
    grid = agreement.rotors(run)
    assert [[cell.text for cell in line.cells] for line in grid.lines] == [["geared", "1.2e-02"]]
    assert [head.text for head in grid.heads] == ["robot", "kane"]
    assert [line.cells[0].text for line in agreement.invariants(run).lines] == ["power balance"]
