"""The functions that this library computes itself, of single numbers and of vectors by the same operations: so a motion has
the same bits alone and beside others. All others are those of the C library, for each number by itself.
"""

from __future__ import annotations

from .arctangent import angle, arccosine, arcsine, arctangent
from .exponential import exponential, logarithm
from .power import power
from .trigonometry import sine_and_cosine

OWN = {
    "exp": "exponential", "log": "logarithm", "pow": "power", "atan2": "angle", "atan": "arctangent", "asin": "arcsine",
    "acos": "arccosine",
}  # fmt: skip
"""Names in the C library, and those in the code; sine and cosine are computed together by @sine.and.cosine."""

_TEXTS = {
    "sine.and.cosine": sine_and_cosine,
    "exponential": exponential,
    "logarithm": logarithm,
    "power": power,
    "angle": angle,
    "arctangent": arctangent,
    "arcsine": arcsine,
    "arccosine": arccosine,
}


def used_in(text: str, width: int, long: bool) -> str:
    """The functions that LLVM IR calls, on vectors of a width; in long code they are not inlined."""
    return "".join(make(width, not long) for name, make in _TEXTS.items() if f"@{name}(" in text)
