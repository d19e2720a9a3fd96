"""The signatures that a quantity can have, by its arguments: parameters are named as in the contract (`base`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dynbench.robots.robot import FloatArray

General = Callable[..., FloatArray]


def _configuration(run: General) -> General:
    def call(q: Any, threads: int | None = 1, out: Any = None) -> FloatArray:
        return run((q,), None, threads, out)

    return call


def _motion(run: General) -> General:
    def call(q: Any, v: Any, wrench: Any = None, threads: int | None = 1, out: Any = None) -> FloatArray:
        return run((q, v), wrench, threads, out)

    return call


def _acceleration(run: General) -> General:
    def call(q: Any, v: Any, a: Any, wrench: Any = None, threads: int | None = 1, out: Any = None) -> FloatArray:
        return run((q, v, a), wrench, threads, out)

    return call


def _force(run: General) -> General:
    def call(q: Any, v: Any, tau: Any, wrench: Any = None, threads: int | None = 1, out: Any = None) -> FloatArray:
        return run((q, v, tau), wrench, threads, out)

    return call


def _motion_alone(run: General) -> General:
    def call(q: Any, v: Any, a: Any, threads: int | None = 1, out: Any = None) -> FloatArray:
        return run((q, v, a), None, threads, out)

    return call


PUBLIC: dict[tuple[str, ...], Callable[[General], General]] = {
    ("q",): _configuration,
    ("q", "v"): _motion,
    ("q", "v", "a"): _acceleration,
    ("q", "v", "tau"): _force,
}


def in_parts(arguments: tuple[str, ...], whole: General) -> Callable[..., tuple[FloatArray, ...]]:
    """The function of a quantity with parts, from the one that returns them as one array, (2, n, m) or (N, 2, n, m)."""

    def run(values: tuple[Any, ...], wrench: Any, threads: int | None, out: Any) -> Any:
        if wrench is None and threads == 1 and out is None:
            found = whole(*values)
        else:
            found = whole(*values, wrench=wrench, threads=threads, out=out)
        return (found[0], found[1]) if found.ndim == 3 else (found[:, 0], found[:, 1])

    call: Any = PUBLIC[arguments](run)
    call.__name__ = call.__qualname__ = getattr(whole, "__name__", "call")
    return call  # type: ignore[no-any-return]


def public(arguments: tuple[str, ...], pushed: bool, run: General) -> General:
    """Return the function of a quantity; ``pushed``: it takes external wrenches, if it depends on velocities."""
    if arguments == ("q", "v", "a") and not pushed:
        return _motion_alone(run)
    return PUBLIC[arguments](run)
