"""What derivatives cost, from made-up rows: the numbers of the section, and that it is there only with such rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dynbench.benchmarks.checks.derivatives import COMPLEX_STEPS, DUAL_NUMBERS
from dynbench.benchmarks.results import schema
from dynbench.reports import derivatives, html, rows

QUANTITY = "inverse_dynamics_derivatives"


def add_derivatives(folder: Path, robot: str = "panda", quantity: str = QUANTITY) -> Path:
    """Give a run derivatives of a robot that take four times the inverse dynamics, in generic code alone."""
    coded = {"newton-euler": "generic", "gibbs-appell": "generic"}
    timing, more = list(schema.TIMING.read(folder)), []
    for row in timing:
        row["code"] = coded.get(row["method"], "")
        own = (row["robot"], row["quantity"]) == (robot, "inverse_dynamics")
        if own and row["mode"] != "threads" and row["seconds"]:
            slower = {name: str(4.0 * float(row[name])) for name in ("seconds", "low", "high")}
            more.append({**row, **slower, "quantity": quantity})
    schema.TIMING.write(folder, [*timing, *more])
    counts = [{**row, "code": coded.get(row["method"], "")} for row in schema.COUNTS.read(folder)]
    owned = [row for row in counts if (row["robot"], row["quantity"]) == (robot, "inverse_dynamics") and row["flops"]]
    thrice = [{**row, "quantity": quantity, "flops": str(3 * int(row["flops"]))} for row in owned]
    schema.COUNTS.write(folder, [*counts, *thrice])
    ratios = [{**row, "code": coded.get(row["method"], "")} for row in schema.RATIOS.read(folder)]
    beside = [row for row in ratios if (row["robot"], row["quantity"]) == (robot, "inverse_dynamics")]
    line = "for k, (q, v, a) in enumerate(states):\n    found = pin.computeRNEADerivatives(model, data, q, v, a)"
    schema.RATIOS.write(folder, [*ratios, *({**row, "quantity": quantity, "expression": line} for row in beside)])
    found = [{**row, "code": coded.get(row["method"], "")} for row in schema.AGREEMENT.read(folder)]
    head = {"robot": robot, "quantity": quantity, "method": "newton-euler", "code": "generic", "unit": "relative",
            "status": "agrees", "outcome": "number", "states": "2", "seed": "0"}  # fmt: skip
    found += [
        {**head, "measure": COMPLEX_STEPS, "value": "3e-15"},
        {**head, "measure": DUAL_NUMBERS, "value": "2e-16"},
        {**head, "measure": "error", "other": "pinocchio", "value": "4e-14"},
    ]
    schema.AGREEMENT.write(folder, found)
    return folder


@pytest.fixture(scope="module")
def folder(made: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return add_derivatives(made(simulations=False).write(tmp_path_factory.mktemp("derived")))


def test_a_line_has_operations_times_engines_and_errors(folder: Path) -> None:
    grid = derivatives.table(rows.read(folder))
    heads = [head.text for head in grid.heads]
    lines = {(line.cells[1].text, line.cells[-1].text): line.cells for line in grid.lines}
    assert {name for name, _ in lines} >= {"newton-euler", "gibbs-appell", "pinocchio"}
    assert "null" not in {name for name, _ in lines}
    assert ("pinocchio", "engine-batch") in lines
    assert ("pinocchio", "batch") not in lines  # our wrapper
    ours = lines["newton-euler", "batch"]
    by_operations, by_time = (k for k, text in enumerate(heads) if text == "of its inverse dynamics")
    assert ours[by_operations].value == pytest.approx(3.0)
    assert ours[by_time].value == pytest.approx(4.0)
    assert "× pinocchio [" in ours[heads.index("engine")].text
    errors = [ours[heads.index(name)].value for name in ("complex steps", "dual numbers", "others")]
    assert errors == [3e-15, 2e-16, 4e-14]


def test_the_sentence_says_what_was_called(folder: Path) -> None:
    said = derivatives.sentences(rows.read(folder))
    assert set(said) >= {("panda", "batch", "generic"), ("panda", "unchecked", "generic")}
    text = said["panda", "batch", "generic"]
    assert "In times of the method's own inverse dynamics: derivatives of inverse dynamics 4" in text
    assert "newton-euler beside pinocchio, times as fast: " in text
    assert "] (computeRNEADerivatives)." in text
    agreed = "with complex steps to 14, with dual numbers to 15 and with each other to 13"
    assert f"They agree {agreed} digits or more." in text


def test_the_section_is_there_with_its_rows_only(folder: Path, report: Path) -> None:
    assert "What do derivatives cost?" in html.page_alone(folder)
    page = (report / "report.html").read_text(encoding="utf-8")
    assert "What do derivatives cost?" not in page
    assert 'href="#derivatives"' not in page
