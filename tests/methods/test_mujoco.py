"""MuJoCo, with conventions that are not ours, against Newton-Euler: random trees with every kind of joint.

Errors are relative to the largest component of each state's result; those of forward dynamics also to the condition of
the mass matrix (scaled to a unit diagonal), over that of a typical arm.
"""

from __future__ import annotations

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.methods.peers.mujoco import order_of
from dynbench.robots import kinematics
from dynbench.robots.families.trees import KINDS, random_tree
from dynbench.robots.robot import Robot

mujoco = pytest.importorskip("mujoco")

STATES = 5
TOLERANCE = 1e-12
FORWARD = 1e-9
TYPICAL_CONDITION = 1e4


def tree_of(seed: int) -> Robot:
    """1 to 30 bodies; joints of every kind, free ones in mid-tree too; fixed and free bases; massless bodies."""
    kinds = KINDS if seed % 4 == 1 else KINDS[:3]
    return random_tree(1 + seed * 7 % 30, seed=seed, kinds=kinds, floating=seed % 2 == 0, massless=seed % 3 == 0)


def relative(x: np.ndarray, y: np.ndarray) -> float:
    x, y = x.reshape(len(x), -1), y.reshape(len(y), -1)
    return float((np.abs(x - y).max(axis=1) / np.abs(y).max(axis=1)).max())


def condition(M: np.ndarray) -> float:
    d = np.sqrt(np.einsum("kii->ki", M))
    return float(np.linalg.cond(M / (d[:, :, None] * d[:, None, :])).max())


def assert_agree(robot: Robot, seed: int) -> None:
    ours, theirs = (methods.get(name).prepare(robot) for name in ("newton-euler", "mujoco"))
    q, v, a = robot.sample(STATES, seed=seed)
    wrench = 10.0 * np.random.default_rng(seed).standard_normal((STATES, robot.n, 6))
    tau, M = ours.inverse_dynamics(q, v, a, wrench=wrench), ours.mass_matrix(q)
    errors = {
        "inverse_dynamics": relative(theirs.inverse_dynamics(q, v, a), ours.inverse_dynamics(q, v, a)),
        "inverse_dynamics with wrenches": relative(theirs.inverse_dynamics(q, v, a, wrench=wrench), tau),
        "mass_matrix": relative(theirs.mass_matrix(q), M),
        "bias": relative(theirs.bias(q, v), ours.bias(q, v)),
    }
    for what, error in errors.items():
        assert error < TOLERANCE, f"{robot.name}, seed {seed}: {what} differs by {error:.1e}"
    for options in ({}, {"wrench": wrench}):
        found, wanted = (solver.forward_dynamics(q, v, tau, **options) for solver in (theirs, ours))
        error = relative(found, wanted) / max(1.0, condition(M) / TYPICAL_CONDITION)
        assert error < FORWARD, (
            f"{robot.name}, seed {seed}: forward dynamics with {list(options)} differs by {error:.1e}"
        )


@pytest.mark.parametrize("tens", range(0, 60, 20))
def test_random_trees_agree(tens):
    for seed in range(tens, tens + 20):
        assert_agree(tree_of(seed), seed)


@pytest.mark.parametrize("name", ["pendulum", "two-link", "puma560", "panda", "tree-12", "rp-3", "space-dual-arm"])
def test_robots_of_the_zoo_agree(name):
    """Among them bodies without mass or without inertia about an axis, which MuJoCo's own compiler refuses."""
    assert_agree(robots.load(name), seed=3)


def floating_box(placement) -> Robot:
    box = robots.Body(
        name="box", joint=robots.Free(), placement=placement, mass=2.0, com=[0.1, 0.2, 0.3], inertia=[0.3, 0.4, 0.5]
    )
    return robots.Robot.from_bodies("box", [box])


def test_a_free_body_is_mujocos_own_and_a_placed_one_is_slides_and_a_ball():
    turned = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for placement, kinds in (
        ((np.eye(3), np.zeros(3)), [mujoco.mjtJoint.mjJNT_FREE]),
        ((turned, [1.0, 2.0, 3.0]), [mujoco.mjtJoint.mjJNT_SLIDE] * 3 + [mujoco.mjtJoint.mjJNT_BALL]),
    ):
        robot = floating_box(placement)
        model = methods.get("mujoco").prepare(robot).model
        assert model.jnt_type.tolist() == [int(kind) for kind in kinds]
        assert_agree(robot, seed=1)


def test_the_bodies_are_where_ours_are():
    """A round trip through the engine's own kinematics: names, order, quaternions."""
    robot = tree_of(13)
    q, _, _ = robot.sample(1, seed=2)
    solver = methods.get("mujoco").prepare(robot)
    data = mujoco.MjData(solver.model)
    order = order_of(solver.model, robot)
    data.qpos[:] = q[0][order.q]
    mujoco.mj_kinematics(solver.model, data)
    R, p = kinematics.poses(robot, q)
    np.testing.assert_allclose(data.xmat[order.body].reshape(-1, 3, 3), R[0], atol=1e-13)
    np.testing.assert_allclose(data.xpos[order.body], p[0], atol=1e-12)


def test_nothing_is_added_to_the_robot():
    robot = robots.load("panda")
    model = methods.get("mujoco").prepare(robot).model
    assert (model.nq, model.nv, model.nbody) == (robot.nq, robot.nv, robot.n + 1)
    assert not model.dof_armature.any()
    assert not model.dof_damping.any()
    assert not model.jnt_stiffness.any()
    assert not model.jnt_limited.any()
    assert model.ngeom == 0
    assert np.array_equal(model.opt.gravity, robot.gravity)
    assert model.body_mass[1:].sum() == pytest.approx(robot.mass.sum())


@pytest.mark.parametrize(("name", "said"), [("gough-stewart", "closed loops"), ("elastic-rp1", "elastic links")])
def test_what_it_cannot_do_has_a_reason(name, said):
    assert said in methods.get("mujoco").supports(robots.load(name))
