"""Pinocchio as a method: an independent engine with the conventions of `dynbench.robots.robot`.

J. Carpentier et al., "The Pinocchio C++ library", IEEE/SICE SII 2019. Conventions for frames, quaternions, velocities
and wrenches are the same, so only the order of joints is converted: Pinocchio's algorithms expect a tree numbered depth
first. If ours already is (chains, most URDF files), arrays are passed unchanged.

The armature of joints is Pinocchio's own; its RNEA and ABA have no damping or friction, which are added to its results.
Aligned axes get Pinocchio's aligned joints, which are faster, as its own URDF parser does.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dynbench.methods.base import QUANTITIES, Method, Solver
from dynbench.methods.function_solver import function_solver
from dynbench.methods.own_calls import NULL_CALL
from dynbench.robots.errors import MethodError
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray, IntArray, Robot


class Pinocchio(Method):
    """RNEA, ABA and CRBA of the Pinocchio library, batches through its own thread pool."""

    name: ClassVar[str] = "pinocchio"
    title: ClassVar[str] = "Pinocchio (RNEA, ABA, CRBA in C++)"
    reference: ClassVar[str] = "Carpentier et al., The Pinocchio C++ library, IEEE/SICE SII 2019"
    computes: ClassVar[tuple[str, ...]] = (
        "inverse_dynamics",
        "forward_dynamics",
        "mass_matrix",
        "bias",
        "reactions",
        "regressor",
        "inverse_dynamics_derivatives",
        "forward_dynamics_derivatives",
    )
    cost: ClassVar[str] = "O(n)"
    requires: ClassVar[tuple[str, ...]] = ("pinocchio",)
    extras: ClassVar[bool] = True
    own_calls: ClassVar[Mapping[tuple[str, str], str]] = {
        ("inverse_dynamics", "single"): "pin.rnea(model, data, q, v, a)",
        ("inverse_dynamics", "batch"): "pin.rneaInParallel(threads, pool, q, v, a, out.T)",
        ("forward_dynamics", "single"): "pin.aba(model, data, q, v, tau)",
        ("forward_dynamics", "batch"): "pin.abaInParallel(threads, pool, q, v, tau, out.T)",
        ("mass_matrix", "single"): "pin.crba(model, data, q)",
        ("bias", "single"): "pin.nonLinearEffects(model, data, q, v)",
        ("regressor", "single"): "pin.computeJointTorqueRegressor(model, data, q, v, a)",
        ("inverse_dynamics_derivatives", "single"): "pin.computeRNEADerivatives(model, data, q, v, a)",
        ("forward_dynamics_derivatives", "single"): "pin.computeABADerivatives(model, data, q, v, tau)",
        NULL_CALL: "pin.computeTotalMass(model)",
    }

    def prepare(self, robot: Robot) -> Solver:
        self.require(robot)
        import pinocchio as pin

        if not hasattr(pin, "Model"):
            raise MethodError(
                f"{pin.__file__} is another package called pinocchio; the rigid-body library is `pip install pin`"
            )
        engine = Engine(pin, *convert(pin, robot))
        functions = {name: getattr(engine, name) for name in self.computes}
        batches = {}
        if hasattr(pin, "rneaInParallel"):  # missing in some builds
            batches = {
                "inverse_dynamics": engine.inverse_dynamics_batch,
                "forward_dynamics": engine.forward_dynamics_batch,
            }
        own = engine.own_names
        return function_solver(self, robot, functions, engine.model, batches, included=("armature",), own_names=own)


class Order(NamedTuple):
    """Indices that relate Pinocchio's coordinates and joints to ours."""

    q: IntArray  # (nq,) for each of Pinocchio's coordinates, our index
    v: IntArray  # (nv,)
    joint: IntArray  # (n,) for each of our bodies, Pinocchio's joint
    same: bool  # the order of q and v is the same


def depth_first(robot: Robot) -> list[int]:
    """Return the bodies so that each subtree is consecutive, children in the robot's order."""
    children: list[list[int]] = [[] for _ in range(robot.n + 1)]  # the last list is the ground's
    for i in range(robot.n - 1, -1, -1):
        children[robot.parent[i]].append(i)
    order, waiting = [], children[-1]
    while waiting:
        order.append(waiting.pop())
        waiting.extend(children[order[-1]])
    return order


def convert(pin: Any, robot: Robot) -> tuple[Any, Order]:
    """Return the robot as a pinocchio.Model, and the order of its joints."""
    model = pin.Model()
    model.name = robot.name
    model.gravity = pin.Motion(robot.gravity.copy(), np.zeros(3))
    joint = np.zeros(robot.n + 1, dtype=np.int64)  # the last is the ground, Pinocchio's joint 0
    order = depth_first(robot)
    for i in order:
        placement = pin.SE3(robot.rotation[i].copy(), robot.translation[i].copy())
        kind = joint_model(pin, robot.kind[i], robot.axis[i].copy())
        joint[i] = model.addJoint(int(joint[robot.parent[i]]), kind, placement, robot.joint_names[i])
        inertia = pin.Inertia(float(robot.mass[i]), robot.com[i].copy(), robot.inertia[i].copy())
        model.appendBodyToJoint(int(joint[i]), inertia, pin.SE3.Identity())
        frame = model.addJointFrame(int(joint[i]), -1)
        model.addBodyFrame(robot.body_names[i], int(joint[i]), pin.SE3.Identity(), frame)
    q = [k for i in order for k in range(robot.iq[i], robot.iq[i] + model.joints[int(joint[i])].nq)]
    v = [k for i in order for k in range(robot.iv[i], robot.iv[i] + model.joints[int(joint[i])].nv)]
    model.armature = robot.extras.armature[v]
    return model, Order(np.array(q), np.array(v), joint[:-1], order == list(range(robot.n)))


def joint_model(pin: Any, kind: int, axis: FloatArray) -> Any:
    """Return Pinocchio's joint for one of ours."""
    if kind == JointKind.SPHERICAL:
        return pin.JointModelSpherical()
    if kind == JointKind.FREE:
        return pin.JointModelFreeFlyer()
    letter = "R" if kind == JointKind.REVOLUTE else "P"
    aligned = np.flatnonzero((axis == np.eye(3)).all(axis=1))  # exactly: an axis (1e-8, 0, 1) also has a component of 1
    if len(aligned):
        return getattr(pin, f"JointModel{letter}{'XYZ'[aligned[0]]}")()
    unaligned = "JointModelRevoluteUnaligned" if letter == "R" else "JointModelPrismaticUnaligned"
    return getattr(pin, unaligned)(axis)


class Workspace(threading.local):
    """Pinocchio's mutable data, one per thread."""

    def __init__(self, pin: Any, model: Any) -> None:
        self.data = model.createData()
        self.forces = pin.StdVec_Force()
        self.forces.extend([pin.Force.Zero() for _ in range(model.njoints)])
        self.pools: dict[int, Any] = {}


class Engine:
    """Functions of one state, and of a batch, in our order of coordinates."""

    def __init__(self, pin: Any, model: Any, order: Order) -> None:
        self.pin = pin
        self.model = model
        self.order = order
        self.back = np.argsort(order.v)  # ours = theirs[back]
        self.work = Workspace(pin, model)

    def inverse_dynamics(self, q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None) -> FloatArray:
        data = self.work.data
        if not self.order.same:
            q, v, a = self._theirs(q, v, a)
        if wrench is None:
            tau = self.pin.rnea(self.model, data, q, v, a)
        else:
            tau = self.pin.rnea(self.model, data, q, v, a, self._forces(wrench))
        return tau if self.order.same else tau[self.back]  # type: ignore[no-any-return]

    def forward_dynamics(self, q: FloatArray, v: FloatArray, tau: FloatArray, wrench: FloatArray | None) -> FloatArray:
        data = self.work.data
        if not self.order.same:
            q, v, tau = self._theirs(q, v, tau)
        if wrench is None:
            a = self.pin.aba(self.model, data, q, v, tau)
        else:
            a = self.pin.aba(self.model, data, q, v, tau, self._forces(wrench))
        return a if self.order.same else a[self.back]  # type: ignore[no-any-return]

    def mass_matrix(self, q: FloatArray) -> FloatArray:
        # Its C++ crba fills the upper triangle only; the Python binding completes it.
        if self.order.same:
            return self.pin.crba(self.model, self.work.data, q)  # type: ignore[no-any-return]
        M = self.pin.crba(self.model, self.work.data, q[self.order.q])
        return M[np.ix_(self.back, self.back)]  # type: ignore[no-any-return]

    def bias(self, q: FloatArray, v: FloatArray, wrench: FloatArray | None) -> FloatArray:
        if wrench is not None:
            return self.inverse_dynamics(q, v, np.zeros(len(v)), wrench)
        if self.order.same:
            return self.pin.nonLinearEffects(self.model, self.work.data, q, v)  # type: ignore[no-any-return]
        h = self.pin.nonLinearEffects(self.model, self.work.data, q[self.order.q], v[self.order.v])
        return h[self.back]  # type: ignore[no-any-return]

    def reactions(self, q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None) -> FloatArray:
        self.inverse_dynamics(q, v, a, wrench)
        carried = self.work.data.f
        return np.array([carried[int(j)].vector for j in self.order.joint])

    def regressor(self, q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None) -> FloatArray:
        # its ten parameters of a body, and their order, are ours
        if self.order.same:
            Y = self.pin.computeJointTorqueRegressor(self.model, self.work.data, q, v, a)
            return np.atleast_2d(Y)  # of one coordinate it is a vector
        Y = self.pin.computeJointTorqueRegressor(self.model, self.work.data, *self._theirs(q, v, a))
        columns = (10 * (self.order.joint[:, None] - 1) + np.arange(10)).ravel()
        return Y[np.ix_(self.back, columns)]  # type: ignore[no-any-return]

    def inverse_dynamics_derivatives(
        self, q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None
    ) -> FloatArray:
        return self._derivatives(self.pin.computeRNEADerivatives, q, v, a, wrench)

    def forward_dynamics_derivatives(
        self, q: FloatArray, v: FloatArray, tau: FloatArray, wrench: FloatArray | None
    ) -> FloatArray:
        return self._derivatives(self.pin.computeABADerivatives, q, v, tau, wrench)

    def _derivatives(
        self, run: Any, q: FloatArray, v: FloatArray, last: FloatArray, wrench: FloatArray | None
    ) -> FloatArray:
        """Both matrices, (2, nv, nv); the third that Pinocchio returns, M or its inverse, is left out."""
        if not self.order.same:
            q, v, last = self._theirs(q, v, last)
        outer = () if wrench is None else (self._forces(wrench),)
        parts = run(self.model, self.work.data, q, v, last, *outer)
        found = np.empty((2, len(v), len(v)))
        found[0], found[1] = parts[0], parts[1]
        return found if self.order.same else found[:, self.back][:, :, self.back]

    def inverse_dynamics_batch(
        self, q: FloatArray, v: FloatArray, a: FloatArray, threads: int, out: FloatArray
    ) -> None:
        self._batch(self.pin.rneaInParallel, q, v, a, threads, out)

    def forward_dynamics_batch(
        self, q: FloatArray, v: FloatArray, tau: FloatArray, threads: int, out: FloatArray
    ) -> None:
        self._batch(self.pin.abaInParallel, q, v, tau, threads, out)

    def own_names(self, quantity: str, inputs: Sequence[FloatArray], threads: int | None) -> dict[str, Any]:
        """What the names in `Pinocchio.own_calls` stand for; a batch has states in columns."""
        names = {"pin": self.pin, "model": self.model, "data": self.model.createData()}
        if not inputs:
            return names
        theirs = [np.ascontiguousarray(x[:, self.order.q if k == 0 else self.order.v]) for k, x in enumerate(inputs)]
        arguments = QUANTITIES[quantity].arguments
        if threads is None:
            return {**names, **dict(zip(arguments, theirs, strict=True))}
        pool, out = self.pin.ModelPool(self.model, threads), np.zeros((len(inputs[0]), self.model.nv))
        columns = {name: x.T for name, x in zip(arguments, theirs, strict=True)}
        return {"pin": self.pin, "threads": threads, "pool": pool, **columns, "out": out}

    def _batch(self, run: Any, q: FloatArray, v: FloatArray, a: FloatArray, threads: int, out: FloatArray) -> None:
        """Call a batch function. Pinocchio expects states in columns, the transpose of our rows: nothing is copied."""
        pool = self.work.pools.get(threads)
        if pool is None:
            pool = self.work.pools[threads] = self.pin.ModelPool(self.model, threads)
        if self.order.same:
            run(threads, pool, q.T, v.T, a.T, out.T)
        else:
            q, v, a = (np.ascontiguousarray(x) for x in self._theirs(q, v, a))
            result = np.empty_like(out)
            run(threads, pool, q.T, v.T, a.T, result.T)
            np.take(result, self.back, axis=1, out=out)

    def _theirs(self, q: FloatArray, v: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return q[..., self.order.q], v[..., self.order.v], a[..., self.order.v]

    def _forces(self, wrench: FloatArray) -> Any:
        """Return external wrenches, at the body frames' origins in body axes, as Pinocchio's forces on its joints."""
        forces = self.work.forces
        for i, j in enumerate(self.order.joint):
            forces[int(j)] = self.pin.Force(wrench[i])
        return forces
