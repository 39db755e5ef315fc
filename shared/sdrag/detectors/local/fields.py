"""
Fields and columns: what a label, a key or a head says about its values.

`Surname: Rose`, `"last": "Lake"`, `dob=2011`, the items of a list under `Pupils:`. The
labels are a closed list, `field_labels` in `tables/lexicon.toml`. A label that prose is
full of too (`name`, `from`, `last`) counts only as a whole, and its value only where it
is spelled as a name is. The words of a label are no name; nothing else in front of a
colon is left out.

The head of a column says the same of the cells under it. Cells are parted by a tab, a
semicolon, a bar, a comma, or by two spaces and more; of these columns the head tells
where they begin. A line is a head if it has labels, and if the row below it begins with
none: else it is a list of fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from sdrag.detectors.local import tables
from sdrag.detectors.local.internet import is_code
from sdrag.detectors.local.tables import (
    FUNCTION_WORDS,
    MONTHS,
    NATIONALITIES,
    PARTICLES,
    TITLES,
    WEEKDAYS,
    is_common,
    word_set,
    word_types,
)
from sdrag.detectors.local.tokens import Candidate, Tokens
from sdrag.text.sentences import line_after, line_before


class Field(NamedTuple):
    """
    A label in front of a value.

    Args:
        start: Where the label starts.
        end: Where the label ends.
        type: Of the value; none where the label is only known to be one.
        value: Where the value starts.
    """

    start: int
    end: int
    type: str
    value: int


_AS_SPELLED = "PERSON_AS_SPELLED"
"""The type of labels that prose is full of, in the table."""
_LABEL_ONLY = "LABEL"
"""The type of labels that say nothing of a value."""
_NEXT = re.compile(
    r"(?:\(s\)|'s|s')?[\"'*_`)\]]{0,4}[ \t]{0,4}(?:[:=]{1,2}>?|[|\t]| {2,}|->|>"
    r"|(?<= )[-\u2013] )"
    r"[ \t]*[*_`]{0,3}[ \t]*"
)
_LABEL = re.compile(r"(?:\w|[ ./'()-](?![ ]))+$")
_LONGEST_LABEL = 48
_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")


@lru_cache(maxsize=1)
def _labels() -> dict[tuple[str, ...], str]:
    return {
        tuple(label.split("_")): t for label, t in word_types("field_labels").items()
    }


@lru_cache(maxsize=1)
def _last_words() -> frozenset[str]:
    return frozenset(label[-1] for label in _labels())


def _words_of_label(label: str) -> list[tuple[str, int]]:
    """Return the words of a label and where each starts: `firstName(s)` has two."""
    return [
        (match.group().lower(), match.start())
        for match in _WORD.finditer(label)
        if match.group() != "s" or label[: match.start()][-1:] not in "'("
    ]


def _type_of_label(words: Sequence[str]) -> tuple[str, int]:
    """Return the type of a label and how many of the last words it is."""
    labels = _labels()
    if not words:
        return "", 0
    for first in range(max(0, len(words) - 4), len(words)):
        type_ = labels.get(tuple(words[first:]))
        if type_ is None and words[-1].endswith("s"):
            type_ = labels.get((*words[first:-1], words[-1][:-1]))
        if type_ == _AS_SPELLED and first and words[first - 1] not in _labelled():
            continue
        if type_:
            return type_, len(words) - first
    return "", 0


@lru_cache(maxsize=1)
def _labelled() -> frozenset[str]:
    """Return the words that may be in front of a loose label: patient name."""
    people = {label[0] for label, type_ in _labels().items() if type_ == "PERSON"}
    return frozenset(people) | FUNCTION_WORDS


def find_fields(tokens: Tokens) -> list[Field]:
    """Return the fields of a text, in order."""
    text, known = tokens.text, []
    last_words = _last_words()
    for word in tokens.where:
        key = _WORD.findall(word)[-1].lower() if word[-1].isalpha() else ""
        if key not in last_words and key.removesuffix("s") not in last_words:
            continue
        for index in tokens.where[word]:
            end = tokens.ends[index]
            after = _NEXT.match(text, end)
            label = after and _LABEL.search(text, max(0, end - _LONGEST_LABEL), end)
            if not after or not label:
                continue
            words = _words_of_label(label.group())
            type_, length = _type_of_label([word for word, _ in words])
            if type_:
                start = label.start() + words[-length][1]
                if _is_parted(text, start, after):
                    known.append(Field(start, end, type_, after.end()))
    return sorted(known)


def _is_parted(text: str, start: int, after: re.Match[str]) -> bool:
    """Return True if a mark that is no colon parts a label from a value here."""
    mark = after.group().strip(" *_`\"')]")
    if mark == ">":
        return text[start - 1 : start] == "<"
    if mark and mark[0] in ":=-":
        return True
    # Between two cells of a line: the label is the first, the value the second.
    before = line_before(text, start).strip(" >|*#-\t")
    behind = line_after(text, after.end())
    return not before and _CELLS.search(behind.rstrip(" |\t")) is None


_CELLS = re.compile(r"\t|\||\S {2,}\S")


def leave_out_labels(
    candidates: Iterable[Candidate], known: Sequence[Field]
) -> Iterator[Candidate]:
    """Leave out names that are a label, by the words of the label alone."""
    ends = {field.end: field.start for field in known}
    for candidate in candidates:
        start = ends.get(candidate.end)
        if start is None or start > candidate.start or candidate.reason not in GUESSED:
            yield candidate


GUESSED = frozenset(("form", "introduced", "line", "name"))
"""The reasons of names that may be a label; nothing but its words makes it one."""


_QUOTED = re.compile(r"([\"'])(?P<value>[^\"'\n]{1,120})\1")
_VALUE = re.compile(r"(?P<value>[^\s|<>{}\[\]][^\n|\t<>{}]{0,119})")
_BREAK = re.compile(r"[ \t*_]*\r?\n(?:[ \t]*\r?\n)?[ \t>]*")
_ITEM = re.compile(
    r"(?:[-+*\u2022]|\d{1,3}[.)])[ \t]+(?P<value>[^\n]{1,120})(?:\r?\n[ \t>]*)?"
)
_ENDS = re.compile(r"[;\u2022]| {2,}| (?:\(|[-\u2013] )")
_EDGES = " \t,.;:*_`\"'()"


def find_field_values(tokens: Tokens, known: Sequence[Field]) -> Iterator[Candidate]:
    """
    Yield the values of fields.

    Args:
        tokens: Of the text.
        known: Its fields, in order.
    """
    text = tokens.text
    for place, field in enumerate(known):
        if field.type == _LABEL_ONLY:
            continue
        after = known[place + 1].start if place + 1 < len(known) else len(text)
        for start, end in _places(text, field.value, after):
            yield from _typed_value(text, start, end, field.type)


def _places(text: str, start: int, after: int) -> Iterator[tuple[int, int]]:
    """Yield where the value of a label is, or the items under it."""
    line = _BREAK.match(text, start)
    if line is None:
        value = _QUOTED.match(text, start) or _VALUE.match(text, start)
        if value:
            yield value.start("value"), min(value.end("value"), after)
        return
    item = _ITEM.match(text, line.end())
    if item is None:
        value = _VALUE.match(text, line.end())
        if value and value.end("value") <= after:
            yield value.span("value")
    while item:
        yield item.span("value")
        item = _ITEM.match(text, item.end())


def _typed_value(text: str, start: int, end: int, type_: str) -> Iterator[Candidate]:
    """Yield what of `text[start:end]` is of the type that its label tells."""
    stop = _ENDS.search(text, start, end)
    end = stop.start() if stop else end
    while start < end and text[start] in _EDGES:
        start += 1
    while start < end and text[end - 1] in _EDGES:
        end -= 1
    value = text[start:end]
    if not value or value.lower() in _EMPTY:
        return
    if type_ in {"PERSON", _AS_SPELLED}:
        name = _name(value, loose=type_ == _AS_SPELLED)
        rest = value[len(name) :].split()
        if rest and rest[0] in FUNCTION_WORDS and not _spelled(name.split(), name):
            return  # a sentence: Tenant: Water is coming in
        if name:
            sure = 0.7 if type_ == _AS_SPELLED else 0.85
            yield Candidate(start, start + len(name), "PERSON", sure, "field")
    elif type_ == "CREDENTIAL" and is_code(value):
        return
    elif _FITS.get(type_, _ANY).search(value) and len(value.split()) <= _LONGEST.get(
        type_, 6
    ):
        yield Candidate(start, end, type_, 0.8, "field")


_EMPTY = word_set("empty_values") | {"n/a", "see above", "see below", "as above"}
_ANY = re.compile(r"[^\W_]")
_FIGURE = re.compile(r"\d")
_FITS = {
    "AGE": _FIGURE,
    "CODE": _FIGURE,
    "DATE": re.compile(r"\d|(?i:" + "|".join(sorted(MONTHS)) + ")"),
    "MONEY": _FIGURE,
    "PHONE_NUMBER": _FIGURE,
    "ZIP_CODE": _FIGURE,
    "ORGANIZATION": re.compile(r"[A-Z]"),
    "CREDENTIAL": re.compile(r"[\d\W_]|[a-z][A-Z]|^[a-z]{6}"),
}
_LONGEST = {
    "USERNAME": 1,
    "CREDENTIAL": 1,
    "EMAIL_ADDRESS": 1,
    "ADDRESS": 14,
    "CONDITION": 14,
}
_WORDS_OF_NAME = re.compile(r"[^\W\d_]+(?:['\u2019.-][^\W\d_]+)*\.?|,")
_NOT_IN_NAMES = FUNCTION_WORDS - {"i", "my", "in", "do", "an", "will", "may", "so"}
_MOST = 5
_ABBREVIATED = 4


def _name(value: str, *, loose: bool) -> str:
    """Return what of a value is a name; `loose` where the label tells little."""
    end = done = 0
    words: list[str] = []
    for match in _WORDS_OF_NAME.finditer(value):
        word = match.group()
        if value[done : match.start()].strip() or len(words) > _MOST:
            break
        done = match.end()
        if word == ",":
            following = value[match.end() : match.end() + 2].strip()[:1]
            if not (following.isupper() or (following and value.islower())):
                break
            continue
        if words and word in _NOT_IN_NAMES and word not in PARTICLES:
            break
        end = match.end()
        words.append(word)
        if word.endswith(".") and len(word) > _ABBREVIATED and word[:-1] not in TITLES:
            break  # the sentence ends
    telling = [w for w in words if w not in PARTICLES and w.rstrip(".") not in TITLES]
    if (
        not telling
        or len(words) > _MOST
        or _NO_NAME.issuperset(w.lower() for w in words)
    ):
        return ""
    if loose and not _spelled(telling, value):
        return ""
    return value[:end]


_NO_NAME = word_set("empty_values") | FUNCTION_WORDS - {"will", "may"}


def _spelled(words: Sequence[str], value: str) -> bool:
    """Return True if each word has a capital, and one of them is a name."""
    known = [w for w in words if _is_name(w.rstrip("."))]
    if value.islower():
        return len(known) == len(words)
    strange = any(len(w) > 2 and not _is_no_name(w.rstrip(".")) for w in words)
    return all(w[0].isupper() for w in words) and (bool(known) or strange)


def _is_no_name(word: str) -> bool:
    listed = (WEEKDAYS, MONTHS, NATIONALITIES, tables.places(), tables.countries())
    return is_common(word) or any(word in words for words in listed)


def _is_name(word: str) -> bool:
    name = word.capitalize()
    return name in tables.first_names() or name in tables.surnames()


_MAY_HEAD = re.compile(
    r"^[ \t|>]*\"?[^\W\d][\w ./'()-]{0,40}?\"?[ ]?(?:[\t;|,]|[ ]{2})[^\n.!?]{0,400}$",
    re.MULTILINE,
)
_RULE = re.compile(r"[\s|:+=-]*$")
_SPACES = "  "
_SEPARATORS = ("\t", ";", "|", ",", _SPACES)
_SPACED = re.compile(r"\S+(?: \S+)*")
_MOST_WORDS = 4


class Head(NamedTuple):
    """
    The line with the heads of columns.

    Args:
        start: Where it starts.
        end: Where it ends.
        separator: What is between two cells.
        cells: Where each head starts and ends in the line.
        types: Of the values of each column; none where the head is no label.
    """

    start: int
    end: int
    separator: str
    cells: Sequence[tuple[int, int]]
    types: Sequence[str]


def find_column_labels(text: str) -> Iterator[Field]:
    """Yield the heads of columns that are labels; they tell nothing of what follows."""
    for head in _heads(text):
        for (first, last), type_ in zip(head.cells, head.types, strict=True):
            if type_:
                end = head.start + last
                end -= last - first - len(text[head.start + first : end].rstrip(' |"'))
                yield Field(head.start + first, end, _LABEL_ONLY, end)


def find_column_values(text: str) -> Iterator[Candidate]:
    """Yield the cells of the columns that labels head, down to another line."""
    for head in _heads(text):
        start, end = _row_below(text, head)
        while start < end:
            cells = _row(text[start:end], head)
            if not cells:
                break
            for type_, (first, last) in zip(head.types, cells, strict=True):
                if type_ and type_ != _LABEL_ONLY and first < last:
                    yield from _typed_value(text, start + first, start + last, type_)
            start, end = end + 1, _line_end(text, end + 1)


def _heads(text: str) -> Iterator[Head]:
    for match in _MAY_HEAD.finditer(text):
        head = _head(text, *match.span())
        if head is None:
            continue
        start, end = _row_below(text, head)
        row = _row(text[start:end], head)
        first = next(i for i, type_ in enumerate(head.types) if type_)
        if row and not _type(text[start:end][slice(*row[first])]):
            yield head


def _head(text: str, start: int, end: int) -> Head | None:
    """Return the head of a table, if a line may be one."""
    line = text[start:end]
    separator = next((mark for mark in _SEPARATORS if mark in line), None)
    if separator is None:
        return None
    cells = list(_cells(line, separator))
    if any(len(_words_of_label(line[a:b])) > _MOST_WORDS for a, b in cells):
        return None
    types = [_type(line[first:last]) for first, last in cells]
    telling = [type_ for type_ in types if type_ and type_ != _LABEL_ONLY]
    if len(telling) > 1 or (telling and telling[0] != _AS_SPELLED):
        people = ["PERSON" if type_ == _AS_SPELLED else type_ for type_ in types]
        return Head(start, end, separator, cells, people)
    return None


def _type(cell: str) -> str:
    """Return the type of a cell that is a label as a whole."""
    words = [word for word, _ in _words_of_label(cell)]
    type_, length = _type_of_label(words)
    return type_ if length == len(words) else ""


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _row_below(text: str, head: Head) -> tuple[int, int]:
    """Return the row below a head, past a rule."""
    start = head.end + 1
    end = _line_end(text, start)
    if (
        head.separator in {"|", _SPACES}
        and start < end
        and _RULE.match(text, start, end)
    ):
        start, end = end + 1, _line_end(text, end + 1)
    return start, end


def _row(line: str, head: Head) -> Sequence[tuple[int, int]]:
    """Return where the cells of a row are, or nothing where it is of no such table."""
    if head.separator != _SPACES:
        cells = list(_cells(line, head.separator))
        return cells if len(cells) == len(head.cells) else ()
    if not line.strip():
        return ()
    spaced = list(_cells(line, _SPACES))
    starts = [first for first, _ in head.cells]
    return [
        next((cell for cell in spaced if first <= cell[0] + 1 < last), (0, 0))
        for first, last in pairwise([*starts, len(line) + len(starts)])
    ]


def _cells(line: str, separator: str) -> Iterator[tuple[int, int]]:
    """Yield where the cells of a row are; quotation marks may hold the separator."""
    if separator == _SPACES:
        yield from (match.span() for match in _SPACED.finditer(line))
        return
    start = 0
    quoted = False
    for position, character in enumerate(line):
        if character == '"':
            quoted = not quoted
        elif character == separator and not quoted:
            yield start, position
            start = position + 1
    yield start, len(line)
