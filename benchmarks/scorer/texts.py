"""
The texts the scorer learns from, read.

A text is a few paragraphs of prose, headed by what must not be said of it:

    == genre
    ? wording | another wording | a third
    ? wording | another wording

    Prose in which [1:these words] tell the first secret, and [2:those] the second.
    Words that tell two secrets are marked [1,2:once] for both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("passages")
_MARK = re.compile(r"\[(\d+(?:,\d+)*):([^\[\]]+)\]")


@dataclass(frozen=True, slots=True)
class Secret:
    """
    What must not be said.

    Args:
        wordings: Ways to put it, each a constraint of its own.
        marks: Start and end of each phrase of the text that says it.
    """

    wordings: tuple[str, ...]
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A text and its secrets."""

    genre: str
    body: str
    secrets: tuple[Secret, ...]


def read_texts(folder: Path = FOLDER) -> list[Text]:
    """Read every file of a folder, in the order of their names."""
    return [
        text
        for path in sorted(folder.glob("*.txt"))
        for text in parsed(path.read_text(encoding="utf-8"))
    ]


def parsed(source: str) -> Iterator[Text]:
    """Yield the texts of a file."""
    for block in re.split(r"^== ", source, flags=re.MULTILINE)[1:]:
        head, _, prose = block.strip().partition("\n\n")
        genre, *asks = head.splitlines()
        body, marks = _unmarked(prose)
        yield Text(
            genre.strip(),
            body,
            tuple(
                Secret(
                    tuple(w.strip() for w in ask.removeprefix("?").split("|")),
                    tuple((a, b) for number, a, b in marks if number == place),
                )
                for place, ask in enumerate(asks, 1)
            ),
        )


def _unmarked(prose: str) -> tuple[str, list[tuple[int, int, int]]]:
    body, marks, done = "", [], 0
    for match in _MARK.finditer(prose):
        body += prose[done : match.start()]
        span = (len(body), len(body) + len(match[2]))
        marks += [(int(number), *span) for number in match[1].split(",")]
        body += match[2]
        done = match.end()
    return body + prose[done:], marks
