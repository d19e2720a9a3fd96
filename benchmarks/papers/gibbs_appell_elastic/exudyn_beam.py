"""An outside judge for one elastic arm whose slide is locked: a beam of Exudyn's ANCF cable elements.

Exudyn (https://exudyn.readthedocs.io, 1.13 or later) has no sliding elastic arm of this kind, but with the length
outside the sleeve locked the arm of `gibbs_appell_elastic` is a rigid part that turns and a cantilever on it, which any
finite-element code can do. It shares nothing with our kinematics: no modes, large rotations, geometric stiffening. So
the two agree to a per cent of the deflection and no better, and only while the arm turns slowly beside its lowest
frequency.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise

import numpy as np

from dynbench import methods
from dynbench.benchmarks.papers.gibbs_appell_elastic.experiment import (
    DURATION,
    LENGTH,
    METHOD,
    SWITCHES,
    paper_arm,
    program,
)
from dynbench.benchmarks.simulation.simulate import simulate
from dynbench.robots.elastic.particles import tip_deflection
from dynbench.robots.robot import FloatArray

AXIAL = 1e6  # N: with the true EA of 8e7 N Newton's iteration stalls; still stiff beside these loads


@dataclass(frozen=True)
class Swing:
    """Angle of the sleeve (rad) and deflection of the tip across it (m) over time (s)."""

    t: FloatArray
    angle: FloatArray
    deflection: FloatArray


def locked(l: float, modes: int = 3, samples: int = 201) -> Swing:
    """Return our run of the paper's torque program with the arm held at ``l`` metres out of its sleeve."""
    robot = paper_arm(modes)
    solver = methods.get(METHOD).prepare(robot)
    forward = solver.handle("forward_dynamics")
    push = program(robot.nv)
    unit = np.eye(robot.nv)[1]
    free, pushed = np.empty(robot.nv), np.empty(robot.nv)

    def held(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """The torque, and the force on the slide that keeps l from accelerating."""
        tau = push(t, q, v) * (1.0 - unit)
        forward(q, v, tau, None, free)
        forward(q, v, tau + unit, None, pushed)
        return np.asarray(tau - unit * free[1] / (pushed[1] - free[1]))

    q0 = np.zeros(robot.nq)
    q0[1] = l
    times = np.linspace(0.0, DURATION, samples)
    found = simulate(
        solver, q0, np.zeros(robot.nv), held, DURATION, times=times, switches=SWITCHES, rtol=1e-7, atol=1e-9
    )
    return Swing(found.t, found.q[:, 0], np.asarray(tip_deflection(robot, found.q)[:, 0, 1]))


def exudyn_beam(l: float, elements: int = 10, step: float = 1e-4, samples: int = 201) -> Swing:
    """Return the same run by Exudyn: a hinged rigid part, and on it a cantilever of planar ANCF elements."""
    # untyped, and by name so that nobody looks for annotations it does not have
    exudyn, item = import_module("exudyn"), import_module("exudyn.itemInterface")
    robot = paper_arm()
    mu, bending, h = (float(x[0]) for x in (robot.elastic.density, robot.elastic.bending_z, robot.elastic.mouth))
    inside = LENGTH - l
    centre = h - inside / 2
    container = exudyn.SystemContainer()
    system = container.AddSystem()
    ground = system.AddObject(item.ObjectGround())
    hub_node = system.AddNode(item.NodeRigidBody2D(referenceCoordinates=[centre, 0, 0]))
    hub = system.AddObject(item.ObjectRigidBody2D(mass=mu * inside, inertia=mu * inside**3 / 12, nodeNumber=hub_node))
    hinge = [
        system.AddMarker(item.MarkerBodyPosition(bodyNumber=body, localPosition=place))
        for body, place in ((ground, [0, 0, 0]), (hub, [-centre, 0, 0]))
    ]
    system.AddObject(item.ObjectJointRevolute2D(markerNumbers=hinge))
    beam = [
        system.AddNode(item.NodePoint2DSlope1(referenceCoordinates=[x, 0, 1, 0]))
        for x in np.linspace(h, h + l, elements + 1)
    ]
    for pair in pairwise(beam):
        system.AddObject(
            item.ObjectANCFCable2D(
                length=l / elements,
                massPerLength=mu,
                bendingStiffness=bending,
                axialStiffness=AXIAL,
                nodeNumbers=list(pair),
            )
        )
    clamp = [
        system.AddMarker(item.MarkerBodyRigid(bodyNumber=hub, localPosition=[h - centre, 0, 0])),
        system.AddMarker(item.MarkerNodeRigid(nodeNumber=beam[0])),
    ]
    system.AddObject(item.ObjectJointGeneric(markerNumbers=clamp, constrainedAxes=[1, 1, 0, 0, 0, 1]))
    torque, nothing = program(2), np.empty(0)  # it depends on time alone

    def twist(_: object, t: float, load: list[float]) -> list[float]:
        # where the torque jumps, the mean of both sides: the integrator's error is then of second order in the step
        before, after = (torque(t + side, nothing, nothing)[0] for side in (-0.5 * step, 0.5 * step))
        return [0.0, 0.0, 0.5 * float(before + after) * load[2]]

    system.AddLoad(
        item.LoadTorqueVector(
            markerNumber=system.AddMarker(item.MarkerBodyRigid(bodyNumber=hub)),
            loadVector=[0, 0, 1],
            loadVectorUserFunction=twist,
        )
    )
    every = DURATION / (samples - 1)
    outputs = [(hub_node, exudyn.OutputVariableType.Coordinates), (beam[-1], exudyn.OutputVariableType.Position)]
    sensors = [
        system.AddSensor(item.SensorNode(nodeNumber=node, outputVariableType=kind, storeInternal=True))
        for node, kind in outputs
    ]
    system.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.endTime = DURATION
    settings.timeIntegration.numberOfSteps = round(DURATION / step)
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.adaptiveStep = False
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.newton.relativeTolerance = 1e-6  # at 1e-8 its iteration stalls at rounding
    settings.solution.sensors.writePeriod = every
    settings.solution.file.write = False
    settings.show.statistics = False
    system.SolveDynamic(settings)
    moved, tip = (np.asarray(system.GetSensorStoredData(sensor)) for sensor in sensors)
    angle = moved[:, 3]
    return Swing(moved[:, 0], angle, -np.sin(angle) * tip[:, 1] + np.cos(angle) * tip[:, 2])
