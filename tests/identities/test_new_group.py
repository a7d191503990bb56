"""A group of one's own is one class: the rotations of the plane, SO(2), as an example that the library does not have."""

from __future__ import annotations

from math import hypot

import numpy as np
import pytest
import symengine

import dalembert as da
from dalembert.model.frame import Frame
from dalembert.model.group import Group
from dalembert.model.space import GROUPS
from dalembert.symbolic import fast


class Turn(Group):
    """A rotation of the plane, held by two numbers (a, b) of any length; Cayley's retraction, as for rotations in space."""

    noun, size, turns, vector_names = "turn", 2, ("turn0",), ("rate", "momentum")

    @property
    def numbers(self):
        return (f"{self.name}.real", f"{self.name}.imaginary")

    def in_numbers(self):
        a, b = map(fast, self.numbers)
        c, s = (a**2 - b**2) / (a**2 + b**2), 2 * a * b / (a**2 + b**2)
        return dict(zip(map(fast, self.entries), (c, -s, s, c), strict=True))

    def rates(self):
        (a, b), w = map(fast, self.numbers), fast(self.directions[0].dot) / 2
        return [-b * w, a * w]

    def slopes(self, k):
        c, ms, s, _ = map(fast, self.entries)
        return dict(zip(map(fast, self.entries), (ms, -c, c, -s), strict=True))

    @property
    def frame(self):
        d = self.directions[0]
        return Frame((d.dot,), (d.ddot,), (self.slopes(0),))

    def retracted(self, xi_over_h, h):
        (a, b), x = map(fast, self.numbers), xi_over_h[0] / 2
        root = symengine.sqrt(1 + h**2 * x**2)
        shorter = h * x**2 / (root * (1 + root))
        return [a + h * (-b * x / root - a * shorter), b + h * (a * x / root - b * shorter)]

    def fraction(self, beta, xi):
        return [[fast(1)]]  # one direction: the frame does not turn

    def moved_entries(self, beta, xi):
        x = xi[0] / 2
        if beta == fast(1) / 2:
            x = x / (1 + symengine.sqrt(1 + x**2))
        elif beta != 1:
            x = beta * x
        c, s = (1 - x**2) / (1 + x**2), 2 * x / (1 + x**2)
        p, mq, q, _ = map(fast, self.entries)
        return dict(
            zip(map(fast, self.entries), (p * c - q * s, mq * c - p * s, q * c + p * s, p * c - q * s), strict=True)
        )

    def start_shift(self, xi, u):
        return [(1 + xi[0] ** 2 / 4) * u[0]]

    def transport(self, xi, p):
        return [fast(0)]

    def read(self, given):
        angle = np.arctan2(given[..., 1, 0], given[..., 0, 0])
        return np.stack([np.cos(angle / 2), np.sin(angle / 2)], axis=-1)

    def shown(self, numbers):
        a, b = np.moveaxis(numbers, -1, 0)
        c, s = (a**2 - b**2) / (a**2 + b**2), 2 * a * b / (a**2 + b**2)
        return np.moveaxis(np.array([[c, -s], [s, c]]), (0, 1), (-2, -1))

    def moved(self, numbers, xi):
        a, b, x = numbers[..., 0], numbers[..., 1], xi[..., 0] / 2
        return np.stack([a - b * x, b + a * x], axis=-1) / np.sqrt(1 + x**2)[..., None]

    def difference(self, first, second):
        a, b = np.moveaxis(first, -1, 0), np.moveaxis(second, -1, 0)
        return (2 * (a[0] * b[1] - a[1] * b[0]) / (a[0] * b[0] + a[1] * b[1]))[..., None]

    def drawn(self, chance):
        a, b = chance.gauss(0, 1), chance.gauss(0, 1)
        c, s = a / hypot(a, b), b / hypot(a, b)
        return dict(zip((e.name for e in self.entries), (c, -s, s, c), strict=True))

    @property
    def unit_entries(self):
        return self.entries

    @property
    def curves(self):
        return tuple(self.matrix[:, 0])

    def body_name(self, k):
        return f"angular momentum of {self.name}"

    def in_space(self, covector):
        return {f"angular momentum of {self.name} in space": covector[0]}


T = Turn("T")
RATE = T.vectors[0]
J, m, g, l = da.parameters("J m g l", positive=True)
NUMBERS = {J: 1.3, m: 1.0, g: 9.81, l: 0.4}
MATRIX = np.array([[np.cos(1.1), -np.sin(1.1)], [np.sin(1.1), np.cos(1.1)]])


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    monkeypatch.setitem(GROUPS, "Turn", Turn)


def pendulum():
    return da.System("pendulum", [T], kinetic=J * RATE[0] ** 2 / 2, potential=-m * g * l * T[0, 0])


def test_a_pendulum_on_the_circle(tmp_path):
    theta = da.coordinates("theta")
    plain = da.System("pendulum", [theta], kinetic=J * theta.dot**2 / 2, potential=-m * g * l * da.cos(theta))
    exact = da.simulate(
        plain, da.Reference(rtol=1e-12), h=1, until=2, start={theta: 1.1, theta.dot: 0.3}, parameters=NUMBERS
    )
    for method in (da.Midpoint(), da.Trapezoidal(), da.Composition(da.Midpoint(), 4), da.RungeKutta4()):
        errors = []
        for h in (0.02, 0.01):
            run = da.simulate(pendulum(), method, h=h, until=2, start={T: MATRIX, RATE: (0.3,)}, parameters=NUMBERS)
            errors.append(abs(run[RATE][-1, 0] - exact[theta.dot][-1]))
        assert abs(np.log2(errors[0] / errors[1]) - method.order) < 0.3
    assert da.load(run.save(tmp_path / "run.nc")).system == pendulum()
    assert run[T].shape == (201, 2, 2) and "T.rate" in run.dataset
    assert np.array_equal(run["T.rate"], run[RATE])
    run.plot()


def test_what_is_conserved_is_named_by_the_group():
    free = pendulum().replace(potential=0)
    run = da.simulate(free, da.Midpoint(), h=0.1, steps=100, start={T: MATRIX, RATE: (2.0,)}, parameters={J: 1.3})
    rows = {row.quantity: row.verdict for row in da.audit(run).rows}
    assert rows["angular momentum of T"] == rows["angular momentum of T in space"] == "kept to rounding"
    with pytest.raises(da.MethodError, match="T is a turn, and its formula is for coordinates that are numbers"):
        da.simulate(free, da.Gauss(2), h=0.1, steps=1, start={T: MATRIX, RATE: (2.0,)}, parameters={J: 1.3})
