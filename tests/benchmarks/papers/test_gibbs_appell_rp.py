"""The revolute-prismatic paper's experiment against a reference computed with an independent engine.

``tests/data/gibbs-appell-rp.json`` says its conventions: all angles, then all extensions; SI units.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dynbench.benchmarks.papers import gibbs_appell_rp as paper
from dynbench.benchmarks.papers.claims import VERDICTS
from dynbench.benchmarks.papers.gibbs_appell_rp import counts, measured, recording
from dynbench.benchmarks.papers.gibbs_appell_rp import experiment as scenario

REFERENCE = json.loads((Path(__file__).parents[2] / "data" / "gibbs-appell-rp.json").read_text(encoding="utf-8"))
METHODS = ["gibbs-appell-rp", "newton-euler", "gibbs-appell"]


@pytest.fixture(params=METHODS)
def method(request):
    return request.param


def deviation(run, part):
    """Largest difference of positions to a part of the reference."""
    angles, extensions = np.array(part["q"]), np.array(part["l"])
    return max(np.abs(run.q[:, ::2] - angles).max(), np.abs(run.q[:, 1::2] - extensions).max())


def test_without_stops(method):
    part = REFERENCE["no_stop"]
    run = scenario.rods().run(method, times=np.array(part["t"]))
    assert deviation(run, part) < 1e-6
    np.testing.assert_allclose(run.v[-1, ::2], part["qdot"][-1], atol=1e-6)
    np.testing.assert_allclose(run.v[-1, 1::2], part["ldot"][-1], atol=1e-6)
    np.testing.assert_allclose(run.energy, part["energy"], atol=1e-8)
    assert np.abs(run["energy balance"]).max() < 1e-8
    assert run["work"][-1] == pytest.approx(4.292774, abs=1e-6)


def test_the_end_state():
    run = scenario.rods().run(times=np.array([1.5]))
    np.testing.assert_allclose(run.q[-1, ::2], [-1.4966582, 2.8842508, 0.9236425], atol=1e-6)
    np.testing.assert_allclose(run.q[-1, 1::2], [7.5975570, -2.2298515, -0.9153702], atol=1e-6)


def test_until_the_first_contact():
    part = REFERENCE["until_first_contact"]
    run = scenario.rods().run(times=np.array(part["t"]))
    assert deviation(run, part) < 1e-8


def test_where_the_stops_would_be_passed(method):
    found = scenario.crossings(method)
    reference = REFERENCE["no_stop"]["crossings_of_stop_values"]
    assert [event.coordinate // 2 + 1 for event in found] == [entry["link"] for entry in reference]
    np.testing.assert_allclose([event.t for event in found], [entry["t"] for entry in reference], atol=1e-6)
    assert found[0].t == pytest.approx(0.244380416, abs=1e-6)


def test_other_readings_of_the_initial_state():
    assert scenario.crossings(reading="all zero")[0].t == pytest.approx(0.520935, abs=1e-6)
    assert scenario.crossings(reading="q1 = pi/2")[0].t == pytest.approx(0.282782, abs=1e-6)


def test_with_stops(method):
    part = REFERENCE["with_stop_inelastic"]
    run = scenario.rods(stops=True).run(method, times=np.array(part["t"]))
    reference = part["events"]
    assert len(run.events) == len(reference) == 8
    for found, right in zip(run.events, reference, strict=True):
        assert (found.kind, found.coordinate // 2 + 1, found.side) == (right["event"], right["link"], right["side"])
        assert found.t == pytest.approx(right["t"], abs=1e-4)
    losses = [event.loss for event in run.events if event.kind == "impact"]
    np.testing.assert_allclose(losses, [1.209, 32.420, 5.886, 19.127, 17.046], atol=1e-3)
    assert deviation(run, part) < 1e-4
    assert np.abs(run["energy balance"]).max() < 1e-8
    assert run.loss[-1] == pytest.approx(75.68826, abs=1e-4)
    extensions = run.q[:, 1::2]
    assert extensions.min() > -1e-9
    assert extensions.max() < 1 + 1e-9


def test_the_naive_stop_creates_energy():
    run = scenario.rods(stops=True, impact="naive").run()
    np.testing.assert_allclose(run.q[-1, ::2], [-1.624, 2.707, -1.131], atol=1e-3)
    created = sorted(-event.loss for event in run.events if event.loss < 0)
    np.testing.assert_allclose(created, [0.40, 1.08], atol=5e-3)


def test_the_integrators_tolerance_is_not_the_models_error():
    part = REFERENCE["no_stop"]
    times = np.array(part["t"])
    coarse = scenario.rods().run(times=times, solver="RK45", rtol=1e-3, atol=1e-6)
    fine = scenario.rods().run(times=times, solver="RK45", rtol=1e-10, atol=1e-12)
    assert 5e-3 < deviation(coarse, part) < 1e-1
    assert deviation(fine, part) < 1e-7


def test_it_takes_well_under_a_second():
    """A millisecond, after compilation; the paper: 38.23 s."""
    found = scenario.rods().run(scenario.METHOD, solver="RK45", rtol=1e-8, atol=1e-10)
    assert found.seconds.processor < 1.0


def test_statements_and_checks():
    found = {claim.statement: claim for claim in paper.claims(quick=True)}
    checks = [claim for claim in found.values() if claim.kind == "check"]
    assert {claim.verdict for claim in checks} == {"reproduced"}
    assert len(checks) == 5
    stated = [claim.verdict for claim in found.values() if claim.kind == "statement"]
    assert [stated.count(verdict) for verdict in VERDICTS] == [7, 2, 0, 2]
    first = found["without stops l < 0 or l > L may happen in the example"]
    assert first.measured == pytest.approx(0.244380416, abs=1e-6)
    assert found["the inertia matrix is symmetric and positive definite"].measured == pytest.approx(0.0907, abs=1e-4)
    assert "38.23" in found["1.5 s of motion, derived and solved"].printed
    assert found["1.5 s of motion, derived and solved"].verdict == "not reproducible"


def test_products_of_four_are_dearer_than_of_three():
    matrices, vectors = counts.count_products(4)
    assert matrices > 40
    assert vectors > 10
    assert measured.products_of(4, 4) / measured.products_of(3, 4) == pytest.approx(112 / 45, rel=0.1)


def test_the_figures_are_four():
    found = recording.sliding_rods()
    assert [plot.title.partition(":")[0] for plot in found.plots[:4]] == [f"Fig. {k}" for k in range(3, 7)]
    lengths = found.plots[2].panels[0].series
    assert min(min(series.y) for series in lengths) > -1e-9
    without = found.plots[4].panels[2].series
    assert min(min(series.y) for series in without) < -1.0  # no stop holds them
