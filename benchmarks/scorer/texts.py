"""
The texts the scorer learns from, read and checked.

A text is a few paragraphs of prose, headed by what must not be said of it:

    == genre
    ? wording | another wording | a third
    ? wording | another wording

    Prose in which [1:these words] tell the first secret, and [2:those] the second.
    Words that tell two secrets are marked [1,2:once] for both.

    python benchmarks/scorer/texts.py    # checks every file and prints what it holds
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("passages")
_MOST_MARKED = 0.55
_SHORTEST = 4
_EVERYDAY = frozenset({"with", "them", "your father"})
"""They tell something in one place and nothing in another."""
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


def faults(text: Text) -> Iterator[str]:
    """Yield what is wrong with a text."""
    if re.search(r"[\[\]]", text.body):
        yield "a mark that cannot be read"
    for number, secret in enumerate(text.secrets, 1):
        told = {text.body[start:end].lower() for start, end in secret.marks}
        if not told:
            yield f"secret {number} is nowhere told"
        if len(secret.wordings) < 2:
            yield f"secret {number} has one wording"
        if any(_unmarked_in(text.body, secret, phrase) for phrase in told):
            yield f"secret {number} is told unmarked"
        worded = " ".join(secret.wordings).lower()
        if any(len(phrase) > 4 and phrase in worded for phrase in told):
            yield f"secret {number} is told by its own wording"
    marked = sum(end - start for s in text.secrets for start, end in s.marks)
    if marked > _MOST_MARKED * len(text.body):
        yield "more is marked than not"


def _unmarked_in(body: str, secret: Secret, phrase: str) -> bool:
    """Say whether a phrase that tells a secret also stands where no mark is."""
    if len(phrase) < _SHORTEST or phrase in _EVERYDAY:
        return False
    return any(
        not any(a < match.end() and match.start() < b for a, b in secret.marks)
        for match in re.finditer(
            rf"(?<!\w){re.escape(phrase)}(?!\w)", body, re.IGNORECASE
        )
    )


def main() -> None:
    """Check all files."""
    texts = read_texts()
    wrong = [f"{t.body[:40]!r}: {fault}" for t in texts for fault in faults(t)]
    secrets = [s for t in texts for s in t.secrets]
    print(*wrong, sep="\n")
    print(
        f"{len(texts)} texts, {sum(len(t.body.split()) for t in texts)} words, "
        f"{len(secrets)} secrets, {sum(len(s.wordings) for s in secrets)} wordings"
    )
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
