"""Fundamental relations: all that is known of a body in equilibrium, as its energy U(S, V, N).

H. B. Callen, Thermodynamics and an Introduction to Thermostatistics (2nd edition, 1985), chapters 2, 3, 7 and 8:

    T = dU/dS,   P = -dU/dV,   mu = dU/dN,   dU = T dS - P dV + mu dN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...decide.budget import Budget
from ...decide.zero import vanishes_where
from ...display import Part, Shown
from ...errors import ModelError, told
from ..checks import expression
from .consistency import Verdict, maxwell, positive
from .inversion import evaluator, inverse, monotone_root, one_symbol_per_name
from .potential_of_force import potential
from .state_variables import AMOUNT, ENERGY, ENTROPY, PRESSURE, TEMPERATURE, VOLUME, StateVariable


@dataclass(frozen=True, repr=False)
class State(Shown):
    """A state of equilibrium: entropy, volume, amount, energy, temperature, pressure and chemical potential.

    Variables that the body does not have, such as a volume, are None.
    """

    S: Expr
    V: Expr | None
    N: Expr | None
    U: Expr
    T: Expr
    P: Expr | None
    chemical_potential: Expr | None

    def _parts(self) -> Sequence[Part]:
        named = (("S", self.S), ("V", self.V), ("N", self.N), ("U", self.U), ("T", self.T), ("P", self.P))
        return [pair for pair in (*named, ("mu", self.chemical_potential)) if pair[1] is not None]


@dataclass(frozen=True, init=False, repr=False)
class FundamentalRelation(Shown):
    """The energy of a body as a function of entropy, volume and amount, and all that follows from it.

    name:     its name
    energy:   an expression U in the symbols given as entropy=, volume= and amount=; the last two may be left out
    usual_amount:  the amount where none is given
    domain:   expressions in the same symbols that are positive for all states (volume and amount are, anyway)

    Everything that follows is a method of (S, V, N), each a number or an expression, such as the volume A*(x0 - x) of
    a cylinder: gas.energy(S, A*(x0 - x)) is what `internal_energy=` of a system wants.
    """

    name: str
    relation: Expr
    has_volume: bool
    has_amount: bool
    usual_amount: Expr | None
    domain: tuple[Expr, ...]

    def __init__(
        self,
        name: str,
        energy: Any,
        *,
        entropy: Symbol,
        volume: Symbol | None = None,
        amount: Symbol | None = None,
        usual_amount: Any = None,
        domain: Sequence[Any] = (),
    ):
        own = _own(entropy, ENTROPY) | _own(volume, VOLUME) | _own(amount, AMOUNT)
        U = expression(energy, f"energy of {name}").xreplace(own)
        if ENTROPY not in U.free_symbols:
            raise ModelError(
                f"{name}: the symbol entropy={entropy} does not occur in its energy {energy}, so T = dU/dS would be zero."
            )
        one_symbol_per_name([U], f"energy of {name}")
        sizes = [s for s, given in ((VOLUME, volume), (AMOUNT, amount)) if given is not None]
        put = object.__setattr__
        put(self, "name", str(name))
        put(self, "relation", U)
        put(self, "has_volume", volume is not None)
        put(self, "has_amount", amount is not None)
        put(self, "usual_amount", None if usual_amount is None else expression(usual_amount, "usual_amount"))
        put(self, "domain", (*sizes, *(expression(d, "domain").xreplace(own) for d in domain)))

    @staticmethod
    def from_entropy(
        name: str,
        entropy: Any,
        *,
        energy: Symbol,
        volume: Symbol | None = None,
        amount: Symbol | None = None,
        domain: Sequence[Any] = (),
        budget: Budget | None = None,
    ) -> FundamentalRelation:
        """The relation given as S(U, V, N), solved for U. Temperature is taken positive."""
        S = expression(entropy, f"entropy of {name}").xreplace(_own(energy, ENERGY))
        inside = [*(s for s in (volume, amount) if s is not None), *(expression(d, "domain") for d in domain)]
        U = inverse(S, ENERGY, ENTROPY, [*inside, S.diff(ENERGY)], budget or Budget(seconds=5))
        if U is None:
            raise ModelError(
                f"{name}: no closed form was found for U from S = {entropy}. Give U(S, V, N) itself: "
                f"FundamentalRelation(name, U, entropy=S, ...)."
            )
        return FundamentalRelation(name, U, entropy=ENTROPY, volume=volume, amount=amount, domain=domain)

    @staticmethod
    def from_temperature_and_pressure(
        name: str, T: Any, P: Any, *, entropy: Symbol, volume: Symbol, domain: Sequence[Any] = ()
    ) -> FundamentalRelation:
        """The energy with dU = T dS - P dV, for T(S, V) and P(S, V) that obey Maxwell's relation; up to a constant."""
        inside = [volume, *(expression(d, "domain") for d in domain)]
        verdict = maxwell(T, P, entropy, volume, inside)
        if not verdict:
            raise ModelError(f"{name}: {verdict.reason}.")
        found = potential({entropy: -expression(T, "T"), volume: expression(P, "P")}, Budget(seconds=5), inside)
        if found.W is None:
            raise ModelError(f"{name}: T dS - P dV is a differential, but no closed form was found for its integral U.")
        return FundamentalRelation(name, found.W, entropy=entropy, volume=volume, domain=domain)

    # --- first derivatives ---------------------------------------------------------------------------------------

    def energy(self, S: Any = None, V: Any = None, N: Any = None) -> Expr:
        """U(S, V, N)."""
        return self._at(self.relation, S, V, N)

    def temperature(self, S: Any = None, V: Any = None, N: Any = None) -> Expr:
        """T = dU/dS."""
        return self._at(self._T, S, V, N)

    def pressure(self, S: Any = None, V: Any = None, N: Any = None) -> Expr:
        """P = -dU/dV."""
        return self._at(self._P, S, V, N)

    def chemical_potential(self, S: Any = None, V: Any = None, N: Any = None) -> Expr:
        """mu = dU/dN."""
        if not self.has_amount:
            raise ModelError(
                f"{self.name}: its energy is not given as a function of the amount, so dU/dN is not known."
            )
        return self._at(self.relation.diff(AMOUNT), S, V, N)

    @cached_property
    def _T(self) -> Expr:
        return self.relation.diff(ENTROPY)

    @cached_property
    def _P(self) -> Expr:
        if not self.has_volume:
            raise ModelError(
                f"{self.name}: its energy is not given as a function of the volume, so the pressure -dU/dV is not known."
            )
        return -self.relation.diff(VOLUME)

    # --- second derivatives --------------------------------------------------------------------------------------

    def isochoric_heat_capacity(self, S: Any = None, V: Any = None, N: Any = None) -> Expr:
        """C_V = T dS/dT at constant volume and amount."""
        return self._at(_shorter(self._T / self._T.diff(ENTROPY)), S, V, N)

    def isobaric_heat_capacity(self, S: Any = None, V: Any = None, N: Any = None) -> Expr:
        """C_P = T dS/dT at constant pressure and amount."""
        _, _, UVV, D = self._second
        return self._at(_over(self._T * UVV, D, "the isobaric heat capacity", self), S, V, N)

    def isentropic_compressibility(self, S: Any = None, V: Any = None, N: Any = None) -> Expr:
        """kappa_S = -(1/V) dV/dP at constant entropy."""
        return self._at(_over(1, VOLUME * self._second[2], "the isentropic compressibility", self), S, V, N)

    def isothermal_compressibility(self, S: Any = None, V: Any = None, N: Any = None) -> Expr:
        """kappa_T = -(1/V) dV/dP at constant temperature."""
        USS, _, _, D = self._second
        return self._at(_over(USS, VOLUME * D, "the isothermal compressibility", self), S, V, N)

    def thermal_expansion(self, S: Any = None, V: Any = None, N: Any = None) -> Expr:
        """alpha = (1/V) dV/dT at constant pressure."""
        _, USV, _, D = self._second
        return self._at(_over(-USV, VOLUME * D, "the thermal expansion", self), S, V, N)

    def isentropic_exponent(self, S: Any = None, V: Any = None, N: Any = None) -> Expr:
        """gamma = -dlog P/dlog V at constant entropy; for an ideal gas C_P/C_V = 1 + 2/f."""
        return self._at(_shorter(VOLUME * self._second[2] / self._P), S, V, N)

    @cached_property
    def _second(self) -> tuple[Expr, Expr, Expr, Expr]:
        """U_SS, U_SV, U_VV and the determinant U_SS U_VV - U_SV^2."""
        USS, USV, UVV = self._T.diff(ENTROPY), self._T.diff(VOLUME), -self._P.diff(VOLUME)
        return USS, USV, UVV, USS * UVV - USV**2

    # --- conversions ---------------------------------------------------------------------------------------------

    def entropy(self, V: Any = None, N: Any = None, *, U: Any = None, T: Any = None, P: Any = None) -> Expr:
        """S at given volume and amount from one of energy U, temperature T or pressure P.

        In closed form where one is found, and then everything may be an expression; otherwise by a bracket
        and a root, for which all given values must be numbers.
        """
        given = [(k, v) for k, v in (("U", U), ("T", T), ("P", P)) if v is not None]
        if len(given) != 1:
            raise ModelError(
                f"entropy of {self.name}: got {', '.join(k for k, _ in given) or 'nothing'}. Give exactly one of U=, T= "
                f"and P= besides the volume."
            )
        (kind, value), wanted = given[0], expression(given[0][1], given[0][0])
        closed = self._closed(kind)
        if closed is not None:
            found = self._at(closed[0].xreplace({closed[1]: wanted}), None, V, N)
            if found.is_number and (found.is_finite is False or found.is_real is False):
                raise ModelError(
                    f"{self.name}: no state has {kind} = {value} at this volume; its entropy would be {found}."
                )
            return found
        at = self._at(self._function(kind)[0], ENTROPY, V, N) - wanted
        if at.free_symbols != {ENTROPY}:
            raise ModelError(
                f"entropy of {self.name}: no closed form was found for S at given {kind}, and with symbols "
                f"({', '.join(sorted(str(s) for s in at.free_symbols - {ENTROPY}))}) no number can be computed. Give numbers."
            )
        inside = [self._at(d, ENTROPY, V, N) for d in self.domain]
        return sympy.Float(monotone_root(evaluator(at, ENTROPY, inside), f"{kind}(S) = {value} of {self.name}"))

    def state(
        self, S: Any = None, V: Any = None, N: Any = None, *, U: Any = None, T: Any = None, P: Any = None
    ) -> State:
        """The whole state from S (or U, T or P instead of S), volume and amount; in symbols where nothing is given."""
        if S is None and not (U is None and T is None and P is None):
            S = self.entropy(V, N, U=U, T=T, P=P)
        elif S is not None and not (U is None and T is None and P is None):
            raise ModelError(f"state of {self.name}: give S or one of U=, T=, P=, not both.")
        at = (S, V, N)
        return State(
            self._at(ENTROPY, *at),
            self._at(VOLUME, *at) if self.has_volume else None,
            self._at(AMOUNT, *at) if self.has_amount else None,
            self.energy(*at),
            self.temperature(*at),
            self.pressure(*at) if self.has_volume else None,
            self.chemical_potential(*at) if self.has_amount else None,
        )

    def helmholtz(self, T: Any, V: Any = None, N: Any = None) -> Expr:
        """F = U - T S at given temperature: the potential of a body kept at that temperature."""
        S = self.entropy(V, N, T=T)
        return self.energy(S, V, N) - expression(T, "T") * S

    def relations(self, **symbols: Symbol) -> list[Expr]:
        """The equations of state with your own symbols, as expressions that vanish: relations(S=S, V=V, U=U, T=T, P=P).

        Of U, T and P those are related that are given; V and N may be numbers or expressions.
        """
        unknown = set(symbols) - {"S", "V", "N", "U", "T", "P"}
        if unknown or "S" not in symbols:
            raise ModelError(
                f"relations of {self.name}: got {', '.join(symbols) or 'nothing'}. Give S and what is to be related to it: "
                f"relations(S=S, V=V, U=U, T=T, P=P)."
            )
        at = [symbols.get(k) for k in ("S", "V", "N")]
        functions = {"U": self.energy, "T": self.temperature, "P": self.pressure}
        return [symbols[k] - f(*at) for k, f in functions.items() if k in symbols]

    # --- checks --------------------------------------------------------------------------------------------------

    def extensive(self) -> Verdict:
        """Euler's relation U = T S - P V + mu N: whether the body twice as large has twice the energy."""
        sizes = [ENTROPY, *([VOLUME] if self.has_volume else []), *([AMOUNT] if self.has_amount else [])]
        if vanishes_where(sum(s * self.relation.diff(s) for s in sizes) - self.relation, self.domain):
            return Verdict(True, "U = T S - P V + mu N: the energy is homogeneous of degree one (Euler)")
        letters = ", ".join(str(s) for s in sizes)
        return Verdict(False, f"U is not homogeneous of degree one in {letters}: U differs from T S - P V + mu N")

    def gibbs_duhem(self) -> Verdict:
        """S dT - V dP + N dmu = 0: intensive variables of an extensive body are not independent."""
        sizes = [ENTROPY, *([VOLUME] if self.has_volume else []), *([AMOUNT] if self.has_amount else [])]
        for other in sizes:
            if not vanishes_where(sum(s * self.relation.diff(s, other) for s in sizes), self.domain):
                return Verdict(False, f"S dT - V dP + N dmu does not vanish when {other} changes")
        return Verdict(True, "S dT - V dP + N dmu = 0 for every change of state")

    def stability(self, S: Any = None, V: Any = None, N: Any = None) -> Verdict:
        """Whether U is convex in (S, V), so that the body stays uniform: at one state, or wherever it is sampled."""
        conditions = [("T = dU/dS > 0", self._T), ("dT/dS = T/C_V > 0", self._T.diff(ENTROPY))]
        if self.has_volume:
            _, _, UVV, D = self._second
            conditions += [("-dP/dV > 0 at constant S", UVV)]
            conditions += [
                (
                    "U_SS U_VV - U_SV^2 > 0, that is -dP/dV > 0 at constant T",
                    Budget(seconds=1).call(sympy.factor, D) or D,
                )
            ]
        notes = []
        for what, quantity in conditions:
            verdict = positive(self._at(quantity, S, V, N), [self._at(d, S, V, N) for d in self.domain], what)
            if not verdict:
                return verdict
            notes.append(verdict.reason)
        return Verdict(True, "; ".join(notes))

    def critical_point(self, budget: Budget | None = None) -> State:
        """The state where the isotherm has a horizontal point of inflection: dP/dV = d2P/dV2 = 0 at constant T."""
        budget = budget or Budget(seconds=10)
        at_T = self.entropy(T=TEMPERATURE)
        P = budget.call(sympy.simplify, self.pressure(at_T)) or self.pressure(at_T)
        flat = [sympy.fraction(sympy.together(P.diff(VOLUME, k)))[0] for k in (1, 2)]
        inside = [self._at(d, at_T, None, None) for d in self.domain]
        for solution in budget.call(lambda: sympy.solve(flat, [VOLUME, TEMPERATURE], dict=True)) or []:
            if len(solution) == 2 and not any(_is_negative(d.subs(solution)) for d in inside):
                return self.state(T=solution[TEMPERATURE], V=solution[VOLUME])
        raise ModelError(
            f"{self.name}: no critical point was found, where dP/dV = d2P/dV2 = 0 at constant temperature."
        )

    # --- inside --------------------------------------------------------------------------------------------------

    def _at(self, quantity: Expr, S: Any, V: Any, N: Any) -> Expr:
        if V is not None and not self.has_volume:
            raise ModelError(f"{self.name}: got V = {V}, but its energy does not depend on a volume.")
        if N is not None and not self.has_amount:
            raise ModelError(f"{self.name}: got N = {N}, but its energy does not depend on an amount.")
        N = self.usual_amount if N is None and self.has_amount else N
        at = {ENTROPY: S, VOLUME: V, AMOUNT: N}
        return quantity.xreplace({s: expression(v, str(s)) for s, v in at.items() if v is not None})

    def _function(self, kind: str) -> tuple[Expr, StateVariable]:
        if kind == "U":
            return self.relation, ENERGY
        return (self._T, TEMPERATURE) if kind == "T" else (self._P, PRESSURE)

    def _closed(self, kind: str) -> tuple[Expr, StateVariable] | None:
        """S as an expression in U, T or P, and the symbol of that; found once."""
        known: dict[str, tuple[Expr, StateVariable] | None] = self.__dict__.setdefault("_inverses", {})
        if kind not in known:
            function, symbol = self._function(kind)
            solved = inverse(function, ENTROPY, symbol, self.domain, Budget(seconds=2))
            known[kind] = None if solved is None else (solved, symbol)
        return known[kind]

    def _parts(self) -> Sequence[Part]:
        shown = [("U", self.energy()), ("T", self.temperature())]
        return [self.name, *shown, *([("P", self.pressure())] if self.has_volume else [])]


def _own(given: Symbol | None, own: StateVariable) -> dict[Symbol, StateVariable]:
    """The internal expression for a symbol of the user."""
    if given is None:
        return {}
    if not isinstance(given, Symbol):
        raise ModelError(
            f"the {own} of a fundamental relation: got {told(given)}. Expected the symbol it is written with."
        )
    return {given: own}


def _over(numerator: Any, denominator: Expr, what: str, body: FundamentalRelation) -> Expr:
    """A quotient, where the denominator is not identically zero."""
    if vanishes_where(denominator, body.domain):
        raise ModelError(f"{body.name}: {what} is infinite, since pressure depends on temperature alone.")
    return _shorter(numerator / denominator)


def _shorter(quotient: Expr) -> Expr:
    """A quotient, cancelled where that makes it shorter."""
    cancelled = Budget(seconds=1).call(lambda: sympy.powsimp(sympy.cancel(quotient)))
    return quotient if cancelled is None else min(quotient, cancelled, key=sympy.count_ops)


def _is_negative(bound: Expr) -> bool:
    return bool(sympy.simplify(bound).is_nonpositive)
