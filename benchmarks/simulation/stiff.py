"""scipy's implicit integrators (Radau, BDF, LSODA) on compiled equations.

The right-hand side and its Jacobian, by central differences, are one call of machine code each; what is left in Python
is the integrator itself. One-sided differences, scipy's own, lose the Jacobian of springs beyond 1e6 N/m.
"""

from __future__ import annotations

import warnings

import numpy as np

from dynbench.benchmarks.simulation.equations import Equations
from dynbench.benchmarks.simulation.steps import Steps
from dynbench.robots.robot import FloatArray


def integrate(
    equations: Equations, y0: FloatArray, horizon: float, solver: str, rtol: float, atol: float, limit: int
) -> Steps:
    """Integrate from 0 to ``horizon``; no step is begun after ``limit`` right-hand sides, Jacobians included."""
    from scipy import integrate as scipy_integrate

    made = getattr(scipy_integrate, solver)
    before = equations.evaluations
    t, y = [0.0], [y0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LSODA's remarks, which come as its status too
        stepping = made(equations, 0.0, y0, horizon, rtol=rtol, atol=atol, jac=equations.jacobian)
        while stepping.status == "running" and equations.evaluations - before < limit:
            stepping.step()
            if stepping.status != "failed":
                t.append(float(stepping.t))
                y.append(stepping.y.copy())
    return Steps(np.array(t), np.array(y), equations.evaluations - before, stepping.status == "finished")
