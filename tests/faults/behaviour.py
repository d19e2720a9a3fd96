"""Right almost everywhere, or not a function at all: rare states, precision, memory, batches, arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from faults.planting import On, Plant, add, behaviour, numbers, tau


def where(mask: Callable[..., Any], effect: Callable[[Any], Any], quantity: str = "inverse_dynamics") -> Plant:
    """Another result at the states for which ``mask(on, *state)`` holds."""

    def function(on: On, wrench: Any, *state: Any) -> Any:
        extra = {} if quantity == "mass_matrix" else {"wrench": wrench}
        right = getattr(on.solver, quantity)(*state, **extra)
        chosen = mask(on, *state).reshape(-1, *[1] * (right.ndim - 1))
        return np.where(chosen, effect(right), right)

    return numbers(**{quantity: function})


def at_zero(on: On, q: Any, *state: Any) -> Any:
    return (q == on.robot.neutral()).all(axis=1)


def sign_of_w(on: On, q: Any, *state: Any) -> Any:
    """All quaternions with w < 0, and the first with x > 0."""
    first = on.robot.quaternions[0][0]
    return (q[:, first + 3] < 0.0) & (q[:, first] > 0.0)


def half_turn(on: On, q: Any, *state: Any) -> Any:
    return np.abs(q[:, on.robot.quaternions[0][0] + 3]) < 1e-9


def twist(factor: float) -> Callable[[Any], Any]:
    return lambda x: x * (1.0 + factor)


def single_precision(on: On, wrench: Any, *state: Any) -> Any:
    return tau(on, wrench, *(x.astype(np.float32).astype(float) for x in state))


add("wrong where |q0| > 3.0", where(lambda on, q, *s: np.abs(q[:, 0]) > 3.0, twist(1e-3)))
add("wrong where |v0| > 6", where(lambda on, q, v, a: np.abs(v[:, 0]) > 6.0, twist(1e-6)))
add("wrong where a quaternion has w < 0 and x > 0", where(sign_of_w, twist(1e-6)))
add("NaN at two states in a hundred", where(lambda on, q, *s: np.abs(q[:, 0] - 1.0) < 0.06, lambda x: np.nan * x))
add("NaN at zero", where(at_zero, lambda x: np.nan * x))
add("infinite M at half a turn", where(half_turn, lambda M: np.full_like(M, np.inf), "mass_matrix"))
add("off by 1e-8", where(lambda on, q, *s: q[:, 0] < 9e9, twist(1e-8)))
add("float32 results", numbers(inverse_dynamics=lambda on, w, *s: tau(on, w, *s).astype(np.float32)))
add("float32 arguments", numbers(inverse_dynamics=single_precision))

Call = Callable[..., Any]


def shifting(call: Call) -> Call:
    """The buffer of the call before is not cleared."""
    kept: dict[Any, Any] = {}

    def stale(*state: Any, **options: Any) -> Any:
        result = call(*state, **options)
        result += 1e-6 * kept.get(result.shape, 0.0)
        kept[result.shape] = result.copy()
        return result

    return stale


def remembering(call: Call) -> Call:
    """Answers with what it computed for the first arguments of this shape, wherever these differ in v alone."""
    kept: dict[Any, Any] = {}

    def cached(q: Any, v: Any, **options: Any) -> Any:
        key = (q.tobytes()[:8], v.shape)
        if key not in kept:
            kept[key] = call(q, v, **options).copy()
        return kept[key].copy()

    return cached


def random_bits(call: Call) -> Call:
    rng = np.random.default_rng()
    return lambda *s, **o: np.multiply(r := call(*s, **o), 1.0 + 1e-14 * rng.standard_normal(r.shape), out=r)


def drifting(call: Call) -> Call:
    calls = [0]

    def drift(*state: Any, **options: Any) -> Any:
        calls[0] += 1
        result = call(*state, **options)
        result *= 1.0 + 4e-16 * calls[0]
        return result

    return drift


def writing(index: int) -> Callable[[Call], Call]:
    """Writes to an argument."""

    def change(call: Call) -> Call:
        def careless(*state: Any, **options: Any) -> Any:
            result = call(*state, **options)
            given = [*state, *(x for name, x in options.items() if name in ("q", "v", "a", "tau"))]
            given[index][..., 0] = 0.0
            return result

        return careless

    return change


def wrong_rows(chosen: Callable[[int], slice]) -> Callable[[Call], Call]:
    """Some rows of a batch are wrong: ``chosen(N)`` says which."""

    def change(call: Call) -> Call:
        def careless(*state: Any, **options: Any) -> Any:
            result = call(*state, **options)
            rows = np.ndim(state[0] if state else options["q"])
            if rows == 2:
                result[chosen(len(result))] *= 1.0 + 1e-9
            return result

        return careless

    return change


def wrong_single(call: Call) -> Call:
    def careless(*state: Any, **options: Any) -> Any:
        result = call(*state, **options)
        if np.ndim(state[0] if state else options["q"]) == 1:
            result *= 1.0 + 1e-9
        return result

    return careless


def wrong_threads(call: Call) -> Call:
    def careless(*state: Any, threads: int | None = 1, **options: Any) -> Any:
        result = call(*state, threads=threads, **options)
        result[len(result) // 2 :] *= 1.0 if threads == 1 else 1.0 + 1e-9
        return result

    return careless


def forgetting_out(call: Call) -> Call:
    return lambda *state, out=None, **options: call(*state, **options)


def copying_out(call: Call) -> Call:
    """Fills ``out``, and returns another array."""
    return lambda *state, out=None, **options: call(*state, out=out, **options).copy()


def raising(call: Call) -> Call:
    def careless(*state: Any, **options: Any) -> Any:
        if options.get("wrench") is not None:
            raise IndexError("index 6 is out of bounds for axis 0 with size 6")
        return call(*state, **options)

    return careless


def tail(N: int) -> slice:
    return slice(N - N % 8, N)


add("stale buffer", behaviour("inverse_dynamics", shifting))
add("results kept for other velocities", behaviour("bias", remembering))
add("random bits", behaviour("mass_matrix", random_bits))
add("drift from call to call", behaviour("forward_dynamics", drifting))
add("writes to v", behaviour("inverse_dynamics", writing(1)))
add("writes to q", behaviour("mass_matrix", writing(0)))
add("writes to tau", behaviour("forward_dynamics", writing(2)))
add("batch tail wrong", behaviour("inverse_dynamics", wrong_rows(tail)))
add("batch tail wrong in M", behaviour("mass_matrix", wrong_rows(tail)))
add("first row of a batch wrong", behaviour("forward_dynamics", wrong_rows(lambda N: slice(0, 1))))
add("single states wrong", behaviour("inverse_dynamics", wrong_single))
add("single states wrong in forward dynamics", behaviour("forward_dynamics", wrong_single))
add("wrong in two threads", behaviour("bias", wrong_threads))
add("out= ignored", behaviour("inverse_dynamics", forgetting_out))
add("out= ignored in M", behaviour("mass_matrix", forgetting_out))
add("out= filled, another array returned", behaviour("bias", copying_out))
add("raises with wrenches", behaviour("inverse_dynamics", raising))
