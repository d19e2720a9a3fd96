"""Robots with closed loops, and the ways to their dynamics: what tests of loops share."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dynbench import methods
from dynbench.methods.base import Solver
from dynbench.methods.kernels.scalar import ONE
from dynbench.methods.newton_euler import NewtonEuler
from dynbench.robots import Body, Loop, Revolute, Robot

WAYS = {
    "newton-euler": ("newton-euler", {}),
    "denoc, elimination": ("denoc", {}),
    "denoc, multipliers": ("denoc", {"loops_by": "multipliers"}),
}
every_way = pytest.mark.parametrize("way", WAYS)


def solver(way: str, robot: Robot) -> Solver:
    name, options = WAYS[way]
    return methods.get(name, **options).prepare(robot)


def relative(mine: np.ndarray, judge: np.ndarray) -> float:
    return float(np.abs(mine - judge).max() / max(1.0, np.abs(judge).max()))


def doubled_parallelogram() -> Robot:
    """Three parallel cranks on one coupler, hinges in space: 10 equations of rank 3."""

    def bar(name: str, parent: str | None, x: float) -> Body:
        return Body(name=name, parent=parent, joint=Revolute([0, 0, 1]), placement=(np.eye(3), [x, 0, 0]), mass=1.0,
                    com=[0.2, 0, 0], inertia=[0.01, 0.05, 0.06])  # fmt: skip

    bodies = [bar("crank1", None, 0), bar("coupler", "crank1", 0.5), bar("crank2", None, 0.6), bar("crank3", None, 1.0)]
    loops = [
        Loop(body1="coupler", body2=f"crank{k}", placement1=(np.eye(3), [x, 0, 0]), placement2=(np.eye(3), [0.5, 0, 0]),
             closes=(True, True, True, True, True, False))
        for k, x in ((2, 0.6), (3, 1.0))
    ]  # fmt: skip
    return Robot.from_bodies(
        "parallelogram", bodies, gravity=(0, -9.81, 0), loops=loops, actuated=["crank1"], home=[1.0, -1.0, 1.0, 1.0]
    )


def projected(robot: Robot, q, v, a) -> np.ndarray:
    """The actuator forces by another road: power of the inertia forces, tree inverse dynamics times the null space."""
    bodies = {field.name: getattr(robot, field.name) for field in dataclasses.fields(robot)}
    bodies |= {"loops": None, "actuated": None, "home": None, "platform": -1}
    tree = methods.get("newton-euler").prepare(Robot(**bodies))
    r = tree.inverse_dynamics(q, v, a)
    A = robot.loop_jacobian(q)
    tau = np.empty((len(q), len(robot.actuated)))
    for s in range(len(q)):
        _, sv, vt = np.linalg.svd(A[s])
        free = vt[(sv > 1e-7 * sv[0]).sum() :]
        tau[s] = np.linalg.solve(free[:, robot.actuated], free @ r[s])
    return tau


def tree_terms(robot: Robot, q, v) -> tuple[np.ndarray, np.ndarray]:
    """M and h of the spanning tree, kernels run as Python."""
    tree = NewtonEuler()
    packed, nv = tree.pack(robot), robot.nv
    M, h = np.zeros(nv * nv), np.empty(nv)
    work = np.empty(max(tree.work_size(robot, name) for name in tree.kernels))
    tree.kernels["mass_matrix"](ONE, packed, q, M, work)
    tree.kernels["inverse_dynamics"](ONE, packed, q, v, np.zeros(nv), None, h, work)
    M = M.reshape(nv, nv)
    return np.tril(M) + np.tril(M, -1).T, h
