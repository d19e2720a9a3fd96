"""From a kernel and a robot to the smallest graph of operations: the kernel is run on symbols, in several variants.

Which frames and which grouping of inertias leave the fewest operations differs from robot to robot and from method to
method, so all that apply are traced and the smallest is kept. What applies is found out, not declared: frames may
change for joint-space quantities of trees without springs (whose ends are in body frames), and inertias may be
regrouped for kernels that read no more of a body than mass, first moment and inertia at the origin.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dynbench.methods.base import DERIVATIVES, QUANTITIES, width
from dynbench.methods.kernels import extras, tree, triangle
from dynbench.methods.kernels.cells import Cells
from dynbench.methods.kernels.count import Operations
from dynbench.methods.kernels.dual import NEAR_LOOPS, ON_LOOPS, directions, lifted, zero_if_lifted
from dynbench.methods.kernels.scalar import ONE
from dynbench.methods.traced import graph as g
from dynbench.methods.traced import reduce
from dynbench.methods.traced.derive import derivatives
from dynbench.methods.traced.graph import Graph, Symbol, TooLarge
from dynbench.robots.robot import FloatArray, Robot

if TYPE_CHECKING:
    from dynbench.methods.generic_code import Kernel
    from dynbench.methods.kernel_method import KernelMethod

LIMIT = 20_000  # operations of a graph that is compiled; beyond it compiling takes seconds
# the same in all frames
JOINT_SPACE = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias", *DERIVATIVES)
KEPT_BY_REGROUPING = {  # places of a packed row that mean the same after regrouping
    *range(tree.KIND, tree.COM), tree.ROOT, tree.SEGMENT_START, tree.SEGMENT_PARENT,
    *range(tree.SECOND_MOMENT, tree.SECOND_MOMENT + 6), tree.ARMATURE, tree.ROTOR,
}  # fmt: skip


@dataclass(frozen=True)
class Trace:
    """A quantity of a robot as a graph.

    Attributes
    ----------
    graph : Graph
        Its outputs are the result, flat.
    variant : str
        What was done to the robot's numbers: "plain", "aligned", "regrouped" or "aligned, regrouped". Derivatives add
        how they were made: "recursion, plain", "plain, forward", "aligned, reverse".
    counts : dict
        Operations by variant; "plain" is the robot as it is.
    seconds : float
        How long tracing took, all variants together.
    """

    graph: Graph
    variant: str
    counts: Mapping[str, Operations]
    seconds: float

    @property
    def operations(self) -> Operations:
        """Operations of the graph."""
        return self.counts[self.variant]


def trace(
    method: KernelMethod, robot: Robot, quantity: str, limit: int = LIMIT, reduced: bool = True
) -> Trace:
    """Return the smallest graph of a quantity, or with ``reduced=False`` that of the robot as it is.

    Raises
    ------
    TooLarge
        If no variant has so few operations.
    """
    begun = time.perf_counter()
    clean = reduce.tidy(robot)
    found: dict[str, Graph] = {}
    refused: list[TooLarge] = []
    if quantity not in DERIVATIVES:
        found = _variants(method, clean, quantity, limit, reduced)
    else:
        computed = method.build(clean).runs
        if quantity in computed:
            with _noted(refused):
                found |= {f"recursion, {k}": x for k, x in _variants(method, clean, quantity, limit, reduced).items()}
        if DERIVATIVES[quantity] in computed:
            with _noted(refused):
                found |= _variants(method, clean, quantity, limit, reduced, derived=True)
        if not found:
            raise refused[-1]
    counts = {name: operations(graph) for name, graph in found.items()}
    best = min(counts, key=lambda name: counts[name].flops)
    return Trace(found[best], best, counts, time.perf_counter() - begun)


@contextlib.contextmanager
def _noted(refused: list[TooLarge]) -> Iterator[None]:
    """Go on after a `TooLarge`, which is kept."""
    try:
        yield
    except TooLarge as error:
        refused.append(error)


def _variants(
    method: KernelMethod, robot: Robot, quantity: str, limit: int, reduced: bool, derived: bool = False
) -> dict[str, Graph]:
    """The graphs of a quantity by variant; of derivatives that are ``derived`` also by mode, forward and reverse."""
    found: dict[str, Graph] = {}

    def add(name: str, robot: Robot, offsets: Mapping[int, float] | None = None, regrouped: bool = False) -> set[int]:
        graphs, read = _traced(method, robot, quantity, limit, offsets, regrouped, derived)
        found.update({", ".join(filter(None, (name, mode))): graph for mode, graph in graphs.items()})
        return read

    read = add("plain", robot)
    if reduced and quantity in JOINT_SPACE and robot.is_tree and not (robot.is_elastic or robot.has_springs):
        aligned, offsets = reduce.align(robot)
        fits = method.supports(aligned) is None
        if fits:
            add("aligned", aligned, offsets)
        if read <= KEPT_BY_REGROUPING and _uses_packed_tree(method):
            add("regrouped", robot, regrouped=True)
            if fits:
                add("aligned, regrouped", aligned, offsets, regrouped=True)
    return found


def _uses_packed_tree(method: KernelMethod) -> bool:
    from dynbench.methods.kernel_method import KernelMethod

    return type(method).pack is KernelMethod.pack


def _traced(
    method: KernelMethod,
    robot: Robot,
    quantity: str,
    limit: int,
    offsets: Mapping[int, float] | None = None,
    regrouped: bool = False,
    derived: bool = False,
) -> tuple[dict[str, Graph], set[int]]:
    """One variant, and which places of a packed row the kernel has read; the graphs of derivatives by mode."""
    run = method.build(robot).runs[DERIVATIVES[quantity] if derived else quantity]
    model, begin = run.model, extras.begin(run.model) if robot.has_extras and not robot.has_springs else 0
    if regrouped:
        model = np.concatenate([model[:begin], reduce.regroup(model[begin:])])
    found = run_on_symbols(run.kernel, model, run.size, robot, quantity, limit, offsets or {}, derived)
    read = {(place - begin) % tree.ROW for place in found.read if place >= begin + tree.ROW}
    return found.graphs, read


class Found(NamedTuple):
    """What running a kernel on symbols gives: its graphs, by mode (derivatives) or "", and places that were read."""

    graphs: dict[str, Graph]
    read: set[int]


def run_on_symbols(
    kernel: Kernel,
    model: FloatArray,
    size: int,
    robot: Robot,
    quantity: str,
    limit: int,
    offsets: Mapping[int, float],
    derived: bool = False,
) -> Found:
    """Run a kernel on symbols; return the graph, and which places of the model were read.

    With ``derived`` the kernel is that of the quantity whose derivatives are wanted, and the graph is differentiated.
    """
    kinds = QUANTITIES[quantity]
    last = "tau" if kinds.arguments[-1] == "tau" else "a"
    # some nodes turn out not to be needed
    graph = Graph((robot.nq, robot.nv, width(robot, last)), (12 if derived else 6) * limit)
    q = Cells(graph.input(0, i) + offsets.get(i, 0.0) for i in range(robot.nq))
    v = Cells(graph.input(1, i) for i in range(robot.nv))
    a = Cells(graph.input(2, i) for i in range(graph.widths[2]))
    if kinds.arguments == ("q", "v"):
        a = Cells([0.0] * robot.nv)
    shape = (QUANTITIES[DERIVATIVES[quantity]] if derived else kinds).shape(robot)
    matrix = kinds.arguments == ("q",)
    out = Cells([0.0] * int(np.prod(shape)))
    work = Cells([g.unset()] * size)
    numbers = Cells((float(x) for x in model), noted=True)
    graphs = {"": graph}
    try:
        columns, valid = None, 0.0
        if derived and not robot.is_tree:  # a function of the actuated coordinates
            force = last == "tau"
            speeds, rates, columns = lifted(robot, q, v, Cells([0.0] * robot.nv) if force else a)
            valid = zero_if_lifted(v, speeds, NEAR_LOOPS if force else ON_LOOPS)
            if not force:
                valid = valid + zero_if_lifted(a, rates, ON_LOOPS)
                a = Cells(rates)
            v = Cells(speeds)
        kernel(ONE, numbers, q, *(() if matrix else (v, a, None)), out, work)
        cells = out.cells
        if matrix:  # each number was computed once, and those that do not couple not at all
            cells = [*cells, 0.0]
            cells = [cells[place] for place in triangle.places(robot, shape[0])]
        graph.outputs = cells
        if derived:
            chosen = robot.actuated if last == "tau" else range(len(cells))
            graph.outputs = [cells[i] + valid for i in chosen]
            ways = [{(0, i): x for i, x in way.items()} for way in directions(robot, q, columns)]
            ways += [{(1, int(i)): 1.0} for i in robot.actuated]
            graphs = derivatives(graph, ways)
    except TooLarge:
        raise TooLarge(f"it takes more than {limit} operations, the largest number that is compiled") from None
    counts = {mode: len(one.live()) for mode, one in graphs.items()}
    count = min(counts.values())
    if count > limit:
        raise TooLarge(f"it takes {count} operations, more than {limit}, the largest number that is compiled")
    return Found({mode: one for mode, one in graphs.items() if counts[mode] <= limit}, numbers.read or set())


def operations(graph: Graph) -> Operations:
    """Count the operations of a graph; a guard is a square root and a product."""
    of = dict.fromkeys(range(len(g.Op)), 0)
    pairs = set()
    for n in graph.live():
        of[graph.op[n]] += 1
        if graph.op[n] in (g.SINE, g.COSINE):
            pairs.add(graph.a[n])
    return Operations(
        additions=of[g.ADD] + of[g.SUBTRACT],
        multiplications=of[g.MULTIPLY] + of[g.GUARD],
        divisions=of[g.DIVIDE],
        square_roots=of[g.SQUARE_ROOT] + of[g.GUARD],
        sincos=len(pairs),
    )


__all__ = ["JOINT_SPACE", "LIMIT", "Symbol", "TooLarge", "Trace", "operations", "trace"]
