"""Closed loops through the shared projection and through DeNOC, against maximal coordinates and the reference file.

The judge for planar 3RRR robots is a Newton-Euler solution in maximal coordinates, written here and sharing nothing
with the package: seven bodies, 21 accelerations, 18 joint force components, planar vectors as complex numbers.
"""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.methods.kernels import closure, orthogonal, projection
from dynbench.methods.kernels.scalar import ONE
from dynbench.methods.loops import around
from dynbench.robots import Body, Loop, Revolute, Robot, StateError
from dynbench.robots.errors import NotComputedError, UnsupportedError

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "denoc-virtual-spring.json").read_text())
WAYS = {
    "newton-euler": ("newton-euler", {}),
    "denoc, elimination": ("denoc", {}),
    "denoc, multipliers": ("denoc", {"loops_by": "multipliers"}),
}
ROBOTS, STATES = 200, 3


def solver(way: str, robot: Robot):
    name, options = WAYS[way]
    return methods.get(name, **options).prepare(robot)


@pytest.fixture(params=WAYS)
def way(request):
    return request.param


# ---------------------------------------------------------------------- the judge


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


def relative(mine: np.ndarray, judge: np.ndarray) -> float:
    return float(np.abs(mine - judge).max() / max(1.0, np.abs(judge).max()))


@pytest.fixture(scope="module")
def fleet():
    """200 random robots with states, and the judge's torques and joint forces for each.

    States keep away from singularities, as those of `Robot.sample` do: elimination loses digits with the square of the
    condition of A_d (4e-10 seen at 2e4), any road with the condition itself.
    """
    rows = []
    for seed in range(ROBOTS):
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
        rows.append((robot, data, Q, V, A, torque, force))
    return rows


def test_motor_torques_of_200_random_robots(way, fleet):
    for seed, (robot, _, Q, V, A, torque, _) in enumerate(fleet):
        assert relative(solver(way, robot).inverse_dynamics(Q, V, A), torque) < 1e-10, seed


def test_accelerations_of_200_random_robots(way, fleet):
    rng = np.random.default_rng(1)
    for seed, (robot, data, Q, V, _, _, _) in enumerate(fleet):
        tau = rng.normal(0.0, 20.0, (STATES, 3))
        acc = solver(way, robot).forward_dynamics(Q, V, tau)
        for s in range(STATES):
            M, g, J, S, G = maximal(data, Q[s], V[s])
            KKT = np.block([[np.diag(M), -J.T], [J, np.zeros((18, 18))]])
            x = np.linalg.solve(KKT, np.concatenate([g + S @ tau[s], -G]))
            angles = x[2:18:3].reshape(3, 2)
            wanted = np.concatenate([np.column_stack([angles[:, 0], angles[:, 1] - angles[:, 0]]).ravel(), x[18:21]])
            assert relative(acc[s], wanted) < 1e-10, seed


@pytest.mark.parametrize("way", ["newton-euler", "denoc, elimination"])
def test_joint_forces_of_200_random_robots(way, fleet):
    for seed, (robot, _, Q, V, A, torque, force) in enumerate(fleet):
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


# ---------------------------------------------------------------------- the reference file


def reference(key: str) -> np.ndarray:
    return np.array([sample[key] for sample in REFERENCE["samples"]])


@pytest.fixture(scope="module")
def paper():
    robot = robots.load("3rrr")
    pose = ("platform_pose_x_y_phi", "platform_velocity", "platform_acceleration")
    return robot, *robot.state_from_platform(*(reference(key) for key in pose))


def test_the_reference_robot_is_the_papers(paper):
    robot, q, v, a = paper
    given = REFERENCE["mechanism"]
    assert robot.translation[[0, 2, 4], :2] == pytest.approx(np.array(given["base_points"]), abs=1e-12)
    for number, value in (("theta1", q[:, :6:2]), ("theta1_rate", v[:, :6:2]), ("theta1_accel", a[:, :6:2])):
        assert relative(value, reference(number)) < 1e-12
    assert robot.energy(q, v) == pytest.approx(reference("kinetic_energy"), rel=1e-10)


def test_the_forty_reference_samples(way, paper):
    robot, q, v, a = paper
    solve = solver(way, robot)
    tau = solve.inverse_dynamics(q, v, a)
    assert relative(tau, reference("motor_torques")) < 1e-9
    assert relative(solve.forward_dynamics(q, v, reference("motor_torques")), a) < 1e-9
    if way != "denoc, multipliers":
        # theta_P = 0 along the path: platform axes are world axes
        tip = reference("force_platform_on_link2").reshape(-1, 6)
        assert relative(solve.multipliers(q, v, a), tip) < 1e-9
        wrench = solve.reactions(q, v, a)
        for body, key in ((0, "force_ground_on_link1"), (1, "force_link1_on_link2")):
            angle = q[:, 0:6:2] + (q[:, 1:6:2] if body else 0.0)
            mine = (wrench[:, body:6:2, 0] + 1j * wrench[:, body:6:2, 1]) * np.exp(1j * angle)
            judge = reference(key)[..., 0] + 1j * reference(key)[..., 1]
            assert np.abs(mine - judge).max() < 1e-9 * np.abs(judge).max()


# ---------------------------------------------------------------------- other loops


def doubled_parallelogram() -> Robot:
    """Three parallel cranks on one coupler, hinges in space: 10 equations of rank 3."""

    def bar(name: str, parent: str | None, x: float) -> Body:
        return Body(name=name, parent=parent, joint=Revolute([0, 0, 1]), placement=(np.eye(3), [x, 0, 0]), mass=1.0,
                    com=[0.2, 0, 0], inertia=[0.01, 0.05, 0.06])  # fmt: skip

    bodies = [bar("crank1", None, 0), bar("coupler", "crank1", 0.5), bar("crank2", None, 0.6), bar("crank3", None, 1.0)]
    loops = [
        Loop(body1="coupler", body2=f"crank{k}", placement1=(np.eye(3), [x, 0, 0]), placement2=(np.eye(3), [0.5, 0, 0]),
             closes=(True, True, True, True, True, False))
        for k, x in ((2, 0.6), (3, 1.0))
    ]  # fmt: skip
    return Robot.from_bodies(
        "parallelogram", bodies, gravity=(0, -9.81, 0), loops=loops, actuated=["crank1"], home=[1.0, -1.0, 1.0, 1.0]
    )


def projected(robot: Robot, q, v, a) -> np.ndarray:
    """The actuator forces by another road: power of the inertia forces, tree inverse dynamics times the null space."""
    bodies = {field.name: getattr(robot, field.name) for field in dataclasses.fields(robot)}
    bodies |= {"loops": None, "actuated": None, "home": None, "platform": -1}
    tree = methods.get("newton-euler").prepare(Robot(**bodies))
    r = tree.inverse_dynamics(q, v, a)
    A = robot.loop_jacobian(q)
    tau = np.empty((len(q), len(robot.actuated)))
    for s in range(len(q)):
        _, sv, vt = np.linalg.svd(A[s])
        free = vt[(sv > 1e-7 * sv[0]).sum() :]
        tau[s] = np.linalg.solve(free[:, robot.actuated], free @ r[s])
    return tau


@pytest.mark.parametrize("make", [robots.five_bar, robots.delta, robots.four_bar, doubled_parallelogram])
def test_other_mechanisms(way, make):
    robot = make()
    solve = solver(way, robot) if make is not robots.delta or "multipliers" not in way else solver(way, heavy_delta())
    robot = solve.robot
    q, v, a = robot.sample(9, seed=4)
    tau = solve.inverse_dynamics(q, v, a)
    assert relative(tau, projected(robot, q, v, a)) < 1e-10
    assert relative(solve.forward_dynamics(q, v, tau), a) < 1e-9
    # tau = M a_act + bias, M symmetric positive definite
    M, h = solve.mass_matrix(q), solve.bias(q, v)
    assert relative(np.einsum("sij,sj->si", M, a[:, robot.actuated]) + h, tau) < 1e-9
    assert np.linalg.eigvalsh(M).min() > 0.0
    # power of the actuators is the rate of the energy
    dt = 1e-5
    ahead, behind = (robot.project(robot.integrate(q, s * dt * v + 0.5 * dt**2 * a)) for s in (1.0, -1.0))
    va, vb = (robot.project(x, v + s * dt * a)[1] for s, x in ((1.0, ahead), (-1.0, behind)))
    rate = (robot.energy(ahead, va) - robot.energy(behind, vb)) / (2.0 * dt)
    power = np.einsum("sj,sj->s", tau, v[:, robot.actuated])
    assert np.abs(rate - power).max() < 1e-5 * np.abs(power).max()


def heavy_delta() -> Robot:
    """The delta robot with inertia in the crosses, so that its spanning tree can be inverted."""
    delta = robots.delta()
    mass, inertia = delta.mass.copy(), delta.inertia.copy()
    for i, name in enumerate(delta.body_names):
        if name.startswith(("cross", "slide")):
            mass[i], inertia[i] = 0.1, 1e-3 * np.eye(3)
    return dataclasses.replace(delta, mass=mass, inertia=inertia)


@pytest.mark.parametrize("name", ["newton-euler", "kane", "gibbs-appell", "lagrange-euler", "denoc"])
@pytest.mark.parametrize("make", [robots.planar_3rrr, robots.delta])
def test_every_tree_method_does_loops_through_the_one_projection(name, make):
    """The plain Python reading: torques, and back to the accelerations."""
    method, robot = methods.get(name), make()
    assert method.loops
    assert method.supports(robot) is None
    home, tree = type(method).__module__, {f"tree_{name}": kernel for name, kernel in method.kernels.items()}
    inverse = around(projection.inverse_dynamics, home, tree_inverse_dynamics=tree["tree_inverse_dynamics"])
    forward = around(projection.forward_dynamics, home, **tree)
    model = closure.pack(robot, method.pack(robot), robot.loop_analysis.independent)
    size = max(method.work_size(robot, quantity) for quantity in method.kernels)
    work = np.full(closure.layout(robot, robot.loop_analysis.rank)[-1] + size, np.nan)
    q, v, a = robot.sample(2, seed=6)
    for s in range(2):
        tau, back = np.empty(3), np.empty(robot.nv)
        inverse(ONE, model, q[s], v[s], a[s], None, tau, work)
        assert relative(tau, projected(robot, q[s : s + 1], v[s : s + 1], a[s : s + 1])[0]) < 1e-10
        if "mass_matrix" in method.kernels:
            forward(ONE, model, q[s], v[s], tau, None, back, work)
            assert relative(back, a[s]) < 1e-10


def test_external_wrenches_reach_the_actuators():
    robot = robots.load("five-bar")
    solve = solver("newton-euler", robot)
    q, v, a = robot.sample(5, seed=1)
    wrench = np.random.default_rng(0).normal(size=(5, robot.n, 6))
    tau = solve.inverse_dynamics(q, v, a, wrench=wrench)
    # virtual work: what the wrenches do for a motion on the loops, the actuators need not
    from dynbench.robots.kinematics import velocities

    less = solve.inverse_dynamics(q, v, a) - tau
    power = np.einsum("sbk,sbk->s", wrench, velocities(robot, q, v))
    assert np.einsum("sj,sj->s", less, v[:, robot.actuated]) == pytest.approx(power, rel=1e-10)


def test_reactions_of_redundant_loops_are_absent():
    solve = solver("newton-euler", doubled_parallelogram())
    for quantity in ("reactions", "multipliers"):
        with pytest.raises(NotComputedError, match=quantity):
            getattr(solve, quantity)


def test_massless_legs_are_beyond_multipliers_but_not_beyond_elimination():
    bodies = [
        Body(name="crank", joint=Revolute([0, 0, 1]), mass=1.0, com=[0.2, 0, 0], inertia=[0.1, 0.1, 0.1]),
        Body(name="rod", parent="crank", joint=Revolute([0, 0, 1]), placement=(np.eye(3), [0.4, 0, 0])),
        Body(name="rocker", joint=Revolute([0, 0, 1]), placement=(np.eye(3), [1, 0, 0]), mass=1.0, inertia=[0.1] * 3),
    ]
    loop = Loop(body1="rocker", body2="rod", placement1=(np.eye(3), [0.8, 0, 0]), placement2=(np.eye(3), [0.9, 0, 0]),
                closes=(True, True, False, False, False, False))  # fmt: skip
    robot = Robot.from_bodies("light", bodies, loops=[loop], actuated=["crank"], home=[1.1, -0.6, 1.6])
    q, v, a = robot.sample(4)
    solve = solver("denoc, elimination", robot)
    assert relative(solve.forward_dynamics(q, v, solve.inverse_dynamics(q, v, a)), a) < 1e-10
    with pytest.raises(UnsupportedError, match="only elimination can do its loops"):
        solver("denoc, multipliers", robot)


# ---------------------------------------------------------------------- states at the door


def test_states_off_the_loops_are_refused(way):
    robot = robots.load("five-bar")
    solve = solver(way, robot)
    q, v, a = robot.sample(11, seed=2)
    tau = solve.inverse_dynamics(q, v, a)
    bent = q.copy()
    bent[7] += 1e-4
    with pytest.raises(StateError, match=r"q\[7\] is off the loops of robot 'five-bar': the loops are open by"):
        solve.inverse_dynamics(bent, v, a)
    if way == "newton-euler":  # one state is another compilation
        with pytest.raises(StateError, match="v is off the loops"):
            solve.inverse_dynamics(q[0], v[0] + [0, 1e-3, 0, 0], a[0])
        assert relative(solve.inverse_dynamics(q[0], v[0], a[0]), tau[0]) < 1e-13
    with pytest.raises(StateError, match=r"a\[0\] is off the loops"):
        solve.inverse_dynamics(q, v, 0.0 * a)
    with pytest.raises(StateError, match=r"v\[0\] is off the loops"):
        solve.forward_dynamics(q, v + 1e-3, tau)


def test_a_singular_configuration_is_refused():
    robot = robots.load("five-bar")
    # couplers in line: cranks straight up, couplers towards each other, 2 * 0.35 apart
    bar = robots.five_bar(ground=0.7)
    q = np.array([np.pi / 2, -np.pi / 2, np.pi / 2, np.pi / 2])
    assert np.abs(bar.loop_residual(q)).max() < 1e-15
    with pytest.raises(StateError, match="q is a singular configuration of robot 'five-bar'"):
        solver("newton-euler", bar).inverse_dynamics(q, np.zeros(4), np.zeros(4))
    assert robot.loop_analysis.dof == 2


# ---------------------------------------------------------------------- the pieces


def test_compiled_loop_equations_are_those_of_the_robot():
    robot = robots.load("delta")
    rows = np.arange(9)
    model = closure.pack(robot, np.zeros(0), rows)
    q, v, _ = robot.sample(3)
    off = robot.integrate(q, 0.1 * v)
    work = np.full(closure.layout(robot, 9)[-1], np.nan)
    for s in range(3):
        c, A, rate = np.empty(9), np.empty(9 * robot.nv), np.empty(9)
        closure.place(ONE, model, off[s], work)
        closure.move(ONE, model, v[s], work)
        closure.equations(ONE, model, work, c, A)
        closure.rates(ONE, model, work, rate)
        assert relative(c, robot.loop_residual(off[s])) < 1e-14
        assert relative(A.reshape(9, -1), robot.loop_jacobian(off[s])) < 1e-14
        assert relative(rate, robot.loop_rate(off[s], v[s])) < 1e-13


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_gram_schmidt_solves_both_systems(n):
    rng = np.random.default_rng(n)
    B = rng.normal(size=(n, n)) @ np.diag(10.0 ** rng.uniform(-3, 3, n))
    b = rng.normal(size=n)
    factor, spare = np.zeros(orthogonal.size(n)), np.empty(n)
    factor[: n * n] = B.T.ravel()
    assert orthogonal.factorise(ONE, factor, n) >= n - 1e-9
    x, y = b.copy(), b.copy()
    orthogonal.solve(ONE, factor, n, x, 0, spare)
    orthogonal.solve_transposed(ONE, factor, n, y, 0, spare)
    assert B @ x == pytest.approx(b, abs=1e-11 * np.abs(B).max() * np.abs(x).max())
    assert B.T @ y == pytest.approx(b, abs=1e-11 * np.abs(B).max() * np.abs(y).max())


def test_batches_are_as_fast_as_the_hot_path_promises():
    """At least 20 times Pinocchio's own KKT route on the same problem, one thread."""
    pin = pytest.importorskip("pinocchio")
    robot = robots.load("3rrr")
    solve = solver("newton-euler", robot)
    q, v, a = robot.sample(4096, seed=1)
    solve.inverse_dynamics(q, v, a)
    ours = min(_seconds(lambda: solve.inverse_dynamics(q, v, a)) for _ in range(10)) / len(q)
    model = pinocchio_tree(pin, robot)
    data = model.createData()
    A, S = robot.loop_jacobian(q[:200]), np.eye(9)[:, robot.actuated]
    tau = np.empty((200, 3))

    def theirs() -> None:
        # the loop Jacobian is given for nothing: only tree inverse dynamics and the solve for torques and multipliers
        for s in range(200):
            tau[s] = np.linalg.solve(np.hstack([S, A[s].T]), pin.rnea(model, data, q[s], v[s], a[s]))[:3]

    peer = min(_seconds(theirs) for _ in range(5)) / 200
    assert relative(solve.inverse_dynamics(q[:200], v[:200], a[:200]), tau) < 1e-9
    print(f"3rrr inverse dynamics: {1e9 * ours:.0f} ns a state, Pinocchio from Python {1e9 * peer:.0f} ns")
    assert peer / ours > 20.0


def _seconds(run) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def pinocchio_tree(pin, robot: Robot):
    """The spanning tree of a robot of revolute and prismatic joints as a Pinocchio model."""
    model = pin.Model()
    model.gravity.linear = robot.gravity
    for i in range(robot.n):
        kind = pin.JointModelRevoluteUnaligned if robot.kind[i] == 0 else pin.JointModelPrismaticUnaligned
        at = pin.SE3(robot.rotation[i], robot.translation[i])
        k = model.addJoint(int(robot.parent[i]) + 1, kind(robot.axis[i]), at, robot.joint_names[i])
        model.appendBodyToJoint(k, pin.Inertia(robot.mass[i], robot.com[i], robot.inertia[i]), pin.SE3.Identity())
    return model
