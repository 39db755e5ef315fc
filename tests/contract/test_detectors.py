"""A detector that the application passes adds to what the local one finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

import langchain_sdrag
import llamaindex_sdrag
from sdrag.effects.steps import try_each
from sdrag.vocabulary import Mention, Passage, Span

from ..support.faces import (
    BUILDERS,
    Scenario,
    ask,
    documents,
    langchain_retriever,
    llamaindex_retriever,
    text_nodes,
)
from ..support.wrappers import build

CALL = "blue bell"
TEXT = f"Ring the {CALL}, or mail ann.lee@corp.example."
POLICY = {"constraints": ["Remove phone numbers", "Hide e-mail addresses"]}
SCENARIO = Scenario("detector", (Passage("p", TEXT, document_id="d"),), POLICY)


@dataclass(frozen=True)
class Knows:
    """A detector that knows one number which nobody else could."""

    name: str

    def detect(self, texts: Sequence[str]):
        yield from ()
        return try_each(self._find, texts)

    def _find(self, text: str) -> tuple[Mention, ...]:
        start = text.find(self.name)
        if start < 0:
            return ()
        span = Span(start, start + len(self.name))
        return (Mention(span, "PHONE_NUMBER", 0.9, "host"),)


def langchain_transformer(scenario, **options):
    view = build(langchain_sdrag.RedactingTransformer, policy=POLICY, **options)
    return view.transform_documents(documents(scenario))


def llamaindex_transformer(scenario, **options):
    view = build(llamaindex_sdrag.RedactingTransformer, policy=POLICY, **options)
    return view(text_nodes(scenario))


def released(make, **options):
    if make in BUILDERS:
        return str(ask(make(SCENARIO, **options), SCENARIO))
    return str(make(SCENARIO, **options))


@pytest.mark.parametrize(
    "make", [*BUILDERS, langchain_transformer, llamaindex_transformer]
)
def test_what_either_detector_finds_is_withheld(make):
    """The local detector does not know the number; the other knows no address."""
    assert CALL in released(make)
    left = released(make, detector=Knows(CALL))
    assert CALL not in left
    assert "ann.lee" not in left


def test_another_detector_takes_nothing_away(tmp_path):
    """What one found holds without it; what one has read is read again by another."""
    state = tmp_path / "sdrag.sqlite"

    assert CALL in released(langchain_retriever, state=state, detector=Knows("nobody"))
    assert CALL not in released(langchain_retriever, state=state, detector=Knows(CALL))
    assert CALL not in released(llamaindex_retriever, state=state)


def test_another_setting_of_a_detector_is_another_engine():
    """LlamaIndex's ingestion cache goes by it; the settings cannot be read from it."""
    kind = llamaindex_sdrag.RedactingTransformer
    ids = [
        build(kind, policy={"allow_empty": True}, detector=Knows(name)).engine_id
        for name in ("secret bell", "other bell")
    ]

    assert len({*ids}) == 2
    assert "bell" not in "".join(ids)
