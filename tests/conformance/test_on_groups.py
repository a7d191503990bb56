"""The claims of every method that takes group coordinates, measured on rotations and on unit vectors."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dalembert as da
from dalembert import cos, sin

from .methods import METHODS

R, n = da.rotation("R"), da.direction("n")
J = (1.0, 1.2, 0.5)
TOP = da.System(
    "driven top", [R], kinetic=sum(j * w**2 for j, w in zip(J, R.omega, strict=True)) / 2 + R.omega[0] * R.omega[1] / 5,
    potential=R[2, 2] * (1 + sin(2 * da.time) / 3) + R[0, 1] * R[2, 0],
)  # fmt: skip
PENDULUM = da.System(
    "driven pendulum", [n], kinetic=(1 + n[0] / 3) * (n.omega[0] ** 2 + n.omega[1] ** 2) / 2,
    potential=n[2] * (1 + sin(2 * da.time) / 3) + n[0] * n[1],
)  # fmt: skip
TURNED = da.groups.SO3.exp([0.3, 0.4, -0.2])
STARTS = {
    TOP: {R: TURNED, R.omega: (0.3, -0.4, 1.5)},
    PENDULUM: {n: (0.6, 0.48, 0.64), n.velocity: np.cross([0.3, 1.0, -0.2], [0.6, 0.48, 0.64])},
}
KEYS = {TOP: (R, R.omega, R.momentum), PENDULUM: (n, n.velocity, n.momentum)}
SLOW = {da.Galerkin(2): [pytest.mark.slow]}
SLOW |= {m: [pytest.mark.slow] for m in (da.Gauss(2), da.Lobatto(2), da.Lobatto(3), da.NullSpace())}
LONG = (
    da.Galerkin(2, "lobatto"), da.Galerkin(3), da.Galerkin(4), da.Galerkin(3, "lobatto"), da.Gauss(3), da.Gauss(4),
    da.Lobatto(4), da.Lobatto(5), da.Composition(da.Lobatto(3), 6),
)  # fmt: skip
SLOW |= {m: [pytest.mark.slow, pytest.mark.verify] for m in LONG}
"""Their steps take from ten seconds to minutes to derive and compile."""
TAKEN = [pytest.param(m, marks=SLOW.get(m, [])) for m in METHODS if m.takes(TOP)]
SHORTER = [m for m in TAKEN if m.values[0] != da.Galerkin(4)]
"""For systems of their own: Galerkin(4), whose step takes minutes to compile, is measured on the driven ones."""
STEPS = {1: (32, 64), 2: (16, 32), 4: (6, 12), 6: (3, 6), 8: (4, 8)}
ALLOWED = {1: 0.2, 2: 0.2, 4: 0.3, 6: 0.8, 8: 0.6}
FEW = {da.Galerkin(4): ((2, 4), 1.3)}
"""Steps and what is allowed where each step takes long."""


def test_which_methods_take_groups():
    names = {repr(m) for m in METHODS if m.takes(TOP)}
    assert names == {repr(m) for m in METHODS if m.takes(PENDULUM)}
    assert {"LeftPoint()", "RightPoint()", "Midpoint()", "Trapezoidal()", "Galerkin(2)", "RungeKutta4()"} <= names
    assert {"Gauss(2)", "Lobatto(3)"} <= names and "StormerVerlet()" not in names


@cache
def exact(system):
    run = da.simulate(system, da.Reference(rtol=1e-13), h=1, until=1, start=STARTS[system])
    return [run[key][-1] for key in KEYS[system]]


@pytest.mark.parametrize("system", [TOP, PENDULUM], ids=lambda s: s.name)
@pytest.mark.parametrize("method", TAKEN, ids=repr)
def test_order(method, system):
    errors = []
    numbers, allowed = FEW.get(method, (STEPS[method.order], ALLOWED[method.order]))
    for steps in numbers:
        run = da.simulate(system, method, h=1 / steps, steps=steps, start=STARTS[system])
        errors.append(max(np.abs(run[k][-1] - x).max() for k, x in zip(KEYS[system], exact(system), strict=True)))
    assert abs(np.log2(errors[0] / errors[1]) - method.order) < allowed, errors


def chart_of_the_sphere(state):
    """Unit vectors and momenta of polar angles and their momenta."""
    theta, phi, a, b = np.moveaxis(state, -1, 0)
    st, ct, sp, cp = np.sin(theta), np.cos(theta), np.sin(phi), np.cos(phi)
    south, east = np.stack([ct * cp, ct * sp, -st], -1), np.stack([-sp, cp, 0 * sp], -1)
    return np.stack([st * cp, st * sp, ct], -1), a[:, None] * south + (b / st)[:, None] * east


def angles_of(vector, momentum):
    theta, phi = np.arccos(vector[:, 2]), np.arctan2(vector[:, 1], vector[:, 0])
    st, ct, sp, cp = np.sin(theta), np.cos(theta), np.sin(phi), np.cos(phi)
    south, east = np.stack([ct * cp, ct * sp, -st], -1), np.stack([-st * sp, st * cp, 0 * sp], -1)
    return np.stack([theta, phi, (momentum * south).sum(-1), (momentum * east).sum(-1)], -1)


def canonical_defect(method, eps=1e-6):
    """How far a step on the sphere is from preserving dtheta ^ dp_theta + dphi ^ dp_phi, by differences."""
    first = np.array([1.1, 0.4, 0.3, 0.5])
    moves = first + np.vstack([s * eps * e for e in np.eye(4) for s in (1, -1)])
    vectors, momenta = chart_of_the_sphere(moves)
    run = da.simulate(PENDULUM, method, h=0.2, steps=1, start={n: vectors, n.momentum: momenta})
    image = angles_of(run[n][:, -1], run[n.momentum][:, -1])
    slope = ((image[::2] - image[1::2]) / (2 * eps)).T
    form = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    return np.abs(slope.T @ form @ slope - form).max()


def body_defect(method, eps=1e-6, place=R, system=TOP):
    """The same of a rotation: the form -d(p.theta) in the frame of the body is ((-hat(p), 1), (-1, 0)) at one point."""
    hat = lambda v: np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])  # noqa: E731
    form = lambda p: np.block([[-hat(p), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])  # noqa: E731
    p0 = np.array([0.3, -0.5, 0.7])
    moves = np.vstack([np.zeros(6), *(s * eps * e for e in np.eye(6) for s in (1, -1))])
    start = {place: TURNED @ da.groups.SO3.cayley(moves[:, :3]), place.momentum: p0 + moves[:, 3:]}
    run = da.simulate(system, method, h=0.2, steps=1, start=start)
    Rn, pn = run[place][:, -1], run[place.momentum][:, -1]
    away = da.groups.SO3.cayley_inverse(Rn[0].T @ Rn)
    image = np.column_stack([away, pn - pn[0]])
    slope = ((image[1::2] - image[2::2]) / (2 * eps)).T
    return np.abs(slope.T @ form(pn[0]) @ slope - form(p0)).max()


@pytest.mark.parametrize("defect", [body_defect, canonical_defect])
@pytest.mark.parametrize("method", TAKEN, ids=repr)
def test_symplectic(method, defect):
    if method == da.DormandPrince8():
        return  # its defect is below that of differences
    if method.symplectic:
        assert defect(method) < 3e-8
    else:
        assert defect(method) > 1e-7, "the control must fail the check"


STILL = {
    TOP.replace(potential=R[2, 2] + R[0, 1] * R[2, 0]): (R, R.momentum),
    PENDULUM.replace(potential=n[2] + n[0] * n[1]): (n, n.momentum),
}
"""Systems that do not depend on time, and what a state of them is."""


@pytest.mark.parametrize("method", SHORTER, ids=repr)
def test_symmetric(method):
    """With the momentum turned around, a step leads back to where it began."""
    off = []
    for (system, (place, momentum)), start in zip(STILL.items(), STARTS.values(), strict=True):
        there = da.simulate(system, method, h=0.2, steps=1, start=start)
        turned = {place: there[place][-1], momentum: -there[momentum][-1]}
        back = da.simulate(system, method, h=0.2, steps=1, start=turned)
        off += [np.abs(back[place][-1] - there[place][0]).max(), np.abs(back[momentum][-1] + there[momentum][0]).max()]
    if method.symmetric:
        assert max(off) < 1e-12
    elif method != da.DormandPrince8():
        assert max(off) > 1e-7, "the control must fail the check"


@pytest.mark.parametrize("method", SHORTER, ids=repr)
def test_momentum(method):
    """The vertical component of the angular momentum in space, where the potential depends on the height alone."""
    top = TOP.replace(potential=R[2, 2] * (1 + sin(da.time) / 3) + cos(R[2, 0]))
    pendulum = PENDULUM.replace(
        kinetic=(1 + n[2] / 3) * (n.omega[0] ** 2 + n.omega[1] ** 2) / 2, potential=n[2] * (1 + sin(da.time) / 3)
    )
    one = da.simulate(top, method, h=0.2, steps=500, start=STARTS[TOP])
    two = da.simulate(pendulum, method, h=0.2, steps=500, start=STARTS[PENDULUM])
    turning = np.einsum("tj,tj->t", one[R][:, 2], one[R.momentum]), np.cross(two[n], two[n.momentum])[:, 2]
    drift = max(np.abs(p - p[0]).max() for p in turning)
    if method.momentum:
        assert drift < 1e-12
    else:
        assert drift > 1e-9, "the control must fail the check"


S = da.rotation("S", "exp")


def spun(potential):
    """The driven top with steps by the exponential."""
    kinetic = sum(j * w**2 for j, w in zip(J, S.omega, strict=True)) / 2 + S.omega[0] * S.omega[1] / 5
    return da.System("top by the exponential", [S], kinetic=kinetic, potential=potential)


BY_EXP = {
    "driven": spun(S[2, 2] * (1 + sin(2 * da.time) / 3) + S[0, 1] * S[2, 0]),
    "still": spun(S[2, 2] + S[0, 1] * S[2, 0]),
    "upright": spun(S[2, 2] * (1 + sin(da.time) / 3) + cos(S[2, 0])),
}
LATER = {da.Galerkin(2): [pytest.mark.slow, pytest.mark.verify]}
LATER |= {m: [pytest.mark.slow] for m in (da.Galerkin(2, "lobatto"), da.Gauss(2), da.NullSpace())}
LATER |= {m: [pytest.mark.slow, pytest.mark.verify] for m in SLOW if m not in LATER}


@pytest.mark.parametrize("method", [pytest.param(m, marks=LATER.get(m, [])) for m in METHODS if m.takes(TOP)], ids=repr)
def test_the_exponential(method):
    """Order, symplecticity, symmetry and momentum of the steps by the exponential; what is not claimed fails the check."""
    assert method.takes(BY_EXP["driven"])
    start = {S: TURNED, S.omega: (0.3, -0.4, 1.5)}
    errors, (numbers, allowed) = [], FEW.get(method, (STEPS[method.order], ALLOWED[method.order]))
    for steps in numbers:
        run = da.simulate(BY_EXP["driven"], method, h=1 / steps, steps=steps, start=start)
        errors.append(
            max(np.abs(run[k][-1] - x).max() for k, x in zip((S, S.omega, S.momentum), exact(TOP), strict=True))
        )
    assert abs(np.log2(errors[0] / errors[1]) - method.order) < allowed, errors
    there = da.simulate(BY_EXP["still"], method, h=0.2, steps=1, start=start)
    turned = {S: there[S][-1], S.momentum: -there[S.momentum][-1]}
    back = da.simulate(BY_EXP["still"], method, h=0.2, steps=1, start=turned)
    off = max(np.abs(back[S][-1] - there[S][0]).max(), np.abs(back[S.momentum][-1] + there[S.momentum][0]).max())
    run = da.simulate(BY_EXP["upright"], method, h=0.2, steps=300, start=start)
    vertical = np.einsum("tj,tj->t", run[S][:, 2], run[S.momentum])
    drift, defect = np.abs(vertical - vertical[0]).max(), body_defect(method, place=S, system=BY_EXP["driven"])
    assert np.abs(np.einsum("tij,tik->tjk", run[S], run[S]) - np.eye(3)).max() < 4e-15
    if method == da.DormandPrince8():
        return  # its defects are below those of differences
    for claimed, found, kept, lost in (
        (method.symmetric, off, 1e-12, 1e-7), (method.momentum, drift, 1e-12, 1e-9), (method.symplectic, defect, 3e-8, 1e-7),
    ):  # fmt: skip
        assert found < kept if claimed else found > lost


LONG = 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("retraction", ["cayley", "exp"])
def test_on_the_group_to_rounding_for_a_million_steps(retraction):
    """Nothing is projected; `docs/make_long_rotations.py` makes ten million steps."""
    top = da.gallery.load("heavy-top")
    Q = da.rotation("R", retraction)
    J1, m, g, l = (next(p for p in top.parameters if p.name == name) for name in ("J1", "m", "g", "l"))
    w = Q.omega
    made = da.System(
        "top", [Q], kinetic=J1 * (w[0] ** 2 + w[1] ** 2 + w[2] ** 2 / 2) / 2, potential=m * g * l * Q[2, 2]
    )
    start = {Q: top.start[R], Q.omega: top.start[R.omega]}
    numbers = {p: top.parameters[p] for p in (J1, m, g, l)}
    run = da.simulate(made, da.Midpoint(), h=0.02, steps=LONG, every=LONG // 100, start=start, parameters=numbers)
    assert np.abs(np.einsum("tij,tik->tjk", run[Q], run[Q]) - np.eye(3)).max() < 4e-15
    vertical = np.einsum("tj,tj->t", run[Q][:, 2], run[Q.momentum])
    about_axis = run[Q.momentum][:, 2]
    for p in (vertical, about_axis):
        assert np.abs(p / p[0] - 1).max() < 2.2e-16 * 6 * np.sqrt(LONG)
