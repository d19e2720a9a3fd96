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
        ``answer(t)`` (k,): the outputs at any time, or at the horizon alone where the answer is a printed one.
    source : str
        Where data and answer are from.
    tau : ndarray, shape (na,)
        Constant forces of the actuators; default none.
    scale : ndarray, shape (k,)
        Sizes of the outputs, by which errors are divided; default 1.
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

    def force(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return the forces of the actuators, (na,): the ``force`` of `simulate`."""
        return np.zeros(len(self.robot.actuated)) if self.tau is None else self.tau

    def error(self, t: float, q: FloatArray, v: FloatArray) -> float:
        """Return the largest error of the outputs at time t, over their sizes."""
        off = np.abs(self.outputs(q, v) - self.answer(t))
        return float((off if self.scale is None else off / self.scale).max())

    def energy_error(self, q: FloatArray, v: FloatArray) -> float:
        """Return the largest change of energy, less the work of the constant forces, over states (K, .), in joules."""
        work: FloatArray | float = 0.0
        if self.tau is not None:
            robot = self.robot
            places = [int(robot.iq[np.searchsorted(robot.iv, k, side="right") - 1]) for k in robot.actuated]
            work = (q[:, places] - self.q0[places]) @ self.tau
        change = np.asarray(self.robot.energy(q, v)) - self.robot.energy(self.q0, self.v0) - work
        return float(np.abs(change).max())
