"""
A second look that needs no model: what was found elsewhere is looked for everywhere.

CLAM reads every document twice, the second time knowing what the others hold (section
4.2.2). A detector sees one document at a time, so a name that its context gave away in
one and not in the other, or "KV 7719-203" next to "KV-7719203", links documents and is
missed. Here every form that somebody was sure of is looked for in all documents, as it
is written, and identifiers under other punctuation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sdrag.linkage.mentions import DESCRIPTION, Found, Occurrence
from sdrag.text.folding import fold, fold_text
from sdrag.text.phrase_matcher import FormSearch
from sdrag.vocabulary import Confidential, Mention, Span

_SURE = 0.5
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
    def of(cls, found: Iterable[tuple[str, Sequence[Found]]]) -> KnownForms:
        """Collect it from texts, each with what was found in it."""
        best: dict[str, tuple[float, str, str]] = {}
        for text, row in found:
            for item in row:
                form, type_, sure = _read(text, item)
                if sure >= _SURE and len(form) >= _SHORTEST and type_:
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
