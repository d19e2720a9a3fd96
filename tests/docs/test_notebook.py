"""The notebook "five derivations, one torque": its code runs, all torques agree, and what is stored is what it gives.

Needs IPython, as notebooks do: the session docs has it. There the site is built, too, which executes the notebook.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("IPython", reason="notebooks run in the session docs")

NOTEBOOK = Path(__file__).parent.parent.parent / "docs" / "five-derivations.ipynb"
METHODS = ("newton-euler", "lagrange-euler", "kane", "gibbs-appell", "boltzmann-hamel")


def code() -> list[dict[str, Any]]:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """The variables of the notebook after all of its cells have run."""
    found: dict[str, Any] = {}
    for number, cell in enumerate(code(), 1):
        exec(compile("".join(cell["source"]), f"{NOTEBOOK.name}, cell {number}", "exec"), found)
    return found


def test_all_torques_agree(names: dict[str, Any]) -> None:
    assert tuple(names["torque"]) == tuple(names["by_hand"]) == METHODS
    every = np.array([*names["torque"].values(), *names["by_hand"].values()])
    assert np.abs(every - every[0]).max() < 1e-13 * np.abs(every).max()
    assert np.abs(every[0]).min() > 1.0


def test_the_derivations_by_hand_hold_at_every_state(names: dict[str, Any]) -> None:
    from dynbench import methods

    solver = methods.get("newton-euler").prepare(names["arm"], code="traced")
    functions = [names[name] for name in ("newton_euler", "lagrange", "kane", "gibbs_appell", "boltzmann_hamel")]
    for q, v, a in zip(*names["arm"].sample(20, seed=3), strict=True):
        tau = solver.inverse_dynamics(q, v, a)
        for function in functions:
            np.testing.assert_allclose(function(q, v, a), tau, atol=1e-12 * np.abs(tau).max())


def test_five_closed_forms_are_one(names: dict[str, Any]) -> None:
    assert set(names["formula"]) == set(METHODS)
    assert len(set(names["formula"].values())) == 1


def test_counts_are_stored_as_they_are(names: dict[str, Any]) -> None:
    """The notebook is stored with its output, for readers of the repository."""
    assert all(cell["outputs"] for cell in code() if "inspect()" in "".join(cell["source"]))
    table = "".join(code()[-1]["outputs"][0]["data"]["text/html"])
    for name, count in names["count"].items():
        row = table.partition(f"<th>{name}</th>")[2].partition("</tr>")[0]
        assert f"<td>{count.additions}</td>" in row
        assert f"<td>{count.multiplications}</td>" in row
    shown = [output.get("data", {}).get("text/latex") for cell in code() for output in cell["outputs"]]
    (closed,) = {"".join(text) for text in shown if text}
    assert names["formula"]["kane"] in closed
