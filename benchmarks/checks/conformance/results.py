"""What a solver gives: declared quantities, shapes, the same for one state as for many, whoever else is calling."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np

from dynbench.benchmarks.checks.conformance.subject import STATES, Subject, refusal, require
from dynbench.methods.base import QUANTITIES
from dynbench.robots.errors import NotComputedError, StateError


def description(subject: Subject) -> None:
    """Names, title, reference and cost are sentences for a table."""
    method = subject.method
    for word in ("name", "title", "reference", "cost"):
        text = getattr(method, word)
        require(isinstance(text, str) and bool(text.strip()), f"{word} is {text!r}, wanted words")
    require(set(method.computes) <= set(QUANTITIES), f"computes {method.computes}")
    require(subject.solver.robot is subject.robot, "solver.robot is not the robot it was prepared for")


def declared_quantities(subject: Subject) -> None:
    """A solver has the quantities its method declares; asking for another names method and quantity."""
    solver, method = subject.solver, subject.method
    if subject.robot.is_tree:  # loops add multipliers, and can make reactions indeterminate
        require(set(solver.computes) == set(method.computes), f"declares {method.computes}, gives {solver.computes}")
    for quantity in QUANTITIES:
        if quantity in solver.computes:
            require(callable(getattr(solver, quantity)), f"{quantity} cannot be called")
            continue
        require(not hasattr(solver, quantity), f"hasattr says that it computes {quantity}")
        for ask in (partial(getattr, solver, quantity), partial(solver.handle, quantity)):
            message = refusal(NotComputedError, ask, f"asked for {quantity}")
            require(method.name in message and quantity in message, f"the message does not name them: {message}")


def shapes(subject: Subject) -> None:
    """One state gives one result; a batch of 0, 1, 8 or 11 states that many, in new C-contiguous float64 arrays."""
    for quantity, call, inputs in subject.calls():
        one = QUANTITIES[quantity].shape(subject.robot)
        single = call(**{name: x[0] for name, x in inputs.items()})
        require(single.shape == one, f"{quantity} of one state has shape {single.shape}, wanted {one}")
        whole = call(**inputs)
        for N in (0, 1, 8, STATES):
            batch = call(**{name: x[:N] for name, x in inputs.items()})
            require(batch.shape == (N, *one), f"{quantity} of {N} states has shape {batch.shape}, wanted {(N, *one)}")
            require(batch.dtype == np.float64 and batch.flags.c_contiguous, f"{quantity} is {batch.dtype}, strided")
            subject.require_same(quantity, batch, whole[:N], f"of {N} states and of {STATES}")
        require(not np.shares_memory(single, call(**{n: x[0] for n, x in inputs.items()})), f"{quantity} reuses memory")


def batch_equals_singles(subject: Subject) -> None:
    """A batch gives what its states give one by one."""
    for quantity, call, inputs in subject.calls():
        singles = np.array([call(**{name: x[k] for name, x in inputs.items()}) for k in range(STATES)])
        subject.require_same(quantity, call(**inputs), singles, "of a batch and of its states one by one")


def handles(subject: Subject) -> None:
    """The unchecked handle gives what the checked call gives, with wrenches too."""
    for quantity, call, inputs in subject.calls():
        state = {name: np.ascontiguousarray(x[2]) for name, x in inputs.items()}
        wanted = call(**state)
        out = np.full(wanted.size, np.nan)
        no_wrench = () if QUANTITIES[quantity].arguments == ("q",) else (None,)
        subject.solver.handle(quantity)(*state.values(), *no_wrench, out)
        subject.require_same(quantity, out[None], wanted[None], "by its handle and by the call")
    if "inverse_dynamics" in subject.solver.computes:
        state = {name: np.ascontiguousarray(x[2]) for name, x in subject.sample.inputs("inverse_dynamics").items()}
        wrench = np.ascontiguousarray(subject.sample.wrench[2])
        wanted = subject.solver.inverse_dynamics(**state, wrench=wrench)
        out = np.full(wanted.size, np.nan)
        subject.solver.handle("inverse_dynamics", wrench=True)(*state.values(), wrench.reshape(-1), out)
        subject.require_same("inverse_dynamics", out[None], wanted[None], "with wrenches by its handle and by the call")


def solvers_are_independent(subject: Subject) -> None:
    """A second solver, of the same or of another method object, leaves the first as it was."""
    before = [call(**inputs) for _, call, inputs in subject.calls()]
    heavier = replace(subject.robot, name="heavier", gravity=2.0 * subject.robot.gravity + 1.0)
    if subject.method.supports(heavier) is None:
        other = subject.method.prepare(heavier)
        for quantity, _, inputs in subject.calls():
            getattr(other, quantity)(**inputs)
    for was, (quantity, call, inputs) in zip(before, subject.calls(), strict=True):
        require(bool(np.array_equal(was, call(**inputs))), f"{quantity} changes when another solver is used")


def threads_agree(subject: Subject) -> None:
    """Calls from several threads, and a batch spread over threads, give the bits of one thread."""
    for quantity, call, inputs in subject.calls():
        wanted = call(**inputs)
        for threads in (2, None):
            same = np.array_equal(call(**inputs, threads=threads), wanted)
            require(bool(same), f"{quantity} with threads={threads} gives other numbers")
        refusal(StateError, partial(call, **inputs, threads=0), f"{quantity} with threads=0")
        singles = [call(**{name: x[k] for name, x in inputs.items()}) for k in range(STATES)]
        with ThreadPoolExecutor(4) as pool:
            turns = [k % STATES for k in range(8 * STATES)]
            many = [pool.submit(call, **{name: x[k] for name, x in inputs.items()}) for k in turns]
            same = all(np.array_equal(found.result(), singles[k]) for k, found in zip(turns, many, strict=True))
        require(bool(same), f"{quantity} called from four threads gives other numbers")
