"""What a principle must say, and where the difference between two principles must be seen."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import dalembert as da
from dalembert import bodies
from dalembert.model.principle import Principle
from dalembert.symbolic import fast

x, y, z, w = da.coordinates("x y z w")
m = da.parameters("m", positive=True)


def particle(constraints, **more):
    kinetic = m * (x.dot**2 + y.dot**2 + z.dot**2) / 2
    return da.System("particle", [x, y, z], kinetic=kinetic, constraints=constraints, **more)


@dataclass(frozen=True)
class Short(Principle):
    """Its one-forms lack a component, or a constraint."""

    rows: int
    width: int

    def forms(self, constraints, coordinates):
        return tuple(tuple(c.coefficients[: self.width]) for c in constraints)[: self.rows]


def test_one_forms_of_the_wrong_size_are_refused():
    for rows, width in ((1, 2), (0, 3)):
        with pytest.raises(da.ModelError, match=r"Expected one for each of the 1 constraints, with 3 components"):
            particle([z.dot - y * x.dot], principle=Short(rows, width))
    particle([z.dot - y * x.dot], principle=Short(1, 3))  # control


class Pushed(da.DAlembert):
    """A reaction beside that of the one-forms."""

    def __init__(self, size):
        self.size = size

    def reaction(self, system, multipliers=None, at=fast):
        return [r + at(self.size) for r in super().reaction(system, multipliers, at)]


def test_principles_with_other_numbers_are_others():
    """Results are kept by system: of two systems that were taken for one, the second would get the numbers of the first."""
    one, two = (particle([z.dot - y * x.dot], principle=Pushed(size)) for size in (1, 2))
    assert Pushed(1) == Pushed(1) != Pushed(2) and one != two
    at = {x: 0.1, y: 0.2, z: 0.3, x.dot: 1, y.dot: 0}
    found = [da.evaluate(s, at=at, parameters={m: 1}).accelerations[y] for s in (one, two)]
    assert found == pytest.approx([1, 2])


def test_statements_that_suppose_reactions_by_one_forms():
    """Without the refusal the force beside lambda_a omega^a would be left out."""
    with pytest.raises(da.ModelError, match=r"follow from Pushed\(\)\. Expected multipliers times one-forms"):
        da.reactions(particle([z.dot - y * x.dot], principle=Pushed(1)))
    da.reactions(particle([z.dot - y * x.dot]))  # control


def test_constraints_are_ideal_if_all_of_them_are():
    """The first one-form is that of its constraint, the second is not."""
    both = [z.dot - y * x.dot, x.dot - z * y.dot]
    assert particle(both, variations=both).is_ideal
    assert not particle(both, variations=[both[0], x.dot - z * y.dot + z.dot]).is_ideal
    assert not particle(both, variations=[both[0] + y.dot, both[1]]).is_ideal


def test_a_moving_constraint_that_joins_parts_with_one_forms_of_their_own():
    """Its variations are those of a fixed time: the drift is no part of a virtual displacement."""
    odd = particle([z.dot - y * x.dot], variations=[z.dot - y * x.dot + y.dot])
    mass = da.System("mass", [w], kinetic=m * w.dot**2)
    joined = bodies.compose("joined", odd, mass, constraints=[w - x - da.sin(da.time)])
    assert joined.variations == ((-y, 1, 1, 0), (-1, 0, 0, 1))
