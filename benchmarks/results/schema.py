"""The tables of a run: every file, every column, what it means, its type and its unit.

Nothing else lists columns. Files are written and read by the tables themselves (`columns`), `merge` and `compare` match
rows by the columns that are keys, reports take headings and tooltips from here, docs/result-files.md is made from it.
To add a column, add it to its table, and give rows a value under its name. Runs written before a column existed are
read with empty cells.
"""

from __future__ import annotations

from dynbench.benchmarks.processes.outcomes import Outcome
from dynbench.benchmarks.results.columns import (
    AS_UNIT,
    HOST,
    NAME,
    NUMBER,
    POLYNOMIAL,
    SIZE,
    TEXT,
    TIME,
    WHOLE,
    Column,
    Table,
    Type,
    one_of,
)


# fmt: off
def _key(name: str, meaning: str, type: Type = NAME, head: str = "") -> Column:
    return Column(name, meaning, type, key=True, head=head)


def _reason(meaning: str = "Why there is no number.") -> tuple[Column, Column]:
    return Column("outcome", "How the cell ended.", one_of(*Outcome)), Column("reason", meaning, TEXT)


ROBOT = _key("robot", "Name of the robot.")
ANY_ROBOT = _key("robot", "Name of the robot; `any` where it does not matter.")
METHOD = _key("method", "Name of the method.")
QUANTITY = _key("quantity", "What is computed, such as `inverse_dynamics`; empty where it does not matter.")
CODE = Column("code", "Tier of machine code: `generic` or `traced`; empty for engines and plain Python.",
              one_of("generic", "traced"), key=True, later=True)
OTHER_CODE = Column("other_code", "The same of the other method of a pair.", one_of("generic", "traced"), key=True,
                    later=True)
PAPER = _key("paper", "Name of the paper.")
ROWS = _key("rows", "States in a call.", WHOLE)
VALUE = Column("value", "The number.", NUMBER, AS_UNIT)
UNIT = Column("unit", "Unit of the numbers of this row.")
LOW = Column("low", "Lower end of the 95 % interval of a time or an exponent.", NUMBER, AS_UNIT)
HIGH = Column("high", "Upper end of the 95 % interval of a time or an exponent.", NUMBER, AS_UNIT)
AA_NOISE = Column("noise", "Difference of two timings of the same code; a smaller one is no verdict.",
                  NUMBER, "relative")
ULP_NOISE = Column("noise", "How far results move when inputs move by 2 ulp, the smaller of the two methods; of what a "
                   "motion conserves (`... in motion`), the error of the integrator.", NUMBER, AS_UNIT,
                   head="noise floor")
TOLERANCE = Column("tolerance", "Largest value that counts as agreement.", NUMBER, AS_UNIT)
STATUS = Column("status", "Within its tolerance (`agrees`) or beyond (`differs`); `reported` if it has none to meet.",
                one_of("agrees", "differs", "reported", "unsupported", "failed"), head="verdict")
SEED = Column("seed", "Seed of the random states.", NUMBER)
STATES = Column("states", "Number of states of a seed.", WHOLE)
OPTIONS = _key("options", "Options of the method, as `name=value`.")
SOLVER = _key("solver", "Integrator.")
RTOL = _key("rtol", "Relative tolerance of the integrator.", NUMBER)
ATOL = Column("atol", "Absolute tolerance of the integrator.", NUMBER)
HORIZON = Column("horizon", "Simulated time.", NUMBER, "s")
EVALUATIONS = Column("evaluations", "Evaluations of the equations of motion, those for Jacobians included.", WHOLE)
WALL = Column("seconds", "Wall-clock time without compiling; of short runs the shortest of three.", NUMBER, "s")
COUNTED = (
    Column("additions", "Additions and subtractions of one evaluation.", POLYNOMIAL),
    Column("multiplications", "Multiplications of one evaluation.", POLYNOMIAL),
    Column("divisions", "Divisions of one evaluation.", POLYNOMIAL),
    Column("square_roots", "Square roots of one evaluation.", POLYNOMIAL),
    Column("sincos", "Sines of one evaluation, each with its cosine.", POLYNOMIAL),
    Column("flops", "All of these, a `sincos` counted as the operations it takes here.", POLYNOMIAL),
)
OPERATIONS = tuple(column.name for column in COUNTED)

RESULTS = Table("results", "every measurement once", ("value",), (
    ANY_ROBOT, METHOD, CODE, QUANTITY,
    _key("measure", "What was measured: `error`, an invariant, `time per state, batch`, `operations`, ..."),
    VALUE, UNIT, *_reason("Why there is no number, or where a tolerance comes from."),
    _key("other", "Method or engine that it is compared with."), OTHER_CODE,
    ROWS, LOW, HIGH,
    Column("noise", "Noise floor of an error; difference of two timings of the same code.", NUMBER, "relative"),
    TOLERANCE, STATUS, SEED, HOST,
))
AGREEMENT = Table("agreement", "all pairs of methods, noise floors, invariants", ("value",), (
    ROBOT, QUANTITY,
    _key("measure", "`error`, `noise floor`, or the name of an invariant."),
    METHOD, CODE,
    _key("other", "Other method of a pair, or the same in the other tier; empty for noise floors and invariants."),
    OTHER_CODE,
    Column("value", "Largest difference over the states, relative to the largest component.", NUMBER, AS_UNIT,
           head="error"),
    UNIT, STATUS, TOLERANCE, ULP_NOISE, STATES, SEED, *_reason("Where the tolerance comes from, or what failed."),
))
TIMING = Table("timing", "every cell of the timing tables", ("seconds",), (
    ROBOT, METHOD, CODE,
    _key("label", "The method, with `(again)` for the second of an A/A pair."),
    QUANTITY,
    _key("mode", "`call`, `unchecked`, `batch`, `threads`, or an engine's own `engine`, "
         "`engine-batch` or `engine-threads`."),
    _key("rows", "States in a call.", SIZE),
    Column("seconds", "CPU time of one state on a quiet core (threads: wall time): of each pass a low quantile of the "
           "undisturbed turns, of several passes the geometric mean.", TIME, "s"),
    Column("low", "Lower end of the 95 % interval of `seconds`.", TIME, "s"),
    Column("high", "Upper end of the 95 % interval of `seconds`.", TIME, "s"),
    Column("median", "Median over all turns, disturbed ones too: what a state took on the core as it was.", TIME, "s"),
    Column("wall", "The same by the wall clock.", TIME, "s"),
    AA_NOISE,
    Column("timed_rows", "States in the call that was timed: fewer than `rows` if those would take too long.", WHOLE),
    Column("rounds", "Turns that were timed.", WHOLE),
    Column("kept", "Turns that nothing disturbed.", WHOLE),
    Column("passes", "Passes over all cells, each in a process of its own.", WHOLE),
    Column("floor", "Time of the method that computes nothing, in the same group.", NUMBER, "s", relative=True),
    Column("times_best", "Time over that of the fastest exact method of the group and tier; engines stand beside the "
           "methods in generic code, where there is any.", NUMBER, relative=True),
    Column("times_best_low", "Lower end of the 95 % interval of `times_best`.", NUMBER, relative=True),
    Column("times_best_high", "Upper end of the 95 % interval of `times_best`.", NUMBER, relative=True),
    Column("verdict", "`fastest` (alone), `no difference` (the interval includes 1: tied with the fastest) or "
           "`slower`; `not exact` and `floor` for methods that do not compete.", TEXT, relative=True),
    Column("expression", "The code that was timed.", TEXT),
    *_reason("Why there is no time."), Column("host", "Machine that was timed; several if passes were spread.", TEXT),
))
RATIOS = Table("ratios", "against other engines' own calls", ("ratio",), (
    ROBOT, QUANTITY,
    _key("mode", "As in timing.csv; `loops` is a batch on closed loops against what a user of the engine writes in "
         "Python."),
    ROWS, METHOD, CODE,
    _key("peer", "The other engine.", head="engine"),
    Column("ratio", "Time of the peer over that of the method: above one, the method is faster.", NUMBER,
           "times faster", head="times faster"),
    Column("low", "Lower end of the 95 % interval of `ratio`.", NUMBER),
    Column("high", "Upper end of the 95 % interval of `ratio`.", NUMBER),
    Column("shared", "Median of the ratios in the same rounds: on the core as it was, with what else ran.", NUMBER,
           head="shared core"),
    Column("verdict", "`faster`, `slower`, or `no difference` where the interval includes 1.", TEXT),
    Column("peer_call", "What of the peer was timed: its own call, its own batch call, its own call in a loop in "
           "Python (it has no batch call), or our wrapper of it (threads).", TEXT),
    Column("expression", "The code of the peer that was timed.", TEXT, head="what was timed"),
    Column("target", "Ratio that should be reached.", NUMBER),
    Column("met", "Whether the target is reached.", one_of("yes", "no", "no difference", "within the noise")),
    *_reason("Why there is no ratio."),
))
SCALING = Table("scaling", "families of robots", ("value",), (
    _key("family", "Family of robots, such as `chain`."),
    _key("size", "Size N of the robot; empty for an exponent.", WHOLE),
    METHOD, CODE, QUANTITY,
    _key("measure", "`time per state` or `exponent`."),
    VALUE, LOW, HIGH, UNIT, AA_NOISE, *_reason(),
))
COUNTS = Table("counts", "operations of the timed source, before and after tracing", ("flops",), (
    _key("robot", "Name of the robot; `chain-N` and so on for polynomials in N."),
    METHOD, CODE, QUANTITY, *COUNTED,
    Column("rate", "`flops` over the time per state in a batch.", NUMBER, "flop/s"),
    Column("fraction", "`rate` over the measured peak of one thread.", NUMBER, head="of the peak"),
    *_reason("Why it was not counted."),
))
STARTUP = Table("startup", "before the first result", ("value",), (
    ANY_ROBOT, METHOD, QUANTITY,
    _key("measure", "Compile, load from the cache, prepare, first result, peak memory, null call (what a call from "
         "Python costs an engine before it computes anything), break-even with an engine."),
    VALUE, UNIT, *_reason(),
))
CLAIMS = Table("claims", "what the papers say", ("measured",), (
    PAPER,
    Column("kind", "`statement` of the paper, or `check` of our own, which the paper does not state.", TEXT),
    Column("place", "Page, section, equation, figure or table of the statement.", TEXT),
    _key("statement", "What the paper says, or what is checked.", TEXT),
    Column("quote", "A few of the paper's own words.", TEXT),
    Column("printed", "Its value as printed; empty for a check.", TEXT),
    Column("measured", "Our value.", NUMBER, AS_UNIT, head="ours"),
    UNIT,
    Column("verdict", "`reproduced`, `differs`, `depends`, `not reproducible` or `not run`.", TEXT),
    Column("outcome", "How the paper's experiments ended; `unsupported` if the paper lacks what a number needs.",
           one_of(*Outcome)),
    Column("reason", "How it was judged.", TEXT),
))
ERRATA = Table("errata", "what is printed wrong", (), (
    PAPER,
    _key("where", "Equation, table or page."),
    Column("printed", "What is printed.", TEXT),
    Column("correct", "What it should be.", TEXT),
    Column("evidence", "What goes wrong with the printed form.", TEXT),
    Column("test", "The test that shows it.", TEXT),
))
PROVENANCE = Table("provenance", "where the data of the papers' experiments come from", (), (
    PAPER,
    _key("item", "Which datum.", TEXT),
    Column("value", "Its value here.", TEXT),
    Column("status", "`given` in the text, `inferred` from it, or `chosen` here.", TEXT),
    Column("note", "Where in the text, inferred from what, or why it was chosen.", TEXT),
))
PAPER_COUNTS = Table("paper_counts", "operation counts that papers print, beside ours", (), (
    PAPER,
    _key("quantity", "What is computed.", head="what"),
    _key("operations", "Additions or multiplications."),
    Column("formula", "The polynomial in n as printed.", TEXT, head="printed"),
    _key("counted", "How ours were counted; `timed source` is the code that is timed."),
    Column("ours", "Our polynomial.", TEXT, head="ours, how counted"),
    _key("n", "Number of links.", WHOLE),
    Column("printed_value", "The printed polynomial at n.", NUMBER),
    Column("our_value", "Our polynomial at n.", NUMBER),
    Column("ratio", "Ours over the printed one.", NUMBER, head="ours / printed"),
))
WORK_PRECISION = Table("work_precision", "scenarios over methods, integrators and tolerances", ("error",), (
    _key("scenario", "Name of the scenario."),
    ROBOT, METHOD, OPTIONS, SOLVER, RTOL, ATOL, HORIZON,
    Column("error", "Largest error of the final coordinates against a tight run of the scenario's first method.",
           NUMBER, AS_UNIT),
    UNIT, EVALUATIONS, WALL, *_reason("Why there is no number, such as too many evaluations."),
))
PROBLEMS = Table("problems", "benchmark problems over methods, integrators and tolerances", ("digits",), (
    _key("problem", "Name of the problem."),
    Column("robot", "Name of its robot."),
    METHOD, OPTIONS, SOLVER, RTOL,
    _key("step", "Step of an integrator with fixed steps.", NUMBER),
    HORIZON,
    Column("reached", "Time that the run reached.", NUMBER, "s"),
    Column("error", "Largest error of the outputs over the times that are compared, over their sizes.", NUMBER),
    Column("digits", "-log10 of the error.", NUMBER),
    EVALUATIONS,
    Column("cpu", "CPU time of the run without compiling; of short runs the shortest of three.", NUMBER, "s",
           head="CPU time"),
    Column("energy_error", "Largest error of the energy over these times.", NUMBER, "J"),
    Column("singular", "Singular positions of loops that the run passed.", WHOLE),
    *_reason("Why there are no digits: the method does not apply, or the run ended early."),
))
CAMPAIGN = Table("campaign", "the cells of a campaign, with the columns of its kind", ("error", "flops"), (
    _key("scenario", "Scenario as `paper/name`, or `free motion`."),
    ROBOT, METHOD, OPTIONS,
    Column("reference", "Method that results are compared with."),
    STATES, HORIZON,
    Column("limit", "Most evaluations of a simulation.", WHOLE),
    _key("seed", "Seed of the random states.", NUMBER),
    QUANTITY, SOLVER, RTOL, ATOL,
    Column("error", "Largest relative error over the states; of a simulation, that of the final coordinates.", NUMBER,
           AS_UNIT),
    ULP_NOISE, TOLERANCE,
    Column("state", "Index of the state with the largest error.", WHOLE),
    STATUS, *COUNTED, UNIT, EVALUATIONS, WALL, HOST,
    *_reason("Why there is no number, or where the tolerance comes from."),
))
# fmt: on

# The tables of a results folder; results.csv repeats what the others have
_ALL = (RESULTS, AGREEMENT, TIMING, RATIOS, SCALING, COUNTS, STARTUP, CLAIMS, ERRATA, PROVENANCE, PAPER_COUNTS,
        WORK_PRECISION, PROBLEMS)
TABLES = {table.name: table for table in _ALL}
