"""What is said when a body or its equations of state make no sense."""

from __future__ import annotations

import pytest
import sympy
from sympy import Eq, Symbol, exp

import dalembert as da
from dalembert.model import substances as thermo
from tests.errors.tools import table, told

S = Symbol("S", real=True)
V, T, P = sympy.symbols("V T P", positive=True)
x, y = da.coordinates("x y")
m, A, N, nu = da.parameters("m A N nu", positive=True)
gas = thermo.ideal_gas(3, T0=300)
body = thermo.constant_heat_capacity(nu, 300)
piston = thermo.EquationsOfState([*gas.relations(S=S, V=V, P=P), V - A * x], variables=[S, V, P], coordinates=[x])
odd = thermo.FundamentalRelation("odd", exp(S) + nu * S**4, entropy=S)
K = m * x.dot**2 / 2


@table(
    (
        "two references",
        lambda: thermo.ideal_gas(3, T0=300, U0=1),
        "ideal_gas: give the state of reference by its temperature T0= or by its energy U0=, one of the two.",
    ),
    (
        "no reference",
        lambda: thermo.ideal_gas(3),
        "ideal_gas: give the state of reference by its temperature T0= or by its energy U0=, one of the two.",
    ),
    ("negative", lambda: thermo.ideal_gas(3, T0=-5), "T0 = -5: expected something positive."),
    ("no degrees of freedom", lambda: thermo.ideal_gas(0, T0=5), "f = 0: expected something positive."),
    (
        "a text",
        lambda: thermo.ideal_gas("3", T0=5),
        "f: got the text '3'. Expected an expression in Python: without the quotes, with symbols made by "
        "dalembert.coordinates and dalembert.parameters.",
    ),
    (
        "no room",
        lambda: thermo.van_der_waals(1, 2, T0=1, V0=1, N=1),
        "van_der_waals: V0 = 1 leaves no room for 1 mol of molecules of volume 2. Give V0 > N b.",
    ),
    (
        "no volume",
        lambda: body.energy(S, V),
        "body of constant heat capacity: got V = V, but its energy does not depend on a volume.",
    ),
    (
        "no pressure",
        lambda: body.pressure(S),
        "body of constant heat capacity: its energy is not given as a function of the volume, so the pressure -dU/dV is "
        "not known.",
    ),
    (
        "no amount",
        lambda: body.chemical_potential(S),
        "body of constant heat capacity: its energy is not given as a function of the amount, so dU/dN is not known.",
    ),
    (
        "amount given",
        lambda: body.energy(S, N=2),
        "body of constant heat capacity: got N = 2, but its energy does not depend on an amount.",
    ),
    (
        "no entropy",
        lambda: thermo.FundamentalRelation("stone", nu * V, entropy=S, volume=V),
        "stone: the symbol entropy=S does not occur in its energy nu*V, so T = dU/dS would be zero.",
    ),
    (
        "not a symbol",
        lambda: thermo.FundamentalRelation("stone", exp(S), entropy=2 * S),
        "the S of a fundamental relation: got 2*S. Expected the symbol it is written with.",
    ),
    (
        "two symbols of one name",
        lambda: thermo.FundamentalRelation("stone", exp(S) * nu * Symbol("nu"), entropy=S),
        "energy of stone: there are two different symbols named nu (of other assumptions, or one plain and one a "
        "parameter). Make it once and use that, or give the other another name.",
    ),
    (
        "two conditions",
        lambda: gas.entropy(1, T=300, P=2),
        "entropy of ideal gas: got T, P. Give exactly one of U=, T= and P= besides the volume.",
    ),
    (
        "none",
        lambda: gas.entropy(1),
        "entropy of ideal gas: got nothing. Give exactly one of U=, T= and P= besides the volume.",
    ),
    (
        "below zero",
        lambda: thermo.constant_heat_capacity(1, 1).entropy(T=-1),
        "body of constant heat capacity: no state has T = -1 at this volume; its entropy would be I*pi.",
    ),
    (
        "at zero",
        lambda: thermo.constant_heat_capacity(1, 1).state(T=0),
        "body of constant heat capacity: no state has T = 0 at this volume; its entropy would be zoo.",
    ),
    (
        "state twice",
        lambda: gas.state(S=1, V=1, T=300),
        "state of ideal gas: give S or one of U=, T=, P=, not both.",
    ),
    (
        "no closed form",
        lambda: odd.entropy(T=300),
        "entropy of odd: no closed form was found for S at given T, and with symbols (nu) no number can be computed. Give "
        "numbers.",
    ),
    (
        "infinite heat capacity",
        lambda: thermo.photon_gas().isobaric_heat_capacity(),
        "photon gas: the isobaric heat capacity is infinite, since pressure depends on temperature alone.",
    ),
    (
        "relations of what",
        lambda: gas.relations(V=V, P=P),
        "relations of ideal gas: got V, P. Give S and what is to be related to it: relations(S=S, V=V, U=U, T=T, P=P).",
    ),
    (
        "coordinate among variables",
        lambda: thermo.EquationsOfState([V - A * x], variables=[V, x]),
        "variables: got x. Expected symbols of thermodynamic variables: variables=[S, V, T].",
    ),
    (
        "a variable in no relation",
        lambda: thermo.EquationsOfState([V - A * x], variables=[V, T], coordinates=[x]),
        "variables: T occurs in no relation. Relate it to the others or leave it out.",
    ),
    (
        "contradiction",
        lambda: thermo.EquationsOfState([Eq(V, 1), Eq(V, 2)], variables=[V]).eliminate(),
        "the equations of state contradict each other: they lead to -1 = 0.",
    ),
    (
        "cannot hold",
        lambda: thermo.EquationsOfState([Eq(V + 1, -1)], variables=[V]),
        "relations: one of them is False: SymPy sees that its two sides differ for all real or positive symbols. Check its "
        "signs, or the assumptions of the symbols.",
    ),
    (
        "always holds",
        lambda: thermo.EquationsOfState([Eq(V, V)], variables=[V]),
        "relations: one of them is True: it says nothing. Leave it out.",
    ),
    (
        "kinetic energy of a state",
        lambda: piston.reduce(V * K, {x: P}),
        "reduce: the kinetic energy depends on V. Write it with coordinates, velocities and constants alone.",
    ),
    (
        "no coordinate",
        lambda: thermo.EquationsOfState([V - A], variables=[V]).reduce(K, {x: V}),
        "reduce: there is no coordinate. Give EquationsOfState(..., coordinates=[x]).",
    ),
    (
        "a force elsewhere",
        lambda: piston.reduce(K, {y: P}),
        "reduce: a force on y, which is not among coordinates=[x].",
    ),
    (
        "a rate of something else",
        lambda: piston.reduce(K, {x: P}, rates={T: 0}),
        "reduce: a rate of T, which is not among variables=[S, V, P].",
    ),
)
def test_messages(call, message):
    assert told(da.ModelError, call) == message


def test_no_closed_form_for_the_energy():
    U = Symbol("U", positive=True)
    message = told(
        da.ModelError, lambda: thermo.FundamentalRelation.from_entropy("odd", U**5 + U + sympy.atan(U), energy=U)
    )
    assert message.startswith("odd: no closed form was found for U from S = ")
    assert message.endswith("Give U(S, V, N) itself: FundamentalRelation(name, U, entropy=S, ...).")


def test_no_consistent_state():
    states = thermo.EquationsOfState([exp(T) + T**2 + x**2 + 1], variables=[T], coordinates=[x])
    system = states.reduce(K, {x: T})
    with pytest.raises(da.ModelError, match="no consistent state was found from this guess"):
        system.consistent({x: 1.0})
