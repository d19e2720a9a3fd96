"""The robots on which a method's numbers are compared, the simplest first, and the expected numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from dynbench.benchmarks.checks.agreement import relative, tolerance
from dynbench.benchmarks.checks.conformance import mistakes
from dynbench.benchmarks.checks.conformance.contract import SPECIAL_ROBOTS
from dynbench.benchmarks.checks.sampling import UNUSUAL, Sample, away_from_rest, draw, moved, put_unusual
from dynbench.methods import registry
from dynbench.methods.base import Method, Solver
from dynbench.methods.kernel_method import TreeMethod
from dynbench.robots.families.trees import KINDS, aligned_tree, chain, random_tree, tree
from dynbench.robots.joints import JointKind
from dynbench.robots.robot import FloatArray, Robot
from dynbench.robots.zoo import load

STATES, SEED = 5 + UNUSUAL, 5  # usual ones, then those of `unusual`
MANY = 6  # bodies
TOLERANCE_OF_JUDGES = 1e-8  # relative; two methods on loops or elastic links, each with its own rounding


@dataclass(frozen=True)
class Machine:
    """A robot, how to make it, and who gives the expected numbers."""

    robot: Robot
    how: str
    judge: Solver | None = None  # None: `plain`, which does trees of rigid bodies

    @cached_property
    def sample(self) -> Sample:
        """Seeded states, with the forces of their accelerations for forward dynamics."""
        drawn = draw(self.robot, STATES, SEED)
        if self.judge is None:
            put_unusual(self.robot, drawn.q, drawn.v, drawn.a, SEED, end=STATES)
        return replace(drawn, tau=away_from_rest(drawn, self.expected("inverse_dynamics", drawn)))

    def expected(self, quantity: str, sample: Sample, wrench: bool = False) -> FloatArray:
        """Return the expected values of a quantity, a row a state."""
        inputs = sample.inputs(quantity, wrench)
        if self.judge is not None:
            found = self.judge.whole(quantity)(**inputs)
        else:
            states = [{name: x[k] for name, x in inputs.items()} for k in range(len(sample))]
            found = np.array([mistakes.compute(mistakes.NONE, quantity, self.robot, state) for state in states])
        return np.asarray(found.reshape(len(sample), -1))

    @property
    def features(self) -> set[str]:
        """Features that simpler robots do not have, to which a mistake may be confined."""
        kinds = {f"{JointKind(kind).name.lower()} joints" for kind in self.robot.kind}
        parents = [parent for parent in self.robot.parent if parent >= 0]
        branched = {"branches"} if len(parents) != len(set(parents)) else set()
        carried = self.robot.parent[self.robot.kind == JointKind.FREE] >= 0
        moving = {"free joints on moving bodies"} if carried.any() else set()
        aligned = {"axes along x, y or z"} if (np.abs(self.robot.axis[:, :2]).max(axis=1) == 1.0).any() else set()
        many = {"more than six bodies"} if self.robot.n > MANY else set()
        return kinds | branched | moving | aligned | many | ({"massless bodies"} if 0.0 in self.robot.mass else set())


@cache
def reference(machine: Machine, quantity: str, wrench: bool) -> tuple[FloatArray, float]:
    """Return the expected values at the sample, and the tolerance for rounding, by the rule of `agreement`."""
    expected = machine.expected(quantity, machine.sample, wrench)
    if machine.judge is not None:
        return expected, TOLERANCE_OF_JUDGES
    there = machine.expected(quantity, moved(machine.sample), wrench)
    return expected, tolerance(float(relative(expected, there).max()))[0]


@cache
def machines() -> tuple[Machine, ...]:
    """Return trees of rigid bodies, each with a feature that the ones before it do not have."""
    made = {"robots.chain(3)": chain(3), "robots.tree(5)": tree(5)}
    for n, options in (
        (3, {"seed": 3, "kinds": ("revolute", "prismatic")}),
        (3, {"seed": 4, "kinds": ("revolute", "spherical")}),
        (3, {"seed": 5, "kinds": ("revolute",), "floating": True}),
        (6, {"seed": 6, "kinds": tuple(KINDS[:3]), "floating": True, "massless": True}),
        (9, {"seed": 2, "kinds": tuple(KINDS)}),  # free joints on bodies that move
    ):
        text = ", ".join(f"{name}={value!r}" for name, value in options.items())
        made[f"robots.random_tree({n}, {text})"] = random_tree(n, **options)  # type: ignore[arg-type]
    made["robots.families.trees.aligned_tree(12, seed=3)"] = aligned_tree(12, seed=3)
    return tuple(Machine(robot, how) for how, robot in made.items())


def special_machines(method: Method) -> list[Machine]:
    """Return robots of the papers, for methods that were made for them: loops, elastic links, certain chains.

    A `TreeMethod` takes closed loops by the shared projection, which needs no test for each method and takes minutes to
    compile: trees are enough for it.
    """
    names = () if isinstance(method, TreeMethod) else SPECIAL_ROBOTS
    found = [machine_for(load(name), method, f"robots.load({name!r})") for name in names]
    return [one for one in found if one is not None]


def machine_for(robot: Robot, method: Method, how: str) -> Machine | None:
    """Return a robot with a source of expected numbers; None if there is no other exact method that takes it."""
    if robot.is_tree and not robot.is_elastic:
        return Machine(robot, how)
    if method.supports(robot) is None:
        for name in registry.names():
            other = registry.get(name)
            if name != method.name and other.exact and not other.floor and other.supports(robot) is None:
                return Machine(robot, how, other.prepare(robot))
    return None
