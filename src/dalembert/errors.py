"""Few exception types; every message says what was given, what was expected and what to type next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .run.trajectory import Trajectory


LONGEST = 2000
"""Most characters of a line of a message; longer lines are cut in the middle."""


def shortened(message: str) -> str:
    """A message with its long lines cut in the middle: expressions and arrays in it may be of any length.

    The end is kept because it says what to do.
    """
    return "\n".join(map(_short_line, message.split("\n")))


def _short_line(line: str) -> str:
    if len(line) <= LONGEST:
        return line
    head, tail = line[: 2 * LONGEST // 3], line[-LONGEST // 4 :]
    return f"{head} ... ({len(line) - len(head) - len(tail):,} of {len(line):,} characters left out) ... {tail}"


class DalembertError(Exception):
    """Root of every error this package raises on purpose."""

    def __init__(self, message: object = "", *more: object):
        super().__init__(shortened(str(message)), *more)


class ModelError(DalembertError, ValueError):
    """A system, discrete system or expression that does not make sense as stated."""


class MethodError(DalembertError, ValueError):
    """A method that does not apply to the system it was given, or a step that makes no sense."""


class StartError(DalembertError, ValueError):
    """A start (or parameter values) that is incomplete, contradictory or off the constraints."""


class SimulationError(DalembertError, RuntimeError):
    """A motion that could not be computed to its end; `trajectory` holds everything computed before."""

    def __init__(self, message: str, trajectory: Trajectory):
        super().__init__(message)
        self.trajectory = trajectory

    def __reduce__(self) -> tuple[type[SimulationError], tuple[str, Trajectory]]:
        """Pickled with its trajectory, for errors in worker processes."""
        return type(self), (str(self), self.trajectory)


class ModelWarning(UserWarning):
    """Something that is legal but almost certainly not what was meant."""

    def __init__(self, message: object = "", *more: object):
        super().__init__(shortened(str(message)), *more)


PRINTED = 2000
"""Parts of an expression that is printed in a message: SymPy sorts the terms of longer ones for minutes."""


def told(given: Any, most: int = 120) -> str:
    """A given value, for a message: cut to `most` characters, with its length; its type where it cannot be printed."""
    if _is_long(given):
        return f"<{type(given).__name__} of more than {PRINTED} parts>"
    try:
        text = repr(given)
    except (ValueError, RecursionError, MemoryError):  # Python prints no integer of more than 4300 digits
        size = f" of {given.bit_length()} bits" if isinstance(given, int) else ""
        return f"<{type(given).__name__}{size}>"
    if hasattr(given, "_parts"):  # a result, whose display has many lines
        return f"<{type(given).__name__}: {text.splitlines()[0][:most]}>"
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


def printed(expression: Any) -> str:
    """An expression, for a message: in full unless it is so long that the message is cut."""
    return told(expression, LONGEST)


def _is_long(given: Any) -> bool:
    """Whether an expression, or a list or table of some, has more parts than are printed."""
    if isinstance(given, dict):
        left = [*given, *given.values()]
    else:
        left = list(given) if isinstance(given, list | tuple | set | frozenset) else [given]
    count = 0
    while left and count <= PRINTED:
        part = left.pop()
        if hasattr(type(part), "free_symbols") and isinstance(getattr(part, "args", None), tuple):
            count += 1
            left += part.args
    return count > PRINTED
