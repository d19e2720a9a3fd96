"""Exudyn as an independent judge: the same problem as free bodies and joints, by its own implicit solver.

Exudyn (https://exudyn.readthedocs.io, 1.13.6 or later) gets nothing of a spanning tree: every body has six coordinates
of its own (position, Euler parameters), every joint and loop is a constraint between two bodies (`ObjectJointGeneric`),
springs are its own. It integrates the differential-algebraic equations by the generalized-alpha method with fixed
steps, which has second order: four times the steps give 1.2 more digits. Its damping of high frequencies (spectral
radius 0.9, its default) lets it through singular positions; its trapezoidal rule stops there. Redundant constraints are
left to its linear solver, which ignores them (``ignoreSingularJacobian``).

Joint coordinates are read off the bodies' poses and velocities, angles followed over all stored samples.
"""

from __future__ import annotations

import time
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from dynbench.benchmarks.problems.problem import Problem
from dynbench.benchmarks.problems.sweep import Run, digits
from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.simulation.simulate import Trajectory
from dynbench.robots.joints import JointKind
from dynbench.robots.kinematics import poses
from dynbench.robots.robot import FloatArray, Robot

NAME = "exudyn (own solver)"
SOLVER = "GeneralizedAlpha"
STEPS, QUICK_STEPS = (2_000, 8_000, 32_000), (2_000, 8_000)  # of a run
MANY = 20  # bodies from which on its sparse linear solver is faster
SAMPLES = 2_000  # stored over the horizon: a joint may turn by half a turn in between
GROWTH = 4  # of the steps
BUDGET = 240.0  # CPU seconds; a run with more steps is left out if it would take longer
EYE = np.eye(3)
FREE = {JointKind.REVOLUTE: 5, JointKind.PRISMATIC: 2}  # about or along z, of (x, y, z, rotations about x, y, z)


def why_not(problem: Problem) -> tuple[Outcome, str] | None:
    """Return why Exudyn does not run a problem, and how that is called; None if it does."""
    if find_spec("exudyn") is None:
        return Outcome.UNSUPPORTED, "exudyn is not installed (extra: elastic)"
    robot = problem.robot
    if not set(robot.kind) <= set(FREE) or robot.is_elastic or robot.has_extras:
        return Outcome.UNSUPPORTED, "rigid bodies on revolute and prismatic joints without friction only"
    return None


def runs(problem: Problem, quick: bool = False) -> list[Run]:
    """Run a problem by Exudyn's own solver with several steps."""
    head = (problem.name, problem.robot.name, NAME)
    refused = why_not(problem)
    if refused:
        return [Run(*head, reason=refused[1], outcome=refused[0])]
    found: list[Run] = []
    used, last = 0.0, 0.0
    for count in QUICK_STEPS if quick else STEPS:
        about: dict[str, Any] = {"solver": SOLVER, "step": problem.horizon / count, "horizon": problem.horizon}
        if found and used + GROWTH * last > BUDGET:
            reason = f"left out: the runs before took {used:.0f} s, this one would take longer than {BUDGET:.0f} s"
            found.append(Run(*head, **about, reason=reason, outcome=Outcome.LEFT_OUT))
            continue
        begin = time.process_time()
        trajectory, last = solved(problem, count)
        used += time.process_time() - begin
        if trajectory.reason:
            reached = float(trajectory.t[-1])
            found.append(Run(*head, **about, reached=reached, cpu=last, reason=trajectory.reason))
            continue
        t, q, v = trajectory_at(trajectory, problem)
        error = max(problem.error(float(at), *state) for at, *state in zip(t, q, v, strict=True))
        energy = problem.energy_error(q, v, t)
        about |= {"reached": float(t[-1]), "error": error, "digits": digits(error), "energy_error": energy}
        found.append(Run(*head, **about, cpu=last))
    return found


def trajectory_at(found: Trajectory, problem: Problem) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return t, q and v at the times that are compared; all are among the samples."""
    places = [int(np.argmin(np.abs(found.t - when))) for when in problem.times]
    return problem.times, found.q[places], found.v[places]


class Model(NamedTuple):
    """A robot in Exudyn, and the sensors of each body: position, rotation matrix, velocity, angular velocity."""

    system: Any
    sensors: list[list[int]]


def solved(problem: Problem, steps: int) -> tuple[Trajectory, float]:
    """Return the motion at `SAMPLES` equal times, and the CPU time of its solver."""
    exudyn = import_module("exudyn")
    model = convert(problem)
    settings = exudyn.SimulationSettings()
    integration = settings.timeIntegration
    integration.endTime, integration.numberOfSteps = problem.horizon, steps
    integration.verboseMode = 0
    integration.adaptiveStep = False
    integration.newton.relativeTolerance, integration.newton.absoluteTolerance = 1e-8, 1e-10
    settings.solution.sensors.writePeriod = problem.horizon / min(steps, SAMPLES)
    settings.solution.file.write = False
    settings.show.statistics = False
    robot = problem.robot
    if robot.n > MANY:
        settings.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse
    if not robot.is_tree and robot.loop_analysis.redundant:
        settings.linearSolver.solverType = exudyn.LinearSolverType.EigenDense
        settings.linearSolver.ignoreSingularJacobian = True
    begin = time.process_time()
    reason = ""
    try:
        done = model.system.SolveDynamic(settings, solverType=getattr(exudyn.DynamicSolverType, SOLVER))
        reason = "" if done else "its solver did not reach the end"
    except Exception as error:  # of a compiled package, without a type of its own
        reason = f"its solver stopped: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
    seconds = time.process_time() - begin
    return read(problem, model, reason), seconds


def convert(problem: Problem) -> Model:
    """Return a problem as free bodies with constraints, at its start."""
    exudyn, item = import_module("exudyn"), import_module("exudyn.itemInterface")
    utilities = import_module("exudyn.utilities")
    robot, q, v = problem.robot, problem.q0, problem.v0
    system = exudyn.SystemContainer().AddSystem()
    ground = system.AddObject(item.ObjectGround())
    R, p = poses(robot, q)
    bodies: list[int] = []
    for i, name in enumerate(robot.body_names):
        twist = robot.frame_velocity(name, q, v)
        made = system.CreateRigidBody(
            referencePosition=p[i] + R[i] @ robot.com[i], referenceRotationMatrix=R[i],
            initialVelocity=twist[:3] + np.cross(twist[3:], R[i] @ robot.com[i]), initialAngularVelocity=twist[3:],
            inertia=utilities.RigidBodyInertia(mass=float(robot.mass[i]), inertiaTensor=robot.inertia[i]),
            gravity=robot.gravity, nodeType=exudyn.NodeType.RotationEulerParameters, returnDict=True,
        )  # fmt: skip
        bodies.append(made["bodyNumber"])

    def marker(body: int, place: FloatArray, turn: FloatArray = EYE) -> int:
        """A frame on a body, in its axes; -1 is the ground."""
        local = exudyn.HT(rotation=turn, translation=place if body < 0 else place - robot.com[body])
        number = ground if body < 0 else bodies[body]
        return int(system.AddMarker(item.MarkerBodyRigid(bodyNumber=number, localHT=local)))

    def joined(markers: list[int], rows: list[int]) -> None:
        system.AddObject(item.ObjectJointGeneric(markerNumbers=markers, constrainedAxes=rows))

    turns = upright(robot)
    for i in range(robot.n):
        at_zero = marker(int(robot.parent[i]), robot.translation[i], robot.rotation[i] @ turns[i])
        rows = [int(row != FREE[JointKind(robot.kind[i])]) for row in range(6)]
        joined([at_zero, marker(i, np.zeros(3), turns[i])], rows)
    loops = robot.loops
    for k in range(len(loops.body1)):
        one = marker(int(loops.body1[k]), loops.translation1[k], loops.rotation1[k])
        two = marker(int(loops.body2[k]), loops.translation2[k], loops.rotation2[k])
        joined([one, two], loops.rows[k].tolist())
    springs = robot.springs
    for k in range(len(springs.body1)):
        markers = [marker(int(springs.body1[k]), springs.point1[k]), marker(int(springs.body2[k]), springs.point2[k])]
        made = item.ObjectConnectorSpringDamper(
            markerNumbers=markers, stiffness=springs.stiffness[k], damping=springs.damping[k],
            referenceLength=springs.rest_length[k],
        )  # fmt: skip
        system.AddObject(made)
    for k, force in zip(robot.actuated, problem.forces, strict=True):
        _actuate(item, system, robot, marker, int(np.searchsorted(robot.iv, k, side="right") - 1), float(force))
    kinds = exudyn.OutputVariableType
    outputs = (kinds.Position, kinds.RotationMatrix, kinds.Velocity, kinds.AngularVelocity)
    kept = {"storeInternal": True, "writeToFile": False}
    sensors = [
        [
            system.AddSensor(
                item.SensorBody(bodyNumber=body, localPosition=-robot.com[i], outputVariableType=kind, **kept)
            )
            for kind in outputs
        ]
        for i, body in enumerate(bodies)
    ]
    system.Assemble()
    return Model(system, sensors)


def _actuate(item: Any, system: Any, robot: Robot, marker: Any, i: int, force: float) -> None:
    """Let a constant force or moment act on body i along its joint's axis, and its opposite on the parent."""
    if force == 0.0:
        return
    made = item.LoadTorqueVector if robot.kind[i] == JointKind.REVOLUTE else item.LoadForceVector
    sides = [(i, robot.axis[i] * force, np.zeros(3))]
    if robot.parent[i] >= 0:
        sides.append((int(robot.parent[i]), -robot.rotation[i] @ robot.axis[i] * force, robot.translation[i]))
    for body, load, place in sides:
        system.AddLoad(made(markerNumber=marker(body, place), loadVector=load, bodyFixed=True))


def upright(robot: Robot) -> FloatArray:
    """Return for each joint a rotation (n, 3, 3) whose z axis is the joint's axis, body axes."""
    found = np.empty((robot.n, 3, 3))
    for i, axis in enumerate(robot.axis):
        across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        x = across / np.linalg.norm(across)
        found[i] = np.column_stack([x, np.cross(axis, x), axis])
    return found


def read(problem: Problem, model: Model, reason: str) -> Trajectory:
    """Return joint coordinates and their rates from the stored poses and velocities of the bodies."""
    robot = problem.robot
    stored = [[np.asarray(model.system.GetSensorStoredData(one)) for one in sensors] for sensors in model.sensors]
    t = stored[0][0][:, 0]
    if len(t) == 0:
        return Trajectory(np.zeros(1), problem.q0[None], problem.v0[None], 0, reason=reason or "it stored nothing")
    count = len(t)
    place, speed, spin = (np.stack([body[k][:, 1:] for body in stored], axis=1) for k in (0, 2, 3))
    turn = np.stack([body[1][:, 1:].reshape(count, 3, 3) for body in stored], axis=1)
    q, v = np.empty((count, robot.nq)), np.empty((count, robot.nv))
    turns = upright(robot)
    for i in range(robot.n):
        parent = int(robot.parent[i])
        ground = parent < 0
        R = np.broadcast_to(np.eye(3), (count, 3, 3)) if ground else turn[:, parent]
        zero = np.zeros((count, 3))
        origin, moving, turning = (zero,) * 3 if ground else (place[:, parent], speed[:, parent], spin[:, parent])
        frame = R @ robot.rotation[i]  # the joint's frame at zero
        axis = frame @ robot.axis[i]
        if robot.kind[i] == JointKind.REVOLUTE:
            relative = np.swapaxes(frame @ turns[i], 1, 2) @ turn[:, i] @ turns[i]
            angle = np.unwrap(np.arctan2(relative[:, 1, 0] - relative[:, 0, 1], relative[:, 0, 0] + relative[:, 1, 1]))
            start = problem.q0[robot.iq[i]]
            q[:, i] = angle - 2.0 * np.pi * np.round((angle[0] - start) / (2.0 * np.pi))
            v[:, i] = np.einsum("ki,ki->k", axis, spin[:, i] - turning)
        else:
            way = place[:, i] - origin
            q[:, i] = np.einsum("ki,ki->k", axis, way - R @ robot.translation[i])
            v[:, i] = np.einsum("ki,ki->k", axis, speed[:, i] - moving - np.cross(turning, way))
    return Trajectory(t, q, v, 0, reason=reason)
