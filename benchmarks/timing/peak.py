"""The machine's floating-point limit, measured: multiply-adds on the same pack type, through the same driver.

Each iteration does one fused multiply-add on each of several independent packs, enough of them to hide the latency of
the units and few enough to stay in registers. How many that is depends on the processor, so two counts are tried.
"""

from __future__ import annotations

import time
from typing import ClassVar

import numpy as np

from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.kernels.scalar import Buffer, Tag, generic, load, store
from dynbench.robots.families.trees import two_link
from dynbench.robots.robot import Robot

LOOPS = 20_000  # iterations a block: long enough for gathering and scattering not to matter
ROWS = 32  # four blocks


@generic
def six_chains(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    """Six packs: twelve registers with AVX2, as many as fit"""
    b, c = load(tag, q, 0), load(tag, q, 1)
    x0, x1, x2, x3, x4, x5 = b, b + c, b - c, c, c + 1.0, b + 1.0
    for _ in range(LOOPS):
        x0, x1, x2 = x0 * b + c, x1 * b + c, x2 * b + c
        x3, x4, x5 = x3 * b + c, x4 * b + c, x5 * b + c
    store(tag, out, 0, ((x0 + x1) + (x2 + x3)) + (x4 + x5))


@generic
def ten_chains(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    """Ten packs: for processors with wide registers"""
    b, c = load(tag, q, 0), load(tag, q, 1)
    x0, x1, x2, x3, x4 = b, b + c, b - c, c, c + 1.0
    y0, y1, y2, y3, y4 = x0 + 2.0, x1 + 2.0, x2 + 2.0, x3 + 2.0, x4 + 2.0
    for _ in range(LOOPS):
        x0, x1, x2, x3, x4 = x0 * b + c, x1 * b + c, x2 * b + c, x3 * b + c, x4 * b + c
        y0, y1, y2, y3, y4 = y0 * b + c, y1 * b + c, y2 * b + c, y3 * b + c, y4 * b + c
    store(tag, out, 0, ((x0 + x1) + (x2 + x3)) + (((x4 + y0) + (y1 + y2)) + (y3 + y4)))


class SixChains(KernelMethod):
    """Not a formulation: it is not registered, and borrows the drivers of the mass matrix."""

    name: ClassVar[str] = "six-chains"
    kernels: ClassVar = {"mass_matrix": six_chains}
    chains: ClassVar[int] = 6

    def work_size(self, robot: Robot, quantity: str) -> int:
        return 0


class TenChains(SixChains):
    """The same with ten packs."""

    name: ClassVar[str] = "ten-chains"
    kernels: ClassVar = {"mass_matrix": ten_chains}
    chains: ClassVar[int] = 10


def flops_per_second(seconds: float = 0.4) -> float:
    """Return the largest rate of double-precision operations one thread reaches (a multiply-add counts as two)."""
    robot = two_link()
    q, out = np.tile([0.999, 1e-3], (ROWS, 1)), np.zeros((ROWS, 2, 2))
    best = 0.0
    for method in (SixChains(), TenChains()):
        run = method.prepare(robot).mass_matrix
        run(q, out=out)
        until = time.perf_counter() + seconds / 2
        while time.perf_counter() < until:
            start = time.perf_counter()
            run(q, out=out)
            best = max(best, 2.0 * method.chains * LOOPS * ROWS / (time.perf_counter() - start))
    return best
