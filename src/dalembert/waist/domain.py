"""Where an expression is defined: the conditions of its logarithms, roots, powers and divisions.

They are taken from the expression as it was stated, not from its derivatives: that of log(x) is 1/x, which is defined for
x < 0 too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import hypot, nan
from typing import Literal, NamedTuple

from ..symbolic import Fast, fast

STRAIGHT = 1 - 1e-12
"""Two places are on opposite sides of a point, and the line between them passes through it, from this cosine on."""

TINY = 1e-150
"""Terms that must not vanish count as zero below this: their reciprocals are close to overflow."""

Kind = Literal["positive", "nonnegative", "nonzero", "same"]


class Condition(NamedTuple):
    """A condition for an expression to be defined.

    positive, nonnegative: the single term is so. nonzero: the terms do not all vanish; a motion on which they do has passed
    a singularity, even if it is defined beyond it, so a single term must keep its sign.
    same: the single term, an integer, is unchanged: it says between which poles a place is, since two poles keep the sign.
    """

    kind: Kind
    terms: tuple[Fast, ...]


def conditions(expressions: Iterable[Fast]) -> list[Condition]:
    """The conditions of some expressions, each once; a branch of a Piecewise counts only where it is taken."""
    found: dict[Condition, None] = {}
    seen: set[Fast] = set()
    for e in expressions:
        _collect(fast(e), found, seen)
    return list(found)


def violated(kind: Kind, before: Sequence[float], now: Sequence[float]) -> bool:
    """Whether a condition fails now, or on the straight line from before to now; NaN does not violate a condition."""
    if kind == "same":
        return bool(now[0] < before[0] or now[0] > before[0])
    if kind != "nonzero":
        return bool(now[0] <= TINY if kind == "positive" else now[0] < 0)
    if hypot(*now) <= TINY:
        return True
    product = sum(a * b for a, b in zip(before, now, strict=True))
    return bool(product <= -STRAIGHT * hypot(*before) * hypot(*now))


def _collect(e: Fast, found: dict[Condition, None], seen: set[Fast]) -> None:
    if e in seen or not e.args:
        return
    seen.add(e)
    if type(e).__name__ == "Piecewise":
        taken = [(conditions([value]), active) for value, active in _branches(e)]
        always = set(taken[0][0]).intersection(*(inside for inside, _ in taken))  # 1/|x| is 1/x or -1/x
        found |= dict.fromkeys(c for c in taken[0][0] if c in always)
        for inside, active in taken:
            found |= {_only_where(active, c): None for c in inside if c not in always}
        return
    found |= dict.fromkeys(_own(e))
    for a in e.args:
        _collect(a, found, seen)


def _branches(piecewise: Fast) -> Iterator[tuple[Fast, Fast]]:
    """The values of a Piecewise, each with the condition under which it is the one taken."""
    import symengine

    earlier: list[Fast] = []
    for value, condition in zip(piecewise.args[::2], piecewise.args[1::2], strict=True):
        yield value, symengine.And(*(symengine.Not(c) for c in earlier), condition)
        earlier.append(condition)


def _only_where(active: Fast, c: Condition) -> Condition:
    """The condition where another holds; elsewhere its terms are NaN, which does not violate it."""
    import symengine

    return c._replace(terms=tuple(symengine.Piecewise((u, active), (symengine.RealDouble(nan), True)) for u in c.terms))


def _own(e: Fast) -> Iterator[Condition]:
    """The conditions of the outermost operation of an expression."""
    import symengine

    if e.is_Pow:
        yield from _power(*e.args)
        return
    kind, u = type(e).__name__, e.args[0]
    match kind:
        case "log":
            yield from _positive(u)
        case "asin" | "acos":
            yield from _not_negative(1 - u**2)
        case "acosh":
            yield from _not_negative(u - 1)
        case "atanh":
            yield from _positive(1 - u**2)
        case "tan" | "sec":
            yield from nonzero(symengine.cos(u))
        case "cot" | "csc":
            yield from nonzero(symengine.sin(u))
        case "coth" | "csch":
            yield from nonzero(u)
        case "gamma" | "loggamma":  # changes sign at each of its poles
            yield Condition("nonzero", (symengine.gamma(u),))


def _power(base: Fast, exponent: Fast) -> Iterator[Condition]:
    import symengine

    if base.is_number:
        return
    if not exponent.is_number:  # for example a parameter: only its value shows whether it is whole or negative
        fraction = symengine.Ne(symengine.floor(exponent), exponent)
        yield from (_only_where(fraction, c) for c in _not_negative(base))
        yield from (_only_where(symengine.Lt(exponent, 0), c) for c in nonzero(base))
        return
    value = float(exponent)
    if not value.is_integer():
        yield from _positive(base) if value < 0 else _not_negative(base)
    elif value < 0:
        yield from nonzero(base)


def _positive(u: Fast) -> Iterator[Condition]:
    yield from nonzero(u) if _is_not_negative(u) else iter([Condition("positive", (u,))])


def _not_negative(u: Fast) -> Iterator[Condition]:
    if not _is_not_negative(u):
        yield Condition("nonnegative", (u,))


def nonzero(u: Fast) -> Iterator[Condition]:
    """When an expression does not vanish: by factors; of powers the bases, of a sum of squares what is squared."""
    if u.is_number or _is_exponential(u):
        return
    inner = absolute(u)
    if inner is not None:
        yield from nonzero(inner)
    elif u.is_Mul:
        for factor in u.args:
            yield from nonzero(factor)
    elif u.is_Pow and u.args[1].is_number:
        yield from nonzero(u.args[0])
    elif not (u.is_Add and _is_not_negative(u)):
        yield Condition("nonzero", (u,))
        yield from _between_zeros(u)
    elif all(map(_square, u.args)):
        squared = (_square(term)[0] for term in u.args)
        yield Condition("nonzero", tuple(sorted(squared, key=str)))  # SymEngine lists terms in the order of addresses


def _between_zeros(u: Fast) -> Iterator[Condition]:
    """Between which two zeros of a sine or cosine a place lies; a long step may go across two, and has the same sign then."""
    import symengine

    shift = {"sin": 0, "cos": symengine.Rational(1, 2)}.get(type(u).__name__)
    if shift is not None:
        yield Condition("same", (symengine.floor(u.args[0] / symengine.pi + shift),))


def _square(term: Fast) -> tuple[Fast, ...]:
    """u of c u^2, c a positive number; nothing if the term is not of this form."""
    import symengine

    powers = [f for f in (term.args if term.is_Mul else (term,)) if not f.is_number]
    if len(powers) != 1 or not (powers[0].is_Pow and powers[0].args[1] == 2):
        return ()
    return (powers[0].args[0] * symengine.sqrt(term / powers[0]),)


def _is_exponential(u: Fast) -> bool:
    return type(u).__name__ in ("cosh", "sech") or bool(u.is_Pow and u.args[0].is_number and u.args[0].is_positive)


def absolute(u: Fast) -> Fast | None:
    """u of |u|, which is written as a Piecewise."""
    kind = type(u).__name__
    if kind == "Abs":
        return u.args[0]
    if kind == "Piecewise" and len(u.args) == 4 and u.args[0] == -u.args[2] and u.args[1] == (u.args[0] >= 0):
        return u.args[0]
    return None


def _is_not_negative(u: Fast) -> bool:
    """Whether the form of an expression shows that it is nowhere negative."""
    if u.is_number:
        return bool(u.is_nonnegative)
    if u.is_Add or u.is_Mul:
        return all(map(_is_not_negative, u.args))
    if u.is_Pow and u.args[1].is_number:
        value = float(u.args[1])
        return value % 2 == 0 or not value.is_integer() or _is_not_negative(u.args[0])
    return _is_exponential(u) or absolute(u) is not None
