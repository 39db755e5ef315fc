"""
Read the documents: where their phrases are, and where sentences without a secret.

    python -m benchmarks.readability.documents    # fails where they are not consistent
"""

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
Rules = Sequence[Mapping[str, Any]]


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


def mistakes(policy: Rules, document: Mapping[str, Any]) -> Iterator[str]:
    """Yield each phrase that is not in its text, or that contradicts another."""
    text, secrets = document["text"], secrets_of(document)
    listed = [*secrets, *document["stay"], *document.get("people", [])]
    yield from (f"{one!r} is missing" for one in listed if not find_places(text, one))
    taken = find_places(text, *secrets)
    for phrase in document["stay"]:
        for start, end in find_places(text, phrase):
            if any(a < end and start < b for a, b in taken):
                yield f"{phrase!r} is to stay, and is in a secret"
    ids = {rule["id"] for rule in policy}
    present = {entry["constraint"] for entry in document["go"]}
    if len(ids) != len(policy) or not present <= ids:
        yield "its constraints are not those of the policy"
    if not set(document["absent"]) <= ids - present:
        yield "a constraint is both absent and present"


def main() -> None:
    """Print what is not consistent in the documents."""
    # The end of a line, and the mark of a quotation after it, count as a space.
    assert find_places("> the old\n> boiler, boilers", "old boiler") == [(6, 18)]
    parts = sorted(path for path in HERE.iterdir() if path.is_dir())
    wrong = [
        f"{part.name}/{name}/{document['id']}: {mistake}"
        for part in parts
        for name, policy, document in read(part)
        for mistake in mistakes(policy, document)
    ]
    print("\n".join(wrong) or "The documents are consistent.")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
