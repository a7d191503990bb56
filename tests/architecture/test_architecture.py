"""The house stands as drawn: imports point one way, public names are documented, start-up is light."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import dalembert as da
from dalembert import methods

SOURCE = Path(da.__file__).parent

# What each part may import from the package, besides itself. Everything may import COMMON.
COMMON = ("errors", "symbolic", "shown", "budget", "decide", "numbers")
ALLOWED = {
    "errors": set(),
    "numbers": set(),
    "symbolic": set(),
    "decide": set(),
    "shown": set(),
    "budget": set(),
    "domain": set(),
    "stepmap": {"domain"},
    "model": set(),
    "gallery": {"model"},
    "theory": {"model", "stepmap"},
    "discrete": {"model", "domain", "stepmap"},
    "methods": {"model", "theory", "discrete", "stepmap"},
    "engine": {"domain", "stepmap"},
    "run": {"domain", "model", "theory", "discrete", "methods", "engine", "stepmap"},
    "auditing": {"model", "theory", "discrete", "methods", "engine", "stepmap", "run"},
    "draw": {"model", "theory", "run", "auditing"},
    "cli": {"gallery", "methods", "run", "auditing", "draw"},
}

# Methods of objects that open something further up, imported when called.
DOORS = {
    ("model/system.py", "theory"): "System.equations",
    ("run/trajectory.py", "draw"): "Trajectory.plot",
    ("theory/hamilton.py", "run"): "HamiltonianForm.simulate",
}


@cache
def imports():
    """(file, imported part) of every import from the package that is not for types alone."""
    return list(_imports())


def _imports():
    for path in sorted(SOURCE.rglob("*.py")):
        relative = path.relative_to(SOURCE)
        if relative.name == "__init__.py" and len(relative.parts) == 1:
            continue
        tree = ast.parse(path.read_text())
        typing_only = {
            id(n)
            for block in ast.walk(tree)
            if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
            for n in ast.walk(block)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level and id(node) not in typing_only:
                base = list(relative.parts[:-1])[: len(relative.parts) - node.level]
                target = [*base, *(node.module.split(".") if node.module else [])]
                names = [target] if node.module else [[*base, a.name] for a in node.names]
                for parts in names:
                    if parts and parts[0] != "__version__":
                        yield str(relative), parts[0]


@pytest.mark.parametrize("part", ALLOWED)
def test_import_arrows(part):
    for file, imported in imports():
        mine = file.split("/")[0].removesuffix(".py")
        if mine != part or imported in (part, *COMMON) or (file, imported) in DOORS:
            continue
        assert imported in ALLOWED[part], f"{file} imports {imported}, against the arrows of docs/architecture.md"


def test_the_arrow_test_sees_imports():
    found = set(imports())
    assert ("model/system.py", "theory") in found
    assert ("run/simulate.py", "engine") in found
    assert all(door in found for door in DOORS), "a door that nobody uses"


def test_every_part_is_in_the_plan():
    parts = {p.relative_to(SOURCE).parts[0].removesuffix(".py") for p in SOURCE.rglob("*.py")}
    assert parts - {"__init__"} == set(ALLOWED)


@pytest.mark.parametrize("name", da.__all__)
def test_public_names_are_documented(name):
    value = getattr(da, name)
    own = getattr(value, "__module__", "dalembert").startswith("dalembert") or not callable(value)
    constants = {"time", "step", "pi", "left_map", "midpoint_map", "right_map"}
    if own and name not in constants:
        assert value.__doc__, f"{name} has no docstring"
    documented = (Path(__file__).parents[2] / "docs" / "reference.md").read_text()
    assert f"`{name}`" in documented or f"`{name}(" in documented, f"{name} is not in docs/reference.md"


def test_the_reference_page_is_up_to_date():
    docs = Path(__file__).parents[2] / "docs"
    namespace = {"__name__": "make_reference", "__file__": str(docs / "make_reference.py")}
    exec((docs / "make_reference.py").read_text(), namespace)
    assert (docs / "reference.md").read_text() == namespace["reference"](), "run python docs/make_reference.py"


def test_public_names_are_few():
    """Besides integrators, of which there may be many, and the functions of SymPy."""
    own = [n for n in da.__all__ if str(getattr(getattr(da, n), "__module__", "dalembert")).startswith("dalembert")]
    assert len([n for n in own if n not in methods.__all__]) <= 64


def test_public_methods_are_documented():
    for kind in (da.System, da.DiscreteSystem, da.Trajectory, da.VariationalMethod):
        for name, member in vars(kind).items():
            if not name.startswith("_") and (callable(member) or isinstance(member, property)):
                assert member.__doc__, f"{kind.__name__}.{name} has no docstring"


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import dalembert", ["numpy", "symengine", "llvmlite", "scipy", "xarray", "matplotlib", "rich", "typer"]),
        (
            "import dalembert as da; e = da.gallery.load('pendulum'); "
            "da.simulate(e.system, da.Midpoint(), h=0.1, steps=3, start=e.start, parameters=e.parameters)",
            ["scipy", "xarray", "matplotlib", "pandas", "rich"],
        ),
    ],
)
def test_nothing_heavy_is_imported_before_it_is_used(statement, absent):
    code = f"{statement}\nimport sys\nprint(' '.join(m for m in {absent!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_functions_and_modules_stay_small():
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        assert text.count("\n") <= 400, f"{path.name} has {text.count(chr(10))} lines"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.lineno < 60, f"{path.name}: {node.name}"
