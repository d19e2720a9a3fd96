"""An engine's own calls: what its users write, in its coordinates, without the checks and conversions of a solver.

A method lists them in its class attribute `own_calls`, as Python code by quantity and kind of call:

    own_calls = {
        ("inverse_dynamics", "single"): "pin.rnea(model, data, q, v, a)",
        ("inverse_dynamics", "batch"): "pin.rneaInParallel(threads, pool, q, v, a, out.T)",
        NULL_CALL: "pin.computeTotalMass(model)",
    }

This very code is compiled and timed, and reports print it. What its names stand for comes from a function that is given
to `function_solver` as ``own_names``; it is called before the timing, so conversions belong there:

    def own_names(quantity, inputs, threads):
        return {"pin": pin, "model": model, ...}

* single: one state. The last line is an expression, the result. The arguments of the quantity (``q``, ``v``, ``a``,
  ``tau``) stand for one state in the engine's coordinates; `own_names` returns each of them as a sequence over the rows
  of ``inputs``, the other names as they are. ``threads`` is None.
* batch: all states. `own_names` returns every name, among them ``out``, an array that the code fills: ``out[k]`` is the
  result of state k. ``threads`` is the number of threads to use. A batch of an engine without such a call is timed as a
  loop in Python over its single call, which stores the results (with the names ``k``, ``states`` and ``results``).
* `NULL_CALL`: the cheapest call, which computes nothing. It measures what a call from Python costs; no inputs.
"""

from __future__ import annotations

import ast
import builtins
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dynbench.methods.base import QUANTITIES, Solver
from dynbench.robots.errors import MethodError
from dynbench.robots.robot import FloatArray

NULL_CALL = ("null", "single")


class OwnCall(NamedTuple):
    """An engine's own call with its arguments, ready to be timed."""

    call: Callable[[], Any]
    code: str  # what is executed
    arguments: Mapping[str, Any]  # of a single call: the state in the engine's coordinates
    out: Any = None  # of a batch: the results, ``out[k]`` of state k


def single(solver: Solver, quantity: str, inputs: Sequence[FloatArray]) -> OwnCall:
    """Return the own call for the first of the states in the rows of ``inputs``."""
    code, names, states = _single(solver, quantity, inputs)
    state = dict(zip(QUANTITIES[quantity].arguments, states[0], strict=True))
    return OwnCall(_function(solver, code, {**names, **state}, returns=True), code, state)


def batch(solver: Solver, quantity: str, inputs: Sequence[FloatArray], threads: int = 1, repeat: int = 0) -> OwnCall:
    """Return the own call for all states; a loop over the single call if the engine has none for a batch.

    Parameters
    ----------
    repeat : int
        Number of rows after which the states repeat, 0 if they do not: a loop converts each state once.
    """
    code = solver.method.own_calls_on(solver.robot).get((quantity, "batch"))
    if code is not None:
        names = dict(_names(solver, quantity, inputs, threads))
        if "out" not in names:
            raise MethodError(f"method {solver.method.name!r}: expected 'out' among the names of its own batch call")
        return OwnCall(_function(solver, code, names), code, {}, names["out"])
    rows = len(inputs[0])
    distinct = min(rows, repeat) if repeat else rows
    code, names, states = _single(solver, quantity, [array[:distinct] for array in inputs])
    first = _function(solver, code, {**names, **_state(quantity, states[0])}, returns=True)()
    parts = len(QUANTITIES[quantity].parts)
    out = np.zeros((rows, parts, *np.shape(first[0])) if parts else (rows, *np.shape(first)))
    loop = _loop(code, quantity)
    every = [states[k % distinct] for k in range(rows)]
    return OwnCall(_function(solver, loop, {**names, "states": every, "results": out}), loop, {}, out)


def null(solver: Solver) -> OwnCall:
    """Return the call that computes nothing."""
    code = solver.method.own_calls[NULL_CALL]
    return OwnCall(_function(solver, code, _names(solver, NULL_CALL[0], (), None), returns=True), code, {})


def shown(method: Any, quantity: str, kind: str) -> str:
    """Return the code that is timed for a kind of call ("single" or "batch"), "" if there is none."""
    found = method.own_calls.get((quantity, kind), "")
    if not found and kind == "batch" and (quantity, "single") in method.own_calls:
        found = _loop(method.own_calls[quantity, "single"], quantity)
    return str(found)


def _names(
    solver: Solver, quantity: str, inputs: Sequence[FloatArray], threads: int | None
) -> Mapping[str, Any]:
    if solver.own_names is None:
        raise MethodError(f"method {solver.method.name!r} lists own calls; its solver has no own_names for them")
    return solver.own_names(quantity, inputs, threads)  # type: ignore[no-any-return]


def _single(
    solver: Solver, quantity: str, inputs: Sequence[FloatArray]
) -> tuple[str, dict[str, Any], list[tuple[Any, ...]]]:
    """The code, its fixed names, and the states in the engine's coordinates."""
    names = dict(_names(solver, quantity, inputs, None))
    arguments = QUANTITIES[quantity].arguments
    absent = [name for name in arguments if name not in names]
    if absent:
        raise MethodError(
            f"method {solver.method.name!r}: expected {', '.join(arguments)} among the names of its own call of "
            f"{quantity}, got no {absent[0]!r}"
        )
    states = list(zip(*(names.pop(name) for name in arguments), strict=True))
    return solver.method.own_calls_on(solver.robot)[quantity, "single"], names, states


def _state(quantity: str, state: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(QUANTITIES[quantity].arguments, state, strict=True))


def _loop(code: str, quantity: str) -> str:
    """A loop over states around the code of one, which stores the results; of derivatives, each part as it comes."""
    arguments, parts = QUANTITIES[quantity].arguments, QUANTITIES[quantity].parts
    *before, last = ast.parse(code).body
    store = [f"found = {ast.unparse(last)}", *(f"results[k, {i}] = found[{i}]" for i in range(len(parts)))]
    lines = [ast.unparse(line) for line in before] + (store if parts else [f"results[k] = {ast.unparse(last)}"])
    state = f"({arguments[0]},)" if len(arguments) == 1 else f"({', '.join(arguments)})"
    return f"for k, {state} in enumerate(states):\n" + textwrap.indent("\n".join(lines), "    ")


def _function(solver: Solver, code: str, names: Mapping[str, Any], returns: bool = False) -> Callable[[], Any]:
    return compiled(f"own call of method {solver.method.name!r}", code, names, returns)


def compiled(where: str, code: str, names: Mapping[str, Any], returns: bool = False) -> Callable[[], Any]:
    """Compile code to a function without arguments; its names are variables of the enclosing function.

    Parameters
    ----------
    where : str
        What the code is, for messages.
    returns : bool
        Whether the function returns the last line, which must be an expression.
    """
    try:
        body = ast.parse(code).body
    except SyntaxError as error:
        raise MethodError(f"{where}: expected Python code, got {code!r}: {error}") from error
    if returns:
        if not body or not isinstance(body[-1], ast.Expr):
            raise MethodError(f"{where}: expected an expression as its last line, the result, got {code!r}")
        body[-1] = ast.copy_location(ast.Return(body[-1].value), body[-1])
    made = ast.parse(f"def make({', '.join(names)}):\n    def call(): pass\n    return call")
    outer = made.body[0]
    assert isinstance(outer, ast.FunctionDef)
    assert isinstance(outer.body[0], ast.FunctionDef)
    outer.body[0].body = body
    space: dict[str, Any] = {}
    exec(compile(made, f"<{where}>", "exec"), space)
    call: Callable[[], Any] = space["make"](**names)
    call.__dict__["names"] = names  # kept alive with the call: code may hold addresses of arrays among them
    unknown = [name for name in call.__code__.co_names if name in _read(body) and not hasattr(builtins, name)]
    if unknown:
        raise MethodError(f"{where}: its code uses {unknown[0]!r}, which is not given; code: {code!r}")
    return call


def _read(body: Sequence[ast.stmt]) -> set[str]:
    """The variables that code reads."""
    found = (node for line in body for node in ast.walk(line))
    return {node.id for node in found if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def converted(theirs: Callable[..., list[Any]], quantity: str, inputs: Sequence[FloatArray]) -> dict[str, list[Any]]:
    """Return the arguments of a quantity in an engine's coordinates, a list over states each; {} without inputs.

    Parameters
    ----------
    theirs : callable
        Takes one state by name (q, v, a, tau) and returns its vectors in the engine's coordinates, in that order.
    """
    if not inputs:
        return {}
    names = QUANTITIES[quantity].arguments
    states = [theirs(**dict(zip(names, state, strict=True))) for state in zip(*inputs, strict=True)]
    return {name: [state[k] for state in states] for k, name in enumerate(names)}
