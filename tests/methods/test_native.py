"""Compiled baselines: built once, with a reason where nothing can be built."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.methods import own_calls
from dynbench.methods.peers import native
from dynbench.robots.errors import MethodError, UnsupportedError

ANSWER = {"answer.c": "double answer(void) { return VALUE; }\n"}
pytestmark = pytest.mark.skipif(native.absent("c") is not None, reason="no C compiler")


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))


def test_a_library_is_built_once_and_again_if_anything_differs():
    first = native.built("answer", ANSWER, "c", ["-DVALUE=42.0"])
    made = first.stat().st_mtime_ns
    assert native.built("answer", ANSWER, "c", ["-DVALUE=42.0"]).stat().st_mtime_ns == made
    assert native.built("answer", ANSWER, "c", ["-DVALUE=43.0"]) != first
    assert native.built("answer", {"answer.c": ANSWER["answer.c"] + "/* */"}, "c", ["-DVALUE=42.0"]) != first
    assert native.built("answer", ANSWER, "c", ["-DVALUE=42.0"], key="headers 2.0") != first
    assert not list(first.parent.glob("*.lock"))


def test_what_does_not_compile_is_an_error_that_names_the_compiler_and_the_line():
    with pytest.raises(MethodError, match=r"answer-.*failed.*answer\.c.*error"):
        native.built("answer", {"answer.c": "double answer(void) { return nothing; }"}, "c")


def test_without_a_compiler_there_is_a_reason(monkeypatch):
    monkeypatch.setenv("CC", "a-compiler-that-is-not-there")
    native.compiler.cache_clear()
    try:
        method = methods.get("exported-c")
        assert "no C compiler found: expected $CC" in method.supports(robots.load("two-link"))
        with pytest.raises(UnsupportedError, match="no C compiler"):
            method.prepare(robots.load("two-link"))
    finally:
        native.compiler.cache_clear()


def test_compiler_and_flags_are_said():
    assert "-O3 -march=native" in native.described("c")
    assert any(word in native.described("c").lower() for word in ("gcc", "cc", "clang"))


def test_rows_on_several_threads_are_the_same():
    robot = robots.load("two-link")
    solver = methods.get("exported-c").prepare(robot)
    q, v, a = robot.sample(37, seed=0)
    one, three = (solver.inverse_dynamics(q, v, a, threads=count) for count in (1, 3))
    np.testing.assert_array_equal(one, three)
    np.testing.assert_allclose(one, methods.get("newton-euler").prepare(robot).inverse_dynamics(q, v, a), rtol=1e-12)


def test_the_weight_of_wrenches_in_joints():
    """Power of external wrenches is that of the joint forces they give."""
    robot = robots.tree(6, branching=2, seed=1)
    q, v, a = robot.sample(1, seed=0)
    wrench = np.random.default_rng(0).standard_normal((robot.n, 6))
    plain = methods.get("newton-euler").prepare(robot)
    wanted = plain.inverse_dynamics(q[0], v[0], a[0]) - plain.inverse_dynamics(q[0], v[0], a[0], wrench=wrench)
    np.testing.assert_allclose(native.joint_forces(robot, q[0], wrench), wanted, rtol=1e-9, atol=1e-9)


def test_an_own_call_keeps_what_it_points_to():
    """The solver and its arrays may be gone from the caller's variables."""
    robot = robots.load("two-link")
    q, v, a = robot.sample(3, seed=0)
    call = own_calls.batch(methods.get("exported-c").prepare(robot), "inverse_dynamics", [q.copy(), v.copy(), a.copy()])
    gc.collect()
    np.full((1000, 2), np.nan)  # takes freed memory, if there is any
    call.call()
    np.testing.assert_allclose(call.out, methods.get("newton-euler").prepare(robot).inverse_dynamics(q, v, a))
    assert call.call.__dict__["names"]["out"] is call.out
