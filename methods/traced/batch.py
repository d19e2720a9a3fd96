"""Code for rows of states: ``i64 batch(header, N, q, v, a, out)``, W states at a time in one register.

Straight-line code of a large robot does not fit into the instruction caches, so it is cut into chunks, and each chunk
is run over several blocks of W states before the next:

    rows -> lanes        inputs of B blocks, transposed; every number is looked at on the way
    sines and cosines    of all angles, in a loop
    chunk 1, 2, ...      over the blocks; what is alive between chunks is in memory, in slots that are used again
    lanes -> rows        results, transposed

Slot s of block b is at work[(s B + b) W]. The last block of a batch ends with the last row, and may overlap with the
one before it: rows are then computed twice, with the same result. Of fewer rows than W the last one is repeated, in
memory beside them.
"""

from __future__ import annotations

from collections.abc import Sequence

from dynbench.methods.kernels.status import Status
from dynbench.methods.native import llvm
from dynbench.methods.native.llvm import hex_double
from dynbench.methods.traced import graph as g
from dynbench.methods.traced.graph import Graph
from dynbench.methods.traced.plan import Plan, result_key
from dynbench.methods.traced.writer import REDUCTION_LIMIT, WEIGHT, Writer, declarations
from dynbench.robots.states import UNIT

NAME = "batch"
ARGUMENTS = "qva"
CHUNK = 250  # operations
BLOCKS = 4
ROLLED = 6  # tiles of four columns; more are moved in a loop
ON_STACK = 512 * 1024  # bytes of slots

# Copies rows; if there are fewer than are wanted, the last one is repeated
COPY = """
define internal void @copy(ptr %from, i64 %given, ptr %to, i64 %wanted, i64 %width) noinline #0 {
entry:
  %last = sub i64 %given, 1
  br label %row
row:
  %r = phi i64 [0, %entry], [%r.next, %row.end]
  %late = icmp ugt i64 %r, %last
  %s = select i1 %late, i64 %last, i64 %r
  %from.i = mul i64 %s, %width
  %to.i = mul i64 %r, %width
  %from.row = getelementptr double, ptr %from, i64 %from.i
  %to.row = getelementptr double, ptr %to, i64 %to.i
  br label %number
number:
  %j = phi i64 [0, %row], [%j.next, %number]
  %from.p = getelementptr double, ptr %from.row, i64 %j
  %x = load double, ptr %from.p, align 8
  %to.p = getelementptr double, ptr %to.row, i64 %j
  store double %x, ptr %to.p, align 8
  %j.next = add i64 %j, 1
  %j.more = icmp ult i64 %j.next, %width
  br i1 %j.more, label %number, label %row.end
row.end:
  %r.next = add i64 %r, 1
  %r.more = icmp ult i64 %r.next, %wanted
  br i1 %r.more, label %row, label %done
done:
  ret void
}
"""


def module(
    graph: Graph, arguments: int, quaternions: Sequence[int], W: int, blocks: int = BLOCKS, chunk: int = CHUNK
) -> str:
    """Return the IR; parameters as in `single.module`."""
    made = _Batch(graph, arguments, quaternions, W, blocks, chunk)
    while made.plan.slots * blocks * W * 8 > ON_STACK and blocks > 1:
        blocks //= 2
        made = _Batch(graph, arguments, quaternions, W, blocks, chunk)
    return made.text()


class _Batch:
    """The text of one module."""

    def __init__(
        self, graph: Graph, arguments: int, quaternions: Sequence[int], W: int, blocks: int, chunk: int
    ) -> None:
        self.graph = graph
        self.arguments = arguments
        self.W = W
        self.B = blocks
        self.quaternions = quaternions
        self.w = Writer(W)
        self.tables: list[str] = []
        self.plan = Plan(graph, arguments, chunk)
        self._chunk_text = [self._chunk(k) for k in range(len(self.plan.parts))]  # which takes slots

    def text(self) -> str:
        w, W, B = self.w, self.W, self.B
        size = self.plan.slots * B * W
        w.line(
            "define internal i64 @blocks(ptr %header, i64 %N, ptr noalias %q, ptr noalias %v, ptr noalias %a, "
            "ptr noalias %out) #0 {",
            "entry:",
            f"  %work = alloca double, i64 {size}, align 64",
            f"  %last = sub i64 %N, {W}",
        )
        self._numbers()
        w.line(
            "  br label %some",
            "some:",
            "  %k = phi i64 [0, %entry], [%k.next, %some.end]",
            "  %bad.some = phi i1 [false, %entry], [%bad.end, %some.end]",
            # how many blocks: all that fit, or as many as are left
            "  %left = sub i64 %N, %k",
            f"  %left.up = add i64 %left, {W - 1}",
            f"  %blocks.left = udiv i64 %left.up, {W}",
            f"  %full = icmp ugt i64 %blocks.left, {B}",
            f"  %blocks = select i1 %full, i64 {B}, i64 %blocks.left",
            "  br label %gather",
        )
        self._gather()
        before = self._trig("gather.end")
        for text in self._chunk_text:
            w.line(*(line.replace("%BEFORE", f"%{before}") for line in text))
            before = text[-1].removesuffix(":")
        self._scatter(before)
        w.line(
            f"  %k.next = add i64 %k, {B * W}",
            "  %more = icmp ult i64 %k.next, %N",
            "  br i1 %more, label %some, label %done",
            "done:",
            f"  %status = select i1 %bad.end, i64 {int(Status.TOO_LARGE)}, i64 0",
            "  ret i64 %status",
            "}",
        )
        body = "\n".join([*self.tables, *w.lines])
        return declarations(W) + body + self._any_number_of_rows() + llvm.attributes(width=64 * W)

    def _any_number_of_rows(self) -> str:
        """The function that is called: blocks as they are, or one block of fewer rows."""
        W, count = self.W, len(self.graph.outputs)
        given = {letter: self.graph.widths[k] for k, letter in enumerate(ARGUMENTS[: self.arguments])}
        room = "".join(f"  %{x}.W = alloca double, i64 {width * W}, align 64\n" for x, width in given.items())
        fill = "".join(
            f"  call void @copy(ptr %{x}, i64 %N, ptr %{x}.W, i64 {W}, i64 {width})\n" for x, width in given.items()
        )
        block = ", ".join(f"ptr %{x}.W" if x in given else "ptr null" for x in ARGUMENTS)
        return f"""
define i64 @{NAME}(ptr %header, i64 %N, ptr %q, ptr %v, ptr %a, ptr %out) #0 {{
  %enough = icmp uge i64 %N, {W}
  br i1 %enough, label %all, label %few
all:
  %all.status = tail call i64 @blocks(ptr %header, i64 %N, ptr %q, ptr %v, ptr %a, ptr %out)
  ret i64 %all.status
few:
  %few.status = tail call i64 @few(ptr %header, i64 %N, ptr %q, ptr %v, ptr %a, ptr %out)
  ret i64 %few.status
}}
define internal i64 @few(ptr %header, i64 %N, ptr %q, ptr %v, ptr %a, ptr %out) noinline #0 {{
{room}  %out.W = alloca double, i64 {count * W}, align 64
{fill}  %status = call i64 @blocks(ptr %header, i64 {W}, {block}, ptr %out.W)
  call void @copy(ptr %out.W, i64 {W}, ptr %out, i64 %N, i64 {count})
  ret i64 %status
}}
{COPY}"""

    def _slot(self, base: str, s: int) -> str:
        """Pointer to a slot, of the block that ``base`` points to."""
        return self.w.at(base, s * self.B * self.W)

    def _numbers(self) -> None:
        """Results that are the same for all states are written once."""
        for key, s in self.plan.results.items():
            if isinstance(key, float):
                for b in range(self.B):
                    self.w.store(self.w.number(key), self.w.at("%work", (s * self.B + b) * self.W))

    def _row(self, name: str) -> str:
        """The first row of a block."""
        w = self.w
        offset = w.let(f"mul i64 %{name}, {self.W}")
        row = w.let(f"add i64 %k, {offset}")
        late = w.let(f"icmp sgt i64 {row}, %last")
        return w.let(f"select i1 {late}, i64 %last, i64 {row}")

    def _block(self, name: str, base: str) -> None:
        offset = self.w.let(f"mul i64 %{name}, {self.W}")
        self.w.line(f"  {base} = getelementptr double, ptr %work, i64 {offset}")

    def _gather(self) -> None:
        w = self.w
        w.line(
            "gather:",
            "  %g = phi i64 [0, %some], [%g.next, %gather.last]",
            "  %bad.g = phi i1 [%bad.some, %some], [%bad.g.next, %gather.last]",
        )
        self._block("g", "%g.base")
        row = self._row("g")
        if self.plan.far is not None:
            w.store(w.number(0.0), self._slot("%g.base", self.plan.far))
        total = w.number(0.0)
        turned = {(self.graph.a[n], self.graph.b[n]) for n, _ in self.plan.angles.values()}
        label = "gather"
        for k in range(self.arguments):
            width = self.graph.widths[k]
            source = w.at(f"%{ARGUMENTS[k]}", w.let(f"mul i64 {row}, {width}"))
            weights = [1.0 if (k, j) in turned else WEIGHT for j in range(width)]
            total, label = self._gather_argument(k, width, source, weights, total, label)
        w.line("  br label %gather.last", "gather.last:")
        far = w.any(w.let(f"fcmp ugt {w.type} {total}, {w.number(REDUCTION_LIMIT)}"))
        for j in self.quaternions:
            square = w.number(-1.0)
            for i in range(4):
                x = w.load(self._slot("%g.base", self.plan.first[0] + j + i))
                square = w.call("fma", x, x, square)
            off = w.any(w.let(f"fcmp ugt {w.type} {w.call('fabs', square)}, {w.number(UNIT)}"))
            far = w.let(f"or i1 {far}, {off}")
        w.line(
            f"  %bad.g.next = or i1 %bad.g, {far}",
            "  %g.next = add i64 %g, 1",
            "  %g.more = icmp ult i64 %g.next, %blocks",
            "  br i1 %g.more, label %gather, label %gather.end",
            "gather.end:",
        )

    def _looked_at(self, x: str, weight: str, total: str) -> str:
        """A sum that is NaN if x is, and beyond the limit if x is an angle (weight 1) or a number beyond theirs."""
        return self.w.call("fma", self.w.call("fabs", x), weight, total)

    def _gather_argument(
        self, k: int, width: int, source: str, weights: list[float], total: str, label: str
    ) -> tuple[str, str]:
        w, first = self.w, self.plan.first[k]
        if width < 4:
            for j in range(width):
                x = w.load_column(w.at(source, j), width)
                w.store(x, self._slot("%g.base", first + j))
                total = self._looked_at(x, w.number(weights[j]), total)
            return total, label
        starts = _tiles(width)
        if len(starts) <= ROLLED:
            for start in starts:
                for j, x in enumerate(w.load_columns(w.at(source, start), width), start):
                    w.store(x, self._slot("%g.base", first + j))
                    total = self._looked_at(x, w.number(weights[j]), total)
            return total, label
        name, step = f"in{k}", self.B * self.W
        table = self._table(f"weights{k}", "double", [hex_double(x) for x in weights])
        w.line(
            f"  br label %{name}",
            f"{name}:",
            f"  %{name}.t = phi i64 [0, %{label}], [%{name}.next, %{name}]",
            f"  %{name}.sum = phi {w.type} [{total}, %{label}], [%{name}.sum.next, %{name}]",
        )
        column = self._start_of_tile(name, width)
        target = w.at("%g.base", w.let(f"add i64 {w.let(f'mul i64 {column}, {step}')}, {first * step}"))
        total = f"%{name}.sum"
        for j, x in enumerate(w.load_columns(w.at(source, column), width)):
            w.store(x, w.at(target, j * step))
            weight = w.let(f"load double, ptr {w.at(w.at(table, column), j)}")
            total = self._looked_at(x, self._spread(weight), total)
        w.line(f"  %{name}.sum.next = fadd {w.type} {total}, {w.number(0.0)}")
        self._end_of_tile(name, len(starts))
        return f"%{name}.sum.next", f"{name}.end"

    def _start_of_tile(self, name: str, width: int) -> str:
        """The first column of a tile of four; the last tile ends with the last column."""
        w = self.w
        four = w.let(f"shl i64 %{name}.t, 2")
        late = w.let(f"icmp ugt i64 {four}, {width - 4}")
        return w.let(f"select i1 {late}, i64 {width - 4}, i64 {four}")

    def _end_of_tile(self, name: str, count: int) -> None:
        self.w.line(
            f"  %{name}.next = add i64 %{name}.t, 1",
            f"  %{name}.more = icmp ult i64 %{name}.next, {count}",
            f"  br i1 %{name}.more, label %{name}, label %{name}.end",
            f"{name}.end:",
        )

    def _spread(self, x: str) -> str:
        w = self.w
        one = w.let(f"insertelement {w.type} undef, double {x}, i32 0")
        return w.let(f"shufflevector {w.type} {one}, {w.type} undef, <{self.W} x i32> zeroinitializer")

    def _table(self, name: str, kind: str, values: Sequence[str]) -> str:
        listed = ", ".join(f"{kind} {x}" for x in values)
        self.tables.append(f"@{name} = private unnamed_addr constant [{len(values)} x {kind}] [{listed}]")
        return f"@{name}"

    def _trig(self, before: str) -> str:
        if not self.plan.angles:
            return before
        w, step = self.w, self.B * self.W
        sources = [str(self.plan.place[n] * step) for n, _ in self.plan.angles.values()]
        places = self._table("angles", "i64", sources)
        offsets = self._table("offsets", "double", [hex_double(x) for _, x in self.plan.angles.values()])
        w.line(
            "  br label %trig",
            "trig:",
            f"  %t = phi i64 [0, %{before}], [%t.next, %trig.last]",
            f"  %t.place = getelementptr i64, ptr {places}, i64 %t",
            "  %t.from = load i64, ptr %t.place",
            f"  %t.offset = getelementptr double, ptr {offsets}, i64 %t",
            "  %t.angle = load double, ptr %t.offset",
        )
        offset = self._spread("%t.angle")
        source = w.at("%work", "%t.from")
        target = w.at("%work", w.let(f"add i64 {w.let(f'mul i64 %t, {2 * step}')}, {self.plan.sines * step}"))
        w.line("  br label %turn", "turn:", "  %u = phi i64 [0, %trig], [%u.next, %turn]")
        here = w.let(f"mul i64 %u, {self.W}")
        x = w.load(w.at(source, here))
        if any(y for _, y in self.plan.angles.values()):
            x = w.binary("fadd", x, offset)
        sine, cosine = w.sincos(x)
        pair = w.at(target, here)
        w.store(sine, pair)
        w.store(cosine, w.at(pair, step))
        w.line(
            "  %u.next = add i64 %u, 1",
            "  %u.more = icmp ult i64 %u.next, %blocks",
            "  br i1 %u.more, label %turn, label %trig.last",
            "trig.last:",
            "  %t.next = add i64 %t, 1",
            f"  %t.more = icmp ult i64 %t.next, {len(self.plan.angles)}",
            "  br i1 %t.more, label %trig, label %trig.end",
            "trig.end:",
        )
        return "trig.end"

    def _chunk(self, index: int) -> list[str]:
        """One chunk over the blocks; slots of values that no later chunk needs are used again."""
        w, graph, plan, name = self.w, self.graph, self.plan, f"c{index}"
        kept, w.lines = w.lines, []
        base = f"%{name}.base"
        w.line(f"  br label %{name}", f"{name}:", f"  %{name}.b = phi i64 [0, %BEFORE], [%{name}.next, %{name}]")
        self._block(f"{name}.b", base)
        value: dict[int, str] = {}
        pairs: dict[int, tuple[str, str]] = {}

        def get(n: int) -> str:
            if n not in value:
                constant = graph.op[n] == g.CONSTANT
                value[n] = w.number(graph.a[n]) if constant else w.load(self._slot(base, plan.place[n]))
            return value[n]

        for n in plan.parts[index]:
            op = graph.op[n]
            if op in (g.SINE, g.COSINE):
                a = graph.a[n]
                if a not in pairs:
                    pairs[a] = w.sincos(get(a))
                    assert plan.far is not None
                    far = self._slot(base, plan.far)
                    w.store(w.binary("fadd", w.load(far), w.call("fabs", get(a))), far)
                value[n] = pairs[a][op - g.SINE]
            else:
                value[n] = w.operation(op, *(get(m) for m in graph.operands(n)))
            if plan.last.get(n, index) > index:
                w.store(value[n], self._slot(base, plan.keep(n)))
            for sign in (1, -1):
                if (n, sign) in plan.results:
                    result = value[n] if sign > 0 else w.negative(value[n])
                    w.store(result, self._slot(base, plan.results[n, sign]))
        w.line(
            f"  %{name}.next = add i64 %{name}.b, 1",
            f"  %{name}.more = icmp ult i64 %{name}.next, %blocks",
            f"  br i1 %{name}.more, label %{name}, label %{name}.end",
            f"{name}.end:",
        )
        plan.end(index)
        made, w.lines = w.lines, kept
        return made

    def _scatter(self, before: str) -> None:
        w, graph, step = self.w, self.graph, self.B * self.W
        count = len(graph.outputs)
        w.line("  br label %scatter", "scatter:")
        w.line(f"  %s = phi i64 [0, %{before}], [%s.next, %scatter.last]")
        w.line(f"  %bad.s = phi i1 [%bad.g.next, %{before}], [%bad.s.next, %scatter.last]")
        self._block("s", "%s.base")
        row = self._row("s")
        target = w.at("%out", w.let(f"mul i64 {row}, {count}"))
        self._copies()
        slots = [self.plan.results[result_key(x)] for x in graph.outputs]
        label = "scatter"
        if count < 4:
            for j, s in enumerate(slots):
                w.store_column(w.load(self._slot("%s.base", s)), w.at(target, j), count)
        elif len(_tiles(count)) <= ROLLED:
            for start in _tiles(count):
                columns = [w.load(self._slot("%s.base", s)) for s in slots[start : start + 4]]
                w.store_columns(columns, w.at(target, start), count)
        else:
            table = self._table("results", "i64", [str(s * step) for s in slots])
            w.line("  br label %outs", "outs:", f"  %outs.t = phi i64 [0, %{label}], [%outs.next, %outs]")
            column = self._start_of_tile("outs", count)
            entry = w.let(f"getelementptr i64, ptr {table}, i64 {column}")
            columns = []
            for j in range(4):
                place = w.let(f"load i64, ptr {w.let(f'getelementptr i64, ptr {entry}, i64 {j}')}")
                columns.append(w.load(w.at("%s.base", place)))
            w.store_columns(columns, w.at(target, column), count)
            self._end_of_tile("outs", len(_tiles(count)))
        w.line("  br label %scatter.last", "scatter.last:")
        bad = "false"
        if self.plan.far is not None:
            far = w.load(self._slot("%s.base", self.plan.far))
            bad = w.any(w.let(f"fcmp ugt {w.type} {far}, {w.number(REDUCTION_LIMIT)}"))
        w.line(
            f"  %bad.s.next = or i1 %bad.s, {bad}",
            "  %s.next = add i64 %s, 1",
            "  %s.more = icmp ult i64 %s.next, %blocks",
            "  br i1 %s.more, label %scatter, label %some.end",
            "some.end:",
            "  %bad.end = or i1 %bad.s.next, false",
        )

    def _copies(self) -> None:
        """Results that are inputs, sines or cosines as they stand."""
        w = self.w
        for key, s in self.plan.results.items():
            if isinstance(key, tuple) and key[0] not in self.plan.where:
                x = w.load(self._slot("%s.base", self.plan.place[key[0]]))
                w.store(x if key[1] > 0 else w.negative(x), self._slot("%s.base", s))


def _tiles(width: int) -> list[int]:
    """The first columns of tiles of four that cover so many columns; the last may overlap."""
    return [min(start, width - 4) for start in range(0, width, 4)]
