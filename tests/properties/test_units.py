"""Verdicts do not depend on units: the same system in other units has the same integrals, kinds and ranks."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
import sympy
from sympy import Piecewise, cos, exp, sin, sqrt

import dalembert as da
from dalembert.decide import balls
from dalembert.decide.elimination import kernel, rank, solution
from dalembert.decide.rationals import fraction_in
from dalembert.decide.scale import natural_scales
from dalembert.decide.zero import vanishes
from dalembert.model.scales import system_scales
from dalembert.theory.conserved.integral_search import follows
from dalembert.theory.conserved.on_shell import Shell, shell

from .units import generated, mechanical_gallery, numeric, random_units, runs

x, y, z, theta = da.coordinates("x y z theta")
r = sqrt(x**2 + y**2)


def central(potential, mass=1):
    return da.System("central", [x, y], kinetic=mass * (x.dot**2 + y.dot**2) / 2, potential=potential)


def verdict(system, integrals=None):
    """What is said of a system, without numbers."""
    found = da.first_integrals(system) if integrals is None else integrals
    said = {
        "conserved": sorted(i.name for i in found),
        "not conserved": sorted(i.name for i in found.not_conserved),
        "independent": found.independent,
    }
    if system.constraints:
        c = da.classify(system)
        said["kinds"] = [record.kind for record in c.constraints]
        said["counts"] = (c.rank, c.growth_vector, c.hidden_count, c.degrees_of_freedom)
    return said


def same_in_other_units(system, seed):
    units = random_units(system, random.Random(seed))
    assert verdict(units.apply(system)) == verdict(system), units


@pytest.mark.parametrize("seed", range(8))
def test_generated_systems_in_other_units(seed):
    same_in_other_units(generated(seed), seed)


@pytest.mark.parametrize("seed", [3123, 3234, 10396, 10484])
def test_coefficients_of_integrals_are_found_in_all_units(seed):
    """Fractions of numbers of the system times powers of ten: floating point told them in some units only."""
    same_in_other_units(generated(seed), seed)


LATER = [pytest.param(seed, marks=pytest.mark.verify) for seed in range(20, 40)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(8, 20), *LATER])
def test_more_generated_systems_in_other_units(seed):
    same_in_other_units(generated(seed), seed)


@pytest.mark.slow
@pytest.mark.parametrize("name, example", list(mechanical_gallery()), ids=lambda v: v if isinstance(v, str) else "")
def test_gallery_systems_in_other_units(name, example):
    same_in_other_units(numeric(example), name)


@pytest.mark.parametrize("seed", range(12))
def test_runs_in_other_units(seed):
    """Statuses are the same, and positions are the scaled positions."""
    system = generated(seed)
    units = random_units(system, random.Random(seed))
    found = runs(system, units, seed, (da.Midpoint(), da.RungeKutta4(), da.Reference()))
    assert found["runs"] and not found["another status"] and not found["other positions"], found


def test_an_absolute_threshold_fails(monkeypatch):
    """The control: a rate below 1e-9 taken for zero at states of size one, as momenta of an attraction by 6.7e-11."""

    def absolute(self, expression, count=16, seed=101):
        states = self.states(count, seed)
        return bool((np.abs(self.rates([expression], states)[0]) < 1e-9).all())

    assert not Shell(central(-6.7e-11 / r)).conserved(x.dot)
    monkeypatch.setattr(Shell, "conserved", absolute)
    monkeypatch.setattr(
        "dalembert.theory.conserved.state_source.system_scales", lambda s: dict.fromkeys(system_scales(s), 1.0)
    )
    assert Shell(central(-6.7e-11 / r)).conserved(x.dot)


@pytest.mark.parametrize("k, m", [(1, 1), (6.7e-11, 1), (1e9, 1), (2.307e-28, 9.109e-31), (1, 1e30)])
def test_kepler_in_any_units(k, m):
    found = da.first_integrals(central(-k / r, m))
    assert found.independent == 3
    assert [i.name for i in found][:2] == ["energy", "angular momentum in x, y"]
    assert len(found) == 4  # and both components of the Laplace-Runge-Lenz vector
    assert [i.name for i in found.not_conserved] == ["momentum of x", "momentum of y"]
    assert not da.noether(central(-k / r, m), {x: 1}).conserved
    assert da.noether(central(-k / r, m), {x: -y, y: x}).conserved


@pytest.mark.parametrize("potential", [exp(-r) / r, cos(r), 1e6 * r**2 / 2, sin(r) * r, exp(-1e15 * r) / r])
def test_angular_momentum_of_central_potentials(potential):
    found = da.first_integrals(central(potential), degree=1)
    assert "angular momentum in x, y" in [i.name for i in found]
    assert "momentum of x" in [i.name for i in found.not_conserved]


@pytest.mark.parametrize("wall", [20, 1e-9, 3e9, -5])
def test_walls_are_seen_wherever_they_are(wall):
    """No state of size one is beyond a wall at 20; both sides of every boundary are sampled."""
    potential = Piecewise((0, x < wall), (50 * (x - wall) ** 2, True))
    found = da.first_integrals(central(potential))
    assert "momentum of x" in [i.name for i in found.not_conserved]
    assert "momentum of y" in [i.name for i in found]


@pytest.mark.parametrize("wall", [2.5, 250, 1e-9])
def test_walls_are_seen_under_constraints(wall):
    """A state that is moved beyond a wall may be led back by the constraint; states farther away are looked at then."""
    potential = Piecewise((0, x < wall), (9.81 * (x - wall) ** 2, True))
    system = da.System("wall", [x, y], kinetic=x.dot**2 + y.dot**2, potential=potential, constraints=[x - 1.25 * y])
    found = da.first_integrals(system)
    assert [i.name for i in found] == ["energy"]
    assert [i.name for i in found.not_conserved] == ["momentum of x", "momentum of y"]


@pytest.mark.parametrize("unit", [1, 10**12, Fraction(1, 10**9)])
def test_a_uniform_motion_beside_a_steep_potential(unit):
    """t p - m z of a free coordinate is exact; the search in floating point found it in some units only."""
    l = sympy.Rational(str(unit)) if isinstance(unit, Fraction) else unit
    steep = 0.75 * (1 - exp(-(x / l - 3) / 0.75)) ** 2 + 1.7 * sqrt(x**2 / l**2 + 9)
    kinetic = 0.15 * (x.dot**2 + y.dot**2 + z.dot**2) / l**2
    system = da.System("steep", [x, y, z], kinetic=kinetic, potential=steep, constraints=[x - 1.25 * y])
    found = da.first_integrals(system, degree=1)
    assert found.independent == 3 and follows(z - z.dot * da.time, [i.expression for i in found], shell(system))
    bent = da.System("bent", [x, y, z], kinetic=kinetic, potential=steep + z**4 / l**4, constraints=[x - 1.25 * y])
    assert da.first_integrals(bent, degree=1).independent == 2  # control: two energies


@pytest.mark.parametrize("unit", [1, 10**8])
def test_states_where_every_acceleration_is_large(unit):
    """A wall of 1e13 times the energy scale within the sphere: states were found in some units only, or not at all."""
    wall = 9.81 * (1 - 1.5e6 * exp(-x / unit / 3)) ** 2
    kinetic = (0.0305 * x.dot**2 + 0.375 * y.dot**2 + 3.14 * z.dot**2) / unit**2
    sphere = x**2 + y**2 + z**2 - 96.2361 * unit**2
    system = da.System("wall", [x, y, z], kinetic=kinetic, potential=wall, constraints=[sphere])
    assert shell(system).states(4, 1) is not None
    found = da.first_integrals(system, degree=0)
    assert (len(found), found.independent, found.remarks[1:]) == (1, 1, ())


@pytest.mark.parametrize("unit", [1, sympy.Integer(10) ** 5, sympy.Rational(1, 10**9)])
def test_a_rounded_number_is_one_in_all_units(unit):
    """2.087322935736284 has sixteen digits; as a fraction it is short, and counted as exact unless a unit made it longer."""
    for number, rounded in (("2.087322935736284", True), ("2.08732293573628", False), ("9.81", False)):
        value = sympy.Rational(number) * unit
        assert balls.was_computed(int(value.p), int(value.q)) is rounded


@pytest.mark.parametrize("unit", [1, sympy.Integer(10) ** 5])
def test_momenta_beside_rounded_numbers(unit):
    """The momentum along the constraint was found in one unit of length only."""
    steep = sympy.Float("4.35") * (1 - exp(-(z / unit - sympy.Float("1.251")) / sympy.Float("1.7"))) ** 2
    kinetic = (5 * x.dot**2 / 8 + 0.41 * y.dot**2 + 2.1155 * z.dot**2) / unit**2
    rail = 0.3 * x.dot + 2 * y.dot - 1.25 * z.dot
    found = da.first_integrals(da.System("steep", [x, y, z], kinetic=kinetic, potential=steep, constraints=[rail]))
    assert found.independent == 4


def test_a_narrow_branch_is_seen():
    bump = Piecewise((0, x < 7), ((x - 7) * (x - 7.25), x < 7.25), (0, True))
    assert not vanishes(bump)
    assert not vanishes(bump.diff(x))


def test_coordinates_with_the_names_of_common_subexpressions():
    """SymEngine calls common subexpressions x0, x1, ...: coordinates of these names were overwritten."""
    q = da.coordinates("x0 x1 x2 x3")
    energy = sum((a - b) ** 2 * (a.dot - b.dot) ** 2 for a in q for b in q if a is not b)
    system = da.System("names", q, kinetic=sum(a.dot**2 for a in q) / 2)
    at = shell(system).states(3, 5)
    value = shell(system).values([energy, energy + 1], at)
    rows = [dict(zip((s.name for s in shell(system).symbols), row, strict=True)) for row in at.inputs]
    exact = [float(energy.subs({s: row[s.name] for s in energy.free_symbols})) for row in rows]
    assert value[:, 0] == pytest.approx(exact, rel=1e-12)


def test_a_coordinate_whose_occurrence_cancels_is_cyclic():
    system = da.System(
        "turned", [x, y], kinetic=(x.dot**2 + y.dot**2 * (cos(x) ** 2 + sin(x) ** 2)) / 2, potential=y**2
    )
    assert "momentum of x" in [i.name for i in da.first_integrals(system)]
    reduced = da.routh(system)
    assert reduced.cyclic == (x,)
    assert x not in reduced.routhian.free_symbols


@pytest.mark.parametrize("mass", [1e-12, 1e-14, 1e-27, 9.109e-31, 1e30])
def test_systems_of_any_mass_are_made(mass):
    system = da.System("rod", [x, y], kinetic=mass * (x.dot**2 + y.dot**2) / 2, constraints=[x**2 + y**2 - 1])
    assert system.constraints


def test_dependence_of_constraints_is_exact():
    T = (x.dot**2 + y.dot**2 + z.dot**2) / 2
    assert da.System("independent", [x, y, z], kinetic=T, constraints=[z.dot, z.dot - 1e-12 * y.dot]).constraints
    assert da.classify([z.dot, z.dot - 1e-12 * y.dot], coordinates=[x, y, z]).redundant == ()
    for factor in (1, 1e14, 1e-14):
        with pytest.raises(da.ModelError, match="redundant"):
            da.System(
                "dependent", [x, y], kinetic=x.dot**2 + y.dot**2, constraints=[x - y, factor * (0.3 * x - 0.3 * y)]
            )


@pytest.mark.parametrize("factor", [1e14, 1, 1e-14])
def test_a_factor_of_a_constraint_changes_no_verdict(factor):
    c = da.classify([factor * (x.dot - z * y.dot), factor * (theta.dot - x.dot)], coordinates=[x, y, z, theta])
    assert (c.rank, c.growth_vector, c.hidden_count) == (2, (2, 3), 1)


@pytest.mark.parametrize("length", [1, 1e-12, 1e12])
@pytest.mark.parametrize("step", [lambda u: Piecewise((0, u < 1), (3, True)), lambda u: sympy.sign(u - 1) * u])
def test_a_jump_is_seen_in_all_units(length, step):
    """A step in the potential is refused; a slope as steep as one likes is not."""
    u = x / sympy.Float(length)
    with pytest.raises(da.ModelError, match="jumps where"):
        central(step(u))
    assert central(Piecewise((0, u < 1), (1e9 * (u - 1), u < 2), (1e9, True))).coordinates == (x, y)


# the decisions themselves


@pytest.mark.parametrize("size", [Fraction(10**40), Fraction(3, 7 * 10**40), Fraction(981, 170), Fraction(-1, 3)])
def test_fractions_are_recovered_from_balls(size):
    with balls.precise() as flint:
        assert fraction_in(balls.ball(size) * flint.arb(1, 1e-60)) == size
        assert fraction_in(flint.arb(2).sqrt()) is None  # the control


@pytest.mark.parametrize("factor", [1, 10**30, sympy.Rational(1, 10**30)])
def test_the_kernel_does_not_depend_on_units(factor):
    """Column 2 is column 0 and twice column 1; column 1 is nearly column 0, as floating point cannot tell."""
    with balls.precise() as flint:
        rng = np.random.default_rng(1)
        near, f = flint.arb(10) ** -30, balls.value(factor, {})
        rows = []
        for a, b in rng.normal(size=(6, 2)):
            first, second = flint.arb(a), flint.arb(a) + near * flint.arb(b)
            rows.append([first, f * second, first + 2 * second])
        (found,) = kernel(rows, 3)
        assert [fraction_in(found[k] * (f if k == 1 else 1)) for k in range(3)] == [-1, -2, 1]
        assert kernel([row[:2] for row in rows], 2) == []  # the control


@pytest.mark.parametrize("width", [1, 2, 40, 90])
def test_columns_of_rounding_are_zero(width):
    """The midpoints of a zero column are rounding: they must not be taken for its size, whatever stands beside it."""
    with balls.precise() as flint:
        rng = np.random.default_rng(width)
        rows = []
        for row in rng.normal(size=(width + 6, width)):
            entries = [balls.widened(flint.arb(a)) for a in row]
            entries[width // 2] = flint.arb(rng.normal() * 1e-85, 1e-74)
            rows.append(entries)
        (found,) = kernel(rows, width)
        assert {k for k, c in found.items() if not c.contains(0)} == {width // 2}
        for k, row in enumerate(rows):
            row[width // 2] = flint.arb(float(k % 3 - 1) * 1e-70, 1e-74)
        assert kernel(rows, width) == []  # the control


def test_a_force_of_zero_may_be_a_decimal():
    x = da.coordinates("x")
    given = da.System("free", [x], kinetic=x.dot**2 / 2, potential=0, forces={x: sympy.Float(0.0)})
    assert given.force == (0,)


def test_zero_is_decided_against_the_terms():
    a, b = sympy.symbols("a b")
    assert vanishes((a + b) ** 3 - sympy.expand((a + b) ** 3))
    assert not vanishes((a + b) ** 3 - sympy.expand((a + b) ** 3) + sympy.Float("1e-40") * a)
    assert not vanishes(1 - cos(sympy.Float("1e-9") * a) + sin(a) ** 2 + cos(a) ** 2 - 1)
    assert not vanishes(sympy.Abs(a) - a)
    assert not vanishes(exp(-1e20 * a))


def test_numbers_without_symbols_are_decided():
    assert vanishes(sin(1) ** 2 + cos(1) ** 2 - 1)
    assert vanishes(sqrt(2) * sqrt(3) - sqrt(6))
    assert not vanishes(sqrt(2) * sqrt(3) - sqrt(6) + sympy.Rational(1, 10**60))


def spread(system):
    """The largest term of the Lagrangian at the scale of the system, over the smallest."""
    scales = system_scales(system)
    terms = sympy.Add.make_args(sympy.expand(system.lagrangian))
    sizes = [abs(float(t.subs({s: scales[s.name] for s in t.free_symbols}))) for t in terms]
    return max(sizes) / min(s for s in sizes if s)


def test_scales_follow_the_units():
    """Natural scales shift by the change of units, up to the rounding to powers of two: terms balance as before."""
    for seed in range(30):
        system = generated(seed)
        if not system.lagrangian.is_polynomial():
            continue
        units = random_units(system, random.Random(seed))
        assert 1 / 64 < spread(units.apply(system)) / spread(system) < 64
    a, b = sympy.symbols("a b")
    found = natural_scales([[1e-20 * a**2 + 1e10 * a]], ["a"])
    assert found["a"] == pytest.approx(1e30, rel=1)
    assert natural_scales([[exp(-a / 1e-15) + b]], ["a", "b"])["a"] == pytest.approx(1e-15, rel=1)


def test_rank_does_not_depend_on_the_units_of_rows_and_columns():
    import flint

    from dalembert.decide.balls import precise

    rng = random.Random(3)
    for _ in range(50):
        n, k = rng.randint(2, 6), rng.randint(1, 6)
        left = sympy.Matrix(n, k, lambda i, j: rng.randint(-3, 3))
        right = sympy.Matrix(k, n, lambda i, j: rng.randint(-3, 3))
        rows = [sympy.Integer(10) ** rng.randint(-40, 40) for _ in range(n)]
        columns = [sympy.Integer(10) ** rng.randint(-40, 40) for _ in range(n)]
        matrix = sympy.diag(*rows) * left * right * sympy.diag(*columns)
        with precise():
            balls = [[flint.arb(flint.fmpq(int(a.p), int(a.q))) for a in matrix.row(i)] for i in range(n)]
        assert rank(balls) == (left * right).rank()


def heavy(c, mass, rate):
    """A light particle at x that moves a heavy one at y by a constraint with a small coefficient."""
    potential = 9.5818 * exp(-rate * x**2) + 0.329 * (sin(x) ** 2 + cos(x) ** 2)
    kinetic = 3.9612995 * x.dot**2 + mass * y.dot**2
    return da.System("heavy", [x, y], kinetic=kinetic, potential=potential, constraints=[x.dot - c * y.dot])


@pytest.mark.parametrize("rate", [0.19944554139492213, 0.2])
def test_an_acceleration_far_smaller_than_its_forces_is_not_zero(rate):
    """x'' is 1e-45, the force on x and the reaction that nearly balances it are 4; a coefficient of many digits is a ball."""
    system = heavy(8.98e-14, 2.14e18, rate)
    assert not shell(system).conserved(x.dot)
    found = da.first_integrals(system)
    assert sorted(i.name for i in found) == ["energy", "function of positions, no. 1"]


@pytest.mark.parametrize("c", [1, 1e-6, 1e-9, 1e-12, 1e-14, 1e-20, 1e12])
def test_constraints_that_can_be_integrated_are_integrals_in_all_units(c):
    names = [i.name for i in da.first_integrals(heavy(c, 1 / c if c < 1 else 1e3, 0.2))]
    assert "function of positions, no. 1" in names


def test_control_a_constraint_that_cannot_be_integrated():
    """And one whose function is constant on a part only, log(x) - y, is not said to be an integral."""
    free = {"kinetic": x.dot**2 + y.dot**2 + z.dot**2}
    for c in (x.dot - 1e-14 * z * y.dot, x.dot / x - 1e-14 * y.dot):
        found = da.first_integrals(da.System("bound", [x, y, z], **free, constraints=[c]))
        assert not any(i.name.startswith("function of positions") for i in found)


def test_small_unknowns_are_told_by_the_equation_that_determines_them():
    with balls.precise() as flint:
        force = flint.arb(4, 1e-15)
        grid = [[8, 0, -1], [0, flint.arb(10) ** 19, flint.arb("1e-13")], [1, -flint.arb("1e-13"), 0]]
        found = solution([[flint.arb(a) for a in row] for row in grid], [force, flint.arb(0), flint.arb(0)])
        assert all(f.rel_accuracy_bits() > 40 for f in found)
        plain = flint.arb_mat(grid).solve(flint.arb_mat([[force], [0], [0]]))
        assert plain[0, 0].contains(0)  # the control
        assert solution([[flint.arb(1), flint.arb(1)]] * 2, [flint.arb(1)] * 2) is None


def test_a_symmetry_is_told_without_the_mass():
    """What moves is the same in all units; the momentum that belongs to it contains the mass."""
    for mass in (1, sympy.Float("1.7e-27"), sympy.Float("5.97e24")):
        found = da.first_integrals(central(-sympy.Float("9.81e-20") / r, mass))[1]
        assert found.name == "angular momentum in x, y"
        assert "moving x by -y, y by x changes" in found.reason
