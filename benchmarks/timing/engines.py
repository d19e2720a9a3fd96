"""The own calls of other engines, as their users write them: without the checks and conversions of our wrapper.

States are converted before the timing. Timed is what every user of the engine needs: setting the state (MuJoCo, Drake
and Exudyn store one) and the call. Pinocchio has a call for batches of inverse and of forward dynamics; where there is
none (`batched`), a batch is a loop in Python that stores the results.

Every call from Python has a cost before the engine computes anything. `call_overhead` measures it by the cheapest call
that returns a property of the engine's model.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from dynbench import methods, robots
from dynbench.methods.base import DERIVATIVES, QUANTITIES
from dynbench.robots.robot import FloatArray, Robot

if TYPE_CHECKING:
    from dynbench.benchmarks.timing.cases import Timed

Call = Callable[..., Any]  # of one state in the engine's coordinates
FOUR = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias")
QUANTITIES_OF: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("pinocchio", "mujoco", "drake", "exudyn"), FOUR),
    "pinocchio": (*FOUR, *DERIVATIVES),
}
BATCHED = {("pinocchio", "inverse_dynamics"), ("pinocchio", "forward_dynamics")}


def batched(method: str, quantity: str) -> bool:
    """Whether an engine has a call for a whole batch."""
    return (method, quantity) in BATCHED


def called(method: str, quantity: str, batch: bool) -> str:
    """Return what of an engine is called, in words."""
    if batch and batched(method, quantity):
        return " ".join((_pinocchio_batch.__doc__ or "").split())
    text = " ".join((ENGINES[method].__doc__ or "").split())
    return f"in a loop over states in Python: {text}" if batch else text


def timed(method: str, robot: Robot, quantity: str, inputs: Sequence[FloatArray], batch: bool) -> Timed:
    """Return the engine's own call for the states in the rows of ``inputs``."""
    from dynbench.benchmarks.timing.cases import Timed

    if batch and batched(method, quantity):
        return _pinocchio_batch(robot, quantity, inputs)
    run, states = ENGINES[method](robot, quantity, inputs)
    if not batch:
        return Timed(run, *states[0])
    rows = len(inputs[0])
    out = np.zeros((rows, *QUANTITIES[quantity].shape(robot)))

    def loop() -> None:
        for k, state in enumerate(states):
            out[k] = run(*state)

    def loop_over_parts() -> None:
        for k, state in enumerate(states):
            found = run(*state)
            out[k, 0], out[k, 1] = found[0], found[1]

    if QUANTITIES[quantity].parts:
        return Timed(loop_over_parts, rows=rows)
    return Timed(loop, rows=rows)


def _converted(theirs: Callable[..., list[FloatArray]], quantity: str, inputs: Sequence[FloatArray]) -> Any:
    """The arguments of every state in an engine's coordinates; repeated states are converted once."""
    from dynbench.benchmarks.timing.cases import DISTINCT

    rows, names = len(inputs[0]), QUANTITIES[quantity].arguments
    some = [
        theirs(**{name: array[k] for name, array in zip(names, inputs, strict=True)})
        for k in range(min(rows, DISTINCT))
    ]
    return [some[k % DISTINCT] for k in range(rows)]


def pinocchio(robot: Robot, quantity: str, inputs: Sequence[FloatArray]) -> tuple[Call, Any]:
    """``pin.rnea``, ``pin.aba``, ``pin.crba``, ``pin.nonLinearEffects``, ``pin.computeRNEADerivatives``,
    ``pin.computeABADerivatives``.
    """
    import pinocchio as pin

    from dynbench.methods.peers.pinocchio import convert

    model, order = convert(pin, robot)
    single = {
        "inverse_dynamics": pin.rnea,
        "forward_dynamics": pin.aba,
        "mass_matrix": pin.crba,
        "bias": pin.nonLinearEffects,
        "inverse_dynamics_derivatives": pin.computeRNEADerivatives,
        "forward_dynamics_derivatives": pin.computeABADerivatives,
    }
    states = [np.ascontiguousarray(array[:, order.q if k == 0 else order.v]) for k, array in enumerate(inputs)]
    return partial(single[quantity], model, model.createData()), list(zip(*states, strict=True))


def _pinocchio_batch(robot: Robot, quantity: str, inputs: Sequence[FloatArray]) -> Timed:
    """``rneaInParallel`` and ``abaInParallel`` with one thread."""
    import pinocchio as pin

    from dynbench.benchmarks.timing.cases import Timed
    from dynbench.methods.peers.pinocchio import convert

    model, order = convert(pin, robot)
    run = {"inverse_dynamics": pin.rneaInParallel, "forward_dynamics": pin.abaInParallel}[quantity]
    columns = [np.asfortranarray(array[:, order.q if k == 0 else order.v].T) for k, array in enumerate(inputs)]
    rows = len(inputs[0])
    out = np.zeros((rows, *QUANTITIES[quantity].shape(robot)))
    return Timed(run, 1, pin.ModelPool(model, 1), *columns, out.T, rows=rows)


def mujoco(robot: Robot, quantity: str, inputs: Sequence[FloatArray]) -> tuple[Call, Any]:
    """``mj_inverse``; ``mj_forward``; kinematics, ``mj_crb`` and ``mj_fullM``; ``mj_inverse`` at no acceleration."""
    import mujoco

    from dynbench.methods.peers.mujoco import Engine, convert

    model, order = convert(mujoco, robot)
    engine = Engine(mujoco, robot, model, order)
    data, M = mujoco.MjData(model), np.zeros((robot.nv, robot.nv))

    def inverse_dynamics(q: FloatArray, v: FloatArray, a: FloatArray) -> FloatArray:
        data.qpos, data.qvel, data.qacc = q, v, a
        mujoco.mj_inverse(model, data)
        return data.qfrc_inverse  # type: ignore[no-any-return]

    def forward_dynamics(q: FloatArray, v: FloatArray, tau: FloatArray) -> FloatArray:
        data.qpos, data.qvel, data.qfrc_applied = q, v, tau
        mujoco.mj_forward(model, data)
        return data.qacc  # type: ignore[no-any-return]

    def mass_matrix(q: FloatArray) -> FloatArray:
        data.qpos = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_crb(model, data)
        mujoco.mj_fullM(model, data, M)
        return M

    def bias(q: FloatArray, v: FloatArray) -> FloatArray:
        data.qpos, data.qvel, data.qacc = q, v, 0.0
        mujoco.mj_inverse(model, data)
        return data.qfrc_inverse  # type: ignore[no-any-return]

    calls = {f.__name__: f for f in (inverse_dynamics, forward_dynamics, mass_matrix, bias)}
    return calls[quantity], _converted(engine.theirs, quantity, inputs)


def drake(robot: Robot, quantity: str, inputs: Sequence[FloatArray]) -> tuple[Call, Any]:
    """Calls of a continuous ``MultibodyPlant`` with a prepared context.

    ``CalcInverseDynamics`` with the weight; the output port of generalized accelerations; ``CalcMassMatrix``;
    ``CalcBiasTerm`` less ``CalcGravityGeneralizedForces``.
    """
    from dynbench.methods.peers.drake import Engine, convert

    engine = Engine(robot, *convert(robot))
    plant, context, forces = engine.plant, engine.work.context, engine.work.forces
    pushed, accelerations = engine.pushed, engine.accelerations

    def inverse_dynamics(q: FloatArray, v: FloatArray, a: FloatArray) -> Any:
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        plant.CalcForceElementsContribution(context, forces)
        return plant.CalcInverseDynamics(context, a, forces)

    def forward_dynamics(q: FloatArray, v: FloatArray, tau: FloatArray) -> Any:
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        pushed.FixValue(context, tau)
        return accelerations.Eval(context)

    def mass_matrix(q: FloatArray) -> Any:
        plant.SetPositions(context, q)
        return plant.CalcMassMatrix(context)

    def bias(q: FloatArray, v: FloatArray) -> Any:
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        return plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)

    calls = {f.__name__: f for f in (inverse_dynamics, forward_dynamics, mass_matrix, bias)}
    return calls[quantity], _converted(engine.theirs, quantity, inputs)


def exudyn(robot: Robot, quantity: str, inputs: Sequence[FloatArray]) -> tuple[Call, Any]:
    """``ComputeItem`` of the kinematic tree: its mass matrix, and its forces; our coordinates are its own."""
    from dynbench.methods.peers.exudyn import Engine

    engine = Engine(robot)
    call = getattr(engine, quantity)
    states = list(zip(*inputs, strict=True))
    return (call, states) if quantity == "mass_matrix" else (lambda *state: call(*state, None), states)


ENGINES: dict[str, Callable[..., tuple[Call, Any]]] = {
    "pinocchio": pinocchio,
    "mujoco": mujoco,
    "drake": drake,
    "exudyn": exudyn,
}


# The cheapest call of each engine
NULL_CALLS: dict[str, Callable[[Any], Callable[[], Any]]] = {
    "pinocchio": lambda model: partial(import_module("pinocchio").computeTotalMass, model),
    "mujoco": lambda model: partial(import_module("mujoco").mj_getTotalmass, model),
    "drake": lambda model: model.num_positions,
    "exudyn": lambda model: model.systemData.GetTime,
}


def call_overhead(method: str, calls: int = 2000, repeats: int = 7) -> float:
    """Return the seconds of an engine's null call, the smallest of a few measurements; a job (see `workers`)."""
    solver = methods.get(method).prepare(robots.load("two-link"))
    return min(timeit.repeat(NULL_CALLS[method](solver.model), number=calls, repeat=repeats)) / calls
