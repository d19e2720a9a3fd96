"""The door: every call's arguments are checked here, once, and the message says what was wanted and what came."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from dynbench.methods.base import width
from dynbench.robots.errors import StateError
from dynbench.robots.loops.closures import frames_at, jacobian_at, residual_at, second_at
from dynbench.robots.robot import FloatArray, Robot
from dynbench.robots.states import as_array, check_extensions, check_quaternions, check_same_batch

# How far from the loops a state may be: radians, and metres, over the length of the loops if that is below 1 m;
# relative for derivatives. `kernels.projection` and `kernels.nominal` have the same.
ON_LOOPS = 1e-6  # of inverse dynamics, reactions, multipliers
NEAR_LOOPS = 1e-2  # of forward dynamics, mass matrix and bias, which are smooth near the loops
SINGULAR = 1e-4  # ratio of singular values


def check(
    robot: Robot, names: Sequence[str], values: Sequence[Any], wrench: Any, finite: bool = True
) -> tuple[list[FloatArray], FloatArray | None, bool]:
    """Return clean 2-D arrays (one state per row), the wrench as (N, 6 n) or None, and whether one state was meant.

    With ``finite=False`` the caller looks for NaN and infinities itself, as compiled drivers do.

    Raises
    ------
    StateError
        Naming the argument, the robot, and the shape, number or quaternion that is wrong.
    """
    arrays = [
        as_array(name, value, width(robot, name), robot, finite)[0]
        for name, value in zip(names, values, strict=True)
    ]
    check_same_batch(robot, dict(zip(names, arrays, strict=True)))
    single = arrays[0].ndim == 1
    arrays = [_compiled_type(np.atleast_2d(array)) for array in arrays]
    check_quaternions(robot, arrays[0])
    check_extensions(robot, arrays[0])
    return arrays, check_wrench(robot, wrench, len(arrays[0]), single), single


def check_loops(
    robot: Robot, q: FloatArray, v: FloatArray | None, a: FloatArray | None, tolerance: float = ON_LOOPS
) -> None:
    """Raise a StateError that says how rows of states miss the loops, or that a configuration is singular.

    Kernels find out themselves, and give NaN; this is how it is explained. Tolerances are theirs.
    """
    at = frames_at(robot, q)
    A = jacobian_at(robot, q, at)
    found = robot.loop_analysis
    most = tolerance * min(1.0, found.length)
    _off(robot, "q", "the loops are open by", np.abs(residual_at(robot, at)).max(axis=1), most * np.ones(len(q)))
    if v is not None:
        speed = np.linalg.norm(v, axis=1)
        opening = np.abs(np.einsum("smc,sc->sm", A, v)).max(axis=1)
        _off(robot, "v", "the loops open at a rate of", opening, most * (1.0 + speed))
        if a is not None:
            second = np.abs(second_at(robot, q, v, a, at)).max(axis=1)
            scale = 1.0 + np.linalg.norm(a, axis=1) + speed**2
            _off(robot, "a", "the loops open with an acceleration of", second, most * scale)
    s = np.linalg.svd(A, compute_uv=False)[:, : found.rank]
    worst = int((s[:, -1] / s[:, 0]).argmin())
    if s[worst, -1] < 10.0 * SINGULAR * s[worst, 0]:
        raise StateError(
            f"q{_row(q, worst)} is a singular configuration of robot {robot.name!r}: fewer than {found.rank} of its "
            f"loop equations are independent there (singular values from {s[worst, 0]:.3g} to {s[worst, -1]:.3g}), and "
            "the state does not determine the accelerations; a simulation passes it"
        )
    s = np.linalg.svd(A[:, found.independent][:, :, found.dependent], compute_uv=False)
    worst = int((s[:, -1] / s[:, 0]).argmin())
    raise StateError(
        f"q{_row(q, worst)} is a singular configuration of robot {robot.name!r}: its actuated coordinates do not "
        f"determine the motion there (singular values from {s[worst, 0]:.3g} to {s[worst, -1]:.3g})"
    )


def _off(robot: Robot, name: str, how: str, amount: FloatArray, most: FloatArray) -> None:
    bad = ~(amount <= most)
    if bad.any():
        k = int(np.argmax(bad))
        raise StateError(
            f"{name}{_row(amount, k)} is off the loops of robot {robot.name!r}: {how} {amount[k]:.3g}, wanted at most "
            f"{most[k]:.1g}; see robot.project"
        )


def _row(rows: FloatArray, k: int) -> str:
    return f"[{k}]" if len(rows) > 1 else ""


def check_wrench(robot: Robot, wrench: Any, N: int, single: bool) -> FloatArray | None:
    """External wrenches as rows (N, 6 n); one set of wrenches serves a whole batch."""
    if wrench is None:
        return None
    array = as_float("wrench", wrench, robot)
    one = (robot.n, 6)
    wanted = [one] if single else [one, (N, *one)]
    if array.shape not in wanted:
        shapes = " or ".join(map(str, wanted))
        raise StateError(
            f"wrench has shape {array.shape}, robot {robot.name!r} needs {shapes}: force and moment per body"
        )
    if not np.isfinite(array).all():
        where = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise StateError(f"wrench{list(where)} is {array[where]}, robot {robot.name!r} needs finite numbers")
    rows = np.broadcast_to(array.reshape(-1, 6 * robot.n), (N, 6 * robot.n))
    return _compiled_type(rows)


def check_out(robot: Robot, out: Any, shape: tuple[int, ...]) -> FloatArray:
    """The array to fill: ``out`` if it is given and fits, else a new one."""
    if out is None:
        return np.empty(shape)
    if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape:
        came = f"shape {out.shape}, {out.dtype}" if isinstance(out, np.ndarray) else type(out).__name__
        raise StateError(f"out is {came}, robot {robot.name!r} needs a float64 array of shape {shape}")
    if not (out.flags.c_contiguous and out.flags.writeable):
        raise StateError(f"out is strided or read-only, robot {robot.name!r} needs a writable C-contiguous array")
    return out


def thread_count(threads: int | None) -> int:
    """How many threads are meant; None is as many as there are processors."""
    if threads is None:
        return os.cpu_count() or 1
    if not isinstance(threads, (int, np.integer)) or threads < 1:
        raise StateError(f"threads is {threads!r}, wanted a positive whole number, or None for all")
    return int(threads)


def _compiled_type(array: FloatArray) -> FloatArray:
    """Kernels are compiled for writable C-contiguous arrays (and write to none of their inputs)."""
    return np.require(array, requirements=["C", "W"])


def as_float(name: str, value: Any, robot: Robot) -> FloatArray:
    """``value`` as a float64 array of any shape."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise StateError(f"{name} is {value!r:.60}, robot {robot.name!r} needs an array of numbers") from None
