"""Pinocchio in C++: its algorithms in a plain loop over states, compiled here for this processor.

The wheel of `pinocchio` is compiled for any processor of its kind, and is called from Python. This is what a C++ user
of the same library gets: native/pinocchio_loop.cpp, compiled once with -O3 -march=native against the headers of the
wheel (and of cmeel-eigen, the Eigen it was built with). Compiling takes minutes and some 3 GB; derivatives are a
library of their own, made when they are first asked for. The order of joints is that of
`dynbench.methods.peers.pinocchio`. Armature is Pinocchio's own, and so are external wrenches in derivatives; damping,
friction and the other external wrenches are added to its results.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import weakref
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dynbench.methods.base import DERIVATIVES, Method, Solver
from dynbench.methods.function_solver import function_solver
from dynbench.methods.peers import native
from dynbench.methods.peers.pinocchio import depth_first
from dynbench.robots.robot import FloatArray, Robot

COMPUTES = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "bias",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)
# as Pinocchio's own CMake target defines them: it has more joint types than Boost's lists by default
DEFINES = (
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)


def headers() -> list[Path] | None:
    """Return the folders of the headers of Pinocchio and Eigen, None if they are not there."""
    for folder in sys.path:
        include = Path(folder) / "cmeel.prefix" / "include"
        if (include / "pinocchio").is_dir() and (include / "eigen3" / "Eigen").is_dir():
            return [include, include / "eigen3"]
    return None


class PinocchioCpp(Method):
    """RNEA, ABA, CRBA and derivatives of the Pinocchio library in a C++ loop over states."""

    name: ClassVar[str] = "pinocchio-cpp"
    title: ClassVar[str] = "Pinocchio, a native C++ loop"
    reference: ClassVar[str] = "Carpentier et al., The Pinocchio C++ library, IEEE/SICE SII 2019"
    computes: ClassVar[tuple[str, ...]] = COMPUTES
    cost: ClassVar[str] = "O(n)"
    requires: ClassVar[tuple[str, ...]] = ("pinocchio",)
    extras: ClassVar[bool] = True
    compiles: ClassVar[bool] = True
    own_calls: ClassVar[Mapping[tuple[str, str], str]] = native.own_calls(COMPUTES, "robot, ")

    @classmethod
    def unavailable(cls) -> str | None:
        reason = super().unavailable() or native.absent("c++")
        if reason is None and headers() is None:
            reason = "the headers of Eigen are not installed beside those of Pinocchio: pip install cmeel-eigen"
        return reason

    def prepare(self, robot: Robot) -> Solver:
        self.require(robot)
        engine = Engine(robot)
        functions = {name: getattr(engine, name) for name in COMPUTES}
        batches = {name: functools.partial(engine.batch, name) for name in COMPUTES}
        included, own = ("armature",), engine.own_names
        return function_solver(self, robot, functions, engine, batches, included=included, own_names=own)


@functools.cache
def library(derivatives: bool) -> Path:
    """Return the compiled loop over states, of derivatives or of the other quantities."""
    source = (native.FOLDER / "pinocchio_loop.cpp").read_text(encoding="utf-8")
    include = [f"-I{folder}" for folder in headers() or ()]
    versions = ", ".join(f"{name} {_version(name)}" for name in ("pin", "libpinocchio", "cmeel-eigen", "cmeel-boost"))
    flags = ("-std=c++17", *DEFINES, *(["-DDERIVATIVES"] if derivatives else []), *include)
    name = "pinocchio-derivatives" if derivatives else "pinocchio"
    return native.built(name, {"pinocchio_loop.cpp": source}, "c++", flags, versions)


def _version(package: str) -> str:
    try:
        return installed(package)
    except PackageNotFoundError:
        return "absent"


class Engine:
    """The loop for one robot, in our order of coordinates; its workspaces are its own, one call at a time."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.order = order = depth_first(robot)
        ends = [int(robot.iq[i + 1]) if i + 1 < robot.n else robot.nq for i in range(robot.n)]
        v_ends = [int(robot.iv[i + 1]) if i + 1 < robot.n else robot.nv for i in range(robot.n)]
        self.q = np.array([k for i in order for k in range(robot.iq[i], ends[i])])
        self.v = np.array([k for i in order for k in range(robot.iv[i], v_ends[i])])
        self.back = np.argsort(self.v)  # ours = theirs[back]
        self.same = order == list(range(robot.n))
        self._handles: dict[bool, ctypes.c_void_p] = {}  # one of each library
        self._functions: dict[str, native.Library] = {}

    def handle(self, quantity: str) -> ctypes.c_void_p:
        """The robot in the library that has a quantity; compiles it if that was not done before."""
        derivatives = quantity in DERIVATIVES
        if derivatives not in self._handles:
            self._handles[derivatives] = self._new(library(derivatives))
        return self._handles[derivatives]

    def function(self, quantity: str) -> native.Library:
        """The loop over states of a quantity."""
        if quantity not in self._functions:
            handle = self.handle(quantity)
            self._functions[quantity] = native.Library(self.robot, quantity, library(quantity in DERIVATIVES), [handle])
        return self._functions[quantity]

    def _new(self, path: Path) -> ctypes.c_void_p:
        order, loaded = self.order, ctypes.CDLL(str(path))
        loaded.robot_new.restype = ctypes.c_void_p
        loaded.robot_delete.argtypes = [ctypes.c_void_p]
        robot, place = self.robot, np.empty(self.robot.n + 1, dtype=np.int32)
        place[order], place[-1] = np.arange(robot.n), -1
        whole = [np.array(x, dtype=np.int32) for x in (place[robot.parent[order]], robot.kind[order])]
        real = (robot.axis, robot.rotation, robot.translation, robot.mass, robot.com, robot.inertia)
        numbers = [np.array(x[order], dtype=np.float64, order="C") for x in real]
        numbers += [np.array(robot.gravity), np.array(robot.extras.armature[self.v])]
        addresses = [ctypes.c_void_p(x.ctypes.data) for x in whole] + [native.pointer(x) for x in numbers]
        made = loaded.robot_new(ctypes.c_int(robot.n), *addresses)
        handle = ctypes.c_void_p(made)
        weakref.finalize(self, loaded.robot_delete, handle)
        return handle

    def inverse_dynamics(self, q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None) -> FloatArray:
        tau = self._one("inverse_dynamics", q, v, a)
        return tau if wrench is None else tau - native.joint_forces(self.robot, q, wrench)

    def forward_dynamics(self, q: FloatArray, v: FloatArray, tau: FloatArray, wrench: FloatArray | None) -> FloatArray:
        if wrench is not None:
            tau = tau + native.joint_forces(self.robot, q, wrench)
        return self._one("forward_dynamics", q, v, tau)

    def bias(self, q: FloatArray, v: FloatArray, wrench: FloatArray | None) -> FloatArray:
        h = self._one("bias", q, v)
        return h if wrench is None else h - native.joint_forces(self.robot, q, wrench)

    def mass_matrix(self, q: FloatArray) -> FloatArray:
        return self._one("mass_matrix", q)

    def inverse_dynamics_derivatives(
        self, q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None
    ) -> FloatArray:
        return self._derivatives("inverse_dynamics_derivatives", (q, v, a), wrench)

    def forward_dynamics_derivatives(
        self, q: FloatArray, v: FloatArray, tau: FloatArray, wrench: FloatArray | None
    ) -> FloatArray:
        return self._derivatives("forward_dynamics_derivatives", (q, v, tau), wrench)

    def _derivatives(self, quantity: str, state: Sequence[FloatArray], wrench: FloatArray | None) -> FloatArray:
        """Both matrices, (2, nv, nv); a wrench in body axes turns with its body, which Pinocchio takes into account."""
        if wrench is None:
            return self._one(quantity, *state)
        given = [np.ascontiguousarray(x) for x in (*self._theirs(state), wrench[self.order])]
        out: FloatArray = np.empty((2, self.robot.nv, self.robot.nv))
        pushed = getattr(ctypes.CDLL(str(library(True))), f"{quantity}_pushed")
        pushed.restype, pushed.argtypes = None, [ctypes.c_void_p] * 6
        pushed(self.handle(quantity), *map(native.pointer, given), native.pointer(out))
        return self._ours(out)

    def batch(self, quantity: str, *given: Any) -> None:
        """Fill the last argument, an array, for states in rows; the one before it is the number of threads."""
        *states, threads, out = given
        inputs = [np.ascontiguousarray(x) for x in self._theirs(states)]
        if self.same:
            self.function(quantity).rows(inputs, threads, out)
            return
        found = np.empty_like(out)
        self.function(quantity).rows(inputs, threads, found)
        out[...] = found[:, self.back] if found.ndim == 2 else found[..., self.back[:, None], self.back]

    def own_names(self, quantity: str, inputs: Sequence[FloatArray], threads: int | None) -> dict[str, Any]:
        """What the names in `PinocchioCpp.own_calls` stand for."""
        function = self.function(quantity)
        names = function.own_names(self._theirs(inputs), threads)
        handle = self.handle(quantity)  # owned by the engine
        return {**names, quantity: function.call, "robot": handle, "engine": self}

    def _one(self, quantity: str, *state: FloatArray) -> FloatArray:
        return self._ours(self.function(quantity).one(*self._theirs(state)))

    def _ours(self, found: FloatArray) -> FloatArray:
        """Return the result of one state, a vector or matrices, in our order."""
        if self.same:
            return found
        return found[self.back] if found.ndim == 1 else found[..., self.back[:, None], self.back]

    def _theirs(self, arrays: Sequence[FloatArray]) -> list[FloatArray]:
        if self.same:
            return list(arrays)
        return [x[..., self.q if k == 0 else self.v] for k, x in enumerate(arrays)]
