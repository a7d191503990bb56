"""A compilation cache that outlives one test but never touches the user's; what belongs to the fast part; how code
is compiled in tests; a watch.

The watch reports at the end every symbolic call of the library that took more than ten seconds.
"""

import gc
import os
import signal
import tempfile
from collections import Counter

import pytest

from dalembert.engine import machine

from .watch import LIMIT, Watch

os.environ.setdefault("DALEMBERT_CACHE", os.path.join(tempfile.gettempdir(), "dalembert-test-cache"))

QUICK = (
    "architecture/test_layout", "architecture/test_pages", "architecture/test_types", "errors/test_analysis_messages",
    "errors/test_bodies_messages", "errors/test_classify_messages", "errors/test_discrete_system_messages",
    "errors/test_discrete_theory_messages", "errors/test_discrete_thermo_messages", "errors/test_event_messages",
    "errors/test_file_and_run_messages", "errors/test_hamel_messages", "errors/test_method_messages",
    "errors/test_model_messages", "errors/test_models_messages", "errors/test_odd_inputs", "errors/test_starts_in_any_units",
    "errors/test_thermo_messages", "errors/test_what_new_users_type",
    "identities/test_discrete_details", "identities/test_groups", "identities/test_one_of_each",
    "identities/test_principle_checks", "identities/test_rotation_numbers", "identities/test_theory_details",
    "interface/test_methods_table", "interface/test_tutorials", "properties/test_coefficients",
    "properties/test_identity", "properties/test_own_functions", "textbook/test_000_recurrence",
    "textbook/test_001_existence", "textbook/test_002_discrete_nonholonomic", "textbook/test_002_rows",
)  # fmt: skip
"""Files whose tests take some hundredths of a second each: all of them are in the fast part."""
KEPT = 17
"""Of every other file, one test in so many is."""


THINNED = {
    "test_gallery_systems_in_other_units": 3, "test_constraints_that_can_be_integrated_are_integrals_in_all_units": 3,
    "test_brachistochrone_beyond_the_quarter_cycloid": 4, "test_the_lowest_point_is_the_lowest": 3,
    "test_no_energy_drift": 2, "test_an_acceleration_far_smaller_than_its_forces_is_not_zero": 2,
}  # fmt: skip
"""Of these cases, which ask the same of one system or method after the other, one in so many is in `make test`; the others
are in `make verify`, as are the longest single cases of other tests."""
LONGEST = (
    "test_any_frame_gives_the_motion_of_the_gallery[nonholonomic-particle]",
    "test_any_frame_gives_the_motion_of_the_gallery[spherical-pendulum]",
    "test_any_frame_gives_the_motion_of_the_gallery[rod-on-driven-knives]",
    "test_the_exponential[Galerkin(2, 'lobatto')]", "test_variations_keep_every_constraint[Phi]",
    "test_long_chains_end[100-False-40]",
)  # fmt: skip


def pytest_collection_modifyitems(items):
    seen = Counter()
    for item in items:
        test = item.name.partition("[")[0]
        if seen[test] % THINNED.get(test, 1) or item.name in LONGEST:
            item.add_marker(pytest.mark.verify)
        seen[test] += 1
    for item in items:
        name = f"{item.path.parent.name}/{item.path.stem}"
        if name not in QUICK and item.get_closest_marker("slow") is None:
            if seen[name] % KEPT:
                item.add_marker(pytest.mark.slow)
            seen[name] += 1


FEW_STEPS = {"run": 2_000, "apply": 200, "adaptive": 2_000}
"""Lines from which on code is compiled with little optimisation: in most tests optimising a step takes longer than making all
steps. `properties/test_optimised` shows that this changes no bit, and `make verify` optimises as always."""
ALWAYS = dict(machine.LONG)


@pytest.fixture
def optimised(monkeypatch):
    """Code is compiled as for users: for tests of very many steps."""
    monkeypatch.setattr(machine, "LONG", ALWAYS)
    monkeypatch.setenv("DALEMBERT_CACHE", os.environ["DALEMBERT_CACHE"] + "-optimised")


def pytest_configure(config):
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background by a shell: tests press Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.option.markexpr != "verify":
        machine.LONG.update(FEW_STEPS)
    if getattr(config.option, "dist", "no") == "no":  # not in the process that only gives out tests
        gc.disable()  # until collection ends: modules and tests, which it makes, stay for the whole session


def pytest_collection_finish():
    gc.collect()
    gc.freeze()
    gc.enable()


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
