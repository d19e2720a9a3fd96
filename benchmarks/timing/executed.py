"""What a batch kernel executes: the instructions of one block of eight states, counted one by one.

    python -m dynbench.benchmarks.timing.executed chain-30 mass_matrix newton-euler screw

A process is traced instruction by instruction (ptrace), once with 16 and once with 8 states; the difference is one
block of eight, with gathering and scattering, without Python. Instructions are those of the compiled code, read from
memory and disassembled by objdump. Linux on x86-64 only; no counters of the processor are needed, which virtual
machines rarely have.

    fused         multiply-adds of packs: two operations each
    arithmetic    other additions, multiplications, divisions and square roots of packs
    loads, stores instructions that read or write memory, of packs or broadcast numbers (an operand in memory counts)
    moves         copies, shuffles and broadcasts between registers, and signs
    others        index arithmetic, conversions of indices, comparisons, jumps
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dynbench import methods, robots
from dynbench.benchmarks.terminal import say
from dynbench.benchmarks.timing.cases import states
from dynbench.methods.base import QUANTITIES
from dynbench.robots.errors import DynbenchError

TRACE_ME, SINGLE_STEP, GET_REGISTERS = 0, 9, 12
POINTER, REGISTERS = 16, 27  # place of the instruction pointer among the numbers of user_regs_struct
BLOCK = 8
FUSED = re.compile(r"vfn?m(add|sub)")
ARITHMETIC = re.compile(r"v(add|sub|mul|div|sqrt|rndscale|range|max|min)")
MOVE = re.compile(r"v(mov|broadcast|xor|or|and|perm|unpck|shuf|insert|extract|blend|pxor|por|pand|tern|pternlog)")
LINE = re.compile(r"^\s*([0-9a-f]+):\s*(?:[0-9a-f]{2} )+\s*(\S+)\s*(.*)$")


@dataclass(frozen=True)
class Executed:
    """Instructions of one block of eight states."""

    fused: int = 0
    arithmetic: int = 0
    loads: int = 0  # of packs and of broadcast numbers
    stores: int = 0
    moves: int = 0
    others: int = 0

    @property
    def flops(self) -> int:
        """Operations of one state."""
        return 2 * self.fused + self.arithmetic

    @property
    def issued(self) -> int:
        """Instructions on packs that compute."""
        return self.fused + self.arithmetic

    @property
    def instructions(self) -> int:
        return self.issued + self.moves + self.others


def executed(robot: str, method: str, quantity: str) -> Executed:
    """Count what generic code executes for a block of eight states of a robot.

    Raises
    ------
    DynbenchError
        Where processes cannot be traced, or there is no objdump.
    """
    machine = robots.load(robot)
    run = methods.get(method).prepare(machine).runs[quantity]
    size = math.prod(QUANTITIES[quantity].shape(machine))
    counts = []
    for rows in (2 * BLOCK, BLOCK):
        given = states(robot, rows, 0)
        inputs = [given[name] for name in QUANTITIES[quantity].arguments]
        call = functools.partial(run.run, run.generic, inputs, None, np.zeros((rows, size)), False, 1)
        call()  # compiles
        counts.append(steps(call))
    counts[0].subtract(counts[1])
    return classified(counts[0])


def steps(call: Callable[[], object]) -> Counter[int]:
    """Return how often each instruction runs during a call, by address."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        raise DynbenchError("instructions are counted on Linux on x86-64 only")
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    child = os.fork()
    if child == 0:
        try:
            if libc.ptrace(TRACE_ME, 0, None, None) == 0:
                os.kill(os.getpid(), signal.SIGSTOP)
                call()
        finally:
            os._exit(0)
    registers = (ctypes.c_ulonglong * REGISTERS)()
    found: Counter[int] = Counter()
    _, status = os.waitpid(child, 0)
    if not os.WIFSTOPPED(status):
        raise DynbenchError("this process cannot be traced")
    while os.WIFSTOPPED(status):
        if libc.ptrace(GET_REGISTERS, child, None, ctypes.addressof(registers)) == 0:
            found[registers[POINTER]] += 1
        if libc.ptrace(SINGLE_STEP, child, None, None) != 0:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    return found


def compiled_regions() -> list[range]:
    """Return the addresses of code that was compiled in this process: executable memory that is of no file."""
    found = []
    for line in Path("/proc/self/maps").read_text(encoding="ascii").splitlines():
        place, rights, _, _, inode, *path = line.split()
        if "x" in rights and inode == "0" and not path:
            low, high = (int(word, 16) for word in place.split("-"))
            found.append(range(low, high))
    return found


def classified(counts: Counter[int]) -> Executed:
    """Return the kinds of instructions, of those that were compiled in this process."""
    kinds: Counter[str] = Counter()
    for region in compiled_regions():
        inside = {address: count for address, count in counts.items() if address in region and count}
        if not inside:
            continue
        text = disassembled(min(inside), region.stop)
        for address, count in inside.items():
            for kind in kinds_of(*text[address]):
                kinds[kind] += count
    return Executed(**kinds)


def disassembled(start: int, stop: int) -> dict[int, tuple[str, str]]:
    """Return name and operands of the instructions in memory, by address."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(ctypes.string_at(start, stop - start))
        file.flush()
        command = ["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", f"--adjust-vma={start:#x}", file.name]
        try:
            shown = subprocess.run([*command, "--wide"], capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError) as error:
            raise DynbenchError(f"objdump (binutils) is needed to read instructions: {error}") from None
    found = {}
    for line in shown.splitlines():
        if match := LINE.match(line):
            found[int(match[1], 16)] = match[2], match[3].partition("#")[0].strip()
    return found


def kinds_of(name: str, operands: str) -> list[str]:
    """Return the kinds of an instruction: what it does, and whether it reads or writes memory."""
    memory = "(" in operands
    written = memory and operands.endswith(")")
    if "mm" not in operands:  # no register of numbers
        return ["others"]
    access = ["stores"] if written else ["loads"] if memory else []
    if FUSED.match(name):
        return ["fused", *access]
    if ARITHMETIC.match(name):
        return ["arithmetic", *access]
    return ["moves" if MOVE.match(name) else "others", *access]


def table(robot: str, quantity: str, names: list[str]) -> str:
    """Return the counts of methods as text, a line each."""
    kinds = ("flops", "fused", "arithmetic", "loads", "stores", "moves", "others")
    lines = [f"{robot}, {quantity}, one block of {BLOCK} states", "".join(f"{word:>12}" for word in ("", *kinds))]
    for name in names:
        found = executed(robot, name, quantity)
        lines.append(f"{name:<12}" + "".join(f"{getattr(found, kind):>12}" for kind in kinds))
    return "\n".join(lines)


if __name__ == "__main__":
    say(table(sys.argv[1], sys.argv[2], sys.argv[3:]))
