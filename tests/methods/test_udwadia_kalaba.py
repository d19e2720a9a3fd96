"""Udwadia and Kalaba's equation against its own words, and Gauss's principle."""

from __future__ import annotations

import numpy as np
import pytest
from looped import doubled_parallelogram, relative, tree_terms
from scipy.linalg import sqrtm

from dynbench import methods, robots
from dynbench.benchmarks.problems.bricard import bricard
from dynbench.methods.kernels.count import run_counting
from dynbench.robots import Body, Loop, Revolute, Robot

MACHINES = [robots.planar_3rrr(), bricard().robot, doubled_parallelogram()]


@pytest.mark.parametrize("robot", MACHINES, ids=lambda robot: robot.name)
def test_it_is_the_equation_with_the_root_of_the_mass_matrix(robot):
    """(2) as it is printed: M^1/2 by eigenvalues, the Moore-Penrose inverse by singular values."""
    q, v, drawn = (x[0] for x in robot.sample(1, seed=1))
    M, h = tree_terms(robot, q, v)
    force = -h
    force[robot.actuated] += drawn[robot.actuated]
    A, b = robot.loop_jacobian(q), -robot.loop_rate(q, v)
    root, free = np.real(sqrtm(M)), np.linalg.solve(M, force)
    inverse = np.linalg.inv(root)
    a = free + inverse @ np.linalg.pinv(A @ inverse, rcond=1e-9) @ (b - A @ free)
    found = np.array(run_counting(methods.get("udwadia-kalaba"), robot, "forward_dynamics", seed=1)[1])
    assert relative(found, a) < 1e-10
    # Gauss: among the accelerations that the constraints allow, none is nearer to the free one
    motion = np.linalg.svd(A)[2][robot.loop_analysis.rank :]
    assert np.abs(motion @ M @ (found - free)).max() < 1e-9 * np.abs(force).max()


def test_massless_legs_are_no_obstacle():
    """A coupler without inertia: M of the tree is singular, (5) is not."""

    def bar(name: str, parent: str | None, x: float, mass: float) -> Body:
        inertia = [0.0, 0.0, 0.0] if mass == 0.0 else [0.01, 0.05, 0.06]
        return Body(name=name, parent=parent, joint=Revolute([0, 0, 1]), placement=(np.eye(3), [x, 0, 0]), mass=mass,
                    com=[0.2, 0, 0], inertia=inertia)  # fmt: skip

    bodies = [bar("crank", None, 0.0, 1.0), bar("coupler", "crank", 0.5, 0.0), bar("rocker", None, 0.8, 2.0)]
    loop = Loop(body1="coupler", body2="rocker", placement1=(np.eye(3), [0.9, 0, 0]),
                placement2=(np.eye(3), [0.7, 0, 0]), closes=(True, True, False, False, False, False))  # fmt: skip
    robot = Robot.from_bodies(
        "massless", bodies, gravity=(0, -9.81, 0), loops=[loop], actuated=["crank"], home=[1.0, -0.8, 1.2]
    )
    for name in ("udwadia-kalaba", "augmented-lagrangian", "constraint-embedding"):
        for quantity in ("forward_dynamics", "inverse_dynamics"):
            found, right = (run_counting(methods.get(one), robot, quantity)[1] for one in (name, "newton-euler"))
            assert relative(np.array(found), np.array(right)) < 1e-10, (name, quantity)
    assert "singular" in str(methods.get("maximal-coordinates").supports(robot))
