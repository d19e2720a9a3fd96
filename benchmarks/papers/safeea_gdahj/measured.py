"""The statements of the GDAHJ article and of its authors' program, with our numbers beside them.

Of the article we could read what a search engine's copy of 123dok.net/document/7q0nk89y shows: title, authors,
abstract, keywords. Equations, tables and sections were not readable to us. The authors' program, its comments and its
printed results are public and were read in full; the spreadsheet of operation counts beside it was not readable.
"""

from __future__ import annotations

import numpy as np

from dynbench import methods, robots
from dynbench.benchmarks.papers.claims import Claim, Provenance, Source, across, missing, when
from dynbench.benchmarks.papers.safeea_gdahj import counts, times
from dynbench.benchmarks.papers.safeea_gdahj.counts import FROM_DH, LARGEST, LIMIT, LINK_FRAMES, PAPER
from dynbench.methods.composite_link_frames import CompositeLinkFrames
from dynbench.methods.gdahj import Gdahj
from dynbench.methods.newton_euler import NewtonEuler

ABSTRACT = "abstract"
QUOTE = "better performance over state-of-the-art by Featherstone when applied for robots with more than 13 DOF"
PROGRAM = "authors' program, Src/CRBAvsGDAHJ_print_results.cpp"
RESULTS = "authors' program, script that plots its output, matrix res"
ROUNDING = 1e-12  # of the largest entry
# joints: milliseconds for 500 000 mass matrices by GDAHJ and by composite bodies, as printed
TABLE = {
    2: (878, 116), 3: (943, 209), 4: (1026, 318), 5: (1127, 442), 6: (1231, 593), 7: (1346, 756), 8: (1461, 937),
    9: (1580, 1144), 10: (1694, 1357), 11: (1828, 1591), 12: (1946, 1852), 13: (2082, 2111), 14: (2225, 2403),
    15: (2368, 2714), 16: (2512, 3053), 17: (2656, 3390), 18: (2821, 3747), 19: (2982, 4123), 20: (3143, 4516),
    21: (3307, 4950), 22: (3486, 5381), 23: (3709, 5832), 24: (3836, 6298), 25: (4026, 6780), 26: (4204, 7296),
    27: (4404, 7806), 28: (4589, 8357), 29: (4831, 8926), 30: (4996, 9501),
}  # fmt: skip
PRINTED_ERROR = 1.47543e-14  # kg m^2, mean over the entries, 30 joints

SOURCE = Source(PAPER)


def measured_claims(quick: bool) -> list[Claim]:
    """Return the statements and our checks; ``quick``: without times, which other processes would disturb."""
    found = [fewer_operations(), quadratic_terms(), composite_formula(), rotation(), printed_times(), rounding_error()]
    found[1:1] = [] if quick else [less_time()]
    return [*found, *checks()]


def fewer_operations() -> Claim:
    """The abstract, read as a statement about operations."""
    found = counts.crossings()
    cases = {case: n is not None and n <= LIMIT + 1 for case, n in found.items()}
    words = "; ".join(f"{case}: {'never' if n is None else f'from {n} joints on'}" for case, n in found.items())
    return SOURCE.statement(
        f"above {LIMIT} joints GDAHJ takes fewer operations than Featherstone's algorithm",
        place=ABSTRACT,
        quote=QUOTE,
        printed="more than 13 DOF",
        measured=found[f"{FROM_DH}, against {LINK_FRAMES}"],
        unit="joints, from which on it takes fewer",
        verdict=across(cases),
        reason=f"counted up to {LARGEST} joints: {words}. Composite bodies in one frame have the same term in n^2",
    )


def less_time() -> Claim:
    """The abstract, read as a statement about time."""
    found = times.measured()
    quiet = [series for series in found if any(n > LIMIT for n in series.ratios)]
    cases = {f"{series.rival}, {series.mode}": series.faster_above(LIMIT) for series in quiet}
    left = sorted({series.disturbed for series in found if series.disturbed})
    first = next((series for series in quiet), None)
    last = max(first.ratios) if first else LARGEST
    return SOURCE.statement(
        f"above {LIMIT} joints GDAHJ takes less time than Featherstone's algorithm",
        place=ABSTRACT,
        quote=QUOTE,
        printed="more than 13 DOF",
        measured=first.ratios[last].middle if first else None,
        unit=f"times as fast as {first.rival}, {last} joints, {first.mode}" if first else "",
        verdict=across(cases) if cases else missing(*left),
        reason="time of a rival over GDAHJ's, generic code, poses included: " + "; ".join([*map(str, quiet), *left]),
    )


def quadratic_terms() -> Claim:
    """The coefficients of n^2."""
    ours, theirs = (
        float(counts.total(counts.of_method(method)).coefficients[2]) for method in (Gdahj, CompositeLinkFrames)
    )
    one_frame = float(counts.total(counts.of_method(NewtonEuler)).coefficients[2])
    return SOURCE.statement(
        "the operations that grow with n^2 are 16 for composite bodies and 5.5 for GDAHJ",
        place=f"{PROGRAM}, first comment",
        quote="reducing the O(n2) operations required from 16 (for CRBA) to 5.5 (for GDAHJ)",
        printed="16 and 5.5",
        measured=ours,
        unit="n^2, GDAHJ",
        verdict=when((ours, theirs) == (5.5, 16.0)),
        reason=f"counted: GDAHJ {ours:g}, composite bodies in link frames {theirs:g}; in one frame {one_frame:g}",
    )


def composite_formula() -> Claim:
    """The count of composite bodies in link frames."""
    found = counts.of_method(CompositeLinkFrames)
    same = (found["multiplications"], found["additions"]) == (
        counts.PRINTED_MULTIPLICATIONS,
        counts.PRINTED_ADDITIONS,
    )
    return SOURCE.statement(
        "composite bodies in link frames take 10 n^2 + 22 n - 32 multiplications and 6 n^2 + 37 n - 43 additions",
        place=f"{PROGRAM}, first comment",
        quote="minimal cost of: (10n2+22n-32) mul + (6n2+37n-43) add",
        printed="10 n^2 + 22 n - 32 and 6 n^2 + 37 n - 43",
        measured=float(counts.total(found)(LARGEST)),
        unit=f"operations, {LARGEST} joints",
        verdict=when(same),
        reason=f"counted: {found['multiplications']} multiplications, {found['additions']} additions",
    )


def rotation() -> Claim:
    """What it takes to turn an inertia."""
    found = counts.rotation_counts()
    return SOURCE.statement(
        "the inertia of a link is turned by 28 multiplications and 19 additions",
        place=f"{PROGRAM}, get_A_GDAHJ, comment",
        quote="In total cost is 19 add + 28 mul",
        printed="28 and 19",
        measured=found["multiplications"],
        unit="multiplications",
        verdict=when(all(found[kind] <= printed for kind, printed in counts.PRINTED_ROTATION.items())),
        reason=f"reproduced if no more: {found['multiplications']} and {found['additions']} here, since one of the two "
        "vectors is chosen with a zero",
    )


def printed_times() -> Claim:
    """The authors' own times, and what is in them."""
    n = np.array(sorted(TABLE), dtype=float)
    ours, theirs = np.array([TABLE[int(k)] for k in n]).T
    first = int(n[np.argmax(ours < theirs)])
    fits = [np.polynomial.Polynomial.fit(n, t, 2, domain=(-1, 1)).convert().coef for t in (ours, theirs)]
    constant = fits[0][0] * 1e6 / 500_000  # ms -> ns
    shifted = ours - (fits[0][0] - fits[1][0])
    without = int(n[np.argmax(shifted < theirs)])
    why = "the machine (i7-8750H, Visual Studio 2019) is not available"
    return SOURCE.statement(
        "the authors' program is faster with GDAHJ from 13 joints on",
        place=RESULTS,
        quote="12,1946,1852 ... 13,2082,2111",
        printed="2082 ms and 2111 ms for 500 000 calls, 13 joints",
        measured=None,
        unit="s",
        verdict=missing(why),
        reason=f"{why}. In the printed times GDAHJ is faster from {first} joints on. A parabola through them has a "
        f"constant part of {constant:.0f} ns a call for GDAHJ, whose code clears arrays for 30 joints in every call; "
        f"with the constant part of composite bodies instead, it would be faster from {without} joints on. Poses are "
        "computed before the clock starts",
    )


def rounding_error() -> Claim:
    """The difference between both algorithms."""
    ours, theirs, largest = _matrices(f"chain-{LARGEST}")
    error = float(np.abs(ours - theirs).mean())
    relative = float(np.abs(ours - theirs).max() / largest)
    return SOURCE.statement(
        f"both algorithms differ by {PRINTED_ERROR:g} kg m^2 on average at {LARGEST} joints: rounding",
        place=RESULTS,
        quote="30,4996,9501,1.47543e-14",
        printed=f"{PRINTED_ERROR:g} kg m^2",
        measured=error,
        unit="kg m^2, on average",
        verdict=when(relative <= ROUNDING),
        reason=f"chain-{LARGEST}, 64 states, reproduced if the largest difference is below {ROUNDING:g} of the largest "
        f"entry: {relative:.1e}; their robot is not printed",
    )


def _matrices(robot: str) -> tuple[np.ndarray, np.ndarray, float]:
    machine = robots.load(robot)
    q = machine.sample(64, seed=0)[0]
    ours, theirs = (methods.get(name).prepare(machine).mass_matrix(q) for name in ("gdahj", "composite-link-frames"))
    return ours, theirs, float(np.abs(theirs).max())


def checks() -> list[Claim]:
    """What must hold and is not printed."""
    errors = []
    for robot in ("chain-4", "panda", "chain-14", f"chain-{LARGEST}"):
        machine = robots.load(robot)
        q = machine.sample(16, seed=1)[0]
        right = methods.get("newton-euler").prepare(machine).mass_matrix(q)
        errors += [
            float(np.abs(methods.get(name).prepare(machine).mass_matrix(q) - right).max() / np.abs(right).max())
            for name in ("gdahj", "composite-link-frames")
        ]
    ours, one_frame = (counts.total(counts.of_method(method)) for method in (Gdahj, NewtonEuler))
    more = [n for n in range(2, LARGEST + 1) if ours(n) > one_frame(n)]
    return [
        SOURCE.check(
            "GDAHJ and composite bodies in link frames give the mass matrix of newton-euler",
            measured=max(errors),
            unit="of the largest entry",
            verdict=when(max(errors) <= ROUNDING),
            reason=f"largest difference on chain-4, panda, chain-14 and chain-{LARGEST}, at most {ROUNDING:g}",
        ),
        SOURCE.check(
            "composite bodies in one frame take fewer operations than GDAHJ for every number of joints",
            measured=float(ours(LARGEST) / one_frame(LARGEST)),
            unit=f"operations of GDAHJ over theirs, {LARGEST} joints",
            verdict=when(len(more) == LARGEST - 1),
            reason=f"counted from 2 to {LARGEST} joints: GDAHJ {ours}, composite bodies in one frame {one_frame}",
        ),
    ]


PROVENANCE = (
    Provenance("article", "title, authors, abstract, keywords", "given",
               "copy of the deposited version, https://sam.ensam.eu handle 10985/17376; we could read no more of it"),
    Provenance("equations of GDAHJ", "(1)-(8) of methods/gdahj.py", "inferred",
               "derived; the sums are those of the authors' program, the equation numbers ours"),
    Provenance("rival", "composite bodies in link frames", "inferred",
               "\"by Featherstone\": the form in the authors' program, with the count that it prints"),
    Provenance("second rival", "composite bodies in one frame (newton-euler)", "chosen",
               "the same algorithm without transforms of wrenches; what a user of this suite would call"),
    Provenance("third rival", "Pinocchio's crba", "chosen", "an engine; it compares implementations too"),
    Provenance("robots", "chain-4 to chain-30, revolute joints", "chosen",
               "the article's robots are not known to us; the program draws parameters at random"),
    Provenance("the program's robots", "parameters from rand()", "given",
               "fRand seeds the generator with the second of the day's clock in every call: most numbers are equal"),
    Provenance("frames", "modified Denavit-Hartenberg", "given", "comment and forward_Kinematics of the program"),
    Provenance("poses", "not in the program's times", "given",
               "forward_Kinematics and the sines of composite bodies are computed before the timed loops"),
    Provenance("poses here", "in the times, and counted in three ways", "chosen",
               "whoever needs a mass matrix needs them; composite bodies in link frames do not"),
    Provenance("calls", "500 000 of one state", "given", "constant iterations of the program"),
    Provenance("calls here", "one state, and batches of 1000", "chosen", "generic code, CPU time, in turns"),
    Provenance("joints", "2 to 30", "given", "MAX_Dimention of the program; the abstract says more than 13"),
)  # fmt: skip
