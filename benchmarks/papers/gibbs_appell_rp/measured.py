"""What the revolute-prismatic paper says beside our numbers, and our own checks."""

from __future__ import annotations

import numpy as np

from dynbench import methods, robots
from dynbench.benchmarks.papers.claims import Claim, Source, across, missing, when
from dynbench.benchmarks.papers.gibbs_appell_rp import counts, printed
from dynbench.benchmarks.papers.gibbs_appell_rp.corrections import PAPER
from dynbench.benchmarks.papers.gibbs_appell_rp.experiment import (
    HORIZON,
    METHOD,
    PAPER_SECONDS,
    READINGS,
    ROBOT,
    crossings,
    initial,
    rods,
    seconds,
)
from dynbench.methods.gibbs_appell_rp.model import native_order

OF = Source(PAPER)


def worst_error(chains: int) -> float:
    """Return the largest relative difference to Newton-Euler in inverse dynamics and mass matrix, random chains."""
    worst = 0.0
    for seed in range(chains):
        robot = robots.random_rp_chain(seed % 8 + 1, seed)
        q, v, a = robot.sample(8, seed)
        ours, theirs = (methods.get(name).prepare(robot) for name in (METHOD, "newton-euler"))
        for mine, other in (
            (ours.inverse_dynamics(q, v, a), theirs.inverse_dynamics(q, v, a)),
            (ours.mass_matrix(q), theirs.mass_matrix(q)),
        ):
            worst = max(worst, float(np.abs(mine - other).max() / np.abs(other).max()))
    return worst


def asymmetry(chains: int) -> float:
    """Return how much the matrix of the forces (18), (19) by unit accelerations differs from its transpose."""
    worst = 0.0
    for seed in range(chains):
        robot = robots.random_rp_chain(4, seed)
        chain, q = printed.chain_of(robot), robot.sample(1, seed)[0][0]
        rest = np.zeros(robot.nv)
        still = printed.generalized_forces(printed.setup(chain, printed.state_of(q, rest, rest)))
        columns = [
            printed.generalized_forces(printed.setup(chain, printed.state_of(q, rest, unit))) - still
            for unit in np.eye(robot.nv)[native_order(4)]
        ]
        I = np.array(columns)
        worst = max(worst, float(np.abs(I - I.T).max() / np.abs(I).max()))
    return worst


def smallest_eigenvalues(chains: int) -> tuple[float, float]:
    """Return the smallest eigenvalue of the inertia matrix at the start, and that of random chains with 0 <= l <= L."""
    first = methods.get(METHOD).prepare(robots.load(ROBOT)).mass_matrix(initial()[0])
    least = np.inf
    for seed in range(chains):
        robot = robots.random_rp_chain(seed % 8 + 1, seed)
        q = robot.sample(16, seed)[0]
        q[:, 1::2] = np.random.default_rng(seed).uniform(0.0, 1.0, (16, robot.n // 2)) * printed.chain_of(robot).length
        least = min(least, float(np.linalg.eigvalsh(methods.get(METHOD).prepare(robot).mass_matrix(q)).min()))
    return float(np.linalg.eigvalsh(first)[0]), least


def largest_dimension(links: int = 4) -> int:
    """Return the largest extent of any quantity of steps 1 to 6 before the inertia matrix is assembled."""
    robot = robots.random_rp_chain(links, 0)
    q, v, _ = robot.sample(1, 0)
    on = printed.setup(printed.chain_of(robot), printed.state_of(q[0], v[0]))
    tables = printed.tables_by_recursion(on)
    rows = [*on.A, *(x for b in on.B for x in b), *(x for table in (on.R, on.r, *tables) for row in table for x in row)]
    return max(max(np.shape(x), default=1) for x in (*rows, *(y for part in printed.derivatives(on) for y in part)))


def products_of(size: int, n: int) -> int:
    """Return the operations of the recursion's matrix products at n links with matrices of that size.

    Products of two matrices and of a matrix with a vector are counted while the algorithm runs; each takes size^3
    multiplications and size^2 (size - 1) additions, or size^2 and size (size - 1).
    """
    matrices, vectors = counts.count_products(n)
    return matrices * size**2 * (2 * size - 1) + vectors * size * (2 * size - 1)


def measured_claims(quick: bool = False) -> list[Claim]:
    """Return the paper's statements, then our own checks; ``quick`` takes fewer random chains."""
    chains = 8 if quick else 40
    return [*statements(chains), *checks(chains)]


def statements(chains: int) -> list[Claim]:
    """What the paper says."""
    uneven, (eigenvalue, least) = asymmetry(chains), smallest_eigenvalues(chains)
    formula, compiled, skipping, dense, _ = counts.polynomials()
    first, wall, n = crossings()[0].t, seconds(), 10
    stopped = {reading: bool(crossings(reading=reading)) for reading in READINGS}
    sums = counts.count_printed(n, counts.Dense, algorithm=counts.non_recursive).multiplications
    saved = sums / float(dense.multiplications(n))
    dimension = largest_dimension()
    small, large = products_of(3, n), products_of(4, n)
    derived = counts.derivatives_taken(n)
    claims = [
        OF.statement(
            "only 3x3 matrices and 3x1 vectors are used", place="abstract", quote="تنها از ماتریس های 3×3 و یا "
            "بردارهای",
            printed="3", measured=dimension, unit="largest extent of any quantity", verdict=when(dimension == 3),
            reason="all quantities of steps 1 to 6 for 4 links, before the inertia matrix is assembled",
        ),
        OF.statement(
            "the inertia matrix is symmetric and positive definite", place="section 5.1.1",
            quote="مثبت معین میباشد", printed="> 0", measured=eigenvalue, unit="smallest eigenvalue at t = 0",
            verdict=when(eigenvalue > 0 and least > 0),
            reason=f"that of {chains} random chains at random states with 0 <= l <= L is {least:.2g}",
        ),
        OF.statement(
            "coefficients of q'' in prismatic rows are those of l'' in revolute rows", place="section 5.1.2",
            quote="معادله مربوط به زامین مفصل دورانی برابر خواهد بود", printed="equal", measured=uneven,
            unit="relative asymmetry", verdict=when(uneven < 1e-12),
            reason="unit accelerations through (18) and (19), corrected, without mirroring; within 1e-12",
        ),
    ]  # fmt: skip
    for kind, quote in (("additions", "تعداد جمعها"), ("multiplications", "تعداد ضربها")):
        theirs = getattr(formula, kind)
        same = {row.label: getattr(row, kind) == theirs for row in (compiled, skipping, dense)}
        others = "; ".join(f"{row.label}: {getattr(row, kind)}" for row in (compiled, skipping, dense))
        claims.append(
            OF.statement(
                f"the equations of motion take so many {kind}", place="section 6", quote=quote,
                printed=f"{theirs}, that is {theirs(n)} at n = {n}", measured=float(getattr(skipping, kind)(n)),
                unit=f"{kind} at n = {n}, zeros and ones skipped", verdict=across(same),
                reason=f"the paper does not say how it counts; counted here: {others}. Growth with n^2 is confirmed",
            )
        )  # fmt: skip
    claims += [
        OF.statement(
            "without stops l < 0 or l > L may happen in the example", place="section 7, text on Figs. 3-6",
            quote="یک قید برای حرکت لینکها در نظر گرفته شده است", printed="l < 0 or l > L", measured=first,
            unit="s, first contact", verdict=across(stopped),
            reason="l_3 reaches 0; with the other readings of the initial state a stop is reached as well",
        ),
        OF.statement(
            "1.5 s of motion, derived and solved", place="section 7, end", quote="زمان مورد نیاز برای مدت زمان "
            "شبیهسازی",
            printed=f"{PAPER_SECONDS} s", measured=wall, unit="s",
            verdict=missing("the MATLAB code", "the step or the accuracy", "a Core 2 Duo E7500"),
            reason="ours compiled, RK45 at rtol 1e-8; the paper's is interpreted MATLAB on a Core 2 Duo E7500, the "
            "derivation included, and it gives no step or accuracy",
        ),
        OF.statement(
            "less computation than the non-recursive form", place="section 8, first advantage",
            quote="کاهش حجم محاسبات نسبت به حالت غیر بازگشتی", printed="less", measured=saved,
            unit=f"times fewer multiplications at n = {n}", verdict=when(saved > 1),
            reason="sums (38) to (43) against the recursions, both dense; the sums grow with n^3, the recursions "
            "with n^2",
        ),
        OF.statement(
            "3x3 and 3x1 matrices are less complex to compute with than 4x4 and 4x1", place="section 8, second "
            "advantage",
            quote="پیچیدگی محاسباتی کمتری دارد", printed="less", measured=small / large,
            unit=f"times the operations of the products at n = {n}", verdict=when(small < large),
            reason=f"{small} operations with 3x3, {large} if every product of the recursion were of 4x4 and 4x1",
        ),
        OF.statement(
            "fewer partial derivatives than Lagrange's method", place="section 8, third advantage",
            quote="از مشتقات جزئی کمتری نسبت به آن روش برخوردار است", printed="fewer",
            measured=derived["Gibbs-Appell"] / derived["Lagrange"], unit=f"times Lagrange's derivatives at n = {n}",
            verdict=when(derived["Gibbs-Appell"] < derived["Lagrange"]),
            reason=f"{derived['Gibbs-Appell']} derivatives of S by accelerations, against {derived['Lagrange']}: of K "
            "by rates, these by time, of K and of V by coordinates",
        ),
        OF.statement(
            "the method extends to mobile and non-holonomic bases", place="section 8, future work",
            quote="منیپولاتورها با پایه متحرک", printed="stated as future work", measured=None,
            verdict=missing("an experiment"), reason="not shown in the paper; for free bases see the method "
            "gibbs-appell",
        ),
    ]  # fmt: skip
    return claims


def checks(chains: int) -> list[Claim]:
    """What must hold and the paper does not state."""
    error = worst_error(chains)
    formula, _, skipping, _, _ = counts.polynomials()
    leading = [row.multiplications.coefficients[2] for row in (skipping, formula)]
    runs = [scenario.run(times=np.linspace(0.0, HORIZON, 201)) for scenario in (rods(), rods(stops=True))]
    residual = max(float(np.abs(found["energy balance"]).max()) for found in runs)
    slopes = [counts.exponent(quantity) for quantity in ("inverse_dynamics", "mass_matrix")]
    return [
        OF.check(
            "the equations are exact for n rigid revolute-prismatic links", measured=error, unit="relative error",
            verdict=when(error < 1e-11),
            reason=f"after the errata; largest difference to newton-euler on {chains} random chains, full inertias",
        ),
        OF.check(
            "one way to count has the printed leading coefficient of the multiplications", measured=float(leading[0]),
            unit="n^2", verdict=when(leading[0] == leading[1]),
            reason="197, when 0 and 1 are skipped and all entries of the tables computed; one of several rules, "
            "perhaps by chance",
        ),
        OF.check(
            "inverse dynamics grows linearly with n", measured=slopes[0], unit="exponent",
            verdict=when(abs(slopes[0] - 1) < 0.1), reason="operations of gibbs-appell-rp, n = 2 to 64",
        ),
        OF.check(
            "the inertia matrix grows quadratically with n", measured=slopes[1], unit="exponent",
            verdict=when(abs(slopes[1] - 2) < 0.15), reason="operations of gibbs-appell-rp, n = 2 to 64",
        ),
        OF.check(
            "energy is balanced, without stops and with them", measured=residual, unit="J",
            verdict=when(residual < 1e-8), reason="energy less work, impacts counted; within 1e-8",
        ),
    ]  # fmt: skip
