"""The closed form of a quantity in LaTeX, for robots small enough that it can be read.

The graph is multiplied out to a sum of terms: a number, times powers of travels, rates, accelerations and quaternion
components, times the sine or cosine of a sum of angles. That form is unique: products of sines and cosines are written
as sums, so that nothing hides in sin^2 + cos^2. The numbers are those of the robot, with six digits.
"""

from __future__ import annotations

from typing import NamedTuple

from dynbench.methods.base import DERIVATIVES, Method
from dynbench.methods.traced import graph as g
from dynbench.methods.traced.export import Export, traced_for_export
from dynbench.methods.traced.graph import Graph, Symbol
from dynbench.robots.errors import UnsupportedError
from dynbench.robots.robot import Robot

MOST_TERMS = 200  # that are written
MOST_COUNTED = 20_000  # terms of one expression, beyond which counting stops
DIGITS = 6
NEGLIGIBLE = 1e-13  # relative to the largest number that a term was made of


class Term(NamedTuple):
    """What a number is multiplied by: the sine or cosine of a sum of angles, and powers of other inputs."""

    sine: bool
    angles: tuple[tuple[int, int], ...]  # (index in q, multiple), the first multiple above zero
    powers: tuple[tuple[tuple[int, int], int], ...]  # ((argument, index), power)


ONE = Term(False, (), ())
Sum = dict[Term, float]


class _TooMany(Exception):
    """An expression has more terms than are counted."""


def export_latex(method: Method, robot: Robot, quantity: str) -> str:
    """Return an align environment with one line per number of the result.

    Raises
    ------
    UnsupportedError
        If there are too many terms, with their number, or if the quantity has no closed form of this kind.
    """
    export = traced_for_export(method, robot, quantity, reduced=False)
    what = f"{quantity} of robot {robot.name!r} by {method.name!r}"
    try:
        sums = _multiplied_out(export.trace.graph, what)
    except _TooMany:
        raise UnsupportedError(
            f"{what} has more than {MOST_COUNTED} terms, the closed form is written for at most {MOST_TERMS}"
        ) from None
    count = sum(len(one) for one in sums)
    if count > MOST_TERMS:
        raise UnsupportedError(f"{what} has {count} terms, the closed form is written for at most {MOST_TERMS}")
    return _text(export, sums)


def _multiplied_out(graph: Graph, what: str) -> list[Sum]:
    value: dict[int, Sum] = {}
    angles = {graph.a[n] for n in graph.live() if graph.op[n] in (g.SINE, g.COSINE)}
    if any(graph.op[n] != g.INPUT for n in angles):
        raise UnsupportedError(f"{what} has sines of more than angles, and no closed form of this kind")
    for n in graph.live():
        op, a, b = graph.op[n], graph.a[n], graph.b[n]
        if op == g.INPUT:
            value[n] = {Term(False, (), (((a, b), 1),)): 1.0}
        elif op == g.CONSTANT:
            value[n] = {ONE: a}
        elif op in (g.SINE, g.COSINE):
            value[n] = {Term(op == g.SINE, ((graph.b[a], 1),), ()): 1.0}
        elif op in (g.ADD, g.SUBTRACT):
            value[n] = _added(value[a], value[b], 1.0 if op == g.ADD else -1.0)
        elif op == g.MULTIPLY:
            value[n] = _product(value[a], value[b])
        elif op == g.DIVIDE and set(value[b]) == {ONE}:
            value[n] = {term: x / value[b][ONE] for term, x in value[a].items()}
        else:
            raise UnsupportedError(
                f"{what} is not a sum of products: it divides by an expression or takes a root of one; "
                "mass_matrix and bias may have a closed form"
            )
        if len(value[n]) > MOST_COUNTED:
            raise _TooMany
    return [
        ({} if x == 0.0 else {ONE: float(x)})
        if not isinstance(x, Symbol)
        else {term: x.sign * number for term, number in value[x.node].items()}
        for x in graph.outputs
    ]


def _added(x: Sum, y: Sum, sign: float) -> Sum:
    found = dict(x)
    for term, number in y.items():
        before = found.get(term, 0.0)
        total = before + sign * number
        if abs(total) <= NEGLIGIBLE * max(abs(before), abs(number)):
            found.pop(term, None)
        else:
            found[term] = total
    return found


def _product(x: Sum, y: Sum) -> Sum:
    found: Sum = {}
    size: dict[Term, float] = {}
    for left, p in x.items():
        for right, r in y.items():
            powers = dict(left.powers)
            for place, power in right.powers:
                powers[place] = powers.get(place, 0) + power
            ordered = tuple(sorted(powers.items()))
            for sine, angles, factor in _turned(left, right):
                term = Term(sine, angles, ordered)
                found[term] = found.get(term, 0.0) + factor * p * r
                size[term] = max(size.get(term, 0.0), abs(factor * p * r))
        if len(found) > MOST_COUNTED:
            raise _TooMany
    return {term: number for term, number in found.items() if abs(number) > NEGLIGIBLE * size[term]}


def _turned(left: Term, right: Term) -> list[tuple[bool, tuple[tuple[int, int], ...], float]]:
    """The product of two sines or cosines as a sum: [(sine, angles, factor)]."""
    if not left.angles or not right.angles:
        return [(left.sine or right.sine, left.angles or right.angles, 1.0)]
    found = []
    for sign in (1, -1):
        multiples = dict(left.angles)
        for i, k in right.angles:
            multiples[i] = multiples.get(i, 0) + sign * k
        angles = tuple(sorted((i, k) for i, k in multiples.items() if k))
        # sin A sin B = (cos(A-B) - cos(A+B))/2, cos A cos B = (cos(A-B) + cos(A+B))/2, sin A cos B, cos A sin B
        sine = left.sine != right.sine
        factor = 0.5
        if left.sine and right.sine:
            factor = -0.5 * sign
        elif right.sine:
            factor = 0.5 * sign
        if angles and angles[0][1] < 0:
            angles = tuple((i, -k) for i, k in angles)
            factor = -factor if sine else factor
        if angles or not sine:  # the sine of nothing is zero
            found.append((sine, angles, factor))
    return found


# Text ---------------------------------------------------------------------------------------------------------------


def _text(export: Export, sums: list[Sum]) -> str:
    letters = [*export.arguments, "", ""]
    symbols = {"q": "q", "v": r"\dot q", "a": r"\ddot q", "tau": r"\tau"}
    names = [symbols.get(letter, "") for letter in letters]
    if export.robot.nq != export.robot.nv:
        names = ["q", "v", r"\dot v" if letters[2] == "a" else r"\tau"]
    lines = []
    for j, one in enumerate(sums):
        lines.append(f"{_left(export, j)} &= {_sum(one, names)}")
    joined = " \\\\\n".join(lines)
    title = f"% {export.quantity} of robot {export.robot.name!r} by {export.method.name!r}: SI units, radians"
    return f"{title}\n\\begin{{align*}}\n{joined}\n\\end{{align*}}\n"


def _left(export: Export, j: int) -> str:
    shape = export.shape
    if export.quantity in DERIVATIVES:
        rest, column = divmod(j, shape[2])
        part, row = divmod(rest, shape[1])
        upper = r"\tau" if export.quantity.startswith("inverse") else r"\ddot q"
        lower = "q" if part == 0 else r"\dot q"
        return rf"\partial {upper}_{{{row + 1}}} / \partial {lower}_{{{column + 1}}}"
    letter = {"forward_dynamics": r"\ddot q", "mass_matrix": "M", "bias": "h"}
    letter |= {"coriolis_matrix": "C", "regressor": "Y"}
    index = f"{j + 1}" if len(shape) == 1 else f"{j // shape[1] + 1},{j % shape[1] + 1}"
    return f"{letter.get(export.quantity, chr(92) + 'tau')}_{{{index}}}"


def _sum(one: Sum, names: list[str]) -> str:
    if not one:
        return "0"
    ordered = sorted(one.items(), key=lambda item: (item[0].powers[::-1], item[0].angles, item[0].sine), reverse=True)
    text = "".join(_term(term, number, names) for term, number in ordered)
    return text.removeprefix(" + ") if text.startswith(" + ") else f"-{text.removeprefix(' - ')}"


def _term(term: Term, number: float, names: list[str]) -> str:
    size = f"{abs(number):.{DIGITS}g}"
    if "e" in size:
        digits, _, exponent = size.partition("e")
        size = rf"{digits} \cdot 10^{{{int(exponent)}}}"
    factors = [] if size == "1" and term != ONE else [size]
    for (argument, i), power in term.powers:
        factors.append(f"{names[argument]}_{{{i + 1}}}" + (f"^{{{power}}}" if power > 1 else ""))
    if term.angles:
        inside = ""
        for i, k in term.angles:
            inside += f" {'-' if k < 0 else '+'} {abs(k) if abs(k) > 1 else ''}q_{{{i + 1}}}"
        inside = inside.removeprefix(" + ").strip()
        factors.append(rf"\{'sin' if term.sine else 'cos'}({inside})")
    product = r" \, ".join(factors)
    return f" {'-' if number < 0 else '+'} {product}"
