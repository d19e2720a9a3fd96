"""Recursive kinematics (23)-(28): from the ground outward, in each link's own axes.

A row keeps the velocity u_i of its *joint*, not of its centre of mass: the two vectors that the equations of motion
need of a joint are u_i and Omega_i, and V_i = u_i - [[R_i]] Omega_i follows. R below is [C_{i-1}^i]^T, link to parent.

Dots are derivatives of components. Gravity is an acceleration -g of the ground: the derivative of V occurs in the
equations only through momenta, so the same term acts at every centre of mass.
"""

from __future__ import annotations

from dynbench.methods.boltzmann_hamel.model import body_count
from dynbench.methods.kernels.scalar import Buffer, Tag, generic, load, splat
from dynbench.methods.kernels.tree import COM, FREE, REVOLUTE, ROW, P, ground_acceleration, iv, kind, parent, pose
from dynbench.methods.kernels.vectors import Vector, add, const3, cross, load3, mulT, store3, store9, sub, zero3

# What a work row begins with, by offset
ROT = 0  # [C_{i-1}^i]^T, link to parent (9)
U, OMEGA = 9, 12  # velocity of the joint, absolute angular velocity (3 each)
U_DOT, OMEGA_DOT = 15, 18  # their components' derivatives (3 each)
KINEMATICS = 21


@generic
def outward(tag: Tag, model: Buffer, i: int, q: Buffer, v: Buffer, a: Buffer, work: Buffer, stride: int) -> None:
    """Fill the beginning of work row ``i`` from its parent's."""
    o = i * stride
    R, _ = pose(tag, model, i, q)
    store9(tag, work, o + ROT, R)
    parent_row = parent(model, i) * stride
    joint = kind(model, i)
    j = iv(model, i)
    u_dot = load3(tag, work, parent_row + U_DOT)
    if joint == FREE:  # the base: V0 and omega0 are absolute
        # (28) every arm starts with V0 and omega0
        u = load3(tag, v, j)
        omega = load3(tag, v, j + 3)
        u_dot = add(mulT(R, u_dot), load3(tag, a, j))
        omega_dot = load3(tag, a, j + 3)
    else:
        # (25) from joint to joint: R_{i-1} + r_{i-1}
        s = const3(model, i * ROW + P)  # R_{i-1} + r_{i-1}, from joint to joint
        omega_parent = load3(tag, work, parent_row + OMEGA)
        omega_dot_parent = load3(tag, work, parent_row + OMEGA_DOT)
        # (24), (27): the parent's motion seen at the joint from link i, g = C Omega and u = C (V - [[r]] Omega)
        g = mulT(R, omega_parent)
        u = mulT(R, sub(load3(tag, work, parent_row + U), cross(s, omega_parent)))
        # their derivatives, with C' = -[[omega_i]] C
        # (13) erratum: printed C' = -[[omega]] C = 0
        g_dot = mulT(R, omega_dot_parent)
        u_dot = mulT(R, sub(u_dot, cross(s, omega_dot_parent)))
        if joint == REVOLUTE:
            rate = load(tag, v, j)
            u_dot = (u_dot[0] + rate * u[1], u_dot[1] - rate * u[0], u_dot[2])
            omega_dot = (g_dot[0] + rate * g[1], g_dot[1] - rate * g[0], g_dot[2] + load(tag, a, j))
            omega = (g[0], g[1], g[2] + rate)
        else:
            rates = load3(tag, v, j)
            u_dot = sub(u_dot, cross(rates, u))
            omega_dot = add(sub(g_dot, cross(rates, g)), load3(tag, a, j))
            omega = add(g, rates)
    store3(tag, work, o + U, u)
    store3(tag, work, o + OMEGA, omega)
    store3(tag, work, o + U_DOT, u_dot)
    store3(tag, work, o + OMEGA_DOT, omega_dot)


@generic
def start(tag: Tag, model: Buffer, work: Buffer) -> None:
    """Fill the ground's row: at rest, with gravity as its acceleration."""
    store3(tag, work, U, zero3(tag))
    store3(tag, work, OMEGA, zero3(tag))
    store3(tag, work, U_DOT, ground_acceleration(tag, model))
    store3(tag, work, OMEGA_DOT, zero3(tag))


@generic
def rotations(tag: Tag, model: Buffer, q: Buffer, work: Buffer, stride: int) -> None:
    """Only the rotations of all work rows: what a mass matrix needs."""
    for i in range(1, body_count(model) + 1):
        R, _ = pose(tag, model, i, q)
        store9(tag, work, i * stride + ROT, R)


@generic
def at_com(model: Buffer, i: int, u: Vector, omega: Vector) -> Vector:
    """(27): V_i = u_i - [[R_i]] Omega_i; the same for their derivatives."""
    return sub(u, cross(const3(model, i * ROW + COM), omega))


@generic
def relative_rate(tag: Tag, model: Buffer, i: int, v: Buffer) -> Vector:
    """omega_i = H_i eta_i: angular velocity of row ``i`` relative to its parent, own axes."""
    joint = kind(model, i)
    j = iv(model, i)
    if joint == REVOLUTE:
        return splat(tag, 0.0), splat(tag, 0.0), load(tag, v, j)
    return load3(tag, v, j + 3) if joint == FREE else load3(tag, v, j)
