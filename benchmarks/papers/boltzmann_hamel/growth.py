"""How the two forms of the Boltzmann-Hamel method grow: along an arm, and with the number of arms.

The paper's recursions visit every pair of links of an arm, so an arm of n links costs O(n^2), while arms do not
multiply each other; the momentum form visits every link once. Operations are counted in the source that is timed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from dynbench import robots
from dynbench.benchmarks.timing.counts import kernel_method
from dynbench.methods.kernels.count import Polynomial, count_operations, interpolate
from dynbench.robots.robot import Robot

FITTED_FROM = 8  # of the sizes, so that the base's own cost has faded


def one_arm(links: int) -> Robot:
    """Return a free base with one arm of spherical joints."""
    return robots.random_space_manipulator(arms=1, links=links, freedoms=(3,))


def many_arms(arms: int) -> Robot:
    """Return a free base with arms of two links on spherical joints."""
    return robots.random_space_manipulator(arms=arms, links=2, freedoms=(3,))


FAMILIES: dict[str, tuple[Callable[[int], Robot], tuple[int, ...]]] = {
    "links": (one_arm, (4, 8, 16, 32, 64)),
    "arms": (many_arms, (1, 2, 4, 8, 16, 32)),
}


@dataclass(frozen=True)
class Growth:
    """Cost of inverse dynamics over size, and the exponent p of cost ~ size ** p with its 95 % interval."""

    form: str
    family: str
    measure: str  # "flops", or "seconds" per state of a batch
    sizes: tuple[int, ...]
    values: tuple[float, ...]
    exponent: float
    low: float
    high: float
    polynomial: Polynomial | None = None  # the exact one through all counts


def operations(form: str, family: str) -> Growth:
    """Count the operations of inverse dynamics on every size of a family ("links" or "arms")."""
    method = kernel_method("boltzmann-hamel", form=form)
    build, sizes = FAMILIES[family]
    counts = [count_operations(method, build(size), "inverse_dynamics").flops for size in sizes]
    found = _growth(form, family, "flops", sizes, tuple(map(float, counts)))
    return dataclasses.replace(found, polynomial=interpolate(sizes, counts))


def _growth(form: str, family: str, measure: str, sizes: tuple[int, ...], values: tuple[float, ...]) -> Growth:
    from dynbench.benchmarks.timing.scaling import fit_power

    used = [(size, value) for size, value in zip(sizes, values, strict=True) if size >= FITTED_FROM]
    exponent, low, high = fit_power([size for size, _ in used], [value for _, value in used])
    return Growth(form, family, measure, sizes, values, exponent, low, high)
