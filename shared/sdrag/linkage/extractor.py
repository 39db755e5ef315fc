"""
CLAM's own extractor: a model reads every document twice (section 4.2.2).

First alone; then knowing what was found elsewhere, so that a detail that gained weight
by recurring is found too. The list of known entities is kept short as the thesis
tuned it: only those whose `max relevance * uniqueness` reaches 0.4, and no direct
identifiers, which are found without help. The prompt says what the policy says: the
domain, its types, and how severe the leak of each is. What a model names and the
document does not hold is dropped. A document with an unreadable reply is a failure: it
is withheld, not taken as free of entities.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from sdrag.effects.prompts import Labelled, Message, Prompt, constant, fill, sensitive
from sdrag.effects.replies import read_reply
from sdrag.effects.steps import Failure, Outcome, Reply, Steps, complete
from sdrag.errors import SdragError
from sdrag.linkage.incidence import uniqueness
from sdrag.linkage.mentions import Occurrence
from sdrag.linkage.schema import Schema
from sdrag.text.folding import fold, fold_text

_SYSTEM = """You extract what could help to identify the person whom a document is
about. The domain of the documents: {domain}.

Allowed types, each with how its values are compared, and how severe its leak is, from 0
to 1:
{types}

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
_STRENGTH = 0.4
"""`ENTITY_FILTER_STRENGTH`: of known entities those are listed that tell so much."""
_Row = Outcome[tuple[Occurrence, ...]]


_Share = Annotated[float, AfterValidator(lambda share: min(max(share, 0.0), 1.0))]


class _Reply(BaseModel):
    """Listing 4.1; a relevance out of bounds is taken for the nearest bound."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    entities: list[tuple[str, str | None, str, _Share]]


@dataclass(frozen=True, slots=True)
class ModelExtractor:
    """The two-stage extraction over any model, by the schema that is in force."""

    def extract(
        self,
        texts: Sequence[str],
        schema: Schema,
        known: Sequence[Sequence[Occurrence]] = (),
    ) -> Steps[list[_Row]]:
        """
        Find the entities in each text; a text that was not read is a `Failure`.

        `known`: what was found in other documents before.
        """
        first = yield from _read(texts, schema, _LOCAL, [""] * len(texts))
        earlier = [Reply(tuple(row)) for row in known]
        lists = _list_known([*first, *earlier], schema)[: len(texts)]
        again = yield from _read(texts, schema, _CONTEXT, lists)
        return [
            left if isinstance(left, Failure) else _merge(left.value, right)
            for left, right in zip(first, again, strict=True)
        ]


def _read(
    texts: Sequence[str], schema: Schema, template: str, known: Sequence[str]
) -> Steps[list[_Row]]:
    rows = (
        f"- {name}: {schema.role(name)}, {weight:g}"
        for name, weight in schema.weights.items()
    )
    types, domain = constant("\n".join(rows)), constant(schema.domain)
    system = Message("system", fill(_SYSTEM, types=types, domain=domain))
    asked = (
        fill(template, document=sensitive(text), known=sensitive(list_))
        for text, list_ in zip(texts, known, strict=True)
    )
    outcomes = yield from complete(
        Prompt("linkage.extract", (system, Message("user", content))).limited()
        for content in asked
    )
    return [
        _read_occurrences(text, outcome, schema)
        for text, outcome in zip(texts, outcomes, strict=True)
    ]


def _read_occurrences(text: str, outcome: Outcome[Labelled], schema: Schema) -> _Row:
    """Read Listing 4.1 from a reply; what the text does not hold is left out."""
    if isinstance(outcome, Failure):
        return outcome
    folded = fold(text)
    try:
        reply = read_reply(outcome.value.text, _Reply)
        return Reply(
            tuple(
                Occurrence(form, schema.canonical(type_), sure, norm or "")
                for form, norm, type_, sure in reply.entities
                if any(folded.find(fold_text(form)))
            )
        )
    except SdragError as error:
        return Failure(error)


def _list_known(outcomes: Sequence[_Row], schema: Schema) -> list[str]:
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
        for key, relevance in best.items()
        if not schema.is_direct(key[1])
        and relevance * uniqueness(len(documents[key]), len(outcomes)) >= _STRENGTH
    ]
    return [
        json.dumps([key for key in kept if documents[key] != {number}])
        for number in range(len(outcomes))
    ]


def _merge(first: tuple[Occurrence, ...], second: _Row) -> _Row:
    """Join both readings; the second, which knew more, says how telling a find is."""
    if isinstance(second, Failure):
        return second
    named = {
        (fold_text(occurrence.form), occurrence.type) for occurrence in second.value
    }
    left = (f for f in first if (fold_text(f.form), f.type) not in named)
    return Reply((*second.value, *left))
