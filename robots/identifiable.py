"""Base parameters: the combinations of inertial parameters that the joint forces determine, and how many there are.

tau = Y(q, v, a) theta with 10 n parameters theta (`robots.inertial`), but not all of them matter: some changes of theta
leave all forces of all states as they are. For a tree they are found from its structure. Undetectable changes are
transfers of inertia over joints (P. M. Wensing, G. Niemeyer, J.-J. E. Slotine, "Observability in inertial parameter
identification", arXiv 1711.03896); the conditions below are in the form used here. With S_i the axes of joint i, X_i
the transform of twists from the parent at zero and R_i the span of the twists that body i can have, gravity included,

    R_i = smallest space with X_i R_p + span S_i in it, and s x R_i in R_i for all s in S_i;   R_0 = span (g; 0)     (1)
    a change d of the parameters of body i can be transferred to its parent if and only if
        s^T I(d) y = 0                                  for all s in S_i, y in R_i                                   (2)
        y^T (I(d) s x + (s x)^T I(d)) z = 0             for all s in S_i, y and z in R_i                             (3)
    undetectable: +d at body i, -X_i^T I(d) X_i at its parent (nothing at the ground)                                (4)

and the rank is 10 n less the number of these. Singular values of Y at random states, stacked, certify it: those up to
the rank are far above those beyond it. With closed loops there is no such rule, and the rank is that of the singular
values, taken at the largest gap between two of them.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dynbench.robots import inertial, kinematics
from dynbench.robots.arrays import FloatArray, IntArray, frozen
from dynbench.robots.errors import RobotError

if TYPE_CHECKING:
    from dynbench.robots.robot import Robot

STRUCTURE = 1e-9  # relative: directions and conditions below it are zero; files round pi/2 to ten digits or so
ZERO = 1e-10  # coefficients of combinations below it are rounding errors
GAP = 1e3  # least ratio of the singular values on both sides of the rank
PREFERRED = (0, 3, 2, 1, 6, 9, 4, 5, 7, 8)  # what is expressed by others first: m, mz, my, mx, Jyy, Jzz, Jxx, products
TIE = 0.5  # a preferred parameter is taken if it is at least so much of the largest


@dataclass(frozen=True)
class Certificate:
    """Singular values of stacked regressors at random states that show a rank.

    Attributes
    ----------
    states, seed : int
        Of `Robot.sample`.
    largest, kept, dropped : float
        The largest singular value, the smallest of those up to the rank, and the largest beyond it (0 if none is).
    by_structure : bool
        Whether the rank comes from the structure of a tree, the singular values confirming it; or from them alone.
    """

    states: int
    seed: int
    largest: float
    kept: float
    dropped: float
    by_structure: bool

    @property
    def holds(self) -> bool:
        """Whether there is a clear gap at the rank: ``kept`` is at least 1000 times ``dropped``."""
        return self.kept >= GAP * self.dropped

    def __str__(self) -> str:
        source = "structure of the tree" if self.by_structure else "singular values"
        gap = f"{self.kept / self.largest:.1e} kept, {self.dropped / self.largest:.1e} dropped, of the largest"
        verdict = "" if self.holds else "; there is no clear gap"
        return f"rank from the {source}; singular values at {self.states} states: {gap}{verdict}"


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The r base parameters of a robot with 10 n inertial parameters; prints as a table, and as HTML in notebooks.

    Attributes
    ----------
    robot : str
    matrix : ndarray, shape (r, 10 n)
        Base parameters are ``matrix @ theta``.
    kept : ndarray of int, shape (r,)
        The parameter that each combination is named after, with coefficient 1: ``Y theta = Y[:, kept] (matrix @
        theta)``.
    values : ndarray, shape (r,)
        Those of the robot.
    null : ndarray, shape (10 n, 10 n - r)
        Changes of theta that no force shows, orthonormal columns.
    parameter_names : tuple of str
        Of all 10 n parameters.
    certificate : Certificate
    """

    robot: str
    matrix: FloatArray
    kept: IntArray
    values: FloatArray
    null: FloatArray
    parameter_names: tuple[str, ...]
    certificate: Certificate

    @property
    def rank(self) -> int:
        """How many base parameters there are."""
        return len(self.kept)

    @property
    def names(self) -> tuple[str, ...]:
        """Each base parameter as a combination, such as ``Jxx[2] - Jyy[2] + 0.16 m[3]``."""
        return tuple(self._combination(row, int(k)) for row, k in zip(self.matrix, self.kept, strict=True))

    @property
    def without_effect(self) -> tuple[str, ...]:
        """Names of the parameters that no force depends on."""
        unused = np.flatnonzero(~self.matrix.any(axis=0))
        return tuple(self.parameter_names[k] for k in unused)

    def regressor(self, Y: FloatArray) -> FloatArray:
        """Return the columns of a regressor Y (..., 10 n) that belong to the base parameters, (..., r)."""
        if Y.shape[-1:] != (len(self.parameter_names),):
            raise RobotError(
                f"Y has shape {Y.shape}, robot {self.robot!r} needs (..., {len(self.parameter_names)}): "
                "the regressor of a solver"
            )
        return Y[..., self.kept]

    def _combination(self, row: FloatArray, first: int) -> str:
        text = self.parameter_names[first]
        for k in np.flatnonzero(row):
            if k != first:
                size = abs(row[k])
                factor = "" if abs(size - 1.0) < ZERO else f"{size:.6g} "
                text += f" {'-' if row[k] < 0.0 else '+'} {factor}{self.parameter_names[k]}"
        return text

    @property
    def _head(self) -> str:
        return f"{self.robot}: {self.rank} base parameters of {len(self.parameter_names)} inertial parameters"

    def __str__(self) -> str:
        lines = [self._head, str(self.certificate), ""]
        lines += [f"{value:12.6g}  {name}" for value, name in zip(self.values, self.names, strict=True)]
        if self.without_effect:
            lines += ["", f"without effect: {', '.join(self.without_effect)}"]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<BaseParameters of {self.robot!r}: {self.rank} of {len(self.parameter_names)}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{value:.6g}</td><td>{html.escape(name)}</td></tr>"
            for value, name in zip(self.values, self.names, strict=True)
        )
        unused = html.escape(", ".join(self.without_effect) or "none")
        return (
            f"<h4>{html.escape(self._head)}</h4><p>{html.escape(str(self.certificate))}</p>"
            f"<table><tr><th>value</th><th>combination</th></tr>{rows}</table><p>without effect: {unused}</p>"
        )


def base_parameters(robot: Robot, states: int | None = None, seed: int = 0) -> BaseParameters:
    """Return which combinations of inertial parameters the joint forces of a robot determine.

    Parameters
    ----------
    robot : Robot
        A tree of rigid bodies, with or without loops.
    states : int
        How many random states certify the rank; default: enough for three times as many rows as parameters.
    seed : int
        Of these states.

    Raises
    ------
    RobotError
        If links are elastic, if there are too few states, or if the singular values do not show the rank.
    """
    names = inertial.parameter_names(robot)
    theta = inertial.inertial_parameters(robot)
    rows = robot.nv if robot.is_tree else robot.loop_analysis.dof
    count = states or max(20, -(-3 * len(names) // rows))
    if count * rows < len(names):
        raise RobotError(
            f"robot {robot.name!r}: states is {count}, expected at least {-(-len(names) // rows)}: "
            f"{len(names)} parameters, {rows} rows a state"
        )
    stacked = inertial.free_regressor(robot, *robot.sample(count, seed=seed)).reshape(-1, len(names))
    # a triangle with the same singular values, which takes less memory and time to decompose
    _, sizes, right = np.linalg.svd(np.linalg.qr(stacked, mode="r"))
    if robot.is_tree:
        null, dependent = _transfers(robot)
        rank = len(names) - null.shape[1]
    else:
        rank = _largest_gap(sizes)
        null = right[rank:].T
        dependent = _pivots(null)
    kept = np.setdiff1d(np.arange(len(names)), dependent)
    beyond = float(sizes[rank]) if rank < len(sizes) else 0.0
    found = Certificate(count, seed, float(sizes[0]), float(sizes[rank - 1]), beyond, robot.is_tree)
    if not found.holds:
        raise RobotError(f"robot {robot.name!r}: expected a clear gap at rank {rank}, got: {found}")
    matrix = np.zeros((rank, len(names)))
    matrix[np.arange(rank), kept] = 1.0
    matrix[:, dependent] = -np.linalg.solve(null[dependent].T, null[kept].T).T
    matrix[np.abs(matrix) < ZERO] = 0.0
    return BaseParameters(
        robot.name,
        frozen(matrix, np.float64),
        frozen(kept, np.int64),
        frozen(matrix @ theta, np.float64),
        frozen(np.linalg.qr(null)[0] if null.size else null, np.float64),
        names,
        found,
    )


def _largest_gap(sizes: FloatArray) -> int:
    """Return the number of singular values before the largest ratio of two neighbours, rounding errors being one."""
    floor = sizes[0] * np.finfo(np.float64).eps * len(sizes)
    clear = np.maximum(sizes, floor)
    ratios = clear[:-1] / clear[1:]
    return int(np.argmax(ratios)) + 1 if ratios.max(initial=0.0) >= GAP else len(sizes)


# Structure of a tree -------------------------------------------------------------------------------------------------


def _transfers(robot: Robot) -> tuple[FloatArray, IntArray]:
    """Return the undetectable changes (4) of a tree as columns, and for each a parameter that the others express."""
    ground = np.concatenate([robot.gravity, np.zeros(3)])[:, None]
    spaces: list[FloatArray] = []
    columns: list[FloatArray] = []
    dependent: list[int] = []
    for i, parent in enumerate(robot.parent):
        X = _transform(robot.rotation[i], robot.translation[i])
        S = kinematics.motion_subspace(robot, i)
        R = _attainable(X @ (spaces[parent] if parent >= 0 else ground), S)
        spaces.append(R)
        changes = _transferable(S, R)
        for change in changes.T:
            column = np.zeros((robot.n, inertial.COUNT))
            column[i] = change
            if parent >= 0:
                column[parent] -= inertial.from_spatial_inertia(X.T @ inertial.spatial_inertia(change) @ X)
            columns.append(column.ravel())
        # a transfer over joint i changes nothing beyond body i: parameters of body i serve, joint after joint
        dependent += [inertial.COUNT * i + k for k in _pivots(changes, PREFERRED)]
    null = np.array(columns).reshape(-1, inertial.COUNT * robot.n).T
    return null, np.array(dependent, dtype=np.int64)


def _transform(R: FloatArray, p: FloatArray) -> FloatArray:
    """Return X: twists (linear, angular) of the parent frame, at a child frame ``x_parent = R x + p``."""
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = R.T
    X[:3, 3:] = -R.T @ inertial.skew(p)
    return X


def _cross(s: FloatArray) -> FloatArray:
    """Return s x, shape (6, 6), for a twist."""
    found = np.zeros((6, 6))
    found[:3, :3] = found[3:, 3:] = inertial.skew(s[3:])
    found[:3, 3:] = inertial.skew(s[:3])
    return found


def _attainable(carried: FloatArray, S: FloatArray) -> FloatArray:
    """Return R_i of (1) as orthonormal columns."""
    R = _span(np.hstack([carried, S]))
    while True:
        larger = _span(np.hstack([R, *(_cross(s) @ R for s in S.T)]))
        if larger.shape[1] == R.shape[1]:
            return R
        R = larger


def _span(columns: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the span of columns, each of which counts by its direction."""
    length = np.linalg.norm(columns, axis=0)
    there = length > STRUCTURE * max(1.0, length.max(initial=0.0))
    left, sizes, _ = np.linalg.svd(columns[:, there] / length[there], full_matrices=False)
    return np.asarray(left[:, sizes > STRUCTURE * max(1.0, sizes.max(initial=0.0))])


def _transferable(S: FloatArray, R: FloatArray) -> FloatArray:
    """Return the changes that (2) and (3) allow, shape (10, k)."""
    unit = inertial.spatial_inertia(np.eye(inertial.COUNT))
    conditions = [np.einsum("is,kij,jy->syk", S, unit, R).reshape(-1, inertial.COUNT)]
    for s in S.T:
        change = unit @ _cross(s)
        symmetric = change + change.transpose(0, 2, 1)
        conditions.append(np.einsum("iy,kij,jz->yzk", R, symmetric, R).reshape(-1, inertial.COUNT))
    _, sizes, right = np.linalg.svd(np.vstack(conditions))
    return np.asarray(right[int(np.sum(sizes > STRUCTURE * sizes[0])) :].T)


def _pivots(columns: FloatArray, order: tuple[int, ...] | None = None) -> IntArray:
    """Return as many rows as there are columns, so that they make an invertible matrix.

    By Gram-Schmidt on the rows: the longest one left is taken, or one that is earlier in ``order`` and half as long.
    """
    left, found = columns.copy(), []
    ranked = np.arange(len(left)) if order is None else np.array(order)
    for _ in range(columns.shape[1]):
        sizes = np.linalg.norm(left, axis=1)
        good = ranked[sizes[ranked] >= TIE * sizes.max()]
        row = int(good[0])
        found.append(row)
        direction = left[row] / sizes[row]
        left = left - np.outer(left @ direction, direction)
    return np.array(found, dtype=np.int64)
