"""The study of convergence: orders of positions, momenta, entropies and energy, as a table and as a figure."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import exp
from dalembert.analysis.accuracy.convergence import convergence, fitted_order

from ..conformance import systems

x, S = systems.x, systems.S
m, mu, nu, T0 = da.parameters("m mu nu T0", positive=True)
CART = da.System(
    "cart",
    [x],
    kinetic=m * x.dot**2 / 2,
    entropies=[S],
    internal_energy=nu * T0 * exp(S / nu),
    friction={x: -mu * x.dot},
)
NUMBERS, START = {m: 5, mu: 3, nu: 1, T0: 300}, {x: 0, x.dot: 2, S: 0}
HS = (0.2, 0.1, 0.05)


def exact(t):
    """(4.3) and (4.5) of the digest."""
    return {
        x: 10 / 3 * (1 - np.exp(-3 * t / 5)),
        x.dot: 2 * np.exp(-3 * t / 5),
        S: np.log(31 / 30) + np.log(1 - 20 / (2 * 310) * np.exp(-6 * t / 5)),
    }


def test_the_cart_against_its_exact_solution():
    """The errors of the digest's table for the Legendre start, to its printed digits, and the orders 1 and 2."""
    study = convergence(
        CART,
        [da.LeftPoint(), da.Midpoint(), da.DiscreteGradient()],
        HS,
        start=START,
        parameters=NUMBERS,
        until=10,
        exact=exact,
    )
    left, middle = study[da.LeftPoint()], study[da.Midpoint()]
    assert np.allclose(left.errors["q"], (0.070048, 0.035898, 0.018167), rtol=5e-5, atol=0)
    assert np.allclose(left.errors["S"], (2.0202e-3, 1.0405e-3, 5.2808e-4), rtol=5e-5, atol=0)
    assert np.allclose(middle.errors["q"], (1.47264e-3, 3.67949e-4, 9.19742e-5), rtol=5e-6, atol=0)
    assert np.allclose(middle.errors["S"], (1.4456e-5, 3.6098e-6, 9.0220e-7), rtol=5e-5, atol=0)
    for name in ("q", "p", "S", "E"):
        assert abs(left.orders[name] - 1) < 0.1
        assert abs(middle.orders[name] - 2) < 0.05
    assert np.isnan(study[da.DiscreteGradient()].orders["E"]), "its energy is exact: there is no slope to fit"
    assert "exact solution" in str(study)


def test_against_a_reference_solution():
    c = systems.heated()
    study = convergence(
        c.system, [da.Midpoint(), da.RungeKutta4()], [0.1, 0.05, 0.025], start=c.start, parameters=c.parameters, until=1
    )
    for line in study.lines:
        assert all(abs(line.orders[name] - line.method.order) < 0.5 for name in ("q", "p", "S", "E"))
    assert "tolerance 1e-13" in str(study)
    assert "error of S" in str(study)
    assert "| method |" in study._repr_markdown_()


def test_a_mechanical_system_has_no_entropies():
    e = da.gallery.load("pendulum")
    study = convergence(e.system, da.Midpoint(), [0.1, 0.05], start=e.start, parameters=e.parameters, until=1)
    assert list(study.lines[0].errors) == ["q", "p", "E"]
    assert abs(study.lines[0].orders["q"] - 2) < 0.1


def test_the_figure(tmp_path):
    study = convergence(
        CART, [da.LeftPoint(), da.Midpoint()], HS, start=START, parameters=NUMBERS, until=2, exact=exact
    )
    figure = study.plot(tmp_path / "study.png")
    assert (tmp_path / "study.png").stat().st_size > 10_000
    assert [a.get_title(loc="left") for a in figure.axes] == ["positions", "momenta", "entropies", "energy"]


def test_every_step_divides_the_time():
    """Motions that end at different times are not compared; a start time counts."""
    with pytest.raises(
        da.MethodError, match=r"hs = \[0.3, 0.15\] do not all divide the time 1 .* hs=\[0.3333333333, 0.1428"
    ):
        convergence(CART, da.Midpoint(), [0.3, 0.15], start=START, parameters=NUMBERS, until=1)
    study = convergence(
        CART, da.Midpoint(), [0.3333333333, 0.1428571429], start=START, parameters=NUMBERS, until=1, exact=exact
    )
    assert abs(study.lines[0].orders["q"] - 2) < 0.1
    late = START | {da.time: 0.1}
    convergence(CART, da.Midpoint(), [0.3, 0.15], start=late, parameters=NUMBERS, until=1)
    with pytest.raises(da.MethodError, match=r"do not all divide the time 0\.9"):
        convergence(CART, da.Midpoint(), [0.1, 0.2], start=late, parameters=NUMBERS, until=1)


def test_fitted_order():
    hs = np.array([0.1, 0.05, 0.025])
    assert fitted_order(hs, 3 * hs**4) == pytest.approx(4)
    assert np.isnan(fitted_order(hs, np.full(3, 1e-16), floor=1e-15))
    assert abs(fitted_order(hs, np.maximum(3 * hs**4, 1e-5)) - 4) > 0.5  # the control: rounding taken for error


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"methods": da.Reference()}, "is adaptive"),
        ({"methods": [da.Midpoint]}, "Write Midpoint\\(\\), with parentheses"),
        ({"methods": da.Midpoint}, "Write Midpoint\\(\\), with parentheses"),
        ({"methods": 3}, "is not a method"),
        ({"hs": None}, "two or more different steps"),
        ({"hs": [0.1, "a"]}, "two or more different steps"),
        ({"hs": [0.1, 0]}, "two or more different steps"),
        ({"until": "a"}, "give a time"),
        ({"until": 0}, "the motion lasts 0"),
        ({"methods": []}, "no methods were given"),
        ({"hs": [0.1]}, "two or more different steps"),
        ({"hs": 0.1}, "two or more different steps"),
        ({"methods": da.Gauss(2)}, "it has entropies"),
        ({"exact": lambda t: {x: t}}, "gives no S"),
        ({"start": {x: np.zeros(2), x.dot: 1, S: 0}}, "one motion"),
        ({"system": "cart"}, "Expected a System"),
    ],
)
def test_messages(given, said):
    usual = {"system": CART, "methods": da.Midpoint(), "hs": HS, "start": START, "parameters": NUMBERS, "until": 1}
    with pytest.raises(da.DalembertError, match=said):
        convergence(**{**usual, **given})
