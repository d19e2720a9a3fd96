"""Kane's method: project each body's inertia force on its partial velocities (and see CONTRIBUTING: copy this file).

Kane and Levinson, Dynamics: Theory and Applications, McGraw-Hill 1985. A partial velocity is the derivative of a body's
velocity by the rate of one joint axis e, with r from the joint to the body; the generalized force is a sum over bodies,

    V = e x r and w = e for rotation about the axis, V = e and w = 0 for translation along it           (1)
    tau = sum of V . f + w . n,  which is e . (r x f + n) or e . f                                      (2)

where f and n are the force and moment of each body's motion, which `outward` leaves in the work rows. The equation
numbers are those of this docstring.
"""

from typing import ClassVar

from dynbench.methods.kernel_method import TreeMethod
from dynbench.methods.kernels.scalar import Buffer, Tag, generic, load, splat, store
from dynbench.methods.kernels.sweeps import POS, ROT, WORK, F, N, outward
from dynbench.methods.kernels.tree import PRISMATIC, REVOLUTE, SPHERICAL, body_count, iv, kind, parent
from dynbench.methods.kernels.vectors import Vector, add, add3, cross, load3, load9, mul, zero3


@generic
def inverse_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, a: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    outward(tag, model, q, v, a, wrench, work)
    for k in range(v.size // len(tag)):
        store(tag, out, k, splat(tag, 0.0))
    for i in range(1, body_count(model) + 1):
        f, n, r = load3(tag, work, i * WORK + F), load3(tag, work, i * WORK + N), zero3(tag)
        while i > 0:  # from the body to the ground, in the axes of each joint on the way
            project(tag, model, i, r, f, n, out)
            R, p = load9(tag, work, i * WORK + ROT), load3(tag, work, i * WORK + POS)
            i = parent(model, i)
            if i > 0:
                f, n, r = mul(R, f), mul(R, n), add(mul(R, r), p)


@generic
def project(tag: Tag, model: Buffer, i: int, r: Vector, f: Vector, n: Vector, out: Buffer) -> None:
    joint, at = kind(model, i), iv(model, i)  # (1), (2)
    if joint == REVOLUTE:
        store(tag, out, at, load(tag, out, at) + (r[0] * f[1] - r[1] * f[0] + n[2]))
    elif joint == PRISMATIC:
        store(tag, out, at, load(tag, out, at) + f[2])
    elif joint == SPHERICAL:
        add3(tag, out, at, add(cross(r, f), n))
    else:
        add3(tag, out, at, f)
        add3(tag, out, at + 3, add(cross(r, f), n))


class Kane(TreeMethod):
    """Inverse dynamics (and bias) in O(n d), d the depth of the tree. Equations: (1), (2)"""

    name = "kane"
    title = "Kane (partial velocities)"
    reference = "Kane and Levinson, Dynamics: Theory and Applications (1985)"
    cost = "O(n d)"
    kernels: ClassVar = {"inverse_dynamics": inverse_dynamics}
    work: ClassVar = {"inverse_dynamics": WORK}
