"""Mass matrices from their lower triangles: every number at its place, zeros where branches do not couple."""

from __future__ import annotations

import numpy as np
import pytest

from dynbench import methods, robots
from dynbench.methods.kernels import triangle
from dynbench.methods.newton_euler import NewtonEuler
from dynbench.robots.families.trees import KINDS, chain, random_tree
from dynbench.robots.files import example_models

N = 19  # two blocks of eight states and a tail


def test_coordinates_couple_where_a_unit_rate_of_one_gives_the_other_momentum():
    for seed in range(5):
        robot = random_tree(7, seed=seed, kinds=KINDS, floating=seed % 2 == 0)
        q = robot.sample(1, seed=seed)[0][0]
        solver = NewtonEuler().prepare(robot)
        still = np.zeros(robot.nv)
        columns = [solver.inverse_dynamics(q, still, unit) for unit in np.eye(robot.nv)]
        M = np.array(columns) - solver.bias(q, still)
        coupled = triangle.coupled(robot)
        np.testing.assert_array_equal(coupled, coupled.T)
        assert np.abs(M[~coupled]).max(initial=0.0) < 1e-12 * np.abs(M).max(), seed
        own = robot.iv[np.flatnonzero(robot.parent < 0)]
        assert coupled[own, own].all()


@pytest.mark.skipif("talos" not in example_models.names(), reason="needs example-robot-data")
def test_places_are_in_the_lower_triangle_or_behind_the_matrix():
    robot = robots.load("talos")
    n = robot.nv
    places = triangle.places(robot, n).reshape(n, n)
    np.testing.assert_array_equal(places, places.T)
    rows, columns = np.divmod(places[places < n * n], n)
    assert (columns <= rows).all()
    assert len(np.unique(places)) - 1 == 369
    assert (triangle.places(chain(4), 4) < 16).all()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 11])
@pytest.mark.parametrize("floating", [False, True])
def test_rows_of_any_alignment_get_whole_matrices(size, floating):
    """Fewer than eight numbers, tiles that overlap, and outputs that begin anywhere in a cache line."""
    robot = random_tree(size, seed=size, kinds=KINDS, floating=floating)
    q = robot.sample(N, seed=1)[0]
    solver = NewtonEuler().prepare(robot)
    right = np.array([solver.mass_matrix(row) for row in q])
    room = np.full(right.size + 8, np.nan)
    for start in range(8):
        room[:] = np.nan
        out = room[start : start + right.size].reshape(right.shape)
        solver.mass_matrix(q, out=out)
        np.testing.assert_allclose(out, right, rtol=0, atol=1e-13 * np.abs(right).max())
        np.testing.assert_array_equal(out, out.transpose(0, 2, 1))
        beyond = np.delete(room, slice(start, start + right.size))
        assert np.isnan(beyond).all(), "wrote outside its array"


def test_kernels_that_write_the_whole_matrix_give_the_same():
    robot = random_tree(6, seed=2)
    q = robot.sample(N, seed=1)[0]
    found, right = (methods.get(name).prepare(robot).mass_matrix(q) for name in ("gibbs-appell", "newton-euler"))
    np.testing.assert_allclose(found, right, rtol=0, atol=1e-12 * np.abs(right).max())
