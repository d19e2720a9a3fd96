"""Loop closures over the generic scalar: residual, Jacobian A, rate A' v, and the wrenches that multipliers stand for.

The equations are those of `dynbench.robots.loops.closures`. A row of A is a unit wrench on body 2, its opposite on body
1, times the twists of the joints that move one of the two and not the other; all in world axes, moments about the world
origin. What is packed is a header, the tree (`tree.pack`), then one record per closure and one per coupling
(`dynbench.robots.couplings`), whose row of A is constant.
"""

from __future__ import annotations

import numpy as np

from dynbench.methods.kernels import orthogonal, tree
from dynbench.methods.kernels.linear import clear
from dynbench.methods.kernels.scalar import Buffer, Scalar, Tag, const, generic, index, load, splat, store
from dynbench.methods.kernels.tree import FREE, PRISMATIC, REVOLUTE, ROW, from_packed, iv, kind, parent, pose
from dynbench.methods.kernels.vectors import (
    Matrix,
    Vector,
    add,
    add3,
    const3,
    const9,
    cross,
    dot,
    load3,
    load9,
    matmul,
    mul,
    mulT,
    scale,
    store3,
    store9,
    sub,
    zero3,
)
from dynbench.robots.robot import FloatArray, IntArray, Robot

# Header: where in the model things begin, and how many there are
METHOD, CLOSURES, ACTUATED, DEPENDENT = 0, 1, 2, 3  # the method's own model, closure records, coordinates into v
BODIES, NV, NA, COUNT, EQUATIONS, KEPT = 4, 5, 6, 7, 8, 9  # EQUATIONS: all rows, KEPT: rows of A, the first RANK of
# them determine the motion
# where in the workspace things begin, behind the kinematics of `place` and `move`
RESIDUAL, JACOBIAN, FACTOR, RATE, FULL, SOLVED, SPARE, BASIS, MASS, REDUCED, FORCES, WRENCH, INNER = range(10, 23)
NEAR = 23  # 1 over the squared residual at which a state is too far from the loops
# nominal rank; of `nominal` alone: degrees of freedom, weights of the actuators, whether M may be singular, whether to
# close the loops to rounding, length of q, and more parts of the workspace
RANK, DOF, WEIGHTS, MASSLESS, THOROUGH, NQ = range(24, 30)
ROOTS, WEIGHTED, GRAM, DEFLATED, DIRECTIONS, FREE_MOTIONS, ACTUATION, OWN = range(30, 38)  # OWN: of one formulation
TABLE = 38  # numbers of one formulation, in the model
COUPLINGS, COUPLED = 39, 40  # where the records of couplings begin, and how many there are
HELD = 41  # 1 over the squared condition of the loops at which `projection` gives no number
TREE = 42  # the packed tree itself
FAR = 1e-2  # of the length of the loops, or m if that is longer; rad
SINGULAR = 1e-12  # 1 over the squared condition at which a state is singular
DOUBTFUL = 1e-6  # likewise where the rows have been chosen among redundant ones: others may be better there

# Closure record
BODY1, BODY2, R1, P1, R2, P2, ROWS, PATH = 0, 1, 2, 11, 14, 23, 26, 27
RECORD = 28  # then ROWS rows (turn, row of A or -1, u, w) and PATH joints (packed row, sign)
LINE, STEP = 8, 2

# Record of a coupling: row of A or -1, the two coordinates in q and in v, multiplier, offset, factor of the equation
ROW_OF_A, Q_JOINT, Q_LEADER, V_JOINT, V_LEADER, MULTIPLIER, OFFSET, FACTOR_OF = range(8)
COUPLING = 8

# Work rows, one per packed row: pose in world, velocities and accelerations at zero a
ROT, POS, W, V, WD, ACC = 0, 9, 12, 15, 18, 21
WORK = 24


def pack(
    robot: Robot, method: FloatArray, kept: IntArray, scale: FloatArray | None = None, rank: int | None = None
) -> FloatArray:
    """Return header, tree, closures, coordinates and the method's own model as one flat array.

    Parameters
    ----------
    method : ndarray
        The model that the method's kernels expect.
    kept : ndarray of int
        Rows of the loop equations that become rows of A, in this order.
    scale : ndarray, shape (m,)
        Factors of the equations, if any.
    rank : int
        How many of the kept rows, the first ones, determine the motion; default: all.
    """
    rows, loops = robot.loop_rows, robot.loops
    factor = np.ones(len(rows.closure)) if scale is None else scale
    packed = tree.pack(robot)
    frames = np.concatenate([np.eye(3)[None], packed.reshape(-1, ROW)[1:, tree.A : tree.A + 9].reshape(-1, 3, 3)])
    slot = {int(row): k for k, row in enumerate(kept)}
    records: list[float] = []
    for k in range(len(loops.body1)):
        ends = (
            (loops.body1[k] + 1, loops.rotation1[k], loops.translation1[k]),
            (loops.body2[k] + 1, loops.rotation2[k], loops.translation2[k]),
        )
        lines = np.flatnonzero(rows.closure == k)
        path = [(i + 1, rows.sign[lines[0], robot.iv[i]]) for i in range(robot.n) if rows.sign[lines[0], robot.iv[i]]]
        records += [float(ends[0][0]), float(ends[1][0])]
        for body, rotation, translation in ends:
            records += [*(frames[body].T @ rotation).ravel(), *(frames[body].T @ translation)]
        records += [len(lines), len(path)]
        for line in lines:
            records += [rows.turn[line], slot.get(int(line), -1), *(factor[line] * rows.u[line]), *rows.w[line]]
        records += [number for step in path for number in step]
    dependent = robot.loop_analysis.dependent
    coupled = _couplings(robot, slot, factor)
    parts = [np.zeros(TREE), packed, np.array(records), robot.actuated, dependent, coupled, method]
    starts = np.cumsum([0] + [part.size for part in parts])
    counts = [robot.n, robot.nv, len(robot.actuated), len(loops.body1), len(rows.closure), len(kept)]
    parts[0][:NEAR] = [starts[6], starts[2], starts[3], starts[4], *counts, *layout(robot, len(kept))]
    parts[0][COUPLINGS], parts[0][COUPLED] = starts[5], len(robot.couplings.joint)
    parts[0][RANK] = len(kept) if rank is None else rank
    parts[0][HELD] = SINGULAR if parts[0][RANK] == len(kept) else DOUBTFUL
    parts[0][NEAR] = 1.0 / (FAR * min(1.0, robot.loop_analysis.length)) ** 2
    return np.concatenate(parts).astype(np.float64)


def _couplings(robot: Robot, slot: dict[int, int], factor: FloatArray) -> FloatArray:
    """Return the records of all couplings; ``slot`` are the rows of A by the number of the equation."""
    joint, leader, multiplier, offset = robot.couplings
    first = len(robot.loop_rows.closure) - len(joint)
    kept = [slot.get(first + k, -1) for k in range(len(joint))]
    places = [robot.iq[joint], robot.iq[leader], robot.iv[joint], robot.iv[leader]]
    return np.column_stack([kept, *places, multiplier, offset, factor[first:]]).ravel()


def layout(robot: Robot, kept: int) -> list[int]:
    """Return where each part of the workspace begins; the last part is for the method's own kernels."""
    n, nv, na, m = robot.n, robot.nv, len(robot.actuated), len(robot.loop_rows.closure)
    sizes = [WORK * (n + 1), m, kept * nv, orthogonal.size(kept), kept, nv, kept, kept, na * nv, nv * nv, na * na, na,
             6 * n]  # fmt: skip
    return [int(start) for start in np.cumsum(sizes)]


@generic
def part(tag: Tag, model: Buffer, work: Buffer, which: int) -> Buffer:
    """The workspace from one of its parts on."""
    return work[index(model, which) * len(tag) :]


@generic
def place(tag: Tag, model: Buffer, q: Buffer, work: Buffer) -> None:
    """Fill poses in world."""
    packed = model[TREE : index(model, CLOSURES)]
    zero, one = splat(tag, 0.0), splat(tag, 1.0)
    store9(tag, work, ROT, (one, zero, zero, zero, one, zero, zero, zero, one))
    store3(tag, work, POS, zero3(tag))
    for i in range(1, index(model, BODIES) + 1):
        R, p = pose(tag, packed, i, q)
        u = parent(packed, i) * WORK
        if u > 0:
            outer = load9(tag, work, u + ROT)
            R = matmul(outer, R)
            p = add(load3(tag, work, u + POS), mul(outer, p))
        store9(tag, work, i * WORK + ROT, R)
        store3(tag, work, i * WORK + POS, p)


@generic
def move(tag: Tag, model: Buffer, v: Buffer, work: Buffer) -> None:
    """Fill velocities, and the accelerations at zero ``a``; world axes, no gravity."""
    packed = model[TREE : index(model, CLOSURES)]
    for k in range(W, WORK):
        store(tag, work, k, splat(tag, 0.0))
    for i in range(1, index(model, BODIES) + 1):
        o = i * WORK
        u = parent(packed, i) * WORK
        R = load9(tag, work, o + ROT)
        r = sub(load3(tag, work, o + POS), load3(tag, work, u + POS))
        w = load3(tag, work, u + W)
        wd = load3(tag, work, u + WD)
        carried = cross(w, r)
        linear = add(load3(tag, work, u + V), carried)
        acc = add(load3(tag, work, u + ACC), add(cross(wd, r), cross(w, carried)))
        joint = kind(packed, i)
        j = iv(packed, i)
        if joint == PRISMATIC:
            slide = scale(load(tag, v, j), (R[2], R[5], R[8]))
            twice = cross(w, slide)
            linear = add(linear, slide)
            acc = add(acc, add(twice, twice))
        elif joint == FREE:
            slide = mul(R, load3(tag, v, j))
            turn = mul(R, load3(tag, v, j + 3))
            linear = add(linear, slide)
            acc = add(acc, cross(add(add(w, w), turn), slide))
            wd = add(wd, cross(w, turn))
            w = add(w, turn)
        else:
            turn = scale(load(tag, v, j), (R[2], R[5], R[8])) if joint == REVOLUTE else mul(R, load3(tag, v, j))
            wd = add(wd, cross(w, turn))
            w = add(w, turn)
        store3(tag, work, o + W, w)
        store3(tag, work, o + V, linear)
        store3(tag, work, o + WD, wd)
        store3(tag, work, o + ACC, acc)


@generic
def fill_equations(tag: Tag, model: Buffer, q: Buffer, work: Buffer) -> None:
    """`place` the bodies, then fill residual and Jacobian in their parts of the workspace."""
    place(tag, model, q, work)
    equations(tag, model, q, work, part(tag, model, work, RESIDUAL), part(tag, model, work, JACOBIAN))


@generic
def fill_rates(tag: Tag, model: Buffer, v: Buffer, work: Buffer) -> None:
    """`move` the bodies, then fill A' v in its part of the workspace."""
    move(tag, model, v, work)
    rates(tag, model, work, part(tag, model, work, RATE))


@generic
def end(tag: Tag, model: Buffer, at: int, work: Buffer, body: int) -> tuple[Matrix, Vector]:
    """Frame of one end of a closure in world; ``at`` is the index of its rotation in the model."""
    R = load9(tag, work, body * WORK + ROT)
    place_in_world = add(load3(tag, work, body * WORK + POS), mul(R, const3(model, at + 9)))
    return matmul(R, const9(model, at)), place_in_world


@generic
def row_wrench(
    tag: Tag, model: Buffer, line: int, U_frame: Matrix, W_frame: Matrix, p2: Vector
) -> tuple[Vector, Vector]:
    """Force and moment about the world origin that a unit multiplier of this row means for body 2."""
    U = mul(U_frame, const3(model, line + 2))
    if index(model, line) == 1:
        return zero3(tag), cross(mul(W_frame, const3(model, line + 5)), U)
    return U, cross(p2, U)


@generic
def equations(tag: Tag, model: Buffer, q: Buffer, work: Buffer, c: Buffer, A: Buffer) -> None:
    """Fill residual (all rows, in order) and Jacobian (kept rows by nv); poses must have been placed."""
    packed = model[TREE : index(model, CLOSURES)]
    nv = index(model, NV)
    clear(tag, A, 0, index(model, KEPT) * nv)
    at = index(model, CLOSURES)
    count = 0
    for _ in range(index(model, COUNT)):
        U_frame, p1 = end(tag, model, at + R1, work, index(model, at + BODY1))
        W_frame, p2 = end(tag, model, at + R2, work, index(model, at + BODY2))
        lines = index(model, at + ROWS)
        steps = index(model, at + PATH)
        for k in range(lines):
            line = at + RECORD + k * LINE
            U = mul(U_frame, const3(model, line + 2))
            if index(model, line) == 1:
                store(tag, c, count, dot(U, mul(W_frame, const3(model, line + 5))))
            else:
                store(tag, c, count, dot(U, sub(p2, p1)))
            count += 1
            kept = index(model, line + 1)
            if kept >= 0:
                f, n = row_wrench(tag, model, line, U_frame, W_frame, p2)
                for step in range(steps):
                    entry = at + RECORD + lines * LINE + step * STEP
                    i = index(model, entry)
                    columns(tag, packed, i, index(model, entry + 1), f, n, A, kept * nv, work)
        at += RECORD + lines * LINE + steps * STEP
    for k in range(index(model, COUPLED)):
        at = index(model, COUPLINGS) + k * COUPLING
        factor, multiplier = const(model, at + FACTOR_OF), const(model, at + MULTIPLIER)
        leader = load(tag, q, index(model, at + Q_LEADER)) * multiplier + const(model, at + OFFSET)
        store(tag, c, count, (load(tag, q, index(model, at + Q_JOINT)) - leader) * factor)
        count += 1
        kept = index(model, at + ROW_OF_A)
        if kept >= 0:
            store(tag, A, kept * nv + index(model, at + V_JOINT), splat(tag, factor))
            store(tag, A, kept * nv + index(model, at + V_LEADER), splat(tag, -(factor * multiplier)))


@generic
def columns(
    tag: Tag, packed: Buffer, i: int, sign: int, f: Vector, n: Vector, A: Buffer, row: int, work: Buffer
) -> None:
    """Write the components of a wrench along the axes of joint i: entries of one row of A."""
    R = load9(tag, work, i * WORK + ROT)
    here = sub(n, cross(load3(tag, work, i * WORK + POS), f))  # moment about the body's origin
    joint = kind(packed, i)
    j = row + iv(packed, i)
    if joint == REVOLUTE:
        store(tag, A, j, sign * dot((R[2], R[5], R[8]), here))
    elif joint == PRISMATIC:
        store(tag, A, j, sign * dot((R[2], R[5], R[8]), f))
    else:
        if joint == FREE:
            store3(tag, A, j, scale(sign, mulT(R, f)))
            j += 3
        store3(tag, A, j, scale(sign, mulT(R, here)))


@generic
def rates(tag: Tag, model: Buffer, work: Buffer, rate: Buffer) -> None:
    """Fill A' v of the kept rows; bodies must have been moved."""
    at = index(model, CLOSURES)
    for _ in range(index(model, COUNT)):
        one, two = index(model, at + BODY1), index(model, at + BODY2)
        U_frame, _p1 = end(tag, model, at + R1, work, one)
        W_frame, p2 = end(tag, model, at + R2, work, two)
        v1, a1 = point(tag, work, one, p2)
        v2, a2 = point(tag, work, two, p2)
        w1 = load3(tag, work, one * WORK + W)
        w2 = load3(tag, work, two * WORK + W)
        carried = cross(w1, sub(v2, v1))
        slide = sub(sub(a2, a1), add(carried, carried))
        lines = index(model, at + ROWS)
        for k in range(lines):
            line = at + RECORD + k * LINE
            kept = index(model, line + 1)
            if kept >= 0:
                U = mul(U_frame, const3(model, line + 2))
                if index(model, line) == 1:
                    X = mul(W_frame, const3(model, line + 5))
                    store(tag, rate, kept, turn_rate(tag, work, one, two, U, X, w1, w2))
                else:
                    store(tag, rate, kept, dot(U, slide))
        at += RECORD + lines * LINE + index(model, at + PATH) * STEP
    for k in range(index(model, COUPLED)):
        kept = index(model, index(model, COUPLINGS) + k * COUPLING + ROW_OF_A)
        if kept >= 0:
            store(tag, rate, kept, splat(tag, 0.0))


@generic
def point(tag: Tag, work: Buffer, i: int, x: Vector) -> tuple[Vector, Vector]:
    """Velocity and acceleration of the point of body row i that is at x."""
    o = i * WORK
    r = sub(x, load3(tag, work, o + POS))
    w = load3(tag, work, o + W)
    turned = cross(w, r)
    acc = add(load3(tag, work, o + ACC), add(cross(load3(tag, work, o + WD), r), cross(w, turned)))
    return add(load3(tag, work, o + V), turned), acc


@generic
def turn_rate(
    tag: Tag, work: Buffer, one: int, two: int, U: Vector, X: Vector, w1: Vector, w2: Vector
) -> Scalar:
    """Second derivative of U . X at zero a, U fixed in body row ``one``, X in ``two``."""
    U1 = cross(w1, U)
    X1 = cross(w2, X)
    U2 = add(cross(load3(tag, work, one * WORK + WD), U), cross(w1, U1))
    X2 = add(cross(load3(tag, work, two * WORK + WD), X), cross(w2, X1))
    cross_term = dot(U1, X1)
    return dot(U2, X) + dot(U, X2) + cross_term + cross_term


@generic
def actuate(tag: Tag, model: Buffer, tau: Buffer, full: Buffer) -> None:
    """Fill forces of all coordinates: those of the actuators, zero elsewhere."""
    clear(tag, full, 0, index(model, NV))
    for j in range(index(model, NA)):
        store(tag, full, index(model, index(model, ACTUATED) + j), load(tag, tau, j))


@generic
def external_wrenches(tag: Tag, model: Buffer, wrench: Buffer, work: Buffer) -> Buffer:
    """Return a copy of the external wrenches, zeros for None, to which others can be added."""
    outer = part(tag, model, work, WRENCH)
    count = 6 * index(model, BODIES)
    clear(tag, outer, 0, count)
    if wrench is not None:
        for k in range(count):
            store(tag, outer, k, load(tag, wrench, k))
    return outer


@generic
def add_wrenches(tag: Tag, model: Buffer, work: Buffer, multiplier: Buffer, wrench: Buffer) -> None:
    """Add the loop forces of the multipliers to the wrenches (6 per body, body axes, at its origin).

    Those of couplings act along the axes of joints, as motors do, and are no wrenches on bodies.
    """
    packed = model[TREE : index(model, CLOSURES)]
    at = index(model, CLOSURES)
    for _ in range(index(model, COUNT)):
        one, two = index(model, at + BODY1), index(model, at + BODY2)
        U_frame, _p1 = end(tag, model, at + R1, work, one)
        W_frame, p2 = end(tag, model, at + R2, work, two)
        lines = index(model, at + ROWS)
        f, n = zero3(tag), zero3(tag)
        for k in range(lines):
            line = at + RECORD + k * LINE
            kept = index(model, line + 1)
            if kept >= 0:
                x = load(tag, multiplier, kept)
                unit_f, unit_n = row_wrench(tag, model, line, U_frame, W_frame, p2)
                f = add(f, scale(x, unit_f))
                n = add(n, scale(x, unit_n))
        for side in range(2):
            i = two if side == 0 else one
            sign = 1.0 if side == 0 else -1.0
            if i > 0:
                R = load9(tag, work, i * WORK + ROT)
                here = sub(n, cross(load3(tag, work, i * WORK + POS), f))
                add3(tag, wrench, 6 * i - 6, scale(sign, from_packed(packed, i, mulT(R, f))))
                add3(tag, wrench, 6 * i - 3, scale(sign, from_packed(packed, i, mulT(R, here))))
        at += RECORD + lines * LINE + index(model, at + PATH) * STEP
