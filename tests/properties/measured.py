"""Questions asked of one system in several systems of units: what is said must be the same, numbers the scaled numbers."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import sympy


@dataclass(frozen=True)
class Measure:
    """Units of mass, length and time: powers of ten that old numbers are multiplied by."""

    mass: int = 0
    length: int = 0
    time: int = 0

    def power(self, m=0, l=0, t=0):
        """The exponent of ten of a quantity of these dimensions."""
        return m * self.mass + l * self.length + t * self.time

    def __call__(self, number, m=0, l=0, t=0):
        """A number of these dimensions in the new units, exactly."""
        return sympy.Rational(str(number)) * sympy.Integer(10) ** self.power(m, l, t)

    def double(self, number, m=0, l=0, t=0):
        """The same as a double."""
        return float(self(number, m, l, t))

    def back(self, number, m=0, l=0, t=0):
        """A number, or an array, of the new units in the old ones."""
        return np.asarray(number, dtype=float) * 10.0 ** -self.power(m, l, t)


def random_measure(seed, decades=12):
    """Units by random powers of ten."""
    rng = random.Random(seed)
    return Measure(*(rng.randint(-decades, decades) for _ in range(3)))


def differences(case, measures, within=1e-6):
    """What a case says otherwise in other units; a case returns words and numbers by name."""
    words, numbers = case(Measure())
    found = []
    for u in measures:
        other, others = case(u)
        found += [f"{u}: {k}: {words[k]!r} / {other.get(k)!r}" for k in words if words[k] != other.get(k)]
        for k, value in numbers.items():
            a, b = np.asarray(value, dtype=float), np.asarray(others.get(k, np.nan), dtype=float)
            if a.shape != b.shape or (np.isfinite(a) != np.isfinite(b)).any():
                found.append(f"{u}: {k}: {a} / {b}")
                continue
            off, size = np.abs(a - b)[np.isfinite(a)].max(initial=0), np.abs(a[np.isfinite(a)]).max(initial=0)
            if not off <= within * size:
                found.append(f"{u}: {k}: differs by {off:.3g} of {size:.3g}")
    return found
