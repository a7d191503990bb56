"""Every gallery system with decimals in place of its parameters, against the same with fractions: verdicts and time.

python benchmarks/decimals.py [name ...]
"""

from __future__ import annotations

import math
import os
import random
import select
import signal
import sys
import time
import warnings

import sympy

import dalembert as da
from dalembert.decide.decimals import exact
from dalembert.symbolic import fast, free_names, magnitude, number


def integrals(system):
    """First integrals, each in units of its value at one point: a constant times an integral is the same integral."""
    rng, found = random.Random(1), [i.expression for i in da.first_integrals(system, degree=1)]
    at = {name: rng.uniform(0.3, 1.7) for name in sorted(free_names(map(fast, found)))}
    return [e / number(e, at) for e in found]


LIMIT = 60
"""Seconds in which a question is answered."""

QUESTIONS = {
    "classify": da.classify,
    "equations": lambda s: s.equations().solved,
    "energy": lambda s: s.equations().energy,
    "structure": lambda s: da.structure(s).mass_matrix,
    "hamilton": lambda s: da.hamilton(s).hamiltonian,
    "integrals": integrals,
    "routh": lambda s: da.routh(s).routhian,
    "modified": lambda s: da.modified_equation(s, da.Midpoint(), 2).fields,
    "reactions": lambda s: da.reactions(s).multipliers,
}


def numbers(example, kind):
    """The parameters as decimals of three digits that are no short fractions, or as the fractions these are."""
    found = {p: float(f"{float(v) * 1.0123 + (0.0 if v else 0.01):.3g}") for p, v in example.parameters.items()}
    return {p: sympy.Float(v) if kind == "decimals" else exact(v) for p, v in found.items()}


def substituted(s, values):
    """The system with numbers for its parameters."""

    def put(e):
        return e.xreplace(values)

    q = s.coordinates
    forms = [sympy.Add(*(put(a) * c.dot for a, c in zip(w, q, strict=True))) for w in s.variations]
    pairs = zip(s.entropies, s.friction, strict=True)
    return da.System(
        s.name,
        q,
        **{kind: put(e) for kind, e in s.energies.items()},
        entropies=s.entropies,
        internal_energy=put(s.internal_energy),
        friction={S: {c: put(f) for c, f in zip(q, row, strict=True)} for S, row in pairs},
        heat={S: put(P) for S, P in zip(s.entropies, s.heat, strict=True)},
        conduction={(c.body, put(c.to)): put(c.conductance) for c in s.conduction},
        forces={c: put(f) for c, f in zip(q, s.forces, strict=True)},
        dissipation=put(s.dissipation),
        constraints=[put(c.expression) for c in s.constraints],
        variations=forms if s.has_own_variations else None,
    )


def seconds(system, question):
    """Processor time of an answer in a process that has not been asked before; infinite if it takes longer than LIMIT."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        start = time.process_time()
        answered(system, question)
        os.write(write, str(time.process_time() - start).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        if not select.select([pipe], [], [], LIMIT)[0]:
            os.kill(child, signal.SIGKILL)
        taken = float(pipe.read() or "inf")
    os.waitpid(child, 0)
    return taken


def answered(system, question):
    """The answer, or the refusal."""
    try:
        return QUESTIONS[question](system)
    except da.DalembertError as refusal:
        return type(refusal).__name__


def same(one, two):
    """Whether two answers are the same, expressions by value: SymPy may have put a decimal for the sine of one."""
    if isinstance(one, dict):
        return same(list(one), list(two)) and same(list(one.values()), list(two.values()))
    if isinstance(one, list | tuple | sympy.MatrixBase):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, sympy.Basic) and isinstance(two, sympy.Basic):
        return equal(fast(exact(one)), fast(exact(two)))
    if hasattr(one, "growth_vector"):
        kinds = [[c.kind for c in verdict.constraints] for verdict in (one, two)]
        return kinds[0] == kinds[1] and one.rank == two.rank and one.growth_vector == two.growth_vector
    return one == two if one is None or isinstance(one, str) else equal(fast(one), fast(two))


def equal(one, two):
    """Whether two expressions have the same values, to what rounding leaves of them, at random points."""
    rng = random.Random(0)
    for _ in range(3):
        at = {name: rng.uniform(0.3, 1.7) for name in sorted(free_names([one, two]))}
        size, apart = number(magnitude(one), at) + number(magnitude(two), at), number(one, at) - number(two, at)
        if math.isfinite(apart) and not abs(apart) <= 1e-11 * size:
            return False
    return True


def main(names):
    """Compare, and print what differs or takes more than twice the time."""
    warnings.simplefilter("ignore")
    different, total, slow, late = 0, [0.0, 0.0], [], []
    for name in names:
        example = da.gallery.load(name)
        systems = [substituted(example.system, numbers(example, kind)) for kind in ("decimals", "fractions")]
        for question in QUESTIONS:
            times = [seconds(s, question) for s in systems]
            if math.inf in times:
                late.append(f"{name}, {question}: no answer in {LIMIT} s, with decimals and fractions: {times}")
                continue
            answers = [answered(s, question) for s in systems]
            total = [a + b for a, b in zip(total, times, strict=True)]
            if times[0] > 2 * times[1] + 0.1:
                slow.append(f"{name}, {question}: {times[0]:.2f} s, with fractions {times[1]:.2f} s")
            if not same(*answers):
                different += 1
                print(f"{name}, {question} differs:\n  {answers[0]}\n  {answers[1]}")
    print(f"{len(names)} systems, {len(QUESTIONS)} questions each: {different} answers differ")
    print(f"{total[0]:.1f} s with decimals, {total[1]:.1f} s with fractions", *slow, *late, sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:] or da.gallery.names())
