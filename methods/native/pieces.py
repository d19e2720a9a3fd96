"""Text (LLVM's IR) that checked calls and handles share: helpers, arguments, and the call of the general function."""

from __future__ import annotations

from dynbench.methods.native import layout
from dynbench.methods.native.table import Slot

WIDTHS = (Slot.Q, Slot.V, Slot.A)
LETTERS = "qva"
IN, TO = layout.C_CONTIGUOUS | layout.ALIGNED, layout.C_CONTIGUOUS | layout.ALIGNED | layout.WRITEABLE


def read_slot(register: str, slot: Slot, kind: str = "i64") -> str:
    return (
        f"  {register}.at = getelementptr i64, ptr %table, i64 {int(slot)}\n"
        f"  {register} = load {kind}, ptr {register}.at\n"
    )


# data_of: the numbers of an array, or null if it is not an aligned, C-contiguous float64 array of these dimensions
# apart:   whether two ranges of doubles have nothing in common
# finite:  whether all doubles of a range are finite; 0 x is NaN exactly when x is not
# inside:  whether elastic arms are partly out of their sleeves
# spoil:   fill a range of doubles with NaN
HELPERS = f"""
declare double @llvm.vector.reduce.fadd.v8f64(double, <8 x double>)

define private ptr @data_of(ptr %table, ptr %o, i32 %wanted, i32 %ndim, ptr %dims) #0 {{
entry:
  %type.p = getelementptr i8, ptr %o, i64 {layout.TYPE}
  %type = load i64, ptr %type.p
{read_slot("%ndarray", Slot.NDARRAY)}  %is.array = icmp eq i64 %type, %ndarray
  br i1 %is.array, label %array, label %no
array:
  %flags.p = getelementptr i8, ptr %o, i64 {layout.FLAGS}
  %flags = load i32, ptr %flags.p
  %masked = and i32 %flags, %wanted
  %ok1 = icmp eq i32 %masked, %wanted
  %ndim.p = getelementptr i8, ptr %o, i64 {layout.NDIM}
  %nd = load i32, ptr %ndim.p
  %ok2 = icmp eq i32 %nd, %ndim
  %descr.p = getelementptr i8, ptr %o, i64 {layout.DESCRIPTOR}
  %descr = load i64, ptr %descr.p
{read_slot("%float64", Slot.FLOAT64)}  %ok3 = icmp eq i64 %descr, %float64
  %ok12 = and i1 %ok1, %ok2
  %ok123 = and i1 %ok12, %ok3
  br i1 %ok123, label %shape, label %no
shape:
  %has.p = getelementptr i8, ptr %o, i64 {layout.DIMENSIONS}
  %has = load ptr, ptr %has.p
  %n64 = zext i32 %ndim to i64
  br label %next
next:
  %k = phi i64 [0, %shape], [%k1, %same]
  %end = icmp eq i64 %k, %n64
  br i1 %end, label %yes, label %compare
compare:
  %x.p = getelementptr i64, ptr %has, i64 %k
  %x = load i64, ptr %x.p
  %y.p = getelementptr i64, ptr %dims, i64 %k
  %y = load i64, ptr %y.p
  %eq = icmp eq i64 %x, %y
  br i1 %eq, label %same, label %no
same:
  %k1 = add i64 %k, 1
  br label %next
yes:
  %data.p = getelementptr i8, ptr %o, i64 {layout.DATA}
  %data = load ptr, ptr %data.p
  ret ptr %data
no:
  ret ptr null
}}

define private i1 @apart(ptr %x, i64 %n, ptr %y, i64 %m) #0 {{
  %xe = getelementptr double, ptr %x, i64 %n
  %ye = getelementptr double, ptr %y, i64 %m
  %before = icmp ule ptr %xe, %y
  %behind = icmp ule ptr %ye, %x
  %either = or i1 %before, %behind
  ret i1 %either
}}

define private i1 @finite(ptr %x, i64 %n) #0 {{
entry:
  %whole = and i64 %n, -8
  br label %eight
eight:
  %i = phi i64 [0, %entry], [%i8, %more8]
  %sums = phi <8 x double> [zeroinitializer, %entry], [%sums8, %more8]
  %end8 = icmp eq i64 %i, %whole
  br i1 %end8, label %rest, label %more8
more8:
  %p8 = getelementptr double, ptr %x, i64 %i
  %v8 = load <8 x double>, ptr %p8, align 8
  %zero8 = fmul <8 x double> %v8, zeroinitializer
  %sums8 = fadd <8 x double> %sums, %zero8
  %i8 = add i64 %i, 8
  br label %eight
rest:
  %all = call double @llvm.vector.reduce.fadd.v8f64(double 0.0, <8 x double> %sums)
  br label %next
next:
  %k = phi i64 [%whole, %rest], [%k1, %more]
  %sum = phi double [%all, %rest], [%sum1, %more]
  %end = icmp eq i64 %k, %n
  br i1 %end, label %done, label %more
more:
  %p = getelementptr double, ptr %x, i64 %k
  %v = load double, ptr %p
  %zero = fmul double %v, 0.0
  %sum1 = fadd double %sum, %zero
  %k1 = add i64 %k, 1
  br label %next
done:
  %ok = fcmp oeq double %sum, 0.0
  ret i1 %ok
}}

define private void @spoil(ptr %x, i64 %n) #0 {{
entry:
  br label %next
next:
  %k = phi i64 [0, %entry], [%k1, %more]
  %end = icmp eq i64 %k, %n
  br i1 %end, label %done, label %more
more:
  %p = getelementptr double, ptr %x, i64 %k
  store double 0x7FF8000000000000, ptr %p
  %k1 = add i64 %k, 1
  br label %next
done:
  ret void
}}

define private i1 @inside(ptr %table, ptr %q) #0 {{
entry:
{read_slot("%count", Slot.SLEEVES)}  br label %next
next:
  %k = phi i64 [0, %entry], [%k1, %good]
  %end = icmp eq i64 %k, %count
  br i1 %end, label %yes, label %more
more:
  %two = shl i64 %k, 1
  %at = add i64 %two, {int(Slot.SIZE)}
  %place.p = getelementptr i64, ptr %table, i64 %at
  %place = load i64, ptr %place.p
  %length.p = getelementptr i64, ptr %place.p, i64 1
  %length = load double, ptr %length.p
  %x.p = getelementptr double, ptr %q, i64 %place
  %x = load double, ptr %x.p
  %out = fcmp ogt double %x, 0.0
  %in = fcmp olt double %x, %length
  %both = and i1 %out, %in
  %k1 = add i64 %k, 1
  br i1 %both, label %good, label %no
good:
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}}
"""


def begin_function(name: str) -> str:
    return (
        f"define ptr @{name}(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) #0 {{\nentry:\n"
        f"  %table.p = getelementptr i8, ptr %self, i64 {layout.TABLE}\n"
        "  %table.o = load ptr, ptr %table.p\n"
        f"  %table.d = getelementptr i8, ptr %table.o, i64 {layout.DATA}\n"
        "  %table = load ptr, ptr %table.d\n"
        "  br label %begin\nbegin:\n"
    )


def read_argument(index: int, letter: str, slot: Slot, following: str) -> str:
    return (
        f"  %{letter}.a = getelementptr ptr, ptr %args, i64 {index}\n"
        f"  %{letter}.o = load ptr, ptr %{letter}.a\n"
        f"  %{letter}.w = getelementptr i64, ptr %table, i64 {int(slot)}\n"
        f"  %{letter} = call ptr @data_of(ptr %table, ptr %{letter}.o, i32 {IN}, i32 1, ptr %{letter}.w)\n"
        f"  %{letter}.no = icmp eq ptr %{letter}, null\n"
        f"  br i1 %{letter}.no, label %slow, label %{following}\n{following}:\n"
    )


def read_arguments(k: int) -> str:
    text = "".join(read_argument(i, LETTERS[i], WIDTHS[i], f"have.{LETTERS[i]}") for i in range(k))
    if k == 2:
        text += read_slot("%a", Slot.STILL, "ptr")
    return text


def unless_overlapping(letters: str, target: str, following: str) -> str:
    """Go on at ``following`` if no input shares memory with the result."""
    lines = read_slot("%result.n", Slot.COUNT)
    slots = {"q": Slot.Q, "v": Slot.V, "a": Slot.A, "w": Slot.WRENCH}
    last = None
    for letter in letters:
        lines += read_slot(f"%{letter}.n", slots[letter])
        lines += f"  %{letter}.apart = call i1 @apart(ptr %{letter}, i64 %{letter}.n, ptr {target}, i64 %result.n)\n"
        if last is None:
            last = f"%{letter}.apart"
        else:
            lines += f"  %{letter}.all = and i1 {last}, %{letter}.apart\n"
            last = f"%{letter}.all"
    return f"{lines}  br i1 {last}, label %{following}, label %slow\n"


def slow_path() -> str:
    return (
        "slow:\n"
        f"  %general.p = getelementptr i8, ptr %self, i64 {layout.GENERAL}\n"
        "  %general = load ptr, ptr %general.p\n"
        f"{read_slot('%vectorcall', Slot.VECTORCALL, 'ptr')}"
        "  %general.result = call ptr %vectorcall(ptr %general, ptr %args, i64 %nargs, ptr %kwnames)\n"
        "  ret ptr %general.result\n}\n"
    )
