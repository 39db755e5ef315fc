"""What a remembered release is known by: everything it depends on, and no text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sdrag.cache import MemoryCache
from sdrag.disclosure.fingerprints import fingerprint, seen_keys
from sdrag.pipeline import Engine, Request, disclose
from sdrag.policy import Policy
from sdrag.steps import run
from sdrag.testing import Scripted, toy_vectors
from sdrag.vocabulary import Passage, Principal

POLICY = Policy.read(
    {
        "constraints": [
            {"id": "names", "text": "Remove names", "where": {"ward": ["closed"]}},
            {"id": "sums", "text": "Hide sums", "unless": {"level": ["auditor"]}},
        ],
        "metadata": {"allow": ["source"]},
    }
)
PASSAGE = Passage("p", "Anna Karlsson paid 4,900 euros.", {"source": "log"}, None, "d")


def known_by(passage: Passage, cache: MemoryCache) -> str:
    return fingerprint([passage], seen_keys(POLICY), POLICY, cache)


@pytest.mark.parametrize(
    "changed",
    [
        {"id": "q"},
        {"text": "Anna Karlsson paid 4,900 euro."},
        {"document_id": "e"},
        {"document_id": None},
        {"document_id": ""},
        {"metadata": {"source": "log", "ward": "closed"}},
        {"metadata": {"source": "book"}},
    ],
    ids=str,
)
def test_whatever_decides_changes_it(changed) -> None:
    """Id, text, document, what may leave and what a `where` looks at all count."""
    cache = MemoryCache()

    assert known_by(replace(PASSAGE, **changed), cache) != known_by(PASSAGE, cache)


def test_no_document_is_not_the_nameless_one() -> None:
    """A passage of no known document is read by itself, not with those of `""`."""
    cache = MemoryCache()
    without, nameless = (replace(PASSAGE, document_id=one) for one in (None, ""))

    assert known_by(without, cache) != known_by(nameless, cache)


def test_what_neither_leaves_nor_decides_does_not_count() -> None:
    """A host's bookkeeping does not make a passage another one."""
    cache = MemoryCache()
    noted = replace(PASSAGE, metadata={"source": "log", "shelf": 7})

    assert known_by(noted, cache) == known_by(PASSAGE, cache)


def test_nobody_can_try_texts_against_it() -> None:
    """Another cache, another key."""
    assert known_by(PASSAGE, MemoryCache()) != known_by(PASSAGE, MemoryCache())


def test_audiences_share_no_release() -> None:
    """What is lifted for one is withheld from the next, in whatever order they ask."""
    engine = Engine.build(POLICY)
    performer = Scripted(embed=toy_vectors)
    passage = replace(PASSAGE, metadata={"source": "log", "ward": "closed"})

    def released(level: str | None) -> str:
        principal = Principal("p", level=level) if level else None
        request = Request("Who paid?", principal)
        return run(disclose([passage], request, engine), performer).passages[0].text

    seen = [released(level) for level in (None, "auditor", "clerk", "auditor", None)]

    assert ["4,900" in text for text in seen] == [False, True, False, True, False]
    assert not any("Karlsson" in text for text in seen)
