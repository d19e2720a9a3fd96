"""Baselines in C and C++: sources of this folder or generated ones, compiled for this processor, once.

`built` compiles into the cache folder (`$NUMBA_CACHE_DIR`, or the user's cache folder). The file's name is a digest of
everything it depends on: the sources, the compiler and its version, the flags, the processor. `Library` calls functions
of the form

    void quantity([void *robot,] int threads, long rows, const double *q, ..., double *out)

with states in rows of C-contiguous arrays.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dynbench.methods.base import QUANTITIES, width
from dynbench.methods.kernels.cache import base
from dynbench.methods.native import llvm
from dynbench.robots import kinematics
from dynbench.robots.errors import MethodError
from dynbench.robots.robot import FloatArray, Robot

FOLDER = Path(__file__).parent
FLAGS = ("-O3", "-march=native", "-DNDEBUG", "-fPIC", "-shared", "-pthread")
NAMES = {"c": ("CC", "cc", "gcc", "clang"), "c++": ("CXX", "c++", "g++", "clang++")}  # a variable, then programs
SECONDS = 1800.0  # limit of one compilation, and of waiting for another process that compiles the same


@functools.cache
def compiler(language: str) -> str | None:
    """Return the path of a compiler for "c" or "c++": that of $CC or $CXX, else a usual one; None if there is none."""
    variable, *usual = NAMES[language]
    chosen = os.environ.get(variable)
    return shutil.which(chosen) if chosen else next(filter(None, map(shutil.which, usual)), None)


@functools.cache
def version(program: str) -> str:
    """Return the first line of what a compiler says about its version."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).strip().partition("\n")[0]


def absent(language: str) -> str | None:
    """Return why nothing can be compiled, or None if it can; DYNBENCH_COMPILERS=off in the environment forbids it."""
    if os.environ.get("DYNBENCH_COMPILERS", "on") == "off":
        return "compilers are switched off by DYNBENCH_COMPILERS=off"
    if os.name != "posix":
        return "compiled baselines need a POSIX system"
    if compiler(language) is None:
        variable, *usual = NAMES[language]
        return f"no {language.upper()} compiler found: expected ${variable} or one of {', '.join(usual)}"
    return None


def described(language: str, flags: Sequence[str] = FLAGS) -> str:
    """Return compiler and flags as reports print them."""
    program = compiler(language)
    return f"{version(program)}, {' '.join(flags)}" if program else ""


def built(name: str, sources: Mapping[str, str], language: str, flags: Sequence[str] = (), key: str = "") -> Path:
    """Return the shared library made of sources, compiled if that was not done before.

    Parameters
    ----------
    sources : mapping from file name to text
        The first one is compiled, the others lie beside it to be included.
    flags
        More flags besides `FLAGS`.
    key : str
        What else the result depends on, such as the version of an engine's headers.
    """
    program = compiler(language)
    if program is None:
        raise MethodError(f"{name}: {absent(language)}")
    every = (*FLAGS, *flags)
    facts = repr((sorted(sources.items()), version(program), every, key, llvm.cpu()))
    path = base() / "native" / f"{name}-{hashlib.sha256(facts.encode()).hexdigest()[:16]}.so"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _compile(path, sources, [program, *every])
    return path


def _compile(path: Path, sources: Mapping[str, str], command: list[str]) -> None:
    """Compile in a folder of its own; if another process is at it already, wait for its result."""
    lock = path.with_suffix(".lock")
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        if _came(path, lock):
            return
    try:
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            for file, text in sources.items():
                (Path(folder) / file).write_text(text, encoding="utf-8")
            first = next(iter(sources))
            libraries = ["-lm"]
            line = [*command, "-I", folder, str(Path(folder) / first), "-o", str(Path(folder) / "made.so"), *libraries]
            code, said = _run(line, path.stem)
            if code:
                errors = [text for text in said.splitlines() if "error" in text] or [said[-300:]]
                raise MethodError(f"{path.stem}: {command[0]} failed: {errors[0][:300]}")
            os.replace(Path(folder) / "made.so", path)
    finally:
        lock.unlink(missing_ok=True)


def _run(line: Sequence[str], name: str) -> tuple[int, str]:
    """Run a compiler; return its exit code and what it said. After `SECONDS` it is ended with its child processes."""
    pipe = subprocess.PIPE
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            _, said = process.communicate(timeout=SECONDS)
            return process.returncode, said
        except subprocess.TimeoutExpired as error:
            os.killpg(process.pid, signal.SIGKILL)
            raise MethodError(f"{name}: {line[0]} took more than {SECONDS:g} s") from error


def _came(path: Path, lock: Path) -> bool:
    """Wait while another process compiles; False if it ended without a result, or left its lock behind."""
    until = time.monotonic() + SECONDS
    while lock.exists() and not path.exists() and time.monotonic() < until:
        if time.time() - lock.stat().st_mtime > SECONDS:
            break
        time.sleep(0.2)
    return path.exists()


def pointer(array: FloatArray) -> ctypes.c_void_p:
    """Return the address of a C-contiguous array, which must be kept alive."""
    return ctypes.c_void_p(array.ctypes.data)


class Library:
    """Functions of a shared library, by quantity; ``first`` are leading arguments, such as the robot's handle."""

    def __init__(self, robot: Robot, quantity: str, path: Path, first: Sequence[Any] = ()) -> None:
        self.path = path
        self.first = tuple(first)
        self.arguments = QUANTITIES[quantity].arguments
        self.shape = QUANTITIES[quantity].shape(robot)
        self.call = getattr(ctypes.CDLL(str(path)), quantity)
        self.call.restype = None
        pointers = [ctypes.c_void_p] * (len(self.arguments) + 1)
        self.call.argtypes = [*(ctypes.c_void_p for _ in self.first), ctypes.c_int, ctypes.c_long, *pointers]

    def rows(self, inputs: Sequence[FloatArray], threads: int, out: FloatArray) -> None:
        """Fill ``out`` for all rows; all arrays are C-contiguous."""
        self.call(*self.first, threads, len(out), *map(pointer, inputs), pointer(out))

    def one(self, *state: FloatArray) -> FloatArray:
        """Return the result of one state."""
        kept = [np.ascontiguousarray(x) for x in state]
        out: FloatArray = np.empty(self.shape)
        self.rows(kept, 1, out[None])
        return out

    def own_names(self, inputs: Sequence[FloatArray], threads: int | None) -> dict[str, Any]:
        """What the names in the code of `own_calls` stand for."""
        kept = [np.ascontiguousarray(x) for x in inputs]
        count = len(kept[0]) if threads else 1
        out = np.zeros((count, *self.shape))
        names = {"call": self.call, "rows": count, "threads": threads, "result": pointer(out), "kept": kept}
        if threads:
            return {**names, **dict(zip(self.arguments, map(pointer, kept), strict=True)), "out": out}
        states = {name: [pointer(x[k]) for k in range(len(x))] for name, x in zip(self.arguments, kept, strict=True)}
        return {**names, **states, "out": out[0]}


def own_calls(quantities: Sequence[str], first: str = "") -> dict[tuple[str, str], str]:
    """Return the code of own calls of functions in a library: one state, and all rows; arguments are addresses."""
    found = {}
    for quantity in quantities:
        arguments = ", ".join(QUANTITIES[quantity].arguments)
        found[quantity, "single"] = f"{quantity}({first}1, 1, {arguments}, result)\nout"
        found[quantity, "batch"] = f"{quantity}({first}threads, rows, {arguments}, result)"
    return found


def rows_source(robot: Robot, quantity: str, declaration: str, setup: str, call: Callable[[list[str]], str]) -> str:
    """Return C code of the loop over rows around a generated function of one state.

    Parameters
    ----------
    declaration, setup : str
        Of the generated function, and of what it needs before the loop.
    call : callable
        The call of the generated function, from the expressions of its arguments and of its result.
    """
    names = (*QUANTITIES[quantity].arguments, "out")
    count = int(np.prod(QUANTITIES[quantity].shape(robot)))
    widths = [*(width(robot, name) for name in names[:-1]), count]
    places = [f"x[{j}] + k * {size}" for j, size in enumerate(widths)]
    given = ", ".join(f"const double *{name}" for name in names[:-1])
    return f"""#include "rows.h"

{declaration}

static void part(long begin, long end, void *data)
{{
    double **x = data;
    {setup}
    for (long k = begin; k < end; k++) {{
        {call(places)}
    }}
}}

void {quantity}(int threads, long rows, {given}, double *out)
{{
    double *x[] = {{{", ".join(f"(double *){name}" for name in names)}}};
    in_parts(threads, rows, part, x);
}}
"""


def joint_forces(robot: Robot, q: FloatArray, wrench: FloatArray) -> FloatArray:
    """Return the generalized forces (nv,) of external wrenches (n, 6) on the bodies of a tree.

    The compiled functions have no external wrenches; these are added to their results.
    """
    R, p = kinematics.poses(robot, q)
    force = np.einsum("nij,nj->ni", R, wrench[:, :3])
    moment = np.einsum("nij,nj->ni", R, wrench[:, 3:])
    found = np.empty(robot.nv)
    for i in range(robot.n - 1, -1, -1):
        S = kinematics.motion_subspace(robot, i)
        found[robot.iv[i] : robot.iv[i] + S.shape[1]] = S.T @ np.concatenate([R[i].T @ force[i], R[i].T @ moment[i]])
        parent = robot.parent[i]
        if parent >= 0:
            force[parent] += force[i]
            moment[parent] += moment[i] + np.cross(p[i] - p[parent], force[i])
    return found
