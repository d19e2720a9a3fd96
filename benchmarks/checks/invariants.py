"""What must hold for one method alone: the list, and its rows.

Identities of mechanics (`identities`) are judged for exact methods, and reported for the others; what must hold for
any function of arrays (`behaviour`) is judged for all. Invariants over time, through an integrator, are in `motion`;
their rows come last. Of robots with rotors one more row is reported: what armatures in their place leave out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from dynbench.benchmarks.checks import behaviour, derivatives, identities, motion
from dynbench.benchmarks.checks.agreement import NOT_EXACT, Measurement, NotApplicable
from dynbench.benchmarks.checks.sampling import Sample
from dynbench.benchmarks.results.rows import AS_ARMATURE, Row, judge
from dynbench.methods.base import DERIVATIVES, Solver
from dynbench.robots.rotors import rotors_of

CALLED_STATES = 27  # for invariants of several calls with the same states


@dataclass(frozen=True)
class Invariant:
    """Something that must hold, and the quantities that it is about."""

    name: str
    quantity: str
    needs: tuple[str, ...]
    measure: Callable[[Solver, Sample, float], Measurement]
    mechanics: bool = True  # False: it holds for approximate methods too
    whole: bool = False  # at all states even so


def invariants(sample: Sample, solver: Solver, cond: float) -> list[Row]:
    """Return a row for each invariant whose quantities the method computes; ``cond`` is the condition of M.

    Those of one instant first, then what a free motion keeps (`motion`).
    """
    exact, rows = solver.method.exact, _at_an_instant(sample, solver, cond, INVARIANTS)
    if "forward_dynamics" in solver.computes:
        moved, first = cache(partial(motion.free_motion, solver, sample)), sample.first(motion.STATES)
        for kept in motion.KEPT:
            if kept.applies(sample.robot):
                what = ("forward_dynamics", kept.name)
                rows.append(_row(first, solver, what, lambda kept=kept: motion.drift(kept, moved()), held=exact))  # type: ignore[misc]
    if "inverse_dynamics" in solver.computes and rotors_of(sample.robot):
        change = partial(identities.without_rotors, solver, sample)
        row = _row(sample, solver, ("inverse_dynamics", AS_ARMATURE), change, held=False)
        rows.append(replace(row, reason="reported: two models of the robot") if row.status == "reported" else row)
    return rows


def derivative_checks(sample: Sample, solver: Solver, cond: float) -> list[Row]:
    """Return the rows of derivatives alone: all invariants that traced code has of its own."""
    return _at_an_instant(sample, solver, cond, OF_DERIVATIVES)


def _at_an_instant(sample: Sample, solver: Solver, cond: float, chosen: Sequence[Invariant]) -> list[Row]:
    exact, called = solver.method.exact, sample.first(CALLED_STATES)
    return [
        _row(
            sample,
            solver,
            (one.quantity, one.name),
            partial(one.measure, solver, sample if one.mechanics or one.whole else called, cond),
            held=exact or not one.mechanics,
        )
        for one in chosen
        if set(one.needs) <= set(solver.computes)
    ]


def _row(sample: Sample, solver: Solver, what: tuple[str, str], measure: Callable[[], Measurement], held: bool) -> Row:
    """Return the row of a quantity and an invariant: its value, or why there is none."""
    head = (sample.robot.name, solver.method.name, *what)
    row = Row(*head, None, "", "failed", "not evaluated", states=len(sample), seed=sample.seed)
    try:
        found = measure()
    except NotApplicable as reason:
        return replace(row, status="unsupported", reason=str(reason))
    except Exception as error:
        return replace(row, reason=f"{type(error).__name__}: {error}")
    return replace(
        row,
        value=found.value,
        unit=found.unit,
        status=judge(found.value, found.tolerance, held),
        reason=found.why if held else NOT_EXACT,
        tolerance=found.tolerance if held else None,
        noise=found.noise,
        worst=found.worst,
    )


ID, FD, M = "inverse_dynamics", "forward_dynamics", "mass_matrix"
OF_DERIVATIVES = tuple(
    Invariant(route, quantity, (quantity,), partial(identities.derivatives_by, route, quantity))
    for quantity in DERIVATIVES
    for route in (derivatives.DUAL_NUMBERS, derivatives.COMPLEX_STEPS)
)
INVARIANTS = (
    # first, since a method that writes to its arguments breaks all that comes after it
    Invariant("inputs untouched", "", (), behaviour.inputs_untouched, mechanics=False),
    Invariant("M symmetric", M, (M,), identities.symmetric),
    Invariant("M positive definite", M, (M,), identities.positive_definite),
    Invariant("columns are M", ID, (ID, M), identities.columns_are_mass),
    Invariant("forward undoes inverse", FD, (ID, FD), identities.forward_undoes_inverse),
    Invariant("C v is bias less gravity", "coriolis_matrix", ("coriolis_matrix", "bias"), identities.coriolis_force),
    Invariant("M rate - 2 C skew", "coriolis_matrix", ("coriolis_matrix", M), identities.mass_rate_is_skew),
    Invariant("reactions carry the forces", "reactions", ("reactions", ID), identities.reactions_carry_forces),
    Invariant("Y theta is tau", "regressor", ("regressor", ID), identities.regressor_gives_forces),
    *OF_DERIVATIVES,
    Invariant("power balance", ID, (ID,), identities.power_balance),
    Invariant("batch equals singles", "", (), behaviour.batch_equals_singles, mechanics=False),
    Invariant("same bits twice", "", (), behaviour.deterministic, mechanics=False),
    Invariant("same bits in several threads", "", (), behaviour.threads_change_nothing, mechanics=False),
    Invariant("same bits after many calls", "", (), behaviour.calls_change_nothing, mechanics=False),
    Invariant("long batch equals short", "", (), behaviour.long_batch_equals_short, mechanics=False),
    Invariant("handle equals call", "", (), behaviour.handles_equal_calls, mechanics=False, whole=True),
    Invariant("one wrench for all states", "", (), behaviour.one_wrench_serves_all, mechanics=False),
    Invariant("made for this robot", ID, (ID,), identities.made_for_this_robot),
    Invariant("out is filled", "", (), behaviour.out_is_filled, mechanics=False),
)
