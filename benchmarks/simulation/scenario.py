"""One experiment: a robot, its start, its inputs, how long it runs and where it ends, and what is measured.

    found = scenario.run("newton-euler", solver="RK45", rtol=1e-6)
    found.t, found.q, found["energy balance"]

A `Scenario` runs through any method that computes forward dynamics of its robot, by any integrator of scipy. The
papers' claims use its measures, and `work_precision` sweeps it. Where forces are a table in time (`inputs.Torques`) and
nothing else is a Python function, the whole run is machine code (`equations`); the numbers are the same to rounding.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from dynbench import methods
from dynbench.benchmarks.simulation import equations
from dynbench.benchmarks.simulation.inputs import Torques
from dynbench.benchmarks.simulation.integrators import INTEGRATORS, integrate
from dynbench.benchmarks.simulation.simulate import Force, simulate
from dynbench.benchmarks.simulation.singular import Singular
from dynbench.benchmarks.simulation.stops import Stop, simulate_with_stops
from dynbench.methods.base import Method, Solver
from dynbench.robots.errors import UnknownNameError, near
from dynbench.robots.robot import FloatArray, Robot

LIMIT = 4_000_000  # right-hand sides of a run


class Measure(NamedTuple):
    """Something that is computed from a recording: a number, or an array over its K times."""

    function: Callable[[Recording], Any]
    unit: str = ""


@dataclass(frozen=True, eq=False)
class Scenario:
    """An experiment; see the module's docstring.

    Parameters
    ----------
    name, title : str
        A short name, and a line about it.
    robot : Robot
    q0, v0 : ndarray, shapes (nq,), (nv,)
        The state at t = 0.
    horizon : float
        Seconds.
    inputs : Torques or callable
        Forces of the actuators: a table in time, or ``f(t, q, v)`` (na,).
    methods : sequence of str or Method
        Those that a sweep compares; the first is the default of `run`.
    wrench : callable
        ``f(t, q, v)`` (n, 6): external wrenches, body axes.
    integrals : callable
        ``f(t, q, v)`` (k,): integrated beside the motion and to its tolerances, such as power.
    switches : sequence of float
        Times at which inputs jump: integration restarts there.
    events : sequence of callable
        ``g(t, q, v)``: the run ends where one of them crosses zero.
    stops : sequence of Stop
        Hard stops, with the laws of `stops`; ``impact`` is "inelastic" or, as a counter-example, "naive".
    measures : dict of Measure
        What can be computed from a recording, by name.
    solver, rtol, atol
        Default integrator, a name of `INTEGRATORS`, and tolerances.
    """

    name: str
    title: str
    robot: Robot
    q0: FloatArray
    v0: FloatArray
    horizon: float
    inputs: Torques | Force
    methods: Sequence[str | Method] = ("newton-euler",)
    wrench: Force | None = None
    integrals: Force | None = None
    switches: Sequence[float] = ()
    events: Sequence[Callable[..., float]] = ()
    stops: Sequence[Stop] = ()
    impact: str = "inelastic"
    measures: Mapping[str, Measure] = field(default_factory=dict)
    solver: str = "DOP853"
    rtol: float = 1e-8
    atol: float = 1e-10

    def run(
        self,
        method: str | Method | None = None,
        *,
        solver: str | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        times: FloatArray | None = None,
        limit: int = LIMIT,
        partial: bool = False,
    ) -> Recording:
        """Run it by a method.

        Parameters
        ----------
        method : str or Method
            Name of a method, or one with options; default the scenario's first.
        solver, rtol, atol
            Integrator and tolerances; default the scenario's.
        times : ndarray, shape (K,)
            Times of the stored states. Default: the integrator's own steps when the run is machine code, else 201
            equal steps.
        limit : int
            Largest number of right-hand sides.
        partial : bool
            Return the part of a run that did not reach its end, with the reason, instead of raising RuntimeError.
        """
        made = methods.get(method) if isinstance(method, str) else method or self.method
        name, relative, absolute = solver or self.solver, rtol or self.rtol, atol or self.atol
        if name not in INTEGRATORS:
            raise UnknownNameError(f"no integrator is called {name!r}; {near(name, INTEGRATORS)}")
        prepared = made.prepare(self.robot)
        how = (prepared, name, relative, absolute, limit)
        found = self._compiled(*how) if times is None and self.compiles(prepared) else self._through_python(*how, times)
        if found.reason and not partial:
            raise RuntimeError(f"scenario {self.name!r} by {made.name}, {name}: {found.reason}")
        return found

    @property
    def method(self) -> Method:
        """The default method of `run`."""
        first = self.methods[0]
        return methods.get(first) if isinstance(first, str) else first

    def compiles(self, solver: Solver) -> bool:
        """Whether a whole run by this solver is machine code."""
        plain = self.wrench is None and self.integrals is None and not (self.switches or self.events or self.stops)
        return plain and isinstance(self.inputs, Torques) and not equations.why_not(solver)

    def _compiled(self, solver: Solver, name: str, rtol: float, atol: float, limit: int) -> Recording:
        found = self._compiled_run(solver, name, rtol, atol, limit, True)
        if found.reason and not self.robot.is_tree and "singular" in found.reason:  # for what is actuated
            return self._compiled_run(solver, name, rtol, atol, limit, False)
        return found

    def _compiled_run(
        self, solver: Solver, name: str, rtol: float, atol: float, limit: int, minimal: bool
    ) -> Recording:
        assert isinstance(self.inputs, Torques)
        motion = equations.EquationsOfMotion(solver, self.inputs, minimal)
        integrate(motion, motion.start(self.q0, self.v0), 1e-9 * self.horizon, name, rtol, atol, limit)  # compiles
        clock = Clock()
        steps = integrate(motion, motion.start(self.q0, self.v0), self.horizon, name, rtol, atol, limit)
        seconds = clock.read()
        reason = ""
        if not steps.finished:
            many = steps.evaluations + 12 > limit  # explicit integrators do not begin a step beyond the limit
            reason = f"more than {limit} right-hand sides" if many else "the step became too small"
            reason += f" at t = {steps.t[-1]:.3g} s"
        q, v = motion.states(steps.t, steps.y)
        reason += motion.remark(q[-1]) if reason else ""
        passed = motion.passed(steps.t, q, v)
        return Recording(
            self, solver.method.name, steps.t, q, v, steps.evaluations, seconds, reason=reason, singular=passed
        )

    def _through_python(
        self, solver: Solver, name: str, rtol: float, atol: float, limit: int, times: FloatArray | None
    ) -> Recording:
        import_module("scipy.integrate")  # neither importing nor compiling is on the clock
        solver.handle("forward_dynamics", wrench=self.wrench is not None)
        common: dict[str, Any] = {"times": times, "integrator": name, "rtol": rtol, "atol": atol, "limit": limit}
        clock = Clock()
        if self.stops:
            stopped = simulate_with_stops(
                solver, self.q0, self.v0, self.inputs, self.horizon, self.stops, impact=self.impact, **common
            )
            return Recording(
                self, solver.method.name, stopped.t, stopped.q, stopped.v, stopped.evaluations, clock.read(),
                events=stopped.events, loss=stopped.loss, reason=stopped.reason,
            )  # fmt: skip
        found = simulate(
            solver, self.q0, self.v0, self.inputs, self.horizon, wrench=self.wrench, integrals=self.integrals,
            switches=self.switches, events=self.events, partial=True, **common,
        )  # fmt: skip
        return Recording(
            self, solver.method.name, found.t, found.q, found.v, found.evaluations, clock.read(), events=found.events,
            integrals=found.integrals, reason=found.reason, singular=found.singular,
        )  # fmt: skip


class Seconds(NamedTuple):
    """The time of a run: wall clock and processor."""

    wall: float
    processor: float


class Clock:
    """A stopwatch, started when made."""

    def __init__(self) -> None:
        self.start = time.perf_counter(), time.process_time()

    def read(self) -> Seconds:
        return Seconds(time.perf_counter() - self.start[0], time.process_time() - self.start[1])


@dataclass(frozen=True, eq=False)
class Recording:
    """A run: states at K times, their cost, and the scenario's measures by name."""

    scenario: Scenario
    method: str
    t: FloatArray  # (K,) s
    q: FloatArray  # (K, nq)
    v: FloatArray  # (K, nv)
    evaluations: int  # right-hand sides, those for Jacobians included
    seconds: Seconds  # compiling not included
    events: tuple[Any, ...] = ()  # (time, number) of the event that ended the run, or the events at stops
    integrals: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))  # (K, k)
    loss: FloatArray = field(default_factory=lambda: np.zeros(0))  # (K,) in impacts since the start, J; with stops
    reason: str = ""  # why it did not reach its end; what there is of it is in the other fields
    singular: tuple[Singular, ...] = ()  # with loops: positions that were passed

    def __getitem__(self, measure: str) -> Any:
        known = self.scenario.measures
        if measure not in known:
            raise UnknownNameError(
                f"scenario {self.scenario.name!r} does not measure {measure!r}; {near(measure, tuple(known))}"
            )
        return known[measure].function(self)

    @property
    def robot(self) -> Robot:
        return self.scenario.robot

    @cached_property
    def energy(self) -> FloatArray:
        """Kinetic and potential energy (K,), J."""
        return np.asarray(self.robot.energy(self.q, self.v))
