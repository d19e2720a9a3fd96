"""``compare(robot, q, v, a)``: the joint forces of every applicable method beside each other, for people."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynbench.methods import registry
from dynbench.robots.errors import DynbenchError, StateError
from dynbench.robots.robot import FloatArray, Robot


@dataclass(frozen=True)
class Comparison:
    """Joint forces by method; prints as text, and as an HTML table in notebooks."""

    robot: str
    joints: tuple[str, ...]  # a heading for each force
    forces: dict[str, FloatArray]  # method -> (number of forces,)
    reasons: dict[str, str]  # method -> why there are none
    exact: frozenset[str]  # methods that are not approximations

    @property
    def spread(self) -> float:
        """The largest difference between two exact methods, relative to the largest force."""
        rows = np.array([tau for name, tau in self.forces.items() if name in self.exact])
        size = np.abs(rows).max(initial=0.0)
        return float(np.ptp(rows, axis=0).max() / size) if len(rows) > 1 and size > 0.0 else 0.0

    def _rows(self) -> list[tuple[str, ...]]:
        rows = [("method", *self.joints, "difference")]
        known = [name for name in self.forces if name in self.exact]
        for name, tau in self.forces.items():
            away = np.abs(tau - self.forces[known[0]]).max() if known else 0.0
            remark = "" if name in self.exact else " (not exact)"
            rows.append((name, *(f"{x:.9g}" for x in tau), f"{away:.1e}{remark}"))
        return rows

    def __str__(self) -> str:
        rows = self._rows()
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = [f"joint forces of {self.robot}, N m and N; differences from the first exact method"]
        for row in rows:
            padded = [f"{x:>{w}}" for x, w in zip(row, widths, strict=True)]
            lines.append("  ".join([f"{row[0]:{widths[0]}}", *padded[1:]]))
        lines += [f"{name}: {reason}" for name, reason in self.reasons.items()]
        return "\n".join([*lines, f"exact methods differ by {self.spread:.1e} of the largest force"])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        head, *rows = self._rows()

        def cells(row: tuple[str, ...], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) + "</tr>"

        missing = "".join(f"<li>{html.escape(name)}: {html.escape(why)}</li>" for name, why in self.reasons.items())
        table = f"<table>{cells(head, 'th')}{''.join(cells(row, 'td') for row in rows)}</table>"
        caption = f"<p>Joint forces of {html.escape(self.robot)}, N m and N.</p>"
        return caption + table + (f"<p>Not compared:</p><ul>{missing}</ul>" if missing else "")


def compare(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, methods: Sequence[str] | None = None
) -> Comparison:
    """Return the joint forces of one state by every method that applies, or by those named.

    Methods that were never used before are compiled, which takes seconds each.
    """
    if np.ndim(q) != 1:
        raise StateError(f"q has shape {np.shape(q)}, expected one state ({robot.nq},)")
    forces: dict[str, FloatArray] = {}
    reasons: dict[str, str] = {}
    exact = set()
    for name in methods if methods is not None else registry.names():
        method = registry.get(name)
        why = method.supports(robot)
        if why is None and "inverse_dynamics" not in method.computes:
            why = "does not compute inverse dynamics"
        if why is None and method.floor:
            continue
        if why is not None:
            reasons[method.name] = why
            continue
        solver = method.prepare(robot)
        try:
            forces[method.name] = np.asarray(solver.inverse_dynamics(q, v, a))
        except StateError:
            raise
        except DynbenchError as error:
            reasons[method.name] = str(error)
            continue
        if method.exact:
            exact.add(method.name)
    return Comparison(robot.name, headings(robot), forces, reasons, frozenset(exact))


def headings(robot: Robot) -> tuple[str, ...]:
    """A name for each force: the joint's, numbered where it has several coordinates."""
    names = []
    for i, first in enumerate(robot.iv):
        after = int(robot.iv[i + 1]) if i + 1 < robot.n else robot.nv
        count = after - int(first)
        names += [robot.joint_names[i] if count == 1 else f"{robot.joint_names[i]}[{k}]" for k in range(count)]
    return tuple(names[int(k)] for k in robot.actuated)
