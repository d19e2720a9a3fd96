"""The 22 errata of the Boltzmann-Hamel paper. The source was read from a scan: a lost dot may be the scan's."""

from __future__ import annotations

from dynbench.benchmarks.papers.boltzmann_hamel.experiment import PAPER
from dynbench.benchmarks.papers.claims import Erratum, Provenance

PROVENANCE = (
    Provenance("m_0, m_i", "400 kg, 61.27 kg", "given", "Table 1"),
    Provenance("I_0", "900 kg m^2 about all axes", "given", "Table 1"),
    Provenance("I_xx, I_yy, I_zz of the links", "5.144, 5.144, 0.076 kg m^2", "given", "Table 1"),
    Provenance("|r|, |R|", "0.5 m", "given", "Table 1: magnitudes, no directions"),
    Provenance("joints", "four, with three freedoms each", "given", "section 4"),
    Provenance("F_2(1), F_2(2)", "(1, -1, 1), (2, -2, -2)", "given", "section 4, at the free ends; no unit"),
    Provenance("start", "at rest, all angles zero", "given", "section 4: zero initial conditions"),
    Provenance("unit of the forces", "N", "inferred", "all other data are SI"),
    Provenance("links along z", "R = r = (0, 0, 0.5) m", "inferred", "I_zz is that of a cylinder about its axis"),
    Provenance("frame of the forces", "that of link 2", "inferred", "columns with an index are in that body's axes; "
               "forces fixed in space are run too"),
    Provenance("directions of the arms", "opposed along z", "chosen", "both axial forces then pull; side by side along "
    "x is run too"),
    Provenance("duration", "10 s", "chosen", "not given"),
    Provenance("angles of Figs. 8-11", "3-2-1, relative to space", "chosen", "neither set nor reference is given"),
    Provenance("integrator", "DOP853, 1e-12", "chosen", "MATLAB is named, nothing else"),
)  # fmt: skip

_TESTS = "tests/benchmarks/papers/test_boltzmann_hamel.py::"
_BODY = _TESTS + "test_identities_of_a_single_body"
_TYPESETTING: tuple[tuple[str, str, str, str], ...] = (
    ("(12)", "two unequal right-hand sides chained", "only the last one", "the first is the moment itself, not zero"),
    ("text before (11)", 'subtract "(2) from (10)"', "compare (9) with (10)", "(10) is (2) plus zero"),
    ("(17)", "derivative by alpha", "by theta", "context"),
    ("(29), (33), (38)", "sums over beta = 1..n_beta, alpha = 1..n", "beta = 1..n, alpha = 1..n_beta",
     "(18), (28) and the symbol list; n_beta cannot bound its own index"),
    ("(39), (40)", "0 of size 3x1", "0 of size 3x3", "size"),
    ("text of (43)", "alpha up to n_beta", "up to n_j", "index"),
    ("(36), (37), (44), (45)", "[r], [R]", "[[r]], [[R]]", "a 3x3 matrix is needed; + is right, as [[R]]' = -[[R]]"),
    ("(28)", "only V_0(beta) = V0", "also Omega_0(beta) = omega0", "needed by (24), (35)"),
    ("text after (53)", '"(53) and (54)"', "(47), (50)-(53)", "there is no (54)"),
    ("text on forces", '"in (18)" F0, M0; "n(j)"', "(19), (20); n_j", "context"),
    ("start of the section on derivatives", '"equations (1)"', "(19)-(22)", "context"),
    ("derivation of (19)-(22)", "cites [16] (Gibbs-Appell)", "probably [15] (Boltzmann-Hamel)",
     "[15] is cited later for it"),
    ("text after (18)", "counters in the wrong order", "alpha links, beta arms, n_beta links of arm beta, n arms",
     "symbol list"),
)  # fmt: skip


def all_errata() -> list[Erratum]:
    """Return all 22: those that change numbers first, with the test that fails on the printed form."""
    wrong = [
        Erratum(PAPER, "(51)", "B(a-1) [C_{i-1}^a]^T", "B(a-1) [C_{a-1}^a]^T",
                "joint bias wrong by 80 % (median of random robots); no effect on planar motions",
                _TESTS + "test_printed_51_and_52_are_wrong"),
        Erratum(PAPER, "(52)", "[[V_{i-1} - [[r]] Omega_{i-1}]]", "[[C_{i-1}^i (V_{i-1} - [[r]] Omega_{i-1})]]",
                "joint bias wrong by a factor of 4 (median of random robots); energy off by tens to hundreds of joules",
                _TESTS + "test_printed_51_and_52_are_wrong"),
        Erratum(PAPER, "(33)", "+ Omega' I Omega", "+ (dOmega/domega0) I Omega", "a scalar added to a column",
                _TESTS + "test_printed_33_is_not_the_derivative_of_K"),
        Erratum(PAPER, "(18)", "Omega' I Omega without 1/2, last Omega without (beta)", "1/2 Omega' I Omega",
                "kinetic energy wrong by 1 to 25 % on random robots",
                _TESTS + "test_printed_18_is_not_the_kinetic_energy"),
        Erratum(PAPER, "(4), (8), (11)", "C C^T m V", "C (dC/dt)^T m V", "C C^T = 1; C (dC/dt)^T = [[omega]]", _BODY),
        Erratum(PAPER, "(11)", "[[omega]] - C C^T m V = 0", "([[omega]] - C (dC/dt)^T) m V = 0", "brackets", _BODY),
        Erratum(PAPER, "(12)", "[[omega]] + D^-T(...)", "[[omega]] - D^-T(...)", "printed: 2 [[omega]], not 0", _BODY),
        Erratum(PAPER, "(13)", "dC/dt = -[[omega]] C = 0", "dC/dt = -[[omega]] C", "not zero when it turns", _BODY),
        Erratum(PAPER, "symbol list", "Omega in inertial components", "in the link's own axes",
                "(24), (27) hold in link axes only", _TESTS + "test_omega_is_in_link_axes"),
    ]  # fmt: skip
    return wrong + [Erratum(PAPER, *row, test="") for row in _TYPESETTING]
