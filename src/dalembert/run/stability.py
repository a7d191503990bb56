"""Is an equilibrium or a steady motion stable? What can be concluded, and by which theorem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..model.system import System
from ..symbolic import Fast, fast, gradient, jacobian, number, substitute, vanishes
from ..theory.linear import Linearisation
from .values import Array

ZERO = 1e-6
"""Exponents below this fraction of the largest count as zero: a double zero is computed with the root of the rounding."""


@dataclass(frozen=True, eq=False)
class Stability:
    """A verdict and the reason for it.

    verdict:    "stable", "asymptotically stable", "unstable" (theorems about the nonlinear motion), "linearly stable"
                (of the linearised motion only) or "undecided"
    exponents:  the numbers s of the linearised motions exp(s t)
    """

    verdict: str
    reason: str
    exponents: Array

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason}"


class Numbers:
    """The linearised equations in numbers, on the displacements and velocities that the constraints allow."""

    def __init__(self, lin: Linearisation):
        names = ("second", "first", "zeroth", "forms", "rates", "drifts")
        parts = (np.array(getattr(lin, a).tolist(), dtype=float).reshape(getattr(lin, a).shape) for a in names)
        self.M, self.D, self.S, self.forms, self.rates, self.drifts = parts
        self.lin, self.n = lin, len(lin.system.coordinates)
        held = np.array([c.is_holonomic for c in lin.system.constraints], dtype=bool)
        self.displacements = kernel(self.rates[held])
        self.basis = self.displacements if held.all() else kernel(self.rates)
        self.tests = self.basis if lin.system.is_ideal else kernel(self.forms)

    def reduced(self, matrix: Array) -> Array:
        """A matrix of all coordinates, between allowed displacements."""
        return np.asarray(self.tests.T @ matrix @ self.basis)

    @cached_property
    def flow(self) -> Array:
        """The matrix of (displacement, velocity)' : eta = U u, eta' = Z w + Y eta."""
        U, Z = self.displacements, self.basis
        Y = -np.linalg.pinv(self.rates) @ self.drifts if len(self.rates) else np.zeros((self.n, self.n))
        shape = U.T @ np.hstack([Y @ U, Z])
        force = self.tests.T @ np.hstack([((self.M @ Y + self.D) @ Y + self.S) @ U, (self.M @ Y + self.D) @ Z])
        return np.asarray(np.vstack([shape, -np.linalg.solve(self.reduced(self.M), force)]))

    @cached_property
    def exponents(self) -> Array:
        """The eigenvalues of the flow, the largest real part first."""
        found = np.linalg.eigvals(self.flow)
        return found[np.lexsort((-found.imag, -found.real))]

    def squares(self, basis: Array | None = None) -> Array | None:
        """Eigenvalues of the stiffness against the mass, increasing; None if the mass is not positive definite.

        They are taken on the allowed displacements, or on those of another basis.
        """
        from scipy.linalg import eigh

        M, K = (self.reduced(a) if basis is None else basis.T @ a @ basis for a in (self.M, self.S))
        if not len(M):
            return np.zeros(0)
        if np.linalg.eigvalsh((M + M.T) / 2)[0] <= 0:
            return None
        return np.asarray(eigh((K + K.T) / 2, (M + M.T) / 2, eigvals_only=True))

    def is_zero(self, matrix: Array, beside: Array) -> bool:
        """Whether a matrix vanishes up to rounding beside another."""
        return bool(np.abs(matrix).max(initial=0) <= 1e-12 * np.abs(beside).max(initial=0))


def kernel(rows: Array) -> Array:
    """An orthonormal basis, as columns, of what some rows annihilate."""
    if not len(rows):
        return np.eye(rows.shape[1])
    _, sizes, right = np.linalg.svd(rows)
    rank = int((sizes > 1e-10 * max(sizes[0], 1e-300)).sum())
    return np.asarray(right[rank:].T)


def stability(numbers: Numbers, values: Mapping[str, float], free: Array, family: int) -> Stability:
    """The verdict.

    values:  the numbers of parameters, positions and velocities
    free:    directions along which the equations do not change, as columns
    family:  the dimension of the set of equilibria near this one, as far as it is known
    """
    s, system = numbers.exponents, numbers.lin.system
    scale = max(float(np.abs(s).max(initial=0)), 1e-300)
    zeros = int((np.abs(s) <= ZERO * scale).sum())
    rest = s[np.abs(s) > ZERO * scale]
    sure = ZERO * scale
    at_rest = all(abs(values.get(v.name, 0.0)) == 0 for v in system.velocities)
    squares = numbers.squares() if system.is_ideal and numbers.lin.is_second_order else None
    across, drifting = squares, np.linalg.matrix_rank(numbers.basis.T @ free) if free.size else 0
    loose = drifting
    if system.kinematic and squares is not None:
        # Kinematic constraints do not confine positions: the minimum must be one without their help.
        across = numbers.squares(numbers.displacements) if _is_passive(numbers) else None
        loose = np.linalg.matrix_rank(numbers.displacements.T @ free) if free.size else 0
    energy = at_rest and system.is_ideal and across is not None
    power = _power(system, values) if energy else "unknown"
    along = f", up to motion along the {_count(free.shape[1], 'free direction')}" if free.size else ""
    if (rest.real > sure).any():
        return Stability("unstable", _growth(numbers, squares, rest, energy and power == "dissipative"), s)
    if energy and across is not None and power != "unknown" and _definite(across, loose):
        decays = len(rest) and (rest.real < -sure).all() and not zeros
        return Stability(
            "asymptotically stable" if decays else "stable", _dirichlet(system, power, bool(decays)) + along, s
        )
    if zeros == 0 and (rest.real < -sure).all():
        return Stability("asymptotically stable", "all exponents have negative real parts (Lyapunov's first method)", s)
    if zeros == family and len(rest) and (rest.real < -sure).all() and at_rest:
        why = f"the equilibrium is one of a family of dimension {family}; all other exponents have negative real parts, so "
        return Stability("stable", why + "motions near it tend to an equilibrium of the family near it", s)
    if zeros <= family + drifting and _semisimple(numbers.flow, rest, scale):
        return Stability("linearly stable", _oscillating(squares, at_rest, zeros, system) + along, s)
    return Stability("undecided", _degenerate(squares, zeros, family + drifting), s)


def _definite(squares: Array, free: int) -> bool:
    """Whether the potential has a strict minimum across the free directions."""
    size = np.abs(squares).max(initial=0)
    return bool((squares > 1e-10 * size).sum() == len(squares) - free and (squares >= -1e-10 * size).all())


def _is_passive(numbers: Numbers) -> bool:
    """Whether kinematic constraints do no work and need no reaction at rest: linear, without drift, multipliers zero."""
    system = numbers.lin.system
    kinds = zip(system.constraints, numbers.lin.multipliers, strict=True)
    size = np.abs(numbers.S).max(initial=1e-300)
    return all(
        c.is_holonomic or (c.is_linear and vanishes(c.drift) and abs(float(l)) <= 1e-12 * size) for c, l in kinds
    )


def _count(k: int, what: str) -> str:
    return f"{k} {what}{'s' if k > 1 else ''}"


def _dirichlet(system: System, power: str, decays: bool) -> str:
    rotating = not vanishes(_cross(system))
    what = "V - T0" if rotating else "the potential"
    kept = "the Jacobi integral is conserved" if power == "none" else "the other forces take energy"
    text = f"{what} has a strict minimum there (definite Hessian on the allowed displacements) and {kept}: Lagrange-Dirichlet"
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
    worst = rest[rest.real.argmax()]
    number_ = (
        f"{worst.real:.6g}" if abs(worst.imag) <= 1e-9 * abs(worst) else f"{worst.real:.6g} +- {abs(worst.imag):.6g} i"
    )
    text = f"the linearised motion grows like exp(s t) with s = {number_} (Lyapunov's first method)"
    G = numbers.reduced(numbers.D)
    if dissipative and squares is not None and (squares < 0).any() and not numbers.is_zero(G - G.T, G):
        text += "; gyroscopic forces cannot stabilise it against dissipation (Kelvin-Tait-Chetaev)"
    return text


def _oscillating(squares: Array | None, at_rest: bool, zeros: int, system: System) -> str:
    if at_rest and squares is not None and not system.kinematic and (squares < 0).any():
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


def _semisimple(flow: Array, rest: Array, scale: float) -> bool:
    """Whether exponents that coincide have as many independent motions as their number, and none grows."""
    if (rest.real > 1e-9 * scale).any():
        return False
    for s in rest:
        same = np.abs(rest - s) <= 1e-5 * scale
        if same.sum() > 1:
            sizes = np.linalg.svd(flow - rest[same].mean() * np.eye(len(flow)), compute_uv=False)
            if (sizes <= 1e-6 * max(sizes[0], 1e-300)).sum() < same.sum():
                return False
    return True


def _power(system: System, values: Mapping[str, float]) -> str:
    """What the given forces do besides having a potential: "none", "dissipative", or "unknown"."""
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
    rng = np.random.default_rng(0)
    places = [dict.fromkeys((c.name for c in q), 0.0)]
    places += [
        {c.name: d for c, d in zip(q, rng.normal(0, 0.1, len(q)), strict=True)} for _ in range(4 if linear else 0)
    ]
    for shift in places:
        at = {**values, **{a.name: 0.0 for a in v}, **{c: values[c] + d for c, d in shift.items()}}
        C = -np.array([[number(e, at) for e in row] for row in entries])
        least = np.linalg.eigvalsh((C + C.T) / 2)[0]
        size = np.abs(C).max(initial=0)
        if not (least >= -1e-12 * size if linear else least > 1e-12 * size):
            return "unknown"
    return "dissipative"
