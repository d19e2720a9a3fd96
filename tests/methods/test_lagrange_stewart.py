"""Lagrange for the Gough-Stewart platform: the reference numbers, and independent judges.

Judges: numbers computed elsewhere (tests/data), `denoc` and `newton-euler` with loops, and Pinocchio's tree closed by
its constraint forces.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from stewart import LAYOUTS, MODELS, prepared, relative

from dynbench import methods, robots
from dynbench.robots.families.random_stewart import random_gough_stewart, random_platform_states
from dynbench.robots.families.stewart_legs import require_parts

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "lagrange-stewart.json").read_text())
JUDGES = ("denoc", "newton-euler")


def samples(path, key):
    return np.array([sample[key] for sample in REFERENCE[path]["samples"]])


def test_the_reference_robot_is_ours():
    given, at = REFERENCE["robot"], require_parts(robots.load("gough-stewart"))
    for key, value in {
        "base_points": at.base_points, "platform_points": at.platform_points, "platform_inertia": at.platform_inertia,
        "m1": at.lower_mass, "m2": at.upper_mass, "l1": 2 * at.lower_com, "l2": 2 * at.upper_com,
        "I1": at.lower_inertia, "I2": at.upper_inertia, "ujoint_axis": at.frame[:, :, 2],
    }.items():  # fmt: skip
        np.testing.assert_allclose(value, given[key], atol=1e-15, err_msg=key)


@pytest.mark.parametrize("path", ["paper_path", "rotating_path"])
@pytest.mark.parametrize("model", MODELS)
def test_reference_forces(path, model):
    state = prepared(model).state(*(samples(path, key) for key in ("q", "qd", "qdd")))
    wanted = np.array([sample["forces"][model] for sample in REFERENCE[path]["samples"]])
    np.testing.assert_allclose(prepared(model).inverse_dynamics(*state), wanted, atol=1e-12)
    np.testing.assert_allclose(prepared(model).forward_dynamics(*state[:2], wanted), state[2], atol=1e-10)
    np.testing.assert_allclose(state[0][:, [2, 5, 8, 11, 14, 17]], samples(path, "leg_lengths"), atol=1e-14)


def test_reference_equations():
    """M, G, J in the paper's coordinates, and all of (10) together."""
    x, xd, xdd = (samples("rotating_path", key) for key in ("q", "qd", "qdd"))
    found = prepared("c_full").equations(x, xd)
    np.testing.assert_allclose(found.M, samples("rotating_path", "mass_matrix_c"), atol=1e-13)
    np.testing.assert_allclose(found.G, samples("rotating_path", "gravity_vector_c"), atol=1e-12)
    np.testing.assert_allclose(found.J, samples("rotating_path", "jacobian"), atol=1e-14)
    forces = np.array([sample["forces"]["c_full"] for sample in REFERENCE["rotating_path"]["samples"]])
    left = np.einsum("nij,nj->ni", found.M, xdd) + np.einsum("nij,nj->ni", found.C, xd) + found.G
    np.testing.assert_allclose(left, np.einsum("nji,nj->ni", found.J, forces), atol=1e-12)


@pytest.mark.parametrize(
    ("t", "model", "wanted"),
    [
        (0.0, "a_massless", [0.325045, 4.250146, 2.315670, 2.315670, 4.250146, 0.325045]),
        (0.0, "b_lumped", [0.067211, 7.081090, 3.618136, 3.618136, 7.081090, 0.067211]),
        (0.0, "c_full", [0.068085, 7.081993, 3.618941, 3.618941, 7.081993, 0.068085]),
        (0.7, "a_massless", [-1.231850, 5.581909, 5.100477, -0.645771, 2.912656, 1.861571]),
        (0.7, "b_lumped", [-2.526987, 9.286045, 8.258146, -1.304680, 4.879876, 2.647393]),
        (0.7, "c_full", [-2.631829, 9.380007, 8.446913, -1.510185, 4.777682, 2.747831]),
    ],
)
def test_check_values_on_the_papers_path(t, model, wanted):
    x = [-0.1, 0.1 * np.sin(2 * t), 0.7, 0, 0, 0]
    state = prepared(model).state(x, [0, 0.2 * np.cos(2 * t), 0, 0, 0, 0], [0, -0.4 * np.sin(2 * t), 0, 0, 0, 0])
    np.testing.assert_allclose(prepared(model).inverse_dynamics(*state), wanted, atol=1e-6)


@pytest.mark.parametrize("seeds", [range(30), pytest.param(range(30, 200), marks=pytest.mark.long)], ids=str)
def test_random_platforms(seeds):
    """Forces, accelerations, mass matrix and bias: full legs, `denoc`, `newton-euler`, Pinocchio's constraint route."""
    ours = methods.get("lagrange-stewart")
    judges = {name: methods.get(name) for name in JUDGES if name in methods.names()}
    assert "newton-euler" in judges
    try:
        import pinocchio  # noqa: F401

        from dynbench.methods.peers.pinocchio_loops import PinocchioLoops as Pinocchio
    except ImportError:
        Pinocchio = None
    worst = {}

    def note(name, got, wanted, seed):
        error = relative(got, wanted)
        worst[name] = max(worst.get(name, 0.0), error)
        assert error < 1e-9, f"{name}: seed {seed}, {error:.1e}"

    for seed in seeds:
        robot = random_gough_stewart(seed, LAYOUTS[seed % 2])
        q, v, a = random_platform_states(robot, 3, seed)
        solver = ours.prepare(robot)
        F, M, h = solver.inverse_dynamics(q, v, a), solver.mass_matrix(q), solver.bias(q, v)
        note("forward undoes inverse", solver.forward_dynamics(q, v, F), a, seed)
        actuated = a[:, robot.actuated]
        note("F = M L'' + h", np.einsum("nij,nj->ni", M, actuated) + h, F, seed)
        for name, judge in judges.items():
            other = judge.prepare(robot)
            note(f"{name} forces", other.inverse_dynamics(q, v, a), F, seed)
            note(f"{name} accelerations", other.forward_dynamics(q, v, F), a, seed)
            note(f"{name} mass matrix", other.mass_matrix(q), M, seed)
            note(f"{name} bias", other.bias(q, v), h, seed)
        if Pinocchio is not None:
            engine = Pinocchio(robot)
            rows = list(zip(q, v, a, strict=True))
            note("pinocchio forces", np.array([engine.inverse_dynamics(*row) for row in rows]), F, seed)
            rows = list(zip(q, v, F, strict=True))
            note("pinocchio accelerations", np.array([engine.forward_dynamics(*row) for row in rows]), a, seed)
            note("pinocchio mass matrix", np.array([engine.mass_matrix(row) for row in q]), M, seed)
    assert max(worst.values()) < 1e-10, worst


@pytest.mark.parametrize("layout", LAYOUTS)
def test_external_wrenches_on_every_body(layout):
    robot = random_gough_stewart(11, layout)
    q, v, a = random_platform_states(robot, 16, seed=2)
    wrench = np.random.default_rng(0).standard_normal((16, robot.n, 6))
    ours, judge = (methods.get(name).prepare(robot) for name in ("lagrange-stewart", "newton-euler"))
    F = ours.inverse_dynamics(q, v, a, wrench=wrench)
    assert relative(judge.inverse_dynamics(q, v, a, wrench=wrench), F) < 1e-12
    assert relative(ours.forward_dynamics(q, v, F, wrench=wrench), a) < 1e-11
    assert relative(judge.bias(q, v, wrench=wrench), ours.bias(q, v, wrench=wrench)) < 1e-12


def test_every_assembly_of_the_legs():
    """Legs pulled through their base joint: turned half round about the second axis, of negative length."""
    robot = random_gough_stewart(3, "6-3")
    q, v, a = robot.sample(200, seed=0)
    at = require_parts(robot)
    for leg, states in ((0, slice(0, 80)), (3, slice(40, 160))):
        i, j = at.lower[leg], at.upper[leg]
        q[states, robot.iq[i]] += np.pi
        for x, first in ((q, robot.iq), (v, robot.iv), (a, robot.iv)):
            x[states, first[j]] *= -1.0
    assert (q[:, robot.iq[at.upper]] < 0.0).any()
    ours, judge = (methods.get(name).prepare(robot) for name in ("lagrange-stewart", "newton-euler"))
    F, M = ours.inverse_dynamics(q, v, a), ours.mass_matrix(q)
    np.testing.assert_allclose(judge.inverse_dynamics(q, v, a), F, atol=1e-9 * np.abs(F).max(axis=1).min())
    np.testing.assert_allclose(judge.mass_matrix(q), M, atol=1e-9 * np.abs(M).max())
