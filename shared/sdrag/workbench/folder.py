"""The folder of documents that was given: what is in it, and no file outside of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sdrag.documents import SUFFIXES
from sdrag.workbench.limits import MAX_FILES, MAX_UPLOAD_BYTES
from sdrag.workbench.refusals import RefusedError

__all__ = ["Folder"]


@dataclass(frozen=True, slots=True)
class Folder:
    """
    A folder of documents, or one file.

    Args:
        root: As it was given when the command was started.
    """

    root: Path

    def names(self) -> tuple[list[str], bool]:
        """Return the files that can be read, and whether there are more."""
        found: list[str] = []
        for name in self._names():
            if len(found) == MAX_FILES:
                return sorted(found), True
            found.append(name)
        return sorted(found), False

    def read(self, name: str) -> bytes:
        """
        Return the bytes of a file in the folder.

        Args:
            name: Relative, as `names` lists it.

        Raises:
            RefusedError: There is none of that name, it leads out of the folder, or it
                is too large.
        """
        path = self._inside(name)
        missing = RefusedError(404, "There is no such file in the folder.")
        try:
            if not path.is_file():  # a pipe would be waited for
                raise missing
            with path.open("rb") as file:
                data = file.read(MAX_UPLOAD_BYTES + 1)
        except OSError:
            raise missing from None
        if len(data) > MAX_UPLOAD_BYTES:
            raise RefusedError(413, f"More than {MAX_UPLOAD_BYTES:,} bytes.")
        return data

    def _inside(self, name: str) -> Path:
        """Return the real path of a file; links are followed before it is compared."""
        outside = RefusedError(403, "This path leads out of the folder.")
        relative = PurePosixPath(name)
        hidden = any(part.startswith(".") for part in relative.parts)
        if relative.is_absolute() or hidden or "\0" in name or "\\" in name:
            raise outside
        if not self.root.is_dir():
            if name != self.root.name:
                raise outside
            return self.root
        try:
            path = (self.root / relative).resolve(strict=True)
            inside = path.is_relative_to(self.root.resolve(strict=True))
        except (OSError, RuntimeError, ValueError):
            raise RefusedError(404, "There is no such file in the folder.") from None
        if not inside:
            raise outside
        return path

    def _names(self) -> Iterator[str]:
        if not self.root.is_dir():
            yield self.root.name
            return
        for folder, below, files in os.walk(self.root):
            below[:] = sorted(name for name in below if not name.startswith("."))
            for name in sorted(files):
                path = (Path(folder) / name).relative_to(self.root).as_posix()
                if path.isprintable() and _is_listed(name):
                    yield path


def _is_listed(name: str) -> bool:
    return not name.startswith(".") and name.lower().endswith(SUFFIXES)
