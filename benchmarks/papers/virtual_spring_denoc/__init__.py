"""Virtual springs in DeNOC: a planar 3RRR robot, its loops held by springs (Raoofian, Taghvaeipour, Kamali Eigoli).

"A Modification in the Decoupled Natural Orthogonal Complement Method, Using Virtual Spring Concepts", Modares
Mechanical Engineering 17(6), 2017.

    experiment  torques along a rose, replayed by DeNOC and by springs; stiffness, step controls, reactions
    planar      the same springs by Lagrange's equations, written out by hand; other definitions of the constraints
    measured    the statements beside our numbers, our own checks
    corrections the errata, and where the data come from
    recording   the same as curves and a moving picture
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dynbench.benchmarks.papers.claims import Claim, Erratum, Provenance
from dynbench.benchmarks.simulation.recording import Simulation
from dynbench.benchmarks.simulation.scenario import Scenario


def claims(quick: bool = False) -> list[Claim]:
    """Return the paper's checkable statements with our numbers; ``quick`` stops at K_s = 1e6."""
    from dynbench.benchmarks.papers.virtual_spring_denoc.measured import measured_claims

    return measured_claims(quick)


def errata() -> list[Erratum]:
    """Return what is misprinted in the paper."""
    from dynbench.benchmarks.papers.virtual_spring_denoc import corrections

    return corrections.errata()


def scenarios(quick: bool = False) -> list[Scenario]:
    """Return the replay by springs of many stiffnesses, undamped and damped; ``quick`` has two of them."""
    from dynbench.benchmarks.papers.virtual_spring_denoc.experiment import ZETA, swept

    return [swept((1e4, 1e6))] if quick else [swept(), swept(zeta=ZETA)]


def simulations(quick: bool = False) -> dict[str, Callable[[], Simulation]]:
    """Return figures and a moving picture; ``quick`` leaves out the sweeps over stiffness."""
    from dynbench.benchmarks.papers.virtual_spring_denoc import recording

    found: dict[str, Callable[[], Simulation]] = {
        "planar-platform": recording.planar_platform,
        "rose-replay": partial(recording.rose_replay, quick),
    }
    return found if quick else {**found, "virtual-springs": recording.virtual_springs}


def provenance() -> tuple[Provenance, ...]:
    """Return where the data of the experiment come from."""
    from dynbench.benchmarks.papers.virtual_spring_denoc.corrections import PROVENANCE

    return PROVENANCE
