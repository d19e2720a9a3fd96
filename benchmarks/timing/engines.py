"""The own calls of other engines, as their users write them: no checks and no conversions of ours on the clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dynbench.methods.base import QUANTITIES
from dynbench.robots.robot import FloatArray, Robot

if TYPE_CHECKING:
    from dynbench.benchmarks.timing.cases import Timed


def pinocchio(robot: Robot, quantity: str, inputs: Sequence[FloatArray], batch: bool) -> Timed:
    """``pin.rnea`` and the like from Python; ``rneaInParallel`` and ``abaInParallel`` with one thread for batches."""
    import pinocchio as pin

    from dynbench.benchmarks.timing.cases import Timed
    from dynbench.methods.peers.pinocchio import convert

    model, order = convert(pin, robot)
    data = model.createData()
    reordered = [inputs[0][:, order.q], *(array[:, order.v] for array in inputs[1:])]
    single = {
        "inverse_dynamics": pin.rnea,
        "forward_dynamics": pin.aba,
        "mass_matrix": pin.crba,
        "bias": pin.nonLinearEffects,
    }
    whole = {"inverse_dynamics": pin.rneaInParallel, "forward_dynamics": pin.abaInParallel}
    if not batch:
        return Timed(single[quantity], model, data, *(np.ascontiguousarray(array[0]) for array in reordered))
    rows = len(inputs[0])
    out = np.zeros((rows, *QUANTITIES[quantity].shape(robot)))
    if quantity in whole:
        columns = [np.asfortranarray(array.T) for array in reordered]
        return Timed(whole[quantity], 1, pin.ModelPool(model, 1), *columns, out.T, rows=rows)
    run, contiguous = single[quantity], [np.ascontiguousarray(array) for array in reordered]

    def loop() -> None:
        for k in range(rows):
            out[k] = run(model, data, *(array[k] for array in contiguous))

    return Timed(loop, rows=rows)


ENGINES: dict[str, Callable[..., Any]] = {"pinocchio": pinocchio}
QUANTITIES_OF: dict[str, tuple[str, ...]] = {
    "pinocchio": ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias"),
}


def timed(method: str, robot: Robot, quantity: str, inputs: Sequence[FloatArray], batch: bool) -> Timed:
    """Return the engine's own call for the states in the rows of ``inputs``."""
    return ENGINES[method](robot, quantity, inputs, batch)  # type: ignore[no-any-return]
