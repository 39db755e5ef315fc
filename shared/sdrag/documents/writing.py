"""
Documents as files again, after something was taken out of their text.

Plain text goes back as it came. JSON and Parquet become rows of id, content and
metadata, so keys that nobody reads are left out. Of every other format only the text is
left, and its file ends in `.txt`: the pictures, comments and hidden parts of a page or
of a Word document would hold what was taken out of its text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import PurePosixPath

from sdrag.documents.parquet import as_parquet
from sdrag.vocabulary import Passage

AS_THEY_ARE = frozenset({".txt", ".md", ".json", ".jsonl", ".parquet"})
"""The suffixes of files that keep their names."""

_SEPARATORS = re.compile("[\x85\u2028\u2029]")
"""Where some readers end a line, though JSON does not."""


def files_of(documents: Mapping[str, Sequence[Passage]]) -> dict[str, str | bytes]:
    """
    Return what to write: by path, relative to a folder, what is in the file.

    Args:
        documents: By the path of the file that they are of, in order.
    """
    names = {name: name for name in documents if _suffix(name) in AS_THEY_ARE}
    taken = set(names)
    for name in [name for name in documents if name not in names]:
        # `page.html.txt`, or `page.html.2.txt` and so on
        texts = (f"{name}{f'.{n}' if n > 1 else ''}.txt" for n in count(1))
        names[name] = next(text for text in texts if text not in taken)
        taken.add(names[name])
    return {names[name]: file_of(name, held) for name, held in documents.items()}


def file_of(name: str, documents: Iterable[Passage]) -> str | bytes:
    """Return what is in a file of documents, by its suffix."""
    match _suffix(name):
        case ".parquet":
            return as_parquet(json.loads(as_line(document)) for document in documents)
        case ".jsonl":
            return "".join(map(as_line, documents))
        case ".json":
            rows = ",\n".join(as_line(document).rstrip("\n") for document in documents)
            return f"[\n{rows}\n]\n"
        case _:
            return _whole("\n\n".join(document.text for document in documents))


def as_line(document: Passage) -> str:
    """Return a document as a line of JSON lines."""
    row = {
        "id": document.id,
        "content": document.text,
        "metadata": dict(document.metadata),
    }
    line = json.dumps(row, ensure_ascii=False, default=str)
    return _whole(_SEPARATORS.sub(lambda match: f"\\u{ord(match[0]):04x}", line)) + "\n"


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def _whole(text: str) -> str:
    """Return text that can be written: halves of a character become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
