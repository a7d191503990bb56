"""Input of numbers: given values are converted to doubles here, or refused with the reason.

A number is an int, a float, a fraction, a decimal, a NumPy number or a SymPy constant; an array is a list, a tuple or an
array of these, in any byte order and precision. Everything else is refused: texts, truth
values, dates, complex numbers (with imaginary part zero too), quantities with a unit, masked entries; and numbers
outside the range of doubles. NaN and infinity pass: the functions that need finite numbers say so.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Symbol
from sympy.logic.boolalg import BooleanAtom

from .errors import DalembertError, StartError, told

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 2**62
"""Counts (steps, records) are 64-bit integers; twice this is no longer one."""


class _NoNumberError(Exception):
    """Why something is not a number."""


def real(given: Any, role: str, error: type[DalembertError] = StartError, tail: str = ". Give one number.") -> float:
    """One real number as a double; NaN and infinity are numbers here. `tail` ends the sentence of a refusal."""
    try:
        value = _array(given)
    except _NoNumberError as why:
        raise error(f"{role} = {told(given)}{_because(why)}{tail}") from None
    if value.ndim:
        raise error(f"{role} = {told(given)}{tail}")
    return float(value)


def finite(given: Any, role: str, error: type[DalembertError] = StartError, tail: str = ". Give one number.") -> float:
    """One real number that is finite."""
    value = real(given, role, error, tail)
    if not -float("inf") < value < float("inf"):
        raise error(f"{role} = {told(given)}{tail}")
    return value


def positive(
    given: Any, role: str, error: type[DalembertError] = StartError, tail: str = ". Give one number."
) -> float:
    """One real number that is positive and finite."""
    value = finite(given, role, error, tail)
    if value <= 0:
        raise error(f"{role} = {told(given)}{tail}")
    return value


def reals(
    given: Any,
    role: str,
    error: type[DalembertError] = StartError,
    expected: str = "Give a number, or an array of them.",
) -> NDArray[Any]:
    """A number, or an array of numbers of any shape, as doubles."""
    try:
        return _array(given)
    except _NoNumberError as why:
        raise error(f"{role} = {told(given)} is not a number{_because(why)}. {expected}") from None


def _because(why: _NoNumberError) -> str:
    return f" ({why})" if str(why) else ""


def whole(
    given: Any, role: str, error: type[DalembertError], *, least: int = 0, expected: str = "", most: int = MOST
) -> int:
    """A whole number; 3.0 is refused."""
    expected = expected or f"give a whole number from {least}"
    if not is_whole(given):
        raise error(f"{role} = {told(given)}: {expected}.")
    value = int(given)
    if not least <= value <= most:
        bound = f", at most {most}" if value > most else ""
        raise error(f"{role} = {told(given)}: {expected}{bound}.")
    return value


def is_whole(given: Any) -> bool:
    """Whether something is a whole number: 3.0, True and NumPy's time intervals are not."""
    if isinstance(given, bool) or not isinstance(given, numbers.Integral | sympy.Integer):
        return False
    return getattr(getattr(given, "dtype", None), "kind", "i") in "iu"


def name_of(key: Any) -> str:
    """The name of a symbol given as a key, or the text that stands for one."""
    name = getattr(key, "name", None)
    return str(key) if name is None else str(name)


def by_name(given: Any, known: Iterable[Symbol], role: str, read: Callable[[Any, str], Any] = real) -> dict[str, Any]:
    """The given numbers {symbol: number} by name; every key must be a known symbol, or the name of one."""
    if not (given is None or isinstance(given, Mapping)):
        raise StartError(f"{role}: got {told(given)}. Expected {{symbol: number, ...}}.")
    names = {s.name for s in known}
    found: dict[str, Any] = {}
    for key, value in (given or {}).items():
        name = key.name if isinstance(key, Symbol) else key if isinstance(key, str) else told(key)
        if name not in names:
            raise StartError(f"{role}: {name[:120]} is unknown here. Expected one of {', '.join(sorted(names))}.")
        if name in found:
            raise StartError(f"{role}: {name} is given twice.")
        found[name] = read(value, f"{role}: {name}")
    return found


def joined(state: Any, parameters: Any, role: str) -> dict[Any, Any]:
    """A state and parameters, both {symbol: number}, as one."""
    for given in (state, parameters):
        if not (given is None or isinstance(given, Mapping)):
            raise StartError(f"{role}: got {told(given)}. Expected {{symbol: number, ...}}.")
    return {**(state or {}), **(parameters or {})}


# One number


def _scalar(given: Any) -> float:
    """A real number as the nearest double, or the reason why it is none."""
    if given is None or _is_truth(given) or isinstance(given, str | bytes | BooleanAtom):
        raise _NoNumberError("")
    if hasattr(given, "units") or hasattr(given, "unit"):
        raise _NoNumberError("it has a unit; give its value in the units of the system")
    if isinstance(given, sympy.Basic):
        return _constant(given)
    if isinstance(given, numbers.Complex) and not isinstance(given, numbers.Real):
        raise _NoNumberError("it is complex; give its real part")
    if not isinstance(given, numbers.Real | Decimal) and not hasattr(type(given), "__float__"):
        raise _NoNumberError("")
    try:
        value = float(given)
    except OverflowError:
        raise _NoNumberError("it is larger than every double, 1.8e308") from None
    except (TypeError, ValueError, RuntimeError):
        raise _NoNumberError("") from None
    return _near(value, given)


def _near(value: float, given: Any) -> float:
    """The double, if it is near to the number: neither infinite nor zero unless that is."""
    if value == 0 and given != 0:
        raise _NoNumberError("it is smaller than every double, 4.9e-324")
    if value in (float("inf"), -float("inf")) and given != value:
        raise _NoNumberError("it is larger than every double, 1.8e308")
    return value


def _constant(given: sympy.Basic) -> float:
    if not isinstance(given, sympy.Expr) or isinstance(given, sympy.MatrixBase):
        raise _NoNumberError("")
    if given.free_symbols:
        raise _NoNumberError("")
    if given in (sympy.oo, -sympy.oo, sympy.nan):
        return float(given)
    if given.is_real is False:
        raise _NoNumberError("it is not a real number")
    try:
        digits = given if isinstance(given, sympy.Float | sympy.Integer) else given.evalf(20)
        return _near(float(digits), digits)
    except OverflowError:
        raise _NoNumberError("it is larger than every double, 1.8e308") from None
    except (TypeError, ValueError, RecursionError):
        raise _NoNumberError("it has no real value") from None


# Arrays


def _array(given: Any) -> NDArray[Any]:
    import numpy as np

    if isinstance(given, float | int) and not isinstance(given, bool):
        return np.array(_scalar(given))
    if isinstance(given, sympy.MatrixBase | range):
        given = given.tolist() if isinstance(given, sympy.MatrixBase) else list(given)
    if not isinstance(given, list | tuple | np.ndarray) and not hasattr(given, "__array__"):
        return np.array(_scalar(given))
    if hasattr(given, "units") or (hasattr(given, "unit") and not isinstance(given, np.generic)):
        raise _NoNumberError("it has a unit; give its values in the units of the system")
    try:
        if is_masked(given):
            raise _NoNumberError("it has masked entries, which have no value; fill them, or leave them out")
        raw = np.asarray(given)
        if isinstance(given, list | tuple) and (raw.dtype.kind not in "iuf" or any(map(_is_truth, given))):
            raw = np.asarray(
                given, dtype=object
            )  # NumPy converts all numbers of a list to texts if one entry is a text
    except (TypeError, ValueError, RecursionError, OverflowError) as why:
        raise _NoNumberError(_ragged(why)) from None
    return _doubles(raw)


def is_masked(given: Any) -> bool:
    """Whether an array, or one somewhere in a list, has masked entries: NumPy makes NaN of them there."""
    import numpy as np

    if isinstance(given, list | tuple):
        return any(is_masked(entry) for entry in given if isinstance(entry, list | tuple | np.ndarray))
    if type(given) is np.ndarray or not isinstance(given, np.ndarray):
        return False
    import numpy.ma as masked  # here: it takes long, and `sys.modules` may have it while another thread is importing it

    return masked.isMaskedArray(given) and bool(masked.getmaskarray(given).any())


def _is_truth(entry: Any) -> bool:
    return isinstance(entry, bool) or getattr(getattr(entry, "dtype", None), "kind", "") == "b"


def _ragged(why: Exception) -> str:
    return "its rows have different lengths" if "inhomogeneous" in str(why) else "it is no array of numbers"


def _doubles(raw: Any) -> NDArray[Any]:
    """The entries of an array as doubles."""
    import numpy as np

    kind = raw.dtype.kind
    if kind in "iuf":
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            made = raw.astype(np.float64)
        lost = np.isinf(made) & ~np.isinf(raw)
        if lost.any() or ((made == 0) & (raw != 0)).any():
            raise _NoNumberError(f"an entry is {'larger' if lost.any() else 'smaller'} than every double")
        return np.ascontiguousarray(made).reshape(made.shape)
    if kind == "O":
        entries = [_scalar(e) if not isinstance(e, np.ndarray) else float(_array(e)) for e in raw.ravel().tolist()]
        return np.array(entries, dtype=np.float64).reshape(raw.shape)
    names = {"b": "truth values", "c": "complex numbers; give their real part", "U": "texts", "S": "texts"}
    names |= {"M": "dates", "m": "time intervals", "V": "records"}
    raise _NoNumberError(f"its entries are {names.get(kind, f'of type {raw.dtype}')}")
