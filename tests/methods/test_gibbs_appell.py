"""Gibbs-Appell on trees: the gradient and Hessian of the acceleration energy, and the other formulations."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.methods.gibbs_appell import GibbsAppell
from dynbench.methods.kernels.count import count_polynomial
from dynbench.methods.kernels.scalar import ONE
from dynbench.robots import kinematics
from dynbench.robots.families.trees import KINDS, chain, random_tree
from dynbench.robots.files import example_models

# Trees of 1 to 12 bodies with every kind of joint; free bases, free bodies in the middle, massless bodies
TREES = [
    random_tree(n, seed=seed, kinds=KINDS if seed % 3 else KINDS[:3], floating=seed % 2 == 0, massless=seed % 4 == 3)
    for seed, n in enumerate([1, 2, 3, 4, 5, 6, 8, 10, 12] * 4)
]
FILES = ["panda", "ur5", "puma560"] + [name for name in ("talos", "anymal") if name in example_models.names()]
OTHERS = ["newton-euler"] + ["pinocchio"] * (importlib.util.find_spec("pinocchio") is not None)


def error(found, right):
    return np.abs(found - right).max() / np.abs(right).max()


def compare(robot, other, seed=0):
    """Largest relative differences; forward dynamics by the forces that its accelerations need."""
    ours, theirs = methods.get("gibbs-appell").prepare(robot), methods.get(other).prepare(robot)
    q, v, a = robot.sample(4, seed)
    wrench = np.random.default_rng(seed).normal(0, 5, (4, robot.n, 6))
    tau = theirs.inverse_dynamics(q, v, a)
    return {
        "inverse dynamics": error(ours.inverse_dynamics(q, v, a), tau),
        "with wrenches": error(
            ours.inverse_dynamics(q, v, a, wrench=wrench), theirs.inverse_dynamics(q, v, a, wrench=wrench)
        ),
        "bias": error(ours.bias(q, v), theirs.bias(q, v)),
        "mass matrix": error(ours.mass_matrix(q), theirs.mass_matrix(q)),
        "forward dynamics": error(theirs.inverse_dynamics(q, v, ours.forward_dynamics(q, v, tau)), tau),
        "forward with wrenches": error(
            theirs.inverse_dynamics(q, v, ours.forward_dynamics(q, v, tau, wrench=wrench), wrench=wrench), tau
        ),
    }


@pytest.mark.parametrize("other", OTHERS)
def test_random_trees_and_free_bases_agree(other):
    for seed, robot in enumerate(TREES):
        for what, found in compare(robot, other, seed).items():
            assert found < 1e-12, f"{what} of {robot.name} differs from {other} by {found:.1e}"


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("name", FILES)
def test_robots_from_files_agree(name, other):
    """The last two, where installed, are on free bases."""
    for what, found in compare(robots.load(name), other).items():
        assert found < 1e-12, f"{what} of {name} differs from {other} by {found:.1e}"


def particles(robot, i):
    """Six particles with the mass, centre and inertia of a body, in its axes: masses (6,), places (6, 3)."""
    m, second = robot.mass[i], 0.5 * np.trace(robot.inertia[i]) * np.eye(3) - robot.inertia[i]
    moments, axes = np.linalg.eigh(second)
    arms = axes.T * np.sqrt(3 * np.maximum(moments, 0) / m)[:, None]
    return np.full(6, m / 6), robot.com[i] + np.vstack([arms, -arms])


def acceleration_energy(robot, q, v, a, step=1e-4):
    """Half the sum of mass times squared acceleration (relative to free fall), by differences of positions.

    For one state and the quasi-accelerations ``a`` (K, nv): shape (K,).
    """
    start = np.tile(q, (len(a), 1))
    poses = [kinematics.poses(robot, robot.integrate(start, v * t + 0.5 * a * t**2)) for t in (-step, 0.0, step)]
    total = np.zeros(len(a))
    for i in np.flatnonzero(robot.mass):
        mass, place = particles(robot, i)
        before, now, after = (place @ R[:, i].transpose(0, 2, 1) + p[:, i, None] for R, p in poses)
        acceleration = (before - 2 * now + after) / step**2 - robot.gravity
        total += 0.5 * (acceleration**2).sum(axis=2) @ mass
    return total


@pytest.mark.parametrize("robot", [chain(3, seed=1), TREES[4], TREES[5]], ids=lambda robot: robot.name)
def test_forces_are_the_gradient_of_the_acceleration_energy_and_the_mass_matrix_its_hessian(robot):
    q, v, a = (x[0] for x in robot.sample(1, 3))
    a = a / np.abs(a).max()  # so that rounding in the differences stays small
    unit = np.eye(robot.nv)

    def S(x):
        return acceleration_energy(robot, q, v, x)

    # S is quadratic in the quasi-accelerations: central differences are exact, but for the positions'
    gradient = 0.5 * (S(a + unit) - S(a - unit))
    ahead, behind = (np.array([S(a + e + sign * unit) for e in unit]) for sign in (1, -1))
    low_ahead, low_behind = (np.array([S(a - e + sign * unit) for e in unit]) for sign in (1, -1))
    solver = methods.get("gibbs-appell").prepare(robot)
    assert error(gradient, solver.inverse_dynamics(q, v, a)) < 1e-5
    assert error(0.25 * (ahead - behind - low_ahead + low_behind), solver.mass_matrix(q)) < 1e-4


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix", "forward_dynamics"])
def test_plain_python_single_calls_and_batches_agree(quantity):
    method, robot = GibbsAppell(), TREES[7]
    q, v, a = robot.sample(9, 1)  # a whole block of eight lanes, and one left over
    compiled = getattr(method.prepare(robot), quantity)
    batch = compiled(q) if quantity == "mass_matrix" else compiled(q, v, a)
    for k in (0, 5, 8):
        rest = () if quantity == "mass_matrix" else (v[k], a[k])
        out, work = np.empty(batch[k].size), np.full(method.work_size(robot, quantity), np.nan)
        method.kernels[quantity](ONE, method.pack(robot), q[k], *(*rest, None)[: 3 if rest else 0], out, work)
        assert error(out.reshape(batch[k].shape), batch[k]) < 1e-12
        assert error(compiled(q[k], *rest), batch[k]) < 1e-12


def test_inverse_dynamics_grows_linearly():
    counts = count_polynomial(GibbsAppell(), chain, "inverse_dynamics", [2, 3, 4, 5])
    assert counts["additions"].degree == counts["multiplications"].degree == 1
