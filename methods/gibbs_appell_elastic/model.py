"""The packed model: the arms, and every integral over a mode shape, tabulated once when a robot is prepared.

All shapes are functions of xi = s/l, so their integrals over xi in [0, 1] do not depend on l; the kernels multiply them
by powers of l. The equations need accelerations integrated with a few weights,

    1,    xi,    shape_f,    (1 - xi) shape_f'       for each mode f,

and an acceleration holds, for each mode g, shape_g, (1 - xi) shape_g' and (1 - xi)^2 shape_g'': with m modes that makes
2 + 2 m rows of 2 + 3 m numbers (the first two are the integrals of the weight and of xi times it). They are computed by
Gauss-Legendre quadrature, exact to rounding; stiffnesses are the closed forms b^4 and b^2, (E8).
"""

from __future__ import annotations

import numpy as np

from dynbench.robots.elastic import modes
from dynbench.robots.elastic.modes import TORSION, X, Y, Z
from dynbench.robots.robot import FloatArray, Robot

# Header
ARMS, NV, GRAVITY, EXACT, RATE, FLUX, OWNERS = 0, 1, 2, 5, 6, 7, 8
HEAD = 9
# A row per arm
AT, MODES, TABLE, TURN, MOUTH, LENGTH, DENSITY, SECTION = 0, 1, 2, 3, 12, 13, 14, 15
ROW = 21
# A row per mode, at TABLE: direction, stiffness, and the shape's values at the tip and slope at the mouth
DIRECTION, STIFFNESS, TIP, ANGLE, ROOT = 0, 1, 2, 3, 4
MODE = 5
# then the rows of integrals, each
WEIGHT, MOMENT, PAIRS = 0, 1, 2  # of the weight, of xi times it, then per mode
PAIR = 3  # with shape, with (1 - xi) shape', with (1 - xi)^2 shape''
# Work, per mode of the current arm: delta, delta_dot, and the factors of the pairs in (E11) and (E12a)
SHAPE = 6


def pack(robot: Robot, exact: bool, rate: bool, flux: bool) -> FloatArray:
    """Return the model of an elastic chain as a flat array."""
    arms = robot.elastic
    n = len(arms.arm)
    head = np.zeros(HEAD)
    head[[ARMS, NV, EXACT, RATE, FLUX]] = n, robot.nv, exact, rate, flux
    head[GRAVITY : GRAVITY + 3] = robot.gravity
    rows, tables, owners = np.zeros((n, ROW)), [], np.zeros(robot.nv + 1)  # the last entry belongs to the bias
    end = HEAD + n * ROW
    for k, arm in enumerate(arms.arm):
        table = arm_table(robot, k)
        row, sleeve = rows[k], robot.parent[arm]
        count = int(np.sum(arms.body == arm))
        row[[AT, MODES, TABLE]] = robot.iv[sleeve], count, end
        row[TURN : TURN + 9] = robot.rotation[sleeve].ravel()
        row[[MOUTH, LENGTH, DENSITY]] = arms.mouth[k], arms.length[k], arms.density[k]
        row[SECTION : SECTION + 6] = arms.section_inertia[k][np.triu_indices(3)]
        owners[robot.iv[sleeve] : robot.iv[arm] + 1 + count] = k
        tables.append(table)
        end += len(table)
    head[OWNERS] = end
    return np.concatenate([head, rows.ravel(), *tables, owners])


def arm_table(robot: Robot, k: int) -> FloatArray:
    """Return the rows of arm k's modes, and the rows of its integrals, as a flat array."""
    arms = robot.elastic
    rows = np.flatnonzero(arms.body == arms.arm[k])
    found = [(int(arms.direction[row]), int(arms.order[row])) for row in rows]
    stiffness = {X: arms.axial[k], Y: arms.bending_z[k], Z: arms.bending_y[k], TORSION: arms.torsion[k]}
    ends = np.array([0.0, 1.0])
    head = np.zeros((len(found), MODE))
    for row, (direction, order) in zip(head, found, strict=True):
        bending = modes.is_bending(direction)
        b = modes.wave_number(direction, order)
        value, slope = modes.shape(direction, order, ends), modes.shape(direction, order, ends, 1)
        row[DIRECTION] = direction
        row[STIFFNESS] = stiffness[direction] * b ** (4 if bending else 2)  # (E25), without its power of l
        row[TIP] = value[1]
        # (E13): the tip turns by the slope about z, by minus the slope about y, by the twist about x
        row[ANGLE] = {X: 0.0, Y: slope[1], Z: -slope[1], TORSION: value[1]}[direction]
        row[ROOT] = 0.0 if bending else slope[0]
    return np.concatenate([head.ravel(), integrals(found).ravel()])


def integrals(found: list[tuple[int, int]]) -> FloatArray:
    """Return the table of integrals of an arm with the modes ``found``, shape (2 + 2 m, 2 + 3 m)."""
    xi, w = modes.nodes(max(order for _, order in found))
    value, slope, curve = (np.array([modes.shape(*mode, xi, d) for mode in found]) for d in range(3))
    left = 1.0 - xi
    # (E12b): Gamma = x + (1 - xi)/l sum delta shape' gives the weights (1 - xi) shape'
    weights = np.concatenate([np.ones((1, len(xi))), xi[None], value, left * slope])
    factors = np.stack([value, left * slope, left**2 * curve], axis=1).reshape(-1, len(xi))
    return np.asarray(weights * w @ np.concatenate([np.ones((1, len(xi))), xi[None], factors]).T)
