"""A benchmark problem: a robot, where it starts, how long it moves, what is read off, and the right answer.

The problems are those of the multibody community (IFToMM technical committee for multibody dynamics, library of
computational benchmark problems; test set for initial value problem solvers). Their data are public; answers are exact
solutions, an independent integration of one coordinate, or the printed reference, as each file says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dynbench.robots.robot import FloatArray, Robot

Outputs = Callable[[FloatArray, FloatArray], FloatArray]
Answer = Callable[[float], FloatArray]

RTOLS = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
SOLVERS = ("DOP853", "RK45")
PARTS = 10  # of the horizon, at whose ends outputs and energy are compared


@dataclass(frozen=True, eq=False)
class Problem:
    """A problem and its answer.

    Parameters
    ----------
    name, title : str
    robot : Robot
    q0, v0 : ndarray, shapes (nq,), (nv,)
        The state at t = 0.
    horizon : float
        Seconds.
    output_names : tuple of str
        What is compared, with units.
    outputs : callable
        ``outputs(q, v)`` (k,), of one state.
    answer : callable
        ``answer(t)`` (k,): the outputs at any time, or at the times ``compared`` alone where the answer is a table.
    source : str
        Where data and answer are from.
    tau : ndarray, shape (na,)
        Constant forces of the actuators; default none.
    scale : ndarray, shape (k,)
        Sizes of the outputs, by which errors are divided; default 1.
    compared : ndarray, shape (K,)
        Times at which outputs are compared with the answer, the last is the horizon; default: ten equal steps.
    energy : callable
        ``energy(t)``, joules, of the right motion at the times ``compared``, where dampers change it; default: it
        changes only by the work of ``tau``.
    solvers, rtols
        Integrators (scipy's names) and relative tolerances of a sweep.
    """

    name: str
    title: str
    robot: Robot
    q0: FloatArray
    v0: FloatArray
    horizon: float
    output_names: tuple[str, ...]
    outputs: Outputs
    answer: Answer
    source: str
    tau: FloatArray | None = None
    scale: FloatArray | None = None
    compared: FloatArray | None = None
    energy: Callable[[float], float] | None = None
    solvers: tuple[str, ...] = SOLVERS
    rtols: tuple[float, ...] = RTOLS

    @property
    def times(self) -> FloatArray:
        """Times at which outputs are compared, (K,)."""
        parts = np.linspace(0.0, self.horizon, PARTS + 1)[1:]
        return parts if self.compared is None else np.asarray(self.compared, dtype=float)

    @property
    def forces(self) -> FloatArray:
        """The constant forces of the actuators, (na,)."""
        return np.zeros(len(self.robot.actuated)) if self.tau is None else self.tau

    def force(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return the forces of the actuators, (na,): the ``force`` of `simulate`."""
        return self.forces

    def error(self, t: float, q: FloatArray, v: FloatArray) -> float:
        """Return the largest error of the outputs at time t, over their sizes."""
        off = np.abs(self.outputs(q, v) - self.answer(t))
        return float((off if self.scale is None else off / self.scale).max())

    def energy_error(self, q: FloatArray, v: FloatArray, t: FloatArray | None = None) -> float:
        """Return the largest error of the energy over states (K, .), in joules; ``t`` (K,) where dampers change it."""
        found = np.asarray(self.robot.energy(q, v))
        if self.energy is not None:
            if t is None:
                raise ValueError(f"problem {self.name!r}: its energy depends on time; expected t, got None")
            right: FloatArray | float = np.array([self.energy(float(when)) for when in t])
        else:
            robot = self.robot
            places = [int(robot.iq[np.searchsorted(robot.iv, k, side="right") - 1]) for k in robot.actuated]
            work = 0.0 if self.tau is None else (q[:, places] - self.q0[places]) @ self.tau
            right = robot.energy(self.q0, self.v0) + work
        return float(np.abs(found - right).max())
