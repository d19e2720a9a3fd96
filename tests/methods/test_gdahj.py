"""GDAHJ and composite bodies in link frames: mass matrices against Newton-Euler and Pinocchio, frames and counts."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.methods.composite_link_frames import COS, OFFSET, ROW, SIN, A, CompositeLinkFrames, D, link_frames
from dynbench.methods.gdahj import Gdahj
from dynbench.methods.kernels.count import count_polynomial
from dynbench.methods.kernels.scalar import ONE
from dynbench.methods.newton_euler import NewtonEuler
from dynbench.robots.body import Body
from dynbench.robots.families.trees import KINDS, chain, pendulum, random_tree
from dynbench.robots.joints import Revolute
from dynbench.robots.robot import Robot

BOTH = pytest.mark.parametrize("method", [Gdahj(), CompositeLinkFrames()], ids=lambda method: method.name)
COUNTED = {
    "gdahj": ("3 n^2 + 127 n - 60", "5/2 n^2 + 239/2 n - 51"),
    "composite-link-frames": ("10 n^2 + 22 n - 32", "6 n^2 + 37 n - 43"),
}


def bodies(placements: list[tuple[list[float], list[float]]]) -> Robot:
    """A chain whose joints have these axes and places in the body before."""
    made = []
    for k, (axis, place) in enumerate(placements):
        made.append(
            Body(
                name=f"b{k}", parent=f"b{k - 1}" if k else None, joint=Revolute(axis), placement=(np.eye(3), place),
                mass=1.0 + k, com=[0.1, -0.2 * k, 0.3], inertia=np.diag([0.01, 0.02, 0.025]),
            )
        )  # fmt: skip
    return Robot.from_bodies("axes", made)


SPECIAL = {  # neighbouring axes that have many common normals, or one of no length
    "parallel": bodies([([0, 0, 1], [0, 0, 0]), ([0, 0, 1], [0.4, 0, 0.2]), ([0, 0, -1], [0.3, 0.1, 0])]),
    "same line": bodies([([0, 0, 1], [0, 0, 0]), ([0, 0, 1], [0, 0, 0.2]), ([0, 1, 0], [0.3, 0.1, 0])]),
    "intersecting": bodies([([0, 0, 1], [0, 0, 0]), ([1, 0, 0], [0, 0, 0]), ([0, 1, 0], [0, 0, 0])]),
    "x": bodies([([1, 0, 0], [0, 0, 0.1]), ([1, 0, 0], [0.5, 0, 0]), ([1, 0, 0], [0.0, 0.2, 0])]),
}


def close(found, right, tolerance=1e-12):
    return np.abs(found - right).max() <= tolerance * np.abs(right).max()


@pytest.mark.parametrize("seed", range(8))
def test_gdahj_agrees_with_newton_euler_and_pinocchio_on_trees(seed):
    kinds = KINDS if seed % 3 else KINDS[:3]
    robot = random_tree(1 + 3 * seed // 2, seed=seed, kinds=kinds, floating=seed % 2 == 0, massless=seed % 4 == 3)
    q = robot.sample(9, seed=seed)[0]
    found = Gdahj().prepare(robot).mass_matrix(q)
    assert close(found, NewtonEuler().prepare(robot).mass_matrix(q))
    if methods.get("pinocchio").unavailable() is None:
        assert close(found, methods.get("pinocchio").prepare(robot).mass_matrix(q), 1e-11)


@BOTH
@pytest.mark.parametrize("name", ["two-link", "panda", "ur5", "chain-7", "chain-30"])
def test_chains_agree_with_newton_euler(method, name):
    robot = robots.load(name)
    q = robot.sample(9, seed=2)[0]
    assert close(method.prepare(robot).mass_matrix(q), NewtonEuler().prepare(robot).mass_matrix(q))


@pytest.mark.parametrize("case", SPECIAL)
def test_axes_without_a_unique_normal_have_frames(case):
    robot = SPECIAL[case]
    q = robot.sample(5, seed=4)[0]
    assert close(CompositeLinkFrames().prepare(robot).mass_matrix(q), NewtonEuler().prepare(robot).mass_matrix(q))


@BOTH
def test_pendulum(method):
    m, l, I = 1.3, 0.7, 0.05
    solver = method.prepare(pendulum(length=l, mass=m, inertia=I))
    np.testing.assert_allclose(solver.mass_matrix(np.array([0.4])), [[m * l**2 + I]], rtol=1e-14)


@BOTH
def test_plain_python_and_both_tiers_agree(method):
    robot = chain(4)
    q = robot.sample(9, seed=1)[0]
    batch = method.prepare(robot).mass_matrix(q)
    assert close(method.prepare(robot, code="traced").mass_matrix(q), batch)
    assert close(method.prepare(robot).mass_matrix(q[8]), batch[8])
    out, work = np.zeros(16), np.full(method.work_size(robot, "mass_matrix"), np.nan)
    method.kernels["mass_matrix"](ONE, method.pack(robot), q[8], out, work)
    assert close(np.tril(out.reshape(4, 4)), np.tril(batch[8]))


def test_no_digits_are_lost_far_from_the_world_s_origin():
    robot = random_tree(6, seed=4, kinds=KINDS[:3], floating=True)
    q = robot.sample(4, seed=1)[0]
    q[:, :3] += [600.0, -800.0, 100.0]
    assert close(Gdahj().prepare(robot).mass_matrix(q), NewtonEuler().prepare(robot).mass_matrix(q), 1e-13)


def test_link_frames_are_those_of_modified_parameters():
    """At q = 0, Rx(alpha) Tx(a) Rz(offset) Tz(d) leads from each frame to the next."""
    for robot in (robots.load("panda"), chain(6), *SPECIAL.values()):
        axes, origins = link_frames(robot)
        rows = CompositeLinkFrames().pack(robot).reshape(-1, ROW)
        for i in range(1, robot.n):
            ca, sa, a, d = rows[i, [COS, SIN, A, D]]
            c, s = np.cos(rows[i, OFFSET]), np.sin(rows[i, OFFSET])
            about_x = np.array([[1, 0, 0], [0, ca, -sa], [0, sa, ca]])
            turn = about_x @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
            np.testing.assert_allclose(axes[i - 1].T @ axes[i], turn, atol=1e-12)
            np.testing.assert_allclose(
                axes[i - 1].T @ (origins[i] - origins[i - 1]), about_x @ [a, 0, d], atol=1e-12 * (1 + abs(d))
            )


def test_link_frames_are_for_chains_of_revolute_joints():
    assert "serial chains of revolute joints" in CompositeLinkFrames().supports(robots.load("tree-6"))
    assert "serial chains of revolute joints" in CompositeLinkFrames().supports(
        random_tree(3, seed=0, kinds=KINDS[1:2])
    )
    assert CompositeLinkFrames().supports(robots.load("panda")) is None


@BOTH
def test_counts_are_these_polynomials(method):
    found = count_polynomial(method, chain, "mass_matrix", range(3, 9))
    assert (str(found["multiplications"]), str(found["additions"])) == COUNTED[method.name]
