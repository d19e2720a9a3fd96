"""What code for rows of states keeps where: the operations cut into chunks, and a slot for what lives between them.

A slot holds one number of every state of a block (`batch`). Inputs, sines and cosines of angles, and results have slots
of their own; the slot of a value that no later chunk needs is used again.
"""

from __future__ import annotations

from itertools import pairwise

from dynbench.methods.traced import graph as g
from dynbench.methods.traced.graph import Graph, Symbol
from dynbench.methods.traced.writer import angles


def chunks(graph: Graph, order: list[int], size: int) -> list[list[int]]:
    """Cut operations into parts of about ``size``, where the fewest values are alive."""
    position = {n: i for i, n in enumerate(order)}
    last = list(range(len(order)))
    for i, n in enumerate(order):
        for m in graph.operands(n):
            if m in position:
                last[position[m]] = max(last[position[m]], i)
    ending = [0] * len(order)
    for i in last:
        ending[i] += 1
    alive, now = [0], 0
    for i in range(len(order)):
        now += 1 - ending[i]
        alive.append(now)
    cuts = [0]
    while len(order) - cuts[-1] > 1.25 * size:
        begin, end = cuts[-1] + int(0.7 * size), min(cuts[-1] + int(1.2 * size), len(order))
        cuts.append(min(range(begin, end), key=lambda i: alive[i]))
    cuts.append(len(order))
    return [order[a:b] for a, b in pairwise(cuts) if b > a]


class Plan:
    """Chunks and slots of one graph; ``slots`` counts those that are taken."""

    def __init__(self, graph: Graph, arguments: int, chunk: int) -> None:
        self.graph = graph
        self.slots = 0
        order = graph.live()
        self.first = [self.take(graph.widths[k]) for k in range(arguments)]  # slots of q, v, a
        self.angles = angles(graph, order)
        self.sines = self.take(2 * len(self.angles))
        self.place: dict[int, int] = {}  # slots of nodes
        for n in order:
            if graph.op[n] == g.INPUT:
                self.place[n] = self.first[graph.a[n]] + graph.b[n]
            elif graph.op[n] in (g.SINE, g.COSINE) and graph.a[n] in self.angles:
                self.place[n] = self.sines + 2 * list(self.angles).index(graph.a[n]) + graph.op[n] - g.SINE
        outputs = {x.node for x in graph.outputs if isinstance(x, Symbol)}
        operations = [n for n in order if graph.op[n] not in g.LEAVES and n not in self.place]
        used = outputs.union(*(graph.operands(n) for n in operations))
        operations = [n for n in operations if n in used]  # not those of which only sines are needed
        self.parts = chunks(graph, operations, chunk)
        self.where = {n: k for k, part in enumerate(self.parts) for n in part}
        self.last: dict[int, int] = {}  # the last chunk that needs a node
        for n in operations:
            for m in graph.operands(n):
                self.last[m] = max(self.last.get(m, 0), self.where[n])
        # where results are to be found, by node and sign, or by number; the same one is there once
        self.results = {key: self.take(1) for key in dict.fromkeys(map(result_key, graph.outputs))}
        inner = any(graph.op[n] in (g.SINE, g.COSINE) for n in operations)
        self.far = self.take(1) if inner else None  # sum of the sizes of angles that are results of operations
        self.free: list[int] = []
        self.ending: dict[int, list[int]] = {}

    def take(self, count: int) -> int:
        """New slots; returns the first."""
        self.slots += count
        return self.slots - count

    def keep(self, n: int) -> int:
        """A slot for a node until the last chunk that needs it: one that is free, or a new one."""
        found = self.free.pop() if self.free else self.take(1)
        self.ending.setdefault(self.last[n], []).append(found)
        self.place[n] = found
        return found

    def end(self, chunk: int) -> None:
        """Free the slots of values that no chunk after this one needs."""
        self.free += self.ending.pop(chunk, [])


def result_key(x: Symbol | float) -> tuple[int, int] | float:
    """What tells results apart: node and sign, or the number."""
    return (x.node, x.sign) if isinstance(x, Symbol) else float(x)
