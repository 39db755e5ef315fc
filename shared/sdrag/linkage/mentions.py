"""
What was found in each document, from a detector or passed, and what else is there.

CLAM's extractor gives `[original, normalized, type, relevance]` (Listing 4.1); a
detector gives spans. Both become an `Occurrence`. A detector says how sure it is, not
how telling a mention is, so its confidence is taken for the relevance. Of mentions that
overlap or nest, the longest is kept. Descriptions that single somebody out, such as
"the last woman to tend a lighthouse", are found by the words that begin them.

CLAM reads every document twice, the second time knowing what the others hold (section
4.2.2). A detector sees one at a time, so every form that somebody was sure of is looked
for in all documents, as it is written, and identifiers under other punctuation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sdrag.errors import UsageError
from sdrag.linkage.schema import Schema
from sdrag.text.folding import fold, fold_text
from sdrag.text.phrase_matcher import FormSearch
from sdrag.vocabulary import Confidential, Mention, Passage, Span

_PART = r"(?!and (?:had|has|have|was|were|is|that|stands|will)\b)[^\s,.;:!?()\"]+"
_CLAUSE = rf"(?:{_PART}[ \n]+){{2,13}}{_PART}"
_KINDS = "only|sole|oldest|youngest|tallest|longest-serving|former|one-(?:eyed|armed)"
_DOES = """works as|keeps|runs|makes|plays|drives|sells|restores|teaches|coaches|directs
|leads|breeds|collects|builds|repairs|paints|races|steers|serves|sings|owns|grows|carves
|trains|conducts|once|used to""".replace("\n", "")
_DESCRIPTIONS = (
    re.compile(
        rf"\b(?P<says>(?:the|a|an|his|her|our|my) (?:(?:{_KINDS}) {_CLAUSE}"
        rf"|(?:first|last) (?:[^\s,.;:!?]+ ){{0,3}}(?:to|who|that) {_CLAUSE}))",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:he|she|patient|applicant|claimant|member|tenant|pupil|player|insured) "
        rf"(?:also |still )?(?P<says>(?:{_DOES}) {_CLAUSE})",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?!(?:people|those|women|men|children|anyone|everyone)\b)[a-z][a-z'-]{0,39}[a-rt-z'-]"
        rf",? (?P<says>who (?!should|may|must){_CLAUSE})"
    ),
)
_SURE = 0.5
DESCRIPTION = "description"


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


Found = Occurrence | Mention
Mentions = (
    Mapping[str, Sequence[Found | Sequence[Any]]]
    | Sequence[Sequence[Found | Sequence[Any]]]
)
"""For each document, by id or in order, what was found in it: an `Occurrence`, a
detector's `Mention`, or the thesis's `[original, normalized, type, relevance]`."""


def check_mentions(
    documents: Sequence[Passage], mentions: Mentions, schema: Schema
) -> dict[str, tuple[Found, ...]]:
    """Return what was found in each document, by its id."""
    if isinstance(mentions, Mapping):
        missing = sum(document.id not in mentions for document in documents)
        if missing:
            raise UsageError(
                f"`mentions` has no entry for {missing} documents.",
                hint="Give an empty list where nothing was found.",
            )
        mentions = [mentions[document.id] for document in documents]
    if len(mentions) != len(documents):
        raise UsageError(
            f"`mentions` has {len(mentions)} lists for {len(documents)} documents.",
            hint="Give one list for each document, empty where nothing was found.",
        )
    rows = [
        tuple(e if isinstance(e, Found) else _of_listing(e, schema) for e in row)
        for row in mentions
    ]
    if any(isinstance(entry, Mention) for row in rows for entry in row):
        rows = [
            (*row, *find_descriptions(document.text))
            for document, row in zip(documents, rows, strict=True)
        ]
    return dict(zip(by_id(documents), rows, strict=True))


def by_id(documents: Iterable[Passage]) -> dict[str, Passage]:
    """Return documents by their ids, which must differ."""
    ids: dict[str, Passage] = {}
    for document in documents:
        if ids.setdefault(document.id, document) is not document:
            raise UsageError(
                "Two documents have the same id.", hint="Give each document its own id."
            )
    return ids


def find_descriptions(text: str) -> tuple[Mention, ...]:
    """Return what a text says that singles somebody out, as `UNIQUE_FACT`."""
    return tuple(
        Mention(Span(*match.span("says")), "UNIQUE_FACT", _SURE, DESCRIPTION)
        for pattern in _DESCRIPTIONS
        for match in pattern.finditer(text)
    )


def read_found(
    text: str, found: Iterable[Found], schema: Schema
) -> tuple[Occurrence, ...]:
    """Return what was found in a text, with types of the schema."""
    read = [entry for entry in found if isinstance(entry, Occurrence)]
    sure = [
        entry
        for entry in found
        if isinstance(entry, Mention)
        and entry.confidence >= schema.settings.min_confidence
    ]
    described = [
        entry
        for entry in sure
        if entry.reason == DESCRIPTION and entry.type in schema.weights
    ]
    for mention in (*longest(e for e in sure if e.reason != DESCRIPTION), *described):
        form = mention.span.of(text).strip()
        if fold_text(form):
            type_ = schema.canonical(mention.type)
            read.append(Occurrence(form, type_, mention.confidence))
    return tuple(read)


def longest(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Keep, of mentions that overlap, the longest; then the earliest."""
    taken: list[Mention] = []
    for mention in sorted(
        mentions, key=lambda item: (-len(item.span), item.span, item.type)
    ):
        if not any(mention.span.overlaps(other.span) for other in taken):
            taken.append(mention)
    return tuple(sorted(taken, key=lambda item: item.span))


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


_LEAST_SURE = 0.5
_SHORTEST = 5
_DIGITS = 4
"""An identifier has as many digits or more."""
_PIECES = 6
"""An identifier is written in no more pieces."""
_TOKEN = re.compile(r"[A-Za-z0-9]+")
_GAPS = frozenset(" -./\u2010\u2011\u2013")

Known = Mapping[str, tuple[str, float]]
"""A form to its type, and how sure somebody was of it."""


@dataclass(frozen=True, slots=True, repr=False)
class KnownForms(Confidential):
    """What was found anywhere in a corpus, and identifiers without punctuation."""

    forms: Known
    codes: Known
    _search: FormSearch = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_search", FormSearch(self.forms))

    @classmethod
    def of(cls, texts: Iterable[tuple[str, Sequence[Found]]]) -> KnownForms:
        """Collect it from texts, each with what was found in it."""
        best: dict[str, tuple[float, str, str]] = {}
        for text, row in texts:
            for item in row:
                form, type_, sure = _read(text, item)
                if sure >= _LEAST_SURE and len(form) >= _SHORTEST and type_:
                    folded = fold_text(form)
                    rated = -sure, type_, form
                    best[folded] = min(best.get(folded, rated), rated)
        best.pop("", None)
        forms = {folded: (type_, -less) for folded, (less, type_, _) in best.items()}
        plain = {
            "".join(_TOKEN.findall(form)).upper(): (type_, -less)
            for less, type_, form in sorted(best.values(), reverse=True)
        }
        digits = {code: sum(map(str.isdigit, code)) for code in plain}
        return cls(forms, {c: plain[c] for c, n in digits.items() if n >= _DIGITS})

    def look(self, text: str, row: Sequence[Found]) -> tuple[Found, ...]:
        """Return what was found in a text, and what else is written in it."""
        folded = fold(text)
        have = {fold_text(item.form) for item in row if isinstance(item, Occurrence)}
        hits = (
            Mention(folded.span(start, end), *self.forms[self._search.forms[number]])
            for number, start, end in self._search.matches(folded.text)
        )
        more = (*hits, *_codes(text, self.codes))
        return (*row, *(h for h in more if fold_text(h.span.of(text)) not in have))


def _read(text: str, item: Found) -> tuple[str, str, float]:
    """Return a form, its type, and how sure somebody was; no type of a description."""
    if isinstance(item, Occurrence):
        return item.form, item.type, item.relevance
    type_ = "" if item.reason == DESCRIPTION else item.type
    return item.span.of(text), type_, item.confidence


def _codes(text: str, known: Known) -> Iterator[Mention]:
    """Yield where known identifiers are written, under any punctuation."""
    tokens = [(m.start(), m.end()) for m in _TOKEN.finditer(text)] if known else []
    numbered = [any(map(str.isdigit, text[low:high])) for low, high in tokens]
    for first in range(len(tokens)):
        if not any(numbered[first : first + 2]):
            continue
        joined = ""
        for last in range(first, min(first + _PIECES, len(tokens))):
            start, end = tokens[last]
            if last > first and text[tokens[last - 1][1] : start] not in _GAPS:
                break
            joined += text[start:end].upper()
            if joined in known:
                yield Mention(Span(tokens[first][0], end), *known[joined])
