"""A systematic search for first integrals linear and quadratic in the velocities.

A combination sum c_k b_k of given functions is conserved if sum c_k db_k/dt = 0 at every state. At random states on
shell, with parameters at random values, these are linear equations for c. Each solution says which functions occur in
an integral; its coefficients are then sought once more among polynomials in the parameters, and in the irrational constants
of the system, with rational coefficients; the result is checked at fresh states and parameter values. Nothing unchecked is
returned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb

import sympy
from sympy import Expr

from ...decide.budget import Budget
from ...decide.elimination import kernel
from ...decide.rationals import fraction_in
from ...decide.zero import vanishes
from ...model.coordinates import Letter, time
from ...model.system import System
from .ansatz import Ansatz, ansatz, building_blocks, even, monomials, motion_blocks, potential_terms
from .constants import lettered
from .on_shell import Shell, shell
from .primitive import primitive
from .state_source import Array

_LARGEST = 300  # functions in one ansatz
_LIFTED = 400  # functions times parameter monomials
_EXACT = 130  # functions in a space that is searched in ball arithmetic
_PAIRED = 24  # known integrals whose products are considered
_ZERO, _NOT_ZERO = (1e-14, 1e-12, 1e-10), 1e-7  # singular values, in units of the largest


@dataclass(frozen=True)
class Found:
    """An integral that was found: its expression and the power of the velocities in it."""

    expression: Expr
    power: int


class Search:
    """A search through one space after another for integrals independent of `known`; `searched` lists the spaces."""

    def __init__(self, shell: Shell, known: Sequence[Expr], degree: int, budget: Budget, searched: list[str]):
        self.shell, self.system, self.degree, self.budget = shell, shell.system, degree, budget
        self.known, self.searched = list(known), searched
        self._longest = 1  # terms in the longest integral found

    def run(self) -> Iterator[Found]:
        """Search all spaces, and yield every integral as soon as it is found."""
        yield from self._through(self._linear_spaces())
        yield from self._uniform_motions()
        yield from self._through(self._quadratic_spaces() if self.degree > 1 else iter(()))

    def _through(self, spaces: Iterator[tuple[Ansatz, int, str]]) -> Iterator[Found]:
        for space, power, text in spaces:
            if self.shell.rank(self.known) == self.shell.dimension:
                complete = "every integral is a function of those found: there are as many as a state has numbers"
                self.searched += [complete] if complete not in self.searched else []
                return
            if text:
                self.searched.append(f"{text} ({len(space)} functions)")
            self.budget.spend(text, len(space))
            for expression in self._integrals(space):
                self.known.append(expression)
                yield Found(expression, power)

    def _uniform_motions(self) -> Iterator[Found]:
        """t p - a.q - F(t) of every conserved p = a.v + F'(t) with constant a.

        It is exact whatever the other terms of the system are. The search in floating point misses it where functions of the
        space are nearly dependent.
        """
        moving, q = set(self.shell.moving_symbols), self.system.coordinates
        for p in list(self.known):
            rates = {c: sympy.diff(p, c.dot) for c in q}
            centre = sympy.Add(*(a * c for c, a in rates.items()))
            rest = sympy.expand(p - sympy.Add(*(a * c.dot for c, a in rates.items())))
            steady = not any(a.free_symbols & moving for a in rates.values()) and not rest.free_symbols & (
                moving - {time}
            )
            F = primitive(rest, q, self.budget) if centre != 0 and steady else None
            if F is None:
                continue
            expression = _reduced(sympy.expand(time * p - centre - F), self.system.parameters)
            if self._independent(expression) and self.shell.conserved(expression):
                self.known.append(expression)
                yield Found(expression, 1)

    def _linear_spaces(self) -> Iterator[tuple[Ansatz, int, str]]:
        p, v = motion_blocks(self.system)
        timely = [*building_blocks(self.system), time]
        yield from self._space(timely, [*p, *v], (1,), "linear in the velocities", ())

    def _quadratic_spaces(self) -> Iterator[tuple[Ansatz, int, str]]:
        still = building_blocks(self.system)
        p, v = motion_blocks(self.system)
        powers = (2,) if even(self.system) else (1, 2)
        extra = [e for e in potential_terms(self.system) if e not in still]
        moving = still if vanishes(self.system.lagrangian.diff(time)) else [*still, time]
        yield from self._space(moving, p, powers, "quadratic in the momenta", extra)
        if v:
            yield from self._space(moving, list(self.system.velocities), powers, "quadratic in the velocities", extra)

    def _space(
        self, still: Sequence[Expr], moving: Sequence[Expr], powers: Sequence[int], text: str, extra: Sequence[Expr]
    ) -> Iterator[tuple[Ansatz, int, str]]:
        """The largest space of its kind within the limit; before it a smaller, better conditioned one."""
        d = max(self.degree, 1)
        small = ansatz(
            self.shell, still, moving, powers, (1, 2), extra
        )  # a field adds products of positions to momenta
        if d > 1 and len(small) <= _LARGEST:
            yield small, max(powers), ""
        for inner, alone in ((d, d + 1), (d, d), (d - 1, d), (d - 1, d - 1), (0, 1), (0, 0)):
            products = sum(comb(len(moving) + p - 1, p) for p in powers)
            size = comb(len(still) + alone, alone) - 1 + len(extra) + comb(len(still) + inner, inner) * products
            if size <= _LARGEST:
                names = ", ".join(str(e) for e in still)
                space = ansatz(self.shell, still, moving, powers, (inner, alone), extra)
                yield space, max(powers), f"{text}, coefficients of degree {inner} in {names}"
                return
        self.searched.append(f"{text}: not searched, since {size} functions are too many")

    def _integrals(self, space: Ansatz) -> Iterator[Expr]:
        """The integrals in one space, short ones first, except those that follow from known ones."""
        import numpy as np

        parameters = self.shell.parameter_values(3)
        states = self.shell.states(2 * len(space) + 40, 11, parameters)
        if states is None:
            return
        values, rates = space.table(states)
        good = np.isfinite(values).all(axis=1) & np.isfinite(rates).all(axis=1)
        # Complex functions first: so the echelon form separates the integrals without them.
        kept = sorted(_independent(values[good]), key=space.involved, reverse=True)
        for vectors in self._vectors(space.restricted(kept), rates[good][:, kept], values[good][:, kept]):
            supports = [[kept[k] for k in np.flatnonzero(vector)] for vector in vectors]
            for i in sorted(range(len(vectors)), key=lambda i: (len(supports[i]), _timely(space, supports[i]), -i)):
                at, known = values[good][:, kept] @ vectors[i], self.shell.values(self.known, states)[good]
                if len(self.known) <= _PAIRED and _follows(at, known):
                    continue
                expression = self._lifted(space.restricted(supports[i]))
                if expression is None or not self.shell.conserved(expression):
                    continue
                if self._dependent(expression, self.shell.values([expression], states)[good][:, 0], known):
                    continue  # the numerical coefficients had rounding errors, the exact expression has none
                if self.shell.rank([expression]) == 0:
                    continue  # constant by the constraints
                terms = len(sympy.Add.make_args(expression))
                if terms <= self._longest or self._independent(expression):
                    self._longest = max(self._longest, terms)
                    yield expression

    def _vectors(self, space: Ansatz, rates: Array, values: Array) -> Iterator[Array]:
        """The combinations of functions that are conserved, in echelon form; where rounding may hide some, from balls."""
        import numpy as np

        spectrum = _spectrum(rates, values) if rates.size else None
        if spectrum is None or len(space) > _EXACT or not _doubtful(spectrum[0]):
            yield from _combinations(spectrum)
            return
        backward = space.restricted(range(len(space))[::-1])  # its kernel is in echelon form with reversed columns
        table = backward.exact_rates(self.shell.parameter_values(3))
        found = np.zeros((0, len(space)))
        for row in kernel(table, len(space)) if len(table) >= len(space) else []:
            found = np.vstack([found, np.zeros(len(space))])
            for k, c in row.items():
                found[-1, len(space) - 1 - k] = 0.0 if c.contains(0) else float(c)
        yield found

    def _dependent(self, expression: Expr, column: Array, known: Array) -> bool:
        """Whether a quantity follows from known ones: as a polynomial in them, or, where they are many, in any way."""
        return _follows(column, known) if len(self.known) <= _PAIRED else not self._independent(expression)

    def _independent(self, expression: Expr) -> bool:
        """Whether a quantity is not a function of known ones.

        This is checked for integrals longer than those found before. So both components of a Laplace-Runge-Lenz
        vector are kept, though the second is a function of the first, the energy and the angular momentum.
        """
        return self.shell.rank([*self.known, expression]) > self.shell.rank(self.known)

    def _lifted(self, space: Ansatz) -> Expr | None:
        """The combination of all functions of a space that is conserved; its coefficients are numbers or, of the least degree
        possible, polynomials in the parameters and in the constants of the system."""
        import numpy as np

        plain = self._exact(space)
        if plain is not None and self.shell.conserved(plain):
            return plain
        general, put, back = self._lettered
        at, letters = shell(general), _letters(general)
        for degree in range(1, 4 + len(back) if letters else 1):
            lifted = space.on(at, put).lifted(letters, degree)
            if len(lifted) > _LIFTED:
                break
            self.budget.spend("", 1)
            states = at.states(2 * len(lifted) + 40, 17)
            if states is None:
                break
            values, rates = lifted.table(states)
            good = np.isfinite(rates).all(axis=1) & np.isfinite(values).all(axis=1)
            spectrum = _spectrum(rates[good], values[good]) if rates[good].size else None
            supports = [np.flatnonzero(v) for some in _combinations(spectrum) for v in some]
            for support in sorted(supports, key=len):
                whole = self._exact(lifted.restricted(list(support)))
                if whole is not None:
                    short = _reduced(whole, general.parameters)
                    irrational = short.free_symbols & back.keys()
                    return self._with_unit_term(short.xreplace(back)) if irrational else short
        return None

    @cached_property
    def _lettered(self) -> tuple[System, dict[Expr, Expr], dict[Letter, Expr]]:
        return lettered(self.system)

    def _with_unit_term(self, expression: Expr) -> Expr:
        """An integral divided by the number in its first term, one with a velocity: so it does not depend on how irrational
        numbers in it are written."""
        parts = [t.as_independent(*t.free_symbols, as_Add=False) for t in sympy.Add.make_args(expression)]
        still = {moving: not moving.free_symbols & set(self.system.velocities) for _, moving in parts}
        first = min(parts, key=lambda part: (still[part[1]], str(part[1])))
        unit: Expr = sympy.expand(expression / first[0])
        return unit

    def _exact(self, space: Ansatz) -> Expr | None:
        """A combination of the functions of a space whose rate is zero, of few terms, with rational coefficients.

        Which functions occur together is known from floating point. Their coefficients come from states in ball arithmetic,
        so that they are the same fractions whatever the units are.
        """
        width = len(space)
        rates = space.exact_rates() if width <= _EXACT else []
        if len(rates) < width:
            return None
        rows = [{k: fraction_in(c) for k, c in row.items()} for row in kernel(rates, width)]
        known = [{k: c for k, c in row.items() if c} for row in rows if None not in row.values()]
        best = min(known, key=len, default=None)
        if best is None:
            return None
        lead = best[min(best)]
        return _combined([c / lead for c in best.values()], [space.expression(k) for k in best])


def _timely(space: Ansatz, support: Sequence[int]) -> bool:
    return any(space.involved(k)[0] for k in support)


def _combined(coefficients: Sequence[Fraction], functions: Sequence[Expr]) -> Expr:
    terms = (sympy.Rational(c.numerator, c.denominator) * f for c, f in zip(coefficients, functions, strict=True) if c)
    whole: Expr = sympy.expand(sympy.Add(*terms)).primitive()[1]
    return whole


def _reduced(expression: Expr, parameters: Sequence[sympy.Symbol]) -> Expr:
    """An integral without common factors that are constant."""
    _, moving = sympy.factor_terms(expression).as_independent(
        *set(expression.free_symbols) - set(parameters), as_Add=False
    )
    reduced: Expr = sympy.expand(moving).primitive()[1]
    return reduced


def _letters(system: System) -> list[Expr]:
    """What coefficients may be polynomials in: the parameters, and functions of them that occur."""
    stated = (system.lagrangian, *system.force, *(c.expression for c in system.constraints))
    own = {f for e in stated for f in e.atoms(sympy.Function, sympy.Pow) if f.free_symbols <= set(system.parameters)}
    special = [f for f in own if f.free_symbols and not (f.is_Pow and f.exp.is_Integer and f.exp > 0)]
    return [*system.parameters, *sorted(special, key=str)]


def follows(expression: Expr, known: Sequence[Expr], shell: Shell) -> bool:
    """Whether a quantity is a polynomial of degree 3 in known ones, by value at random states."""
    states = shell.states(comb(len(known) + 3, 3) + len(known) ** 2 + 30, 23, shell.parameter_values(5))
    if states is None:
        return False
    return _follows(shell.values([expression], states)[:, 0], shell.values(known, states))


# linear algebra in floating point, on matrices whose rows are states
def _independent(values: Array) -> list[int]:
    """The columns that are not combinations of a constant and of columns before them."""
    import numpy as np

    basis = np.full((len(values), 1), len(values) ** -0.5)
    kept = []
    for j in range(values.shape[1]):
        column = values[:, j] / (np.linalg.norm(values[:, j]) or 1.0)
        for _ in range(2):  # twice, since once is not orthogonal enough
            column = column - basis @ (basis.T @ column)
        size = np.linalg.norm(column)
        if size > 1e-8:
            kept.append(j)
            basis = np.column_stack([basis, column / size])
    return kept


def _norms(columns: Array) -> Array:
    """The sizes of columns; squares of numbers like 1e-200 or 1e200 are not numbers."""
    import numpy as np

    peak = np.abs(columns).max(axis=0, initial=0)
    return np.asarray(peak * np.linalg.norm(columns / np.where(peak > 0, peak, 1), axis=0))


def _spectrum(rates: Array, values: Array) -> tuple[Array, Array, Array]:
    """Singular values and vectors of the rates, in units of the largest, and the sizes of their columns.

    Columns are divided by their sizes first, so that what counts as zero does not depend on the units of a function.
    """
    import numpy as np

    scale = np.maximum(_norms(rates), _norms(values))
    scale[scale == 0] = 1.0
    scaled = rates / scale
    row = np.linalg.norm(scaled, axis=1, keepdims=True)
    triangle = np.linalg.qr(scaled / np.where(row > 0, row, 1), mode="r")
    _, s, right = np.linalg.svd(triangle)
    return s / (s[0] or 1.0), right, scale


def _doubtful(s: Array) -> bool:
    """Whether floating point does not decide which combinations vanish, from the singular values."""
    return bool(((s > _ZERO[0]) & (s < _NOT_ZERO)).any())


def _combinations(spectrum: tuple[Array, Array, Array] | None) -> Iterator[Array]:
    """The combinations of columns whose rates vanish, as rows of coefficients in echelon form, from `_spectrum`.

    Functions that are nearly dependent give combinations that nearly vanish; hence several thresholds for zero, the strictest
    first.
    """
    if spectrum is None:
        return
    s, right, scale = spectrum
    seen = 0
    for zero in _ZERO:
        small = s <= zero
        if small.sum() > seen:
            seen = small.sum()
            yield _echelon(right[small]) / scale


def _echelon(rows: Array) -> Array:
    """Reduced row echelon form: the same space by vectors of few entries, each with its own pivot 1."""
    import numpy as np

    rows, done = np.array(rows, dtype=float), 0
    for j in range(rows.shape[1] if rows.size else 0):
        if done == len(rows):
            break
        size = np.abs(rows).max(axis=1)
        k = done + int(np.argmax(np.abs(rows[done:, j]) / np.where(size[done:] > 0, size[done:], 1)))
        if abs(rows[k, j]) <= 1e-6 * size[k]:
            rows[done:, j] = 0
            continue
        rows[[done, k]] = rows[[k, done]]
        rows[done] /= rows[done, j]
        others = np.arange(len(rows)) != done
        rows[others] -= np.outer(rows[others, j], rows[done])
        done += 1
    rows[np.abs(rows) < 1e-6 * np.abs(rows).max(axis=1, initial=0, keepdims=True)] = 0
    return rows[:done]


def _follows(column: Array, known: Array) -> bool:
    """Whether a quantity is a polynomial in known ones: of degree 3, or 2 where there are too few states to tell."""
    import numpy as np

    n = known.shape[1]
    degree = 3 if comb(n + 3, 3) + 10 <= len(known) else 2
    some = [list(m) for m in monomials(0, n, degree)]
    size = np.abs(known).max(axis=0, initial=0)
    scaled = known / np.where(size > 0, size, 1)
    table = np.column_stack([scaled[:, m].prod(axis=1) for m in some])
    unit = column / (np.linalg.norm(column) or 1.0)
    table = table / np.maximum(_norms(table), np.finfo(float).tiny)
    solution = np.linalg.lstsq(table, unit, rcond=1e-12)[0]
    return bool(np.linalg.norm(table @ solution - unit) < 1e-8)
