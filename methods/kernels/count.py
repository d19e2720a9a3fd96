"""Operation counts: the source that is timed, run on scalars that count operations.

A `Count` is a number that adds one to a shared `Tally` for every operation. Model, state and workspace all consist of
them, so an operation on two constants of the model is counted like any other. Subtractions count as additions. Not
counted: negations and copies (free, or merged into another instruction in compiled code), integer arithmetic on
indices, and operations between two literals of the source, which the compiler evaluates.

A kernel must not branch on data, so its counts depend only on the structure of the robot. On a family of robots that
grows by equal parts they are polynomials in n, which `count_polynomial` finds exactly.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dynbench.methods.base import QUANTITIES
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.kernel_run import Kernel
from dynbench.methods.kernels.cells import Cells
from dynbench.methods.kernels.linear import mirror
from dynbench.methods.kernels.scalar import ONE
from dynbench.robots.errors import MethodError
from dynbench.robots.robot import FloatArray, Robot

SINCOS_FLOPS = 38  # floating-point operations of the polynomials in `pack`, a fused multiply-add being two


@dataclass(frozen=True)
class Operations:
    """How many operations one evaluation takes. ``sincos`` counts pairs: a sine with its cosine."""

    additions: int
    multiplications: int
    divisions: int
    square_roots: int
    sincos: int

    @property
    def flops(self) -> int:
        """All operations, with `SINCOS_FLOPS` for a sincos."""
        return self.additions + self.multiplications + self.divisions + self.square_roots + SINCOS_FLOPS * self.sincos


@dataclass
class Tally:
    """Operations so far."""

    additions: int = 0
    multiplications: int = 0
    divisions: int = 0
    square_roots: int = 0
    sincos: int = 0


class Count:
    """A number that counts the operations on it. It has no comparisons: a kernel must not branch on data."""

    __slots__ = ("tally", "value")

    def __init__(self, value: float, tally: Tally) -> None:
        self.value = float(value)
        self.tally = tally

    def __add__(self, other: Count | float) -> Count:
        self.tally.additions += 1
        return Count(self.value + float(other), self.tally)

    def __sub__(self, other: Count | float) -> Count:
        self.tally.additions += 1
        return Count(self.value - float(other), self.tally)

    def __rsub__(self, other: float) -> Count:
        self.tally.additions += 1
        return Count(other - self.value, self.tally)

    def __mul__(self, other: Count | float) -> Count:
        self.tally.multiplications += 1
        return Count(self.value * float(other), self.tally)

    def __truediv__(self, other: Count | float) -> Count:
        self.tally.divisions += 1
        return Count(self.value / float(other), self.tally)

    def __rtruediv__(self, other: float) -> Count:
        self.tally.divisions += 1
        return Count(other / self.value, self.tally)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Count:
        return Count(-self.value, self.tally)

    def sincos(self) -> tuple[Count, Count]:
        self.tally.sincos += 1
        return Count(math.sin(self.value), self.tally), Count(math.cos(self.value), self.tally)

    def sqrt(self) -> Count:
        self.tally.square_roots += 1
        return Count(math.sqrt(self.value), self.tally)

    def guard(self) -> Count:
        return self.sqrt() * 0.0

    def choose(self, other: Count | float, a: Count | float, b: Count | float) -> Count:
        """Not counted: a comparison and a copy."""
        return Count(float(a) if self.value > float(other) else float(b), self.tally)

    def __float__(self) -> float:
        return self.value

    def __int__(self) -> int:
        return int(self.value)

    def __bool__(self) -> bool:
        raise TypeError("a kernel must not branch on data: the lanes of a pack may need different branches")

    def __lt__(self, other: object) -> bool:
        return bool(self)

    __le__ = __gt__ = __ge__ = __lt__


class CountBuffer(Cells):
    """A flat buffer of counting scalars. Literals stored in it are converted.

    Indices are checked: compiled code does not, and what it then reads or writes is any memory.
    """

    def __init__(self, values: Iterable[float], tally: Tally, name: str = "buffer") -> None:
        super().__init__(Count(value, tally) for value in values)
        self.tally = tally
        self.name = name

    def __getitem__(self, i: Any) -> Any:
        if not isinstance(i, slice):
            self._check(i)
        return super().__getitem__(i)

    def __setitem__(self, i: int, x: Any) -> None:
        self._check(i)
        super().__setitem__(i, x if isinstance(x, Count) else Count(x, self.tally))

    def _check(self, i: int) -> None:
        if not 0 <= i < len(self.places):
            raise IndexError(f"index {i} is out of range of {self.name!r}, which has {len(self.places)} numbers")


def count_operations(method: KernelMethod, robot: Robot, quantity: str, wrench: bool = False) -> Operations:
    """Return the operations of one evaluation of a quantity (of bias: those of inverse dynamics, which it runs).

    Parameters
    ----------
    method : KernelMethod
    robot : Robot
    quantity : str
        One that the method computes.
    wrench : bool
        Whether external wrenches are given.
    """
    return run_counting(method, robot, quantity, wrench)[0]


def run_counting(
    method: KernelMethod, robot: Robot, quantity: str, wrench: bool = False, seed: int = 0
) -> tuple[Operations, list[float]]:
    """Return the operations, and the result (flat) for the robot's first sampled state of ``seed``."""
    method.require(robot)
    if quantity not in method.computes:
        raise MethodError(f"method {method.name!r} does not compute {quantity!r}, only {', '.join(method.computes)}")
    kernel, packed, size = _what_runs(method, robot, quantity)
    tally = Tally()
    q, v, a = (x[0] for x in robot.sample(1, seed=seed))
    if QUANTITIES[quantity].arguments[-1] == "tau":
        a = a[robot.actuated]
    q, v, a = (CountBuffer(x, tally, name) for x, name in ((q, "q"), (v, "v"), (a, "a")))
    push = CountBuffer([1.0] * (6 * robot.n), tally, "wrench") if wrench else None
    model = CountBuffer(packed, tally, "model")
    out = CountBuffer([0.0] * math.prod(QUANTITIES[quantity].shape(robot)), tally, "out")
    work = CountBuffer([math.nan] * size, tally, "work")
    matrix = QUANTITIES[quantity].arguments == ("q",)
    kernel(ONE, model, q, *(() if matrix else (v, a, push)), out, work)
    if matrix:
        mirror(ONE, out, 0, QUANTITIES[quantity].shape(robot)[0])
    return Operations(**dataclasses.asdict(tally)), [float(x) for x in out]


def _what_runs(method: KernelMethod, robot: Robot, quantity: str) -> tuple[Kernel, FloatArray, int]:
    """The kernel that a call runs, its packed model and workspace size; with loops these differ from the tree's."""
    run = method.prepare(robot).runs[quantity]
    return run.kernel, run.model, run.size


@dataclass(frozen=True)
class Polynomial:
    """An exact polynomial in n; ``coefficients[k]`` belongs to n^k."""

    coefficients: tuple[Fraction, ...]

    @property
    def degree(self) -> int:
        return len(self.coefficients) - 1

    def __call__(self, n: int) -> Fraction:
        return sum((c * n**k for k, c in enumerate(self.coefficients)), Fraction(0))

    def __str__(self) -> str:
        powers = ("", " n", *(f" n^{k}" for k in range(2, len(self.coefficients))))
        terms = [(c, power) for c, power in zip(self.coefficients, powers, strict=False) if c][::-1]
        text = "".join(f" {'-' if c < 0 else '+'} {abs(c)}{power}" for c, power in terms) or " + 0"
        return text.removeprefix(" + ").strip().replace(" 1 n", " n").removeprefix("1 ")


def count_polynomial(
    method: KernelMethod, family: Callable[[int], Robot], quantity: str, sizes: Sequence[int]
) -> dict[str, Polynomial]:
    """Return the counts on a family of robots as polynomials in its size n.

    Parameters
    ----------
    method : KernelMethod
    family : callable
        The robot of size n, such as `dynbench.robots.families.trees.chain`.
    quantity : str
    sizes : sequence of int
        Where to count. A polynomial of degree d must pass through all of these points, at least d + 3.

    Returns
    -------
    dict
        A `Polynomial` for each field of `Operations`, and for "flops".

    Raises
    ------
    MethodError
        If no polynomial of low enough degree passes through the counts, which are then listed.
    """
    counts = [count_operations(method, family(n), quantity) for n in sizes]
    names = [*(field.name for field in dataclasses.fields(Operations)), "flops"]
    found = {}
    for name in names:
        values = [getattr(count, name) for count in counts]
        polynomial = interpolate(sizes, values)
        if polynomial is None:
            raise MethodError(
                f"{name} of {quantity} by {method.name!r} are no polynomial of degree {max(0, len(sizes) - 3)} "
                f"or less in n: {dict(zip(sizes, values, strict=True))}"
            )
        found[name] = polynomial
    return found


def interpolate(sizes: Sequence[int], values: Sequence[int]) -> Polynomial | None:
    """The polynomial through all points with at least two points to confirm it, or None."""
    coefficients: list[Fraction] = []
    basis = [Fraction(1)]  # (n - sizes[0]) (n - sizes[1]) ..., Newton's form
    for k in range(len(sizes) - 2):
        known = Polynomial(tuple(coefficients) or (Fraction(0),))
        scale = Polynomial(tuple(basis))(sizes[k])
        step = (values[k] - known(sizes[k])) / scale
        coefficients = [c + step * b for c, b in zip([*coefficients, Fraction(0)], basis, strict=True)]
        fitted = Polynomial(tuple(coefficients))
        if all(fitted(n) == value for n, value in zip(sizes, values, strict=True)):
            return fitted
        basis = [a - sizes[k] * b for a, b in zip([Fraction(0), *basis], [*basis, Fraction(0)], strict=True)]
    return None
