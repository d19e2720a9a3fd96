"""The text of handles: one state in, ``out`` filled, the status back."""

from __future__ import annotations

from dynbench.methods.kernels.status import Status
from dynbench.methods.native.pieces import (
    IN,
    LETTERS,
    TO,
    begin_function,
    read_arguments,
    read_slot,
    slow_path,
    unless_overlapping,
)
from dynbench.methods.native.table import Slot


def handle_text(k: int) -> str:
    letters = LETTERS[:k]
    v, a = ("%v" if k > 1 else "null"), ("%a" if k > 1 else "null")
    count = k + (2 if k > 1 else 1)
    text = begin_function(f"handle{k}") + read_slot("%function", Slot.FUNCTION, "ptr")
    text += (
        "  %no.kw = icmp eq ptr %kwnames, null\n"
        f"  %right.n = icmp eq i64 %nargs, {count}\n"
        "  %right = and i1 %no.kw, %right.n\n  br i1 %right, label %states, label %slow\nstates:\n"
    )
    text += read_arguments(k)
    if k > 1:
        text += (
            f"  %w.a = getelementptr ptr, ptr %args, i64 {k}\n  %w.o = load ptr, ptr %w.a\n"
        )
        text += read_slot("%none", Slot.NONE, "ptr") + read_slot("%w.width", Slot.WRENCH)
        text += (
            "  %w.expected = icmp ne i64 %w.width, 0\n"
            "  br i1 %w.expected, label %pushed, label %free\nfree:\n"
            "  %w.none = icmp eq ptr %w.o, %none\n  br i1 %w.none, label %target, label %slow\npushed:\n"
            f"  %w.w = getelementptr i64, ptr %table, i64 {int(Slot.WRENCH)}\n"
            f"  %w.d = call ptr @data_of(ptr %table, ptr %w.o, i32 {IN}, i32 1, ptr %w.w)\n"
            "  %w.no = icmp eq ptr %w.d, null\n  br i1 %w.no, label %slow, label %target\ntarget:\n"
            "  %w = phi ptr [null, %free], [%w.d, %pushed]\n"
        )
    wrench = "%w" if k > 1 else "null"
    text += (
        f"  %out.a = getelementptr ptr, ptr %args, i64 {count - 1}\n  %out.o = load ptr, ptr %out.a\n"
        f"  %out.w = getelementptr i64, ptr %table, i64 {int(Slot.COUNT)}\n"
        f"  %out = call ptr @data_of(ptr %table, ptr %out.o, i32 {TO}, i32 1, ptr %out.w)\n"
        "  %out.no = icmp eq ptr %out, null\n  br i1 %out.no, label %slow, label %overlap\noverlap:\n"
    )
    text += unless_overlapping(letters + ("w" if k > 1 else ""), "%out", "run")
    text += "run:\n" + read_slot("%header", Slot.HEADER, "ptr") + read_slot("%long", Slot.LONG, "ptr")
    text += (
        f"  %status = call i64 %function(ptr %header, ptr %q, ptr {v}, ptr {a}, ptr {wrench}, ptr %out)\n"
        f"  %far = icmp eq i64 %status, {int(Status.TOO_LARGE)}\n  br i1 %far, label %slow, label %judge\njudge:\n"
        "  %good = icmp eq i64 %status, 0\n  br i1 %good, label %look, label %spoil\nlook:\n"
    )
    text += read_slot("%look.n", Slot.FINITE) + "  %trust = icmp eq i64 %look.n, 0\n"
    text += (
        "  br i1 %trust, label %tell, label %looking\nlooking:\n"
        "  %numbers = call i1 @finite(ptr %out, i64 %result.n)\n"
        "  br i1 %numbers, label %tell, label %spoil\nspoil:\n"
        f"  %why = phi i64 [%status, %judge], [{int(Status.NO_RESULT)}, %looking]\n"
        "  call void @spoil(ptr %out, i64 %result.n)\n  br label %tell\ntell:\n"
        "  %told = phi i64 [0, %look], [0, %looking], [%why, %spoil]\n"
        "  %result = call ptr %long(i64 %told)\n  ret ptr %result\n"
    )
    return text + slow_path()
