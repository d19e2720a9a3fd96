"""The 3RRR robot on virtual springs, written out by hand: Lagrange's equations of the cut legs and of the platform.

Nothing here comes from the methods: the kinetic energy of a leg is that of a double pendulum, the springs' force is
minus the gradient of V = 1/2 K_s sum c_i^2, differentiated by hand from

    c_j = O_j + l_1 u(theta_1) + l_2 u(theta_1 + theta_2) - (x, y) - R(theta_P) b_j ,        u(a) = (cos a, sin a)

So it is LVS derived a second time, and a place to try what the paper says of the constraints: that c must be the
elongations of the springs. `CONSTRAINTS` are other choices of c and A. Numbers are those of Table 1, horizontal plane.

    c, A    as above, in world axes; q = (theta_1, theta_2 of legs I to III, x, y, theta_P)
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynbench.benchmarks.papers.virtual_spring_denoc.experiment import LAP, Replay, replay, rose
from dynbench.benchmarks.simulation.inputs import Torques
from dynbench.benchmarks.simulation.integrators import copied, integrate
from dynbench.robots.robot import FloatArray

L1, L2, BASE, PLATFORM = 0.4, 0.6, 1.2, 0.4  # m, Table 1
M1, M2, MP, I1, I2, IP = 3.0, 4.0, 8.0, 0.04, 0.12, 0.0817  # kg, kg m^2, Table 1
CORNERS = np.deg2rad([210.0, 330.0, 90.0])  # of both triangles, chosen

# What stands for c and A in -A^T K_s c, and whether the paper's condition (c is the elongation) is met
CONSTRAINTS = {
    "elongations, world axes": True,
    "elongations, link axes, with their own A": True,
    "sinh(5 c)/5, with its own A": False,
    "sums and differences of elongations, with their own A": False,
    "squares of elongations, with their own A": False,
    "elongations in link axes with A of world axes": False,
}
GOOD = 1e-2  # m: how far loops of springs of 1e5 N/m may open where the constraints do their work
RANK = 4.0  # how many times less they must open at 1e5 than at 1e4: with a full-rank A, ten times
STIFF = (1e3, 1e4, 1e5)


def constraint(kind: int, c: Any, A: Any, angles: Any, out: Any, J: Any) -> None:
    """Fill the constraint vector (6,) and its matrix (6, 9) from elongations in world axes; ``angles`` of links 2."""
    for i in range(6):
        out[i] = c[i]
        for k in range(9):
            J[i, k] = A[i, k]
    if kind == 1 or kind == 5:
        for j in range(3):
            s, d = np.sin(angles[j]), np.cos(angles[j])
            x, y = c[2 * j], c[2 * j + 1]
            out[2 * j], out[2 * j + 1] = d * x + s * y, d * y - s * x
            if kind == 1:  # their own gradient: link axes turn with theta_1 + theta_2
                for k in range(9):
                    J[2 * j, k] = d * A[2 * j, k] + s * A[2 * j + 1, k]
                    J[2 * j + 1, k] = d * A[2 * j + 1, k] - s * A[2 * j, k]
                for k in (2 * j, 2 * j + 1):
                    J[2 * j, k] += out[2 * j + 1]
                    J[2 * j + 1, k] -= out[2 * j]
    elif kind == 2:
        for i in range(6):
            out[i] = np.sinh(5.0 * c[i]) / 5.0
            for k in range(9):
                J[i, k] = np.cosh(5.0 * c[i]) * A[i, k]
    elif kind == 3:
        for a in range(2):  # I - II, (II - III)/2, 0.4 (I + II + III) of each axis
            one, two, three = c[a], c[2 + a], c[4 + a]
            out[a], out[2 + a], out[4 + a] = one - two, 0.5 * (two - three), 0.4 * (one + two + three)
            for k in range(9):
                first, second, third = A[a, k], A[2 + a, k], A[4 + a, k]
                J[a, k], J[2 + a, k] = first - second, 0.5 * (second - third)
                J[4 + a, k] = 0.4 * (first + second + third)
    elif kind == 4:
        for i in range(6):
            out[i] = c[i] * c[i]
            for k in range(9):
                J[i, k] = 2.0 * c[i] * A[i, k]


def accelerations(q: Any, v: Any, tau: Any, stiffness: float, kind: int, corners: Any, a: Any) -> None:
    """Fill the nine accelerations: three double pendulums and a free platform, joined by springs."""
    c, A = np.zeros(6), np.zeros((6, 9))
    out, J, angles = np.zeros(6), np.zeros((6, 9)), np.zeros(3)
    for j in range(3):
        t1, t2, tp = q[2 * j], q[2 * j] + q[2 * j + 1], q[8]
        ox, oy = BASE / np.sqrt(3.0) * np.cos(corners[j]), BASE / np.sqrt(3.0) * np.sin(corners[j])
        bx, by = PLATFORM / np.sqrt(3.0) * np.cos(corners[j] + tp), PLATFORM / np.sqrt(3.0) * np.sin(corners[j] + tp)
        lx, ly, nx, ny = L1 * np.cos(t1), L1 * np.sin(t1), L2 * np.cos(t2), L2 * np.sin(t2)
        c[2 * j], c[2 * j + 1] = ox + lx + nx - q[6] - bx, oy + ly + ny - q[7] - by
        A[2 * j, 2 * j], A[2 * j + 1, 2 * j] = -(ly + ny), lx + nx
        A[2 * j, 2 * j + 1], A[2 * j + 1, 2 * j + 1] = -ny, nx
        A[2 * j, 6] = A[2 * j + 1, 7] = -1.0
        A[2 * j, 8], A[2 * j + 1, 8] = by, -bx
        angles[j] = t2
    constraint(kind, c, A, angles, out, J)
    for k in range(9):
        force = 0.0
        for i in range(6):
            force -= J[i, k] * stiffness * out[i]
        a[k] = force
    for j in range(3):
        one, two = 2 * j, 2 * j + 1
        cosine, sine = np.cos(q[two]), np.sin(q[two])
        m22 = I2 + M2 * 0.25 * L2 * L2
        m12 = m22 + M2 * 0.5 * L1 * L2 * cosine
        m11 = I1 + M1 * 0.25 * L1 * L1 + m22 + M2 * (L1 * L1 + L1 * L2 * cosine)
        h = M2 * 0.5 * L1 * L2 * sine
        f1 = a[one] + tau[j] + h * v[two] * (2.0 * v[one] + v[two])
        f2 = a[two] - h * v[one] * v[one]
        determinant = m11 * m22 - m12 * m12
        a[one], a[two] = (m22 * f1 - m12 * f2) / determinant, (m11 * f2 - m12 * f1) / determinant
    a[6], a[7], a[8] = a[6] / MP, a[7] / MP, a[8] / IP


@functools.cache
def _function() -> Any:
    """The equations as f(t, y*, y'*, data*), as the integrators in machine code take them; kept on disk."""
    import numba
    from numba import types
    from numba.extending import register_jitable

    from dynbench.benchmarks.simulation.equations import _torque_at
    from dynbench.methods.kernels import cache
    from dynbench.methods.kernels.compiled import register_pending
    from dynbench.methods.kernels.jit import DRIVER
    from dynbench.methods.kernels.memory import pointer

    register_pending()
    register_jitable(constraint)
    names = {**globals(), "carray": numba.carray, "pointer": pointer}
    names["rates"], names["torque_at"] = register_jitable(accelerations), register_jitable(_torque_at)
    address = types.uintp
    with cache.numba_cache(__name__) as file:
        return numba.cfunc(types.void(types.float64, address, address, address), cache=file is not None, **DRIVER)(
            copied(_evaluate, f"{__name__}.", names)
        )


carray: Any = None  # this and the next three stand for what the compiled copy of `_evaluate` has as globals
pointer: Any = None
rates: Any = None
torque_at: Any = None


def _evaluate(t: float, y_address: int, dy_address: int, address: int) -> None:
    """Fill y'. The data are K_s, the number of the constraint, the intervals of the torques and their period, the
    corners, then the coefficients.
    """
    head = carray(pointer(address), (7,))
    intervals = int(head[2])
    data = carray(pointer(address), (7 + 12 * intervals,))
    y, dy = carray(pointer(y_address), (18,)), carray(pointer(dy_address), (18,))
    tau = np.zeros(3)
    torque_at(t, data[7:].reshape((4, intervals, 3)), head[3], tau)
    dy[:9] = y[9:]
    rates(y[:9], y[9:], tau, head[0], int(head[1]), head[4:7], dy[9:])


@dataclass(frozen=True)
class Found:
    """A run of the springs, and how far the true loops opened."""

    t: FloatArray
    q: FloatArray
    v: FloatArray
    evaluations: int
    open_by: FloatArray  # sum of the elongations' sizes, m
    off_by: FloatArray  # of the platform from its prescribed place, m
    finished: bool


class Springs:
    """The hand-written equations, in the shape that integrators take: function, data, memory."""

    def __init__(self, case: Replay, stiffness: float, constraint: int = 0) -> None:
        torques = case.inputs
        assert isinstance(torques, Torques)
        coefficients = torques.coefficients
        head = [stiffness, constraint, coefficients.shape[1], torques.period, *CORNERS]
        self.data = np.concatenate([head, coefficients.ravel()])
        self.memory = np.zeros(1)
        self.function = _function()


def run(
    stiffness: float, constraint: int = 0, *, horizon: float | None = None, solver: str = "ode45", rtol: float = 1e-3,
    atol: float = 1e-6, limit: int = 4_000_000,
) -> Found:  # fmt: skip
    """Replay the torques of the rose with the hand-written springs."""
    case = replay()
    start = np.concatenate([case.q0, case.v0])
    equations: Any = Springs(case, stiffness, constraint)  # all that explicit integrators ask for
    steps = integrate(equations, start, horizon or case.horizon, solver, rtol, atol, limit)
    q = steps.y[:, :9]
    prescribed = rose(steps.t)[0][:, :2]
    opened = np.abs(case.robot.loop_residual(q)).sum(axis=1)
    off = np.linalg.norm(q[:, 6:8] - prescribed, axis=1)
    return Found(steps.t, q, steps.y[:, 9:], steps.evaluations, opened, off, steps.finished)


@functools.cache
def constraint_table(stiffnesses: Sequence[float] = STIFF) -> dict[str, list[float]]:
    """Return, by choice of constraints, the largest opening (m) in one lap for each stiffness; inf where it ran away.

    RK45 at rtol 1e-6, so that the integrator adds nothing.
    """
    found: dict[str, list[float]] = {}
    for number, name in enumerate(CONSTRAINTS):
        runs = [run(k, number, horizon=LAP, solver="RK45", rtol=1e-6, atol=1e-9, limit=400_000) for k in stiffnesses]
        found[name] = [float(one.open_by.max()) if one.finished else np.inf for one in runs]
    return found


def proper(openings: Sequence[float]) -> bool:
    """Whether loops stay closed and close further as springs get stiffer: what the paper calls a proper result."""
    return openings[-1] < GOOD and openings[-2] > RANK * openings[-1]
