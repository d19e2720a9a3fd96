"""Step 7: forward dynamics, I Theta'' = Re (23), by a symmetric solve."""

from __future__ import annotations

from dynbench.methods.gibbs_appell_rp.inertia import WORK, inertia_matrix
from dynbench.methods.gibbs_appell_rp.model import link_count
from dynbench.methods.gibbs_appell_rp.sweeps import backward_sweep, forward_sweep
from dynbench.methods.kernels.linear import ldlt, ldlt_solve, subtract_from
from dynbench.methods.kernels.scalar import Buffer, Tag, generic


@generic
def forward_dynamics(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """(23), (53): Theta'' = I^-1 Re."""
    n = link_count(model)
    equations_of_motion(tag, model, q, v, tau, wrench, out, work)
    ldlt(tag, work, n * WORK, 2 * n)
    ldlt_solve(tag, work, n * WORK, 2 * n, out, 0)


@generic
def equations_of_motion(
    tag: Tag, model: Buffer, q: Buffer, v: Buffer, tau: Buffer, wrench: Buffer, out: Buffer, work: Buffer
) -> None:
    """Steps 1 to 6: the right-hand side Re in ``out``, the inertia matrix I behind the work rows."""
    n = link_count(model)
    forward_sweep(tag, model, q, v, None, wrench, work, WORK)
    backward_sweep(tag, model, q, wrench, out, work, WORK)
    subtract_from(tag, tau, out, 2 * n)  # (45), (51)
    inertia_matrix(tag, model, q, work, n * WORK, work)
