"""Rotors as bodies: a closed form, Pinocchio's rotors with a mass and a place, energy, and what armatures leave out."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.benchmarks.checks import invariants
from dynbench.benchmarks.checks.sampling import draw
from dynbench.benchmarks.results import summary
from dynbench.benchmarks.results.rows import AS_ARMATURE
from dynbench.methods.kernel_method import KernelMethod
from dynbench.robots import Robot, RobotError, Rotor, with_rotors
from dynbench.robots.build import merged
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray


def close(found: FloatArray, right: FloatArray, tolerance: float = 1e-12) -> bool:
    return bool(np.abs(found - right).max() <= tolerance * np.abs(right).max())


def prepared(name: str, robot: Robot) -> Any:
    method = methods.get(name)
    assert isinstance(method, KernelMethod)
    return method.prepare(robot, code="traced")


def test_two_links_in_a_plane() -> None:
    """Siciliano et al., Robotics, section 7.3.2, motors without mass: M gets n^2 J on its diagonal, n J where the
    second rotor turns with the first joint, and its J for the first joint."""
    plain = robots.load("two-link")
    first, second = 30.0, -80.0
    robot = with_rotors(
        plain,
        [
            Rotor(joint=plain.joint_names[0], ratio=first, inertia=2e-4, included=False),
            Rotor(joint=plain.joint_names[1], ratio=second, inertia=1e-4, included=False),
        ],
    )
    q, v, a = robot.sample(6, seed=1)
    solver, bare = prepared("newton-euler", robot), prepared("newton-euler", plain)
    without = bare.inverse_dynamics(q[:, :2], v[:, :2], a[:, :2])
    more = np.array([[first**2 * 2e-4 + 1e-4, second * 1e-4], [second * 1e-4, second**2 * 1e-4]])
    assert close(solver.mass_matrix(q), bare.mass_matrix(q[:, :2]) + more)
    assert close(solver.inverse_dynamics(q, v, a), without + a[:, :2] @ more)


def geared(seed: int, base: bool) -> tuple[Robot, list[Rotor]]:
    """A tree, and rotors on the bodies before their joints; the last one sits elsewhere, at an angle."""
    rng = np.random.default_rng(seed)
    kinds = ("revolute", "revolute", "prismatic")
    plain = robots.random_tree(5, seed=seed, kinds=kinds, floating=base)
    *others, last = (i for i in range(plain.n) if plain.kind[i] <= JointKind.PRISMATIC)
    rotors = [
        Rotor(joint=plain.joint_names[i], ratio=float(rng.uniform(20.0, 90.0)), inertia=float(rng.uniform(1e-5, 1e-4)))
        for i in others
    ]
    odd = {"body": plain.body_names[others[0]], "axis": rng.normal(size=3)}
    return plain, [*rotors, Rotor(joint=plain.joint_names[last], ratio=-40.0, inertia=1e-4, **odd)]


def solid(robot: Robot, n: int) -> Robot:
    """The same machine without couplings, its rotors (bodies from n) thick, with a mass, elsewhere on their axis."""
    mass, com, inertia, at = (x.copy() for x in (robot.mass, robot.com, robot.inertia, robot.translation))
    for i in range(n, robot.n):
        axis, carrier = robot.axis[i], int(robot.parent[i])
        moment, disc, mass[i] = float(axis @ inertia[i] @ axis), inertia[i].copy(), 0.05
        inertia[i] = 0.7 * moment * np.eye(3) + 0.3 * moment * np.outer(axis, axis)
        com[i] = 0.04 * axis
        at[i] += [0.03, -0.02, 0.01]
        if carrier >= 0:  # which then is what is left of it and the disc: a part of negative mass is welded on
            whole = (mass[carrier], com[carrier], inertia[carrier] + disc)
            place = at[i] + com[i]
            left = merged(whole, (-mass[i], place, -inertia[i]), np.eye(3), np.zeros(3))
            mass[carrier], com[carrier], inertia[carrier] = left
    changed = {"mass": mass, "com": com, "inertia": inertia, "translation": at}
    return dataclasses.replace(robot, couplings=None, actuated=None, home=None, **changed)


@pytest.mark.parametrize(("seed", "base"), [(3, False), (4, False), (5, True)])
def test_pinocchio_with_rotors_that_have_mass_and_place(seed: int, base: bool) -> None:
    """tau = W^T rnea, M = W^T crba W, and accelerations of the KKT system M a - A^T l = S^T tau - h, A a = 0."""
    pin = pytest.importorskip("pinocchio")
    from dynbench.methods.peers.pinocchio import convert

    plain, rotors = geared(seed, base)
    robot = with_rotors(plain, rotors)
    model, order = convert(pin, solid(robot, plain.n))
    data, back = model.createData(), np.argsort(order.v)
    solver, c = prepared("newton-euler", robot), len(rotors)
    W = np.eye(robot.nv, plain.nv)
    for k, one in enumerate(rotors):
        W[plain.nv + k, plain.iv[plain.joint_names.index(one.joint)]] = one.ratio
    A = np.hstack([W[plain.nv :], -np.eye(c)])
    for q, v, a in zip(*robot.sample(4, seed=seed), strict=True):
        x = q[order.q]
        tau = pin.rnea(model, data, x, v[order.v], a[order.v])[back] @ W
        assert close(solver.inverse_dynamics(q, v, a), tau, 1e-11)
        upper = np.triu(pin.crba(model, data, x))
        M = (upper + np.triu(upper, 1).T)[np.ix_(back, back)]
        assert close(solver.mass_matrix(q), W.T @ M @ W, 1e-11)
        h = pin.nonLinearEffects(model, data, x, v[order.v])[back]
        whole = np.block([[M, -A.T], [A, np.zeros((c, c))]])
        right = np.concatenate([np.append(tau, np.zeros(c)) - h, np.zeros(c)])
        found = np.linalg.solve(whole, right)[: robot.nv]
        assert close(solver.forward_dynamics(q, v, tau), found, 1e-9)
        assert close(found, a, 1e-9)


def test_the_check_reports_what_armatures_leave_out(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = robots.load("puma560-geared")
    monkeypatch.setattr(invariants, "INVARIANTS", ())
    monkeypatch.setattr(invariants.motion, "KEPT", ())
    (row,) = invariants.invariants(draw(robot, 8, seed=0), prepared("newton-euler", robot), 1.0)
    compared = methods.compare_rotors(robot, states=8)
    assert (row.measure, row.status, row.quantity) == (AS_ARMATURE, "reported", "inverse_dynamics")
    assert row.value == pytest.approx(compared.difference, rel=1e-9)
    assert 1e-4 < compared.difference < 0.5
    assert "puma560-geared: armatures for rotors change forces by up to" in summary.summary([row], 3)
    assert not summary.is_invariant(row)
    plain = robots.load("puma560")
    assert invariants.invariants(draw(plain, 8, seed=0), prepared("newton-euler", plain), 1.0) == []
    assert "joint2" in str(compared)
    assert "<table>" in compared._repr_html_()


def test_the_difference_is_that_of_the_formula() -> None:
    """J n (u . omega') at the joint, J n (q'' u + q' omega x u) on the carrier, by Jacobians and their differences."""
    robot = robots.load("puma560-geared")
    compared = methods.compare_rotors(robot, states=16, seed=2)
    q, v, a = robot.sample(16, seed=2)
    plain = robots.as_armature(robot)
    expected = np.zeros((16, 6))
    for i in range(6, 12):
        k, carrier = i - 6, int(robot.parent[i])
        if carrier < 0:
            continue
        moment = robot.couplings.multiplier[k] * robot.inertia[i].max()
        for s in range(16):
            J = plain.frame_jacobian(plain.body_names[carrier], q[s, :6])[3:]
            h = 1e-5
            ahead, behind = (
                plain.frame_jacobian(plain.body_names[carrier], q[s, :6] + sign * h * v[s, :6])[3:] for sign in (1, -1)
            )
            rate = J @ a[s, :6] + (ahead - behind) / (2 * h) @ v[s, :6]
            u = plain.frame_pose(plain.body_names[carrier], q[s, :6])[0] @ robot.axis[i]
            omega = J @ v[s, :6]
            expected[s, k] += moment * (u @ rate)
            expected[s] += J.T @ (moment * (a[s, k] * u + v[s, k] * np.cross(omega, u)))
    np.testing.assert_allclose(compared.full - compared.armature, expected, atol=1e-7 * np.abs(compared.full).max())


def test_a_robot_without_rotors_is_refused() -> None:
    with pytest.raises(RobotError, match=r"robot 'two-link' has no rotors; `robots\.with_rotors` gives it some"):
        methods.compare_rotors(robots.load("two-link"))
