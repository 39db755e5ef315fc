"""
The baselines CLAM is compared with: verbatim, blanket redaction, and SAGE (5.3.3).

Verbatim is the corpus as it is. Blanket redaction masks every entity. SAGE ("Mitigating
the Privacy Issues in RAG via Pure Synthetic Data") replaces each document by a
synthetic one: five attributes a format, extracted and written anew, then refined until
an assessing agent finds it safe or the rounds are over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.linkage_experiments.models import Ask, asked, prompt
from sdrag.errors import ModelError
from sdrag.linkage.assessment import assess
from sdrag.linkage.mentions import Mentions
from sdrag.linkage.replacing import Masker
from sdrag.linkage.settings import SettingsSource
from sdrag.vocabulary import Passage

__all__ = ["blanket", "sage"]

_EXAMPLES = 5
_ROUNDS = 5


def blanket(
    documents: Sequence[Passage], mentions: Mentions, settings: SettingsSource = None
) -> list[Passage]:
    """Mask every entity that was found."""
    entities = assess(documents, mentions, settings).resolved.entities
    masker = Masker(entities)
    return [replace(one, text=masker.replace(one.text).text) for one in documents]


def sage(
    documents: Sequence[Passage], ask: Ask, rounds: int = _ROUNDS
) -> list[Passage | None]:
    """
    Replace documents by synthetic ones.

    Args:
        documents: With their `format` in the metadata.
        ask: The model of both stages.
        rounds: The most refinements of a document.

    Returns:
        For each document its stand-in, or `None` where none was found safe.
    """
    by_format: dict[str, list[Passage]] = {}
    for document in documents:
        by_format.setdefault(_format(document), []).append(document)
    attributes = {
        name: _attributes(name, held[:_EXAMPLES], ask)
        for name, held in by_format.items()
    }
    return [
        _synthetic(document, attributes[_format(document)], ask, rounds)
        for document in documents
    ]


def _attributes(name: str, examples: Sequence[Passage], ask: Ask) -> str:
    shown = "\n\n".join(example.text for example in examples)
    user = prompt("sage_attributes", doc_format=name, examples=shown)
    return _joined(asked(ask, "", user).get("attributes"))


def _synthetic(
    document: Passage, attributes: str, ask: Ask, rounds: int
) -> Passage | None:
    try:
        text = _generated(document, attributes, ask)
        for _ in range(rounds):
            user = prompt(
                "sage_assess", original_content=document.text, synthetic_content=text
            )
            found = asked(ask, "", user)
            if found.get("safe") is True:
                return replace(document, text=text)
            user = prompt(
                "sage_rewrite",
                synthetic_content=text,
                suggestions=_joined(found.get("suggestions")),
            )
            text = str(asked(ask, "", user)["rewritten_content"])
    except (ModelError, KeyError):
        return None
    return None


def _generated(document: Passage, attributes: str, ask: Ask) -> str:
    user = prompt("sage_extract", attributes=attributes, original_content=document.text)
    information = _joined(asked(ask, "", user).get("information"))
    user = prompt(
        "sage_generate",
        doc_format=_format(document),
        original_length=len(document.text),
        info_text=information,
    )
    return str(asked(ask, "", user)["synthetic_content"])


def _format(document: Passage) -> str:
    return str(document.metadata.get("format", "document"))


def _joined(values: object) -> str:
    if isinstance(values, list):
        return "; ".join(str(value) for value in values)
    return str(values or "")
