"""Mass matrix of the paper's form: the sum over bodies of its partial derivatives, O(n^3) an arm.

    M[x, y] = sum_a ( P_a(x) m_a P_a(y)^T + S_a(x) I_a S_a(y)^T )       for seeds x, y

P and S as in `recursions`; a one-axis joint takes the rows and columns of its axis, H^T P and H^T S. Two seeds on
different arms have no body in common (39), (40), so their block is zero. So is every block of two branches.
"""

from __future__ import annotations

from dynbench.methods.boltzmann_hamel.kinematics import KINEMATICS, ROT, rotations
from dynbench.methods.boltzmann_hamel.model import (
    body_count,
    com_to_joint,
    first_place,
    last_place,
    velocity_count,
    visited,
)
from dynbench.methods.kernels.inertia import full, times_cross
from dynbench.methods.kernels.linear import clear
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, load, splat, store
from dynbench.methods.kernels.tree import COM, FREE, I_COM, MASS, REVOLUTE, ROW, iv, kind, parent
from dynbench.methods.kernels.vectors import Matrix, Vector, add9, const3, const6, load9, matmul, store9, transpose

# Work rows: kinematics, every body's momenta and their rates, partial derivatives and their rates
M_V, I_OMEGA, M_V_DOT, I_OMEGA_DOT = KINEMATICS, KINEMATICS + 3, KINEMATICS + 6, KINEMATICS + 9
P, S, P_DOT, S_DOT = KINEMATICS + 12, KINEMATICS + 21, KINEMATICS + 30, KINEMATICS + 39
WORK = KINEMATICS + 48
A, B = P, S  # of E_i, when the partial derivatives of the same joint have been used up
SECOND = P_DOT  # P and S of a second seed
Z = P_DOT  # in the ground's row, which has no partial derivatives: the block of M under construction


@generic
def skew(tag: Tag, a: Vector) -> Matrix:
    """[[a]], which takes b to a x b"""
    # (3) the cross operator
    zero = splat(tag, 0.0)
    return (zero, -a[2], a[1], a[2], zero, -a[0], -a[1], a[0], zero)


@generic
def scaled(s: Scalar, A: Matrix) -> Matrix:
    return (s * A[0], s * A[1], s * A[2], s * A[3], s * A[4], s * A[5], s * A[6], s * A[7], s * A[8])


@generic
def start_partials(tag: Tag, model: Buffer, i: int, part: int, work: Buffer, at: int) -> None:
    """P and S of row ``i`` by its own velocity: V0 (part 0; (31)) or omega (part 1; (35), (37), (42), (44))."""
    c = const3(model, i * ROW + COM)
    if part == 0:
        store9(tag, work, i * WORK + at, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
        store9(tag, work, i * WORK + at + 9, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    else:
        store9(tag, work, i * WORK + at, (0.0, -c[2], c[1], c[2], 0.0, -c[0], -c[1], c[0], 0.0))
        store9(tag, work, i * WORK + at + 9, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))


@generic
def fill_partials(tag: Tag, model: Buffer, i: int, part: int, work: Buffer, at: int) -> None:
    """P and S, by one velocity of row ``i``, of everything that row carries: (30), (34), (36), (43), (45)."""
    # (32): the first link of an arm starts from the base's row by (30)
    start_partials(tag, model, i, part, work, at)
    for k in range(first_place(model, i) + 1, last_place(model, i) + 1):
        a = visited(model, k)
        parent_row = parent(model, a) * WORK + at
        R = load9(tag, work, a * WORK + ROT)
        s_parent = load9(tag, work, parent_row + 9)
        s = matmul(s_parent, R)
        joint = matmul(add9(load9(tag, work, parent_row), times_cross(s_parent, com_to_joint(model, a))), R)
        store9(tag, work, a * WORK + at, add9(joint, times_cross(s, const3(model, a * ROW + COM))))
        store9(tag, work, a * WORK + at + 9, s)


@generic
def mass_matrix(tag: Tag, model: Buffer, q: Buffer, out: Buffer, work: Buffer) -> None:
    rotations(tag, model, q, work, WORK)
    fill_mass_matrix(tag, model, out, 0, work)


@generic
def fill_mass_matrix(tag: Tag, model: Buffer, out: Buffer, at: int, work: Buffer) -> None:
    nv = velocity_count(model)
    clear(tag, out, at, nv * nv)
    # (39), (40): P and S are zero for bodies that x does not carry, so only y carried by x is visited
    for x in range(1, body_count(model) + 1):
        for part_x in range(first_part(model, x), 2):
            fill_partials(tag, model, x, part_x, work, P)
            for k in range(first_place(model, x), last_place(model, x) + 1):
                y = visited(model, k)
                for part_y in range(first_part(model, y), 2):
                    fill_partials(tag, model, y, part_y, work, SECOND)
                    sum_over_bodies(tag, model, y, work)
                    store_block(tag, model, x, part_x, y, part_y, out, at, nv, work)


@generic
def sum_over_bodies(tag: Tag, model: Buffer, y: int, work: Buffer) -> None:
    """One 3x3 block of M, left in the ground's row: every body that moves with both seeds moves with y."""
    zero = splat(tag, 0.0)
    block = (zero, zero, zero, zero, zero, zero, zero, zero, zero)
    for k in range(first_place(model, y), last_place(model, y) + 1):
        a = visited(model, k)
        o = a * WORK
        p = scaled(const(model, a * ROW + MASS), load9(tag, work, o + P))
        s = matmul(load9(tag, work, o + S), full(const6(model, a * ROW + I_COM)))
        block = add9(block, matmul(p, transpose(load9(tag, work, o + SECOND))))
        block = add9(block, matmul(s, transpose(load9(tag, work, o + SECOND + 9))))
    store9(tag, work, Z, block)


@generic
def first_part(model: Buffer, i: int) -> int:
    """A base has two velocities, V0 (0) and omega0 (1), a link only omega."""
    return 0 if kind(model, i) == FREE else 1


@generic
def component(model: Buffer, i: int) -> int:
    """The first of the components of omega_i that the joint leaves free; the others follow it."""
    return 2 if kind(model, i) == REVOLUTE else 0


@generic
def coordinate(model: Buffer, i: int, part: int) -> int:
    """The first index in v of a seed."""
    return iv(model, i) + (3 * part if kind(model, i) == FREE else 0)


@generic
def store_block(
    tag: Tag,
    model: Buffer,
    x: int,
    part_x: int,
    y: int,
    part_y: int,
    out: Buffer,
    at: int,
    nv: int,
    work: Buffer,
) -> None:
    """Write H_x^T Z H_y to its place in M, and its mirror image."""
    row = coordinate(model, x, part_x) - component(model, x)
    column = coordinate(model, y, part_y) - component(model, y)
    for r in range(component(model, x), 3):
        for c in range(component(model, y), 3):
            entry = load(tag, work, Z + 3 * r + c)
            store(tag, out, at + (row + r) * nv + column + c, entry)
            store(tag, out, at + (column + c) * nv + row + r, entry)
