"""URDF: the same robot as Pinocchio's own loader gives, with q in the same order."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench.robots import JointKind, Robot
from dynbench.robots.files import example_models
from dynbench.robots.kinematics import poses

pin = pytest.importorskip("pinocchio")

pytestmark = pytest.mark.skipif(example_models.folder() is None, reason="needs example-robot-data")

PEERS = (
    "anymal", "anymal-c", "double-pendulum", "double-pendulum-continuous", "hector", "hyq", "kinova",
    "panda-collision", "talos", "talos-full", "tiago-no-hand", "ur10", "baxter", "simple-humanoid",
)  # fmt: skip


@pytest.mark.parametrize("name", PEERS)
def test_pinocchio_reads_the_same_robot(name: str) -> None:
    robot = example_models.load(name)
    folder = example_models.folder()
    assert folder is not None
    path = str(folder / example_models._FILES[name])
    root = (pin.JointModelFreeFlyer(),) if robot.is_floating else ()
    model = pin.buildModelFromUrdf(path, *root)

    assert robot.joint_names == tuple(model.names)[1:]
    assert robot.parent.tolist() == [parent - 1 for parent in model.parents][1:]
    for i in range(robot.n):
        inertia, placement = model.inertias[i + 1], model.jointPlacements[i + 1]
        close = {"atol": 1e-12 * max(1.0, float(np.abs(inertia.inertia).max())), "rtol": 1e-12}
        assert robot.mass[i] == pytest.approx(inertia.mass, rel=1e-14)
        np.testing.assert_allclose(robot.com[i], inertia.lever, **close)
        np.testing.assert_allclose(robot.inertia[i], inertia.inertia, **close)
        np.testing.assert_allclose(robot.rotation[i], placement.rotation, atol=1e-12)
        np.testing.assert_allclose(robot.translation[i], placement.translation, atol=1e-14)
    for frame in robot.frames:
        twin = model.frames[model.getFrameId(frame.name, pin.BODY)]
        assert twin.parentJoint == frame.body + 1
        np.testing.assert_allclose(frame.rotation, twin.placement.rotation, atol=1e-12)
        np.testing.assert_allclose(frame.translation, twin.placement.translation, atol=1e-12)

    data = model.createData()
    for q in robot.sample(5, seed=1)[0]:
        pin.forwardKinematics(model, data, pinocchio_configuration(robot, model, q))
        R, p = poses(robot, q)
        np.testing.assert_allclose(R, [data.oMi[i + 1].rotation for i in range(robot.n)], atol=1e-12)
        np.testing.assert_allclose(p, [data.oMi[i + 1].translation for i in range(robot.n)], atol=1e-12)


def pinocchio_configuration(robot: Robot, model: object, q: np.ndarray) -> np.ndarray:
    """Return q with the angle of a continuous joint as cosine and sine."""
    parts = []
    for i, theirs in enumerate(list(model.joints)[1:]):  # type: ignore[attr-defined]
        mine = q[robot.iq[i] :][: 7 if robot.kind[i] == JointKind.FREE else 1]
        parts.append([np.cos(mine[0]), np.sin(mine[0])] if theirs.nq == 2 else mine)
    return np.concatenate(parts)
