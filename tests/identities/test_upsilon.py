"""The Upsilon model through the public functions: starts, lanes, continuation, events, files, audit, rotations; named forms;
motions between two configurations.
"""

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import cos, sin
from dalembert.decide.zero import vanishes
from dalembert.symbolic import fast
from dalembert.theory.motion.lagrange import motion_residual

x, y, z = da.coordinates("x y z")
m, k = da.parameters("m k", positive=True)
VALUES = {m: 1.3, k: 0.8}
AFFINE = z.dot - y * x.dot + k * x / 2


def particle(principle=None, constraint=AFFINE, **more):
    kinetic = m * (x.dot**2 + y.dot**2 + z.dot**2) / 2
    stated = {
        "kinetic": kinetic,
        "potential": k * (x**2 + 2 * y**2) / 2,
        "constraints": [constraint],
        "principle": principle,
    }
    return da.System("particle", [x, y, z], **{**stated, **more})


PRINCIPLES = [
    da.Upsilon(), da.Upsilon({x: k * y.dot, z: 0.25 * y.ddot}), da.Upsilon(completion=[x.dot, y.dot]),
]  # fmt: skip
START = {x: 0.3, y: 0.5, z: -0.2, x.dot: 0.7, y.dot: -0.4}


def run_of(system, method=None, **more):
    given = {"h": 0.02, "steps": 60, "start": START, "parameters": VALUES, **more}
    return da.simulate(system, da.RungeKutta4() if method is None else method, **given)


@pytest.mark.parametrize("principle", PRINCIPLES, ids=repr)
def test_runs_lanes_events_and_files(principle, tmp_path):
    system = particle(principle)
    assert system.parameters == (k, m)
    events = [da.Event(y, {x.dot: -x.dot / 2}, name="kick")]
    whole = run_of(system, events=events)
    assert whole.events and np.abs(whole.quantity(AFFINE)).max() < 1e-7
    lanes = run_of(system, start={**START, x: [0.1, 0.3]}, events=events)
    assert np.array_equal(lanes.y[1], whole.y)
    half = run_of(system, steps=30, events=events)
    loaded = da.load(half.save(tmp_path / "half.nc"))
    assert loaded.system == system and loaded.system.principle == system.principle
    rest = run_of(system, steps=30, start=loaded, events=events)
    assert np.array_equal(rest.x, whole.x[30:])
    other = run_of(system, da.Reference())
    assert (
        np.abs(other.table("position")[0] - run_of(system, h=0.005, steps=240).table("position")[0, ::4]).max() < 1e-8
    )
    multipliers = da.evaluate(system, at=START, parameters=VALUES).multipliers
    assert whole.multipliers[0] == pytest.approx(multipliers, rel=1e-12)


@pytest.mark.parametrize("principle", [PRINCIPLES[0], PRINCIPLES[2]], ids=repr)
def test_steps_whose_reactions_contain_no_accelerations(principle, tmp_path):
    """By a variational method: lanes, files and continued runs have the same bits, and the motion is that of the equations."""
    system, method = particle(principle), da.Midpoint()
    whole = run_of(system, method)
    assert np.array_equal(run_of(system, method, start={**START, x: [0.1, 0.3]}).y[1], whole.y)
    loaded = da.load(run_of(system, method, steps=30).save(tmp_path / "half.nc"))
    assert np.array_equal(run_of(system, method, steps=30, start=loaded).x, whole.x[30:])
    finer = run_of(system, method, h=0.01, steps=120)
    exact = run_of(system, da.DormandPrince8())
    for name in ("position", "velocity", "multiplier"):
        errors = [np.abs(r.table(name)[0, -1] - exact.table(name)[0, -1]).max() for r in (whole, finer)]
        assert 3.7 < errors[0] / errors[1] < 4.3


def test_a_principle_shows_itself():
    assert [repr(p) for p in PRINCIPLES] == [
        "Upsilon()", "Upsilon({x: k*y.dot, z: 0.25*y.ddot})", "Upsilon(completion=[x.dot, y.dot])",
    ]  # fmt: skip
    assert particle(da.Upsilon({x: 0})).principle == da.Upsilon()
    assert len({particle(p) for p in PRINCIPLES}) == 3


def test_decimals_are_exact():
    (function,) = (e for _, e in particle(PRINCIPLES[1]).principle.functions if y.ddot in e.free_symbols)
    assert function == y.ddot / 4


def test_what_an_audit_says():
    """Homogeneous: the energy stays. Affine: it does not. A cyclic coordinate alone is no reason for a momentum."""
    rows = {}
    for constraint in (AFFINE, z.dot - y * x.dot):
        run = run_of(particle(da.Upsilon(), constraint), da.DormandPrince8())
        rows[constraint] = da.audit(run)["energy"]
    assert rows[AFFINE].theory == "not conserved" and rows[AFFINE].deviation > 1e-3
    assert rows[z.dot - y * x.dot].theory == "conserved" and rows[z.dot - y * x.dot].deviation < 1e-13
    free = particle(da.Upsilon({y: x.dot}), z.dot - y * x.dot, potential=0)
    text = str(da.audit(run_of(free, parameters={m: 1.3})))
    assert "momentum of y" not in text and "reactions work as Upsilon({y: x.dot}) says" in text


def test_rotations():
    """In the frame of the body: a drift makes the minimal model another one; without it, it is d'Alembert's."""
    R = da.rotation("R")
    w = R.omega
    for drift in (0, 1):
        body = da.System("Suslov", [R], kinetic=(w[0] ** 2 + 2 * w[1] ** 2 + 3 * w[2] ** 2 + w[0] * w[2]) / 2,
                         constraints=[w[2] + w[0] / 3 + drift * R[0, 1]])  # fmt: skip
        start = {R: np.eye(3), w: (0.6, 0.4, -0.2)}
        runs = [
            da.simulate(body.replace(principle=p), da.DormandPrince8(), h=0.02, steps=50, start=start)
            for p in (None, da.Upsilon())
        ]
        assert (np.abs(runs[0][R] - runs[1][R]).max() < 1e-12) == (not drift)


def test_holonomic_constraints_act_as_d_alembert_says():
    hanging = {"kinetic": m * (x.dot**2 + y.dot**2) / 2, "potential": m * k * y, "constraints": [x**2 + y**2 - 1]}
    start = {x: 0.6, y: -0.8, x.dot: 0.4, y.dot: 0.3}
    runs = [
        da.simulate(da.System("pendulum", [x, y], **hanging, principle=p), da.DormandPrince8(), h=0.02, steps=50, start=start,
                    parameters=VALUES)
        for p in (None, da.Upsilon())
    ]  # fmt: skip
    assert np.array_equal(runs[0].x, runs[1].x)


def test_random_systems_agree_with_the_formula():
    """lambda P + c E(chi) + Phi, built here with NumPy and SymPy's matrices, for random metrics, constraints and Phi."""
    rng, v, a = np.random.default_rng(5), [x.dot, y.dot, z.dot], [x.ddot, y.ddot, z.ddot]
    Q = [x, y, z]

    def rate(f):
        return sum(f.diff(q) * q.dot + f.diff(q.dot) * q.ddot for q in Q)

    def E(f):
        return [rate(f.diff(q.dot)) - f.diff(q) for q in Q]

    for trial in range(6):
        n = [sympy.Rational(int(i), 7) for i in rng.integers(1, 9, 12)]
        G = sympy.diag(1 + n[0] * x**2, 2 + n[1] * sin(y), 3 + n[2])
        G[0, 1] = G[1, 0] = n[3] / 3
        L = (sympy.Matrix(v).T * G * sympy.Matrix(v))[0] / 2 - n[4] * x * z + n[5] * y * x.dot
        chi = [z.dot - n[6] * y * x.dot + n[7] * x * y.dot**2 / 2 + n[8]]
        chi += [y.dot - n[9] * cos(z) * x.dot - x] if trial % 2 else []
        phi = {x: n[10] * y.dot, z: n[11] * x.ddot / 9} if trial % 3 == 0 else {}
        system = da.System("random", Q, lagrangian=L, constraints=chi, principle=da.Upsilon(phi))
        at = dict(zip(Q + v, rng.uniform(0.2, 0.9, 6), strict=True))
        P = sympy.Matrix([[f.diff(w) for w in v] for f in chi])
        p = sympy.Matrix([L.diff(w) for w in v])
        numbers = {s: sympy.Float(float(e), 30) for s, e in at.items()}
        Pn, Gn, pn = (M.subs(numbers) for M in (P, G, p))
        c = (Pn * Gn.inv() * Pn.T).inv() * Pn * Gn.inv() * pn
        lam = sympy.symbols(f"l0:{len(chi)}")
        residual = [
            (e - sum(c[i] * E(f)[j] for i, f in enumerate(chi)) - phi.get(Q[j], 0)).subs(numbers)
            - sum(s * Pn[i, j] for i, s in enumerate(lam))
            for j, e in enumerate(E(L))
        ] + [rate(f).subs(numbers) for f in chi]
        solved = sympy.solve(residual, [*a, *lam])
        start = dict(at)
        values = [da_motion(system, start)[s] for s in a]
        assert values == pytest.approx([float(solved[s]) for s in a], rel=1e-9)


def da_motion(system, at):
    """Accelerations at any state, on the constraints or not: the maps behind `evaluate`."""
    from dalembert.run.values import point_map
    from dalembert.theory.motion.state_maps import motion_map

    point = np.array([[*at.values(), 0.0]], dtype=float)
    found = point_map(motion_map(system))(point, np.zeros((1, 0)))[0][0]
    return dict(zip((q.ddot for q in system.coordinates), found, strict=False))


# -------------------- frames that suit the constraints --------------------


@pytest.mark.parametrize("constraint, kind, more", [
    (z.dot - y * x.dot, "Chaplygin", {}),
    (z.dot - y * x.dot, "Suslov", {"potential": k * z}),
    (z.dot - y * z * x.dot, "Suslov", {}),
    (z.dot - y * x.dot + x / 2, "Voronets", {}),
    (z.dot - y * x.dot + sin(da.time), "Voronets", {}),
    (sin(x) * z.dot - cos(x) * y.dot, "Boltzmann-Hamel", {}),
    (z.dot - x.dot * y.dot, "Chaplygin", {}),
    (z.dot - z * x.dot * y.dot, "Voronets", {"forces": {z: x.dot, y: 1}}),
    (z.dot - z * x.dot * y.dot + sin(da.time) * x, "Voronets", {"forces": {z: x.dot, y: 1}}),
])  # fmt: skip
def test_frames_are_chosen_and_have_the_same_motions(constraint, kind, more):
    """The reduced equations, solved for accelerations at a state, against those with multipliers."""
    system = particle(None, constraint, **more)
    form = da.hamel(system)
    assert form.kind == kind and len(form.reduced) == 2
    rng = np.random.default_rng(1)
    for _ in range(3):
        at = dict(zip((x, y, z, x.dot, y.dot), rng.uniform(0.2, 0.9, 5), strict=True)) | {da.time: 0.3}
        zdot = sympy.nsolve(constraint.subs({**at, **VALUES}), z.dot, 0.5)
        numbers = {**at, z.dot: zdot, **VALUES}
        ours = da.evaluate(system, at={**at, z.dot: float(zdot)}, parameters={p: VALUES[p] for p in system.parameters})
        numbers |= {c.ddot: a for c, a in ours.accelerations.items()}
        if hasattr(form, "velocities"):
            for u, e in form.velocities.items():
                rate = e.diff(da.time) + sum(e.diff(c) * c.dot + e.diff(c.dot) * c.ddot for c in (x, y, z))
                numbers |= {u: float(e.subs(numbers)), u.dot: float(rate.subs(numbers))}
        for e in form.reduced:
            left, right = (float(s.subs(numbers)) for s in e.args)
            assert left - right == pytest.approx(0, abs=1e-9)


def test_nonlinear_constraints_that_have_several_branches_are_refused():
    with pytest.raises(da.ModelError, match=r"were not solved for \w.dot in closed form on one branch"):
        da.hamel(particle(None, x.dot**2 + y.dot**2 + z.dot**2 - 1))


def test_the_disc_in_the_frame_of_the_books():
    form = da.hamel(da.gallery.load("rolling-disk").system)
    assert "(Chaplygin)" in str(form) and [str(u) for u in form.vanishing] == ["c_x", "c_y"]
    own = da.hamel(particle(None, z.dot - y * x.dot), {"u": x.dot + y.dot, "v": y.dot, "s": z.dot - y * x.dot})
    assert own.kind == "Boltzmann-Hamel" and da.hamel(particle(None, AFFINE), [x.dot, y.dot, AFFINE]).kind == "Voronets"
    free = da.System("free", [x, y], kinetic=x.dot**2 + y.dot**2)
    assert da.hamel(free).kind == "Lagrange"


def test_a_motion_ends_where_the_model_determines_no_accelerations():
    """Its matrix is d2L/dv2 - c d2chi/dv2 and becomes singular, where d'Alembert's motion from the same start goes on."""
    ends = {}
    for principle in (da.Upsilon(), da.DAlembert()):
        system = particle(principle, x.dot**2 + 2 * y.dot**2 + z.dot**2 - 1, potential=x * y + k * z)
        start = {x: 0.3, y: 0.2, z: 0, x.dot: 0.6, y.dot: -0.2, z.dot: 0.56**0.5}
        for method in (da.Reference(), da.RungeKutta4(), da.DormandPrince8()):
            run = run_of(system, method, start=start, h=0.01, steps=400, strict=False)
            ends[repr(principle), type(method).__name__] = int(np.isfinite(run.x).sum()) if not run.ok else None
    first = ends["Upsilon()", "Reference"]
    assert first is not None and first < 400
    for (principle, _), end in ends.items():
        assert (end is not None and abs(end - first) < 8) if principle == "Upsilon()" else end is None


def test_printed_equations_are_short_and_those_that_are_solved():
    """What reactions contain besides multipliers is printed by its factors, here and in the fields of the model."""
    for name in ("appell-device", "penny-on-incline", "knife-edge"):
        system = da.gallery.load(name).system.replace(principle=da.Upsilon())
        printed, fields = system.equations().lagrange, da.Upsilon().fields(system)
        assert max(len(str(e)) for e in printed) < 200 and len(str(fields)) < 6000
        residual = motion_residual(system)
        for mine, whole in zip(residual, printed, strict=False):
            assert vanishes(fast(whole.lhs - whole.rhs) - mine)


# -------------------- compare_models --------------------


def test_a_comparison_says_what_differs():
    compared = da.compare_models(particle(da.Upsilon()))  # the principle it was stated with is not looked at
    text = str(compared)
    assert text.count("others") >= 3 and "Upsilon, minimal: other accelerations, for example at x =" in text
    (minimal, commuting) = compared.agreements
    first = minimal.accelerations
    for system, values in zip((compared.models[n] for n in minimal.models), first, strict=True):
        assert [da_motion_at(system, minimal.at)[q.ddot] for q in (x, y, z)] == pytest.approx(list(values), rel=1e-9)
    assert commuting.holds is False and set(compared.equations) == set(compared.models)
    motions = compared.motions(start=START, parameters=VALUES, h=0.02, until=1, multipliers=[0.3])
    assert motions.multipliers == (0.3,) and motions.distance("Upsilon, minimal")[-1] > 1e-3
    assert set(motions.runs) == set(compared.models) and "vakonomic" in repr(motions)


@pytest.mark.parametrize("constraint, reason", [
    (z.dot - y * x.dot - x * y.dot, "derivatives of functions of position"),
    (y.dot - x.dot * z.dot**2, "E(chi) vanishes along the motions of d'Alembert and Chetaev, although not along every curve"),
    (z.dot - y * x.dot, "no part along the rows"),
])  # fmt: skip
def test_why_models_agree(constraint, reason):
    """Without forces the motions of a constraint in velocities alone are straight, and E(chi) contains accelerations."""
    compared = da.compare_models(particle(None, constraint, potential=0))
    assert [
        a.reason for a in compared.agreements if a.models[1] == "Upsilon, minimal" and a.holds and reason in a.reason
    ]


def da_motion_at(system, at):
    from dalembert.run.values import point_map
    from dalembert.theory.motion.state_maps import motion_map

    point = np.array([[*(at[s] for s in (*system.coordinates, *system.velocities)), 0.0]])
    rows = np.array([[at[p] for p in system.parameters]])
    found = point_map(motion_map(system))(point, rows)[0][0]
    return dict(zip((q.ddot for q in system.coordinates), found, strict=False))


def test_a_figure_of_all_models(tmp_path):
    disc = da.gallery.load("penny-on-incline")
    motions = da.compare_models(disc.system).motions(start=disc.start, parameters=disc.parameters, h=0.1, until=1)
    figure = motions.plot(tmp_path / "models.png")
    path, *panels = figure.axes
    assert len(path.lines) == 4 and len(panels) == 4 and (tmp_path / "models.png").stat().st_size > 10_000
    assert [line.get_label() for line in path.lines] == list(motions.runs)


def test_models_that_do_not_apply_are_listed():
    compared = da.compare_models(particle(None, x.dot**2 + y.dot**2 + z.dot**2 - 1))
    assert set(compared.refused) == {"Upsilon, minimal", "commuting velocities"} and "does not apply" in str(compared)
    massless = da.compare_models(da.gallery.load("heisenberg-geodesics").system).refused["Upsilon, minimal"]
    assert massless.startswith("its mass matrix d2L/dv2 is singular") and massless.endswith("completion=[...]).")


# -------------------- connect --------------------


@pytest.mark.parametrize("method", [da.Midpoint(), da.DormandPrince8()], ids=repr)
def test_two_points_of_a_thrown_ball(method):
    ball = da.System("ball", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * k * y)
    found = da.connect(
        ball, method, from_={x: 0, y: 0}, to={x: 2, y: 1}, time=1.5, steps=30, parameters=VALUES, tries=6
    )
    assert len(found.runs) == 1 and found.run.ok
    assert found.run[x.dot][0] == pytest.approx(2 / 1.5) and found.run[y.dot][0] == pytest.approx((1 + 0.9) / 1.5)


def test_several_motions_are_in_the_order_of_their_action():
    """On a sphere: arcs of a great circle, the short way, the long way, with more turns."""
    ball = da.System(
        "sphere", [x, y, z], kinetic=(x.dot**2 + y.dot**2 + z.dot**2) / 2, constraints=[x**2 + y**2 + z**2 - 1]
    )
    found = da.connect(ball, da.DormandPrince8(), from_={x: 1, y: 0, z: 0}, to={x: 0, y: 0.6, z: 0.8}, time=1, steps=60,
                       tries=24)  # fmt: skip
    assert len(found.runs) > 2 and list(found.actions) == sorted(found.actions)
    for run, action in zip(found.runs, found.actions, strict=True):
        turns = np.sqrt(2 * action) / (np.pi / 2)  # the arcs are 1, 3, 5, ... quarters
        assert turns == pytest.approx(round(turns), rel=1e-3) and round(turns) % 2 == 1
        assert [run[q][-1] for q in (x, y, z)] == pytest.approx([0, 0.6, 0.8], abs=1e-9)
    assert found.actions[0] == pytest.approx(np.pi**2 / 8, rel=1e-4)
    assert f"{len(found.runs)} motions found in 24 tries" in found.status


def test_none_found_is_said():
    """A motion that would have to leave the domain."""
    far = da.System("well", [x], kinetic=x.dot**2 / 2, potential=1 / (1 - x**2))
    found = da.connect(far, da.Midpoint(), from_={x: 0}, to={x: 3}, time=1, steps=20, tries=4)
    assert not found.found and "no motion of 'well'" in found.status and "That proves nothing" in found.status
    with pytest.raises(da.StartError, match="connect: no motion of 'well'"):
        _ = found.run


def test_a_start_to_begin_from():
    group = da.gallery.load("heisenberg-geodesics").system
    near = {x.dot: 1, group.multipliers[0]: 1}
    ends = {"from_": {x: 0, y: 0, z: 0}, "to": {x: 1, y: 0.5, z: 0.3}}
    found = da.connect(group, da.Midpoint(), **ends, time=2, steps=40, near=near)
    every = da.connect(group, da.Midpoint(), **ends, time=2, steps=40, tries=12)
    assert found.tried == 1 and found.actions[0] == pytest.approx(every.actions[0], rel=1e-9)
    assert every.run[group.multipliers[0]][0] == pytest.approx(found.run[group.multipliers[0]][0], rel=1e-7)


HEISENBERG = da.gallery.load("heisenberg-geodesics").system
NOWHERE = dict.fromkeys(HEISENBERG.coordinates, 0)


def test_rest_is_one_motion_whatever_its_multiplier_is():
    """From a point to itself: the multiplier at rest is any number, and starts near rest come back to the second order."""
    found = da.connect(HEISENBERG, da.Midpoint(), from_=NOWHERE, to=NOWHERE, time=1, steps=20, tries=24)
    assert len(found.runs) == 1
    assert abs(found.actions[0]) < 1e-12


def test_connections_converge_with_the_order_of_the_method():
    X, Y, Z = HEISENBERG.coordinates
    there = {X: 1, Y: 0, Z: 0.3}

    def action(method, steps):
        return da.connect(HEISENBERG, method, from_=NOWHERE, to=there, time=1, steps=steps, tries=12).actions[0]

    exact = action(da.DormandPrince8(), 100)
    errors = [abs(action(da.Midpoint(), steps) - exact) for steps in (20, 40)]
    assert 3.6 < errors[0] / errors[1] < 4.4


@pytest.mark.parametrize("options, message", [
    ({"near": [1]}, "near=[1]. Expected velocities"),
    ({"near": {HEISENBERG.velocities[0]: "a"}}, "near of x.dot = 'a'"),
    ({"near": {HEISENBERG.velocities[0]: float("nan")}}, "near of x.dot = nan"),
    ({"from_": {**NOWHERE, da.time: "a"}}, "from_ of time = 'a'"),
])  # fmt: skip
def test_connections_refuse_what_is_no_number(options, message):
    given = {"from_": NOWHERE, "to": NOWHERE, "time": 1, **options}
    with pytest.raises(da.StartError) as error:
        da.connect(HEISENBERG, da.Midpoint(), **given)
    assert message in str(error.value)


def test_a_constraint_on_positions_beside_one_on_velocities():
    """A further coordinate that is held at zero changes nothing, whatever holds the others."""
    a, b, c, w = da.coordinates("a b c w")
    kinetic, form = (a.dot**2 + 2 * b.dot**2 + 3 * c.dot**2) / 2, c.dot - b * a.dot + a / 2
    plain = da.System("plain", [a, b, c], kinetic=kinetic, potential=a**2, constraints=[form], principle=da.Upsilon())
    held = da.System(
        "held", [a, b, c, w], kinetic=kinetic + w.dot**2, potential=a**2, constraints=[form, w], principle=da.Upsilon()
    )
    at = {a: 0.3, b: 0.7, c: -0.2, a.dot: 0.4, b.dot: 0.9}
    one, other = da.evaluate(plain, at=at), da.evaluate(held, at=at | {w: 0.0})
    found, expected = ([e.accelerations[q] for q in (a, b, c)] for e in (other, one))
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert other.accelerations[w] == pytest.approx(0, abs=1e-15)
    ideal = da.evaluate(plain.replace(principle=da.DAlembert()), at=at).accelerations  # the control
    assert abs(ideal[a] - one.accelerations[a]) > 1e-3
