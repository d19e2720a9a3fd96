"""Operation counts of the revolute-prismatic algorithm, beside the paper's formulas.

The paper says that the equations of motion (steps 1 to 6) take 157 n^2 - 168 n + 92 additions and 197 n^2 - 265 n + 109
multiplications. It does not say how zeros and ones are counted, nor whether entries that nothing reads are computed.
So the algorithm is counted under several rules, each labelled for what it is. Sines and cosines, sign changes and the
linear solve are left out, a subtraction is an addition; constants of the model count like other numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dynbench.benchmarks.papers.claims import Formula
from dynbench.benchmarks.papers.gibbs_appell_rp import printed
from dynbench.benchmarks.papers.gibbs_appell_rp.corrections import PAPER
from dynbench.methods.gibbs_appell_rp import GibbsAppellRP, forward
from dynbench.methods.kernels.count import Count, Polynomial, Tally, count_operations, interpolate
from dynbench.robots.families.rp_chain import random_rp_chain
from dynbench.robots.robot import FloatArray, Robot

SIZES = (3, 4, 5, 6, 7, 8)
ADDITIONS = Polynomial((Fraction(92), Fraction(-168), Fraction(157)))
MULTIPLICATIONS = Polynomial((Fraction(109), Fraction(-265), Fraction(197)))


class Dense(Count):
    """Every operation counts, whatever the numbers; inside numpy arrays too."""

    __slots__ = ()

    def made(self, value: float) -> Any:
        """A result of an operation."""
        return type(self)(value, self.tally)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        self.tally.additions += 1
        return self.made(self.value + float(other))

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        self.tally.multiplications += 1
        return self.made(self.value * float(other))

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __neg__(self) -> Any:
        return self.made(-self.value)

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self + -other

    def __rsub__(self, other: float) -> Any:
        return -self + other

    def sincos(self) -> tuple[Any, Any]:
        s, c = super().sincos()
        return self.made(s.value), self.made(c.value)


class Skipping(Dense):
    """Sums with 0 and products with 0, 1 or -1 are free, if these are so by structure and not by rounding."""

    __slots__ = ("known",)

    def __init__(self, value: float, tally: Tally, known: bool = True) -> None:
        super().__init__(value, tally)
        self.known = known and abs(value) in (0.0, 1.0)

    def made(self, value: float) -> Any:
        return type(self)(value, self.tally, known=False)

    def __neg__(self) -> Any:
        return type(self)(-self.value, self.tally, self.known)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        other = other if isinstance(other, Skipping) else type(self)(other, self.tally)
        for x, y in ((self, other), (other, self)):
            if x.known and x.value == 0.0:
                return y
        return super().__add__(other)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        other = other if isinstance(other, Skipping) else type(self)(other, self.tally)
        for x, y in ((self, other), (other, self)):
            if x.known:
                return x if x.value == 0.0 else (y if x.value == 1.0 else -y)
        return super().__mul__(other)


class EquationsOfMotion(GibbsAppellRP):
    """Steps 1 to 6 of the compiled algorithm: forward dynamics without the solve."""

    name: ClassVar[str] = "gibbs-appell-rp, steps 1 to 6"
    kernels: ClassVar = {"forward_dynamics": forward.equations_of_motion}


class Row(NamedTuple):
    """A way to count, and what it gives."""

    label: str
    additions: Polynomial
    multiplications: Polynomial


def isotropic(n: int) -> Robot:
    """Random orientations; isotropic rotary inertia, as in the paper's table."""
    return random_rp_chain(n, 1, inertia="isotropic")


def planar(n: int) -> Robot:
    return random_rp_chain(n, 1, orientation="planar", inertia="isotropic")


def count_printed(
    n: int,
    rule: type[Dense],
    family: Callable[[int], Robot] = isotropic,
    algorithm: Callable[[printed.Setup], object] = printed.equations_of_motion,
) -> Tally:
    """Return the operations of the algorithm as printed, for a chain of n links."""
    tally = Tally()

    def counting(values: FloatArray) -> Any:
        flat = [rule(x, tally) for x in np.ravel(values)]
        return np.array(flat, dtype=object).reshape(np.shape(values))

    robot = family(n)
    q, v, _ = robot.sample(1, seed=3)
    chain = printed.Chain(*(counting(x) for x in printed.chain_of(robot)))
    algorithm(printed.setup(chain, printed.state_of(counting(q[0]), counting(v[0]))))
    return tally


def polynomials(sizes: Sequence[int] = SIZES) -> list[Row]:
    """Return the counts of steps 1 to 6 as polynomials in the number of links, each with its rule."""

    def row(label: str, count: Callable[[int], Any]) -> Row:
        counts = [count(n) for n in sizes]
        fits = [interpolate(sizes, [getattr(c, kind) for c in counts]) for kind in ("additions", "multiplications")]
        if fits[0] is None or fits[1] is None:
            raise ArithmeticError(f"{label}: the counts are no polynomials in n: {counts}")
        return Row(label, fits[0], fits[1])

    kernels = EquationsOfMotion()
    return [
        Row("the paper's formula", ADDITIONS, MULTIPLICATIONS),
        row(
            "timed source: structural zeros skipped, only entries that are read",
            lambda n: count_operations(kernels, random_rp_chain(n), "forward_dynamics"),
        ),
        row("as printed, 0 and 1 skipped, all entries", lambda n: count_printed(n, Skipping)),
        row("as printed, dense 3x3 products, all entries", lambda n: count_printed(n, Dense)),
        row("as printed, planar chain, 0 and 1 skipped, all entries", lambda n: count_printed(n, Skipping, planar)),
    ]


def formulas(sizes: Sequence[int] = (3, 6, 10, 20)) -> list[Formula]:
    """Return the printed formulas beside each way to count, at some numbers of links."""
    theirs, *ways = polynomials()
    found = []
    for kind in ("additions", "multiplications"):
        printed_one: Polynomial = getattr(theirs, kind)
        for way in ways:
            ours: Polynomial = getattr(way, kind)
            for n in sizes:
                values = float(printed_one(n)), float(ours(n))
                found.append(
                    Formula(
                        PAPER, "equations of motion, steps 1 to 6", kind, str(printed_one), way.label, str(ours), n,
                        *values, values[1] / values[0],
                    )
                )  # fmt: skip
    return found


def non_recursive(on: printed.Setup) -> object:
    """The summed forms (38) to (43) in place of the recursions."""
    return printed.inertia_matrix(on, printed.tables_by_sums(on)), printed.generalized_forces(on)


def count_products(n: int) -> tuple[int, int]:
    """Return how many products of two matrices, and of a matrix with a vector, steps 1 to 6 take for n links."""
    found = {2: 0, 1: 0}

    class Noting(np.ndarray):
        """An array that notes the products it takes part in."""

        def __matmul__(self, other: Any) -> Any:
            found[min(np.ndim(self), np.ndim(other))] += 1
            return np.asarray(self).__matmul__(np.asarray(other)).view(Noting)

        def __rmatmul__(self, other: Any) -> Any:
            found[min(np.ndim(self), np.ndim(other))] += 1
            return np.asarray(other).__matmul__(np.asarray(self)).view(Noting)

    robot = isotropic(n)
    q, v, _ = robot.sample(1, seed=3)
    on = printed.setup(printed.chain_of(robot), printed.state_of(q[0], v[0]))
    noting = on._replace(
        A=[x.view(Noting) for x in on.A],
        R=[[x.view(Noting) for x in row] for row in on.R],
        B=[printed.Integrals(*(np.asarray(x).view(Noting) if np.ndim(x) else x for x in b)) for b in on.B],
    )
    printed.equations_of_motion(noting)
    return found[2], found[1]


def derivatives_taken(n: int) -> dict[str, int]:
    """Return how many partial and time derivatives of energies n links (2 n coordinates) take, by method.

    Gibbs-Appell: S by every acceleration. Lagrange: K by every rate, that by time, K and V by every coordinate.
    """
    per_coordinate = {"Gibbs-Appell": ("S by q''",), "Lagrange": ("K by q'", "d/dt", "K by q", "V by q")}
    return {method: 2 * n * len(kinds) for method, kinds in per_coordinate.items()}


def exponent(quantity: str, sizes: Sequence[int] = (2, 4, 8, 16, 32, 64)) -> float:
    """Return the slope of log flops over log n of `gibbs-appell-rp`, fitted over ``sizes``."""
    method = GibbsAppellRP()
    flops = [count_operations(method, random_rp_chain(n), quantity).flops for n in sizes]
    return float(np.polyfit(np.log(sizes), np.log(flops), 1)[0])
