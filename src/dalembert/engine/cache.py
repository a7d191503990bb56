"""Object code cached on disk, so that later processes need not compile.

Whoever can write into the folder decides what this process executes. So nothing is read from, or written to, a folder that
others own, can write or can replace, and no file is loaded but a regular one of this user with the checksum of what was
asked for. Everything is checked on open descriptors and read from them, never by path again.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

MEGABYTES = 256
"""Largest size of the folder; DALEMBERT_CACHE_SIZE sets another, in megabytes."""

TEMPORARY = ".writing-"
"""Prefix of the names of files that are being written."""

POSIX = os.name == "posix"
"""Other systems have different owners and modes: there nothing is cached."""

if POSIX:
    import fcntl

    _FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    _READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    _WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_LINKS = 40
"""Number of symbolic links in the path beyond which they are assumed to form a cycle."""

_FORMAT = b"dalembert object code 2\n"

_told: set[str] = set()
"""Folders for which a warning has been issued."""


_room: dict[str, int] = {}
"""Bytes this process may write into a folder before its size is determined again."""


class _Refused(Exception):
    """Why something in the cache is not trusted."""


def folder() -> Path | None:
    """Where object code is kept; DALEMBERT_CACHE moves it, and an empty DALEMBERT_CACHE turns it off."""
    chosen = os.environ.get("DALEMBERT_CACHE")
    if chosen == "" or not POSIX:
        return None
    if chosen:
        path = os.path.expanduser(chosen)
        return None if path.startswith("~") else Path(os.path.abspath(path))
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        home = os.environ.get("HOME") or os.path.expanduser("~")
        base = os.path.join(home, ".cache") if os.path.isdir(home) else ""  # a missing home is not created
    return Path(base, "dalembert") if os.path.isabs(base) else None


def limit() -> int:
    """How many bytes the folder may hold."""
    given = os.environ.get("DALEMBERT_CACHE_SIZE", "")
    try:
        return int(float(given or MEGABYTES) * 2**20)
    except (ValueError, OverflowError):
        _warn(f"DALEMBERT_CACHE_SIZE = {given!r} is not a number of megabytes; {MEGABYTES} are used.")
        return MEGABYTES * 2**20


@cache
def engine_digest() -> str:
    """A digest of the source that generates machine code, so that code of another version is never loaded."""
    digest, here = hashlib.sha256(), Path(__file__).parent
    beside = (here.parent / f"{name}.py" for name in ("symbolic", "kinks"))
    for source in sorted([*here.rglob("*.py"), *(here.parent / "waist").glob("*.py"), *beside]):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def key(*parts: str) -> str:
    """The name of a cache entry that depends on all of `parts`."""
    digest = hashlib.sha256(engine_digest().encode())
    for part in parts:
        text = part.encode("utf-8", "surrogatepass")
        digest.update(len(text).to_bytes(8, "little") + text)
    return digest.hexdigest()


def fetch(name: str) -> bytes | None:
    """The cached code of a name, or None; damaged files count as absent."""
    with suppress(OSError), _opened(make=False) as home:
        return None if home is None else _read(home, name)
    return None


def keep(name: str, code: bytes) -> None:
    """Cache object code; errors of the disk are ignored."""
    with suppress(OSError), _opened(make=True) as home:
        if home is not None and len(code) <= limit():
            _write(home, name, _FORMAT + _check(name, code) + code)
            where, most = str(folder()), limit()
            _room[where] = _room.get(where, 0) - len(code)
            if _room[where] < 0:  # listing all entries takes longer than writing one
                _room[where] = min(_tidy(home, most), most // 16)


def contents() -> tuple[int, int]:
    """How many entries there are in the folder, and their bytes."""
    with suppress(FileNotFoundError), _opened(make=False) as home:
        if home is not None:
            sizes = [size for _, size, _ in _entries(home)]
            return len(sizes), sum(sizes)
    return 0, 0


def clear() -> tuple[int, int]:
    """Remove all entries; how many, and how many bytes. A process that has loaded one goes on with it."""
    count = total = 0
    with suppress(FileNotFoundError), _opened(make=False) as home:
        for _, size, name in [] if home is None else _entries(home):
            with suppress(FileNotFoundError):  # another process removed it
                os.unlink(name, dir_fd=home)
                count, total = count + 1, total + size
    return count, total


def _check(name: str, code: bytes) -> bytes:
    """The checksum of an entry. The name, a digest of everything the code depends on, is part of it."""
    return hashlib.sha256(_FORMAT + name.encode() + b"\n" + code).digest()


@contextmanager
def _opened(make: bool) -> Iterator[int | None]:
    """A descriptor of the folder; None, with a warning, if it is not trusted."""
    path = folder()
    if path is None:
        yield None
        return
    home = None
    try:
        if make:
            _make(path)
        home = _trusted_folder(path)
    except _Refused as why:
        _warn(
            f"compiled code is not kept in {path}: {why}. Whoever can write there decides what is executed. Make it a folder "
            f"of yours (chmod 700), or set DALEMBERT_CACHE to another one, or to nothing."
        )
    try:
        yield home
    finally:
        if home is not None:
            os.close(home)


def _make(path: Path) -> None:
    """Create the folder and its missing parents, for this user alone."""
    with suppress(FileNotFoundError):  # a missing folder is checked after it is created
        _check_way(path)
    for part in (*reversed(path.parents), path):
        if not part.exists():
            with suppress(FileExistsError):
                part.mkdir(mode=0o700)


def _trusted_folder(path: Path) -> int:
    """The folder, opened; owner and mode are those of the open descriptor, even if the path changes later."""
    try:
        if stat.S_ISLNK(os.lstat(path).st_mode):
            raise _Refused("it is a link")
        _check_way(path)
        home = os.open(path, _FOLDER)
    except NotADirectoryError:
        raise _Refused("it is not a folder") from None
    try:
        _check_owner(os.fstat(home))
    except _Refused:
        os.close(home)
        raise
    return home


def _check_owner(found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise _Refused(f"it belongs to user {found.st_uid}, not to user {os.geteuid()}, who runs this")
    if found.st_mode & 0o022:
        raise _Refused(f"others can write it (its mode is {stat.S_IMODE(found.st_mode):04o})")


def _check_way(path: Path) -> None:
    """Refuse a path of which others can replace a part: a folder they own or can write, unless it is sticky like /tmp."""
    ours, links = {0, os.geteuid()}, 0
    at, left = "/", [p for p in reversed(os.path.abspath(path).split("/")) if p]
    while left:
        above = os.lstat(at)
        if above.st_uid not in ours:
            raise _Refused(f"{at} belongs to user {above.st_uid}")
        sticky = above.st_mode & stat.S_ISVTX
        if above.st_mode & 0o022 and not (sticky or _is_private(above)):
            raise _Refused(f"others can write {at}, and so replace what is in it")
        part = left.pop()
        if part == "..":
            at = os.path.dirname(at)
            continue
        inside = os.path.join(at, part)
        found = os.lstat(inside)
        if found.st_uid not in ours:
            raise _Refused(f"{inside} belongs to user {found.st_uid}")
        if not stat.S_ISLNK(found.st_mode):
            at = inside
            continue
        links += 1
        if links > _LINKS:
            raise _Refused(f"{inside} is one of more than {_LINKS} links")
        target = os.readlink(inside)
        at = "/" if target.startswith("/") else at
        left += [p for p in reversed(target.split("/")) if p not in ("", ".")]


def _is_private(found: os.stat_result) -> bool:
    """Whether only the group of a folder can write it and that group is the user's own: many systems give each user one."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(found.st_gid)
    except KeyError:
        return False
    return not found.st_mode & 0o002 and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


def _read(home: int, name: str) -> bytes | None:
    """The code of an entry, if the open file belongs to this user and its checksum matches that name."""
    try:
        file = os.open(name, _READ, dir_fd=home)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            _warn_of(name, "it is a link or a socket")
        return None
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise _Refused("it is not a regular file")
        _check_owner(found)
        if found.st_nlink != 1:
            raise _Refused("it has several names (hard links)")
        if found.st_size > limit():
            return None
        stored = b"".join(iter(lambda: os.read(file, 2**20), b""))
        with suppress(OSError):
            os.utime(file)  # the least recently used are removed first
    except _Refused as why:
        _warn_of(name, str(why))
        return None
    finally:
        os.close(file)
    check, code = stored[len(_FORMAT) : len(_FORMAT) + 32], stored[len(_FORMAT) + 32 :]
    return code if stored.startswith(_FORMAT) and code and check == _check(name, code) else None


def _write(home: int, name: str, content: bytes) -> None:
    """Write an entry under a temporary name, then rename it: readers see the complete entry or none."""
    temporary = f"{TEMPORARY}{secrets.token_hex(8)}"
    file = os.open(temporary, _WRITE, 0o600, dir_fd=home)
    try:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # shows that its writer is alive
        left = memoryview(content)
        while left:
            left = left[os.write(file, left) :]
        os.replace(temporary, name, src_dir_fd=home, dst_dir_fd=home)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=home)
        raise
    finally:
        os.close(file)


def _entries(home: int) -> list[tuple[int, int, str]]:
    """When each entry was used last, its bytes and its name; partial files of killed processes are removed."""
    entries = []
    with os.scandir(home) as listed:
        for entry in listed:
            with suppress(OSError):
                found = entry.stat(follow_symlinks=False)
                if entry.name.startswith(TEMPORARY):
                    _remove_abandoned(home, entry.name)
                elif stat.S_ISREG(found.st_mode) and _is_entry(entry.name):
                    entries.append((found.st_mtime_ns, found.st_size, entry.name))
    return entries


def _tidy(home: int, most: int) -> int:
    """Remove partial files of killed processes and, above the limit, the least recently used entries.

    Returns the bytes left below the limit.
    """
    entries = _entries(home)
    total = sum(size for _, size, _ in entries)
    aim = most - most // 8 if total > most else most  # leaves room, so that not every new entry causes a removal
    for _, size, name in sorted(entries):
        if total <= aim:
            break
        with suppress(OSError):
            os.unlink(name, dir_fd=home)
            total -= size
    return most - total


def _is_entry(name: str) -> bool:
    """Whether a file has a name that `key` makes; nothing else is removed."""
    return len(name) == 64 and not set(name) - set("0123456789abcdef")


def _remove_abandoned(home: int, name: str) -> None:
    """Remove a file that was being written, unless its writer still holds the lock on it."""
    file = os.open(name, _READ, dir_fd=home)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(name, dir_fd=home)
    finally:
        os.close(file)


def _warn_of(name: str, why: str) -> None:
    _warn(f"the file {name[:12]}... in the cache {folder()} is not used: {why}. It is compiled anew and replaced.")


def _warn(text: str) -> None:
    """Warn once for each folder."""
    where = str(folder())
    if where not in _told:
        _told.add(where)
        warnings.warn(text, RuntimeWarning, stacklevel=2)
