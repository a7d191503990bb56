"""dalembert: computational analytical mechanics.

State a system, read its equations, compute its motion with integrators that keep its structure.

Public names are listed in `__init__.pyi` and imported when they are first used, so that `import dalembert` is light.
"""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"


@cache
def _places() -> dict[str, tuple[str, str]]:
    """For each public name the module to import from, and the name it has there; `*` is the name of all integrators."""
    listing = ast.parse(Path(__file__).with_name("__init__.pyi").read_text(encoding="utf-8"))
    found = {}
    for line in listing.body:
        if isinstance(line, ast.ImportFrom) and line.module != "typing":
            module = "." * line.level + (line.module or "")
            found |= {alias.asname or alias.name: (module, alias.name) for alias in line.names}
    return found


@cache
def _integrators() -> tuple[str, ...]:
    return tuple(import_module(".methods", __name__).__all__)


def _names() -> list[str]:
    return [name for place in _places() for name in (_integrators() if place == "*" else (place,))]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name == "__all__":
        return _names()
    if name.startswith("__") or (name not in _places() and name not in _integrators()):
        raise AttributeError(f"dalembert has no name {name!r}; see dalembert.__all__.")
    module, original = _places().get(name, (".methods", name))
    held = vars(import_module(module, __name__))
    value = held[original] if original in held else import_module(f"{module.rstrip('.')}.{original}", __name__)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_names()])
