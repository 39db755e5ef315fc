"""
The documents and constraints that the gate learns from, read.

A document in `documents/` is headed by `== title`. What falls under a constraint of
`constraints.toml` is marked {{name|words}}; of each other constraint it is known that
nothing of it is there. So it is in `policies/`, where each trade has constraints of its
own, each in three wordings, and `go` lists the phrases that tell it.
"""

from __future__ import annotations

import json
import random
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zlib import crc32

from benchmarks.scorer.texts import Secret, Text
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Example

FOLDER = Path(__file__).parent
JOINED = 0.25
"""Share of sentences read together with the next: padding must not close one."""
SHORT = 250
"""Characters of a sentence that fits into what is read at once."""
_LINE = re.compile(r"[^\s\n](?:[^\n]{0,298}[^\s\n](?!\w))?")
_MARK = re.compile(r"\{\{([\w,\s]+)\|(.*?)\}\}", re.DOTALL)


def read_constraints(*, held_out: bool) -> dict[str, tuple[str, ...]]:
    """Read the wordings of general constraints, those to learn or those held out."""
    listed = tomllib.loads((FOLDER / "constraints.toml").read_text(encoding="utf-8"))
    return {
        name: tuple(entry["wordings"])
        for name, entry in listed.items()
        if entry.get("held_out", False) is held_out
    }


def read_documents(folder: Path, constraints: dict[str, tuple[str, ...]]) -> list[Text]:
    """Read documents; each has a secret for every constraint, perhaps without marks."""
    documents = []
    for path in sorted(folder.glob("*.txt")):
        source = path.read_text(encoding="utf-8")
        for block in re.split(r"^== ", source, flags=re.MULTILINE)[1:]:
            title, _, marked = block.partition("\n")
            body, marks, done = "", {name: [] for name in constraints}, 0
            for match in _MARK.finditer(marked):
                body += marked[done : match.start()]
                span = (len(body), len(body) + len(match[2]))
                for name in match[1].replace(" ", "").split(","):
                    if name in marks:
                        marks[name].append(span)
                body += match[2]
                done = match.end()
            secrets = [
                Secret(constraints[name], tuple(spans)) for name, spans in marks.items()
            ]
            documents.append(Text(title, body + marked[done:], tuple(secrets)))
    return documents


def read_policies(folder: Path) -> list[list[Text]]:
    """Read the documents of each trade; they have the same secrets in one order."""
    trades = []
    for path in sorted(folder.glob("*.json")):
        trade = json.loads(path.read_text(encoding="utf-8"))
        trades.append(
            [
                Text(path.stem, document["text"], _find_secrets(document, trade))
                for document in trade["documents"]
            ]
        )
    return trades


def _find_secrets(document: Any, trade: Any) -> tuple[Secret, ...]:
    """Return what each constraint withholds of a document, at all its places."""
    secrets = []
    for constraint in trade["constraints"]:
        phrases = document["go"].get(constraint["id"], ())
        patterns = (rf"(?<!\w){re.escape(phrase)}(?!\w)" for phrase in phrases)
        found = (re.finditer(pattern, document["text"]) for pattern in patterns)
        marks = tuple(match.span() for matches in found for match in matches)
        secrets.append(Secret(tuple(constraint["wordings"]), marks))
    return tuple(secrets)


def is_aside(text: Text) -> bool:
    """Whether a document is measured on; that does not change as others are added."""
    return crc32(text.body[:80].encode()) % 10 == 0


def parts_of(text: Text, rng: random.Random | None = None) -> list[tuple[int, int]]:
    """Return sentences, lines of their own and windows of long ones; at times two."""
    spans = [
        (line.start(), line.end())
        for sentence in sentences(text.body)
        for line in _LINE.finditer(text.body, sentence.start, sentence.end)
    ]
    ends = [*(end for _, end in spans[1:]), len(text.body)]
    return [
        (
            start,
            after if rng and after - start < SHORT and rng.random() < JOINED else end,
        )
        for (start, end), after in zip(spans, ends, strict=True)
    ]


def marks_in(secret: Secret, start: int, end: int) -> tuple[tuple[int, int], ...]:
    """Return the marks of a secret within a sentence, in its offsets."""
    return tuple(
        (max(a, start) - start, min(b, end) - start)
        for a, b in secret.marks
        if a < end and start < b
    )


def as_example(text: str, marks: Iterable[tuple[int, int]]) -> Example:
    """Return a sentence as an author shows it: what of it goes, or that it stays."""
    quoted = tuple(text[start:end] for start, end in marks)
    return Example(text, quoted, () if quoted else (text,))
