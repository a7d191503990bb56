"""docs/discrete-reduction.md: its code runs, in one piece, and says what it claims."""

from __future__ import annotations

from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "discrete-reduction.md"


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_the_code_of_the_page_runs():
    blocks = [part.split("```")[0] for part in PAGE.read_text().split("```python\n")[1:]]
    names: dict = {}
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), names)
    assert len(blocks) == 6
    assert names["reduced"].kind == "Chaplygin"
    assert list(names["affine"].level.values()) == [-1] and names["affine"].domain == ()
    assert names["turned"].kind == "horizontal" and any(
        f != 0 for side in names["turned"].forces for f in side.values()
    )
    assert names["group"].kind == "Euler-Poincare-Suslov"
