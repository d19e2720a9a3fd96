"""Forward dynamics: Appell's equations solved for the quasi-accelerations, M v' = tau - h."""

from __future__ import annotations

from dynbench.methods.gibbs_appell.gradient import inward, outward
from dynbench.methods.gibbs_appell.hessian import second_derivatives
from dynbench.methods.kernels.linear import ldlt, ldlt_solve, subtract_from
from dynbench.methods.kernels.scalar import Buffer, Tag, generic
from dynbench.methods.kernels.sweeps import WORK
from dynbench.methods.kernels.tree import body_count, velocity_count


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(7) solved by L D L^T."""
    outward(tag, model, q, v, None, wrench, work)
    inward(tag, model, out, work)  # the bias h
    nv = velocity_count(model)
    subtract_from(tag, tau, out, nv)
    # the rows keep their poses; the slots after them are reused for the composites
    matrix = (body_count(model) + 1) * WORK
    second_derivatives(tag, model, work, matrix, work, WORK)
    ldlt(tag, work, matrix, nv)
    ldlt_solve(tag, work, matrix, nv, out, 0)
