"""Decimals mean what they say: decided and solved with as the fractions they are, printed and saved as they were typed."""

from __future__ import annotations

import json
import random
from fractions import Fraction

import numpy as np
import pytest
import symengine
import sympy
from sympy import Float, Rational, cos, sin, sqrt

import dalembert as da
from dalembert.decide.decimals import Typed, decimal, exact, stated, text
from dalembert.decide.zero import vanishes
from dalembert.discrete import serial as discrete_serial
from dalembert.engine.lower import tape
from dalembert.model import serial
from dalembert.symbolic import fast
from dalembert.theory.conserved.integral_search import follows
from dalembert.theory.conserved.on_shell import shell

from ..watch import Watch

x, y, theta = da.coordinates("x y theta")
m, l, k, c = da.parameters("m l k c", positive=True)


def typed_numbers(count, seed=0):
    """Texts of decimals of up to fifteen digits and of all sizes."""
    rng = random.Random(seed)
    for _ in range(count):
        digits = rng.randint(1, 15)
        yield f"{rng.randint(1, 10**digits - 1)}e{rng.randint(-30, 30) - digits}"


# numbers


@pytest.mark.parametrize("kind", [float, Float, np.float64, lambda t: Float(t, 40)])
def test_a_decimal_is_the_fraction_that_was_typed(kind):
    for number in typed_numbers(300):
        assert exact(kind(number)) == Rational(number)


def test_the_binary_value_of_a_double_is_another_number():
    """The control: what a double is in binary is not what was typed."""
    assert sum(Rational(float(number)) == Rational(number) for number in typed_numbers(300)) < 150


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (9.81, Rational(981, 100)), (0.1, Rational(1, 10)), (1 / 3, Rational(3333333333333333, 10**16)), (2.0, 2),
        (np.float32(0.1), Rational(1, 10)), (np.int64(7), 7), (Fraction(1, 3), Rational(1, 3)), (1e30, 10**30),
        (5e-324, Rational(5, 10**324)), (Float("1e400"), 10**400), (Float("0.1", 5), Rational(1, 10)),
        (-0.25, Rational(-1, 4)), (0.1 + 0.2, Rational("0.30000000000000004")),
    ],
)  # fmt: skip
def test_numbers_of_all_kinds(given, wanted):
    assert exact(given) == wanted


def test_expressions_of_all_kinds():
    branch = sympy.Piecewise((0.1 * x, x > 0.2), (x**1.5, True))
    assert exact(branch) == sympy.Piecewise((x / 10, x > Rational(1, 5)), (x ** Rational(3, 2), True))
    assert exact(sympy.Matrix([[0.5, x]])) == sympy.Matrix([[Rational(1, 2), x]])
    assert exact(sin(0.1 * x) + 0.2) == sin(x / 10) + Rational(1, 5)
    assert exact(sympy.oo) == sympy.oo


def test_what_is_printed_can_be_typed_again():
    rng = random.Random(3)
    for number in typed_numbers(300, seed=1):
        given = Float(float(number))
        e = exact(given) * x ** rng.randint(1, 3) + sin(exact(given) * y) / 3 + y / 7
        read = decimal(e, Typed.of([given]))
        assert exact(read) == e
        assert "/3" in text(read) and "/7" in text(read)


def test_fractions_stay_what_they_are():
    typed = Typed.of([Float(9.81), Rational(2, 5)])
    read = decimal(Rational(981, 200) * x + 2 * y / 5 + x**2 / 2 + y**2 / 3 + sqrt(x), typed)
    assert text(read) == "sqrt(x) + x**2/2 + 4.905*x + y**2/3 + 2*y/5"
    assert decimal(Rational(981, 100) * x, Typed()) == Rational(981, 100) * x
    assert text(decimal(Rational(10**30) * x, Typed.of([Float(1e30)]))) == "1.0e+30*x"


def test_machine_code_has_the_nearest_double():
    numbers = [Rational(number) for number in typed_numbers(300)]
    for r in numbers:
        operations = tape([fast(r)], {}).operations
        assert operations[0].args[0] == float(Fraction(int(r.p), int(r.q)))
    cut = [float(symengine.sympify(r)) == float(Fraction(int(r.p), int(r.q))) for r in numbers]
    assert not all(cut), "SymEngine rounds now: _nearest is not needed any more"


# systems


def test_products_that_sympy_has_rounded_are_those_of_the_decimals():
    rng, wrong = random.Random(2), 0
    for _ in range(300):
        a, b, d = (Rational(rng.randint(1, 999), 10 ** rng.randint(0, 4)) for _ in range(3))
        folded = Float(float(a)) * Float(float(b)) * Float(float(d)) * x / 2
        assert stated(folded) == a * b * d * x / 2
        wrong += exact(folded) != a * b * d * x / 2
    assert wrong > 30  # the control: with the shortest decimals
    assert stated(Float(1 / 3)) == exact(1 / 3) and stated(Float(0.1234567890123456)) == exact(0.1234567890123456)


def pendulum(links, g):
    """Pendulums of unit mass and length, one below the other."""
    angles = da.coordinates(" ".join(f"a{i}" for i in range(links)))
    place, T, V = [0, 0], 0, 0
    for a in angles:
        place = [place[0] + sin(a), place[1] - cos(a)]
        T += sum(sum(e.diff(b) * b.dot for b in angles) ** 2 for e in place) / 2
        V += g * place[1]
    return da.System("pendulum", angles, kinetic=T, potential=V)


def test_a_triple_pendulum_is_solved_with_a_decimal_as_with_a_fraction():
    typed, fraction = pendulum(3, 9.81), pendulum(3, Rational(981, 100))
    assert typed == fraction
    solved = typed.equations().solved
    for unknown, value in fraction.equations().solved.items():
        assert vanishes(exact(solved[unknown]) - value)
    assert "29.43" in str(solved) and "2943" not in str(solved)


def test_equations_print_what_was_typed():
    g, third = 9.81, Rational(1, 3)
    system = da.System("p", [theta], kinetic=m * l**2 * theta.dot**2 * third, potential=-m * g * l * cos(theta))
    shown = str(system.equations())
    assert "9.81" in shown and "981" not in shown.replace("9.81", "")
    assert str(system.equations().solved) == "{theta.ddot: -14.715*sin(theta)/l}"
    assert "9.81" in str(da.structure(system)) and "9.81" in str(da.hamilton(system))
    assert "9.81" in str(da.first_integrals(system, degree=0)) and "H is conserved." in str(da.hamilton(system))
    assert "9.81" in str(da.linearise(system, about={theta: 0}))
    assert "4.905" in str(da.discretise(system, da.midpoint_map).equations())


def test_squared_frequencies_with_decimals():
    def system(g, stiffness, share):
        T = m * x.dot**2 / 2 + share * m * (l * theta.dot) ** 2 + m * l * cos(theta) * x.dot * theta.dot / 7
        return da.System("cart", [x, theta], kinetic=T, potential=-g * m * l * cos(theta) + stiffness * x**2 / 2)

    at = {x: 0, theta: 0}
    typed = da.linearise(system(9.81, 1e-13, 0.15), about=at).squared_frequencies()
    wanted = da.linearise(system(k, c, Rational(3, 20)), about=at).squared_frequencies()
    values = {k: Rational(981, 100), c: Rational(1, 10**13), m: Rational(3, 2), l: Rational(5, 7)}
    found = sorted(exact(e).subs(values).evalf(20) for e in typed)
    for one, two in zip(found, sorted(e.subs(values).evalf(20) for e in wanted), strict=True):
        assert abs(one / two - 1) < 1e-12
    assert found[0] > 0
    numbers = da.linearise(system(k, c, 0.15), about=at, parameters={k: 9.81, c: 0.3, m: 1.2, l: 0.7})
    squares = sorted(float(e) for e in numbers.squared_frequencies())
    assert np.allclose(squares, [0.24990856240012207, 50.1424272040232356], rtol=1e-13)


@pytest.mark.parametrize("stiff", [3.657e14, 6.022e23])
def test_the_lower_frequency_of_a_stiff_system(stiff):
    """Digits beyond those of a double are all that is left of the lower root: sixteen of them gave 1 to 4 % error."""

    def system(soft, stiffness, between):
        T = m * x.dot**2 / 2 + c * y.dot**2 / 2 + m * x.dot * y.dot / 7
        return da.System(
            "two", [x, y], kinetic=T, potential=soft * x**2 / 2 + stiffness * y**2 / 2 + between * x * y / 9
        )

    def lowest(system):
        roots = da.linearise(system, about={x: 0, y: 0}).squared_frequencies()
        return min(e.subs({m: Rational(13, 10), c: Rational(7, 10)}).evalf(20) for e in roots)

    for typed in ((0.717, stiff, 3.85), (2.5, stiff / 7, 0.3), (stiff, 0.061, 1e-3), (4.905, 2.5, 0.1)):
        wanted = lowest(system(*map(exact, typed)))
        assert abs(lowest(system(*typed)) / wanted - 1) < 1e-11
    formula = da.linearise(system(k, l, 0), about={x: 0, y: 0}).squared_frequencies()  # control: what differences leave
    doubles = {k: Float(0.717), l: Float(stiff), m: Float(1.3), c: Float(0.7)}
    wanted = lowest(system(exact(0.717), exact(stiff), 0))
    assert abs(min(e.subs(doubles) for e in formula) / wanted - 1) > 1e-3


def test_functionals_with_long_integers():
    """7.03e19 is an integer beyond 64 bits: NumPy made arrays of objects of it."""
    t, length = da.time, 1e-4
    f = da.variations.Functional(1e11 * y.dot**2 - 7.0337317565134790e19 * y**2, y)
    found = f.extremal({t: 0, y: 0}, {t: length, y: 1e-8}, by="direct")
    omega = sqrt(7.0337317565134790e8)
    wanted = 1e-8 * np.sin(float(omega) * found.x) / np.sin(float(omega) * length)
    assert found.kind == "minimum" and np.abs(found.y[y] - wanted).max() < 1e-3 * np.abs(wanted).max()


@pytest.mark.parametrize(
    "method", [da.Midpoint(), da.StormerVerlet(), da.Gauss(2), da.Galerkin(2, "lobatto"), da.Composition(da.Midpoint(), 4)],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("numbers", [(1e5, 1e-14), (9.81, 0.3), (1e-20, 1e12), (6.02e23, 1.38e-23)])
def test_modified_hamiltonians_keep_every_term(method, numbers):
    def system(stiffness, quartic):
        return da.System("o", [x], kinetic=m * x.dot**2 / 2, potential=stiffness * x**2 / 2 + quartic * x**4)

    wanted = da.modified_hamiltonian(system(k, c), method, 4).terms
    found = da.modified_hamiltonian(system(*numbers), method, 4).terms
    assert len(wanted[4].args) > 5
    for one, two in zip(found, wanted, strict=True):
        put = sympy.expand(two.subs({k: exact(numbers[0]), c: exact(numbers[1])}))
        have = {e.as_coeff_Mul()[1]: e.as_coeff_Mul()[0] for e in sympy.Add.make_args(sympy.expand(exact(one)))}
        want = {e.as_coeff_Mul()[1]: e.as_coeff_Mul()[0] for e in sympy.Add.make_args(put)}
        assert have.keys() == want.keys()
        assert all(abs(have[t] - want[t]) <= abs(want[t]) * Rational(1, 10**11) for t in want)


def test_a_small_term_is_not_dropped_and_a_cancelling_one_is():
    small = da.System("s", [x], kinetic=x.dot**2 / 2, potential=9.81 * x + 1e-25 * x**2)
    assert "2.0e-25" in str(small.equations())
    gone = da.System(
        "g", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, constraints=[0.1 * x.dot + 0.2 * y.dot - 0.3 * x.dot]
    )
    assert gone.constraints[0].coefficients == (Rational(-1, 5), Rational(1, 5))
    assert gone.constraints[0].drift == 0


def test_roots_of_recurrences_are_decided_exactly():
    assert da.linear_recurrence(1.9, 0.9025).kind == "double root"
    assert da.linear_recurrence(1e-20, 2.5e-41).kind == "double root"
    assert da.linear_recurrence(1.9, 0.90250000001).kind == "complex roots"
    pairs = [(k / 10, k**2 / 400) for k in range(1, 20)]
    assert all(da.linear_recurrence(A, B).kind == "double root" for A, B in pairs)
    assert any(Float(A) ** 2 - 4 * Float(B) != 0 for A, B in pairs)  # the control: what decimals of SymPy would say
    assert "A = 1.9, B = 0.9025" in str(da.linear_recurrence(1.9, 0.9025))
    for A, B in ((1.9, 0.95), (2.5, 1.0), (1.9, 0.9025)):
        r = da.linear_recurrence(A, B)
        assert abs(float(r.term(10, 0.3, 0.4)) / r(10, 0.3, 0.4) - 1) < 1e-12


def test_long_exponents_do_not_make_polynomials():
    """SymPy takes x**1.6666666666666667 for a power of a root with 1.7e16 terms."""
    gas = da.System(
        "gas", [x], kinetic=x.dot**2 / 2, potential=0.3 * x**-0.6666666666666667 + 0.1 * sympy.exp(-0.123456789 * x)
    )
    assert "1.66666666666667" in str(gas.equations())
    assert da.hamilton(gas).hamiltonian is not None
    assert len(da.first_integrals(gas)) == 1


# files


def test_files_keep_what_was_typed():
    long = Float("0.1234567890123456789012345", 25)
    system = da.System(
        "s", [x, y], kinetic=m * (x.dot**2 + Rational(1, 3) * y.dot**2), potential=9.81 * y + long * x**2,
        forces={x: -0.1 * x.dot}, constraints=[y - 0.7 * x**2],
    )  # fmt: skip
    loaded = serial.loads(serial.dumps(system))
    assert loaded == system and loaded.typed == system.typed
    assert str(loaded.equations()) == str(system.equations())
    assert loaded.as_typed(loaded.potential) == system.as_typed(system.potential) == 9.81 * y + long * x**2
    assert (9.81).hex() in json.dumps(json.loads(serial.dumps(system)))
    plain = da.System("s", [x], kinetic=x.dot**2 / 2, potential=Rational(981, 100) * x)
    assert serial.loads(serial.dumps(plain)).typed.decimals == frozenset()


def test_files_of_discrete_systems_keep_what_was_typed():
    q0, q1 = x.at(0), x.at(1)
    own = da.DiscreteSystem("d", [x], lagrangian=0.3 * (q1 - q0) ** 2 / da.step - da.step * 9.81 * q0)
    for system in (own, da.discretise(da.System("p", [x], kinetic=x.dot**2 / 2, potential=9.81 * x), da.left_map)):
        loaded = discrete_serial.loads(discrete_serial.dumps(system))
        assert loaded == system and loaded.typed == system.typed
        assert "9.81" in str(loaded.equations())


# the watch on symbolic calls


def test_the_watch_reports_slow_calls_of_the_library():
    ticks = iter([0.0, 11.0, 20.0, 21.0])
    watch = Watch(clock=lambda: next(ticks))
    namespace = {"__name__": "dalembert.theory.example", "call": watch.watched(sympy.expand, "expand"), "x": x}
    exec("first = call(x*(x + 1)); second = call(x)", namespace)
    assert namespace["first"] == x**2 + x
    assert watch.slow == ["expand called by dalembert.theory.example took 11.0 s"]
    watch.watched(sympy.expand, "expand")(x)  # called by a test: not of interest, and the clock is not asked


def test_the_watch_is_on():
    assert hasattr(sympy.factor, "__wrapped__")


# first integrals


def hoop(mass, radius, slope):
    """A hoop that rolls down where gravity along the plane is `slope`, and the integral linear in time that it has."""
    given = da.System(
        "hoop", [x, theta], kinetic=mass * (x.dot**2 + radius**2 * theta.dot**2) / 2, potential=-mass * slope * x,
        constraints=[x.dot - radius * theta.dot],
    )  # fmt: skip
    return given, x.dot - slope * da.time / 2


@pytest.mark.parametrize("number", [sin(Rational(253, 500)), sqrt(2), cos(2), sympy.pi, sympy.exp(Rational(1, 3)), 3])
def test_integrals_contain_the_constants_of_the_system(number):
    for slope in (Rational(993, 100) * number, Float("9.93") * number.n() if number != 3 else Float("29.79")):
        given, linear = hoop(Rational(121, 100), Rational(177, 500), slope)
        found = [i.expression for i in da.first_integrals(given, degree=1)]
        assert len(found) == 3
        assert follows(linear, found, shell(given))
        assert not follows(linear + slope * da.time / 10**6, found, shell(given))  # the control


def test_a_quotient_that_sympy_has_rounded():
    """5.17/9 has become 0.574444444444444: the centre of mass moves uniformly all the same."""
    for coupling in (5.17, Rational(517, 100)):
        T = 0.35 * x.dot**2 + coupling / 9 * x.dot * y.dot + 0.0685 * y.dot**2
        given = da.System("two", [x, y], kinetic=T, potential=0.3 * x**4)
        found = da.first_integrals(given, degree=1)
        assert [i.name for i in found] == ["energy", "momentum of y", "centre of mass (Galilean boost along y)"]


def test_integrals_with_constants_beside_parameters():
    given, linear = hoop(m, l, c * sqrt(3) * sin(Rational(1, 2)))
    found = [i.expression for i in da.first_integrals(given, degree=1)]
    assert len(found) == 3 and follows(linear, found, shell(given))


def test_an_integral_of_two_masses_with_an_irrational_coupling():
    """A wedge and a disc: its centre of mass moves with constant velocity, with sqrt(2) in it."""
    given = da.gallery.load("wedge-and-disc").system
    found = [i.expression for i in da.first_integrals(given, degree=1)]
    assert any(e.has(sqrt(2)) and e.has(da.time) for e in found)
    assert all(shell(given).conserved(e) for e in found)


@pytest.mark.parametrize("soft", [1e-12, 1e-18, 1e-25])
def test_squared_frequencies_keep_a_small_stiffness(soft):
    """1 + 1e-18 is no decimal of seventeen digits: the soft frequency came out as zero."""
    x, y = da.coordinates("x y")
    kinetic, potential = (x.dot**2 + y.dot**2) / 2, ((x + y) ** 2 + soft * x**2) / 2
    system = da.System("soft", [x, y], kinetic=kinetic, potential=potential)
    low, high = sorted(float(w) for w in da.linearise(system, about={x: 0, y: 0}).squared_frequencies())
    assert low == pytest.approx(soft / 2, rel=1e-11) and high == pytest.approx(2, rel=1e-11)
