"""From a kernel and a robot to the smallest graph of operations: the kernel is run on symbols, in several variants.

Which frames and which grouping of inertias leave the fewest operations differs from robot to robot and from method to
method, so all that apply are traced and the smallest is kept. What applies is found out, not declared: frames may
change for joint-space quantities of trees without springs (whose ends are in body frames), and inertias may be
regrouped for kernels that read no more of a body than mass, first moment and inertia at the origin.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dynbench.methods.base import QUANTITIES, width
from dynbench.methods.kernels import extras, tree, triangle
from dynbench.methods.kernels.count import Operations
from dynbench.methods.kernels.scalar import ONE
from dynbench.methods.traced import graph as g
from dynbench.methods.traced import reduce
from dynbench.methods.traced.graph import Buffer, Graph, Symbol, TooLarge
from dynbench.robots.robot import FloatArray, Robot

if TYPE_CHECKING:
    from dynbench.methods.generic_code import Kernel
    from dynbench.methods.kernel_method import KernelMethod

LIMIT = 20_000  # operations of a graph that is compiled; beyond it compiling takes seconds
JOINT_SPACE = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias")  # the same in all frames
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
        What was done to the robot's numbers: "plain", "aligned", "regrouped" or "aligned, regrouped".
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
    first, read = _traced(method, clean, quantity, limit)
    found["plain"] = first
    if reduced and quantity in JOINT_SPACE and robot.is_tree and not (robot.is_elastic or robot.has_springs):
        aligned, offsets = reduce.align(clean)
        if method.supports(aligned) is None:
            found["aligned"] = _traced(method, aligned, quantity, limit, offsets)[0]
        if read <= KEPT_BY_REGROUPING and _uses_packed_tree(method):
            found["regrouped"] = _traced(method, clean, quantity, limit, regrouped=True)[0]
            if "aligned" in found:
                found["aligned, regrouped"] = _traced(method, aligned, quantity, limit, offsets, regrouped=True)[0]
    counts = {name: operations(graph) for name, graph in found.items()}
    best = min(counts, key=lambda name: counts[name].flops)
    return Trace(found[best], best, counts, time.perf_counter() - begun)


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
) -> tuple[Graph, set[int]]:
    """One variant, and which places of a packed row the kernel has read."""
    run = method.build(robot).runs[quantity]
    model, begin = run.model, extras.begin(run.model) if robot.has_extras and not robot.has_springs else 0
    if regrouped:
        model = np.concatenate([model[:begin], reduce.regroup(model[begin:])])
    return run_on_symbols(run.kernel, model, run.size, robot, quantity, limit, offsets or {}, begin)


def run_on_symbols(
    kernel: Kernel,
    model: FloatArray,
    size: int,
    robot: Robot,
    quantity: str,
    limit: int,
    offsets: Mapping[int, float],
    begin: int = 0,
) -> tuple[Graph, set[int]]:
    """Run a kernel on symbols; return the graph, and which places of a packed row were read.

    ``begin`` is where the method's own model begins: the coefficients of joint extras are before it.
    """
    kinds = QUANTITIES[quantity]
    last = "tau" if kinds.arguments[-1] == "tau" else "a"
    graph = Graph((robot.nq, robot.nv, width(robot, last)), 6 * limit)  # some nodes turn out not to be needed
    q = Buffer(graph.input(0, i) + offsets.get(i, 0.0) for i in range(robot.nq))
    v = Buffer(graph.input(1, i) for i in range(robot.nv))
    a = Buffer(graph.input(2, i) for i in range(graph.widths[2]))
    if kinds.arguments == ("q", "v"):
        a = Buffer([0.0] * robot.nv)
    shape = kinds.shape(robot)
    matrix = kinds.arguments == ("q",)
    out = Buffer([0.0] * int(np.prod(shape)))
    work = Buffer([g.unset()] * size)
    numbers = Buffer((float(x) for x in model), noted=True)
    try:
        kernel(ONE, numbers, q, *(() if matrix else (v, a, None)), out, work)
    except TooLarge:
        raise TooLarge(f"it takes more than {limit} operations, the largest number that is compiled") from None
    cells = out.cells
    if matrix:  # each number was computed once, and those that do not couple not at all
        cells = [*cells, 0.0]
        cells = [cells[place] for place in triangle.places(robot, shape[0])]
    graph.outputs = cells
    read = numbers.read or set()
    count = len(graph.live())
    if count > limit:
        raise TooLarge(f"it takes {count} operations, more than {limit}, the largest number that is compiled")
    return graph, {(place - begin) % tree.ROW for place in read if place >= begin + tree.ROW}


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


def inputs_used(graph: Graph) -> set[tuple[int, int]]:
    """Return which inputs (argument, index) matter to the outputs."""
    return {(graph.a[n], graph.b[n]) for n in graph.live() if graph.op[n] == g.INPUT}


__all__ = ["JOINT_SPACE", "LIMIT", "Symbol", "TooLarge", "Trace", "inputs_used", "operations", "trace"]
