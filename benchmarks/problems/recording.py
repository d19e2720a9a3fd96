"""A problem as curves and a moving picture: its outputs beside the answer, its robot in motion; for a report."""

from __future__ import annotations

import numpy as np

from dynbench import methods
from dynbench.benchmarks.problems.problem import Problem
from dynbench.benchmarks.results.best_runs import RECORDED
from dynbench.benchmarks.simulation import drawing
from dynbench.benchmarks.simulation.recording import Panel, Plot, Simulation, curve, magnitude
from dynbench.benchmarks.simulation.simulate import simulate
from dynbench.robots.robot import FloatArray

METHOD = "newton-euler"
SOLVERS = {"Radau": 1e-7}  # relative tolerance, by integrator; others have that below
RTOL = 1e-9
LIMIT = 200_000  # right-hand sides


def prefixed(name: str) -> str:
    """Return the name of a problem's recording among those of papers."""
    return f"problem-{name}"


def recorded(problem: Problem) -> Simulation:
    """Run a problem once, with its first integrator, and return it as plain data."""
    solver = methods.get(METHOD).prepare(problem.robot)
    name = problem.solvers[0]
    rtol = SOLVERS.get(name, RTOL)
    frames = np.linspace(0.0, problem.horizon, drawing.FRAMES)
    times = np.unique(np.concatenate([frames, problem.times]))
    found = simulate(
        solver, problem.q0, problem.v0, problem.force, problem.horizon, times=times, integrator=name, rtol=rtol,
        atol=0.1 * rtol, limit=LIMIT, partial=True,
    )  # fmt: skip
    outputs = np.array([problem.outputs(q, v) for q, v in zip(found.q, found.v, strict=True)])
    at, right = _answers(problem, found.t)
    panels, errors = [], []
    for k, label in enumerate(problem.output_names):
        title, _, unit = label.rpartition(", ")
        ours = curve(METHOD, METHOD, found.t, outputs[:, k])
        panels.append(Panel(title, unit, [ours, curve("answer", "answer", at, right[:, k])]))
        errors.append(magnitude(title, METHOD, at, outputs[np.isin(found.t, at), k] - right[:, k]))
    plots = [
        Plot("outputs", f"{problem.title}: outputs and answer", "The answer is drawn over the computed curve.",
             "time (s)", panels),
        Plot("errors", f"{problem.title}: errors of the outputs",
             f"Against the answer, {METHOD} with {name} at a relative tolerance of {rtol:g}.",
             "time (s)", [Panel("", "error", errors)], yscale="log"),
    ]  # fmt: skip
    if len(at) < 2:
        plots = plots[:1]
    motion = drawing.motion(problem.robot, found.t, found.q)
    return Simulation(prefixed(problem.name), RECORDED, problem.title, problem.robot.name, plots, motion, found.reason)


def _answers(problem: Problem, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the times of a run at which the answer is known, and the answers there."""
    if problem.compared is not None:
        t = t[np.isin(t, problem.compared)]
    t = t[t > 0.0]
    found = [problem.answer(float(when)) for when in t]
    return t, np.array(found).reshape(len(t), len(problem.output_names))
