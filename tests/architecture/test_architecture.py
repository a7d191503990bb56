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

# What each room may import from the package, besides itself and its subfolders. Every room may import COMMON.
COMMON = {"errors", "kinks", "symbolic", "display", "decide", "numbers"}
MECHANICS = {"model", "model/bodies", "theory", "theory/motion"}
ALLOWED = {
    "errors": set(),
    "numbers": set(),
    "symengine_types": set(),
    "kinks": {"symengine_types"},
    "symbolic": {"kinks", "symengine_types"},
    "decide": set(),
    "display": set(),
    "waist": set(),
    "engine": {"engine/backends", "waist"},
    "engine/backends": {"engine"},
    "rigour": {"engine"},
    "model": set(),
    "model/groups": set(),
    "model/bodies": {"model"},
    "model/substances": {"model"},
    "gallery": {"model", "model/bodies", "model/groups", "model/substances"},
    "theory": {"model"},
    "theory/motion": {"model", "theory", "waist"},
    "theory/constraints": {"model", "model/bodies", "theory"},
    "theory/reactions": {*MECHANICS, "theory/constraints"},
    "theory/conserved": {*MECHANICS, "theory/constraints", "waist"},
    "theory/small_motions": MECHANICS,
    "theory/variations": {"model", "theory", "waist"},
    "theory/inverse": {*MECHANICS - {"model/bodies"}, "theory/constraints"},
    "theory/cartan": {*MECHANICS - {"model/bodies"}, "theory/constraints"},
    "theory/forms": {*MECHANICS, "theory/constraints", "theory/conserved", "waist"},
    "theory/models": {*MECHANICS, "theory/conserved", "theory/constraints", "theory/forms", "theory/inverse"},
    "theory/backward_error": {"model", "theory", "waist"},
    "theory/reduction": {"model", "model/bodies", "model/groups", "theory", "theory/conserved", "theory/motion"},
    "discrete": {"model", "model/bodies", "waist"},
    "discrete/reduction": {"model", "model/bodies", "theory", "theory/reduction", "discrete", "waist"},
    "methods": {"model", "theory/motion", "theory/conserved", "discrete", "waist"},
    "run": {
        "model", "model/bodies", "theory/cartan", "theory/motion", "theory/forms", "theory/models", "theory/reduction",
        "discrete", "discrete/reduction", "methods", "engine", "waist",
    },
    "analysis/equilibria": {"model", "model/bodies", "theory/motion", "theory/small_motions", "rigour", "run", "waist"},
    "analysis/steps": {"model", "theory/motion", "discrete", "methods", "engine", "rigour", "run", "waist"},
    "analysis/motions": {
        "model", "model/bodies", "theory/motion", "theory/conserved", "theory/constraints", "theory/reactions",
        "discrete", "methods", "engine", "run", "waist",
    },
    "analysis/motions/audit": {
        "model", "theory/motion", "theory/conserved", "discrete", "methods", "engine", "run", "analysis/motions",
    },
    "analysis/accuracy": {
        "model", "theory/motion", "theory/backward_error", "discrete", "methods", "run", "waist", "analysis/steps",
    },
    "study": {"model", "model/bodies", "discrete", "methods", "engine", "engine/backends", "run"},
    "draw": {
        "model", "model/bodies", "model/groups", "theory/motion", "theory/conserved", "theory/small_motions", "discrete",
        "methods", "engine", "engine/backends", "run", "waist", "analysis/motions", "analysis/motions/audit",
        "analysis/accuracy", "analysis/equilibria", "words",
    },
    "words": set(),
    "report": {
        "model", "theory/conserved", "theory/constraints", "theory/motion", "gallery", "methods", "run",
        "analysis/motions/audit", "analysis/equilibria", "draw", "words",
    },
    "cli": {"gallery", "methods", "run", "study", "analysis/motions/audit", "draw", "engine", "report"},
}  # fmt: skip

# Methods of objects that open something further up, or a neighbour that imports their own module: imported when called.
DOORS = {
    ("model/system", "theory/motion/lagrange"): "System.equations",
    ("model/groups/lie_group", "model/groups/products"): "LieGroup.__mul__",
    ("theory/motion/lagrange", "theory/motion/energies"): "Equations.energy",
    ("discrete/system", "discrete/equations"): "DiscreteSystem.equations",
    ("discrete/system", "discrete/flow"): "DiscreteSystem.step_matrix",
    ("discrete/maps", "discrete/system"): "FiniteDifferenceMap.discrete_system",
    ("discrete/maps", "discrete/equations"): "FiniteDifferenceMap.step_map",
    ("methods/base", "methods"): "Method.instead",
    ("theory/variations/functionals", "theory/variations/extremals"): "Functional.value",
    ("theory/variations/functionals", "theory/variations/extremal_search"): "Functional.extremal",
    ("run/trajectory", "run/storage"): "Trajectory.dataset",
    ("run/trajectory", "run/save_and_load"): "Trajectory.save",
    ("run/trajectory", "analysis/motions/force_report"): "Trajectory.forces",
    ("run/trajectory", "draw/plots"): "Trajectory.plot",
    ("run/trajectory", "draw/animate"): "Trajectory.animate",
    ("run/trajectory", "report/write_report"): "Trajectory.report",
    ("model/system", "report/write_report"): "System.report",
    ("theory/forms/hamilton", "run/hamilton_flow"): "HamiltonianForm.simulate",
    ("model/upsilon", "theory/models/variation_fields"): "Upsilon.fields",
    ("theory/cartan/fields", "run/integral_curves"): "VectorField.integral_curve",
    ("theory/reduction/reduced", "run/reconstructed_run"): "ReducedSystem.reconstruct",
    ("discrete/reduction/reduced_system", "run/reconstructed_run"): "ReducedDiscreteSystem.reconstruct",
    ("theory/models/comparison", "run/model_motions"): "ModelComparison.motions",
    ("run/model_motions", "draw/model_plots"): "ModelMotions.plot",
    ("analysis/accuracy/convergence", "draw/convergence_figure"): "Convergence.plot",
}


@cache
def modules():
    """{module: file}, a module by its path without a suffix; a package is its folder."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        relative = path.relative_to(SOURCE)
        found["/".join(relative.parts[:-1] if relative.name == "__init__.py" else relative.with_suffix("").parts)] = (
            path
        )
    return {name: path for name, path in found.items() if name}


@cache
def imports():
    """(importing module, imported module) within the package, except imports for types alone."""
    return sorted({pair for name, path in modules().items() for pair in _imports(name, path)})


def _imports(name, path):
    tree = ast.parse(path.read_text())
    types_only = {
        id(n)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for n in ast.walk(block)
    }
    folder = name.split("/") if path.name == "__init__.py" else name.split("/")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level and id(node) not in types_only:
            base = [*folder[: len(folder) - node.level + 1], *(node.module.split(".") if node.module else [])]
            for alias in node.names:
                target = "/".join([*base, alias.name])
                target = target if target in modules() else "/".join(base)
                if target and target != name:
                    yield name, target


def room(module):
    """The folder a module is in; a module at the top is a room of its own."""
    return module if modules()[module].name == "__init__.py" or "/" not in module else module.rpartition("/")[0]


@pytest.mark.parametrize("part", ALLOWED)
def test_import_arrows(part):
    for module, imported in imports():
        here, there = room(module), room(imported)
        if here != part or there in {part, *COMMON} or there.startswith(f"{part}/") or (module, imported) in DOORS:
            continue
        assert there in ALLOWED[part], f"{module} imports {imported}, against the arrows of docs/architecture.md"


def test_the_arrow_test_sees_imports():
    found = set(imports())
    assert ("model/system", "theory/motion/lagrange") in found
    assert ("run/simulate", "engine/machine") in found
    assert all(door in found for door in DOORS), "a door that nobody uses"


def test_every_room_is_in_the_plan():
    assert {room(m) for m in modules()} - {"analysis"} == set(ALLOWED)


def test_every_room_says_what_belongs_there():
    for name, path in modules().items():
        if path.name == "__init__.py":
            assert ast.get_docstring(ast.parse(path.read_text())), f"{name}/__init__.py has no docstring"


def circle(arrows):
    """Some modules that import each other in a circle; nothing if there are none."""
    after = {}
    for module, imported in arrows:
        after.setdefault(module, []).append(imported)
    done, path = set(), []

    def visit(module):
        if module in path:
            return path[path.index(module) :]
        if module in done:
            return []
        path.append(module)
        found = next((c for t in after.get(module, []) if (c := visit(t))), [])
        path.pop()
        done.add(module)
        return found

    return next((c for m in list(after) if (c := visit(m))), [])


def test_no_modules_import_each_other_in_a_circle():
    """Also not inside functions, but for the doors."""
    assert not circle([pair for pair in imports() if pair not in DOORS])
    assert circle(imports()), "the doors close circles, so the test must see one here"


def test_module_names_are_used_once():
    """Unless it is the same thing in two rooms."""
    same = {"system", "serial", "particles"}  # the last: bodies, and systems of the gallery made of them
    files = [m.rpartition("/")[2] for m, path in modules().items() if path.name != "__init__.py"]
    assert not {n for n in files if files.count(n) > 1} - same


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
    """Besides integrators, of which there may be many, and the functions of SymPy: docs/architecture.md says why so many."""
    own = [n for n in da.__all__ if str(getattr(getattr(da, n), "__module__", "dalembert")).startswith("dalembert")]
    assert len([n for n in own if n not in methods.__all__]) <= 89


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


OPEN = {"dalembert", "dalembert.methods", "dalembert.methods.method_table"}
"""What the scripts that write the pages of the documentation may import of the library."""


def private_names(text: str) -> list[str]:
    """Modules that are not public, and attributes with an underscore that are not one's own."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dalembert":
            found += [node.module] * (node.module not in OPEN)
            found += [a.name for a in node.names if a.name.startswith("_")]
        if isinstance(node, ast.Import):
            found += [a.name for a in node.names if a.name.split(".")[0] == "dalembert" and a.name not in OPEN]
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.endswith("__"):
            found += [node.attr] * (getattr(node.value, "id", "") not in ("self", "cls"))
    return found


@pytest.mark.parametrize("script", sorted((Path(__file__).parents[2] / "docs").glob("make_*.py")), ids=lambda p: p.stem)
def test_pages_are_written_with_public_names(script):
    assert private_names(script.read_text()) == []


def test_control_private_names_are_seen():
    text = "from dalembert.engine.machine import Stepper\nimport dalembert.run.plan\nrun._positions\nself._own\n"
    assert private_names(text) == ["dalembert.engine.machine", "dalembert.run.plan", "_positions"]
