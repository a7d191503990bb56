"""Symbols whose rendering is not their name, and how names are rendered."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from functools import lru_cache
from typing import Any, ClassVar, Self

import sympy
from sympy import Symbol
from sympy.core.assumptions import _assume_defined
from sympy.core.facts import InconsistentAssumptions
from sympy.printing.pretty.pretty_symbology import pretty_symbol
from sympy.printing.pretty.stringpict import prettyForm

from ..errors import ModelError, told

_OWN = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "absolute": "Abs", "fabs": "Abs",
    "maximum": "Max", "fmax": "Max", "minimum": "Min", "fmin": "Min",
}  # fmt: skip
"""Names of NumPy functions in SymPy, where they differ."""


REAL = {"real": True}
"""What all symbols of the library are."""


def _is_long(given: Any) -> bool:
    """Whether something is a NumPy number with more digits than a double, or an array of such numbers."""
    return getattr(getattr(given, "dtype", None), "char", "") in ("g", "G")


def _entries(given: Any) -> Any:
    """An array of objects: symbols, and SymPy numbers instead of NumPy's long ones, which would call __array_ufunc__ again."""
    import numpy as np

    made = np.empty(np.shape(given) if _is_long(given) else (), dtype=object)
    made[...] = np.vectorize(sympy.sympify, otypes=[object])(given) if _is_long(given) else given
    return made


class Mark(Symbol):  # type: ignore[misc]  # SymPy has no annotations
    """A symbol that is rendered differently from its name."""

    __slots__ = ()
    _place = 1  # its place in a printed product: parameters, coordinates, velocities, accelerations, the rest

    @classmethod
    def class_key(cls) -> tuple[int, int, str]:
        return 2, cls._place, cls.__name__

    def __new__(cls, name: str, **assumptions: Any) -> Self:
        made: Self = super().__new__(cls, name, **{**REAL, **assumptions})
        return made

    def __call__(self, *arguments: Any) -> Any:
        told = ", ".join(map(str, arguments))
        raise ModelError(
            f"{self.name}({told}): {self.name} is a symbol, not a function. Write {self.name}, which depends on time where it "
            f"is a coordinate; the velocity of x is x.dot."
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Functions of NumPy take numbers; sums and products of arrays and symbols are those of their entries."""
        name = ufunc.__name__
        if ufunc.nin > 1 or method != "__call__" or name in ("negative", "positive"):
            plain = [_entries(x) if isinstance(x, Mark) or _is_long(x) else x for x in inputs]
            with suppress(AttributeError, TypeError):  # a function of numbers, not an operator
                return getattr(ufunc, method)(*plain, **options)
        call, own = f"({', '.join(told(x, 40) for x in inputs)})", _OWN.get(name, name)
        instead = f"dalembert.{own}{call}, or the function of that name in SymPy"
        if not hasattr(sympy, own):
            instead = "it with operators and with functions of dalembert or SymPy"
        raise ModelError(f"numpy.{name}{call}: NumPy takes numbers, and {self.name} is a symbol. Write {instead}.")

    def _render(self) -> tuple[str, str, str]:
        """The symbol as LaTeX, as Unicode and as plain text."""
        return sympy.latex(Symbol(self.name)), pretty_symbol(self.name), self.name

    def _latex(self, printer: Any, **_: Any) -> str:
        return self._render()[0]

    def _pretty(self, printer: Any, **_: Any) -> prettyForm:
        return prettyForm(self._render()[1 if printer._use_unicode else 2], binding=prettyForm.ATOM)

    def _sympystr(self, printer: Any, **_: Any) -> str:
        return self._render()[2]


@lru_cache(maxsize=4096)
def _remembering(cls: type[Any], name: str, known: tuple[Any, ...], assumptions: tuple[tuple[str, bool], ...]) -> Any:
    """Cached, as SymPy's symbols are: equal symbols of several systems are one object, so they compare at once."""
    made = Symbol.__xnew__(cls, name, **{**REAL, **dict(assumptions)})
    for role, value in zip(cls._of, known, strict=True):
        setattr(made, role, value)
    return made


class Made(Mark):
    """A symbol that remembers what it was made of: a velocity its coordinate, an entry its place."""

    __slots__ = ()
    _of: ClassVar[tuple[str, ...]]
    """The names of what it remembers, in the order in which it is made of them."""

    @classmethod
    def _called(cls, name: str, *known: Any, **assumptions: bool) -> Self:
        """The symbol of a name that remembers these."""
        kind: Any = cls
        made: Self = _remembering(kind, name, known, tuple(assumptions.items()))
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, role) for role in self._of)


class _Around(Made):
    """A symbol that is printed as another one with something around it."""

    __slots__ = _of = ("symbol",)
    symbol: Mark
    _around: ClassVar[tuple[str, str, str]]
    """As LaTeX, as Unicode and as plain text."""

    def __new__(cls, symbol: Mark) -> Self:
        return cls._called(cls._around[2] % symbol.name, symbol)

    def _render(self) -> tuple[str, str, str]:
        latex, pretty, plain = (
            around % shown for around, shown in zip(self._around, self.symbol._render(), strict=True)
        )
        return latex, pretty, plain


class Moved(_Around):
    """What a map makes of a symbol, as printed: with a prime."""

    __slots__ = ()
    _around = ("%s'", "%s'", "%s'")


class Along(_Around):
    """The derivative by a symbol, as printed in vector fields: after all factors."""

    __slots__ = ()
    _place = 9
    _around = (r"\partial_{%s}", "∂/∂%s", "d/d%s")


def _listed(names: str) -> int:
    """At most how many symbols the ranges in a text make: x:3 is x0, x1, x2."""
    ends = [int(end[:9]) for end in re.findall(r":\s*(\d+)", names)]
    return math.prod(max(1, end) for end in ends)


MOST = 100_000
"""Symbols made at once."""


def symbols_of(kind: str, names: Any, cls: type[Symbol], assumptions: dict[str, bool]) -> Any:
    """The symbol of a name, or a tuple of those of several names in one text."""
    if not isinstance(names, str) or not names.strip():
        raise ModelError(f'{kind}({told(names)}): give names in one text, separated by spaces: {kind}("x y theta").')
    unknown = sorted(set(assumptions) - set(_assume_defined))
    if unknown:
        raise ModelError(f"{kind}: SymPy knows no assumption {unknown[0]!r}. Use positive=True, for example.")
    if _listed(names) > MOST:
        raise ModelError(f"{kind}({told(names)}): this makes more than {MOST} symbols. Make fewer.")
    try:
        made = sympy.symbols(names, cls=cls, **assumptions)
    except InconsistentAssumptions:
        raise ModelError(f"{kind}: the assumptions {assumptions} contradict each other.") from None
    except (ValueError, TypeError) as why:
        raise ModelError(
            f'{kind}({told(names)}): {why}. Give names separated by spaces: {kind}("x y theta").'
        ) from None
    return made


def dotted(name: str, mark: str) -> str:
    """The LaTeX form of `name` with a mark over the letter, not over its index."""
    head, underscore, index = sympy.latex(Symbol(name)).partition("_")
    return rf"\{mark}{{{head}}}{underscore}{index}"


def indexed(name: str, index: str) -> str:
    """The LaTeX form of `name` with one more index."""
    latex = sympy.latex(Symbol(name))
    return f"{latex[:-1]},{index}}}" if latex.endswith("}") and "_{" in latex else f"{latex}_{{{index}}}"


def over(name: str, mark: str) -> str:
    """The Unicode form of `name` with a combining mark over its first letter."""
    text = pretty_symbol(name)
    marked: str = text[0] + mark + text[1:]
    return marked
