"""Drake as a method: an independent engine with other conventions.

R. Tedrake and the Drake Development Team, "Drake: Model-based design and verification for robotics", 2019,
https://drake.mit.edu. Its conventions differ from those of `dynbench.robots.robot`; R is the rotation of a spherical or
free joint:

    quaternions   Drake: w x y z, before the position; here x y z w, after the position
    ball joints   Drake: roll, pitch, yaw; angular velocity in the parent's axes, R w
    free joints   Drake: angular before linear velocity, both in the parent's axes, R w, R v. So accelerations are R a
                  (angular) and R (a + w x v) (linear), forces R tau
    joints        Drake: numbered depth first

The plant is continuous (time step 0): forward dynamics is its articulated body algorithm, read from the output port of
generalized accelerations. Drake's time derivatives would give the same accelerations, but they include the rates of
roll, pitch and yaw, which are singular at a pitch of 90 degrees. There is no geometry, contact, damping or actuator.

Closed loops: Drake's own constraints (`AddBallConstraint`) are for discrete plants alone, whose steps satisfy them at
the level of velocities, with compliance; a continuous plant refuses them. So with loops Drake gives the tree, and the
Jacobian and the bias acceleration of every closed point (`CalcJacobianTranslationalVelocity`,
`CalcBiasTranslationalAcceleration`); they are put together in `dynbench.methods.peers.dense_loops`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dynbench.methods.base import Method, Solver
from dynbench.methods.function_solver import function_solver
from dynbench.methods.own_calls import NULL_CALL, converted
from dynbench.methods.peers.dense_loops import DenseLoops, refused
from dynbench.robots import quaternion
from dynbench.robots.joints import NV, JointKind
from dynbench.robots.robot import FloatArray, IntArray, Robot

LIGHTEST = 1e-30  # kg; Drake stores inertia divided by mass, and a body here may have inertia without mass


class Drake(Method):
    """Inverse dynamics, articulated bodies and composite inertias of Drake's MultibodyPlant, one state at a time."""

    name: ClassVar[str] = "drake"
    title: ClassVar[str] = "Drake (RNEA, ABA, CRBA in C++)"
    reference: ClassVar[str] = "Tedrake et al., Drake: Model-based design and verification for robotics, 2019"
    computes: ClassVar[tuple[str, ...]] = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias")
    cost: ClassVar[str] = "O(n)"
    requires: ClassVar[tuple[str, ...]] = ("pydrake",)
    loops: ClassVar[bool] = True
    extras: ClassVar[bool] = True  # added to its results
    own_calls: ClassVar[Mapping[tuple[str, str], str]] = {
        ("inverse_dynamics", "single"): (
            "plant.SetPositions(context, q)\nplant.SetVelocities(context, v)\n"
            "plant.CalcForceElementsContribution(context, forces)\nplant.CalcInverseDynamics(context, a, forces)"
        ),
        ("forward_dynamics", "single"): (
            "plant.SetPositions(context, q)\nplant.SetVelocities(context, v)\n"
            "applied.FixValue(context, tau)\naccelerations.Eval(context)"
        ),
        ("mass_matrix", "single"): "plant.SetPositions(context, q)\nplant.CalcMassMatrix(context)",
        ("bias", "single"): (
            "plant.SetPositions(context, q)\nplant.SetVelocities(context, v)\n"
            "plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)"
        ),
        NULL_CALL: "plant.num_positions()",
    }

    def supports(self, robot: Robot) -> str | None:
        return super().supports(robot) or (None if robot.is_tree else refused(robot))

    def own_calls_on(self, robot: Robot) -> Mapping[tuple[str, str], str]:
        """With loops nothing is a single call of Drake."""
        return self.own_calls if robot.is_tree else {NULL_CALL: self.own_calls[NULL_CALL]}

    def prepare(self, robot: Robot) -> Solver:
        self.require(robot)
        engine = Engine(robot, *convert(robot))
        given = engine if robot.is_tree else DenseLoops(robot, engine, engine.closures)
        functions = {name: getattr(given, name) for name in self.computes}
        return function_solver(self, robot, functions, engine.plant, own_names=engine.own_names)


class Order(NamedTuple):
    """Drake's indices of our coordinates; m joints have a quaternion, f of them are free."""

    q: IntArray  # our indices of the joints with one coordinate
    q_there: IntArray  # and Drake's
    v: IntArray  # (nv,) for each of our velocities, Drake's index
    turn: IntArray  # (m, 4) our indices of quaternions
    turn_there: list[tuple[int, bool]]  # of each: Drake's first index of its coordinates, whether the joint is free
    vector: IntArray  # (m + f, 3) our indices of velocities in child axes, which Drake has in the parent's
    turned_by: IntArray  # (m + f,) index of the quaternion that rotates each


def convert(robot: Robot) -> tuple[Any, list[Any], Order]:
    """Return the robot as a MultibodyPlant, its bodies in our order, and the order of its coordinates."""
    tree, math = import_module("pydrake.multibody.tree"), import_module("pydrake.math")
    plant = import_module("pydrake.multibody.plant").MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(robot.gravity.copy())
    bodies: list[Any] = []
    joints: list[Any] = []
    for i, parent in enumerate(robot.parent):
        carrier = bodies[parent] if parent >= 0 else plant.world_body()
        bodies.append(plant.AddRigidBody(f"body{i}", spatial_inertia(tree, robot, i)))
        placement = math.RigidTransform(math.RotationMatrix(robot.rotation[i].copy()), robot.translation[i].copy())
        frame = plant.AddFrame(tree.FixedOffsetFrame(f"frame{i}", carrier.body_frame(), placement))
        joints.append(plant.AddJoint(joint(tree, robot, i, frame, bodies[i].body_frame())))
    plant.Finalize()
    return plant, bodies, order_of(robot, joints)


def spatial_inertia(tree: Any, robot: Robot, i: int) -> Any:
    """Return the inertia of body i about its frame origin; unchecked, since Drake rejects massless bodies."""
    mass, c = max(float(robot.mass[i]), LIGHTEST), robot.com[i]
    unit = robot.inertia[i] / mass + (c @ c) * np.eye(3) - np.outer(c, c)
    moments = (unit[row, column] for row, column in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    return tree.SpatialInertia(mass, c.copy(), tree.UnitInertia(*moments), skip_validity_check=True)


def joint(tree: Any, robot: Robot, i: int, parent: Any, child: Any) -> Any:
    """Return Drake's joint for one of ours."""
    name, kind = f"joint{i}", robot.kind[i]
    if kind == JointKind.SPHERICAL:
        return tree.BallRpyJoint(name, parent, child)
    if kind == JointKind.FREE:
        return tree.QuaternionFloatingJoint(name, parent, child)
    one = tree.RevoluteJoint if kind == JointKind.REVOLUTE else tree.PrismaticJoint
    return one(name, parent, child, robot.axis[i].copy())


def order_of(robot: Robot, joints: list[Any]) -> Order:
    """Return the indices of each joint's coordinates, read from the finalized plant."""
    single = np.flatnonzero(robot.kind < JointKind.SPHERICAL)
    v = np.empty(robot.nv, dtype=np.int64)
    turn: list[int] = []
    there, vector, turned_by = [], [], []
    for i, made in enumerate(joints):
        at, free = int(robot.iv[i]), bool(robot.kind[i] == JointKind.FREE)
        places = made.velocity_start() + np.arange(NV[robot.kind[i]])
        v[at : at + len(places)] = np.roll(places, 3) if free else places  # linear and angular are swapped
        if len(places) > 1:
            vector += [at, at + 3] if free else [at]
            turned_by += [len(turn)] * (len(places) // 3)
            turn.append(int(robot.iq[i]) + 3 * free)
            there.append((made.position_start(), free))
    return Order(
        robot.iq[single],
        np.array([joints[i].position_start() for i in single], dtype=np.int64),
        v,
        _runs(turn, 4),
        there,
        _runs(vector, 3),
        np.array(turned_by, dtype=np.int64),
    )


def _runs(starts: list[int], length: int) -> IntArray:
    return np.array(starts, dtype=np.int64)[:, None] + np.arange(length)


class Workspace(threading.local):
    """Drake's mutable data, one per thread."""

    def __init__(self, plant: Any) -> None:
        self.context = plant.CreateDefaultContext()
        self.forces = import_module("pydrake.multibody.tree").MultibodyForces(plant)


class Engine:
    """Functions of one state, in our coordinates."""

    def __init__(self, robot: Robot, plant: Any, bodies: list[Any], order: Order) -> None:
        self.robot = robot
        self.plant = plant
        self.bodies = bodies
        self.order = order
        self.nq = plant.num_positions()
        free = robot.iv[robot.kind == JointKind.FREE].tolist()
        self.linear, self.angular = _runs(free, 3), _runs([at + 3 for at in free], 3)
        self.work = Workspace(plant)
        self.angles = import_module("pydrake.math").RollPitchYaw
        self.quaternion = import_module("pydrake.common.eigen_geometry").Quaternion
        self.wrench = import_module("pydrake.multibody.math").SpatialForce
        self.pushed = plant.get_applied_generalized_force_input_port()
        self.accelerations = plant.get_generalized_acceleration_output_port()

    def inverse_dynamics(self, q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None) -> FloatArray:
        context, R = self._place(q, v)
        forces = self.work.forces
        self.plant.CalcForceElementsContribution(context, forces)  # the weight; overwrites previous values
        if wrench is not None:
            self._push(context, wrench)
        tau = self.plant.CalcInverseDynamics(context, self._theirs(R, a, v), forces)
        return self._ours(R, tau)

    def forward_dynamics(self, q: FloatArray, v: FloatArray, tau: FloatArray, wrench: FloatArray | None) -> FloatArray:
        context, R = self._place(q, v)
        forces = self._theirs(R, tau)
        if wrench is not None:
            self.work.forces.SetZero()
            self._push(context, wrench)
            forces += self.plant.CalcGeneralizedForces(context, self.work.forces)
        self.pushed.FixValue(context, forces)
        return self._ours(R, self.accelerations.Eval(context), v)

    def mass_matrix(self, q: FloatArray) -> FloatArray:
        context, R = self._place(q, None)
        turn = self._turn(R)
        return turn.T @ self.plant.CalcMassMatrix(context) @ turn  # type: ignore[no-any-return]

    def bias(self, q: FloatArray, v: FloatArray, wrench: FloatArray | None) -> FloatArray:
        return self.inverse_dynamics(q, v, np.zeros(len(v)), wrench)

    def closures(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return A (m, nv) and rate (m,) of the closed components of points that meet: c'' = A a + rate."""
        context, R = self._place(q, v)
        loops = self.robot.loops
        rows, rates = [], []
        for k, closed in enumerate(np.asarray(loops.rows)):
            body = self._body(loops.body1[k])
            axes = body.EvalPoseInWorld(context).rotation().matrix() @ loops.rotation1[k]
            (A1, b1), (A2, b2) = (
                self._point(context, self._body(one), p)
                for one, p in ((loops.body1[k], loops.translation1[k]), (loops.body2[k], loops.translation2[k]))
            )
            kept = axes[:, np.flatnonzero(closed[:3])].T
            rows.append(kept @ (A2 - A1))
            rates.append(kept @ (b2 - b1))
        A = np.concatenate(rows)
        return A @ self._turn(R), np.concatenate(rates) + A @ self._theirs(R, np.zeros(self.robot.nv), v)

    def theirs(
        self, q: FloatArray, v: FloatArray | None = None, a: FloatArray | None = None, tau: FloatArray | None = None
    ) -> list[FloatArray]:
        """Return those of q, v, a, tau that are given in Drake's coordinates; ``a`` requires ``v``."""
        positions, R = self._positions(q)
        found = [positions]
        if v is not None:
            found.append(self._theirs(R, v))
            if a is not None:
                found.append(self._theirs(R, a, v))
        if tau is not None:
            found.append(self._theirs(R, tau))
        return found

    def own_names(self, quantity: str, inputs: Sequence[FloatArray], threads: int | None) -> dict[str, Any]:
        """What the names in `Drake.own_calls` stand for; `applied` and `accelerations` are ports of the plant."""
        names = {
            "plant": self.plant,
            "context": self.work.context,
            "forces": self.work.forces,
            "applied": self.pushed,
            "accelerations": self.accelerations,
        }
        return {**names, **converted(self.theirs, quantity, inputs)}

    def _place(self, q: FloatArray, v: FloatArray | None) -> tuple[Any, FloatArray]:
        """Set the state of this thread's context; return it and the rotations (m, 3, 3) of joints with a quaternion."""
        context = self.work.context
        positions, R = self._positions(q)
        self.plant.SetPositions(context, positions)
        if v is not None:
            self.plant.SetVelocities(context, self._theirs(R, v))
        return context, R

    def _positions(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        there, turns = np.empty(self.nq), q[self.order.turn]
        there[self.order.q_there] = q[self.order.q]
        for (x, y, z, w), start, (at, free) in zip(turns, self.order.turn[:, 0], self.order.turn_there, strict=True):
            if free:
                there[at : at + 4], there[at + 4 : at + 7] = (w, x, y, z), q[start - 3 : start]
            else:
                there[at : at + 3] = self.angles(self.quaternion(w, x, y, z)).vector()
        return there, quaternion.matrix(turns)

    def _theirs(self, R: FloatArray, x: FloatArray, v: FloatArray | None = None) -> FloatArray:
        """Return velocities or forces in Drake's order and axes; accelerations if the velocity ``v`` is given."""
        x, vector = x.copy(), self.order.vector
        if v is not None and len(self.linear):
            x[self.linear] += _cross(v[self.angular], v[self.linear])
        if len(vector):
            x[vector] = (R[self.order.turned_by] @ x[vector][:, :, None])[:, :, 0]
        there = np.empty(len(x))
        there[self.order.v] = x
        return there

    def _ours(self, R: FloatArray, there: FloatArray, v: FloatArray | None = None) -> FloatArray:
        """Return the inverse of `_theirs`."""
        x, vector = there[self.order.v], self.order.vector
        if len(vector):
            x[vector] = (x[vector][:, None, :] @ R[self.order.turned_by])[:, 0]
        if v is not None and len(self.linear):
            x[self.linear] -= _cross(v[self.angular], v[self.linear])
        return x

    def _turn(self, R: FloatArray) -> FloatArray:
        """Return the matrix (nv, nv) that takes our velocities to Drake's."""
        turn, at = np.eye(self.robot.nv), self.order.vector
        turn[at[:, :, None], at[:, None, :]] = R[self.order.turned_by]
        there = np.empty_like(turn)
        there[self.order.v] = turn
        return there

    def _body(self, number: int) -> Any:
        return self.bodies[number] if number >= 0 else self.plant.world_body()

    def _point(self, context: Any, body: Any, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the Jacobian (3, nv) and the bias acceleration (3,) of a point of a body, world axes."""
        world, speeds = self.plant.world_frame(), import_module("pydrake.multibody.tree").JacobianWrtVariable.kV
        given = (context, speeds, body.body_frame(), p.copy(), world, world)
        bias = self.plant.CalcBiasTranslationalAcceleration(*given)
        return self.plant.CalcJacobianTranslationalVelocity(*given), np.ravel(bias)

    def _push(self, context: Any, wrench: FloatArray) -> None:
        """Add external wrenches, at the body frames' origins in body axes, to this thread's forces."""
        for body, x in zip(self.bodies, wrench, strict=True):
            body.AddInForce(context, np.zeros(3), self.wrench(x[3:], x[:3]), body.body_frame(), self.work.forces)


def _cross(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the cross products of rows; np.cross takes a third of the time of an evaluation."""
    return x[:, [1, 2, 0]] * y[:, [2, 0, 1]] - x[:, [2, 0, 1]] * y[:, [1, 2, 0]]
