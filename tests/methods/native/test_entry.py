"""The built-in functions: fast calls, unusual arguments, memory that overlaps, references, threads, the fallback."""

from __future__ import annotations

import contextlib
import gc
import inspect
import os
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
from traced_cases import error, plain

from dynbench import methods, robots
from dynbench.methods.kernels.status import Status
from dynbench.methods.native import layout
from dynbench.robots.errors import StateError

TIERS = ("generic", "traced")


@pytest.fixture(scope="module", params=TIERS)
def solver(request):
    return methods.get("newton-euler").prepare(robots.load("two-link"), code=request.param)


@pytest.fixture
def state(solver):
    return [x[0].copy() for x in solver.robot.sample(1)]


def test_a_call_has_a_name_a_signature_and_says_what_it_is(solver):
    assert solver.inverse_dynamics.__name__ == "inverse_dynamics"
    assert str(inspect.signature(solver.inverse_dynamics)) == "(q, v, a, wrench=None, threads=1, out=None)"
    assert str(inspect.signature(solver.forward_dynamics)) == "(q, v, tau, wrench=None, threads=1, out=None)"
    assert str(inspect.signature(solver.mass_matrix)) == "(q, threads=1, out=None)"
    if layout.why_not() is None:
        assert inspect.isbuiltin(solver.inverse_dynamics)


def test_every_way_of_calling_gives_the_same(solver, state):
    q, v, a = state
    call = solver.inverse_dynamics
    right = plain(solver.runs["inverse_dynamics"], [x[None] for x in state])[0]
    out = np.empty(2)
    found = [
        call(q, v, a), call(q, v, a=a), call(a=a, v=v, q=q), call(q, v, a, None), call(q, v, a, None, 2, None),
        call(q, v, a, out=out), call(q, v, a, threads=3), call(q.tolist(), v, a), call(q, tuple(v), a),
        call(q[None], v[None], a[None])[0], call(q, v, a, wrench=np.zeros((2, 6))), call(q, v, a, out=None),
    ]  # fmt: skip
    for x in found:
        assert error(x, right) < 1e-15
    assert found[5] is out
    strided = np.repeat(v, 2)[::2]
    big_endian = q.astype(">f8")
    locked = a.copy()
    locked.flags.writeable = False
    assert error(call(big_endian, strided, locked), right) < 1e-15
    assert error(call(np.asfortranarray(q), v.astype(np.float64), a), right) < 1e-15


def test_wrong_calls_are_explained(solver, state):
    q, v, a = state
    for wrong, words in (
        ((q[:1], v, a), r"q has shape \(1,\)"),
        ((q, v[None], a), "differ in number of states"),
        ((q, v, "torque"), "a holds <U6 values"),
        ((q, v, a * 1j), "a holds complex128 values"),
        ((q, v, np.ma.masked_array(a, [True, False])), "a has masked elements"),
        ((q, v, [1.0, [2.0]]), "ragged"),
    ):
        with pytest.raises(StateError, match=words):
            solver.inverse_dynamics(*wrong)
    with pytest.raises(TypeError):
        solver.inverse_dynamics(q, v)
    with pytest.raises(TypeError):
        solver.inverse_dynamics(q, v, a, speed=1)
    for out in (np.empty(3), np.empty(2, np.float32), np.empty(4)[::2], [0.0, 0.0], np.empty((1, 2))):
        with pytest.raises(StateError, match="out is"):
            solver.inverse_dynamics(q, v, a, out=out)


def test_masked_arrays_without_masked_elements_are_arrays(solver, state):
    q, v, a = state
    np.testing.assert_array_equal(solver.inverse_dynamics(np.ma.array(q), v, a), solver.inverse_dynamics(q, v, a))


def test_unaligned_arrays_are_copied(solver, state):
    right = solver.inverse_dynamics(*state)
    odd = []
    for x in state:
        room = np.empty(8 * x.size + 1, dtype=np.uint8)[1:].view(np.float64)
        room[:] = x
        assert not room.flags.aligned
        odd.append(room)
    np.testing.assert_array_equal(solver.inverse_dynamics(*odd), right)
    np.testing.assert_array_equal(solver.inverse_dynamics(*(x[None] for x in odd))[0], right)
    with pytest.raises(StateError, match="unaligned"):
        solver.inverse_dynamics(*state, out=odd[0])


@pytest.mark.parametrize("wrench", [[["1.0"] * 6] * 2, np.ones((2, 6)) * 1j, np.ma.masked_array(np.ones((2, 6)), True)])
def test_wrenches_that_are_no_real_numbers_are_refused(solver, state, wrench):
    with pytest.raises(StateError, match="wrench h"):
        solver.inverse_dynamics(*state, wrench=wrench)


def test_one_wrench_for_many_rows_is_not_expanded(solver):
    """Two million rows of 12 numbers would be 192 MB; the call allocates what it returns, and not much more."""
    code = (
        "import resource, numpy as np\n"
        "from dynbench import methods, robots\n"
        "robot = robots.load('two-link')\n"
        "solver = methods.get('newton-euler').prepare(robot)\n"
        "N = 2_000_000\n"
        "x, out, wrench = np.zeros((N, 2)), np.empty((N, 2)), np.ones((2, 6))\n"
        "solver.inverse_dynamics(x[:9], x[:9], x[:9], wrench=wrench)\n"
        "one = solver.inverse_dynamics(x[0], x[0], x[0], wrench=wrench)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "solver.inverse_dynamics(x, x, x, wrench=wrench, out=out)\n"
        "assert np.allclose(out, one)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    pytest.importorskip("resource")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 120_000  # kilobytes: the output's pages, touched for the first time, are 32 MB


# Memory that overlaps ------------------------------------------------------------------------------------------------


def overlapping(solver) -> None:
    """Results are written over inputs, as numpy allows."""
    robot = solver.robot
    q, v, a = robot.sample(20)
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        call = getattr(solver, quantity)
        last = np.ascontiguousarray(a[:, robot.actuated]) if quantity == "forward_dynamics" else a
        right = call(q, v, last)
        for rows in (slice(0, 20), slice(0, 3), 0):
            for k in (1, 2):
                arguments = [x[rows].copy() for x in (q, v, last)]
                if arguments[k].shape == right[rows].shape:
                    assert call(*arguments, out=arguments[k]) is arguments[k]
                    assert error(arguments[k], right[rows]) < 1e-12  # one state and a batch round differently
        # an output that is an input shifted by a row, and by a number
        for count in (19, 8):
            room = np.zeros((count + 1, right.shape[1]))
            if right.shape[1] == v.shape[1]:
                room[:-1] = v[:count]
                found = call(q[:count], room[:-1], last[:count], out=room[1:])
                assert error(found, right[:count]) < 1e-12
        if right.shape[1] == v.shape[1]:
            flat = np.zeros(right.shape[1] + 1)
            flat[:-1] = v[0]
            assert error(call(q[0], flat[:-1], last[0], out=flat[1:]), right[0]) < 1e-12
            handle = solver.handle(quantity)
            inputs = [x[0].copy() for x in (q, v, last)]
            assert handle(*inputs, None, inputs[1]) == 0
            assert error(inputs[1], right[0]) < 1e-12


@pytest.mark.parametrize("method", ["newton-euler", "gibbs-appell", "denoc", "boltzmann-hamel", "lagrange-euler"])
def test_out_may_be_an_input(method):
    overlapping(methods.get(method).prepare(robots.load("two-link"), code="traced"))


@pytest.mark.parametrize("method", ["gibbs-appell", "newton-euler"])
def test_out_may_be_an_input_in_generic_code(method):
    overlapping(methods.get(method).prepare(robots.load("two-link")))


@pytest.mark.long
@pytest.mark.parametrize(("robot", "method"), [
    ("two-link", "denoc"), ("two-link", "boltzmann-hamel"), ("two-link", "lagrange-euler"), ("3rrr", "newton-euler"),
    ("3rrr", "denoc"), ("gough-stewart", "lagrange-stewart"), ("rp3", "gibbs-appell-rp"), ("two-link", "pinocchio"),
])  # fmt: skip
def test_out_may_be_an_input_with_every_method(robot, method):
    method = methods.get(method)
    if method.unavailable():
        pytest.skip(method.unavailable())
    overlapping(method.prepare(robots.load(robot)))


# Handles -------------------------------------------------------------------------------------------------------------


def test_a_handle_returns_a_status_and_raises_nothing_because_of_a_number(solver, state):
    handle, out = solver.handle("inverse_dynamics"), np.empty(2)
    assert handle(*state, None, out) == Status.OK
    np.testing.assert_array_equal(out, solver.inverse_dynamics(*state))
    for k in range(3):
        bad = [x.copy() for x in state]
        bad[k][1] = np.nan
        assert handle(*bad, None, out) == Status.NOT_FINITE
    pushed, wrench = solver.handle("inverse_dynamics", wrench=True), np.arange(12.0)
    assert pushed(*state, wrench, out) == 0
    np.testing.assert_array_equal(out, solver.inverse_dynamics(*state, wrench=wrench.reshape(2, 6)))
    matrix = np.empty(4)
    assert solver.handle("mass_matrix")(state[0], matrix) == 0
    np.testing.assert_array_equal(matrix.reshape(2, 2), solver.mass_matrix(state[0]))
    assert solver.handle("bias")(state[0], state[1], None, out) == 0
    np.testing.assert_array_equal(out, solver.bias(state[0], state[1]))


def test_a_handle_explains_wrong_arrays(solver, state):
    handle, out = solver.handle("inverse_dynamics"), np.empty(2)
    assert handle(state[0][:1], *state[1:], None, out) == Status.BAD_SHAPE
    assert handle(*state, None, np.empty(3)) == Status.BAD_SHAPE
    with pytest.raises(StateError, match="out is"):
        handle(*state, None, [0.0, 0.0])
    with pytest.raises(StateError, match="q holds"):
        handle("state", *state[1:], None, out)
    with pytest.raises(StateError, match="wrench is given"):
        handle(*state, np.zeros(12), out)
    with pytest.raises(TypeError, match="expected the arguments"):
        handle(*state)


# References, threads, processes --------------------------------------------------------------------------------------


def test_calls_keep_no_references(solver, state):
    call, out = solver.inverse_dynamics, np.empty(2)
    call(*state)
    bad = [state[0], state[1] * np.nan, state[2]]
    objects = (*state, out, "out", bad[1])

    def counts() -> list[int]:
        return [sys.getrefcount(x) for x in objects]

    before = counts()
    for _ in range(500):
        call(*state)
        call(*state, out=out)
        call(*(x.tolist() for x in state))
        with contextlib.suppress(StateError):
            call(*bad)
    after = counts()
    assert all(y - x <= 2 for x, y in zip(before, after, strict=True)), (before, after)
    assert sys.getrefcount(call(*state)) == sys.getrefcount(np.empty(2))
    dtype = np.dtype(np.float64)  # in the fast calls only: numpy 2.4's own np.empty keeps a reference to it
    known = sys.getrefcount(dtype)
    for _ in range(500):
        call(*state)
        call(*state, out=out)
    assert sys.getrefcount(dtype) - known <= 2


def test_a_solver_that_nothing_refers_to_goes_away():
    for code in TIERS:
        solver = methods.get("newton-euler").prepare(robots.load("pendulum"), code=code)
        call = solver.inverse_dynamics
        right = call([0.3], [0.0], [0.0])
        gone = weakref.ref(solver.runs["inverse_dynamics"])
        del solver
        np.testing.assert_array_equal(call(np.array([0.3]), np.zeros(1), np.zeros(1)), right)  # the code is still there
        del call
        gc.collect()
        assert gone() is None


def test_threads_may_call_at_the_same_time(solver):
    q, v, a = solver.robot.sample(64)
    right = [solver.inverse_dynamics(q[k], v[k], a[k]) for k in range(64)]
    wrong = []

    def work(first: int) -> None:
        for k in (first + i for i in range(64)):
            x = solver.inverse_dynamics(q[k % 64], v[k % 64], a[k % 64])
            if not np.array_equal(x, right[k % 64]):
                wrong.append(k)

    running = [threading.Thread(target=work, args=(16 * t,)) for t in range(4)]
    for t in running:
        t.start()
    for t in running:
        t.join()
    assert not wrong


PROGRAM = """
import sys
import numpy as np
from dynbench import methods, robots
from dynbench.robots.errors import StateError

calls, code = int(sys.argv[1]), sys.argv[2]
robot = robots.load("two-link")
solver = methods.get("newton-euler").prepare(robot, code=code)
q, v, a = (x[0].copy() for x in robot.sample(1))
call, out, handle = solver.inverse_dynamics, np.empty(2), solver.handle("inverse_dynamics")
right = call(q, v, a).copy()
nan = a * np.nan

def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])

def work(count):
    for k in range(count):
        x = call(q, v, a)
        call(q, v, a, out=out)
        handle(q, v, a, None, out)
        if k % 50 == 0:
            call(q.tolist(), v, a)
            try:
                call(q, v, nan)
            except StateError:
                pass
    assert np.array_equal(x, right) and np.array_equal(out, right)

work(calls // 4)
before = memory()
work(calls)
print(memory() - before)
"""


def many_calls(count: int, code: str) -> None:
    """Under -X dev, where Python checks its memory: no crash, no leak."""
    command = [sys.executable, "-X", "dev", "-W", "ignore", "-c", PROGRAM, str(count), code]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 500  # pages of 4 kB


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_many_calls_neither_crash_nor_leak():
    many_calls(20_000, "traced")


@pytest.mark.long
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
@pytest.mark.parametrize("code", TIERS)
def test_a_million_calls_neither_crash_nor_leak(code):
    many_calls(1_000_000, code)


FORK = """
import os, sys
import numpy as np
from dynbench import methods, robots

robot = robots.load("two-link")
solver = methods.get("newton-euler").prepare(robot, code="traced")
states = robot.sample(100)
right = solver.inverse_dynamics(*states, threads=2)
child = os.fork()
if child == 0:
    same = np.array_equal(solver.inverse_dynamics(*states, threads=2), right)
    os._exit(0 if same else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_batch_in_threads_works_in_a_child_of_fork():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "0", done.stderr


def test_a_solver_is_pickled_as_what_it_was_prepared_from(solver, state):
    again = pickle.loads(pickle.dumps(solver))
    assert again.code == solver.code
    np.testing.assert_array_equal(again.inverse_dynamics(*state), solver.inverse_dynamics(*state))
    engine = methods.get("lagrange-elastic").prepare(robots.load("elastic-rp1"))
    assert pickle.loads(pickle.dumps(engine)).robot == engine.robot


# The fallback --------------------------------------------------------------------------------------------------------

FALLBACK = """
import inspect
import numpy as np
from dynbench import methods, robots
from dynbench.methods.native import layout
from dynbench.robots.errors import StateError

assert "DYNBENCH_NO_BUILTINS" in layout.why_not()
robot = robots.load("two-link")
solver = methods.get("newton-euler").prepare(robot, code="traced")
assert inspect.isfunction(solver.inverse_dynamics)
q, v, a = robot.sample(9)
out = np.empty(2)
one = solver.inverse_dynamics(q[0], v[0], a[0])
assert np.array_equal(solver.inverse_dynamics(q, v, a)[0], one)
assert solver.inverse_dynamics(q[0], v[0], a[0], out=out) is out and np.array_equal(out, one)
assert solver.handle("inverse_dynamics")(q[0], v[0], a[0], None, out) == 0 and np.array_equal(out, one)
over = v[0].copy()
assert np.array_equal(solver.inverse_dynamics(q[0], over, a[0], out=over), one)
try:
    solver.inverse_dynamics(q[0] * np.nan, v[0], a[0])
except StateError as error:
    print(repr(one.tolist()))
"""


def test_without_built_in_functions_everything_works_the_same(state):
    environment = {**os.environ, layout.OFF: "1"}
    done = subprocess.run([sys.executable, "-c", FALLBACK], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    solver = methods.get("newton-euler").prepare(robots.load("two-link"), code="traced")
    q, v, a = (x[0] for x in solver.robot.sample(9))
    assert error(np.array(eval(done.stdout)), solver.inverse_dynamics(q, v, a)) < 1e-15


@pytest.mark.parametrize("name", ["DATA", "NDIM", "DIMENSIONS", "DESCRIPTOR", "FLAGS", "TABLE"])
def test_a_layout_that_differs_is_noticed(monkeypatch, name):
    assert layout._differences() == []
    monkeypatch.setattr(layout, name, getattr(layout, name) + (4 if name in ("NDIM", "FLAGS") else 8))
    assert layout._differences()


def test_a_build_without_a_global_lock_or_another_processor_has_no_built_in_functions(monkeypatch):
    why_not = layout.why_not.__wrapped__
    monkeypatch.delenv(layout.OFF, raising=False)
    monkeypatch.setattr(layout.platform, "machine", lambda: "riscv64")
    assert "got riscv64" in why_not()
    monkeypatch.setattr(layout.sysconfig, "get_config_var", lambda name: 1)
    assert "without a global lock" in why_not()
