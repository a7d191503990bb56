"""One browser for all tests of pages, and axe-core; where they are not there, tests are skipped with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from .browser import Browser, executable


@pytest.fixture(scope="session")
def browser():
    if executable() is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    made = Browser()
    yield made
    made.close()


AXE = Path(__file__).parents[2] / ".cache" / "axe" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="session")
def axe():
    """The script of axe-core, which checks contrast, headings and names."""
    if not AXE.exists():
        pytest.skip("axe-core is not there: npm install --no-save --prefix .cache/axe axe-core@4.10.3")
    return AXE.read_text()
