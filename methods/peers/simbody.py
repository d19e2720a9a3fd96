"""Simbody as a method, through OpenSim: an independent engine for trees and for closed loops.

M. A. Sherman, A. Seth, S. L. Delp, "Simbody: multibody dynamics for biomedical research", Procedia IUTAM 2, 2011;
A. Seth et al., "OpenSim", PLoS Computational Biology 14, 2018. Its conventions differ from those of
`dynbench.robots.robot`; R is the rotation of a spherical or free joint:

    joints          Simbody: a hinge turns about z, a slide moves along x of its joint frames, which are rotated here
    ball joints     Simbody: three angles; angular velocity in the parent's axes, R w
    free joints     Simbody: angles, then position; R w, then R v. So accelerations are R a (angular) and R (a + w x v)
                    (linear), forces R tau
    coordinates     Simbody: numbered level by level

Closed loops are point constraints of Simbody (closures that hold angles are not supported). Its forward dynamics gives
the accelerations that satisfy them (`calcAcceleration`). It has no inverse dynamics with loops: its residual forces of
the tree and its constraint matrix G are put together in `dynbench.methods.peers.dense_loops`. A closure in a plane
becomes a point in space, whose third component is redundant; Simbody solves by least squares, and so does that module.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from dynbench.methods.base import Method, Solver
from dynbench.methods.environment import kept_environment
from dynbench.methods.function_solver import function_solver
from dynbench.methods.own_calls import NULL_CALL, converted
from dynbench.methods.peers.dense_loops import DenseLoops, refused
from dynbench.robots import quaternion
from dynbench.robots.joints import NV, JointKind
from dynbench.robots.robot import FloatArray, IntArray, Robot

LIGHTEST = 1e-30  # kg; Simbody divides inertia by mass, and OpenSim's search of the tree stops at massless bodies
PATHS = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
STATE = "state.setQ(q)\nstate.setU(v)"


class Simbody(Method):
    """Residual forces, accelerations and mass matrix of Simbody's matter subsystem, one state at a time."""

    name: ClassVar[str] = "simbody"
    title: ClassVar[str] = "Simbody (through OpenSim)"
    reference: ClassVar[str] = "Sherman, Seth, Delp, Simbody, Procedia IUTAM 2, 2011; OpenSim 4.6"
    computes: ClassVar[tuple[str, ...]] = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias")
    cost: ClassVar[str] = "O(n)"
    requires: ClassVar[tuple[str, ...]] = ("opensim",)
    loops: ClassVar[bool] = True
    extras: ClassVar[bool] = True  # added to its results
    # tau of forward dynamics is (mobility forces, weights of the bodies); vectors are SimTK::Vector
    own_calls: ClassVar[Mapping[tuple[str, str], str]] = {
        ("inverse_dynamics", "single"): f"{STATE}\ninverse.solve(state, a).to_numpy()",
        ("forward_dynamics", "single"): (
            f"{STATE}\nmodel.realizeDynamics(state)\n"
            "matter.calcAcceleration(state, *tau, found, rates)\nfound.to_numpy()"
        ),
        ("mass_matrix", "single"): (
            "state.setQ(q)\nmodel.realizePosition(state)\nmatter.calcM(state, M)\nM.to_numpy()"
        ),
        ("bias", "single"): f"{STATE}\ninverse.solve(state, still).to_numpy()",
        NULL_CALL: "state.getNQ()",
    }

    def supports(self, robot: Robot) -> str | None:
        return super().supports(robot) or (None if robot.is_tree else refused(robot))

    def own_calls_on(self, robot: Robot) -> Mapping[tuple[str, str], str]:
        """With loops only forward dynamics is a call of Simbody."""
        if robot.is_tree:
            return self.own_calls
        return {key: self.own_calls[key] for key in (("forward_dynamics", "single"), NULL_CALL)}

    def prepare(self, robot: Robot) -> Solver:
        self.require(robot)
        engine = Engine(loaded(), robot)
        functions = {name: getattr(engine, name) for name in self.computes}
        if not robot.is_tree:
            loops = DenseLoops(robot, engine, engine.closures)
            functions |= {name: getattr(loops, name) for name in ("inverse_dynamics", "mass_matrix", "bias")}
        return function_solver(self, robot, functions, engine.work.model, own_names=engine.own_names)


def loaded() -> Any:
    """Import OpenSim without the search paths that it sets for all later processes: its libraries are not for them."""
    with kept_environment(PATHS):
        return import_module("opensim")


def convert(opensim: Any, robot: Robot) -> tuple[Any, list[Any], list[Any]]:
    """Return the robot as an OpenSim model, not yet initialized, and its bodies and joints in our order."""
    model = opensim.Model()
    model.setName(robot.name)
    model.setGravity(_vec(opensim, robot.gravity))
    bodies: list[Any] = []
    joints: list[Any] = []
    for i, parent in enumerate(robot.parent):
        J = robot.inertia[i]
        moments = [float(J[r, c]) for r, c in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        mass = max(float(robot.mass[i]), LIGHTEST)
        body = opensim.Body(f"body{i}", mass, _vec(opensim, robot.com[i]), opensim.Inertia(*moments))
        model.addBody(body)
        carrier = bodies[parent] if parent >= 0 else model.getGround()
        bodies.append(body)
        joints.append(joint(opensim, robot, i, carrier, body))
        model.addJoint(joints[-1])
    loops = robot.loops
    for k in range(0 if robot.is_tree else len(loops.body1)):
        ends: list[Any] = []
        for b, p in ((loops.body1[k], loops.translation1[k]), (loops.body2[k], loops.translation2[k])):
            ends += [bodies[b] if b >= 0 else model.getGround(), _vec(opensim, p)]
        model.addConstraint(opensim.PointConstraint(*ends))
    return model, bodies, joints


def joint(opensim: Any, robot: Robot, i: int, carrier: Any, body: Any) -> Any:
    """Return OpenSim's joint for one of ours; its default position is the robot's home, where loops are closed."""
    kind = robot.kind[i]
    names = {
        JointKind.REVOLUTE: "PinJoint",
        JointKind.PRISMATIC: "SliderJoint",
        JointKind.SPHERICAL: "BallJoint",
        JointKind.FREE: "FreeJoint",
    }
    turn = np.eye(3)
    if kind in (JointKind.REVOLUTE, JointKind.PRISMATIC):
        turn = frame_about(robot.axis[i], 2 if kind == JointKind.REVOLUTE else 0)
    ends = (carrier, robot.translation[i], robot.rotation[i] @ turn), (body, np.zeros(3), turn)
    given = [x for frame, p, R in ends for x in (frame, _vec(opensim, p), _vec(opensim, angles(R)))]
    made = getattr(opensim, names[JointKind(kind)])(f"joint{i}", *given)
    for k, value in enumerate(positions(robot, i, robot.home)):
        made.upd_coordinates(k).setDefaultValue(float(value))
    return made


def frame_about(axis: FloatArray, column: int) -> FloatArray:
    """Return a rotation with the axis in the given column."""
    x = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    x /= np.linalg.norm(x)
    return np.roll(np.column_stack([x, np.cross(axis, x), axis]), column - 2, axis=1)


def angles(R: FloatArray) -> FloatArray:
    """Return the angles of R = Rx(a) Ry(b) Rz(c), to rounding at any b: c is of what a leaves."""
    a = np.arctan2(-R[1, 2], R[2, 2])
    s, c = np.sin(a), np.cos(a)
    b = np.arctan2(R[0, 2], c * R[2, 2] - s * R[1, 2])
    return np.array([a, b, np.arctan2(c * R[1, 0] + s * R[2, 0], c * R[1, 1] + s * R[2, 1])])


def positions(robot: Robot, i: int, q: FloatArray) -> FloatArray:
    """Return Simbody's coordinates of joint i."""
    at, kind = int(robot.iq[i]), robot.kind[i]
    if kind == JointKind.SPHERICAL:
        return angles(quaternion.matrix(q[at : at + 4]))
    if kind == JointKind.FREE:
        return np.concatenate([angles(quaternion.matrix(q[at + 3 : at + 7])), q[at : at + 3]])
    return q[at : at + 1]


def _vec(opensim: Any, x: FloatArray) -> Any:
    return opensim.Vec3(*map(float, x))


class Workspace(threading.local):
    """A model and its state; one per thread, since the state is part of the calls."""

    def __init__(self, opensim: Any, robot: Robot) -> None:
        opensim.Logger.setLevelString("Error")  # it prints what it does otherwise
        self.model, self.bodies, self.joints = convert(opensim, robot)
        self.state = self.model.initSystem()
        self.matter = self.model.getMatterSubsystem()
        self.inverse = opensim.InverseDynamicsSolver(self.model)


def places(work: Workspace, sizes: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Return Simbody's indices of the coordinates and of the speeds of all joints, in our order of joints.

    They are read from the state after setting it: Simbody numbers them level by level, and coordinates have gaps, since
    room is kept for quaternions.
    """
    state = work.state
    every = [joint.get_coordinates(k) for joint, size in zip(work.joints, sizes, strict=True) for k in range(size)]
    for number, one in enumerate(every):
        one.setValue(state, 1e-3 * (number + 1), False)
        one.setSpeedValue(state, 1e-3 * (number + 1))
    found = [np.rint(1e3 * x.to_numpy()).astype(np.int64) for x in (state.getQ(), state.getU())]
    q, v = (np.array([int(np.flatnonzero(x == n + 1)[0]) for n in range(len(every))]) for x in found)
    return q, v


class Engine:
    """Functions of one state, in our coordinates."""

    def __init__(self, opensim: Any, robot: Robot) -> None:
        self.opensim = opensim
        self.robot = robot
        self.work = Workspace(opensim, robot)
        self.place = [int(body.getMobilizedBodyIndex()) for body in self.work.bodies]
        sizes = [int(NV[kind]) for kind in robot.kind]
        self.q, speeds = places(self.work, sizes)
        self.nq = int(self.work.state.getNQ())
        # Simbody's indices of our velocities, before axes are turned: linear and angular of a free joint are swapped
        parts = np.split(speeds, np.cumsum(sizes)[:-1])
        self.v = np.concatenate([np.roll(part, 3) if len(part) == 6 else part for part in parts])
        turning = [i for i in range(robot.n) if robot.kind[i] in (JointKind.SPHERICAL, JointKind.FREE)]
        self.turning = [(int(robot.iq[i]) + sizes[i] - 3, int(robot.iv[i]), sizes[i]) for i in turning]

    def inverse_dynamics(self, q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None) -> FloatArray:
        state = self._place(q, v)
        residual, rate = self.opensim.Vector(), self._vector(self._theirs(q, a, v))
        nothing = self._vector(np.zeros(self.robot.nv))
        self.work.matter.calcResidualForceIgnoringConstraints(state, nothing, self._pushes(wrench), rate, residual)
        return self._ours(q, residual.to_numpy())

    def forward_dynamics(self, q: FloatArray, v: FloatArray, tau: FloatArray, wrench: FloatArray | None) -> FloatArray:
        state = self._place(q, v)
        found, rates = self.opensim.Vector(), self.opensim.VectorOfSpatialVec()
        forces = self._vector(self._theirs(q, self._whole(tau)))
        self.work.matter.calcAcceleration(state, forces, self._pushes(wrench), found, rates)
        return self._ours(q, found.to_numpy(), v)

    def mass_matrix(self, q: FloatArray) -> FloatArray:
        state, M = self._place(q, np.zeros(self.robot.nv)), self.opensim.Matrix()
        self.work.matter.calcM(state, M)
        turn = self._turn(q)
        return turn.T @ M.to_numpy() @ turn  # type: ignore[no-any-return]

    def bias(self, q: FloatArray, v: FloatArray, wrench: FloatArray | None) -> FloatArray:
        return self.inverse_dynamics(q, v, np.zeros(self.robot.nv), wrench)

    def closures(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return A (m, nv) and rate (m,) of Simbody's constraints in our coordinates: c'' = A a + rate."""
        state, G, rates = self._place(q, v), self.opensim.Matrix(), self.opensim.Vector()
        self.work.matter.calcG(state, G)
        self.work.matter.calcBiasForAccelerationConstraints(state, rates)
        A = G.to_numpy()
        return A @ self._turn(q), rates.to_numpy() + A @ self._theirs(q, np.zeros(self.robot.nv), v)

    def theirs(
        self, q: FloatArray, v: FloatArray | None = None, a: FloatArray | None = None, tau: FloatArray | None = None
    ) -> list[Any]:
        """Return those of q, v, a, tau that are given as Simbody's vectors; the last with the bodies' weights."""
        found: list[Any] = [self._vector(self._positions(q))]
        if v is not None:
            found.append(self._vector(self._theirs(q, v)))
            if a is not None:
                found.append(self._vector(self._theirs(q, a, v)))
        if tau is not None:
            self._place(q, v if v is not None else np.zeros(self.robot.nv))
            found.append((self._vector(self._theirs(q, self._whole(tau))), self._pushes(None)))
        return found

    def own_names(self, quantity: str, inputs: Sequence[FloatArray], threads: int | None) -> dict[str, Any]:
        """What the names in `Simbody.own_calls` stand for."""
        work, made = self.work, self.opensim
        names = {"model": work.model, "state": work.state, "matter": work.matter, "inverse": work.inverse}
        results = {"found": made.Vector(), "rates": made.VectorOfSpatialVec(), "M": made.Matrix()}
        still = self._vector(np.zeros(self.robot.nv))
        return {**names, **results, "still": still, **converted(self.theirs, quantity, inputs)}

    def _vector(self, x: FloatArray) -> Any:
        return self.opensim.Vector.createFromMat(np.ascontiguousarray(x))

    def _whole(self, tau: FloatArray) -> FloatArray:
        """Forces of all coordinates, from those of the actuated ones."""
        whole = np.zeros(self.robot.nv)
        whole[self.robot.actuated] = tau
        return whole

    def _positions(self, q: FloatArray) -> FloatArray:
        there = np.zeros(self.nq)
        there[self.q] = np.concatenate([positions(self.robot, i, q) for i in range(self.robot.n)])
        return there

    def _place(self, q: FloatArray, v: FloatArray) -> Any:
        """Set this thread's state and return it, ready for accelerations."""
        state = self.work.state
        state.setQ(self._vector(self._positions(q)))
        state.setU(self._vector(self._theirs(q, v)))
        self.work.model.realizeVelocity(state)
        return state

    def _theirs(self, q: FloatArray, x: FloatArray, v: FloatArray | None = None) -> FloatArray:
        """Return velocities or forces in Simbody's order and axes; accelerations if the velocity ``v`` is given."""
        x = x.copy()
        for at, start, size in self.turning:
            R = quaternion.matrix(q[at : at + 4])
            if size == 6:
                if v is not None:
                    x[start : start + 3] += np.cross(v[start + 3 : start + 6], v[start : start + 3])
                x[start : start + 3] = R @ x[start : start + 3]
            x[start + size - 3 : start + size] = R @ x[start + size - 3 : start + size]
        there = np.empty(len(x))
        there[self.v] = x
        return there

    def _ours(self, q: FloatArray, there: FloatArray, v: FloatArray | None = None) -> FloatArray:
        """Return the inverse of `_theirs`."""
        x = np.array(there[self.v])
        for at, start, size in self.turning:
            R = quaternion.matrix(q[at : at + 4])
            x[start + size - 3 : start + size] = R.T @ x[start + size - 3 : start + size]
            if size == 6:
                x[start : start + 3] = R.T @ x[start : start + 3]
                if v is not None:
                    x[start : start + 3] -= np.cross(v[start + 3 : start + 6], v[start : start + 3])
        return x

    def _turn(self, q: FloatArray) -> FloatArray:
        """Return the matrix (nv, nv) that takes our velocities to Simbody's."""
        return np.array([self._theirs(q, column) for column in np.eye(self.robot.nv)]).T

    def _pushes(self, wrench: FloatArray | None) -> Any:
        """Weights and external wrenches on all bodies of the placed state, at their origins, ground axes."""
        made, state = self.opensim, self.work.state
        zero = made.SpatialVec(made.Vec3(0.0), made.Vec3(0.0))
        forces = made.VectorOfSpatialVec(self.robot.n + 1, zero)
        for i, body in enumerate(self.work.bodies):
            turned = body.getTransformInGround(state).R().asMat33()
            R = np.array([[turned.get(r, c) for c in range(3)] for r in range(3)])
            force = self.robot.mass[i] * self.robot.gravity
            moment = np.cross(R @ self.robot.com[i], force)
            if wrench is not None:
                force, moment = force + R @ wrench[i, :3], moment + R @ wrench[i, 3:]
            forces.set(self.place[i], made.SpatialVec(_vec(made, moment), _vec(made, force)))
        return forces
