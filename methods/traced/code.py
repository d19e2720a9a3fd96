"""The traced tier: straight-line machine code for one quantity of one robot, made when first called and kept on disk.

The key of a kept object is everything the code depends on: sources of kernel and tracer, robot, method with its
options, quantity, processor, releases of LLVM and numpy. A second process loads it in a millisecond or two, and traces
nothing. That a graph is too large is kept as well.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import dynbench.methods
import dynbench.robots.states
from dynbench.methods.kernel_run import GENERIC_ONLY
from dynbench.methods.kernels import cache
from dynbench.methods.kernels.scalar import LOADED
from dynbench.methods.native import llvm
from dynbench.methods.registry import options_of
from dynbench.methods.traced import batch, single
from dynbench.methods.traced.graph import TooLarge
from dynbench.methods.traced.trace import Trace, trace

if TYPE_CHECKING:
    from dynbench.methods.kernel_run import KernelRun

_BATCH = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 6)  # releases the global lock


def lanes() -> int:
    """How many states go into one register."""
    return 8 if llvm.has("avx512f") else 4


def traced_code(run: KernelRun) -> TracedCode | str:
    """Return the traced code of a quantity, or why there is none, in a sentence. Traces, and does not compile."""
    if run.method is None:
        return "it was not prepared by a method made of kernels"
    if run.quantity in GENERIC_ONLY:
        return "forces inside the robot are left to generic code, traced code is of joint space"
    if run.pivots:
        return "with redundant loops or actuators its kernels choose pivots at every state"
    code = TracedCode(run)
    return code.refusal or code


class TracedCode:
    """Machine code of one quantity of one robot.

    Attributes
    ----------
    seconds : dict
        How long tracing, and compiling the code for single states and for batches took; what came from the disk, or
        was not needed yet, is not there.
    """

    header = 0  # the robot is in the code

    def __init__(self, run: KernelRun) -> None:
        assert run.method is not None
        self.method = run.method
        self.robot = run.robot
        self.quantity = run.quantity
        self.arguments = len(run.arguments)
        self.matrix = len(run.arguments) == 1
        self.count = int(np.prod(run.shape))
        self.kernel = run.kernel
        self.seconds: dict[str, float] = {}

    @functools.cached_property
    def trace(self) -> Trace:
        """The graph, and the operations of all its variants."""
        found = trace(self.method, self.robot, self.quantity)
        self.seconds["trace"] = found.seconds
        return found

    @functools.cached_property
    def refusal(self) -> str | None:
        """Why there can be no code, or None."""
        if self._kept("single") is not None or self._kept("batch") is not None:
            return None
        reason = self._kept("refusal")
        if reason is not None:
            return reason.decode()
        try:
            self.trace  # noqa: B018
        except TooLarge as error:
            self._keep("refusal", str(error).encode())  # finding out may take half a minute
            return str(error)
        return None

    # ------------------------------------------------------------------ code

    def single(self, wrench: bool) -> int:
        """Return the address of the code for one state."""
        assert not wrench
        return self._libraries("single").address(single.NAME)

    def batch(self, wrench: bool) -> Callable[..., int]:
        """Return ``run(q[, v, a, wrench], out)`` on rows of states."""
        assert not wrench
        return self._batch

    @property
    def batch_address(self) -> int:
        """Address of the code for rows of states."""
        return self._libraries("batch").address(batch.NAME)

    @functools.cached_property
    def _batch(self) -> Callable[..., int]:
        function, arguments = _BATCH(self.batch_address), self.arguments

        def run(*arrays: Any) -> int:
            *inputs, out = arrays[:arguments] + arrays[-1:]
            places = [*(x.ctypes.data for x in inputs), None, None][:3]
            return int(function(None, len(out), *places, out.ctypes.data))

        return run

    def text(self, which: str) -> str:
        """Return the IR for single states or batches."""
        make = single.module if which == "single" else batch.module
        quaternions = [j for j, _ in self.robot.quaternions]
        return make(self.trace.graph, self.arguments, quaternions, lanes())

    def _libraries(self, which: str) -> llvm.Library:
        if which not in self._loaded:
            code = self._kept(which)
            if code is None:
                text = self.text(which)
                begun = time.perf_counter()
                code = llvm.compile_text(text)
                self.seconds[which] = time.perf_counter() - begun
                self._keep(which, code)
            self._loaded[which] = llvm.Library(code)
        return self._loaded[which]

    @functools.cached_property
    def _loaded(self) -> dict[str, llvm.Library]:
        return {}

    def _kept(self, which: str) -> bytes | None:
        return None if self._folder is None else llvm.kept(self._folder, self._key(which))

    def _keep(self, which: str, data: bytes) -> None:
        if self._folder is not None:
            llvm.keep(self._folder, self._key(which), data)

    def _key(self, which: str) -> str:
        method = type(self.method)
        options = [f"{name}={getattr(self.method, name)!r}" for name in options_of(self.method)]
        kernel = f"{self.kernel.__module__}.{self.kernel.__qualname__}"
        parts = [which, self.quantity, method.__module__, method.__qualname__, *options, kernel, str(lanes())]
        return "\n".join([*parts, self.robot.digest, llvm.target_key(), np.__version__])

    @functools.cached_property
    def _folder(self) -> Path | None:
        """Where objects are kept, by the sources they come from; None if these have been edited while in use."""
        sources = _sources(type(self.method).__module__, self.kernel.__module__)
        return None if sources is None else cache.base() / f"traced-{sources}"


@functools.cache
def _sources(*modules: str) -> str | None:
    """A digest of all sources that traced code may come from, None if one was edited since this process began.

    All files of dynbench.methods, of which finding the ones that matter would take longer than reading them.
    """
    files = {path for root in dynbench.methods.__path__ for path in Path(root).rglob("*.py")}
    files.add(Path(dynbench.robots.states.__file__))
    for module in modules:
        if not module.startswith("dynbench."):
            files.update(cache.sources(module).values())
    total = hashlib.sha256()
    for path in sorted(files):
        known = path.stat()
        if max(known.st_mtime, known.st_ctime) > LOADED:
            return None
        total.update(path.name.encode())
        total.update(path.read_bytes())
    return total.hexdigest()[:12]
