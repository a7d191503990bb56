"""Functions with kinks as branches, and branches that are all the same as one: both libraries can differentiate branches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sympy import Abs, Heaviside, Max, Min, sign

from .symengine_types import Fast

KINKS = (Abs, sign, Max, Min, Heaviside)
"""Functions that become Piecewise, whose derivative both SymPy and SymEngine know."""


def branches(kink: Any, args: Sequence[Fast]) -> Fast:
    """A kink as Piecewise; the arguments are already converted."""
    import symengine

    if isinstance(kink, Max | Min):
        return extreme(args, symengine.Gt if isinstance(kink, Max) else symengine.Lt)
    u, above, below = args[0], symengine.Gt(args[0], 0), symengine.Lt(args[0], 0)
    if isinstance(kink, Abs):
        return symengine.Piecewise((u, symengine.Ge(u, 0)), (-u, True))
    if isinstance(kink, Heaviside):
        return symengine.Piecewise((1, above), (0, below), (args[1], True))
    return symengine.Piecewise((1, above), (-1, below), (0, True))


def extreme(args: Sequence[Fast], relation: Any) -> Fast:
    """The largest or smallest, by halves: the depth of nesting is then logarithmic in the number of arguments."""
    import symengine

    if len(args) == 1:
        return args[0]
    middle = (len(args) + 1) // 2
    best, a = extreme(args[:middle], relation), extreme(args[middle:], relation)
    return symengine.Piecewise((a, relation(a, best)), (best, True))


def _piecewise_parts(e: Fast) -> Iterator[Fast]:
    """The Piecewise expressions in an expression; parts that occur many times are looked into once."""
    import symengine

    seen, rest = {e}, [e]
    while rest:
        part = rest.pop()
        if isinstance(part, symengine.Piecewise):  # type: ignore[arg-type]  # a class, a function in the stubs
            yield part
        new = [a for a in part.args if a not in seen]
        seen.update(new)
        rest += new


def has_branches(e: Fast) -> bool:
    return any(True for _ in _piecewise_parts(e))


def merged(e: Fast) -> Fast:
    """Branches that are all the same are one: SymEngine keeps derivatives such as Piecewise((0, x < 1), (0, True))."""
    for _ in range(8):  # nested ones from the inside
        same = {p: p.args[0] for p in _piecewise_parts(e) if len(set(p.args[::2])) == 1}
        if not same:
            break
        e = e.subs(same)
    return e
