"""Common mistakes, each as wrong numbers that can be computed and recognised.

A mistake is a wrong set of `plain.Terms`, or right equations with the state misread (``read``) or with the force in a
wrong form (``give``). `cause` tries them at the states where a method is wrong, and names the one that explains all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dynbench.benchmarks.checks.agreement import relative
from dynbench.benchmarks.checks.conformance.plain import RIGHT, Terms, inverse_dynamics
from dynbench.methods.kernels.dual import tangents
from dynbench.robots import quaternion
from dynbench.robots.inertial import regressor
from dynbench.robots.joints import NQ, NV, JointKind
from dynbench.robots.robot import FloatArray, IntArray, Robot

STEP = 1e-30  # of complex steps
SAME = 1e-6  # relative; mistakes differ by far more from each other

State = tuple[FloatArray, FloatArray, FloatArray]  # q, v, a


def as_is(robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray) -> State:
    return q, v, a


def given(robot: Robot, q: FloatArray, tau: FloatArray) -> FloatArray:
    return tau


@dataclass(frozen=True)
class Mistake:
    """What is wrong, in words for the author of the method, and how to compute it."""

    cause: str
    by: Terms = RIGHT
    read: Callable[[Robot, FloatArray, FloatArray, FloatArray], State] = as_is
    give: Callable[[Robot, FloatArray, FloatArray], FloatArray] = given

    def tau(self, robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None) -> FloatArray:
        """Inverse dynamics with the mistake in it."""
        return self.give(robot, q, inverse_dynamics(robot, *self.read(robot, q, v, a), wrench, self.by)[0])


NONE = Mistake("")


def compute(mistake: Mistake, quantity: str, robot: Robot, inputs: dict[str, FloatArray]) -> FloatArray:
    """Return any quantity of one state, flat, as a method with the mistake would give it."""
    q, still = inputs["q"], np.zeros(robot.nv)
    v, wrench = inputs.get("v", still), inputs.get("wrench")
    if quantity == "reactions":
        return inverse_dynamics(robot, *mistake.read(robot, q, v, inputs["a"]), wrench, mistake.by)[1].ravel()
    if quantity == "regressor":
        return regressor(robot, *mistake.read(robot, q, v, inputs["a"])).ravel()
    if quantity == "inverse_dynamics":
        return mistake.tau(robot, q, v, inputs["a"], wrench)
    bias = mistake.tau(robot, q, v, still, wrench)
    if quantity == "bias":
        return bias
    rest = mistake.tau(robot, q, still, still, None)
    M = np.array([mistake.tau(robot, q, still, e, None) - rest for e in np.eye(robot.nv)]).T
    if quantity == "mass_matrix":
        return M.ravel()
    if quantity == "inverse_dynamics_derivatives":
        return derivatives(mistake, robot, q, v, inputs["a"], wrench).ravel()
    a = np.linalg.solve(M, inputs["tau"] - bias)
    if quantity == "forward_dynamics":
        return a
    return -np.linalg.solve(M, derivatives(mistake, robot, q, v, a, wrench)).ravel()


def derivatives(
    mistake: Mistake, robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray, wrench: FloatArray | None
) -> FloatArray:
    """Return d tau/dq and d tau/dv, (2, nv, nv), by complex steps: no difference is taken, so no digit is lost."""
    ways = np.zeros((robot.nv, robot.nq))
    for k, way in enumerate(tangents(robot, q.tolist())):
        ways[k, list(way)] = list(way.values())
    dq = [mistake.tau(robot, q + 1j * STEP * way, v, a, wrench).imag for way in ways]
    dv = [mistake.tau(robot, q, v + 1j * STEP * e, a, wrench).imag for e in np.eye(robot.nv)]
    return np.array([np.transpose(dq), np.transpose(dv)]) / STEP


def mistakes(robot: Robot) -> Iterator[Mistake]:
    """The mistakes that make a difference for ``robot``, the commonest first."""
    yield Mistake("gravity has the wrong sign: robot.gravity points down, (0, 0, -9.81)", Terms(gravity=-1.0))
    yield Mistake("gravity is missing", Terms(gravity=0.0))
    yield Mistake("gravity is counted twice", Terms(gravity=2.0))
    yield Mistake("all forces have the wrong sign", give=lambda robot, q, tau: -tau)
    yield Mistake(
        "the velocity terms (Coriolis, centrifugal, gyroscopic) are missing",
        read=lambda robot, q, v, a: (q, 0.0 * v, a),
    )
    yield Mistake("the acceleration a is ignored", read=lambda robot, q, v, a: (q, v, 0.0 * a))
    yield Mistake("v and a are swapped", read=lambda robot, q, v, a: (q, a, v))
    yield Mistake("the gyroscopic moment w x I w is missing", Terms(gyroscopic=0.0))
    yield Mistake("the centripetal terms w x (w x r) are missing", Terms(centripetal=0.0))
    yield Mistake("the Coriolis terms w x (velocity in the joint) are missing", Terms(relative=0.0))
    rotation = "a rotation is transposed: R takes child to parent axes, x_parent = R x_child + p"
    yield Mistake(f"{rotation} (where velocities go outward, by R^T)", Terms(outward_transposed=True))
    yield Mistake(f"{rotation} (where forces go inward, by R)", Terms(inward_transposed=True))
    yield Mistake(f"{rotation} (where forces go inward, by mul(R, f))", Terms(packed_transposed=True))
    yield Mistake(rotation, Terms(outward_transposed=True, inward_transposed=True))
    yield from _angles()
    yield Mistake("the moment p x f of a force carried to the parent is missing", Terms(lever=0.0))
    yield Mistake("the moment of a force carried to the parent has the wrong sign: it is p x f", Terms(lever=-1.0))
    yield Mistake("forces of child bodies are not added to their parent's joint", Terms(carried=0.0))
    yield Mistake("the last body is left out", Terms(last_left_out=True))
    yield Mistake("force and moment are swapped: a revolute joint takes the moment, z . n", Terms(swapped=True))
    yield Mistake("the centre of mass is taken to be at the frame's origin", Terms(com=0.0))
    inertia = "the inertia is about the centre of mass, but used as"
    yield Mistake(f"{inertia} if it were about the frame's origin", Terms(parallel_axis=0.0))
    yield Mistake(f"{inertia} if parallel axes had to be added twice", Terms(parallel_axis=2.0))
    yield from _orders(robot)
    yield from _quaternions(robot)
    yield from _free_base(robot)


def wrench_mistakes() -> Iterator[Mistake]:
    """Mistakes with external wrenches alone."""
    yield Mistake("external wrenches are ignored", Terms(wrench=0.0))
    yield Mistake("external wrenches have the wrong sign: they relieve the joints", Terms(wrench=-1.0))
    yield Mistake("external wrenches are read in world axes: they are in body axes", Terms(wrench_world=True))
    moment_first = Terms(wrench_moment_first=True)
    yield Mistake("external wrenches are read moment first: it is force, then moment", moment_first)


def _angles() -> Iterator[Mistake]:
    for words, k in (("are taken for degrees", np.pi / 180.0), ("were turned into degrees", 180.0 / np.pi)):
        yield Mistake(f"angles {words}: q is in radians", read=partial(scaled, k, 1.0))
        yield Mistake(f"angles and rates {words}: q, v, a are in radians", read=partial(scaled, k, k))
        yield Mistake(f"all numbers {words}: q, v, a are in radians and metres", read=partial(every_number, k))
    yield Mistake("revolute joints turn the wrong way: by R(q)^T, or about -axis", read=partial(scaled, -1.0, 1.0))


def _orders(robot: Robot) -> Iterator[Mistake]:
    orders = {"reversed": [*range(robot.n - 1, -1, -1)], "depth first": depth_first(robot)}
    for words, order in orders.items():
        if order != [*range(robot.n)]:
            say = f"wrong order of coordinates ({words}): they follow robot.joint_names; so do not"
            read, give = partial(reordered, order), partial(put_in_order, order)
            yield Mistake(f"{say} q, v, a and tau", read=read, give=give)
            yield Mistake(f"{say} q, v, a", read=read)
            yield Mistake(f"{say} the forces", give=give)


def _quaternions(robot: Robot) -> Iterator[Mistake]:
    if len(robot.quaternions):
        yield Mistake("wrong order of quaternions: read as w x y z, they are x y z w", read=partial(rolled, -1))
        yield Mistake("wrong order of quaternions: reordered for what reads x y z w", read=partial(rolled, 1))
        yield Mistake("quaternions are conjugated: they take child to parent axes", read=conjugate)


def _free_base(robot: Robot) -> Iterator[Mistake]:
    if JointKind.FREE in robot.kind:
        body = "of a free base: v, a and tau are in body axes"
        for words, derivatives in (("v and a", False), ("v and of its derivative for a", True)):
            read = partial(from_world, derivatives)
            yield Mistake(f"world axes of {words} {body}", read=read)
            yield Mistake(f"world axes of {words}, and of the force {body}", read=read, give=to_world)
        yield Mistake(f"world axes of the force {body}", give=to_world)
        yield Mistake("a of a free base is read as the acceleration of its origin: it is dv/dt", read=classical)
        swapped = partial(Mistake, give=halves_swapped)
        yield swapped("angular before linear of a free base in v, a and tau", read=angular_first)
        yield swapped("angular before linear of a free base in tau")
        yield Mistake("angular before linear of a free base in v and a", read=angular_first)


def cause(robot: Robot, quantity: str, states: Sequence[dict[str, FloatArray]], got: Sequence[FloatArray]) -> str:
    """Return the mistake that gives the method's results at all states, "" if there is none."""
    wrench = "wrench" in states[0]
    right = [compute(NONE, quantity, robot, state) for state in states]
    special = _of_results(quantity, robot, states, right, got)
    if special:
        return special
    for mistake in wrench_mistakes() if wrench else mistakes(robot):
        if _explains(mistake, quantity, robot, states, right, got):
            return mistake.cause
    return ""


def _explains(
    mistake: Mistake,
    quantity: str,
    robot: Robot,
    states: Sequence[dict[str, FloatArray]],
    right: Sequence[FloatArray],
    got: Sequence[FloatArray],
) -> bool:
    """Whether the mistake gives the method's results at all states, and differs from the right ones at some."""
    differs = False
    for state, x, y in zip(states, right, got, strict=True):
        try:
            wrong = compute(mistake, quantity, robot, state)
        except np.linalg.LinAlgError:  # with this mistake there is no forward dynamics
            return False
        if not _same(wrong, y):
            return False
        differs = differs or not _same(wrong, x)
    return differs


def _same(x: FloatArray, y: FloatArray) -> bool:
    return float(relative(x.reshape(1, -1), y.reshape(1, -1))[0]) < SAME


def _of_results(
    quantity: str,
    robot: Robot,
    states: Sequence[dict[str, FloatArray]],
    right: Sequence[FloatArray],
    got: Sequence[FloatArray],
) -> str:
    """Return a mistake that shows in the result itself: NaN, zeros, half a matrix, a factor, no bias."""
    bad = [~np.isfinite(x) for x in got]
    if any(x.any() for x in bad):
        same = all((x == bad[0]).all() for x in bad) and not bad[0].all() and quantity != "mass_matrix"
        where = f"never set at {np.flatnonzero(bad[0]).tolist()}" if same else "not finite"
        return f"the result is {where}: something is not written, added to what was in out, or divided by zero"
    if not any(np.any(x) for x in got):
        return "the result is zero: nothing was written to it"
    pairs = list(zip(right, got, strict=True))
    if quantity == "mass_matrix":
        matrices = [(x.reshape(robot.nv, -1), y.reshape(robot.nv, -1)) for x, y in pairs]
        for words, half in (("upper", np.triu), ("lower", np.tril)):
            if all(_same(half(x), y) for x, y in matrices):
                return f"only the {words} triangle of the mass matrix is filled"
    if quantity == "forward_dynamics":
        M = [compute(NONE, "mass_matrix", robot, state).reshape(robot.nv, -1) for state in states]
        h = [compute(NONE, "bias", robot, state) for state in states]
        for words, k in (("not subtracted from", 0.0), ("added to, not subtracted from,", -1.0)):
            wrong = [np.asarray(np.linalg.solve(M[i], s["tau"] - k * h[i]), float) for i, s in enumerate(states)]
            if all(_same(x, y) for x, y in zip(wrong, got, strict=True)):
                return f"the bias is {words} the force: M a = tau - h"
    factors = [float(x @ y / (x @ x)) for x, y in pairs if x.any()]
    if factors and abs(abs(factors[0]) - 1.0) > SAME and all(_same(factors[0] * x, y) for x, y in pairs):
        return f"everything is {factors[0]:.6g} times what it should be"
    return ""


# ---------------------------------------------------------------------- misread states: q, v, a as they are understood


def scaled(of_q: float, of_rates: float, robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray) -> State:
    """Angles, and their rates, times a factor; quaternions and lengths as they are."""
    turning = robot.kind == JointKind.REVOLUTE
    q, v, a = q.copy(), v.copy(), a.copy()
    q[robot.iq[turning]] *= of_q
    v[robot.iv[turning]] *= of_rates
    a[robot.iv[turning]] *= of_rates
    return q, v, a


def every_number(factor: float, robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray) -> State:
    """All of q, v and a times a factor, quaternions unit again."""
    return robot.normalise(factor * q), factor * v, factor * a


def reordered(order: Sequence[int], robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray) -> State:
    """The numbers taken for those of joints in another order."""
    at_q, at_v = blocks(order, robot.iq, NQ[robot.kind]), blocks(order, robot.iv, NV[robot.kind])
    seen = np.empty_like(q), np.empty_like(v), np.empty_like(a)
    for array, at, mine in zip(seen, (at_q, at_v, at_v), (q, v, a), strict=True):
        array[at] = mine
    return robot.normalise(seen[0]), seen[1], seen[2]


def put_in_order(order: Sequence[int], robot: Robot, q: FloatArray, tau: FloatArray) -> FloatArray:
    """The force, joints in another order."""
    return tau[blocks(order, robot.iv, NV[robot.kind])]


def blocks(order: Sequence[int], first: IntArray, width: IntArray) -> list[int]:
    """Return the indices of the coordinates of the joints in ``order``."""
    return [k for i in order for k in range(int(first[i]), int(first[i] + width[i]))]


def rolled(by: int, robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray) -> State:
    """Quaternions with their numbers shifted: x y z w taken for w x y z, or the reverse."""
    q = q.copy()
    for start, _ in robot.quaternions:
        q[start : start + 4] = np.roll(q[start : start + 4], by)
    return q, v, a


def conjugate(robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray) -> State:
    """Quaternions of the inverse rotations."""
    q = q.copy()
    for start, _ in robot.quaternions:
        q[start : start + 3] *= -1.0
    return q, v, a


def free_joints(robot: Robot, q: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    """Yield for each free joint its index in v, and its body's rotation to the axes of its position."""
    for i in np.flatnonzero(robot.kind == JointKind.FREE):
        at = robot.iq[i] + 3
        yield int(robot.iv[i]), robot.rotation[i] @ quaternion.matrix(q[at : at + 4])


def from_world(derivatives: bool, robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray) -> State:
    """v and a of free joints taken for world axes; with ``derivatives``, a for the derivative of those."""
    v, a = v.copy(), a.copy()
    for at, R in free_joints(robot, q):
        for x in (v, a):
            x[at : at + 6] = np.concatenate([R.T @ x[at : at + 3], R.T @ x[at + 3 : at + 6]])
    return classical(robot, q, v, a) if derivatives else (q, v, a)


def to_world(robot: Robot, q: FloatArray, tau: FloatArray) -> FloatArray:
    """Force and moment of free joints in world axes."""
    tau = tau.copy()
    for at, R in free_joints(robot, q):
        tau[at : at + 6] = np.concatenate([R @ tau[at : at + 3], R @ tau[at + 3 : at + 6]])
    return tau


def classical(robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray) -> State:
    """a of free joints taken for the acceleration of the origin, which has an additional omega x v."""
    a = a.copy()
    for at, _ in free_joints(robot, q):
        a[at : at + 3] -= np.cross(v[at + 3 : at + 6], v[at : at + 3])
    return q, v, a


def halves_swapped(robot: Robot, q: FloatArray, x: FloatArray) -> FloatArray:
    """The six numbers of free joints with angular before linear."""
    x = x.copy()
    for at, _ in free_joints(robot, q):
        x[at : at + 6] = np.roll(x[at : at + 6], 3)
    return x


def angular_first(robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray) -> State:
    """v and a of free joints taken for angular before linear."""
    return q, halves_swapped(robot, q, v), halves_swapped(robot, q, a)


def depth_first(robot: Robot) -> list[int]:
    """Return the bodies so that each subtree is consecutive, children in the robot's order."""

    def below(body: int) -> list[int]:
        return [each for child in np.flatnonzero(robot.parent == body) for each in (int(child), *below(int(child)))]

    return below(-1)
