"""frax as a method: dynamics in JAX, compiled by XLA for each robot, on the CPU.

D. Morton, frax (version 0.1), https://github.com/StanfordASL/frax, MIT. Its recursions are products with masks of
ancestors instead of loops over bodies; a batch is ``jax.vmap`` of them. A URDF file is written for each robot and
loaded. What differs from `dynbench.robots.robot`; R is the rotation of a free base:

    joints        frax: revolute and prismatic ones, and a free base
    gravity       frax: 9.81 m/s^2 along -z, which is in the code of its forward dynamics
    free base     frax: quaternions w x y z; velocity of its origin in world axes, R v, then w in body axes. So
                  accelerations are R (a + w x v), forces R tau, both of the linear part alone
    wrenches      converted to joint forces here

JAX computes in double precision only if its whole process does, and XLA chooses its threads when it starts. So frax is
loaded with the settings that its README recommends for the CPU, and with one thread, on which it also is timed; on
several threads each has a part of the batch. In a process that has used JAX before, those settings come too late.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dynbench.methods.base import QUANTITIES, Method, Solver
from dynbench.methods.environment import kept_environment
from dynbench.methods.function_solver import function_solver
from dynbench.methods.own_calls import NULL_CALL, converted
from dynbench.methods.peers import native
from dynbench.methods.peers.dynibo import refused_joint, urdf
from dynbench.robots import quaternion
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray, Robot

GRAVITY = (0.0, 0.0, -9.81)
SETTINGS = {
    "NPROC": "1",  # threads of XLA
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false --xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
    "JAX_PLATFORMS": "cpu",
}
EMPTY = '<inertial><mass value="0"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>'
GROUND = ('<link name="world"/>', f'<link name="world">{EMPTY}</link>')  # frax expects an inertia of every link
CALLS = {  # of one state
    "inverse_dynamics": "rnea(q, v, a, gravity, None)",
    "forward_dynamics": "forward_dynamics(q, v, tau, None)",
    "mass_matrix": "crba(q)",
    "bias": "nonlinear_bias(q, v)",
}


def _batch(quantity: str) -> str:
    name, arguments = CALLS[quantity].partition("(")[0], ", ".join(QUANTITIES[quantity].arguments)
    return f"for part, found in zip(parts, each({name}, {arguments})):\n    out[part] = found"


class Frax(Method):
    """RNEA and CRBA of frax in JAX, forward dynamics by a Cholesky factor; batches by ``jax.vmap``."""

    name: ClassVar[str] = "frax"
    title: ClassVar[str] = "frax (RNEA, CRBA in JAX)"
    reference: ClassVar[str] = "Morton, frax, https://github.com/StanfordASL/frax, version 0.1, 2026"
    computes: ClassVar[tuple[str, ...]] = tuple(CALLS)
    cost: ClassVar[str] = "O(n^2)"
    requires: ClassVar[tuple[str, ...]] = ("frax",)
    extras: ClassVar[bool] = True  # added to its results
    own_calls: ClassVar[Mapping[tuple[str, str], str]] = {
        **{(quantity, "single"): f"{code}.block_until_ready()" for quantity, code in CALLS.items()},
        **{(quantity, "batch"): _batch(quantity) for quantity in CALLS},
        NULL_CALL: "nothing(zero).block_until_ready()",
    }

    def supports(self, robot: Robot) -> str | None:
        reason = super().supports(robot) or refused_joint(robot)
        if reason is not None:
            return reason
        if not np.array_equal(robot.gravity, GRAVITY):
            return f"its gravity is {GRAVITY}, and this robot's is {tuple(map(float, robot.gravity))}"
        return None

    def prepare(self, robot: Robot) -> Solver:
        self.require(robot)
        engine = Engine(*loaded(), robot)
        functions = {name: getattr(engine, name) for name in self.computes}
        return function_solver(self, robot, functions, engine.model, own_names=engine.own_names)


def loaded() -> tuple[Any, Any]:
    """Import JAX and frax with `SETTINGS`, which are not left in the environment of other processes."""
    with kept_environment(SETTINGS):
        os.environ.update(SETTINGS)
        jax = import_module("jax")
        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_cpu_enable_async_dispatch", False)
        jax.devices()  # starts XLA
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that settings could be set
            return jax, import_module("frax")


class Engine:
    """Functions of one state, in our coordinates."""

    def __init__(self, jax: Any, frax: Any, robot: Robot) -> None:
        self.jax = jax
        self.robot = robot
        self.free = bool(robot.kind[0] == JointKind.FREE)
        joints = range(int(self.free), robot.n)
        self.q, self.v = robot.iq[joints], robot.iv[joints]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "robot.urdf"
            path.write_text(urdf(robot, 1.0).replace(*GROUND), encoding="utf-8")
            base = "quaternion" if self.free else None
            order = [f"joint{i}" for i in joints]
            self.model = frax.Robot(str(path), joint_ordering=order, floating_base=base)
        self.gravity = jax.numpy.array([*(-robot.gravity), 0.0, 0.0, 0.0])
        self.calls = {
            "rnea": jax.jit(self.model.rnea),
            "forward_dynamics": jax.jit(self.model.forward_dynamics),
            "crba": jax.jit(self.model.crba),
            "nonlinear_bias": jax.jit(self.model.nonlinear_bias),
        }

    def inverse_dynamics(self, q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None) -> FloatArray:
        tau = self._ours(q, self.calls["rnea"](*self.theirs(q, v, a), self.gravity, None))
        return tau if wrench is None else tau - native.joint_forces(self.robot, q, wrench)

    def forward_dynamics(self, q: FloatArray, v: FloatArray, tau: FloatArray, wrench: FloatArray | None) -> FloatArray:
        if wrench is not None:
            tau = tau + native.joint_forces(self.robot, q, wrench)
        a = self._ours(q, self.calls["forward_dynamics"](*self.theirs(q, v, tau=tau), None))
        if self.free:
            a[:3] -= np.cross(v[3:6], v[:3])
        return a

    def mass_matrix(self, q: FloatArray) -> FloatArray:
        turn = np.array([self._theirs(q, column) for column in np.eye(self.robot.nv)]).T
        return turn.T @ np.asarray(self.calls["crba"](*self.theirs(q))) @ turn  # type: ignore[no-any-return]

    def bias(self, q: FloatArray, v: FloatArray, wrench: FloatArray | None) -> FloatArray:
        return self.inverse_dynamics(q, v, np.zeros(self.robot.nv), wrench)

    def theirs(
        self, q: FloatArray, v: FloatArray | None = None, a: FloatArray | None = None, tau: FloatArray | None = None
    ) -> list[FloatArray]:
        """Return those of q, v, a, tau that are given in frax's coordinates; ``a`` requires ``v``."""
        place = q[self.q]
        if self.free:
            x, y, z, w = quaternion.from_matrix(self._turn(q))
            where = self.robot.translation[0] + self.robot.rotation[0] @ q[:3]
            place = np.concatenate([where, [w, x, y, z], place])
        found = [place]
        if v is not None:
            found.append(self._theirs(q, v))
            if a is not None:
                if self.free:
                    a = np.concatenate([a[:3] + np.cross(v[3:6], v[:3]), a[3:]])
                found.append(self._theirs(q, a))
        if tau is not None:
            found.append(self._theirs(q, tau))
        return found

    def own_names(self, quantity: str, inputs: Sequence[FloatArray], threads: int | None) -> dict[str, Any]:
        """What the names in `Frax.own_calls` stand for; a batch comes in parts, one per thread."""
        jax, array = self.jax, self.jax.numpy.asarray
        given = converted(self.theirs, quantity, inputs)
        if threads is None:
            names = {**self.calls, "gravity": self.gravity, "nothing": jax.jit(lambda x: x), "zero": array(0.0)}
            return {**names, **{name: [array(x) for x in states] for name, states in given.items()}}
        rows = len(inputs[0])
        parts = [slice(rows * k // threads, rows * (k + 1) // threads) for k in range(threads)]
        batches = {name: np.array(states) for name, states in given.items()}
        each: Callable[..., Any] = map if threads == 1 else ThreadPoolExecutor(threads).map
        code = CALLS[quantity].partition("(")[0]
        more = {"rnea": (self.gravity, None), "forward_dynamics": (None,)}.get(code, ())  # the same for all states
        one = getattr(self.model, code)
        return {
            code: jax.jit(jax.vmap(lambda *state: one(*state, *more))),
            "parts": parts,
            "each": each,
            "out": np.zeros((rows, *QUANTITIES[quantity].shape(self.robot))),
            **{name: [array(x[part]) for part in parts] for name, x in batches.items()},
        }

    def _turn(self, q: FloatArray) -> FloatArray:
        """The rotation of the free base."""
        return self.robot.rotation[0] @ quaternion.matrix(q[3:7])  # type: ignore[no-any-return]

    def _theirs(self, q: FloatArray, x: FloatArray) -> FloatArray:
        """Return velocities or forces in frax's order and axes."""
        return np.concatenate([self._turn(q) @ x[:3], x[3:6], x[self.v]]) if self.free else x[self.v]

    def _ours(self, q: FloatArray, there: Any) -> FloatArray:
        """Return the inverse of `_theirs`."""
        found, there = np.empty(self.robot.nv), np.asarray(there)
        found[self.v] = there[6 * self.free :]
        if self.free:
            found[:3], found[3:6] = self._turn(q).T @ there[:3], there[3:6]
        return found
