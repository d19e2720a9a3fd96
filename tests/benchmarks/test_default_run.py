"""README's benchmark, from its beginning to its end: what the session `bench` runs, in a folder of its own.

Nothing is said of times: other tests may run beside it. What disturbed it must not make it fail.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from dynbench import robots
from dynbench.benchmarks.results import tables
from dynbench.benchmarks.results.verdicts import OWN_CALLS
from dynbench.benchmarks.runs import short
from dynbench.reports import rows as stored
from dynbench.reports.views import Views

pytest.importorskip("pinocchio")
pytestmark = pytest.mark.skipif("talos" not in robots.names(), reason="needs example-robot-data")


NOT_INSTALLED = ("pydrake", "exudyn", "opensim", "frax", "jax", "casadi", "distributed")  # by the session `bench`


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("default")
    hide = folder / "sitecustomize.py"
    hide.write_text(f"import sys\n\nsys.modules.update(dict.fromkeys({NOT_INSTALLED}))\n", encoding="utf-8")
    command = [sys.executable, "-P", "-m", "dynbench.benchmarks", "bench", "--output", str(folder / "latest")]
    variables = {**os.environ, "PYTHONPATH": str(folder)}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False, env=variables)
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
    return folder / "latest", ended


def test_it_ends_with_a_finished_page_and_a_summary(finished):
    folder, ended = finished
    assert "Traceback" not in ended.stderr
    assert "timing was " in ended.stdout
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "this run is not finished" not in page
    for name in ("results.csv", "agreement.csv", "timing.csv", "ratios.csv", "scaling.csv", "counts.csv", "claims.csv"):
        assert tables.read(folder / name), name


def test_everything_agrees_on_every_robot_of_the_rules(finished):
    rows = tables.read(finished[0] / "agreement.csv")
    assert {row["robot"] for row in rows} >= set(short.ROBOTS)
    assert not [row for row in rows if row["status"] in ("differs", "failed")]


def test_headlines_are_of_own_calls(finished):
    rows = tables.read(finished[0] / "ratios.csv")
    wanted = (short.REFERENCE, "pinocchio", "batch")
    batches = [row for row in rows if (row["method"], row["peer"], row["mode"]) == wanted]
    batches = [row for row in batches if row["outcome"] != "unsupported"]  # closed loops
    assert {row["robot"] for row in batches} >= set(short.ROBOTS_OF_ALL_SIZES)
    assert {row["outcome"] for row in batches} <= {"number", "disturbed"}
    assert all(row["peer_call"] in OWN_CALLS for row in batches)


def test_the_page_says_of_every_time_what_the_table_says(finished):
    keys = ("robot", "label", "code", "quantity", "mode", "rows")
    written = {tuple(row[key] for key in keys): row for row in tables.read(finished[0] / "timing.csv")}
    where = ("robot", "quantity", "mode", "rows", "code", "method", "peer")
    numbers = [row for row in tables.read(finished[0] / "ratios.csv") if row["outcome"] == "number"]
    ratios = {tuple(row[key] for key in where): row["low"] for row in numbers}
    checked = 0
    for (robot, quantity, mode, code), view in Views(stored.read(finished[0])).found.items():
        for entry in view.entries:
            row = written[tuple(entry.row[key] for key in keys)]
            if entry.kind == "own" and entry.timed:
                low = ratios.get((robot, quantity, mode, row["rows"], code, *view.fastest[:1], entry.method))
                assert low is None or entry.low == pytest.approx(float(low), rel=1e-9)
            elif row["code"] == code:
                assert entry.verdict == row["verdict"]
                checked += 1
    assert checked > 200
