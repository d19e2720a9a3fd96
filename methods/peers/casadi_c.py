"""Generated C of casadi: the recursions written in its symbols for one robot, exported to C and compiled by cc.

J. A. E. Andersson et al., "CasADi: a software framework for nonlinear optimization and optimal control", Mathematical
Programming Computation 11, 2019. The way to fast dynamics that users of optimal control take: the recursions of
Featherstone's book (Rigid Body Dynamics Algorithms, 2008, tables 5.1, 6.2 and 7.1) in SX symbols, where casadi removes
zeros, common subexpressions are eliminated (``casadi.cse``), and ``Function.generate`` writes straight-line C.
Spatial vectors here are (angular, linear). Armature, damping, friction and external wrenches are added to its results.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dynbench.methods.base import QUANTITIES, Solver, width
from dynbench.methods.peers import native
from dynbench.methods.peers.generated import GeneratedMethod, generated_solver
from dynbench.robots import kinematics
from dynbench.robots.errors import MethodError
from dynbench.robots.joints import NV, JointKind
from dynbench.robots.robot import FloatArray, Robot


class CasadiC(GeneratedMethod):
    """RNEA, ABA and CRBA in symbols of casadi, generated as C and compiled by cc."""

    name: ClassVar[str] = "casadi-c"
    title: ClassVar[str] = "casadi, generated C"
    reference: ClassVar[str] = "Andersson et al., CasADi, Mathematical Programming Computation 11, 2019"
    requires: ClassVar[tuple[str, ...]] = ("casadi",)

    def prepare(self, robot: Robot) -> Solver:
        self.require(robot)
        return generated_solver(self, robot, written_elsewhere)


def written_elsewhere(robot: Robot, quantity: str) -> dict[str, str]:
    """Return the files of `sources`, written by another process.

    OpenSim brings a libcasadi of its own, under the same name: a process that has loaded one cannot load the other, nor
    can a process whose search path names OpenSim's folder.
    """
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    others = [folder for folder in folders if folder and not any(Path(folder).glob("libcasadi.so*"))]
    environment = {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(others)}
    command = [sys.executable, "-c", f"from {__name__} import write; write()"]
    given = pickle.dumps((robot, quantity))
    done = subprocess.run(command, input=given, capture_output=True, check=False, env=environment)
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise MethodError(f"casadi could not write C code for {quantity} of robot {robot.name!r}: {why[:300]}")
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def write() -> None:
    """Print the files for a robot and quantity that are read from the input."""
    robot, quantity = pickle.load(sys.stdin.buffer)
    print(json.dumps(sources(robot, quantity)))


def sources(robot: Robot, quantity: str) -> dict[str, str]:
    """Return the files of a quantity: the loop over rows, which includes the generated function."""
    casadi = import_module("casadi")
    names = QUANTITIES[quantity].arguments
    symbols = [casadi.SX.sym(name, width(robot, name)) for name in names]
    result = casadi.cse(casadi.densify(EXPRESSIONS[quantity](Tree(casadi, robot, symbols[0]), *symbols[1:])))
    function = casadi.Function("state", symbols, [casadi.vec(result)])
    generator = casadi.CodeGenerator("state", {"with_header": False, "casadi_int": "long long int"})
    generator.add(function)
    setup = "\n    ".join((
        f"const double *given[{max(1, function.sz_arg())}];",
        f"double *found[{max(1, function.sz_res())}], work[{max(1, function.sz_w())}];",
        f"long long int whole[{max(1, function.sz_iw())}];",
    ))  # fmt: skip

    def call(x: list[str]) -> str:
        given = "\n        ".join(f"given[{j}] = {place};" for j, place in enumerate(x[:-1]))
        return f"{given}\n        found[0] = {x[-1]};\n        state(given, found, whole, work, 0);"

    signature = "int state(const double **arg, double **res, long long int *iw, double *w, int mem);"
    loop = native.rows_source(robot, quantity, signature, setup, call)
    return {"loop.c": f'{loop}\n#include "state.c"\n', "state.c": generator.dump()}


class Link(NamedTuple):
    """One body: transform from its parent, motion subspace, inertia, all in its own axes."""

    parent: int
    E: Any  # (3, 3) parent axes to body axes
    r: Any  # (3,) its origin in the parent's axes
    S: Any  # (6, k), constant
    inertia: Any  # (6, 6), constant
    v: slice


class Tree:
    """The links of a robot at symbolic coordinates."""

    def __init__(self, casadi: Any, robot: Robot, q: Any) -> None:
        self.ca = casadi
        self.robot = robot
        self.links = [self._link(i, q) for i in range(robot.n)]

    def _link(self, i: int, q: Any) -> Link:
        robot, kind, at = self.robot, self.robot.kind[i], int(self.robot.iq[i])
        R, p = self.ca.DM(robot.rotation[i]), self.ca.DM(robot.translation[i])
        if kind == JointKind.REVOLUTE:
            R = self.ca.mtimes(R, self._turn(robot.axis[i], q[at]))
        elif kind == JointKind.PRISMATIC:
            p = p + self.ca.mtimes(R, self.ca.DM(robot.axis[i])) * q[at]
        elif kind == JointKind.SPHERICAL:
            R = self.ca.mtimes(R, self._quaternion(q[at : at + 4]))
        else:
            p = p + self.ca.mtimes(R, q[at : at + 3])
            R = self.ca.mtimes(R, self._quaternion(q[at + 3 : at + 7]))
        S = np.roll(kinematics.motion_subspace(robot, i), 3, axis=0)  # here angular before linear
        place = slice(int(robot.iv[i]), int(robot.iv[i]) + int(NV[kind]))
        inertia = self._sparse(spatial_inertia(robot, i))
        return Link(int(robot.parent[i]), R.T, p, self._sparse(S), inertia, place)

    def _sparse(self, x: FloatArray) -> Any:
        return self.ca.sparsify(self.ca.DM(x))

    def _turn(self, axis: FloatArray, angle: Any) -> Any:
        K = self._sparse(skew(axis))
        identity, square = self.ca.DM.eye(3), self._sparse(skew(axis) @ skew(axis))
        s, c = self.ca.sin(angle), self.ca.cos(angle)
        if np.count_nonzero(axis) == 1:  # I + K^2 has a single entry: write the plain rotation
            return self._sparse(np.outer(axis, axis)) + s * K - c * square
        return identity + s * K + (1.0 - c) * square

    def _quaternion(self, q: Any) -> Any:
        x, y, z, w = (q[k] for k in range(4))
        rows = (
            (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
            (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
            (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
        )
        return self.ca.vertcat(*(self.ca.horzcat(*row) for row in rows))

    def motion(self, link: Link, m: Any) -> Any:
        """A motion vector of the parent in the link's axes, at its origin."""
        w, u = m[:3], m[3:]
        both = self.ca.mtimes(link.E, w), self.ca.mtimes(link.E, u - self.ca.cross(link.r, w))
        return self.ca.vertcat(*both)

    def force(self, link: Link, f: Any) -> Any:
        """A force vector of the link in the parent's axes, at the parent's origin."""
        n, g = self.ca.mtimes(link.E.T, f[:3]), self.ca.mtimes(link.E.T, f[3:])
        return self.ca.vertcat(n + self.ca.cross(link.r, g), g)

    def transform(self, link: Link) -> Any:
        """The (6, 6) matrix of `motion`."""
        return self.ca.blockcat([
            [link.E, self.ca.SX(3, 3)],
            [-self.ca.mtimes(link.E, self.ca.skew(link.r)), link.E],
        ])  # fmt: skip

    def cross_motion(self, v: Any, m: Any) -> Any:
        w = self.ca.cross(v[:3], m[:3])
        return self.ca.vertcat(w, self.ca.cross(v[:3], m[3:]) + self.ca.cross(v[3:], m[:3]))

    def cross_force(self, v: Any, f: Any) -> Any:
        n = self.ca.cross(v[:3], f[:3]) + self.ca.cross(v[3:], f[3:])
        return self.ca.vertcat(n, self.ca.cross(v[:3], f[3:]))

    @property
    def base_acceleration(self) -> Any:
        return self._sparse(np.concatenate([np.zeros(3), -self.robot.gravity])[:, None])


def rnea(tree: Tree, v: Any, a: Any) -> Any:
    """Table 5.1: inverse dynamics; ``a`` None is zero."""
    ca = tree.ca
    speed: list[Any] = []
    acceleration: list[Any] = []
    force: list[Any] = []
    for link in tree.links:
        joint = ca.mtimes(link.S, v[link.v])
        # gravity is an acceleration of the ground
        moved = tree.motion(link, acceleration[link.parent] if link.parent >= 0 else tree.base_acceleration)
        whole = tree.motion(link, speed[link.parent]) + joint if link.parent >= 0 else joint
        rate = moved + tree.cross_motion(whole, joint)
        if a is not None:
            rate = rate + ca.mtimes(link.S, a[link.v])
        speed.append(whole)
        acceleration.append(rate)
        momentum = ca.mtimes(link.inertia, whole)
        force.append(ca.mtimes(link.inertia, rate) + tree.cross_force(whole, momentum))
    tau = ca.SX.zeros(tree.robot.nv)
    for i in range(len(tree.links) - 1, -1, -1):
        link = tree.links[i]
        tau[link.v] = ca.mtimes(link.S.T, force[i])
        if link.parent >= 0:
            force[link.parent] = force[link.parent] + tree.force(link, force[i])
    return tau


def crba(tree: Tree) -> Any:
    """Table 6.2: the mass matrix."""
    ca = tree.ca
    composite = [ca.SX(link.inertia) for link in tree.links]
    M = ca.SX.zeros(tree.robot.nv, tree.robot.nv)
    for i in range(len(tree.links) - 1, -1, -1):
        link = tree.links[i]
        if link.parent >= 0:
            X = tree.transform(link)
            composite[link.parent] = composite[link.parent] + ca.mtimes(X.T, ca.mtimes(composite[i], X))
        F, j = ca.mtimes(composite[i], link.S), i
        M[link.v, link.v] = ca.mtimes(link.S.T, F)
        while tree.links[j].parent >= 0:
            F = ca.horzcat(*(tree.force(tree.links[j], F[:, k]) for k in range(F.shape[1])))
            j = tree.links[j].parent
            other = tree.links[j]
            M[link.v, other.v] = ca.mtimes(F.T, other.S)
            M[other.v, link.v] = M[link.v, other.v].T
    return M


def aba(tree: Tree, v: Any, tau: Any) -> Any:
    """Table 7.1: forward dynamics."""
    ca = tree.ca
    speed: list[Any] = []
    bias: list[Any] = []
    inertia: list[Any] = []
    force: list[Any] = []
    for link in tree.links:
        joint = ca.mtimes(link.S, v[link.v])
        whole = tree.motion(link, speed[link.parent]) + joint if link.parent >= 0 else joint
        speed.append(whole)
        bias.append(tree.cross_motion(whole, joint))
        inertia.append(ca.SX(link.inertia))
        force.append(tree.cross_force(whole, ca.mtimes(link.inertia, whole)))
    U: list[Any] = [None] * len(tree.links)
    D: list[Any] = [None] * len(tree.links)
    u: list[Any] = [None] * len(tree.links)
    for i in range(len(tree.links) - 1, -1, -1):
        link = tree.links[i]
        U[i] = ca.mtimes(inertia[i], link.S)
        D[i] = _inverse(ca, ca.mtimes(link.S.T, U[i]))
        u[i] = tau[link.v] - ca.mtimes(link.S.T, force[i])
        if link.parent >= 0:
            UD = ca.mtimes(U[i], D[i])
            rest = inertia[i] - ca.mtimes(UD, U[i].T)
            X = tree.transform(link)
            inertia[link.parent] = inertia[link.parent] + ca.mtimes(X.T, ca.mtimes(rest, X))
            carried = force[i] + ca.mtimes(rest, bias[i]) + ca.mtimes(UD, u[i])
            force[link.parent] = force[link.parent] + tree.force(link, carried)
    found = ca.SX.zeros(tree.robot.nv)
    acceleration: list[Any] = []
    for i, link in enumerate(tree.links):
        before = acceleration[link.parent] if link.parent >= 0 else tree.base_acceleration
        moved = tree.motion(link, before) + bias[i]
        found[link.v] = ca.mtimes(D[i], u[i] - ca.mtimes(U[i].T, moved))
        acceleration.append(moved + ca.mtimes(link.S, found[link.v]))
    return found


def _inverse(ca: Any, A: Any) -> Any:
    """The inverse of a small symmetric positive definite matrix, by its Cholesky factor: no pivots."""
    if A.shape == (1, 1):
        return 1.0 / A
    L = ca.chol(A).T
    identity = ca.SX.eye(A.shape[0])
    half = ca.SX.zeros(*A.shape)
    for column in range(A.shape[0]):
        for row in range(A.shape[0]):
            total = identity[row, column]
            for k in range(row):
                total = total - L[row, k] * half[k, column]
            half[row, column] = total / L[row, row]
    return ca.mtimes(half.T, half)


def spatial_inertia(robot: Robot, i: int) -> FloatArray:
    """The (6, 6) inertia of a body about its frame origin, angular before linear."""
    mass, c = float(robot.mass[i]), skew(robot.com[i])
    return np.block([[robot.inertia[i] - mass * c @ c, mass * c], [-mass * c, mass * np.eye(3)]])


def skew(x: FloatArray) -> FloatArray:
    """The matrix of the cross product by x."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


EXPRESSIONS: dict[str, Callable[..., Any]] = {
    "inverse_dynamics": rnea,
    "forward_dynamics": aba,
    "mass_matrix": crba,
    "bias": lambda tree, v: rnea(tree, v, None),
}
