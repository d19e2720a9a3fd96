"""What is wrong in the available text of the revolute-prismatic paper, as data.

The text is a scan that lost marks; where it cannot be told whether the scan or the authors are at fault, both read
"printed". Each entry that can be run names the test that shows by how much the printed form is wrong.
"""

from __future__ import annotations

from dynbench.benchmarks.papers.claims import Erratum, Provenance

PAPER = "gibbs-appell-rp"
PROVENANCE = (
    Provenance("L_i, mu_i, J_i", "1 m, 2 kg/m, 0.0008 kg m times unity", "given", "Table 1"),
    Provenance("g", "10 m/s^2", "given", "Table 1"),
    Provenance("tau_i, F_i", "1 N m, 1 N", "given", "Table 1; constant"),
    Provenance("l(0)", "0.4, 0.25, 0.25 m", "given", "section 7"),
    Provenance("duration", "1.5 s", "given", "section 7"),
    Provenance("integrator", "Runge-Kutta", "given", "section 7; order, step and tolerance are not given"),
    Provenance("q(0)", "0, 0, pi/2", "inferred", "q_3 is set to zero and then to pi/2"),
    Provenance("rates at the start", "0", "inferred", "the list of zeros has accelerations where l' must stand"),
    Provenance("plane of motion", "vertical, gravity along -y_0", "inferred", "section 4: the base accelerates along "
    "y_0"),
    Provenance("steps 1 to 4 of the algorithm", "derived anew", "inferred", "a page is lost; steps 5, 6 and section 5 "
    "fix them"),
    Provenance("law of the stops", "inelastic, with the inertia's impulse", "chosen", "the paper says only that "
    "lengths are restrained"),
)  # fmt: skip
TESTS = "tests/benchmarks/papers/test_gibbs_appell_rp_printed.py::"

# where, printed, correct, evidence, test
_ENTRIES = (
    (
        "text at (2)",
        "A_i gives frame i-1 as seen from frame i",
        "A_i gives frame i as seen from frame i-1, A_i = C_i Rz(q_i)",
        "forces off by more than 100 %; agreement to 1e-15 with (2)",
        "test_printed_forces_are_off[transposed]",
    ),
    (
        "(29)",
        "no gravity in the acceleration of O_i",
        "the sum holds the rotated g y_0",
        "right-hand side off by more than 100 %",
        "test_printed_right_hand_sides_are_off[gravity]",
    ),
    ("(30)", "q' in the angular acceleration", "q''", "the dimension is wrong otherwise", ""),
    (
        "(7) to (17), limits",
        "integrals start at L - l",
        "they start at -(L - l)",
        "B0 = mu (2 l - L), a negative mass for l < L/2; forces off by more than 150 %",
        "test_printed_forces_are_off[limit]",
    ),
    (
        "(11), (12), (14) to (16)",
        "x in place of its cross-product matrix",
        "x~; B7 = int mu eta^2 x~ x~^T",
        "no inertia about z from the spread of mass: the inertia matrix is off by tens of per cent",
        "test_printed_inertia_matrices_are_off[tildes]",
    ),
    (
        "(10), (14)",
        "velocities in B1 and B5",
        "accelerations, else (10) is (11) and (14) is (15)",
        "forces off by up to 100 %",
        "test_printed_forces_are_off[dots]",
    ),
    (
        "(7), (18), (47)",
        "rotary inertia only through 1/2 w'^T J w'",
        "S also holds w'^T (w x J w), T the term w~ B8 w",
        "an error of the model: nothing for isotropic J or planar motion, else 1e-5 to 1e-2 in forces and tens of "
        "per cent in accelerations",
        "test_the_gyroscopic_term_is_missing",
    ),
    (
        "text at (9)",
        "mu and J are functions of eta",
        "functions of the material coordinate l - eta: the rod slides",
        "mass would not be constant; no difference for uniform rods, the only ones in the paper",
        "",
    ),
    (
        "(18), (19)",
        "w and w' exchanged, transposes on r''",
        "B2, B6, w~ B3, w~ B7 take w; B3 alone and B7 + B8 take w'",
        "forces off by more than 100 %",
        "test_printed_forces_are_off[swapped]",
    ),
    (
        "(38)",
        "right factor jRk",
        "iRk",
        "inertia matrix off by tens of per cent and not symmetric, unless planar",
        "test_printed_inertia_matrices_are_off[factor-38]",
    ),
    (
        "(41)",
        "left factor jRk",
        "jRi",
        "inertia matrix off by up to 100 %, planar too",
        "test_printed_inertia_matrices_are_off[factor-41]",
    ),
    (
        "(45)",
        "second sum to n - 1",
        "to n",
        "T_n is dropped: right-hand side off by up to 96 %",
        "test_printed_right_hand_sides_are_off[sum-45]",
    ),
    (
        "step 5, first line of U",
        "xi_(n-1)",
        "xi_(n-1)+",
        "inertia matrix off by 10 % (planar) to 27 %, and still symmetric",
        "test_u_started_with_the_wrong_xi_stays_symmetric",
    ),
    (
        "step 5, gamma",
        "the loop ends at row n - 1",
        "row n is zero; the loop of U reads it",
        "row n of U is undefined; harmless, as nothing reads that",
        "test_the_missing_row_of_gamma_is_harmless",
    ),
    (
        "initial conditions",
        "q_3 zero and then pi/2; accelerations in place of extension rates",
        "q = (0, 0, pi/2), all rates zero: an assumption",
        "first contact at 0.244380 s; with all q zero at 0.520935 s, with q_1 = pi/2 at 0.282782 s",
        "tests/benchmarks/papers/test_gibbs_appell_rp.py::test_other_readings_of_the_initial_state",
    ),
    ("(38), (39), (53)", "numbered 48, 49 and 23", "38, 39 and 53", "their places in the sequence", ""),
)


def errata() -> list[Erratum]:
    """Return what was found."""
    return [
        Erratum(PAPER, where, printed, correct, evidence, test if "::" in test or not test else TESTS + test)
        for where, printed, correct, evidence, test in _ENTRIES
    ]
