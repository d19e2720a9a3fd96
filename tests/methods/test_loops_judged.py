"""Closed loops of random planar 3RRR robots, 200 of them in the long tests, against maximal coordinates.

The judge is a Newton-Euler solution in maximal coordinates, written here and sharing nothing with the package: seven
bodies, 21 accelerations, 18 joint force components, planar vectors as complex numbers.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from looped import every_way, relative, solver

from dynbench import robots
from dynbench.robots import Robot

STATES = 3
some = pytest.mark.parametrize("seeds", [range(40), pytest.param(range(40, 200), marks=pytest.mark.long)], ids=str)


def random_3rrr(seed: int) -> tuple[Robot, dict]:
    """A 3RRR with nothing regular about it, and its numbers."""
    rng = np.random.default_rng(seed)
    corners = np.deg2rad([210.0, 330.0, 90.0])
    triangle = np.column_stack([np.cos(corners), np.sin(corners)])
    link1, link2 = (
        {
            "length": length * rng.uniform(0.9, 1.1, 3),
            "mass": rng.uniform(1.0, 5.0, 3),
            "com": rng.uniform(-0.3, 0.5, (3, 2)),
            "inertia": rng.uniform(0.02, 0.2, 3),
        }
        for length in (0.4, 0.6)
    )
    data = {
        "base_points": 0.69 * triangle + rng.normal(0.0, 0.05, (3, 2)),
        "platform_points": 0.23 * triangle + rng.normal(0.0, 0.03, (3, 2)),
        "link1": link1,
        "link2": link2,
        "platform_mass": rng.uniform(2.0, 10.0),
        "platform_inertia": rng.uniform(0.05, 0.5),
        "elbow": rng.choice([-1.0, 1.0], 3),
        "gravity": rng.normal(0.0, 6.0, 2),
    }
    return robots.planar_3rrr(**data), data


def maximal(data: dict, q: np.ndarray, v: np.ndarray):
    """Newton-Euler equations of seven free bodies and 18 joint constraints.

    Returns mass (21,), applied forces (21,), forces of unit joint components (21, 18), of unit torques (21, 3), and the
    part of the constraints' second derivative due to velocities (18,). A body has x, y, angle; the rows of a joint are
    x, y of (first body's point minus second body's).
    """
    theta = np.empty(7)
    omega = np.empty(7)
    mass, moment = np.empty(7), np.empty(7)
    com = np.zeros(7, complex)
    for j in range(3):
        a, b = 2 * j, 2 * j + 1
        theta[[a, b]] = q[a], q[a] + q[b]
        omega[[a, b]] = v[a], v[a] + v[b]
        for i, link in ((a, data["link1"]), (b, data["link2"])):
            mass[i], moment[i], com[i] = link["mass"][j], link["inertia"][j], complex(*link["com"][j])
    theta[6], omega[6], mass[6], moment[6] = q[8], v[8], data["platform_mass"], data["platform_inertia"]
    turn = np.exp(1j * theta)
    J, G = np.zeros((18, 21)), np.zeros(18)
    for j in range(3):
        a, b, l1, l2 = 2 * j, 2 * j + 1, data["link1"]["length"][j], data["link2"]["length"][j]
        joints = [  # (body, point in body axes from the origin of its own axes), second body or None
            ((a, 0.0), None),
            ((b, 0.0), (a, l1)),
            ((b, l2), (6, complex(*data["platform_points"][j]))),
        ]
        for k, ends in enumerate(joints):
            row = 6 * j + 2 * k
            for sign, end in zip((1.0, -1.0), ends, strict=True):
                if end is None:
                    continue
                i, at = end
                r = turn[i] * (at - com[i])  # from the centre of mass
                J[row, 3 * i], J[row + 1, 3 * i + 1] = sign, sign
                J[row : row + 2, 3 * i + 2] = -sign * r.imag, sign * r.real
                G[row : row + 2] -= sign * omega[i] ** 2 * np.array([r.real, r.imag])
    S = np.zeros((21, 3))
    S[[2, 8, 14], [0, 1, 2]] = 1.0
    M = np.column_stack([mass, mass, moment]).ravel()
    g = np.column_stack([mass * data["gravity"][0], mass * data["gravity"][1], np.zeros(7)]).ravel()
    return M, g, J, S, G


def body_accelerations(data: dict, q, v, a) -> np.ndarray:
    """Accelerations (21,) of centres of mass and angles, by kinematics of the legs."""
    out = np.empty((7, 3))
    for j in range(3):
        i, k = 2 * j, 2 * j + 1
        w1, w2, e1, e2 = v[i], v[i] + v[k], a[i], a[i] + a[k]
        u1, u2 = np.exp(1j * q[i]), np.exp(1j * (q[i] + q[k]))
        c1, c2 = (complex(*data[name]["com"][j]) for name in ("link1", "link2"))
        first = (1j * e1 - w1**2) * u1
        one = first * c1
        two = first * data["link1"]["length"][j] + (1j * e2 - w2**2) * u2 * c2
        out[i], out[k] = (one.real, one.imag, e1), (two.real, two.imag, e2)
    out[6] = a[6:9]
    return out.ravel()


@functools.cache
def judged(seed: int):
    """A random robot with states, and the judge's torques and joint forces.

    States keep away from singularities, as those of `Robot.sample` do: elimination loses digits with the square of the
    condition of A_d (4e-10 seen at 2e4), any other way with the condition itself.
    """
    robot, data = random_3rrr(seed)
    rng = np.random.default_rng(seed)
    for spread in (0.1, 0.1, 0.1, 0.05, 0.05, 0.02):
        about = robot.integrate(np.tile(robot.home, (STATES, 1)), rng.normal(0.0, spread, (STATES, 9)))
        Q, V, A = robot.project(about, rng.normal(0.0, 3.0, (STATES, 9)), rng.normal(0.0, 10.0, (STATES, 9)))
        if np.linalg.cond(robot.loop_jacobian(Q)[:, :, robot.loop_analysis.dependent]).max() < 1e3:
            break
    else:
        raise AssertionError(f"robot {seed} is singular at home")
    torque, force = np.empty((STATES, 3)), np.empty((STATES, 18))
    for s in range(STATES):
        M, g, J, S, G = maximal(data, Q[s], V[s])
        acc = body_accelerations(data, Q[s], V[s], A[s])
        assert np.abs(J @ acc + G).max() < 1e-9 * (1.0 + np.abs(acc).max())  # the state is on the loops
        x = np.linalg.solve(np.hstack([S, J.T]), M * acc - g)
        torque[s], force[s] = x[:3], x[3:]
    return robot, data, Q, V, A, torque, force


@some
@every_way
def test_motor_torques_of_random_robots(way, seeds):
    for seed in seeds:
        robot, _, Q, V, A, torque, _ = judged(seed)
        assert relative(solver(way, robot).inverse_dynamics(Q, V, A), torque) < 1e-10, seed


@some
@every_way
def test_accelerations_of_random_robots(way, seeds):
    rng = np.random.default_rng(1)
    for seed in seeds:
        robot, data, Q, V, _, _, _ = judged(seed)
        tau = rng.normal(0.0, 20.0, (STATES, 3))
        acc = solver(way, robot).forward_dynamics(Q, V, tau)
        for s in range(STATES):
            M, g, J, S, G = maximal(data, Q[s], V[s])
            KKT = np.block([[np.diag(M), -J.T], [J, np.zeros((18, 18))]])
            x = np.linalg.solve(KKT, np.concatenate([g + S @ tau[s], -G]))
            angles = x[2:18:3].reshape(3, 2)
            wanted = np.concatenate([np.column_stack([angles[:, 0], angles[:, 1] - angles[:, 0]]).ravel(), x[18:21]])
            assert relative(acc[s], wanted) < 1e-10, seed


@some
@pytest.mark.parametrize("way", ["newton-euler", "denoc, elimination"])
def test_joint_forces_of_random_robots(way, seeds):
    for seed in seeds:
        robot, _, Q, V, A, torque, force = judged(seed)
        solve = solver(way, robot)
        wrench = solve.reactions(Q, V, A)
        multiplier = solve.multipliers(Q, V, A).reshape(STATES, 3, 2)
        for s in range(STATES):
            for j in range(3):
                base, knee, tip = (complex(*pair) for pair in force[s, 6 * j : 6 * j + 6].reshape(3, 2))
                one, two = wrench[s, 2 * j], wrench[s, 2 * j + 1]
                scale = 1.0 + np.abs(force[s]).max()
                at1 = complex(*one[:2]) * np.exp(1j * Q[s, 2 * j])
                at2 = complex(*two[:2]) * np.exp(1j * (Q[s, 2 * j] + Q[s, 2 * j + 1]))
                at3 = complex(*multiplier[s, j]) * np.exp(1j * Q[s, 8])
                assert max(abs(at1 - base), abs(at2 - knee), abs(at3 - tip)) < 1e-10 * scale, seed
                # all six components: no force out of the plane, the motor's moment and none at the knee
                assert np.abs([*one[2:5], *two[2:6]]).max() < 1e-10 * scale
                assert abs(one[5] - torque[s, j]) < 1e-10 * scale
