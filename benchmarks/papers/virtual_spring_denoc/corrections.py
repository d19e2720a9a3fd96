"""What is printed wrong in the virtual-spring paper, and where its experiment's data come from."""

from __future__ import annotations

from dynbench.benchmarks.papers.claims import Erratum, Provenance
from dynbench.benchmarks.papers.virtual_spring_denoc.experiment import PAPER, blow_up

PROVENANCE = (
    Provenance("l_1, l_2", "0.4 m, 0.6 m", "given", "Table 1"),
    Provenance("S_B, S_P", "1.2 m, 0.4 m", "given", "Table 1: sides of the base and of the platform"),
    Provenance("m_1, m_2, m_P", "3, 4, 8 kg", "given", "Table 1"),
    Provenance("I_1, I_2", "0.04, 0.12 kg m^2", "given", "Table 1; those of uniform rods"),
    Provenance("I_P", "0.0817 kg m^2", "given", "Table 1; a uniform triangle of side 0.4 m would have 0.1067"),
    Provenance("centres of mass", "midpoints, centroid", "given", "section 3: at the centre of each link's area"),
    Provenance("path", "r = r_0 cos 2 theta", "given", "eq. (29) of the text, a rose; theta uniform in time is chosen"),
    Provenance("lap, duration", "2 s, 6 s", "given", "section 4"),
    Provenance("integrator", "Runge-Kutta 4/5, adaptive, 1e-3", "given", "section 4; the step control is not given"),
    Provenance("K_s", "1e1 to 1e8 N/m", "given", "Table 2"),
    Provenance("torques", "by inverse dynamics", "given", "section 4"),
    Provenance("cuts", "the three corners of the platform", "given", "section 3, Fig. 3"),
    Provenance("logarithm", "natural", "inferred", "both thresholds of -5 are then where the paper has them"),
    Provenance("r_0", "0.05 m", "chosen", "Table 1 has a heading for the path and no number"),
    Provenance("absolute tolerance", "1e-6", "chosen", "the default of MATLAB's ode45"),
    Provenance("corners", "210, 330, 90 degrees", "chosen", "of both triangles; legs I, II, III"),
    Provenance("theta_P", "0 along the path", "chosen", "the text prescribes the centre of mass only"),
    Provenance("elbows", "theta_2 > 0", "chosen", "all three legs"),
    Provenance("gravity", "none in the plane", "chosen", "with gravity in the plane the replay leaves the path"),
)


def errata() -> list[Erratum]:
    """Return what is printed wrong, with the evidence; those without a test are typographic."""
    where = "tests/benchmarks/papers/test_virtual_spring_denoc.py"
    denoc = "tests/methods/test_denoc.py"
    times = ", ".join(f"{blow_up(k):.2f}" for k in (1e3, 1e4, 1e5))
    rows = [
        ("eq. (1)", "wrench [f; tau]", "[n; f]", "dual to the twist [omega; v]; the sentence below names n moment, "
         "f force", f"{denoc}::test_trees_agree_with_newton_euler"),
        ("eqs. (2), (14)", "M t' = -M t + ..., actuators labelled w^CS", "M t' = -M' t + w^A + ...",
         "units; eqs. (15) to (17) contain M'", f"{denoc}::test_trees_agree_with_newton_euler"),
        ("eqs. (6), (7)", "T v = N_d v_d + N_f v_f", "T v = N_l N_d v, N_l triangular, N_d block diagonal",
         "eqs. (14) to (17) use the product", f"{denoc}::test_trees_agree_with_newton_euler"),
        ("eqs. (13), (20)", "+A^T K_s c", "-A^T K_s c", "invariant under c -> -c, so a repulsive spring whatever c is: "
         f"open by a metre after {times} s for K_s = 1e3, 1e4, 1e5", f"{where}::test_the_printed_sign_blows_up"),
        ("sections 2, 5, Jacobian", "Jacobian and its rate not needed", "only the rate and forward kinematics are "
        "not needed",
         "eqs. (20), (29) contain A: without it the springs act on nothing",
         f"{where}::test_without_the_jacobian_springs_do_nothing"),
        ("sections 2, 5, constraints", "c must be the elongation, or results are wrong", "A = dc/dq of full rank is "
        "enough; elongation makes -K_s c the physical "
        "force", "c in link axes with its own gradient gives the same motion, "
         "sinh(5 c)/5 closes the loops as well", f"{where}::test_what_the_constraints_must_be"),
        ("eq. (17)", "M' in C", "Omega M", "C v is the same, dI/dt - 2 C is skew-symmetric in space only with Omega M",
         f"{denoc}::test_convective_matrix"),
        ("section 4, thresholds", "thresholds -5 as 1e-5 m", "natural logarithms, -5 is 6.7 mm",
         "sum |c| = sum |lambda| / K_s excludes decimal ones for any r0 above 1 mm; natural ones "
         "reproduce both thresholds (inference: figures unavailable)",
         f"{where}::test_the_thresholds_are_natural_logarithms"),
        ("section 4, optimum", "1e6 N/m is the optimum", "it is under some step controls of Runge-Kutta 4/5 and not "
        "under others",
         "errors fall up to 1e8 under MATLAB's, and rise from 1e6 on under "
         "scipy's", f"{where}::test_the_optimum_depends"),
        ("eq. (32)", "e_p = log | r - |r_p| |", "log |r - r_p|", "both are position vectors", ""),
        ("eqs. (27), (28)", "t_P = [x' y' theta'], N = 1", "permuted, as t = [omega; v] elsewhere",
         "dimensions of M_P", ""),
        ("after eq. (17)", "two equations numbered (17)", "renumber", "text references run one behind from there", ""),
        ("eqs. (20), (31)", "C for the constraint vector", "c", "C is the convective matrix", ""),
        ("Table 1", "headed as holding path data", "r0 is missing", "the table has none", ""),
        ("title page", "received January 2016, accepted June 2016", "31 December 2016 and 1 June 2017",
         "the Persian dates, 11 Dey 1395 and 11 Khordad 1396", ""),
    ]  # fmt: skip
    return [Erratum(PAPER, *row) for row in rows]
