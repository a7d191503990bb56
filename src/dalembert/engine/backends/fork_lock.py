"""The lock around LLVM, which a fork takes first, so that no child inherits a lock that nobody will release."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

LOCK = threading.RLock()
"""Held during every use of LLVM, and while this process forks."""


_held: list[Any] = []
"""The locks held while this process forks."""


def _hold() -> None:
    """Wait until no other thread is inside LLVM: the locks it holds there would never be released in a forked child."""
    library = getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None)
    own = getattr(library, "_lock", None)  # llvmlite's: objects are disposed of under this one only
    for lock in (LOCK, own):
        if lock is not None:
            lock.__enter__()
            _held.append(lock)


def _let_go() -> None:
    while _held:
        _held.pop().__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_let_go, after_in_child=_let_go)
