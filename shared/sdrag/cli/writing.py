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


def write_whole(path: Path, content: str | bytes) -> None:
    """
    Write a file through another one next to it, so that it is never half written.

    Raises:
        UsageError: It cannot be written.
    """
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)
        partial.replace(path)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written ({type(error).__name__})."
        ) from None
