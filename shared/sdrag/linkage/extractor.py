"""
CLAM's own extractor: a model reads every document twice (section 4.2.2).

First alone; then knowing what was found elsewhere, so that a detail that gained weight
by recurring is found too. The list of known entities is kept short as the thesis
tuned it: only those whose `max relevance * uniqueness` reaches 0.4, and no direct
identifiers, which are found without help. What a model names and the document does
not hold is dropped. A document with an unreadable reply is a failure: it is withheld,
not taken as free of entities.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from sdrag.effects.prompts import Labelled, Message, Prompt, constant, fill, sensitive
from sdrag.effects.steps import Failure, Outcome, Reply, Steps, complete
from sdrag.errors import ModelReplyError, SdragError
from sdrag.linkage.graph import uniqueness
from sdrag.linkage.mentions import Occurrence
from sdrag.linkage.schema import DIRECT, Schema
from sdrag.text.folding import fold, fold_text

__all__ = ["Extractor", "ModelExtractor"]

_SYSTEM = """You extract what could help to identify the patient or claimant a document
is about. Allowed types: {types}.

Rules
- original_value stands in the document, character for character.
- normalized_value is the same for every way to write the same thing: dates as
  DD/MM/YYYY, names without titles, numbers without punctuation.
- relevance is from 0 to 1: how useful the entity is for re-identification here.
- Leave out generic words that fit anybody.

Reply with JSON alone:
{{"entities": [[original_value, normalized_value, entity_type, relevance], ...]}}"""
_LOCAL = """Document:
{document}"""
_CONTEXT = """These entities were found in other documents of the same collection, as
[normalized_value, entity_type]. Look for each of them in the document, under whatever
form it takes, and for details that gain weight because they recur. Use the same
normalized_value where it is the same thing. Give every entity again, also those that
would be found without the list, with a relevance of its own.

Existing entities:
{known}

Document:
{document}"""
_FIELDS = 4


@runtime_checkable
class Extractor(Protocol):
    """A detector that also says what a find means and how telling it is."""

    def extract(
        self, texts: Sequence[str], known: Sequence[Sequence[Occurrence]] = ()
    ) -> Steps[list[Outcome[tuple[Occurrence, ...]]]]:
        """
        Find the entities in each text; a text that was not read is a `Failure`.

        Args:
            texts: The new documents.
            known: What was found in each of the old, which are not read again.
        """
        ...


@dataclass(frozen=True, slots=True)
class ModelExtractor:
    """
    The two-stage extraction over any model.

    Args:
        schema: The types that are allowed.
        strength: `ENTITY_FILTER_STRENGTH`.
        filter_types: Leave direct identifiers out of the list of known entities.
    """

    schema: Schema = field(default_factory=Schema)
    strength: float = 0.4
    filter_types: bool = True

    def extract(
        self, texts: Sequence[str], known: Sequence[Sequence[Occurrence]] = ()
    ) -> Steps[list[Outcome[tuple[Occurrence, ...]]]]:
        """Extract from each text alone, then with what all others hold."""
        first = yield from self._read(texts, [_LOCAL] * len(texts), [""] * len(texts))
        earlier = [Reply(tuple(row)) for row in known]
        lists = self._known([*first, *earlier])[: len(texts)]
        again = yield from self._read(texts, [_CONTEXT] * len(texts), lists)
        return [
            left if isinstance(left, Failure) else _merged(left.value, right)
            for left, right in zip(first, again, strict=True)
        ]

    def _read(
        self, texts: Sequence[str], templates: Sequence[str], known: Sequence[str]
    ) -> Steps[list[Outcome[tuple[Occurrence, ...]]]]:
        system = fill(_SYSTEM, types=constant(", ".join(self.schema.weights)))
        outcomes = yield from complete(
            Prompt(
                "linkage.extract",
                (
                    Message("system", system),
                    Message(
                        "user",
                        fill(
                            template, document=sensitive(text), known=sensitive(list_)
                        ),
                    ),
                ),
            )
            for text, template, list_ in zip(texts, templates, known, strict=True)
        )
        return [
            self._found(text, outcome)
            for text, outcome in zip(texts, outcomes, strict=True)
        ]

    def _found(
        self, text: str, outcome: Outcome[Labelled]
    ) -> Outcome[tuple[Occurrence, ...]]:
        if isinstance(outcome, Failure):
            return outcome
        try:
            rows = _parsed(outcome.value.text)
            folded = fold(text)
            return Reply(
                tuple(
                    Occurrence(str(form), self.schema.canonical(str(type_)), rel, norm)
                    for form, norm, type_, rel in rows
                    if any(folded.find(fold_text(str(form))))
                )
            )
        except SdragError as error:
            return Failure(error)

    def _known(self, outcomes: Sequence[Outcome[tuple[Occurrence, ...]]]) -> list[str]:
        """Return, for each document, the filtered list of what the others hold."""
        best: dict[tuple[str, str], float] = {}
        documents: dict[tuple[str, str], set[int]] = {}
        for number, outcome in enumerate(outcomes):
            for occurrence in () if isinstance(outcome, Failure) else outcome.value:
                key = (occurrence.normalized or occurrence.form, occurrence.type)
                best[key] = max(best.get(key, 0.0), occurrence.relevance)
                documents.setdefault(key, set()).add(number)
        kept = [
            key
            for key in best
            if best[key] * float(uniqueness(len(documents[key]), len(outcomes)))
            >= self.strength
            and not (self.filter_types and key[1] in DIRECT)
        ]
        return [
            json.dumps([key for key in kept if documents[key] != {number}])
            for number in range(len(outcomes))
        ]


def _parsed(reply: str) -> list[tuple[Any, str, Any, float]]:
    """Read Listing 4.1 from a reply, also where it stands between other words."""
    start, end = reply.find("{"), reply.rfind("}")
    try:
        rows = json.loads(reply[start : end + 1])["entities"]
        return [
            (form, str(norm or ""), type_, min(max(float(relevance), 0.0), 1.0))
            for form, norm, type_, relevance in rows
        ]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ModelReplyError("An extraction cannot be read.") from None


def _merged(
    first: tuple[Occurrence, ...], second: Outcome[tuple[Occurrence, ...]]
) -> Outcome[tuple[Occurrence, ...]]:
    """Join both readings; the second, which knew more, says how telling a find is."""
    if isinstance(second, Failure):
        return second
    named = {
        (fold_text(occurrence.form), occurrence.type) for occurrence in second.value
    }
    left = (f for f in first if (fold_text(f.form), f.type) not in named)
    return Reply((*second.value, *left))
