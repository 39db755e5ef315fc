"""What is read of a file, what of it is not, and why it cannot be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sdrag.vocabulary import Confidential

MAX_UNPACKED = 200_000_000
"""The most bytes that a compressed file may unpack to."""

TEXT_KEYS = ("text", "content", "page_content")
"""What the text of a document is called; the first that is there is taken."""

ID_KEYS = ("id", "doc_id", "id_")
"""What the id of a document is called."""


class UnreadableError(Exception):
    """A file cannot be read; the message says why, without any of its text."""


@dataclass(frozen=True, slots=True, repr=False)
class Record(Confidential):
    """
    A document of a file.

    Args:
        text: All of it.
        id: As the file names it; empty where it does not.
        metadata: As the file gives it.
    """

    text: str
    id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Remarks:
    """
    What to know of a file that was read; in no word of it.

    Args:
        unread: How many of what is left out, such as `pictures`.
        notes: How the file was understood, where that is a guess.
    """

    unread: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def sentences(self) -> Iterator[str]:
        """Yield them as they are listed after the name of the file."""
        yield from self.notes
        left = [f"{noun} ({count:,})" for noun, count in self.unread.items() if count]
        if left:
            yield f"is read without {', '.join(left)}"
