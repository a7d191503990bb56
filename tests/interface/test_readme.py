"""The code in the README runs as printed."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def blocks(page):
    return re.findall(r"^( *)```python\n(.*?)^ *```", (ROOT / page).read_text(), flags=re.S | re.M)


def test_code_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = blocks("README.md")
    assert found
    namespace: dict[str, object] = {}
    for indent, code in found:
        lines = [line.removeprefix(indent) for line in code.splitlines()]
        exec(compile("\n".join(lines), "README.md", "exec"), namespace)


def test_the_readme_computes_what_it_says(tmp_path, monkeypatch, capsys):
    """The first block: a disk on a circle of radius 2, energy kept."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    exec(blocks("README.md")[0][1], namespace)
    assert (
        capsys.readouterr().out == re.search(r"^```text\n(.*?)^```", (ROOT / "README.md").read_text(), re.S | re.M)[1]
    )
    run, da = namespace["run"], namespace["da"]
    assert abs(((run.x) ** 2 + (run.y - 2) ** 2) ** 0.5 - 2).max() < 1e-4
    assert da.audit(run).ok
    assert (tmp_path / "disk.pdf").exists()
    assert (tmp_path / "disk.html").exists()


def test_the_first_screen_moves_and_says_what_is_not_there():
    first = "\n".join((ROOT / "README.md").read_text().splitlines()[:20])
    film = ROOT / re.search(r"\((\S+\.gif)\)", first)[1]
    assert film.stat().st_size < 2_000_000 and film.read_bytes().startswith(b"GIF89a")
    assert "What is not there yet" in first


def test_links_lead_somewhere():
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
