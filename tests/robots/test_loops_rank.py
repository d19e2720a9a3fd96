"""The nominal rank of loops: redundant rows, singular homes, sampling on the loops, and what is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dynbench import robots
from dynbench.robots import Body, Loop, Revolute, Robot, RobotError

EYE = np.eye(3)
HINGE = (True, True, True, True, True, False)


def turned(seed: int, closes=(True, True, True, False, False, False)) -> Robot:
    """A planar four-bar closed by a ball joint, turned in space."""
    R = robots.random_rotation(np.random.default_rng(seed))

    def bar(name: str, parent: str | None, x: float) -> Body:
        placement = (EYE, [x, 0, 0]) if parent else (R, R @ [x, 0, 0])
        return Body(name=name, parent=parent, joint=Revolute([0, 0, 1]), placement=placement, mass=1.0, com=[0.2, 0, 0],
                    inertia=[0.01, 0.05, 0.06])  # fmt: skip

    bodies = [bar("crank", None, 0.0), bar("coupler", "crank", 0.4), bar("rocker", None, 1.0)]
    loop = Loop(
        body1="rocker", body2="coupler", placement1=(EYE, [0.8, 0, 0]), placement2=(EYE, [0.9, 0, 0]), closes=closes
    )
    return Robot.from_bodies("turned", bodies, loops=[loop], actuated=["crank"])


@pytest.mark.parametrize("first", range(0, 100, 20))
def test_a_four_bar_closed_by_a_ball_joint_in_any_orientation(first):
    for seed in range(first, first + 20):
        robot = turned(seed)
        assert robot.loop_analysis[:3] == (3, 2, 1), seed
        q, v, a = robot.sample(5, seed=seed)
        assert np.abs(robot.loop_residual(q)).max() < 1e-13, seed
        A = robot.loop_jacobian(q)
        assert np.abs(np.einsum("smc,sc->sm", A, v)).max() < 1e-12 * np.abs(v).max(), seed
        left = np.einsum("smc,sc->sm", A, a) + robot.loop_rate(q, v)
        assert np.abs(left).max() < 1e-10 * max(1.0, np.abs(a).max()), seed


def bricard() -> Robot:
    """Six hinges along the edges of a cube; five rows, four independent."""
    points = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], dtype=float)
    axes = np.eye(3)[[1, 2, 0, 1, 2]]
    bodies = [
        Body(name=f"rod{k}", parent=f"rod{k - 1}" if k else None, joint=Revolute(axes[k]), mass=1.0,
             placement=(EYE, points[k] - points[k - 1] if k else points[0]), com=0.5 * (points[k + 1] - points[k]),
             inertia=[0.08, 0.08, 0.08])
        for k in range(5)
    ]  # fmt: skip
    loop = Loop(body1=None, body2="rod4", placement1=(EYE, points[5]), placement2=(EYE, points[5] - points[4]),
                closes=(True, True, True, False, True, True))  # fmt: skip
    return Robot.from_bodies("bricard", bodies, loops=[loop], actuated=["rod0"], home=np.zeros(5))


@pytest.mark.parametrize("seed", range(10))
def test_samples_of_an_overconstrained_mechanism_are_on_its_loops(seed):
    robot = bricard()
    q, _, _ = robot.sample(20, seed=seed)
    assert np.abs(robot.loop_residual(q)).max() < 1e-14
    assert robot.loop_analysis[:3] == (5, 4, 1)


def test_projection_of_a_redundant_mechanism():
    robot = bricard()
    q, v, a = robot.sample(5, seed=1)
    rng = np.random.default_rng(0)
    moved, rates, second = robot.project(q + rng.normal(0, 0.05, q.shape), v + rng.normal(0, 1, v.shape), a)
    assert np.abs(robot.loop_residual(moved)).max() < 1e-14
    A = robot.loop_jacobian(moved)
    assert np.abs(np.einsum("smc,sc->sm", A, rates)).max() < 1e-12
    assert np.abs(np.einsum("smc,sc->sm", A, second) + robot.loop_rate(moved, rates)).max() < 1e-9


def test_more_actuators_than_freedoms():
    robot = dataclasses.replace(bricard(), actuated=np.array([0, 1, 3]))
    found = robot.loop_analysis
    assert (found.dof, len(found.driven)) == (1, 1)
    assert found.driven[0] in (0, 1, 3)
    assert robot.internal_forces(robot.sample(4)[0]).shape == (4, 3, 2)
    q, v, _ = robot.state_from_actuated([0.2], [1.0])
    assert q[found.driven[0]] == pytest.approx(0.2)
    assert v[found.driven[0]] == pytest.approx(1.0)


def test_what_is_refused_is_named():
    with pytest.raises(RobotError, match=r"0 coordinates are actuated, expected at least 1"):
        dataclasses.replace(bricard(), actuated=np.array([], dtype=int))
    with pytest.raises(RobotError, match=r"force_weights is \[1.0\], expected 2 finite numbers > 0"):
        dataclasses.replace(bricard(), actuated=np.array([0, 1]), force_weights=np.ones(1))
    # a second loop holds the crank of a four-bar
    bar = robots.four_bar()
    bodies = [
        Body(name=name, parent=parent, joint=Revolute([0, 0, 1]), mass=1.0, inertia=[1, 1, 1], placement=(EYE, at))
        for name, parent, at in (
            ("crank", None, [0, 0, 0]), ("coupler", "crank", [0.4, 0, 0]), ("rocker", None, [1, 0, 0]),
        )
    ]  # fmt: skip
    plane = (True, True, False, False, False, False)
    ends = {"placement1": (EYE, [0.8, 0, 0]), "placement2": (EYE, [0.9, 0, 0])}
    loops = [
        Loop(body1="rocker", body2="coupler", closes=plane, **ends),
        Loop(body1=None, body2="crank", closes=(False, False, False, False, False, True)),
    ]
    with pytest.raises(RobotError, match=r"leave no freedom: .*; without loop \d \(between .*\) it could move"):
        Robot.from_bodies("locked", bodies, loops=loops, actuated=["crank"], home=[0.0, 1.0, 1.5])
    flag = Body(name="flag", joint=Revolute([0, 0, 1]), mass=1.0, inertia=[1, 1, 1])
    with pytest.raises(RobotError, match=r"the actuated joints 'crank', 'rocker' do not determine .* such as 'flag'"):
        Robot.from_bodies("free", [*bodies, flag], loops=loops[:1], actuated=["crank", "rocker"], home=[*bar.home, 0.0])
