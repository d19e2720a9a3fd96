"""The revolute-prismatic algorithm against closed forms, printed numbers, other formulations and Pinocchio."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.methods.gibbs_appell_rp import GibbsAppellRP
from dynbench.methods.gibbs_appell_rp.model import native_order
from dynbench.methods.kernels.count import count_polynomial
from dynbench.methods.kernels.scalar import ONE
from dynbench.robots.families.rp_chain import INERTIAS, ORIENTATIONS, random_rp_chain

SEEDS = [range(72), pytest.param(range(72, 300), marks=pytest.mark.long)]  # 72 have every combination below
OTHERS = ["newton-euler", "gibbs-appell"] + ["pinocchio"] * (importlib.util.find_spec("pinocchio") is not None)


@pytest.fixture(scope="module")
def paper():
    return methods.get("gibbs-appell-rp").prepare(robots.load("rp3"))


def state(angles, extensions):
    """In the robot's order."""
    return np.column_stack([angles, extensions]).ravel().astype(float)


def error(found, right):
    return np.abs(found - right).max() / np.abs(right).max()


def chain_of(seed):
    """1 to 8 links; planar, twisted and any orientations; isotropic, diagonal and full rotary inertia."""
    return random_rp_chain(seed % 8 + 1, seed, ORIENTATIONS[seed % 3], INERTIAS[seed // 3 % 3])


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
@pytest.mark.parametrize("other", OTHERS)
def test_random_chains_agree(other, seeds):
    limits = {"inverse_dynamics": 1e-11, "mass_matrix": 1e-11, "forward_dynamics": 1e-8}
    for seed, robot in zip(seeds, map(chain_of, seeds), strict=True):
        ours, theirs = methods.get("gibbs-appell-rp").prepare(robot), methods.get(other).prepare(robot)
        q, v, a = robot.sample(2, seed)
        for quantity, limit in limits.items():
            arguments = (q,) if quantity == "mass_matrix" else (q, v, a)
            found = error(getattr(ours, quantity)(*arguments), getattr(theirs, quantity)(*arguments))
            assert found < limit, f"{quantity} of {robot.name} (seed {seed}) differs from {other} by {found:.1e}"


def test_the_inertia_matrix_at_the_start_of_the_experiment(paper):
    q = state([0, 0, np.pi / 2], [0.4, 0.25, 0.25])
    o = native_order(3)
    right = [
        [1.5374, 0.709933333333, 0.292466666667, 0.5, 0.5, 1.3],
        [0.709933333333, 0.709933333333, 0.292466666667, 0.5, 0.5, 0.5],
        [0.292466666667, 0.292466666667, 0.292466666667, 0.5, 0.5, 0],
        [0.5, 0.5, 0.5, 6, 4, 0],
        [0.5, 0.5, 0.5, 4, 4, 0],
        [1.3, 0.5, 0, 0, 0, 2],
    ]
    np.testing.assert_allclose(paper.mass_matrix(q)[np.ix_(o, o)], right, atol=1e-9)
    rest = np.zeros(6)
    np.testing.assert_allclose(1 - paper.bias(q, rest)[o], [-13, 1, 1, 1, 1, -19], atol=1e-9)
    accelerations = [-8.50222704, 18.92924297, -6.62211667, 0, -0.22561241, -8.70586317]
    np.testing.assert_allclose(paper.forward_dynamics(q, rest, np.ones(6))[o], accelerations, atol=1e-8)


def test_the_forces_of_the_smoke_state(paper):
    tau = paper.inverse_dynamics(
        state([0.3, -0.5, 0.8], [0.4, 0.3, 0.6]),
        state([1, -2, 0.5], [0.2, -0.1, 0.4]),
        state([0.7, -0.3, 1.1], [-0.6, 0.9, 0.25]),
    )
    np.testing.assert_allclose(tau[::2], [18.2192847242, 4.1863305411, 1.9994075322], atol=1e-9)
    np.testing.assert_allclose(tau[1::2], [16.7145491075, -8.6889448797, 11.5292399201], atol=1e-9)


def test_one_link_has_a_closed_form():
    L, mu, g, J = 1.3, 2.5, 9.0, np.diag([0.01, 0.02, 0.03])
    solver = methods.get("gibbs-appell-rp").prepare(robots.rp_chain([L], [mu], [J], gravity=(0, -g, 0)))
    (q, l), (qd, ld), (qdd, ldd) = (0.7, 0.4), (1.1, -0.6), (2.0, 0.8)
    m, c = mu * L, l - L / 2
    inertia = mu * (l**3 + (L - l) ** 3) / 3 + J[2, 2] * L
    right = [
        inertia * qdd + 2 * m * c * ld * qd + m * g * c * np.cos(q),
        m * ldd - m * c * qd**2 + m * g * np.sin(q),
    ]
    np.testing.assert_allclose(solver.inverse_dynamics([q, l], [qd, ld], [qdd, ldd]), right, rtol=1e-14)
    np.testing.assert_allclose(solver.mass_matrix([q, l]), np.diag([inertia, m]), rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(solver.forward_dynamics([q, l], [qd, ld], right), [qdd, ldd], rtol=1e-13)


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
def test_external_wrenches_on_sleeves_and_rods(quantity):
    robot = random_rp_chain(4, 3)
    q, v, a = robot.sample(3, 5)
    wrench = np.random.default_rng(2).normal(0, 20, (3, robot.n, 6))
    ours, theirs = (methods.get(name).prepare(robot) for name in ("gibbs-appell-rp", "newton-euler"))
    found, right = (getattr(solver, quantity)(q, v, a, wrench=wrench) for solver in (ours, theirs))
    assert error(found, right) < 1e-11
    assert error(getattr(ours, quantity)(q, v, a), right) > 1e-3  # they matter


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix", "forward_dynamics"])
def test_plain_python_single_calls_and_batches_agree(quantity):
    method, robot = GibbsAppellRP(), random_rp_chain(3, 1)
    q, v, a = robot.sample(5, 1)
    compiled = getattr(method.prepare(robot), quantity)
    batch = compiled(q) if quantity == "mass_matrix" else compiled(q, v, a)
    for k in range(5):
        rest = () if quantity == "mass_matrix" else (v[k], a[k])
        out, work = np.empty(batch[k].size), np.full(method.work_size(robot, quantity), np.nan)
        method.kernels[quantity](ONE, method.pack(robot), q[k], *(*rest, None)[: 3 if rest else 0], out, work)
        np.testing.assert_allclose(out.reshape(batch[k].shape), batch[k], rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(compiled(q[k], *rest), batch[k], rtol=1e-11, atol=1e-12)


def test_inverse_dynamics_is_linear_in_n_and_the_inertia_matrix_quadratic():
    sizes = [2, 3, 4, 5, 6, 7]
    degree = {
        quantity: count_polynomial(GibbsAppellRP(), random_rp_chain, quantity, sizes)["flops"].degree
        for quantity in ("inverse_dynamics", "mass_matrix")
    }
    assert degree == {"inverse_dynamics": 1, "mass_matrix": 2}


def changed(robot, **fields):
    """The robot with some numbers of some bodies changed: field=(body, value)."""
    values = {name: getattr(robot, name).copy() for name in fields}
    for name, (body, value) in fields.items():
        values[name][body] = value
    data = {name: getattr(robot, name) for name in robot.__dataclass_fields__}
    return type(robot)(**{**data, **values})


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"axis": (0, [0, 1, 0])}, "the joint of body 'sleeve1' is not revolute about z"),
        ({"axis": (3, [0, 1, 0])}, "the joint of body 'rod2' is not prismatic along x"),
        ({"translation": (2, [0, 0.1, 0])}, "body 'sleeve2' is not placed at the origin of the body before it"),
        ({"mass": (2, 0.5)}, "the sleeve, body 'sleeve2', has mass or inertia"),
        ({"com": (1, [-0.5, 1e-6, 0])}, "body 'rod1' is not a rod"),
        ({"inertia": (1, 0.01 * np.eye(3))}, "body 'rod1' is not a uniform rod"),
        ({"parent": (2, 0)}, "body 'sleeve2' does not follow the body before it"),
    ],
)
def test_only_revolute_prismatic_chains_are_supported(fields, reason):
    method, robot = methods.get("gibbs-appell-rp"), robots.load("rp3")
    assert method.supports(robot) is None
    assert reason in method.supports(changed(robot, **fields))


def test_other_robots_get_a_sentence():
    method = methods.get("gibbs-appell-rp")
    for name in ("panda", "tree-5", "pendulum"):
        assert method.supports(robots.load(name)).startswith("not a revolute-prismatic chain: ")
