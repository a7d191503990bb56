"""Stability of an equilibrium or a steady motion: the verdict, and the theorem it follows from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...decide import balls
from ...decide.zero import vanishes
from ...model.system import System
from ...rigour.enclosure import Enclosure
from ...rigour.interval import Interval
from ...rigour.isolation import rank
from ...run.values import Array
from ...symbolic import Fast, fast, gradient, jacobian, magnitude, number, substitute
from ...theory.small_motions.linearised import Linearisation, steady_balance
from .rest_equations import around

ROUNDING = 32 * float(np.finfo(float).eps)
"""The relative error of entries of the matrices here, which are computed by a few operations from accurate numbers."""


@dataclass(frozen=True, eq=False)
class Stability:
    """A verdict and the reason for it.

    verdict:    "stable", "asymptotically stable", "unstable" (theorems about the nonlinear motion), "linearly stable"
                (of the linearised motion only), "neutral" (free in all directions: only drift is possible) or "undecided"
    exponents:  the numbers s of the linearised motions exp(s t)
    """

    verdict: str
    reason: str
    exponents: Array

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason}"


class Numbers:
    """The linearised equations in numbers, on the displacements and velocities that the constraints allow.

    Displacements are eta = units * (own components), with which the mass matrix has ones on its diagonal, and time is
    in units of `time`, in which the fastest rate is about one. All matrices here are in these units, so that
    numbers can be compared with one another and with 1.
    """

    def __init__(self, lin: Linearisation):
        names = ("second", "first", "zeroth", "forms", "rates", "drifts")
        parts = (np.array(getattr(lin, a).tolist(), dtype=float).reshape(getattr(lin, a).shape) for a in names)
        M, D, S, forms, rates, drifts = parts
        self.lin, self.n = lin, len(lin.system.coordinates)
        self.units = u = _unit(np.sqrt(np.abs(np.diag(M))))
        M, D, S = (u[:, None] * a * u for a in (M, D, S))
        rows = _unit(np.abs(rates * u).max(axis=1, initial=0))[:, None]
        self.forms = forms * u * _unit(np.abs(forms * u).max(axis=1, initial=0))[:, None]
        self.rates, drifts = rows * rates * u, rows * drifts * u
        fastest = max(np.sqrt(np.abs(S).max(initial=0)), np.abs(D).max(initial=0), np.abs(drifts).max(initial=0))
        self.time = t = float(_unit(np.array(fastest)))
        self.M, self.D, self.S, self.drifts = M, t * D, t * t * S, t * drifts
        held = np.array([c.is_holonomic for c in lin.system.constraints], dtype=bool)
        self.displacements = kernel(self.rates[held])
        self.basis = self.displacements if held.all() else kernel(self.rates)
        self.tests = self.basis if lin.system.is_ideal else kernel(self.forms)

    def reduced(self, matrix: Array) -> Array:
        """A matrix of all coordinates, between allowed displacements."""
        return np.asarray(self.tests.T @ matrix @ self.basis)

    @property
    def is_singular(self) -> bool:
        """Whether the mass matrix does not determine the accelerations."""
        return bool(rank(self.reduced(self.M), 1e-12) < self.basis.shape[1])

    @cached_property
    def flow(self) -> Array:
        """The matrix of (displacement, velocity)' : eta = U u, eta' = Z w + Y eta."""
        return _flow(*self._parts)

    @cached_property
    def _parts(self) -> tuple[Array, ...]:
        """What the flow is made of."""
        Y = -np.linalg.pinv(self.rates) @ self.drifts if len(self.rates) else np.zeros((self.n, self.n))
        inverse = -np.linalg.inv(self.reduced(self.M))
        return self.M, self.D, self.S, self.displacements, self.basis, self.tests, Y, inverse

    @cached_property
    def spectrum(self) -> tuple[Array, Array, Array]:
        """The eigenvalues of the flow, the largest real part first, how far rounding may have moved each, and their vectors.

        Rows and columns are balanced first, so that slow motions beside fast ones keep their digits. An eigenvalue moves by
        at most the error of the matrix over the cosine between its left and right vectors, which is zero where two meet.
        """
        from scipy.linalg import eig, matrix_balance

        if not len(self.flow):
            return np.zeros(0, dtype=complex), np.zeros(0), np.zeros((0, 0))
        flow, (sizes, _) = matrix_balance(self.flow, permute=False, separate=True)
        found, left, right = eig(flow, left=True)
        error = ROUNDING * _flow(*map(np.abs, self._parts)) / sizes[:, None] * sizes
        cosines = np.abs((left.conj() * right).sum(axis=0))
        moved = np.linalg.norm(error) / np.maximum(cosines, np.finfo(float).tiny)
        order = np.lexsort((-found.imag, -found.real))
        return found[order], moved[order], (sizes[:, None] * right)[:, order]

    @property
    def exponents(self) -> Array:
        """The eigenvalues of the flow, the largest real part first."""
        return self.spectrum[0]

    @property
    def is_conservative(self) -> bool:
        """Whether no force of the linearised equations takes or gives energy: real parts of rounding size are zero then."""
        if not any(f != 0 for f in self.lin.system.force):
            return True
        pairs = [(i, j) for i in range(self.n) for j in range(i + 1)]
        D, S = self.lin.first, self.lin.zeroth
        return all(_are_equal(D[i, j], -D[j, i]) and _are_equal(S[i, j], S[j, i]) for i, j in pairs)

    def squares(self, basis: Array | None = None) -> Array | None:
        """Eigenvalues of the stiffness against the mass, increasing; None if the mass is not positive definite.

        They are taken on the allowed displacements, or on those of another basis. What may be rounding is zero.
        """
        from scipy.linalg import eigh

        left, right = (self.tests, self.basis) if basis is None else (basis, basis)
        M, K = (left.T @ a @ right for a in (self.M, self.S))
        if not len(M):
            return np.zeros(0)
        least = np.linalg.eigvalsh((M + M.T) / 2)[0]
        if least <= 0:
            return None
        found = eigh((K + K.T) / 2, (M + M.T) / 2, eigvals_only=True)
        moved = ROUNDING * np.linalg.norm(np.abs(left).T @ np.abs(self.S) @ np.abs(right)) / least
        return np.asarray(np.where(np.abs(found) <= moved, 0.0, found))

    def loose(self, basis: Array, free: Array) -> int:
        """How many of the directions in `free` a basis of displacements contains."""
        own = free / self.units[:, None]
        return int(np.linalg.matrix_rank(basis.T @ (own / np.linalg.norm(own, axis=0)))) if free.size else 0

    def is_zero(self, matrix: Array, beside: Array) -> bool:
        """Whether a matrix is zero up to rounding, relative to another."""
        return bool(np.abs(matrix).max(initial=0) <= ROUNDING * np.abs(beside).max(initial=0))


def _are_equal(a: Any, b: Any) -> bool:
    """Whether two numbers are the same, up to the rounding of those that were computed."""
    with balls.precise():
        return bool((balls.value(a, {}) - balls.value(b, {})).contains(0))


def _flow(
    M: Array, D: Array, S: Array, U: Array, Z: Array, tests: Array, Y: Array, inverse: Array
) -> Array:  # fmt: skip
    """Rates of (u, w) in M eta'' + D eta' + S eta = 0, tested; minus the inverse of the mass comes last."""
    shape = U.T @ np.hstack([Y @ U, Z])
    force = tests.T @ np.hstack([((M @ Y + D) @ Y + S) @ U, (M @ Y + D) @ Z])
    return np.asarray(np.vstack([shape, inverse @ force]))


def _unit(sizes: Array) -> Array:
    """1/size as a power of two; 1 for zero."""
    return np.exp2(-np.round(np.log2(np.where(sizes > 0, sizes, 1.0))))


def kernel(rows: Array) -> Array:
    """An orthonormal basis, as columns, of the kernel of some rows."""
    if not len(rows):
        return np.eye(rows.shape[1])
    _, sizes, right = np.linalg.svd(rows)
    rank = int((sizes > ROUNDING * sizes[0]).sum())
    return np.asarray(right[rank:].T)


def stability(numbers: Numbers, values: Mapping[str, float], free: Array, family: int) -> Stability:
    """The verdict.

    values:  the numbers of parameters, positions and velocities
    free:    directions along which the equations do not change, as columns
    family:  the dimension of the set of equilibria near this one, as far as it is known
    """
    if numbers.is_singular:
        return Stability(
            "undecided", "the mass matrix is singular there, so the motion near it is not determined", np.zeros(0)
        )
    (s, moved, _), system = numbers.spectrum, numbers.lin.system
    scale = float(np.abs(s).max(initial=0))
    zeros = int((np.abs(s) <= moved).sum())
    rest, sure = (a[np.abs(s) > moved] for a in (s, moved))
    at_rest = all(abs(values.get(v.name, 0.0)) == 0 for v in system.velocities)
    squares = numbers.squares() if system.is_ideal and numbers.lin.is_second_order else None
    across, drifting = squares, numbers.loose(numbers.basis, free)
    loose = drifting
    if system.kinematic and squares is not None:
        # Kinematic constraints do not confine positions: it must be a minimum without them.
        across = numbers.squares(numbers.displacements) if _is_passive(numbers, values) else None
        loose = numbers.loose(numbers.displacements, free)
    energy = at_rest and system.is_ideal and across is not None
    power = _power(numbers, values) if energy else "unknown"
    along = f", up to motion along the {_count(free.shape[1], 'free direction')}" if free.size else ""

    def said(verdict: str, reason: str) -> Stability:
        return Stability(verdict, reason, s / numbers.time)

    if (rest.real > sure).any():
        return said("unstable", _growth(numbers, squares, rest, energy and power == "dissipative"))
    if energy and across is not None and power != "unknown" and _definite(across, loose):
        if loose == len(across) and loose:
            return said("neutral", _flat(power, loose))
        decays = len(rest) and (rest.real < -sure).all() and not zeros
        return said(
            "asymptotically stable" if decays else "stable",
            _dirichlet(system, power, bool(decays), "across the free directions" if loose else "there") + along,
        )
    if zeros == 0 and (rest.real < -sure).all():
        return said("asymptotically stable", "all exponents have negative real parts (Lyapunov's first method)")
    if zeros == family and len(rest) and (rest.real < -sure).all() and at_rest:
        why = f"the equilibrium is one of a family of dimension {family}; all other exponents have negative real parts, so "
        return said("stable", why + "motions near it tend to an equilibrium of the family near it")
    if zeros <= family + drifting and numbers.is_conservative and _semisimple(numbers.flow, rest, sure, scale):
        return said("linearly stable", _oscillating(squares, at_rest, zeros, system) + along)
    return said("undecided", _degenerate(squares, zeros, family + drifting))


def _definite(squares: Array, free: int) -> bool:
    """Whether the potential has a strict minimum transverse to the free directions, if there are transverse ones."""
    return bool((squares > 0).sum() == len(squares) - free and (squares >= 0).all())


def _falls(squares: Array) -> bool:
    """Whether the potential falls in some direction."""
    return bool((squares < 0).any())


def _is_passive(numbers: Numbers, values: Mapping[str, float]) -> bool:
    """Whether kinematic constraints do no work and need no reaction at rest: linear, without drift, multipliers zero."""
    system = numbers.lin.system
    terms = np.array([number(magnitude(e), values) for e in steady_balance(system)])
    for c, w, l in zip(system.constraints, system.variations, numbers.lin.multipliers, strict=True):
        if c.is_holonomic:
            continue
        force = np.abs([float(l) * number(a, values) for a in w])
        if not (c.is_linear and vanishes(c.drift) and (force <= 1e-9 * terms).all()):
            return False
    return True


def _count(k: int, what: str) -> str:
    return f"{k} {what}{'s' if k > 1 else ''}"


def _flat(power: str, free: int) -> str:
    kept = "its energy is conserved" if power == "none" else "the other forces take energy"
    return (
        "the potential is constant along the allowed displacements, so that it has no strict minimum and no force draws the "
        f"system back or away; small velocities stay small ({kept}), but let it drift along "
        f"the {_count(free, 'free direction')}"
    )


def _dirichlet(system: System, power: str, decays: bool, where: str) -> str:
    rotating = not vanishes(_cross(system))
    what = "V - T0" if rotating else "the potential"
    kept = "the Jacobi integral is conserved" if power == "none" else "the other forces take energy"
    text = f"{what} has a strict minimum {where} (definite Hessian on the allowed displacements) and {kept}: "
    text += "Lagrange-Dirichlet"
    return f"{text}; all exponents have negative real parts" if decays else text


def _cross(system: System) -> Fast:
    """A sum of squares that vanishes if the Lagrangian has no term linear in the velocities (or of lower degree in T)."""
    at_rest = dict.fromkeys(system.velocities, 0)
    if system.kinetic is not None:
        low = [
            substitute(system.kinetic, at_rest),
            *(substitute(p, at_rest) for p in gradient(system.kinetic, system.velocities)),
        ]
    else:
        low = [substitute(p, at_rest) for p in gradient(system.lagrangian, system.velocities)]
    return sum((e**2 for e in low), start=fast(0))


def _growth(numbers: Numbers, squares: Array | None, rest: Array, dissipative: bool) -> str:
    worst = rest[rest.real.argmax()] / numbers.time
    number_ = (
        f"{worst.real:.6g}" if abs(worst.imag) <= 1e-9 * abs(worst) else f"{worst.real:.6g} +- {abs(worst.imag):.6g} i"
    )
    text = f"the linearised motion grows like exp(s t) with s = {number_} (Lyapunov's first method)"
    G = numbers.reduced(numbers.D)
    if dissipative and squares is not None and _falls(squares) and not numbers.is_zero(G - G.T, G):
        text += "; gyroscopic forces cannot stabilise it against dissipation (Kelvin-Tait-Chetaev)"
    return text


def _oscillating(squares: Array | None, at_rest: bool, zeros: int, system: System) -> str:
    if at_rest and squares is not None and not system.kinematic and _falls(squares):
        return (
            "gyroscopic stabilisation: the potential (V - T0 in a moving frame) has no minimum there, but no exponent has a "
            "positive real part. This holds for the linearised motion only, and dissipation would destroy it "
            "(Kelvin-Tait-Chetaev)"
        )
    kinds = f" and {zeros} are zero, along a family of such motions" if zeros else ""
    return f"no exponent has a positive real part{kinds}; the nonlinear motion is not decided by this"


def _degenerate(squares: Array | None, zeros: int, family: int) -> str:
    if zeros > family:
        return f"{_count(zeros, 'exponent')} zero: the linearised equations are degenerate and terms of higher order decide"
    return "exponents meet on the imaginary axis, or are too near to it to tell on which side they are"


def _semisimple(flow: Array, rest: Array, sure: Array, scale: float) -> bool:
    """Whether exponents that coincide have as many independent motions as their number, and none grows."""
    if (rest.real > sure).any():
        return False
    for s in rest:
        same = np.abs(rest - s) <= 1e-5 * scale
        if same.sum() > 1:
            sizes = np.linalg.svd(flow - rest[same].mean() * np.eye(len(flow)), compute_uv=False)
            if (sizes <= 1e-6 * sizes[0]).sum() < same.sum():
                return False
    return True


def _power(numbers: Numbers, values: Mapping[str, float]) -> str:
    """The power of the given forces beyond their potential: "none", "dissipative", or "unknown"."""
    system = numbers.lin.system
    q, v = system.coordinates, system.velocities
    at_rest = dict.fromkeys(v, 0)
    whole = [fast(f) for f in system.force]
    still = [substitute(f, at_rest) for f in whole]
    slopes = jacobian(still, q)
    if not all(vanishes(slopes[i][j] - slopes[j][i]) for i in range(len(q)) for j in range(i)):
        return "unknown"
    moving = [f - f0 for f, f0 in zip(whole, still, strict=True)]
    if vanishes(sum((f * fast(a) for f, a in zip(moving, v, strict=True)), start=fast(0))):
        return "none"
    entries = jacobian(moving, v)
    linear = all(vanishes(d) for row in entries for e in row for d in gradient(e, v))
    rates = [substitute(e, at_rest) for row in entries for e in row]
    place = [values[c.name] for c in q]
    here = _damping(numbers, rates, values, np.array([place]))
    if (
        definite := _least(here)[0] > 1e-12 * np.abs(here).max()
    ) or not linear:  # if definite here, it is definite nearby
        return "dissipative" if definite else "unknown"
    nearby = _damping(numbers, rates, values, around(place))
    changed = np.abs(nearby - here).max(axis=(1, 2)) > 1e-9 * np.abs(nearby).max(axis=(1, 2))
    both = np.concatenate([here, nearby[changed][:12]])  # and the nearest points at which it differs
    return "dissipative" if (_least(both) >= -1e-12 * np.abs(both).max(axis=(1, 2))).all() else "unknown"


def _damping(numbers: Numbers, rates: Sequence[Fast], values: Mapping[str, float], points: Array) -> Array:
    """The damping matrix at those of some positions where it is defined."""
    names = [c.name for c in numbers.lin.system.coordinates]
    constants = {n: x for n, x in values.items() if n not in names}
    found, marks = Enclosure(rates, names, constants)([Interval(p, p) for p in points.T])
    table = np.stack([a.middle for a in found], axis=1)
    table = table[np.isfinite(table).all(axis=1) & ~marks.outside.any(axis=0)].reshape(-1, numbers.n, numbers.n)
    stiffness: Array = -numbers.units[:, None] * (table + table.swapaxes(1, 2)) / 2 * numbers.units
    return stiffness


def _least(matrices: Array) -> Array:
    """The least eigenvalue of each of some symmetric matrices."""
    return np.linalg.eigvalsh(matrices)[:, 0]
