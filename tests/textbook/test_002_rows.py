"""C. I. Tori, Reduccion lagrangiana de sistemas mecanicos discretos con vinculos no holonomos: where each statement is tested.

The statements are the theorems, lemmas and observations of chapters 4 to 7 that numbers can check, the examples, and the
corrections of what is misprinted.
"""

from __future__ import annotations

from pathlib import Path

import pytest

ROWS = {
    "T1, the local flow and regularity": (
        "identities/test_flow",
        "test_legendre_transforms_and_step_matrix_are_derivatives_of_l_d",
    ),
    "T2, T3, symplectic on pairs and on phase space": (
        "textbook/test_002_theory",
        "test_t2_t3_symplectic_on_pairs_and_on_phase_space",
    ),
    "T4, Thm. 4.2.1": (
        "textbook/test_002_discrete_nonholonomic",
        "test_t4_midpoint_lagrangian_is_the_implicit_midpoint_rule",
    ),
    "T5, discrete Noether": ("textbook/test_002_theory", "test_t5_e1_rotation_and_translation"),
    "T6, Lemma 5.2.5": ("textbook/test_002_discrete_geometry", "test_t6_invariance_at_any_pair"),
    "T7, Ge and Marsden": ("textbook/test_002_discrete_geometry", "test_t7_symplectic_and_momentum_but_not_energy"),
    "T8, the exact discrete Lagrangian": (
        "identities/test_exact_lagrangian",
        "test_t8_on_a_nonlinear_time_dependent_system",
    ),
    "T9, orders": ("conformance/test_order", "test_order"),
    "T10, the modified equation is Hamiltonian": (
        "identities/test_backward_error",
        "test_a_method_that_is_not_symplectic_fails_the_symmetry_of_j_f",
    ),
    "T11, energy for long times": ("identities/test_backward_error", "test_each_term_gains_powers_of_h"),
    "T12, existence under constraints": ("textbook/test_002_theory", "test_t12_the_pairing_is_that_of_the_theorem"),
    "T13, T14, equivariance, level": ("textbook/test_002_discrete_reduction", "test_t13_t14_equivariance"),
    "T15, Lemma 5.2.3": ("textbook/test_002_discrete_reduction", "test_t15_four_inputs_of_one_connection"),
    "T16, Prop. 5.2.3": ("textbook/test_002_discrete_reduction", "test_t16_pairs_and_their_classes"),
    "T17, T18, splitting, Thm. 5.2.1": (
        "textbook/test_002_discrete_reduction",
        "test_t17_t18_vertical_equations_and_momentum_evolution",
    ),
    "T19, Lemma 6.4.4": ("textbook/test_002_discrete_reduction", "test_t19_momentum_is_d2_of_the_reduced_lagrangian"),
    "T20, Lemma 6.1.1": ("textbook/test_002_discrete_reduction", "test_t20_invariance_of_the_reduced_lagrangian"),
    "T21, Thm. 6.4.1": (
        "textbook/test_002_discrete_reduction",
        "test_t21_reduced_equations_are_the_unreduced_ones_at_any_three_points",
    ),
    "T22, Obs. 6.4.1": ("textbook/test_002_discrete_reduction", "test_t22_no_mixed_curvature_no_forces"),
    "T23, Thm. 6.5.1": (
        "textbook/test_002_discrete_reduction",
        "test_t21_t23_t24_motions_do_not_depend_on_the_connection",
    ),
    "T24, independence of A_d": (
        "textbook/test_002_discrete_reduction",
        "test_t24_e3_the_recurrence_does_not_depend_on_b",
    ),
    "T25, Prop. 7.2.1": (
        "textbook/test_002_discrete_reduction",
        "test_t25_e6_suslov_and_moser_veselov_type_recursions",
    ),
    "T26, Thms. 7.3.1, 7.3.2": ("textbook/test_002_discrete_reduction", "test_t26_e2_has_this_lagrangian_and_force"),
    "T27, Lemma 7.4.1": ("textbook/test_002_discrete_reduction", "test_t27_t30_t31_t32_e7_and_its_second_stage"),
    "T28, Lemmas 7.4.2 to 7.4.4": (
        "textbook/test_002_discrete_reduction",
        "test_t28_momentum_and_generators_are_equivariant",
    ),
    "T29, G-regularity": ("textbook/test_002_discrete_reduction", "test_t29_g_regularity_and_t30_rank_of_the_level"),
    "T30, Props. 7.4.1 to 7.4.3": (
        "textbook/test_002_discrete_geometry",
        "test_t30_t31_a_level_of_the_momentum_of_se2",
    ),
    "T31, Thms. 7.4.1, 7.4.2, Obs. 7.4.1": (
        "textbook/test_002_discrete_geometry",
        "test_t31_obs_7_4_1_the_subgroup_that_fixes_the_momentum",
    ),
    "T32, two stages": (
        "identities/test_reduced_gallery",
        "test_momentum_of_a_horizontal_symmetry_is_kept_to_rounding_and_a_second_stage",
    ),
}

DISCRETE = "textbook/test_002_discrete_reduction"
ERRATA_LATER = "textbook/test_002_discrete_errata"
EXAMPLES = {
    "E1, energies": ("textbook/test_002_discrete_nonholonomic", "test_e1_three_energies_and_two_momenta"),
    "E1, recurrence": ("textbook/test_002_discrete_nonholonomic", "test_e1_printed_recurrence"),
    "E2, reference run": ("textbook/test_002_discrete_nonholonomic", "test_e2_reference_run"),
    "E2, Chaplygin with a force": (DISCRETE, "test_t26_e2_has_this_lagrangian_and_force"),
    "E3, formulas": (DISCRETE, "test_e3_formulas_of_the_family"),
    "E3, the family b": (DISCRETE, "test_t24_e3_the_recurrence_does_not_depend_on_b"),
    "E4, connection and momentum": (DISCRETE, "test_e4_discrete_connection_and_nonholonomic_momentum"),
    "E5, reduced, closed form": (DISCRETE, "test_e5_translations_of_the_disk"),
    "E5, the limit": (DISCRETE, "test_e5_straight_line"),
    "E6, on SO(3)": (DISCRETE, "test_t25_e6_suslov_and_moser_veselov_type_recursions"),
    "E7 and its second stage": (DISCRETE, "test_t27_t30_t31_t32_e7_and_its_second_stage"),
}

CONTINUOUS, THEORY = "textbook/test_002_reduction", "textbook/test_002_theory"
ERRATA = {
    (1,): (CONTINUOUS, "test_erratum_1_the_vertical_part_is_a_velocity"),
    (2, 4): (CONTINUOUS, "test_covariant_form_with_curvature"),
    (5,): (CONTINUOUS, "test_erratum_5_variations_are_those_of_eta_in_s"),
    (7,): (THEORY, "test_erratum_7_the_sign_of_the_form_of_l_d"),
    (8,): (THEORY, "test_erratum_8_a_regular_pairing_vanishes_for_some_pairs_of_velocities"),
    (9,): (THEORY, "test_erratum_9_e3_at_the_counterexample"),
    (10,): (ERRATA_LATER, "test_erratum_10_conjugacy_classes_differ_in_dimension"),
    (11,): (ERRATA_LATER, "test_erratum_11_the_level_from_the_left"),
    (12,): (ERRATA_LATER, "test_erratum_12_a_lift_begins_where_it_says_and_its_element_is_the_inverse"),
    (13,): (ERRATA_LATER, "test_erratum_13_riemannian_connections_are_transversal_near_the_level_only"),
    (14,): (ERRATA_LATER, "test_erratum_14_the_two_momenta_agree_for_constant_sections_only"),
    (15, 16): (ERRATA_LATER, "test_errata_15_and_16_the_direction_and_its_lift"),
    (17,): (ERRATA_LATER, "test_erratum_17_the_covector_is_translated_by_the_inverse"),
    (18,): (ERRATA_LATER, "test_erratum_18_intrinsic_equations_are_equivariant_with_the_adjoint_action"),
    (19,): (ERRATA_LATER, "test_erratum_19_classes_and_arguments"),
    (20, 21): (ERRATA_LATER, "test_errata_20_and_21_three_reduced_lagrangians_and_the_image_of_the_constraint"),
    (22,): (ERRATA_LATER, "test_erratum_22_w_is_horizontal_and_sections_with_coefficients"),
    (23,): (ERRATA_LATER, "test_erratum_23_the_rolling_angle_is_fixed_on_horizontal_steps"),
    (24,): (ERRATA_LATER, "test_erratum_24_the_moment_of_inertia_in_the_third_vertical_equation"),
    (25, 26): (ERRATA_LATER, "test_errata_25_and_26_indices_of_closed_forms"),
    (27,): (ERRATA_LATER, "test_erratum_27_the_constraint_of_e3_and_e7_is_integrable"),
    (28,): (ERRATA_LATER, "test_erratum_28_covectors_of_matrix_groups"),
}
"""Corrections and the tests in which the printed statement fails. Number 3 is an argument that is left out, 6 a reference."""


ALL = {**ROWS, **EXAMPLES, **ERRATA}


@pytest.mark.parametrize("row", ALL, ids=str)
def test_every_statement_has_a_test(row):
    module, name = ALL[row]
    text = (Path(__file__).parents[1] / f"{module}.py").read_text()
    assert f"def {name}(" in text


def test_no_statement_is_left_out():
    parts = [part.strip() for row in ROWS for part in row.split(",")]
    numbers = {part for part in parts if part[0] == "T" and part[1:].isdigit()}
    assert numbers == {f"T{k}" for k in range(1, 33)}
    assert {row[:2] for row in EXAMPLES} == {f"E{k}" for k in range(1, 8)}
    assert {k for row in ERRATA for k in row} == set(range(1, 29)) - {3, 6}
