"""What a report says of a system: its statement, constraints, equations, first integrals, equilibria and modes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from html import escape
from typing import Any

from ..analysis.equilibria.equilibrium_search import equilibria
from ..analysis.equilibria.normal_modes import normal_modes
from ..decide.budget import Budget, BudgetSpentError
from ..display import Shown
from ..errors import DalembertError
from ..model.system import System
from ..theory.conserved.energy_and_momenta import cyclic_momenta, energy_integral
from ..theory.conserved.first_integrals import first_integrals
from ..theory.constraints.classification import classify
from ..theory.motion.lagrange import expanded
from .html_parts import Writer

Numbers = Mapping[Any, Any]

BOXES = 3000
"""Boxes that a search for equilibria may examine."""


def statement(w: Writer, system: System) -> str:
    """Coordinates, parameters, energies, forces."""
    typed = system.as_typed
    listed = [("coordinates", [f.name for f in system.factors]), ("entropies", [S.name for S in system.entropies])]
    symbols = [(key, names) for key, names in listed if names] + [
        ("parameters of", [p.name for p in system.parameters])
    ]
    found = "".join(
        f"<p><strong>{w.word(key)}:</strong> {', '.join(f'<code>{escape(n)}</code>' for n in names) or w.word('none')}</p>"
        for key, names in symbols
    )
    energies = {"kinetic": system.kinetic, "potential": system.potential}
    for key, e in energies.items() if system.kinetic is not None else ():
        found += w.formula(typed(e), label=w.word(key))
    if system.kinetic is None:
        found += w.formula(typed(system.lagrangian), label=w.word("lagrangian"))
    if system.internal_energy != 0:
        found += w.formula(typed(system.internal_energy), label=w.word("internal"))
    for S, T in zip(system.entropies, system.temperatures, strict=True):
        found += w.formula(typed(T), label=f"{w.word('temperatures')}: <code>{escape(S.name)}</code>")
    acting = [(q, f) for q, f in zip(system.coordinates, system.force, strict=True) if f != 0]
    for q, f in acting:
        found += w.formula(typed(f), label=f"{w.word('forces')}: <code>{escape(q.name)}</code>")
    if system.dissipation != 0:
        found += w.formula(typed(system.dissipation), label=w.word("dissipation"))
    for k, c in enumerate(system.equations().constraints):
        found += w.formula(c, label="" if k else w.word("constraints"))
    if system.constraints:
        found += f"<p><strong>{w.word('principle')}:</strong> <code>{escape(repr(system.principle))}</code></p>"
    return found


def constraints(w: Writer, system: System, seconds: float) -> str:
    """The classification of the constraints, with its reasons."""
    if not system.constraints:
        return f"<p>{w.word('no constraints')}</p>"
    return searched(w, seconds, lambda: classify(system, budget=Budget(seconds=seconds)))


def equations(w: Writer, system: System) -> str:
    """Lagrange's equations, the laws of entropies, the constraints; momenta and energy."""
    derived = system.equations()
    found = "".join(map(w.formula, (*derived.lagrange, *derived.entropy, *derived.constraints)))
    found += w.formula(derived.energy, label=w.word("energy of"))
    for q, p in derived.momenta.items():
        found += w.formula(p, left=q.momentum, label="" if q is not system.coordinates[0] else w.word("momenta"))
    return found


def integrals(w: Writer, system: System, seconds: float) -> str:
    """First integrals, what is not conserved, and the reasons."""
    try:
        return searched(w, seconds, lambda: first_integrals(system), told=False)
    except (DalembertError, BudgetSpentError):  # energy and cyclic momenta need no search
        pass
    try:
        return searched(w, seconds, lambda: first_integrals(system, degree=0), told=False)
    except (DalembertError, BudgetSpentError):  # where a coordinate is a rotation, say
        known = [
            replace(i, expression=expanded(i.expression, system))
            for i in (energy_integral(system), *cyclic_momenta(system))
            if i.conserved
        ]
        return "".join(map(w.result, known)) or searched(w, seconds, lambda: first_integrals(system, degree=0))


def rest(w: Writer, system: System, parameters: Numbers | None, box: Any, seconds: float) -> tuple[str, str]:
    """Equilibria, and the modes about the first that is stable, or about the first."""
    if parameters is None and system.parameters:
        lacking = f"<p>{w.word('numbers lacking')}</p>"
        return lacking, lacking
    held: list[Any] = []

    def found() -> Shown:
        held.append(equilibria(system, parameters=parameters, box=box, attempts=BOXES))
        return held[0]  # type: ignore[no-any-return]

    told = searched(w, seconds, found)
    known = list(held[0]) if held else []
    about = next((e for e in known if e.stability.verdict == "stable"), known[0] if known else None)
    if about is None:
        return told, f"<p>{w.word('no modes')}</p>"
    return told, searched(w, seconds, lambda: normal_modes(system, at=about))


def searched(w: Writer, seconds: float, search: Callable[[], Shown], told: bool = True) -> str:
    """The result of a search with a limit of time; if it fails, a sentence says so."""

    def within() -> tuple[str, Exception | None]:
        try:
            return w.result(search()), None
        except DalembertError as error:
            return "", error

    try:
        found = Budget(seconds=seconds).call(within)
    except BudgetSpentError:
        found = None
    text, error = found or ("", BudgetSpentError(w.word("out of time", f"{seconds:g}")))
    if error is None:
        return text
    if not told:
        raise error
    return f"<p>{w.word('not found', '')}{w.said(str(error)) if found else escape(str(error))}</p>"
