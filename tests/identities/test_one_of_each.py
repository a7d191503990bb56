"""What is derived in one place is what its several readers need: accelerations, plain data, scaling of step matrices."""

from __future__ import annotations

import numpy as np
import pytest
import symengine
import sympy

import dalembert as da
from dalembert import Piecewise, cos
from dalembert.analysis.steps.step_matrices import scales
from dalembert.discrete import serial as fast_serial
from dalembert.model import serial
from dalembert.symbolic import fast, number
from dalembert.theory.motion.lagrange import linear_motion, mass_matrix, unknowns

x, y = da.coordinates("x y")
m, c = da.parameters("m c", positive=True)
t = da.time

CURVED = da.System(
    "curved",
    [x, y],
    kinetic=m * (x.dot**2 + (2 + x**2) * y.dot**2) / 2 + x.dot * y.dot * cos(y) / 3,
    potential=x * y,
    forces={x: -c * x.dot},
    constraints=[y.dot * x - x.dot + sympy.sin(t)],
    variations=[x.dot - 2 * x * y.dot],
)
AT = {"x": 0.7, "y": -0.4, "x.dot": 0.3, "y.dot": 0.9, "m": 1.3, "c": 0.2, "t": 0.6}


def numbers(rows):
    return np.array([[number(fast(e), AT) for e in row] for row in rows])


def test_the_parts_of_the_equations_of_motion():
    """m a - omega^T lambda = f, A a + C = 0 with the mass matrix, the variations and the rows of the system."""
    linear = linear_motion(CURVED)
    np.testing.assert_allclose(numbers(linear.mass), numbers(mass_matrix(CURVED)), rtol=1e-14)
    np.testing.assert_allclose(numbers(linear.forms), numbers(CURVED.variations), rtol=1e-14)
    np.testing.assert_allclose(numbers(linear.rows), numbers([k.coefficients for k in CURVED.constraints]), rtol=1e-14)
    assert not np.allclose(
        numbers(linear.forms), numbers(linear.rows)
    )  # control: the variations are not the constraints
    u = np.linalg.solve(numbers(linear.matrix), numbers([linear.right])[0])
    a, force = u[:2], u[2:]
    np.testing.assert_allclose(numbers(linear.mass) @ a - numbers(linear.forms).T @ force, numbers([linear.load])[0])
    np.testing.assert_allclose(numbers(linear.rows) @ a, -numbers([linear.hidden])[0])


def test_all_readers_find_the_same_accelerations():
    """Closed form, reactions at a state, and the compiled map."""
    state = {x: AT["x"], y: AT["y"], y.dot: AT["y.dot"], t: AT["t"]}
    state[x.dot] = AT["y.dot"] * AT["x"] + np.sin(AT["t"])
    values = {m: AT["m"], c: AT["c"]}
    solved = CURVED.equations().solved
    closed = [float(solved[u].subs({**state, **values})) for u in unknowns(CURVED)]
    found = da.evaluate(CURVED, at=state, parameters=values)
    compiled = [*(found.accelerations[q] for q in (x, y)), *found.multipliers]
    (reaction,) = da.reactions(CURVED).at(state, values).multipliers.values()
    np.testing.assert_allclose(compiled, closed, rtol=1e-12)
    assert reaction == pytest.approx(closed[2], rel=1e-12)
    (other,) = da.reactions(CURVED).at(state, {**values, c: 2 * AT["c"]}).multipliers.values()
    assert other != pytest.approx(closed[2], rel=1e-3)  # control: it depends on what was given


@pytest.mark.parametrize(
    "e",
    [
        sympy.Rational(-7, 3) * x**2 * m,
        sympy.Float(0.1) * cos(x) + sympy.pi,
        sympy.atan2(x, y) ** sympy.Rational(1, 2),
        Piecewise((x, x > y), (sympy.exp(y), True)),
    ],
    ids=str,
)
def test_both_libraries_pack_by_one_text(e):
    assert serial.unpack(serial.pack(e)) == e
    there = fast(e)
    back = fast_serial.unpack(fast_serial.pack(there))
    assert back == there and isinstance(back, symengine.Basic)
    assert type(serial._PACKER).__mro__[1] is type(fast_serial._PACKER).__mro__[1]


@pytest.mark.parametrize("packer", [serial, fast_serial])
def test_control_what_is_unknown_is_refused(packer):
    with pytest.raises(da.ModelError, match="unknown operation 'system'"):
        packer.unpack(["system", [1, 1]])
    with pytest.raises(da.ModelError, match="cannot be saved"):
        packer.pack(sympy.Function("f")(x) if packer is serial else symengine.Function("f")(symengine.Symbol("x")))


def test_one_normal_form_in_any_units():
    """The diagonal of the largest product is 1, whatever the units; a matrix without one is still free of units."""
    rng = np.random.default_rng(3)
    units = 10.0 ** rng.integers(-8, 8, (2, 4))
    for zeros in ((), ((0, 1), (1, 0), (2, 3)), tuple((i, 3) for i in range(4))):
        sizes = rng.uniform(0.1, 2, (1, 4, 4))
        for i, j in zeros:
            sizes[0, i, j] = 0
        other = units[0][:, None] * sizes * units[1]
        plain, scaled = scales(sizes).of(sizes), scales(other).of(other)
        np.testing.assert_allclose(scaled, plain, rtol=1e-8)
        assert not np.allclose(other, sizes)  # control
        singular = len(zeros) == 4
        assert scales(sizes).together.any() != singular
        assert singular or np.isclose(plain, 1).sum() >= 4
