"""
What was found in each document, from a detector or handed in.

CLAM's extractor gives `[original, normalized, type, relevance]` (Listing 4.1); a
detector gives spans. Both become an `Occurrence`. A detector says how sure it is, not
how telling a mention is, so its confidence is taken for the relevance; how much the
thing itself tells is left to its type's weight and its rarity. Of mentions that overlap
or nest, the longest is kept.

A detector says that something is a date or a code. That it is somebody's birth date, or
the number of a patient, is said by the words before it. A weight is only ever raised
here. Descriptions that single somebody out, such as "the last woman to tend a
lighthouse", are found by the words that begin them; no detector looks for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sdrag.errors import UsageError
from sdrag.linkage.schema import Schema
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Confidential, Mention, Passage, Span

__all__ = ["Mentions", "Occurrence", "longest", "read_mentions"]


_BEFORE = 40
_BIRTH = re.compile(
    r"\b(?:born|birth|birth ?date|birthday|d\.?o\.?b|geb(?:oren)?)\b[^.;!?\d]{0,25}$",
    re.IGNORECASE,
)
_PERSONS = """patient|member|insured|policy ?holder|subscriber|beneficiary|claimant|mrn
|nhs|record|chart|identified as|health card|student|pupil|employee|personnel|staff
|passport|licen[cs]e|social security|tenant|resident|client|customer|player|inmate
|volunteer|donor""".replace("\n", "")
_NUMBER_OF = re.compile(
    rf"\b(?:{_PERSONS})(?:'s)?\W{{0,3}}(?:(?:no|nr|number|id|code|file|card)\b)?\W{{0,3}}$",
    re.IGNORECASE,
)
_RAISED: Mapping[str, tuple[str, re.Pattern[str]]] = {
    "EVENT_DATE": ("BIRTHDATE", _BIRTH),
    "NON_PERSONAL_ID": ("PATIENT_ID", _NUMBER_OF),
}
"""What a type becomes, and after which words."""
_PART = r"(?!and (?:had|has|have|was|were|is|that|stands|will)\b)[^\s,.;:!?()\"]+"
_CLAUSE = rf"(?:{_PART}[ \n]+){{2,13}}{_PART}"
_KINDS = "only|sole|oldest|youngest|tallest|longest-serving|former|one-(?:eyed|armed)"
_SINGLED_OUT = re.compile(
    rf"\b(?:the|a|an|his|her|our|my) (?:(?:{_KINDS}) {_CLAUSE}"
    rf"|(?:first|last) (?:[^\s,.;:!?]+ ){{0,3}}(?:to|who|that) {_CLAUSE})",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    rf"\b(?P<of>[a-z][a-z'-]{{1,40}}),? (?P<said>who (?!should|may|must){_CLAUSE})"
)
_DOES = """works as|keeps|runs|makes|plays|drives|sells|restores|teaches|coaches|directs
|leads|breeds|collects|builds|repairs|paints|races|steers|serves|sings|owns|grows|carves
|trains|conducts|once|used to""".replace("\n", "")
_SAID_OF = re.compile(
    r"\b(?:he|she|patient|applicant|claimant|member|tenant|pupil|player|insured) "
    rf"(?:also |still )?(?P<said>(?:{_DOES}) {_CLAUSE})",
    re.IGNORECASE,
)
_NOBODY = frozenset(
    ("people", "those", "women", "men", "children", "anyone", "everyone")
)
_SURE = 0.5
_DIGITS = 4
"""What holds so many digits is an identifier, though a detector take it for a name."""


@dataclass(frozen=True, slots=True, repr=False)
class Occurrence(Confidential):
    """
    An entity's appearance in a document.

    Args:
        form: As it is written in the text.
        type: Of the schema.
        relevance: How telling it is there, from 0 to 1.
        normalized: What an extractor says it means; empty where nobody said.
    """

    form: str
    type: str
    relevance: float = 1.0
    normalized: str = ""

    def __post_init__(self) -> None:
        if not fold_text(self.form):
            raise UsageError(
                "An entity has no form.",
                hint="Give the entity as it is written in the text.",
            )
        if not 0.0 <= self.relevance <= 1.0:
            raise UsageError(f"`relevance` must be from 0 to 1, got {self.relevance}.")

    def __repr__(self) -> str:
        return f"Occurrence({len(self.form)} characters, type={self.type!r})"


Mentions = (
    Mapping[str, Sequence[Occurrence | Mention | Sequence[Any]]]
    | Sequence[Sequence[Occurrence | Mention | Sequence[Any]]]
)
"""For each document, by id or in order, what was found in it: `Found`, a detector's
`Mention`, or the thesis's `[original, normalized, type, relevance]`."""


def read_mentions(
    documents: Sequence[Passage],
    mentions: Mentions,
    schema: Schema,
    *,
    detected: bool = False,
) -> list[tuple[Occurrence, ...]]:
    """
    Return what was found in each document, in order.

    Args:
        documents: The corpus.
        mentions: For each of them.
        schema: For the names of its types.
        detected: They are a detector's; so they are where any is a `Mention`.

    Raises:
        UsageError: A document has no entry, or an entry cannot be read.
    """
    if isinstance(mentions, Mapping):
        missing = sum(document.id not in mentions for document in documents)
        if missing:
            raise UsageError(
                f"`mentions` has no entry for {missing} documents.",
                hint="Give an empty list where nothing was found.",
            )
        rows = [mentions[document.id] for document in documents]
    else:
        rows = list(mentions)
    if len(rows) != len(documents):
        raise UsageError(
            f"`mentions` has {len(rows)} lists for {len(documents)} documents.",
            hint="Give one list for each document, empty where nothing was found.",
        )
    detected |= any(isinstance(entry, Mention) for row in rows for entry in row)
    return [
        tuple(_read(document.text, row, schema, detected=detected))
        for document, row in zip(documents, rows, strict=True)
    ]


def longest(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Keep, of mentions that overlap, the longest; then the earliest."""
    taken: list[Mention] = []
    for mention in sorted(
        mentions, key=lambda item: (-len(item.span), item.span, item.type)
    ):
        if not any(mention.span.overlaps(other.span) for other in taken):
            taken.append(mention)
    return tuple(sorted(taken, key=lambda item: item.span))


def _read(
    text: str,
    row: Sequence[Occurrence | Mention | Sequence[Any]],
    schema: Schema,
    *,
    detected: bool,
) -> Iterator[Occurrence]:
    for entry in row:
        if isinstance(entry, Occurrence):
            yield entry
        elif not isinstance(entry, Mention):
            yield _of_listing(entry, schema)
    sure = (
        entry
        for entry in row
        if isinstance(entry, Mention) and entry.confidence >= schema.least
    )
    for mention in longest(sure):
        form = mention.span.of(text).strip()
        if fold_text(form):
            yield Occurrence(form, _type_of(text, mention, schema), mention.confidence)
    for mention in _descriptions(text) if detected and schema.least <= _SURE else ():
        if mention.type in schema.weights:
            yield Occurrence(mention.span.of(text), mention.type, mention.confidence)


def _type_of(text: str, mention: Mention, schema: Schema) -> str:
    type_ = schema.canonical(mention.type)
    if type_ == "NAME" and sum(map(str.isdigit, mention.span.of(text))) >= _DIGITS:
        return schema.canonical("ID")
    return _type_in_context(text, mention.span, type_, schema)


def _of_listing(entry: Sequence[Any], schema: Schema) -> Occurrence:
    try:
        form, normalized, type_, relevance = entry
        return Occurrence(
            str(form),
            schema.canonical(str(type_)),
            float(relevance),
            str(normalized or ""),
        )
    except (TypeError, ValueError):
        raise UsageError(
            "An entity cannot be read.",
            hint="Give [original, normalized, type, relevance].",
        ) from None


def _type_in_context(text: str, span: Span, type_: str, schema: Schema) -> str:
    """Return a type, or the one of more weight that the words before the find say."""
    raised, before = _RAISED.get(type_, ("", None))
    weights = schema.weights
    if before is None or weights.get(raised, 0.0) < weights.get(type_, 0.0):
        return type_
    words = text[max(0, span.start - _BEFORE) : span.start]
    return raised if before.search(words) else type_


def _descriptions(text: str) -> Iterator[Mention]:
    """Yield what a text says that singles somebody out, as `UNIQUE_FACT`."""
    for match in _SINGLED_OUT.finditer(text):
        yield Mention(Span(*match.span()), "UNIQUE_FACT", _SURE, "description")
    for match in _SAID_OF.finditer(text):
        yield Mention(Span(*match.span("said")), "UNIQUE_FACT", _SURE, "description")
    for match in _RELATIVE.finditer(text):
        noun = match["of"]
        if not noun.endswith("s") and noun not in _NOBODY:
            yield Mention(
                Span(*match.span("said")), "UNIQUE_FACT", _SURE, "description"
            )
