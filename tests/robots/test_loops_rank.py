"""The nominal rank of loops: redundant rows, singular homes, sampling on the loops, and what is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dynbench import robots
from dynbench.robots import Body, Loop, Prismatic, Revolute, Robot, RobotError

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


def test_loops_that_contradict_each_other_are_named():
    """Two rods from a slider to the ground that differ in length: the second loop cannot be closed with the first."""
    slider = Body(name="slider", joint=Prismatic([1, 0, 0]), mass=1.0, inertia=[1, 1, 1])
    at = {"placement1": (EYE, [2.0, 0.0, 0.0]), "closes": (True, False, False, False, False, False)}
    loops = [
        Loop(body1=None, body2="slider", placement2=(EYE, [0.5, 0.0, 0.0]), **at),
        Loop(body1=None, body2="slider", placement2=(EYE, [0.7, 0.0, 0.0]), **at),
    ]
    with pytest.raises(RobotError, match=r"cannot be closed: .* loop \d \(between the ground and 'slider'\) has"):
        Robot.from_bodies("two-lengths", [slider], loops=loops, actuated=["slider"])


def test_an_actuator_that_the_loops_hold_is_named():
    """A triangle of bars is rigid: its joint moves nothing, and the flag is free."""
    bars = [
        Body(name="bar1", joint=Revolute([0, 0, 1]), mass=1.0, inertia=[1, 1, 1]),
        Body(name="bar2", joint=Revolute([0, 0, 1]), mass=1.0, inertia=[1, 1, 1], placement=(EYE, [1, 0, 0])),
        Body(name="flag", joint=Revolute([0, 0, 1]), mass=1.0, inertia=[1, 1, 1], placement=(EYE, [0, 2, 0])),
    ]
    apex = (EYE, [1.0, 0.0, 0.0])
    loop = Loop(body1="bar1", body2="bar2", placement1=apex, placement2=apex,
                closes=(True, True, False, False, False, False))  # fmt: skip
    expected = r"'bar1' do not determine .* such as 'flag'; the loops hold 'bar1', so that a force there moves nothing"
    with pytest.raises(RobotError, match=expected):
        Robot.from_bodies(
            "triangle", bars, loops=[loop], actuated=["bar1"], home=[np.pi / 3.0, 2.0 * np.pi / 3.0, 0.0]
        )


def test_a_home_that_is_singular_for_the_actuator_is_named():
    """Crank and coupler of a four-bar on one line: with the rocker held they can still move."""
    lengths = {"crank": 0.4, "coupler": 0.9, "rocker": 0.8}
    home = [np.arccos((1.0 + 1.3**2 - 0.8**2) / 2.6), 0.0, np.pi - np.arccos((1.0 + 0.8**2 - 1.3**2) / 1.6)]
    bodies = [
        Body(name=name, parent=parent, joint=Revolute([0, 0, 1]), mass=1.0, inertia=[1, 1, 1], placement=(EYE, at))
        for name, parent, at in (
            ("crank", None, [0, 0, 0]), ("coupler", "crank", [lengths["crank"], 0, 0]), ("rocker", None, [1, 0, 0]),
        )
    ]  # fmt: skip
    loop = Loop(body1="rocker", body2="coupler", placement1=(EYE, [lengths["rocker"], 0, 0]),
                placement2=(EYE, [lengths["coupler"], 0, 0]),
                closes=(True, True, False, False, False, False))  # fmt: skip
    expected = r"home is singular for the actuated joints 'rocker': with them held, 'crank', 'coupler' can still move"
    with pytest.raises(RobotError, match=expected):
        Robot.from_bodies("stretched", bodies, loops=[loop], actuated=["rocker"], home=home)


def test_a_motion_without_inertia_names_its_joints():
    light = robots.four_bar()
    with pytest.raises(RobotError, match=r"of 'crank', 'coupler', 'rocker', has no inertia"):
        dataclasses.replace(light, mass=np.zeros(3), inertia=np.zeros((3, 3, 3)))


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
