"""Beginners' mistakes, made in the files of ``dynbench new-method``: each gives a finding that names the cause.

Kernels run as plain Python here, so that nothing is compiled; `tests/test_plugins.py` compiles the template.
"""

from __future__ import annotations

import re
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dynbench import methods
from dynbench.benchmarks.checks.conformance import mistakes, plain
from dynbench.benchmarks.checks.conformance.examine import Defect, defects, each_once, examine, wrong_numbers
from dynbench.benchmarks.checks.conformance.machines import machines
from dynbench.benchmarks.cli import new_method
from dynbench.methods import Method, function_solver
from dynbench.methods.kernels.scalar import ONE
from dynbench.robots import chain, random_tree
from dynbench.robots.families.trees import KINDS

OUTWARD = "outward(tag, model, q, v, a, wrench, work)"

# What stands in the template, what a beginner may write instead, what the finding must say
GENERIC = {
    "transposed rotation": ("mul(R, ", "mulT(R, ", "a rotation is transposed"),
    "no lever": ("cross(p, f))", "zero3(tag))", "the moment p x f of a force carried to the parent is missing"),
    "lever's sign": ("cross(p, f)", "cross(f, p)", "the moment of a force carried to the parent has the wrong sign"),
    "nothing carried": ("u, f = parent(model, i) * WORK", "u, f = 0 * WORK", "forces of child bodies are not added"),
    "swapped arguments": (OUTWARD, OUTWARD.replace("v, a", "a, v"), "v and a are swapped"),
    "no acceleration": (OUTWARD, OUTWARD.replace("a,", "v * 0,"), "the acceleration a is ignored"),
    "no velocity": (OUTWARD, OUTWARD.replace("v,", "v * 0,"), "the velocity terms (Coriolis"),
    "no wrenches": (OUTWARD, OUTWARD.replace("wrench", "None"), "external wrenches are ignored"),
    "sign": ("n[2])", "-n[2])", "all forces have the wrong sign"),
    "degrees": (OUTWARD, OUTWARD.replace("q,", "q * 57.29577951308232,"), "degrees: q is in radians"),
    "last body": ("range(body_count(model), 0", "range(body_count(model) - 1, 0", "the result is never set at [2]"),
    "force for moment": ("n[2])", "f[2])", "force and moment are swapped"),
    "a joint kind": ("store3(tag, out, at, f)", "store3(tag, out, at, n)", "only robots with free joints are wrong"),
    "wrong index": ("iv(model, i)", "parent(model, i)", "the result is never set at [3, 4]"),
}

CALL = "f(robot, q, v, a)\n"
RETURN = "return tau if wrench is None else"

WRAPPED = {
    "gravity's sign": ("acc - robot.gravity", "acc + robot.gravity", "gravity has the wrong sign"),
    "no gravity": ("acc - robot.gravity", "acc", "gravity is missing"),
    "no Coriolis": (CALL, "f(robot, q, 0 * v, a)\n", "the velocity terms (Coriolis, centrifugal"),
    "no gyroscopic moment": ("np.cross(w, spin)", "0.0", "the gyroscopic moment w x I w is missing"),
    "no centre of mass": ("c, spin = robot.com,", "c, spin = 0 * robot.com,", "the centre of mass is taken to be at"),
    "inertia's point": ("+ np.cross(c, force)", "+ np.cross(c, robot.mass[:, None] * acc)", "about the frame's origin"),
    "degrees": (CALL, "f(robot, robot.normalise(np.degrees(q)), v, a)\n", "degrees: q is in radians"),
    "radians twice": (CALL, "f(robot, robot.normalise(np.radians(q)), v, a)\n", "degrees: q is in radians"),
    "reversed forces": (CALL, "f(robot, q, v, a)[::-1]\n", "wrong order of coordinates (reversed)"),
    "reversed everything": (
        CALL,
        "f(robot, *(x[::-1].copy() for x in (q, v, a)))[::-1] if robot.nq == robot.nv else f(robot, q, v, a)\n",
        "wrong order of coordinates (reversed)",
    ),
    "quaternion order": (
        CALL,
        "f(robot, np.hstack([q[:3], np.roll(q[3:7], 1), q[7:]]) if robot.kind[0] == 3 else q, v, a)\n",
        "wrong order of quaternions",
    ),
    "world axes": ("moment]), 2)", "moment]), 2) @ turned(robot, q)", "world axes of the force"),
    "a column": (CALL, "f(robot, q, v, a)[:, None]\n", "wrong shape: a column"),
    "a number too few": (CALL, "f(robot, q, v, a)[1:]\n", "wrong shape: expected one number per coordinate"),
    "no wrench argument": ("inverse_dynamics(q, v, a, wrench)", "inverse_dynamics(q, v, a)", "take (q, v, a, wrench)"),
    "wrench's sign": ("tau - np.tensordot", "tau + np.tensordot", "external wrenches have the wrong sign"),
    "a factor": (CALL, "3.0 * f(robot, q, v, a)\n", "everything is 3 times what it should be"),
    "NaN": (CALL, "f(robot, q, v, a) * np.nan\n", "the result is not finite"),
    "an index": (CALL, "f(robot, q, v, a)[robot.iq]\n", "wrong index|wrong shape"),
}

TURNED = """

def turned(robot, q):
    M = np.eye(robot.nv)
    if robot.kind[0] == 3:
        M[:3, :3] = M[3:6, 3:6] = kinematics.poses(robot, q)[0][0].T
    return M
"""


def module(kind: str, old: str = "", new: str = "") -> ModuleType:
    """The template's module, with a mistake in it."""
    source = new_method.filled(f"{kind}.py.tmpl", new_method.substitutions("mine", kind))
    assert old in source, f"the template has changed: {old!r} is not in it"
    made = ModuleType("dynbench_mine")
    more = "\nfrom dynbench.methods.kernels.vectors import mulT, zero3\n" if kind == "generic" else TURNED
    exec(compile(source.replace(old, new) + more, "dynbench_mine.py", "exec"), made.__dict__)
    return made


def interpreted(made: ModuleType) -> Method:
    """The method of a generic module with its kernel as plain Python."""

    class Interpreted(Method):
        name, title, reference, cost = "mine", "Mine", "a test", "O(n)"
        computes = ("inverse_dynamics", "bias")

        def prepare(self, robot: Any) -> Any:
            self.require(robot)
            model = made.Mine().pack(robot)

            def inverse_dynamics(q: Any, v: Any, a: Any, wrench: Any) -> Any:
                out, work = np.full(robot.nv, np.nan), np.zeros(made.WORK * (robot.n + 1))
                outer = None if wrench is None else wrench.ravel()
                made.inverse_dynamics(ONE, model, q, v, a, outer, out, work)
                return out

            return function_solver(self, robot, {"inverse_dynamics": inverse_dynamics})

    return Interpreted()


def numbers_of(method: Method) -> list[Defect]:
    promises = wrong_numbers(method, [one for one in machines() if method.supports(one.robot) is None])
    return each_once(defect for promise in promises for defect in promise.defects)


def assert_named(found: list[Defect], cause: str) -> None:
    assert found, "nothing was found"
    said = "\n".join(map(str, found))
    assert any(re.search(re.escape(cause).replace(r"\|", "|"), finding.cause) for finding in found), said


def test_the_templates_are_right_and_short():
    assert not numbers_of(interpreted(module("generic")))
    assert not numbers_of(module("wrap").Mine())
    for kind in ("generic", "wrap"):
        source = new_method.filled(f"{kind}.py.tmpl", new_method.substitutions("a-long-name", kind))
        assert len(source.splitlines()) <= 40
        assert max(map(len, source.splitlines())) <= 120


@pytest.mark.parametrize("name", GENERIC)
def test_a_mistake_in_the_generic_template_is_named(name):
    old, new, cause = GENERIC[name]
    assert_named(numbers_of(interpreted(module("generic", old, new))), cause)


@pytest.mark.parametrize("name", WRAPPED)
def test_a_mistake_in_the_wrapped_function_is_named(name):
    old, new, cause = WRAPPED[name]
    assert_named(numbers_of(module("wrap", old, new).Mine()), cause)


BROKEN_PROMISES = {
    "mutated input": (CALL, "f(robot, q, v, a)\n            v *= 0.5\n", "mutated input"),
    "a computed quantity too many": ('("inverse_dynamics", "bias")', '("inverse_dynamics",)', "different quantities"),
    "no cost": ('"O(n d)"', '""', "say in a few words how the cost grows"),
    "supports that raises": ("    def p", "    def supports(self, robot):\n        1 / 0\n    def p", "never raises"),
}


@pytest.mark.parametrize("name", BROKEN_PROMISES)
def test_a_broken_promise_is_named(name):
    old, new, cause = BROKEN_PROMISES[name]
    assert_named(defects(module("wrap", old, new).Mine(), [chain(2)]), cause)


def test_a_right_method_keeps_everything_on_one_robot():
    promises = list(examine(module("wrap").Mine(), [chain(2)]))
    assert len(promises) > 12
    assert not [promise for promise in promises if promise.defects]


@pytest.mark.parametrize("seed", [11, 12])
def test_the_plain_equations_are_those_of_newton_euler(seed):
    robot = random_tree(6, seed=seed, kinds=KINDS, massless=True)
    q, v, a = robot.sample(3, seed=1)
    wrench = np.random.default_rng(2).standard_normal((3, robot.n, 6))
    kane = interpreted(SimpleNamespace(**kernels_of("kane")))  # the shared sweep and Kane's projection, not compiled
    expected = kane.prepare(robot).inverse_dynamics(q, v, a, wrench=wrench)
    for k in range(3):
        tau, reactions = plain.inverse_dynamics(robot, q[k], v[k], a[k], wrench[k])
        assert np.allclose(tau, expected[k], rtol=0, atol=1e-12 * np.abs(expected[k]).max())
        assert reactions.shape == (robot.n, 6)


def kernels_of(name: str) -> dict[str, Any]:
    method = methods.get(name)
    return {"Mine": type(method), "WORK": method.work["inverse_dynamics"], **method.kernels}


def test_every_mistake_makes_a_difference_somewhere():
    """A mistake that changes nothing would be blamed for nothing, or for everything."""
    robot = random_tree(4, seed=2, kinds=("revolute", "prismatic", "spherical"), floating=True)
    q, v, a = (x[0] for x in robot.sample(1, seed=3))
    state = {"q": q, "v": v, "a": a}
    right = mistakes.compute(mistakes.NONE, "inverse_dynamics", robot, state)
    for mistake in mistakes.mistakes(robot):
        wrong = mistakes.compute(mistake, "inverse_dynamics", robot, state)
        assert np.abs(wrong - right).max() > 1e-3 * np.abs(right).max(), mistake.cause


@pytest.mark.parametrize(
    ("quantity", "change", "cause"),
    [
        ("mass_matrix", lambda M, *_: np.triu(M), "only the upper triangle"),
        ("forward_dynamics", lambda a, M, h, tau: np.linalg.solve(M, tau), "the bias is not subtracted"),
        ("forward_dynamics", lambda a, M, h, tau: np.linalg.solve(M, tau + h), "the bias is added"),
    ],
)
def test_mistakes_in_other_quantities_are_named(quantity, change, cause):
    robot = chain(3)
    q, v, a = robot.sample(3, seed=4)
    states = [{"q": q[k], "v": v[k], "a": a[k], "tau": 3.0 * a[k]} for k in range(3)]
    got = []
    for state in states:
        names = ("mass_matrix", "bias", quantity)
        right = {name: mistakes.compute(mistakes.NONE, name, robot, state) for name in names}
        M = right["mass_matrix"].reshape(3, 3)
        result = right[quantity].reshape(M.shape) if quantity == "mass_matrix" else right[quantity]
        got.append(np.ravel(change(result, M, right["bias"], state["tau"])))
    assert cause in mistakes.cause(robot, quantity, states, got)
