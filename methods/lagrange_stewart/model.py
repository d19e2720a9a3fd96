"""The packed Gough-Stewart platform: a header, then one row per leg, in one flat array.

Leg rows are in the order of the actuators. They include indices of the tree (of coordinates in q and v, and of bodies),
so that the kernels take tree states and return tree accelerations.
"""

from __future__ import annotations

import numpy as np

from dynbench.robots.families.stewart_legs import require_parts
from dynbench.robots.robot import FloatArray, Robot

LEGS = 6

# Leg models
MASSLESS, LUMPED, FULL = 0, 1, 2

# What the header holds, by offset
MODEL = 0
IQ, IV, BODY = 1, 2, 3  # of the platform
MASS = 4
INERTIA = 5  # about the centre of mass, platform axes (6)
GRAVITY = 11  # (3)
SIZE = 14  # of the platform, metres: scales moments to forces
REACH = 15  # of the robot, metres: scale of leg lengths
HEAD = 16

# What a leg row holds, by offset
Q = 0  # indices of its first angle, second angle and length in q (3) and
V = 3  # in v (3)
BODIES = 6  # cross, lower part, upper part (3)
B = 9  # base point, world (3)
T = 12  # platform point, platform frame (3)
FRAME = 15  # R0, the universal joint's frame at zero (9); its third column is the first axis s
M1, C1, M2, C2 = 24, 25, 26, 27  # masses; l1/2 and l2/2, the distances of the centres of mass from the joints
I_LEG = 28  # I1 + I2, leg axes (6): both parts rotate together
M, KA, KB = 34, 35, 36  # lumped: whole mass, (m1 l1/2 - m2 l2/2) / M and m2 / M of (15), (33)
LEG = 37


def pack(robot: Robot, model: int) -> FloatArray:
    """Return the robot's numbers for one of the leg models as a flat array."""
    at = require_parts(robot)
    data = np.zeros(HEAD + LEGS * LEG)
    upper = np.triu_indices(3)
    data[MODEL] = model
    data[IQ], data[IV], data[BODY] = robot.iq[at.platform], robot.iv[at.platform], at.platform
    data[MASS] = at.platform_mass
    data[INERTIA : INERTIA + 6] = at.platform_inertia[upper]
    data[GRAVITY : GRAVITY + 3] = robot.gravity
    data[SIZE] = np.sqrt((at.platform_points**2).sum(axis=1).mean())
    data[REACH] = np.linalg.norm(at.base_points - at.base_points.mean(axis=0), axis=1).max()
    total = at.lower_mass + at.upper_mass
    over = np.divide(1.0, total, out=np.zeros(LEGS), where=total > 0.0)
    for i, row in enumerate(data[HEAD:].reshape(LEGS, LEG)):
        bodies = [at.cross[i], at.lower[i], at.upper[i]]
        row[Q : Q + 3], row[V : V + 3], row[BODIES : BODIES + 3] = robot.iq[bodies], robot.iv[bodies], bodies
        row[B : B + 3], row[T : T + 3] = at.base_points[i], at.platform_points[i]
        row[FRAME : FRAME + 9] = at.frame[i].ravel()
        row[[M1, C1, M2, C2]] = at.lower_mass[i], at.lower_com[i], at.upper_mass[i], at.upper_com[i]
        row[I_LEG : I_LEG + 6] = (at.lower_inertia[i] + at.upper_inertia[i])[upper]
        row[M] = total[i]
        # (15), (33): BG = (k_a + k_b L) u
        row[KA] = (at.lower_mass[i] * at.lower_com[i] - at.upper_mass[i] * at.upper_com[i]) * over[i]
        row[KB] = at.upper_mass[i] * over[i]
    return data
