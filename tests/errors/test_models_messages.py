"""What the models of constrained motion cannot take is refused in words: what was given, what is expected, what to type."""

import pytest

import dalembert as da
from dalembert import sqrt

x, y, z = da.coordinates("x y z")
S = da.entropies("S")
BASE = {"kinetic": (x.dot**2 + y.dot**2 + z.dot**2) / 2, "constraints": [z.dot - y * x.dot]}


def particle(principle=None, **more):
    return da.System("particle", [x, y, z], **{**BASE, "principle": principle, **more})


PLAIN = particle()
UPSILON = particle(da.Upsilon())
BENT = particle(da.Upsilon(), constraints=[z.dot - x.dot * y.dot])
FREE = da.System("free", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2)
R = da.rotation("R")
TURNING = da.System("turning", [R], kinetic=(R.omega[0] ** 2 + R.omega[1] ** 2 + R.omega[2] ** 2) / 2)
FLAT = {"kinetic": (x.dot**2 + y.dot**2) / 2}
ENDS = {"from_": {x: 0, y: 0}, "to": {x: 1, y: 0}, "time": 1}
ORIGIN = {x: 0, y: 0, z: 0}

CASES = [
    (lambda: da.Upsilon(3),
     "Upsilon: got 3. Expected the functions Phi as {coordinate: expression}, for example Upsilon({x: 0}), or "
     "completion=[...]."),
    (lambda: da.Upsilon(completion=x.dot), "Upsilon: completion=x.dot is no list. Write completion=[x.dot]."),
    (lambda: da.Upsilon({x: 1}, completion=[x.dot]), "give either the functions Phi or completion=[...], not both"),
    (lambda: particle(da.Upsilon({S: 1})), "Upsilon: S is not a coordinate of this system. Its coordinates are x, y, z."),
    (lambda: particle(da.Upsilon({x: x.ddot**2})), "Upsilon: the function Phi of x is not linear in the accelerations."),
    (lambda: particle(da.Upsilon({x: S})), "function Phi of x: unknown symbol S"),
    (lambda: particle(da.Upsilon(completion=[x.ddot, y.dot])), "completion: unknown symbol x.ddot"),
    (lambda: particle(da.Upsilon(completion=[x.dot])),
     "principle: Upsilon(completion=[x.dot]) does not apply to 'particle': there are 1 functions in completion= and 1 "
     "constraints for 3 coordinates. Give 2 functions, or none for the minimal model."),
    (lambda: particle(da.Upsilon(completion=[x.dot, 2 * x.dot + y])),
     "the functions in completion= and the constraints are dependent in the velocities. Give functions whose derivatives"),
    (lambda: particle(da.Upsilon(completion=[x.dot, z.dot - y * x.dot + x])), "are dependent in the velocities."),
    (lambda: particle(da.Upsilon(), **FLAT),
     "its mass matrix d2L/dv2 is singular, and the model needs its inverse. Give every velocity a kinetic energy, or complete "
     "the constraints: Upsilon(completion=[...])."),
    (lambda: particle(da.Upsilon(), constraints=[sqrt(x.dot**2 + y.dot**2 + z.dot**2) - 1]),
     "the model leaves accelerations undetermined: the matrix d2L/dv2 - c_b d2chi_b/dv2 - dPhi/d(acceleration), bordered by "
     "the rows of the constraints, is singular. Choose other functions Phi, or principle=da.DAlembert()."),
    (lambda: particle(da.Upsilon({x: x.ddot, y: y.ddot, z: z.ddot})), "the model leaves accelerations undetermined"),
    (lambda: particle(da.Upsilon(), entropies=[S], internal_energy=S**2), "it has entropies. State it without them"),
    (lambda: particle(da.Upsilon), "principle: got Upsilon, a class. Write Upsilon(), with parentheses."),
    (lambda: da.Upsilon(completion=[x.dot, y.dot]).fields(PLAIN).orthonormal, "With completion=[...] R follows from"),
    (lambda: da.Upsilon().fields(TURNING), "Upsilon.fields"),
    (lambda: da.simulate(BENT, da.Midpoint(), h=0.1, steps=2, start={**ORIGIN, x.dot: 1, y.dot: 0}),
     "Midpoint does not apply to 'particle': Upsilon() has reactions that contain accelerations, which single points of a "
     "step do not have. Use DormandPrince8()."),
    (lambda: da.simulate(BENT, da.GeometricNonholonomic(), h=0.1, steps=2, start=ORIGIN), "single points of a step"),
    (lambda: da.simulate(particle(da.Upsilon({x: y.ddot})), da.Lobatto(3), h=0.1, steps=2, start=ORIGIN),
     "reactions that contain accelerations"),
    (lambda: da.discretise(BENT, da.midpoint_map),
     "discretise: Upsilon() has reactions that contain accelerations, which the nodes of a discrete motion do not have. Use "
     "simulate(...) with DormandPrince8() or Reference()."),
    (lambda: da.reactions(UPSILON), "reactions: the reactions of 'particle' follow from Upsilon()."),
    (lambda: da.hamel(UPSILON), "hamel: the reactions of 'particle' follow from Upsilon()."),
    (lambda: da.hamel(TURNING), "hamel without velocities: 'turning' has the rotation R."),
    (lambda: da.compare_models(3), "compare_models: got 3 (int). Expected a System."),
    (lambda: da.compare_models(FREE),
     "compare_models: 'free' has no constraint on velocities, so all models are d'Alembert's. Expected at least one in "
     "constraints=[...]."),
    (lambda: da.compare_models(TURNING), "compare_models"),
    (lambda: da.compare_models(PLAIN).agrees("Suslov"), "compare_models: there is no model 'Suslov' to compare with."),
    (lambda: da.compare_models(PLAIN).motions(start={**ORIGIN, x.dot: 1, y.dot: 0}, h=0.1, until=1, models=["Suslov"]),
     "compare_models: there is no model 'Suslov'. Expected some of \"d'Alembert-Chetaev\""),
    (lambda: da.compare_models(PLAIN).motions(start={**ORIGIN, x.dot: 1, y.dot: 0}, h=0.1, until=1, multipliers=[1, 2]),
     "compare_models: got 2 multipliers for 1 constraints. Give one each."),
    (lambda: da.connect(PLAIN, da.Midpoint(), from_=ORIGIN, to=ORIGIN, time=1),
     "because -y*x.dot + z.dot = 0 restricts the velocities at the start. Use "
     "system.replace(principle=dalembert.Vakonomic()), or simulate(...) from a start."),
    (lambda: da.connect(FREE, da.Reference(), **ENDS), "connect: a method with a fixed step is needed, such as Midpoint()"),
    (lambda: da.connect(FREE, da.Midpoint(), **{**ENDS, "to": {x: 1}}),
     "connect: to= has no value for y. Give every position."),
    (lambda: da.connect(FREE, da.Midpoint(), **{**ENDS, "to": 3}), "connect: to=3. Expected positions: to={x: 0, ...}."),
    (lambda: da.connect(FREE, da.Midpoint(), **{**ENDS, "to": {x: 1, y: 0, z: 1}}),
     "connect: to= contains z. Expected positions of x, y."),
    (lambda: da.connect(FREE, da.Midpoint(), **{**ENDS, "to": {x: 1, y: float("nan")}}), "has a value that is not finite"),
    (lambda: da.connect(FREE, da.Midpoint(), **{**ENDS, "time": -1}), "time = -1"),
    (lambda: da.connect(FREE, da.Midpoint(), **ENDS, tries=0), "tries = 0"),
    (lambda: da.connect(FREE, da.Midpoint(), **ENDS, near={x: 1}),
     "connect: near= contains x. Expected velocities and multipliers: x.dot, y.dot."),
    (lambda: da.connect(TURNING, da.Midpoint(), from_={}, to={}, time=1), "connect"),
    (lambda: da.gallery.load("appell-in-dimensions", dimensions=2),
     "appell-in-dimensions: dimensions = 2. Expected a whole number from 3 to 20."),
]  # fmt: skip


@pytest.mark.parametrize("call, message", CASES, ids=range(len(CASES)))
def test_message(call, message):
    with pytest.raises(da.DalembertError) as caught:
        call()
    assert message in str(caught.value)


def test_a_file_with_other_data_of_a_principle_is_refused():
    import json

    from dalembert.model.serial import dumps, loads

    data = json.loads(dumps(particle(da.Upsilon({x: y}))))
    assert loads(json.dumps(data)).principle == da.Upsilon({x: y})
    for wrong in (["Upsilon", {"completion": [], "functions": []}], ["Vakonomic", {"functions": []}], ["Upsilon", 3],
                  ["Upsilon"], ["Upsilon", {"coordinates": [], "functions": [["Integer", 1]]}]):  # fmt: skip
        with pytest.raises(da.ModelError):
            loads(json.dumps({**data, "principle": wrong}))
