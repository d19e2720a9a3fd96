"""Closed loops against Pinocchio's route: agreement first, then a ratio far above its target; or a reason."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.timing import loop_ratios
from dynbench.methods.peers.pinocchio_loops import PinocchioLoops
from dynbench.robots.errors import UnsupportedError


def test_the_platform_is_twenty_times_faster():
    pytest.importorskip("pinocchio")
    found, traced = loop_ratios.from_job(loop_ratios.job(["3rrr"]))
    assert (found.code, traced.code) == ("generic", "traced")
    assert traced.ratio > found.ratio
    assert (found.method, found.peer, found.target, found.own_call) == ("denoc", "pinocchio", 20.0, False)
    assert found.ratio > 20.0
    assert found.outcome in (Outcome.NUMBER, Outcome.DISTURBED)
    assert "not a call of the engine" in loop_ratios.screen([found])


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "3rrr", "delta"])
def test_pinocchio_agrees_on_closures_in_the_plane_and_in_space(name):
    pytest.importorskip("pinocchio")
    robot = robots.load(name)
    engine = PinocchioLoops(robot)
    q, v, a = robot.sample(4, seed=1)
    ours = methods.get("denoc").prepare(robot).inverse_dynamics(q, v, a)
    theirs = np.array([engine.inverse_dynamics(*state) for state in zip(q, v, a, strict=True)])
    assert np.abs(ours - theirs).max() < 1e-10 * np.abs(ours).max()
    if name != "delta":
        with pytest.raises(UnsupportedError, match="closures in a plane"):
            engine.forward_dynamics(q[0], v[0], ours[0])


def test_without_a_number_there_is_a_reason():
    (found,) = loop_ratios.absent(["3rrr"], Missing(Outcome.TIMED_OUT, "timed out after 300 s"), ["generic"])
    assert math.isnan(found.ratio)
    assert found.met == ""
    assert "timed out" in loop_ratios.screen([found])
    assert loop_ratios.screen([]) == ""


def test_a_robot_without_loops_has_a_reason():
    pytest.importorskip("pinocchio")
    found, _ = loop_ratios.loop_ratios(["no-such-robot"])
    assert "no-such-robot" in found.reason


def test_where_the_same_code_differs_from_itself_there_is_no_verdict(monkeypatch):
    """All turns may look undisturbed, and yet two measurements of the same script be far apart."""
    calls = {"generic": lambda: sum(range(200))}
    for noise, undisturbed in ((0.01, True), (0.3, False)):
        monkeypatch.setattr(loop_ratios, "resolution", lambda ratios, noise=noise: noise)
        monkeypatch.setattr(loop_ratios.Group, "disturbance", lambda group, place: "")
        found = loop_ratios._measured("3rrr", calls, lambda: sum(range(20_000)))["generic"]
        assert (found.outcome is Outcome.NUMBER) is undisturbed
        assert bool(found.verdict) is undisturbed
        assert ("differs by 30 %" in found.reason) is not undisturbed
