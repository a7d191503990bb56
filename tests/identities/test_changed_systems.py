"""A system made from another one keeps everything, or is refused: composed, copied, written to a file, transformed."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert import ModelError, cos, exp, sin
from dalembert import bodies as b
from dalembert.model import serial
from dalembert.theory.motion.lagrange import euler_lagrange

SOURCE = Path(inspect.getfile(da)).parent


def random_system(rng, tag, warm=True, own_variations=True):
    """A system that has something of everything, with coefficients at random."""
    x, y, z = da.coordinates(f"x{tag} y{tag} z{tag}")
    S, U = da.entropies(f"S{tag} U{tag}")
    m, k = da.parameters("m k", positive=True)
    a = [round(float(c), 3) for c in rng.uniform(0.3, 1.5, 16)]
    potential = k * x**2 / 2 + a[0] * cos(y) + a[1] * z * x
    kinetic = m * (x.dot**2 + a[2] * y.dot**2 + z.dot**2) / 2 + a[3] * sin(x) * x.dot * y.dot / 3
    energies = {"kinetic": kinetic, "potential": potential} if rng.integers(2) else {"lagrangian": kinetic - potential}
    heat = {
        "entropies": [S, U],
        "internal_energy": a[4] * exp(S) * (2 + cos(x)) + a[5] * exp(U),
        "friction": {S: {x: -a[6] * x.dot, y: -a[7] * y.dot * exp(S)}, U: {z: -a[8] * z.dot}},
        "heat": {S: a[9] * sin(da.time), U: a[10]},
        "conduction": {(S, U): a[11], (U, k): a[12]},
    }
    return da.System(
        f"part {tag}",
        [x, y, z],
        **energies,
        **(heat if warm else {"internal_energy": a[4] * cos(x)}),
        forces={x: a[13] * da.time, z: -a[14] * x.dot},
        dissipation=a[15] * (x.dot**2 + y.dot * z.dot) / 2,
        constraints=[z.dot - a[0] * sin(x) * y.dot],
        variations=[z.dot - a[1] * x * x.dot] if own_variations else None,
    )


def same_values(one, two, rng):
    """Whether two lists of expressions agree at a random point."""
    symbols = sorted({s for e in (*one, *two) for s in da.symbolic.fast(e).free_symbols}, key=str)
    at = {s.name: rng.uniform(0.3, 1.2) for s in symbols}
    values = [[da.symbolic.number(da.symbolic.fast(e), at) for e in group] for group in (one, two)]
    return len(one) == len(two) and np.allclose(*values, rtol=1e-12, atol=0)


def laws(system):
    """Everything that determines the motion, as expressions: equations, forces, heat, constraints, variations."""
    return [
        *euler_lagrange(system), *system.force, *system.external_force, *system.entropy_laws, *system.temperatures,
        *(f for row in system.friction for f in row), *system.heating, system.dissipation,
        *(c.expression for c in system.constraints), *(a for w in system.variations for a in w),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("warm", [True, False])
def test_a_copy_is_the_same_system(seed, warm):
    system = random_system(np.random.default_rng(seed), "", warm)
    assert system.replace() == system
    assert serial.loads(serial.dumps(system)) == system
    renamed = system.replace(name="other")
    assert renamed != system
    assert renamed.replace(name=system.name) == system


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("warm", [(True, True), (True, False), (False, False)])
def test_what_is_composed_keeps_everything(seed, warm):
    rng = np.random.default_rng(seed)
    one, two = (
        random_system(rng, tag, w, own) for tag, w, own in zip("AB", warm, (True, bool(rng.integers(2))), strict=True)
    )
    whole = b.compose("both", one, two)
    assert whole.entropies == (*one.entropies, *two.entropies)
    assert whole.conduction == (*one.conduction, *two.conduction)
    assert same_values(euler_lagrange(whole), [*euler_lagrange(one), *euler_lagrange(two)], rng)
    for quantity in ("force", "external_force", "heat", "entropy_laws", "temperatures", "heating"):
        parts = [*getattr(one, quantity), *getattr(two, quantity)]
        assert same_values(getattr(whole, quantity), parts, rng)
    assert [len(row) for row in whole.friction] == [6] * len(whole.entropies)
    pairs = [(c.expression, w) for s in (one, two) for c, w in zip(s.constraints, s.variations, strict=True)]
    assert [c.expression for c in whole.constraints] == [e for e, _ in pairs]
    assert same_values(
        [a for w in whole.variations for a in w if a != 0], [a for _, w in pairs for a in w if a != 0], rng
    )


def test_the_motion_of_parts_that_do_not_interact_is_that_of_each():
    """With heat: the composed run has the bits' worth of the two runs. Without its heat it would not."""
    rng = np.random.default_rng(3)
    one, two = (random_system(rng, tag, True, False) for tag in "AB")
    values = {"m": 1.3, "k": 0.8}
    starts = []
    for s in (one, two):
        q, v = s.coordinates, s.velocities
        at = dict.fromkeys(q, 0.3) | {v[0]: 0.4, v[1]: -0.2} | dict.fromkeys(s.entropies, 0.1)
        starts.append(at)
    common = {"h": 0.05, "steps": 20, "parameters": values}
    alone = [da.simulate(s, da.Midpoint(), start=at, **common) for s, at in zip((one, two), starts, strict=True)]
    both = da.simulate(b.compose("both", one, two), da.Midpoint(), start=starts[0] | starts[1], **common)
    for s, run in zip((one, two), alone, strict=True):
        for c in (*s.coordinates, *s.entropies):
            assert both[c] == pytest.approx(run[c], rel=1e-11, abs=1e-12)
    cold = one.replace(friction={}, heat={}, conduction={})  # control
    run = da.simulate(cold, da.Midpoint(), start=starts[0], **common)
    assert abs(run[one.coordinates[0]][-1] - alone[0][one.coordinates[0]][-1]) > 1e-3


def test_one_name_for_an_entropy_and_a_coordinate_of_two_parts():
    rng = np.random.default_rng(0)
    with pytest.raises(ModelError, match="compose: xA, yA, zA is a coordinate of part A and of a system before it"):
        b.compose("both", random_system(rng, "A"), random_system(rng, "A"))
    x = da.coordinates("SA")
    other = da.System("other", [x], kinetic=x.dot**2)
    with pytest.raises(ModelError, match="compose: SA is a coordinate of other and of a system before it"):
        b.compose("both", random_system(rng, "A"), other)
    with pytest.raises(ModelError, match="compose: got no parts"):
        b.compose("none")


@pytest.mark.parametrize("seed", range(6))
def test_what_transforms_a_system_keeps_everything_or_refuses(seed):
    rng = np.random.default_rng(seed)
    cold, warm = random_system(rng, "", False), random_system(rng, "", True)
    x, y, _ = cold.coordinates
    X, Y = da.coordinates("X Y")
    changed = da.change_coordinates(cold, {x: X + Y, y: X - 2 * Y})
    assert changed.covariance_defect < 1e-9
    assert same_values([changed.system.internal_energy], [cold.internal_energy.subs(x, X + Y)], rng)
    imposed = da.impose(cold, {y: sin(da.time)}).system
    kept = [e.subs({y.dot: cos(da.time), y: sin(da.time)}) for e in (cold.force[0], cold.force[2], cold.dissipation)]
    assert same_values([imposed.force[0], imposed.force[1], imposed.dissipation], kept, rng)
    assert imposed.internal_energy == cold.internal_energy
    for transform in (
        lambda s: da.change_coordinates(s, {x: X + Y, y: X - 2 * Y}),
        lambda s: da.impose(s, {y: sin(da.time)}),
        da.routh,
        da.hamilton,
    ):
        with pytest.raises(ModelError, match=r"has the entropies S, U\. Expected a mechanical system"):
            transform(warm)


def test_routh_keeps_an_internal_energy_without_entropies():
    r, phi = da.coordinates("r phi")
    m, k = da.parameters("m k", positive=True)
    kinetic = m * (r.dot**2 + r**2 * phi.dot**2) / 2
    given = da.System("spring", [r, phi], kinetic=kinetic, internal_energy=k * r**2 / 2)
    expected = da.System("spring", [r, phi], kinetic=kinetic, potential=k * r**2 / 2)
    rng = np.random.default_rng(0)
    assert same_values(laws(da.routh(given).system), laws(da.routh(expected).system), rng)
    stiffer = expected.replace(potential=k * r**2)  # control
    assert not same_values(laws(da.routh(given).system), laws(da.routh(stiffer).system), rng)


def test_without_constraints_all_else_is_kept():
    system = random_system(np.random.default_rng(1), "")
    free = system.without_constraints()
    assert free.constraints == free.variations == ()
    assert free.replace(constraints=[c.expression for c in system.constraints],
                        variations=system.arguments["variations"]) == system  # fmt: skip


def test_what_does_not_fit_the_change_is_refused():
    x, y = da.coordinates("x y")
    system = da.System("plane", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, forces={x: y})
    with pytest.raises(ModelError, match="forces: y is not a coordinate of this system"):
        system.replace(coordinates=[x], kinetic=x.dot**2 / 2)
    with pytest.raises(ModelError, match=r"replace: a system has no force\. Expected conduction"):
        system.replace(force={x: 1})
    assert system.replace(lagrangian=x.dot**2 + y.dot**2).potential is None
    bound = system.replace(constraints=[x.dot - y * y.dot], variations=[x.dot])
    with pytest.raises(ModelError, match="variations: got 1, but there are 2 constraints"):
        bound.replace(constraints=[x.dot, y.dot])


def test_two_conductors_side_by_side_are_one():
    x, S, T = da.coordinates("x"), da.entropies("S"), da.parameters("T", positive=True)
    system = da.System("wall", [x], kinetic=x.dot**2, entropies=[S], internal_energy=exp(S),
                       conduction={(S, T): 2, (T, S): 3})  # fmt: skip
    assert [c.conductance for c in system.conduction] == [5]
    assert system.replace() == system


def test_decimals_are_printed_as_they_were_typed():
    x, y, X = da.coordinates("x y X")
    one = da.System("one", [x], kinetic=x.dot**2 / 2, potential=9.81 * x, forces={x: -0.25 * x.dot})
    two = da.System("two", [y], kinetic=y.dot**2 / 2, potential=1.62 * y)
    assert "0.25" in str(one.equations())
    copies = [one.replace(name="copy"), b.compose("both", one, two), da.change_coordinates(one, {x: X + 1}).system]
    for system in copies:
        assert "0.25" in str(system.equations())
        assert "9.81" in str(system.equations())
    assert "1.62" in str(copies[1].equations())


def test_the_arguments_are_all_there_are():
    """An argument that `System` gains and `arguments` does not would be lost by every copy."""
    taken = {name for name in inspect.signature(da.System).parameters if not name.startswith("_")}
    given = set(random_system(np.random.default_rng(0), "").arguments)
    assert taken - given <= {"kinetic", "potential", "lagrangian"}
    assert given <= taken
    assert len(taken - given) in (1, 2)


FROM_NOTHING = {"model/system.py", "model/serial.py", "model/bodies/assembly.py", "model/substances/eliminated.py",
                "theory/forms/hamilton.py", "methods/method_table.py", "theory/reduction/group_velocity.py"}  # fmt: skip


def test_systems_are_made_by_replace():
    """Elsewhere a call of System(...) would make one from another by hand, and forget what it does not name."""
    makers = set()
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
        if any(n.func.id == "System" for n in calls):
            makers.add(path.relative_to(SOURCE).as_posix())
    assert {m for m in makers if not m.startswith("gallery/")} == FROM_NOTHING
