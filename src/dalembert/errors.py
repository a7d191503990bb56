"""Few exception types; every message says what was given, what was expected and what to type next."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .run.trajectory import Trajectory


class DalembertError(Exception):
    """Root of every error this package raises on purpose."""


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
        """An error of a worker process arrives with its trajectory."""
        return type(self), (str(self), self.trajectory)


class ModelWarning(UserWarning):
    """Something that is legal but almost certainly not what was meant."""
