"""The robots on which a plugin's numbers are compared, the simplest first, and who says what the numbers should be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from dynbench.benchmarks.checks.agreement import relative, tolerance
from dynbench.benchmarks.checks.conformance import mistakes
from dynbench.benchmarks.checks.sampling import Sample, draw, moved
from dynbench.methods import registry
from dynbench.methods.base import Method, Solver
from dynbench.methods.kernel_method import TreeMethod
from dynbench.robots.families.trees import KINDS, chain, random_tree, tree
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray, Robot
from dynbench.robots.zoo import load

STATES, SEED = 5, 5
TOLERANCE_OF_JUDGES = 1e-8  # relative; two methods on loops or elastic links, each with its own rounding


@dataclass(frozen=True)
class Machine:
    """A robot, how to make it, and the features by which a mistake may be confined to it."""

    robot: Robot
    how: str
    judge: Solver | None = None  # None: `plain`, which does trees of rigid bodies

    @cached_property
    def sample(self) -> Sample:
        """Seeded states, with the forces of their accelerations for forward dynamics."""
        drawn = draw(self.robot, STATES, SEED)
        return replace(drawn, tau=self.expected("inverse_dynamics", drawn))

    def expected(self, quantity: str, sample: Sample, wrench: bool = False) -> FloatArray:
        """What a method should give for a quantity, a row a state."""
        inputs = sample.inputs(quantity, wrench)
        if self.judge is not None:
            found = getattr(self.judge, quantity)(**inputs)
        else:
            states = [{name: x[k] for name, x in inputs.items()} for k in range(len(sample))]
            found = np.array([mistakes.compute(mistakes.NONE, quantity, self.robot, state) for state in states])
        return np.asarray(found.reshape(len(sample), -1))

    @property
    def features(self) -> set[str]:
        """What is there that simpler robots do not have."""
        kinds = {f"{JointKind(kind).name.lower()} joints" for kind in self.robot.kind}
        parents = [parent for parent in self.robot.parent if parent >= 0]
        branched = {"branches"} if len(parents) != len(set(parents)) else set()
        return kinds | branched | ({"massless bodies"} if 0.0 in self.robot.mass else set())


@cache
def reference(machine: Machine, quantity: str, wrench: bool) -> tuple[FloatArray, float]:
    """What a method should give at the sample, and how far rounding alone may take it, as `agreement` has it."""
    expected = machine.expected(quantity, machine.sample, wrench)
    if machine.judge is not None:
        return expected, TOLERANCE_OF_JUDGES
    there = machine.expected(quantity, moved(machine.sample), wrench)
    return expected, tolerance(float(relative(expected, there).max()))[0]


@cache
def machines() -> tuple[Machine, ...]:
    """Trees of rigid bodies, each with something the ones before it do not have."""
    made: dict[str, Callable[[], Robot]] = {
        "robots.chain(3)": lambda: chain(3),
        "robots.tree(5)": lambda: tree(5),
        "robots.random_tree(3, seed=3, kinds=('revolute', 'prismatic'))": lambda: random_tree(
            3, seed=3, kinds=("revolute", "prismatic")
        ),
        "robots.random_tree(3, seed=4, kinds=('revolute', 'spherical'))": lambda: random_tree(
            3, seed=4, kinds=("revolute", "spherical")
        ),
        "robots.random_tree(3, seed=5, kinds=('revolute',), floating=True)": lambda: random_tree(
            3, seed=5, kinds=("revolute",), floating=True
        ),
        "robots.random_tree(6, seed=6, kinds=robots.families.KINDS[:3], floating=True, massless=True)": (
            lambda: random_tree(6, seed=6, kinds=KINDS[:3], floating=True, massless=True)
        ),
    }
    return tuple(Machine(make(), how) for how, make in made.items())


def special_machines(method: Method) -> list[Machine]:
    """Robots of the papers, for methods that were made for them: loops, elastic links, certain chains.

    A `TreeMethod` takes closed loops by the shared projection, which needs no test of its own for each method and
    minutes to compile: trees are enough for it.
    """
    names = () if isinstance(method, TreeMethod) else ("rp-2", "space-dual-arm", "gough-stewart", "3rrr", "elastic-rp1")
    found = [machine(load(name), method, f"robots.load({name!r})") for name in names]
    return [one for one in found if one is not None]


def machine(robot: Robot, method: Method, how: str) -> Machine | None:
    """A robot with somebody who knows the numbers of a method on it; None if there is nobody."""
    if robot.is_tree and not robot.is_elastic:
        return Machine(robot, how)
    judge = _other(method, robot) if method.supports(robot) is None else None
    return None if judge is None else Machine(robot, how, judge)


def _other(method: Method, robot: Robot) -> Solver | None:
    """A solver of another exact method that takes the robot, ours first."""
    for name in registry.names():
        other = registry.get(name)
        if name != method.name and other.exact and not other.floor and other.supports(robot) is None:
            return other.prepare(robot)
    return None
