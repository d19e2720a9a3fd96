"""The papers' equations as printed: each erratum that can be run, as a method that claims to be right.

What a paper does not have (external wrenches, accelerations beside a right-hand side) is added from Newton-Euler, so
that the misprint is the only thing that can be found. `CORRECTED` are the same methods without a misprint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dynbench import methods
from dynbench.benchmarks.papers.boltzmann_hamel import printed as hamel
from dynbench.benchmarks.papers.gibbs_appell_rp import printed as rp
from dynbench.benchmarks.papers.lagrange_stewart import printed as stewart
from dynbench.methods.gibbs_appell_rp.model import native_order
from dynbench.methods.lagrange_stewart import coordinates
from dynbench.robots import kinematics
from dynbench.robots.joints import JointKind
from faults.planting import NEWTON_EULER, Fault, On, Plant, add, numbers, of_another_robot, tau

FEW = 13  # these run state by state in numpy
CORRECTED: list[Fault] = []

# ---------------------------------------------------------------------------- Gibbs-Appell, revolute-prismatic chains

TWISTED = ("rp-3",)
FORCES = ("transposed", "gravity", "limit", "tildes", "dots", "gyroscopic", "swapped", "sum-45")
SUMS = ("tildes", "factor-38", "factor-41")
RECURSIONS = ("xi-start", "row-n")


def rp_forces(*switches: str) -> Plant:
    def inverse_dynamics(on: On, wrench: Any, q: Any, v: Any, a: Any) -> Any:
        chain, order = rp.chain_of(on.robot), native_order(on.robot.n // 2)
        found = np.empty_like(v)
        for k in range(len(q)):
            state = rp.state_of(q[k], v[k], a[k])
            found[k, order] = rp.generalized_forces(rp.setup(chain, state, switches))
        return found if wrench is None else found + tau(on, wrench, q, v, a) - tau(on, None, q, v, a)

    return numbers(
        inverse_dynamics=inverse_dynamics,
        bias=lambda on, wrench, q, v: inverse_dynamics(on, wrench, q, v, 0.0 * v),
    )


def rp_mass(tables: Callable[..., Any], *switches: str) -> Plant:
    def mass_matrix(on: On, wrench: Any, q: Any) -> Any:
        n = on.robot.n // 2
        chain, order = rp.chain_of(on.robot), native_order(n)
        found = np.empty((len(q), 2 * n, 2 * n))
        for k in range(len(q)):
            setup = rp.setup(chain, rp.state_of(q[k], 0.0 * q[k]), switches)
            found[k][np.ix_(order, order)] = rp.inertia_matrix(setup, tables(setup), mirrored=False)
        return found

    return numbers(mass_matrix=mass_matrix)


for switch in FORCES:
    add(f"R-P paper: {rp.PRINTED[switch]}", rp_forces(switch), robots=TWISTED, states=FEW)
for switch in SUMS:
    add(f"R-P paper, M by sums: {rp.PRINTED[switch]}", rp_mass(rp.tables_by_sums, switch), robots=TWISTED, states=FEW)
for switch in RECURSIONS:
    plant = rp_mass(rp.tables_by_recursion, switch)
    add(f"R-P paper, M by recursion: {rp.PRINTED[switch]}", plant, robots=TWISTED, states=FEW)
for label, plant in {
    "forces": rp_forces(),
    "M by sums": rp_mass(rp.tables_by_sums),
    "M by recursion": rp_mass(rp.tables_by_recursion),
}.items():
    CORRECTED.append(Fault(f"R-P paper, corrected: {label}", plant, NEWTON_EULER, TWISTED, FEW))


# ---------------------------------------------------------------------------- Boltzmann-Hamel, space robot

SPACE = ("space-dual-arm",)


def hamel_forces(*equations: int) -> Plant:
    def inverse_dynamics(on: On, wrench: Any, q: Any, v: Any, a: Any) -> Any:
        moved = [hamel.error_force(on.robot, q[k], v[k], equations) for k in range(len(q))]
        return tau(on, wrench, q, v, a) - np.array(moved)

    return numbers(inverse_dynamics=inverse_dynamics)


def hamel_momentum(on: On, wrench: Any, q: Any, v: Any, a: Any) -> Any:
    """(33) in (20): d/dt p + w0 x p = M0, with what the misprint adds to p, by a central difference."""
    h = 1e-5
    found = tau(on, wrench, q, v, a)
    for k in range(len(q)):

        def extra(t: float, k: int = k) -> Any:
            state = on.robot, on.robot.integrate(q[k], t * v[k]), v[k] + t * a[k]
            return hamel.base_angular_momentum(*state, {33}) - hamel.base_angular_momentum(*state)

        found[k, 3:6] += (extra(h) - extra(-h)) / (2.0 * h) + np.cross(v[k, 3:6], extra(0.0))
    return found


def links_twice(robot: Any) -> Any:
    """(18): without 1/2 the rotary inertia of the links, not of the base, counts twice."""
    return robot.inertia * np.where(robot.kind == JointKind.FREE, 1.0, 2.0)[:, None, None]


add("Boltzmann-Hamel paper: (51) with a wrong index", hamel_forces(51), robots=SPACE, states=FEW)
add("Boltzmann-Hamel paper: (52) without rotation", hamel_forces(52), robots=SPACE, states=FEW)
add("Boltzmann-Hamel paper: (33) with a scalar", numbers(inverse_dynamics=hamel_momentum), robots=SPACE, states=5)
add("Boltzmann-Hamel paper: (18) without 1/2", of_another_robot(inertia=links_twice), robots=SPACE)
CORRECTED.append(Fault("Boltzmann-Hamel paper, corrected", hamel_forces(), NEWTON_EULER, SPACE, FEW))


# ---------------------------------------------------------------------------- DeNOC


def denoc_rate(on: On, wrench: Any, q: Any, v: Any) -> Any:
    """(17) with M' in place of Omega M: less J^T I [w]x J of every body. C v stays what it was."""
    robot, N, nv = on.robot, len(q), on.robot.nv
    each = kinematics.velocities(robot, np.repeat(q, nv, axis=0), np.tile(np.eye(nv), (N, 1)))[..., 3:]
    J = np.moveaxis(each.reshape(N, nv, robot.n, 3), 1, 3)
    w = kinematics.velocities(robot, q, v)[..., 3:]
    turned = np.cross(w[..., None, :], np.swapaxes(J, 2, 3))  # columns of [w]x J, as rows
    lost = np.einsum("snij,nik,snlk->sjl", J, robot.inertia, turned, optimize=True)
    return on.solver.coriolis_matrix(q, v) - lost


add("DeNOC paper: (17) with M'", numbers(coriolis_matrix=denoc_rate), base=methods.get("denoc"))
for label, change in {"transposed": lambda C: np.swapaxes(C, 1, 2), "with the other sign": np.negative}.items():
    plant = numbers(coriolis_matrix=lambda on, w, q, v, change=change: change(on.solver.coriolis_matrix(q, v)))
    add(f"Coriolis matrix {label}", plant, base=methods.get("denoc"))


# ---------------------------------------------------------------------------- Gough-Stewart platform

PLATFORM = ("gough-stewart",)


def paper_motion(on: On, q: Any, v: Any, a: Any) -> tuple[Any, Any, Any]:
    """The platform's motion in the paper's coordinates."""
    x = on.solver.coordinates(q)
    R, p = kinematics.poses(on.robot, q)
    linear, angular, acc, alpha = (y[:, on.robot.platform] for y in kinematics.accelerations(on.robot, R, p, q, v, a))
    E = coordinates.rate_matrix(x[:, 3:])
    rates = np.linalg.solve(E, angular[..., None])[..., 0]
    turning = np.einsum("sij,sj->si", coordinates.rate_matrix_rate(x[:, 3:], rates), rates)
    second = np.linalg.solve(E, (alpha - turning)[..., None])[..., 0]
    return x, np.hstack([linear, rates]), np.hstack([acc, second])


def stewart_forces(turn: Callable[[Any], Any]) -> Plant:
    """The right forces, and what the misprint adds to those of a platform on massless legs."""

    def inverse_dynamics(on: On, wrench: Any, q: Any, v: Any, a: Any) -> Any:
        motion = paper_motion(on, q, v, a)
        angles = motion[0][:, 3:]
        right = stewart.massless_forces(on.robot, motion, coordinates.rotation(angles))
        return tau(on, wrench, q, v, a) + stewart.massless_forces(on.robot, motion, turn(angles)) - right

    return numbers(inverse_dynamics=inverse_dynamics)


STEWART = methods.get("lagrange-stewart")
unturned = stewart_forces(lambda angles: np.broadcast_to(np.eye(3), (len(angles), 3, 3)))
misprinted = stewart_forces(stewart.printed_rotation)
add("Gough-Stewart paper: entry (1, 2) of (2)", misprinted, base=STEWART, robots=PLATFORM, states=FEW)
add("Gough-Stewart paper: (3) with T for R T", unturned, base=STEWART, robots=PLATFORM, states=FEW)
CORRECTED.append(Fault("Gough-Stewart paper, corrected", stewart_forces(coordinates.rotation), STEWART, PLATFORM, FEW))


# ---------------------------------------------------------------------------- elastic Gibbs-Appell

ELASTIC = ("elastic-rp-2-torsion",)


def as_exact(**options: Any) -> Plant:
    """The method with an option of the paper, which it would itself call not exact."""

    def plant(on: On) -> dict[str, Callable[..., Any]]:
        solver = methods.get("gibbs-appell-elastic", **options).prepare(on.robot)
        return {name: solver.whole(name) for name in solver.computes}

    return plant


for label, options in {
    "tip rotation I + theta": {"tip_rotation": "linear"},
    "(68) without the slope's rate": {"slope_rate_of_l": False},
    "no flux at the mouth": {"mouth_flux": False},
}.items():
    base = methods.get("gibbs-appell-elastic")
    add(f"elastic paper: {label}", as_exact(**options), base=base, robots=ELASTIC, states=FEW)
