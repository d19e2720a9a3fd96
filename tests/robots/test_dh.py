"""DH tables: against the product of DH matrices, one convention against the other, and what is rejected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dynbench.robots import JointKind, RobotError, from_dh, load, random_inertia, random_rotation
from dynbench.robots.files.dh import DHLink, compose
from dynbench.robots.kinematics import kinetic_energy, poses, potential_energy

LINK: dict[str, Any] = {
    "a": 0.4,
    "alpha": 0.3,
    "d": 0.2,
    "mass": 1.0,
    "com": [0.1, 0, 0],
    "inertia": [1, 1, 1],
}


def turn(axis: int, angle: float) -> np.ndarray:
    """A 4x4 turn about x (0) or z (2)."""
    T, (i, j) = np.eye(4), {0: (1, 2), 2: (0, 1)}[axis]
    T[i, i] = T[j, j] = np.cos(angle)
    T[j, i] = np.sin(angle)
    T[i, j] = -T[j, i]
    return T


def shift(axis: int, length: float) -> np.ndarray:
    T = np.eye(4)
    T[axis, 3] = length
    return T


def link_frames(rows: list[dict[str, Any]], convention: str, q: np.ndarray, base: np.ndarray) -> list[np.ndarray]:
    """The textbook: 4x4 matrices of the DH link frames in the world."""
    T, frames = base, []
    for row, coordinate in zip(rows, q, strict=True):
        slides = row.get("type") == "prismatic"
        value = coordinate + row.get("offset", 0.0)
        z = turn(2, row.get("theta", 0.0) + (0 if slides else value)) @ shift(
            2, row.get("d", 0.0) + (value if slides else 0)
        )
        x = shift(0, row["a"]) @ turn(0, row["alpha"])
        T = T @ (z @ x if convention == "standard" else x @ z)
        frames.append(T)
    return frames


def random_rows(rng: np.random.Generator, types: str) -> list[dict[str, Any]]:
    rows = []
    for letter in types:
        mass = rng.uniform(0.5, 2)
        a, alpha, d, theta, offset = rng.uniform(-1, 1, 5)
        rows.append(
            {
                "a": a,
                "alpha": alpha,
                "d": d,
                "theta": theta,
                "offset": offset,
                "type": {"R": "revolute", "P": "prismatic"}[letter],
                "mass": mass,
                "com": rng.uniform(-0.3, 0.3, 3),
                "inertia": random_inertia(rng, mass),
            }
        )
    return rows


def homogeneous(placement: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = placement
    return T


@pytest.mark.parametrize("types", ["R", "P", "RRPRPR", "PPRR"])
@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_link_frames_and_centres_are_those_of_the_dh_matrices(types: str, convention: Any) -> None:
    rng = np.random.default_rng(len(types))
    rows = random_rows(rng, types)
    base = (random_rotation(rng), rng.uniform(-1, 1, 3))
    tool = (random_rotation(rng), rng.uniform(-1, 1, 3))
    robot = from_dh(rows, convention, base=base, tool=tool)
    assert robot.kind.tolist() == [JointKind["REVOLUTE" if t == "R" else "PRISMATIC"] for t in types]
    for q in robot.sample(4, seed=2)[0]:
        frames = link_frames(rows, convention, q, homogeneous(base))
        R, p = poses(robot, q)
        for i, (row, T) in enumerate(zip(rows, frames, strict=True)):
            com = T[:3, :3] @ row["com"] + T[:3, 3]
            np.testing.assert_allclose(R[i] @ robot.com[i] + p[i], com, atol=1e-13)
            inertia = T[:3, :3] @ row["inertia"] @ T[:3, :3].T
            np.testing.assert_allclose(R[i] @ robot.inertia[i] @ R[i].T, inertia, atol=1e-13)
        last = robot.frames[-1]
        assert (last.name, last.body) == ("tool", len(types) - 1)
        placed = homogeneous(compose((R[-1], p[-1]), (last.rotation, last.translation)))
        np.testing.assert_allclose(placed, frames[-1] @ homogeneous(tool), atol=1e-13)


def test_a_modified_table_made_from_a_standard_one_is_the_same_robot() -> None:
    """Row i of the modified table takes a and alpha of row i-1; its link frame lies before those of row i."""
    rng = np.random.default_rng(5)
    rows = random_rows(rng, "RPRRPR")
    modified = []
    before = {"a": 0.0, "alpha": 0.0}
    for row in rows:
        X = shift(0, row["a"]) @ turn(0, row["alpha"])
        moved = {
            "com": X[:3, :3] @ row["com"] + X[:3, 3],
            "inertia": X[:3, :3] @ row["inertia"] @ X[:3, :3].T,
        }
        modified.append({**row, **before, **moved})
        before = {"a": row["a"], "alpha": row["alpha"]}
    one, other = from_dh(rows), from_dh(modified, "modified")
    Q, V, _ = one.sample(20, seed=3)
    np.testing.assert_allclose(kinetic_energy(one, Q, V), kinetic_energy(other, Q, V), rtol=1e-12)
    np.testing.assert_allclose(potential_energy(one, Q), potential_energy(other, Q), rtol=1e-12, atol=1e-12)


def test_a_row_is_a_dict_or_a_dhlink() -> None:
    assert from_dh([LINK], name="x") == from_dh([DHLink(**LINK)], name="x")
    robot = from_dh([LINK, {**LINK, "name": "hand"}], gravity=(0, 0, 1))
    assert robot.body_names == ("link1", "hand")
    assert robot.joint_names == ("joint1", "hand_joint")
    np.testing.assert_array_equal(robot.gravity, [0, 0, 1])


def without(key: str) -> dict[str, Any]:
    return {k: v for k, v in LINK.items() if k != key}


WRONG = [
    (without("a"), "lacks the key 'a'"),
    (without("d"), "of type revolute, lacks the key 'd'"),
    (without("mass"), "lacks the key 'mass'"),
    (without("com"), "has mass 1 kg but lacks the key 'com'"),
    (without("inertia"), "has mass 1 kg but lacks the key 'inertia'"),
    ({**without("d"), "type": "prismatic"}, "of type prismatic, lacks the key 'theta'"),
    ({**LINK, "type": "screw"}, "type must be 'revolute' or 'prismatic', got 'screw'"),
    ({**LINK, "alfa": 1}, "unknown key 'alfa'; did you mean 'alpha'?"),
    ({**LINK, "a": "0.4"}, "'a' must be a finite number, got '0.4'"),
    ({**LINK, "a": True}, "'a' must be a finite number, got True"),
    ({**LINK, "a": [1.0]}, r"'a' must be a finite number, got \[1"),
    ({**LINK, "com": [1, 2]}, r"'com' must be 3 finite numbers, got \[1, 2\]"),
    ({**LINK, "com": [1, [2], 3]}, r"'com' must be 3 finite numbers, got \[1"),
    ({**LINK, "inertia": np.eye(2)}, r"'inertia' must be 3 by 3 finite numbers or 3 finite numbers, got \[\[1"),
    ({**LINK, "d": float("nan")}, "'d' must be a finite number, got nan"),
    (3, "must be a DHLink or a dict, got int"),
]


@pytest.mark.parametrize(("row", "message"), WRONG)
def test_a_wrong_row_is_named(row: Any, message: str) -> None:
    with pytest.raises(RobotError, match=f"robot 'arm', DH row 2.*{message}"):
        from_dh([LINK, row], name="arm")


def test_a_wrong_table_is_named() -> None:
    with pytest.raises(RobotError, match="at least one row"):
        from_dh([])
    with pytest.raises(RobotError, match="convention must be 'standard' or 'modified', got 'craig'"):
        from_dh([LINK], "craig")  # type: ignore[arg-type]
    with pytest.raises(RobotError, match="body 'link1': mass is -1"):
        from_dh([{**LINK, "mass": -1.0}])


def test_gravity_load_of_the_puma_in_closed_form() -> None:
    """Stretched out level (q = 0), joint 2 carries the moments of links 2 to 6 about its axis."""
    puma = load("puma560")
    q = np.zeros(6)
    step = 1e-5
    load_of_2 = (potential_energy(puma, q + step * np.eye(6)[1]) - potential_energy(puma, q - step * np.eye(6)[1])) / (
        2 * step
    )
    # horizontal distance from joint 2 of each centre of mass, L-shaped zero pose: forearm points straight up
    moments = 17.4 * (0.4318 - 0.3638) + 4.8 * 0.4318 + (0.82 + 0.34 + 0.09) * (0.4318 + 0.0203)
    assert load_of_2 == pytest.approx(9.81 * moments, rel=1e-9)
    assert load_of_2 == pytest.approx(37.48, abs=5e-3)  # as the Robotics Toolbox gives for this pose
