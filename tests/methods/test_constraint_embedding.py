"""Constraint embedding: what the nodes are, local loops, and the cost of a chain of loops."""

from __future__ import annotations

import numpy as np
import pytest
from looped import relative
from random_loops import random_loop

from dynbench import methods, robots
from dynbench.methods.constraint_embedding import nodes
from dynbench.methods.kernels.count import count_polynomial, run_counting
from dynbench.methods.newton_euler import NewtonEuler
from dynbench.robots import Body, Loop, Prismatic, Revolute, Robot, Spherical

IN_THE_PLANE = (True, True, False, False, False, False)


def bar(name: str, parent: str | None, x: float, y: float = 0.0, joint=None) -> Body:
    return Body(name=name, parent=parent, joint=joint or Revolute([0, 0, 1]), placement=(np.eye(3), [x, y, 0.0]),
                mass=1.0, com=[0.2, 0.05, 0.1], inertia=[0.02, 0.05, 0.06])  # fmt: skip


def four_bars(count: int, arm: bool = False) -> Robot:
    """A chain of four-bar linkages, each on the coupler of the one before; with an arm in space at the end."""
    bodies, loops, home = [], [], []
    carrier = None
    for k in range(count):
        bodies += [bar(f"crank{k}", carrier, 0.0), bar(f"coupler{k}", f"crank{k}", 0.5)]
        bodies.append(bar(f"rocker{k}", carrier, 0.8))
        loops.append(
            Loop(body1=f"coupler{k}", body2=f"rocker{k}", placement1=(np.eye(3), [0.9, 0, 0]),
                 placement2=(np.eye(3), [0.7, 0, 0]), closes=IN_THE_PLANE)
        )  # fmt: skip
        home += [1.0, -0.8, 1.2]
        carrier = f"coupler{k}"
    actuated = [f"crank{k}" for k in range(count)]
    if arm:
        bodies += [bar("shoulder", carrier, 0.3, 0.2, Revolute([0, 1, 0])), bar("boom", "shoulder", 0.4, 0.0,
                   Prismatic([1, 0, 0])), bar("wrist", "boom", 0.2, 0.0, Spherical())]  # fmt: skip
        home += [0.1, 0.2, 0.0, 0.0, 0.0, 1.0]
        actuated += ["shoulder", "boom", "wrist"]
    return Robot.from_bodies(
        f"four-bars-{count}", bodies, gravity=(0.0, -9.81, 0.0), loops=loops, actuated=actuated, home=home
    )


def test_nodes_are_loops_and_single_bodies():
    found = nodes.find(four_bars(2, arm=True))
    assert [node.bodies for node in found] == [[0, 1, 2], [3, 4, 5], [6], [7], [8]]
    assert [node.up for node in found] == [-1, 1, 4, 6, 7]
    assert [node.freedoms for node in found] == [1, 1, 1, 1, 3]
    assert [len(node.rows) for node in found] == [2, 2, 0, 0, 0]
    assert found[1].inside(four_bars(2, arm=True)) == [-1, 0, -1]


def test_loops_that_share_a_joint_share_a_node():
    for seed in (1, 3):  # parallelogram, ladder
        robot = random_loop(seed)
        (node,) = nodes.find(robot)
        assert node.bodies == list(range(robot.n))
        assert node.rank == robot.loop_analysis.rank
    assert len(nodes.find(robots.planar_3rrr())) == 1


@pytest.mark.parametrize("robot", [four_bars(1, True), four_bars(3, True), four_bars(3)], ids=["1", "3", "3, no arm"])
def test_local_loops_agree_with_newton_euler(robot):
    for quantity in ("forward_dynamics", "inverse_dynamics", "mass_matrix", "bias"):
        for wrench in (False, True) if quantity != "mass_matrix" else (False,):
            found, right = (
                np.array(run_counting(methods.get(one), robot, quantity, wrench, 1)[1])
                for one in ("constraint-embedding", "newton-euler")
            )
            assert relative(found, right) < 1e-10, (quantity, wrench)


def test_the_cost_of_a_chain_of_loops_is_linear():
    ours = count_polynomial(methods.get("constraint-embedding"), four_bars, "forward_dynamics", range(1, 6))["flops"]
    assert ours.degree == 1
    shared = [run_counting(NewtonEuler(), four_bars(n), "forward_dynamics")[0].flops for n in (2, 8)]
    assert ours(2) > shared[0]  # the shared projection costs less on short chains,
    assert ours(8) < shared[1]  # and grows with the third power


def test_states_that_the_actuators_do_not_hold():
    """Couplers of a five-bar in line: the partition is singular, the mechanism is not; the other model serves."""
    robot = robots.five_bar(ground=0.7)
    solver = methods.get("constraint-embedding").prepare(robot)
    q, v = np.array([np.pi / 2, -np.pi / 2, np.pi / 2, np.pi / 2]), np.zeros(4)
    first, other = solver.runs["forward_dynamics"], solver.runs["forward_dynamics"].otherwise
    results = []
    for run in (first, other):
        out, work = np.zeros(4), np.full(run.size, np.nan)
        with np.errstate(all="ignore"):
            run.kernel((0,), run.model, q, v, np.array([0.3, -0.2]), None, out, work)
        results.append(out)
    assert np.isnan(results[0]).all()
    uk = methods.get("udwadia-kalaba").prepare(robot).runs["forward_dynamics"]
    out, work = np.zeros(4), np.full(uk.size, np.nan)
    uk.kernel((0,), uk.model, q, v, np.array([0.3, -0.2]), None, out, work)
    assert relative(results[1], out) < 1e-10
