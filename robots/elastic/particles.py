"""Elastic arms as particles: positions, velocities and energy.

Source: Korayem, Shafei and co-workers, Modares Mechanical Engineering 13(1), 2013 (recursive Gibbs-Appell for elastic
revolute-prismatic manipulators), with choices of this project where the text is lost (`elastic_rp_chain`).

An arm is discretised into particles at Gauss-Legendre points outside and inside its sleeve. Only positions are
specified: a particle at the distance s from the mouth is, in the sleeve's frame,

    (h + s) x + sum_f delta_f shape_f(s/l)        outside, 0 < s < l
    (h + s) x                                     inside, l - L < s < 0

and s = X + l for a particle with the constant label X. Velocities are the rates of these positions, by dual numbers.
No equations of motion are used here, so energies are an independent check of the dynamics. q and v may be complex,
for derivatives by complex step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dynbench.robots import dual
from dynbench.robots.arrays import FloatArray
from dynbench.robots.dual import Array, Dual
from dynbench.robots.elastic import modes
from dynbench.robots.elastic.modes import TORSION, X, Y, Z

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot

INSIDE = np.polynomial.legendre.leggauss(3)  # exact for the second moment of length, the highest that is needed
TERMS = 16  # of the power series of a rotation: accurate to rounding up to half a turn


class Motion(NamedTuple):
    """All particles, and all body frames, of N states; world axes unless stated otherwise."""

    mass: Array  # (N, K)
    position: Array  # (N, K, 3)
    velocity: Array  # (N, K, 3)
    section: Array  # (N, K, 3, 3) rotary inertia of the particle's piece of arm, sleeve axes
    spin: Array  # (N, K, 3) angular velocity of the piece, sleeve axes
    origin: Dual  # (N, n, 3) of the body frames: a sleeve's, then its arm's at the deformed tip
    rotation: Dual  # (N, n, 3, 3)


def motion(robot: Robot, q: Array, v: Array) -> Motion:
    """Return the motion of every particle and body frame for q (N, nq), v (N, nv)."""
    N, arms = len(q), robot.elastic
    dtype = np.result_type(q, v)
    at = dual.constant(np.zeros((N, 3, 1), dtype))
    turn = dual.constant(np.broadcast_to(np.eye(3, dtype=dtype), (N, 3, 3)))
    points, frames = [], []
    for k, arm in enumerate(arms.arm):
        sleeve = robot.parent[arm]
        angle = Dual(q[:, robot.iq[sleeve]], v[:, robot.iv[sleeve]])
        turn = turn @ dual.constant(robot.rotation[sleeve].astype(dtype)) @ _about_z(angle)
        frames.append((at, turn))
        start, rows = robot.iq[arm], np.flatnonzero(arms.body == arm)
        l = Dual(q[:, start, None], v[:, robot.iv[arm], None])  # (N, 1), against the points of the arm
        amplitude = [Dual(q[:, start + 1 + i, None], v[:, robot.iv[arm] + 1 + i, None]) for i in range(len(rows))]
        kinds = [(int(arms.direction[row]), int(arms.order[row])) for row in rows]
        points.append(_particles(robot, k, at, turn, l, amplitude, kinds))
        place, bend = _tip(float(arms.mouth[k]), l, amplitude, kinds)
        at, turn = at + turn @ place, turn @ bend
        frames.append((at, turn))
    mass, position, velocity, section, spin = (np.concatenate(column, axis=1) for column in zip(*points, strict=True))
    origin = dual.stack([frame[0][..., 0] for frame in frames], axis=1)
    return Motion(mass, position, velocity, section, spin, origin, dual.stack([frame[1] for frame in frames], axis=1))


def kinetic(robot: Robot, q: Array, v: Array) -> Array:
    """Return the kinetic energy of N states in joules, shape (N,)."""
    moving = motion(robot, q, v)
    return 0.5 * pairing(moving, moving)


def pairing(a: Motion, b: Motion) -> Array:
    """Return sum mass v_a . v_b + spin_a . J spin_b, shape (N,): with itself, twice the kinetic energy."""
    linear = np.einsum("sk,ski,ski->s", a.mass, a.velocity, b.velocity)
    return np.asarray(linear + np.einsum("ski,skij,skj->s", a.spin, a.section, b.spin))


def potential(robot: Robot, q: Array) -> Array:
    """Return strain energy plus weight of N states in joules, zero for a straight robot at the world origin."""
    still = motion(robot, q, np.zeros((len(q), robot.nv)))
    return np.asarray(weight(robot, still) + strain(robot, q))


def weight(robot: Robot, placed: Motion) -> Array:
    """Return the energy of N states in the field of gravity in joules, shape (N,)."""
    return np.asarray(-np.einsum("sk,ski->si", placed.mass, placed.position) @ robot.gravity)


def strain(robot: Robot, q: Array) -> Array:
    """Return the strain energy of N states in joules, shape (N,)."""
    arms = robot.elastic
    energy = np.zeros(len(q), q.dtype)
    for k, arm in enumerate(arms.arm):
        l = q[:, robot.iq[arm]]
        rows = np.flatnonzero(arms.body == arm)
        xi, w = modes.nodes(int(arms.order[rows].max()))
        stiffness = {X: arms.axial[k], Y: arms.bending_z[k], Z: arms.bending_y[k], TORSION: arms.torsion[k]}
        for direction, value in stiffness.items():
            derivative = 2 if modes.is_bending(direction) else 1
            bent = np.zeros((len(q), len(xi)), q.dtype)
            for i, row in enumerate(rows):
                if arms.direction[row] == direction:
                    form = modes.shape(direction, int(arms.order[row]), xi, derivative)
                    bent = bent + q[:, robot.iq[arm] + 1 + i, None] * form
            energy = energy + 0.5 * value * (bent * bent @ w) / l ** (2 * derivative - 1)
    return np.asarray(energy)


def tip_deflection(robot: Robot, q: FloatArray) -> FloatArray:
    """Return the deflection of each tip, sleeve axes.

    Parameters
    ----------
    q : ndarray, shape (nq,) or (N, nq)

    Returns
    -------
    ndarray, shape (m, 3) or (N, m, 3), metres, for the m elastic arms
    """
    arms, rows = robot.elastic, np.atleast_2d(q)
    out = np.zeros((len(rows), len(arms.arm), 3))
    for k, arm in enumerate(arms.arm):
        for i, row in enumerate(np.flatnonzero(arms.body == arm)):
            direction = int(arms.direction[row])
            if direction != TORSION:
                at_tip = modes.shape(direction, int(arms.order[row]), np.ones(()))
                out[:, k, direction] += rows[:, robot.iq[arm] + 1 + i] * at_tip
    return out if np.ndim(q) == 2 else out[0]


def _particles(
    robot: Robot, k: int, at: Dual, turn: Dual, l: Dual, amplitude: list[Dual], kinds: list[tuple[int, int]]
) -> tuple[Array, ...]:
    """Return mass, position, velocity, section inertia and spin of arm k's particles, as `Motion` lists them."""
    arms = robot.elastic
    h, L = float(arms.mouth[k]), float(arms.length[k])
    xi, w = modes.nodes(max(order for _, order in kinds))
    # outside: s = X + l with the particle's label X constant, so s and xi = s/l change with l
    s = Dual(xi * l.value, l.rate)
    along = s / l
    axes = [s + h, dual.constant(0.0 * s.value), dual.constant(0.0 * s.value)]
    twist = dual.constant(0.0 * s.value)
    for delta, (direction, order) in zip(amplitude, kinds, strict=True):
        bent = delta * _shape(direction, order, along)
        if direction == TORSION:
            twist = twist + bent
        else:
            axes[direction] = axes[direction] + bent
    # inside: straight, from the rear end at l - L to the mouth
    behind = (l.value - L) * 0.5 * (1.0 - INSIDE[0])
    zero = dual.constant(0.0 * behind)
    inside = dual.stack([Dual(behind, l.rate) + h, zero, zero])
    outside = dual.stack(axes)
    r = Dual(*(np.concatenate(pair, axis=1) for pair in zip(*map(_parts, (outside, inside)), strict=True)))
    position = Dual(at.value[:, None], at.rate[:, None]) + Dual(turn.value[:, None], turn.rate[:, None]) @ r[..., None]
    stretch = np.concatenate([w * l.value, 0.5 * INSIDE[1] * (L - l.value)], axis=1)
    turning = turn.value.swapaxes(1, 2) @ turn.rate  # of the sleeve, as a skew matrix in its own axes
    omega = np.stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0]], axis=-1)
    spin = np.repeat(omega[:, None], stretch.shape[1], axis=1)
    spin[:, : len(xi), 0] += twist.rate
    section = stretch[..., None, None] * arms.section_inertia[k]
    return arms.density[k] * stretch, position.value[..., 0], position.rate[..., 0], section, spin


def _tip(h: float, l: Dual, amplitude: list[Dual], kinds: list[tuple[int, int]]) -> tuple[Dual, Dual]:
    """Return the tip's place (N, 3, 1) and its rotation (N, 3, 3) in the sleeve's frame."""
    zero = dual.constant(0.0 * l.value)
    place, theta = [l + h, zero, zero], [zero, zero, zero]
    end = np.ones(())
    for delta, (direction, order) in zip(amplitude, kinds, strict=True):
        if direction == TORSION:
            theta[0] = theta[0] + delta * modes.shape(direction, order, end)
            continue
        place[direction] = place[direction] + delta * modes.shape(direction, order, end)
        slope = delta * modes.shape(direction, order, end, 1) / l
        if direction == Y:
            theta[2] = theta[2] + slope
        elif direction == Z:
            theta[1] = theta[1] + -slope
    x, y, z = (angle[:, 0] for angle in theta)
    still = dual.constant(0.0 * x.value)
    skew = dual.stack([dual.stack([still, -z, y]), dual.stack([z, still, -x]), dual.stack([-y, x, still])], axis=1)
    # exp(skew) = 1 + a skew + b skew^2, by skew^3 = -square skew: a = sin/angle and b = (1 - cos)/angle^2 as series,
    # which have no singularity at zero: a = 1 - square/(2 3) (1 - square/(4 5) (...)), b = 1/2 (1 - square/(3 4) (...))
    square = x * x + y * y + z * z
    one = dual.constant(0.0 * x.value + 1.0)
    a, b = one, one
    for k in range(TERMS, 0, -1):
        a = one + square * a * (-1.0 / (2 * k * (2 * k + 1)))
        b = one + square * b * (-1.0 / ((2 * k + 1) * (2 * k + 2)))
    unit = np.broadcast_to(np.eye(3, dtype=x.value.dtype), skew.value.shape)
    rotation = a[:, None, None] * skew + b[:, None, None] * (skew @ skew) * 0.5 + unit
    return dual.stack([part[:, 0] for part in place])[..., None], rotation


def _shape(direction: int, order: int, xi: Dual) -> Dual:
    return Dual(modes.shape(direction, order, xi.value), modes.shape(direction, order, xi.value, 1) * xi.rate)


def _about_z(angle: Dual) -> Dual:
    s, c = dual.sin(angle), dual.cos(angle)
    zero, one = dual.constant(0.0 * s.value), dual.constant(0.0 * s.value + 1.0)
    return dual.stack([dual.stack([c, -s, zero]), dual.stack([s, c, zero]), dual.stack([zero, zero, one])], axis=1)


def _parts(x: Dual) -> tuple[Array, Array]:
    return x.value, np.broadcast_to(x.rate, x.value.shape)
