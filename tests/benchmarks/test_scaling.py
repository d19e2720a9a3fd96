"""Exponents from made-up times."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench import robots
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.tiers import variants
from dynbench.benchmarks.timing import scaling
from dynbench.benchmarks.timing.cases import Cell
from dynbench.benchmarks.timing.passes import Timing


def timings(power: float, sizes: tuple[int, ...], family: str = "chain", scatter: float = 0.0) -> list[Timing]:
    rng = np.random.default_rng(0)
    return [
        Timing(
            Cell(f"{family}-{n}", "kane", "bias", "batch", scaling.ROWS),
            1e-7 * n**power * np.exp(scatter * rng.standard_normal()),
        )
        for n in sizes
    ]


@pytest.mark.parametrize("power", [1.0, 2.0, 3.5])
def test_a_pure_power_is_found_exactly(power):
    (found,) = scaling.exponents(timings(power, scaling.SIZES))
    assert found.exponent == pytest.approx(power, abs=1e-12)
    assert found.high - found.low == pytest.approx(0.0, abs=1e-9)
    assert (found.smallest, found.largest, found.points) == (8, 256, 6)


def test_the_interval_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(1)
    sizes = np.array([8, 16, 32, 64, 128])
    hits = 0
    for _ in range(400):
        _, low, high = scaling.fit_power(sizes, sizes**2.0 * np.exp(0.1 * rng.standard_normal(5)))
        hits += low <= 2.0 <= high
    assert 0.92 <= hits / 400 <= 0.98


def test_too_few_sizes_have_a_reason_instead():
    few = timings(1.0, (8, 16))
    few.append(Timing(Cell("chain-32", "kane", "bias", "batch", scaling.ROWS), reason="8 states took 9 s"))
    (found,) = scaling.exponents(few)
    assert found.reason == "2 sizes were timed, three are needed: 8 states took 9 s"


def test_other_cells_are_not_fitted():
    others = [
        Timing(Cell("panda", "kane", "bias", "batch", scaling.ROWS), 1.0),
        Timing(Cell("chain-30", "kane", "bias", "batch", 1000), 1.0),
    ]
    assert scaling.exponents(others) == []


def test_families_are_of_the_zoo_and_sizes_count_coordinates():
    assert scaling.families() == list(scaling.FAMILIES)
    assert scaling.sizes("chain", quick=False)[-1] == 256
    assert scaling.sizes("rp", quick=True)[-1] == 32
    assert scaling.family_of("elastic-rp-4") == ("elastic-rp", 4)
    assert scaling.family_of("space-arms-16") == ("space-arms", 16)
    assert scaling.family_of("panda") is None
    assert scaling.family_of("space-dual-arm") is None


@pytest.mark.parametrize("family", scaling.FAMILIES)
def test_every_family_has_sizes_up_to_about_256_coordinates(family):
    sizes = scaling.sizes(family, quick=False)
    assert list(sizes) == sorted(set(sizes))
    largest = robots.load(f"{family}-{sizes[-1]}")
    assert 200 <= largest.nv <= 270
    smaller = robots.load(f"{family}-{sizes[-2]}")
    units = sizes[-1] - sizes[-2]
    assert (largest.nv - smaller.nv) / units == pytest.approx(scaling.FAMILIES[family], rel=0.01)


@pytest.mark.parametrize("family", scaling.FAMILIES)
def test_a_quick_run_leaves_some_families_out(family):
    cells, refused = scaling.cells(variants(["newton-euler", "gibbs-appell-elastic"]), ["inverse_dynamics"], quick=True)
    timed = {scaling.family(cell) for cell in (*cells, *refused)}
    assert (family in timed) == (family in scaling.QUICK_FAMILIES)


def test_reasons_of_cells_that_cannot_be():
    assert scaling.why_not("newton-euler", "chain-4", "inverse_dynamics") is None
    assert "does not compute" in scaling.why_not("kane", "chain-4", "reactions").reason
    assert scaling.why_not("kane", "chain-4", "reactions").outcome is Outcome.UNSUPPORTED
    assert "nobody" in scaling.why_not("nobody", "chain-4", "bias").reason


def test_whoever_was_asked_before_is_not_asked_again():
    """A plugin is asked in a process of its own: here its code must not run."""
    crashed = Missing(Outcome.CRASHED, "killed by signal 11 (SIGSEGV)")
    answers = {("chain-8", "newton-euler"): crashed, ("3rrr", "kane"): None}
    assert scaling.why_not("newton-euler", "chain-8", "inverse_dynamics", answers) == crashed
    assert scaling.why_not("newton-euler", "chain-16", "inverse_dynamics", answers) is None
    assert scaling.why_not("kane", "3rrr", "inverse_dynamics", answers) is None
    _, refused = scaling.cells(variants(["newton-euler"]), ["inverse_dynamics"], True, answers)
    assert refused[Cell("chain-8", "newton-euler", "inverse_dynamics", "batch", scaling.ROWS, code="traced")] == crashed
