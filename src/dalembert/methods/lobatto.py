"""The Lobatto IIIA-IIIB pair, and its smallest member under constraints."""

from __future__ import annotations

import mpmath

from ..discrete.collocation import collocation, fraction, lobatto_nodes, weights
from ..errors import MethodError, told
from ..model.system import System
from .base import is_size
from .partitioned import PartitionedRungeKutta, Tableau


class Lobatto(PartitionedRungeKutta):
    """Lobatto IIIA-IIIB with s stages: order 2s - 2, symplectic, symmetric, for holonomic constraints too.

    Constraints hold at every stage and velocities are admissible at the nodes. s = 2 is Stormer-Verlet, and under
    constraints RATTLE.
    """

    reference = (
        "L. O. Jay, Symplectic partitioned Runge-Kutta methods for constrained Hamiltonian systems, SIAM J. Numer. Anal. 33, "
        "1996"
    )

    node_multipliers = False  # those of the stages converge with order 2, 2, 4, 4 for 2, 3, 4, 5 stages

    def __init__(self, stages: int = 3):
        if not is_size(stages, (2, 3, 4, 5)):
            raise MethodError(f"Lobatto({told(stages)}): the number of stages is 2, 3, 4 or 5; the order is 2s - 2.")
        super().__init__(stages)

    @property
    def order(self) -> int:  # type: ignore[override]
        """Twice the number of stages, less 2."""
        return 2 * self.stages - 2

    def tableau(self) -> Tableau:
        """IIIA for positions; IIIB for momenta follows from the condition of symplecticity."""
        c = lobatto_nodes(self.stages)
        b, a = weights(c), collocation(c)
        with mpmath.workdps(40):
            A = tuple(tuple(fraction(b[j] - b[j] * a[j][i] / b[i]) for j in range(len(c))) for i in range(len(c)))
        return Tableau(
            tuple(map(fraction, c)), tuple(map(fraction, b)), tuple(tuple(map(fraction, row)) for row in a), A
        )


class Rattle(PartitionedRungeKutta):
    """RATTLE: order 2, symplectic, symmetric; positions and velocities both satisfy holonomic constraints.

    SHAKE, which has the same positions and does not project the velocities, is `Trapezoidal()` where masses are constant.
    """

    reference = "H. C. Andersen, Rattle: a velocity version of the Shake algorithm, J. Comput. Phys. 52, 1983"
    order = 2

    def __init__(self) -> None:
        super().__init__(2)

    def tableau(self) -> Tableau:
        """Lobatto IIIA-IIIB with two stages."""
        return Lobatto(2).tableau()

    def obstacle(self, system: System) -> str:
        """For systems with holonomic constraints; without, it would be Stormer-Verlet."""
        return super().obstacle(system) if system.constraints else "it has no constraints."

    def __repr__(self) -> str:
        return "Rattle()"
