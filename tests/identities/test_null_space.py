"""Steps in a basis of D: the motion is that with multipliers as unknowns, at every state, in any units."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dalembert as da
from dalembert import cos, sin
from dalembert.discrete.equations import step_map

x, y, z, phi = da.coordinates("x y z phi")
t = da.time
NAMES = ("chaplygin-sleigh", "rolling-disk", "snakeboard", "ball-on-turntable", "veselova")


@cache
def both(name, steps=2000):
    """A system of the gallery with multipliers as unknowns, and in a basis of D."""
    e = da.gallery.load(name)
    options = {"h": 0.01, "steps": steps, "start": e.start, "parameters": e.parameters}
    return [da.simulate(e.system, m, **options) for m in (da.Midpoint(), da.NullSpace(da.Midpoint()))]


def apart(one, two):
    """The largest difference of positions and multipliers, relative to the largest of each."""
    keys = [*(getattr(f, "coordinate", f) for f in one.system.space.factors), *one.system.multipliers]
    return max(np.abs(one[k] - two[k]).max() / np.abs(one[k]).max() for k in keys if np.abs(one[k]).max() > 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_the_motion_is_the_same(name):
    with_multipliers, in_basis = both(name)
    assert apart(with_multipliers, in_basis) < 1e-9
    names = {m.name for m in with_multipliers.system.multipliers}
    for run, together in ((with_multipliers, True), (in_basis, False)):
        step = run.method.step_map(run.system)
        assert together == any(len(b.unknowns) > 1 and names & {*b.unknowns} for b in step.blocks)


def test_another_basis_is_another_motion():
    """The control: virtual displacements that differ by one part in 1e6 are seen."""
    e = da.gallery.load("chaplygin-sleigh")
    off = e.system.replace(variations=[c.expression + e.system.coordinates[0].dot * 1e-6 for c in e.system.constraints])
    options = {"h": 0.01, "steps": 2000, "start": e.start, "parameters": e.parameters}
    assert apart(both("chaplygin-sleigh")[0], da.simulate(off, da.NullSpace(), **options)) > 1e-7


def blade(scale=1, length=1):
    """A blade that turns steadily: it pushes along x, then along y; in units of length and mass of one's own."""
    kinetic = scale * (x.dot**2 + y.dot**2 + length**2 * phi.dot**2) / 2
    form = sin(phi) * x.dot - cos(phi) * y.dot + sin(t) / 5 * length
    return da.System("blade", [x, y, phi], kinetic=kinetic, forces={x: scale * length}, constraints=[form])


@pytest.mark.parametrize("scale, length", [(1, 1), (1e30, 1e-12), (1e-30, 1e12)])
def test_blades_that_turn_through_all_headings_in_any_units(scale, length):
    start = {x: 0, y: 0, phi: 0.1, x.dot: 1 * length, phi.dot: 3}
    runs = [
        da.simulate(blade(scale, length), m, h=0.02, steps=1000, start=start) for m in (da.Midpoint(), da.NullSpace())
    ]
    assert apart(*runs) < 1e-10
    usual = da.simulate(blade(), da.NullSpace(), h=0.02, steps=1000, start=start | {x.dot: 1})
    assert np.abs(runs[1].x / length - usual.x).max() < 1e-10 * np.abs(usual.x).max()


@pytest.mark.parametrize("method", [da.Midpoint(), da.NullSpace()], ids=repr)
def test_one_forms_that_become_dependent_end_a_run(method):
    """At y = 1 both forms are dz - dx: the fourth node, exactly."""
    system = da.System(
        "two forms",
        [x, y, z],
        kinetic=(x.dot**2 + y.dot**2 + z.dot**2) / 2,
        constraints=[z.dot - y * x.dot, z.dot - x.dot],
    )
    run = da.simulate(system, method, h=0.25, steps=8, start={x: 0, y: 0, z: 0, y.dot: 1}, strict=False)
    assert run.status == da.Status.SINGULAR and np.isfinite(run.y).sum() == 5


def test_a_discrete_system_of_its_own_holonomic_and_warm():
    x0, x1, y0, y1, z0, z1, h = x.at(0), x.at(1), y.at(0), y.at(1), z.at(0), z.at(1), da.step
    L = ((x1 - x0) ** 2 + (y1 - y0) ** 2 + (z1 - z0) ** 2) / (2 * h) - h * ((x1 + x0) ** 2 + (y1 + y0) ** 2) / 8
    given = {"lagrangian": L, "variations": [z.dot - y * x.dot], "constraints": [z1 - z0 - (y1 + y0) * (x1 - x0) / 2]}
    systems = [da.DiscreteSystem("particle", [x, y, z], **given, null_space=n) for n in (False, True)]
    start = {x0: 1, y0: 0.5, z0: 0, x1: 1.01, y1: 0.475, z1: 0.004875}
    runs = [da.simulate(s, h=0.05, steps=100, start=start) for s in systems]
    assert apart(*runs) < 1e-12
    assert np.allclose(
        [r[-1] for r in (runs[1].x, runs[1].y, runs[1].z)], [-0.3587067, 0.60925084, 1.21445005], atol=1e-7
    )
    S = da.entropies("S")
    warm = da.System(
        "warm", [x, y, z], kinetic=(x.dot**2 + y.dot**2 + z.dot**2) / 2, potential=z, entropies=[S],
        internal_energy=da.exp(S), friction={x: -x.dot / 4, z: -z.dot / 3}, constraints=[x**2 + y**2 + 2 * z**2 - 3],
    )  # fmt: skip
    start = {x: 1, y: 0, z: -1, S: 0, x.dot: 0, y.dot: 1}
    runs = [da.simulate(warm, m, h=0.05, steps=200, start=start) for m in (da.Midpoint(), da.NullSpace())]
    assert apart(*runs) < 1e-11 and np.abs(runs[0].S - runs[1].S).max() < 1e-12


def test_saved_and_loaded(tmp_path):
    run = both("chaplygin-sleigh")[1]
    run.save(tmp_path / "run.nc")
    assert da.load(tmp_path / "run.nc").method == da.NullSpace(da.Midpoint()) != da.NullSpace(da.Trapezoidal())
    discrete = da.discretise(run.system, da.NullSpace())
    e = da.gallery.load("chaplygin-sleigh")
    options = {"h": 0.01, "start": e.start, "parameters": e.parameters}
    short = da.simulate(discrete, steps=10, **options)
    short.save(tmp_path / "short.nc")
    loaded = da.load(tmp_path / "short.nc")
    assert loaded.system == discrete and step_map(loaded.system).sought == ("x.step", "y.step", "phi.step")


def test_what_has_no_such_steps_says_so():
    """Other principles, masses that are zero, long chains: each in words."""
    kinetic, form = (x.dot**2 + y.dot**2 + z.dot**2) / 2, z.dot - y * x.dot
    start = {x: 0, y: 0.3, z: 0, x.dot: 1, y.dot: 1}

    def refused(system, **given):
        with pytest.raises(da.DalembertError) as caught:
            da.simulate(system, *([] if given else [da.NullSpace()]), h=0.1, steps=1, start=given.get("start", start))
        return str(caught.value)

    plain = da.System("p", [x, y, z], kinetic=kinetic, constraints=[form])
    assert refused(plain.replace(principle=da.Vakonomic())) == (
        "NullSpace does not apply to 'p': under Vakonomic() its multipliers have a motion of their own. Use Midpoint() or "
        "DormandPrince8()."
    )
    assert refused(plain.replace(principle=da.Upsilon({x: y.dot * z}))) == (
        "NullSpace does not apply to 'p': under Upsilon({x: z*y.dot}) reactions are not multipliers times one-forms. Use "
        "Midpoint() or GeometricNonholonomic()."
    )
    L = ((x.at(1) - x.at(0)) ** 2 + (y.at(1) - y.at(0)) ** 2) / (2 * da.step)
    bound = z.at(1) - z.at(0) - x.at(1) + x.at(0)
    massless = da.DiscreteSystem(
        "m", [x, y, z], lagrangian=L, variations=[y * z.dot - y * x.dot], constraints=[bound], null_space=True
    )
    begun = {x: 0, y: 0.3, z: 0, x.momentum: 1, y.momentum: 1, z.momentum: 0}
    assert refused(massless, start=begun) == (
        "m, null_space: the equation of z.step does not contain z.step where other unknowns are zero. Leave it out: then "
        "multipliers are unknowns of each step."
    )
    q = da.coordinates(" ".join(f"x{i} y{i}" for i in range(13)))
    ends = [(0, 0), *zip(q[::2], q[1::2], strict=True)]
    rods = [(a - c) ** 2 + (b - d) ** 2 - 1 for (a, b), (c, d) in zip(ends[1:], ends, strict=False)]
    chain = da.discretise(
        da.System("c", list(q), kinetic=sum(v.dot**2 for v in q) / 2, constraints=rods), da.NullSpace()
    )
    straight = {v: (i // 2 + 1) * (1 - i % 2) for i, v in enumerate(q)} | dict.fromkeys([v.momentum for v in q], 0)
    assert refused(chain, start=straight) == (
        "c, NullSpace, null_space: a basis takes more than 4000 numbers. Leave it out: then multipliers are unknowns of each "
        "step."
    )


def test_tangents_are_those_of_the_step_with_multipliers():
    one, two = (da.tangents(run).from_start[-1] for run in both("chaplygin-sleigh"))
    assert np.abs(one - two).max() < 1e-10 * np.abs(one).max()
