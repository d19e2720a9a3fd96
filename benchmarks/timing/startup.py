"""What a method costs before its first result: compile, load from the cache, prepare, a new process; memory.

The time to compile is measured once per kernel and width, when the kernel is compiled, and stored in the cache folder
beside the machine code. That folder is keyed on the sources, so a stored time belongs to the same code on the same
machine. A kernel that was compiled without being timed is compiled once more, into an empty folder.

The functions here are jobs (see `workers`): plain data in, plain data out.
"""

from __future__ import annotations

import functools
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from dynbench import methods
from dynbench.benchmarks.checks.evaluate import start_compiler
from dynbench.benchmarks.processes.jobs import one_line
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.tiers import TRACED, why_not_traced
from dynbench.benchmarks.timing import cases
from dynbench.methods.base import QUANTITIES
from dynbench.methods.environment import kept_environment
from dynbench.methods.kernel_method import KernelMethod

FIRST_CALL = """
import time
start = time.perf_counter()
import json, resource, sys
import numpy as np
from dynbench import methods, robots
robot = robots.load({robot!r})
solver = methods.get({method!r}).prepare(robot)
q, v, a = robot.sample(1, seed=0)
values = {{"q": q[0], "v": v[0], "a": a[0], "tau": np.zeros(len(robot.actuated))}}
getattr(solver, {quantity!r})(*(values[name] for name in {arguments!r}))
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(json.dumps({{"seconds": seconds, "bytes": peak}}))
"""


def compile_quantity(
    method: str, quantity: str, batch: bool, wrench: bool = False, anew: bool = True
) -> dict[str, Any]:
    """Compile a kernel into the cache if necessary; return how long compiling and loading take.

    Parameters
    ----------
    anew : bool
        Whether to compile once more, into an empty folder, a kernel that was compiled without being timed.

    Returns
    -------
    dict
        ``compile``: seconds, None with ``outcome`` and ``reason`` if not known; ``load``: seconds to load it from the
        cache, None if it was compiled just now.
    """
    made = methods.get(method)
    if not isinstance(made, KernelMethod) or quantity not in made.kernels:
        missing = Missing(Outcome.UNSUPPORTED, f"{method} has nothing to compile")
        return {"compile": None, "load": None, **missing._asdict()}
    from dynbench.methods.kernels import cache

    kernel = made.kernels[quantity]
    seconds, fresh = _compiled(kernel, quantity, batch, wrench)
    width = ("batch" if batch else "single") + "-wrench" * wrench
    note = cache.folder(kernel.__module__) / f"{kernel.__module__}.{kernel.__qualname__}-{width}.seconds"
    if fresh:
        note.write_text(json.dumps(seconds), encoding="utf-8")
        return {"compile": seconds, "load": None}
    if not note.is_file() and not anew:
        missing = Missing(Outcome.LEFT_OUT, "compiled before this run; a full run compiles it once more")
        return {"compile": None, "load": seconds, **missing._asdict()}
    if not note.is_file():
        note.write_text(json.dumps(_compiled_anew(kernel, quantity, batch, wrench)), encoding="utf-8")
    return {"compile": json.loads(note.read_text(encoding="utf-8")), "load": seconds}


def _compiled(kernel: Any, quantity: str, batch: bool, wrench: bool) -> tuple[float, bool]:
    """Seconds until the driver is available, and whether it had to be compiled."""
    from dynbench.methods.kernels.compiled import compile_kernel

    start_compiler()  # what numba does once in a process is no kernel's cost
    form = "configuration" if QUANTITIES[quantity].arguments == ("q",) else "state"
    start = time.perf_counter()
    driver: Any = compile_kernel(kernel, form, batch, wrench)
    seconds = time.perf_counter() - start
    return seconds, not sum(driver.stats.cache_hits.values())


def _compiled_anew(kernel: Any, quantity: str, batch: bool, wrench: bool) -> float:
    with kept_environment(["NUMBA_CACHE_DIR"]), tempfile.TemporaryDirectory(prefix="dynbench-") as empty:
        os.environ["NUMBA_CACHE_DIR"] = empty
        return _compiled(kernel, quantity, batch, wrench)[0]


def refusals(robots: list[str], method: str) -> list[Missing | None]:
    """Return why a method does not support each of some robots, None if it does."""
    made = methods.get(method)
    found: list[Missing | None] = []
    for source in robots:
        try:
            reason = made.supports(cases.load(source))
            found.append(Missing(Outcome.UNSUPPORTED, str(reason)) if reason else None)
        except Exception as error:  # of the plugin, which loses this robot
            found.append(Missing(Outcome.FAILED, f"its 'supports' raised {one_line(error)}"))
    return found


def try_out(robot: str, method: str, quantities: list[str], modes: list[str], code: str = "") -> dict[str, Missing]:
    """Call each quantity once as it will be timed; return why some have no result, by quantity.

    Run as a job, so that a method that crashes or hangs is known before other stages use it.
    """
    missing: dict[str, Missing] = {}
    solver = cases.solver(robot, method, code)
    computed = solver.computes
    for quantity in quantities:
        if quantity not in computed:  # with closed loops some methods compute less
            reason = f"{method} does not compute {quantity} for this robot"
            missing[quantity] = Missing(Outcome.UNSUPPORTED, reason)
            continue
        try:
            if code == TRACED and (untraced := why_not_traced(solver, quantity)):
                missing[quantity] = Missing(Outcome.UNSUPPORTED, untraced)
                continue
            for mode in modes:
                cell = cases.Cell(robot, method, quantity, mode, 9 if mode in cases.BATCH else 1, code=code)
                cases.timed(cell, give_up=60.0)
        except MemoryError:
            raise  # the worker knows the limit
        except cases.NotTimed as error:
            missing[quantity] = Missing(Outcome.LEFT_OUT, str(error))
        except Exception as error:
            missing[quantity] = Missing(Outcome.FAILED, f"raised {one_line(error)}")
    return missing


def prepare_seconds(robot: str, method: str, calls: int = 5) -> float:
    """Return the seconds that `Method.prepare` takes, the smallest of a few calls."""
    machine, made = cases.load(robot), methods.get(method)
    made.prepare(machine)
    gc.disable()  # a collection takes 0.1 s with numba loaded, often more than all calls
    try:
        return min(cases.Timed(functools.partial(made.prepare, machine)).seconds() for _ in range(calls))
    finally:
        gc.enable()


def first_call(robot: str, method: str, quantity: str) -> dict[str, float]:
    """Return the seconds until the first result in a new process, and its peak memory.

    Kernels are loaded from the cache if they are in it. Imports are counted, the start of the interpreter is not.
    """
    program = FIRST_CALL.format(robot=robot, method=method, quantity=quantity, arguments=QUANTITIES[quantity].arguments)
    command = [sys.executable, "-P", "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path.cwd())
    if run.returncode:
        raise RuntimeError(run.stderr.strip().rpartition("\n")[2] or f"exit status {run.returncode}")
    answer: dict[str, float] = json.loads(run.stdout.strip().rpartition("\n")[2])
    return answer


def break_even(compile_seconds: float, slow: float, fast: float) -> float:
    """Return after how many states a compiled method has saved its compile time against one that needs none.

    Parameters
    ----------
    compile_seconds : float
    slow, fast : float
        Seconds per state of the other method and of the compiled one. Infinity when the compiled one is not faster.
    """
    return compile_seconds / (slow - fast) if slow > fast else float("inf")
