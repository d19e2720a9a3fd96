"""Instructions that compiled code executes: what they are called, and that arithmetic is what was counted."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from dynbench import methods, robots
from dynbench.benchmarks.timing.executed import Executed, executed, kinds_of
from dynbench.methods.kernels.count import count_operations

TRACEABLE = sys.platform == "linux" and os.uname().machine == "x86_64" and shutil.which("objdump") is not None


@pytest.mark.parametrize(
    ("name", "operands", "kinds"),
    [
        ("vfmadd231pd", "%zmm1,%zmm2,%zmm3", ["fused"]),
        ("vfnmadd132pd", "0x40(%rax),%zmm2,%zmm3", ["fused", "loads"]),
        ("vmulpd", "0x8(%rax){1to8},%zmm2,%zmm3", ["arithmetic", "loads"]),
        ("vaddsd", "%xmm1,%xmm2,%xmm3", ["arithmetic"]),
        ("vmovupd", "%zmm3,0x40(%rdi)", ["moves", "stores"]),
        ("vmovupd", "(%rdi,%rax,8),%zmm3", ["moves", "loads"]),
        ("vbroadcastsd", "0x8(%rax),%zmm3", ["moves", "loads"]),
        ("vcvttsd2si", "%xmm1,%rax", ["others"]),
        ("add", "$0x8,%rax", ["others"]),
        ("mov", "%rax,0x8(%rsp)", ["others"]),
    ],
)
def test_an_instruction_has_its_kinds(name: str, operands: str, kinds: list[str]) -> None:
    assert kinds_of(name, operands) == kinds


def test_a_fused_instruction_is_two_operations() -> None:
    found = Executed(fused=3, arithmetic=4, loads=2, moves=5, others=6)
    assert (found.flops, found.issued, found.instructions) == (10, 7, 18)


@pytest.mark.long  # 200 000 steps of a traced process
@pytest.mark.skipif(not TRACEABLE, reason="processes are traced on Linux on x86-64, with objdump")
def test_what_is_executed_is_what_was_counted() -> None:
    found = executed("panda", "newton-euler", "inverse_dynamics")
    counted = count_operations(methods.get("newton-euler"), robots.load("panda"), "inverse_dynamics").flops
    assert found.flops == pytest.approx(counted, rel=0.05)
    assert found.fused > 0
    assert found.loads > 0
    assert found.stores > 0
