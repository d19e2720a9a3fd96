"""Gibbs-Appell for elastic arms: worked numbers, limits, identities, Lagrange's route, what the printed forms cost."""

import json
from pathlib import Path

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.benchmarks.papers.gibbs_appell_elastic.experiment import energy_drift, planar_chain
from dynbench.methods.kernels.count import count_operations, count_polynomial, run_counting
from dynbench.robots.elastic import modes as shapes
from dynbench.robots.errors import MethodError, StateError, UnsupportedError
from dynbench.robots.families.elastic_rp_chain import elastic_rp_family

DATA = json.loads((Path(__file__).parents[1] / "data/gibbs-appell-elastic.json").read_text())
CASES = DATA["cases"]
METHOD = "gibbs-appell-elastic"
SECTION = np.diag([0.01, 0.006, 0.005])
DIRECTIONS = ("y", "z", "x", "t")
KINDS = [(direction, order) for direction in DIRECTIONS for order in (1, 2, 3)]


def prepare(robot, **options):
    return methods.get(METHOD, **options).prepare(robot)


def state(case):
    return (np.array(case[name]) for name in ("q", "v", "a"))


def random_chain(seed):
    """One to three arms, one to three modes of mixed kinds each, spatial, oblique gravity."""
    rng = np.random.default_rng(seed)
    n = 1 + seed % 3
    drawn = [rng.choice(len(KINDS), size=rng.integers(1, 4), replace=False) for _ in range(n)]
    return robots.elastic_rp_chain(
        length=rng.uniform(0.5, 1.5, n),
        mouth=rng.uniform(-0.2, 1.0, n),
        density=rng.uniform(1.0, 4.0, n),
        bending_z=rng.uniform(50.0, 200.0, n),
        bending_y=rng.uniform(50.0, 200.0, n),
        axial=rng.uniform(2e3, 8e3, n),
        torsion=rng.uniform(20.0, 60.0, n),
        section_inertia=np.stack([robots.random_inertia(rng, 1.0, 0.1) for _ in range(n)]),
        modes=[[KINDS[k] for k in row] for row in drawn],
        twist=rng.uniform(-2.0, 2.0, n),
        gravity=rng.uniform(-9.0, 9.0, 3),
        name=f"random elastic chain {seed}",
    )


def coordinates(robot):
    """Indices of joints, and of amplitudes."""
    joints = [*robot.iv[::2], *robot.iv[1::2]]
    return sorted(joints), [k for k in range(robot.nv) if k not in joints]


def lively(robot, N, seed=0):
    """Sampled states with amplitudes that change much faster than usual, so that no rate of theirs can hide."""
    Q, V, A = robot.sample(N, seed=seed)
    for x in (V, A):
        x[:, coordinates(robot)[1]] *= 30.0
    return Q, V, A


# Worked numbers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_worked_numbers(name):
    case = CASES[name]
    tau = prepare(robots.elastic_rp_chain(**case["chain"])).inverse_dynamics(*state(case))
    np.testing.assert_allclose(tau, case["tau"], rtol=0, atol=1e-9)


def test_worked_mass_matrix():
    case = CASES["A"]
    M = prepare(robots.elastic_rp_chain(**case["chain"])).mass_matrix(case["q"])
    np.testing.assert_allclose(M[0], case["mass_matrix_row_of_q"], rtol=0, atol=1e-9)


def test_printed_forms_give_their_own_numbers():
    """Linear rotation of the tip, and a slope that does not change with l, as printed."""
    case = CASES["B"]
    solver = prepare(robots.elastic_rp_chain(**case["chain"]), tip_rotation="linear", slope_rate_of_l=False)
    tau = solver.inverse_dynamics(*state(case))
    np.testing.assert_allclose(tau, case["tau_printed_forms"], rtol=0, atol=1e-9)
    assert np.abs(tau - case["tau"]).max() > 5.0


def test_mouth_flux_moves_the_force_on_the_slide():
    case = CASES["C"]
    tau = prepare(robots.elastic_rp_chain(**case["chain"]), mouth_flux=False).inverse_dynamics(*state(case))
    assert tau[1] == pytest.approx(case["force_without_mouth_flux"], abs=1e-9)
    assert abs(tau[1] - case["tau"][1]) > 0.01


# The other route ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_agrees_with_lagrange(first):
    for seed in range(first, first + 10):
        robot = random_chain(seed)
        Q, V, A = lively(robot, 2, seed)
        ours, theirs = prepare(robot), methods.get("lagrange-elastic").prepare(robot)
        tau, expected = ours.inverse_dynamics(Q, V, A), theirs.inverse_dynamics(Q, V, A)
        error = np.abs(tau - expected).max() / np.abs(expected).max()
        assert error < 1e-11, f"seed {seed}, {robot.elastic.direction}: {tau} and {expected}"
        gap = np.abs(ours.mass_matrix(Q) - theirs.mass_matrix(Q)).max()
        assert gap < 1e-12 * np.abs(theirs.mass_matrix(Q)).max(), f"seed {seed}"


def test_external_wrenches_agree_with_lagrange():
    robot = random_chain(2)
    Q, V, A = lively(robot, 3)
    wrench = np.random.default_rng(0).standard_normal((3, robot.n, 6))
    ours, theirs = prepare(robot), methods.get("lagrange-elastic").prepare(robot)
    expected = theirs.inverse_dynamics(Q, V, A, wrench=wrench)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(ours.inverse_dynamics(Q, V, A, wrench=wrench), expected, rtol=0, atol=1e-11 * scale)
    assert np.abs(expected - theirs.inverse_dynamics(Q, V, A)).max() > 0.1
    back = ours.forward_dynamics(Q, V, expected, wrench=wrench)
    np.testing.assert_allclose(back, A, rtol=0, atol=1e-8 * np.abs(A).max())


# Limits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_straight_arms_take_the_forces_of_rigid_rods(seed):
    robot = random_chain(seed)
    joints, bent = coordinates(robot)
    Q, V, A = robot.sample(8, seed=seed)
    for x in (Q, V, A):
        x[:, bent] = 0.0
    rigid = methods.get("newton-euler").prepare(robots.rigid_twin(robot))
    expected = rigid.inverse_dynamics(Q[:, joints], V[:, joints], A[:, joints])
    tau = prepare(robot).inverse_dynamics(Q, V, A)[:, joints]
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


def test_with_the_mouth_on_the_axis_the_rigid_rods_are_those_of_rp_chain():
    length, density, twist, gravity = [1.0, 0.8], [3.0, 2.0], [0.5, -1.2], (1.0, -9.0, 2.0)
    section = np.tile(SECTION, (2, 1, 1))
    robot = robots.elastic_rp_chain(
        length, density, [[("y", 1)], [("y", 1), ("z", 1)]], mouth=[0.0, 0.0], bending_z=100.0, bending_y=100.0,
        section_inertia=section, twist=twist, gravity=gravity,
    )  # fmt: skip
    turns = [[[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]] for x in twist]
    rods = methods.get("newton-euler").prepare(robots.rp_chain(length, density, section, turns, gravity))
    joints, bent = coordinates(robot)
    Q, V, A = robot.sample(8)
    for x in (Q, V, A):
        x[:, bent] = 0.0
    expected = rods.inverse_dynamics(Q[:, joints], V[:, joints], A[:, joints])
    tau = prepare(robot).inverse_dynamics(Q, V, A)[:, joints]
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize("l", [0.3, 0.7, 1.0])
def test_frequencies_of_a_locked_arm_are_those_of_a_cantilever_and_of_a_rod(l):
    mu, stiffness = 3.0, {"y": 150.0, "z": 90.0, "x": 5000.0, "t": 40.0}
    inertia = {"y": mu, "z": mu, "x": mu, "t": SECTION[0, 0]}
    robot = robots.elastic_rp_chain(
        length=[2.0], density=[mu], bending_z=[150.0], bending_y=[90.0], axial=[5000.0], torsion=[40.0],
        section_inertia=SECTION, modes=[KINDS], gravity=(0.0, 0.0, 0.0),
    )  # fmt: skip
    solver = prepare(robot)
    q = np.zeros(robot.nq)
    q[1] = l
    M = solver.mass_matrix(q)[2:, 2:]
    delta = 2.0**-10
    K = solver.bias(q + delta * np.eye(robot.nq)[2:], np.zeros((len(KINDS), robot.nv)))[:, 2:] / delta
    np.testing.assert_allclose(M, np.diag(np.diag(M)), atol=1e-13 * M.max())
    found = np.sqrt(np.diag(K) / np.diag(M))
    for (direction, order), omega in zip(KINDS, found, strict=True):
        b = shapes.wave_number(shapes.DIRECTIONS[direction], order)
        ratio = stiffness[direction] / inertia[direction]
        expected = b**2 / l**2 * np.sqrt(ratio) if direction in "yz" else b / l * np.sqrt(ratio)
        assert omega == pytest.approx(expected, rel=1e-12), (direction, order)


def test_a_static_load_at_the_tip_pushes_the_arm_out():
    """The configurational force of a frictionless sleeve: (P l)^2 / (2 EI), by Clapeyron."""
    P, l, EI = 2.0, 0.5, 150.0
    robot = robots.elastic_rp_chain([1.0], [3.0], [[("y", k) for k in range(1, 13)]], bending_z=[EI], gravity=(0, 0, 0))
    solver = prepare(robot)
    q = np.zeros(robot.nq)
    q[1] = l
    for k in range(1, 13):  # static deflection in modes: tip load P on a stiffness EI b^4 / l^3
        b = shapes.wave_number(shapes.Y, k)
        q[1 + k] = P * 2 * (-1) ** (k + 1) * l**3 / (EI * b**4)
    force = solver.bias(q, np.zeros(robot.nv))[1]
    assert -force == pytest.approx((P * l) ** 2 / (2 * EI), rel=1e-2)  # series of twelve modes


# Identities --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(0, 12, 2))
def test_mass_matrix(seed):
    """Symmetric, positive definite, the columns of inverse dynamics, and twice the kinetic energy."""
    robot = random_chain(seed)
    solver = prepare(robot)
    Q, V, _ = robot.sample(4, seed=seed)
    M = solver.mass_matrix(Q)
    still = np.zeros_like(V)
    for q, v, m in zip(Q, V, M, strict=True):
        np.testing.assert_array_equal(m, m.T)
        scale = np.sqrt(np.diag(m))
        assert np.linalg.eigvalsh(m / np.outer(scale, scale))[0] > 1e-9
        units = np.eye(robot.nv)
        rows = np.tile(q, (robot.nv, 1))
        columns = solver.inverse_dynamics(rows, 0 * units, units) - solver.bias(q, still[0])
        np.testing.assert_allclose(columns, m, rtol=0, atol=1e-12 * max(np.abs(columns).max(), 1e3))
        assert 0.5 * v @ m @ v == pytest.approx(robots.kinematics.kinetic_energy(robot, q, v), rel=1e-11)


@pytest.mark.parametrize("seed", range(6))
def test_forward_undoes_inverse(seed):
    robot = random_chain(seed)
    solver = prepare(robot)
    Q, V, A = robot.sample(5, seed=seed)
    back = solver.forward_dynamics(Q, V, solver.inverse_dynamics(Q, V, A))
    np.testing.assert_allclose(back, A, rtol=0, atol=1e-8 * np.abs(A).max())


def test_a_batch_is_its_single_states():
    robot = random_chain(2)
    solver = prepare(robot)
    Q, V, A = robot.sample(11)
    for call, arguments in (("inverse_dynamics", (Q, V, A)), ("forward_dynamics", (Q, V, A)), ("mass_matrix", (Q,))):
        batch = getattr(solver, call)(*arguments)
        singles = [getattr(solver, call)(*row) for row in zip(*arguments, strict=True)]
        # solving multiplies rounding by the condition of M, some 1e4 with third modes
        tolerance = 1e-10 if call == "forward_dynamics" else 1e-13
        np.testing.assert_allclose(batch, singles, rtol=0, atol=tolerance * np.abs(batch).max())


def test_power_is_the_rate_of_energy():
    robot = random_chain(5)
    Q, V, A = robot.sample(6, seed=1, regime="slow")
    tau = prepare(robot).inverse_dynamics(Q, V, A)
    dt = 1e-5
    ends = [robot.energy(Q + x * V + 0.5 * x * x * A, V + x * A) for x in (dt, -dt)]
    power = np.einsum("si,si->s", tau, V)
    np.testing.assert_allclose((ends[0] - ends[1]) / (2 * dt), power, rtol=0, atol=1e-6 * np.abs(power).max())


def test_energy_is_conserved():
    """Two spatial arms with modes of every kind, 0.1 s without inputs."""
    assert energy_drift() < 1e-8


@pytest.mark.parametrize(
    ("option", "least"),
    [({"slope_rate_of_l": False}, 1.0), ({"tip_rotation": "linear"}, 1.0), ({"mouth_flux": False}, 1e-4)],
)
def test_printed_forms_do_not_conserve_energy(option, least):
    """Erratum: paper (68) and the linear E_i. The flux through the mouth is not in the surviving text."""
    assert energy_drift(**option) > least
    assert not methods.get(METHOD, **option).exact


def test_for_one_arm_the_printed_forms_are_exact():
    case = CASES["A"]
    robot = robots.elastic_rp_chain(**case["chain"])
    tau = prepare(robot, tip_rotation="linear", slope_rate_of_l=False, mouth_flux=False).inverse_dynamics(*state(case))
    np.testing.assert_allclose(tau, case["tau"], rtol=0, atol=1e-9)


# Cost --------------------------------------------------------------------------------------------------------------


def test_counting_scalars_run_the_same_source():
    robot = random_chain(2)
    Q, V, A = robot.sample(1)
    for quantity, arguments in (
        ("inverse_dynamics", (Q, V, A)),
        ("mass_matrix", (Q,)),
        ("forward_dynamics", (Q, V, A)),
    ):
        _, found = run_counting(methods.get(METHOD), robot, quantity)
        expected = getattr(prepare(robot), quantity)(*arguments).ravel()
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_operations_grow_linearly_with_arms_and_with_the_square_of_modes():
    method = methods.get(METHOD)
    with_arms = count_polynomial(method, elastic_rp_family, "inverse_dynamics", range(1, 6))["flops"]
    assert with_arms.degree == 1
    assert count_polynomial(method, elastic_rp_family, "mass_matrix", range(1, 6))["flops"].degree == 2
    with_modes = count_polynomial(method, lambda m: planar_chain(1, m), "inverse_dynamics", range(1, 7))["flops"]
    assert with_modes.degree == 2
    counts = count_operations(method, planar_chain(1, 2), "inverse_dynamics")
    assert counts.sincos == 1


# Validation ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("l", [0.0, 1.0, -0.3, 2.0])
def test_a_length_outside_the_arm_is_refused(l):
    robot = robots.load("elastic-rp1")
    solver = prepare(robot)
    z, Z = np.zeros(4), np.zeros((3, 4))
    good, bad = np.array([0.1, 0.5, 0.0, 0.0]), np.array([0.1, l, 0.0, 0.0])
    for call in (
        lambda q: solver.inverse_dynamics(q, z, z),
        lambda q: solver.forward_dynamics(np.stack([good, good, q]), Z, Z),
        lambda q: solver.mass_matrix(q),
        lambda q: solver.mass_matrix(np.stack([good, q, good])),
        lambda q: solver.bias(q, z),
    ):
        for _ in range(2):  # the second call goes straight to machine code
            with pytest.raises(StateError, match="'arm1' of robot 'elastic-rp1' outside its sleeve"):
                call(bad)
            assert np.isfinite(call(good)).all()


def test_what_it_does_not_do():
    method = methods.get(METHOD)
    assert "rigid" in method.supports(robots.load("rp3"))
    assert method.supports(robots.load("elastic-rp1")) is None
    assert "elastic" in methods.get("newton-euler").supports(robots.load("elastic-rp1"))
    with pytest.raises(UnsupportedError, match="elastic"):
        method.prepare(robots.load("rp3"))
    with pytest.raises(MethodError, match="tip_rotation is 'cubic', expected 'exp' or 'linear'"):
        methods.get(METHOD, tip_rotation="cubic")
