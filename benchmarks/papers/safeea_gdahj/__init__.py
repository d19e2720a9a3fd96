"""A public statement about an algorithm: GDAHJ computes mass matrices faster than composite bodies above 13 joints.

M. Safeea, R. Bearee, P. Neto, Reducing the computational complexity of mass-matrix calculation for high DOF robots,
IROS 2018, and the authors' program https://github.com/Modi1987/CRBA-and-GDAHJ-performance-comparison-in-C- (2019).

    counts      operations of GDAHJ and of its rivals over the number of joints
    times       their times, measured in turns
    measured    the statements beside our numbers
"""

from __future__ import annotations

from dynbench.benchmarks.papers.claims import Claim, Formula, Provenance


def claims(quick: bool = False) -> list[Claim]:
    """Return the statements, each with a verdict; ``quick`` leaves out those about times."""
    from dynbench.benchmarks.papers.safeea_gdahj.measured import measured_claims

    return measured_claims(quick)


def formulas() -> list[Formula]:
    """Return the printed operation counts of composite bodies beside ours."""
    from dynbench.benchmarks.papers.safeea_gdahj.counts import formulas as counted

    return counted()


def provenance() -> tuple[Provenance, ...]:
    """Return where the data of the comparison come from."""
    from dynbench.benchmarks.papers.safeea_gdahj.measured import PROVENANCE

    return PROVENANCE
