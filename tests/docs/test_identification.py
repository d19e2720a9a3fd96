"""The example of identification recovers the parameters that the torques were made with."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(scope="module", params=["panda", "two-link"])
def result(request, example):
    return example.identify(request.param, seed=3)


def test_parameters_are_found_within_their_deviations(result):
    errors = np.abs(result.found - result.true) / result.deviation
    assert np.mean(errors < 2.0) > 0.85
    assert errors.max() < 5.0


def test_another_motion_is_predicted_far_below_the_noise(example, result):
    error = np.sqrt(np.mean((result.predicted - result.torque) ** 2))
    assert error < example.NOISE / 4
    assert np.abs(result.torque).max() > 50 * example.NOISE


def test_less_noise_gives_better_parameters(example, monkeypatch):
    noisy = example.identify("two-link", seed=1)
    monkeypatch.setattr(example, "NOISE", 1e-3 * example.NOISE)
    better = example.identify("two-link", seed=1)
    np.testing.assert_allclose(better.found - better.true, 1e-3 * (noisy.found - noisy.true), atol=1e-9)


def test_it_prints_a_table(example, capsys):
    example.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 44
    assert lines[-1].startswith("other motion: torques predicted to 0.0")
