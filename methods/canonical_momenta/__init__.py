"""Canonical momenta: the recursive Hamiltonian equations of trees.

J. Naudet, D. Lefeber, F. Daerden, Z. Terze, Forward dynamics of open-loop multibody mechanisms using an efficient
recursive algorithm based on canonical momenta, Multibody System Dynamics 10, 2003, 45-59. The state is (q, p) with
p = M q'. Velocities follow from momenta by an elimination with articulated inertias at velocity level; the rates of the
momenta need positions and velocities only. The equations below are derived here after the idea of the source, for
trees with all joints; the numbers are those of this docstring, not of the source.

V = (v; w) is the twist of a body, body axes, at its origin; X takes twists from the parent to body i, X^T wrenches and
momenta back; S are the unit motions of joint i, x = S q' its velocity, I the inertia of the body. Products:
V x (v'; w') = (w x v' + v x w'; w x w'),  V x* (f; n) = (w x f; w x n + v x f).

**Momenta.** Of body i with all bodies beyond it, at its origin, and their components along the joint:

    P = I V + sum X_c^T P_c                                                                                      (1)
    p = S^T P                                                   = (M q')_i                                      (2)

**Velocities from momenta.** By induction from the tips, P is an affine function of V,

    P = I^ V + beta                                                                                              (3)
    I^ = I + sum X_c^T (I^_c - U_c D_c^-1 U_c^T) X_c            U = I^ S,  D = S^T U                             (4)
    beta = sum X_c^T (beta_c + U_c D_c^-1 u_c)                  0 for a leaf                                     (5)
    u = p - S^T beta                                                                                             (6)
    q' = D^-1 (u - U^T X V_p)                                   outward, V = 0 for the ground                    (7)
    V = X V_p + S q'                                                                                             (8)

**Rates of momenta.** Newton's and Euler's laws for the subtree as a whole: P' + V x* P = Q + wrench through joint i.

    Q = I (g; 0) + f_ext + sum X_c^T Q_c                        g in body axes: weight and external wrenches     (9)
    S^T (V x* P)                                                revolute: e . (w x P_n + v x P_f), ...           (10)
    p' = tau + S^T (Q - V x* P)                                                                                  (11)

For one-coordinate joints (11) is p' = tau - dH/dq, for spherical and free ones the Euler-Poincare form of it.

**Accelerations.** Where they are wanted, M q'' = p' - M' q', with M' q' the rate of the momenta at q'' = 0:

    V' = X V_p' + V x x                                         0 for the ground                                 (12)
    P' = I V' + sum X_c^T (P_c' + x_c x* P_c)                   (M' q')_i = S^T P'                               (13)
    q'': (4) to (8) with p' - M' q' in the place of p                                                            (14)

`momenta` has (1), (2), (8) to (13), `elimination` has (3) to (8), `equations` the kernels. The solver offers, besides
forward dynamics, ``momenta(q, v)`` and ``hamilton(q, p, tau)``, which returns v and p' for simulations in (q, p).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from dynbench.methods.base import Solver
from dynbench.methods.canonical_momenta import equations, momenta
from dynbench.methods.kernel_method import TreeMethod
from dynbench.methods.kernel_run import KernelRun
from dynbench.robots.robot import FloatArray, Robot
from dynbench.robots.states import as_array


class CanonicalMomenta(TreeMethod):
    """Forward dynamics in O(n), and the canonical equations themselves. Equations: (1)-(14)"""

    name: ClassVar[str] = "canonical-momenta"
    title: ClassVar[str] = "Canonical momenta (recursive Hamiltonian)"
    reference: ClassVar[str] = (
        "Naudet, Lefeber, Daerden, Terze, Multibody System Dynamics 10 (2003); derived for trees in "
        "methods/canonical_momenta"
    )
    cost: ClassVar[str] = "O(n), forward dynamics"
    loops: ClassVar[bool] = False
    kernels: ClassVar = {"forward_dynamics": equations.forward_dynamics}
    work: ClassVar = {"forward_dynamics": momenta.WORK}
    springs: ClassVar[bool] = False
    extras: ClassVar[bool] = False

    def build(self, robot: Robot) -> CanonicalMomentaSolver:
        return CanonicalMomentaSolver(self, robot)


class CanonicalMomentaSolver(Solver):
    """Forward dynamics, momenta and canonical equations of one robot; all take one state or a batch, by shape.

    ``momenta(q, v, threads=1)`` returns p = M v, shape (nv,) or (N, nv).
    """

    momenta: Callable[..., FloatArray]

    def __init__(self, method: CanonicalMomenta, robot: Robot) -> None:
        model, size = method.pack(robot), method.work_size(robot, "forward_dynamics")
        run = KernelRun(equations.forward_dynamics, "forward_dynamics", robot, model, size)
        quantities = {"forward_dynamics": run.checked()}
        super().__init__(method, robot, quantities, {"forward_dynamics": run.unchecked}, model)
        self.momenta = KernelRun(equations.momenta, "bias", robot, model, size).checked()
        # the canonical equations: a state kernel with p in the place of v, and two rows as its result
        shape = (2, robot.nv)
        self._hamilton = KernelRun(equations.hamilton, "forward_dynamics", robot, model, size, shape=shape).checked()

    def hamilton(
        self, q: Any, p: Any, tau: Any, wrench: Any = None, threads: int | None = 1
    ) -> tuple[FloatArray, FloatArray]:
        """Return v and p' of the canonical equations, (nv,) or (N, nv) each.

        Parameters
        ----------
        q : array, shape (nq,) or (N, nq)
        p : array, shape (nv,) or (N, nv)
            Canonical momenta, M(q) v; conjugate to v, so those of a free base are in its body axes.
        tau : array, shape (nv,) or (N, nv)
        wrench, threads
            As for forward dynamics.
        """
        checked, _ = as_array("p", p, self.robot.nv, self.robot)
        both = self._hamilton(q, checked, tau, wrench, threads)
        return both[..., 0, :], both[..., 1, :]
