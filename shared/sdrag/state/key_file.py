"""
The file of a state's key, which is the state's or becomes it.

A key is written beside its place before the database is committed under it, and moved
there after: whoever is stopped between leaves a state that the next opening completes.
So a key in its place without a state is of one that is lost.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sdrag.errors import HostError, UsageError
from sdrag.state.keys import Keys

SECRET_BYTES = 32
"""Of a key; one that was rotated has twice as many."""


def write_waiting(path: Path, secret: bytes) -> bytes:
    """Write a key that waits to be the state's, so that it lasts; return its seal."""
    seal = Keys(secret).of("seal")
    waiting = _waiting(path, seal)
    handle = os.open(waiting, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secret)
            file.flush()
            os.fsync(file.fileno())
        _keep_names(path.parent)
    except OSError:
        waiting.unlink(missing_ok=True)
        raise
    return seal


def settle(path: Path, seal: bytes) -> None:
    """
    Move the key of a seal that is committed to its place, if it still waits.

    There may be the key that it was rotated from, and no other one is replaced.
    """
    waiting = _waiting(path, seal)
    if not waiting.exists():  # as ever after; the folder may be read-only
        return
    with suppress(FileExistsError, FileNotFoundError):  # another opening was first
        if not path.exists():
            path.hardlink_to(waiting)
        elif _is_rotated(path, waiting):
            _follow_owner(path, waiting)
            waiting.replace(path)
        _keep_names(path.parent)
        if path.read_bytes() == waiting.read_bytes():  # else it is the only copy
            waiting.unlink(missing_ok=True)


def check_place(path: Path) -> None:
    """
    Refuse a place where no other key can be put, before one is needed there.

    Raises:
        UsageError: The file is mounted by itself, or may not be replaced by this user.
    """
    probe = path.with_name(
        f"{path.name}.{secrets.token_hex(16)}"
    )  # deleted as a key that waits
    try:
        probe.hardlink_to(path)
        probe.unlink()
    except OSError:
        is_free = False
    else:
        folder, mine = (
            path.parent.stat(),
            {path.stat().st_uid, path.parent.stat().st_uid},
        )
        is_free = not folder.st_mode & stat.S_ISVTX or os.geteuid() in {0, *mine}
    if not is_free:
        raise UsageError(
            "The file of the key cannot be replaced in its place.",
            hint="Mount its folder and not the file alone, and rotate as its owner.",
        )


def forget_waiting(path: Path) -> None:
    """Delete the keys that nothing was committed under; nobody else may write one."""
    name = re.compile(re.escape(path.name) + r"\.[0-9a-f]{32}")
    for each in path.parent.iterdir():
        if name.fullmatch(each.name):
            each.unlink(missing_ok=True)


def read_key(path: Path) -> bytes:
    """Return the key of a file."""
    secret = path.read_bytes()
    if len(secret) not in {SECRET_BYTES, 2 * SECRET_BYTES}:
        raise UsageError("The state's key file is not one of sdrag's.")
    return secret


@contextmanager
def file_failures() -> Iterator[None]:
    """Say what failed of a file, without its path."""
    try:
        yield
    except OSError as error:
        raise HostError(
            f"A file of the state failed ({type(error).__name__}).",
            hint="Is its folder there and writable, and is the disk not full?",
        ) from None


def _waiting(path: Path, seal: bytes) -> Path:
    """Return where the key of a state waits that is not known to be committed."""
    return path.with_name(f"{path.name}.{seal.hex()}")


def _is_rotated(path: Path, waiting: Path) -> bool:
    old, new = path.read_bytes(), waiting.read_bytes()
    return old != new and old[:SECRET_BYTES] == new[:SECRET_BYTES]


def _follow_owner(path: Path, waiting: Path) -> None:
    """Let those read a key who could read the one before."""
    shutil.copymode(path, waiting)
    if hasattr(os, "chown"):
        known = path.stat()
        with suppress(PermissionError):  # only root may give files away
            os.chown(waiting, known.st_uid, known.st_gid)


def _keep_names(folder: Path) -> None:
    """Wait until the disk has the names in a folder, where a folder can be opened."""
    with suppress(PermissionError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
