"""Dynamics with joints that follow others: the reduced equations, a KKT solution, and Pinocchio's mimic joints."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from coupled import coupled, reduction, tree
from round_trip import close

from dynbench import methods, robots
from dynbench.methods.kernel_method import KernelMethod
from dynbench.robots import extras
from dynbench.robots.errors import RobotWarning, StateError
from dynbench.robots.files import example_models
from dynbench.robots.robot import Robot

ONE = coupled()
METHODS = [
    name
    for name, method in methods.available()[0].items()
    if issubclass(method, KernelMethod) and not method.floor and methods.get(name).supports(ONE) is None
    if "inverse_dynamics" in method.computes
]
STATES = 5
SORTS = [(False, False), (True, False), (False, True), (True, True)]  # free base, extras


def test_methods_of_trees_take_couplings_too():
    assert {"newton-euler", "kane", "gibbs-appell", "denoc", "screw", "lagrange-euler", "maggi"} <= set(METHODS)
    for name in ("pinocchio", "maximal-coordinates", "constraint-embedding"):
        if not methods.get(name).unavailable():
            assert methods.get(name).supports(coupled()) == f"{name} does not handle joints that follow others"
    assert "virtual springs are for closed loops" in methods.get("virtual-spring-denoc").supports(coupled())


@pytest.mark.parametrize(("base", "with_extras"), SORTS)
@pytest.mark.parametrize("name", METHODS)
def test_reduced_equations(name, base, with_extras):
    """tau = W^T tau_tree, M = W^T M_tree W, forward undoes inverse; the tree by Newton-Euler."""
    robot, free = coupled(base, with_extras), tree(base, with_extras)
    if methods.get(name).supports(robot) is not None:
        # not because of the couplings
        assert "follow others" not in methods.get(name).supports(robot)
        return
    solver = methods.get(name).prepare(robot, code="traced")
    judge = methods.get("newton-euler").prepare(free, code="traced")
    q, v, a = robot.sample(STATES, seed=4)
    W = reduction(robot)
    tau = judge.inverse_dynamics(q, v, a) @ W
    assert close(solver.inverse_dynamics(q, v, a), tau)
    assert close(solver.bias(q, v), judge.bias(q, v) @ W)
    if "mass_matrix" in solver.computes:
        assert close(solver.mass_matrix(q), W.T @ judge.mass_matrix(q) @ W)
    if "forward_dynamics" in solver.computes:
        assert close(solver.forward_dynamics(q, v, tau), a, 1e-10)
    if "regressor" in solver.computes:
        assert close(solver.regressor(q, v, a), W.T @ judge.regressor(q, v, a))


def kkt(robot: Robot, free: Robot, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations and multipliers of one state: M a - A^T lambda = S^T tau - h, A a = 0."""
    judge = methods.get("newton-euler").prepare(free, code="traced")
    M, h, A = judge.mass_matrix(q), judge.bias(q, v), robot.loop_jacobian(q)
    full = np.zeros(robot.nv)
    full[robot.actuated] = tau
    top = np.hstack([M, -A.T])
    whole = np.vstack([top, np.hstack([A, np.zeros((len(A), len(A)))])])
    found = np.linalg.solve(whole, np.concatenate([full - h, np.zeros(len(A))]))
    return found[: robot.nv], found[robot.nv :]


@pytest.mark.parametrize("base", [False, True])
def test_forward_dynamics_and_multipliers_are_those_of_a_kkt_system(base):
    robot, free = coupled(base, extras=True), tree(base, extras=True)
    solver = methods.get("newton-euler").prepare(robot, code="auto")
    q, v, _ = (x[0] for x in robot.sample(1, seed=5))
    tau = np.random.default_rng(0).standard_normal(len(robot.actuated))
    a, multipliers = kkt(robot, free, q, v, tau)
    found = solver.forward_dynamics(q, v, tau)
    assert close(found, a, 1e-11)
    assert close(solver.multipliers(q, v, found), multipliers, 1e-10)


def test_reactions_are_those_of_the_tree_in_the_same_motion():
    """A coupling acts inside its joints, as motors do."""
    robot = coupled()
    q, v, a = robot.sample(STATES, seed=6)
    found = methods.get("newton-euler").prepare(robot).reactions(q, v, a)
    assert close(found, methods.get("newton-euler").prepare(tree()).reactions(q, v, a))


def test_generic_code():
    robot = coupled(base=True, extras=True)
    generic, traced = (methods.get("newton-euler").prepare(robot, code=code) for code in ("generic", "traced"))
    q, v, a = robot.sample(11, seed=7)
    tau = traced.inverse_dynamics(q, v, a)
    assert close(generic.inverse_dynamics(q, v, a), tau)
    assert close(generic.mass_matrix(q), traced.mass_matrix(q))
    assert close(generic.forward_dynamics(q, v, tau), a, 1e-10)
    push = np.random.default_rng(1).standard_normal((robot.n, 6))
    free = methods.get("newton-euler").prepare(tree(base=True, extras=True))
    right = free.inverse_dynamics(q, v, a, wrench=push) @ reduction(robot)
    assert close(generic.inverse_dynamics(q, v, a, wrench=push), right)


def test_states_that_violate_a_coupling_are_refused():
    robot = coupled()
    solver = methods.get("newton-euler").prepare(robot, code="traced")
    q, v, a = (x[0] for x in robot.sample(1, seed=8))
    for name, k in (("q", 2), ("v", 2), ("a", 3)):
        state = {"q": q.copy(), "v": v.copy(), "a": a.copy()}
        state[name][k] += 0.01
        with pytest.raises(StateError, match=f"{name} is off the loops of robot 'coupled'"):
            solver.inverse_dynamics(**state)


FILES = {  # of example-robot-data: joints that follow others
    "panda": ("panda_description/urdf/panda.urdf", 1),
    "baxter": ("baxter_description/urdf/baxter.urdf", 2),
    "pr2": ("pr2_description/urdf/pr2.urdf", 10),
    "tiago-pro": ("tiago_pro_description/robots/tiago_pro.urdf", 10),
}


def in_pinocchio(model, robot: Robot, q: np.ndarray) -> np.ndarray:
    """A configuration in the coordinates of Pinocchio's reduced model; continuous joints are cosine and sine there."""
    found = np.zeros(model.nq)
    for i, name in enumerate(robot.joint_names):
        if i not in robot.couplings.joint:
            joint, x = model.joints[model.getJointId(name)], q[robot.iq[i]]
            found[joint.idx_q : joint.idx_q + joint.nq] = [np.cos(x), np.sin(x)] if joint.nq == 2 else [x]
    return found


@pytest.mark.skipif("talos" not in robots.names(), reason="needs example-robot-data")
@pytest.mark.parametrize("name", FILES)
def test_files_give_the_numbers_of_pinocchio_s_mimic_joints(name):
    pin = pytest.importorskip("pinocchio")
    if not hasattr(pin, "JointModelMimic"):
        pytest.skip("this Pinocchio has no mimic joints")
    file, count = FILES[name]
    path = Path(example_models.folder()) / file
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)
        robot = robots.from_urdf(path, floating_base=False, strict=False)
    assert len(robot.couplings.joint) == count
    model = pin.buildModelFromUrdf(str(path), mimic=True)
    model.armature[:] = 0.0
    data = model.createData()
    assert model.nv == len(robot.actuated)
    solver = methods.get("newton-euler").prepare(robot, code="auto")
    q, v, a = robot.sample(3, seed=1)
    W = np.zeros((robot.nv, len(robot.actuated)))
    W[robot.actuated] = np.eye(len(robot.actuated))
    W[robot.iv[robot.couplings.joint]] = robot.couplings.multiplier[:, None] * W[robot.iv[robot.couplings.leader]]
    ours = solver.inverse_dynamics(q, v, a) - extras.forces(robot, v, a) @ W  # its RNEA has no damping
    M = solver.mass_matrix(q)
    for k in range(len(q)):
        x = in_pinocchio(model, robot, q[k])
        assert close(ours[k], pin.rnea(model, data, x, v[k, robot.actuated], a[k, robot.actuated]), 1e-12)
        theirs = np.triu(pin.crba(model, data, x))
        assert close(M[k], theirs + np.triu(theirs, 1).T, 1e-12)
