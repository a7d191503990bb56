"""Results show themselves: lines in a terminal, Markdown with LaTeX in a notebook."""

from __future__ import annotations

import importlib
import pkgutil
import re

import sympy

import dalembert as da
import dalembert.display
from dalembert.display import SAVED, Formulas, Shown, Table, operations


class Result(Shown):
    def __init__(self, *parts):
        self.parts = parts

    def _parts(self):
        return self.parts


x, y = da.coordinates("x y")


def test_text():
    shown = str(
        Result("a sentence", ("energy", x.dot**2 / 2), sympy.Eq(x, y), Table(("name", "value"), [("a", 0.5), ("b", x)]))
    )
    assert shown.splitlines() == [
        "a sentence",
        "  energy:  x.dot**2/2",
        "  x = y",
        "  name  value",
        "  -----------",
        "  a     0.5",
        "  b     x",
    ]


def test_a_long_formula_and_a_matrix_are_written_as_on_paper():
    long = sum(sympy.sin(k * x) / (1 + y**k) for k in range(1, 12))
    assert len(str(Result(("long", long))).splitlines()) > 2
    assert "⎡" in str(Result(("matrix", sympy.Matrix([[x, y], [y, x]]))))


def test_markdown():
    shown = Result("a sentence", ("energy", x.dot**2 / 2), Table(("name",), [(x,)]))._repr_markdown_()
    assert r"energy: $\displaystyle \frac{\dot{x}^{2}}{2}$" in shown
    assert "| name |\n|---|\n| $x$ |" in shown


def test_every_result_of_the_theory_shows_itself():
    cart, disk = (da.gallery.load(name).system for name in ("cart-pendulum", "rolling-disk"))
    for result in (da.classify(disk), da.routh(cart), da.hamilton(cart), da.structure(cart), da.reactions(disk)):
        assert len(str(result)) > 50
        assert "$" in result._repr_markdown_() or "|" in result._repr_markdown_()


def results():
    """Results of public functions, one of each kind."""
    e = da.gallery.load("cart-pendulum")
    cart, disk = e.system, da.gallery.load("rolling-disk").system
    values = dict(e.parameters)
    rest = da.equilibria(cart, parameters=values)
    run = da.simulate(cart, da.Midpoint(), h=e.h, steps=20, start=e.start, parameters=values)
    yield from (da.classify(disk), da.first_integrals(cart, degree=0), da.reactions(disk), da.structure(cart))
    yield from (rest, rest[0], da.normal_modes(cart, at=rest[0]), da.linearise(cart, about=rest[0]), da.routh(cart))
    yield from (da.hamilton(cart), da.hamel(disk), da.audit(run, seconds=0))
    yield da.flow(cart, da.Midpoint(), h=e.h, start=e.start, parameters=values)
    yield da.energy_balance(da.gallery.load("two-gas-chambers").system)


def test_the_repr_of_every_result_is_its_display():
    """A dataclass would write its fields instead, unless it says repr=False."""
    for module in pkgutil.walk_packages(da.__path__, "dalembert."):
        importlib.import_module(module.name)

    def below(kind):
        return {kind, *(c for sub in kind.__subclasses__() for c in below(sub))}

    kinds = {c for c in below(Shown) | below(Formulas) if c.__module__.startswith("dalembert.")}
    assert len(kinds) > 80
    assert {c for c in kinds if c.__repr__ not in (Shown.__repr__, Formulas.__repr__)} == set()
    assert repr(da.gallery.load("pendulum")) == str(da.gallery.load("pendulum"))


def outside_of_formulas(markdown):
    """Markdown without formulas and without what is escaped."""
    return re.sub(r"\$[^$]*\$", "", re.sub(r"\\.", "", re.sub(r"\$\\displaystyle.*?(?<!\\)\$", "", markdown)))


def test_markdown_of_results_is_what_it_says():
    for result in results():
        shown = result._repr_markdown_()
        plain = outside_of_formulas(re.sub(r"(?<!\\)\$[^$]*(?<!\\)\$", "", shown))
        assert not set("*_`$") & set(plain), (type(result), plain)
        assert not any(line.startswith("    ") for line in shown.splitlines()), type(result)
        assert "Float(" not in shown and "Symbol(" not in shown


def test_control_a_star_of_a_formula_is_escaped():
    assert Result("x*y*z_1")._repr_markdown_() == r"x\*y\*z\_1"
    assert set("*") & set(outside_of_formulas("x*y*z"))


def pieces(latex):
    """Whether braces and environments of LaTeX are closed."""
    plain = re.sub(r"\\[{}]", "", latex)
    depth = 0
    for c in plain:
        depth += (c == "{") - (c == "}")
        assert depth >= 0, latex
    begun, ended = (re.findall(rf"\\{word}\{{(\w+)\}}", latex) for word in ("begin", "end"))
    return depth == 0 and sorted(begun) == sorted(ended) and latex.count(r"\left") == latex.count(r"\right")


def test_whatever_has_formulas_gives_them_as_latex():
    formulas = 0
    for result in results():
        latex = result.latex()
        assert pieces(latex) and "displaystyle" not in latex
        if "displaystyle" in result._repr_markdown_():
            formulas += 1
            assert latex, type(result)
    assert formulas > 6
    assert not pieces(r"\frac{a}{b")  # the control


def test_systems_equations_and_discrete_equations_are_latex_too():
    e = da.gallery.load("cart-pendulum")
    steps = da.discretise(e.system, da.midpoint_map)
    for result in (e.system, e.system.equations(), steps.equations()):
        assert pieces(result.latex()) and result.latex().startswith(r"\begin{aligned}")
    assert e.system.equations()._repr_latex_() == rf"$\displaystyle {e.system.equations().latex()}$"
    oscillator = da.gallery.load("harmonic-oscillator").system
    for result in (da.modified_equation(oscillator, da.Midpoint(), 2), da.exact_discrete_lagrangian(oscillator)):
        assert pieces(result.latex()) and result.latex() in result._repr_latex_()


def with_repetition():
    """A sum in which each k x + y occurs four times."""
    angles = [k * x + y for k in range(1, 25)]
    return sum(u * sympy.sin(u) ** 2 * sympy.exp(u) / (1 + u**2) for u in angles)


def test_long_formulas_have_named_parts():
    long = with_repetition()
    shown = Result(("long", long))
    assert "sigma_{1}" in shown.latex() and "sigma_{1}" in shown._repr_markdown_()
    (short,), named = da.display.named_parts([long])
    back = short
    for name, part in reversed(named):
        back = back.xreplace({name: part})
    at = {x: 0.3, y: 0.2}
    assert abs(float(back.subs(at)) / float(long.subs(at)) - 1) < 1e-12
    assert da.display.named_parts([x + y]) == ([x + y], [])


def test_long_formulas_have_named_parts_in_a_terminal_too():
    long = with_repetition()
    lines = str(Result(("long", long))).splitlines()
    assert any(line.strip().startswith(("sigma1 =", "σ₁ =")) for line in lines)
    thermal = str(da.gallery.load("thermoelastic-double-pendulum").system.equations())
    assert "σ₁ = x₁  + y₁" in thermal


def test_a_name_stands_for_one_part_in_one_output():
    """Two long formulas: names are counted on, and a part that both have keeps its name."""
    other = with_repetition().xreplace({y: 3 * y})
    both = Result(("first", with_repetition()), ("second", other), ("third", with_repetition() + other))
    patterns = (r"^  (sigma\d+) = (.*)$", r"(?<=\\\\ )(\\sigma_\{\d+\}) &= ([^&]*?)(?= \\\\|\\end)",
                r"\$\\displaystyle (\\sigma_\{\d+\}) = (.*)\$")  # fmt: skip
    for told, pattern in zip((str(both), both.latex(), both._repr_markdown_()), patterns, strict=True):
        named = re.findall(pattern, told, re.M)
        assert len(set(named)) == len({name for name, _ in named}) == len({part for _, part in named}) > 40
        assert len(named) == 2 * len(set(named))  # the third formula has the names of the others


def test_a_part_has_a_name_only_if_that_saves_something():
    """Names for m l, which occurs twice, hide more than they save."""
    small = sum(sympy.sin(x + k) * y * x.dot for k in range(60))
    assert da.display.named_parts([small]) == ([small], [])
    for n, worth in ((3, False), (4, True)):  # sin(x) + y, of two operations, n times
        many = sum(k**2 * sympy.exp(k * x.dot) for k in range(3, 80)) + sum(
            (sympy.sin(x) + y) ** k for k in range(2, 2 + n)
        )
        _, named = da.display.named_parts([many])
        assert bool(named) == worth
        assert all(operations(part) * (n - 1) >= SAVED for _, part in named)


def test_sums_of_quotients_are_one_quotient():
    from dalembert.theory.algebra import tidy

    a, b = da.parameters("a b", positive=True)
    parts = (
        a * x.dot / (a + b * sympy.cos(x) ** 2) ** 2 + b * sympy.cos(x) ** 2 * x.dot / (a + b * sympy.cos(x) ** 2) ** 2
    )
    assert operations(tidy(parts)) <= 7 and sympy.simplify(tidy(parts) - parts) == 0
    pieces = sum(a * (x.dot + k * y.dot) / ((a + b) * (a + k * b)) + k * b * (x.dot + k * y.dot) / ((a + b) * (a + k * b))
                 for k in range(1, 12))  # fmt: skip
    assert operations(tidy(pieces)) < 10
    slow = sympy.cos(x) ** 2 * a + b + a * sympy.sin(x) ** 2
    assert tidy(y.dot / slow) == y.dot / (a + b)


def test_a_formula_wider_than_a_screen_is_one_line():
    wide = sum(sympy.sin(k * x) / (1 + y**k) for k in range(1, 40))
    assert len(str(Result(("wide", wide))).splitlines()) == 1
    chain = str(da.gallery.load("pendulum-chain").system.equations())
    assert max(len(block.splitlines()) for block in chain.split("\n\n")) == 1


def test_systems_examples_evaluations_and_events_show_themselves():
    e = da.gallery.load("two-gas-chambers")
    assert r"$\displaystyle T = \frac{m \dot{x}^{2}}{2}$" in e.system._repr_markdown_()
    assert "| $m$ |" in e._repr_markdown_() and "Source:" in e._repr_markdown_()
    assert "friction on x that heats S1" in e.system._repr_markdown_()
    disk = da.gallery.load("rolling-disk").system
    assert disk._repr_markdown_().count("= 0$") == len(disk.constraints) == 2
    ball = da.System("ball", [y], kinetic=y.dot**2 / 2, potential=9.81 * y)
    assert "9.81" in ball._repr_markdown_() and "981" not in ball.latex().replace("9.81", "")
    given = {"h": 0.1, "start": {y: 1, y.dot: 0}}
    run = da.simulate(ball, da.Midpoint(), steps=10, events=[da.Event(y, {y.dot: -y.dot / 2}, name="floor")], **given)
    assert "| floor | 0 |" in run.events._repr_markdown_() and "floor" in str(run.events)
    assert run.events == tuple(run.events) and isinstance(run.events, tuple)
    assert str(da.simulate(ball, da.Midpoint(), steps=1, **given).events) == "no crossings"
    assert r"| $\ddot{y}$ | -9.81 |" in da.evaluate(ball, at={y: 1, y.dot: 0})._repr_markdown_()
