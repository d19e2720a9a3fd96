"""Pinocchio on robots with point closures: its tree, its constraint Jacobian, its constrained forward dynamics.

The route a Python user of that engine has: inverse dynamics is the tree's RNEA balanced by actuators and closure
forces, [S^T A^T] [tau; lambda] = rnea(q, v, a), a dense solve in numpy; forward dynamics is `pin.constraintDynamics`.
An independent judge of our loops, and the yardstick of their speed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dynbench.robots.errors import UnsupportedError
from dynbench.robots.robot import FloatArray, Robot

BALL = (1, 1, 1, 0, 0, 0)  # a closure in space; one in the plane leaves out the third


class PinocchioLoops:
    """A looped robot in Pinocchio, its closures points that meet in space or in a plane.

    Forward dynamics is for closures in space: Pinocchio holds all three components of a point, and in the plane the
    third says nothing. Raises ImportError without the engine.
    """

    def __init__(self, robot: Robot) -> None:
        import pinocchio as pin

        from dynbench.methods.peers.pinocchio import convert

        loops = robot.loops
        if robot.has_couplings:
            raise UnsupportedError(f"robot {robot.name!r} has joints that follow others, expected closed loops alone")
        if np.asarray(loops.rows)[:, 3:].any():
            raise UnsupportedError(f"robot {robot.name!r} has closures that hold angles, wanted points that meet")
        self.kept = np.flatnonzero(np.asarray(loops.rows)[:, :3])
        self.pin = pin
        self.robot = robot
        self.model, self.order = convert(pin, robot)
        self.data = self.model.createData()
        self.closures = pin.StdVec_RigidConstraintModel()
        self.closure_data = pin.StdVec_RigidConstraintData()
        for k in range(len(loops.body1)):
            ends: list[Any] = []
            for body, R, p in (
                (loops.body1[k], loops.rotation1[k], loops.translation1[k]),
                (loops.body2[k], loops.rotation2[k], loops.translation2[k]),
            ):
                ends += [int(self.order.joint[body]) if body >= 0 else 0, pin.SE3(R.copy(), p.copy())]
            closure = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model, *ends, pin.ReferenceFrame.LOCAL)
            self.closures.append(closure)
            self.closure_data.append(closure.createData())
        back = np.argsort(self.order.v)  # ours = theirs[back]
        self.actuated = back[robot.actuated]
        self.back = back
        # version 4 wants the closures' data too, and has them placed by hand; version 3 does not
        self.calc = int(pin.__version__.split(".")[0]) >= 4
        data = (self.closure_data,) if self.calc else ()
        pin.initConstraintDynamics(self.model, self.data, self.closures, *data)

    def jacobian(self, q: FloatArray) -> FloatArray:
        """Return the closures' Jacobian; q in Pinocchio's order."""
        pin = self.pin
        pin.computeJointJacobians(self.model, self.data, q)
        if self.calc:
            for closure, data in zip(self.closures, self.closure_data, strict=True):
                closure.calc(self.model, self.data, data)
        whole = pin.getConstraintsJacobian(self.model, self.data, self.closures, self.closure_data)
        return np.asarray(whole[self.kept])

    def inverse_dynamics(self, q: FloatArray, v: FloatArray, a: FloatArray) -> FloatArray:
        """Return the actuator forces of one state."""
        pin, order = self.pin, self.order
        q, v, a = q[order.q], v[order.v], a[order.v]
        needed = pin.rnea(self.model, self.data, q, v, a)
        A = self.jacobian(q)
        nv, count = len(needed), len(self.actuated)
        balance = np.zeros((nv, count + len(A)))
        balance[self.actuated, np.arange(count)] = 1.0
        balance[:, count:] = A.T
        return np.asarray(np.linalg.solve(balance, needed)[:count])

    def forward_dynamics(self, q: FloatArray, v: FloatArray, tau: FloatArray) -> FloatArray:
        """Return the tree's accelerations of one state."""
        if len(self.kept) < 3 * len(self.closures):
            raise UnsupportedError(f"robot {self.robot.name!r} has closures in a plane, wanted {BALL}")
        full = np.zeros(self.model.nv)
        full[self.actuated] = tau
        a = self.pin.constraintDynamics(
            self.model, self.data, q[self.order.q], v[self.order.v], full, self.closures, self.closure_data
        )
        return np.asarray(a)[self.back]

    def mass_matrix(self, q: FloatArray) -> FloatArray:
        """Return the inertia that the actuators feel, W^T M W with A W = 0 and unit actuated rows."""
        pin = self.pin
        theirs = q[self.order.q]
        M = pin.crba(self.model, self.data, theirs).copy()
        M = np.triu(M) + np.triu(M, 1).T
        A = self.jacobian(theirs)
        rest = np.setdiff1d(np.arange(self.model.nv), self.actuated)
        W = np.zeros((self.model.nv, len(self.actuated)))
        W[self.actuated] = np.eye(len(self.actuated))
        W[rest] = -np.linalg.solve(A[:, rest], A[:, self.actuated])
        return np.asarray(W.T @ M @ W)
