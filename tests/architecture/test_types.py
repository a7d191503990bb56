"""The package ships its types, and the types of SymEngine are those that SymEngine has."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import symengine

import dalembert as da
from dalembert import symengine_types
from dalembert.symbolic import Fast, fast, vector

SOURCE = Path(da.__file__).parent
EXPRESSIONS = [fast("x"), fast("x") + 1, fast(2) / 3, symengine.Dummy("x")]


def declared(protocol):
    """The members that a class of `symengine_types` declares."""
    tree = ast.parse(Path(symengine_types.__file__).read_text())
    bodies = {c.name: c.body for c in tree.body if isinstance(c, ast.ClassDef)}
    return [m.name for m in bodies[protocol] if isinstance(m, ast.FunctionDef)]


def has(value, name):
    try:
        getattr(value, name)
    except (AttributeError, RuntimeError):
        return False
    return True


def test_the_package_is_marked_as_typed():
    assert (SOURCE / "py.typed").is_file()


@pytest.mark.parametrize("name", declared("Fast"))
def test_expressions_have_what_their_type_declares(name):
    assert any(has(e, name) for e in EXPRESSIONS)


@pytest.mark.parametrize("name", declared("Vector"))
def test_columns_have_what_their_type_declares(name):
    assert has(vector([1, 2]), name)


def test_control_a_member_that_expressions_lack():
    assert not any(has(e, "doit") for e in EXPRESSIONS)


def test_the_type_of_expressions_is_a_class():
    assert isinstance(Fast, type) and len(declared("Fast")) > 30


def test_the_stub_names_functions_of_symengine():
    stub = ast.parse((SOURCE.parents[1] / "stubs" / "symengine" / "__init__.pyi").read_text())
    names = [d.name for d in stub.body if isinstance(d, ast.FunctionDef) and d.name != "__getattr__"]
    assert names and all(hasattr(symengine, n) for n in names)
