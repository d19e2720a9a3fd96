"""Straight-line code for one state: ``i64 single(header, q, v, a, wrench, out)``, as `native.entry` calls it.

Every input is looked at, whether or not the result depends on it: a NaN in an angle that does not matter must be seen.
"""

from __future__ import annotations

from collections.abc import Sequence

from dynbench.methods.kernels.status import Status
from dynbench.methods.native import llvm
from dynbench.methods.traced import graph as g
from dynbench.methods.traced.graph import Graph, Symbol
from dynbench.methods.traced.writer import REDUCTION_LIMIT, WEIGHT, Writer, angles, declarations
from dynbench.robots.states import UNIT

NAME = "single"
ARGUMENTS = "qva"


def module(graph: Graph, arguments: int, quaternions: Sequence[int], W: int) -> str:
    """Return the IR.

    Parameters
    ----------
    graph : Graph
    arguments : int
        How many of q, v, a are given.
    quaternions : sequence of int
        Where in q quaternions begin.
    W : int
        Lanes for sines and cosines, which are computed side by side.
    """
    order = graph.live()
    w = Writer(1)
    w.line(f"define i64 @{NAME}(ptr %header, ptr %q, ptr %v, ptr %a, ptr %wrench, ptr %out) #0 {{", "entry:")
    inputs = {
        (k, i): w.let(f"load double, ptr {w.at(f'%{ARGUMENTS[k]}', i)}, align 8")
        for k in range(arguments)
        for i in range(graph.widths[k])
    }
    known = angles(graph, order)
    pairs = _sincos(w, graph, known, inputs, W)
    value: dict[int, str] = {}
    far: list[str] = []
    for n in order:
        op, a, b = graph.op[n], graph.a[n], graph.b[n]
        if op == g.INPUT:
            value[n] = inputs[a, b]
        elif op == g.CONSTANT:
            value[n] = w.number(a)
        elif op in (g.SINE, g.COSINE):
            if a not in pairs:
                far.append(w.call("fabs", value[a]))
                pairs[a] = w.sincos(value[a])
            value[n] = pairs[a][op - g.SINE]
        else:
            value[n] = w.operation(op, *(value[m] for m in graph.operands(n)))
    for j, x in enumerate(graph.outputs):
        result = w.number(float(x)) if not isinstance(x, Symbol) else value[x.node]
        if isinstance(x, Symbol) and x.sign < 0:
            result = w.negative(result)
        w.line(f"  store double {result}, ptr {w.at('%out', j)}, align 8")
    turned = {(graph.a[n], graph.b[n]) for n, _ in known.values()}
    w.line(f"  ret i64 {_status(w, inputs, turned, far, quaternions)}", "}")
    return declarations(1, W) + "\n".join(w.lines) + "\n" + llvm.attributes(width=64 * W)


def _sincos(
    w: Writer,
    graph: Graph,
    known: dict[int, tuple[int, float]],
    inputs: dict[tuple[int, int], str],
    W: int,
) -> dict[int, tuple[str, str]]:
    """Sines and cosines of inputs, W at a time in one register."""
    found: dict[int, tuple[str, str]] = {}
    wide = Writer(W)
    wide.lines = w.lines
    nodes = list(known)
    for start in range(0, len(nodes), W):
        part = nodes[start : start + W]
        x = "zeroinitializer"
        for lane, n in enumerate(part):
            source, offset = known[n]
            one = inputs[graph.a[source], graph.b[source]]
            if offset:
                one = w.binary("fadd", one, w.number(offset))
            x = w.let(f"insertelement {wide.type} {x}, double {one}, i32 {lane}")
        wide.count = w.count
        sine, cosine = wide.sincos(x)
        w.count = wide.count
        for lane, n in enumerate(part):
            both = [w.let(f"extractelement {wide.type} {y}, i32 {lane}") for y in (sine, cosine)]
            found[n] = both[0], both[1]
    return found


def _status(
    w: Writer,
    inputs: dict[tuple[int, int], str],
    turned: set[tuple[int, int]],
    far: list[str],
    quaternions: Sequence[int],
) -> str:
    """The status as an integer: a weighted sum tells NaN, angles out of range, and other numbers that are too large."""
    sizes = {place: w.call("fabs", x) for place, x in inputs.items()}
    total = _sum(w, [*(sizes[place] for place in sorted(turned)), *far])
    others = _sum(w, [x for place, x in sizes.items() if place not in turned])
    total = w.call("fma", others, w.number(WEIGHT), total)
    status = "0"
    for j in quaternions:
        square = w.number(-1.0)
        for k in range(4):
            square = w.call("fma", inputs[0, j + k], inputs[0, j + k], square)
        off = w.let(f"fcmp ugt double {w.call('fabs', square)}, {w.number(UNIT)}")
        status = w.let(f"select i1 {off}, i64 {int(Status.NOT_UNIT)}, i64 {status}")
    large = w.let(f"fcmp ogt double {total}, {w.number(REDUCTION_LIMIT)}")
    status = w.let(f"select i1 {large}, i64 {int(Status.TOO_LARGE)}, i64 {status}")
    unordered = w.let(f"fcmp uno double {total}, {total}")
    return w.let(f"select i1 {unordered}, i64 {int(Status.NOT_FINITE)}, i64 {status}")


def _sum(w: Writer, terms: list[str]) -> str:
    """The sum by halves, of which the processor adds several at once."""
    if len(terms) < 2:
        return terms[0] if terms else w.number(0.0)
    middle = len(terms) // 2
    return w.binary("fadd", _sum(w, terms[:middle]), _sum(w, terms[middle:]))
