"""Armature, damping and friction of joints: all methods agree, also with engines that have them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from round_trip import close

from dynbench import methods, robots
from dynbench.benchmarks.checks import invariants as invariants_module
from dynbench.benchmarks.checks.invariants import INVARIANTS, invariants
from dynbench.benchmarks.checks.sampling import draw
from dynbench.methods.base import QUANTITIES
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.kernel_run import GENERIC_ONLY
from dynbench.methods.kernels.count import count_operations, run_counting
from dynbench.robots import extras
from dynbench.robots.body import Springs
from dynbench.robots.edit import locked
from dynbench.robots.errors import RobotError
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray, Robot

ROBOTS = ("tree-7", "rp-2", "space-dual-arm", "elastic-rp1", "five-bar")
FORCES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")


def dressed(robot: Robot, seed: int = 0, which: tuple[str, ...] = ("armature", "damping", "friction")) -> Robot:
    """Return the robot with random extras at all joints that can have them."""
    rng = np.random.default_rng(seed)
    can = robot.kind != JointKind.FREE
    return dataclasses.replace(robot, **{name: can * rng.uniform(0.1, 1.0, robot.n) for name in which})


def state(robot: Robot) -> dict[str, FloatArray]:
    q, v, a = (x[0] for x in robot.sample(1, seed=0))
    return {"q": q, "v": v, "a": a, "tau": a[robot.actuated]}


def evaluate(name: str, robot: Robot, quantity: str) -> FloatArray:
    """Return a quantity at the robot's first state, flat; kernels run as plain Python functions: nothing compiles."""
    method = methods.get(name)
    if isinstance(method, KernelMethod):
        return np.array(run_counting(method, robot, quantity)[1])
    arguments = [state(robot)[argument] for argument in QUANTITIES[quantity].arguments]
    return np.asarray(getattr(method.prepare(robot), quantity)(*arguments)).ravel()


def able(robot: Robot) -> list[str]:
    found = [name for name in methods.names() if methods.get(name).supports(robot) is None]
    return [name for name in found if methods.get(name).exact]


@pytest.mark.parametrize("base", ROBOTS)
def test_all_methods_agree(base: str) -> None:
    robot = dressed(robots.load(base))
    names = able(robot)
    assert len(names) >= 2
    for quantity in FORCES:
        found = {name: evaluate(name, robot, quantity) for name in names if quantity in methods.get(name).computes}
        reference = next(iter(found.values()))
        for name, values in found.items():
            assert np.abs(values - reference).max() <= 1e-11 * np.abs(reference).max(), (name, quantity)


@pytest.mark.parametrize("base", ["tree-7", "elastic-rp1", "space-dual-arm"])
@pytest.mark.parametrize("name", ["newton-euler", "denoc", "lagrange-euler", "gibbs-appell-elastic"])
def test_extras_are_added_to_the_rigid_body(base: str, name: str) -> None:
    rigid = robots.load(base)
    if methods.get(name).supports(rigid) is not None:
        pytest.skip("not this robot")
    robot = dressed(rigid)
    at = state(robot)
    added = extras.forces(robot, at["v"], at["a"])
    assert added.any()
    tau = evaluate(name, robot, "inverse_dynamics") - evaluate(name, rigid, "inverse_dynamics")
    np.testing.assert_allclose(tau, added, atol=1e-11 * np.abs(added).max())
    M = evaluate(name, robot, "mass_matrix") - evaluate(name, rigid, "mass_matrix")
    np.testing.assert_allclose(M.reshape(robot.nv, robot.nv), np.diag(robot.extras.armature), atol=1e-12)


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_engines_take_the_armature_into_their_own_model(engine: str) -> None:
    pytest.importorskip(engine)
    robot = dressed(robots.load("tree-7"))
    model = methods.get(engine).prepare(robot).model
    assert sorted(model.armature if engine == "pinocchio" else model.dof_armature) == sorted(robot.extras.armature)
    if engine == "mujoco":
        assert sorted(model.dof_damping) == sorted(robot.extras.damping)


@pytest.mark.parametrize(("name", "base"), [("newton-euler", "tree-7"), ("denoc", "five-bar")])
def test_invariants_hold(name: str, base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of mechanics, in traced code: extras change nothing in how a function behaves."""
    monkeypatch.setattr(invariants_module, "INVARIANTS", [one for one in INVARIANTS if one.mechanics])
    robot = dressed(robots.load(base))
    sample = draw(robot, 27, seed=3)
    method = methods.get(name)
    assert isinstance(method, KernelMethod)
    solver = method.prepare(robot, code="traced")
    solver.computes = tuple(quantity for quantity in solver.computes if quantity not in GENERIC_ONLY)
    rows = invariants(sample, solver, 1e3)
    assert {"power balance", "energy in motion", "forward undoes inverse"} <= {row.measure for row in rows}
    assert not [(row.measure, row.value, row.reason) for row in rows if not row.ok]


def test_invariants_notice_missing_damping() -> None:
    """A solver of the rigid robot, said to be of one with damping: the energy tells."""
    rigid = robots.load("tree-7")
    robot = dressed(rigid, which=("damping",))
    solver = methods.get("newton-euler").prepare(rigid)
    solver.robot = robot
    rows = invariants(draw(robot, 27, seed=3), solver, 1e3)
    wrong = {row.measure for row in rows if not row.ok}
    assert {"power balance", "energy in motion"} <= wrong


def test_nothing_is_counted_without_extras() -> None:
    rigid = robots.load("chain-5")
    method = methods.get("newton-euler")
    assert isinstance(method, KernelMethod)
    some = dressed(rigid, which=("damping",))
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        plain, more = (count_operations(method, robot, quantity) for robot in (rigid, some))
        assert (more.additions - plain.additions, more.multiplications - plain.multiplications) == (5, 5)
    assert count_operations(method, some, "mass_matrix") == count_operations(method, rigid, "mass_matrix")


def test_friction_is_zero_at_rest() -> None:
    robot = dressed(robots.load("two-link"), which=("friction",))
    rigid, q = robots.load("two-link"), np.array([0.3, 0.4])
    still = np.zeros(2)
    solvers = [methods.get("newton-euler").prepare(one) for one in (robot, rigid)]
    np.testing.assert_array_equal(*(solver.inverse_dynamics(q, still, still) for solver in solvers))
    moving = np.array([1e-100, -1e100])
    with np.errstate(over="ignore"):
        assert extras.losses(robot, moving) == pytest.approx([robot.friction[0], -robot.friction[1]], rel=1e-15)


def test_denoc_by_multipliers_says_why_not() -> None:
    robot = dressed(robots.load("five-bar"))
    assert "armature" in str(methods.get("denoc", loops_by="multipliers").supports(robot))
    assert "armature" in str(methods.get("lagrange-stewart").supports(dressed(robots.load("gough-stewart"))))


@pytest.mark.parametrize("name", ["armature", "damping", "friction"])
def test_wrong_numbers_are_errors(name: str) -> None:
    inertia = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
    with pytest.raises(RobotError, match=f"'b': {name} is -1, expected"):
        robots.Body(name="b", joint=robots.Revolute((0, 0, 1)), **inertia, **{name: -1.0})
    with pytest.raises(RobotError, match=f"'b': {name} is 1, expected 0: a Free joint"):
        robots.Body(name="b", joint=robots.Free(), **inertia, **{name: 1.0})
    with pytest.raises(RobotError, match=f"{name} is 1, expected 0: a free joint"):
        dataclasses.replace(robots.load("space-dual-arm"), **{name: np.ones(robots.load("space-dual-arm").n)})


def test_a_rotor_moves_a_massless_link() -> None:
    link = {"placement": (np.eye(3), (1.0, 0.0, 0.0))}
    bodies = [
        robots.Body(name="a", joint=robots.Revolute((0, 0, 1)), mass=1.0, inertia=(1.0, 1.0, 1.0)),
        robots.Body(name="b", parent="a", joint=robots.Revolute((0, 0, 1)), armature=0.1, **link),
    ]
    robot = robots.Robot.from_bodies("rotor", bodies)
    assert evaluate("newton-euler", robot, "mass_matrix")[-1] == 0.1


def test_files_have_extras(tmp_path: Path) -> None:
    from dynbench.robots.files.robotfile import read_robot, write_robot

    robot = dressed(robots.load("tree-7"))
    path = tmp_path / "dressed.toml"
    write_robot(robot, path)
    assert read_robot(path) == robot
    assert robot != robots.load("tree-7")


URDF = """<robot name="r"><link name="w"/>
<link name="l"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="w"/><child link="l"/>{}</joint></robot>"""


def test_urdf_dynamics(tmp_path: Path) -> None:
    def read(dynamics: str) -> Robot:
        path = tmp_path / "r.urdf"
        path.write_text(URDF.format(dynamics))
        return robots.from_urdf(path)

    robot = read('<dynamics damping="0.5" friction="0.25"/>')
    assert (robot.damping[0], robot.friction[0]) == (0.5, 0.25)
    assert not read("").has_extras
    with pytest.raises(RobotError, match=r"r\.urdf:3: joint 'j', <dynamics> has damping -1, expected >= 0"):
        read('<dynamics damping="-1"/>')


# ---------------------------------------------------------------------- compiled code, generic and traced

BOTH = ("damping", "armature")
ALL = (*BOTH, "friction")


@pytest.mark.parametrize("code", ["generic", "auto"])
@pytest.mark.parametrize("which", [ALL, BOTH])
@pytest.mark.parametrize("name", ["newton-euler", "denoc"])
def test_compiled_code_adds_them(name: str, which: tuple[str, ...], code: str) -> None:
    rigid = robots.load("puma560")
    robot = dressed(rigid, which=which)
    method = methods.get(name)
    assert isinstance(method, KernelMethod)
    solver, plain = method.prepare(robot, code=code), method.prepare(rigid)
    q, v, a = robot.sample(9, seed=4)
    v[0, :2] = 0.0  # friction of joints at rest
    armature, damping, friction = robot.extras
    tau = plain.inverse_dynamics(q, v, a) + armature * a + damping * v + friction * np.sign(v)
    assert solver.why_not_traced("inverse_dynamics") is None
    assert close(solver.inverse_dynamics(q, v, a), tau)
    assert close(solver.inverse_dynamics(q[0], v[0], a[0]), tau[0])
    assert close(solver.bias(q, v), tau - plain.inverse_dynamics(q, v, a) + plain.bias(q, v) - armature * a)
    assert close(solver.mass_matrix(q), plain.mass_matrix(q) + np.diag(armature))
    if "forward_dynamics" in solver.computes:
        assert close(solver.forward_dynamics(q, v, tau), a, 1e-9)


@pytest.mark.parametrize("code", ["generic", "auto"])
def test_panda_with_pinocchios_armature(code: str) -> None:
    pytest.importorskip("pinocchio")
    robot = dressed(robots.load("panda"), which=("armature",))
    method = methods.get("newton-euler")
    assert isinstance(method, KernelMethod)
    solver, engine = method.prepare(robot, code=code), methods.get("pinocchio").prepare(robot)
    q, v, a = robot.sample(5, seed=2)
    assert close(solver.inverse_dynamics(q, v, a), engine.inverse_dynamics(q, v, a))
    assert close(solver.mass_matrix(q), engine.mass_matrix(q))
    assert close(solver.forward_dynamics(q, v, a), engine.forward_dynamics(q, v, a), 1e-10)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("newton-euler", "generic"), ("newton-euler", "auto"), ("denoc", "auto"),
        pytest.param("denoc", "generic", marks=pytest.mark.long),  # by the same projection, compiled once more
    ],
)  # fmt: skip
def test_loops_carry_them_to_the_actuators(name: str, code: str) -> None:
    """All joints of a four-bar linkage have them; W, the motion per unit of the actuated one, comes from numpy."""
    rigid = robots.load("four-bar")
    robot = dressed(rigid)
    method = methods.get(name)
    assert isinstance(method, KernelMethod)
    solver, plain = method.prepare(robot, code=code), method.prepare(rigid)
    q, v, a = robot.sample(9, seed=5)
    act = robot.actuated
    rest = np.setdiff1d(np.arange(robot.nv), act)
    W = np.zeros((len(q), robot.nv, len(act)))
    W[:, act] = np.eye(len(act))
    for k, A in enumerate(robot.loop_jacobian(x) for x in q):
        W[k, rest] = -np.linalg.lstsq(A[:, rest], A[:, act], rcond=None)[0]
    armature, damping, friction = robot.extras
    added = armature * a + damping * v + friction * np.sign(v)
    tau = plain.inverse_dynamics(q, v, a) + np.einsum("sij,si->sj", W, added)
    assert close(solver.inverse_dynamics(q, v, a), tau, 1e-10)
    assert close(solver.forward_dynamics(q, v, tau), a, 1e-8)
    M = plain.mass_matrix(q) + np.einsum("sij,i,sik->sjk", W, armature, W)
    assert close(solver.mass_matrix(q), M, 1e-10)
    followed = solver.follow.accepted(q[0], v[0], tau[0])
    assert close(followed.a, a[0], 1e-8)


@pytest.mark.parametrize(
    ("base", "code"),
    [
        ("tree-6", "generic"), ("tree-6", "auto"), ("four-bar", "auto"),
        pytest.param("four-bar", "generic", marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_springs_and_extras_add_up(base: str, code: str) -> None:
    rigid = robots.load(base)
    spring = Springs(
        np.array([-1]), np.array([1]), np.array([[0.1, 0.7, 0.3]]), np.array([[-0.2, 0.1, 0.0]]), np.array([40.0]),
        np.array([3.0]), np.array([0.1]),
    )  # fmt: skip
    sprung, extra = dataclasses.replace(rigid, springs=spring), dressed(rigid)
    both = dressed(sprung)
    q, v, a = rigid.sample(6, seed=6)
    method = methods.get("newton-euler")
    assert isinstance(method, KernelMethod)
    only, springs, extras_only = (method.prepare(one) for one in (rigid, sprung, extra))
    solver = method.prepare(both, code=code)
    tau = [one.inverse_dynamics(q, v, a) for one in (springs, extras_only, only)]
    expected = tau[0] + tau[1] - tau[2]
    assert close(solver.inverse_dynamics(q, v, a), expected, 1e-10)
    assert close(solver.forward_dynamics(q, v, expected), a, 1e-8)
    assert close(solver.mass_matrix(q), extras_only.mass_matrix(q), 1e-10)
    lost = [np.asarray(one.dissipation(q, v)) for one in (sprung, extra)]
    assert min(x.min() for x in lost) > 0.0
    np.testing.assert_allclose(both.dissipation(q, v), lost[0] + lost[1], rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "base"),
    [("canonical-momenta", "tree-6"), ("constraint-embedding", "four-bar"), ("virtual-work-stewart", "gough-stewart")],
)
def test_methods_without_them_say_so(name: str, base: str) -> None:
    assert "armature, damping or friction" in str(methods.get(name).supports(dressed(robots.load(base))))


def test_locked_robots_keep_springs() -> None:
    rigid = robots.load("tree-6")
    spring = Springs(
        np.array([-1]), np.array([rigid.n - 1]), np.array([[0.1, 0.7, 0.3]]), np.array([[-0.2, 0.1, 0.0]]),
        np.array([40.0]), np.array([3.0]), np.array([0.1]),
    )  # fmt: skip
    robot = dataclasses.replace(rigid, springs=spring)
    fixed = locked(robot, [robot.joint_names[0]])
    q, v, _ = fixed.sample(2, seed=1)
    first = robot.nv - fixed.nv
    full_q, full_v = (np.concatenate([np.zeros((2, first)), x], axis=1) for x in (q, v))
    energies = [np.asarray(x) for x in (fixed.energy(q, v), robot.energy(full_q, full_v))]
    np.testing.assert_allclose(*map(np.diff, energies), rtol=1e-12)  # less the weight of what no longer moves
    np.testing.assert_allclose(fixed.dissipation(q, v), robot.dissipation(full_q, full_v), rtol=1e-12)


@pytest.mark.parametrize("quantity", FORCES)
def test_traced_code_has_them_too(quantity: str) -> None:
    robot = dressed(robots.load("tree-7"))
    arguments = [state(robot)[argument] for argument in QUANTITIES[quantity].arguments]
    method = methods.get("newton-euler")
    assert isinstance(method, KernelMethod)
    found = getattr(method.prepare(robot, code="traced"), quantity)(*arguments).ravel()
    expected = evaluate("newton-euler", robot, quantity)
    assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()
