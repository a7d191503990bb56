"""Builds the site: the pages of this folder, the gallery, and a search that works from the disk.

python docs/make_site.py [--into FOLDER] [--gallery NAME,NAME]

Pages are copied in the layout of the repository, so that links between them stay as they are written. Sources and players
are kept in .cache/site and made again when they are out of date; the site itself is in site/, to be opened as
site/index.html.
"""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import make_gallery
import make_notebooks
import make_reference

import dalembert as da
from dalembert import gallery

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CACHE = ROOT / ".cache" / "site"
CHAPTERS = {
    "Start": ["docs/first-steps", "docs/coming-from"],
    "Tutorials": [f"docs/tutorials/{p.stem}" for p in sorted((DOCS / "tutorials").glob("*.md"))],
    "Notebooks": [f"docs/notebooks/{p.stem}" for p in make_notebooks.NOTEBOOKS],
    "How to": [f"docs/how-to/{p.stem}" for p in sorted((DOCS / "how-to").glob("*.md"))],
    "Studies": ["docs/studies"],
    "Gallery": ["docs/gallery/index"],
    "Theory": [
        "docs/for-geometers", "docs/discrete-reduction", "docs/thermomechanics", "docs/models-of-constraints",
        "docs/nonholonomic-comparison", "docs/long-rotations", "docs/textbook",
    ],
    "Integrators": ["docs/choosing-a-method", "docs/verification", "benchmarks/RESULTS", "CONTRIBUTING"],
    "Reference": ["docs/conventions", "docs/api/index", "docs/architecture", "docs/checklist", "CHANGELOG"],
}  # fmt: skip
"""The pages of the site by chapter, without the ending of their files."""

LINK = re.compile(r"\[([^\]\[]+)\]\(((?!https?:|#)[^)\s]+)\)")
HEADING = re.compile(r"^## `(\w+)`$", re.M)


def pages() -> list[str]:
    """The pages that are copied: those of the chapters without what is made here."""
    return [p for listed in CHAPTERS.values() for p in listed if not p.endswith("/index")]


def write_sources(folder: Path, systems: Sequence[str]) -> None:
    """Everything that Sphinx reads."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in pages():
        target = folder / f"{name}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_within(folder, name, _page(name)))
    shutil.copytree(DOCS / "pictures", folder / "docs" / "pictures")
    for made in ("conf.py", "mathml.py", "accessible.py", "site.css"):
        shutil.copy(DOCS / "site" / made, folder / made)
    _write_api(folder / "docs" / "api")
    _write_gallery(folder, systems)
    (folder / "index.md").write_text(_index())


def _page(name: str) -> str:
    """The text of a page; a notebook becomes one."""
    notebook = ROOT / f"{name}.ipynb"
    return make_notebooks.as_page(notebook) if notebook.exists() else (ROOT / f"{name}.md").read_text()


def _within(folder: Path, name: str, text: str) -> str:
    """A page in which links to what is not in the site are plain words."""
    kept = {(folder / f"{p}.md").resolve() for p in (*pages(), "docs/gallery/index", "docs/api/index")}
    renamed = {(folder / "docs/reference.md").resolve(): "api/index.md"}
    here = (folder / name).parent

    def link(found: re.Match[str]) -> str:
        words, address = found.groups()
        target = (here / address.split("#")[0]).resolve()
        if target in renamed:
            return f"[{words}]({renamed[target]})"
        known = target in kept or target.suffix == ".png"
        return found[0] if known else words

    parts = re.split(r"(^```.*?^```\n)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def _write_api(folder: Path) -> None:
    """The chapters of the reference: what each name is, above its example."""
    folder.mkdir(parents=True)
    names = []
    for chapter in sorted((DOCS / "api").glob("*.md")):
        names.append(chapter.stem)
        (folder / chapter.name).write_text(HEADING.sub(_described, chapter.read_text()))
    table = make_reference.reference().replace("# Reference", "# All public names", 1)
    toctree = "\n".join(names)
    (folder / "index.md").write_text(f"{table}\n```{{toctree}}\n:maxdepth: 1\n:caption: Examples\n\n{toctree}\n```\n")


def _described(found: re.Match[str]) -> str:
    return f"{found[0]}\n\n{make_reference.line(found[1])}"


def _write_gallery(folder: Path, systems: Sequence[str]) -> None:
    make_gallery.make_all(CACHE / "gallery", systems)
    target, players = folder / "docs" / "gallery", folder / "extra" / "docs" / "gallery" / "players"
    target.mkdir(parents=True)
    players.mkdir(parents=True)
    for name in systems:
        shutil.copy(CACHE / "gallery" / f"{name}.md", target)
        shutil.copy(CACHE / "gallery" / "players" / f"{name}.html", players)
    (target / "index.md").write_text(make_gallery.index(systems))


def _index() -> str:
    trees = [
        f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{chr(10).join(listed)}\n```"
        for caption, listed in CHAPTERS.items()
    ]
    return "\n\n".join([(DOCS / "site" / "index.md").read_text(), *trees]) + "\n"


def build(into: Path, systems: Sequence[str], sources: Path = CACHE / "source") -> int:
    """The site in a folder; the number that Sphinx ends with, zero if nothing is wrong."""
    from sphinx.cmd.build import build_main

    write_sources(sources, systems)
    code: int = build_main(
        ["-q", "-W", "--keep-going", "-b", "html", "-d", str(sources) + ".trees", str(sources), str(into)]
    )
    return code


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, default=ROOT / "site")
    parser.add_argument("--gallery", default=",".join(gallery.names()))
    given = parser.parse_args()
    print(f"dalembert {da.__version__}: the site in {given.into}")
    raise SystemExit(build(given.into, given.gallery.split(",")))
