"""The text of checked calls: one state or rows of states in, a new array or ``out`` back."""

from __future__ import annotations

from dynbench.methods.native import layout
from dynbench.methods.native.pieces import (
    IN,
    LETTERS,
    TO,
    WIDTHS,
    begin_function,
    read_arguments,
    read_slot,
    slow_path,
    unless_overlapping,
)
from dynbench.methods.native.table import Slot

NPY_DOUBLE = 12


def checked_text(k: int) -> str:
    """The function branches on the dimensions of q: one state, or rows of states."""
    text = _begin_checked(k)
    text += (
        "  %q.p = load ptr, ptr %args\n"
        f"  %q.type.p = getelementptr i8, ptr %q.p, i64 {layout.TYPE}\n"
        "  %q.type = load i64, ptr %q.type.p\n"
    )
    text += read_slot("%ndarray", Slot.NDARRAY)
    text += (
        "  %q.array = icmp eq i64 %q.type, %ndarray\n  br i1 %q.array, label %dimensions, label %slow\ndimensions:\n"
        f"  %q.ndim.p = getelementptr i8, ptr %q.p, i64 {layout.NDIM}\n"
        "  %q.ndim = load i32, ptr %q.ndim.p\n"
        "  %one.state = icmp eq i32 %q.ndim, 1\n  br i1 %one.state, label %single, label %several\nseveral:\n"
        "  %two = icmp eq i32 %q.ndim, 2\n"
    )
    text += read_slot("%rows.function", Slot.BATCH, "ptr")
    text += (
        "  %has.rows = icmp ne ptr %rows.function, null\n  %rows.ok = and i1 %two, %has.rows\n"
        "  br i1 %rows.ok, label %rows, label %slow\n"
    )
    return text + _state_text(k) + _rows_text(k) + slow_path()


def _begin_checked(k: int) -> str:
    """Positional arguments, and the keyword ``out`` if there is one: %out.o, null if not."""
    text = begin_function(f"checked{k}")
    text += "  %dims = alloca [4 x i64]\n"
    text += f"  %right.n = icmp eq i64 %nargs, {k}\n  br i1 %right.n, label %keywords, label %slow\nkeywords:\n"
    text += "  %no.kw = icmp eq ptr %kwnames, null\n  br i1 %no.kw, label %states, label %keyword\nkeyword:\n"
    text += read_slot("%tuple.size", Slot.TUPLE_SIZE, "ptr") + read_slot("%tuple.item", Slot.TUPLE_ITEM, "ptr")
    text += (
        "  %kw.n = call i64 %tuple.size(ptr %kwnames)\n"
        "  %one.kw = icmp eq i64 %kw.n, 1\n  br i1 %one.kw, label %which, label %slow\nwhich:\n"
        "  %kw = call ptr %tuple.item(ptr %kwnames, i64 0)\n"
    )
    text += read_slot("%out.name", Slot.OUT_NAME, "ptr")
    return text + (
        "  %is.out = icmp eq ptr %kw, %out.name\n  br i1 %is.out, label %given, label %slow\ngiven:\n"
        f"  %given.a = getelementptr ptr, ptr %args, i64 {k}\n"
        "  %given.o = load ptr, ptr %given.a\n  br label %states\nstates:\n"
        "  %out.o = phi ptr [null, %keywords], [%given.o, %given]\n"
        "  %fresh = icmp eq ptr %out.o, null\n"
    )


def _result(p: str, ndim: str, dims: str, overlap: str) -> str:
    """The array to fill, %{p}.result.o with its numbers %{p}.result: a new one, or the one given if it fits."""
    return (
        f"  br i1 %fresh, label %{p}.allocate, label %{p}.given\n{p}.given:\n"
        f"  %{p}.out.d = call ptr @data_of(ptr %table, ptr %out.o, i32 {TO}, i32 {ndim}, ptr {dims})\n"
        f"  %{p}.out.no = icmp eq ptr %{p}.out.d, null\n  br i1 %{p}.out.no, label %slow, label %{p}.overlap\n"
        f"{p}.overlap:\n{overlap}{p}.fits:\n  br label %{p}.run\n{p}.allocate:\n"
        + read_slot(f"%{p}.ndarray", Slot.NDARRAY, "ptr")
        + read_slot(f"%{p}.new", Slot.NEW, "ptr")
        + f"  %{p}.new.o = call ptr %{p}.new(ptr %{p}.ndarray, i32 {ndim}, ptr {dims}, i32 {NPY_DOUBLE}, ptr null, "
        "ptr null, i32 0, i32 0, ptr null)\n"
        f"  %{p}.failed = icmp eq ptr %{p}.new.o, null\n"
        f"  br i1 %{p}.failed, label %{p}.error, label %{p}.allocated\n{p}.error:\n  ret ptr null\n{p}.allocated:\n"
        f"  %{p}.new.p = getelementptr i8, ptr %{p}.new.o, i64 {layout.DATA}\n"
        f"  %{p}.new.d = load ptr, ptr %{p}.new.p\n  br label %{p}.run\n{p}.run:\n"
        f"  %{p}.result.o = phi ptr [%{p}.new.o, %{p}.allocated], [%out.o, %{p}.fits]\n"
        f"  %{p}.result = phi ptr [%{p}.new.d, %{p}.allocated], [%{p}.out.d, %{p}.fits]\n"
    )


def _tuple() -> str:
    """Return the result, or if it has parts a tuple of them: views that keep it alive."""
    text = read_slot("%parts", Slot.PARTS) + "  %in.parts = icmp ne i64 %parts, 0\n"
    text += "  br i1 %in.parts, label %parts.views, label %one.whole\n"
    text += "one.whole:\n  ret ptr %one.result.o\nparts.views:\n"
    text += read_slot("%parts.array", Slot.NDARRAY, "ptr") + read_slot("%parts.new", Slot.NEW, "ptr")
    text += read_slot("%parts.base", Slot.SET_BASE, "ptr") + read_slot("%parts.tuple", Slot.TUPLE_NEW, "ptr")
    text += read_slot("%parts.set", Slot.TUPLE_SET, "ptr") + read_slot("%parts.n", Slot.COUNT)
    text += read_slot("%parts.incref", Slot.INCREF, "ptr") + read_slot("%parts.decref", Slot.DECREF, "ptr")
    text += (
        f"  %parts.dims = getelementptr i64, ptr %table, i64 {int(Slot.COLUMNS)}\n"
        "  %parts.half = lshr i64 %parts.n, 1\n"
        "  %parts.second = getelementptr double, ptr %one.result, i64 %parts.half\n"
    )
    previous: list[str] = []
    for name, data in (("a", "%one.result"), ("b", "%parts.second")):
        text += (
            f"  %parts.{name} = call ptr %parts.new(ptr %parts.array, i32 2, ptr %parts.dims, i32 {NPY_DOUBLE}, "
            f"ptr null, ptr {data}, i32 0, i32 {TO}, ptr null)\n" + _unless(f"parts.{name}", previous)
        )
        previous.append(f"%parts.{name}")
    text += "  %parts.both = call ptr %parts.tuple(i64 2)\n" + _unless("parts.both", previous)
    # both views take a reference to the result, of which one is there
    text += "  call void %parts.incref(ptr %one.result.o)\n"
    for k, name in enumerate("ab"):
        text += (
            f"  %parts.{name}.based = call i32 %parts.base(ptr %parts.{name}, ptr %one.result.o)\n"
            f"  %parts.{name}.in = call i32 %parts.set(ptr %parts.both, i64 {k}, ptr %parts.{name})\n"
        )
    return text + "  ret ptr %parts.both\n"


def _unless(name: str, previous: list[str]) -> str:
    """Give back what there is and return null if an object could not be made."""
    drop = "".join(f"  call void %parts.decref(ptr {x})\n" for x in [*previous, "%one.result.o"])
    return (
        f"  %{name}.null = icmp eq ptr %{name}, null\n"
        f"  br i1 %{name}.null, label %{name}.failed, label %{name}.made\n"
        f"{name}.failed:\n{drop}  ret ptr null\n{name}.made:\n"
    )


def _finish(p: str, give: str = "") -> str:
    """Return the result, as it is or as ``give`` does it, or drop it and take the slow way."""
    give = give or f"  ret ptr %{p}.result.o\n"
    return (
        f"{p}.done:\n  br i1 %fresh, label %{p}.return, label %{p}.share\n{p}.share:\n"
        + read_slot(f"%{p}.incref2", Slot.INCREF, "ptr")
        + f"  call void %{p}.incref2(ptr %{p}.result.o)\n  br label %{p}.return\n{p}.return:\n"
        f"{give}{p}.bad:\n  br i1 %fresh, label %{p}.drop, label %slow\n{p}.drop:\n"
        + read_slot(f"%{p}.decref", Slot.DECREF, "ptr")
        + f"  call void %{p}.decref(ptr %{p}.result.o)\n  br label %slow\n"
    )


def _state_text(k: int) -> str:
    v, a = ("%v" if k > 1 else "null"), ("%a" if k > 1 else "null")
    text = "single:\n" + read_slot("%function", Slot.FUNCTION, "ptr")
    text += "  %no.function = icmp eq ptr %function, null\n  br i1 %no.function, label %slow, label %state\nstate:\n"
    text += read_arguments(k) + read_slot("%ndim", Slot.NDIM, "i32")
    text += f"  %shape = getelementptr i64, ptr %table, i64 {int(Slot.ROWS)}\n"
    text += _result("one", "%ndim", "%shape", unless_overlapping(LETTERS[:k], "%one.out.d", "one.fits"))
    text += read_slot("%header", Slot.HEADER, "ptr")
    text += (
        f"  %status = call i64 %function(ptr %header, ptr %q, ptr {v}, ptr {a}, ptr null, ptr %one.result)\n"
        "  %good = icmp eq i64 %status, 0\n  br i1 %good, label %look, label %one.bad\nlook:\n"
    )
    text += read_slot("%look.n", Slot.FINITE) + "  %looks = icmp eq i64 %look.n, 0\n"
    text += "  br i1 %looks, label %one.done, label %looking\nlooking:\n" + read_slot("%count", Slot.COUNT)
    text += (
        "  %numbers = call i1 @finite(ptr %one.result, i64 %count)\n"
        "  %out.of.sleeves = call i1 @inside(ptr %table, ptr %q)\n"
        "  %fine = and i1 %numbers, %out.of.sleeves\n  br i1 %fine, label %one.done, label %one.bad\n"
    )
    return text + _finish("one", _tuple())


def _rows_text(k: int) -> str:
    letters = LETTERS[:k]
    text = "rows:\n" + (
        f"  %N.dims = getelementptr i8, ptr %q.p, i64 {layout.DIMENSIONS}\n"
        "  %N.p = load ptr, ptr %N.dims\n  %N = load i64, ptr %N.p\n"
    )
    text += (
        "  %some = icmp sgt i64 %N, 0\n  br i1 %some, label %rows.q, label %slow\nrows.q:\n"
        "  store i64 %N, ptr %dims\n  %dims.1 = getelementptr i64, ptr %dims, i64 1\n"
    )
    following = [*(f"rows.{letter}" for letter in letters[1:]), "rows.all"]
    for i, letter in enumerate(letters):
        text += read_slot(f"%r{letter}.n", WIDTHS[i])
        text += (
            f"  store i64 %r{letter}.n, ptr %dims.1\n"
            f"  %r{letter}.a = getelementptr ptr, ptr %args, i64 {i}\n  %r{letter}.o = load ptr, ptr %r{letter}.a\n"
            f"  %r{letter} = call ptr @data_of(ptr %table, ptr %r{letter}.o, i32 {IN}, i32 2, ptr %dims)\n"
            f"  %r{letter}.no = icmp eq ptr %r{letter}, null\n"
            f"  br i1 %r{letter}.no, label %slow, label %{following[i]}\n{following[i]}:\n"
        )
    text += read_slot("%rows.1", Slot.ROWS) + read_slot("%rows.2", Slot.COLUMNS)
    text += read_slot("%rows.ndim", Slot.NDIM, "i32")
    text += (
        "  store i64 %rows.1, ptr %dims.1\n  %dims.2 = getelementptr i64, ptr %dims, i64 2\n"
        "  store i64 %rows.2, ptr %dims.2\n  %all.ndim = add i32 %rows.ndim, 1\n"
    )
    text += read_slot("%rows.3", Slot.DEPTH)
    text += "  %dims.3 = getelementptr i64, ptr %dims, i64 3\n  store i64 %rows.3, ptr %dims.3\n"
    text += read_slot("%all.count", Slot.COUNT) + "  %all.n = mul i64 %N, %all.count\n"
    overlap, last = "", ""
    for letter in letters:
        overlap += (
            f"  %r{letter}.all = mul i64 %N, %r{letter}.n\n"
            f"  %r{letter}.apart = call i1 @apart(ptr %r{letter}, i64 %r{letter}.all, ptr %all.out.d, i64 %all.n)\n"
        )
        overlap += f"  %r{letter}.ok = and i1 %r{letter}.apart, {last or 'true'}\n"
        last = f"%r{letter}.ok"
    overlap += f"  br i1 {last}, label %all.fits, label %slow\n"
    text += _result("all", "%all.ndim", "%dims", overlap)
    given = [f"ptr %r{letter}" for letter in letters] + ["ptr null"] * (3 - k)
    text += read_slot("%all.header", Slot.HEADER, "ptr")
    text += read_slot("%save", Slot.SAVE_THREAD, "ptr") + read_slot("%restore", Slot.RESTORE_THREAD, "ptr")
    text += (
        "  %thread = call ptr %save()\n"
        f"  %all.status = call i64 %rows.function(ptr %all.header, i64 %N, {', '.join(given)}, ptr %all.result)\n"
        "  call void %restore(ptr %thread)\n"
        "  %all.good = icmp eq i64 %all.status, 0\n  br i1 %all.good, label %all.look, label %all.bad\nall.look:\n"
    )
    text += read_slot("%all.looks", Slot.FINITE) + "  %all.trust = icmp eq i64 %all.looks, 0\n"
    text += (
        "  br i1 %all.trust, label %all.done, label %all.looking\nall.looking:\n"
        "  %all.numbers = call i1 @finite(ptr %all.result, i64 %all.n)\n"
        "  br i1 %all.numbers, label %all.done, label %all.bad\n"
    )
    return text + _finish("all")
