"""What a solver takes: any array-like, ``out=``, ``wrench=``; and what it refuses, naming what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dynbench.benchmarks.checks.conformance.subject import STATES, Subject, refusal, require
from dynbench.robots.errors import StateError
from dynbench.robots.robot import FloatArray


def inputs_untouched(subject: Subject) -> None:
    """No argument is written to."""
    for quantity, call, inputs in subject.calls():
        copies = {name: x.copy() for name, x in inputs.items()}
        call(**copies)
        call(**{name: x[0] for name, x in copies.items()})
        for name, x in inputs.items():
            require(bool(np.array_equal(x, copies[name])), f"{quantity} writes to its argument {name}")


def any_array_like(subject: Subject) -> None:
    """Lists, strided views, Fortran order, read-only arrays give the same; float32 the same as its value in float64."""
    for quantity, call, inputs in subject.calls():
        wanted = call(**inputs)
        for words, convert in CONVERSIONS.items():
            batch = {name: convert(x) for name, x in inputs.items()}
            subject.require_same(quantity, call(**batch), wanted, f"of {words}")
            state = {name: x[0] for name, x in batch.items()}
            subject.require_same(quantity, call(**state)[None], wanted[:1], f"of one state as {words}")
        if subject.robot.is_tree:  # rounding takes a state off its loops
            single = {name: x.astype(np.float32) for name, x in inputs.items()}
            double = {name: x.astype(np.float64) for name, x in single.items()}
            subject.require_same(quantity, call(**single), call(**double), "of float32 and of the same in float64")


def _strided(x: FloatArray) -> FloatArray:
    wide = np.zeros((2 * x.shape[0], *(2 * n for n in x.shape[1:])))
    view = wide[tuple(slice(None, None, 2) for _ in x.shape)]
    view[...] = x
    return view


def _read_only(x: FloatArray) -> FloatArray:
    y = x.copy()
    y.flags.writeable = False
    return y


CONVERSIONS: dict[str, Callable[[FloatArray], Any]] = {
    "lists": lambda x: x.tolist(),
    "strided views": _strided,
    "Fortran order": np.asfortranarray,
    "read-only arrays": _read_only,
}


def fills_out(subject: Subject) -> None:
    """``out`` is filled and returned; one that does not fit is refused."""
    for quantity, call, inputs in subject.calls():
        for arguments in (inputs, {name: x[3] for name, x in inputs.items()}):
            wanted = call(**arguments)
            out = np.full(wanted.shape, np.nan)
            require(call(**arguments, out=out) is out, f"{quantity} does not return the out it was given")
            require(bool(np.array_equal(out, wanted)), f"{quantity} with out= gives other numbers")
            bad = [out[:0], out.astype(np.float32), _strided(out), _read_only(out), out.tolist()]
            for wrong in bad:
                ask = partial(call, **arguments, out=wrong)
                message = refusal(StateError, ask, f"{quantity} with out = {wrong!r:.40}")
                require(message.startswith("out "), f"{quantity}: the message does not name out: {message}")


def takes_wrenches(subject: Subject) -> None:
    """External wrenches: None is zero, one set serves a batch, the effect is linear, wrong ones are refused."""
    n, sample = subject.robot.n, subject.sample
    quantity = "inverse_dynamics"  # one quantity: each costs seconds of compiling
    if quantity in subject.solver.computes:
        call, inputs = getattr(subject.solver, quantity), sample.inputs(quantity)
        none = call(**inputs)
        subject.require_same(quantity, call(**inputs, wrench=np.zeros((n, 6))), none, "with wrench None and zero")
        each, shared = call(**inputs, wrench=sample.wrench), call(**inputs, wrench=sample.wrench[0])
        subject.require_same(quantity, shared[:1], each[:1], "with one set of wrenches and with one per state")
        twice = call(**inputs, wrench=2.0 * sample.wrench)
        scale = 1.0 + np.abs(twice).max() + np.abs(none).max()
        off = float(np.abs((twice - none) - 2.0 * (each - none)).max()) / scale
        require(off < 1e-9, f"{quantity}: the effect of wrenches is not linear, off by {off:.1e}")
        for wrong in (np.zeros(6 * n), np.zeros((n, 5)), np.zeros((STATES + 1, n, 6)), np.full((n, 6), np.nan)):
            ask = partial(call, **inputs, wrench=wrong)
            message = refusal(StateError, ask, f"{quantity} with wrench of shape {wrong.shape}")
            require(message.startswith("wrench"), f"{quantity}: the message does not name wrench: {message}")


def wrong_input(subject: Subject) -> None:
    """Wrong shapes, NaN, infinities, text, quaternions that are not unit: an error that names argument and robot."""
    robot = subject.robot
    for quantity, call, inputs in subject.calls():
        state = {name: np.ascontiguousarray(x[0]) for name, x in inputs.items()}
        call(**state)  # some checks are skipped on a fast road that the first call opens
        for name, x in state.items():
            for wrong in (x[:-1], np.append(x, 0.0), x[None, None], _with(x, np.nan), _with(x, np.inf), "text", None):
                _refused(subject, call, {**state, name: wrong}, name, f"{quantity} with {name} = {wrong!r:.40}")
            batch = {**inputs, name: inputs[name].copy()}
            batch[name][STATES - 1, -1] = np.nan
            _refused(subject, call, batch, name, f"{quantity} with a NaN in the last {name} of a batch")
        if len(inputs) > 1:
            short = {**inputs, "q": inputs["q"][:-1]}
            _refused(subject, call, short, "q", f"{quantity} with batches of different lengths")
        for start, _ in robot.quaternions:
            q = state["q"].copy()
            q[start : start + 4] *= 1.01
            message = _refused(subject, call, {**state, "q": q}, "q", f"{quantity} with a quaternion of length 1.01")
            require("quaternion" in message and "1.01" in message, f"the message does not say what is wrong: {message}")


def _with(x: FloatArray, value: float) -> FloatArray:
    y = x.copy()
    y[-1] = value
    return y


def _refused(subject: Subject, call: Callable[..., Any], arguments: dict[str, Any], name: str, what: str) -> str:
    message = refusal(StateError, partial(call, **arguments), what)
    require(re.search(rf"\b{name}\b", message) is not None, f"{what}: the message does not name {name}: {message}")
    require(subject.robot.name in message, f"{what}: the message does not name the robot: {message}")
    return message
