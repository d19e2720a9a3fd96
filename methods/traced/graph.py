"""Symbols: kernels run on them leave a graph of operations on the state alone.

A `Symbol` is a signed reference to a node of a `Graph`. Equal expressions are one node, a minus sign is never an
operation, operations on numbers are done at once, and products with zero and one disappear. What must not disappear is
a guard (`kernels.scalar.guard`): zero, or NaN for a state that has no answer. It is a node of its own.

A kernel may not branch on data, so that one run of it says all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from dynbench.robots.robot import FloatArray


class Op(IntEnum):
    """What a node does. Operands are nodes, except of inputs (argument, index) and constants (a number above zero)."""

    INPUT = 0
    CONSTANT = 1
    ADD = 2
    SUBTRACT = 3
    MULTIPLY = 4
    DIVIDE = 5
    SINE = 6
    COSINE = 7
    SQUARE_ROOT = 8
    GUARD = 9


INPUT, CONSTANT, ADD, SUBTRACT, MULTIPLY, DIVIDE, SINE, COSINE, SQUARE_ROOT, GUARD = Op
LEAVES = (INPUT, CONSTANT)

Value = Any  # Symbol or float


class TooLarge(Exception):
    """A graph has grown beyond its limit."""


class Graph:
    """Operations in the order in which a kernel asked for them, each once.

    Parameters
    ----------
    widths : sequence of int
        Lengths of q, v and a.
    limit : int
        How many nodes there may be.
    """

    def __init__(self, widths: Sequence[int], limit: int = 10**9) -> None:
        self.widths = tuple(widths)
        self.limit = limit
        self.op: list[int] = []
        self.a: list[Any] = []
        self.b: list[int] = []
        self.known: dict[tuple[Any, ...], int] = {}
        self.outputs: list[Value] = []

    def node(self, op: int, a: Any, b: int = -1) -> int:
        """Return the number of a node, a new one if it is not known yet."""
        key = (op, a, b)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = len(self.op)
            if found >= self.limit:
                raise TooLarge(f"more than {self.limit} operations")
            self.op.append(op)
            self.a.append(a)
            self.b.append(b)
        return found

    def input(self, argument: int, i: int) -> Symbol:
        """Return coordinate ``i`` of argument 0, 1 or 2: q, v or a."""
        return Symbol(self, self.node(INPUT, argument, i), 1)

    def constant(self, x: float) -> int:
        """Return the node of a number's size; its sign goes elsewhere."""
        return self.node(CONSTANT, abs(x))

    def add(self, x: Symbol, y: Value, sign: int = 1) -> Value:
        """x + y, or x - y."""
        if not isinstance(y, Symbol):
            y = sign * float(y)
            if y == 0.0:
                return x
            size, sign = self.constant(y), 1 if y > 0.0 else -1
            if x.sign == sign:
                return Symbol(self, self.node(ADD, size, x.node), sign)
            if sign < 0:
                return Symbol(self, self.node(SUBTRACT, x.node, size), 1)
            return Symbol(self, self.node(SUBTRACT, size, x.node), 1)
        sign *= y.sign
        m, n = x.node, y.node
        if m == n:
            return 0.0 if x.sign != sign else self.scaled(2.0 * sign, m)
        if x.sign == sign:
            return Symbol(self, self.node(ADD, m, n) if m < n else self.node(ADD, n, m), sign)
        if m < n:  # x - y and y - x are one node
            return Symbol(self, self.node(SUBTRACT, m, n), x.sign)
        return Symbol(self, self.node(SUBTRACT, n, m), sign)

    def scaled(self, k: float, n: int) -> Value:
        """A number times a node."""
        if k == 0.0:
            return 0.0
        if abs(k) == 1.0:
            return Symbol(self, n, 1 if k > 0.0 else -1)
        return Symbol(self, self.node(MULTIPLY, self.constant(k), n), 1 if k > 0.0 else -1)

    def multiply(self, x: Symbol, y: Value) -> Value:
        if not isinstance(y, Symbol):
            return self.scaled(float(y) * x.sign, x.node)
        m, n = (x.node, y.node) if x.node < y.node else (y.node, x.node)
        return Symbol(self, self.node(MULTIPLY, m, n), x.sign * y.sign)

    def divide(self, x: Value, y: Value) -> Value:
        if not isinstance(y, Symbol):
            return self.multiply(x, 1.0 / float(y))
        if isinstance(x, Symbol):
            return Symbol(self, self.node(DIVIDE, x.node, y.node), x.sign * y.sign)
        x = float(x)
        if x == 0.0:
            return 0.0
        return Symbol(self, self.node(DIVIDE, self.constant(x), y.node), y.sign if x > 0.0 else -y.sign)

    def positive(self, x: Symbol) -> int:
        """A node with the value of x, sign and all: what a minus cannot be pulled through."""
        return x.node if x.sign > 0 else self.node(SUBTRACT, self.constant(0.0), x.node)

    # ------------------------------------------------------------------ what a finished graph is asked

    def operands(self, n: int) -> tuple[int, ...]:
        """Return the nodes that a node is computed from."""
        if self.op[n] in LEAVES:
            return ()
        return (self.a[n],) if self.b[n] < 0 else (self.a[n], self.b[n])

    def live(self) -> list[int]:
        """Return the nodes that the outputs need, in the order of their making."""
        needed = bytearray(len(self.op))
        stack = [x.node for x in self.outputs if isinstance(x, Symbol)]
        while stack:
            n = stack.pop()
            if not needed[n]:
                needed[n] = 1
                stack.extend(self.operands(n))
        return [n for n in range(len(self.op)) if needed[n]]

    def evaluate(self, q: FloatArray, v: FloatArray | None = None, a: FloatArray | None = None) -> FloatArray:
        """Return the outputs in plain numpy, for one state or for rows of states: how a graph is checked."""
        given = (q, v, a)
        value: dict[int, Any] = {}
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            for n in self.live():
                op, x, y = self.op[n], self.a[n], self.b[n]
                if op == INPUT:
                    array = given[x]
                    assert array is not None
                    value[n] = array[..., y]
                elif op == CONSTANT:
                    value[n] = x
                elif op == ADD:
                    value[n] = value[x] + value[y]
                elif op == SUBTRACT:
                    value[n] = value[x] - value[y]
                elif op == MULTIPLY:
                    value[n] = value[x] * value[y]
                elif op == DIVIDE:
                    value[n] = value[x] / value[y]
                elif op == SINE:
                    value[n] = np.sin(value[x])
                elif op == COSINE:
                    value[n] = np.cos(value[x])
                elif op == SQUARE_ROOT:
                    value[n] = np.sqrt(value[x])
                else:
                    value[n] = np.sqrt(value[x]) * 0.0
            columns = [x.sign * value[x.node] if isinstance(x, Symbol) else x for x in self.outputs]
        return np.stack([np.broadcast_to(column, q.shape[:-1]) for column in columns], axis=-1)


class Symbol:
    """A number of a kernel that is being traced: a node, with a sign."""

    __slots__ = ("graph", "node", "sign")
    __array_ufunc__ = None

    def __init__(self, graph: Graph, node: int, sign: int) -> None:
        self.graph = graph
        self.node = node
        self.sign = sign

    def __add__(self, other: Value) -> Value:
        return self.graph.add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Value) -> Value:
        return self.graph.add(self, other, -1)

    def __rsub__(self, other: Value) -> Value:
        return self.graph.add(Symbol(self.graph, self.node, -self.sign), other)

    def __mul__(self, other: Value) -> Value:
        return self.graph.multiply(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Value) -> Value:
        return self.graph.divide(self, other)

    def __rtruediv__(self, other: Value) -> Value:
        return self.graph.divide(other, self)

    def __neg__(self) -> Symbol:
        return Symbol(self.graph, self.node, -self.sign)

    def sincos(self) -> tuple[Symbol, Symbol]:
        graph = self.graph
        return Symbol(graph, graph.node(SINE, self.node), self.sign), Symbol(graph, graph.node(COSINE, self.node), 1)

    def sqrt(self) -> Symbol:
        return Symbol(self.graph, self.graph.node(SQUARE_ROOT, self.graph.positive(self)), 1)

    def guard(self) -> Symbol:
        return Symbol(self.graph, self.graph.node(GUARD, self.graph.positive(self)), 1)

    def __bool__(self) -> bool:
        raise TypeError("a kernel branches on data, which tracing cannot follow")

    def __float__(self) -> float:
        raise TypeError("a kernel takes a number out of its state, which tracing cannot follow")

    def _compared(self, other: object) -> bool:
        raise TypeError("a kernel compares data, which tracing cannot follow")

    __lt__ = __le__ = __gt__ = __ge__ = _compared


def unset() -> float:
    """What work buffers are filled with, so that reading before writing is seen."""
    return math.nan
