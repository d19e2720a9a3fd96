"""DeNOC and virtual springs on the planar 3RRR: the replay of Raoofian, Taghvaeipour, Kamali Eigoli (2017).

Torques that drive the platform along a rose, r = r0 cos 2 theta, one lap in 2 s, come from inverse dynamics; they are
then replayed for three laps by DeNOC of minimal order and by virtual springs of stiffness 10 to 1e8 N/m, with
Runge-Kutta 4/5 at relative tolerance 1e-3. Errors are e_c = log sum |c_i| and e_p = log |r - r_prescribed|.

The paper lost r0; 0.05 m is chosen here. Open-loop replay is an unstable motion: a perturbation grows eightfold a lap
at this r0, so e_p says as much of the orbit as of a method.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dynbench import methods, robots
from dynbench.benchmarks.simulation.inputs import Torques
from dynbench.benchmarks.simulation.scenario import Measure, Recording, Scenario
from dynbench.methods.base import Method
from dynbench.methods.kernels import closure
from dynbench.methods.virtual_spring_denoc import STIFFNESS, VirtualSpringDenoc
from dynbench.robots.robot import FloatArray, Robot

PAPER = "virtual-spring-denoc"
LAP, HORIZON, R0 = 2.0, 6.0, 0.05
STIFFNESSES = tuple(10.0**k for k in range(1, 9))
PRINTED_SECONDS = (0.576, 0.921, 1.648, 3.550, 11.898, 45.592, 160.600, 499.424)  # table 2, K_s = 1e1 to 1e8
MODAL_MASS = 1.2154  # kg: 1 / sqrt(smallest times largest eigenvalue of A I^-1 A^T), so that D_s = 2 zeta sqrt(K_s m)
REPEATS = 3  # of a run whose time is taken; the least counts
ZETA = 0.7  # damping ratio where springs are damped; the paper has none


def rose(t: FloatArray, r0: float = R0, angle: float = 0.0) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return pose (x, y, phi), rates and accelerations of the platform, shapes (N, 3)."""
    t = np.atleast_1d(t)
    w = 2.0 * np.pi / LAP
    three, one = np.exp(3j * w * t), np.exp(-1j * w * t)  # x + i y = r0/2 (exp 3iwt + exp -iwt)
    z = r0 / 2.0 * np.stack([three + one, 1j * w * (3.0 * three - one), -(w**2) * (9.0 * three + one)])
    still = np.stack([np.full_like(t, angle), np.zeros_like(t), np.zeros_like(t)])
    pose, rate, acceleration = (np.column_stack([a.real, a.imag, b]) for a, b in zip(z, still, strict=True))
    return pose, rate, acceleration


@dataclass(frozen=True, eq=False)
class Replay(Scenario):
    """The replay of a rose, with the multipliers of the prescribed motion."""

    multipliers: Torques = field(kw_only=True)  # the same kind of spline, six numbers


@functools.cache
def replay(
    r0: float = R0, angle: float = 0.0, samples: int = 2000, gravity: tuple[float, float] = (0.0, 0.0)
) -> Replay:
    """Return the paper's experiment: torques along the rose, by inverse dynamics."""
    robot = robots.planar_3rrr(gravity=gravity)
    t = np.arange(samples) * LAP / samples
    q, v, a = robot.state_from_platform(*rose(t, r0, angle))
    solver = methods.get("newton-euler").prepare(robot)
    return Replay(
        name="rose-replay",
        title="three laps of a rose by a 3RRR robot, torques replayed",
        robot=robot,
        q0=q[0],
        v0=v[0],
        horizon=HORIZON,
        inputs=Torques.through(solver.inverse_dynamics(q, v, a), LAP),
        methods=("denoc",),
        measures={
            "loops open by": Measure(opening, "m"),
            "path off by": Measure(functools.partial(off_path, r0=r0, angle=angle), "m"),
        },
        solver="ode45",
        rtol=1e-3,
        atol=1e-6,
        multipliers=Torques.through(solver.multipliers(q, v, a), LAP),
    )


def opening(found: Recording) -> FloatArray:
    """Sum of the closures' residuals (K,), m."""
    return np.asarray(np.abs(found.robot.loop_residual(found.q)).sum(axis=1))


def off_path(found: Recording, r0: float, angle: float) -> FloatArray:
    """Distance of the platform from its prescribed place (K,), m."""
    prescribed = rose(found.t, r0, angle)[0]
    return np.asarray(np.linalg.norm(found.q[:, 6:8] - prescribed[:, :2], axis=1))


def springs(stiffness: float, zeta: float = 0.0) -> VirtualSpringDenoc:
    """Return springs of K_s (N/m) and a damping ratio, which becomes D_s = 2 zeta sqrt(K_s m)."""
    return VirtualSpringDenoc(stiffness=stiffness, damping=2.0 * zeta * float(np.sqrt(stiffness * MODAL_MASS)))


class PrintedSign(VirtualSpringDenoc):
    """Erratum: eqs. (13), (20) print +A^T K_s c, springs that push the ends apart."""

    def pack(self, robot: Robot) -> FloatArray:
        model = super().pack(robot)
        model[int(model[closure.METHOD]) + STIFFNESS] *= -1.0
        return model


def prestretched(case: Replay, stiffness: float) -> Replay:
    """Return the replay with c(0) = -lambda/K_s and c'(0) = -lambda'/K_s, by the smallest change of q and v."""
    robot, q, v = case.robot, case.q0, case.v0
    c = -case.multipliers(0.0) / stiffness
    width = LAP / case.multipliers.coefficients.shape[1]
    rate = -(case.multipliers(width) - case.multipliers(LAP - width)) / (2.0 * width) / stiffness
    for _ in range(3):
        A = robot.loop_jacobian(q)
        q = q + np.linalg.pinv(A) @ (c - robot.loop_residual(q))
    A = robot.loop_jacobian(q)
    return replace(case, q0=q, v0=v + np.linalg.pinv(A) @ (rate - A @ v))


def errors(found: Recording) -> dict[str, float]:
    """Return e_c and e_p as decimal logarithms, median and maximum over the accepted steps, and the evaluations."""
    c, p = found["loops open by"], found["path off by"][1:]
    logs = {
        "e_c median": np.median(c), "e_c max": c.max(), "e_p median": np.median(p), "e_p max": p.max(),
    }  # fmt: skip
    return {key: float(np.log10(max(value, 1e-300))) for key, value in logs.items()} | {
        "evaluations": float(found.evaluations)
    }


def reaction_error(
    case: Replay, found: Recording, method: VirtualSpringDenoc, after: float = 0.0, window: float = 0.0
) -> float:
    """Return the relative RMS error of -(K_s c + D_s c') as estimate of the multipliers of the prescribed motion.

    ``window`` seconds of Hann-weighted average are taken first when given.
    """
    t = np.linspace(after, found.t[-1], 6001)
    c = case.robot.loop_residual(found.q)
    rate = np.einsum("smc,sc->sm", case.robot.loop_jacobian(found.q), found.v)
    force = -(method.stiffness * c + method.damping * rate)
    estimate = np.column_stack([np.interp(t, found.t, column) for column in force.T])
    exact = np.array([case.multipliers(x) for x in t])
    if window:
        weights = np.hanning(max(3, round(window / (t[1] - t[0]))))
        weights /= weights.sum()
        estimate, exact = (
            np.column_stack([np.convolve(column, weights, mode="valid") for column in x.T]) for x in (estimate, exact)
        )
    return float(np.sqrt(((estimate - exact) ** 2).sum() / (exact**2).sum()))


@functools.cache
def stiffness_table(stiffnesses: tuple[float, ...] = STIFFNESSES, r0: float = R0) -> list[dict[str, float]]:
    """Return a row for DeNOC (stiffness inf), then one for each stiffness: errors, evaluations, processor seconds."""
    case = replay(r0)
    rows = []
    for stiffness in (np.inf, *stiffnesses):
        method = case.method if np.isinf(stiffness) else springs(stiffness)
        runs = [case.run(method) for _ in range(REPEATS)]
        found, least = runs[0], min(run.seconds.processor for run in runs)
        error = reaction_error(case, found, method) if isinstance(method, VirtualSpringDenoc) else 0.0
        rows.append({"stiffness": stiffness, **errors(found), "reaction error": error, "seconds": least})
    return rows


# Runge-Kutta pairs of orders 4 and 5 with adaptive steps: the paper says no more of its integrator
CONTROLS = {
    "ode45": "Dormand-Prince as MATLAB's ode45 runs it",
    "RK45": "Dormand-Prince as scipy's RK45 runs it",
    "RKF45": "Fehlberg's pair as textbooks run it",
    "CashKarp": "Cash-Karp's pair as Numerical Recipes runs it",
}


MOST_EVALUATIONS = 800_000  # 1e8 N/m take 730 000; a run that takes more has run away


@functools.cache
def step_controls(stiffnesses: tuple[float, ...] = STIFFNESSES[3:]) -> dict[str, dict[float, dict[str, float]]]:
    """Return, by step control and stiffness, the errors of the replay at the paper's tolerance.

    A run that does not reach its end has lost the platform: its errors up to there count.
    """
    case = replay()
    return {
        control: {
            k: errors(case.run(springs(k), solver=control, partial=True, limit=MOST_EVALUATIONS)) for k in stiffnesses
        }
        for control in CONTROLS
    }


def best(found: dict[float, dict[str, float]], key: str) -> float:
    """Return the stiffness with the smallest error of a step control."""
    return min(found, key=lambda k: found[k][key])


def joint_reactions(stiffness: float, zeta: float = 0.0, after: float = 0.0, samples: int = 600) -> dict[str, float]:
    """Return the relative RMS error of the reaction forces in the joints, by place, against those of the motion.

    Of the joints at the platform, which are the springs, and of those between the links and at the base, which follow
    from the springs link by link (`reactions` of the method).
    """
    case, method = replay(), springs(stiffness, zeta)
    found = case.run(method, rtol=1e-6 if zeta else None, atol=1e-9 if zeta else None)
    at = np.unique(np.searchsorted(found.t, np.linspace(after, found.t[-1], samples)).clip(0, len(found.t) - 1))
    t, q, v = found.t[at], found.q[at], found.v[at]
    solver = method.prepare(case.robot)
    tau = np.array([case.inputs(x, q[0], v[0]) for x in t])
    a = solver.forward_dynamics(q, v, tau)
    exact = methods.get("newton-euler").prepare(case.robot)
    motion = case.robot.state_from_platform(*rose(t))
    ours, theirs = solver.reactions(q, v, a)[..., :2], exact.reactions(*motion)[..., :2]
    groups = {
        "base": (ours[:, 0:6:2], theirs[:, 0:6:2]),
        "knees": (ours[:, 1:6:2], theirs[:, 1:6:2]),
        "platform": (solver.multipliers(q, v, a), exact.multipliers(*motion)),
    }
    return {name: float(np.sqrt(((x - y) ** 2).sum() / (y**2).sum())) for name, (x, y) in groups.items()}


def blow_up(stiffness: float, r0: float = R0) -> float:
    """Return when the loops are open by more than a metre with the printed sign of the springs, seconds."""
    case = replace(replay(r0), horizon=1.0)
    found = case.run(PrintedSign(stiffness=stiffness), limit=20_000, partial=True)
    wide = found["loops open by"] > 1.0
    return float(found.t[np.argmax(wide)] if wide.any() else np.inf)


def swept(stiffnesses: Sequence[float] = STIFFNESSES[2:], zeta: float = 0.0) -> Replay:
    """Return one second of the replay by DeNOC and by springs of many stiffnesses, damped or not.

    Of integrators and tolerances the sweep has its own; in the first second the instability does not yet rule errors.
    """
    name = "rose-replay, damped springs" if zeta else "rose-replay, undamped springs"
    compared: list[str | Method] = ["denoc", *(springs(stiffness, zeta) for stiffness in stiffnesses)]
    return replace(replay(), name=name, horizon=1.0, methods=compared)


def remedies(stiffnesses: Sequence[float] = STIFFNESSES[2:7]) -> list[dict[str, Any]]:
    """Return rows of stiffness, remedy and the reaction error: springs as they are, averaged, pre-stretched, damped."""
    case, first = replay(), replace(replay(), horizon=LAP)
    rows = []
    for stiffness in stiffnesses:
        plain, damped = springs(stiffness), springs(stiffness, ZETA)
        tight, tamed = first.run(plain, rtol=1e-7, atol=1e-10), case.run(damped, rtol=1e-6, atol=1e-9)
        found = {
            "as they are": reaction_error(case, case.run(plain), plain),
            "averaged": reaction_error(case, tight, plain, window=0.1),
            "pre-stretched": reaction_error(case, prestretched(case, stiffness).run(plain), plain),
            "damped": reaction_error(case, tamed, damped, after=0.5),
        }
        rows += [{"stiffness": stiffness, "remedy": remedy, "error": error} for remedy, error in found.items()]
    return rows
