"""States and tables of numbers are read by role and by name: nothing counts columns, and nothing takes names apart."""

from __future__ import annotations

import ast
import re

import pytest

from .test_architecture import SOURCE

BELOW = ("waist", "engine")
"""Rooms that lay out numbers themselves; the engine has buffers of its own, in which numbers have no roles."""

OF_A_STATE = re.compile(r"len\(.*(coordinates|velocities|momenta|unknowns|basis|state|\bq)\)( // 2)?")
"""The number of coordinates, of unknowns or of what a state holds."""

COUNTED = ["n : 2 * n", "n :", ": len(system.coordinates)", ":, n:", "..., len(system.coordinates) + a", "n + j"]


def counted(text: str) -> list[str]:
    """Subscripts with bounds or sums that contain the number of coordinates, of unknowns or of numbers of a state."""
    tree, found = ast.parse(text), []
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    of_classes = {a for a in _counts(tree) if a.startswith("self.")}
    for function in functions:
        known = {*_counts(function), *of_classes}
        for node in ast.walk(function):
            if isinstance(node, ast.Subscript) and any(_is_count(e, known) for e in _bounds(node.slice)):
                found.append(ast.unparse(node))
    return sorted({*found})


def _counts(within: ast.AST) -> set[str]:
    """Variables that are set to such a number."""
    pairs: list[tuple[ast.expr, ast.expr | None]] = []
    for node in ast.walk(within):
        if isinstance(node, ast.AnnAssign | ast.NamedExpr):
            pairs.append((node.target, node.value))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                both = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                pairs += zip(target.elts, node.value.elts, strict=False) if both else [(target, node.value)]
    return {ast.unparse(a) for a, b in pairs if b is not None and OF_A_STATE.fullmatch(ast.unparse(b))}


def _bounds(index: ast.expr) -> list[ast.expr]:
    """The bounds of slices, and places that are sums or differences."""
    found = []
    for part in index.elts if isinstance(index, ast.Tuple) else [index]:
        if isinstance(part, ast.Slice):
            found += [end for end in (part.lower, part.upper) if end is not None]
        elif isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add | ast.Sub):
            found.append(part)
    return found


def _is_count(end: ast.expr, known: set[str]) -> bool:
    parts = [ast.unparse(e) for e in ast.walk(end) if isinstance(e, ast.expr)]
    return any(part in known or OF_A_STATE.fullmatch(part) for part in parts)


def test_no_slice_counts_coordinates():
    assert _everywhere(counted, BELOW) == {}


@pytest.mark.parametrize("index", COUNTED)
def test_control_a_counted_slice_is_seen(index):
    assert counted(f"def f(system):\n    n = len(system.coordinates)\n    return state[{index}]")


def test_control_other_counts_are_no_layout():
    assert not counted("def f(rows):\n    n = len(rows)\n    return [row[n:] for row in rows]")


APART = ("split", "rsplit", "partition", "rpartition", "removeprefix", "removesuffix", "startswith", "endswith")
MATCHED = ("fullmatch", "match", "search", "findall", "sub")

PART = re.compile(
    r"(multiplier|state|turn|entry|component|interior)\.?|\.(d?dot|momentum|at\(.*|step|omega|near|stage)?"
)
"""What names of symbols consist of: "multiplier.", ".dot", "."."""

WORDS = ("words", "report", "cli", "errors", "display", "__init__", "engine")
"""Modules that read sentences, command lines, paths and machine code; they see no symbols."""

NAMES = {
    "model/groups/named.py": "names of groups in files, which say what they are products of",
    "model/packed.py": "numbers in files",
    "model/serial.py": "whether a name in a file could be one that people give",
    "draw/default_scene.py": "names that people chose: coordinates called x1 and y1 are those of one point",
    "run/zarr_file.py": "the folders of an array",
}
"""Modules that take other names apart than those of symbols."""


def taken_apart(text: str) -> list[str]:
    """Calls and slices that take a name apart, or look for a part that names of symbols have (".dot", "multiplier.")."""
    return [ast.unparse(node) for node in ast.walk(ast.parse(text)) if _parses(node) or _cuts(node)]


def _parses(node: ast.AST) -> bool:
    """Whether a call takes a name apart; what people choose may be asked for a leading underscore,
    a sentence for its full stop.
    """
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    first = list(ast.walk(node.args[0])) if node.args else []
    words = [a.value for a in first if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    if node.func.attr in MATCHED:
        return any(map(_is_name, node.args))
    chosen = node.func.attr.endswith("swith") and bool(words) and not words[0].strip("_.")
    return node.func.attr in APART and not chosen and (_is_name(node.func.value) or any(map(PART.fullmatch, words)))


def _cuts(node: ast.AST) -> bool:
    """Whether characters of a name are looked at; long names are cut in messages."""
    if not (isinstance(node, ast.Subscript) and _is_name(node.value)):
        return False
    cut = node.slice.upper if isinstance(node.slice, ast.Slice) and node.slice.lower is None else None
    return not (isinstance(cut, ast.Constant) and cut.value >= 40)


def _is_name(e: ast.AST) -> bool:
    return re.fullmatch(r"(str\()?([\w.\[\]]*\.)?name\)?(\[[^\]]*\])?", ast.unparse(e)) is not None


def test_no_symbol_is_found_by_taking_its_name_apart():
    assert {k: v for k, v in _everywhere(taken_apart, WORDS).items() if k not in NAMES} == {}
    assert {*NAMES} <= {*_everywhere(taken_apart, WORDS)}


@pytest.mark.parametrize(
    "code",
    [
        "self.name.split('.')[0]", "name.startswith('multiplier.')", "n.removeprefix('state.')", "int(self.name[-2])",
        "n.endswith(('.at(0)', '.at(1)'))", "re.fullmatch(r'multiplier', name)", "str(self.name).partition('_')",
        "key.endswith('.dot')", "name[1:]",
    ],
)  # fmt: skip
def test_control_a_name_taken_apart_is_seen(code):
    assert taken_apart(code)


def test_control_a_name_that_is_looked_up_is_none():
    assert not taken_apart("table[s.name]; known[name]; name.startswith('_'); text.split(' ')")


def _everywhere(search, left_out):
    """What a search finds, by module; some rooms are left out."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE)
        if place.parts[0].removesuffix(".py") not in left_out and (listed := search(path.read_text())):
            found[str(place)] = listed
    return found


def test_groups_have_the_columns_they_were_made_of():
    import numpy as np

    from dalembert.waist.layout import Groups

    groups = Groups(first=[1, 2], none=[], last=[3])
    assert list(groups.outputs.values()) == [1, 2, 3] and len(set(groups.outputs)) == 3
    table = np.arange(6).reshape(2, 3)
    assert groups.of(table, "first").tolist() == [[0, 1], [3, 4]]
    assert groups.of(table, "none").shape == (2, 0) and groups.of(table, "last").tolist() == [[2], [5]]
