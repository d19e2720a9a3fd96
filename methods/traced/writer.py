"""Text of LLVM IR for numbers of W lanes: arithmetic, sine and cosine, rows of states to lanes and back.

Floating-point flags are those of the generic tier, ``contract nsz arcp``: never ``nnan`` or ``ninf``.
"""

from __future__ import annotations

from collections.abc import Sequence

from dynbench.methods.native.llvm import hex_double
from dynbench.methods.traced import graph as g
from dynbench.methods.traced.graph import Graph
from dynbench.robots.states import LARGEST

FLAGS = "contract nsz arcp"
REDUCTION_LIMIT = 1e5  # as in `kernels.functions`: beyond it an angle's reduction loses digits
WEIGHT = REDUCTION_LIMIT / LARGEST  # of numbers that are not angles, so that the same sum has both limits

# pi/2 in three parts (Cody-Waite), and Cephes' polynomials on [-pi/4, pi/4]; the same as in `kernels.functions`
P1, P2, P3 = 1.5707963267341256e00, 6.0771005063039660e-11, 2.0222662487959506e-21
TWO_OVER_PI = 0.6366197723675814
MAGIC = 6755399441055744.0  # 2^52 + 2^51: added to a number, it leaves the nearest integer in the low bits
SINES = (
    1.58969099521155010221e-10,
    -2.50507602534068634195e-08,
    2.75573137070700676789e-06,
    -1.98412698298579493134e-04,
    8.33333333332248946124e-03,
    -1.66666666666666324348e-01,
)
COSINES = (
    -1.13596475577881948265e-11,
    2.08757232129817482790e-09,
    -2.75573143513906633035e-07,
    2.48015872894767294178e-05,
    -1.38888888888741095749e-03,
    4.16666666666666019037e-02,
)
INSTRUCTIONS = {g.ADD: "fadd", g.SUBTRACT: "fsub", g.MULTIPLY: "fmul", g.DIVIDE: "fdiv"}
TOP_BIT = -9223372036854775808


class Writer:
    """Lines of one function whose numbers have W lanes."""

    def __init__(self, W: int) -> None:
        self.W = W
        self.type = f"<{W} x double>" if W > 1 else "double"
        self.integers = f"<{W} x i64>" if W > 1 else "i64"
        self.booleans = f"<{W} x i1>" if W > 1 else "i1"
        self.suffix = f"v{W}f64" if W > 1 else "f64"
        self.lines: list[str] = []
        self.count = 0

    def line(self, *text: str) -> None:
        self.lines.extend(text)

    def let(self, text: str) -> str:
        """Name the result of an instruction."""
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def number(self, x: float) -> str:
        """A constant, the same in all lanes."""
        word = hex_double(x)
        return f"<{', '.join([f'double {word}'] * self.W)}>" if self.W > 1 else word

    def integer(self, x: int) -> str:
        return f"<{', '.join([f'i64 {x}'] * self.W)}>" if self.W > 1 else str(x)

    def binary(self, name: str, x: str, y: str, flags: str = FLAGS) -> str:
        return self.let(f"{name} {flags} {self.type} {x}, {y}")

    def call(self, name: str, *values: str) -> str:
        """Call one of LLVM's functions at this width."""
        listed = ", ".join(f"{self.type} {x}" for x in values)
        return self.let(f"call {self.type} @llvm.{name}.{self.suffix}({listed})")

    def negative(self, x: str) -> str:
        return self.let(f"fneg {self.type} {x}")

    def operation(self, op: int, *operands: str) -> str:
        """The instruction of a node, all but inputs, constants, sines and cosines."""
        if op in INSTRUCTIONS:
            return self.binary(INSTRUCTIONS[g.Op(op)], *operands)
        root = self.call("sqrt", *operands)
        return root if op == g.SQUARE_ROOT else self.binary("fmul", root, self.number(0.0))

    def sincos(self, x: str) -> tuple[str, str]:
        """Sine and cosine of angles up to `REDUCTION_LIMIT`, without a branch."""
        k = self.number
        t = self.call("fma", x, k(TWO_OVER_PI), k(MAGIC))
        n = self.binary("fsub", t, k(MAGIC), "")
        r = self.call("fma", n, k(-P1), x)
        r = self.call("fma", n, k(-P2), r)
        r = self.call("fma", n, k(-P3), r)
        z = self.binary("fmul", r, r)
        s, c = k(SINES[0]), k(COSINES[0])
        for a, b in zip(SINES[1:], COSINES[1:], strict=True):
            s, c = self.call("fma", z, s, k(a)), self.call("fma", z, c, k(b))
        s = self.call("fma", self.binary("fmul", r, z), s, r)
        c = self.call("fma", self.binary("fmul", z, z), c, self.call("fma", z, k(-0.5), k(1.0)))
        # the quadrant is in the low bits of t: odd ones swap sine and cosine, two bits say the signs
        bits = self.let(f"bitcast {self.type} {t} to {self.integers}")
        low = self.let(f"shl {self.integers} {bits}, {self.integer(63)}")
        high = self.let(f"shl {self.integers} {bits}, {self.integer(62)}")
        odd = self.let(f"icmp slt {self.integers} {low}, {self.integer(0)}")
        top = self.integer(TOP_BIT)
        flip_s = self.let(f"and {self.integers} {high}, {top}")
        mixed = self.let(f"xor {self.integers} {low}, {high}")
        flip_c = self.let(f"and {self.integers} {mixed}, {top}")
        sine = self.let(f"select {self.booleans} {odd}, {self.type} {c}, {self.type} {s}")
        cosine = self.let(f"select {self.booleans} {odd}, {self.type} {s}, {self.type} {c}")
        return self._flipped(sine, flip_s), self._flipped(cosine, flip_c)

    def _flipped(self, x: str, flip: str) -> str:
        bits = self.let(f"bitcast {self.type} {x} to {self.integers}")
        return self.let(f"bitcast {self.integers} {self.let(f'xor {self.integers} {bits}, {flip}')} to {self.type}")

    # ------------------------------------------------------------------ memory

    def at(self, base: str, i: int | str) -> str:
        """Pointer to a double."""
        return self.let(f"getelementptr double, ptr {base}, i64 {i}")

    def load(self, pointer: str) -> str:
        return self.let(f"load {self.type}, ptr {pointer}, align {8 * self.W}")

    def store(self, x: str, pointer: str) -> None:
        self.line(f"  store {self.type} {x}, ptr {pointer}, align {8 * self.W}")

    def shuffle(self, kind: str, x: str, y: str, order: Sequence[int]) -> str:
        mask = ", ".join(f"i32 {i}" for i in order)
        return self.let(f"shufflevector {kind} {x}, {kind} {y}, <{len(order)} x i32> <{mask}>")

    def transposed(self, x: list[str]) -> list[str]:
        """Four registers of W lanes, with each group of four lanes transposed as a 4 x 4 matrix."""
        groups = range(0, self.W, 4)

        def pairs(a: str, b: str, first: int) -> str:
            order = [i for k in groups for i in (k + first, self.W + k + first, k + first + 2, self.W + k + first + 2)]
            return self.shuffle(self.type, a, b, order)

        def halves(a: str, b: str, first: int) -> str:
            order = [i for k in groups for i in (k + first, k + first + 1, self.W + k + first, self.W + k + first + 1)]
            return self.shuffle(self.type, a, b, order)

        even01, odd01 = pairs(x[0], x[1], 0), pairs(x[0], x[1], 1)
        even23, odd23 = pairs(x[2], x[3], 0), pairs(x[2], x[3], 1)
        return [halves(even01, even23, 0), halves(odd01, odd23, 0), halves(even01, even23, 2), halves(odd01, odd23, 2)]

    def load_columns(self, first: str, width: int) -> list[str]:
        """Four columns from a pointer on, of W rows that are ``width`` doubles apart."""
        rows = []
        for lane in range(4):
            parts = [
                self.let(f"load <4 x double>, ptr {self.at(first, (lane + k) * width)}, align 8")
                for k in range(0, self.W, 4)
            ]
            rows.append(parts[0] if self.W == 4 else self.shuffle("<4 x double>", parts[0], parts[1], range(8)))
        return self.transposed(rows)

    def store_columns(self, columns: list[str], first: str, width: int) -> None:
        """The reverse of `load_columns`."""
        for lane, row in enumerate(self.transposed(columns)):
            for k in range(0, self.W, 4):
                part = row if self.W == 4 else self.shuffle(self.type, row, row, range(k, k + 4))
                self.line(f"  store <4 x double> {part}, ptr {self.at(first, (lane + k) * width)}, align 8")

    def load_column(self, first: str, width: int) -> str:
        """One column, number by number: where there are fewer than four."""
        x = "undef"
        for lane in range(self.W):
            one = self.let(f"load double, ptr {self.at(first, lane * width)}, align 8")
            x = self.let(f"insertelement {self.type} {x}, double {one}, i32 {lane}")
        return x

    def store_column(self, x: str, first: str, width: int) -> None:
        """The reverse of `load_column`."""
        for lane in range(self.W):
            one = self.let(f"extractelement {self.type} {x}, i32 {lane}")
            self.line(f"  store double {one}, ptr {self.at(first, lane * width)}, align 8")

    def any(self, mask: str) -> str:
        """Whether any lane of a comparison is true."""
        if self.W == 1:
            return mask
        bits = self.let(f"bitcast {self.booleans} {mask} to i{self.W}")
        return self.let(f"icmp ne i{self.W} {bits}, 0")


def declarations(*widths: int) -> str:
    """Declare LLVM's functions at these widths."""
    lines = []
    for W in widths:
        w = Writer(W)
        lines.append(f"declare {w.type} @llvm.fma.{w.suffix}({', '.join([w.type] * 3)})")
        lines += [f"declare {w.type} @llvm.{name}.{w.suffix}({w.type})" for name in ("sqrt", "fabs")]
    return "\n".join(lines) + "\n"


def angle(graph: Graph, n: int) -> tuple[int, float] | None:
    """A node as an input plus a number, or None if it is something else."""
    op, a, b = graph.op[n], graph.a[n], graph.b[n]
    if op == g.INPUT:
        return n, 0.0
    if op == g.ADD and graph.op[a] == g.CONSTANT and graph.op[b] == g.INPUT:
        return b, graph.a[a]
    if op == g.SUBTRACT and graph.op[a] == g.INPUT and graph.op[b] == g.CONSTANT:
        return a, -graph.a[b]
    return None


def angles(graph: Graph, order: list[int]) -> dict[int, tuple[int, float]]:
    """Nodes of which sines and cosines are needed, as inputs plus numbers, in order."""
    found: dict[int, tuple[int, float]] = {}
    for n in order:
        if graph.op[n] in (g.SINE, g.COSINE) and graph.a[n] not in found:
            known = angle(graph, graph.a[n])
            if known is not None:
                found[graph.a[n]] = known
    return found
