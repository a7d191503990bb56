"""Runs the example notebooks with a kernel of their own and keeps the text of their outputs in them.

python docs/make_notebooks.py [notebook ...]           run, write outputs into the notebooks
python docs/make_notebooks.py --check [notebook ...]   run, write nothing, say which outputs have changed

Pictures and players are left out: they appear when a notebook is run, and would be most of its size.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import nbformat
from make_tutorials import same

NOTEBOOKS = tuple(sorted((Path(__file__).parent / "notebooks").glob("*.ipynb")))
KEPT = ("text/markdown", "text/latex")
"""Rich forms that are kept, beside plain text."""
PATIENCE = 120
"""Seconds for a cell."""


def run(path: Path) -> Any:
    """A notebook as a kernel of its own leaves it; an error in a cell is raised."""
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as empty:
        NotebookClient(
            notebook, timeout=PATIENCE, kernel_name="python3", resources={"metadata": {"path": empty}}
        ).execute()
    return notebook


def codes(notebook: Any) -> list[Any]:
    """The cells with code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def text(cell: Any) -> str:
    """What a cell prints and its value, as text; forms that have no words, such as a figure, as their kind."""
    found = []
    for output in cell.outputs:
        if output.output_type == "stream":
            found.append(output.text)
        elif "text/plain" in output.data:
            words = output.data["text/plain"]
            found.append("Figure" if re.match(r"<(Shown)?Figure", words) else words)
    return "\n".join(found)


def stale(old: Any, new: Any) -> list[str]:
    """Which cells show something else now."""
    pairs = zip(codes(old), codes(new), strict=True)
    return [
        f"cell {k}: {text(a)}\nis now\n{text(b)}" for k, (a, b) in enumerate(pairs, 1) if not same(text(a), text(b))
    ]


def written(notebook: Any) -> Any:
    """The notebook with outputs as text: no pictures, no players, no times of execution."""
    for cell in codes(notebook):
        cell.metadata.pop("execution", None)
        cell.execution_count = None
        kept = []
        for output in cell.outputs:
            if output.output_type == "stream":
                kept.append(output)
                continue
            words = {"text/plain": text(nbformat.NotebookNode(outputs=[output]))}
            data = {k: v for k, v in output.data.items() if k in KEPT} | words
            kept.append(nbformat.v4.new_output("display_data", data=data))
        cell.outputs = kept
    return notebook


def as_page(path: Path) -> str:
    """A notebook as Markdown: its cells, and below each what it shows as text."""
    parts = []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            data = output.get("data", {"text/plain": output.get("text", "")})
            latex = data.get("text/latex", "").strip("$")
            rich = data.get("text/markdown") or (f"$$\n{latex}\n$$" if latex else "")
            parts.append(rich or f"```text\n{data['text/plain'].rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def main(arguments: list[str]) -> int:
    """Run the notebooks; 1 if `--check` was given and an output has changed."""
    check = "--check" in arguments
    changed = 0
    for path in [Path(a).resolve() for a in arguments if a != "--check"] or NOTEBOOKS:
        began, before = perf_counter(), nbformat.read(path, as_version=4)
        now = run(path)
        reports = stale(before, now)
        changed += len(reports)
        if not check:
            nbformat.write(written(now), path)
        print(f"{path.name}: {len(codes(now))} cells, {len(reports)} changed, {perf_counter() - began:.1f} s")
        print(*reports, sep="\n", end="\n" if reports else "")
    return int(check and changed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
