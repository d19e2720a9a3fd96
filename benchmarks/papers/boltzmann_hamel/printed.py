"""The Boltzmann-Hamel paper's equations as printed and as corrected, in plain numpy, to show what the misprints do.

Four misprints change numbers: (18) lacks a factor 1/2, (33) adds a scalar to a column, (51) has a wrong index and (52)
lacks a rotation. Everything here is a function of one state of a robot whose joints only turn. The equation numbers
given as ``printed`` are taken as they stand, all others corrected; with none, the numbers are those of the method.

E_i enters the equations of motion as a generalized force. So the motion that a misprint predicts is that of the right
equations under the additional force `error_force`, and any method can simulate it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynbench.robots import kinematics
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray, Robot


@dataclass(frozen=True)
class Link:
    """One body in its own axes, with the paper's symbols."""

    parent: int  # index among the links, -1 for the ground
    base: bool
    C: FloatArray  # from the parent's axes
    r: FloatArray  # from the parent's centre of mass to the joint, parent's axes
    R: FloatArray  # from the joint to the centre of mass
    H: FloatArray  # (3, k): omega_i = H eta
    m: float
    I: FloatArray  # about the centre of mass
    V: FloatArray  # velocity of the centre of mass
    Omega: FloatArray  # absolute angular velocity
    joint_velocity: FloatArray  # V_{i-1} - [[r]] Omega_{i-1}, parent's axes
    Omega_parent: FloatArray  # parent's axes


def skew(a: FloatArray) -> FloatArray:
    """Return [[a]] of (3), the matrix that takes b to a x b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def links(robot: Robot, q: FloatArray, v: FloatArray) -> list[Link]:
    """Return the bodies with their velocities, (24)-(28), parents before children."""
    found: list[Link] = []
    for i in range(robot.n):
        parent = int(robot.parent[i])
        rotation, shift, S = (x[0] for x in kinematics.joint_motion(robot, i, q[None]))
        rates = v[robot.iv[i] : robot.iv[i] + S.shape[1]]
        C, R, base = rotation.T, robot.com[i], robot.kind[i] == JointKind.FREE
        if parent < 0:
            r, at_joint, outer = shift, np.zeros(3), np.zeros(3)
        else:
            carrier = found[parent]
            r, outer = shift - carrier.R, carrier.Omega
            at_joint = carrier.V - skew(r) @ outer
        Omega = C @ outer + S[3:] @ rates  # (24)
        V = C @ at_joint + S[:3] @ rates - skew(R) @ Omega  # (27)
        found.append(Link(parent, base, C, r, R, S[3:], robot.mass[i], robot.inertia[i], V, Omega, at_joint, outer))
    return found


def E_terms(robot: Robot, q: FloatArray, v: FloatArray, printed: Collection[int] = ()) -> FloatArray:
    """Return H_i^T E_i of (47) for all joints, zeros for a base, shape (nv,)."""
    return _E_terms(robot, links(robot, q, v), printed)


def error_force(robot: Robot, q: FloatArray, v: FloatArray, printed: Collection[int]) -> FloatArray:
    """Return the generalized force that makes the right equations move as the printed ones say, shape (nv,)."""
    found = links(robot, q, v)
    return _E_terms(robot, found, ()) - _E_terms(robot, found, printed)


def _E_terms(robot: Robot, found: list[Link], printed: Collection[int]) -> FloatArray:
    terms = np.zeros(robot.nv)
    for i, link in enumerate(found):
        if link.base:
            continue
        seen = link.joint_velocity if 52 in printed else link.C @ link.joint_velocity
        B = {i: skew(link.C @ link.Omega_parent)}  # (50)
        A = {i: skew(seen) + B[i] @ skew(link.R)}  # (52)
        from_inner = {i: link.C}  # C_{i-1}^a
        for a in range(i + 1, len(found)):
            outer = found[a]
            if outer.parent not in B:
                continue
            from_inner[a] = outer.C @ from_inner[outer.parent]
            turn = from_inner[a] if 51 in printed else outer.C
            B[a] = B[outer.parent] @ turn.T  # (51)
            A[a] = (A[outer.parent] + B[outer.parent] @ skew(outer.r)) @ outer.C.T + B[a] @ skew(outer.R)  # (53)
        parts = [A[a] @ (found[a].m * found[a].V) + B[a] @ (found[a].I @ found[a].Omega) for a in B]
        E = np.sum(parts, axis=0)  # (47)
        terms[robot.iv[i] : robot.iv[i] + link.H.shape[1]] = link.H.T @ E
    return terms


def printed_bracket(theta: FloatArray | None = None, rates: FloatArray | None = None) -> float:
    """Return the size of the first bracket of (12) as printed, [[omega]] + D^-T (dD^T/dt - domega/dtheta), over "
    "omega's.

    By complex steps with 3-2-1 angles; corrected, with a minus, it is zero (14).
    """
    theta = np.array([0.4, -0.7, 1.1]) if theta is None else theta
    rates = np.array([0.9, -1.3, 0.6]) if rates is None else rates
    h = 1e-30

    def D(angles: Any) -> Any:
        (s1, s2, _), (c1, c2, _) = np.sin(angles), np.cos(angles)
        return np.array([[1, 0, -s2], [0, c1, s1 * c2], [0, -s1, c1 * c2]])

    slope = np.array([np.imag(D(theta + 1j * h * unit) @ rates) / h for unit in np.eye(3)])
    term = np.linalg.inv(D(theta)).T @ (np.imag(D(theta + 1j * h * rates)).T / h - slope)
    W = skew(D(theta) @ rates)
    return float(np.abs(W + term).max() / np.abs(W).max())


def kinetic_energy(robot: Robot, q: FloatArray, v: FloatArray, printed: Collection[int] = ()) -> float:
    """Return K of (18), joules; as printed, the links' rotational energy counts twice."""
    factor = 1.0 if 18 in printed else 0.5
    total = 0.0
    for link in links(robot, q, v):
        spin = link.Omega @ link.I @ link.Omega
        total += float(0.5 * link.m * link.V @ link.V + (0.5 if link.base else factor) * spin)
    return total


def base_angular_momentum(robot: Robot, q: FloatArray, v: FloatArray, printed: Collection[int] = ()) -> FloatArray:
    """Return dK/domega0 of (33) for a robot with one base at its centre of mass, base axes, shape (3,)."""
    found = links(robot, q, v)
    S, P = {0: np.eye(3)}, {0: np.zeros((3, 3))}
    total = found[0].I @ found[0].Omega
    for a, link in enumerate(found[1:], start=1):
        S[a] = S[link.parent] @ link.C.T  # (34)
        P[a] = (P[link.parent] + S[link.parent] @ skew(link.r)) @ link.C.T + S[a] @ skew(link.R)  # (36)
        spin = link.I @ link.Omega
        total = total + P[a] @ (link.m * link.V) + (link.Omega @ spin if 33 in printed else S[a] @ spin)
    return np.asarray(total)
