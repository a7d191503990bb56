"""Sistemas termomecanicos, appendix A and example 2.22: two-term linear recurrences in closed form."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert.discrete.linear_recurrence import linear_recurrence
from dalembert.errors import ModelError

m, eta, lam, h = 2.0, 2.0, 0.3, 0.1
A = (2 - h**2 * eta / m + h * lam / m) / (1 + h * lam / m)
B = 1 / (1 + h * lam / m)
PRINTED = {2: 0.297044334975, 10: 0.181072362152, 50: 0.027582457709, 100: -0.132831796063, 200: 0.042177591931}


def iterated(A, B, q0, q1, steps):
    q = [q0, q1]
    for _ in range(steps - 1):
        q.append(A * q[-1] - B * q[-2])
    return np.array(q)


def test_example_2_22_numbers():
    x = linear_recurrence(A, B)
    assert x.kind == "complex roots"
    assert float(x.angle) == pytest.approx(0.09939086904, abs=1e-11)
    assert x(list(PRINTED), 0.3, 0.3) == pytest.approx(list(PRINTED.values()), abs=1e-12)
    k = sympy.Symbol("k")
    read = sympy.lambdify(k, x.term(k, 0.3, 0.3))
    assert [read(j) for j in PRINTED] == pytest.approx(list(PRINTED.values()), abs=1e-12)


def test_example_2_22_is_the_motion_of_the_discrete_system():
    """The left-point rule on the damped spring, 200 steps, against the closed form: (2.5) and (2.6)."""
    spring = da.gallery.load("damped-spring").system
    run = da.simulate(
        spring, da.LeftPoint(), h=h, steps=200, start={"x.at(0)": 0.3, "x.at(1)": 0.3},
        parameters={"m": m, "eta": eta, "lam": lam},
    )  # fmt: skip
    k = np.arange(201)
    assert np.abs(run.x - linear_recurrence(A, B)(k, 0.3, 0.3)).max() < 1e-12
    # the control is the printed sign of (2.6), h eta + lambda for h eta - lambda: the digest's erratum E13
    printed = linear_recurrence(2 * np.sqrt(B) * (1 - h / (2 * m) * (h * eta + lam)) * np.sqrt(B), B)
    assert np.abs(run.x - printed(k, 0.3, 0.3)).max() > 0.4


CASES = [
    (1.9, 0.95, "complex roots"), (-1.9, 0.95, "complex roots"), (0.0, 0.5, "complex roots"),
    (2.5, 1.0, "real roots"), (-2.5, 1.0, "real roots"), (0.5, -0.3, "real roots"), (0.7, 0.0, "real roots"),
    (2.0, 1.0, "double root"), (-1.2, 0.36, "double root"), (0.0, 0.0, "double root"),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "kind"), CASES)
def test_all_three_cases_in_numbers_and_in_symbols(a, b, kind):
    x, wanted = linear_recurrence(a, b), iterated(a, b, 0.3, 0.7, 30)
    size = np.abs(wanted).max()
    assert x.kind == kind
    assert np.abs(x(np.arange(31), 0.3, 0.7) - wanted).max() < 1e-13 * size
    terms = [complex(sympy.N(x.term(k, 0.3, 0.7))) for k in (0, 1, 2, 7, 30)]
    assert np.abs(np.array(terms) - wanted[[0, 1, 2, 7, 30]]).max() < 1e-12 * size


@pytest.mark.parametrize("shift", [1e-9, -1e-9, 1e-13])
def test_nothing_is_lost_near_a_double_root(shift):
    wanted = iterated(2 * (1 + shift), 1.0, 0.3, 0.7, 100)
    assert np.abs(linear_recurrence(2 * (1 + shift), 1.0)(np.arange(101), 0.3, 0.7) / wanted - 1).max() < 1e-11


def test_symbols_keep_the_cases_they_leave_open():
    a, b = sympy.symbols("a b", positive=True)
    open_ = linear_recurrence(a, b)
    assert open_.kind == "undecided"
    k, q0, q1 = sympy.Symbol("k", integer=True, nonnegative=True), *sympy.symbols("q_0 q_1")
    for values in ((1.9, 0.95), (2.5, 1.0), (1.2, 0.36)):
        at = dict(zip((a, b), values, strict=True)) | {k: 9, q0: 0.3, q1: 0.7}
        assert float(open_.solution.subs(at)) == pytest.approx(iterated(*values, 0.3, 0.7, 9)[9], rel=1e-12)
    assert linear_recurrence(2 * a, a**2).kind == "double root"
    assert linear_recurrence(2 * a, 2 * a**2).kind == "complex roots"
    assert linear_recurrence(3 * a, a**2).kind == "real roots"


@pytest.mark.parametrize(
    ("names", "index", "first"),
    [("a b", "k", "q_0"), ("k b", "j", "q_0"), ("k j", "n", "q_0"), ("q_0 q_1", "k", "u_0"), ("k q_1", "j", "u_0")],
)
def test_the_symbols_of_the_solution_are_not_those_of_the_coefficients(names, index, first):
    """With a spring constant k the index is another letter: what is substituted for the one does not touch the other."""
    a, b = sympy.symbols(names, positive=True)
    found = linear_recurrence(a, b)
    assert (found.index.name, found.first[0].name) == (index, first)
    assert not {s.name for s in (found.index, *found.first)} & {a.name, b.name}
    at = {a: 1.9, b: 0.95, found.index: 9} | dict(zip(found.first, (0.3, 0.7), strict=True))
    assert float(found.solution.subs(at)) == pytest.approx(iterated(1.9, 0.95, 0.3, 0.7, 9)[9], rel=1e-12)
    assert f"{first[0]}[{index}+1]" in str(found)


def test_when_all_letters_are_taken():
    names = sympy.symbols("k j n i l k_", positive=True)
    assert linear_recurrence(sum(names), 1).index.name == "k__"


def test_it_shows_itself_and_says_what_is_missing():
    a = sympy.Symbol("a", positive=True)
    assert "double root" in str(linear_recurrence(2 * a, a**2))
    assert linear_recurrence(2 * a, a**2)._repr_latex_().startswith("$")
    with pytest.raises(ModelError, match=r"a have no value. Use .term"):
        linear_recurrence(a, 1)(3, 0, 1)
