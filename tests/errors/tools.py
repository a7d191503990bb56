"""Shared by the tests of messages: a table row is (what is wrong, what was typed, the whole message)."""

from __future__ import annotations

import pytest


def table(*rows):
    """Rows (what is wrong, call, message) as a parametrisation of `call` and `message`."""
    return pytest.mark.parametrize(("call", "message"), [pytest.param(*row[1:], id=row[0]) for row in rows])


def told(kind, call):
    """The message of the error that a call raises; exactly that kind, so that `except` clauses mean what they say."""
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    return str(caught.value)
