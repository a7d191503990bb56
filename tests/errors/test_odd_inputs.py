"""Odd numbers, statements and bodies are taken for what they are, or refused in words: never another exception."""

from __future__ import annotations

import random
import sys
import types
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import DalembertError, ModelError, StartError
from dalembert import bodies as b
from dalembert.decide.budget import Budget
from dalembert.theory.constraints import verdicts

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
import attack_inputs

x, y, z, theta, r = da.coordinates("x y z theta r")
m, k, g, l = da.parameters("m k g l", positive=True)
SPRING = da.System("spring", [x], kinetic=m * x.dot**2 / 2, potential=k * x**2 / 2)


def run(method=None, **given):
    options = {
        "h": 0.01,
        "steps": 3,
        "start": {x: 0.5, x.dot: 0},
        "parameters": {m: 1, k: 1},
        "progress": False,
        **given,
    }
    return da.simulate(SPRING, method or da.Midpoint(), **options)


# Numbers

REFUSED = [
    np.ma.array([0.5, 0.25], mask=[False, True]), np.array(["0.5", "1"]), "0.5", np.array(["2020"], dtype="M8[Y]"),
    np.timedelta64(3, "s"), 0.5 + 0j, np.array([0.5 + 0j]), True, np.array([True]), [0.5, True], 2**2000, [2**2000, 1],
    10**5000,    np.array([2**2000, 1], dtype=object), Decimal("1e400"), Decimal("sNaN"), sympy.true, sympy.Integer(10) ** 400,
    np.longdouble("1e4000"), np.zeros(2, dtype=[("a", float)]), {0.5}, [[0.5, 1], [2]], object(), np.array([None, 1]),
    attack_inputs._Quantity(),
]  # fmt: skip

ACCEPTED = [
    (np.array([0.5, 0.25], dtype=">f8"), [0.5, 0.25]), (np.array([0.5, 0.25], dtype="f2"), [0.5, 0.25]),
    (np.array([Fraction(1, 2), 1], dtype=object), [0.5, 1]), (np.ma.array([0.5, 0.25]), [0.5, 0.25]), (Fraction(1, 2), 0.5),
    (Decimal("0.5"), 0.5), (np.array([1, 2], dtype=">i4"), [1, 2]), (np.longdouble(0.5), 0.5), (sympy.Rational(1, 2), 0.5),
    ([sympy.pi, 1], [np.pi, 1]), (2**63, 2.0**63), (np.array(0.5), 0.5),
]  # fmt: skip


@pytest.mark.parametrize("given", REFUSED, ids=range(len(REFUSED)))
@pytest.mark.parametrize("door", ["start", "parameters", "h"])
def test_what_is_no_number_is_refused(given, door):
    calls = {
        "start": lambda: run(start={x: given, x.dot: 0}),
        "parameters": lambda: run(parameters={m: given, k: 1}),
        "h": lambda: run(h=given),
    }
    with pytest.raises(DalembertError) as error:
        calls[door]()
    assert len(str(error.value)) < 500


@pytest.mark.parametrize(("given", "value"), ACCEPTED, ids=range(len(ACCEPTED)))
def test_what_is_a_number_is_taken_for_it(given, value):
    found = run(start={x: given, x.dot: 0}, strict=False)[x][..., 0]
    assert np.array_equal(found, value)


@pytest.mark.parametrize("method", [da.Reference(), da.Midpoint(), da.RungeKutta4()], ids=repr)
@pytest.mark.parametrize("lost", [np.nan, np.inf])
@pytest.mark.parametrize("which", [x, x.dot], ids=str)
def test_lanes_that_are_not_finite_end_alone(method, lost, which):
    found = run(method, start={x: 0, x.dot: 0, which: [0.5, lost]}, strict=False)
    assert found.status[0] == da.Status.CONVERGED
    assert found.status[1] == da.Status.NOT_FINITE
    assert np.isfinite(found.x[0]).all()


@pytest.mark.parametrize(
    "count", [-1, 2.0, True, "3", 2**63, 2**2000, np.timedelta64(3), None, [3], np.array([3])], ids=str
)
def test_counts(count):
    for name in ("steps", "every") if count is not None else ("steps",):  # every=None is the default
        with pytest.raises(DalembertError):
            run(**{"steps": 3, name: count, "until": None} if name == "every" else {name: count})
    with pytest.raises(DalembertError):
        da.Gauss(count)


def test_an_attack_with_numbers():
    found = attack_inputs.odd_numbers(120, seed=11)
    assert found["tried"] == 120
    assert found["wrong"] == found["crashed"] == found["hung"] == 0
    assert found["accepted"] > 5


def test_the_attack_notices_what_is_wrong():
    """A door that takes everything for 1 is found out; and so is one that raises something else."""
    gullible = {"gullible": ("one", lambda _: 1.0)}
    cases = [attack_inputs._number_case(gullible, random.Random(k))[1]() for k in range(60)]
    assert cases.count("wrong") > 20

    def crashing(given):
        return float(given) + len(given)

    with pytest.raises((TypeError, ValueError)):
        for k in range(60):
            attack_inputs._number_case({"crashing": ("one", crashing)}, random.Random(k))[1]()


def test_states_and_balances_take_the_same_numbers():
    bob = b.Particle(m, [x, 0])
    balance = b.assemble("bob", [x], bodies=[bob], loads=[b.Force([k, 0], bob)]).newton_euler()
    assert balance.solve({x: Fraction(1, 2), x.dot: 0}, {m: 2, k: 1}).accelerations[x] == 0.5
    for given in ("1", 1j, [1, 2], None, 2**2000):
        with pytest.raises(StartError):
            balance.solve({x: given, x.dot: 0}, {m: 2, k: 1})
        with pytest.raises(DalembertError):
            da.linearise(SPRING, about={x: 0}, parameters={m: 1, k: given})
        with pytest.raises(DalembertError):
            da.equilibria(SPRING, box={x: (-1, given)}, parameters={m: 1, k: 1})


# Sizes


def nested(levels):
    e = x
    for _ in range(levels):
        e = sympy.sin(e, evaluate=False)
    return e


def stated(potential):
    return da.System("s", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=potential)


def doubled(levels):
    e = x
    for _ in range(levels):
        e = sympy.Mul(sympy.sin(e), sympy.cos(e), evaluate=False)
    return e


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda: nested(10_000), "10001 functions within one another"),
        (lambda: doubled(90), "terms and factors"),
        (
            lambda: sympy.Add(*(x**j * y**i for i in range(450) for j in range(450)), evaluate=False),
            "terms and factors",
        ),
        (lambda: sympy.Mul(sympy.Pow(10, 10**10, evaluate=False), x, evaluate=False), "exponent 10000000000"),
        (lambda: sympy.Integer(10) ** 400 * x, "1e400"),
        (lambda: sympy.Float("1e400") * x, "beyond all doubles"),
        (lambda: sympy.Rational(1, 10**400) * x, "1e-400"),
    ],
)
def test_what_is_too_large_is_refused_with_its_size(given, words):
    with pytest.raises(ModelError, match=words):
        stated(given())


def test_what_is_large_is_not_refused():
    assert stated(nested(60)).parameters == ()
    assert stated(sympy.Rational(10**400, 10**400 + 7) * x).parameters == ()
    assert stated(sympy.Add(*(da.cos(j * x) / j for j in range(1, 400)))).parameters == ()


# Statements


@pytest.mark.parametrize(
    "call",
    [
        lambda: da.coordinates("x:"),
        lambda: da.coordinates("x:1000000000"),
        lambda: da.System("s", [x], kinetic=x.dot**2, entropies=3),
        lambda: da.System("s", [x], kinetic=x.dot**2, entropies=None),
        lambda: da.System("s", [x], kinetic=x.dot**2, conduction="x"),
        lambda: da.System("s", [x], kinetic=x.dot**2, potential=np.array([x, x])),
        lambda: da.System("s", [x], kinetic=x.dot**2, potential=np.ma.masked),
        lambda: da.System("s", [nested(3000)], kinetic=x.dot**2),
        lambda: da.System("s", [x], kinetic=x.dot**2, entropies=[nested(3000)]),
        lambda: da.impose(SPRING, {x: sympy.Lambda(x, x)}),
    ],
)
def test_odd_statements_are_refused(call):
    with pytest.raises(ModelError):
        call()


def test_an_attack_with_statements():
    found = attack_inputs.odd_statements(60, seed=11)
    assert found["tried"] == 60
    assert found["wrong"] == found["crashed"] == found["hung"] == 0
    assert found["accepted"] > 2


# Bodies


def pendulum():
    bob = b.Particle(m, [l * da.sin(theta), -l * da.cos(theta)])
    return bob, b.assemble("pendulum", [theta], bodies=[bob], loads=[b.Gravity(g)])


def test_vectors_of_the_plane_and_of_space_do_not_mix():
    bob, whole = pendulum()
    disc = b.PlaneBody(b.disc(m, l), [x, l], theta)
    for call in (
        lambda: whole.release(bob, [1, 0, 0]),
        lambda: b.Contact(bob, None, [[1, 0, 0]]),
        lambda: b.Contact(bob, [0, 0, 0]),
        lambda: b.fixed_distance([x, y], [x, y, z], l),
        lambda: b.hinge([x, y], [x, y, z]),
        lambda: b.rolling(disc, [x, 0, 0]),
        lambda: b.rolling(disc, [x, 0], along=[[1, 0, 0]]),
    ):
        with pytest.raises(ModelError, match="components"):
            call()
    assert whole.release(bob, [1, 0]).degrees_of_freedom == 1


@pytest.mark.parametrize("radius", ["l", None, 2**2000, 1j, [l]], ids=str)
def test_radii_that_are_none(radius):
    disc = b.PlaneBody(b.disc(m, l), [x, l], theta)
    for call in (
        lambda: b.rolling_on_line(disc, radius),
        lambda: b.rolling_on_circle(disc, l, [0, 0], radius, inside=True),
        lambda: b.lowest_point(disc, l),
        lambda: b.lowest_point(None, l),
    ):
        with pytest.raises(ModelError):
            b.assemble("a", [x, theta], bodies=[disc], constraints=call()).system  # noqa: B018


def test_balances_without_their_reactions_are_refused():
    _, whole = pendulum()
    with pytest.raises(ModelError, match="A reaction is missing: there are 2 balances, 1 unknowns, 1 more needed"):
        whole.newton_euler()
    rod = b.PlaneBody(b.rod(m, l), [l * da.sin(theta) / 2, -l * da.cos(theta) / 2], theta)
    turning = b.assemble("rod", [theta], bodies=[rod], loads=[b.Gravity(g)])
    with pytest.raises(ModelError, match="1 more needed"):
        turning.newton_euler([b.Contact(rod, [0, 0], [[1, 0]])])
    free = b.Particle(m, [x, y])
    assert len(b.assemble("free", [x, y], bodies=[free], loads=[b.Gravity(g)]).newton_euler().residuals) == 2


def test_reactions_have_the_names_of_their_joints():
    bob, whole = pendulum()
    rope = b.Contact(bob, None, [[-da.sin(theta), da.cos(theta)]], name="rope")
    balances = whole.newton_euler([rope])
    assert balances.joints == ("rope on Particle 1, force along [-sin(theta), cos(theta)]",)
    assert "rope on Particle 1" in str(balances)
    found = balances.solve({theta: 0, theta.dot: 2}, {m: 1, l: 1, g: 10})
    assert found.reactions == pytest.approx((14.0,))
    assert "rope" in str(found)
    with pytest.raises(ModelError, match="not in pendulum"):
        whole.newton_euler([b.Contact(b.Particle(m, [x, 0]))])
    with pytest.raises(ModelError, match="Expected a list of reactions"):
        whole.newton_euler(3)


# Theory


def test_hidden_functions_of_several_degrees_with_time():
    found = da.classify([2 * x * x.dot + y.dot + 1, z.dot - (x**2 + y + da.time) * z * x.dot], coordinates=[x, y, z])
    assert found.hidden_count == len(found.hidden_functions) == 2
    assert "g2" in str(found)


@pytest.mark.parametrize(
    "only", [[x.dot**2 + y.dot**2 - 1], [x.dot * y.dot], [x.dot**2 - x, y.dot**3 - 8], [da.Abs(x.dot) - l]]
)
def test_nonlinear_constraints_alone_are_shown(only):
    found = da.classify(only, coordinates=[x, y])
    assert "nonlinear" in str(found) or "branches" in str(found)
    assert found.is_holonomic is not False


def test_a_classification_whose_time_is_spent(monkeypatch):
    found = da.classify([z.dot - y * x.dot], coordinates=[x, y, z])
    monkeypatch.setattr(verdicts, "Allowance", lambda **_: Budget(attempts=0))
    assert found.derived_flag is None
    assert found.virtual_displacements.shape == (3, 2)
    assert da.classify([z.dot - y * x.dot], coordinates=[x, y, z]).derived_flag is None
    monkeypatch.undo()
    assert da.classify([z.dot - y * x.dot], coordinates=[x, y, z]).derived_flag == (1, 0)


def test_new_coordinates_where_the_map_is_singular():
    free = da.System("free", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2)
    polar = da.change_coordinates(free, {x: r * da.cos(theta), y: r * da.sin(theta)})
    state = {x: 0, y: 0, x.dot: 1, y.dot: 0}
    for near in ({r: 0, theta: 0}, {r: 1, theta: 0}):
        with pytest.raises(StartError, match="to_new"):
            polar.to_new(state, near, {m: 1})
    found = polar.to_new({**state, y: 2}, {r: 1, theta: 1}, {m: 1})
    assert found[r] == pytest.approx(2)
    assert found[theta.dot] == pytest.approx(-0.5)


@pytest.mark.parametrize("potential", [0, k * x, k * da.Abs(x)])
def test_reactions_of_a_free_system_are_none(potential):
    free = da.System("free", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=potential)
    found = da.reactions(free)
    assert found.M.shape == (0, 0)
    assert found.keeps_constraints
    assert "free" in str(found)
    at = found.at({x: 1, y: 0, x.dot: 0, y.dot: 0}, {m: 1} | ({k: 1} if potential != 0 else {}))
    assert set(at.forces.values()) == {0.0}


def test_a_run_without_entropies_has_no_temperatures():
    assert run().temperatures.size == 0


def test_a_pole_is_no_steady_motion():
    kepler = da.System("kepler", [r, theta], kinetic=m * (r.dot**2 + r**2 * theta.dot**2) / 2, potential=-k / r)
    with pytest.raises(DalembertError):
        da.normal_modes(kepler, at={r: 0, theta: 0}, parameters={m: 1, k: 1})


def test_a_hamiltonian_that_has_no_closed_form_says_so():
    form = da.hamilton(da.System("q", [x], lagrangian=x.dot**4 / 4 - x.dot**2 / 2 - k * x**2))
    with pytest.raises(ModelError, match="no Hamiltonian in closed form"):
        form.forces  # noqa: B018


def test_functions_that_only_have_derivatives():
    """The derivative of loggamma is one that the compiled evaluation does not have."""
    V = k * sympy.erf(x) + sympy.loggamma(1 + y**2)
    found = da.noether(da.System("g", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=V), {x: 1})
    assert not found.conserved


def test_long_powers_are_not_multiplied_out():
    """Each of these took minutes."""
    for power in (300, 10**6):
        assert str(stated((1 + x + y) ** power).equations())
        da.System("s", [x, y], kinetic=x.dot**2 + y.dot**2, constraints=[(1 + x) ** power * x.dot - y.dot])
    many = sympy.Add(*(da.cos(j * x) * y / j for j in range(1, 300)))
    assert len(stated(many).equations().lagrange) == 2
    with pytest.raises(ModelError, match="within one another"):
        deep = x
        for _ in range(9):
            deep = da.Max(deep + 1, y)
        stated(deep)


def test_numbers_that_are_read_exactly():
    """Proofs read what was typed, of any kind, and refuse the rest in words."""
    at = {x: 0.5, x.dot: 0}
    given = {"at": at, "parameters": {m: 1, k: Decimal("0.5")}}
    assert da.existence(SPRING, da.Midpoint(), h=Decimal("0.1"), **given)
    for h in (k, 2**2000, Decimal("nan"), Decimal("1e-400")):
        with pytest.raises(da.DalembertError):
            da.existence(SPRING, da.Midpoint(), h=h, **given)


def test_truth_values_in_a_pair_are_no_numbers():
    with pytest.raises(da.StartError, match="box: x"):
        da.equilibria(SPRING, box={x: (-1, np.True_)}, parameters={m: 1, k: 1})


def test_an_empty_list_is_no_number():
    with pytest.raises(da.DalembertError, match="q0"):
        da.linear_recurrence(1.5, 0.5)(2, (), 1)


def test_numbers_beyond_doubles_are_refused_as_constants_too():
    for large in (10**400, sympy.Integer(10) ** 400):
        with pytest.raises(da.DalembertError, match="larger than every double"):
            da.linearise(SPRING, about={x: 0}, parameters={m: 1, k: large})


def test_a_time_at_which_steps_are_lost_in_rounding():
    with pytest.raises(da.StartError, match="lost there in rounding"):
        da.simulate(
            SPRING, da.Reference(), h=0.1, steps=3, start={x: 1, x.dot: 0, da.time: 2.0**63}, parameters={m: 1, k: 1}
        )


@pytest.mark.parametrize("number", [np.longdouble("1.5"), np.array(1.5, dtype="g"), np.array([1.5, 2], dtype="g")])
def test_long_doubles_beside_symbols(number):
    """Numbers of NumPy with more digits than a double has: their operators ask the symbol, which must not ask them again."""
    for left, right in ((number * m, m * number), (number + m, m + number), (number - x, -(x - number))):
        assert np.all(np.ravel(left) == np.ravel(right))
    assert not np.any(number == m)
    assert float(np.ravel(number * m)[0].subs(m, 2)) == 3


MASKED = [
    [1.0, np.ma.masked], [1, np.ma.array(2, mask=True)], (np.ma.masked,), [np.ma.array(1.0, mask=True)]
]  # fmt: skip


@pytest.mark.parametrize("masked", MASKED)
def test_masked_entries_of_lists(masked, recwarn):
    """NumPy makes NaN of masked entries in a list, with a warning of its own, or raises MaskError."""
    with pytest.raises(da.StartError, match="masked entries"):
        da.simulate(SPRING, da.Midpoint(), h=0.1, steps=1, start={x: masked, x.dot: 0}, parameters={m: 1, k: 1})
    with pytest.raises(da.StartError, match="box: x"):
        da.equilibria(SPRING, box={x: (-1, masked[-1])}, parameters={m: 1, k: 1})
    assert not recwarn


def test_another_thread_may_be_importing_masked_arrays(monkeypatch):
    """Then `numpy.ma` is among the modules, and as yet empty."""
    monkeypatch.setitem(sys.modules, "numpy.ma", types.ModuleType("numpy.ma"))
    run = da.simulate(SPRING, da.Midpoint(), h=0.1, steps=1, start={x: [1], x.dot: 0}, parameters={m: 1, k: 1})
    assert run.ok and run["x.dot"].shape == (1, 2)


def test_a_property_of_a_run_says_what_it_lacks(monkeypatch):
    run = da.simulate(SPRING, da.Midpoint(), h=0.1, steps=1, start={x: 1, x.dot: 0}, parameters={m: 1, k: 1})
    monkeypatch.setattr(da.Trajectory, "_positions", property(lambda self: (1).numerator.absent))
    with pytest.raises(AttributeError, match="'int' object has no attribute 'absent'"):
        run[x]


@pytest.mark.parametrize("made", [da.Gauss, da.Lobatto, da.Galerkin, da.DiscreteGradient])
@pytest.mark.parametrize("size", [np.int64(2), np.uint8(2), sympy.Integer(2)])
def test_sizes_of_methods_are_whole_numbers_in_files(made, size, tmp_path):
    run = da.simulate(SPRING, made(size), h=0.1, steps=2, start={x: 1, x.dot: 0}, parameters={m: 1, k: 1})
    run.save(tmp_path / "run.nc")
    loaded = da.load(tmp_path / "run.nc")
    assert loaded.method == made(2)
    again = [da.simulate(SPRING, made(size), h=0.1, steps=2, start=r).records for r in (run, loaded)]
    assert np.array_equal(*again)


def test_an_end_out_of_reach_is_refused():
    """1e19 oscillations are not computed; a free flight over the same time takes a few steps."""
    given = {"h": 2**63, "steps": 2, "start": {x: 1, x.dot: 1}}
    with pytest.raises(da.StartError, match="Give a shorter h, or fewer steps"):
        da.simulate(SPRING, da.Reference(), parameters={m: 1, k: 1}, **given)
    with pytest.raises(da.StartError, match="Give a shorter h, or fewer steps"):
        da.hamilton(SPRING).simulate(parameters={m: 1, k: 1}, **given)
    flight = da.System("flight", [x], kinetic=m * x.dot**2 / 2)
    assert da.simulate(flight, da.Reference(), parameters={m: 1}, **given)[x][-1] == pytest.approx(2.0**64)
