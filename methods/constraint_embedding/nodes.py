"""The nodes of the tree that is left when loops are embedded: which bodies, joints and rows belong together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dynbench.methods.kernels import pseudo_inverse
from dynbench.methods.kernels.closure import OWN, TABLE, part
from dynbench.methods.kernels.scalar import Buffer, Tag, generic, index
from dynbench.robots.joints import NV
from dynbench.robots.robot import FloatArray, Robot

# Table: number of nodes; which states are allowed (`motions.motions`); where in the workspace scratch and the wrenches
# of bodies begin; where nodes begin
COUNT, CAREFUL, SCRATCH, WRENCHES, STARTS = 0, 1, 2, 3, 4
# Record of a node: packed row of the body that carries it, counts, where its part of the workspace begins; then packed
# rows of bodies, places of their parents among them (-1: outside), coordinates, rows of A, places of u among the
# coordinates, (place among the coordinates, force) of actuators
UP, BODIES, COORDINATES, ROWS, RANK, FREEDOMS, ACTUATORS, PLACE = range(8)
LISTS = 8

# Blocks of the workspace, one per body and the ground
P, Z, X, B, S = 0, 36, 42, 48, 54
BLOCK = 90
H, MOTIONS, A0, INERTIA, COUPLING, FORCES = range(6)  # parts of a node's workspace: H, W (by columns), a_0, D, U, e


class Node(NamedTuple):
    """Bodies that loops tie together, or one body."""

    up: int  # the body that carries it, -1 for the ground
    bodies: list[int]
    coordinates: list[int]
    rows: list[int]
    rank: int
    driven: list[int]  # of the coordinates, by place: those that determine its motion
    actuated: list[tuple[int, int]]  # place among the coordinates, number of the force

    def inside(self, robot: Robot) -> list[int]:
        """Return the places of the bodies' parents among the bodies, -1 for the one outside."""
        return [self.bodies.index(p) if p in self.bodies else -1 for p in robot.parent[self.bodies].tolist()]

    @property
    def freedoms(self) -> int:
        return len(self.coordinates) - self.rank

    @property
    def size(self) -> int:
        """Scalars of workspace: H, W, a_0, D, U, e and u'."""
        f = self.freedoms
        return 6 * f * len(self.bodies) + len(self.coordinates) * (f + 1) + f * f + 6 * f + f

    @property
    def scratch(self) -> int:
        """Scalars of A_G, g_G, its decomposition, what is left of rows, spare, Z, Z_aa, S of damped demands, others."""
        m, n, f = len(self.rows), len(self.coordinates), self.freedoms
        factor = pseudo_inverse.size(m, n, self.rank)
        return m * n + m + factor + max(m, n) * n + (n + max(m, n)) + n * n + f * f + m * m + m + n


def find(robot: Robot) -> list[Node]:
    """Return the nodes, those that carry others first."""
    owner = np.repeat(np.arange(robot.n), NV[robot.kind])  # body of each coordinate
    group = list(range(robot.n))
    paths = [sorted({int(owner[k]) for k in np.flatnonzero(row)}) for row in robot.loop_rows.sign]
    for path in paths:
        merged = {group[i] for i in path}
        group = [min(merged) if g in merged else g for g in group]
    found = []
    A = robot.loop_jacobian(robot.loop_analysis.start) if not robot.is_tree else np.zeros((0, robot.nv))
    for name in sorted(set(group)):
        bodies = [i for i in range(robot.n) if group[i] == name]
        coordinates = [k for k in range(robot.nv) if group[owner[k]] == name]
        rows = [k for k, path in enumerate(paths) if path and group[path[0]] == name]
        up = int(robot.parent[bodies[0]])
        block = A[np.ix_(rows, coordinates)]
        s = np.linalg.svd(block, compute_uv=False) if rows else np.zeros(0)
        rank = int((s > 1e-7 * s.max(initial=0.0)).sum())
        driven = [coordinates.index(k) for k in robot.loop_analysis.driven if k in coordinates]
        actuated = [(coordinates.index(k), j) for j, k in enumerate(robot.actuated) if k in coordinates]
        found.append(Node(up, bodies, coordinates, rows, rank, driven, actuated))
    return found


def pack(robot: Robot, states: int) -> FloatArray:
    """Return the table; ``states`` says which are allowed."""
    found = find(robot)
    scratch = BLOCK * (robot.n + 1) + sum(node.size for node in found)
    numbers: list[float] = [len(found), states, scratch, scratch + max(node.scratch for node in found)]
    start, place = STARTS + len(found), BLOCK * (robot.n + 1)
    starts, records = [], []
    for node in found:
        record = [node.up + 1, len(node.bodies), len(node.coordinates), len(node.rows), node.rank, node.freedoms,
                  len(node.actuated), place, *(i + 1 for i in node.bodies), *node.inside(robot), *node.coordinates,
                  *node.rows, *node.driven, *(number for pair in node.actuated for number in pair)]  # fmt: skip
        starts.append(start)
        records += record
        start += len(record)
        place += node.size
    return np.array([*numbers, *starts, *records], dtype=np.float64)


def size(robot: Robot) -> int:
    """Return the number of scalars of workspace: blocks of bodies, parts of nodes, scratch, wrenches."""
    found = find(robot)
    scratch = max(node.scratch for node in found)
    return BLOCK * (robot.n + 1) + sum(node.size for node in found) + scratch + 6 * robot.n


# ---------------------------------------------------------------------- what is where, for kernels


@generic
def record(model: Buffer, k: int) -> int:
    """Where the record of node ``k`` begins."""
    table = index(model, TABLE)
    return table + index(model, table + STARTS + k)


@generic
def coordinate(model: Buffer, at: int, i: int) -> int:
    """Coordinate ``i`` of a node, an index into v."""
    return index(model, at + LISTS + 2 * index(model, at + BODIES) + i)


@generic
def row(model: Buffer, at: int, k: int) -> int:
    """Row ``k`` of a node, a row of A."""
    return index(model, at + LISTS + 2 * index(model, at + BODIES) + index(model, at + COORDINATES) + k)


@generic
def independent(model: Buffer, at: int, c: int) -> int:
    """Which of a node's coordinates is number ``c`` of u."""
    before = 2 * index(model, at + BODIES) + index(model, at + COORDINATES) + index(model, at + ROWS)
    return index(model, at + LISTS + before + c)


@generic
def actuator(model: Buffer, at: int, k: int, which: int) -> int:
    """Actuator ``k`` of a node: which of its coordinates (``which`` 0), which force (1)."""
    before = 2 * index(model, at + BODIES) + index(model, at + COORDINATES) + index(model, at + ROWS)
    return index(model, at + LISTS + before + index(model, at + FREEDOMS) + 2 * k + which)


@generic
def inside(tag: Tag, model: Buffer, at: int, which: int, work: Buffer) -> Buffer:
    """One of the parts of a node's workspace."""
    f, n = index(model, at + FREEDOMS), index(model, at + COORDINATES)
    begin = index(model, at + PLACE)
    if which > H:
        begin += 6 * f * index(model, at + BODIES)
    if which > MOTIONS:
        begin += n * f
    if which > A0:
        begin += n
    if which > INERTIA:
        begin += f * f
    if which > COUPLING:
        begin += 6 * f
    return part(tag, model, work, OWN)[begin * len(tag) :]
