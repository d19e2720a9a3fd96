"""Lagrange for the Gough-Stewart platform: the reference numbers, independent judges, identities, and refusals.

Judges: numbers computed elsewhere (tests/data), `denoc` and `newton-euler` with loops, Pinocchio's tree closed by its
constraint forces, and for the approximate leg models their own kinetic energies, written out here.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.methods.lagrange_stewart import coordinates
from dynbench.robots import quaternion
from dynbench.robots.errors import StateError, UnsupportedError
from dynbench.robots.families.gough_stewart import hexagon, leg_coordinates, triangle
from dynbench.robots.families.random_stewart import random_gough_stewart, random_platform_states
from dynbench.robots.families.stewart_legs import platform_state, require_parts
from dynbench.robots.kinematics import kinetic_energy

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "lagrange-gough-stewart.json").read_text())
MODELS = {
    "a_massless": "lagrange-stewart-massless",
    "b_lumped": "lagrange-stewart-lumped",
    "c_full": "lagrange-stewart",
}
JUDGES = ("denoc", "newton-euler")
LAYOUTS = ("6-6", "6-3")


def relative(got, wanted):
    return np.abs(got - wanted).max() / np.abs(wanted).max()


def samples(path, key):
    return np.array([sample[key] for sample in REFERENCE[path]["samples"]])


@pytest.fixture(scope="module")
def solvers():
    robot = robots.load("gough-stewart")
    return {model: methods.get(name).prepare(robot) for model, name in MODELS.items()}


# Numbers ------------------------------------------------------------------------------------------------------------


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
def test_reference_forces(solvers, path, model):
    state = solvers[model].state(*(samples(path, key) for key in ("q", "qd", "qdd")))
    wanted = np.array([sample["forces"][model] for sample in REFERENCE[path]["samples"]])
    np.testing.assert_allclose(solvers[model].inverse_dynamics(*state), wanted, atol=1e-12)
    np.testing.assert_allclose(solvers[model].forward_dynamics(*state[:2], wanted), state[2], atol=1e-10)
    np.testing.assert_allclose(state[0][:, [2, 5, 8, 11, 14, 17]], samples(path, "leg_lengths"), atol=1e-14)


def test_reference_equations(solvers):
    """M, G, J in the paper's coordinates, and all of (10) together."""
    x, xd, xdd = (samples("rotating_path", key) for key in ("q", "qd", "qdd"))
    found = solvers["c_full"].equations(x, xd)
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
def test_check_values_on_the_papers_path(solvers, t, model, wanted):
    x = [-0.1, 0.1 * np.sin(2 * t), 0.7, 0, 0, 0]
    state = solvers[model].state(x, [0, 0.2 * np.cos(2 * t), 0, 0, 0, 0], [0, -0.4 * np.sin(2 * t), 0, 0, 0, 0])
    np.testing.assert_allclose(solvers[model].inverse_dynamics(*state), wanted, atol=1e-6)


# Judges -------------------------------------------------------------------------------------------------------------


def test_two_hundred_random_platforms():
    """Forces, accelerations, mass matrix and bias: full legs, `denoc`, `newton-euler`, Pinocchio's constraint route."""
    ours = methods.get("lagrange-stewart")
    judges = {name: methods.get(name) for name in JUDGES if name in methods.names()}
    assert "newton-euler" in judges
    try:
        import pinocchio  # noqa: F401

        from dynbench.benchmarks.timing.pinocchio_loops import PinocchioLoops as Pinocchio
    except ImportError:
        Pinocchio = None
    worst = {}

    def note(name, got, wanted, seed):
        error = relative(got, wanted)
        worst[name] = max(worst.get(name, 0.0), error)
        assert error < 1e-9, f"{name}: seed {seed}, {error:.1e}"

    for seed in range(200):
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


# Leg models ---------------------------------------------------------------------------------------------------------


def leg_motion(robot, q, v):
    """L, L', |u'|^2, the legs' angular velocity in leg axes, (N, 6), from positions and velocities of the bodies."""
    from dynbench.robots.kinematics import poses, velocities

    at = require_parts(robot)
    R, p = poses(robot, q)
    twist = velocities(robot, q, v, axes="world")
    leg, VT = p[:, at.upper] - at.base_points, twist[:, at.upper, :3]
    L = np.linalg.norm(leg, axis=-1)
    u = leg / L[..., None]
    rate = (u * VT).sum(axis=-1)
    u_dot = (VT - rate[..., None] * u) / L[..., None]
    spin = np.einsum("nkji,nkj->nki", R[:, at.lower], twist[:, at.lower, 3:])
    return L, rate, (u_dot**2).sum(axis=-1), spin


def platform_twist(robot, q, v):
    from dynbench.robots.kinematics import velocities

    return velocities(robot, q, v, axes="world")[:, robot.platform]


def energy_of(name, robot, q, v):
    t = platform_twist(robot, q, v)
    M = methods.get(name).prepare(robot).twist_mass_matrix(q)
    return 0.5 * np.einsum("ni,nij,nj->n", t, M, t)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(5))
def test_energy_difference_of_full_and_lumped_legs(layout, seed):
    """K_full - K_lumped = sum of mu/2 (D^2 |u'|^2 + L'^2) + w I w/2, with mu = m1 m2/M, D = L - l1/2 - l2/2."""
    robot = random_gough_stewart(seed, layout)
    q, v, _ = random_platform_states(robot, 20, seed)
    at = require_parts(robot)
    L, rate, bend, spin = leg_motion(robot, q, v)
    mu = at.lower_mass * at.upper_mass / (at.lower_mass + at.upper_mass)
    D = L - at.lower_com - at.upper_com
    turning = np.einsum("nki,kij,nkj->nk", spin, at.lower_inertia + at.upper_inertia, spin)
    difference = (0.5 * mu * (D**2 * bend + rate**2) + 0.5 * turning).sum(axis=1)
    full, lumped = (energy_of(MODELS[model], robot, q, v) for model in ("c_full", "b_lumped"))
    np.testing.assert_allclose(full - lumped, difference, rtol=1e-12)
    np.testing.assert_allclose(full, kinetic_energy(robot, q, v), rtol=1e-13)


def test_models_agree_at_rest_and_not_in_motion():
    """P_full = P_lumped; massless legs have no weight either."""
    robot = random_gough_stewart(1)
    q, v, a = random_platform_states(robot, 10, seed=1)
    still = np.zeros_like(v)
    forces = {model: methods.get(name).prepare(robot) for model, name in MODELS.items()}
    rest = {model: solver.inverse_dynamics(q, still, still) for model, solver in forces.items()}
    assert relative(rest["b_lumped"], rest["c_full"]) < 1e-13
    assert relative(rest["a_massless"], rest["c_full"]) > 0.1
    moving = {model: solver.inverse_dynamics(q, v, a) for model, solver in forces.items()}
    assert relative(moving["b_lumped"], moving["c_full"]) > 0.01


@pytest.mark.parametrize("model", ["b_lumped", "a_massless"])
def test_approximate_legs_are_lagranges_equations_of_their_energy(model):
    """M from the kinetic energy, C from M's derivatives (Christoffel), G from the potential: all by differences."""
    robot = random_gough_stewart(4)
    solver = methods.get(MODELS[model]).prepare(robot)
    at = require_parts(robot)
    j = int(robot.iq[robot.platform])
    x = np.concatenate([robot.home[j : j + 3] + 0.02, coordinates.angles(quaternion.matrix(robot.home[j + 3 : j + 7]))])
    rates = np.array([0.3, -0.5, 0.7, 1.1, -0.9, 1.3])
    total = at.lower_mass + at.upper_mass
    heavy = 1.0 if model == "b_lumped" else 0.0

    def centres(x):
        """Combined centres of mass of the legs, (15), (33)."""
        leg = x[:3] + at.platform_points @ coordinates.rotation(x[3:]).T - at.base_points
        length = np.linalg.norm(leg, axis=1)
        along = (at.lower_mass * at.lower_com + at.upper_mass * (length - at.upper_com)) / total
        return at.base_points + (along / length)[:, None] * leg

    def inertia(x):
        """Of (11) and (27), from the centres' derivatives; a complex step would need complex rotations."""
        slopes = derivative(centres, x)
        D = np.eye(6)
        D[3:, 3:] = coordinates.rate_matrix(x[3:])
        R = coordinates.rotation(x[3:])
        own = np.zeros((6, 6))
        own[:3, :3] = at.platform_mass * np.eye(3)
        own[3:, 3:] = R @ at.platform_inertia @ R.T
        return D.T @ own @ D + heavy * np.einsum("k,kic,kid->cd", total, slopes, slopes)

    def potential(x):
        return -robot.gravity @ (at.platform_mass * x[:3] + heavy * total @ centres(x))

    found = solver.equations(x, rates)
    slopes = derivative(inertia, x)  # dM_ij / dx_k
    christoffel = 0.5 * (slopes + slopes.transpose(0, 2, 1) - slopes.transpose(2, 1, 0))
    np.testing.assert_allclose(found.M, inertia(x), atol=1e-8)
    np.testing.assert_allclose(found.G, derivative(potential, x), atol=1e-7)
    np.testing.assert_allclose(found.C, np.einsum("ijk,k->ij", christoffel, rates), atol=2e-5)


def derivative(f, x, h=1e-3):
    """Central differences of order six along the last axis."""
    weights = {1: 0.75, 2: -0.15, 3: 1.0 / 60.0}
    return np.stack(
        [sum(w * (f(x + k * h * e) - f(x - k * h * e)) for k, w in weights.items()) / h for e in np.eye(6)], axis=-1
    )


@pytest.mark.parametrize("model", MODELS)
def test_rate_of_m_less_2c_is_skew(model):
    robot = random_gough_stewart(6, "6-3")
    solver = methods.get(MODELS[model]).prepare(robot)
    j = int(robot.iq[robot.platform])
    x = np.concatenate([robot.home[j : j + 3], coordinates.angles(quaternion.matrix(robot.home[j + 3 : j + 7]))])
    rates = np.array([0.3, -0.5, 0.7, 1.1, -0.9, 1.3])
    slopes = derivative(lambda y: solver.equations(y, rates).M, x)
    S = slopes @ rates - 2.0 * solver.equations(x, rates).C
    assert np.abs(S + S.T).max() < 1e-8 * np.abs(S).max()


# The platform's own coordinates -------------------------------------------------------------------------------------


def test_jacobian_is_the_derivative_of_the_lengths(solvers):
    solver = solvers["c_full"]
    x = np.array([-0.08, 0.03, 0.72, 0.2, -0.1, 0.4])

    def lengths(x):
        return solver.inverse_kinematics((coordinates.rotation(x[3:]), x[:3]))

    np.testing.assert_allclose(solver.equations(x, np.zeros(6)).J, derivative(lengths, x), atol=1e-11)


def test_factors_of_the_jacobian(solvers):
    """J = J1 J2, (8)."""
    from dynbench.methods.lagrange_stewart.kinematics import vertex_jacobians

    solver = solvers["c_full"]
    x = np.array([-0.08, 0.03, 0.72, 0.2, -0.1, 0.4])
    R, p = coordinates.rotation(x[3:]), x[:3]
    J1, J2 = vertex_jacobians(solver.parts, R, p, coordinates.rate_matrix(x[3:]))
    np.testing.assert_allclose(J1 @ J2, solver.equations(x, np.zeros(6)).J, atol=1e-14)


def test_coordinates_round_trip(solvers):
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (50, 6)) * [0.1, 0.1, 0.1, 1.0, 1.0, 1.0] + [0, 0, 0.7, 0, 0, 0]
    q, _, _ = solvers["c_full"].state(x)
    np.testing.assert_allclose(solvers["c_full"].coordinates(q), x, atol=1e-13)


def test_the_angles_singularity_is_refused_and_the_forces_are_right_there(solvers):
    """An upright platform, alpha = 90 degrees: tree states have no angles, the paper's coordinates are refused."""
    solver, judge = solvers["c_full"], methods.get("newton-euler").prepare(robots.load("gough-stewart"))
    x = np.array([0.0, 0.0, 0.7, np.pi / 2, 0.3, 0.2])
    pose = (coordinates.rotation(x[3:]), x[:3])
    state = platform_state(solver.robot, pose, np.arange(6.0) / 3.0, np.arange(6.0) - 2.0)
    F = solver.inverse_dynamics(*state)
    np.testing.assert_allclose(F, judge.inverse_dynamics(*state), atol=1e-11)
    np.testing.assert_allclose(solver.forward_dynamics(*state[:2], F), state[2], atol=1e-9)
    for refused in (lambda: solver.coordinates(state[0]), lambda: solver.equations(x, np.zeros(6))):
        with pytest.raises(StateError, match="cos alpha = 0"):
            refused()


def test_forward_kinematics(solvers):
    solver, rng = solvers["c_full"], np.random.default_rng(1)
    for x in rng.uniform(-1.0, 1.0, (20, 6)) * [0.1, 0.1, 0.1, 0.4, 0.4, 0.4] + [-0.05, 0, 0.7, 0, 0, 0]:
        R, p = coordinates.rotation(x[3:]), x[:3]
        found = solver.forward_kinematics(solver.inverse_kinematics((R, p)))
        np.testing.assert_allclose(found[0], R, atol=1e-10)
        np.testing.assert_allclose(found[1], p, atol=1e-10)


@pytest.mark.parametrize(
    ("lengths", "match"),
    [
        ([0.1, 3.0, 0.1, 3.0, 0.1, 3.0], "did not converge|singular pose|has length|lies along"),
        ([0.7, 0.7, 0.7], "needs six positive numbers"),
        ([0.7, 0.7, -0.7, 0.7, 0.7, 0.7], "needs six positive numbers"),
        ([0.7, 0.7, np.nan, 0.7, 0.7, 0.7], "needs six positive numbers"),
    ],
)
def test_forward_kinematics_says_when_it_fails(solvers, lengths, match):
    with pytest.raises(StateError, match=match):
        solvers["c_full"].forward_kinematics(lengths)


# Batches and refusals -----------------------------------------------------------------------------------------------


def test_a_trajectory_in_one_batch(solvers):
    """One call for many states, in threads too; the same numbers as one by one."""
    solver = solvers["b_lumped"]
    q, v, a = random_platform_states(solver.robot, 101, seed=0)
    F = solver.inverse_dynamics(q, v, a)
    np.testing.assert_array_equal(solver.inverse_dynamics(q, v, a, threads=2), F)
    for k in (0, 57, 100):
        np.testing.assert_allclose(solver.inverse_dynamics(q[k], v[k], a[k]), F[k], rtol=1e-13)
    M = solver.twist_mass_matrix(q)
    np.testing.assert_allclose(solver.twist_mass_matrix(q[57]), M[57], rtol=1e-13)


def test_exactness_is_declared():
    assert [methods.get(name).exact for name in MODELS.values()] == [False, False, True]


def test_other_robots_are_refused_with_a_reason():
    method = methods.get("lagrange-stewart")
    for name in ("panda", "delta", "3rrr"):
        assert "Gough-Stewart platforms only" in method.supports(robots.load(name))
    with pytest.raises(UnsupportedError, match="19 bodies"):
        method.prepare(robots.load("two-link"))


def still(robot, R, p):
    """A state at rest, written down joint by joint, so that it can be a singular one."""
    at = require_parts(robot)
    legs = p + at.platform_points @ np.asarray(R).T - at.base_points
    angles = np.stack(leg_coordinates(at.frame, legs), axis=-1)
    q = np.concatenate([angles.ravel(), p, quaternion.from_matrix(np.asarray(R))])
    return q, np.zeros(robot.nv), np.zeros(robot.nv)


QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
VERTICAL = hexagon()[4] - triangle()[4] + np.array([0.0, 0.0, 0.7])


@pytest.mark.parametrize(
    ("R", "p", "match"),
    [
        (QUARTER, [0.0, 0.0, 0.7], r"the pose of state 1 is singular \(p = \[0.0, 0.0, 0.7\]"),
        (np.eye(3), VERTICAL, "leg 5 of robot 'gough-stewart' lies along the first axis"),
        (np.eye(3), hexagon()[2] - triangle()[2], "leg 3 of robot 'gough-stewart' has length 0 m"),
    ],
)
def test_singular_states_are_refused_by_name(solvers, R, p, match):
    solver = solvers["c_full"]
    good, bad = (still(solver.robot, *pose) for pose in ((np.eye(3), np.array([0.0, 0.0, 0.7])), (R, np.array(p))))
    batch = [np.stack(pair) for pair in zip(good, bad, strict=True)]
    for quantity, arguments in (("inverse_dynamics", batch), ("mass_matrix", batch[:1]), ("bias", batch[:2])):
        with pytest.raises(StateError, match=match):
            getattr(solver, quantity)(*arguments)


def test_forward_dynamics_needs_no_regular_jacobian(solvers):
    """At Fichter's singularity forces still have one effect: the free fall of a platform without actuation."""
    q, v, _ = still(solvers["a_massless"].robot, QUARTER, np.array([0.0, 0.0, 0.7]))
    a = solvers["a_massless"].forward_dynamics(q, v, np.zeros(6))
    np.testing.assert_allclose(a[-6:], [0, 0, -9.8066, 0, 0, 0], atol=1e-12)


@pytest.mark.parametrize(("which", "match"), [(0, "q.* is off the loops"), (1, "v.* is off"), (2, "a.* is off")])
def test_states_off_the_loops_are_refused(which, match):
    robot = robots.load("gough-stewart")
    state = [x.copy() for x in random_platform_states(robot, 12, seed=3)]
    state[which][5, 2] += 1e-3
    solver = methods.get("lagrange-stewart").prepare(robot)
    with pytest.raises(StateError, match=match):
        solver.inverse_dynamics(*state)
