"""Velocities from momenta by elimination, equations (3) to (8) of the package's docstring.

P = I^ V + beta with I^ as three blocks: P_f = A v + B w, P_n = B^T v + C w. Freedoms of a joint are eliminated one at a
time, the last first, as in the articulated-body algorithm, whose inertias these are; no bias wrenches are needed.
"""

from __future__ import annotations

from dynbench.methods.canonical_momenta.momenta import AXES, AXIS, BF, BN, IA, POS, ROT, VL, VW, WORK, carried
from dynbench.methods.kernels.inertia import congruence2, less_axis, shift_articulated, turned2
from dynbench.methods.kernels.scalar import Buffer, Tag, generic, load, store
from dynbench.methods.kernels.sweeps import to_parent
from dynbench.methods.kernels.tree import (
    REVOLUTE,
    axis_count,
    first_axis,
    is_last_child,
    is_leaf,
    iv,
    kind,
    parent,
)
from dynbench.methods.kernels.vectors import (
    add,
    congruence,
    dot,
    load3,
    load9,
    matmul,
    scale,
    store3,
    transpose,
    zero3,
)
from dynbench.methods.newton_euler.aba import column, component, pass_inertia, store_axis, with_children


@generic
def eliminate(tag: Tag, model: Buffer, i: int, p: Buffer, work: Buffer) -> None:
    """Inward: express the joint's velocities by the parent's twist, and pass I^ and beta to the parent."""
    o = i * WORK
    # (3), (4) with what the children left
    A, B, C = with_children(tag, model, i, work, o + IA)
    f, n = zero3(tag), zero3(tag)
    if not is_leaf(model, i):
        f, n = load3(tag, work, o + BF), load3(tag, work, o + BN)
    joint = kind(model, i)
    for k in range(axis_count(joint) - 1, -1, -1):
        axis = first_axis(joint) + k
        # (4) U = I^ S, D = S^T U
        uf, un, d = column(A, B, C, axis)
        inverse = 1.0 / d
        # (6)
        left = load(tag, p, iv(model, i) + k) - component(f, n, axis)
        store_axis(tag, work, o + AXES + k * AXIS, uf, un, inverse, left)
        # (4) I^ - U D^-1 U^T, (5) beta + U D^-1 u
        sf, sn = scale(inverse, uf), scale(inverse, un)
        A, B, C = less_axis(A, B, C, uf, un, sf, sn)
        f, n = add(f, scale(left, sf)), add(n, scale(left, sn))
    u = parent(model, i) * WORK
    if u > 0:
        # (4), (5) to the parent: X^T ... X
        R, r = load9(tag, work, o + ROT), load3(tag, work, o + POS)
        if joint == REVOLUTE:
            # the eliminated axis has no inertia left: the last column of B and row and column of C are zero
            A, B, C = shift_articulated(r, congruence(R, A), turned2(R, B), congruence2(R, C))
        else:
            B = matmul(matmul(R, B), transpose(R))
            A, B, C = shift_articulated(r, congruence(R, A), B, congruence(R, C))
        f, n = to_parent(R, r, f, n)
        pass_inertia(tag, model, i, A, B, C, work, u + IA)
        if not is_last_child(model, i):
            f, n = add(f, load3(tag, work, u + BF)), add(n, load3(tag, work, u + BN))
        store3(tag, work, u + BF, f)
        store3(tag, work, u + BN, n)


@generic
def substitute(tag: Tag, model: Buffer, i: int, out: Buffer, work: Buffer) -> None:
    """Outward: the joint's velocities from the parent's twist, then the body's twist."""
    o = i * WORK
    linear, w = carried(tag, model, i, work, VL, VW)
    store3(tag, work, o + VL, linear)
    store3(tag, work, o + VW, w)
    joint = kind(model, i)
    for k in range(axis_count(joint)):
        x = o + AXES + k * AXIS
        # (7)
        known = dot(load3(tag, work, x), load3(tag, work, o + VL))
        known = known + dot(load3(tag, work, x + 3), load3(tag, work, o + VW))
        rate = (load(tag, work, x + 7) - known) * load(tag, work, x + 6)
        store(tag, out, iv(model, i) + k, rate)
        # (8); v and w lie side by side, in the order of the axes
        at = o + VL + first_axis(joint) + k
        store(tag, work, at, load(tag, work, at) + rate)
