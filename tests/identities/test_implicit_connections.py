"""Discrete connections whose group element has no closed form: equations solved in numbers, and in each step of a motion."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import dalembert as da
from dalembert import ModelError, StartError, cos, sin
from dalembert.symbolic import gradient, number
from tests.textbook import reduction_cases as cases
from tests.textbook.reduction_cases import configurations, node_frame, residual, slot_values

x, y, z = da.coordinates("x y z")
g, mu = da.parameters("g mu")
(x0, x1), (y0, y1), (z0, z1) = [(c.at(0), c.at(1)) for c in (x, y, z)]
SHIFT = da.Symmetry({y: y + g}, elements=[g])
QUINTIC = (y1 - y0) ** 5 + y1 - y0 - x0 * (x1 - x0)
L = ((x1 - x0) ** 2 + (y1 - y0) ** 2) / 2 + (y1 - y0) ** 2 * x0 / 3 - x0**2 / 200


# bundles over SE(2) and SO(3)


def planar():
    """Horizontal steps of the planar body: functions of the displacement in the body's frame; affine."""
    px, py, phi, s = cases.x, cases.y, cases.phi, cases.s
    (a0, a1), (b0, b1), (p0, p1), (s0, s1) = cases.ends(px, py, phi, s)
    along = cos(p0) * (a1 - a0) + sin(p0) * (b1 - b0)
    across = -sin(p0) * (a1 - a0) + cos(p0) * (b1 - b0)
    turn = p1 - p0
    kappa = [along + along**5 - s0 * s1 / 3, across + across * turn**2 - s1 / 4, turn + turn**3 * along**2 / 2 - s0 / 2]
    return da.DiscreteConnection(
        cases.se2(), [px, py, phi, s], horizontal=[*kappa[:2], kappa[2] - sympy.Rational(1, 5)]
    )


def turning():
    """The same for rotations: functions of the relative rotation."""
    (s0, s1), *cs = cases.ends(cases.s, cases.c1, cases.c2, cases.c3)
    d = cases.gibbs([-c[0] for c in cs], [c[1] for c in cs])
    kappa = [d[0] + d[0] ** 5 - s1 / 5, d[1] + d[1] ** 3 * d[2] - s0 * s1 / 3, d[2] + d[0] * d[2] ** 4 - s0 / 6]
    return da.DiscreteConnection(cases.so3(), [cases.s, cases.c1, cases.c2, cases.c3], horizontal=kappa)


@cache
def bundle(name):
    symmetry, system, connection = {
        "SE(2)": (cases.se2, cases.planar_body, planar),
        "SO(3)": (cases.so3, cases.turning_body, turning),
    }[name]
    return da.reduce(system(), symmetry(), connection=connection())


BUNDLES = pytest.mark.parametrize("name", ["SE(2)", "SO(3)"])


def pair_values(reduced, q0, q1):
    """(r0, theta, b, r1) of a pair, by the names of the slots of the reduced system."""
    r0, theta, r1 = reduced.connection.reduced(q0, q1)
    b = reduced.connection.between(r0, r1)
    found = {c.at(0).name: float(v) for c, v in zip(reduced.bundle.shape, r0, strict=True)}
    found |= {c.at(1).name: float(v) for c, v in zip(reduced.bundle.shape, r1, strict=True)}
    moving = (*reduced.group_variables, *reduced.solved)
    return found | {c.at(1).name: float(v) for c, v in zip(moving, (*theta, *b), strict=True)}


@BUNDLES
def test_reduced_equations_are_the_unreduced_ones_at_any_three_points(name):
    """(6.8) and (6.10) off-shell, to 1e-10; the unknowns of the connection have the equations 0 = 0. With a b that does not
    satisfy its equations the pair is another one, and they are not."""
    reduced = bundle(name)
    assert reduced.connection.implicit is not None and not reduced.connection.is_plain
    k = len(reduced.bundle.shape) + len(reduced.group_variables)
    for seed in range(2):
        one, two, three = configurations(reduced, 3, seed)
        before, after = pair_values(reduced, one, two), pair_values(reduced, two, three)
        left = residual(reduced.system, before, after)
        whole = residual(reduced.original, *(slot_values(reduced.original, *p) for p in ((one, two), (two, three))))
        assert left[:k] == pytest.approx(whole @ node_frame(reduced, two), abs=1e-10)
        assert left[k:] == pytest.approx(0, abs=1e-12)
        off = after | {reduced.solved[0].at(1).name: after[reduced.solved[0].at(1).name] + 0.1}
        assert np.abs(residual(reduced.system, before, off) - left).max() > 1e-3


@BUNDLES
def test_forces_are_the_momentum_on_the_mixed_curvature(name):
    """(6.6), (6.5) with the derivative of b by its equations; it is that of differences."""
    reduced = bundle(name)
    at = pair_values(reduced, *configurations(reduced, 2))
    terms = reduced.terms
    D2 = np.array([number(d, at) for d in gradient(terms.lagrangian, [c.at(1) for c in reduced.group_variables])])
    for force, curvature in zip(terms.forces, terms.mixed_curvature, strict=True):
        table = np.array([[number(e, at) for e in row] for row in curvature])
        assert D2 @ table == pytest.approx([number(f, at) for f in force], abs=1e-11) and np.abs(table).max() > 0.01
    (s,) = reduced.bundle.shape
    here, d = (at[s.at(0).name], at[s.at(1).name]), 1e-6
    ends = [np.array([float(e) for e in reduced.connection.between([here[0]], [here[1] + v])]) for v in (d, -d)]
    slopes = [number(row[0], at) for row in terms._element_slopes(1)]
    assert slopes == pytest.approx((ends[0] - ends[1]) / (2 * d), abs=1e-8)


@BUNDLES
def test_descriptions_in_numbers(name):
    """(5.5); the lift ends on a horizontal step of the shape; a pair and its class; the level within the orbit."""
    reduced = bundle(name)
    c, over = reduced.connection, reduced.bundle
    one, two, three = configurations(reduced, 3)
    rng = np.random.default_rng(4)
    a, b = rng.uniform(-0.3, 0.3, (2, over.dimension))
    moved = c.apply(cases.acted(reduced, list(a), one), cases.acted(reduced, list(b), two))
    expected = over.product(over.product(list(b), c.apply(one, two)), over.inverse(list(a)))
    assert [float(e) for e in moved] == pytest.approx([float(e) for e in expected], abs=1e-12)
    _, r = over.located(three)
    end = {q: float(e) for q, e in c.lifted(one, r).items()}
    assert [float(e) for e in c.apply(one, end)] == pytest.approx([float(e) for e in over.identity], abs=1e-12)
    assert [float(e) for e in over.located(end)[1]] == pytest.approx([float(e) for e in r], abs=1e-13)
    _, theta, r1 = c.reduced(one, two)
    back = c.joined(one, theta, r1)
    assert [float(back[q]) for q in over.coordinates] == pytest.approx([two[q] for q in over.coordinates], abs=1e-12)
    level = over.act(over.inverse(c.apply(one, one)), one)
    there = {q: float(e) for q, e in level.items()}
    assert [float(e) for e in c.apply(one, there)] == pytest.approx([float(e) for e in over.identity], abs=1e-12)
    with pytest.raises(ModelError, match=r"form: .* has no closed form; .* use apply\(q0, q1\)"):
        c.form  # noqa: B018


@BUNDLES
def test_motions_do_not_depend_on_the_connection(name):
    """T24 with an affine connection without a closed form; its multipliers come after those of the constraints."""
    reduced = bundle(name)
    original, q = reduced.original, reduced.original.coordinates
    (chi,), (shape,) = original.constraints, reduced.bundle.shape
    first = {c: 0.05 * (i + 1) for i, c in enumerate(q)}
    second = {c: v + 0.02 for c, v in first.items()}
    for _ in range(30):  # the second position on D_d, by Newton's method in the shape
        at = slot_values(original, first, second)
        second[shape] -= number(chi, at) / number(gradient(chi, [shape.at(1)])[0], at)
    start = {c.at(0): v for c, v in first.items()} | {c.at(1): v for c, v in second.items()}
    whole = da.simulate(original, h=1, steps=8, start=start)
    run = da.simulate(reduced, h=1, steps=8, start=start)
    back = reduced.reconstruct(run, first)
    assert max(np.abs(back[c] - whole[c]).max() for c in q) < 1e-10
    assert np.abs(run.multipliers[:-1, :1] - whole.multipliers[:-1]).max() < 1e-9
    assert np.abs(run.multipliers[:, 1:]).max() < 1e-12 and max(np.ptp(whole[c]) for c in q) > 0.02


# Chaplygin's systems and levels of the momentum


def chaplygin():
    slip = y1 - y0 - (x1**2 - x0**2) / 2 - (y1 - y0) ** 5
    return da.DiscreteSystem("quintic", [x, y], lagrangian=L, variations=[y.dot - x * x.dot], constraints=[slip])


def on_constraint(a, b):
    return {x0: a, x1: b, y0: 0, y1: brentq(lambda d: d - (b**2 - a**2) / 2 - d**5, -0.5, 0.5)}


def test_a_constraint_without_a_closed_form_is_chaplygins():
    """The shape alone and its horizontal step: 7.3; lanes, files, continued runs, audit and tangents."""
    whole_system, reduced = chaplygin(), da.reduce(chaplygin(), SHIFT)
    assert reduced.kind == "Chaplygin" and [c.name for c in reduced.system.coordinates] == ["x", "g_lift"]
    assert "solved for in each step: g_lift" in str(reduced)
    start = on_constraint(0.5, 0.6)
    whole = da.simulate(whole_system, h=1, steps=20, start=start)
    run = da.simulate(reduced, h=1, steps=20, start=start)
    back = reduced.reconstruct(run, {x: 0.5, y: 0})
    assert np.abs(back[y] - whole.y).max() < 1e-13 and np.abs(back[x] - whole.x).max() < 1e-13
    assert np.ptp(whole.y) > 0.5 and da.audit(run).ok
    own = da.simulate(reduced, h=1, steps=20, start={x0: 0.5, x1: 0.6})  # the unknown of the connection follows
    assert np.array_equal(own.x, run.x)
    lanes = [on_constraint(0.5, b) for b in (0.6, 0.58)]
    both = da.simulate(reduced, h=1, steps=20, start={s: np.array([q[s] for q in lanes]) for s in start})
    assert np.array_equal(both.records[0], run.records[0])
    assert np.abs(reduced.reconstruct(both, {x: 0.5, y: 0})[y][0] - whole.y).max() < 1e-13
    with pytest.raises(StartError, match="the two positions do not satisfy the discrete constraints"):
        da.simulate(reduced, h=1, steps=20, start={**start, y1: 0.07})


def test_files_continued_runs_and_tangents(tmp_path):
    reduced = da.reduce(chaplygin(), SHIFT)

    def run(steps, b=0.6, start=None):
        return da.simulate(reduced, h=1, steps=steps, start=start or {x0: 0.5, x1: b})

    whole = run(20)
    run(8).save(tmp_path / "run.nc")
    loaded = da.load(tmp_path / "run.nc")
    assert loaded.system == reduced.system
    assert np.array_equal(run(12, start=loaded).records[:, -1], whole.records[:, -1])
    T, size = da.tangents(run(6)), 1e-6
    ends = [np.stack([r[q] for q in T.symbols], axis=-1) for r in (run(6, 0.6 + size), run(6, 0.6 - size))]
    direction, expected = ((ends[0][k] - ends[1][k]) / (2 * size) for k in (1, -1))
    assert np.linalg.multi_dot([*T.intervals[5:0:-1], direction]) == pytest.approx(expected, abs=1e-7)
    assert np.abs(expected).max() > 0.1


def test_a_level_of_the_momentum_without_a_closed_form():
    """J_d = mu of fifth degree: the momentum is kept to rounding and the motion is that of the whole system (7.4)."""
    system = da.DiscreteSystem(
        "plane", [x, y], lagrangian=((x1 - x0) ** 2 + (y1 - y0) ** 2) / 2 + (y1 - y0) ** 5 * x0 + (y1 - y0) ** 4
    )
    reduced = da.reduce(system, SHIFT, momentum={g: mu})
    assert reduced.kind == "horizontal" and reduced.solved and not reduced.group_variables
    d = 0.1
    value = d + 5 * d**4 * 0.3 + 4 * d**3
    start = {x0: 0.3, x1: 0.31, y0: 0, y1: d}
    whole = da.simulate(system, h=1, steps=100, start=start)
    run = da.simulate(reduced, h=1, steps=100, start=start, parameters={mu: value})
    back = reduced.reconstruct(run, {x: 0.3, y: 0})
    assert np.abs(back[y] - whole.y).max() < 1e-12 and np.abs(back[x] - whole.x).max() < 1e-12
    steps, places = np.diff(back[y]), back[x][:-1]
    assert np.abs(steps + 5 * steps**4 * places + 4 * steps**3 - value).max() < 1e-14
    assert np.ptp(steps) > 1e-4, "the step is not constant"
    with pytest.raises(StartError, match="do not have the momentum of this reduction"):
        da.simulate(reduced, h=1, steps=3, start=start, parameters={mu: value * 1.01})


def test_where_there_is_no_horizontal_step():
    """Some shapes cannot be reached by a horizontal step: a start that would need one is refused, a run ends with a status."""
    fold = (y1 - y0) ** 4 + (y1 - y0) - x1
    c = da.DiscreteConnection(SHIFT, [x, y], horizontal=[fold])  # least value -0.47
    assert c.implicit is not None or c.domain
    free = da.DiscreteSystem("free", [x, y], lagrangian=((x1 - x0) ** 2 + (y1 - y0) ** 2) / 2)
    reduced = da.reduce(free, SHIFT, connection=c)
    run = da.simulate(reduced, h=1, steps=20, start={x0: 0, x1: -0.05, y0: 0, y1: 0.1}, strict=False)
    assert run.status != da.Status.CONVERGED and 7 <= np.isfinite(run.x).sum() <= 11
    quintic = da.DiscreteConnection(SHIFT, [x, y], horizontal=[(y1 - y0) ** 6 + (y1 - y0) - x1])
    with pytest.raises(
        StartError, match=r"the connection has no horizontal step here: .* Take a shorter step, or another"
    ):
        quintic.lifted({x: 0, y: 0}, [-2])


def test_unknowns_that_are_rounding_noise():
    """A horizontal step has elements that are zero but for rounding: their equations are satisfied, relative to the others."""
    px, py, phi, s = cases.x, cases.y, cases.phi, cases.s
    (a0, a1), (b0, b1), (p0, p1), (s0, s1) = cases.ends(px, py, phi, s)
    along = cos(p0) * (a1 - a0) + sin(p0) * (b1 - b0)
    across = -sin(p0) * (a1 - a0) + cos(p0) * (b1 - b0)
    turn = p1 - p0
    kappa = [along + along**5 - (s1 - s0), across * cos(turn / 2) - along * sin(turn / 2) + turn**5, turn]
    c = da.DiscreteConnection(cases.se2(), [px, py, phi, s], horizontal=kappa)
    assert c.implicit is not None
    for far in (0.3, 1e-5, 2.0):
        b = [float(e) for e in c.between([0.1], [0.1 + far])]
        assert abs(b[0] + b[0] ** 5 - far) < 1e-12 * far and abs(b[1]) < 1e-15 * far and abs(b[2]) < 1e-15 * far


# geodesics

METRIC = sympy.Matrix([[1 + y**2, 0, y], [0, 1 + x**2 / 2, x / 2], [y, x / 2, 1 + x**2]])
ALONG = da.Symmetry({z: z + g}, elements=[g])


def geodesic(place, velocity):
    """The end of a geodesic of METRIC at time one, by SciPy from the equations of Euler and Lagrange."""
    q = (x, y, z)
    G, slopes = sympy.lambdify(q, METRIC), [sympy.lambdify(q, METRIC.diff(c)) for c in q]

    def rates(_, state):
        at, v = state[:3], state[3:]
        d = [np.array(f(*at), float) for f in slopes]
        force = [v @ d[k] @ v / 2 for k in range(3)] - sum(d[k] * v[k] for k in range(3)) @ v
        return np.append(v, np.linalg.solve(np.array(G(*at), float), force))

    return solve_ivp(rates, (0, 1), [*place, *velocity], "DOP853", rtol=1e-13, atol=1e-14).y[:3, -1]


@pytest.mark.parametrize("level", [0, sympy.Rational(3, 10)])
def test_geodesics_are_computed(level):
    """Horizontal steps of a metric that varies end on geodesics orthogonal to the orbit of gamma(q) q: to order 9 in their
    length."""
    c = da.DiscreteConnection.riemannian(ALONG, [x, y, z], METRIC, level={g: level})
    assert c.is_plain == (level == 0)
    place, errors = np.array([0.3, -0.2, 0.5]), []
    G = np.array(METRIC.subs(dict(zip((x, y, z), place, strict=True))), float)
    for size in (0.4, 0.2):
        v = size * np.array([0.8, 0.5, 0])
        v[2] = -G[2, :2] @ v[:2] / G[2, 2]
        end = geodesic(place + np.array([0, 0, float(level)]), v)
        errors.append(abs(float(c.lifted(dict(zip((x, y, z), place, strict=True)), end[:2])[z]) - end[2]))
    assert errors[1] < 1e-11 and errors[0] / errors[1] > 2**8
    straight = da.DiscreteConnection.riemannian(ALONG, [x, y, z], METRIC, way={q: q.at(1) - q.at(0) for q in (x, y, z)},
                                                level={g: level})  # fmt: skip
    assert abs(float(straight.lifted(dict(zip((x, y, z), place, strict=True)), end[:2])[z]) - end[2]) > 1e-4, "control"


def test_a_motion_with_computed_geodesics():
    v = sympy.Matrix([x.dot, y.dot, z.dot])
    system = da.System("particle", [x, y, z], kinetic=(v.T * METRIC * v)[0] / 2, potential=x**2 / 2 + y**2)
    discrete = da.discretise(system, da.midpoint_map)
    start = {x0: 0.3, x1: 0.32, y0: 0.1, y1: 0.08, z0: 0, z1: 0.03}
    whole = da.simulate(discrete, h=0.05, steps=100, start=start)
    reduced = da.reduce(discrete, ALONG, connection=da.DiscreteConnection.riemannian(ALONG, [x, y, z], METRIC))
    run = da.simulate(reduced, h=0.05, steps=100, start=start)
    back = reduced.reconstruct(run, {x: 0.3, y: 0.1, z: 0})
    assert max(np.abs(back[q] - whole[q]).max() for q in (x, y, z)) < 1e-12 and da.audit(run).ok
    assert np.ptp(run[reduced.solved[0]][1:]) > 1e-3, "horizontal steps move along the group"
