"""The space robot's experiment: reference trajectories, balances, misprints, growth."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.benchmarks.papers import boltzmann_hamel as paper
from dynbench.benchmarks.papers.boltzmann_hamel import experiment as scenario
from dynbench.benchmarks.papers.boltzmann_hamel import growth, measured, printed, recording
from dynbench.benchmarks.simulation.scenario import Recording
from dynbench.robots import kinematics, quaternion, random_space_manipulator
from dynbench.robots.errors import UnknownNameError

# Positions of centres of mass and attitudes (x y z w, body to world) at 30 times, by an articulated-body engine with
# tolerance 1e-12, which agrees with a third engine to 1e-11.
REFERENCE = json.loads((Path(__file__).parents[2] / "data" / "boltzmann-hamel.json").read_text(encoding="utf-8"))
TESTS = Path(__file__).parents[3]


@functools.cache
def simulated(geometry: str, frame: str) -> Recording:
    return scenario.run(scenario.METHOD, geometry, frame)


def reference(geometry: str, frame: str) -> dict:
    return next(c for c in REFERENCE["cases"] if (c["geometry"], c["force_frame"]) == (geometry, frame))


def samples(case: dict, what: str) -> np.ndarray:
    return np.array([[sample[what][body] for body in REFERENCE["bodies"]] for sample in case["samples"]])


@pytest.mark.parametrize(("geometry", "frame"), scenario.CASES)
def test_all_bodies_follow_the_reference(geometry: str, frame: str) -> None:
    run, case = simulated(geometry, frame), reference(geometry, frame)
    assert run.robot.body_names == tuple(REFERENCE["bodies"])
    np.testing.assert_allclose(run.t[1:], REFERENCE["times"], rtol=1e-15)
    np.testing.assert_allclose(run["position"][1:], samples(case, "position"), rtol=0, atol=1e-8)
    attitudes = quaternion.matrix(samples(case, "quaternion"))  # matrices: a quaternion's sign is free
    np.testing.assert_allclose(run["attitude"][1:], attitudes, rtol=0, atol=1e-8)
    end = case["end_state"]
    assert run["kinetic energy"][-1] == pytest.approx(end["kinetic_energy"], rel=1e-9)
    np.testing.assert_allclose(run["momentum"][-1, :3], end["linear_momentum"], atol=1e-9)
    np.testing.assert_allclose(run["momentum"][-1, 3:], end["angular_momentum_about_inertial_origin"], atol=1e-9)
    com = kinematics.com(run.robot, run.q[-1])
    np.testing.assert_allclose(com, end["system_centre_of_mass"], atol=1e-10)


# At t = 10 s: base, second link of arm 1, second link of arm 2 in metres; kinetic energy in joules
TABLE = {
    ("opposed_z", "body"): (
        (0.064754162, -0.064754162, -0.180175372), (0.656219876, -0.656219876, 0.559300833),
        (0.319840701, -0.319840701, 0.647301774), 17.7530406),
    ("opposed_z", "inertial"): (
        (0.032850609, -0.032850609, -0.173746035), (0.696573396, -0.696573396, 1.412218174),
        (0.942332900, -0.942332900, -1.149532753), 3.8472369),
    ("parallel_x", "body"): (
        (-0.079387999, 0.078680117, 0.130630792), (1.136802527, -0.636576541, 0.215634781),
        (0.153335985, -0.654017459, 0.591099480), 23.1052279),
    ("parallel_x", "inertial"): (
        (0.091521849, -0.090896034, 0.300869547), (1.204065139, -0.705017255, 1.269872498),
        (0.204786976, -0.704775339, -0.647588957), 11.0037120),
}  # fmt: skip


@pytest.mark.parametrize(("geometry", "frame"), scenario.CASES)
def test_the_table_at_ten_seconds(geometry: str, frame: str) -> None:
    run = simulated(geometry, frame)
    *places, energy = TABLE[geometry, frame]
    np.testing.assert_allclose(run["position"][-1, [0, 2, 4]], places, rtol=0, atol=6e-10)
    assert run["kinetic energy"][-1] == pytest.approx(energy, abs=6e-8)


@pytest.mark.parametrize(("geometry", "frame"), scenario.CASES)
def test_momentum_and_energy_balance_separately(geometry: str, frame: str) -> None:
    run = simulated(geometry, frame)
    assert np.abs(run.integrals[-1, [0, 3, 6]]).min() > 1.0  # the forces do feed in something
    for what, residual in scenario.residuals(run).items():
        assert residual < 1e-10, f"{what} balance of {geometry}, {frame} is off by {residual:.1e}"
    for start, _ in run.robot.quaternions:
        lengths = np.linalg.norm(run.q[:, start : start + 4], axis=1)
        np.testing.assert_allclose(lengths, 1.0, rtol=0, atol=4e-16)


def test_any_tree_method_runs_it() -> None:
    right = scenario.run("newton-euler", "parallel_x", duration=2.0, samples=3, rtol=1e-11, atol=1e-12)
    for name in ("boltzmann-hamel-recursions", "boltzmann-hamel"):
        found = scenario.run(name, "parallel_x", duration=2.0, samples=3, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(found["position"], right["position"], rtol=0, atol=1e-11)


def test_turning_through_every_attitude_has_no_singularity() -> None:
    """No force, a base that tumbles about y: pitch passes 90 degrees, where three angles would fail."""
    robot = robots.load("space-dual-arm-parallel")
    v0 = np.zeros(robot.nv)
    v0[4], v0[7], v0[13] = 2.0, 1.0, -1.0
    run = scenario.run(geometry="parallel_x", v0=v0, scale=0.0, duration=4.0, samples=40, rtol=1e-11, atol=1e-12)
    pitch = np.arcsin(-run["attitude"][:, 0, 2, 0])
    assert pitch.max() > 1.4
    assert pitch.min() < -1.4
    assert max(scenario.residuals(run).values()) < 1e-8
    assert np.abs(run["momentum"] - run["momentum"][0]).max() < 1e-8


def test_unknown_variants_are_named_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match="no geometry is called 'opposed_x'; did you mean 'opposed_z'"):
        scenario.run(geometry="opposed_x")
    with pytest.raises(UnknownNameError, match="no force frame is called 'world'; known: body, inertial"):
        scenario.run(force_frame="world")


# ---------------------------------------------------------------------- misprints


def turning_robots(count: int = 40):
    """Random robots on joints with 1 and 3 freedoms (a massless link would not mean the same in a misprint), states."""
    for seed in range(count):
        robot = random_space_manipulator(arms=1 + seed % 3, links=2 + seed % 4, seed=seed, freedoms=(1, 3))
        q, v, _ = (x[0] for x in robot.sample(1, seed=seed))
        yield robot, q, v


def test_E_is_minus_the_derivative_of_K_by_the_joints_attitude() -> None:
    """(22), by central differences of the kinetic energy at fixed quasi-velocities."""
    for robot, q, v in turning_robots(6):
        E, h = printed.E_terms(robot, q, v), 1e-5
        for k in range(6, robot.nv):
            step = h * np.eye(robot.nv)[k]
            above, below = (kinematics.kinetic_energy(robot, robot.integrate(q, s * step), v) for s in (1, -1))
            assert E[k] == pytest.approx(-(above - below) / (2 * h), rel=1e-6, abs=1e-6 * np.abs(E).max())
        assert not E[:6].any()


def test_the_bias_is_the_rate_of_momentum_with_E() -> None:
    """(21) from its definition: d/dt (M v) along the motion at constant v, minus nothing else, plus E."""
    for robot, q, v in turning_robots(6):
        solver, h = methods.get("boltzmann-hamel").prepare(robot), 1e-5
        M = solver.mass_matrix(np.array([robot.integrate(q, s * h * v) for s in (-1, 0, 1)]))
        momenta = M @ v
        bias = (momenta[2] - momenta[0]) / (2 * h) + printed.E_terms(robot, q, v)
        momenta = momenta[1]
        for i in range(robot.n):  # the [[omega]] terms of (19)-(21), for joints with three freedoms and the base
            k = robot.iv[i]
            if robot.kind[i] == 3:
                bias[k : k + 3] += np.cross(v[3:6], momenta[:3])
                bias[3:6] += np.cross(v[3:6], momenta[3:6]) + np.cross(v[:3], momenta[:3])
            elif robot.kind[i] == 2:
                bias[k : k + 3] += np.cross(v[k : k + 3], momenta[k : k + 3])
        found = solver.bias(np.array([q]), np.array([v]))[0]
        np.testing.assert_allclose(found, bias, rtol=0, atol=1e-6 * np.abs(bias).max())


def test_printed_51_and_52_are_wrong() -> None:
    """Errata (51), (52): error of the joints' bias relative to the largest of them."""
    errors: dict[int, list[float]] = {51: [], 52: []}
    for robot, q, v in turning_robots():
        bias = methods.get("boltzmann-hamel").prepare(robot).bias(q[None], v[None])[0]
        for equation, found in errors.items():
            found.append(np.abs(printed.error_force(robot, q, v, {equation})).max() / np.abs(bias[6:]).max())
    assert np.median(errors[51]) > 0.4
    assert np.median(errors[52]) > 1.0


def test_printed_33_is_not_the_derivative_of_K() -> None:
    for robot, q, v in turning_robots(10):
        total = kinematics.momentum(robot, q, v)
        right = quaternion.matrix(q[3:7]).T @ (total[3:] - np.cross(q[:3], total[:3]))
        np.testing.assert_allclose(printed.base_angular_momentum(robot, q, v), right, atol=1e-12 * np.abs(right).max())
        assert np.abs(printed.base_angular_momentum(robot, q, v, {33}) - right).max() > 0.1 * np.abs(right).max()


def test_printed_18_is_not_the_kinetic_energy() -> None:
    excess = []
    for robot, q, v in turning_robots(20):
        right = kinematics.kinetic_energy(robot, q, v)
        assert printed.kinetic_energy(robot, q, v) == pytest.approx(right, rel=1e-13)
        excess.append(printed.kinetic_energy(robot, q, v, {18}) / right - 1.0)
    assert min(excess) > 0.005
    assert max(excess) > 0.08


def test_omega_is_in_link_axes() -> None:
    """Erratum in the symbol list: (24) adds components in link axes; in inertial ones it fails."""
    robot, q, v = next(turning_robots())
    body, world = (kinematics.velocities(robot, q, v, axes=axes)[:, 3:] for axes in ("body", "world"))
    for i, link in enumerate(printed.links(robot, q, v)):
        if link.parent < 0:
            continue
        relative = link.H @ v[robot.iv[i] : robot.iv[i] + link.H.shape[1]]
        np.testing.assert_allclose(link.C @ body[link.parent] + relative, body[i], atol=1e-13)
        assert np.abs(link.C @ world[link.parent] + relative - world[i]).max() > 0.1


def test_identities_of_a_single_body() -> None:
    """(11)-(17) with 3-2-1 angles: right as corrected; as printed (4), (11), (12), (13) are not."""
    theta, rates, h = np.array([0.4, -0.7, 1.1]), np.array([0.9, -1.3, 0.6]), 1e-30

    def C(angles: np.ndarray) -> np.ndarray:
        (s1, s2, s3), (c1, c2, c3) = np.sin(angles), np.cos(angles)
        x = np.array([[1, 0, 0], [0, c1, s1], [0, -s1, c1]])
        y = np.array([[c2, 0, -s2], [0, 1, 0], [s2, 0, c2]])
        z = np.array([[c3, s3, 0], [-s3, c3, 0], [0, 0, 1]])
        return x @ y @ z

    def D(angles: np.ndarray) -> np.ndarray:
        (s1, s2, _), (c1, c2, _) = np.sin(angles), np.cos(angles)
        return np.array([[1, 0, -s2], [0, c1, s1 * c2], [0, -s1, c1 * c2]])

    def slope(f) -> np.ndarray:
        """Transposed Jacobian by theta, by complex steps."""
        return np.array([np.imag(f(theta + 1j * h * unit)) / h for unit in np.eye(3)])

    def rate(f) -> np.ndarray:
        return np.imag(f(theta + 1j * h * rates)) / h

    omega, pdot, rho = D(theta) @ rates, np.array([0.3, 1.7, -0.8]), np.array([1.1, 0.2, -0.6])
    W, V, inverse = printed.skew(omega), C(theta) @ pdot, np.linalg.inv(D(theta)).T
    np.testing.assert_allclose(rate(C), -W @ C(theta), atol=1e-15)  # (13); printed also "= 0"
    assert np.abs(rate(C)).max() > 0.1
    np.testing.assert_allclose(C(theta) @ rate(C).T, W, atol=1e-15)  # (4), (11); printed C C^T, which is 1
    assert np.abs(C(theta) @ C(theta).T - W).max() > 0.1
    term = inverse @ (rate(D).T - slope(lambda angles: D(angles) @ rates))
    np.testing.assert_allclose(term, W, atol=1e-14)  # (14): (12) has W - term; printed W + term = 2 W
    moved = slope(lambda angles: C(angles) @ pdot)
    np.testing.assert_allclose(moved, -D(theta).T @ printed.skew(V), atol=1e-15)  # (15), (17)
    turned = slope(lambda angles: C(angles).T @ rho)
    np.testing.assert_allclose(turned, D(theta).T @ printed.skew(rho) @ C(theta), atol=1e-15)  # (16)


def test_momentum_does_not_see_a_wrong_E_and_energy_does() -> None:
    """(51) as printed moves the spatial case by a millimetre: momentum stays balanced, energy is 0.03 J off."""
    wrong = scenario.residuals(measured.misprinted(scenario.METHOD, "parallel_x", {51}))
    assert measured.momentum_of(wrong) < 1e-7
    assert wrong["energy"] == pytest.approx(0.029, abs=0.003)


def test_the_planar_case_does_not_see_51_at_all() -> None:
    run = simulated("opposed_z", "body")
    assert np.abs(run["position"][..., 0] + run["position"][..., 1]).max() < 1e-12
    for q, v in zip(run.q[::5], run.v[::5], strict=True):
        assert np.abs(printed.error_force(run.robot, q, v, {51})).max() < 1e-11
    assert np.abs(printed.error_force(run.robot, q, v, {52})).max() > 1e-2


# ---------------------------------------------------------------------- claims and growth


def test_checks_are_apart_from_statements_and_all_hold() -> None:
    runs = {case: simulated(*case) for case in scenario.CASES}
    rows = [*measured.balance_checks(runs), measured.planar_check(runs), *measured.mass_matrix_checks(scenario.METHOD)]
    assert len(rows) == 9
    for row in rows:
        assert row.verdict == "reproduced", f"{row.statement}: {row.measured} {row.unit}"
        assert row.kind == "check"
        assert not row.printed


def test_less_computation_than_lagrange_depends_on_the_quantity() -> None:
    (row,) = measured.count_claims()
    assert row.verdict == "depends"
    assert "5853 against 15942" in row.reason
    assert "19326 against 18051" in row.reason


def test_engines_play_the_part_of_adams_and_friction_can_be_seen() -> None:
    pytest.importorskip("pinocchio")
    rows = [*measured.engine_claims(scenario.METHOD), measured.friction_claim(scenario.METHOD)]
    assert [row.verdict for row in rows] == ["reproduced"] * 3
    assert max(row.measured for row in rows[:2]) < 1e-8
    assert rows[2].measured == pytest.approx(0.011, abs=0.002)


def test_printed_equations_differ() -> None:
    found = {"energy": 0.03}
    rows = {row.printed: row for row in measured.equation_claims(found, found)}
    assert {rows[name].verdict for name in ("(18)", "(33)", "(51)", "(52)", "(47)-(53)")} == {"differs"}
    assert printed.printed_bracket() == pytest.approx(2.0)


def test_the_figures_are_nine_and_of_the_papers_own_algorithm() -> None:
    found = recording.space_robot()
    titles = [plot.title.partition(":")[0] for plot in found.plots]
    assert titles[:9] == [f"Fig. {k}" for k in range(3, 12)]
    for plot in found.plots[:9]:
        assert {series.method for series in plot.panels[0].series} >= {scenario.METHOD}


def test_there_are_22_errata_and_their_tests_exist() -> None:
    rows = paper.errata()
    assert len(rows) == 22
    assert {"(18)", "(33)", "(51)", "(52)"} <= {row.where for row in rows}
    for row in rows:
        if row.test:
            file, name = row.test.split("::")
            assert f"def {name}(" in (TESTS / file).read_text(encoding="utf-8")


@pytest.mark.parametrize(("form", "family", "degree"), [
    ("momentum", "links", 1), ("momentum", "arms", 1), ("recursions", "links", 2), ("recursions", "arms", 1),
])  # fmt: skip
def test_operations_grow_as_the_forms_promise(form: str, family: str, degree: int) -> None:
    """Exactly: linear along an arm for the momentum form, quadratic for the recursions; arms do not multiply."""
    found = growth.operations(form, family)
    assert found.polynomial is not None, f"no polynomial passes through {found.values}"
    assert found.polynomial.degree == degree
    assert found.exponent == pytest.approx(degree, abs=0.1)
