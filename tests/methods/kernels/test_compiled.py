"""The compiled drivers: packed instructions, honest NaNs, status codes, and a quick second start."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from pace import pace

from dynbench.methods.newton_euler import NewtonEuler, crba, rnea
from dynbench.robots.errors import StateError
from dynbench.robots.families.trees import chain, random_tree

ARITHMETIC = re.compile(r"\bv(?:f(?:n?m)(?:add|sub)\d{3}|mul|add|sub)([ps])d\b.*?%([xyz])mm")
SECOND_START = 3.0  # seconds, of which importing numba and numpy takes the larger part

START = """
import time
from numba.core import event
from dynbench.methods.newton_euler import NewtonEuler
from dynbench.robots import load
robot = load("panda")
q, v, a = robot.sample(16)
with event.install_recorder("numba:compile") as compiled:
    solver = NewtonEuler().prepare(robot)
    tau = solver.inverse_dynamics(q, v, a)
    one = solver.inverse_dynamics(q[0], v[0], a[0])
assert abs(tau[0] - one).max() < 1e-11
print(time.process_time(), len(compiled.buffer))
"""


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """The batch driver of inverse dynamics, compiled here and now: cached code cannot be inspected."""
    return compiled_anew(tmp_path_factory, rnea.inverse_dynamics, "state")


def compiled_anew(tmp_path_factory, kernel, form):
    from dynbench.methods.kernels.compiled import compile_kernel

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        return compile_kernel(kernel, form, batch=True)


def test_batch_kernels_use_packed_instructions(fresh):
    from llvmlite.binding import get_host_cpu_features

    features = get_host_cpu_features()
    if not (features.get("fma") and (features.get("avx2") or features.get("avx512f"))):
        pytest.skip("this processor has neither AVX2 nor AVX-512")
    assembly = "\n".join(fresh.inspect_asm().values())
    found = Counter(ARITHMETIC.findall(assembly))
    packed = sum(count for (width, register), count in found.items() if width == "p" and register in "yz")
    single = sum(count for (width, _), count in found.items() if width == "s")
    fused = len(re.findall(r"\bvf(?:n?m)(?:add|sub)\d{3}pd\b.*?%[yz]mm", assembly))
    # the 134 multiplications of a body's sweep, at least; on one lane only what the tail of a batch and sincos of
    # large arguments need
    assert packed > 134, found
    assert fused > 60, found
    assert single < packed / 10, found


def test_no_instruction_may_assume_that_nan_never_happens(fresh):
    code = "\n".join(fresh.inspect_llvm().values())
    flags = Counter(re.findall(r"= f(?:add|sub|mul|div) ([a-z ]*?)(?:double|<)", code))
    assert sum(flags.values()) > 100
    assert not [flag for flag in flags if {"fast", "nnan", "ninf"} & set(flag.split())], flags


def test_no_references_are_counted_in_a_kernel(fresh, tmp_path_factory):
    """This one cuts its workspace in two, for which numba counted references in every sweep when it was an array."""
    cut = compiled_anew(tmp_path_factory, crba.mass_matrix, "configuration")
    for driver in (fresh, cut):
        (assembly,) = driver.inspect_asm().values()
        machine_code, *_ = assembly.split(".cfi_endproc")  # then follow the entries from Python and C
        assert "7_blocks" in machine_code  # it asks for its buffers
        assert machine_code.count("NRT_incref") <= 1  # of a driver itself


def test_a_span_is_read_like_the_array_it_was_made_of():
    import numba

    from dynbench.methods.kernels.memory import span

    @numba.njit
    def read(array):
        all_of_it = span(array)
        middle, rest, more = all_of_it[1:3], all_of_it[2:], all_of_it[1:99]
        return all_of_it.size, all_of_it[0], middle.size, middle[0], middle[1], rest.size, rest[1], more.size

    assert read(np.array([3.0, 1.0, 4.0, 1.5])) == (4, 3.0, 2, 1.0, 4.0, 2, 1.5, 3)


def test_workspace_comes_from_the_stack_or_the_heap_or_there_is_none():
    import numba

    from dynbench.methods.kernels.memory import ON_STACK, release, scratch, span_at
    from dynbench.methods.kernels.scalar import ONE, load, store

    @numba.njit
    def fill(size):
        room = scratch(size)
        if room == 0:
            return -1.0, 0
        place = span_at(room, size)
        for i in range(size):
            store(ONE, place, i, float(i))
        total = 0.0
        for i in range(size):
            total += load(ONE, place, i)
        release(room, size)
        return total, room % 64

    for size in (1, ON_STACK, ON_STACK + 1, 100_000):
        total, off = fill(size)
        assert total == size * (size - 1) / 2
        assert off == 0 or size > ON_STACK
    assert fill(2**55) == (-1.0, 0)


def test_buffers_of_a_batch_begin_at_a_cache_line():
    """numba aligns to 32 bytes: of 20 arrays of its own that are alive together, about half would not."""
    from numba import njit

    from dynbench.methods.kernels.compiled import LANES, _blocks

    @njit
    def buffer(size):
        return _blocks(size)

    alive = [buffer(size) for size in range(1, 21)]
    assert [block.size for block in alive] == [size * LANES for size in range(1, 21)]
    assert {block.ctypes.data % 64 for block in alive} == {0}
    for number, block in enumerate(alive):  # they are memory of their own
        block[:] = number
    assert all((block == number).all() for number, block in enumerate(alive))


def test_a_nan_reaches_the_result_of_its_own_row_and_no_other():
    robot = chain(5)
    q, v, a = robot.sample(19, seed=3)
    solver = NewtonEuler().prepare(robot)
    right = solver.inverse_dynamics(q, v, a)
    for array in (q, v, a):
        for row in (2, 17):  # in a full block, and in the tail
            array_row = array[row].copy()
            array[row, 4] = np.nan
            out = np.empty_like(right)
            with pytest.raises(StateError, match=rf"\[{row}, 4\] is nan"):
                solver.inverse_dynamics(q, v, a, out=out)
            others = np.arange(19) != row
            assert np.isnan(out[row]).any(), row
            # not to the last bit: with a NaN in the pack all its lanes get their sines from the C library
            np.testing.assert_allclose(out[others], right[others], rtol=0, atol=1e-14 * np.abs(right).max())
            array[row] = array_row


def test_handles_return_a_status():
    from dynbench.methods.kernels.compiled import BAD_SHAPE, NOT_FINITE, NOT_UNIT

    robot = random_tree(4, seed=1, floating=True)
    q, v, a = (x[0] for x in robot.sample(1))
    out = np.empty(robot.nv)
    run = NewtonEuler().prepare(robot).handle("inverse_dynamics")
    assert run(q, v, a, None, out) == 0
    assert run(q[:-1].copy(), v, a, None, out) == BAD_SHAPE
    assert run(q, v[1:].copy(), a, None, out) == BAD_SHAPE
    assert run(q, v, a, None, out[1:].copy()) == BAD_SHAPE
    for k, array in enumerate((q, v, a)):
        spoilt = [q.copy(), v.copy(), a.copy()]
        spoilt[k][0] = (np.nan, np.inf, -np.inf)[k]
        assert run(*spoilt, None, out) == NOT_FINITE, array
    assert run(np.concatenate([q[:3], 1.01 * q[3:7], q[7:]]), v, a, None, out) == NOT_UNIT


def test_the_second_process_compiles_nothing_and_has_its_first_result_in_three_seconds():
    """Imports, robot, cached kernel for a batch and for one state; processor time, since the machine may be busy."""

    def start() -> tuple[float, int]:
        run = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, env=os.environ)
        assert run.returncode == 0, run.stderr
        seconds, compiled = run.stdout.split()
        return float(seconds), int(compiled)

    start()  # compiles, if nobody has yet
    found = [start()]
    while len(found) < 5 and min(found)[0] >= SECOND_START:
        found.append(start())
    assert {compiled for _, compiled in found} == {0}
    limit = SECOND_START * pace()
    assert min(found)[0] < limit, f"{found} s of processor time, {limit:.2f} allowed at this load"
