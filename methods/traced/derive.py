"""Derivatives of a traced graph, in the same graph: forward, a direction at a time, or reverse, an output at a time.

Both leave out what is zero; which of them leaves fewer operations depends on the graph, so `derivatives` does both.
Guards of the graph are added to all results: a state that has no answer has no derivatives.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

from dynbench.methods.traced import graph as g
from dynbench.methods.traced.graph import Graph, Symbol, Value

Direction = Mapping[tuple[int, int], Value]  # (argument, index) -> derivative of that input, where it is not zero
TINY = 1e-300  # of `kernels.extras.sign`


def symbol(graph: Graph, n: int) -> Value:
    """A node as a value: a number if it is a constant."""
    return graph.a[n] if graph.op[n] == g.CONSTANT else Symbol(graph, n, 1)


def is_zero(x: Value) -> bool:
    return not isinstance(x, Symbol) and x == 0.0


def is_sign(graph: Graph, n: int) -> bool:
    """Whether a node is x / sqrt(x x + tiny), the sign of x: its derivative is taken as zero, at x = 0 too."""
    a, b = graph.a[n], graph.b[n]
    if graph.op[b] != g.SQUARE_ROOT or graph.op[inner := graph.a[b]] != g.ADD:
        return False
    tiny, square = graph.a[inner], graph.b[inner]
    known = graph.op[tiny] == g.CONSTANT and graph.a[tiny] == TINY
    return bool(known and graph.op[square] == g.MULTIPLY and graph.a[square] == graph.b[square] == a)


def partials(graph: Graph, n: int) -> list[tuple[int, Value]]:
    """The operands of a node that are not constants, each with the node's derivative by it."""
    op, a, b = graph.op[n], graph.a[n], graph.b[n]
    found: list[tuple[int, Value]] = []
    if op == g.ADD:
        found = [(a, 1.0), (b, 1.0)]
    elif op == g.SUBTRACT:
        found = [(a, 1.0), (b, -1.0)]
    elif op == g.MULTIPLY:
        found = [(a, 2.0 * symbol(graph, a))] if a == b else [(a, symbol(graph, b)), (b, symbol(graph, a))]
    elif op == g.DIVIDE and not is_sign(graph, n):
        inverse = 1.0 / symbol(graph, b)
        found = [(a, inverse), (b, -(Symbol(graph, n, 1) * inverse))]
    elif op == g.SINE:
        found = [(a, Symbol(graph, graph.node(g.COSINE, a), 1))]
    elif op == g.COSINE:
        found = [(a, Symbol(graph, graph.node(g.SINE, a), -1))]
    elif op == g.SQUARE_ROOT:
        found = [(a, 0.5 / Symbol(graph, n, 1))]
    return [(m, x) for m, x in found if graph.op[m] != g.CONSTANT]


def forward(graph: Graph, outputs: Sequence[Value], ways: Sequence[Direction]) -> list[list[Value]]:
    """Return, for each direction, the derivatives of all outputs."""
    order, local = _prepared(graph)
    columns = []
    for way in ways:
        rate: dict[int, Value] = {
            n: x for place, x in way.items() if (n := graph.known.get((g.INPUT, *place))) is not None
        }
        for n in order:
            total: Value = 0.0
            for m, x in local[n]:
                if m in rate:
                    total = total + rate[m] * x
            if not is_zero(total):
                rate[n] = total
        columns.append([rate.get(x.node, 0.0) * x.sign if isinstance(x, Symbol) else 0.0 for x in outputs])
    return columns


def reverse(graph: Graph, outputs: Sequence[Value], ways: Sequence[Direction]) -> list[list[Value]]:
    """Return, for each direction, the derivatives of all outputs; computed by outputs."""
    order, local = _prepared(graph)
    backward = order[::-1]
    columns: list[list[Value]] = [[] for _ in ways]
    for output in outputs:
        bar: dict[int, Value] = {output.node: float(output.sign)} if isinstance(output, Symbol) else {}
        for n in backward:
            if not is_zero(bar.get(n, 0.0)):
                for m, x in local[n]:
                    bar[m] = bar.get(m, 0.0) + bar[n] * x
        for column, way in zip(columns, ways, strict=True):
            total = 0.0
            for place, x in way.items():
                total = total + bar.get(graph.known.get((g.INPUT, *place), -1), 0.0) * x
            column.append(total)
    return columns


def _prepared(graph: Graph) -> tuple[list[int], dict[int, list[tuple[int, Value]]]]:
    """Operations in order, and the derivatives of each by its operands."""
    order = [n for n in graph.live() if graph.op[n] not in g.LEAVES]
    return order, {n: partials(graph, n) for n in order}


def derivatives(graph: Graph, ways: Sequence[Direction]) -> dict[str, Graph]:
    """Return the derivatives of the outputs of a graph in the given directions, as graphs by mode.

    Their outputs are two matrices by rows, (2, outputs, half of the directions). They share their nodes.
    """
    outputs = list(graph.outputs)
    guard = sum(Symbol(graph, n, 1) for n in graph.live() if graph.op[n] == g.GUARD)
    found: dict[str, Graph] = {}
    for name, mode in (("forward", forward), ("reverse", reverse)):
        columns = mode(graph, outputs, ways)
        half = len(ways) // 2
        flat = [columns[k * half + j][i] for k in range(2) for i in range(len(outputs)) for j in range(half)]
        found[name] = copy.copy(graph)
        found[name].outputs = [x + guard for x in flat]
    return found
