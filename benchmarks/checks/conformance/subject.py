"""A method under test: on a robot that it supports, with its solver and seeded states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dynbench.benchmarks.checks.agreement import relative
from dynbench.benchmarks.checks.sampling import Sample, draw, moved, with_forces
from dynbench.methods.base import Method, Solver
from dynbench.robots.errors import DynbenchError
from dynbench.robots.robot import FloatArray, Robot

STATES = 11  # a block of eight and a part of one
SAME = 1e-13  # relative: the same operations, contracted differently by the compiler


class NonConformance(AssertionError):
    """A method breaks the contract."""


def require(condition: bool, sentence: str) -> None:
    """Raise the sentence unless the condition holds."""
    if not condition:
        raise NonConformance(sentence)


def refusal(kind: type[DynbenchError], call: Callable[[], Any], what: str) -> str:
    """The message of the error that ``call`` must raise."""
    try:
        result = call()
    except kind as error:
        return str(error)
    except Exception as error:
        raise NonConformance(f"{what}: wanted {kind.__name__}, got {type(error).__name__}: {error}") from error
    raise NonConformance(f"{what}: wanted {kind.__name__}, got the result {result!r:.60}")


@dataclass(frozen=True)
class Subject:
    """A method on a robot that it supports."""

    method: Method
    robot: Robot

    @cached_property
    def solver(self) -> Solver:
        return self.method.prepare(self.robot)

    @cached_property
    def sample(self) -> Sample:
        return with_forces(draw(self.robot, STATES, seed=5), [self.solver])

    def calls(self) -> list[tuple[str, Callable[..., FloatArray], dict[str, FloatArray]]]:
        """Each quantity with its function and a batch of arguments."""
        return [(name, getattr(self.solver, name), self.sample.inputs(name)) for name in self.solver.computes]

    @cached_property
    def noise(self) -> dict[str, float]:
        """What moving the inputs by 2 ulp does to each quantity: forward dynamics of light links is ill-conditioned."""
        nearby = moved(self.sample)
        there = {name: getattr(self.solver, name)(**nearby.inputs(name)) for name in self.solver.computes}
        return {name: largest(call(**inputs), there[name]) for name, call, inputs in self.calls()}

    def require_same(self, quantity: str, x: FloatArray, y: FloatArray, what: str) -> None:
        """Raise unless two results of a quantity, for the same batch of states, are alike."""
        error, tolerance = largest(x, y), max(SAME, self.noise[quantity])
        sentence = f"{quantity} {what}: they differ by {error:.1e} relative, more than {tolerance:.1e}"
        require(error <= tolerance, f"{sentence}, on robot {self.robot.name!r}")


def largest(x: FloatArray, y: FloatArray) -> float:
    """The largest relative difference of two results for a batch."""
    N = len(x)
    return float(relative(x.reshape(N, -1), y.reshape(N, -1)).max()) if N else 0.0


def subject_of(method: Method, robots: Sequence[Robot]) -> Subject | None:
    """The method on the first robot that it supports."""
    return next((Subject(method, robot) for robot in robots if method.supports(robot) is None), None)


def robots_to_try() -> list[Robot]:
    """Small robots of every sort, the most demanding first."""
    from dynbench.robots.families.trees import KINDS, chain, random_tree
    from dynbench.robots.zoo import load

    trees = [
        random_tree(6, seed=11, kinds=KINDS[:3], floating=True, massless=True),
        random_tree(6, seed=12, kinds=KINDS),
        random_tree(5, seed=13, kinds=("revolute", "spherical")),
        chain(3),
    ]
    return trees + [load(name) for name in ("rp-2", "space-dual-arm", "gough-stewart", "3rrr", "elastic-rp1")]
