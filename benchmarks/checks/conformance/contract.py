"""The contract of `dynbench.methods.base`, as checks: each takes a `Candidate` and raises `NonConformance`.

A solver returns the declared quantities, in the right shapes, the same for one state as for many, whatever else is
called. It takes any array-like, ``out=`` and ``wrench=``, and refuses wrong input with a message that names it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from dynbench.benchmarks.checks.agreement import relative
from dynbench.benchmarks.checks.behaviour import LONG_BATCH, MANY_CALLS
from dynbench.benchmarks.checks.sampling import Sample, draw, moved, put_unusual, with_forces
from dynbench.methods.base import QUANTITIES, Method, Solver
from dynbench.robots.errors import DynbenchError, NotComputedError, StateError, UnsupportedError
from dynbench.robots.families.trees import KINDS, chain, random_tree
from dynbench.robots.robot import FloatArray, Robot
from dynbench.robots.zoo import load

STATES = 11  # a block of eight and a part of one
MAX_SECONDS = 1.0  # for long batches and many calls; methods in plain Python get fewer
SAME = 1e-13  # relative: the same operations, contracted differently by the compiler
SPECIAL_ROBOTS = ("rp-2", "space-dual-arm", "gough-stewart", "3rrr", "elastic-rp1")

Arguments = dict[str, FloatArray]


class NonConformance(AssertionError):
    """A method breaks the contract."""


def require(condition: bool, sentence: str) -> None:
    """Raise the sentence unless the condition holds."""
    if not condition:
        raise NonConformance(sentence)


def require_refusal(kind: type[DynbenchError], call: Callable[[], Any], what: str) -> str:
    """Return the message of the error that ``call`` must raise."""
    try:
        result = call()
    except kind as error:
        return str(error)
    except Exception as error:
        raise NonConformance(f"{what}: expected {kind.__name__}, got {type(error).__name__}: {error}") from error
    raise NonConformance(f"{what}: expected {kind.__name__}, got the result {result!r:.60}")


@dataclass(frozen=True)
class Candidate:
    """A method under test, on a robot that it supports."""

    method: Method
    robot: Robot

    @cached_property
    def solver(self) -> Solver:
        return self.method.prepare(self.robot)

    @cached_property
    def sample(self) -> Sample:
        drawn = draw(self.robot, STATES, seed=5)
        if self.robot.is_tree and not self.robot.is_elastic:
            put_unusual(self.robot, drawn.q, drawn.v, drawn.a, seed=5, end=STATES)
        return with_forces(drawn, [self.solver])

    def calls(self) -> list[tuple[str, Callable[..., FloatArray], Arguments]]:
        """Return each quantity with its function and a batch of arguments."""
        return [(name, self.solver.whole(name), self.sample.inputs(name)) for name in self.solver.computes]

    @cached_property
    def noise(self) -> dict[str, float]:
        """The change of each quantity when inputs move by 2 ulp: forward dynamics of light links is ill-conditioned."""
        nearby = moved(self.sample)
        there = {name: self.solver.whole(name)(**nearby.inputs(name)) for name in self.solver.computes}
        return {name: _difference(call(**inputs), there[name]) for name, call, inputs in self.calls()}

    def require_same(self, quantity: str, x: FloatArray, y: FloatArray, what: str) -> None:
        """Raise unless two results of a quantity, for the same batch of states, are equal to rounding."""
        error, tolerance = _difference(x, y), max(SAME, self.noise[quantity])
        sentence = f"{quantity} {what}: they differ by {error:.1e} relative, more than {tolerance:.1e}"
        require(error <= tolerance, f"{sentence}, on robot {self.robot.name!r}")


def _difference(x: FloatArray, y: FloatArray) -> float:
    N = len(x)
    return float(relative(x.reshape(N, -1), y.reshape(N, -1)).max()) if N else 0.0


def candidate_of(method: Method, robots: Sequence[Robot]) -> Candidate | None:
    """Return the method on the first robot that it supports."""
    return next((Candidate(method, robot) for robot in robots if method.supports(robot) is None), None)


def robots_to_try() -> list[Robot]:
    """Return small robots of every sort, the most demanding first."""
    return [
        random_tree(6, seed=11, kinds=KINDS[:3], floating=True, massless=True),
        random_tree(6, seed=12, kinds=KINDS),
        random_tree(5, seed=13, kinds=("revolute", "spherical")),
        chain(3),
        *map(load, SPECIAL_ROBOTS),
    ]


def reasons_are_sentences(method: Method, robots: Iterable[Robot]) -> None:
    """`supports` answers None or a sentence and never raises; `prepare` refuses with that sentence."""
    for robot in robots:
        reason = method.supports(robot)
        require(reason is None or (isinstance(reason, str) and len(reason.split()) > 2), f"reason {reason!r}")
        if reason is not None:
            prepare = partial(method.prepare, robot)
            message = require_refusal(UnsupportedError, prepare, f"prepare for {robot.name!r}")
            for part in (method.name, robot.name, reason):
                require(part in message, f"the message does not say {part!r}: {message}")


# ---------------------------------------------------------------------- results


def description(candidate: Candidate) -> None:
    """Names, title, reference and cost are sentences for a table."""
    method = candidate.method
    for word in ("name", "title", "reference", "cost"):
        text = getattr(method, word)
        require(isinstance(text, str) and bool(text.strip()), f"{word} is {text!r}, expected words")
    require(set(method.computes) <= set(QUANTITIES), f"computes {method.computes}")
    require(candidate.solver.robot is candidate.robot, "solver.robot is not the robot it was prepared for")


def declared_quantities(candidate: Candidate) -> None:
    """A solver has the quantities its method declares; asking for another names method and quantity."""
    solver, method = candidate.solver, candidate.method
    if candidate.robot.is_tree:  # loops add multipliers, and can make reactions indeterminate
        require(set(solver.computes) == set(method.computes), f"declares {method.computes}, gives {solver.computes}")
    for quantity in QUANTITIES:
        if quantity in solver.computes:
            require(callable(getattr(solver, quantity)), f"{quantity} cannot be called")
            continue
        require(not hasattr(solver, quantity), f"hasattr says that it computes {quantity}")
        for ask in (partial(getattr, solver, quantity), partial(solver.handle, quantity)):
            message = require_refusal(NotComputedError, ask, f"asked for {quantity}")
            require(method.name in message and quantity in message, f"the message does not name them: {message}")


def shapes(candidate: Candidate) -> None:
    """One state gives one result; a batch of 0, 1, 8 or 11 states that many, in new C-contiguous float64 arrays."""
    for quantity, call, inputs in candidate.calls():
        one = QUANTITIES[quantity].shape(candidate.robot)
        single = call(**_state(inputs, 0))
        require(single.shape == one, f"{quantity} of one state has shape {single.shape}, expected {one}")
        whole = call(**inputs)
        for N in (0, 1, 8, STATES):
            batch = call(**{name: x[:N] for name, x in inputs.items()})
            require(batch.shape == (N, *one), f"{quantity} of {N} states has shape {batch.shape}, expected {(N, *one)}")
            require(batch.dtype == np.float64 and batch.flags.c_contiguous, f"{quantity} is {batch.dtype}, strided")
            candidate.require_same(quantity, batch, whole[:N], f"of {N} states and of {STATES}")
        require(not np.shares_memory(single, call(**_state(inputs, 0))), f"{quantity} reuses memory")


def batch_equals_singles(candidate: Candidate) -> None:
    """A batch gives what its states give one by one."""
    for quantity, call, inputs in candidate.calls():
        singles = np.array([call(**_state(inputs, k)) for k in range(STATES)])
        candidate.require_same(quantity, call(**inputs), singles, "of a batch and of its states one by one")


def handles(candidate: Candidate) -> None:
    """The unchecked handle gives what the checked call gives, with wrenches too."""
    cases = [(quantity, False) for quantity in candidate.solver.computes]
    cases += [("inverse_dynamics", True)] if "inverse_dynamics" in candidate.solver.computes else []
    for quantity, wrench in cases:
        inputs = candidate.sample.inputs(quantity, wrench)
        expected = candidate.solver.whole(quantity)(**inputs)
        handle, given = candidate.solver.handle(quantity, wrench=wrench), np.full_like(expected, np.nan)
        for k in range(STATES):
            state = _state(inputs, k)
            outer = [state.pop("wrench").reshape(-1)] if wrench else [None]
            outer = [] if QUANTITIES[quantity].arguments == ("q",) else outer
            handle(*state.values(), *outer, given[k].reshape(-1))
        what = f"{'with wrenches ' if wrench else ''}by its handle and by the call"
        candidate.require_same(quantity, given, expected, what)


def solvers_are_independent(candidate: Candidate) -> None:
    """A second solver, for a robot of the same name, is of its own robot and leaves the first as it was."""
    before = [call(**inputs) for _, call, inputs in candidate.calls()]
    heavier = replace(candidate.robot, gravity=2.0 * candidate.robot.gravity + 1.0, mass=2.0 * candidate.robot.mass)
    if candidate.method.supports(heavier) is None:
        other = candidate.method.prepare(heavier)
        # masses and gravity are not in the springs of loops, nor in the matrix of elastic arms, which have densities
        unchanged = {"multipliers"} | ({"mass_matrix"} if candidate.robot.is_elastic else set())
        for was, (quantity, _, inputs) in zip(before, candidate.calls(), strict=True):
            same = np.array_equal(other.whole(quantity)(**inputs), was) and quantity not in unchanged
            require(not (same and was.any()), f"{quantity} is the same for another robot of the same name")
    for was, (quantity, call, inputs) in zip(before, candidate.calls(), strict=True):
        require(bool(np.array_equal(was, call(**inputs))), f"{quantity} changes when another solver is used")


def many_states_and_calls(candidate: Candidate) -> None:
    """A batch of more than a thousand states gives what a short one gives, call number 1000 what the first gives."""
    for quantity, call, inputs in candidate.calls():
        expected = call(**inputs)
        state, start = _state(inputs, 0), time.thread_time()
        first = call(**state)
        pace = time.thread_time() - start
        rows = LONG_BATCH if pace * LONG_BATCH < MAX_SECONDS else 2 * STATES
        every = np.arange(rows) % STATES
        long = call(**{name: x[every] for name, x in inputs.items()})
        candidate.require_same(quantity, long, expected[every], f"of {rows} states and of {STATES}")
        for number in range(2, MANY_CALLS):
            require(bool(np.array_equal(call(**state), first)), f"{quantity} gives other numbers in call {number}")
            if time.thread_time() - start > MAX_SECONDS:
                break


def threads_agree(candidate: Candidate) -> None:
    """Calls from several threads, and a batch spread over threads, give the bits of one thread."""
    for quantity, call, inputs in candidate.calls():
        expected = call(**inputs)
        for threads in (2, 3, None):
            same = np.array_equal(call(**inputs, threads=threads), expected)
            require(bool(same), f"{quantity} with threads={threads} gives other numbers")
        require_refusal(StateError, partial(call, **inputs, threads=0), f"{quantity} with threads=0")
        singles = [call(**_state(inputs, k)) for k in range(STATES)]
        with ThreadPoolExecutor(4) as pool:
            turns = [k % STATES for k in range(8 * STATES)]
            many = [pool.submit(call, **_state(inputs, k)) for k in turns]
            same = all(np.array_equal(found.result(), singles[k]) for k, found in zip(turns, many, strict=True))
        require(bool(same), f"{quantity} called from four threads gives other numbers")


def _state(inputs: Arguments, k: int) -> Arguments:
    return {name: np.ascontiguousarray(x[k]) for name, x in inputs.items()}


# ---------------------------------------------------------------------- arguments


def inputs_untouched(candidate: Candidate) -> None:
    """No argument is written to."""
    for quantity, call, inputs in candidate.calls():
        copies = {name: x.copy() for name, x in inputs.items()}
        call(**copies)
        call(**{name: x[0] for name, x in copies.items()})
        for name, x in inputs.items():
            require(bool(np.array_equal(x, copies[name])), f"{quantity} writes to its argument {name}")


def any_array_like(candidate: Candidate) -> None:
    """Lists, strided views, Fortran order, read-only arrays give the same; float32 the same as its value in float64."""
    for quantity, call, inputs in candidate.calls():
        expected = call(**inputs)
        for words, convert in CONVERSIONS.items():
            batch = {name: convert(x) for name, x in inputs.items()}
            candidate.require_same(quantity, call(**batch), expected, f"of {words}")
            state = {name: x[0] for name, x in batch.items()}
            candidate.require_same(quantity, call(**state)[None], expected[:1], f"of one state as {words}")
        if candidate.robot.is_tree:  # rounding takes a state off its loops
            single = {name: x.astype(np.float32) for name, x in inputs.items()}
            double = {name: x.astype(np.float64) for name, x in single.items()}
            candidate.require_same(quantity, call(**single), call(**double), "of float32 and of the same in float64")


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


def fills_out(candidate: Candidate) -> None:
    """``out`` is filled and returned; one that does not fit is refused."""
    for quantity, call, inputs in candidate.calls():
        for arguments in (inputs, {name: x[3] for name, x in inputs.items()}):
            expected = call(**arguments)
            for before in (np.nan, 7.0):
                out = np.full(expected.shape, before)
                require(call(**arguments, out=out) is out, f"{quantity} does not return the out it was given")
                require(bool(np.array_equal(out, expected)), f"{quantity} with out= gives other numbers")
            for wrong in (out[:0], out.astype(np.float32), _strided(out), _read_only(out), out.tolist()):
                ask = partial(call, **arguments, out=wrong)
                message = require_refusal(StateError, ask, f"{quantity} with out = {wrong!r:.40}")
                require(message.startswith("out "), f"{quantity}: the message does not name out: {message}")


def takes_wrenches(candidate: Candidate) -> None:
    """External wrenches: None is zero, one set serves a batch, the effect is linear, wrong ones are refused."""
    n, sample = candidate.robot.n, candidate.sample
    quantity = "inverse_dynamics"  # one quantity: each costs seconds of compiling
    if quantity not in candidate.solver.computes:
        return
    call = partial(getattr(candidate.solver, quantity), **sample.inputs(quantity))
    none, each, shared, twice = (
        call(wrench=wrench) for wrench in (None, sample.wrench, sample.wrench[0], 2.0 * sample.wrench)
    )
    candidate.require_same(quantity, call(wrench=np.zeros((n, 6))), none, "with wrench None and zero")
    repeated = call(wrench=np.repeat(sample.wrench[:1], STATES, axis=0))
    candidate.require_same(quantity, shared, repeated, "with one set of wrenches and with the same for each state")
    scale = 1.0 + np.abs(twice).max() + np.abs(none).max()
    off = float(np.abs((twice - none) - 2.0 * (each - none)).max()) / scale
    require(off < 1e-9, f"{quantity}: the effect of wrenches is not linear, off by {off:.1e}")
    for wrong in (np.zeros(6 * n), np.zeros((n, 5)), np.zeros((STATES + 1, n, 6)), np.full((n, 6), np.nan)):
        what = f"{quantity} with wrench of shape {wrong.shape}"
        message = require_refusal(StateError, partial(call, wrench=wrong), what)
        require(message.startswith("wrench"), f"{quantity}: the message does not name wrench: {message}")


def wrong_input(candidate: Candidate) -> None:
    """Wrong shapes, NaN, infinities, text, quaternions that are not unit: an error that names argument and robot."""
    robot = candidate.robot
    for quantity, call, inputs in candidate.calls():
        state = _state(inputs, 0)
        call(**state)  # after the first call some checks are skipped on a fast path
        for name, x in state.items():
            for wrong in (x[:-1], np.append(x, 0.0), x[None, None], _with(x, np.nan), _with(x, np.inf), "text", None):
                _refused(robot, call, {**state, name: wrong}, name, f"{quantity} with {name} = {wrong!r:.40}")
            batch = {**inputs, name: inputs[name].copy()}
            batch[name][STATES - 1, -1] = np.nan
            _refused(robot, call, batch, name, f"{quantity} with a NaN in the last {name} of a batch")
        if len(inputs) > 1:
            short = {**inputs, "q": inputs["q"][:-1]}
            _refused(robot, call, short, "q", f"{quantity} with batches of different lengths")
        for start, _ in robot.quaternions:
            q = state["q"].copy()
            q[start : start + 4] *= 1.01
            message = _refused(robot, call, {**state, "q": q}, "q", f"{quantity} with a quaternion of length 1.01")
            require("quaternion" in message and "1.01" in message, f"the message does not say what is wrong: {message}")


def _with(x: FloatArray, value: float) -> FloatArray:
    return np.append(x[:-1], value)


def _refused(robot: Robot, call: Callable[..., Any], arguments: dict[str, Any], name: str, what: str) -> str:
    message = require_refusal(StateError, partial(call, **arguments), what)
    require(re.search(rf"\b{name}\b", message) is not None, f"{what}: the message does not name {name}: {message}")
    require(robot.name in message, f"{what}: the message does not name the robot: {message}")
    return message


CHECKS: tuple[Callable[[Candidate], None], ...] = (
    description, declared_quantities, shapes, batch_equals_singles, handles, solvers_are_independent,
    many_states_and_calls, threads_agree, inputs_untouched, any_array_like, fills_out, takes_wrenches, wrong_input,
)  # fmt: skip
