"""Exudyn as a method: a multibody code whose robots are one object, `ObjectKinematicTree`, in minimal coordinates.

J. Gerstmayr, "Exudyn: a C++-based Python package for flexible multibody systems", Multibody System Dynamics 60, 2024.
The object gives its mass matrix M(q) and the other side of its equations of motion, f(q, v), by composite rigid bodies
and spatial vectors after Featherstone. Here inverse dynamics is M a + f, and forward dynamics a solve with M, as in its
own explicit integrators. What differs from `dynbench.robots.robot`:

    joints            Exudyn: revolute and prismatic only, about x, y or z. A link with an oblique axis gets a rotated
                      frame in Exudyn, whose z is the joint's axis
    external forces   converted to joint forces here, with Exudyn's positions and orientations of its links: its own
                      ``linkForces`` (1.13.6) have the opposite sign, and another point of action, than its manual says

Closed loops are Exudyn's own joints (`ObjectJointSpherical`) between points of its tree. Forward dynamics is the solve
by which its implicit integrators start, ``computeInitialAccelerations``, of bodies and joints together. It takes the
derivative of the joints' Jacobian by one-sided differences; the accelerations are extrapolated from three widths of
them (`WIDTHS`) to none. Its solver has no other quantity: those are put together from its mass matrix, its forces and
its Jacobian of the joints in `dynbench.methods.peers.dense_loops`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from dynbench.methods.base import QUANTITIES, Method, Solver
from dynbench.methods.function_solver import function_solver
from dynbench.methods.own_calls import NULL_CALL
from dynbench.methods.peers.dense_loops import DenseLoops, refused
from dynbench.robots.errors import MethodError
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray, Robot

STATE = "system.systemData.SetODE2Coordinates(q)\nsystem.systemData.SetODE2Coordinates_t(v)"
WIDTHS = (1e-4, 2e-4, 4e-4)  # of differences, over a coordinate's size, with loops
WEIGHTS = (8.0 / 3.0, -2.0, 1.0 / 3.0)  # of the results: what is linear and quadratic in the width cancels
MASS, FORCES = (f"system.ComputeItem(tree, exudyn.ComputeItemType.{item})" for item in ("MassMatrix", "ODE2LHS"))


class Exudyn(Method):
    """Mass matrix and forces of Exudyn's kinematic tree, one state at a time."""

    name: ClassVar[str] = "exudyn"
    title: ClassVar[str] = "Exudyn (kinematic tree in C++)"
    reference: ClassVar[str] = "Gerstmayr, Exudyn, Multibody System Dynamics 60, 2024"
    computes: ClassVar[tuple[str, ...]] = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias")
    cost: ClassVar[str] = "O(n^2)"
    requires: ClassVar[tuple[str, ...]] = ("exudyn",)
    loops: ClassVar[bool] = True
    extras: ClassVar[bool] = True  # added to its results
    own_calls: ClassVar[Mapping[tuple[str, str], str]] = {
        ("inverse_dynamics", "single"): f"{STATE}\n{MASS} @ a + {FORCES}",
        ("forward_dynamics", "single"): f"{STATE}\nnp.linalg.solve({MASS}, tau - {FORCES})",
        ("mass_matrix", "single"): f"system.systemData.SetODE2Coordinates(q)\n{MASS}",
        ("bias", "single"): f"{STATE}\n{FORCES}",
        NULL_CALL: "system.systemData.GetTime()",
    }

    def supports(self, robot: Robot) -> str | None:
        reason = super().supports(robot)
        if reason is not None:
            return reason
        for kind, name in zip(robot.kind, robot.joint_names, strict=True):
            if kind not in (JointKind.REVOLUTE, JointKind.PRISMATIC):
                what = JointKind(kind).name.lower()
                return f"its kinematic tree has revolute and prismatic joints only, joint {name!r} is {what}"
        return None if robot.is_tree else refused(robot)

    def own_calls_on(self, robot: Robot) -> Mapping[tuple[str, str], str]:
        """With loops nothing is a single call of Exudyn."""
        return self.own_calls if robot.is_tree else {NULL_CALL: self.own_calls[NULL_CALL]}

    def prepare(self, robot: Robot) -> Solver:
        self.require(robot)
        exudyn = import_module("exudyn")
        if not hasattr(exudyn, "ComputeItemType"):
            raise MethodError(f"exudyn {exudyn.__version__} does not give the mass matrix of an object; 1.13.6 does")
        engine = Engine(robot)
        functions = {name: getattr(engine, name) for name in self.computes}
        if not robot.is_tree:
            loops = DenseLoops(robot, engine, engine.closures)
            functions = {name: getattr(loops, name) for name in self.computes}
            functions["forward_dynamics"] = engine.forward_dynamics_with_loops
        return function_solver(self, robot, functions, engine.work.system, own_names=engine.own_names)


def turned_axes(robot: Robot) -> FloatArray:
    """Return for each body the rotation (n, 3, 3) from its link axes there to its axes here."""
    turns = np.tile(np.eye(3), (robot.n, 1, 1))
    for i, axis in enumerate(robot.axis):
        if not np.any(axis == 1.0):
            across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
            x = across / np.linalg.norm(across)
            turns[i] = np.column_stack([x, np.cross(axis, x), axis])
    return turns


def convert(exudyn: Any, robot: Robot, turns: FloatArray) -> tuple[Any, Any, list[list[Any]]]:
    """Return a system with the robot as its only object, that object, and sensors of each link's pose."""
    item = import_module("exudyn.itemInterface")
    system = exudyn.SystemContainer().AddSystem()
    zeros = [0.0] * robot.n
    node = system.AddNode(
        item.NodeGenericODE2(
            referenceCoordinates=zeros,
            initialCoordinates=zeros,
            initialCoordinates_t=zeros,
            numberOfODE2Coordinates=robot.n,
        )
    )
    carrier = np.array([turns[parent] if parent >= 0 else np.eye(3) for parent in robot.parent])
    tree = system.AddObject(
        item.ObjectKinematicTree(
            nodeNumber=node,
            gravity=robot.gravity.copy(),
            jointTypes=[joint_type(exudyn, kind, axis) for kind, axis in zip(robot.kind, robot.axis, strict=True)],
            linkParents=robot.parent.tolist(),
            jointTransformations=exudyn.Matrix3DList(list(np.swapaxes(carrier, 1, 2) @ robot.rotation @ turns)),
            jointOffsets=exudyn.Vector3DList(list(np.einsum("nji,nj->ni", carrier, robot.translation))),
            linkInertiasCOM=exudyn.Matrix3DList(list(np.swapaxes(turns, 1, 2) @ robot.inertia @ turns)),
            linkCOMs=exudyn.Vector3DList(list(np.einsum("nji,nj->ni", turns, robot.com))),
            linkMasses=robot.mass.copy(),
        )
    )
    outputs = (exudyn.OutputVariableType.Position, exudyn.OutputVariableType.RotationMatrix)
    sensors = [
        [
            system.AddSensor(
                item.SensorKinematicTree(objectNumber=tree, linkNumber=i, outputVariableType=kind, writeToFile=False)
            )
            for kind in outputs
        ]
        for i in range(robot.n)
    ]
    if not robot.is_tree:
        close_loops(item, system, tree, robot, turns)
    system.Assemble()
    return system, tree, sensors


def close_loops(item: Any, system: Any, tree: Any, robot: Robot, turns: FloatArray) -> None:
    """Add a joint for each closure, which holds two points together along axes of the first closure frame."""
    ground = system.AddObject(item.ObjectGround())
    loops = robot.loops

    def marker(body: int, p: FloatArray, R: FloatArray) -> Any:
        place = np.eye(4)
        place[:3, 3], place[:3, :3] = p, R
        if body < 0:
            return system.AddMarker(item.MarkerBodyRigid(bodyNumber=ground, localHT=place))
        place[:3] = turns[body].T @ place[:3]
        return system.AddMarker(item.MarkerKinematicTreeRigid(objectNumber=tree, linkNumber=int(body), localHT=place))

    for k, closed in enumerate(np.asarray(loops.rows)):
        ends = [
            marker(loops.body1[k], loops.translation1[k], loops.rotation1[k]),
            marker(loops.body2[k], loops.translation2[k], loops.rotation2[k]),
        ]
        free = [0, 0, 0]  # rotations
        held = [int(x) for x in closed[:3]]
        system.AddObject(item.ObjectJointGeneric(markerNumbers=ends, constrainedAxes=held + free))


def start_settings(exudyn: Any) -> Any:
    """Return settings of the implicit solver that make it compute accelerations at its start, quietly."""
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
    settings.timeIntegration.verboseMode = 0
    settings.solution.file.write = False
    return settings


def joint_type(exudyn: Any, kind: int, axis: FloatArray) -> Any:
    """Return Exudyn's joint type; about z if the axis is not x, y or z."""
    aligned = np.flatnonzero(axis == 1.0)
    letter = "XYZ"[aligned[0]] if len(aligned) else "Z"
    return getattr(exudyn.JointType, f"{'Revolute' if kind == JointKind.REVOLUTE else 'Prismatic'}{letter}")


class Workspace(threading.local):
    """A system keeps its state, so there is one per thread."""

    def __init__(self, exudyn: Any, robot: Robot, turns: FloatArray) -> None:
        self.system, self.tree, self.sensors = convert(exudyn, robot, turns)
        self.settings = None if robot.is_tree else start_settings(exudyn)


class Engine:
    """Functions of one state."""

    def __init__(self, robot: Robot) -> None:
        self.exudyn = import_module("exudyn")
        self.robot = robot
        self.turns = turned_axes(robot)
        self.work = Workspace(self.exudyn, robot, self.turns)

    def inverse_dynamics(self, q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None) -> FloatArray:
        f = self.bias(q, v, wrench)
        return self._mass() @ a + f  # type: ignore[no-any-return]

    def forward_dynamics(self, q: FloatArray, v: FloatArray, tau: FloatArray, wrench: FloatArray | None) -> FloatArray:
        f = self.bias(q, v, wrench)
        return np.linalg.solve(self._mass(), tau - f)

    def mass_matrix(self, q: FloatArray) -> FloatArray:
        self.work.system.systemData.SetODE2Coordinates(q)
        return self._mass()  # type: ignore[no-any-return]

    def bias(self, q: FloatArray, v: FloatArray, wrench: FloatArray | None) -> FloatArray:
        system, tree = self.work.system, self.work.tree
        system.systemData.SetODE2Coordinates(q)
        system.systemData.SetODE2Coordinates_t(v)
        f = system.ComputeItem(tree, self.exudyn.ComputeItemType.ODE2LHS)
        return f if wrench is None else f - self._at_joints(wrench)  # type: ignore[no-any-return]

    def forward_dynamics_with_loops(
        self, q: FloatArray, v: FloatArray, tau: FloatArray, wrench: FloatArray | None
    ) -> FloatArray:
        forces = np.zeros(self.robot.nv)
        forces[self.robot.actuated] = tau
        if wrench is not None:
            self.bias(q, v, None)  # places the links
            forces += self._at_joints(wrench)
        return self._accelerations(q, v, forces)

    def closures(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return A (m, nv) and rate (m,) of Exudyn's joints: c'' = A a + rate."""
        a = self._accelerations(q, v, np.zeros(self.robot.nv))
        system, n = self.work.system, self.robot.nv
        with self._started(q, v) as solver:
            size = n + solver.GetAEsize()
            solver.SetSystemJacobian(np.zeros((size, size)))
            solver.ComputeJacobianAE(system)
            A = np.array(solver.GetSystemJacobian())[n:, :n]
        return A, -A @ a

    def _accelerations(self, q: FloatArray, v: FloatArray, forces: FloatArray) -> FloatArray:
        """Those of all coordinates under joint forces (nv,), extrapolated from differences of several widths."""
        system, found = self.work.system, np.zeros(self.robot.nv)
        system.SetObjectParameter(self.work.tree, "jointForceVector", forces)
        for width, weight in zip(WIDTHS, WEIGHTS, strict=True):
            self.work.settings.timeIntegration.newton.numericalDifferentiation.relativeEpsilon = width
            with self._started(q, v):
                found += weight * np.array(system.systemData.GetODE2Coordinates_tt())
        system.SetObjectParameter(self.work.tree, "jointForceVector", np.zeros(self.robot.nv))
        return found

    @contextmanager
    def _started(self, q: FloatArray, v: FloatArray) -> Iterator[Any]:
        """The implicit solver at a state, after its computation of accelerations."""
        system, initial = self.work.system, self.exudyn.ConfigurationType.Initial
        system.systemData.SetODE2Coordinates(q, initial)
        system.systemData.SetODE2Coordinates_t(v, initial)
        solver = self.exudyn.MainSolverImplicitSecondOrder()
        if not solver.InitializeSolver(system, self.work.settings):
            raise MethodError(f"exudyn could not start its solver on robot {self.robot.name!r}")
        try:
            yield solver
        finally:
            solver.FinalizeSolver(system, self.work.settings)

    def own_names(self, quantity: str, inputs: Sequence[FloatArray], threads: int | None) -> dict[str, Any]:
        """What the names in `Exudyn.own_calls` stand for; our coordinates are its own."""
        names = {"exudyn": self.exudyn, "np": np, "system": self.work.system, "tree": self.work.tree}
        return {**names, **(dict(zip(QUANTITIES[quantity].arguments, inputs, strict=True)) if inputs else {})}

    def _mass(self) -> Any:
        return self.work.system.ComputeItem(self.work.tree, self.exudyn.ComputeItemType.MassMatrix)

    def _at_joints(self, wrench: FloatArray) -> FloatArray:
        """Return the joint forces of external wrenches, summed inward from each link to its parent."""
        robot, system = self.robot, self.work.system
        place, force, moment = (np.empty((robot.n, 3)) for _ in range(3))
        axis = np.empty((robot.n, 3))
        for i, (where, attitude) in enumerate(self.work.sensors):
            R = np.reshape(system.GetSensorValues(attitude), (3, 3)) @ self.turns[i].T
            place[i], axis[i] = system.GetSensorValues(where), R @ robot.axis[i]
            force[i], moment[i] = R @ wrench[i, :3], R @ wrench[i, 3:]
        tau = np.empty(robot.n)
        for i in range(robot.n - 1, -1, -1):
            tau[i] = axis[i] @ (moment[i] if robot.kind[i] == JointKind.REVOLUTE else force[i])
            parent = robot.parent[i]
            if parent >= 0:
                force[parent] += force[i]
                moment[parent] += moment[i] + np.cross(place[i] - place[parent], force[i])
        return tau
