"""How a lane ended. The values are the contract with compiled code; the sentences are for people."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """Outcome of a lane, as data."""

    CONVERGED = 0
    SINGULAR = 1
    NO_SOLUTION = 2
    LEFT_DOMAIN = 3
    NOT_FINITE = 4
    INTERRUPTED = 5
    EVENT = 6
    EVENTS_ACCUMULATE = 7
    OTHER_BRANCH = 8
    OFF_CONSTRAINTS = 9

    def __str__(self) -> str:
        return self.sentence

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        return _SENTENCES[self]


_SENTENCES = {
    Status.CONVERGED: "converged",
    Status.SINGULAR: "singular step matrix: the equations do not determine the next state",
    Status.NO_SOLUTION: "no solution found: the iteration for the next state did not converge",
    Status.LEFT_DOMAIN: "left the domain: an expression has no value there (a root, a logarithm, a division by zero)",
    Status.NOT_FINITE: "not finite: a recorded quantity or a parameter is infinite or not a number",
    Status.INTERRUPTED: "interrupted",
    Status.EVENT: "stopped at an event",
    Status.EVENTS_ACCUMULATE: "events accumulate: too many of them within one step",
    Status.OTHER_BRANCH: "other branch: the step has a solution, but not one that continues the motion",
    Status.OFF_CONSTRAINTS: "off the constraints: the action of an event leads to a state that does not satisfy them",
}
