"""Validation of arguments: errors name the argument, the robot, what was expected and what came."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dynbench.methods.base import width
from dynbench.robots.errors import StateError
from dynbench.robots.frames import body_wrenches
from dynbench.robots.loops.closures import frames_at, jacobian_at, residual_at, second_at
from dynbench.robots.robot import FloatArray, Robot
from dynbench.robots.states import as_array, as_real, check_extensions, check_quaternions, check_same_batch, check_sizes

# How far from the loops a state may be: radians, and metres, over the length of the loops if that is below 1 m;
# relative for derivatives. `kernels.projection` and `kernels.nominal` have the same.
ON_LOOPS = 1e-6  # of inverse dynamics, reactions, multipliers
NEAR_LOOPS = 1e-2  # of forward dynamics, mass matrix and bias, which are smooth near the loops
SINGULAR = 1e-4  # ratio of singular values


def check(
    robot: Robot, names: Sequence[str], values: Sequence[Any], wrench: Any, finite: bool = True
) -> tuple[list[FloatArray], FloatArray | None, bool]:
    """Return 2-D arrays (one state per row), the wrench as (N, 6 n) or None, and whether the input was a single state.

    With ``finite=False`` NaN and numbers that are too large are not checked: compiled drivers do that themselves.

    Raises
    ------
    StateError
        Names the argument, the robot, and the shape, number or quaternion that is wrong.
    """
    arrays = [
        as_array(name, value, width(robot, name), robot, finite)[0]
        for name, value in zip(names, values, strict=True)
    ]
    check_same_batch(robot, dict(zip(names, arrays, strict=True)))
    single = arrays[0].ndim == 1
    arrays = [np.atleast_2d(array) for array in arrays]
    check_quaternions(robot, arrays[0])
    check_extensions(robot, arrays[0])
    return arrays, check_wrench(robot, wrench, len(arrays[0]), single), single


def check_loops(
    robot: Robot, q: FloatArray, v: FloatArray | None, a: FloatArray | None, tolerance: float = ON_LOOPS
) -> None:
    """Raise a StateError that says by how much states violate the loops, or that a configuration is singular.

    Kernels return NaN for such states; this explains why. The tolerances are those of `kernels.projection`.
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
            f"{name}{_row(amount, k)} is off the loops of robot {robot.name!r}: {how} {amount[k]:.3g}, "
            f"expected at most {most[k]:.1g}; see robot.project"
        )


def _row(rows: FloatArray, k: int) -> str:
    return f"[{k}]" if len(rows) > 1 else ""


def check_wrench(robot: Robot, wrench: Any, N: int, single: bool) -> FloatArray | None:
    """External wrenches as rows (N, 6 n), or as one row (1, 6 n) that serves a whole batch."""
    if wrench is None:
        return None
    if isinstance(wrench, Mapping):
        wrench = body_wrenches(robot, wrench, N, single)
    array = as_real("wrench", wrench, robot)
    one = (robot.n, 6)
    expected = [one] if single else [one, (N, *one)]
    if array.shape not in expected:
        shapes = " or ".join(map(str, expected))
        raise StateError(
            f"wrench has shape {array.shape}, robot {robot.name!r} needs {shapes}: force and moment per body"
        )
    check_sizes(robot, "wrench", array)
    return array.reshape(-1, 6 * robot.n)


def check_out(robot: Robot, out: Any, shape: tuple[int, ...]) -> FloatArray:
    """Return the array to fill: ``out`` if given (it must fit), else a new one."""
    if out is None:
        return np.empty(shape)
    if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape:
        came = f"shape {out.shape}, {out.dtype}" if isinstance(out, np.ndarray) else type(out).__name__
        raise StateError(f"out is {came}, robot {robot.name!r} needs a float64 array of shape {shape}")
    if not out.flags.carray:
        raise StateError(
            f"out is strided, unaligned or read-only, robot {robot.name!r} needs a writable, aligned array "
            "in C order"
        )
    return out


def separate(out: FloatArray, inputs: Sequence[FloatArray | None]) -> FloatArray:
    """Return ``out``, or an array like it if it may share memory with an input, to be copied to ``out`` at the end."""
    shared = any(x is not None and np.may_share_memory(out, x) for x in inputs)
    return np.empty_like(out) if shared else out


def thread_count(threads: int | None) -> int:
    """Return the number of threads; None means one per processor."""
    if threads is None:
        return os.cpu_count() or 1
    if not isinstance(threads, (int, np.integer)) or threads < 1:
        raise StateError(f"threads is {threads!r}, expected a positive integer, or None for one per processor")
    return int(threads)
