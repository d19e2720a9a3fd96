"""Operations of GDAHJ and of its rivals on serial chains of revolute joints, as polynomials in the number of joints.

Additions and multiplications count; sines and cosines do not, as in the printed formula. GDAHJ needs the poses of all
links in one frame. The authors' program computes them before its clock starts; composite bodies in link frames need
none. So GDAHJ is counted in three ways: poses given, poses from Denavit-Hartenberg parameters, and poses between frames
of any kind, which is what the method `gdahj` computes.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

from dynbench.benchmarks.papers.claims import Formula
from dynbench.methods.composite_link_frames import COS, OFFSET, ROW, SIN, A, CompositeLinkFrames, D
from dynbench.methods.gdahj import Gdahj, turned_inertia
from dynbench.methods.kernels.count import CountBuffer, Polynomial, Tally, count_polynomial, interpolate
from dynbench.methods.kernels.scalar import ONE, sincos
from dynbench.methods.kernels.vectors import cross, load3, load9
from dynbench.methods.newton_euler import NewtonEuler, crba
from dynbench.robots.families.trees import chain

PAPER = "safeea-gdahj"
SIZES = range(3, 9)  # where operations are counted
LIMIT = 13  # joints, "more than 13 DOF"
LARGEST = 30  # joints of the largest chain of the authors' program

# "(10n2+22n-32) mul + (6n2+37n-43) add"
PRINTED_MULTIPLICATIONS = Polynomial((Fraction(-32), Fraction(22), Fraction(10)))
PRINTED_ADDITIONS = Polynomial((Fraction(-43), Fraction(37), Fraction(6)))
PRINTED_ROTATION = {"additions": 19, "multiplications": 28}  # "In total cost is 19 add + 28 mul"

GIVEN, FROM_DH, ANY = "poses given", "poses from Denavit-Hartenberg parameters", "poses between any frames"
LINK_FRAMES, ONE_FRAME = "composite bodies in link frames", "composite bodies in one frame"


@functools.cache
def of_method(method: type[Any]) -> dict[str, Polynomial]:
    """Return the counts of a method's mass matrix by kind of operation."""
    return count_polynomial(method(), chain, "mass_matrix", SIZES)


def total(counts: dict[str, Polynomial]) -> Polynomial:
    """Additions and multiplications."""
    return plus(counts["additions"], counts["multiplications"])


def plus(a: Polynomial, b: Polynomial, sign: int = 1) -> Polynomial:
    """a + b, or a - b"""
    size = max(len(a.coefficients), len(b.coefficients))
    padded = ([*x.coefficients, *[Fraction(0)] * (size - len(x.coefficients))] for x in (a, b))
    return Polynomial(tuple(x + sign * y for x, y in zip(*padded, strict=True)))


@functools.cache
def poses() -> Polynomial:
    """Return the operations of the poses that `gdahj` computes: its outward sweep without the products p x k."""

    def count(n: int) -> int:
        robot, tally = chain(n), Tally()
        method = Gdahj()
        model = CountBuffer(method.pack(robot), tally)
        q = CountBuffer(robot.sample(1, seed=0)[0][0], tally)
        work = CountBuffer([math.nan] * (crba.WORK * (n + 1)), tally)
        axes = work[(n + 1) * crba.BODY :]
        crba.turns(ONE, model, q, work)
        for i in range(1, n + 1):
            crba.place(ONE, model, i, q, work, axes)
        swept = tally.additions + tally.multiplications
        for i in range(n):
            cross(load3(ONE, axes, i * crba.AXIS), load3(ONE, axes, i * crba.AXIS + 3))
        return 2 * swept - (tally.additions + tally.multiplications)

    return _through(count)


@functools.cache
def poses_from_dh() -> Polynomial:
    """Return the operations of the poses of all links in the frame of the first, from Denavit-Hartenberg parameters."""

    def count(n: int) -> int:
        robot, tally = chain(n), Tally()
        model = CountBuffer(CompositeLinkFrames().pack(robot), tally)
        dh_poses(model, CountBuffer(robot.sample(1, seed=0)[0][0], tally))
        return tally.additions + tally.multiplications

    return _through(count)


def dh_poses(model: Any, q: Any) -> list[tuple[list[list[Any]], list[Any]]]:
    """Return rotations (rows) and origins of all links in the frame of the first; ``model``: composite-link-frames'."""
    rotation: list[list[Any]] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    found = [(rotation, [0.0, 0.0, 0.0])]
    for i in range(1, len(q)):
        before, origin = found[-1]
        o = i * ROW
        ca, sa, a, d = model[o + COS], model[o + SIN], model[o + A], model[o + D]
        s, c = sincos(q[i] + model[o + OFFSET])
        rotation, moved = [], []
        for (x, y, z), p in zip(before, origin, strict=True):
            y, z = y * ca + z * sa, z * ca - y * sa
            rotation.append([x * c + y * s, y * c - x * s, z])
            moved.append(p + x * a + z * d)
        found.append((rotation, moved))
    return found


def _through(count: Any) -> Polynomial:
    found = interpolate(SIZES, [count(n) for n in SIZES])
    if found is None:
        raise ArithmeticError(f"the counts are no polynomial in n: {[count(n) for n in SIZES]}")
    return found


def gdahj(way: str) -> Polynomial:
    """Return the operations of GDAHJ, counted in one of three ways."""
    whole = total(of_method(Gdahj))
    if way == ANY:
        return whole
    rest = plus(whole, poses(), -1)
    return rest if way == GIVEN else plus(rest, poses_from_dh())


def fewer_from(ours: Polynomial, theirs: Polynomial) -> int | None:
    """Return the number of joints from which on the first takes fewer operations, up to `LARGEST`; None: never."""
    sizes = [n for n in range(2, LARGEST + 1) if ours(n) >= theirs(n)]
    last = max(sizes, default=1)
    return None if last == LARGEST else last + 1


def crossings() -> dict[str, int | None]:
    """Return from how many joints on GDAHJ takes fewer operations, by what is compared."""
    rival = total(of_method(CompositeLinkFrames))
    found = {f"{way}, against {LINK_FRAMES}": fewer_from(gdahj(way), rival) for way in (GIVEN, FROM_DH, ANY)}
    found[f"{ANY}, against {ONE_FRAME}"] = fewer_from(gdahj(ANY), total(of_method(NewtonEuler)))
    return found


def rotation_counts() -> dict[str, int]:
    """Return the operations by which `gdahj` turns the inertia of a link into the common frame."""
    tally = Tally()
    numbers = CountBuffer([0.5] * 15, tally)
    turned_inertia(numbers[0], load9(ONE, numbers, 1), load3(ONE, numbers, 10), (numbers[13], numbers[14]))
    return {"additions": tally.additions, "multiplications": tally.multiplications}


def formulas(sizes: tuple[int, ...] = (3, 6, 10, 20, 30)) -> list[Formula]:
    """Return the printed formula of composite bodies beside our count of the same algorithm."""
    counted = of_method(CompositeLinkFrames)
    found = []
    for kind, printed in (("additions", PRINTED_ADDITIONS), ("multiplications", PRINTED_MULTIPLICATIONS)):
        ours = counted[kind]
        for n in sizes:
            values = float(printed(n)), float(ours(n))
            found.append(
                Formula(
                    PAPER, "mass matrix, composite bodies in link frames", kind, str(printed),
                    "timed source: composite-link-frames", str(ours), n, *values, values[1] / values[0],
                )
            )  # fmt: skip
    return found
