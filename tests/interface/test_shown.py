"""Results show themselves: lines in a terminal, Markdown with LaTeX in a notebook."""

from __future__ import annotations

import sympy

import dalembert as da
from dalembert.display import Shown, Table


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
