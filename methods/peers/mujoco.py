"""MuJoCo as a method: an engine with other conventions, so that agreement with it is independent evidence.

E. Todorov, T. Erez, Y. Tassa, "MuJoCo: A physics engine for model-based control", IROS 2012. Its conventions differ
from those of `dynbench.robots.robot`; R is the rotation of a free joint:

    quaternions   MuJoCo: w x y z, here x y z w
    free joints   MuJoCo: linear velocity in the parent's axes, R v. So accelerations are R (a + omega x v), and
                  forces R tau
    bodies        MuJoCo: numbered depth first
    inertia       MuJoCo: principal axes and moments

A free joint on another body, or with a placement, becomes three slides and a ball in MuJoCo, which have the same
coordinates. The model is compiled with placeholder inertias and then given the robot's own, since the compiler rejects
bodies without mass, which the equations of motion allow. Armature and damping of joints are MuJoCo's own; its friction
is a soft constraint, so Coulomb friction is added to its results. There are no contacts, limits, springs or actuators.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dynbench.methods.base import Method, Solver
from dynbench.methods.function_solver import function_solver
from dynbench.methods.own_calls import NULL_CALL, converted
from dynbench.robots import quaternion
from dynbench.robots.joints import NQ, NV, JointKind
from dynbench.robots.robot import FloatArray, IntArray, Robot

SHIFT = 3  # places by which a quaternion w x y z is rotated to give x y z w
GENERIC = ([0.1, 0.2, 0.3], [0.8, 0.6, 0.0, 0.0], [1.0, 1.1, 1.2])  # placeholders: centre of mass, axes, moments


class MuJoCo(Method):
    """mj_inverse, mj_forward and the composite rigid body algorithm of MuJoCo, one state at a time."""

    name: ClassVar[str] = "mujoco"
    title: ClassVar[str] = "MuJoCo (RNE, CRB, sparse solve in C)"
    reference: ClassVar[str] = "Todorov, Erez, Tassa, MuJoCo: A physics engine for model-based control, IROS 2012"
    computes: ClassVar[tuple[str, ...]] = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias")
    cost: ClassVar[str] = "O(n d)"
    requires: ClassVar[tuple[str, ...]] = ("mujoco",)
    extras: ClassVar[bool] = True
    own_calls: ClassVar[Mapping[tuple[str, str], str]] = {
        ("inverse_dynamics", "single"): (
            "data.qpos, data.qvel, data.qacc = q, v, a\nmujoco.mj_inverse(model, data)\ndata.qfrc_inverse"
        ),
        ("forward_dynamics", "single"): (
            "data.qpos, data.qvel, data.qfrc_applied = q, v, tau\nmujoco.mj_forward(model, data)\ndata.qacc"
        ),
        ("mass_matrix", "single"): (
            "data.qpos = q\nmujoco.mj_kinematics(model, data)\nmujoco.mj_comPos(model, data)\n"
            "mujoco.mj_crb(model, data)\nmujoco.mj_fullM(model, data, M)\nM"
        ),
        ("bias", "single"): (
            "data.qpos, data.qvel, data.qacc = q, v, 0.0\nmujoco.mj_inverse(model, data)\ndata.qfrc_inverse"
        ),
        NULL_CALL: "mujoco.mj_getTotalmass(model)",
    }

    def prepare(self, robot: Robot) -> Solver:
        self.require(robot)
        import mujoco

        engine = Engine(mujoco, robot, *convert(mujoco, robot))
        functions = {name: getattr(engine, name) for name in self.computes}
        included, own = ("armature", "damping"), engine.own_names
        return function_solver(self, robot, functions, engine.model, included=included, own_names=own)


# Bytes for constraints (there are none) and the stack (about 100 bytes per coordinate). The default is 14 MB or more,
# which a process that makes hundreds of models cannot reuse: small allocations fragment the freed memory.
ARENA = 2**20


class Order(NamedTuple):
    """Indices that relate MuJoCo's coordinates and bodies to ours."""

    q: IntArray  # (nq,) for each of MuJoCo's coordinates, our index
    v: IntArray  # (nv,)
    body: IntArray  # (n,) for each of our bodies, MuJoCo's index


def convert(mujoco: Any, robot: Robot) -> tuple[Any, Order]:
    """Return the robot as a mujoco.MjModel, and the order of its bodies and coordinates."""
    spec = mujoco.MjSpec()
    spec.modelname = robot.name
    spec.compiler.degree = False
    spec.compiler.alignfree = False  # the body frame is ours, not that of the principal axes
    spec.option.gravity = robot.gravity.copy()
    spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    spec.memory = ARENA
    centre, axes, moments = GENERIC
    bodies: list[Any] = []
    for i, parent in enumerate(robot.parent):
        carrier = bodies[parent] if parent >= 0 else spec.worldbody
        turn = quaternion.from_matrix(robot.rotation[i])
        body = carrier.add_body(name=f"body{i}", pos=robot.translation[i].copy(), quat=np.roll(turn, 1))
        body.mass, body.ipos, body.iquat, body.inertia, body.explicitinertial = 1.0, centre, axes, moments, True
        bodies.append(body)
        add_joints(mujoco, robot, i, body)
    model = spec.compile()
    order = order_of(model, robot)
    model.dof_armature[:] = robot.extras.armature[order.v]
    model.dof_damping[:] = robot.extras.damping[order.v]
    set_inertias(mujoco, model, robot, order.body)
    return model, order


def add_joints(mujoco: Any, robot: Robot, i: int, body: Any) -> None:
    """Add the joint of body i, or the four that replace a free joint that is not on the world at its origin."""
    kinds = mujoco.mjtJoint
    kind = robot.kind[i]
    if kind in (JointKind.REVOLUTE, JointKind.PRISMATIC):
        one = kinds.mjJNT_HINGE if kind == JointKind.REVOLUTE else kinds.mjJNT_SLIDE
        body.add_joint(name=f"joint{i}", type=one, axis=robot.axis[i].copy())
    elif kind == JointKind.SPHERICAL:
        body.add_joint(name=f"joint{i}", type=kinds.mjJNT_BALL)
    elif robot.parent[i] < 0 and np.array_equal(robot.rotation[i], np.eye(3)) and not robot.translation[i].any():
        body.add_joint(name=f"joint{i}", type=kinds.mjJNT_FREE, align=mujoco.mjtAlignFree.mjALIGNFREE_FALSE)
    else:
        for k, axis in enumerate(np.eye(3)):
            body.add_joint(name=f"joint{i}" if k == 0 else f"joint{i}-{k}", type=kinds.mjJNT_SLIDE, axis=axis)
        body.add_joint(name=f"joint{i}-3", type=kinds.mjJNT_BALL)


def order_of(model: Any, robot: Robot) -> Order:
    """Return the order. A body's coordinates are consecutive in both; only the order within a quaternion differs."""
    q, v = np.empty(robot.nq, dtype=np.int64), np.empty(robot.nv, dtype=np.int64)
    for i, kind in enumerate(robot.kind):
        joint = model.joint(f"joint{i}")
        here = np.arange(robot.iq[i], robot.iq[i] + NQ[kind])
        if kind in (JointKind.SPHERICAL, JointKind.FREE):
            here[-4:] = np.roll(here[-4:], -SHIFT)
        q[joint.qposadr[0] + np.arange(len(here))] = here
        v[joint.dofadr[0] + np.arange(NV[kind])] = robot.iv[i] + np.arange(NV[kind])
    return Order(q, v, np.array([model.body(f"body{i}").id for i in range(robot.n)]))


def set_inertias(mujoco: Any, model: Any, robot: Robot, body: IntArray) -> None:
    """Set the robot's masses, centres of mass, and inertias in principal axes."""
    for i, b in enumerate(body):
        moments, axes = np.linalg.eigh(robot.inertia[i])
        axes[:, 2] *= np.sign(np.linalg.det(axes))  # a rotation, not a reflection
        model.body_mass[b], model.body_ipos[b], model.body_inertia[b] = robot.mass[i], robot.com[i], moments
        model.body_iquat[b] = np.roll(quaternion.from_matrix(axes), 1)
    mujoco.mj_setConst(model, mujoco.MjData(model))


Turns = list[tuple[FloatArray, int]]  # the rotation of every free joint, and its first index in v


class Workspace(threading.local):
    """MuJoCo's mutable data, one per thread."""

    def __init__(self, mujoco: Any, model: Any) -> None:
        self.data = mujoco.MjData(model)
        self.forces = np.zeros(model.nv)
        self.mass = np.zeros((model.nv, model.nv))


class Engine:
    """Functions of one state, in our coordinates."""

    def __init__(self, mujoco: Any, robot: Robot, model: Any, order: Order) -> None:
        self.mujoco = mujoco
        self.model = model
        self.order = order
        self.back = np.argsort(order.v)  # ours = theirs[back]
        self.work = Workspace(mujoco, model)
        free = np.flatnonzero(robot.kind == JointKind.FREE)
        self.free = [(int(robot.iq[i]) + 3, int(robot.iv[i])) for i in free]  # first index of the quaternion, of v

    def inverse_dynamics(self, q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None) -> FloatArray:
        data, turns = self._place(q, v)
        data.qacc[:] = self._accelerations(turns, v, a)[self.order.v]
        self.mujoco.mj_inverse(self.model, data)
        tau = data.qfrc_inverse if wrench is None else data.qfrc_inverse - self._pushed(wrench)
        return self._turned(turns, tau[self.back], back=True)

    def forward_dynamics(self, q: FloatArray, v: FloatArray, tau: FloatArray, wrench: FloatArray | None) -> FloatArray:
        data, turns = self._place(q, v)
        forces = self._turned(turns, tau.copy())[self.order.v]
        if wrench is not None:
            self._kinematics()
            forces = forces + self._pushed(wrench)
        data.qfrc_applied[:] = forces
        self.mujoco.mj_forward(self.model, data)
        a = self._turned(turns, data.qacc[self.back], back=True)
        for _, at in turns:
            a[at : at + 3] -= cross(v[at + 3 : at + 6], v[at : at + 3])
        return a

    def mass_matrix(self, q: FloatArray) -> FloatArray:
        data, turns = self._place(q, None)
        self._kinematics()
        self.mujoco.mj_crb(self.model, data)
        self.mujoco.mj_fullM(self.model, data, self.work.mass)
        M = self.work.mass[np.ix_(self.back, self.back)]
        for R, at in turns:
            M[at : at + 3] = R.T @ M[at : at + 3]
            M[:, at : at + 3] = M[:, at : at + 3] @ R
        return M

    def bias(self, q: FloatArray, v: FloatArray, wrench: FloatArray | None) -> FloatArray:
        return self.inverse_dynamics(q, v, np.zeros(len(v)), wrench)

    def theirs(
        self, q: FloatArray, v: FloatArray | None = None, a: FloatArray | None = None, tau: FloatArray | None = None
    ) -> list[FloatArray]:
        """Return those of q, v, a, tau that are given in MuJoCo's coordinates; ``a`` requires ``v``."""
        turns = self._turns(q)
        found = [q[self.order.q]]
        if v is not None:
            found.append(self._turned(turns, v.copy())[self.order.v])
            if a is not None:
                found.append(self._accelerations(turns, v, a)[self.order.v])
        if tau is not None:
            found.append(self._turned(turns, tau.copy())[self.order.v])
        return found

    def own_names(self, quantity: str, inputs: Sequence[FloatArray], threads: int | None) -> dict[str, Any]:
        """What the names in `MuJoCo.own_calls` stand for."""
        mass = np.zeros((self.model.nv, self.model.nv))
        names = {"mujoco": self.mujoco, "model": self.model, "data": self.mujoco.MjData(self.model), "M": mass}
        return {**names, **converted(self.theirs, quantity, inputs)}

    def _turns(self, q: FloatArray) -> Turns:
        return [(quaternion.matrix(q[start : start + 4]), at) for start, at in self.free]

    def _place(self, q: FloatArray, v: FloatArray | None) -> tuple[Any, Turns]:
        """Set the state of this thread's data; return it and the rotations of the free joints."""
        turns, data = self._turns(q), self.work.data
        data.qpos[:] = q[self.order.q]
        if v is not None:
            data.qvel[:] = self._turned(turns, v.copy())[self.order.v]
        return data, turns

    def _turned(self, turns: Turns, x: FloatArray, back: bool = False) -> FloatArray:
        """Rotate the linear parts of free joints from body to parent axes, or back; changes and returns ``x``."""
        for R, at in turns:
            x[at : at + 3] = (R.T if back else R) @ x[at : at + 3]
        return x

    def _accelerations(self, turns: Turns, v: FloatArray, a: FloatArray) -> FloatArray:
        a = a.copy()
        for _, at in turns:
            a[at : at + 3] += cross(v[at + 3 : at + 6], v[at : at + 3])
        return self._turned(turns, a)

    def _kinematics(self) -> None:
        self.mujoco.mj_kinematics(self.model, self.work.data)
        self.mujoco.mj_comPos(self.model, self.work.data)

    def _pushed(self, wrench: FloatArray) -> FloatArray:
        """Return the generalized forces of external wrenches; the body poses must be up to date."""
        data, forces = self.work.data, self.work.forces
        forces[:] = 0.0
        for b, x in zip(self.order.body, wrench, strict=True):
            R = data.xmat[b].reshape(3, 3)
            self.mujoco.mj_applyFT(self.model, data, R @ x[:3], R @ x[3:], data.xpos[b], int(b), forces)
        return forces


def cross(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the cross product of two vectors; np.cross takes 15 us for it."""
    return np.array([x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]])
