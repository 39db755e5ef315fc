"""Read the documents: where their phrases are, and where sentences without a secret."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
_END = re.compile(
    r"(?<!Mr\.)(?<!Ms\.)(?<!Mrs\.)(?<!Dr\.)(?<=[.!?])\s+(?=\W?[A-Z0-9])"
    r"|(?<![^\n]{40})\n|\n(?![\s>]*[a-z])"
)
Place = tuple[int, int]
Rules = Sequence[Mapping[str, str]]


def read(folder: Path) -> Iterator[tuple[str, Rules, dict[str, Any]]]:
    """Yield each document, after the name and the sentences of its policy."""
    for path in sorted(folder.glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        policy = [
            {"id": f"c{number}", "text": entry} if isinstance(entry, str) else entry
            for number, entry in enumerate(content["policy"], 1)
        ]
        for document in content["documents"]:
            yield path.stem, policy, document


def find_places(text: str, *phrases: str) -> list[Place]:
    """Find phrases as whole words, also where a line ends within one."""
    space = r"\s+(?:>\s*)*"
    patterns = (space.join(map(re.escape, phrase.split())) for phrase in phrases)
    matches = (re.finditer(rf"(?<!\w){p}(?!\w)", text) for p in patterns)
    return [match.span() for of_phrase in matches for match in of_phrase]


def secrets_of(document: Mapping[str, Any]) -> list[str]:
    """Return what must go, each phrase once."""
    return list(dict.fromkeys(p for entry in document["go"] for p in entry["phrases"]))


def clean_sentences(document: Mapping[str, Any]) -> list[Place]:
    """Return the places of sentences without a secret and without a name."""
    text = document["text"]
    taken = find_places(text, *secrets_of(document), *document.get("people", []))
    cuts = [0, *(match.end() for match in _END.finditer(text)), len(text)]
    return [
        (a, b)
        for a, b in pairwise(cuts)
        if len(re.findall(r"\w+", text[a:b])) > 3
        and not any(start < b and a < end for start, end in taken)
    ]
