"""Backward error analysis: the differential equation that a numerical method solves exactly, term by term.

A step  y -> y + h d_1(y) + h^2 d_2(y) + ...  is the time-h flow of a modified equation

    dy/dt = f(y) + h f_2(y) + h^2 f_3(y) + ...

found order by order (Hairer, Lubich and Wanner, Geometric Numerical Integration, IX.1): with D_k the derivative along f_k,

    d_j = sum over i of (1/i!) sum over k_1 + ... + k_i = j of  D_k1 ... D_k(i-1) f_ki.

For a symplectic method f_j = J^-1 grad H_j. The H_j need no integration: the discrete Lagrangian of the method is the
action of the modified Hamiltonian over one step, so with l = p.dq/dt - H~ along the modified flow

    L_d(q0, q1) = h sum over k of (1/(k+1)!) (hD)^k l,       D = D_1 + h D_2 + h^2 D_3 + ...,

which is solved for l, and so for H~, order by order. The series diverges in general; it is meant to be truncated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import factorial
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...decide.decimals import decimal
from ...decide.zero import vanishes
from ...display import Formulas, aligned
from ...errors import MethodError, ModelError, told
from ...model.coordinates import step, time
from ...model.heat import mechanical
from ...model.system import System
from ...symbolic import Fast, fast, gradient, slow, substitute
from ...waist.layout import spans
from ...waist.stepmap import StepMap
from .series_coefficients import OneStep, clean, lettered, same, with_numbers
from .step_series import Row, Series, Taylor, expanded, step_series


@dataclass(frozen=True, eq=False, repr=False)
class ModifiedEquation(Formulas):
    """The modified equation of a method, truncated after h^order: text in a terminal, LaTeX in a notebook.

    terms:   ({x: f_1, ...}, {x: f_2, ...}, ...): the rate of each variable is terms[0] + h terms[1] + h^2 terms[2] + ...
    rates:   {x: that sum}
    """

    system: System
    method: str
    order: int
    names: tuple[str, ...]
    fields: tuple[tuple[Fast, ...], ...]

    @cached_property
    def _symbols(self) -> dict[str, Symbol]:
        s = self.system
        known = [*s.coordinates, *s.velocities, *(q.momentum for q in s.coordinates), *s.parameters, time, step]
        return {k.name: k for k in known}

    def _read(self, expression: Fast) -> Expr:
        read: Expr = decimal(slow(expression, self._symbols.values()), self.system.typed)
        return read

    @cached_property
    def terms(self) -> tuple[dict[Symbol, Expr], ...]:
        """The vector fields f_1, f_2, ..., one dictionary each."""
        variables = [self._symbols[n] for n in self.names]
        return tuple(dict(zip(variables, map(self._read, field), strict=True)) for field in self.fields)

    @cached_property
    def rates(self) -> dict[Symbol, Expr]:
        """The rate of each variable, powers of h included."""
        return {
            self._symbols[n]: sympy.Add(*(step**j * self._read(f[i]) for j, f in enumerate(self.fields)))
            for i, n in enumerate(self.names)
        }

    @property
    def first(self) -> int | None:
        """The power of h of the first term that does not vanish, which is the order of the method; None if none shows."""
        return _first([not all(map(vanishes, field)) for field in self.fields])

    def __str__(self) -> str:
        title = f"{self.system.name}, {self.method}: modified equation up to h^{self.order}"
        names = [sympy.pretty(self._symbols[n], use_unicode=True) for n in self.names]
        rows = [(f"d{name}/dt", [f[i] for f in self.fields]) for i, name in enumerate(names)]
        return "\n".join([title, *(f"  {left} = {_told(terms, self._read)}" for left, terms in rows)])

    def latex(self) -> str:
        """The rates as LaTeX, for a paper."""
        return aligned([(rf"\dot{{{sympy.latex(s)}}}", sympy.latex(rate)) for s, rate in self.rates.items()])


@dataclass(frozen=True, eq=False, repr=False)
class ModifiedHamiltonian(Formulas):
    """The modified Hamiltonian H + h H_2 + h^2 H_3 + ... of a symplectic method, truncated after h^order.

    terms:       (H, H_2, H_3, ...) in positions and momenta
    expression:  their sum, powers of h included
    equation:    the modified equation it generates
    """

    equation: ModifiedEquation
    series: tuple[Fast, ...]

    @cached_property
    def terms(self) -> tuple[Expr, ...]:
        """H, H_2, H_3, ..."""
        return tuple(map(self.equation._read, self.series))

    @cached_property
    def expression(self) -> Expr:
        """H + h H_2 + h^2 H_3 + ..."""
        return sympy.Add(*(step**j * term for j, term in enumerate(self.terms)))

    @property
    def first(self) -> int | None:
        """The power of h of the first term that does not vanish; None if none shows."""
        return _first([not vanishes(e) for e in self.series])

    def __str__(self) -> str:
        e = self.equation
        title = f"{e.system.name}, {e.method}: modified Hamiltonian up to h^{e.order}"
        return f"{title}\n  H = {_told(list(self.series), e._read)}"

    def latex(self) -> str:
        """The Hamiltonian as LaTeX, for a paper."""
        return rf"\tilde H = {sympy.latex(self.expression)}"


def _first(present: Sequence[Any]) -> int | None:
    return next((j for j, there in enumerate(present) if j and there), None)


def _told(terms: list[Fast], read: Any, most: int = 12) -> str:
    """A power series in one line per power of h; what is too long to read is counted."""
    lines = []
    for j, e in enumerate(terms):
        size = len(e.args) if e.is_Add else 1
        if e == 0:
            continue
        text = str(read(e)) if size <= most else f"{size} terms"
        lines.append(text if not j else f"h{'' if j == 1 else f'^{j}'} ({text})")
    return "\n      + ".join(lines) or "0"


def modified_equation(system: System, method: OneStep, order: int) -> ModifiedEquation:
    """The modified equation of a method (or a finite-difference map) applied to a system, up to and including h^order.

    In positions and momenta, or positions and velocities for methods that carry those.
    """
    _, stepmap, numbers = lettered(system, method, _stepmap(system, method, order, "modified_equation"))
    fields, _ = _analysed(stepmap, order + 1)
    return ModifiedEquation(system, repr(method), order, stepmap.state, with_numbers(fields, numbers))


def modified_hamiltonian(system: System, method: OneStep, order: int) -> ModifiedHamiltonian:
    """The modified Hamiltonian of a symplectic method, up to and including h^order.

    f_j = J^-1 grad H_j is checked by value for every j; a method that is not symplectic fails this, and is refused.
    """
    plain, stepmap, numbers = lettered(system, method, _stepmap(system, method, order, "modified_hamiltonian"))
    if any(not vanishes(f) for f in system.force):
        raise ModelError(
            f"modified_hamiltonian: {system.name!r} has forces without a potential. Use modified_equation."
        )
    if tuple(stepmap.state) != tuple(s.name for s in (*system.coordinates, *(q.momentum for q in system.coordinates))):
        raise MethodError(
            _not_hamiltonian(method, "it carries velocities, not momenta, and is no symplectic map of them")
        )
    fields, base = _analysed(stepmap, order + 1)
    equation = ModifiedEquation(plain, repr(method), order, stepmap.state, tuple(map(tuple, fields)))
    defect = asymmetry(equation)
    if defect is not None:
        raise MethodError(_not_hamiltonian(method, f"J f_{defect}' is not symmetric"))
    action = _step_action(plain, method, stepmap, base, order + 1)
    series = _hamiltonians(plain, fields, action)
    for j, (f, H) in enumerate(zip(fields, series, strict=True), start=1):
        by = dict(zip(stepmap.state, gradient(H, stepmap.state), strict=True))
        rates = [*(by[q.momentum.name] for q in system.coordinates), *(-by[q.name] for q in system.coordinates)]
        if not all(same(a, b) for a, b in zip(f, rates, strict=True)):
            raise MethodError(_not_hamiltonian(method, f"f_{j} is not J^-1 grad H_{j} with the H_{j} of its action"))
    equation = ModifiedEquation(system, repr(method), order, stepmap.state, with_numbers(fields, numbers))
    return ModifiedHamiltonian(equation, with_numbers([series], numbers)[0])


def asymmetry(equation: ModifiedEquation) -> int | None:
    """The first j for which J f_j' is not symmetric, by value: there the modified equation is not Hamiltonian."""
    n = len(equation.names) // 2
    position, momentum = spans(n, n)
    for j, f in enumerate(equation.fields, start=1):
        form = [*(-e for e in f[momentum]), *f[position]]  # dH_j, if there is an H_j
        slopes = [gradient(e, equation.names) for e in form]
        pairs = combinations(range(len(slopes)), 2)
        if not all(same(slopes[a][b], slopes[b][a]) for a, b in pairs):
            return j
    return None


def _not_hamiltonian(method: OneStep, why: str) -> str:
    return (
        f"modified_hamiltonian: {method!r} has no modified Hamiltonian here: {why}. Use modified_equation, which every "
        f"method has, or a symplectic method such as Midpoint()."
    )


def _stepmap(system: System, method: OneStep, order: int, what: str) -> StepMap:
    if not isinstance(system, System):
        raise ModelError(
            f"{what}: got {told(system)}. Expected a System and a method or a map: {what}(system, midpoint_map, order=2). The "
            f"system that a discrete one was made from is its attribute `system`."
        )
    mechanical(system, what)
    if isinstance(order, bool) or not (isinstance(order, int) and order >= 0):
        raise ModelError(f"order = {order!r}: the highest power of h that is wanted; give a whole number such as 2.")
    if system.constraints:
        raise ModelError(f"backward error analysis: {system.name!r} has constraints. It is for systems without.")
    if not hasattr(method, "step_map") or isinstance(method, type):
        raise MethodError(f"backward error analysis: {method!r} is no method. Give one such as Midpoint(), or a map.")
    if getattr(method, "adaptive", False):
        raise MethodError(
            f"{what}: the steps of {method!r} have different lengths in time. Use a method with a fixed step."
        )
    return method.step_map(system)


Base = tuple[list[Row], list[Row], dict[str, Series]]
"""Of one substep: its vector fields, the power series of the next state, those of its unknowns."""


def _analysed(stepmap: StepMap, top: int) -> tuple[list[Row], Base]:
    """f_1, ..., f_top of a step, and what its substeps are made of."""
    names = stepmap.state
    series, unknowns = step_series(stepmap, top)
    fields = _fields(series, names, top)
    base = (fields, series, unknowns)
    if len(stepmap.substeps) > 1:
        composed = [[fast(n), *[fast(0)] * top] for n in names]
        for c in reversed(stepmap.substeps):
            composed = [_carried(row, fields, names, c) for row in composed]
        fields = _fields(composed, names, top)
    return fields, base


def _step_action(system: System, method: Any, stepmap: StepMap, base: Base, top: int) -> Row:
    """The discrete Lagrangian along a step, as a power series with coefficients in the state at its beginning."""
    while hasattr(method, "method"):  # a composition: the action of a step is the sum of those of its substeps
        method = method.method
    fields, series, unknowns = base
    one = _substep_action(system, method, series, unknowns, top)
    if stepmap.substeps == (1.0,):
        return one
    total = [fast(0)] * (top + 1)
    for c in reversed(stepmap.substeps):
        after = _carried(total, fields, stepmap.state, c)
        total = [expanded(a + fast(c) ** j * e) for j, (a, e) in enumerate(zip(after, one, strict=True))]
    return total


def _substep_action(system: System, method: Any, series: list[Row], unknowns: dict[str, Series], top: int) -> Row:
    """L_d(q0, q1) of a variational method, or h sum of b_i L(Q_i, V_i) of a symplectic partitioned Runge-Kutta method."""
    q = system.coordinates
    if hasattr(method, "discrete_system"):
        discrete = method.discrete_system(system)
        end = {c.at(1).name: dict(enumerate(series[i])) for i, c in enumerate(q)}
        begin = {c.at(0).name: {0: fast(c)} for c in q}
        within = {
            i.slot.name: {0: fast(i.coordinate)} | {k + 1: i.fraction * w for k, w in unknowns[i.unknown].items()}
            for i in discrete.interior_positions()
        }  # positions inside the step, q + h d W
        return Taylor({**begin, **end, **within}, top)(discrete.lagrangian)
    if not hasattr(method, "tableau"):
        raise MethodError(_not_hamiltonian(method, "the library does not know its discrete Lagrangian"))
    t, h = method.tableau(), fast(step)
    stages = range(len(t.b))
    V = [[fast(f"{c.name}.stage{i + 1}") for c in q] for i in stages]
    total = fast(0)
    for i in stages:
        Q = [fast(c) + h * sum((fast(t.a[i][j]) * V[j][k] for j in stages), start=fast(0)) for k, c in enumerate(q)]
        places = dict(zip(q, Q, strict=True)) | {c.dot: V[i][k] for k, c in enumerate(q)}
        instant = fast(time) + fast(t.c[i]) * h
        total += h * fast(t.b[i]) * substitute(system.lagrangian, {**places, time: instant})
    return Taylor(unknowns, top)(total)


def _hamiltonians(system: System, fields: list[Row], action: Row) -> Row:
    """H_1, H_2, ...: the action solved for l_j = p.f_j - H_j, order by order."""
    q, p = system.coordinates, [c.momentum for c in system.coordinates]
    names, (position, _) = [s.name for s in (*q, *p)], spans(len(q), len(p))
    powers: dict[tuple[int, int], Fast] = {}  # (k, j): the coefficient of h^(j-1) in (hD)^k l
    series: Row = []
    for j, f in enumerate(fields, start=1):
        parts = [action[j]]
        for k in range(1, j):
            terms = (_along(fields[a - 1], names, powers[k - 1, j - a], a == 1) for a in range(1, j - k + 1))
            powers[k, j] = expanded(sum(terms, start=fast(0)))
            parts.append(-powers[k, j] / factorial(k + 1))
        powers[0, j] = clean(parts)
        series.append(clean([*(fast(a) * b for a, b in zip(p, f[position], strict=True)), -powers[0, j]]))
    return series


def _along(field: Row, names: Sequence[str], expression: Fast, moving: bool) -> Fast:
    """The derivative of an expression along a vector field; `moving` adds the derivative in time."""
    slopes = gradient(expression, names)
    start = fast(expression).diff(fast(time)) if moving else fast(0)
    return expanded(sum((f * d for f, d in zip(field, slopes, strict=True)), start=start))


def _fields(series: list[Row], names: Sequence[str], top: int) -> list[Row]:
    """f_1, ..., f_top from the power series of the step."""
    n = len(names)
    found: list[Row] = []
    powers: dict[tuple[int, int], Row] = {}  # (i, j): the coefficient of h^j in (hD)^i y
    for j in range(1, top + 1):
        total = [[row[j]] for row in series]
        for i in range(2, j + 1):
            terms = [
                [_along(found[k - 1], names, g, k == 1) for g in powers[i - 1, j - k]] for k in range(1, j - i + 2)
            ]
            powers[i, j] = [expanded(sum(column, start=fast(0))) for column in zip(*terms, strict=True)]
            for m in range(n):
                total[m].append(-powers[i, j][m] / factorial(i))
        powers[1, j] = [clean(parts) for parts in total]
        found.append(powers[1, j])
    return found


def _carried(series: Row, fields: list[Row], names: Sequence[str], fraction: float) -> Row:
    """exp(X) g for X = sum of (c h)^k D_k: the coefficients of g after a substep of length c h, as functions before it."""
    top = len(series) - 1
    result, power = list(series), list(series)
    for i in range(1, top + 1):
        power = [
            expanded(
                sum(
                    (fast(fraction) ** k * _along(fields[k - 1], names, power[j - k], k == 1) for k in range(1, j + 1)),
                    start=fast(0),
                )
            )
            for j in range(top + 1)
        ]
        result = [a + b / factorial(i) for a, b in zip(result, power, strict=True)]
    return [expanded(e) for e in result]
