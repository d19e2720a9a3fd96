"""DeNOC and virtual springs on the planar 3RRR: the experiments of Raoofian, Taghvaeipour, Kamali Eigoli (2017).

Torques that drive the platform along a rose, r = r0 cos 2 theta, one lap in 2 s, come from inverse dynamics; they are
then replayed for three laps by DeNOC of minimal order and by virtual springs of stiffness 10 to 1e8 N/m, with
Runge-Kutta 4/5 at relative tolerance 1e-3. Errors are e_c = log sum |c_i| and e_p = log |r - r_prescribed|.

The paper lost r0; 0.05 m is chosen here. Open-loop replay is an unstable motion (`floquet`): a perturbation grows
eightfold a lap at this r0, so e_p says as much of the orbit as of a method.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynbench import methods, robots
from dynbench.benchmarks.simulation.dormand_prince import Run, Torques, run
from dynbench.methods.denoc import Denoc, minimal
from dynbench.methods.kernels import closure
from dynbench.methods.virtual_spring import STIFFNESS, VirtualSpringDenoc
from dynbench.robots.robot import FloatArray, Robot

LAP, HORIZON, R0 = 2.0, 6.0, 0.05
STIFFNESSES = tuple(10.0**k for k in range(1, 9))
PRINTED_SECONDS = (0.576, 0.921, 1.648, 3.550, 11.898, 45.592, 160.600, 499.424)  # table 2, K_s = 1e1 to 1e8
MODAL_MASS = 1.2154  # kg: 1 / sqrt(smallest times largest eigenvalue of A I^-1 A^T), so that D_s = 2 zeta sqrt(K_s m)


def rose(t: FloatArray, r0: float = R0, angle: float = 0.0) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return pose (x, y, phi), rates and accelerations of the platform, shapes (N, 3)."""
    t = np.atleast_1d(t)
    w = 2.0 * np.pi / LAP
    three, one = np.exp(3j * w * t), np.exp(-1j * w * t)  # x + i y = r0/2 (exp 3iwt + exp -iwt)
    z = r0 / 2.0 * np.stack([three + one, 1j * w * (3.0 * three - one), -(w**2) * (9.0 * three + one)])
    still = np.stack([np.full_like(t, angle), np.zeros_like(t), np.zeros_like(t)])
    pose, rate, acceleration = (np.column_stack([a.real, a.imag, b]) for a, b in zip(z, still, strict=True))
    return pose, rate, acceleration


@dataclass(frozen=True)
class Replay:
    """A robot, where its replay begins, the torques, and the multipliers of the prescribed motion."""

    robot: Robot
    r0: float
    angle: float
    q0: FloatArray
    v0: FloatArray
    torques: Torques
    multipliers: Torques  # the same kind of spline, six numbers


@functools.cache
def replay(
    r0: float = R0, angle: float = 0.0, samples: int = 2000, gravity: tuple[float, float] = (0.0, 0.0)
) -> Replay:
    """Return the paper's experiment: torques along the rose, by inverse dynamics."""
    robot = robots.planar_3rrr(gravity=gravity)
    t = np.arange(samples) * LAP / samples
    q, v, a = robot.state_from_platform(*rose(t, r0, angle))
    solver = methods.get("newton-euler").prepare(robot)
    torques = Torques.through(solver.inverse_dynamics(q, v, a), LAP)
    return Replay(
        robot, r0, angle, q[0], v[0], torques, Torques.through(solver.multipliers(q, v, a), LAP)
    )


def by_denoc(
    case: Replay, rtol: float = 1e-3, atol: float = 1e-6, horizon: float = HORIZON, **start: FloatArray
) -> Run:
    """Replay by DeNOC of minimal order; ``q0``, ``v0`` may be given."""
    method, robot = Denoc(), case.robot
    rank = robot.loop_analysis.rank
    model = closure.pack(robot, method.pack(robot), robot.loop_analysis.independent)
    work = closure.layout(robot, rank)[-1] + max(
        method.work_size(robot, quantity) for quantity in ("inverse_dynamics", "mass_matrix")
    )
    q0, v0 = start.get("q0", case.q0), start.get("v0", case.v0)
    return run(minimal.right_hand_side, True, model, work, robot.actuated, q0, v0, case.torques, horizon, rtol, atol)


def by_springs(
    case: Replay,
    stiffness: float,
    damping: float = 0.0,
    rtol: float = 1e-3,
    atol: float = 1e-6,
    horizon: float = HORIZON,
    prestretch: bool = False,
    printed_sign: bool = False,
    limit: int = 4_000_000,
) -> Run:
    """Replay by virtual springs, all nine coordinates integrated."""
    method = VirtualSpringDenoc(stiffness=stiffness, damping=damping)
    model = method.pack(case.robot)
    if printed_sign:
        model[int(model[closure.METHOD]) + STIFFNESS] *= -1.0
    q0, v0 = prestretched(case, stiffness) if prestretch else (case.q0, case.v0)
    kernel, work = method.kernels["forward_dynamics"], method.work_size(case.robot, "forward_dynamics")
    return run(kernel, False, model, work, case.robot.actuated, q0, v0, case.torques, horizon, rtol, atol, limit)


def prestretched(case: Replay, stiffness: float) -> tuple[FloatArray, FloatArray]:
    """Return the start with c = -lambda/K_s and c' = -lambda'/K_s, by the smallest change of q and v."""
    robot, q, v = case.robot, case.q0, case.v0
    c = -case.multipliers(0.0) / stiffness
    width = LAP / case.multipliers.coefficients.shape[1]
    rate = -(case.multipliers(width) - case.multipliers(LAP - width)) / (2.0 * width) / stiffness
    for _ in range(3):
        A = robot.loop_jacobian(q)
        q = q + np.linalg.pinv(A) @ (c - robot.loop_residual(q))
    A = robot.loop_jacobian(q)
    return q, v + np.linalg.pinv(A) @ (rate - A @ v)


def measures(case: Replay, result: Run) -> dict[str, float]:
    """Return e_c and e_p as decimal logarithms, median and maximum over the accepted steps, and the evaluations."""
    c = np.abs(case.robot.loop_residual(result.q)).sum(axis=1)
    prescribed = rose(result.t, case.r0, case.angle)[0]
    p = np.linalg.norm(result.q[:, 6:8] - prescribed[:, :2], axis=1)[1:]
    logs = {
        "e_c median": np.median(c), "e_c max": c.max(), "e_p median": np.median(p), "e_p max": p.max(),
    }  # fmt: skip
    return {key: float(np.log10(max(value, 1e-300))) for key, value in logs.items()} | {
        "evaluations": float(result.evaluations)
    }


def reaction_error(
    case: Replay, result: Run, stiffness: float, damping: float = 0.0, after: float = 0.0, window: float = 0.0
) -> float:
    """Return the relative RMS error of -(K_s c + D_s c') as estimate of the multipliers of the prescribed motion.

    ``window`` seconds of Hann-weighted average are taken first when given.
    """
    t = np.linspace(after, result.t[-1], 6001)
    c = case.robot.loop_residual(result.q)
    rate = np.einsum("smc,sc->sm", case.robot.loop_jacobian(result.q), result.v)
    force = -(stiffness * c + damping * rate)
    estimate = np.column_stack([np.interp(t, result.t, column) for column in force.T])
    exact = np.array([case.multipliers(x) for x in t])
    if window:
        weights = np.hanning(max(3, round(window / (t[1] - t[0]))))
        weights /= weights.sum()
        estimate, exact = (
            np.column_stack([np.convolve(column, weights, mode="valid") for column in x.T]) for x in (estimate, exact)
        )
    return float(np.sqrt(((estimate - exact) ** 2).sum() / (exact**2).sum()))


def stiffness_table(stiffnesses: Sequence[float] = STIFFNESSES, r0: float = R0) -> list[dict[str, float]]:
    """Return a row for DeNOC (stiffness inf), then one for each stiffness: errors, evaluations, seconds."""
    case = replay(r0)
    rows = []
    for stiffness in (np.inf, *stiffnesses):
        exact = np.isinf(stiffness)
        once = functools.partial(by_denoc, case) if exact else functools.partial(by_springs, case, stiffness)
        once(horizon=1e-3)  # compiled before the clock starts
        start = time.perf_counter()
        result = once()
        seconds = time.perf_counter() - start
        error = 0.0 if exact else reaction_error(case, result, stiffness)
        rows.append({"stiffness": stiffness, **measures(case, result), "reaction error": error, "seconds": seconds})
    return rows


def blow_up(stiffness: float, r0: float = R0) -> float:
    """Return when the loops are open by more than a metre with the printed sign of the springs, seconds."""
    case = replay(r0)
    result = by_springs(case, stiffness, horizon=1.0, printed_sign=True, limit=20_000)
    open_by = np.abs(case.robot.loop_residual(result.q)).sum(axis=1)
    return float(result.t[np.argmax(open_by > 1.0)] if (open_by > 1.0).any() else np.inf)


def floquet(r0: float = R0, angle: float = 0.0) -> float:
    """Return the largest growth of a small perturbation over one lap of the replay."""
    case = replay(r0, angle)
    act, columns = case.robot.actuated, []
    for k in range(6):
        ends = []
        for step in (1e-6, -1e-6):
            q0, v0 = case.q0.copy(), case.v0.copy()
            (q0 if k < 3 else v0)[act[k % 3]] += step
            last = by_denoc(case, 1e-10, 1e-12, LAP, q0=q0, v0=v0)
            ends.append(np.concatenate([last.q[-1, act], last.v[-1, act]]))
        columns.append((ends[0] - ends[1]) / 2e-6)
    return float(np.abs(np.linalg.eigvals(np.column_stack(columns))).max())


def work_precision(
    stiffnesses: Sequence[float] = (1e4, 1e6),
    zetas: Sequence[float] = (0.0, 0.7),
    solvers: Sequence[str] = ("RK45", "DOP853", "Radau", "BDF", "LSODA"),
    tolerances: Sequence[float] = (1e-3, 1e-5),
    horizon: float = HORIZON,
    r0: float = R0,
    limit: int = 300_000,
) -> list[dict[str, Any]]:
    """Return evaluations, seconds and errors over stiffness x damping x solver x tolerance, by scipy's integrators.

    The right-hand side is the compiled kernel behind the solver's handle; stiff solvers difference it for their
    Jacobian, which counts. A run beyond ``limit`` right-hand sides is given up, and its row says so.
    """
    from scipy.integrate import solve_ivp

    case = replay(r0)
    nv, rows = case.robot.nv, []
    for stiffness in stiffnesses:
        for zeta in zetas:
            damping = 2.0 * zeta * np.sqrt(stiffness * MODAL_MASS)
            method = methods.get("virtual-spring-denoc", stiffness=stiffness, damping=damping)
            forward = method.prepare(case.robot).handle("forward_dynamics")
            for name in solvers:
                for rtol in tolerances:
                    count = 0

                    def rates(t: float, y: FloatArray, forward: Any = forward) -> FloatArray:
                        nonlocal count
                        count += 1
                        if count > limit:
                            raise StopIteration
                        dy = np.empty(2 * nv)
                        dy[:nv] = y[nv:]
                        forward(y[:nv].copy(), y[nv:].copy(), case.torques(t), None, dy[nv:])
                        return dy

                    row = {"stiffness": stiffness, "zeta": zeta, "solver": name, "rtol": rtol}
                    start = time.perf_counter()
                    try:
                        y0 = np.concatenate([case.q0, case.v0])
                        found = solve_ivp(rates, (0.0, horizon), y0, method=name, rtol=rtol, atol=1e-3 * rtol)
                    except StopIteration:
                        rows.append({**row, "reason": f"more than {limit} right-hand sides"})
                        continue
                    seconds = time.perf_counter() - start
                    result = Run(found.t, found.y[:nv].T, found.y[nv:].T, count, found.success)
                    error = reaction_error(case, result, stiffness, damping, after=min(0.5, 0.5 * horizon))
                    rows.append({**row, **measures(case, result), "reaction error": error, "seconds": seconds})
    return rows


def reaction_remedies(stiffnesses: Sequence[float] = (1e4, 1e5, 1e6), r0: float = R0) -> list[dict[str, float]]:
    """Return the reaction error against stiffness: as it is, averaged, pre-stretched, damped."""
    case = replay(r0)
    rows = []
    for stiffness in stiffnesses:
        damping = 1.4 * np.sqrt(stiffness * MODAL_MASS)  # zeta = 0.7
        tight = by_springs(case, stiffness, rtol=1e-7, atol=1e-10, horizon=2.0)
        damped = by_springs(case, stiffness, damping, rtol=1e-6, atol=1e-9)
        rows.append(
            {
                "stiffness": stiffness,
                "raw": reaction_error(case, by_springs(case, stiffness), stiffness),
                "averaged": reaction_error(case, tight, stiffness, window=0.1),
                "pre-stretched": reaction_error(case, by_springs(case, stiffness, prestretch=True), stiffness),
                "damped": reaction_error(case, damped, stiffness, damping, after=0.5),
            }
        )
    return rows
