"""What tests of traced code share: which methods and robots there are, and the plain Python reading of a kernel."""

from __future__ import annotations

import numpy as np

from dynbench import methods, robots
from dynbench.methods.derived import DerivedRun
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.kernel_run import GENERIC_ONLY
from dynbench.methods.kernels import triangle
from dynbench.methods.kernels.scalar import ONE

FORWARD = 1e-10  # forward dynamics, relative: it loses digits with the condition of the mass matrix
RIGHT = 1e-13


def kernel_methods() -> list[str]:
    return [name for name, method in methods.available()[0].items() if issubclass(method, KernelMethod)]


def cases(names: list[str]) -> list[tuple[str, str]]:
    """All pairs of robot and kernel method that supports it."""
    known = kernel_methods()
    loaded = {name: robots.load(name) for name in names}  # once: some take 0.1 s
    return [(name, method) for name in names for method in known if methods.get(method).supports(loaded[name]) is None]


def states(robot, quantity: str, N: int, seed: int = 0) -> list[np.ndarray]:
    """Arguments of a quantity, for N states."""
    q, v, a = robot.sample(N, seed=seed)
    last = np.ascontiguousarray(a[:, robot.actuated]) if quantity.startswith("forward_dynamics") else a
    return {"mass_matrix": [q], "bias": [q, v], "coriolis_matrix": [q, v]}.get(quantity, [q, v, last])


def quantities(solver) -> list[str]:
    return [quantity for quantity in solver.computes if quantity not in GENERIC_ONLY]


def plain(run, arguments: list[np.ndarray]) -> np.ndarray:
    """The kernel in plain Python, state by state: neither numba nor tracing."""
    robot = run.robot
    if isinstance(run, DerivedRun):
        out = np.empty((len(arguments[0]), *run.shape))
        run.generic.batch(False)(*arguments, None, out)
        return out
    rows = []
    for k in range(len(arguments[0])):
        state = [x[k] for x in arguments]
        if len(state) == 2:
            state.append(np.zeros(robot.nv))
        out, work = np.zeros(int(np.prod(run.shape))), np.full(run.size, np.nan)
        run.kernel(ONE, run.model, *state, *(() if len(state) == 1 else (None,)), out, work)
        if run.form == "configuration":
            out = np.append(out, 0.0)[triangle.places(robot, run.shape[0])]
        rows.append(out.reshape(run.shape))
    return np.array(rows)


def error(found: np.ndarray, right: np.ndarray, least: float = 1e-2) -> float:
    """Relative to the largest number; results that are zero but for rounding are compared with ``least``."""
    return float(np.abs(found - right).max() / max(np.abs(right).max(), least))
