"""
Where `sdrag mask` writes: a folder, or a file of JSON lines or Parquet.

A file is written under another name and renamed, a new folder as a whole. What is
there already is replaced only where the plan knows that it was written by it. Then
files whose documents are gone are removed too: they would hold what is masked by now.
It is made for other programs to read, so the umask says who may.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sdrag.cli.common import check_creatable, write_whole
from sdrag.documents import SUFFIXES, file_of, files_of
from sdrag.errors import UsageError
from sdrag.vocabulary import Passage

__all__ = ["Target"]

_ONE_FILE = frozenset({".jsonl", ".parquet"})


@dataclass(frozen=True, slots=True)
class Target:
    """
    The OUT of a call.

    Args:
        path: A folder, or a file that ends in `.jsonl` or `.parquet`.
    """

    path: Path

    @property
    def is_file(self) -> bool:
        """Whether it is one file for all documents."""
        return self.path.suffix.lower() in _ONE_FILE

    @property
    def name(self) -> str:
        """What a plan knows it by."""
        return str(self.path.absolute())

    @property
    def progress(self) -> Path:
        """Where it is kept how far a run came."""
        return self.path.with_name(self.path.name + ".progress")

    def check(self, source: Path) -> None:
        """
        See that it can be written at all.

        Args:
            source: What is read; it is not written to.

        Raises:
            UsageError: It cannot.
        """
        suffix = self.path.suffix.lower()
        if not self.is_file and suffix in SUFFIXES:
            raise UsageError(
                f"{self.path} is neither a folder nor a .jsonl or .parquet file.",
                hint="OUT is one of these three.",
            )
        read, made = source.resolve(), self.path.resolve()
        if made == read or (source.is_dir() and made.is_relative_to(read)):
            raise UsageError(
                f"{self.path} is in {source}, which is read.",
                hint="Name an OUT that is not in IN.",
            )
        if self.path.exists() and self.path.is_dir() == self.is_file:
            kind = "a folder" if self.is_file else "a file"
            raise UsageError(f"{self.path} is {kind}.", hint="Name another OUT.")
        check_creatable(self.path)

    def check_free(self, *, ours: bool) -> None:
        """
        See that nothing is overwritten that is not ours.

        Args:
            ours: Whether it was written by the plan that is kept, or by a run that was
                interrupted.

        Raises:
            UsageError: There is something else.
        """
        if ours or not self.path.exists():
            return
        if self.path.is_dir() and not any(self.path.iterdir()):
            return
        raise UsageError(
            f"{self.path} exists, and no plan says that it may be replaced.",
            hint="Name another OUT, or give the key file that it was made with.",
        )

    def contents(
        self, documents: Mapping[str, Sequence[Passage]]
    ) -> dict[str, str | bytes]:
        """Return what is written, by path within OUT; one file has no name in it."""
        if self.is_file:
            rows = (one for found in documents.values() for one in found)
            return {"": file_of(self.path.name, rows)}
        return files_of(documents)

    def write(self, contents: Mapping[str, str | bytes], before: Sequence[str]) -> None:
        """
        Write it.

        Args:
            contents: As `contents` returned it.
            before: What an earlier run wrote.

        Raises:
            UsageError: It cannot be written.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.is_file:
                write_whole(self.path, contents[""], shared=True)
            elif self.path.exists() and any(self.path.iterdir()):
                _fill(self.path, contents)
                _remove(self.path, set(before) - {*contents})
            else:
                self._make(contents)
        except OSError as error:
            raise UsageError(
                f"{self.path} cannot be written ({type(error).__name__})."
            ) from None

    def _make(self, contents: Mapping[str, str | bytes]) -> None:
        """Make the folder as a whole."""
        partial = self.path.with_name(f".{self.path.name}.sdrag-partial")
        shutil.rmtree(partial, ignore_errors=True)  # of a run that was killed
        partial.mkdir()
        _fill(partial, contents)
        partial.replace(self.path)


def _fill(folder: Path, contents: Mapping[str, str | bytes]) -> None:
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content, shared=True)


def _remove(folder: Path, names: set[str]) -> None:
    """Remove files that an earlier run wrote, and folders that are empty then."""
    for name in sorted(names):
        path = folder / name
        path.unlink(missing_ok=True)
        for above in path.parents:
            if above == folder or not above.is_dir() or any(above.iterdir()):
                break
            above.rmdir()
