"""The simulation of the elastic Gibbs-Appell paper: one arm turned and pushed out of its sleeve for a second.

Korayem, Shafei and co-workers, Modares Mechanical Engineering 13(1), 2013.

    experiment   the simulation, and where each of its data comes from
    measured     the statements beside our numbers, our own checks, the errata, growth with arms and modes
    exudyn_beam  the arm with its slide locked by another engine, as an outside judge
    recording    the figures, and the arm in motion
"""

from __future__ import annotations

from collections.abc import Callable

from dynbench.benchmarks.papers.claims import Claim, Erratum, Provenance
from dynbench.benchmarks.simulation.recording import Simulation
from dynbench.benchmarks.simulation.scenario import Scenario


def claims() -> list[Claim]:
    """Return the paper's checkable statements and what was measured."""
    from dynbench.benchmarks.papers.gibbs_appell_elastic.measured import measured_claims

    return list(measured_claims())


def errata() -> list[Erratum]:
    """Return what is wrong in print."""
    from dynbench.benchmarks.papers.gibbs_appell_elastic.measured import all_errata

    return all_errata()


def scenarios(quick: bool = False) -> list[Scenario]:
    """Return the paper's case; not in a quick run, where its inputs in Python would take too long."""
    from dynbench.benchmarks.papers.gibbs_appell_elastic.experiment import arm

    return [] if quick else [arm()]


def simulations() -> dict[str, Callable[[], Simulation]]:
    """Return the experiment as curves and a moving picture."""
    from dynbench.benchmarks.papers.gibbs_appell_elastic import recording

    return {"elastic-arm": recording.elastic_arm}


def provenance() -> tuple[Provenance, ...]:
    """Return where the data of the experiment come from."""
    from dynbench.benchmarks.papers.gibbs_appell_elastic.experiment import PROVENANCE

    return PROVENANCE
