"""What the core gives at this moment: two small loops, one bound by multiply-add throughput, one by latency.

A neighbour on the same physical core (a hyperthread, another virtual machine) slows code that fills the SIMD units more
than code that waits for one result after the other, while the share of the processor that this thread gets stays 100 %.
A clock that is throttled slows both. So both loops run in every round of a measurement (`rounds`), and rounds in which
one of them is far from its best are not used for the time of a quiet core.

The loops are written in LLVM IR: they compile in milliseconds, and no compiler flag changes what they do.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from dynbench.benchmarks.processes.hosts import cpu_model, read_text

THROUGHPUT_STEPS = 6_000  # 20 to 80 us
LATENCY_STEPS = 20_000  # 20 to 40 us
CHAINS = (6, 10, 12)  # independent accumulators; how many hide the latency and still fit depends on the processor


@dataclass(frozen=True)
class Loop:
    """Independent chains of multiply-adds x <- x b + c on vectors of so many doubles."""

    run: Callable[[int, float, float], float]
    chains: int
    lanes: int

    def seconds(self, steps: int) -> float:
        """Run ``steps`` multiply-adds on every chain; return the wall time.

        CPU time would not do for 20 us: on a virtual machine the clock of a thread was seen to run a third short.
        """
        start = time.perf_counter_ns()
        self.run(steps, 0.999, 1e-3)
        return (time.perf_counter_ns() - start) * 1e-9

    def flops(self, steps: int) -> float:
        """The operations of so many steps; a multiply-add is two."""
        return 2.0 * self.chains * self.lanes * steps


@functools.cache
def lanes() -> int:
    """Return how many doubles the widest vector register holds."""
    from llvmlite import binding

    found = binding.get_host_cpu_features()
    return 8 if found.get("avx512f") else 4 if found.get("avx2") or found.get("avx") else 2


@functools.cache
def throughput(chains: int = 10) -> Loop:
    """Return the loop bound by the throughput of the multiply-add units."""
    return _loop(chains, lanes())


@functools.cache
def latency() -> Loop:
    """Return the loop in which every multiply-add waits for the one before."""
    return _loop(1, 1)


def calibrate() -> tuple[float, float]:
    """Return the seconds of the throughput loop and of the latency loop, of fixed length.

    Each runs three times and the shortest counts: after a contestant with large data or wide vectors the first 20 us
    are slower by half, on a core that nothing disturbs.
    """
    wide, chain = throughput(), latency()
    return (
        min(wide.seconds(THROUGHPUT_STEPS) for _ in range(3)),
        min(chain.seconds(LATENCY_STEPS) for _ in range(3)),
    )


def flops_per_second(seconds: float = 0.4) -> float:
    """Return the largest rate of double-precision operations that one thread reaches (a job of `workers`)."""
    best = 0.0
    for loop in map(throughput, CHAINS):
        loop.seconds(THROUGHPUT_STEPS)
        until = time.perf_counter() + seconds / len(CHAINS)
        while time.perf_counter() < until:
            best = max(best, loop.flops(THROUGHPUT_STEPS) / loop.seconds(THROUGHPUT_STEPS))
    return best


def remembered() -> tuple[float, float] | None:
    """Return what the loops reached on this machine, since it was started, when nothing disturbed it."""
    try:
        found = json.loads(_file().read_text(encoding="utf-8"))
        if found["machine"] != _machine():
            return None
        return float(found["throughput"]), float(found["latency"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remember(best: tuple[float, float]) -> None:
    """Keep what the loops reached while nothing disturbed them; the smaller times of this and of earlier ones."""
    before = remembered() or best
    content = {"machine": _machine(), "throughput": min(best[0], before[0]), "latency": min(best[1], before[1])}
    with contextlib.suppress(OSError):
        _file().parent.mkdir(parents=True, exist_ok=True)
        draft = _file().with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(content), encoding="utf-8")
        draft.replace(_file())


def _file() -> Path:
    return Path(platformdirs.user_cache_dir("dynbench", appauthor=False)) / "calibration.json"


def _machine() -> list[str]:
    """What the times hold for: this processor, since the machine was started, loops of this length, wall time."""
    boot = read_text("/proc/sys/kernel/random/boot_id")
    return [cpu_model(), boot, f"{THROUGHPUT_STEPS} {LATENCY_STEPS} wall"]


def _loop(chains: int, lanes: int) -> Loop:
    """Compile a loop."""
    engine = _engine(_source(chains, lanes))
    kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_double, ctypes.c_double)
    function = kind(engine.get_function_address("loop"))
    function._engine = engine  # type: ignore[attr-defined]  # the code lives as long as its engine
    return Loop(function, chains, lanes)


def _source(chains: int, lanes: int) -> str:
    """The loop in LLVM IR; chains start at different values, so that no two are the same."""
    v = f"<{lanes} x double>"
    splat = [f"  %{name}.0 = insertelement {v} undef, double %{name}, i32 0\n"
             f"  %{name}.v = shufflevector {v} %{name}.0, {v} undef, <{lanes} x i32> zeroinitializer"
             for name in ("b", "c")]  # fmt: skip
    start = [f"<{', '.join(f'double {0.5 + k + lane / 16}' for lane in range(lanes))}>" for k in range(chains)]
    phi = [f"  %x{k} = phi {v} [ {start[k]}, %entry ], [ %y{k}, %body ]" for k in range(chains)]
    step = [f"  %y{k} = call {v} @llvm.fma.v{lanes}f64({v} %x{k}, {v} %b.v, {v} %c.v)" for k in range(chains)]
    total = [f"  %s{k} = fadd {v} %s{k - 1}, %y{k}" for k in range(1, chains)]
    return "\n".join([
        f"declare {v} @llvm.fma.v{lanes}f64({v}, {v}, {v})",
        "define double @loop(i64 %n, double %b, double %c) {",
        "entry:", *splat, "  br label %body",
        "body:", "  %i = phi i64 [ 0, %entry ], [ %next, %body ]", *phi, *step,
        "  %next = add i64 %i, 1", "  %more = icmp slt i64 %next, %n", "  br i1 %more, label %body, label %done",
        "done:", f"  %s0 = fadd {v} %y0, zeroinitializer", *total,
        f"  %r = extractelement {v} %s{chains - 1}, i32 0", "  ret double %r", "}",
    ])  # fmt: skip


def _engine(source: str) -> Any:
    """Compile IR for this processor; return the engine that owns the machine code."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    features = binding.get_host_cpu_features().flatten()
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(), features=features, opt=2
    )
    module = binding.parse_assembly(source)
    engine = binding.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine
