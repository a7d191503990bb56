"""Fundamental relations of common bodies. Constants of reference are numbers, parameters or any expression."""

from __future__ import annotations

from typing import Any

import sympy
from sympy import Expr, Rational, exp

from ...errors import ModelError
from ..checks import expression
from .fundamental import FundamentalRelation
from .state_variables import AMOUNT, ENTROPY, VOLUME

GAS_CONSTANT = 8.314462618
"""R in J/(mol K), CODATA 2018 (exact in the SI: 8.31446261815324)."""

RADIATION_CONSTANT = 7.565733250e-16
"""a = 4 sigma/c in J/(m^3 K^4), from the CODATA 2018 value of the Stefan-Boltzmann constant sigma."""


def ideal_gas(
    f: Any = 3, *, N: Any = 1, T0: Any = None, U0: Any = None, V0: Any = 1, S0: Any = 0, R: Any = GAS_CONSTANT
) -> FundamentalRelation:
    """An ideal gas whose molecules have f quadratic degrees of freedom: 3 monatomic, 5 diatomic, 6 bent or longer.

    U = U0 exp(2 (S - S0)/(f N R)) (V/V0)^(-2/f) for the amount N, with U0 = f N R T0/2: P V = N R T, U = f N R T/2,
    isentropic exponent 1 + 2/f. The state of reference has temperature T0 (or energy U0), volume V0 and entropy S0;
    for other amounts the energy is continued so that it is extensive.
    """
    f, N, V0, S0, R = _numbers(f=f, N=N, V0=V0, S0=S0, R=R)
    T0 = _temperature("ideal_gas", T0, U0, f * N * R / 2)
    per_amount = f * R * T0 / 2 * exp((ENTROPY - S0 * AMOUNT / N) * (2 / (f * AMOUNT * R)))
    U = AMOUNT * per_amount * (VOLUME * N / (AMOUNT * V0)) ** (-2 / f)
    return _body("ideal gas", U, volume=VOLUME, amount=AMOUNT, usual_amount=N)


def van_der_waals(
    a: Any, b: Any, f: Any = 3, *, N: Any = 1, T0: Any, V0: Any = 1, S0: Any = 0, R: Any = GAS_CONSTANT
) -> FundamentalRelation:
    """A van der Waals gas: (P + a N^2/V^2)(V - N b) = N R T and U = f N R T/2 - a N^2/V, for V > N b.

    a measures attraction, b the volume of one mole of molecules; the rest is as for the ideal gas, which is a = b = 0.
    """
    a, b, f, N, T0, V0, S0, R = _numbers(a=a, b=b, f=f, N=N, T0=T0, V0=V0, S0=S0, R=R)
    free = (VOLUME / AMOUNT - b) / (V0 / N - b)
    if (V0 / N - b).is_nonpositive:
        raise ModelError(
            f"van_der_waals: V0 = {V0} leaves no room for {N} mol of molecules of volume {b}. Give V0 > N b."
        )
    thermal = f * R * T0 / 2 * exp((ENTROPY - S0 * AMOUNT / N) * (2 / (f * AMOUNT * R))) * free ** (-2 / f)
    U = AMOUNT * thermal - a * AMOUNT**2 / VOLUME
    return _body(
        "van der Waals gas", U, volume=VOLUME, amount=AMOUNT, usual_amount=N, domain=[VOLUME - AMOUNT * b, free]
    )


def constant_heat_capacity(nu: Any, T0: Any, S0: Any = 0) -> FundamentalRelation:
    """A body of constant heat capacity nu: U = nu T and S = S0 + nu log(T/T0), so U = nu T0 exp((S - S0)/nu)."""
    nu, T0, S0 = _numbers(nu=nu, T0=T0, S0=S0)
    return _body("body of constant heat capacity", nu * T0 * exp((ENTROPY - S0) / nu))


def incompressible(c: Any, *, N: Any = 1, T0: Any, S0: Any = 0) -> FundamentalRelation:
    """An incompressible body of heat capacity c per amount: U = c N T, extensive in S and N.

    Its volume cannot change, so that its pressure is not a function of state but a reaction of the constraint.
    """
    c, N, T0, S0 = _numbers(c=c, N=N, T0=T0, S0=S0)
    U = AMOUNT * c * T0 * exp((ENTROPY - S0 * AMOUNT / N) / (c * AMOUNT))
    return _body("incompressible body", U, amount=AMOUNT, usual_amount=N)


def photon_gas(a: Any = RADIATION_CONSTANT) -> FundamentalRelation:
    """Black-body radiation: U = a T^4 V = 3 P V, S = 4 a T^3 V/3 > 0. There is no amount, and mu = 0."""
    (a,) = _numbers(a=a)
    U = Rational(3, 4) * (Rational(3, 4) / a) ** Rational(1, 3) * ENTROPY ** Rational(4, 3) * VOLUME ** Rational(-1, 3)
    return _body("photon gas", U, volume=VOLUME, domain=[ENTROPY])


def _body(name: str, U: Expr, **more: Any) -> FundamentalRelation:
    return FundamentalRelation(name, U, entropy=ENTROPY, **more)


def _numbers(**given: Any) -> list[Expr]:
    """Expressions, none of which is known to be out of range."""
    made = {name: expression(value, name) for name, value in given.items()}
    for name, value in made.items():
        if name == "S0" or (name in ("a", "b") and value == 0):
            continue
        if value.is_nonpositive or value.is_real is False:
            raise ModelError(f"{name} = {value}: expected something positive.")
    return list(made.values())


def _temperature(name: str, T0: Any, U0: Any, capacity: Expr) -> Expr:
    """The temperature of reference, given by itself or by the energy."""
    if (T0 is None) == (U0 is None):
        raise ModelError(
            f"{name}: give the state of reference by its temperature T0= or by its energy U0=, one of the two."
        )
    return _numbers(T0=T0)[0] if U0 is None else sympy.sympify(_numbers(U0=U0)[0] / capacity)
