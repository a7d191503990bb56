"""Proofs are proofs: enclosures hold the exact values, domains are known, and no claim goes beyond what was shown."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from sympy import Piecewise, Rational, acos, acosh, asin, atanh, cos, exp, log, sin, sqrt

import dalembert as da
from dalembert.analysis.steps.existence import existence
from dalembert.decide.budget import Budget
from dalembert.rigour.enclosure import Enclosure
from dalembert.rigour.exact_ranges import EVERYTHING, between, range_of
from dalembert.rigour.global_search import Solutions, all_solutions
from dalembert.rigour.interval import Interval, digits, square, whole_power, wide
from dalembert.rigour.isolation import Problem, _times, isolate
from dalembert.symbolic import fast
from dalembert.theory.algebra import shortest

x, y, z = da.coordinates("x y z")
m, g, k, p = da.parameters("m g k p", positive=True)


def holds(interval, exact):
    """Whether an exact number lies in an interval."""
    return all(
        Fraction(float(a)) <= e <= Fraction(float(b)) for a, e, b in zip(interval.lo, exact, interval.hi, strict=True)
    )


def pairs(count):
    rng = np.random.default_rng(3)
    return rng.normal(size=(2, count)) * 10.0 ** rng.integers(-12, 13, (2, count))


OPERATIONS = [
    (lambda a, b: a + b, lambda a, b: a + b), (lambda a, b: a - b, lambda a, b: a - b),
    (lambda a, b: a * b, lambda a, b: a * b), (lambda a, b: a / b, lambda a, b: a / b),
    (lambda a, b: square(a), lambda a, b: a * a), (lambda a, b: whole_power(a, 5), lambda a, b: a**5),
]  # fmt: skip


@pytest.mark.parametrize(("of_intervals", "of_fractions"), OPERATIONS)
def test_arithmetic_is_rounded_outward(of_intervals, of_fractions):
    a, b = pairs(200)
    exact = [of_fractions(Fraction(s), Fraction(t)) for s, t in zip(a, b, strict=True)]
    assert holds(of_intervals(Interval(a, a), Interval(b, b)), exact)
    rounded = [Fraction(float(of_fractions(s, t))) for s, t in zip(a, b, strict=True)]
    assert rounded != exact  # without a margin the exact number would be lost


def test_products_of_matrices_are_rounded_outward():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 40, 3, 3)) * 10.0 ** rng.integers(-6, 7, (2, 40, 3, 3))
    found = _times(Interval(a, a), Interval(b, b))
    for r in range(40):
        for i in range(3):
            for j in range(3):
                exact = sum(Fraction(a[r, i, n]) * Fraction(b[r, n, j]) for n in range(3))
                assert Fraction(found.lo[r, i, j]) <= exact <= Fraction(found.hi[r, i, j])


FUNCTIONS = {
    "sin": 1e9,
    "cos": 1e9,
    "tan": 1.5,
    "exp": 300,
    "sinh": 300,
    "cosh": 300,
    "tanh": 20,
    "atan": 1e9,
    "asinh": 1e9,
    "erf": 3,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_hold_the_value_to_forty_digits(name):
    points = np.random.default_rng(2).uniform(-1, 1, 200) * FUNCTIONS[name]
    (found,), marks = Enclosure([fast(getattr(sympy, name)(x))], ["x"], {})([Interval(points, points)])
    with mpmath.workdps(40):
        exact = [getattr(mpmath, name)(mpmath.mpf(float(t))) for t in points]
        inside = [
            mpmath.mpf(float(a)) <= e <= mpmath.mpf(float(b)) for a, e, b in zip(found.lo, exact, found.hi, strict=True)
        ]
    assert all(inside) and not marks.rough.any()
    assert (found.hi - found.lo <= 1e-12 * np.maximum(np.abs(points), 1) * np.maximum(found.size, 1e-3)).all()
    assert (wide(points, points).hi - points >= 8 * np.spacing(np.abs(points))).all()


ON_A_PART = {
    "sqrt": (sqrt(x), mpmath.sqrt, (1e-9, 1e9)),
    "log": (log(x), mpmath.log, (1e-9, 1e9)),
    "asin": (asin(x), mpmath.asin, (-1, 1)),
    "acos": (acos(x), mpmath.acos, (-1, 1)),
    "acosh": (acosh(x), mpmath.acosh, (1.01, 1e9)),
    "atanh": (atanh(x), mpmath.atanh, (-0.99, 0.99)),
    "x^(3/2)": (x ** Rational(3, 2), lambda t: t ** mpmath.mpf("1.5"), (0.01, 1e6)),
    "x^(1/3)": (x ** Rational(1, 3), mpmath.cbrt, (0.01, 1e6)),
}
"""Functions that have no value at some numbers: with the numbers that are tried."""


@pytest.mark.parametrize("name", ON_A_PART)
def test_functions_on_their_domains_hold_the_value_to_forty_digits(name):
    expression, function, ends = ON_A_PART[name]
    points = np.random.default_rng(4).uniform(*ends, 200)
    (found,), marks = Enclosure([fast(expression)], ["x"], {})([Interval(points, points)])
    with mpmath.workdps(40):
        exact = [function(mpmath.mpf(float(t))) for t in points]
        inside = [
            mpmath.mpf(float(a)) <= e <= mpmath.mpf(float(b)) for a, e, b in zip(found.lo, exact, found.hi, strict=True)
        ]
    assert all(inside) and not marks.rough.any()
    assert (found.hi - found.lo <= 1e-12 * np.maximum(found.size, 1)).all()


def test_constants_that_were_rounded_are_intervals():
    for exact in (Rational(1, 3), sympy.Integer(10) ** 30 + 1, Rational(602214076 * 10**15), Rational(1, 10**12)):
        (found,), _ = Enclosure([fast(exact)], [], {})([])
        assert holds(found, [Fraction(int(exact.p), int(exact.q))])


# domains: an equation, and its solutions between -3 and 3

EQUATIONS = [
    (x + x ** Rational(3, 2) + Rational(9, 100), []),
    (x + x ** Rational(1, 3) + 1, []),
    (x + sqrt(x) + 1, []),
    (x ** Rational(-3, 2) * x**2 + x + 1, []),
    (asin(x) + x - 2.7, []),
    (acos(x) + x - Rational(1, 2), []),
    (acosh(x) + x - Rational(1, 2), []),
    (atanh(x) * 0 + exp(asin(x)) + x - 7, []),
    (log(x) * (x - 2) * (x + 1), [1, 2]),
    (x**67 + 1, [-1]),
    (x**p + 1, [-1]),
    (x ** (-p) + 1, [-1]),
    ((x + 2) ** k - Rational(1, 2), [2 ** (-1 / 1.5) - 2]),
    (Piecewise((sqrt(x) - 1, x > 0), (x + 2, True)), [-2, 1]),
    (Piecewise((sqrt(x) + x + 2, x > 1), (x - 5, True)), []),
    (da.Max(x, sqrt(x + 1)) - 2, [2]),
    (sqrt(x) - 1, [1]),
    (1 / x - 2, [0.5]),
    (1 / x**2 + x - 1, [-0.7548776662466927]),
]


@pytest.mark.parametrize(("equation", "solutions"), EQUATIONS, ids=str)
def test_solutions_lie_in_the_domain(equation, solutions):
    problem = Problem([fast(equation)], ["x"], [], {"p": 3.0, "k": 1.5})
    found = isolate(problem, np.array([-3.0]), np.array([3.0]), Budget(20_000))
    assert sorted(float(r.point[0]) for r in found.roots) == pytest.approx(sorted(solutions), abs=1e-12)
    assert all(
        r.lo[0] <= s <= r.hi[0] or abs(r.point[0] - s) < 1e-15
        for r, s in zip(sorted(found.roots, key=lambda r: r.lo[0]), sorted(solutions), strict=True)
    )
    # What stays undecided is at most the edge of a domain, or a place where a branch begins.
    assert all((hi - lo <= 1e-9).all() for lo, hi in found.undecided)


def test_a_term_with_a_zero_factor_has_its_domain_too():
    """k/x + x is x for k = 0, but has no value at zero."""
    problem = Problem([fast(k / x + x)], ["x"], [], {"k": 0.0})
    assert not isolate(problem, np.array([-1.0]), np.array([1.3]), Budget(5000)).roots
    control = Problem([fast(k * x + x)], ["x"], [], {"k": 0.0})
    assert len(isolate(control, np.array([-1.0]), np.array([1.3]), Budget(5000)).roots) == 1


def test_marks_say_where_there_is_no_value():
    ends = Interval(np.array([-2.0, -1.0, 0.5, 1.5, 0.0]), np.array([-1.5, 0.5, 0.9, 2.0, 0.0]))
    masks = {
        sqrt(x): ("11000", "10000"), log(x): ("11001", "10001"), asin(x): ("10010", "10010"), acosh(x): ("11101", "11101"),
        1 / x: ("01001", "00001"), x ** Rational(1, 3): ("11000", "10000"), x ** Rational(-1, 3): ("11001", "10001"),
        x**70: ("00000", "00000"), sympy.tan(x): ("10010", "00000"),
    }  # fmt: skip
    for e, (cut, outside) in masks.items():
        _, marks = Enclosure([fast(e)], ["x"], {})([ends])
        partly = marks.cut[0] | marks.outside[0]
        assert "".join(str(int(b)) for b in marks.outside[0]) == outside, e
        assert "".join(str(int(b)) for b in partly) == cut, e


def test_steps_and_equilibria_lie_in_the_domain():
    h, v = da.step, (x.at(1) - x.at(0)) / da.step
    hertz = da.DiscreteSystem("hertz", [x], lagrangian=h * v**2 / 2, force_minus={x: -(v ** Rational(3, 2))})
    below = existence(hertz, at={x: 0, x.momentum: -0.09}, h=1)
    assert not below.steps and "exactly one" not in str(below)
    above = existence(hertz, at={x: 0, x.momentum: 2}, h=1)
    assert above.complete and above.steps[0][x] == pytest.approx(1, abs=1e-14)
    ball = da.System(
        "ball", [x], kinetic=x.dot**2 / 2, potential=x**2 / 2 + 2 * x ** Rational(5, 2) / 5 + Rational(9, 100) * x
    )
    assert len(da.equilibria(ball, parameters={}, box={x: (-1, 1)})) == 0
    # What is eliminated has a domain, too: y = sqrt(x) for x < 0.
    (y0, y1), (x0, x1) = (y.at(0), y.at(1)), (x.at(0), x.at(1))
    hidden = da.DiscreteSystem(
        "hidden", [x, y], lagrangian=h * (v**2 + ((y1 - y0) / h) ** 2) / 2, force_minus={y: sqrt(x1 + 1)}
    )
    assert existence(hidden, at={x: 0, x.momentum: -3, y: 0, y.momentum: 0}, h=1).verdict == "none"
    assert existence(hidden, at={x: 0, x.momentum: 3, y: 0, y.momentum: 0}, h=1).verdict == "exists"
    assert x0 != y0


# inclusion


def test_krawczyk_needs_inclusion():
    """x = y, x = 0.9 y + 0.5 meet at (5, 5) only: on [0, 1]^2 values and slopes alone do not show that there is none."""
    problem = Problem([fast(x - y), fast(x - 0.9 * y - 0.5)], ["x", "y"], [], {})
    lo, hi = np.array([[0.0, 0.0], [4.0, 4.0]]), np.array([[1.0, 1.0], [6.0, 6.0]])
    proved, lower, upper = problem.proves(lo, hi)
    assert proved.tolist() == [False, True]
    norm, gone = problem.krawczyk(lo, hi)[2:4]
    assert (norm < 1).all() and not gone.any()
    assert lower[1] == pytest.approx([5, 5]) and upper[1] == pytest.approx([5, 5])
    edge = problem.proves(np.array([[5.0, 5.0]]), np.array([[6.0, 6.0]]))[0]
    assert not edge.any()  # a solution on the edge of a box is not proved to lie inside


def test_an_equation_without_a_zero_in_the_box():
    """x = 1 and x^2 + 1 = 0: two equations for one unknown, whose nearest point lies inside the box."""
    lo, hi = np.array([[0.9]]), np.array([[1.1]])
    for other, holds in ((x**2 + 1, False), (x**2 - 1, True)):
        problem = Problem([fast(x - 1), fast(other / 100)], ["x"], [], {})
        lower, upper, norm, gone, _ = problem.krawczyk(lo, hi)
        assert (lower > lo).all() and (upper < hi).all() and (norm < 1).all()
        assert gone.tolist() == [not holds] and problem.proves(lo, hi)[0].tolist() == [holds]


def test_krawczyk_needs_a_function_on_the_whole_box():
    """x + x^(3/2) + 0.09 has no value at -0.09, where x + 0.09 vanishes."""
    lo, hi = np.array([[-0.2]]), np.array([[0.02]])
    assert not Problem([fast(x + x ** Rational(3, 2) + Rational(9, 100))], ["x"], [], {}).proves(lo, hi)[0].any()
    assert Problem([fast(x + (x + 1) ** Rational(3, 2) - 1 + Rational(9, 100))], ["x"], [], {}).proves(lo, hi)[0].all()
    assert not Problem([fast(da.Abs(x) + 2 * x + Rational(1, 10))], ["x"], [], {}).proves(lo, hi)[0].any()


def test_solutions_beyond_the_box_are_not_listed():
    for root in np.linspace(-0.5, 1.2, 40).round(3):
        r = Rational(str(root))
        problem = Problem([fast(sympy.expand((x - r) * (x - 3 + r)))], ["x"], [], {})  # the other one is beyond 1.5
        for top, count in ((root - 0.01, 0), (root + 0.01, 1)):
            found = isolate(problem, np.array([-1.0]), np.array([top]), Budget(1000))
            assert not found.undecided and len(found.roots) == count


def test_more_equations_than_unknowns_prove_no_existence():
    equations = [fast(x - 1), fast(x**2 - Rational(10**14 + 1, 10**14))]
    found = all_solutions(equations, ["x"], {}, Solutions(), 2000)
    assert not found.found and found.undecided


# what is shown


def test_digits_are_those_that_are_proved():
    assert digits(1.23456789, 1.23456791) == "1.2345679"
    assert digits(2.0, 2.0) == "2" and digits(0.0, 0.0) == "0"
    assert digits(-1e-17, 3e-17) == "0 +- 3e-17"
    assert digits(-3.2e-12, -1.1e-12) == "-3.2e-12 to -1.1e-12"
    rng = np.random.default_rng(0)
    for middle, width in zip(
        rng.normal(size=300) * 10.0 ** rng.integers(-20, 20, 300), 10.0 ** rng.uniform(-15, -1, 300), strict=True
    ):
        lo, hi = sorted((middle, middle * (1 + width)))
        shown = digits(lo, hi, 17)
        last = 10.0 ** (
            np.floor(np.log10(abs(middle))) - len(shown.lstrip("-").split("e")[0].replace(".", "").strip("0")) + 1
        )
        assert abs(float(shown) - lo) <= 1.01 * max(last, hi - lo) + abs(lo) * 1e-15


def test_a_small_solution_is_shown_with_its_digits():
    h, v = da.step, (x.at(1) - x.at(0)) / da.step
    for size in (1e-12, 1e-6, 1.0, 1e9):
        quartic = da.DiscreteSystem("quartic", [x], lagrangian=h * (v**2 / 2 + v**4 / (4 * size**2)))
        found = existence(quartic, at={x: 0, x.momentum: 2 * size}, h=1)  # v + v^3 = 2 in units of `size`
        assert (found.verdict, found.complete, len(found.steps)) == ("exists", True, 1)
        lo, hi = found.steps[0].enclosure[x]
        assert lo <= size <= hi and hi - lo < 1e-14 * size
        assert f"{size:.12g}" in str(found)


@pytest.mark.parametrize(
    ("equation", "ends"),
    [
        (exp(Rational(81, 50) - 1.163 * x) - 1.933 * x - Rational(393, 500), (-5.0, 6.0)),
        (sin(1.298 * x - Rational(7, 200)) - 1.303 * x - Rational(99, 100), (-6.8, 3.9)),
    ],
)
def test_enclosures_are_as_narrow_as_rounding_allows(equation, ends):
    """Krawczyk's operator alone hardly makes these boxes narrower, in which the solution is proved at once."""
    problem = Problem([fast(equation)], ["x"], [], {})
    (root,) = isolate(problem, np.array([ends[0]]), np.array([ends[1]]), Budget(1000)).roots
    assert root.hi[0] - root.lo[0] < 1e-13 * abs(root.lo[0])


# short forms


def test_a_short_form_has_the_value_of_the_long_one():
    given = sin(x) ** 2 + cos(x) ** 2 + x + y
    assert shortest(given, x + y, 1 + x + y) == 1 + x + y
    assert shortest(given, x + y, x * y) == given
    assert shortest(given, None) == given


# exact ranges


def test_ranges_do_not_leave_the_domain():
    domain = {x: between(-3.0, -2.0), y: EVERYTHING}
    assert not range_of(x ** Rational(1, 3) + 5, domain).misses_zero()  # no value at all: nothing is claimed
    assert not range_of(log(x), domain).misses_zero()
    assert range_of(sqrt(y) + 1, domain).misses_zero()


# flat directions


def test_a_free_system_has_no_strict_minimum():
    free = da.System("free", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2)
    modes = da.normal_modes(free, at={x: 0, y: 0}, parameters={m: 2})
    assert modes.stability.verdict == "neutral" and "no strict minimum" in modes.stability.reason
    (e,) = da.equilibria(free, parameters={m: 2})
    assert e.stability.verdict == "neutral"
    held = da.System("held", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=k * x**2 / 2)
    stability = da.normal_modes(held, at={x: 0, y: 0}, parameters={m: 2, k: 3}).stability
    assert stability.verdict == "stable" and "strict minimum across the free direction" in stability.reason
    flat = da.System("flat", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=k * x**2 / 2 + y**4)
    stability = da.normal_modes(flat, at={x: 0, y: 0}, parameters={m: 2, k: 3}).stability
    assert stability.verdict == "undecided" and "strict" not in stability.reason
    joined = da.System("joined", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=k * (x - y) ** 2 / 2)
    stability = da.normal_modes(joined, at={x: 1, y: 1}, parameters={m: 2, k: 3}).stability
    assert stability.verdict == "stable" and "across the free direction" in stability.reason
    ring = da.System("ring", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=(x**2 + y**2 - 1) ** 2)
    assert da.normal_modes(ring, at={x: 1, y: 0}, parameters={m: 2}).stability.verdict == "undecided"


def test_friction_that_feeds_nearby_is_not_taken_for_dissipation():
    """Friction -c(x) v with c = x^2 takes energy near x = 0; with c = -x^2, or c = x, it does not."""
    verdicts = {}
    for c in (x**2, -(x**2), x):
        rubbed = da.System("rubbed", [x], kinetic=x.dot**2 / 2, potential=x**2 / 2, forces={x: -c * x.dot})
        verdicts[c] = da.normal_modes(rubbed, at={x: 0}, parameters={}).stability.verdict
    assert verdicts == {x**2: "stable", -(x**2): "linearly stable", x: "linearly stable"}


# rounding is no force


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e12])
def test_rounding_is_no_leftover_force(size):
    plane = da.System(
        "block", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y,
        forces={x: m * g * k / (1 + k**2), y: m * g * k**2 / (1 + k**2)}, constraints=[y - k * x],
    )  # fmt: skip
    values = {m: 0.7 * size, g: 9.81 / size, k: 0.3}
    da.linearise(plane, about={x: 0.1 * size, y: 0.03 * size}, parameters=values)
    pendulum = da.System(
        "pendulum", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y, constraints=[x**2 + y**2 - p**2]
    )
    state = {x: size * np.cos(-np.pi / 2), y: size * np.sin(-np.pi / 2)}
    (mode,) = da.normal_modes(pendulum, at=state, parameters={m: 0.7, g: 9.81, p: size})
    assert mode.frequency == pytest.approx(np.sqrt(9.81 / size), rel=1e-9)
    with pytest.raises(da.ModelError, match="left over"):  # control
        da.linearise(
            pendulum, about={x: size * np.sin(1e-5), y: -size * np.cos(1e-5)}, parameters={m: 0.7, g: 9.81, p: size}
        )


def test_a_state_beside_an_equilibrium_is_refused_whatever_its_size():
    """A bond of length 1e-10: 1e-9 of a metre beside it is far away."""
    bond = da.System("bond", [x], kinetic=m * x.dot**2 / 2, potential=k * (1 - exp(-(x - p) / p)) ** 2)
    values = {m: 1e-27, k: 1e-19, p: 1e-10}
    (mode,) = da.normal_modes(bond, at={x: 1e-10}, parameters=values)
    assert mode.frequency == pytest.approx(np.sqrt(2e-19 / 1e-20 / 1e-27), rel=1e-12)
    with pytest.raises(da.ModelError, match="left over"):
        da.normal_modes(bond, at={x: 1.001e-10}, parameters=values)
