"""The symbols of the thermodynamic variables of a body: entropy, volume, amount, energy, temperature, pressure."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

from ..marks import Made


class StateVariable(Made):
    """A thermodynamic variable of a body; printed without its family name."""

    __slots__ = _of = ("letter",)
    letter: str

    def __new__(cls, letter: str, **assumptions: bool) -> Self:
        return cls._called(f"state.{letter}", letter, **assumptions)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(StateVariable, **self._assumptions_orig), (self.letter,)

    def _render(self) -> tuple[str, str, str]:
        return (self.letter,) * 3


ENTROPY = StateVariable("S")
VOLUME = StateVariable("V", positive=True)
AMOUNT = StateVariable("N", positive=True)
ENERGY = StateVariable("U")
TEMPERATURE = StateVariable("T", positive=True)
PRESSURE = StateVariable("P")
