"""Object code kept on disk, so that the second process need not compile."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path


def folder() -> Path | None:
    """Where object code is kept; DALEMBERT_CACHE moves it, and an empty DALEMBERT_CACHE turns it off."""
    chosen = os.environ.get("DALEMBERT_CACHE")
    if chosen == "":
        return None
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "dalembert"


@cache
def engine_digest() -> str:
    """A digest of the source that makes machine code, so that no code of another version is ever loaded."""
    digest, here = hashlib.sha256(), Path(__file__).parent
    for source in sorted([*here.glob("*.py"), here.parent / "symbolic.py", here.parent / "stepmap.py"]):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def key(*parts: str) -> str:
    """The name under which something that depends on all of `parts` is kept."""
    digest = hashlib.sha256(engine_digest().encode())
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part.encode())
    return digest.hexdigest()


def fetch(name: str) -> bytes | None:
    """What was kept under a name, or None; damaged files count as absent."""
    home = folder()
    if home is None:
        return None
    try:
        stored = (home / name).read_bytes()
    except OSError:
        return None
    check, code = stored[:32], stored[32:]
    return code if hashlib.sha256(code).digest() == check else None


def keep(name: str, code: bytes) -> None:
    """Keep object code; a disk that refuses is no reason to fail."""
    home = folder()
    if home is None:
        return
    with suppress(OSError):
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=home, delete=False) as file:
            file.write(hashlib.sha256(code).digest() + code)
        os.replace(file.name, home / name)
