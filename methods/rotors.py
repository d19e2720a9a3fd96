"""``compare_rotors(robot)``: joint forces with full rotors beside those with armatures in their place.

What an armature leaves out is stated in `dynbench.robots.rotors`.
"""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynbench.methods import registry
from dynbench.methods.base import Method, Solver
from dynbench.methods.compare import headings
from dynbench.methods.kernel_method import KernelMethod
from dynbench.robots import rotors
from dynbench.robots.errors import RobotError
from dynbench.robots.robot import FloatArray, Robot


@dataclass(frozen=True)
class RotorComparison:
    """Joint forces of a batch of states; prints as text, and as an HTML table in notebooks."""

    robot: str
    joints: tuple[str, ...]  # a heading for each force
    full: FloatArray  # (N, number of forces), with rotors
    armature: FloatArray  # the same with armatures in their place

    @property
    def difference(self) -> float:
        """The largest difference at any state, relative to the largest force there."""
        apart, size = (np.abs(x).max(axis=1) for x in (self.full - self.armature, self.full))
        return float((apart / np.where(size > 0.0, size, 1.0)).max())

    def _rows(self) -> list[tuple[str, ...]]:
        apart = np.abs(self.full - self.armature).max(axis=0)
        rows = zip(self.joints, np.abs(self.full).max(axis=0), apart, strict=True)
        return [("joint", "largest force", "difference"), *((name, f"{x:.4g}", f"{d:.3g}") for name, x, d in rows)]

    def __str__(self) -> str:
        rows = self._rows()
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        lines = [f"joint forces of {self.robot} with rotors, N m and N, and what armatures in their place leave out"]
        lines += [f"{name:{widths[0]}}  {x:>{widths[1]}}  {d:>{widths[2]}}" for name, x, d in rows]
        return "\n".join([*lines, f"largest difference at a state: {self.difference:.2g} of the largest force there"])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        head, *rows = self._rows()
        lines = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows]
        table = "".join(f"<tr>{line}</tr>" for line in ("".join(f"<th>{cell}</th>" for cell in head), *lines))
        return f"<p>Joint forces of {html.escape(self.robot)} with rotors, N m and N.</p><table>{table}</table>"


def compare_rotors(robot: Robot, states: int = 64, seed: int = 0, method: str = "newton-euler") -> RotorComparison:
    """Return the joint forces of random states with full rotors, and with armatures in their place."""
    if not rotors.rotors_of(robot):
        raise RobotError(f"robot {robot.name!r} has no rotors; `robots.with_rotors` gives it some")
    return of_states(_prepared(registry.get(method), robot, "auto"), *robot.sample(states, seed=seed))


def of_states(solver: Solver, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> RotorComparison:
    """Return the joint forces of given states, (N, nq) and (N, nv), by the method of a solver."""
    robot = solver.robot
    plain = rotors.as_armature(robot)
    in_q, in_v = rotors.coordinates(robot, plain)
    still = np.asarray(q)[:, in_q], np.asarray(v)[:, in_v], np.asarray(a)[:, in_v]
    forces = _prepared(solver.method, plain, solver.code).inverse_dynamics(*still)
    return RotorComparison(robot.name, headings(robot), solver.inverse_dynamics(q, v, a), forces)


def _prepared(method: Method, robot: Robot, code: str | None) -> Solver:
    return method.prepare(robot, code=code) if isinstance(method, KernelMethod) and code else method.prepare(robot)  # type: ignore[arg-type]
