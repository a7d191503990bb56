"""Conversion between SymPy and SymEngine, and the operations that use SymEngine.

Users write and read SymPy; differentiation and substitution for numerical code use SymEngine, which is about a hundred
times faster. A symbol is identified by its name on both sides (see `model.coordinates`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from operator import itemgetter
from typing import Any

import sympy
from sympy import ITE, And, Not, Or

from .kinks import KINKS, branches, has_branches, merged
from .symengine_types import Fast as Fast  # noqa: PLC0414  (re-exported)
from .symengine_types import Vector as Vector  # noqa: PLC0414


def fast(expression: Any) -> Fast:
    """The SymEngine form of a SymPy expression; of a text, the symbol of that name."""
    import symengine

    found: Fast
    if isinstance(expression, symengine.Basic):
        found = expression
        return found
    if isinstance(expression, str):
        found = symengine.Symbol(expression)
        return found
    if isinstance(expression, sympy.Symbol) and not isinstance(expression, sympy.Dummy):
        found = symengine.Symbol(expression.name)
        return found
    try:
        return _converted(expression) if isinstance(expression, sympy.Basic) else symengine.sympify(expression)
    except symengine.SympifyError as error:
        raise TypeError(f"{expression!r} is no expression") from error


@lru_cache(maxsize=1024)
def _converted(expression: sympy.Basic) -> Fast:
    """Kinks are converted from the inside out, each with symbols for those within it. SymPy does not
    convert branches: it folds nested ones and searches for their signs, which takes hours where there are many.
    """
    import symengine

    found = parts(expression)
    if any(isinstance(e, ITE) for e in found):
        expression = expression.replace(ITE, lambda a, b, c: Or(And(a, b), And(Not(a), c)))
        found = parts(expression)
    stands: dict[Any, sympy.Symbol] = {}
    values: dict[Fast, Fast] = {}

    def convert(e: Any) -> Fast:
        plain = symengine.sympify(e.xreplace(stands) if stands else e)
        inside = {s: values[s] for s in plain.free_symbols if s in values} if stands else {}
        return plain.subs(inside) if inside else plain

    for kink in (e for e in found if isinstance(e, KINKS)):
        value = branches(kink, [convert(a) for a in kink.args])
        stands[kink] = sympy.Symbol(f"kink.{len(stands)}", real=True)
        values[symengine.Symbol(stands[kink].name)] = value
    return convert(expression)


def parts(expression: Any) -> list[Any]:
    """The different parts of an expression, those within others before them; every part once, without recursion."""
    seen: set[int] = set()
    found, waiting = [], [(expression, False)]
    while waiting:
        e, inside = waiting.pop()
        if id(e) in seen:
            continue
        if not inside and e.args:
            waiting.append((e, True))
            waiting += [(a, False) for a in e.args]
            continue
        seen.add(id(e))
        found.append(e)
    return found


def slow(expression: Fast, symbols: Iterable[sympy.Symbol]) -> sympy.Expr:
    """The SymPy form of a SymEngine expression, written with the given symbols (found by name)."""
    names = {sympy.Symbol(s.name): s for s in symbols}
    result: sympy.Expr = sympy.sympify(fast(expression)).xreplace(names)
    return result


TERMS = 3000
"""Sums of more terms than this are not written out."""


def expanded(expression: sympy.Expr) -> sympy.Expr:
    """Multiplied out, unless that makes a sum of more than TERMS terms: then it is left as it is."""
    return sympy.expand(expression) if terms_of(expression) <= TERMS else expression


def terms_of(e: sympy.Basic) -> int:
    """How many terms an expression has at most when it is multiplied out, or a part of it."""
    parts = [terms_of(a) for a in e.args]
    if isinstance(e, sympy.Add):
        return sum(parts)
    if isinstance(e, sympy.Mul):
        return math.prod(parts)
    if isinstance(e, sympy.Pow) and e.exp.is_Rational and parts[0] > 1:
        power = abs(int(e.exp))
        return math.comb(parts[0] + power - 1, power) if power < TERMS else power + 1
    return max((n for n in parts if n > TERMS), default=1)


LONGEST = 2**80
"""Fractions with a larger denominator, such as weights of quadrature, stand for decimals."""


def has_decimals(expression: Fast) -> bool:
    """Whether an expression has decimals, or fractions that stand for them."""
    import symengine

    long = (r for r in expression.atoms(symengine.Rational) if r.as_numer_denom()[1] > LONGEST)
    return bool(expression.atoms(symengine.RealDouble)) or any(long)


def total(terms: Iterable[Fast]) -> Fast:
    """The sum of some expressions."""
    import symengine

    return symengine.Add(*terms)


def summands(e: Fast) -> Iterator[Fast]:
    """The terms of a sum; a number times a sum is multiplied out."""
    if e.is_Add:
        for term in e.args:
            yield from summands(term)
    elif e.is_Mul and len(e.args) == 2 and e.args[0].is_number and e.args[1].is_Add:
        yield from (e.args[0] * term for term in summands(e.args[1]))
    else:
        yield e


def symbol_in(e: Fast) -> str:
    """The name of the symbol in a symbol or a number times one."""
    if e.is_Mul and len(e.args) == 2 and e.args[0].is_number:
        e = e.args[1]
    return str(e.name) if e.is_Symbol else ""


def nearest_double(e: Fast) -> float:
    """The double nearest to a rational number: SymEngine cuts digits off instead of rounding."""
    p, q = (int(n) for n in e.as_numer_denom())
    try:
        return p / q
    except OverflowError:
        return float("inf") if p > 0 else float("-inf")


def vector(entries: Sequence[Any]) -> Vector:
    """A column vector of SymEngine expressions."""
    import symengine

    column: Vector = symengine.DenseMatrix(len(entries), 1, [fast(e) for e in entries])
    return column


def substitute(expression: Fast, replacements: Mapping[Any, Any]) -> Fast:
    """Replace symbols by expressions, all at once."""
    e, table = fast(expression), replacements
    if len(table) > MANY:  # symbols that do not occur are not converted
        names = {None, *(s.name for s in e.free_symbols)}
        table = {a: b for a, b in table.items() if (a if isinstance(a, str) else getattr(a, "name", None)) in names}
    return e.subs({fast(a): fast(b) for a, b in table.items()})


def substitution(replacements: Mapping[Any, Any]) -> Callable[[Any], Fast]:
    """`substitute` for many expressions: the replacements are converted once, and each expression gets those it contains."""
    table = {fast(a): fast(b) for a, b in replacements.items()}
    if not all(a.is_Symbol for a in table):
        return lambda expression: fast(expression).subs(table)

    def replaced(expression: Any) -> Fast:
        e = fast(expression)
        inside = {s: table[s] for s in e.free_symbols if s in table}
        return e.subs(inside) if inside else e

    return replaced


def _together(expressions: Iterable[Any]) -> Fast:
    """One expression with some as its arguments.

    SymEngine looks once into what is shared within one expression, and keeps it shared in what it makes of it. Of expressions
    treated one by one each has its own copy, and copies are compared term by term whenever they are looked up.
    """
    import symengine

    found: Fast = symengine.Function("together")(*map(fast, expressions))
    return found


def substituted(expressions: Iterable[Any], replacements: Mapping[Any, Any]) -> list[Fast]:
    """Some expressions after `substitute`; what they share stays shared."""
    return list(substitution(replacements)(_together(expressions)).args)


def gradient(expression: Fast, variables: Iterable[Any]) -> list[Fast]:
    """The partial derivatives of one expression."""
    return jacobian([expression], list(variables))[0]


def jacobian(expressions: Iterable[Fast], variables: Sequence[Any]) -> list[list[Fast]]:
    """The rows of partial derivatives of several expressions."""
    listed, zero = list(expressions), fast(0)
    rows = [[zero] * len(variables) for _ in listed]
    for (i, j), d in partials(listed, variables).items():
        rows[i][j] = d
    return rows


def partials(expressions: Iterable[Fast], variables: Sequence[Any]) -> dict[tuple[int, int], Fast]:
    """The partial derivatives that are not zero, by row and column: only symbols that occur are differentiated by."""
    columns: dict[Fast, list[int]] = {}
    for j, x in enumerate(variables):
        columns.setdefault(fast(x), []).append(j)
    listed = list(map(fast, expressions))
    occurring = [e.free_symbols & columns.keys() for e in listed]
    found: dict[tuple[int, int], Fast] = {}
    for i, slopes in enumerate(_rows_of_slopes(listed, occurring)):
        branched = bool(slopes) and has_branches(listed[i])
        row = {j: d for x, d in slopes.items() for j in columns[x]}
        for j, d in sorted(row.items(), key=itemgetter(0)):
            slope = merged(d) if branched else d
            if slope != 0:
                found[i, j] = slope
    return found


MANY = 32
"""With more symbols than this, the ones that occur in each term or expression are selected first."""


def _rows_of_slopes(rows: Sequence[Fast], occurring: Sequence[Set[Fast]]) -> list[dict[Fast, Fast]]:
    """The derivatives of some rows by the symbols that occur in each.

    By one symbol all rows are differentiated together, each times a mark of its own, so that what they share is done once.
    """
    import symengine

    found = [_slopes(e, s) if len(s) > MANY else {} for e, s in zip(rows, occurring, strict=True)]
    marks = [symengine.Symbol(f"row.{i}") for i in range(len(rows))]
    places = {mark: i for i, mark in enumerate(marks)}
    together: dict[Fast, list[Fast]] = {}
    for mark, e, symbols in zip(marks, rows, occurring, strict=True):
        for x in symbols if len(symbols) <= MANY else ():
            together.setdefault(x, []).append(mark * e)
    for x, marked in together.items():
        terms: dict[Fast, list[Fast]] = {}
        slope = symengine.Add(*marked).diff(x)
        for term in slope.args if slope.is_Add else (slope,):
            mark = next((a for a in (term.args if term.is_Mul else (term,)) if a in places), None)
            if mark is not None:
                terms.setdefault(mark, []).append(term / mark)
        for mark, slopes in terms.items():
            found[places[mark]][x] = symengine.Add(*slopes)
    return found


def _slopes(e: Fast, symbols: Set[Fast]) -> dict[Fast, Fast]:
    """The derivatives by some symbols, all of which occur."""
    import symengine

    if len(symbols) > MANY and e.is_Add:
        terms: dict[Fast, list[Fast]] = {}
        for term in e.args:
            for x, d in _slopes(term, term.free_symbols & symbols).items():
                terms.setdefault(x, []).append(d)
        return {x: symengine.Add(*slopes) for x, slopes in terms.items()}
    if len(symbols) > MANY and e.is_Mul and len(sums := [f for f in e.args if f.is_Add]) == 1:
        factor = e / sums[0]
        if not factor.free_symbols & symbols:
            return {x: factor * d for x, d in _slopes(sums[0], symbols).items()}
    return {x: e.diff(x) for x in symbols}


def free_names(expressions: Iterable[Fast]) -> set[str]:
    """The names of all symbols in some expressions."""
    return {s.name for s in _together(expressions).free_symbols}


def number(expression: Fast, values: Mapping[str, float]) -> float:
    """The value of an expression; not-a-number where it has none (a logarithm of zero, a root of minus one)."""
    e = fast(expression)
    at = e.subs({s: values[s.name] for s in e.free_symbols if s.name in values})
    try:
        return float(at.n(53, real=True))
    except (RuntimeError, ValueError, TypeError, ZeroDivisionError):
        pass
    try:  # SymEngine evaluates neither branches nor steps; SymPy does
        value = complex(sympy.sympify(at).evalf())
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return float("nan")
    return value.real if abs(value.imag) <= 1e-14 * abs(value.real) else float("nan")


def magnitude(e: Fast) -> Fast:
    """The sum of the absolute values of the terms of an expression, to which its rounding errors are proportional.

    To first order: of a product of sums, or a power of one, one sum at a time is replaced by the size of its terms and the
    others keep their values, because the error of one factor is multiplied by the values of the others.
    """
    return magnitudes([e])[0]


def magnitudes(expressions: Iterable[Fast]) -> list[Fast]:
    """The magnitudes of some expressions; what they share stays shared."""
    known: dict[Fast, Fast] = {}
    return [_magnitude(e, known) for e in expressions]


def _magnitude(e: Fast, known: dict[Fast, Fast]) -> Fast:
    """The same; parts that occur many times are looked into once."""
    import symengine

    if e.is_number:  # SymEngine gives large numbers equal hashes
        return symengine.Abs(e)
    if e not in known:
        if e.is_Add:
            found = symengine.Add(*(_magnitude(a, known) for a in e.args))
        elif e.is_Mul and (sums := [f for f in e.args if _has_terms(f)]):
            found = symengine.Add(*(_magnitude(f, known) * symengine.Abs(e / f) for f in sums))
        elif e.is_Pow and _has_terms(e):
            base, power = e.args
            found = power * symengine.Abs(base) ** (power - 1) * _magnitude(base, known)
        else:
            found = symengine.Abs(e)
        known[e] = found
    return known[e]


def _has_terms(factor: Fast) -> bool:
    return bool(
        factor.is_Add or (factor.is_Pow and factor.args[0].is_Add and factor.args[1].is_Integer and factor.args[1] > 0)
    )


def numpy_function(arguments: Sequence[Any], expressions: Any, cse: bool = False) -> Any:
    """SymPy's NumPy function for an expression, a matrix or a list; arguments may be in groups.

    The symbols are replaced by others, because SymPy writes a parameter called pi, or sin, like the constant or the function.
    Integers beyond 64 bits are replaced by doubles, because arrays times such an integer are arrays of objects.
    """
    plain: dict[Any, Any] = {s: sympy.Dummy() for s in sympy.flatten(arguments)}
    own = [[plain[s] for s in a] if isinstance(a, list | tuple) else plain[a] for a in arguments]
    listed = isinstance(expressions, list)
    numbers = {r for e in (expressions if listed else [expressions]) for r in e.atoms(sympy.Rational)}
    plain |= {r: sympy.Float(r, 17) for r in numbers if max(abs(r.p), r.q) >= 2**63}
    told = [e.xreplace(plain) for e in expressions] if listed else expressions.xreplace(plain)
    return sympy.lambdify(own, told, "numpy", cse=cse)


def vectorised(symbols: Sequence[Any], expressions: Sequence[Any]) -> Any:
    """A function of rows of values of the symbols that gives a row of values of the expressions, in floating point."""
    import numpy as np
    import symengine

    if not expressions:
        return lambda rows: np.zeros((len(rows), 0))
    # Renamed, because SymEngine calls common subexpressions x0, x1, ..., whatever the names of the arguments are.
    own = {fast(s): symengine.Symbol(f"argument.{k}") for k, s in enumerate(symbols)}
    listed = [e.subs(own) if e.free_symbols else e for e in map(fast, expressions)]
    try:
        call = symengine.Lambdify(list(own.values()), listed, real=True, cse=True)
    except (
        RuntimeError
    ):  # functions that SymEngine only differentiates, such as those that derivatives of gamma contain
        names = [s.name for s in own.values()]
        return lambda rows: np.array([[number(e, dict(zip(names, row, strict=True))) for e in listed] for row in rows])

    def evaluated(rows: Any) -> Any:
        if not len(rows):
            return np.zeros((0, len(listed)))
        with np.errstate(all="ignore"):
            return np.asarray(call(np.ascontiguousarray(rows))).reshape(len(rows), len(listed))

    return evaluated
