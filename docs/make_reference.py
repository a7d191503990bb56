"""Writes docs/reference.md: every public name with the first line of its docstring.

python docs/make_reference.py
"""

from __future__ import annotations

from pathlib import Path

import dalembert as da
from dalembert import methods

CONSTANTS = {
    "time": "The symbol of time.",
    "step": "The symbol of the step h, for discrete Lagrangians.",
    "bodies": "Particles, rigid bodies, springs, forces, rolling: systems stated as a mechanic states them.",
    "thermo": "Fundamental relations and equations of state: `thermo.ideal_gas`, `thermo.van_der_waals` and others.",
    "scene": "What a system looks like: `scene.Rod(a, b)`, `scene.Disc(at, radius, angle)` and others.",
    "variations": "Calculus of variations: `variations.Functional`.",
    "inverse": "The inverse problem: `inverse.helmholtz`, `inverse.lagrangian`, `inverse.metric`, `inverse.jacobi_metric`.",
    "gallery": "Systems ready to use: `gallery.names()`, `gallery.load(name)`.",
    "left_map": "The finite-difference map with its base point at q0.",
    "midpoint_map": "The finite-difference map with its base point halfway.",
    "right_map": "The finite-difference map with its base point at q1.",
}


def chapters() -> dict[str, list[str]]:
    """The public names by chapter, as the listing of the package has them."""
    found: dict[str, list[str]] = {}
    for line in Path(da.__file__).with_name("__init__.pyi").read_text().splitlines():
        if line.startswith("# "):
            found[line[2:]] = []
        elif found and " import " in line:
            named = line.split(" import ")[1].split(", ")
            found[list(found)[-1]] += methods.__all__ if named == ["*"] else [n.split(" as ")[1] for n in named]
    return found


def reference() -> str:
    """The whole page."""
    lines = ["# Reference", "", "All public names; `help(dalembert.simulate)` and the like say more.", ""]
    *told, (last, functions) = chapters().items()
    for chapter, names in told:
        lines += [f"## {chapter}", "", "| name | what it is |", "|---|---|"]
        lines += [f"| `{name}` | {line(name)} |" for name in names]
        lines.append("")
    lines += [f"## {last}", "", ", ".join(f"`{n}`" for n in functions) + ".", ""]
    return "\n".join(lines)


def line(name: str) -> str:
    """What a public name is, in one line."""
    return CONSTANTS.get(name) or str(getattr(da, name).__doc__).strip().splitlines()[0]


if __name__ == "__main__":
    Path(__file__).with_name("reference.md").write_text(reference())
