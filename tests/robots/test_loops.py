"""Closed loops: equations against finite differences, assembly, mobility, and states that satisfy the loops."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench import robots
from dynbench.robots import Body, Free, Loop, Prismatic, Revolute, Robot, RobotError, Spherical, StateError
from dynbench.robots.loops.closures import residual

LOOPED = ("3rrr", "four-bar", "five-bar", "delta")
CLOSURES = {
    "point in the plane": (True, True, False, False, False, False),
    "slot": (False, True, False, False, False, False),
    "ball": (True, True, True, False, False, False),
    "universal": (True, True, True, False, False, True),
    "hinge": (True, True, True, True, True, False),
    "hinge about x": (True, True, True, False, True, True),
    "rigid": (True,) * 6,
    "rotations": (False, False, False, True, True, True),
}


def two_arms(closes: tuple[bool, ...], seed: int = 0) -> Robot:
    """Two spatial arms of every joint kind, joined at their ends with frames that coincide at neutral."""
    rng = np.random.default_rng(seed)
    joints = {"a": Spherical(), "b": Revolute(rng.normal(size=3)), "c": Free(), "d": Prismatic(rng.normal(size=3))}
    parents = {"a": None, "b": "a", "c": None, "d": "c"}
    bodies = [
        Body(
            name=name,
            parent=parents[name],
            joint=joint,
            placement=(robots.random_rotation(rng), rng.normal(size=3)),
            mass=1.0,
            com=0.1 * rng.normal(size=3),
            inertia=[0.1, 0.2, 0.25],
        )
        for name, joint in joints.items()
    ]
    tree = Robot.from_bodies("arms", bodies)
    from dynbench.robots.kinematics import poses

    R, p = poses(tree, tree.neutral())
    meet = (robots.random_rotation(rng), rng.normal(size=3))
    placed = {
        f"placement{k}": (R[i].T @ meet[0], R[i].T @ (meet[1] - p[i])) for k, i in ((1, tree.body_index("b")), (2, 3))
    }
    loop = Loop(body1="b", body2="d", closes=closes, **placed)
    actuated = np.setdiff1d(np.arange(tree.nv), 4 + np.flatnonzero(closes))  # the free body follows
    return Robot.from_bodies("arms", bodies, loops=[loop], actuated=actuated.tolist())


@pytest.mark.parametrize("closes", CLOSURES.values(), ids=CLOSURES)
def test_jacobian_and_rate_are_derivatives_of_the_residual_also_off_the_loops(closes):
    robot = two_arms(closes)
    assert np.abs(residual(robot, robot.home)).max() < 1e-12
    rng = np.random.default_rng(1)
    q = robot.integrate(np.tile(robot.home, (8, 1)), rng.normal(0.0, 0.5, (8, robot.nv)))
    v = rng.normal(size=(8, robot.nv))
    h = 1e-5
    ahead, behind = robot.integrate(q, h * v), robot.integrate(q, -h * v)
    first = (robot.loop_residual(ahead) - robot.loop_residual(behind)) / (2 * h)
    A = robot.loop_jacobian(q)
    assert np.abs(first - np.einsum("smc,sc->sm", A, v)).max() < 1e-8
    # along integrate the components of v are constant: a = 0
    second = (robot.loop_residual(ahead) - 2.0 * robot.loop_residual(q) + robot.loop_residual(behind)) / h**2
    assert np.abs(second - robot.loop_rate(q, v)).max() < 1e-4
    assert A.shape == (8, sum(closes), robot.nv)


def test_rows_are_translations_and_angles_to_first_order():
    for axis in range(3):
        rigid = (True,) * 6
        turned = Robot.from_bodies(
            "one", [Body(name="b", joint=Free(), mass=1, inertia=[1, 1, 1])],
            loops=[Loop(body1=None, body2="b", closes=rigid)], actuated=[],
        )  # fmt: skip
        small = np.zeros(6)
        small[3 + axis] = 1e-6
        assert turned.loop_residual(turned.integrate(turned.home, small)) == pytest.approx(small, abs=1e-12)


def test_a_hinge_closure_lets_its_axis_turn_all_the_way():
    body = Body(name="b", joint=Spherical(), mass=1, inertia=[1, 1, 1])
    closes = (False, False, False, True, True, False)
    hinge = Robot.from_bodies("hinge", [body], loops=[Loop(body1=None, body2="b", closes=closes)], actuated=[2])
    for angle in np.linspace(-np.pi, np.pi, 9):
        q = hinge.integrate(hinge.neutral(), [0.0, 0.0, angle])
        assert np.abs(hinge.loop_residual(q)).max() < 1e-15
        assert np.linalg.matrix_rank(hinge.loop_jacobian(q)) == 2


@pytest.mark.parametrize("name", LOOPED)
def test_sampled_states_satisfy_the_loops(name):
    robot = robots.load(name)
    q, v, a = robot.sample(40, seed=3)
    A = robot.loop_jacobian(q)
    assert np.abs(robot.loop_residual(q)).max() < 1e-12
    assert np.abs(np.einsum("smc,sc->sm", A, v)).max() < 1e-11
    second = np.einsum("smc,sc->sm", A, a) + robot.loop_rate(q, v)
    assert np.abs(second).max() < 1e-10 * np.abs(a).max()
    assert q[:, robot.actuated].std(axis=0).min() > 0.1  # they do get about
    again = robot.sample(40, seed=3)
    assert all(np.array_equal(x, y) for x, y in zip((q, v, a), again, strict=True))
    assert not np.any(robot.sample(3, regime="rest")[1])


@pytest.mark.parametrize("name", LOOPED)
def test_projection_goes_to_the_nearest_state_on_the_loops(name):
    robot = robots.load(name)
    q, v, a = robot.sample(10, seed=5)
    rng = np.random.default_rng(0)
    off = 1e-3 * rng.normal(size=v.shape)
    q2, v2, a2 = robot.project(robot.integrate(q, off), v + off, a + off)
    A = robot.loop_jacobian(q2)
    assert np.abs(robot.loop_residual(q2)).max() < 1e-12
    assert np.abs(np.einsum("smc,sc->sm", A, v2)).max() < 1e-11
    assert np.abs(np.einsum("smc,sc->sm", A, a2) + robot.loop_rate(q2, v2)).max() < 1e-9
    # no farther than the state it came from, to first order
    moved = robot.difference(robot.integrate(q, off), q2)
    assert np.all(np.linalg.norm(moved, axis=1) < 1.05 * np.linalg.norm(off, axis=1))
    assert np.array_equal(robot.project(q[0]).shape, (robot.nq,))


def test_actuated_coordinates_out_of_reach_say_so():
    # cranks turned away from each other leave their couplers too short
    with pytest.raises(StateError, match="cannot reach these actuated coordinates"):
        robots.five_bar().state_from_actuated([np.pi, 0.0])


@pytest.mark.parametrize("name", LOOPED)
def test_forward_kinematics_from_the_actuated_coordinates(name):
    robot = robots.load(name)
    q, v, a = robot.sample(10, seed=8)
    rng = np.random.default_rng(2)
    nearby = robot.project(robot.integrate(q, 0.02 * rng.normal(size=v.shape)))
    act = robot.actuated  # all joints are 1-DoF here, so indices into q and v agree
    found = robot.state_from_actuated(q[:, act], v[:, act], a[:, act], guess=nearby)
    for mine, expected in zip(found, (q, v, a), strict=True):
        assert np.abs(mine - expected).max() < 1e-8 * max(1.0, np.abs(expected).max())
    warm = nearby.copy()
    warm[:, act] = q[:, act]
    assert np.abs(robot.close(warm) - q).max() < 1e-9


def test_platform_motion_in_the_plane():
    robot = robots.planar_3rrr()
    t = np.linspace(0.0, 2.0, 9)
    r0, w = 0.05, np.pi
    x = r0 / 2 * (np.cos(3 * w * t) + np.cos(w * t))
    y = r0 / 2 * (np.sin(3 * w * t) - np.sin(w * t))
    pose = np.column_stack([x, y, 0.1 * np.sin(t)])
    h = 1e-5
    q, v, a = robot.state_from_platform(pose, np.ones((9, 3)), np.zeros((9, 3)))
    assert np.abs(q[:, 6:] - pose).max() < 1e-12
    assert np.abs(v[:, 6:] - 1.0).max() < 1e-12
    assert np.abs(a[:, 6:]).max() < 1e-10
    ahead, _, _ = robot.state_from_platform(pose + h, guess=q)
    behind, _, _ = robot.state_from_platform(pose - h, guess=q)
    assert np.abs((ahead - behind) / (2 * h) - v).max() < 1e-7
    assert np.abs((ahead - 2 * q + behind) / h**2 - a).max() < 1e-3
    one = robot.state_from_platform(pose[3], np.ones(3), np.zeros(3))
    assert np.abs(one[0] - q[3]).max() < 1e-12


def test_platform_motion_in_space():
    robot = robots.delta()
    p = np.array([0.03, -0.05, -0.42])
    q, v, a = robot.state_from_platform((np.eye(3), p), ((1.0, 2.0, 3.0), (0, 0, 0)), np.zeros(6))
    assert q[9:] == pytest.approx(p, abs=1e-12)
    assert v[9:] == pytest.approx([1, 2, 3], abs=1e-12)
    assert np.abs(robot.loop_rate(q, v) + robot.loop_jacobian(q) @ a).max() < 1e-10
    with pytest.raises(StateError, match="the platform of robot 'delta' cannot follow it at this pose"):
        robot.state_from_platform((np.eye(3), p), ((0, 0, 0), (0, 0, 1.0)))


def test_unreachable_and_singular_poses_say_so():
    robot = robots.planar_3rrr()
    with pytest.raises(StateError, match="cannot reach this platform pose"):
        robot.state_from_platform((1.5, 0.0, 0.0))
    # leg I stretched: its vertex exactly l1 + l2 from its base point, towards the middle
    base, tip = np.array([-0.6, -0.3464101615137755]), np.array([-0.2, -0.11547005383792519])
    away = np.array([np.cos(0.5), np.sin(0.5)])
    x, y = base + 1.0 * away - tip
    with pytest.raises(StateError, match=r"singular|cannot reach"):
        robot.state_from_platform((x, y, 0.0))
    with pytest.raises(StateError, match="has no platform"):
        robots.four_bar().state_from_platform((0, 0, 0))
    with pytest.raises(StateError, match="pose has shape"):
        robot.state_from_platform((0.0, 0.0, 0.0, 0.0))


def test_loops_that_cannot_close_are_rejected():
    with pytest.raises(RobotError, match=r"its loops cannot be closed: .*loop 0 \(between 'rocker' and 'coupler'\)"):
        robots.four_bar(ground=5.0)


def test_wrong_actuators_are_rejected():
    bar = robots.four_bar()
    bodies = [
        Body(name=name, parent=parent, joint=Revolute([0, 0, 1]), mass=1, inertia=[1, 1, 1], placement=(np.eye(3), at))
        for name, parent, at in (
            ("crank", None, [0, 0, 0]), ("coupler", "crank", [0.4, 0, 0]), ("rocker", None, [1, 0, 0]),
            ("flag", None, [0, 1, 0]),
        )
    ]  # fmt: skip
    closes = (True, True, False, False, False, False)
    loop = Loop(
        body1="rocker", body2="coupler", placement1=(np.eye(3), [0.8, 0, 0]), placement2=(np.eye(3), [0.9, 0, 0]),
        closes=closes,
    )  # fmt: skip

    def build(actuated):
        return Robot.from_bodies("flagged", bodies, loops=[loop], actuated=actuated, home=[*bar.home, 0.0])

    assert build(["crank", "flag"]).loop_analysis.dof == 2
    with pytest.raises(RobotError, match=r"1 coordinates are actuated, expected at least 2: .*; 'flag' can still move"):
        build(["crank"])
    with pytest.raises(RobotError, match="do not determine its motion: with them held, 1 of the others"):
        build(["crank", "rocker"])


def test_redundant_closures_are_found():
    robot = doubled_parallelogram()
    found = robot.loop_analysis
    assert found.redundant
    assert (found.rows, found.rank, found.dof) == (10, 3, 1)
    q, v, _ = robot.sample(5)
    assert np.abs(robot.loop_residual(q)).max() < 1e-10
    assert np.abs(np.einsum("smc,sc->sm", robot.loop_jacobian(q), v)).max() < 1e-9


def doubled_parallelogram() -> Robot:
    """Three parallel cranks on one coupler, hinges in space: movable only because the lengths agree."""

    def bar(name: str, parent: str | None, at: list[float]) -> Body:
        placement = (np.eye(3), at)
        return Body(name=name, parent=parent, joint=Revolute([0, 0, 1]), placement=placement, mass=1.0, com=[0.2, 0, 0],
                    inertia=[0.01, 0.05, 0.06])  # fmt: skip

    bodies = [
        bar("crank1", None, [0, 0, 0]), bar("coupler", "crank1", [0.5, 0, 0]), bar("crank2", None, [0.6, 0, 0]),
        bar("crank3", None, [1.0, 0, 0]),
    ]  # fmt: skip
    closes = (True, True, True, True, True, False)
    loops = [
        Loop(body1="coupler", body2=f"crank{k}", placement1=(np.eye(3), [x, 0, 0]), placement2=(np.eye(3), [0.5, 0, 0]),
             closes=closes)
        for k, x in ((2, 0.6), (3, 1.0))
    ]  # fmt: skip
    home = [1.0, -1.0, 1.0, 1.0]
    return Robot.from_bodies("parallelogram", bodies, loops=loops, actuated=["crank1"], home=home)


@pytest.mark.parametrize("seed", range(30))
def test_random_3rrr_robots_assemble_in_the_requested_mode(seed):
    rng = np.random.default_rng(seed)
    elbow = rng.choice([-1.0, 1.0], 3)
    robot = robots.planar_3rrr(elbow=elbow, base_points=1.2 * np.array([[-0.5, -0.3], [0.5, -0.3], [0, 0.6]])
                               + rng.normal(0, 0.05, (3, 2)))  # fmt: skip
    assert np.array_equal(np.sign(np.sin(robot.home[1:6:2])), elbow)
    assert np.abs(robot.loop_residual(robot.home)).max() < 1e-12
