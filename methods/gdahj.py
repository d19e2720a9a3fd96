"""GDAHJ: the mass matrix by products of two vectors a joint, all in one frame.

M. Safeea, R. Bearee, P. Neto, Reducing the computational complexity of mass-matrix calculation for high DOF robots,
IROS 2018 (https://sam.ensam.eu, handle 10985/17376): the Geometric Dynamics Algorithm for High number of robot Joints.
The equations below were derived from its idea and compared with the authors' public program; of the article itself we
could read title, abstract and keywords, so the numbers are those of this docstring and not of the article.

A unit acceleration of joint j turns all bodies beyond it about its axis k_j through p_j: body b gets the angular
acceleration k_j and its centre of mass c_b the acceleration k_j x (c_b - p_j). M_ij, for j on the path from the ground
to i, is the component along k_i of the moment about p_i of the inertial forces of all bodies from i on. It is linear in
k_j and in k_j x p_j, with coefficients that do not depend on j. Sums marked "from i on" are over body i and all that it
carries; c are the children of i, s~ is the matrix of s x.

    (1)  s_i = sum from i on of m_b c_b
    (2)  E_i = sum from i on of I_b                                  inertias about the centres of mass
    (3)  C_i = -m_i (c_i - p_i)~ c_i~ + sum of (C_c - (p_c - p_i)~ s_c~)
    (4)  D_i = -m_i (c_i - p_i) + sum of (D_c - M_c (p_c - p_i))     M_c the mass from c on
    (5)  f_i = (C_i + E_i)^T k_i
    (6)  g_i = k_i x D_i
    (7)  M_ij = f_i . k_j + g_i . (k_j x p_j)

(7) takes 6 multiplications and 5 additions for each of n (n + 1) / 2 pairs; all else is O(n).

The source is for serial chains of revolute joints. Trees are a matter of the sums. A joint that also translates, along
k_j, gives the bodies the acceleration k_j, so that (7) becomes M_ij = -g_i . k_j, and in its own row

    (8)  f_i = s_i x k_i,   g_i = -M_i k_i                           the joint i translates along k_i

(3) is evaluated as a~ b~ = b a^T - (a . b) 1. (2) uses I_b = m 1 - a a^T - b b^T with two vectors to rotate, and the
last number of E_i from its trace, which does not depend on the state: two devices of the authors' program. The frame is
that of the root, the body on the ground, as in `newton_euler.crba`: M does not depend on the root's own pose. From
there are also the poses and the loop over pairs: (7) is the product of the wrench (-g_i; f_i) with the unit motion
(p_j x k_j; k_j), and C_i + E_i is the composite inertia about the origin plus p_i~ s_i~. GDAHJ is the
composite-rigid-body algorithm in one frame, with moments about p_i instead of the origin.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dynbench.methods.kernel_method import TreeMethod
from dynbench.methods.kernels import tree
from dynbench.methods.kernels.inertia import mul2
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic
from dynbench.methods.kernels.tree import (
    COM,
    I_AXES,
    I_MAX,
    MASS,
    ROW,
    SUBTREE_MASS,
    axis_count,
    body_count,
    first_axis,
    is_last_child,
    is_leaf,
    iv,
    kind,
    parent,
    velocity_count,
)
from dynbench.methods.kernels.vectors import (
    Matrix,
    Symmetric,
    Vector,
    add,
    add9,
    addsym,
    const3,
    cross,
    load3,
    load6,
    load9,
    mul,
    mulT,
    scale,
    store3,
    store6,
    store9,
    sub,
    zero3,
)
from dynbench.methods.newton_euler import crba
from dynbench.methods.newton_euler.crba import AXIS, BODY, C_H, C_J, POS, ROT, fill_row, place, turns
from dynbench.robots.robot import FloatArray, Robot

# Rows of bodies and axes as in `crba`, with s in slot C_H and E in C_J; then rows with C and D
C, D, SUMS = 0, 9, 12
WORK = crba.WORK + SUMS
TRACES = tree.J  # slot of the packed tree that this method does not need: trace of E, constant


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    bodies, nv = body_count(model), velocity_count(model)
    axes = work[(bodies + 1) * BODY * len(tag) :]
    sums = work[(bodies + 1) * crba.WORK * len(tag) :]
    turns(tag, model, q, work)
    # outward: poses and unit motions
    for i in range(1, bodies + 1):
        place(tag, model, i, q, work, axes)
        if is_leaf(model, i):
            store3(tag, work, i * BODY + C_H, zero3(tag))
            store3(tag, work, i * BODY + C_J, zero3(tag))
            store3(tag, work, i * BODY + C_J + 3, zero3(tag))
            for k in range(4):
                store3(tag, sums, i * SUMS + 3 * k, zero3(tag))
    # inward: the sums from the body on, then its rows of M
    for i in range(bodies, 0, -1):
        s, inertia, moment, arm = from_body_on(tag, model, i, work, sums)
        m = const(model, i * ROW + SUBTREE_MASS)
        both = add_symmetric(moment, inertia)
        joint = kind(model, i)
        for k in range(axis_count(joint)):
            row = iv(model, i) + k
            if first_axis(joint) + k < 3:
                # (8)
                axis = load3(tag, axes, row * AXIS + 3)
                f, g = cross(s, axis), scale(-m, axis)
            else:
                axis = load3(tag, axes, row * AXIS)
                # (5), (6)
                f, g = mulT(both, axis), cross(axis, arm)
            # (7)
            fill_row(tag, model, i, row, nv, (-g[0], -g[1], -g[2]), f, axes, out)
        give(tag, model, i, m, s, inertia, moment, arm, work, sums)


@generic
def from_body_on(
    tag: Tag, model: Buffer, i: int, work: Buffer, sums: Buffer
) -> tuple[Vector, Symmetric, Matrix, Vector]:
    """s, E, C and D of body row ``i``: its own part added to what its children gave."""
    o, w = i * ROW, i * BODY
    R = load9(tag, work, w + ROT)
    r = mul(R, const3(model, o + COM))
    c = add(load3(tag, work, w + POS), r)
    m = const(model, o + MASS)
    # (1)
    s = add(scale(m, c), load3(tag, work, w + C_H))
    # (2), the last number from the trace
    a, b = const3(model, o + I_AXES), (const(model, o + I_AXES + 3), const(model, o + I_AXES + 4))
    own = turned_inertia(const(model, o + I_MAX), R, a, b)
    e = load6(tag, work, w + C_J)
    xx, yy = e[0] + own[0], e[3] + own[3]
    zz = const(model, o + TRACES) - xx - yy
    inertia = (xx, e[1] + own[1], e[2] + own[2], yy, e[4] + own[4], zz)
    # (3), (4), the body's own part
    u = scale(m, r)
    moment = less_crosses(load9(tag, sums, i * SUMS + C), u, c)
    arm = sub(load3(tag, sums, i * SUMS + D), u)
    return s, inertia, moment, arm


@generic
def turned_inertia(
    largest: Scalar, R: Matrix, a: Vector, b: tuple[Scalar, Scalar]
) -> tuple[Scalar, Scalar, Scalar, Scalar, Scalar]:
    """R I R^T for I = largest 1 - a a^T - b b^T, for use in (2): xx, xy, xz, yy, yz. b has no third component."""
    a, c = mul(R, a), mul2(R, b)
    return (
        largest - a[0] * a[0] - c[0] * c[0],
        -(a[0] * a[1]) - c[0] * c[1],
        -(a[0] * a[2]) - c[0] * c[2],
        largest - a[1] * a[1] - c[1] * c[1],
        -(a[1] * a[2]) - c[1] * c[2],
    )


@generic
def give(
    tag: Tag, model: Buffer, i: int, m: float, s: Vector, inertia: Symmetric, moment: Matrix, arm: Vector,
    work: Buffer, sums: Buffer,
) -> None:  # fmt: skip
    """Add the sums of body row ``i`` to those of its parent; ``m`` is the mass from i on."""
    p = parent(model, i)
    if p > 0:
        u, at = p * BODY, p * SUMS
        l = sub(load3(tag, work, i * BODY + POS), load3(tag, work, u + POS))
        # (3), (4), what a child adds
        moment = less_crosses(moment, l, s)
        arm = sub(arm, scale(m, l))
        if not is_last_child(model, i):
            s = add(s, load3(tag, work, u + C_H))
            inertia = addsym(inertia, load6(tag, work, u + C_J))
            moment = add9(moment, load9(tag, sums, at + C))
            arm = add(arm, load3(tag, sums, at + D))
        store3(tag, work, u + C_H, s)
        store6(tag, work, u + C_J, inertia)
        store9(tag, sums, at + C, moment)
        store3(tag, sums, at + D, arm)


@generic
def less_crosses(A: Matrix, a: Vector, b: Vector) -> Matrix:
    """A - a~ b~, which is A + (a . b) 1 - b a^T"""
    x, y, z = a[0] * b[0], a[1] * b[1], a[2] * b[2]
    return (
        A[0] + (y + z), A[1] - b[0] * a[1], A[2] - b[0] * a[2],
        A[3] - b[1] * a[0], A[4] + (x + z), A[5] - b[1] * a[2],
        A[6] - b[2] * a[0], A[7] - b[2] * a[1], A[8] + (x + y),
    )  # fmt: skip


@generic
def add_symmetric(A: Matrix, S: Symmetric) -> Matrix:
    """A + S"""
    return (
        A[0] + S[0], A[1] + S[1], A[2] + S[2],
        A[3] + S[1], A[4] + S[3], A[5] + S[4],
        A[6] + S[2], A[7] + S[4], A[8] + S[5],
    )  # fmt: skip


class Gdahj(TreeMethod):
    """Mass matrix in O(n d), d the depth of the tree. Equations: (1)-(8)"""

    name: ClassVar[str] = "gdahj"
    title: ClassVar[str] = "GDAHJ (mass matrix in one frame)"
    reference: ClassVar[str] = "Safeea, Bearee, Neto (IROS 2018); derived and numbered in methods/gdahj.py"
    cost: ClassVar[str] = "O(n d), mass matrix"
    kernels: ClassVar = {"mass_matrix": mass_matrix}
    work: ClassVar = {"mass_matrix": WORK}

    def pack(self, robot: Robot) -> FloatArray:
        """Return the packed tree; slot `TRACES` has the trace of all inertias from the body on."""
        rows = tree.pack(robot).reshape(-1, ROW)
        traces = np.zeros(robot.n + 1)
        for i in range(robot.n, 0, -1):
            traces[i] += np.trace(robot.inertia[i - 1])
            traces[int(robot.parent[i - 1]) + 1] += traces[i]
        rows[1:, TRACES] = traces[1:]
        return rows.ravel()
