"""Another engine against Newton-Euler, quantity by quantity, at seeded states with external wrenches on every body.

Errors are relative to the largest component of each state's result; those of forward dynamics also to the condition of
the mass matrix (scaled to a unit diagonal), over that of a typical arm.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from dynbench import methods
from dynbench.robots.families.trees import KINDS, random_tree
from dynbench.robots.robot import Robot

STATES = 5
TOLERANCE = 1e-12
FORWARD = 1e-9
TYPICAL_CONDITION = 1e4


def tree_of(seed: int) -> Robot:
    """1 to 30 bodies; joints of every kind, free ones in mid-tree too; fixed and free bases; massless bodies."""
    kinds = KINDS if seed % 4 == 1 else KINDS[:3]
    return random_tree(1 + seed * 7 % 30, seed=seed, kinds=kinds, floating=seed % 2 == 0, massless=seed % 3 == 0)


def seeds(few: Iterable[int], step: int) -> list[Any]:
    """Parameters of a test: single seeds, and in the long tests the first hundred in ranges of ``step``."""
    many = (pytest.param(range(k, k + step), marks=pytest.mark.long) for k in range(0, 100, step))
    return [*(range(k, k + 1) for k in few), *many]


def close(found: np.ndarray, right: np.ndarray, tolerance: float = 1e-12) -> bool:
    """Relative to the largest component: a joint near the tips may need a torque that is small for a good reason."""
    return bool(np.abs(found - right).max() <= tolerance * np.abs(right).max())


def agrees_with_newton_euler(method: Any, robot: Robot, quantity: str, pushed: bool) -> bool:
    state = robot.sample(9, seed=1)
    wrench = np.random.default_rng(0).standard_normal((9, robot.n, 6)) * 10 if pushed else None
    found, right = (
        getattr(one.prepare(robot), quantity)(*state, wrench=wrench) for one in (method, methods.get("newton-euler"))
    )
    return close(found, right, 1e-11)


def relative(x: np.ndarray, y: np.ndarray) -> float:
    x, y = x.reshape(len(x), -1), y.reshape(len(y), -1)
    return float((np.abs(x - y).max(axis=1) / np.abs(y).max(axis=1)).max())


def condition(M: np.ndarray) -> float:
    d = np.sqrt(np.einsum("kii->ki", M))
    return float(np.linalg.cond(M / (d[:, :, None] * d[:, None, :])).max())


def differences(engine: str, robot: Robot, seed: int) -> dict[str, float]:
    """Return the largest relative differences by quantity; ``forward_dynamics`` over the condition, see above."""
    ours, theirs = (methods.get(name).prepare(robot) for name in ("newton-euler", engine))
    q, v, a = robot.sample(STATES, seed=seed)
    wrench = 10.0 * np.random.default_rng(seed).standard_normal((STATES, robot.n, 6))
    tau, M = ours.inverse_dynamics(q, v, a, wrench=wrench), ours.mass_matrix(q)
    errors = {
        "inverse_dynamics with wrenches": relative(theirs.inverse_dynamics(q, v, a, wrench=wrench), tau),
        "inverse_dynamics": relative(theirs.inverse_dynamics(q, v, a), ours.inverse_dynamics(q, v, a)),
        "mass_matrix": relative(theirs.mass_matrix(q), M),
        "bias with wrenches": relative(theirs.bias(q, v, wrench=wrench), ours.bias(q, v, wrench=wrench)),
        "bias": relative(theirs.bias(q, v), ours.bias(q, v)),
    }
    for what, options in (("forward_dynamics with wrenches", {"wrench": wrench}), ("forward_dynamics", {})):
        found, wanted = (solver.forward_dynamics(q, v, tau, **options) for solver in (theirs, ours))
        errors[what] = relative(found, wanted) / max(1.0, condition(M) / TYPICAL_CONDITION)
    return errors


def assert_agree(engine: str, robot: Robot, seed: int) -> dict[str, float]:
    """Return the differences after checking them."""
    errors = differences(engine, robot, seed)
    for what, error in errors.items():
        limit = FORWARD if what.startswith("forward") else TOLERANCE
        assert error < limit, f"{robot.name}, seed {seed}: {what} differs by {error:.1e}"
    return errors


def pinocchio_tree(pin: Any, robot: Robot) -> Any:
    """The spanning tree of a robot of revolute and prismatic joints as a Pinocchio model."""
    model = pin.Model()
    model.gravity.linear = robot.gravity
    for i in range(robot.n):
        kind = pin.JointModelRevoluteUnaligned if robot.kind[i] == 0 else pin.JointModelPrismaticUnaligned
        at = pin.SE3(robot.rotation[i], robot.translation[i])
        k = model.addJoint(int(robot.parent[i]) + 1, kind(robot.axis[i]), at, robot.joint_names[i])
        model.appendBodyToJoint(k, pin.Inertia(robot.mass[i], robot.com[i], robot.inertia[i]), pin.SE3.Identity())
    return model
