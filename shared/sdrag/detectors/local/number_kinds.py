"""
Kinds of numbers: passports, accounts, claims, rooms, by `tables/numbers.toml`.

A number is of a kind if the label right beside it says so: in front of it in its line
or cell, behind it in brackets, or as the letters that it begins with. A label of
another kind rules the kind out, unless the value has a form that nothing else has (an
IBAN, the check digit of a card). What no label is beside is of the kind if its form
could be, or if the sentence speaks of the kind at all. So without a label it fails
closed; the table says for each kind what could be one.

Dates, times, versions and measures are of no kind, and neither are the hashes, UUIDs
and names of machines in logs, whatever they look like, unless the label says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sdrag.detectors.local import tables
from sdrag.detectors.local.technical import is_technical
from sdrag.detectors.local.tokens import split_word
from sdrag.text.spans import SpanUnion
from sdrag.vocabulary import Confidential, Mention, Span

_NUMBERED = tables.listed(
    """CODE CREDENTIAL CREDIT_CARD DATE IBAN_CODE NUMBER PHONE_NUMBER QUANTITY US_SSN
    ZIP_CODE"""
)
"""Types of mentions that may be a number of some kind."""
_LABELLED = _NUMBERED | tables.listed("USERNAME MONEY")
"""Types of what may be one where its label says so."""
_FIGURES = frozenset({"NUMBER", "PHONE_NUMBER", "QUANTITY"})
"""Types of figures alone, which count by their form or their label."""
_WORDED = tables.listed("CREDENTIAL DATE MONEY NUMBER QUANTITY USERNAME")
"""Types of what may have words beside its figures, and be no number then."""
_MEASURES = tables.listed(
    "AGE COORDINATES DATE DOSE DURATION EMAIL_ADDRESS IP_ADDRESS MONEY TIME URL"
)
_SURE = 0.55
"""The least confidence of a date or a sum that is no number of a kind."""
_FILLERS = tables.listed(
    """number numbers no nos nr num id ids code codes ref refs reference references is
    was are were be been reads read reading as the new old current same correct full his
    her their my your our its given shown here a an this that"""
)
_REFERS = tables.listed("ref refs reference references")
_REACH = 90
_LONGEST = 3
"""No label has more words."""
_UNSURE = "?"
"""Among the kinds of a label: it does not rule any other out."""
_NUMBER_WORDS = tables.listed("number numbers no nos nr num id ids code ref reference")
_MARKS = (":", "=", "|", ">", "\n")
_LISTING = (",", " and", " or", "&", "/")
_OPENING = " \t\"'([{#*_`"
_BARRIER = re.compile(r"[;!?\n,]|[.](?:\s|$)")
_SHORTENED = re.compile(r"[^\W\d_]{1,4}\Z")
_WORD = re.compile(r"[^\W_]+")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,80}>")
_BEHIND = re.compile(r"[\"']?\s?[(\[]\s?([^()\[\]\n]{2,30})[)\]]")
_PREFIX = re.compile(r"([A-Za-z]{2,6})[-/ #]?(?=\d)")
_INNER_LABEL = re.compile(r"(?:[^\W\d_]{3,}[ .#:]{1,3}){1,3}(?=\S*\d)")
_GROUPS_BEFORE = re.compile(r"(?:[A-Z]{0,3}\d[\dA-Z]{0,20}[ ./-]){1,6}\Z")
_FIGURED = re.compile(r"(?=.*\d)[^\s]*(?: [^\s]*\d[^\s]*| [A-Z]{1,3}){0,9}")
"""Figures in groups, and no word beside them: no sum with its unit."""
_FIGURES_IN = re.compile(r"[A-Za-z#-]{0,8}\d[\w./-]{0,60}")
_SKELETON = re.compile(r"\d+|[A-Za-z]+")
_FULL_DATE = re.compile(
    r"(?:19|20)\d\d[-./]\d{1,2}[-./]\d{1,2}(?:[T ].*)?"
    r"|\d{1,2}[-./]\d{1,2}[-./](?:19|20)\d\d|\d{1,2}:\d\d(?::\d\d.*)?"
)
_NO_DATE = re.compile(
    r"(?:3[2-9]|[4-9]\d)-\d\d-\d\d|\d\d-(?:3[2-9]|[4-9]\d)-\d\d"
    r"|(?:1[3-9]|[23]\d)-(?:1[3-9]|[23]\d)-\d\d"
)
"""Three pairs of figures that are no day of any month, but may be a sort code."""
_CODED = re.compile(r"(?=.*\d).{4,}|\d{3,}|[A-Za-z]+\d+|\d+[A-Za-z]+")
_LONG = re.compile(r"(?!(?:19|20)\d\d$)\d{4,}")
_NO_CODE = re.compile(r"(?:19|20)\d\d|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d{1,2}")
"""Years and sums, which no word for a kind makes a number of it."""


@dataclass(frozen=True, slots=True)
class NumberKind:
    """A row of the table."""

    name: str
    called: str
    example: str
    asked: str
    alone: str
    labels: frozenset[tuple[str, ...]]
    prefixes: frozenset[str]
    forms: re.Pattern[str] | None
    sure: re.Pattern[str] | None
    check: str
    found: str
    unlabelled: str
    may_be: frozenset[str]
    types: frozenset[str]
    technical: bool
    spoken: re.Pattern[str]


@lru_cache(maxsize=1)
def number_kinds() -> dict[str, NumberKind]:
    """Return the kinds by their names."""
    rows = tables.read_toml("numbers")["kind"]
    return {row["name"]: _kind(row) for row in rows}


def _kind(row: dict[str, Any]) -> NumberKind:
    labels = [" ".join(label.split()) for label in row["labels"].split(";")]
    labels.sort(key=len, reverse=True)
    words = [*labels, *filter(None, map(str.strip, row.get("spoken", "").split(";")))]
    spoken = "|".join(word.replace(" ", "[ _-]") for word in words)
    return NumberKind(
        row["name"],
        row.get("called", f"{row['name']} numbers"),
        row.get("example", ""),
        row.get("asked", ""),
        row.get("alone", ""),
        frozenset(tuple(label.replace("'", "").split()) for label in labels),
        frozenset(row.get("prefixes", "").split()),
        _any_of(row.get("forms", ())),
        _any_of(row.get("sure", ())),
        row.get("check", ""),
        row.get("found", ""),
        row.get("unlabelled", "label"),
        frozenset(row.get("may_be", "").split()),
        frozenset(row.get("types", "").split()),
        row.get("technical", False),
        re.compile(rf"(?<![^\W_])(?:{spoken})s?(?![^\W\d_])", re.IGNORECASE),
    )


def _any_of(forms: Iterable[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(forms), re.IGNORECASE) if forms else None


@lru_cache(maxsize=1)
def _weak_labels() -> frozenset[str]:
    """Return the labels that also name somebody or something by themselves."""
    return tables.listed(tables.read_toml("numbers")["weak"])


@lru_cache(maxsize=1)
def _labels() -> dict[tuple[str, ...], frozenset[str]]:
    """Return the kinds that each label says."""
    kinds: dict[tuple[str, ...], set[str]] = {}
    for kind in number_kinds().values():
        for label in kind.labels:
            kinds.setdefault(label, set()).add(kind.name)
    return {label: frozenset(names) for label, names in kinds.items()}


class NumberReading(Confidential):
    """The numbers of a text, and what is said of each."""

    def __init__(self, text: str, mentions: Iterable[Mention]) -> None:
        self._text = text
        self._measured = SpanUnion(
            mention.span
            for mention in mentions
            if mention.type in _MEASURES and mention.confidence >= _SURE
        )
        self._labels: dict[Span, frozenset[str]] = {}

    def is_of_kind(
        self,
        mention: Mention,
        kinds: Iterable[str],
        is_spoken_of: Callable[[Span, NumberKind], bool],
    ) -> bool:
        """
        Return True if a mention is a number of one of the kinds, or could be.

        Args:
            mention: Of any type; what is no number is of no kind.
            kinds: Names of the table.
            is_spoken_of: Says whether the sentence that a span is in speaks of a kind.
        """
        text, value = self._text, mention.span.of(self._text)
        if mention.type not in _LABELLED or _FULL_DATE.fullmatch(value):
            return False
        if mention.type in _WORDED and not _FIGURED.fullmatch(value):
            return False
        asked = [number_kinds()[name] for name in kinds]
        if any(is_sure(kind, value) for kind in asked):
            return True
        labels = self._labels_of(mention.span)
        if any(kind.name in labels for kind in asked):
            return True
        if labels and _UNSURE not in labels:
            asked = [kind for kind in asked if labels <= kind.may_be]
        if self._is_measured(mention, value):
            return False
        if is_technical(_whole_word(text, mention.span)):
            asked = [kind for kind in asked if kind.technical]
        is_coded = _CODED.fullmatch(value) and not _NO_CODE.fullmatch(value)
        return any(
            _could_be(kind, mention, text)
            or (is_coded and is_spoken_of(mention.span, kind))
            for kind in asked
        )

    def _labels_of(self, span: Span) -> frozenset[str]:
        if span not in self._labels:
            self._labels[span] = labels_beside(self._text, span)
        return self._labels[span]

    def _is_measured(self, mention: Mention, value: str) -> bool:
        """Return True for a date, a measure, or what is no number at all."""
        if mention.type not in _NUMBERED:
            return True
        if mention.type == "QUANTITY" and not value.isdecimal():
            return True
        dated = mention.type == "DATE" or self._measured.contains(mention.span)
        return dated and _NO_DATE.fullmatch(value) is None


def _whole_word(text: str, span: Span) -> str:
    """Return a value with the letters and figures that are joined to it: 250ms."""
    start, end = span.start, span.end
    while start and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return text[start:end]


def is_sure(kind: NumberKind, value: str) -> bool:
    """Return True if a value is of a kind whatever label is beside it."""
    if kind.sure is None or not kind.sure.fullmatch(value):
        return False
    check = _CHECKS.get(kind.check)
    return check is None or check(value)


def _could_be(kind: NumberKind, mention: Mention, text: str) -> bool:
    """Return True if a value that no label is beside could be of a kind."""
    if kind.unlabelled == "label":
        return False
    if kind.found and kind.found in {mention.type, mention.reason}:
        return True
    start, end = mention.span.start, mention.span.end
    if kind.forms and (
        kind.forms.fullmatch(text, start, end)
        or (
            text[start - 1 : start] == "#"
            and kind.forms.fullmatch(text, start - 1, end)
        )
    ):
        return True
    if kind.unlabelled != "code" or mention.type == "ZIP_CODE":
        return False
    if any(is_sure(other, text[start:end]) for other in number_kinds().values()):
        return False
    return mention.type not in _FIGURES or bool(_LONG.fullmatch(text, start, end))


def labels_beside(text: str, span: Span) -> frozenset[str]:
    """Return the kinds that the label right beside a number says; none, none."""
    value = span.of(text)
    prefix = _PREFIX.match(value)
    if prefix:
        letters = prefix[1].upper()
        kinds = {k.name for k in number_kinds().values() if letters in k.prefixes}
        if kinds:
            return frozenset(kinds)
    behind = _BEHIND.match(text, span.end)
    if behind:
        labels = _label_at_end(_words(behind[1]))
        if labels:
            return labels
    start = span.start
    inner = _INNER_LABEL.match(value)
    groups = _GROUPS_BEFORE.search(text, max(0, start - _REACH), start)
    if inner and (labels := _label_at_end(_words(inner.group()), numbered=False)):
        return labels
    if groups:
        start = groups.start()
    return _label_before(text, start, text[start : span.end])


def find_labelled(text: str, kinds: frozenset[str]) -> Iterator[Span]:
    """Yield the figures beside which a label says that they are of other kinds."""
    for match in _FIGURES_IN.finditer(text):
        span = Span(*match.span())
        if is_labelled_otherwise(text, span, kinds):
            yield span


def is_labelled_otherwise(text: str, span: Span, kinds: frozenset[str]) -> bool:
    """Say whether the label beside a number says that it is of other kinds."""
    labels = labels_beside(text, span)
    return bool(labels) and labels.isdisjoint({*kinds, _UNSURE})


def _label_before(text: str, start: int, value: str) -> frozenset[str]:
    """Return what the words in front of a value say, or in front of a list of them."""
    tail = text[max(0, start - _REACH) : start]
    if "<" in tail:
        tail = _TAG.sub(" ", tail)
    before = tail.rstrip(_OPENING)
    while before.endswith(_LISTING):
        earlier = before.rstrip(",&/").removesuffix(" and").removesuffix(" or")
        earlier = earlier.rstrip(" ,")
        last = " ".join(earlier.split(" ")[-1 - value.count(" ") :])
        if not _is_alike(last, value):
            break
        before = earlier[: len(earlier) - len(last)].rstrip(_OPENING)
    if before.endswith("\n") and before.rstrip().endswith(":"):
        before = before.rstrip()
    barriers = [m.end() for m in _BARRIER.finditer(before) if _is_barrier(before, m)]
    words = _words(before[barriers[-1] :] if barriers else before)
    return _label_at_end(words, numbered=before.endswith(_MARKS) or "#" in tail[-3:])


def _is_barrier(text: str, mark: re.Match[str]) -> bool:
    """Return True for what ends a part of a sentence: no point behind tel. and ref."""
    word = _SHORTENED.search(text, max(0, mark.start() - 5), mark.start())
    if word is None or mark.group() not in {".", ". ", ".\t"}:
        return True
    lower = word.group().lower()
    if len(lower) == 1 and word.group().isupper():  # an initial
        return True
    return lower not in _FILLERS and (lower,) not in _labels()


def _is_alike(value: str, other: str) -> bool:
    """Return True for two values of one make: 8812 and 8813, INC-1 and INC-20."""
    value = value.strip("#,.;\"'([")
    if not value or abs(len(value) - len(other)) > 1:
        return False
    return any(map(str.isdecimal, value)) and _make(value) == _make(other)


def _make(value: str) -> str:
    return _SKELETON.sub(lambda part: "9" if part.group()[0].isdigit() else "A", value)


def _words(text: str) -> list[str]:
    """Return the words of a text in lower case, those of a key apart."""
    text = text.replace("'s", "s").replace("\u2019s", "s")
    return [part for word in _WORD.findall(text) for part in split_word(word)]


def _label_at_end(words: list[str], *, numbered: bool = True) -> frozenset[str]:
    """
    Return what the label says that words end in, past number words.

    `numbered`: a mark behind the words makes them a label.
    """
    refers = False
    for last in range(len(words), 0, -1):
        for length in range(min(_LONGEST, last), 0, -1):
            labels = _kinds_of(tuple(words[last - length : last]))
            if labels:
                weak = length == 1 and words[last - 1] in _weak_labels()
                return labels if numbered or not weak else labels | {_UNSURE}
        if words[last - 1] not in _FILLERS:
            break
        numbered = numbered or words[last - 1] in _NUMBER_WORDS
        refers = refers or words[last - 1] in _REFERS
    return frozenset({"reference"}) if refers else frozenset()


def _kinds_of(label: tuple[str, ...]) -> frozenset[str]:
    known = _labels()
    return known.get(label) or known.get(
        (*label[:-1], label[-1].removesuffix("s")), frozenset()
    )


def _has_check_digit(value: str) -> bool:
    """Return True if the digits of a value have the check digit of a card (Luhn)."""
    digits = [int(digit) for digit in value if digit.isdecimal()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_iban(value: str) -> bool:
    """Return True if the check digits of an IBAN are right (ISO 13616)."""
    compact = "".join(filter(str.isalnum, value.upper()))
    turned = compact[4:] + compact[:4]
    return int("".join(str(int(character, 36)) for character in turned)) % 97 == 1


_CHECKS: dict[str, Callable[[str], bool]] = {"luhn": _has_check_digit, "iban": _is_iban}
