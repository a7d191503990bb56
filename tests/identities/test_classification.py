"""The same constraints said in two ways are of the same kind; integrable forms are found out whatever they look like."""

from __future__ import annotations

import pytest
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dalembert as da
from dalembert import cos, exp, sin
from dalembert.decide.budget import Budget
from dalembert.decide.elimination import highest_rank
from dalembert.decide.sample import points_on
from dalembert.decide.zero import vanishes
from dalembert.model.serial import dumps, loads
from dalembert.symbolic import fast
from dalembert.theory.algebra import Allowance
from dalembert.theory.conserved.energy_and_momenta import energy_integral
from dalembert.theory.constraints.distributions import flag
from dalembert.theory.constraints.integrability import curl, frobenius_residuals, is_integrable, makes_exact
from dalembert.theory.constraints.integrating_factors import _natani, integrating_factor

x, y, z, u, w = FIVE = da.coordinates("x y z u w")
psi, theta, phi = da.coordinates("psi theta phi")
R, l, k = da.parameters("R l k", positive=True)
FEW = settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
POINTS = points_on([], [q.name for q in FIVE], [])


def rows_of(constraints, coordinates):
    return [[sympy.diff(c, q.dot) for q in coordinates] for c in constraints]


# Whole systems


def test_the_knife_edge_in_cartesian_coordinates_and_in_generalised_ones():
    x1, y1, x2, y2 = da.coordinates("x1 y1 x2 y2")
    rod = (x2 - x1) ** 2 + (y2 - y1) ** 2 - l**2
    cartesian = da.classify([rod, (x2 - x1) * y1.dot - (y2 - y1) * x1.dot], coordinates=[x1, y1, x2, y2])
    generalised = da.classify([-x.dot * sin(theta) + y.dot * cos(theta) - l * theta.dot / 2], coordinates=[x, y, theta])
    for name in ("is_holonomic", "degrees_of_freedom", "configuration_dimension", "growth_vector", "reachable"):
        assert getattr(cartesian, name) == getattr(generalised, name), name
    sliding = da.classify([rod], coordinates=[x1, y1, x2, y2])
    assert sliding.degrees_of_freedom != cartesian.degrees_of_freedom


def ball():
    """A ball on a plane, by Euler angles: no slipping, and the spin about the vertical."""
    along = theta.dot * sin(psi) - phi.dot * sin(theta) * cos(psi)
    across = theta.dot * cos(psi) + phi.dot * sin(theta) * sin(psi)
    return [x.dot - R * along, y.dot + R * across], psi.dot + phi.dot * cos(theta)


def test_the_rolling_ball_with_and_without_spin():
    rolling, spin = ball()
    five = [x, y, psi, theta, phi]
    with_spin = da.classify(rolling, coordinates=five)
    assert with_spin.growth_vector == (3, 5) and with_spin.reachable
    without = da.classify([*rolling, spin], coordinates=five)
    assert without.growth_vector == (2, 3, 5) and without.reachable and without.degrees_of_freedom == 2


@pytest.mark.parametrize(
    ("name", "growth", "dof"),
    [
        ("rolling-disk", (2, 3, 4), 2),
        ("knife-edge", (2, 3), 2),
        ("chaplygin-sleigh", (2, 3), 2),
        ("nonholonomic-particle", (2, 3), 2),
        ("pendulum-cartesian", (1,), 1),
        ("double-pendulum", (2,), 2),
    ],
)
def test_the_gallery(name, growth, dof):
    result = da.classify(da.gallery.load(name).system)
    assert result.growth_vector == growth and result.degrees_of_freedom == dof and result.is_ideal
    assert result.is_holonomic is (len(growth) == 1)
    assert result._repr_markdown_()


def test_a_partly_integrable_system():
    """x^2 + y^2 is kept, and a contact form lives on the rest; the function shows only in a combination."""
    contact = z.dot - u * w.dot
    hidden = x * x.dot + y * y.dot + cos(w) * contact
    result = da.classify([contact, hidden], coordinates=FIVE)
    assert result.is_holonomic is False and result.hidden_count == 1 and result.reachable is False
    assert result.growth_vector == (3, 4) and result.configuration_dimension == 4 and result.derived_flag == (2, 1)
    (found,) = result.hidden_functions
    slopes = [found.function.diff(q) for q in FIVE]
    assert vanishes(slopes[0] * y - slopes[1] * x) and all(vanishes(s) for s in slopes[2:])
    combined = sympy.Matrix([found.combination]) * sympy.Matrix(rows_of([contact, hidden], FIVE))
    assert all(vanishes(fast(c) - fast(s)) for c, s in zip(combined, slopes, strict=True))
    assert "partly integrable" in str(result)
    nothing = da.classify([contact, hidden + x * z * u.dot], coordinates=FIVE)
    assert nothing.hidden_count == 0 and not nothing.hidden_functions


def test_forms_integrable_only_together():
    """A library must not conclude from each form alone: dx + y dz and dy + x dz keep two functions."""
    both = da.classify([x.dot + y * z.dot, y.dot + x * z.dot], coordinates=[x, y, z])
    assert [c.kind for c in both.constraints] == ["integrable with the others"] * 2
    assert both.is_holonomic and both.hidden_count == len(both.hidden_functions) == 2
    rows = rows_of([x.dot + y * z.dot, y.dot + x * z.dot], [x, y, z])
    for h in both.hidden_functions:
        assert highest_rank([*rows, [h.function.diff(q) for q in (x, y, z)]], POINTS) == 2
    alone = da.classify([x.dot + y * z.dot], coordinates=[x, y, z])
    assert alone.is_holonomic is False


def test_a_second_function_is_found_on_the_level_of_the_first():
    """dx - dy = 0 makes dz - x y dx integrable: z - x^3/3 + x^2 (x - y)/2 or the like is kept too."""
    given = [x.dot - y.dot, z.dot - x * y * x.dot]
    result = da.classify(given, coordinates=[x, y, z])
    assert result.is_holonomic and len(result.hidden_functions) == 2
    rows = rows_of(given, [x, y, z])
    for h in result.hidden_functions:
        slopes = [h.function.diff(q) for q in (x, y, z)]
        assert highest_rank([*rows, slopes], POINTS) == 2
        combined = sympy.Matrix([h.combination]) * sympy.Matrix(rows)
        assert all(vanishes(fast(c) - fast(s)) for c, s in zip(combined, slopes, strict=True))


@pytest.mark.parametrize(
    ("given", "hidden", "g"),
    [
        ([x**2 + y**2 - R**2, z.dot - x * y.dot + y * x.dot], 1, z - R**2 * sympy.atan(y / x)),
        ([x.dot - k * y, y.dot + k * x], 2, sympy.atan(y / x) + k * da.time),
    ],
    ids=["on a circle", "a rotation"],
)
def test_functions_that_need_a_variable_to_be_eliminated(given, hidden, g):
    """On the circle x dy - y dx is R^2 times the differential of the angle; a rotation keeps radius and phase."""
    result = da.classify(given, coordinates=[x, y, z])
    assert result.is_holonomic and result.hidden_count == len(result.hidden_functions) == hidden
    variables, points = result.variables, result._points
    known = [h.function for h in result.hidden_functions] + [c.function for c in result.constraints if c.function]
    slopes = [[f.diff(q) for q in variables] for f in known]
    assert highest_rank(slopes, points) == 2
    assert highest_rank([*slopes, [g.diff(q) for q in variables]], points) == 2
    assert highest_rank([*slopes, [(g + x).diff(q) for q in variables]], points) == 3


def test_rheonomic_forms_count_time_as_a_variable():
    """z.dot = t x.dot: dz - t dx is integrable at each instant, but not over space and time."""
    turning = da.classify([z.dot - da.time * x.dot], coordinates=[x, z])
    assert turning.is_holonomic is False and turning.constraints[0].is_rheonomic
    assert turning.growth_vector == (2, 3) and da.time in turning.variables
    decaying = da.classify([z.dot + k * z - exp(-k * da.time) * x.dot], coordinates=[x, z])
    assert decaying.is_holonomic
    assert decaying.constraints[0].kind == "integrable"
    g = decaying.hidden_functions[0].function
    assert vanishes(g.diff(da.time) * 1 - g.diff(z) * k * z)


def test_a_constraint_stated_by_its_derivative_is_redundant():
    result = da.classify([x**2 + y**2 - R**2, x * x.dot + y * y.dot], coordinates=[x, y, z])
    assert [(r.constraint, r.follows_from) for r in result.redundant] == [(1, (0,))]
    assert result.hidden_count == 0 and result.degrees_of_freedom == 2


def test_nonlinear_constraints_count_in_the_rank_and_are_not_decided():
    result = da.classify([x.dot**2 + y.dot**2 - k**2, z.dot - y * x.dot], coordinates=[x, y, z])
    assert result.is_holonomic is None and result.reachable is None
    assert (result.rank, result.degrees_of_freedom) == (2, 1)
    assert "not decided" in str(result)


def test_ideal_constraints_and_others():
    def particle(**more):
        kinetic = (x.dot**2 + y.dot**2 + z.dot**2) / 2
        return da.System("particle", [x, y, z], kinetic=kinetic, constraints=[z.dot - y * x.dot], **more)

    assert da.classify(particle()).is_ideal
    assert da.classify(particle(variations=[2 * z.dot - 2 * y * x.dot])).is_ideal
    other = da.classify(particle(variations=[z.dot]))
    assert not other.is_ideal and "not ideal" in str(other)
    assert vanishes(other.virtual_displacements[2, 0]) and vanishes(other.virtual_displacements[2, 1])


def test_a_chain_of_pendulums_is_classified_without_writing_brackets():
    q, constraints, before = [], [], (sympy.S.Zero, sympy.S.Zero)
    for i in range(8):
        here = da.coordinates(f"x{i} y{i}")
        constraints.append((here[0] - before[0]) ** 2 + (here[1] - before[1]) ** 2 - l**2)
        q, before = [*q, *here], here
    chain = da.classify(constraints, coordinates=q)
    assert chain.is_holonomic and chain.degrees_of_freedom == 8


def test_a_spent_budget_is_said_and_decides_nothing():
    given = [z.dot - y * x.dot, u.dot - z * x.dot]
    spent = da.classify(given, coordinates=[x, y, z, u], budget=Budget(0))
    assert spent.is_holonomic is None and spent.hidden_count is None and not spent.is_complete
    assert [c.kind for c in spent.constraints] == ["undecided"] * 2
    assert "the budget was spent" in str(spent)
    assert da.classify(given, coordinates=[x, y, z, u]).growth_vector == (2, 3, 4)


# Random forms

atoms = st.sampled_from([x, y, z, u, w, sin(x), exp(z), y**2, x * w, u * z, cos(w)])
functions = st.lists(atoms, min_size=2, max_size=3, unique=True).map(lambda a: sympy.Add(*a) + x * y + z * u * w)
factors = st.sampled_from([sympy.S.One, x, exp(y), x * z, 1 + u**2, exp(x) * w, 2 + sin(z)])


def is_involutive(row):
    """Frobenius by brackets, of the fields f_w d_i - f_i d_w: independent of the triple identity."""
    fields = [[fast(row[-1] if j == i else -row[i] if j == 4 else 0) for j in range(5)] for i in range(4)]
    return len(flag(fields, FIVE, POINTS, Allowance()).growth) == 1


@FEW
@given(functions, factors)
def test_a_form_made_by_a_factor_and_a_function_is_integrable(g, J):
    row = [J * g.diff(q) for q in FIVE]
    assert is_integrable(row, FIVE)
    assert is_involutive(row)


@FEW
@given(functions, factors, st.sampled_from([(0, 2), (1, 3), (2, 0), (3, 4)]))
def test_control_a_perturbed_form_is_not_integrable(g, J, places):
    i, j = places
    row = [J * g.diff(q) for q in FIVE]
    row[j] += sin(FIVE[i] + 2 * FIVE[j])
    assert not is_integrable(row, FIVE)
    assert not is_involutive(row)


@settings(FEW, max_examples=6)
@given(functions, factors)
def test_the_factor_of_such_a_form_is_found(g, J):
    row = [sympy.expand(J * g.diff(q)) for q in FIVE]
    made = integrating_factor(row, FIVE, Allowance())
    assert made is not None
    assert makes_exact(made.factor, made.function, row, FIVE)
    assert not makes_exact(made.factor, made.function + x, row, FIVE)


def test_two_variables_at_a_time_lead_to_the_same_function():
    row = [y * z, x * z, -x * y]
    made = _natani(row, [x, y, z], Allowance())
    assert made is not None and makes_exact(made.factor, made.function, row, [x, y, z])
    assert vanishes(made.function.diff(x) * x - made.function.diff(y) * y)
    assert _natani([-y, sympy.S.Zero, sympy.S.One], [x, y, z], Allowance()) is None


def test_frobenius_for_one_form_is_the_triple_identity():
    row = [y, z * x, sin(u), w, sympy.S.One]
    d = curl(row, FIVE)
    for (_, (i, j, m)), e in frobenius_residuals([row], FIVE).items():
        triple = fast(row[m]) * d[i, j] + fast(row[i]) * d[j, m] - fast(row[j]) * d[i, m]
        assert vanishes(fast(e) - triple)
    assert any(not vanishes(e) for e in frobenius_residuals([row], FIVE).values())


def test_coefficients_in_floating_point_are_those_that_were_meant():
    """0.3/0.1 and 0.21/0.07 differ in the last digit, but the second constraint says what the first says."""
    again = da.classify([0.1 * x.dot + 0.3 * y.dot, 0.07 * x.dot + 0.21 * y.dot], coordinates=[x, y, z])
    assert again.rank == 1 and again.redundant[0].follows_from == (0,)
    other = da.classify([0.1 * x.dot + 0.3 * y.dot, 0.07 * x.dot + 0.2100001 * y.dot], coordinates=[x, y, z])
    assert other.rank == 2


@pytest.mark.parametrize("bent", [0, 1e-6])
def test_an_integrable_form_in_floating_point(bent):
    """A factor times a differential, multiplied out: every coefficient is rounded by itself."""
    factor, g = 0.7 + 0.3 * x * y + 0.11 * z, 0.13 * x**2 * y + 0.37 * y * z + 0.7 * sin(0.9 * x * z)
    row = [sympy.expand(factor * g.diff(q)) for q in (x, y, z)]
    assert is_integrable([*row[:2], row[2] + bent * x], (x, y, z)) == (bent == 0)


# Ideal constraints, as a system says it


def curve(*variations, constraints=None, kinetic=x.dot**2 + y.dot**2):
    return da.System(
        "curve", [x, y], kinetic=kinetic, constraints=constraints or [y - sin(x) ** 2], variations=variations
    )


@pytest.mark.parametrize(
    ("form", "ideal"),
    [
        (y.dot - sin(2 * x) * x.dot, True),
        (y.dot - 2 * sin(x) * cos(x) * x.dot, True),
        (2 * y.dot - 2 * sin(2 * x) * x.dot, True),
        (k * sin(2 * x) * x.dot - k * y.dot, True),
        (y.dot / cos(x) - 2 * sin(x) * x.dot, True),
        (y.dot - sin(x) * x.dot, False),
        (y.dot + sin(2 * x) * x.dot, False),
        (y.dot, False),
        (x.dot, False),
    ],
)
def test_variations_written_otherwise_are_the_same_variations(form, ideal):
    given = curve(form)
    assert given.is_ideal is ideal and da.classify(given).is_ideal is ideal
    said = "the variations are not those of the constraints, so reactions do work"
    assert (said in energy_integral(given).reason) is not ideal


def test_of_a_moving_constraint_only_the_row_itself_is_taken():
    """The power of its reaction is -lambda b with the multiplier of the constraint as written."""
    moving = [y - x * da.time]
    assert curve(y.dot - da.time * x.dot, constraints=moving).is_ideal
    twice = curve(2 * y.dot - 2 * da.time * x.dot, constraints=moving)
    assert not twice.is_ideal
    once = da.reactions(curve(y.dot - da.time * x.dot, constraints=moving))
    assert vanishes(da.reactions(twice).power.xreplace({y.dot: x + da.time * x.dot}) - once.power)


@pytest.mark.parametrize("factor", [2, 1 / cos(x), k])
def test_a_multiple_of_the_variation_is_carried_along(factor):
    """The multiplier goes with the form as stated; reactions and motion do not depend on it."""
    form = y.dot - sin(2 * x) * x.dot
    plain, scaled = curve(form), curve(sympy.expand(factor * form))
    one, other = da.reactions(plain), da.reactions(scaled)
    (lam,), (mu,) = one.multipliers.values(), other.multipliers.values()
    assert vanishes(lam - factor * mu)
    assert all(vanishes(one.forces[q] - other.forces[q]) for q in (x, y))
    again = loads(dumps(scaled))
    assert again.variations == scaled.variations and again.is_ideal
    moved = da.change_coordinates(scaled, {y: u + x / 2}).system
    (nu,) = da.reactions(moved).multipliers.values()
    assert vanishes(nu - mu.xreplace({y: u + x / 2, y.dot: u.dot + x.dot / 2}))


def test_the_driving_force_does_not_depend_on_how_the_variation_is_scaled():
    q, inertia = [x, y, theta], (x.dot**2 + y.dot**2 + theta.dot**2) / 2 + x.dot * theta.dot * cos(theta) / 3
    form = [y.dot * cos(theta) - x.dot * sin(theta)]
    plain, twice = (da.System("knife", q, kinetic=inertia, constraints=form, variations=[n * form[0]]) for n in (1, 2))
    torques = [da.impose(given, {theta: k * da.time}).driving[theta] for given in (plain, twice)]
    assert twice.is_ideal and vanishes(torques[0] - torques[1])
