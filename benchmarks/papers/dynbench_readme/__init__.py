"""Our own README: its ratios to Pinocchio, run again and judged by the rule that the papers are judged by.

A test compares the numbers here with the text of README.md.
"""

from __future__ import annotations

from dynbench.benchmarks.papers.claims import Claim, Provenance, Source

PLACE = "README.md, table of times"
WHERE = "2 cores of an AMD EPYC (family 26, model 2) with AVX-512"
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
TABLE = {  # robot, code -> times as fast as Pinocchio's own calls, batches of 1000: inverse, forward, mass matrix
    ("panda", "generic"): (14.6, 15.1, 25.7),
    ("panda", "traced"): (67.2, 56.2, 61.2),
    ("chain-30", "generic"): (22.0, 17.7, 19.6),
    ("chain-30", "traced"): (40.0, 31.6, 20.5),
    ("talos", "generic"): (18.5, 16.6, 11.3),
    ("talos", "traced"): (41.9, 39.8, 15.1),
}


def claims(quick: bool = False) -> list[Claim]:
    """Return the ratios of the README's table, measured on this machine, each with a verdict."""
    if quick:  # beside a benchmark times would disturb each other; `dynbench papers` measures them
        return []
    from dynbench.benchmarks.papers.performance import Side, Speedup, judged

    source, found = Source("dynbench-readme"), []
    for (robot, code), printed in TABLE.items():
        for quantity, value in zip(QUANTITIES, printed, strict=True):
            said = Speedup(
                f"newton-euler, {code}, {quantity.replace('_', ' ')} of {robot}: {value} times as fast as Pinocchio",
                PLACE, f"{value:.1f} [", value, robot, quantity,
                Side("newton-euler", "batch", code), Side("pinocchio", "engine-batch"),
            )  # fmt: skip
            found.append(judged(source, said, WHERE, seconds=1.0))
    return found


def provenance() -> list[Provenance]:
    """Return where the data of the comparison come from."""
    return [
        Provenance("states", "1000 random ones, seed 0", "given", "README, line above the table"),
        Provenance("tier", "generic and traced code, one thread", "given", "README"),
    ]
