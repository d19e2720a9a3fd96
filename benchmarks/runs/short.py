"""What the default run does and what it leaves to ``--full``, by rules that do not depend on who is fast.

They hold for a run of which nothing special was asked: neither robots (-r) nor methods (-m) nor ``--full``. Whatever is
asked for is checked, counted and timed. The rules keep the run short however many methods there are.

    timed       the reference, the formulations of the papers, the baseline, engines by their own calls, and methods of
                other packages
    checked     all of these; every other method in traced code, which compiles in a tenth of the time, on the first
                robot that it takes; with external wrenches the reference and the engines
    counted     what is checked, in both tiers
    derivatives and the regressor of the methods that are timed, on the first robot, in traced code: the recursions in
                generic code would take numba a minute
    loops       of the methods that reach closed loops by the shared projection the reference only, in traced code:
                generic code would take numba half a minute
    calls       the checked call of the reference only: what checking costs is the same for all; of the others the
                handle, and batches of one size
    families    two, with four sizes, generic code: how cost grows does not depend on the tier
    seconds     `TIMING_SECONDS` for all rounds, divided among the cells
    kept        operation counts and the papers' experiments that were run before, with the same sources, are not run
                again (`kept`); others only while the run has time left (`papers_until`)

A full run of which neither robots nor methods were named has tens of thousands of possible cells. All methods are
checked and counted on all robots they take, in both tiers, and timed by the handle and in batches of 1000 states; of
the bias, which is inverse dynamics at zero acceleration by the same code, nothing is timed. Checked calls are timed of
the methods that the default run times, other sizes of batches and all threads of these on one arm, one chain and one
humanoid; families in traced code are for its methods. Its rounds have `FULL_SECONDS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from dynbench import methods
from dynbench.benchmarks.processes.jobs import Job
from dynbench.benchmarks.processes.outcomes import Missing, Outcome
from dynbench.benchmarks.results.verdicts import HEADLINE_ROWS
from dynbench.benchmarks.tiers import GENERIC, TRACED, Variant
from dynbench.benchmarks.timing import engines, scaling
from dynbench.benchmarks.timing.passes import FULL_BUDGET, PASSES, QUICK_BUDGET
from dynbench.benchmarks.timing.rounds import ROUNDS_AT_ONCE, Budget
from dynbench.methods.base import DERIVATIVES
from dynbench.methods.kernel_method import KernelMethod
from dynbench.methods.registry import is_foreign
from dynbench.robots.robot import Robot

if TYPE_CHECKING:
    from dynbench.benchmarks.runs.plan import Matrix, Plan
    from dynbench.benchmarks.timing.cases import Cell

REFERENCE = "newton-euler"  # first in tables, and the A/A pair where possible
PAPERS_METHODS = (
    "gibbs-appell", "gibbs-appell-rp", "gibbs-appell-elastic", "lagrange-elastic", "boltzmann-hamel", "denoc",
    "virtual-spring-denoc", "virtual-spring-lagrange", "lagrange-stewart", "lagrange-stewart-lumped",
    "lagrange-stewart-massless",
)  # fmt: skip
# One of each kind: an arm, a long chain, a humanoid, the papers' robots, loops, elastic links
ROBOTS = ("panda", "chain-30", "talos", "rp3", "space-dual-arm", "3rrr", "gough-stewart", "elastic-rp1")
ROBOTS_OF_ALL_SIZES = ROBOTS[:3]  # on which a full run times other sizes of batches, and threads
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")  # on all robots
ON_ONE_ROBOT = (*DERIVATIVES, "regressor")
TIMING_SECONDS, SHORT_PASSES = 24.0, 3  # for the rounds of all groups in all passes
FULL_SECONDS, FULL_PASSES = 420.0, 1  # the same of a full run
TURN_SECONDS = 1.8e-3  # what a turn takes on average, with the call before it and its share of the calibration
MOST_ROUNDS = 20  # in a pass
# Seconds: longer batches are cut, so that one slow call does not make all turns of a group long
CALL_LIMIT, FULL_CALL_LIMIT = 1e-3, 2e-3
COMPILED = 30.0  # seconds: compiling and trying out take less when the kernels are there
FIRST_RUN, LATER_RUNS = 280.0, 72.0  # seconds by which a paper's experiments must end, with and without compiling
# What the experiments of a paper take on two cores, its kernels compiled; a figure of any paper, and other papers
PAPER_SECONDS = {
    "dynibo-readme": 2.0, "gibbs-appell-elastic": 2.0, "lagrange-stewart": 4.0, "safeea-gdahj": 9.0,
    "gibbs-appell-rp": 13.0, "dynbench-readme": 19.0, "boltzmann-hamel": 37.0, "virtual-spring-denoc": 72.0,
}  # fmt: skip
FIGURE_SECONDS, OTHER_PAPER_SECONDS = 5.0, 60.0
PROJECTED = "reaches closed loops by the same projection"
FULL = "left to the full run"
NAMED = "left to runs of named robots or methods (-r, -m)"


def by_rule(reason: str) -> bool:
    """Whether a cell has no time because the rules of this kind of run leave it to another."""
    return reason.startswith((FULL, NAMED))


class Choice(NamedTuple):
    """What is done with a method in a tier on a robot; None where it is done."""

    run: Missing | None = None  # why it is neither checked nor timed; its operations are counted
    time: Missing | None = None  # why it is checked and not timed
    any: Missing | None = None  # why nothing is done


def timed(name: str) -> bool:
    """Whether the default run times a method."""
    method = methods.get(name)
    ours = name == REFERENCE or name in PAPERS_METHODS
    return ours or method.floor or bool(method.requires) or is_foreign(method)


def choice(plan: Plan, robot: Robot, variant: Variant) -> Choice:
    """Return what a run does with a method in a tier on a robot that it takes."""
    method = methods.get(variant.method)
    if plan.quick and _projected(method, robot) and method.name not in plan.asked:
        if plan.short and method.name != REFERENCE and not is_foreign(method):
            return Choice(any=_left(f"{method.name} {PROJECTED} as {REFERENCE}"))
        needed = method.name == REFERENCE and TRACED not in plan.codes
        if not (variant.traced or needed):
            return Choice(run=_left(f"{method.name} {PROJECTED} as others, which takes long to compile"))
    if not plan.short or timed(method.name):
        return Choice()
    takes = (one for one in plan.robots.values() if method.supports(one) is None)
    first = next((one for one in takes if not _projected(method, one)), None)
    if first is None or first.name != robot.name:
        return Choice(any=_left(f"{method.name} is checked on {first.name if first else 'no robot'} only"))
    if variant.traced or TRACED not in plan.codes:
        return Choice(time=_left(f"{method.name} is checked, and is not among the methods that are timed"))
    return Choice(run=_left(f"{method.name} is checked in traced code, and is not among the methods that are timed"))


def left_quantity(plan: Plan, robot: Robot, variant: Variant, quantity: str) -> Missing | None:
    """Return why a quantity of a method is left out, None if it is not."""
    if not plan.short or quantity not in ON_ONE_ROBOT or quantity in plan.named:
        return None
    first = next(iter(plan.robots))
    if robot.name != first:
        return _left(f"derivatives and regressor are those of {first}")
    if variant.code == GENERIC and TRACED in plan.codes:
        return _left("derivatives and regressor are in traced code, which compiles in a second")
    return None if timed(variant.method) else _left(f"derivatives and regressor: {variant.method} is not timed")


def _projected(method: object, robot: Robot) -> bool:
    """Whether generic code means ten more kernels to compile, for little new information."""
    return not robot.is_tree and getattr(type(method), "build", None) is KernelMethod.build


def _left(reason: str) -> Missing:
    return Missing(Outcome.LEFT_OUT, f"{FULL}: {reason}")


def untimed(plan: Plan, robot: str, cell: Cell) -> Missing | None:
    """Return why a kind of call of a method is left out, None if it is timed."""
    if plan.whole and cell.mode == "call" and not timed(cell.method):
        return Missing(Outcome.LEFT_OUT, f"{NAMED}: checking costs all methods the same")
    if not plan.short:
        return None
    if cell.mode == "call" and cell.method != REFERENCE:
        return _left(f"the checked call is timed of {REFERENCE} only; checking costs all methods the same")
    if engines.offers(methods.get(cell.method), plan.robots[robot], cell.quantity, "engine-batch"):
        return _left("its own call is timed, without our wrapper")
    return None


def untimed_quantity(plan: Plan, quantity: str) -> Missing | None:
    """Return why nothing of a quantity is timed, None if it is."""
    if plan.whole and quantity == "bias" and quantity not in plan.named:
        reason = "the bias is inverse dynamics at zero acceleration, by the same code"
        return Missing(Outcome.LEFT_OUT, f"{NAMED}: {reason}")
    return None


def has_mode(plan: Plan, robot: str, name: str, quantity: str, mode: str, rows: int) -> bool:
    """Whether there is a cell for a kind of call: a full run of everything has other sizes for some cells only."""
    if not plan.whole or mode not in ("batch", "threads") or (mode, rows) == ("batch", HEADLINE_ROWS):
        return True
    return robot in ROBOTS_OF_ALL_SIZES and quantity in QUANTITIES and timed(name)


def scaled(plan: Plan, variant: Variant) -> bool:
    """Whether the growth of a method in a tier is timed."""
    method = methods.get(variant.method)
    if method.floor or (plan.whole and method.compiles):  # a compiler would run for every size
        return False
    first = GENERIC if GENERIC in plan.codes else TRACED
    if plan.whole:
        return timed(method.name) or variant.code in ("", first)
    return not plan.short or (timed(method.name) and variant.code in ("", first))


def without_wrenches(plan: Plan) -> list[str]:
    """The methods that are not checked with external wrenches, whose kernels have to be compiled."""
    kernels = [variant.method for variant in plan.variants if variant.code]
    return sorted({name for name in kernels if plan.short and name != REFERENCE})


def budget(cells: int, passes: int, seconds: float = TIMING_SECONDS) -> Budget:
    """Return the budget of a group that makes all groups together take so many seconds: fewer rounds for more cells.

    The undisturbed turns of all passes together must still be enough for an interval.
    """
    rounds = math.floor(seconds / (TURN_SECONDS * max(cells, 1) * passes))
    rounds = max(ROUNDS_AT_ONCE, min(MOST_ROUNDS, rounds // ROUNDS_AT_ONCE * ROUNDS_AT_ONCE))
    return Budget(rounds=rounds, least=min(8, passes * rounds - 2), seconds=0.6)


def rounds(plan: Plan, cells: int) -> tuple[tuple[int, ...], Budget]:
    """Return the passes of a run over so many cells, and the budget of a group in a pass."""
    if plan.short:
        return tuple(range(SHORT_PASSES)), budget(cells, SHORT_PASSES)
    if plan.whole:
        return tuple(range(FULL_PASSES)), budget(cells, FULL_PASSES, FULL_SECONDS)
    return PASSES, QUICK_BUDGET if plan.quick else FULL_BUDGET


def call_limit(plan: Plan) -> float:
    """Return the seconds that one call of a batch may take; larger batches are cut."""
    if plan.short or plan.whole:
        return CALL_LIMIT if plan.short else FULL_CALL_LIMIT
    return 0.005 if plan.quick else 0.02


def papers_until(compiling: float) -> float:
    """Return by when experiments of papers must end, in seconds after the start of a run that compiled so long."""
    return FIRST_RUN if compiling > COMPILED else LATER_RUNS


def paper_seconds(compiling: float) -> Callable[[Job], float]:
    """Return what jobs of papers take, roughly: twice as long in a run that had to compile, since theirs are too."""
    times = 2.0 if compiling > COMPILED else 1.0

    def expected(job: Job) -> float:
        if "papers" in job.arguments:  # lists the figures
            return 0.0
        figure = "paper" in job.arguments
        return times * (FIGURE_SECONDS if figure else PAPER_SECONDS.get(job.arguments["name"], OTHER_PAPER_SECONDS))

    return expected


def left_out(matrix: Matrix) -> Iterator[str]:
    """Yield what the run leaves to ``--full``, a sentence each."""
    plan = matrix.plan
    if plan.whole:
        where = ", ".join(ROBOTS_OF_ALL_SIZES)
        yield f"{NAMED}: other sizes of batches and threads except on {where}"
        yield f"{NAMED}: times of the bias, and checked calls of methods that the default run does not time"
    if not plan.quick:
        return
    names = [name for name in plan.methods if plan.short and not timed(name)]
    if names:
        yield f"{FULL}: times of {', '.join(names)}; they are checked on one robot each"
    loops = sorted({variant.method for (robot, variant) in matrix.not_run if not plan.robots[robot].is_tree})
    if loops:
        yield f"{FULL}: generic code of {', '.join(loops)} on closed loops; traced code is timed"
    if plan.short:
        yield f"{FULL}: other methods that reach closed loops by the same projection as {REFERENCE}"
        yield f"{FULL}: agreement with external wrenches of methods other than {REFERENCE} and the engines"
        yield f"{FULL}: checked calls of methods other than {REFERENCE}, engines through our wrapper"
        families = [family for family in scaling.families() if not scaling.sizes(family, True)]
        first = next(iter(plan.robots), "none")
        yield f"{FULL}: derivatives and regressor of other robots than {first}, and in generic code"
        yield f"{FULL}: other robots and quantities, and the families {', '.join(families)}"
    yield f"{FULL}: other sizes of batches, and all threads"
