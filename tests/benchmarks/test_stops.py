"""Hard stops against motions that can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.benchmarks.simulation.stops import Stop, complementary, simulate_with_stops
from dynbench.robots import Body, Prismatic, Robot


def prepared(*masses, axis=(0, 0, 1), gravity=(0, 0, 0)):
    """Sliders in a row, each on the one before."""
    bodies = [
        Body(
            name=f"slider{k}",
            parent=f"slider{k - 1}" if k else None,
            joint=Prismatic(axis),
            mass=mass,
            inertia=[0.1, 0.1, 0.1],
        )
        for k, mass in enumerate(masses)
    ]
    return methods.get("newton-euler").prepare(Robot.from_bodies("sliders", bodies, gravity=gravity))


def no_force(t, q, v):
    return np.zeros_like(v)


def test_a_falling_mass_comes_to_rest_and_is_lifted_when_the_force_exceeds_its_weight():
    solver = prepared(2.0, gravity=(0, 0, -10))

    def lift(t, q, v):
        return np.array([20.0 * t])  # equals the weight at t = 1

    start, floor = np.array([0.2]), [Stop(0, 0.0, 9.0)]
    run = simulate_with_stops(solver, start, np.zeros(1), lift, 2.0, floor, times=np.linspace(0, 2, 41))
    hit, left = run.events
    # height 0.2 - 5 t^2 + (10/6) t^3 while it falls
    fall = min(t.real for t in np.roots([10 / 6, -5, 0, 0.2]) if t.real > 0)
    assert (hit.kind, hit.side, left.kind) == ("impact", "lower", "release")
    assert hit.t == pytest.approx(fall, abs=1e-9)
    assert hit.loss == pytest.approx(0.5 * 2 * (-10 * fall + 5 * fall**2) ** 2, rel=1e-8)
    assert left.t == pytest.approx(1.0, abs=1e-7)
    np.testing.assert_allclose(run.q[run.t > 1, 0], 10 / 6 * (run.t[run.t > 1] - 1) ** 3, atol=1e-9)
    assert run.q.min() > -1e-12


@pytest.mark.parametrize(("coordinate", "after"), [(1, [1.0 + 3.0 * 2.0 / 5.0, 0.0]), (0, [0.0, 1.0 + 2.0])])
def test_an_impact_changes_all_rates(coordinate, after):
    """A mass of 3 kg slides at 2 m/s on one of 2 kg that moves at 1 m/s."""
    solver = prepared(2.0, 3.0)
    run = simulate_with_stops(
        solver, np.zeros(2), np.array([1.0, 2.0]), no_force, 0.2, [Stop(coordinate, -1.0, 0.1)], times=np.array([0.2])
    )
    np.testing.assert_allclose(run.v[-1], after, rtol=1e-9, atol=1e-12)
    assert run.events[0].side == "upper"
    assert run.events[0].t == pytest.approx(0.1 / (1.0, 2.0)[coordinate], abs=1e-10)


def test_the_naive_stop_breaks_the_balance_of_momentum():
    solver = prepared(2.0, 3.0)
    run = simulate_with_stops(
        solver, np.zeros(2), np.array([1.0, 2.0]), no_force, 0.2, [Stop(1, -1.0, 0.1)], times=np.array([0.2]),
        impact="naive",
    )  # fmt: skip
    np.testing.assert_allclose(run.v[-1], [1.0, 0.0], atol=1e-12)  # momentum was 2 * 1 + 3 * 3, is 5


def test_a_mass_may_hit_and_leave_at_once():
    """Pushed off by the relative impact: the first slider rests on its stop until the second reaches its own."""
    solver = prepared(1.0, 1.0)
    run = simulate_with_stops(
        solver, np.array([0.0, 0.5]), np.array([-1.0, 3.0]), no_force, 1.0, [Stop(0, -0.1, 9.0), Stop(1, 0.0, 0.9)],
        times=np.array([1.0]),
    )  # fmt: skip
    kinds = [(event.kind, event.coordinate) for event in run.events]
    assert kinds[0] == ("impact", 0)
    assert ("release", 0) in kinds
    assert run.v[-1, 0] > 0
    assert all(event.loss >= 0 for event in run.events)


def test_unknown_law():
    with pytest.raises(ValueError, match="impact is 'elastic', expected 'inelastic' or 'naive'"):
        simulate_with_stops(prepared(1.0), np.zeros(1), np.zeros(1), no_force, 1.0, [], impact="elastic")


@pytest.mark.parametrize("seed", range(20))
def test_complementarity(seed):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(4, 4))
    A, b = B @ B.T + 0.1 * np.eye(4), rng.normal(size=4)
    z = complementary(A, b)
    w = A @ z + b
    assert z.min() > -1e-12
    assert w.min() > -1e-9
    assert abs(z @ w) < 1e-9


def test_every_method_that_computes_forward_dynamics_will_do():
    robot = robots.load("rp3")
    q = np.array([0, 0.4, 0, 0.25, np.pi / 2, 0.25])
    runs = [
        simulate_with_stops(
            methods.get(name).prepare(robot), q, np.zeros(6), lambda t, q, v: np.ones(6), 0.6,
            [Stop(5, 0.0, 1.0), Stop(1, 0.0, 1.0)], times=np.array([0.6]),
        )
        for name in ("newton-euler", "gibbs-appell")
    ]  # fmt: skip
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-7)
    assert [event.kind for event in runs[0].events] == [event.kind for event in runs[1].events]
