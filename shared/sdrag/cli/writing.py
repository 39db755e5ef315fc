"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryFile

from sdrag.errors import UsageError

__all__ = ["check_creatable", "check_writable", "write_whole"]


def check_creatable(path: Path) -> None:
    """
    Find out early whether a file or folder can be made, with the folders above it.

    A file is made and removed for it: whoever may do anything is not asked for rights.

    Raises:
        UsageError: It cannot.
    """
    above = next((one for one in path.absolute().parents if one.exists()), None)
    try:
        with TemporaryFile(dir=above):
            pass
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written ({type(error).__name__}).",
            hint="Name another place.",
        ) from None


def check_writable(path: Path) -> None:
    """
    Find out early whether a file can be written, before any work is done for it.

    Raises:
        UsageError: It cannot.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder.", hint="Name a file to write.")
    if not path.parent.is_dir():
        raise UsageError(f"There is no folder {path.parent}.", hint="Make it first.")
    if not os.access(path.parent, os.W_OK):
        raise UsageError(f"{path} cannot be written.", hint="Name another file.")


def write_whole(path: Path, content: str | bytes, *, shared: bool = False) -> None:
    """
    Write a file through another one next to it, so that it is never half written.

    Args:
        path: Of the file.
        content: A lone surrogate in a text becomes a question mark.
        shared: Others may read it too, as the umask says; else only the owner can.

    Raises:
        UsageError: It cannot be written.
    """
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    partial = path.with_name(path.name + ".partial")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        partial.unlink(missing_ok=True)
        with os.fdopen(os.open(partial, flags, 0o666 if shared else 0o600), "wb") as f:
            f.write(data)
        partial.replace(path)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written ({type(error).__name__})."
        ) from None
