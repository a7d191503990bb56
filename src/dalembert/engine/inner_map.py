"""Maps applied to points inside a compiled loop."""

from __future__ import annotations

from ..waist.stepmap import StepMap
from .emitter import Emitter, Handle
from .history import History
from .newton import Ends
from .number_places import Known, Vector
from .run_options import EXACT
from .solver import Solver


class InnerMap:
    """A map applied to points within the loop, with a status of its own."""

    def __init__(self, e: Emitter, stepmap: StepMap, constants: Known):
        self.e, self.stepmap, self.constants = e, stepmap, dict(constants)
        self.code = e.local(1, "integer")
        ends = Ends(e.real(EXACT.tolerance), e.real(EXACT.nearly), EXACT.max_iterations)
        self.solver = Solver(e, stepmap, self.code, e.local(2, "integer"), e.local(1), ends)
        for i in (0, 1):
            e.store(self.solver.effort, 0, i)
        self.solver.run_level(self.constants)

    def __call__(self, known: Known) -> Vector:
        """Its outputs; valid if `code` is 0."""
        e, count = self.e, self.e.local(1, "integer")
        e.store(self.code, 0)
        e.store(count, 0)
        rests = dict.fromkeys(self.stepmap.rests, e.real(0.0))
        history = History(e, self.stepmap, e.local(1), count)
        found = self.solver.solve({**self.constants, **rests, **known}, history)
        return self.solver.evaluate("outputs", found)

    @property
    def failed(self) -> Handle:
        """Whether it had no value."""
        return self.e.integer_compare("ne", self.e.load(self.code), 0)
