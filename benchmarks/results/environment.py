"""Where and with what a run was made: processor, load, versions, commit, command. Goes into every report."""

from __future__ import annotations

import datetime
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dynbench.benchmarks.processes.hosts import cpu_field, cpu_model, package_version, read_text
from dynbench.methods.peers import native

PACKAGES = ("dynbench", "numpy", "scipy", "numba", "llvmlite", "pandas", "pytest-benchmark", "pin", "mujoco", "drake",
            "exudyn", "dynibo", "opensim", "frax", "jax", "casadi", "cmeel-eigen", "example-robot-data")  # fmt: skip
SIMD = ("sse2", "avx", "avx2", "fma", "avx512f", "neon", "asimd", "sve")  # of the flags, those that matter to us


def describe(command: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the surroundings of a run as plain data; what cannot be read is "unknown", never absent."""
    flags = _cpu_flags()
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": shlex.join(command if command is not None else ["dynbench", *sys.argv[1:]]),
        "folder": str(Path.cwd()),
        "system": platform.platform(),
        "python": platform.python_version(),
        "cpu": cpu_model(),
        "simd": [name for name in SIMD if name in flags],
        "cores": os.cpu_count() or 0,
        "cores usable": _usable_cores(),
        "memory GB": _memory(),
        "load": load(),
        "governor": read_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") or "unknown",
        "turbo": _turbo(),
        "versions": {name: package_version(name) for name in PACKAGES},
        "compilers": {language: native.described(language) or "none" for language in ("c", "c++")},
        "commit": commit(),
        "threads": {name: os.environ[name] for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS") if name in os.environ},
    }


def load() -> list[float]:
    """Return the load averages over 1, 5 and 15 minutes; empty where the system has none."""
    try:
        return [round(x, 2) for x in os.getloadavg()]
    except (AttributeError, OSError):
        return []


def instruction_set(facts: dict[str, Any]) -> str:
    """Return the widest vector instructions the processor has: "AVX-512", "AVX2" or "other"."""
    simd = facts.get("simd", [])
    return "AVX-512" if "avx512f" in simd else "AVX2" if "avx2" in simd else "other"


def checkout() -> Path | None:
    """Return the git checkout dynbench is imported from, None when it is installed."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "noxfile.py").is_file() and (root / "pyproject.toml").is_file() else None


def commit() -> str:
    """Return the commit of the checkout, "-dirty" added when it has been edited since."""
    root = checkout()
    if root is None:
        return "none: not run from a checkout"
    try:
        command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
        found = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return found.stdout.strip() or "unknown"


def _cpu_flags() -> set[str]:
    listed = cpu_field("flags", "features").split()
    if not listed:  # llvmlite knows them on every system, but importing it takes a while
        try:
            from llvmlite import binding

            listed = [name for name, present in binding.get_host_cpu_features().items() if present]
        except (ImportError, RuntimeError):
            listed = []
    return set(listed)


def _usable_cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 0


def _memory() -> float | str:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (AttributeError, ValueError, OSError):
        return "unknown"


def _turbo() -> str:
    no_turbo = read_text("/sys/devices/system/cpu/intel_pstate/no_turbo")
    boost = read_text("/sys/devices/system/cpu/cpufreq/boost")
    if no_turbo:
        return "off" if no_turbo == "1" else "on"
    return {"0": "off", "1": "on"}.get(boost, "unknown")
