"""Joint extras (armature, damping, friction) for every method made of kernels: its kernels inside `kernels.extras`.

Only what a robot has is added: a robot without extras runs the method's own kernels, one without armature the method's
own mass matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from dynbench.methods.kernel_run import Kernel
from dynbench.methods.kernels import extras
from dynbench.methods.loops import around
from dynbench.robots.robot import FloatArray, Robot

# quantity -> the kernels that it is made of
NEEDS: dict[str, tuple[str, ...]] = {
    "inverse_dynamics": ("inverse_dynamics",),
    "forward_dynamics": ("forward_dynamics",),
    "solved_forward_dynamics": ("inverse_dynamics", "mass_matrix"),
    "mass_matrix": ("mass_matrix",),
}


class Parts(NamedTuple):
    """What the quantities of a tree are computed with."""

    kernels: Mapping[str, Kernel]
    model: FloatArray  # what the kernels get of the robot
    work: Callable[[str], int]  # workspace of a quantity, in scalars


def with_extras(plain: Parts, robot: Robot, home: str, rotors: bool) -> Parts:
    """Return the kernels of a method, and their model and workspace, for a robot with joint extras.

    Parameters
    ----------
    plain : Parts
        Of the rigid bodies.
    robot : Robot
    home : str
        The method's module, see `loops.around`.
    rotors : bool
        Whether the method's forward dynamics takes the armature from the packed tree.
    """
    solved = bool(robot.armature.any()) and not rotors
    own, nv = plain.kernels, robot.nv
    kernels = dict(own)
    for quantity in ("inverse_dynamics", "mass_matrix", "forward_dynamics"):
        form = "solved_forward_dynamics" if quantity == "forward_dynamics" and solved else quantity
        if quantity in own:
            inner = {f"rigid_{name}": own[name] for name in NEEDS[form]}
            kernels[quantity] = around(getattr(extras, form), home, **inner)
    for quantity in set(own) - set(NEEDS):  # reactions, Coriolis matrix: of the rigid bodies, on the model behind ours
        kernels[quantity] = around(extras.rigid_state, home, rigid_kernel=own[quantity])

    def work(quantity: str) -> int:
        if quantity != "forward_dynamics":
            return plain.work(quantity)
        if solved:
            return nv * (nv + 1) + max(plain.work(name) for name in NEEDS["solved_forward_dynamics"])
        return nv + plain.work(quantity)

    return Parts(kernels, extras.pack(robot, plain.model), work)
