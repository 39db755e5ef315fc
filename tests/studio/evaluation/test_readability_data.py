"""The data of `benchmarks/readability` is consistent."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.readability.documents import HERE, Rules, find_places, read, secrets_of

CASES = [
    pytest.param(policy, document, id=f"{part.name}/{name}/{document['id']}")
    for part in sorted(path for path in HERE.iterdir() if path.is_dir())
    for name, policy, document in read(part)
]


@pytest.mark.parametrize(("policy", "document"), CASES)
def test_phrases_stand_and_do_not_contradict_each_other(
    policy: Rules, document: dict[str, Any]
) -> None:
    """Every phrase is in its text; no harmless one overlaps a secret."""
    text, secrets = document["text"], secrets_of(document)
    for phrase in [*secrets, *document["stay"], *document.get("people", [])]:
        assert find_places(text, phrase), phrase
    taken = find_places(text, *secrets)
    for phrase in document["stay"]:
        for start, end in find_places(text, phrase):
            assert not any(a < end and start < b for a, b in taken), phrase
    ids = {rule["id"] for rule in policy}
    present = {entry["constraint"] for entry in document["go"]}
    assert len(ids) == len(policy)
    assert present <= ids
    assert set(document["absent"]) <= ids - present


def test_quoted_and_wrapped_phrases_are_found() -> None:
    """The end of a line, and the mark of a quotation after it, count as a space."""
    assert find_places("> the old\n> boiler, boilers", "old boiler", "boilers") == [
        (6, 18),
        (20, 27),
    ]
