"""What is said when first integrals, Noether charges or reductions are asked for in a way that makes no sense."""

from __future__ import annotations

import dalembert as da
from dalembert.theory.conserved.noether import translations
from tests.errors.tools import table, told

x, y, z = da.coordinates("x y z")
m, k, s, w = da.parameters("m k s w")
spring = da.System("spring", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=k * x**2)
free = da.System("free", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2)
pushed = da.System("pushed", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=k * x**2, forces={y: -k * y.dot})
bound = da.System(
    "bound", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=k * x**2, constraints=[y.dot - x.dot]
)
quartic = da.System("quartic", [x, y], lagrangian=m * (x.dot**2 + y.dot**2) / 2 + k * y.dot**4 - k * x**2)


@table(
    (
        "not a system",
        lambda: da.first_integrals(3),
        "first_integrals: got 3 (int). Expected a System.",
    ),
    (
        "degree",
        lambda: da.first_integrals(free, degree=3),
        "first_integrals: degree=3. Integrals are searched for that are linear (degree=1) or also quadratic (degree=2) in "
        "the velocities; degree=0 reads off momenta and energies only.",
    ),
    (
        "noether of something else",
        lambda: da.noether(3, {x: 1}),
        "noether: got 3 (int). Expected a System.",
    ),
    (
        "not a family",
        lambda: da.noether(free, x),
        "noether: got x. Expected displacements {coordinate: expression}, for example {x: 1} for a translation.",
    ),
    (
        "another coordinate",
        lambda: da.noether(free, {z: 1}),
        "noether: z is not a coordinate of free. Its coordinates are x, y.",
    ),
    (
        "a velocity",
        lambda: da.noether(free, {x: y.dot}),
        "displacement of x: y.dot contains a velocity. Displacements are functions of x, y and time.",
    ),
    (
        "not the identity",
        lambda: da.noether(free, {x: 2 * x + s}, parameter=s),
        "noether: at s = 0 the image of x is 2*x, not x. A family begins with the identity; if these are displacements, "
        "leave parameter= out.",
    ),
    (
        "not a symbol",
        lambda: da.noether(free, {x: x + 1}, parameter=2),
        "noether: parameter=2 is not a symbol. Make it with s = dalembert.parameters(\"s\").",
    ),
    (
        "tau with a finite family",
        lambda: da.noether(free, {x: x + s}, parameter=s, tau=1),
        "noether: tau= goes with displacements. Give {x: xi, ...} and tau, without parameter=.",
    ),
    (
        "particles",
        lambda: translations([x, y]),
        "got [x, y]. Expected the Cartesian coordinates of each particle, two or three: [(x1, y1, z1), (x2, y2, z2)].",
    ),
    (
        "routh of something else",
        lambda: da.routh("pendulum"),
        "routh: got 'pendulum'. Expected a System: routh(system).",
    ),
    (
        "nothing cyclic",
        lambda: da.routh(pushed),
        "routh: pushed has no cyclic coordinate (x: the Lagrangian depends on x; y: a force acts along y).",
    ),
    (
        "everything cyclic",
        lambda: da.routh(free),
        "routh: every coordinate of free is cyclic, so nothing is left to move: all momenta are constant and all "
        "velocities follow from them. Leave one out: cyclic=[x].",
    ),
    (
        "not cyclic",
        lambda: da.routh(spring, [x]),
        "routh: x is not cyclic: the Lagrangian depends on x. Leave cyclic= out to take those that are.",
    ),
    (
        "a constraint",
        lambda: da.routh(bound, [y]),
        "routh: y is not cyclic: a constraint acts along y. Leave cyclic= out to take those that are.",
    ),
    (
        "routh of another coordinate",
        lambda: da.routh(spring, [z]),
        "routh: z is not a coordinate of spring. Its coordinates are x, y.",
    ),
    ("an empty list", lambda: da.routh(spring, []), "routh: cyclic=[] eliminates nothing. Name coordinates, or leave "
     "cyclic= out to take all."),
    (
        "not quadratic",
        lambda: da.routh(quartic),
        "routh: quartic is not quadratic in y.dot, so momenta cannot be solved for them in closed form. Choose other "
        "coordinates: cyclic=[...].",
    ),
)  # fmt: skip
def test_model_messages(call, message):
    assert told(da.ModelError, call) == message


def reduced_run():
    reduction = da.routh(spring)
    values = {m: 1.0, k: 1.0, "p_y": 0.5}
    return reduction, da.simulate(
        reduction.system, da.Midpoint(), h=0.1, steps=5, start={x: 1, x.dot: 0}, parameters=values
    )


def test_reconstruction_needs_a_start():
    reduction, run = reduced_run()
    said = told(da.StartError, lambda: reduction.reconstruct(run, {}))
    assert said == "reconstruct: where does y begin? Give start={y: ...}."


def test_reconstruction_needs_a_run_of_the_reduced_system():
    reduction, _ = reduced_run()
    whole = da.simulate(
        spring, da.Midpoint(), h=0.1, steps=5, start={x: 1, y: 0, x.dot: 0, y.dot: 1}, parameters={m: 1, k: 1}
    )
    said = told(da.ModelError, lambda: reduction.reconstruct(whole, {y: 0}))
    assert said == "reconstruct: expected a run of the reduced system: simulate(reduction.system, ...)."


def test_momenta_need_a_complete_state():
    reduction, _ = reduced_run()
    said = told(da.StartError, lambda: reduction.momenta_at({y: 0}, {m: 1, k: 1}))
    assert said == "momenta_at: p_y depends on y.dot, which was not given. Add y.dot: ..."
