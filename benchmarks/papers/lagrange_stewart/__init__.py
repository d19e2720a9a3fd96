"""The Gough-Stewart paper's experiment: leg forces along a path with massless, lumped and full legs.

S. N. Mostashiri, A. Akbarzadeh Tootoonchi: effect of leg mass in the inverse dynamics of a 6-DoF Gough-Stewart
platform.

    experiment  the forces along the paper's path, and a platform left on springs
    measured    Table 1 and the statements beside our numbers, our own checks, the errata
    printed     the misprinted equations, as printed
    speed       how fast the leg forces are computed
    recording   the figures, and the platform in motion
"""

from __future__ import annotations

from collections.abc import Callable

from dynbench.benchmarks.papers.claims import Claim, Erratum, Provenance
from dynbench.benchmarks.simulation.recording import Simulation


def claims() -> list[Claim]:
    """Return Table 1 beside ours, and the paper's statements, each with a verdict."""
    from dynbench.benchmarks.papers.lagrange_stewart.measured import measured_claims

    return measured_claims()


def errata() -> list[Erratum]:
    """Return what is printed wrong, with what shows it."""
    from dynbench.benchmarks.papers.lagrange_stewart.measured import all_errata

    return all_errata()


def simulations() -> dict[str, Callable[[], Simulation]]:
    """Return the experiment as curves and a moving picture."""
    from dynbench.benchmarks.papers.lagrange_stewart import recording

    return {"stewart-platform": recording.stewart_platform}


def provenance() -> tuple[Provenance, ...]:
    """Return where the data of the experiment come from."""
    from dynbench.benchmarks.papers.lagrange_stewart.measured import PROVENANCE

    return PROVENANCE
