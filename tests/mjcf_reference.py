"""MuJoCo's own numbers of an MJCF file, in the coordinates of the robot that was read from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynbench.methods.peers.mujoco import SHIFT, Engine, Order
from dynbench.robots.joints import NQ, NV, JointKind
from dynbench.robots.robot import FloatArray, Robot


class Reference:
    """Inverse dynamics and mass matrix of a compiled file, without contacts, limits, springs and friction."""

    def __init__(self, path: str, robot: Robot) -> None:
        import mujoco

        model = mujoco.MjModel.from_xml_path(path)
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
        model.opt.density = model.opt.viscosity = 0.0
        model.jnt_stiffness[:] = 0.0
        model.body_gravcomp[:] = 0.0
        model.dof_frictionloss[:] = 0.0
        if hasattr(model, "tendon_stiffness"):
            model.tendon_stiffness[:] = model.tendon_damping[:] = 0.0
            if hasattr(model, "tendon_armature"):
                model.tendon_armature[:] = 0.0
        for j in range(model.njnt):  # what a free joint cannot have here
            if model.jnt_type[j] == 0:
                at = model.jnt_dofadr[j]
                model.dof_armature[at : at + 6] = model.dof_damping[at : at + 6] = 0.0
        mujoco.mj_setConst(model, mujoco.MjData(model))  # it keeps the inertia of bodies alone in the world
        self.model, self.robot = model, robot
        order = _order(model, robot)
        self.engine = Engine(mujoco, robot, model, order)
        self.shift = np.zeros(robot.nq)
        for i, kind in enumerate(robot.kind):
            if kind in (JointKind.REVOLUTE, JointKind.PRISMATIC):
                j = _joint(model, robot, i)
                self.shift[robot.iq[i]] = model.qpos0[model.jnt_qposadr[j]]

    def inverse_dynamics(self, q: FloatArray, v: FloatArray, a: FloatArray) -> FloatArray:
        friction = self.robot.extras.friction * np.sign(v)
        return self.engine.inverse_dynamics(q + self.shift, v, a, None) + friction

    def mass_matrix(self, q: FloatArray) -> FloatArray:
        return self.engine.mass_matrix(q + self.shift)

    @property
    def mass(self) -> float:
        """Of the bodies that a joint moves."""
        return float(self.model.body_mass[self.model.body_jntnum[self.model.body_weldid] > 0].sum())


def _joint(model: Any, robot: Robot, i: int) -> int:
    """Return the number of the joint of body i: both are in the order of the file."""
    assert model.njnt == robot.n
    return i


def _order(model: Any, robot: Robot) -> Order:
    q, v = np.empty(robot.nq, dtype=np.int64), np.empty(robot.nv, dtype=np.int64)
    for i, kind in enumerate(robot.kind):
        j = _joint(model, robot, i)
        here = np.arange(robot.iq[i], robot.iq[i] + NQ[kind])
        if kind in (JointKind.SPHERICAL, JointKind.FREE):
            here[-4:] = np.roll(here[-4:], -SHIFT)
        q[model.jnt_qposadr[j] + np.arange(len(here))] = here
        v[model.jnt_dofadr[j] + np.arange(NV[kind])] = robot.iv[i] + np.arange(NV[kind])
    return Order(q, v, np.zeros(robot.n, dtype=np.int64))
