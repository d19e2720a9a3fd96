"""Revolute-prismatic chain of three rods (Korayem and Shafei): 1.5 s under constant inputs, without and with stops.

experiment  the two motions, through any method
measured    the statements beside our numbers, our own checks
printed     the paper's equations as they stand, misprints as switches
counts      operations, beside the paper's formulas
corrections all that is misprinted, and where the data come from
recording   the figures, and the rods in motion
"""

from __future__ import annotations

from collections.abc import Callable

from dynbench.benchmarks.papers.claims import Claim, Formula, Provenance
from dynbench.benchmarks.papers.gibbs_appell_rp.corrections import errata
from dynbench.benchmarks.simulation.recording import Simulation
from dynbench.benchmarks.simulation.scenario import Scenario

__all__ = ["claims", "errata", "formulas", "provenance", "scenarios", "simulations"]


def claims(quick: bool = False) -> list[Claim]:
    """Return the paper's statements and our checks; ``quick`` takes fewer random chains."""
    from dynbench.benchmarks.papers.gibbs_appell_rp.measured import measured_claims

    return measured_claims(quick)


def scenarios(quick: bool = False) -> list[Scenario]:
    """Return the motion without stops, smooth and so fit to be swept."""
    from dataclasses import replace

    from dynbench.benchmarks.papers.gibbs_appell_rp.experiment import METHOD, rods

    return [replace(rods(), methods=(METHOD, "newton-euler"))] if quick else [rods()]


def formulas() -> list[Formula]:
    """Return the printed operation counts beside those of the timed source."""
    from dynbench.benchmarks.papers.gibbs_appell_rp.counts import formulas

    return formulas()


def simulations() -> dict[str, Callable[[], Simulation]]:
    """Return the experiment as curves and a moving picture."""
    from dynbench.benchmarks.papers.gibbs_appell_rp import recording

    return {"sliding-rods": recording.sliding_rods}


def provenance() -> tuple[Provenance, ...]:
    """Return where the data of the experiment come from."""
    from dynbench.benchmarks.papers.gibbs_appell_rp.corrections import PROVENANCE

    return PROVENANCE
