"""A compilation cache that outlives one test but never touches the user's; what belongs to the fast part; a watch.

The watch reports at the end every symbolic call of the library that took more than ten seconds.
"""

import os
import tempfile

import pytest

from .watch import LIMIT, Watch

os.environ.setdefault("DALEMBERT_CACHE", os.path.join(tempfile.gettempdir(), "dalembert-test-cache"))

LONG = (
    "conformance/test_drift", "conformance/test_laws", "errors/test_bit_contracts", "identities/test_backward_error",
    "identities/test_bodies", "identities/test_classification", "identities/test_equilibria",
    "identities/test_exact_lagrangian", "identities/test_existence", "identities/test_hamilton",
    "identities/test_newton_euler", "identities/test_thermal_laws", "identities/test_two_formulations",
    "interface/test_command_line", "interface/test_convergence", "properties/test_engine", "textbook/test_000_thermodynamics",
    "textbook/test_002_theory", "textbook/test_003_reactions", "textbook/test_004_integrals", "textbook/test_004_problems",
    "textbook/test_004_reactions", "textbook/test_gallery", "identities/test_transformations",
    "identities/test_structure", "conformance/test_order", "conformance/test_structure", "textbook/test_transmission",
    "conformance/test_tangents",
    "textbook/test_004_oscillations", "textbook/test_003_constraints", "textbook/test_003_examples",
    "textbook/test_004_examples",
    "textbook/test_004_variations", "textbook/test_000_warming", "textbook/test_000_discrete_thermomechanics",
    "identities/test_routh", "identities/test_noether", "properties/test_decimal_gallery",
)  # fmt: skip
KEPT = 14
"""Of files that take long, one test in so many is in the fast part."""


def pytest_collection_modifyitems(items):
    seen = dict.fromkeys(LONG, 0)
    for item in items:
        for name in LONG:
            if f"{name}.py" in str(item.fspath):
                seen[name] += 1
                if seen[name] % KEPT != 1:
                    item.add_marker(pytest.mark.slow)


WATCH, SLOW = Watch(), "slow symbolic call"


def pytest_sessionstart():
    WATCH.begin()


def pytest_sessionfinish():
    WATCH.end()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    before = len(WATCH.slow)
    try:
        return (yield)
    finally:
        item.user_properties += [(SLOW, text) for text in WATCH.slow[before:]]


def pytest_terminal_summary(terminalreporter):
    reports = [r for kind in ("passed", "failed") for r in terminalreporter.stats.get(kind, [])]
    found = [f"{r.nodeid}: {text}" for r in reports for name, text in getattr(r, "user_properties", []) if name == SLOW]
    if found:
        terminalreporter.section(f"symbolic calls of more than {LIMIT:.0f} s")
        for line in sorted(set(found)):
            terminalreporter.write_line(line)
