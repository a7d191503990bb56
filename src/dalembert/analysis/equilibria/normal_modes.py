"""Normal modes: the motions exp(s t) u of the linearised equations, in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...display import Part, Shown, Table
from ...errors import StartError
from ...model.bodies.assembly import system_of
from ...model.coordinates import Coordinate
from ...model.heat import mechanical
from ...model.system import System
from ...run.values import Array, Values, parameter_values
from ...theory.small_motions.linearised import Linearisation, contained, linearise
from .rest_equations import around, rest
from .stability import Numbers, Stability, stability


@dataclass(frozen=True, eq=False)
class Mode:
    """One motion exp(s t) u of the linearised equations.

    exponent:   s; for an oscillation the one with positive imaginary part
    frequency:  the imaginary part of s, in radians per unit of time
    shape:      u, one number for each coordinate; of unit mass (u* M u = 1), complex where phases differ
    """

    exponent: complex
    shape: dict[Coordinate, complex]

    @property
    def frequency(self) -> float:
        """The imaginary part of the exponent."""
        return self.exponent.imag

    @property
    def damping_ratio(self) -> float:
        """-Re s/|s|: 0 without damping, 1 where there is no oscillation, negative where it grows."""
        return -self.exponent.real / abs(self.exponent) if self.exponent else 0.0

    @property
    def period(self) -> float:
        """2 pi over the frequency; infinite where there is no oscillation."""
        return 2 * np.pi / self.frequency if self.frequency else np.inf


@dataclass(frozen=True, eq=False, repr=False)
class NormalModes(Shown, Sequence[Mode]):
    """The normal modes about a state, a sequence of `Mode` by increasing frequency."""

    system: System
    linearisation: Linearisation
    modes: tuple[Mode, ...]
    stability: Stability

    @property
    def frequencies(self) -> Array:
        """The frequency of each mode."""
        return np.array([m.frequency for m in self.modes])

    @property
    def exponents(self) -> Array:
        """The exponent of each mode."""
        return np.array([m.exponent for m in self.modes])

    def __len__(self) -> int:
        return len(self.modes)

    def __getitem__(self, index: Any) -> Any:
        return self.modes[index]

    def __iter__(self) -> Iterator[Mode]:
        return iter(self.modes)

    def _parts(self) -> Sequence[Part]:
        at = ", ".join(f"{s} = {float(e):.6g}" for s, e in self.linearisation.about.items())
        q = self.system.coordinates
        damped = any(abs(m.exponent.real) > 1e-9 * abs(m.exponent) for m in self.modes)
        head = ("frequency", "period", *(("growth rate",) if damped else ()), *map(str, q))
        rows = [
            (m.frequency, m.period, *((m.exponent.real,) if damped else ()), *(_component(m.shape[c]) for c in q))
            for m in self.modes
        ]
        return [f"{self.system.name}: normal modes about {at}", Table(head, rows), str(self.stability)]


def _component(x: complex) -> str:
    """One component of a shape; a part that is rounding noise relative to the other is left out."""
    if abs(x.imag) <= 1e-12 * abs(x):
        return f"{x.real:.5g}"
    return f"{x.imag:.5g}i" if abs(x.real) <= 1e-12 * abs(x) else f"{x.real:.5g}{x.imag:+.5g}i"


def normal_modes(system: System, *, at: Any, parameters: Values | None = None) -> NormalModes:
    """Frequencies and shapes of the small motions about an equilibrium or a steady motion.

    `at` is an `Equilibrium` (with its parameters, unless others are given), or a state like {theta: 0}; velocities
    left out are zero. Under constraints the modes are those of the allowed displacements. For a formula instead of
    numbers see `linearise(...).squared_frequencies()`.
    """
    system = system_of(system, "normal_modes")
    mechanical(system, "normal_modes")
    chosen = getattr(at, "parameters", None) if parameters is None else parameters
    given = parameter_values(chosen, system.parameters)
    if any(v.ndim for v in given.values()):
        raise StartError(
            "normal_modes: a parameter is an array. Give one number each, and call it once for each value."
        )
    values = {name: float(v) for name, v in given.items()}
    strange = {s for e in _entries(at) for s in getattr(e, "free_symbols", ()) if s not in system.parameters}
    if strange:
        raise StartError(f"normal_modes: at contains {min(map(str, strange))}, which has no value. Give numbers.")
    lin = linearise(system, about=at, parameters={p: values[p.name] for p in system.parameters})
    numbers = Numbers(lin)
    if numbers.is_singular:
        raise StartError(
            "normal_modes: the mass matrix is singular at this state, so the motion near it is not determined. Use other "
            "coordinates near it."
        )
    state = {s.name: float(e) for s, e in lin.about.items()}
    place = {q.name: state.get(q.name, 0.0) for q in system.coordinates}
    free, family = _family(system, values, place, at_rest=not any(v.name in state for v in system.velocities))
    verdict = stability(numbers, {**values, **place, **state}, free, family)
    modes = _conservative(numbers) if _is_conservative(numbers) else _general(numbers)
    return NormalModes(system, lin, tuple(modes), verdict)


def _entries(at: Any) -> list[Any]:
    """The values of a state."""
    state = getattr(at, "state", at)
    return list(state.values()) if isinstance(state, Mapping) else []


def _family(system: System, values: dict[str, float], place: dict[str, float], at_rest: bool) -> tuple[Array, int]:
    """The free directions and the dimension of the family: of states of rest, or of steady motions."""
    if at_rest:
        r = rest(system, values, around([place[q.name] for q in system.coordinates]))
        return r.free, r.family
    names = contained(system)
    columns = [np.eye(len(place))[:, i] for i, q in enumerate(system.coordinates) if q.name not in names]
    return np.array(columns).reshape(-1, len(place)).T, len(columns)


def _is_conservative(numbers: Numbers) -> bool:
    """Whether there are only a mass and a stiffness matrix, so that the modes are real."""
    if not (numbers.lin.is_second_order and numbers.lin.system.is_ideal and not numbers.lin.system.kinematic):
        return False
    M, D, S = (numbers.reduced(a) for a in (numbers.M, numbers.D, numbers.S))
    return numbers.squares() is not None and not np.abs(D).any() and numbers.is_zero(S - S.T, S) and bool(len(M))


def _conservative(numbers: Numbers) -> list[Mode]:
    from scipy.linalg import eigh

    M, K = numbers.reduced(numbers.M), numbers.reduced(numbers.S)
    _, vectors = eigh((K + K.T) / 2, (M + M.T) / 2)
    squares, modes = numbers.squares(), []
    for w, u in zip([] if squares is None else squares, vectors.T, strict=True):
        s = complex(np.sqrt(-w)) if w < 0 else complex(0, np.sqrt(w))
        modes.append(Mode(s / numbers.time, _named(numbers, _turned(numbers, numbers.basis @ u))))
    return modes


def _general(numbers: Numbers) -> list[Mode]:
    """One mode for each pair of complex exponents and for each real one."""
    exponents, moved, vectors = numbers.spectrum
    exponents = np.where(np.abs(exponents) <= moved, 0.0, exponents)
    exponents = np.where(np.abs(exponents.imag) <= moved, exponents.real, exponents)
    exponents = np.where(np.abs(exponents.real) <= moved, 1j * exponents.imag, exponents)
    order = [k for k in np.lexsort((exponents.real, exponents.imag)) if exponents[k].imag >= 0]
    modes = []
    for k in order:
        u = numbers.displacements @ vectors[: numbers.displacements.shape[1], k]
        mass = float(np.real(u.conj() @ numbers.M @ u))
        modes.append(
            Mode(
                complex(exponents[k]) / numbers.time,
                _named(numbers, _turned(numbers, u / np.sqrt(mass) if mass > 0 else u)),
            )
        )
    return modes


def _turned(numbers: Numbers, u: Array) -> Array:
    """The same motion with its largest component, that of the largest kinetic energy, real and positive."""
    if not np.abs(u).any():
        return u
    size = np.abs(u) * np.sqrt(np.abs(np.diag(numbers.M)))
    lead = u[int((size > 0.999 * size.max()).argmax())]
    return np.asarray(u * np.conj(lead) / abs(lead))


def _named(numbers: Numbers, u: Array) -> dict[Coordinate, complex]:
    """Own components as displacements; one that is rounding noise relative to the largest is zero."""
    q, size = numbers.lin.system.coordinates, np.abs(u).max(initial=0)
    real = np.abs(np.imag(u)).max(initial=0) <= 1e-12 * size
    u = np.where(np.abs(u) <= 1e-12 * size, 0.0, u) * numbers.units
    return {c: float(np.real(x)) if real else complex(x) for c, x in zip(q, u, strict=True)}


__all__ = ["Mode", "NormalModes", "normal_modes"]
