"""The contract between a formulation and everything that uses it: `Method`, and the `Solver` it prepares.

A method has three parts: a description (class attributes), `supports`, which says whether it handles a robot, and
`prepare`, which does everything that depends only on the robot and returns a `Solver`. There are two ways to make one:

* `KernelMethod` (`kernel_method`): kernels over the generic scalar; single calls, batches, threads and operation
  counts come from one source. All formulations of this package are of this kind.
* `function_solver`: plain Python functions of one state; batches loop over them. For other engines and prototypes.

A solver has one attribute per quantity that its method computes. Any other quantity raises `NotComputedError`, which
names the method and the quantity.

    inverse_dynamics(q, v, a)      tau     (nv,), or (N, nv) for a batch; with loops, one number per actuated joint
    forward_dynamics(q, v, tau)    a       (nv,)
    mass_matrix(q)                 M       (nv, nv); with loops, of the actuated coordinates alone
    bias(q, v)                     h       (nv,)   inverse dynamics at a = 0
    coriolis_matrix(q, v)          C       (nv, nv)  C v is bias less gravity, dM/dt - 2 C is skew; not unique
    reactions(q, v, a)             wrench  (n, 6)  what each joint passes to its body: force, moment, body axes
    multipliers(q, v, a)           lambda  (m,)    with loops: force or moment along each closed row, on body 2
    inverse_dynamics_derivatives(q, v, a)     dq, dv   (nv, nv) each, a tuple: d tau/dq and d tau/dv
    forward_dynamics_derivatives(q, v, tau)   dq, dv   (nv, nv) each, a tuple: d a/dq and d a/dv
    regressor(q, v, a)             Y       (nv, 10 n)  tau = Y @ robot.inertial_parameters(); with loops, a row per
                                                   actuated joint. Of the rigid bodies alone: armature, damping and
                                                   friction of joints, springs and wrenches are not in it

Derivatives by q are along the tangent of `Robot.integrate`, of which v is a vector; with loops all are of the actuated
coordinates alone (docs/derivatives.md). Both parts of a result are views of one array, (2, nv, nv) or (N, 2, nv, nv),
which is what ``out=`` takes, handles fill and ``solver.whole(quantity)`` returns.

All but mass_matrix and regressor take ``wrench=``: external wrenches (n, 6), for a batch also (N, n, 6): force, then
moment on each body at its frame origin, body axes; or a mapping from frame or body names to (6,) or (N, 6), in the axes
and at the origin of the frame. All take ``threads=`` (batches only; None means one per processor) and ``out=``, an
array of the result's shape to fill and return.

An engine can also offer its own calls, as its users write them (`Method.own_calls`); they are timed beside the
quantities, see `dynbench.methods.own_calls`.

Results are finite, or there is an error: numbers of q, v, a, tau and wrench must be below 1e30 in SI units (as those of
a robot must), so that no product of them overflows, and NaN, infinities and larger ones raise a `StateError`; so does
forward dynamics of a robot whose inertias are so small that an acceleration overflows. A handle returns a status in
place of the first error and does not look for the second.

This is version `CONTRACT` of the contract. A plugin states the version it was written for, as ``contract = 1``; the
registry rejects other versions with a message, so that they do not fail later.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from dynbench.methods.signatures import in_parts
from dynbench.robots.errors import NotComputedError, UnsupportedError
from dynbench.robots.robot import FloatArray, Robot

Shape = Callable[[Robot], tuple[int, ...]]

CONTRACT = 1  # incremented when plugins written for the previous version would no longer work


@dataclass(frozen=True)
class Quantity:
    """Something a solver computes: its arguments, in order, and the shape of its result for one state.

    A quantity with ``parts`` is returned as a tuple, one array for each number of the first axis of the shape.
    """

    arguments: tuple[str, ...]
    shape: Shape
    parts: tuple[str, ...] = ()
    pushed: bool = True  # whether external wrenches change it, if it depends on velocities


def _forces(robot: Robot) -> tuple[int, ...]:
    return (len(robot.actuated),)


def _derivatives(robot: Robot) -> tuple[int, ...]:
    return (2, len(robot.actuated), len(robot.actuated))


QUANTITIES: dict[str, Quantity] = {
    "inverse_dynamics": Quantity(("q", "v", "a"), _forces),
    "forward_dynamics": Quantity(("q", "v", "tau"), lambda robot: (robot.nv,)),
    "mass_matrix": Quantity(("q",), lambda robot: (len(robot.actuated), len(robot.actuated))),
    "bias": Quantity(("q", "v"), _forces),
    "coriolis_matrix": Quantity(("q", "v"), lambda robot: (robot.nv, robot.nv)),
    "reactions": Quantity(("q", "v", "a"), lambda robot: (robot.n, 6)),
    "multipliers": Quantity(("q", "v", "a"), lambda robot: (len(robot.loop_rows.closure),)),
    "inverse_dynamics_derivatives": Quantity(("q", "v", "a"), _derivatives, ("dq", "dv")),
    "forward_dynamics_derivatives": Quantity(("q", "v", "tau"), _derivatives, ("dq", "dv")),
    "regressor": Quantity(("q", "v", "a"), lambda robot: (len(robot.actuated), 10 * robot.n), pushed=False),
}
# derivative -> the quantity that it is of
DERIVATIVES = {f"{name}_derivatives": name for name in ("inverse_dynamics", "forward_dynamics")}


# for integrators, see `dynbench.methods.loops.Follow`: not an attribute of solvers
INTERNAL: dict[str, Quantity] = {
    "follow": Quantity(("q", "v", "tau"), lambda robot: (robot.nq + 2 * robot.nv + 4,)),
}


def width(robot: Robot, argument: str) -> int:
    """Length of one of the arguments q, v, a, tau for one state."""
    return {"q": robot.nq, "tau": len(robot.actuated)}.get(argument, robot.nv)


class Method(ABC):
    """A formulation of robot dynamics. Options are the fields of a frozen dataclass subclass."""

    name: ClassVar[str]  # as typed on the command line
    title: ClassVar[str]  # as printed in a table
    reference: ClassVar[str]  # paper or book, with equation or table numbers
    computes: ClassVar[tuple[str, ...]] = ("inverse_dynamics",)
    exact: ClassVar[bool] = True  # False: an approximation, whose error is reported and is not a failure
    floor: ClassVar[bool] = False  # True: computes nothing; it is timed, but excluded from agreement
    cost: ClassVar[str] = ""  # of inverse dynamics, such as "O(n)"
    requires: ClassVar[tuple[str, ...]] = ()  # importable names, for other engines
    loops: ClassVar[bool] = False  # handles closed loops
    elastic: ClassVar[bool] = False  # handles elastic links
    extras: ClassVar[bool] = False  # handles armature, damping and friction of joints
    springs: ClassVar[bool] = False  # handles springs between bodies
    compiles: ClassVar[bool] = False  # runs a compiler of C or C++, for minutes: quick runs leave it out unless named
    contract: ClassVar[int] = CONTRACT  # the version it was written for; defaults to the current version
    # of an engine: code of its own calls by quantity and kind ("single", "batch"), see `dynbench.methods.own_calls`
    own_calls: ClassVar[Mapping[tuple[str, str], str]] = MappingProxyType({})

    @classmethod
    def unavailable(cls) -> str | None:
        """Return why the method cannot be used on this machine (an engine is not installed), or None if it can."""
        absent = [name for name in cls.requires if find_spec(name) is None]
        return f"{', '.join(absent)} is not installed" if absent else None

    def supports(self, robot: Robot) -> str | None:
        """Return None if the method handles ``robot``, else a sentence that says why not."""
        reason = self.unavailable()
        if reason is not None:
            return reason
        if not robot.is_tree and not self.loops:
            what = "closed loops" if len(robot.loops.body1) else "joints that follow others"
            return f"{self.name} does not handle {what}"
        if not robot.is_tree and robot.loop_analysis.dof == 0:
            return "its loops leave no freedom of motion"
        if robot.has_springs and not self.springs:
            return f"{self.name} does not handle springs between bodies"
        if robot.is_elastic and not self.elastic:
            return f"{self.name} does not handle elastic links"
        if robot.has_extras and not self.extras:
            return f"{self.name} does not handle armature, damping or friction of joints"
        return None

    def own_calls_on(self, robot: Robot) -> Mapping[tuple[str, str], str]:
        """Return the own calls that apply to a robot; all of them, unless a method says otherwise."""
        return self.own_calls

    @abstractmethod
    def prepare(self, robot: Robot) -> Solver:
        """Return a solver for ``robot``: derive, convert, pack. Kernels compile when first called."""

    def computes_with(self, code: str) -> tuple[str, ...]:
        """Return the quantities of a tier of code: of methods made of kernels, "generic", "traced" or "auto"."""
        return self.computes

    def require(self, robot: Robot) -> None:
        """Raise `UnsupportedError` if the method does not handle ``robot``."""
        reason = self.supports(robot)
        if reason is not None:
            raise UnsupportedError(f"method {self.name!r} cannot do robot {robot.name!r}: {reason}")


class Solver:
    """A method bound to one robot. Its quantities are attributes, see the module's docstring."""

    inverse_dynamics: Callable[..., FloatArray]
    forward_dynamics: Callable[..., FloatArray]
    mass_matrix: Callable[..., FloatArray]
    bias: Callable[..., FloatArray]
    coriolis_matrix: Callable[..., FloatArray]
    reactions: Callable[..., FloatArray]
    multipliers: Callable[..., FloatArray]
    inverse_dynamics_derivatives: Callable[..., tuple[FloatArray, FloatArray]]
    forward_dynamics_derivatives: Callable[..., tuple[FloatArray, FloatArray]]
    regressor: Callable[..., FloatArray]

    def __init__(
        self,
        method: Method,
        robot: Robot,
        quantities: Mapping[str, Callable[..., FloatArray]],
        handles: Mapping[str, Callable[[bool], Callable[..., Any]]],
        model: Any = None,
        own_names: Any = None,
    ) -> None:
        self.method = method
        self.robot = robot
        self.code: str | None = None  # the tier of machine code asked for, for methods made of kernels
        self.computes = tuple(quantities)
        self.model = model  # the robot as the method stores it: a packed array, or an engine's own model
        self.own_names = own_names  # what the names in `Method.own_calls` stand for: `dynbench.methods.own_calls.Names`
        self.follow: Any = None  # with loops, of compiled methods: `dynbench.methods.loops.Follow`
        self._handles = dict(handles)
        # what computes each quantity: of methods made of kernels, a `KernelRun`
        self.runs = {name: run for name, get in handles.items() if (run := getattr(get, "__self__", None)) is not None}
        self._whole: dict[str, Callable[..., FloatArray]] = {}
        for name, function in quantities.items():
            self._set(name, function)

    def __getattr__(self, name: str) -> Any:
        if name in QUANTITIES:
            computed = ", ".join(self.__dict__.get("computes", ()))
            hint = ""
            if name in DERIVATIVES and DERIVATIVES[name] in self.runs and self.code == "generic":
                hint = ' with generic code, only with prepare(robot, code="traced")'
            raise NotComputedError(
                f"method {self.method.name!r} does not compute {name!r}{hint}; it computes {computed}"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def whole(self, quantity: str) -> Callable[..., FloatArray]:
        """Return the function of a quantity whose result is one array: for most the quantity itself.

        Derivatives are a tuple of two parts; this function returns both as (2, nv, nv), for a batch (N, 2, nv, nv).
        """
        public: Callable[..., FloatArray] = getattr(self, quantity)  # raises, naming the method and what it computes
        return self._whole[quantity] if QUANTITIES[quantity].parts else public

    def add(self, quantity: str, function: Callable[..., FloatArray], handle: Callable[[bool], Any]) -> None:
        """Add a quantity; ``function`` returns one array, as for `whole`."""
        self.computes = (*self.computes, quantity)
        self._handles[quantity] = handle
        self.runs[quantity] = getattr(handle, "__self__", None)
        self._set(quantity, function)

    def _set(self, quantity: str, function: Callable[..., FloatArray]) -> None:
        self._whole[quantity] = function
        public: Callable[..., Any] = function
        if QUANTITIES[quantity].parts:
            public = in_parts(QUANTITIES[quantity].arguments, function)
            run: Any = self.runs.get(quantity)
            if getattr(run, "function", None) is function:
                public = run.in_parts(public)
        setattr(self, quantity, public)

    def handle(self, quantity: str, wrench: bool = False) -> Callable[..., Any]:
        """Return the unchecked function behind a quantity, for control loops.

        ``f(q, v, a, wrench, out)`` (inverse and forward dynamics, reactions, regressor), ``f(q, v, wrench, out)``
        (bias) or ``f(q, out)`` (mass matrix) takes one state as C-contiguous float64 vectors, fills the flat vector
        ``out`` and returns a status: 0, or a `dynbench.methods.kernels.status.Status` that says why there is no result.
        ``out`` is then filled with NaN:

            1  BAD_SHAPE   a vector has the wrong length
            2  NOT_FINITE  an argument holds NaN, infinity or a number of 1e30 and more
            3  NOT_UNIT    a quaternion is not of unit length
            4  NO_MEMORY   for the workspace
            6  NO_RESULT   the state is far from the loops or singular, or an acceleration overflows

        No number raises an error; for integrators ``solver.follow`` passes singular positions. Handles of methods that
        are not made of kernels, other engines among them, check nothing.
        The external wrench is None, or with ``wrench=True`` a flat vector of 6 n numbers. Getting the handle compiles.
        """
        if quantity not in self._handles:
            getattr(self, quantity)  # raises, naming the method and what it computes
        return self._handles[quantity](wrench)

    def why_not_traced(self, quantity: str) -> str | None:
        """Return why a quantity has no traced code, in a sentence, or None if it has; see `KernelMethod.prepare`."""
        getattr(self, quantity)  # raises if it is not computed
        traced = getattr(self.runs.get(quantity), "traced", f"method {self.method.name!r} is not made of kernels")
        return traced if isinstance(traced, str) else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as what it was prepared from, and prepared again on the other side: machine code does not travel."""
        return _prepared, (self.method, self.robot, self.code)

    def __repr__(self) -> str:
        return f"<Solver {self.method.name!r} for {self.robot.name!r}: {', '.join(self.computes)}>"


def _prepared(method: Any, robot: Robot, code: str | None) -> Solver:
    solver: Solver = method.prepare(robot) if code is None else method.prepare(robot, code=code)
    return solver


def zeros(n: int) -> FloatArray:
    """A read-only vector of zeros."""
    vector = np.zeros(n)
    vector.flags.writeable = False
    return vector
