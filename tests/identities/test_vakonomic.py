"""Vakonomic systems through every public function: starts, lanes, continuation, events, files, audit, refusals."""

import warnings

import numpy as np
import pytest

import dalembert as da
from dalembert import cos, sin
from dalembert.symbolic import fast

x, y, z, theta, phi = da.coordinates("x y z theta phi")
m, k = da.parameters("m k", positive=True)
VALUES = {m: 1.3, k: 0.8}
KINETIC = m * (x.dot**2 + y.dot**2 + z.dot**2) / 2


def particle(principle=None, constraint=z.dot - y * x.dot, potential=k * (x**2 + 2 * y**2 + z**2) / 2, **more):
    made = da.Vakonomic() if principle is None else principle
    return da.System(
        "particle", [x, y, z], kinetic=KINETIC, potential=potential, constraints=[constraint], principle=made, **more
    )


VAKO = particle()
mu = VAKO.multipliers[0]
PLACE = {x: 0.3, y: 0.5, z: -0.2, x.dot: 0.7, y.dot: -0.4}
START = {**PLACE, mu: 0.6}
METHODS = [da.Midpoint(), da.Trapezoidal(), da.Composition(da.Midpoint(), 4), da.RungeKutta4()]
EVENTS = [da.Event(y, {x.dot: -x.dot / 2, mu: mu + 1}, name="kick"), da.Event(mu - 0.8, name="level")]


def run_of(method, steps=120, start=START, system=VAKO, **more):
    return da.simulate(
        system, method, h=0.02, steps=steps, start=start, parameters={p: VALUES[p] for p in system.parameters}, **more
    )


def same(first, second):
    names = ["position", "velocity", "multiplier", "momentum"]
    return all(np.array_equal(first.table(n), second.table(n)) for n in names)


# -------------------- bits --------------------


@pytest.mark.parametrize("events", [(), EVENTS], ids=["free", "events"])
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_lanes_continuation_and_files_have_the_same_bits(method, events, tmp_path):
    whole = run_of(method, events=events)
    lanes = run_of(method, start={**START, mu: [0.1, 0.6]}, events=events)
    assert np.array_equal(lanes.multipliers[1], whole.multipliers) and np.array_equal(lanes.x[1], whole.x)
    assert not np.allclose(lanes.x[0], whole.x)
    half = run_of(method, steps=60, events=events)
    loaded = da.load(half.save(tmp_path / "half.nc"))
    assert loaded.system == VAKO and same(loaded, half) and loaded.events == half.events
    for earlier in (half, loaded):
        rest = run_of(method, steps=60, start=earlier, events=events)
        for name in ("position", "velocity", "multiplier"):
            assert np.array_equal(rest.table(name), whole.table(name)[:, 60:])
    thin = run_of(method, every=4, events=events)
    assert np.array_equal(thin.multipliers, whole.multipliers[::4])


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_an_action_keeps_or_changes_multipliers(method):
    whole = run_of(method, events=EVENTS)
    level, kick = whole.events[:2]
    assert (level.name, kick.name) == ("level", "kick") and level.multipliers["multiplier.1"] == pytest.approx(0.8)
    before = kick.start
    assert before["multiplier.1"] == kick.multipliers["multiplier.1"]
    after = {**before, "x.dot": -before["x.dot"] / 2, "z.dot": -before["z.dot"] / 2}
    moved = run_of(da.Reference(), steps=1, start={**after, "multiplier.1": before["multiplier.1"] + 1})
    kept = run_of(da.Reference(), steps=1, start=after)
    node = kick.step + 1
    part = whole.time[node] - kick.time
    here = [np.interp(part, [0, 0.02], r.multipliers[:, 0]) for r in (moved, kept)]
    assert whole.multipliers[node, 0] == pytest.approx(here[0], abs=1e-3)
    silent = run_of(method, events=[da.Event(y, {x.dot: -x.dot / 2}, name="kick")])
    assert silent.multipliers[node, 0] == pytest.approx(here[1], abs=1e-3)


def test_an_event_that_stops_records_the_multiplier_there():
    run = run_of(da.Midpoint(), events=[da.Event(y, "stop")])
    assert run.multipliers[-1, 0] == pytest.approx(run.events[-1].multipliers["multiplier.1"], rel=1e-12)
    again = run_of(da.Midpoint(), steps=1, start=run.events[-1].start)
    assert again.multipliers[0, 0] == pytest.approx(run.multipliers[-1, 0], rel=1e-12)


def test_a_run_shows_its_multipliers(tmp_path):
    run = run_of(da.Midpoint())
    assert np.array_equal(run[mu], run.multipliers[:, 0]) and np.array_equal(run.quantity(mu), run[mu])
    assert run.multipliers[0, 0] == pytest.approx(0.6, rel=1e-14)
    assert np.array_equal(run.dataset["multipliers"].values, run.multipliers)
    run.plot(tmp_path / "run.png")
    momenta = {q.momentum: float(run[q.momentum][0]) for q in (x, y, z)}
    by_momenta = run_of(da.Midpoint(), start={x: 0.3, y: 0.5, z: -0.2, **momenta, mu: 0.6})
    assert by_momenta.x == pytest.approx(run.x, rel=1e-12)
    assert np.allclose(run[x.momentum], VALUES[m] * run[x.dot], rtol=1e-12)  # dL/dv, without the multiplier


# -------------------- structure --------------------


def cyclic(principle):
    J = da.parameters("J", positive=True)
    kinetic = m * (x.dot**2 + y.dot**2) / 2 + J * (theta.dot**2 + phi.dot**2) / 2
    rolls = [x.dot - k * cos(phi) * theta.dot, y.dot - k * sin(phi) * theta.dot]
    return da.System("disc", [x, y, theta, phi], kinetic=kinetic, constraints=rolls, principle=principle)


DISC = cyclic(da.Vakonomic())
DISC_VALUES = {**VALUES, "J": 0.7}
ROLLING = {x: 0, y: 0, theta: 0, phi: 0.4, theta.dot: 1.4, phi.dot: 0.9}
TURNED = {**ROLLING, DISC.multipliers[0]: 0.3, DISC.multipliers[1]: -0.2}


@pytest.mark.parametrize("method", METHODS[:3], ids=repr)
def test_variational_steps_are_symplectic_on_the_extended_phase_space(method):
    """(q, p) with p = dL/dv + mu dchi/dv: no constraint is left there. Under d'Alembert's principle they are not."""
    step = da.flow(DISC, method, h=0.1, start=TURNED, parameters=DISC_VALUES)
    assert step.symplectic_defect < 1e-13
    ideal = da.flow(cyclic(None), method, h=0.1, start=ROLLING, parameters=DISC_VALUES)
    assert ideal.symplectic_defect > 1e-3
    back = da.flow(DISC, method, h=0.1, start=TURNED, parameters=DISC_VALUES, backward=True)
    assert back.symplectic_defect < 1e-13


def verdicts(run):
    return {row.quantity: row for row in da.audit(run, seconds=0).rows}


def test_the_audit_knows_what_is_conserved():
    """Momenta of L + mu chi and the energy, for Midpoint; RungeKutta4 keeps some of them only approximately."""
    run = da.simulate(DISC, da.Midpoint(), h=0.05, steps=400, start=TURNED, parameters=DISC_VALUES)
    rows = verdicts(run)
    names = [f"momentum of {q} with multipliers" for q in (x, y, theta)]
    assert all(rows[n].theory == "conserved" and rows[n].verdict == "kept to rounding" for n in names)
    assert f"momentum of {phi} with multipliers" not in rows and "momentum of phi" not in rows
    assert rows["energy"].theory == "conserved" and rows["energy"].verdict == "no drift"
    loose = verdicts(da.simulate(DISC, da.RungeKutta4(), h=0.05, steps=400, start=TURNED, parameters=DISC_VALUES))
    assert loose[names[2]].verdict != "kept to rounding"
    ideal = verdicts(da.simulate(cyclic(None), da.Midpoint(), h=0.05, steps=400, start=ROLLING, parameters=DISC_VALUES))
    assert not any("with multipliers" in name for name in ideal) and "momentum of x" not in ideal


def test_the_audit_of_affine_moving_and_forced_systems():
    affine = particle(constraint=z.dot - y * x.dot + x / 2, potential=0)
    run = da.simulate(affine, da.DormandPrince8(), h=0.02, steps=100, start=START, parameters={m: 1.3})
    rows = verdicts(run)
    assert rows["energy with multipliers"].theory == "conserved" and rows["energy with multipliers"].deviation < 1e-12
    assert np.ptp(run.energy) > 1e-2
    moving = particle(constraint=z.dot - y * x.dot + sin(da.time) * x)
    row = verdicts(run_of(da.DormandPrince8(), system=moving))["energy with multipliers"]
    assert row.theory == "not conserved" and row.deviation > 1e-3
    forced = particle(dissipation=x.dot**2 / 5)
    row = verdicts(run_of(da.Midpoint(), system=forced))["energy"]
    assert row.theory == "not conserved" and row.deviation > 1e-2
    pushed = particle(potential=0, forces={z: 1})
    assert not any("momentum of z" in name for name in verdicts(run_of(da.Midpoint(), system=pushed)))


def test_forces_are_added_to_the_right_side():
    at = {**START, z.dot: 0.35}
    plain, forced = (da.evaluate(s, at=at, parameters=VALUES) for s in (VAKO, particle(forces={x: 0.5, z: x})))
    matrix = np.array([[1.3, 0, 0, -0.5], [0, 1.3, 0, 0], [0, 0, 1.3, 1], [-0.5, 0, 1, 0]])
    more = np.linalg.solve(matrix, [0.5, 0, 0.3, 0])
    change = [forced.accelerations[q] - plain.accelerations[q] for q in (x, y, z)]
    assert [*change, forced.multiplier_rates[mu] - plain.multiplier_rates[mu]] == pytest.approx(list(more))


def test_holonomic_constraints_act_as_d_alembert_says():
    """The same equations, nothing in the state, nothing refused; a constraint on velocities that can be integrated too."""
    hanging = {"kinetic": m * (x.dot**2 + y.dot**2) / 2, "potential": m * k * y, "constraints": [x**2 + y**2 - 1]}
    ideal, vako = (da.System("pendulum", [x, y], **hanging, principle=p) for p in (None, da.Vakonomic()))
    start = {x: 0.6, y: -0.8, x.dot: 0.4, y.dot: 0.3}
    runs = [run_of(da.Midpoint(), start=start, system=s) for s in (ideal, vako)]
    assert same(*runs) and vako.is_ideal and str(vako.equations()) == str(ideal.equations())
    assert str(da.reactions(vako)) == str(da.reactions(ideal))
    integrable = z.dot - y * x.dot - x * y.dot
    first = run_of(da.DormandPrince8(), start=PLACE, system=particle(da.DAlembert(), integrable))
    second = run_of(da.DormandPrince8(), system=particle(constraint=integrable))
    assert np.abs(first.table("position") - second.table("position")).max() < 1e-12
    rate = np.gradient(second.multipliers[:, 0], 0.02)  # the reaction is -mu' dchi/dv
    assert np.abs(rate + first.multipliers[:, 0])[1:-1].max() < 1e-2 * np.abs(rate).max()
    other = run_of(da.DormandPrince8(), start=PLACE, system=particle(da.DAlembert()))
    assert np.abs(other.y - run_of(da.DormandPrince8()).y).max() > 1e-2


def test_rotations():
    """Sub-Riemannian geodesics of the rotations: the angular momentum in space, multiplier included, is conserved."""
    Q = da.rotation("Q")
    w = Q.omega
    body = da.System("Suslov", [Q], kinetic=(w[0]**2 + 2 * w[1]**2 + 3 * w[2]**2) / 2, constraints=[w[2] + w[0] / 3],
                     principle=da.Vakonomic())  # fmt: skip
    start = {Q: np.eye(3), w: (0.6, 0.4, -0.2), body.multipliers[0]: 0.3}
    runs = [
        da.simulate(body, method, h=0.02, steps=100, start=start)
        for method in (da.Midpoint(), da.RungeKutta4(), da.Reference())
    ]
    ends = [np.append(r[Q][-1].ravel(), r.multipliers[-1]) for r in runs]
    assert np.abs(ends[0] - ends[2]).max() < 5e-4 and np.abs(ends[1] - ends[2]).max() < 1e-8
    names = [n for n in verdicts(runs[0]) if "angular momentum" in n]
    assert len(names) == 3 and all(verdicts(runs[0])[n].verdict == "kept to rounding" for n in names)
    ideal = da.simulate(
        body.replace(principle=None), da.Reference(), h=0.02, steps=100, start={Q: np.eye(3), w: (0.6, 0.4, -0.2)}
    )
    assert np.abs(ideal[Q][-1].ravel() - ends[2][:9]).max() > 1e-2


# -------------------- discrete systems --------------------

DISCRETE = da.discretise(VAKO, da.Midpoint())
PAIR = {x.at(0): 0.3, y.at(0): 0.5, z.at(0): -0.2, x.at(1): 0.33, y.at(1): 0.48, z.at(1): -0.2 + 0.49 * 0.03}


def test_two_positions_and_the_multiplier_of_their_step(tmp_path):
    run = da.simulate(DISCRETE, h=0.05, steps=10, start={**PAIR, mu: 0.6}, parameters=VALUES)
    assert run.multipliers[0, 0] == pytest.approx(0.6, rel=1e-12) and run.x[1] == pytest.approx(0.33, rel=1e-12)
    other = da.simulate(VAKO, da.Midpoint(), h=0.05, steps=10, start={**PAIR, mu: 0.6}, parameters=VALUES)
    assert np.array_equal(other.x, run.x)
    loaded = da.load(run.save(tmp_path / "discrete.nc"))
    assert loaded.system == DISCRETE
    rest = da.simulate(loaded.system, h=0.05, steps=5, start=loaded)
    whole = da.simulate(DISCRETE, h=0.05, steps=15, start={**PAIR, mu: 0.6}, parameters=VALUES)
    assert np.array_equal(rest.x, whole.x[10:])
    assert all(row.verdict == "kept to rounding" for row in da.audit(run).rows)


def test_discrete_equations_show_the_multiplier_of_each_step():
    """The balance at node k has those of both steps: it holds along a run, and not with one of them in both places."""
    run = da.simulate(DISCRETE, h=0.05, steps=10, start={**PAIR, mu: 0.6}, parameters=VALUES)
    values = {"m": 1.3, "k": 0.8, "step.h": 0.05}
    for j, index in enumerate(("k-1", "k", "k+1"), start=3):
        values |= {f"{q}[{index}]": run[q][j] for q in (x, y, z)} | {f"lambda_1[{index}]": run.multipliers[j, 0]}
    for e in DISCRETE.equations().lagrange:
        left = e.lhs - e.rhs
        at = {s: values[s.name] for s in left.free_symbols}
        terms = max(abs(float(t.subs(at))) for t in left.as_ordered_terms())
        assert abs(float(left.subs(at))) < 1e-12 * terms
    first = DISCRETE.equations().lagrange[0].lhs
    wrong = {s: values[s.name.replace("lambda_1[k-1]", "lambda_1[k]")] for s in first.free_symbols}
    assert abs(float(first.subs(wrong))) > 1e-3


# -------------------- a principle of one's own --------------------


class Halved(da.Vakonomic):
    """L + (mu/2) chi: the same motions, with multipliers twice as large."""

    def lagrangian(self, system):
        return system.lagrangian + (super().lagrangian(system) - system.lagrangian) / 2

    def reaction(self, system, multipliers=None, at=fast):
        return [r / 2 for r in super().reaction(system, multipliers, at)]


@pytest.mark.parametrize("method", [*METHODS, da.Reference()], ids=repr)
def test_a_principle_of_ones_own_with_multipliers_in_the_state(method):
    mine, known = run_of(method, start={**PLACE, mu: 1.2}, system=particle(Halved())), run_of(method)
    assert np.abs(mine.table("position") - known.table("position")).max() < 1e-9
    assert np.abs(mine.multipliers - 2 * known.multipliers).max() < 1e-9
    assert verdicts(mine)["energy"].theory == "conserved"


class Leaking(da.Vakonomic):
    """A reaction that does not follow from the principle's function: nothing is claimed to be conserved."""

    def reaction(self, system, multipliers=None, at=fast):
        return [r * 2 for r in super().reaction(system, multipliers, at)]


def test_nothing_is_claimed_of_a_reaction_that_no_function_gives():
    heavy = particle(Leaking(), potential=0)
    rows = verdicts(run_of(da.RungeKutta4(), system=heavy, steps=20))
    assert rows["energy"].theory == "not conserved" and not any("momentum" in name for name in rows)
    rows = verdicts(run_of(da.RungeKutta4(), system=particle(potential=0), steps=20))
    assert rows["energy"].theory == "conserved" and rows["momentum of z with multipliers"].theory == "conserved"


def test_files_refuse_a_principle_of_ones_own(tmp_path):
    run = run_of(da.Midpoint(), start={**PLACE, mu: 1.2}, system=particle(Halved()))
    assert run.dataset["multipliers"].shape == (121, 1)
    with pytest.raises(da.ModelError) as refused:
        run.save(tmp_path / "run.nc")
    expected = "the principle Halved() cannot be saved. Files hold DAlembert, GivenVariations, Vakonomic, Upsilon."
    assert str(refused.value) == expected and not list(tmp_path.iterdir())


# -------------------- messages --------------------

MOMENTA = {x: 0, y: 0, z: 0, x.momentum: 1, y.momentum: 0, z.momentum: 1}
FOLLOWS = (
    "start: lambda_1 is given, and it follows from the rest of the start here. Leave it out; "
    "run.multipliers has its values."
)


@pytest.mark.parametrize("act, message", [
    (lambda: run_of(da.Midpoint(), start=PLACE),
     "start: no value for lambda_1, a multiplier that is part of the state. Add start={system.multipliers[0]: ...}."),
    (lambda: da.simulate(DISC, da.Midpoint(), h=0.1, steps=1, start=ROLLING, parameters=DISC_VALUES),
     "start: no value for lambda_1, lambda_2, multipliers that are part of the state. "
     "Add start={system.multipliers[0]: ..., system.multipliers[1]: ...}."),
    (lambda: run_of(da.Midpoint(), system=particle(da.DAlembert())),
     FOLLOWS),
    (lambda: da.simulate(DISCRETE, h=0.1, steps=1, start={**MOMENTA, mu: 2}, parameters=VALUES),
     FOLLOWS),
    (lambda: da.simulate(DISCRETE, h=0.05, steps=1, start=PAIR, parameters=VALUES),
     "start: no value for lambda_1, a multiplier that is part of the state. Add start={system.multipliers[0]: ...}."),
    (lambda: run_of(da.Midpoint(), events=[da.Event(y, {k: 1})]),
     "event: the action changes k. Expected one of the symbols x, y, z, x.dot, y.dot, z.dot, system.multipliers[0], "
     "without quotes."),
    (lambda: particle(entropies=[S := da.entropies("S")], internal_energy=da.exp(S)),
     "principle: Vakonomic() does not apply to 'particle': it has entropies. State it without them, or leave out principle=."),
    (lambda: da.System("particle", [x], kinetic=x.dot**2, principle=da.Vakonomic),
     "principle: got Vakonomic, a class. Write Vakonomic(), with parentheses."),
])  # fmt: skip
def test_messages(act, message):
    with pytest.raises(da.DalembertError) as refused:
        act()
    assert str(refused.value) == message


RUN = run_of(da.Midpoint(), steps=40)
QUESTIONS = {
    "first_integrals": da.first_integrals,
    "noether": lambda s: da.noether(s, {x: 1}),
    "reactions": da.reactions,
    "impose": lambda s: da.impose(s, [x - sin(da.time)]),
    "contact_report": lambda s: da.contact_report(RUN, {"push": 1}),
    "equilibria": lambda s: da.equilibria(s, parameters=VALUES),
    "normal_modes": lambda s: da.normal_modes(s, at={x: 0, y: 0, z: 0}, parameters=VALUES),
    "linearise": lambda s: da.linearise(s, about={x: 0, y: 0, z: 0}),
    "structure": da.structure,
    "routh": lambda s: da.routh(s, x),
    "hamilton": da.hamilton,
    "hamel": lambda s: da.hamel(s, velocities=[x.dot, y.dot, z.dot - y * x.dot]),
    "change_coordinates": lambda s: da.change_coordinates(s, {x: da.coordinates("u"), y: y, z: z}),
    "gauge_function": lambda s: da.gauge_function(s, s),
    "hamilton_principle": lambda s: da.hamilton_principle(RUN),
    "energy_balance": da.energy_balance,
    "contraction": lambda s: da.contraction(RUN),
    "regularity": lambda s: da.regularity(RUN),
    "momentum_map": lambda s: da.momentum_map(DISCRETE, {x: 1}),
    "nonholonomic_momentum": lambda s: da.nonholonomic_momentum(DISCRETE, {x: 1}),
    "exact_discrete_lagrangian": da.exact_discrete_lagrangian,
    "order_of": lambda s: da.order_of(DISCRETE, start=START, parameters=VALUES),
    "modified_equation": lambda s: da.modified_equation(s, da.Midpoint(), 2),
    "modified_hamiltonian": lambda s: da.modified_hamiltonian(s, da.Midpoint(), 2),
}


@pytest.mark.parametrize("role", QUESTIONS)
def test_questions_that_suppose_reactions_by_forms_refuse(role):
    with pytest.raises(da.ModelError) as refused:
        QUESTIONS[role](VAKO)
    text = str(refused.value)
    assert (
        text.startswith(f"{role}: the reactions of 'particle")
        and "follow from Vakonomic(). Expected multipliers" in text
    )


def test_questions_that_take_it():
    existing = da.existence(RUN)
    longer = run_of(da.Midpoint(), steps=41)
    assert f"{longer.x[-1]:.9g}"[:9] in str(existing)
    table = da.convergence(
        VAKO, [da.Midpoint(), da.RungeKutta4()], [0.1, 0.05], until=1, start=START, parameters=VALUES
    )
    assert [line.orders["q"] for line in table.lines] == pytest.approx([2, 4], abs=0.2)
    assert not da.classify(VAKO).is_ideal and da.classify(particle(da.DAlembert())).is_ideal
    assert da.tangents(RUN).intervals.shape[-2:] == (6, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (
            da.bodies.compose("both", VAKO, da.System("free", [theta], kinetic=theta.dot**2)).principle
            == da.Vakonomic()
        )


@pytest.mark.parametrize("method", [da.Midpoint(), da.Trapezoidal()], ids=repr)
def test_existence_takes_the_multipliers(method):
    """The step that is proved to exist is the one that is computed; the multiplier of the start matters."""
    ends = []
    for given in (0.6, -3.0):
        step = da.existence(VAKO, method, at={**START, mu: given}, h=0.02, parameters=VALUES)
        run = run_of(method, steps=1, start={**START, mu: given})
        near = [
            s
            for s in step.steps
            if all(s.enclosure[q][0] - 1e-9 <= run[q][-1] <= s.enclosure[q][1] + 1e-9 for q in (x, y, z))
        ]
        assert step.verdict == "exists" and len(near) == 1
        ends.append(run[y][-1])
    assert abs(ends[0] - ends[1]) > 1e-6
    with pytest.raises(da.StartError, match=r"system.multipliers\[0\]"):
        da.existence(VAKO, method, at=PLACE, h=0.02, parameters=VALUES)


@pytest.mark.parametrize("value", [-3.0, 0.0, 8.0])
def test_multipliers_of_the_start_lead_to_the_branch_of_the_motion(value):
    """Nonlinear constraints: the equations of a step, and p = d(L + mu chi)/dv, have folds between multipliers."""
    bent = VAKO.replace(constraints=[z.dot - y.dot**3 + x * y.dot])
    start = {x: 0.6, y: 0.5, z: 0.1, x.dot: 0.6, y.dot: 0.8, mu: value}
    runs = [run_of(m, 40, start, bent) for m in (da.Midpoint(), da.DormandPrince8())]
    for name in ("position", "velocity", "multiplier"):
        assert np.abs(runs[0].table(name) - runs[1].table(name)).max() < 0.01
    assert da.flow(bent, da.Midpoint(), h=0.02, start=start, parameters=VALUES).symplectic_defect < 1e-12


def test_the_action_of_a_motion_that_was_connected_is_the_integral():
    """A throw up and down in the time one: the integral of v^2/2 - g x is -g^2/24, of a quadratic function of time."""
    height = da.coordinates("height")
    thrown = da.System("thrown", [height], kinetic=height.dot**2 / 2, potential=3 * height)
    found = da.connect(thrown, da.Gauss(2), from_={height: 0}, to={height: 0}, time=1, steps=10, tries=4)
    assert found.actions == pytest.approx([-9 / 24], abs=1e-12)
    plain = np.trapezoid(found.run[height.dot] ** 2 / 2 - 3 * found.run[height], found.run.time)  # the control
    assert abs(plain + 9 / 24) > 1e-3


def test_of_several_motions_between_two_places_that_of_least_action_is_first():
    """Round a circle the short way and the long ways."""
    a, b = da.coordinates("a b")
    ring = da.System("ring", [a, b], kinetic=(a.dot**2 + b.dot**2) / 2, constraints=[a**2 + b**2 - 1])
    ends = {"from_": {a: 1, b: 0}, "to": {a: 0, b: 1}}
    found = da.connect(ring, da.DormandPrince8(), **ends, time=1, steps=40, tries=12, seed=1)
    turns = np.array([np.pi / 2, 3 * np.pi / 2])
    assert list(found.actions) == sorted(found.actions)
    np.testing.assert_allclose(found.actions[:2], turns**2 / 2, rtol=1e-6)
