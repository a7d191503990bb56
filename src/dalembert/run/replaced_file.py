"""Files that are replaced as a whole, so that there is always the old or the new one; folders that one process writes."""

from __future__ import annotations

import os
import secrets
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..errors import StartError


@contextmanager
def replacing(target: Path) -> Iterator[BinaryIO]:
    """A file that becomes the target once it is complete, with the permissions of the one it replaces."""
    target = Path(os.path.realpath(target))  # a link is kept
    mode = None
    if os.path.exists(target):
        if not target.is_file() or not os.access(target, os.W_OK):
            raise StartError(f"save: {target} is not a file that may be written. Save under another name.")
        mode = stat.S_IMODE(target.stat().st_mode)
    draft = target.with_name(f".dalembert-{os.getpid()}-{secrets.token_hex(8)}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            if mode is not None:
                os.chmod(draft, mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except OSError as error:
        raise StartError(f"save: {target} cannot be written: {error.strerror or error}.") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    settle(target.parent)


def settle(folder: Path) -> None:
    """Flush the folder, and so the new name, to disk, where the system supports it."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """A folder for this process alone; the system frees it when the process ends, however that happens."""
    lock = path.with_name(f".{path.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = _lock(lock)
    except OSError as error:
        raise StartError(f"{path} cannot be written: {error.strerror or error}.") from error
    if isinstance(handle, str):
        raise StartError(f"{path} is being written by {handle}. Wait until it has ended; then the same call goes on.")
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(handle)


def _lock(lock: Path) -> int | str:
    """A locked file, or who has locked it."""
    try:
        import fcntl
    except ImportError:
        raise StartError(
            f"{lock.parent}: this system has no locks by which a folder is written by one process alone."
        ) from None
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(handle, 200).decode(errors="replace").strip()
            os.close(handle)
            return owner or "another process"
        if lock.exists() and os.path.samestat(os.fstat(handle), lock.stat()):
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
            return handle
        os.close(handle)  # its owner has just removed it
