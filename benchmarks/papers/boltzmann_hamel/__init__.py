"""Boltzmann-Hamel: a free-floating robot pushed at the tips of its two arms (Khoshnood, Heidari Someeh, Hosseini Nami).

experiment  the simulation, through any tree method, and its three balances
growth      operations and time over the number of links and of arms
printed     the misprinted equations beside the corrected ones
measured    the statements beside our numbers, our own checks
corrections all that is misprinted, and where the data come from
recording   the simulation as curves and a moving picture
"""

from __future__ import annotations

from collections.abc import Callable

from dynbench.benchmarks.papers.boltzmann_hamel.experiment import DURATION, METHOD, pushed
from dynbench.benchmarks.papers.claims import Claim, Erratum, Provenance
from dynbench.benchmarks.simulation.recording import Simulation
from dynbench.benchmarks.simulation.scenario import Scenario


def claims(method: str = METHOD, quick: bool = False) -> list[Claim]:
    """Return the paper's statements and our checks with the numbers of a method (less long with ``quick``)."""
    from dynbench.benchmarks.papers.boltzmann_hamel.measured import measured_claims

    return measured_claims(method, DURATION / 2 if quick else DURATION)


def errata() -> list[Erratum]:
    """Return what is misprinted in the paper."""
    from dynbench.benchmarks.papers.boltzmann_hamel.corrections import all_errata

    return all_errata()


def scenarios(quick: bool = False) -> list[Scenario]:
    """Return two seconds of the spatial case; not in a quick run, where its forces in Python would take too long."""
    return [] if quick else [pushed("parallel_x", duration=2.0, samples=1)]


def simulations(quick: bool = False) -> dict[str, Callable[[], Simulation]]:
    """Return the experiment as curves and a moving picture; not in a quick run, where it takes too long."""
    from dynbench.benchmarks.papers.boltzmann_hamel import recording

    return {} if quick else {"space-robot": recording.space_robot}


def provenance() -> tuple[Provenance, ...]:
    """Return where the data of the experiment come from."""
    from dynbench.benchmarks.papers.boltzmann_hamel.corrections import PROVENANCE

    return PROVENANCE
