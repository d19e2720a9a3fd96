"""Derivatives of inverse and forward dynamics: every route against the others, and against what shares none of them.

Errors are relative to the largest number of the matrix. Those of forward dynamics grow with the condition of M.
"""

from __future__ import annotations

import dataclasses
import importlib.util
from itertools import pairwise

import numpy as np
import pytest
from round_trip import TYPICAL_CONDITION, condition, seeds, tree_of

from dynbench import methods, robots
from dynbench.benchmarks.checks.conformance import mistakes
from dynbench.methods.base import DERIVATIVES, QUANTITIES
from dynbench.methods.function_solver import function_solver
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.kernels import branches, tree, triangle
from dynbench.methods.kernels.count import count_operations, count_polynomial
from dynbench.methods.kernels.scalar import ONE
from dynbench.methods.traced.graph import TooLarge
from dynbench.methods.traced.trace import trace
from dynbench.robots.body import Springs
from dynbench.robots.errors import NotComputedError, StateError, UnsupportedError
from dynbench.robots.families.trees import chain
from dynbench.robots.joints import JointKind
from dynbench.robots.loops.closures import frames_at, second_at

EXACT = 1e-10
RICHARDSON = 1e-7  # of differences: some nine digits at best
INVERSE, FORWARD = DERIVATIVES
NEWTON_EULER = methods.get("newton-euler")
HAS_PINOCCHIO = importlib.util.find_spec("pinocchio") is not None


def relative(found, right) -> float:
    found, right = np.asarray(found), np.asarray(right)
    return float(np.abs(found - right).max() / max(np.abs(right).max(), 1e-300))


def one(robot, seed=0):
    q, v, a = (x[0] for x in robot.sample(1, seed=seed))
    return q, v, a


def pushes(robot, seed=0):
    return 10.0 * np.random.default_rng(seed).standard_normal((robot.n, 6))


def by_complex_steps(robot, quantity, q, v, last, wrench=None):
    """Newton-Euler in plain numpy on complex numbers: no kernel, no recursion of derivatives."""
    inputs = {"q": q, "v": v, QUANTITIES[quantity].arguments[-1]: last, "wrench": wrench}
    return mistakes.compute(mistakes.NONE, quantity, robot, inputs).reshape(2, robot.nv, robot.nv)


def compare(robot, seed):
    """The largest errors of the recursion, with external wrenches."""
    solver = NEWTON_EULER.prepare(robot)
    (q, v, a), wrench = one(robot, seed), pushes(robot, seed)
    M = solver.mass_matrix(q)
    scale = max(1.0, condition(M[None]) / TYPICAL_CONDITION)
    for quantity, source in DERIVATIVES.items():
        last = a if quantity == INVERSE else solver.inverse_dynamics(q, v, a, wrench=wrench)
        limit = EXACT * (scale if quantity == FORWARD else 1.0)
        found = solver.whole(quantity)(q, v, last, wrench=wrench)
        references = {
            "complex steps": by_complex_steps(robot, quantity, q, v, last, wrench),
            "dual numbers": methods.dual_derivatives(NEWTON_EULER, robot, source, q, v, last, wrench=wrench),
        }
        if HAS_PINOCCHIO:
            references["pinocchio"] = methods.get("pinocchio").prepare(robot).whole(quantity)(q, v, last, wrench=wrench)
        for name, right in references.items():
            assert relative(found, right) <= limit, f"{robot.name}, seed {seed}: {quantity} against {name}"


@pytest.mark.parametrize("trees", seeds(range(10), 10), ids=str)
def test_the_recursion_is_right_on_random_trees(trees):
    for seed in trees:
        compare(tree_of(seed), seed)


@pytest.mark.parametrize("name", ["panda", "ur5", "rp3", "space-dual-arm", "tree-12"])
def test_the_recursion_is_right_on_robots(name):
    compare(robots.load(name), 1)


def test_the_recursion_is_right_on_talos():
    if "talos" not in robots.names():
        pytest.skip("example-robot-data is not installed")
    robot = robots.load("talos")
    assert robot.has_extras
    solver = NEWTON_EULER.prepare(robot)
    (q, v, a), wrench = one(robot, 1), pushes(robot)
    tau = solver.inverse_dynamics(q, v, a, wrench=wrench)
    for quantity, last in ((INVERSE, a), (FORWARD, tau)):
        found = solver.whole(quantity)(q, v, last, wrench=wrench)
        dual = methods.dual_derivatives(NEWTON_EULER, robot, DERIVATIVES[quantity], q, v, last, wrench=wrench)
        assert relative(found, dual) <= EXACT
        if HAS_PINOCCHIO:
            theirs = methods.get("pinocchio").prepare(robot).whole(quantity)(q, v, last, wrench=wrench)
            assert relative(found, theirs) <= EXACT


def test_a_pendulum_by_hand():
    """m l^2 a + m g l sin q, and damping: the derivative by q is m g l cos q, that by v the damping."""
    robot = robots.load("pendulum")
    robot = dataclasses.replace(robot, damping=np.array([0.3]))
    solver = NEWTON_EULER.prepare(robot)
    at_rest = solver.inverse_dynamics([np.pi / 2], [0.0], [0.0])[0]  # m g l, with its sign
    dq, dv = solver.inverse_dynamics_derivatives(np.array([0.4]), np.array([2.0]), np.array([1.0]))
    assert dq == pytest.approx(at_rest * np.cos(0.4), rel=1e-14)
    assert dv == pytest.approx(0.3, rel=1e-14)
    M = solver.mass_matrix([0.4])
    fq, fv = solver.forward_dynamics_derivatives(np.array([0.4]), np.array([2.0]), np.array([1.0]))
    assert fq == pytest.approx(-dq / M, rel=1e-14)
    assert fv == pytest.approx(-0.3 / M, rel=1e-14)


def test_the_tangent_is_that_of_integrate():
    """Differences along robot.integrate, for a free base and spherical joints."""
    robot = tree_of(3)
    assert JointKind.SPHERICAL in robot.kind or JointKind.FREE in robot.kind
    solver = NEWTON_EULER.prepare(robot)
    q, v, a = one(robot, 5)
    dq, dv = solver.inverse_dynamics_derivatives(q, v, a)
    rows = np.eye(robot.nv)
    qs, vs, accelerations = (np.tile(x, (robot.nv, 1)) for x in (q, v, a))
    shifted = richardson(lambda h: solver.inverse_dynamics(robot.integrate(qs, h * rows), vs, accelerations))
    assert relative(dq, shifted.T) <= RICHARDSON
    faster = richardson(lambda h: solver.inverse_dynamics(qs, vs + h * rows, accelerations))
    assert relative(dv, faster.T) <= RICHARDSON


def richardson(f, h=1e-2):
    """Central differences at h, h/2, h/4 and h/8, extrapolated: the error is of order h^8."""
    table = [(f(h / 2**k) - f(-h / 2**k)) / (2 * h / 2**k) for k in range(4)]
    for order in (4, 16, 64):
        table = [(order * fine - coarse) / (order - 1) for coarse, fine in pairwise(table)]
    return table[0]


# ---------------------------------------------------------------------- every method


def kernel_methods():
    return [name for name in methods.names() if isinstance(methods.get(name), KernelMethod)]


def able(robot):
    found = [methods.get(name) for name in kernel_methods()]
    return [method for method in found if not method.floor and method.supports(robot) is None]


@pytest.mark.parametrize(
    "name", ["two-link", "rp3", "four-bar", pytest.param("3rrr", marks=pytest.mark.long), "elastic-rp1"]
)
def test_traced_and_dual_derivatives_agree_for_every_method(name):
    """The graph of each, evaluated in numpy: nothing is compiled. Exact methods agree with each other too."""
    robot = robots.load(name)
    q, v, a = one(robot, 2)
    count, exact = len(robot.actuated), {quantity: [] for quantity in DERIVATIVES}
    for method in able(robot):
        for quantity, source in DERIVATIVES.items():
            if source not in method.computes:
                continue
            last = a[robot.actuated] if quantity == FORWARD else a
            try:
                traced = trace(method, robot, quantity)
            except TooLarge:  # refused with a sentence, see below
                continue
            right = methods.dual_derivatives(method, robot, source, q, v, last)
            found = traced.graph.evaluate(q, v, last).reshape(2, count, count)
            assert relative(found, right) <= EXACT, (method.name, quantity)
            if method.exact:
                exact[quantity].append(found)
    for quantity, several in exact.items():
        assert several, quantity
        for found in several[1:]:
            assert relative(found, several[0]) <= 1e-9, quantity


def test_forward_and_reverse_mode_agree():
    robot = robots.load("rp3")
    q, v, a = one(robot)
    for name in ("kane", "gibbs-appell", "screw"):
        counts = trace(methods.get(name), robot, INVERSE).counts
        assert {mode.rpartition(", ")[2] for mode in counts} == {"forward", "reverse"}
    from dynbench.methods.traced.trace import run_on_symbols

    run = methods.get("gibbs-appell").build(robot).runs["inverse_dynamics"]
    graphs = run_on_symbols(run.kernel, run.model, run.size, robot, INVERSE, 20_000, {}, derived=True).graphs
    forward, reverse = (graphs[mode].evaluate(q, v, a) for mode in ("forward", "reverse"))
    assert relative(forward, reverse) <= 1e-13


def test_a_free_base_has_traced_derivatives():
    robot = tree_of(1)
    assert len(robot.quaternions)
    q, v, a = one(robot, 2)
    solver = methods.get("kane").prepare(robot, code="auto")
    right = by_complex_steps(robot, INVERSE, q, v, a)
    graph = trace(methods.get("kane"), robot, INVERSE, limit=10**6).graph
    assert relative(graph.evaluate(q, v, a), right.ravel()) <= EXACT
    assert relative(solver.inverse_dynamics_derivatives(q, v, a), right) <= EXACT


# ---------------------------------------------------------------------- loops


def on_loops(robot, q, actuated):
    """Move the actuated coordinates by so much, and the dependent ones until the loops are closed."""
    rows, dependent = robot.loop_analysis.independent, robot.loop_analysis.dependent
    step = np.zeros(robot.nv)
    step[robot.actuated] = actuated
    q = robot.integrate(q, step)
    for _ in range(12):
        step = np.zeros(robot.nv)
        A = robot.loop_jacobian(q)[rows][:, dependent]
        step[dependent] = -np.linalg.solve(A, robot.loop_residual(q)[rows])
        q = robot.integrate(q, step)
    return q


def motion(robot, q, va, aa):
    """v and a of all coordinates."""
    rows, dependent = robot.loop_analysis.independent, robot.loop_analysis.dependent
    A = robot.loop_jacobian(q)[rows]
    v, a = np.zeros(robot.nv), np.zeros(robot.nv)
    v[robot.actuated], a[robot.actuated] = va, aa
    v[dependent] = -np.linalg.solve(A[:, dependent], A[:, robot.actuated] @ va)
    left = second_at(robot, q[None], v[None], a[None], frames_at(robot, q[None]))[0][rows]
    a[dependent] = -np.linalg.solve(A[:, dependent], left)
    return v, a


@pytest.mark.parametrize("name", ["four-bar", "3rrr", pytest.param("gough-stewart", marks=pytest.mark.long)])
def test_with_loops_they_are_by_the_actuated_coordinates(name):
    """Differences of states that are moved along the loops: some eight digits."""
    robot = robots.load(name)
    solver = NEWTON_EULER.prepare(robot, code="traced")
    q, v, a = one(robot, 3)
    va, aa = v[robot.actuated], a[robot.actuated]
    units = np.eye(len(va))
    tau = solver.inverse_dynamics(q, v, a)

    def force(h, e, by_q):
        moved = on_loops(robot, q, h * e) if by_q else q
        return solver.inverse_dynamics(moved, *motion(robot, moved, va if by_q else va + h * e, aa))

    def acceleration(h, e, by_q):
        moved = on_loops(robot, q, h * e) if by_q else q
        state = motion(robot, moved, va if by_q else va + h * e, aa)[0]
        return solver.forward_dynamics(moved, state, tau)[robot.actuated]

    for function, source, last in ((force, "inverse_dynamics", a), (acceleration, "forward_dynamics", tau)):
        found = methods.dual_derivatives(NEWTON_EULER, robot, source, q, v, last)
        for part, by_q in zip(found, (True, False), strict=True):
            right = np.array([richardson(lambda h, e=e, f=function, k=by_q: f(h, e, k), 1e-3) for e in units]).T
            assert relative(part, right) <= RICHARDSON, (source, by_q)


def test_a_state_off_the_loops_has_no_derivatives():
    robot = robots.load("four-bar")
    q, v, a = one(robot)
    solver = methods.get("kane").prepare(robot, code="traced")
    assert np.isfinite(solver.inverse_dynamics_derivatives(q, v, a)[0]).all()
    dependent = robot.loop_analysis.dependent[0]
    for name, state in {"q": [q.copy(), v, a], "v": [q, v.copy(), a], "a": [q, v, a.copy()]}.items():
        state["qva".index(name)][dependent] += 0.5
        with pytest.raises(StateError, match=f"^{name}"):
            solver.inverse_dynamics_derivatives(*state)


def test_redundant_actuators_have_no_derivatives():
    robot = robots.load("four-bar")
    over = dataclasses.replace(robot, actuated=np.arange(2))
    with pytest.raises(UnsupportedError, match="not independent"):
        methods.dual_derivatives(NEWTON_EULER, over, "inverse_dynamics", *one(over))
    assert INVERSE not in NEWTON_EULER.prepare(over, code="traced").computes


def test_an_elastic_arm_against_differences():
    robot = robots.load("elastic-rp1")
    solver = methods.get("gibbs-appell-elastic").prepare(robot, code="traced")
    q, v, a = one(robot, 1)
    dq, dv = solver.inverse_dynamics_derivatives(q, v, a)
    units = np.eye(robot.nv)
    by_q = [richardson(lambda h, e=e: solver.inverse_dynamics(q + h * e, v, a), 1e-3) for e in units]
    by_v = [richardson(lambda h, e=e: solver.inverse_dynamics(q, v + h * e, a), 1e-3) for e in units]
    assert relative(dq, np.transpose(by_q)) <= RICHARDSON
    assert relative(dv, np.transpose(by_v)) <= RICHARDSON


# ---------------------------------------------------------------------- joint extras, springs


@pytest.mark.parametrize("code", ["generic", "traced"])
def test_armature_damping_and_friction(code):
    """Friction has no derivative, not even at rest, where it jumps."""
    bare = robots.load("rp3")
    rng = np.random.default_rng(1)
    extras = {name: rng.uniform(0.1, 1.0, bare.n) for name in ("armature", "damping", "friction")}
    robot = dataclasses.replace(bare, **extras)
    q, v, a = one(robot)
    solver, plain = NEWTON_EULER.prepare(robot, code=code), NEWTON_EULER.prepare(bare)
    for speed in (v, np.zeros(robot.nv)):
        dq, dv = solver.inverse_dynamics_derivatives(q, speed, a)
        rq, rv = plain.inverse_dynamics_derivatives(q, speed, a)
        assert relative(dq, rq) <= 1e-13
        assert np.allclose(dv, rv + np.diag(robot.extras.damping), rtol=0, atol=1e-12)
        tau = solver.inverse_dynamics(q, speed, a)
        fq, fv = solver.forward_dynamics_derivatives(q, speed, tau)
        M = solver.mass_matrix(q)
        assert relative(fq, -np.linalg.solve(M, dq)) <= 1e-11
        assert relative(fv, -np.linalg.solve(M, dv)) <= 1e-11
        for source, last in (("inverse_dynamics", a), ("forward_dynamics", tau)):
            dual = methods.dual_derivatives(NEWTON_EULER, robot, source, q, speed, last)
            assert relative(dual, solver.whole(f"{source}_derivatives")(q, speed, last)) <= EXACT
        if HAS_PINOCCHIO:
            theirs = methods.get("pinocchio").prepare(robot)
            assert relative(theirs.whole(INVERSE)(q, speed, a), (dq, dv)) <= EXACT
            assert relative(theirs.whole(FORWARD)(q, speed, tau), (fq, fv)) <= EXACT


def test_springs_are_differentiated_with_the_rest():
    bare = robots.load("two-link")
    springs = Springs(
        body1=np.array([-1]), body2=np.array([1]),
        point1=np.array([[0.1, 0.2, 0.9]]), point2=np.array([[0.3, 0.0, 0.1]]),
        stiffness=np.array([50.0]), damping=np.array([2.0]), rest_length=np.array([0.4]),
    )  # fmt: skip
    robot = dataclasses.replace(bare, springs=springs)
    q, v, a = one(robot)
    assert INVERSE not in NEWTON_EULER.prepare(robot).computes  # the recursion takes wrenches that are constant
    solver = NEWTON_EULER.prepare(robot, code="traced")
    dq, dv = solver.inverse_dynamics_derivatives(q, v, a)
    by_q = [richardson(lambda h, e=e: solver.inverse_dynamics(q + h * e, v, a)) for e in np.eye(robot.nv)]
    by_v = [richardson(lambda h, e=e: solver.inverse_dynamics(q, v + h * e, a)) for e in np.eye(robot.nv)]
    assert relative(dq, np.transpose(by_q)) <= RICHARDSON
    assert relative(dv, np.transpose(by_v)) <= RICHARDSON


# ---------------------------------------------------------------------- the calls


@pytest.mark.parametrize("code", ["generic", "traced"])
@pytest.mark.parametrize("quantity", DERIVATIVES)
def test_calls_return_a_tuple_of_views(code, quantity):
    robot = robots.load("two-link")
    solver = NEWTON_EULER.prepare(robot, code=code)
    call, whole = getattr(solver, quantity), solver.whole(quantity)
    q, v, a = robot.sample(11, seed=1)
    both = whole(q, v, a)
    assert both.shape == (11, 2, 2, 2)
    for _ in range(2):  # the first call compiles, the second goes straight to the code
        found = call(q[3], v[3], a[3])
        assert isinstance(found, tuple)
        assert [x.shape for x in found] == [(2, 2), (2, 2)]
        assert relative(found, both[3]) <= 1e-13
    dq, dv = call(q, v, a)
    assert dq.shape == dv.shape == (11, 2, 2)
    assert np.array_equal(dq, both[:, 0])
    assert np.array_equal(call(q, v, a, threads=2)[1], both[:, 1])
    out = np.zeros((2, 2, 2))
    dq, dv = call(q[0], v[0], a[0], out=out)
    assert dq.base is out
    assert np.shares_memory(dv, out)
    assert relative(out, both[0]) <= 1e-13
    many = np.zeros((11, 2, 2, 2))
    call(q, v, a, out=many)
    assert np.array_equal(many, both)
    flat = np.zeros(8)
    assert solver.handle(quantity)(q[0], v[0], a[0], None, flat) == 0
    assert relative(flat, both[0].ravel()) <= 1e-13
    with pytest.raises(StateError, match="out is"):
        call(q[0], v[0], a[0], out=np.zeros((2, 2)))
    with pytest.raises(StateError, match="nan"):
        call([0.0, np.nan], v[0], a[0])
    assert [x.shape for x in call(q[:0], v[:0], a[:0])] == [(0, 2, 2)] * 2


def test_the_tuple_of_a_call_leaves_no_reference_behind():
    import sys

    robot = robots.load("two-link")
    call = NEWTON_EULER.prepare(robot, code="traced").inverse_dynamics_derivatives
    q, v, a = one(robot)
    out = np.zeros((2, 2, 2))
    call(q, v, a, out=out)
    before = sys.getrefcount(out)
    for _ in range(1000):
        call(q, v, a, out=out)
    assert sys.getrefcount(out) == before
    dq, dv = call(q, v, a)
    base = dq.base
    assert base is dv.base
    assert sys.getrefcount(base) == 4  # two views, the name, the argument
    del dq, dv
    assert sys.getrefcount(base) == 2


def test_without_built_in_functions_the_results_are_the_same(monkeypatch):
    robot = robots.load("two-link")
    q, v, a = one(robot)
    right = NEWTON_EULER.prepare(robot, code="traced").inverse_dynamics_derivatives(q, v, a)
    monkeypatch.setattr("dynbench.methods.native.layout.why_not", lambda: "a test")
    found = NEWTON_EULER.prepare(robot, code="traced").inverse_dynamics_derivatives(q, v, a)
    assert isinstance(found, tuple)
    assert np.array_equal(found, right)


def test_methods_without_a_recursion_say_how_to_get_derivatives():
    robot = robots.load("two-link")
    solver = methods.get("kane").prepare(robot)
    with pytest.raises(NotComputedError, match=r"'kane' does not compute '\w+_derivatives'.*code=\"traced\""):
        solver.inverse_dynamics_derivatives  # noqa: B018
    q, v, a = one(robot)
    wrench = pushes(robot)
    traced = methods.get("kane").prepare(robot, code="traced")
    for push in (None, wrench, {robot.body_names[1]: wrench[1]}):
        found = traced.inverse_dynamics_derivatives(q, v, a, wrench=push)
        right = NEWTON_EULER.prepare(robot).inverse_dynamics_derivatives(q, v, a, wrench=push)
        assert relative(found, right) <= 1e-12
    far = q + 2e5 * np.pi  # beyond the range of traced code: dual numbers
    assert relative(traced.inverse_dynamics_derivatives(far, v, a), traced.inverse_dynamics_derivatives(q, v, a)) < 1e-8


def test_which_code_computes_derivatives():
    kane = methods.get("kane")
    assert INVERSE not in kane.computes_with("generic")
    robot = robots.load("two-link")
    for code in ("generic", "traced", "auto"):
        for method in (kane, NEWTON_EULER):
            assert set(method.computes_with(code)) == set(method.prepare(robot, code=code).computes)
    assert methods.get("kane").prepare(robot, code="traced").why_not_traced(INVERSE) is None


def test_derivatives_are_exported():
    from dynbench.methods.traced.export_c import export_c
    from dynbench.methods.traced.export_latex import export_latex

    text = export_latex(methods.get("kane"), robots.load("pendulum"), INVERSE)
    assert r"\partial \tau_{1} / \partial q_{1} &=" in text
    assert r"\partial \tau_{1} / \partial \dot q_{1} &= 0" in text
    program = export_c(methods.get("kane"), robots.load("two-link"), INVERSE)  # with states to check itself
    assert "two_link_inverse_dynamics_derivatives" in program


def test_a_graph_that_is_too_large_is_refused_with_a_sentence():
    robot = robots.load("chain-20")
    solver = methods.get("kane").prepare(robot, code="traced")
    with pytest.raises(UnsupportedError, match=r"is not traced: it takes .*operations"):
        solver.inverse_dynamics_derivatives(*one(robot))
    automatic = methods.get("kane").prepare(robot, code="auto")
    found = automatic.inverse_dynamics_derivatives(*one(robot))  # by dual numbers
    assert relative(found, by_complex_steps(robot, INVERSE, *one(robot))) <= EXACT


def test_a_plugin_may_return_a_tuple():
    robot = robots.load("two-link")
    right = NEWTON_EULER.prepare(robot)
    functions = {INVERSE: lambda q, v, a, wrench: right.inverse_dynamics_derivatives(q, v, a, wrench=wrench)}
    solver = function_solver(NEWTON_EULER, robot, functions)
    q, v, a = robot.sample(3, seed=0)
    assert solver.computes == (INVERSE,)
    assert relative(solver.whole(INVERSE)(q, v, a), right.whole(INVERSE)(q, v, a)) <= 1e-13
    assert solver.inverse_dynamics_derivatives(q[0], v[0], a[0])[0].shape == (2, 2)


# ---------------------------------------------------------------------- parts


@pytest.mark.parametrize("seed", [0, 1, 4])
def test_factors_keep_the_zeros_of_branches(seed):
    robot = tree_of(seed)
    M = NEWTON_EULER.prepare(robot).mass_matrix(one(robot)[0])
    packed, n = tree.pack(robot), robot.nv
    lower = np.where(triangle.coupled(robot), np.tril(M), np.nan).ravel()  # NaN must not be read
    branches.factorise(ONE, packed, lower)
    X = np.random.default_rng(seed).standard_normal((2, n, n))
    found = X.copy().ravel()
    branches.solve_columns(ONE, packed, lower, found, 2, np.empty(4 * n))
    assert relative(found.reshape(2, n, n), -np.linalg.solve(M, X)) <= 1e-9
    L = np.where(triangle.coupled(robot), np.tril(lower.reshape(n, n), -1), 0.0) + np.eye(n)
    D = np.diag(1.0 / np.diagonal(lower.reshape(n, n)))
    assert relative(L.T @ D @ L, M) <= 1e-12


def test_the_recursion_is_quadratic_on_a_chain():
    polynomial = count_polynomial(NEWTON_EULER, chain, INVERSE, range(3, 9))
    assert polynomial["flops"].degree == 2
    panda = robots.load("panda")
    own = count_operations(NEWTON_EULER, panda, "inverse_dynamics").flops
    assert count_operations(NEWTON_EULER, panda, INVERSE).flops < 5 * own  # differences would take 28 times as much
