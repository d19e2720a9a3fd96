"""Our own README: its ratios to Pinocchio, run again and judged by the rule that the papers are judged by.

A test compares the numbers here with the text of README.md.
"""

from __future__ import annotations

from dynbench.benchmarks.papers.claims import Claim, Provenance, Source

PLACE = "README.md, table of times"
WHERE = "2 cores of an AMD EPYC with AVX-512"
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
TABLE = {  # robot, code -> times as fast as Pinocchio's own calls, batches of 1000: inverse, forward, mass matrix
    ("panda", "generic"): (14.1, 13.7, 20.1),
    ("panda", "traced"): (43.7, 42.6, 40.3),
    ("chain-30", "generic"): (19.2, 15.4, 16.3),
    ("chain-30", "traced"): (29.3, 22.7, 16.0),
    ("talos", "generic"): (14.9, 14.2, 10.2),
    ("talos", "traced"): (28.2, 30.1, 13.2),
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
