"""
A second look that needs no model: what was found elsewhere is looked for everywhere.

CLAM reads every document twice, the second time knowing what the others hold (section
4.2.2). A detector sees one document at a time, so a name that its context gave away in
one and not in the other, or "KV 7719-203" next to "KV-7719203", links documents and is
missed. Here every form that a detector was sure of is looked for in all documents, as
it is written, identifiers under other punctuation, and names in other spellings too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sdrag.linkage.form_search import FormSearch, inner_offsets
from sdrag.linkage.mentions import Occurrence, longest
from sdrag.linkage.names import other_spellings
from sdrag.linkage.schema import ROLES, Schema
from sdrag.text.folding import fold, fold_text
from sdrag.vocabulary import Confidential, Mention, Span

__all__ = ["KnownForms", "occurrences_elsewhere"]

_SURE = 0.5
_SHORTEST = 5
_DIGITS = 4
"""An identifier has as many digits or more."""
_PIECES = 6
"""An identifier is written in no more pieces."""
_TOKEN = re.compile(r"[A-Za-z0-9]+")
_GAPS = frozenset(" -./\u2010\u2011\u2013")
_SOURCE = "known"
_TABLE = Schema()

Known = Mapping[str, tuple[str, float]]
"""A form to its type, and how sure a detector was of it."""


@dataclass(frozen=True, slots=True, repr=False)
class KnownForms(Confidential):
    """
    What a detector was sure of anywhere in a corpus.

    Args:
        forms: By folded form, its type and how sure the detector was.
        codes: The same by identifier, without punctuation.
        spelled: The forms that are other spellings of names.
    """

    forms: Known
    codes: Known
    spelled: frozenset[str] = frozenset()
    _search: FormSearch = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_search", FormSearch(list(self.forms)))

    @classmethod
    def of(cls, texts: Sequence[str], rows: Sequence[Sequence[Mention]]) -> KnownForms:
        """Collect it from what was found in each text."""
        forms: dict[str, tuple[str, float]] = {}
        codes: dict[str, tuple[str, float]] = {}
        names: set[str] = set()
        for text, mentions in zip(texts, rows, strict=True):
            for mention in mentions:
                form = mention.span.of(text)
                if mention.confidence < _SURE or len(form) < _SHORTEST:
                    continue
                entry = (mention.type, mention.confidence)
                folded, plain = fold_text(form), "".join(_TOKEN.findall(form)).upper()
                if _is_name(mention.type):
                    names.add(form)
                forms[folded] = _surer(forms.get(folded), entry)
                if sum(map(str.isdigit, plain)) >= _DIGITS:
                    codes[plain] = _surer(codes.get(plain), entry)
        forms.pop("", None)
        as_found = frozenset(forms)
        for form in sorted(names):
            for written in other_spellings(form):
                forms.setdefault(written, forms[fold_text(form)])
        return cls(forms, codes, frozenset(forms) - as_found)

    def look(
        self, texts: Sequence[str], rows: Sequence[Sequence[Mention]]
    ) -> list[tuple[Mention, ...]]:
        """Return what was found in some texts, and what else is written in them."""
        result: list[tuple[Mention, ...]] = []
        hits = _written(texts, self._search)
        for text, mentions, spans in zip(texts, rows, hits, strict=True):
            inner = inner_offsets((m.span.start, m.span.end) for m in mentions)
            again = [
                Mention(span, *self.forms[form], _SOURCE)
                for span, form in spans
                if form not in self.spelled
                or not inner.intersection((span.start, span.end))
            ]
            result.append(longest((*mentions, *again, *_codes(text, self.codes))))
        return result


def occurrences_elsewhere(
    texts: Sequence[str], rows: Sequence[Sequence[Occurrence]]
) -> list[tuple[Occurrence, ...]]:
    """
    Return, for each text, what a model found in another one and is written here too.

    Args:
        texts: The whole corpus.
        rows: For each text, what a model found in it.
    """
    best: dict[str, Occurrence] = {}
    for item in sorted(
        (entry for row in rows for entry in row if len(entry.form) >= _SHORTEST),
        key=lambda entry: (entry.relevance, entry.type, entry.form),
    ):
        best[fold_text(item.form)] = item
    for item in list(best.values()):
        if _is_name(item.type):
            for written in other_spellings(item.form):
                best.setdefault(written, item)
    known = {form: (item.type, item.relevance) for form, item in best.items()}
    hits = _written(texts, FormSearch(list(known)))
    result: list[tuple[Occurrence, ...]] = []
    for text, row, spans in zip(texts, rows, hits, strict=True):
        have = {fold_text(item.form) for item in row}
        new = {
            form: replace(best[form], form=span.of(text))
            for span, form in spans
            if form not in have
        }
        result.append(tuple(new[form] for form in sorted(new)))
    return result


def _written(
    texts: Sequence[str], search: FormSearch
) -> Iterator[list[tuple[Span, str]]]:
    """Yield, for each text, where known forms are written, as words."""
    for text in texts:
        folded = fold(text)
        yield [
            (folded.span(start, end), search.forms[number])
            for number, start, end in search.matches(folded.text)
        ]


def _is_name(type_: str) -> bool:
    return ROLES.get(_TABLE.canonical(type_)) == "name"


def _surer(
    left: tuple[str, float] | None, right: tuple[str, float]
) -> tuple[str, float]:
    return right if left is None or (right[1], left[0]) > (left[1], right[0]) else left


def _codes(text: str, known: Known) -> Iterator[Mention]:
    """Yield where known identifiers are written, under any punctuation."""
    tokens = [(m.start(), m.end()) for m in _TOKEN.finditer(text)]
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
                yield Mention(Span(tokens[first][0], end), *known[joined], _SOURCE)
