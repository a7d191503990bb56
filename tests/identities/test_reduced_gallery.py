"""Gallery systems with symmetry in discrete time: reduced, simulated and reconstructed is the motion of the whole system.

The discrete systems are those of the midpoint map: groups SE(2), SO(3) from the left and from the right, turns about the
vertical, SE(2) with a turn of a body; with and without constraints; forces of the reduction everywhere.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import cos, gallery, sin
from dalembert.model.space import factors, groups

KINDS = {
    "rolling-disk": "Euler-Poincare-Suslov",
    "chaplygin-sleigh": "Euler-Poincare-Suslov",
    "suslov": "Euler-Poincare-Suslov",
    "two-wheeled-robot": "Chaplygin",
    "snakeboard": "general",
    "roller-racer": "general",
    "veselova": "Chaplygin",
    "chaplygin-ball": "general",
    "ball-on-turntable": "general",
    "heavy-top-on-cart": "horizontal",
}
LAID_OUT = {"veselova": "general", "heavy-top-on-cart": "general"}
"""What is reduced in shapes and group steps: the constraint has no closed form; no level of the momentum was given."""


@cache
def case(name):
    example = gallery.load(name)
    discrete = da.discretise(example.system, da.midpoint_map)
    symmetry = da.Symmetry(example.action, elements=example.elements)
    return example, discrete, symmetry, da.reduce(discrete, symmetry)


@cache
def start(name):
    """Position and momentum of the gallery's start."""
    example, discrete, *_ = case(name)
    one = da.simulate(
        example.system, da.Midpoint(), h=example.h, steps=1, start=example.start, parameters=example.parameters
    )
    found = {}
    for f in factors(discrete.coordinates):
        if f in groups(discrete.coordinates):
            found |= {f: one[f][0], **{v: one[v][0] for v in f.vectors[len(f.vectors) // 2 :]}}
        else:
            found |= {f.coordinate: one[f.coordinate][0], f.coordinate.momentum: one[f.coordinate.momentum][0]}
    return found


def position(name):
    return {
        q: x for q, x in start(name).items() if q in (*case(name)[1].coordinates, *groups(case(name)[1].coordinates))
    }


def simulated(name, system, steps):
    example = case(name)[0]
    return da.simulate(system, h=example.h, steps=steps, start=start(name), parameters=example.parameters)


def largest(back, whole):
    """Deviations of positions, those of lengths and angles against how far they go."""
    found = {q: np.nan_to_num(back[q], nan=1e3) for q in placed(whole.system)}
    return max(float(np.abs(x - whole[q]).max() / max(1.0, np.ptp(whole[q]))) for q, x in found.items())


def placed(system):
    """What a position consists of: coordinates of lines, and group coordinates."""
    return [f if f in groups(system.coordinates) else f.coordinate for f in factors(system.coordinates)]


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_reduced_and_reconstructed_is_unreduced(name):
    """To 1e-9 over 10 000 steps; without the forces of the reduction it is another motion after fifty."""
    _, discrete, _, reduced = case(name)
    assert reduced.kind == LAID_OUT.get(name, KINDS[name])
    whole, run = simulated(name, discrete, 10_000), simulated(name, reduced, 10_000)
    back = reduced.reconstruct(run, position(name))
    assert back.system == discrete and np.array_equal(back.time, whole.time)
    assert largest(back, whole) < 1e-9
    assert max(np.ptp(whole[q]) for q in placed(discrete)) > 0.1, "it moves"


@pytest.mark.parametrize("name", ["two-wheeled-robot", "chaplygin-sleigh", "snakeboard"])
def test_control_without_the_forces_of_the_reduction(name):
    """A discrete system with the reduced Lagrangian alone has other motions."""
    _, discrete, _, reduced = case(name)
    zero = tuple(f * 0 for f in reduced.system.force_plus)
    fields = {"force_plus": zero, "external_plus": zero}
    without = reduced.system._made(**{**vars(reduced.system), **fields})
    other = replace(reduced, system=without)
    whole = simulated(name, discrete, 50)
    example = case(name)[0]
    begin = reduced.start(da.simulate(discrete, h=example.h, steps=1, start=start(name), parameters=example.parameters),
                          example.parameters, example.h)  # fmt: skip
    run = da.simulate(without, h=example.h, steps=50, start=begin, parameters=example.parameters, strict=False)
    assert largest(other.reconstruct(run, position(name)), whole) > 1e-5
    assert largest(reduced.reconstruct(simulated(name, reduced, 50), position(name)), whole) < 1e-12


@pytest.mark.parametrize("name", ["snakeboard", pytest.param("roller-racer", marks=pytest.mark.slow)])
def test_the_choice_of_connections_changes_nothing(name):
    """An affine discrete connection of no meaning, and another continuous one."""
    example, discrete, symmetry, reduced = case(name)
    r0, r1 = (reduced.bundle.shape[-1].at(k) for k in (0, 1))
    u, w, a = example.elements
    tangled = da.DiscreteConnection(
        symmetry, discrete.coordinates, trivial={u: r0 * r1 / 3 + 0.1, w: r1 - r0**2, a: (r1 - r0) * 0.7 + 0.2}
    )
    assert not tangled.is_plain
    shape = reduced.bundle.shape[-1]
    others = [
        da.reduce(discrete, symmetry, connection=tangled),
        da.reduce(discrete, symmetry, connection=tangled, lift={shape: {u: shape, a: 1}}),
    ]
    whole = simulated(name, discrete, 200)
    for other in others:
        run = simulated(name, other, 200)
        assert largest(other.reconstruct(run, position(name)), whole) < 1e-11
        steps = [run[c][1:] for c in other.group_variables]
        assert np.abs(steps[2] - simulated(name, reduced, 200)[reduced.group_variables[2]][1:]).max() > 0.1, (
            "other variables"
        )


# horizontal symmetries and stages


R = da.rotation("R")


def test_momentum_of_a_horizontal_symmetry_is_kept_to_rounding_and_a_second_stage():
    """The rotor of the snakeboard: J_r (theta.dot + psi.dot) is the level; then SE(2) on the reduced system."""
    example, discrete, symmetry, _ = case("snakeboard")
    x, y, theta, psi, phi = discrete.coordinates
    J_r = next(p for p in discrete.parameters if p.name == "J_r")
    k, level = da.parameters("k level")
    first = da.reduce(discrete, da.Symmetry({psi: psi + k}, elements=[k]), momentum={k: level})
    assert first.kind == "horizontal" and first.group_variables == ()
    whole = simulated("snakeboard", discrete, 1000)
    mu = float(start("snakeboard")[psi.momentum])
    values = {**example.parameters, level: mu}
    run = da.simulate(first, h=example.h, steps=1000, start=start("snakeboard"), parameters=values)
    back = first.reconstruct(run, position("snakeboard"))
    assert largest(back, whole) < 1e-11
    kept = example.parameters[J_r] * (np.diff(back[theta]) + np.diff(back[psi])) / example.h
    assert np.abs(kept - mu).max() < 1e-11 * abs(mu)
    assert np.ptp(np.diff(back[psi])) > 1e-3, "the control: the rotor alone is not steady"
    begin = {c.at(j): run[c][j] for c in first.system.coordinates for j in (0, 1)}
    second = da.reduce(first.system, symmetry)
    assert set(second.bundle.shape) == {phi}
    again = da.simulate(second, h=example.h, steps=1000, start=begin, parameters=values)
    there = second.reconstruct(again, {c: begin[c.at(0)] for c in first.system.coordinates})
    assert all(np.abs(there[c] - run[c]).max() < 1e-10 for c in (x, y, theta, phi))


def test_momentum_of_the_cart_is_kept_to_rounding():
    """A top on a cart by displacements of the plane, on a level of their momentum: the rotation alone is left."""
    example, discrete, *_ = case("heavy-top-on-cart")
    x, y = discrete.coordinates[:2]
    u, v, along, across = da.parameters("u v along across")
    reduced = da.reduce(discrete, da.Symmetry({x: x + u, y: y + v}, elements=[u, v]), momentum={u: along, v: across})
    assert reduced.kind == "horizontal" and {"x", "y"}.isdisjoint(c.name for c in reduced.system.coordinates)
    # the rotation is a shape here, in a chart that ends at half a turn: less spin than in the gallery
    begin = {x: 0.0, y: 0.0, R: position("heavy-top-on-cart")[R], x.momentum: 0.3, y.momentum: -0.1}
    begin[R.momentum] = (0.01, -0.02, 0.06)
    whole = da.simulate(discrete, h=example.h, steps=200, start=begin, parameters=example.parameters)
    values = {**example.parameters, along: 0.3, across: -0.1}
    run = da.simulate(reduced, h=example.h, steps=200, start=begin, parameters=values)
    back = reduced.reconstruct(run, {x: 0, y: 0, R: begin[R]})
    assert largest(back, whole) < 1e-11 and np.ptp(whole[x]) > 0.04
    for q, mu in ((x, 0.3), (y, -0.1)):
        assert np.abs(whole[q.momentum] - mu).max() < 1e-14
        assert np.ptp(np.diff(back[q])) > 1e-5, "the control: the cart is not steady"


# group coordinates


e = da.parameters("e1 e2 e3")
w, s = R.omega, da.coordinates("s")
LEFT = sympy.Matrix(da.groups.SO3.cayley(list(e)))


def test_a_body_with_a_rotor_by_rotations_of_space():
    """SO(3) x R with one nonholonomic constraint: lanes, a run file, and the multipliers of the unreduced motion."""
    system = da.System(
        "rotor", [R, s], kinetic=(w[0] ** 2 + 2 * w[1] ** 2 + 3 * (w[2] + s.dot) ** 2) / 2 + s.dot**2, potential=-cos(s),
        constraints=[w[0] - s * w[2] - s.dot / 3], forces={R: (0, w[0], 0), s: -s.dot / 10},
    )  # fmt: skip
    discrete = da.discretise(system, da.midpoint_map)
    reduced = da.reduce(discrete, da.Symmetry({R: LEFT * R.matrix}, elements=e))
    assert reduced.kind == "general" and [c.name for c in reduced.bundle.shape] == ["s"]
    turned = np.array(da.groups.SO3.cayley([0.3, -0.2, 0.5]), dtype=float)
    begin = {R: turned, s: np.array([0.3, 0.1]), R.momentum: (0.3, 0.8, 1.0), s.momentum: 0.7}
    whole = da.simulate(discrete, h=0.02, steps=300, start=begin)
    run = da.simulate(reduced, h=0.02, steps=300, start=begin)
    back = reduced.reconstruct(run, {R: turned, s: np.array([0.3, 0.1])})
    assert back[R].shape == (2, 301, 3, 3)
    assert np.abs(back[R] - whole[R]).max() < 1e-12 and np.abs(back[s] - whole[s]).max() < 1e-12
    # the first record of a run has no step before it
    assert np.abs(run.multipliers[:, 1:-1] - whole.multipliers[:, 1:-1]).max() < 1e-9
    assert np.ptp(whole[R], axis=1).max() > 1


def test_discrete_euler_poincare_suslov_on_rotations():
    """Prop. 7.2.1 with u = R0^T R1 = cay(theta): the recursion, solved by hand, gives the reduced motion."""
    body = da.System(
        "body",
        [R],
        kinetic=(w[0] ** 2 + 2 * w[1] ** 2 + 3 * w[2] ** 2 + w[0] * w[1] / 2) / 2,
        constraints=[w[0] + w[2] / 2],
    )
    discrete = da.discretise(body, da.midpoint_map)
    reduced = da.reduce(discrete, da.Symmetry({R: LEFT * R.matrix}, elements=e))
    assert reduced.kind == "Euler-Poincare-Suslov"
    h = 0.1
    run = da.simulate(reduced, h=h, steps=30, start={R: np.eye(3), R.momentum: (1.5, 5.0, -8.0)})
    theta = np.stack([run[c] for c in reduced.group_variables], axis=-1)[1:]
    inertia = np.array([[1, 0.25, 0], [0.25, 2, 0], [0, 0, 3]])
    admissible = np.array([[0, 1, 0], [-0.5, 0, 1]])
    for before, after in pairwise(theta):
        # dl(u)(u zeta) and dl(u)(zeta u), l = xi.I.xi/(2h), by dcay^-1 from the right and from the left
        for zeta in admissible:
            right = np.array(da.groups.SO3.dcayley_inverse(list(after)), dtype=float) @ zeta
            left = np.array(da.groups.SO3.dcayley_inverse(list(-before)), dtype=float) @ zeta
            assert before @ inertia @ left / h == pytest.approx(after @ inertia @ right / h, abs=1e-13)
        assert after[0] + after[2] / 2 == pytest.approx(0, abs=1e-15)
    assert np.ptp(theta, axis=0).max() > 1e-3


def test_a_planar_pose_and_three_coordinates_are_one_motion():
    """The sleigh as a pose and by x, y, phi, both reduced by SE(2): P = (x, y, phi) along the motion."""
    P = da.planar_pose("P")
    u, v, a = da.parameters("u v a")
    T = sympy.Matrix([[cos(a), -sin(a), u], [sin(a), cos(a), v], [0, 0, 1]])
    sleigh = da.System(
        "sleigh", [P], kinetic=(P.velocity[0] ** 2 + (P.velocity[1] + P.omega[0] / 3) ** 2 + P.omega[0] ** 2) / 2,
        constraints=[P.velocity[1]],
    )  # fmt: skip
    discrete = da.discretise(sleigh, da.midpoint_map)
    reduced = da.reduce(discrete, da.Symmetry({P: T * P.matrix}, elements=[u, v, a]))
    begin = {P: np.eye(3), P.momentum: (1.0, 0.2), P.angular_momentum: (0.6,)}
    whole = da.simulate(discrete, h=0.02, steps=500, start=begin)
    run = da.simulate(reduced, h=0.02, steps=500, start=begin)
    assert np.abs(reduced.reconstruct(run, {P: np.eye(3)})[P] - whole[P]).max() < 1e-12
    assert run.system.name == "sleigh, FiniteDifferenceMap, reduced"


def test_whatever_takes_a_discrete_system_takes_a_reduced_one_of_a_group(tmp_path):
    """Suslov's problem: audit, file, continued run and tangents against differences of starts."""
    body = da.System(
        "body", [R], kinetic=(w[0] ** 2 + 2 * w[1] ** 2 + 3 * w[2] ** 2) / 2, constraints=[w[0] + w[2] / 2]
    )
    discrete = da.discretise(body, da.midpoint_map)
    reduced = da.reduce(discrete, da.Symmetry({R: LEFT * R.matrix}, elements=e))

    def run(steps, momentum=(0.5, 2.0, -1.0)):
        return da.simulate(reduced, h=0.1, steps=steps, start={R: np.eye(3), R.momentum: momentum})

    whole = run(40)
    assert da.audit(whole).ok
    run(15).save(tmp_path / "run.nc")
    loaded = da.load(tmp_path / "run.nc")
    assert loaded.system == reduced.system
    assert np.array_equal(da.simulate(reduced, h=0.1, steps=25, start=loaded).records[:, -1], whole.records[:, -1])
    assert np.array_equal(
        reduced.reconstruct(loaded, {R: np.eye(3)})[R], reduced.reconstruct(whole, {R: np.eye(3)})[R][:16]
    )
    T, size = da.tangents(run(6)), 1e-6
    ends = [run(6, (0.5, 2.0 + d, -1.0)) for d in (size, -size)]
    states = [np.stack([r[q] for q in T.symbols], axis=-1) for r in ends]
    direction, expected = ((states[0][k] - states[1][k]) / (2 * size) for k in (1, -1))
    found = np.linalg.multi_dot([*T.intervals[5:0:-1], direction])
    assert found == pytest.approx(expected, abs=1e-7) and np.abs(expected).max() > 0.01


def test_a_motion_through_half_a_turn_of_the_shapes_ends_with_a_status():
    """R is among the shapes of turns about the vertical: what was computed is right, and the unreduced motion goes on."""
    a = da.parameters("a")
    upright = sympy.Matrix([[cos(a), -sin(a), 0], [sin(a), cos(a), 0], [0, 0, 1]])
    free = da.System("free", [R], kinetic=(w[0] ** 2 + 2 * w[1] ** 2 + 3 * w[2] ** 2) / 2)
    discrete = da.discretise(free, da.midpoint_map)
    reduced = da.reduce(discrete, da.Symmetry({R: upright * R.matrix}, elements=[a]))
    for momentum, ends in (((1.0, 0.0, 0.0), True), ((1.0, 0.3, 0.2), False)):
        begin = {R: np.eye(3), R.momentum: momentum}
        whole = da.simulate(discrete, h=0.05, steps=200, start=begin)
        run = da.simulate(reduced, h=0.05, steps=200, start=begin, strict=False)
        assert (run.status != da.Status.CONVERGED) is ends
        off = np.abs(reduced.reconstruct(run, {R: np.eye(3)})[R] - whole[R]).max(axis=(1, 2))
        assert np.isnan(off).any() == ends and np.nanmax(off) < 1e-11
