"""A detector that a host hands in adds to what the local one finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_sdrag
import llamaindex_sdrag
from sdrag import Options
from sdrag.detectors.models import GlinerDetector, PresidioDetector
from sdrag.effects.steps import try_each
from sdrag.vocabulary import Mention, Passage, Span

from ..support.faces import Documents, Nodes, Scenario
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
        return try_each(self._found, texts)

    def _found(self, text: str) -> tuple[Mention, ...]:
        start = text.find(self.name)
        if start < 0:
            return ()
        return (
            Mention(Span(start, start + len(self.name)), "PHONE_NUMBER", 0.9, "host"),
        )


@dataclass
class Result:
    start: int
    end: int
    entity_type: str = "PHONE_NUMBER"
    score: float = 0.9


class Analyzer:
    """What is used of Presidio."""

    def analyze(self, text, language, **options):
        start = text.find(CALL)
        return [Result(start, start + len(CALL))] if start >= 0 else []


class Gliner:
    """What is used of GLiNER, whose models cannot be had here."""

    def predict_entities(self, text, labels, **options):
        start = text.find(CALL)
        found = {
            "start": start,
            "end": start + len(CALL),
            "label": "phone number",
            "score": 0.9,
        }
        return [found] if start >= 0 else []


DETECTORS = [Knows(CALL), PresidioDetector(Analyzer()), GlinerDetector(Gliner())]


def langchain_retriever(**given):
    wrapper = build(
        langchain_sdrag.SelectiveDisclosureRetriever,
        base_retriever=Documents(scenario=SCENARIO),
        policy=POLICY,
        **given,
    )
    return wrapper.invoke("q")[0].page_content


def langchain_compressor(**given):
    wrapper = build(
        langchain_sdrag.SelectiveDisclosureCompressor, policy=POLICY, **given
    )
    return wrapper.compress_documents([Document(TEXT, id="p")], "q")[0].page_content


def langchain_view(**given):
    wrapper = build(langchain_sdrag.RedactingTransformer, policy=POLICY, **given)
    return wrapper.transform_documents([Document(TEXT, id="p")])[0].page_content


def llamaindex_retriever(**given):
    wrapper = build(
        llamaindex_sdrag.SelectiveDisclosureRetriever,
        base_retriever=Nodes(SCENARIO),
        policy=POLICY,
        **given,
    )
    return wrapper.retrieve("q")[0].node.get_content()


def llamaindex_postprocessor(**given):
    wrapper = build(
        llamaindex_sdrag.SelectiveDisclosurePostprocessor, policy=POLICY, **given
    )
    node = NodeWithScore(node=TextNode(text=TEXT, id_="p"))
    return wrapper.postprocess_nodes([node], query_str="q")[0].node.get_content()


def llamaindex_view(**given):
    wrapper = build(llamaindex_sdrag.RedactingTransformer, policy=POLICY, **given)
    return wrapper([TextNode(text=TEXT, id_="p")])[0].get_content()


WRAPPERS = [
    langchain_retriever,
    langchain_compressor,
    langchain_view,
    llamaindex_retriever,
    llamaindex_postprocessor,
    llamaindex_view,
]


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("detector", DETECTORS, ids=lambda one: type(one).__name__)
def test_what_either_detector_finds_is_withheld(wrapper, detector):
    """The local detector does not know the number; the host's knows no address."""
    assert CALL in wrapper()

    released = wrapper(detector=detector)

    assert CALL not in released
    assert "ann.lee" not in released


@pytest.mark.parametrize("package", [langchain_sdrag, llamaindex_sdrag])
def test_what_a_binder_found_holds_for_a_retriever_without_it(package, tmp_path):
    """Readers unite what all detectors found: another detector takes nothing away."""
    state = tmp_path / "sdrag.sqlite"
    binder = package.ConstraintBinder(
        policy=POLICY, state=state, options=Options(detector=Knows(CALL))
    )
    if package is langchain_sdrag:
        chunk = Document(TEXT, id="p", metadata={"document_id": "d"})
        binder.transform_documents([chunk])
        released = langchain_retriever(state=state)
    else:
        (node,) = (one.node for one in Nodes(SCENARIO).retrieve("q"))
        binder([node])
        released = llamaindex_retriever(state=state)

    assert CALL not in released


def test_two_detectors_are_told_apart(tmp_path):
    """What one has looked at is looked at again by the other."""
    state = tmp_path / "sdrag.sqlite"

    assert CALL in langchain_retriever(state=state, detector=Knows("nobody"))
    assert CALL not in langchain_retriever(state=state, detector=Knows(CALL))


def test_another_setting_of_a_detector_is_another_engine():
    """LlamaIndex's ingestion cache goes by it; the settings cannot be read from it."""
    views, maskers = [], []
    for name in ("secret bell", "other bell"):
        given = {"policy": {}, "detector": Knows(name)}
        views.append(build(llamaindex_sdrag.RedactingTransformer, **given).engine_id)
        masker = llamaindex_sdrag.LinkageMasker(whole_corpus=True, **given)
        maskers.append(masker.engine_id)

    assert len({*views}) == len({*maskers}) == 2
    assert "bell" not in "".join((*views, *maskers))
