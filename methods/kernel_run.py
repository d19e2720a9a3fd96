"""One quantity of one robot: checked calls and unchecked handles, single states and rows in threads.

A call first goes to a built-in function (`native.entry`), which takes one state in C-contiguous float64 arrays and
hands everything else to `KernelRun.general`, which converts the arguments or raises an error that explains what is
wrong (`validation`).

Two tiers of machine code can stand behind a call: generic code (`generic_code`), compiled by numba and the same for
all robots, and traced code (`traced`), straight-line code for one robot. Traced code has no external wrenches; such
calls, and states that it refuses, use generic code.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dynbench.methods import validation
from dynbench.methods.base import INTERNAL, QUANTITIES, width
from dynbench.methods.generic_code import GenericCode, Kernel
from dynbench.methods.kernels.status import Status
from dynbench.methods.native import entry
from dynbench.methods.native.table import Call, bind, bind_batch, new_table
from dynbench.methods.plain_code import PlainCode, disabled
from dynbench.methods.signatures import public
from dynbench.methods.threads import in_threads
from dynbench.robots.errors import StateError, UnsupportedError
from dynbench.robots.robot import FloatArray, Robot
from dynbench.robots.states import FLOAT64, as_real, check_extensions

if TYPE_CHECKING:
    from dynbench.methods.kernel_method import KernelMethod
    from dynbench.methods.traced.code import TracedCode

__all__ = ["Code", "Kernel", "KernelRun"]

Code = Literal["generic", "traced", "auto"]

GENERIC_ONLY = ("reactions", "multipliers")  # forces inside the robot: traced code is of joint space

_C_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 6)  # releases the global lock


def _finite(result: FloatArray) -> bool:
    """Whether all numbers are finite; a dot product first, which takes a tenth of the time."""
    flat = result.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(flat @ flat) or bool(np.isfinite(flat).all())


class KernelRun:
    """One kernel on one robot, compiled when first needed.

    Bias and other quantities of (q, v) are state kernels that run at zero acceleration.
    """

    def __init__(
        self,
        kernel: Kernel,
        quantity: str,
        robot: Robot,
        model: FloatArray,
        size: int,
        otherwise: KernelRun | None = None,
        pivots: bool = False,
        shape: tuple[int, ...] | None = None,
        some: bool = False,
    ) -> None:
        self.otherwise = otherwise  # another kernel for states for which this one gives NaN
        self.some = some  # whether it gives NaN for some regular states too; handles then use the other kernel
        self.pivots = pivots  # whether it chooses pivots at the state, so that it cannot be traced
        self.kernel = kernel
        self.quantity = quantity
        self.robot = robot
        self.model = model
        self.size = size
        described = QUANTITIES.get(quantity) or INTERNAL[quantity]
        self.arguments = described.arguments
        self.shape = described.shape(robot) if shape is None else shape
        self.form = "configuration" if self.arguments == ("q",) else "state"
        last = "tau" if self.arguments[-1] == "tau" else "a"
        plain = disabled()
        self.generic = (PlainCode if plain else GenericCode)(kernel, self.form, robot, model, size, last, self.shape)
        self.method: KernelMethod | None = None  # see `use`
        self.tier: Code = "generic"
        arms = zip(robot.elastic.arm, robot.elastic.length, strict=True)
        sleeves = tuple((int(robot.iq[arm]), float(length)) for arm, length in arms)
        widths = (robot.nq, robot.nv, width(robot, last))
        # with loops a bad state gives NaN, with elastic arms a number; a division by a tiny inertia can overflow
        looks = not robot.is_tree or robot.is_elastic or quantity == "forward_dynamics"
        self.call = Call(quantity, self.arguments, widths, self.shape, looks, sleeves, described.pushed)
        self.table = new_table(self.call)
        self.tables = [self.table]  # of all functions that go to the code of single states
        self.function: Callable[..., FloatArray] | None = None

    # ------------------------------------------------------------------ which code

    def use(self, method: KernelMethod, tier: Code) -> None:
        """Say which tier of code to use; `method` is whose kernel this is, which tracing must know."""
        self.method, self.tier = method, tier

    @functools.cached_property
    def traced(self) -> TracedCode | str:
        """The traced code of this quantity, or why there is none, in a sentence."""
        from dynbench.methods.traced.code import traced_code

        return traced_code(self)

    @functools.cached_property
    def code(self) -> GenericCode | TracedCode:
        """The code that calls without external wrenches use."""
        if self.tier == "generic":
            return self.generic
        if isinstance(self.traced, str):
            if self.tier == "traced" and self.quantity not in GENERIC_ONLY:
                raise UnsupportedError(f"{self.quantity} of robot {self.robot.name!r} is not traced: {self.traced}")
            return self.generic
        return self.traced

    # ------------------------------------------------------------------ handles

    def unchecked(self, wrench: bool) -> Callable[..., int]:
        """Return the handle: one state, flat vectors, a status instead of errors. Compiles."""
        if wrench and not self.call.pushed:
            raise StateError(f"wrench is True, expected False: external wrenches do not change {self.quantity}")
        if self.some and self.otherwise is not None:
            return self.otherwise.unchecked(wrench)
        code = self.generic if wrench else self.code
        if isinstance(code, PlainCode):
            return self._handle(wrench)
        call = self.call if len(self.shape) == 1 else self._flat_call()
        table = new_table(call, 6 * self.robot.n if wrench else 0)
        bind(table, code.single(wrench), code.header)
        return entry.handle(call, table, self._handle(wrench), (code,))

    def _flat_call(self) -> Call:
        flat = (int(np.prod(self.shape)),)
        return Call(self.quantity, self.arguments, self.call.widths, flat, self.call.finite)

    def _handle(self, pushed: bool) -> Callable[..., int]:
        """What a handle does with unusual arguments, and where there are no built-in functions."""
        count, code = len(self.arguments), self.generic if pushed else self.code
        flat = (int(np.prod(self.shape)),)

        def handle(*values: Any) -> int:
            """Fill out and return the status: 0, or why out is filled with NaN."""
            expected = count + (2 if count > 1 else 1)
            if len(values) != expected:
                names = [*self.arguments, *(["wrench"] if count > 1 else []), "out"]
                raise TypeError(f"expected the arguments ({', '.join(names)}) of {self.quantity}, got {len(values)}")
            given, out = values[:count], values[-1]
            wrench: Any = values[count] if count > 1 else None
            arrays = [as_real(name, value, self.robot) for name, value in zip(self.arguments, given, strict=True)]
            push = as_real("wrench", wrench, self.robot) if pushed else None
            lengths = [(width(self.robot, name),) for name in self.arguments]
            fits = [x.shape for x in arrays] == lengths and (push is None or push.shape == (6 * self.robot.n,))
            if not fits or (isinstance(out, np.ndarray) and out.shape != flat):
                if isinstance(out, np.ndarray) and out.flags.writeable and out.dtype == FLOAT64:
                    out[...] = np.nan
                return Status.BAD_SHAPE
            if not pushed and wrench is not None:
                raise StateError(
                    f"wrench is given, and this handle of robot {self.robot.name!r} is for none; "
                    f"expected None, or the handle of solver.handle({self.quantity!r}, wrench=True)"
                )
            target = validation.check_out(self.robot, out, flat)
            result = validation.separate(target, [*arrays, push])
            status = self.one(code, arrays, push, result)
            if status == Status.TOO_LARGE:
                status = self.one(self.generic, arrays, push, result)
            if not status and self.call.finite and not _finite(result):
                status = Status.NO_RESULT
            if status:
                result[...] = np.nan
            if result is not target:
                target[...] = result
            return status

        return handle

    # ------------------------------------------------------------------ checked calls

    def checked(self) -> Callable[..., FloatArray]:
        """Return the public function."""
        general = public(self.arguments, self.call.pushed, self.general)
        general.__name__ = general.__qualname__ = self.quantity
        plain = isinstance(self.generic, PlainCode)
        self.function = general if plain else entry.checked(self.call, self.table, general)
        return self.function

    def in_parts(self, general: Callable[..., Any]) -> Callable[..., Any]:
        """Return the public function of a quantity with parts; ``general`` has the same parameters."""
        if isinstance(self.generic, PlainCode):
            return general
        self.tables.append(new_table(self.call, parts=True))
        return entry.checked(self.call, self.tables[-1], general)

    def general(self, values: tuple[Any, ...], wrench: Any, threads: int | None, out: Any) -> FloatArray:
        """Check everything, convert what must be, and run one state or all rows."""
        count = validation.thread_count(threads)
        arrays: Sequence[FloatArray]
        if wrench is None and self.are_rows(values):
            arrays, push, single = values, None, False  # machine code looks at the numbers
        else:
            arrays, push, single = validation.check(self.robot, self.arguments, values, wrench, finite=False)
        N = len(arrays[0])
        target = validation.check_out(self.robot, out, self.shape if single else (N, *self.shape))
        result = target if out is None else validation.separate(target, [*arrays, push])
        whole = result.reshape(N, -1) if N else np.empty((0, int(np.prod(self.shape))))
        code = self.generic if push is not None else self.code
        status = self.run(code, arrays, push, whole, single, count) if N else 0
        if status:
            if status == Status.NO_MEMORY:
                raise MemoryError(f"{self.quantity} of robot {self.robot.name!r}: no memory for the workspace")
            validation.check(self.robot, self.arguments, values, wrench)  # says which number is wrong
            if code is not self.generic:
                self.run(self.generic, arrays, push, whole, single, count)
        if self.call.sleeves:
            check_extensions(self.robot, arrays[0])
        if not self.robot.is_tree and not np.isfinite(result).all():
            self.complete(arrays, push, whole)
        elif self.quantity == "forward_dynamics" and not _finite(result):
            raise StateError(
                f"forward_dynamics of robot {self.robot.name!r} is not finite for these numbers: an acceleration "
                "overflows, or the mass matrix is singular"
            )
        if result is not target:
            target[...] = result
        return target

    def complete(self, arrays: Sequence[FloatArray], wrench: FloatArray | None, whole: FloatArray) -> None:
        """Fill rows of results that are NaN by the other kernel; raise the error that explains those that remain."""
        if self.otherwise is not None:
            left = np.flatnonzero(~np.isfinite(whole).all(axis=1))
            found = np.empty((len(left), whole.shape[1]))
            rows = [x[left] for x in arrays]
            self.otherwise.run(self.otherwise.generic, rows, None if wrench is None else wrench[left], found, False, 1)
            whole[left] = found
        if not np.isfinite(whole).all():
            self.explain(list(arrays))

    def are_rows(self, values: tuple[Any, ...]) -> bool:
        """Whether these are rows of states that machine code can read as they are."""
        first = values[0]
        if type(first) is not np.ndarray or first.ndim != 2 or not len(first):
            return False
        return all(
            type(x) is np.ndarray
            and x.dtype is FLOAT64
            and x.shape == (len(first), width(self.robot, name))
            and x.flags.c_contiguous
            and x.flags.aligned
            for name, x in zip(self.arguments, values, strict=True)
        )

    def run(
        self,
        code: GenericCode | TracedCode,
        arrays: Sequence[FloatArray],
        wrench: FloatArray | None,
        whole: FloatArray,
        single: bool,
        count: int,
    ) -> int:
        """Fill rows of results and return the status."""
        if single:
            if wrench is None and code is self.code and not isinstance(code, PlainCode):
                for table in self.tables:  # from now on calls go straight there
                    bind(table, code.single(False), code.header)
            return self.one(code, [x[0] for x in arrays], None if wrench is None else wrench[0], whole[0])
        inputs: list[FloatArray | None] = [*arrays]
        if len(inputs) == 2 and code is self.generic:
            inputs.append(np.zeros((len(whole), self.robot.nv)))
        if self.form == "state":
            inputs.append(wrench)
        if not isinstance(code, GenericCode) and not self.call.sleeves:
            bind_batch(self.table, code.batch_address)
        return in_threads(code.batch(wrench is not None), [*inputs, whole], len(whole), count)

    def one(
        self, code: GenericCode | TracedCode, arrays: Sequence[FloatArray], wrench: FloatArray | None, out: FloatArray
    ) -> int:
        """One state, by its addresses."""
        inputs = [*arrays]
        if len(inputs) == 2:
            inputs.append(np.zeros(self.robot.nv))
        if isinstance(code, PlainCode):
            return code.one(inputs, wrench, out)
        places = [*(x.ctypes.data for x in inputs), None, None][:3]
        push = None if wrench is None else wrench.ctypes.data
        status: int = _C_FUNCTION(code.single(wrench is not None))(code.header, *places, push, out.ctypes.data)
        return status

    def explain(self, arrays: list[FloatArray]) -> None:
        """Raise the error that explains why results of a robot with loops are NaN."""
        v = arrays[1] if len(arrays) > 1 else None
        looks_at_a = self.arguments[-1] == "a"
        near = self.quantity in ("forward_dynamics", "mass_matrix", "bias")
        tolerance = validation.NEAR_LOOPS if near else validation.ON_LOOPS
        validation.check_loops(self.robot, arrays[0], v, arrays[2] if looks_at_a else None, tolerance)
