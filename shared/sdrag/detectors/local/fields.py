"""
Fields and columns: what a label or the head of a column says about its values.

`Surname: Rose`, `"last": "Lake"`, `dob=2011`. The labels are a closed list,
`field_labels` in `tables/lexicon.toml`. A label that prose is full of too (`name`,
`from`, `last`) counts only as a whole, and its value only where it is spelled as a name
is.

The head of a column says the same of the cells under it, and the place of a speaker or
a writer what they are: `sdrag.text.cells` tells which cell is whose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from sdrag.detectors.local import tables
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
from sdrag.detectors.local.terms import is_headed, is_post
from sdrag.detectors.local.tokens import Candidate, TokenIndex, split_word
from sdrag.text.cells import SPEAKER, Layout

_AS_SPELLED = "PERSON_AS_SPELLED"
"""The type of labels that prose is full of, in the table."""
_LABEL = re.compile(r"(?:\w|[ ./'()-](?![ ]))+$")
_LONGEST_LABEL = 48
_MOST_WORDS = 4
_VALUE = re.compile(
    r"(?:\(s\)|'s|s')?\.?[\"'*_`)\]]{0,4}[ \t]{0,4}[:=]{1,2}"
    r"[ \t]*+(?:[*_`]{1,3}[ \t]*+)?(?:([\"'])(?P<quoted>[^\"'\n]{1,120})\1"
    r"|(?P<plain>[^\s|<>{}\[\]][^\n|\t<>{}]{0,119}))"
)


@lru_cache(maxsize=1)
def _labels() -> dict[tuple[str, ...], str]:
    return {
        tuple(label.split("_")): t for label, t in word_types("field_labels").items()
    }


def field_types() -> frozenset[str]:
    """Return the types of what labels tell."""
    return frozenset(_labels().values()) - {_AS_SPELLED}


@lru_cache(maxsize=1)
def _last_words() -> frozenset[str]:
    return frozenset(label[-1] for label in _labels())


@lru_cache(maxsize=1)
def _words_before_label() -> frozenset[str]:
    """Return the words that may be in front of a loose label: patient name."""
    people = {label[0] for label, type_ in _labels().items() if type_ == "PERSON"}
    return frozenset(people) | FUNCTION_WORDS


def _type_of_label(words: Sequence[str]) -> tuple[str, int]:
    """Return the type of a label and how many of the last words it is."""
    labels = _labels()
    if not words:
        return "", 0
    for first in range(max(0, len(words) - _MOST_WORDS), len(words)):
        type_ = labels.get(tuple(words[first:]))
        if type_ is None and words[-1].endswith("s"):
            type_ = labels.get((*words[first:-1], words[-1][:-1]))
        if type_ == _AS_SPELLED and words[-1] in _NAMES and first:
            type_ = _type_of_owner(words[:first]) or type_
        if (
            type_ == _AS_SPELLED
            and first
            and words[first - 1] not in _words_before_label()
        ):
            continue
        if type_:
            return type_, len(words) - first
    return "", 0


_NAMES = frozenset(("name", "names", "naam", "nom"))
_HANDLE = re.compile(r"@?[a-z\d][\w.-]{2,}")
"""An account's name, under a label of people."""
_ACCOUNTS = frozenset(("user", "users", "owner", "account", "accounts", "author", "by"))
"""Labels of people under which one word may be an account's name."""


def _type_of_owner(words: Sequence[str]) -> str:
    """Return ORGANIZATION for `employer name`; nothing for names of anything else."""
    type_, _ = _type_of_label(words)
    return type_ if type_ == "ORGANIZATION" else ""


def find_field_values(tokens: TokenIndex, layout: Layout) -> Iterator[Candidate]:
    """Yield the values of fields; the layout is of the same text."""
    text, last_words = tokens.text, _last_words()
    for word in tokens.where:
        key = split_word(word)[-1] if word[-1].isalpha() else ""
        if key not in last_words and key.removesuffix("s") not in last_words:
            continue
        for index in tokens.where[word]:
            end = tokens.ends[index]
            value = _VALUE.match(text, end)
            label = value and _LABEL.search(text, max(0, end - _LONGEST_LABEL), end)
            type_ = _type_of_label(split_word(label.group()))[0] if label else ""
            if key in _RECIPIENTS and value and _ABBREVIATIONS.match(value.group()):
                continue  # cc: AB, TMK
            if value and type_:
                start, stop = value.span("quoted" if value["quoted"] else "plain")
                cell = layout.at(start)
                if cell is not None and cell.role == "field":
                    stop = min(stop, cell.end)
                yield from _typed_value(text, start, stop, type_)
                if key in _ACCOUNTS and _HANDLE.fullmatch(text, start, stop):
                    yield Candidate(start, stop, "USERNAME", 0.8, "field")


def find_accounts(tokens: TokenIndex) -> Iterator[Candidate]:
    """Yield the word behind `account`, `user` or `login` that is no everyday word."""
    for index in tokens.indices(_ACCOUNT_CUES):
        if index + 1 < len(tokens.words) and tokens.gap(index + 1) == " ":
            start = tokens.starts[index + 1]
            match = _ACCOUNT.match(tokens.text, start)
            if match and not is_common(tokens.words[index + 1]):
                yield Candidate(start, match.end(), "USERNAME", 0.7, "account")


_ACCOUNT_CUES = ("account", "user", "login", "handle", "username")
_ACCOUNT = re.compile(
    r"(?=[a-z])(?!\w+(?:ing|tions?|ments?|ity|ness)\b)[a-z\d][a-z\d._-]{2,30}(?<![._-])(?![\w@:=(])"
)


def type_of_field(text: str, start: int) -> str:
    """Return the type of the label right in front of a value; nothing for none."""
    line = text[text.rfind("\n", max(0, start - _LONGEST_LABEL), start) + 1 : start]
    label = line.rstrip(" \t\"'*_`")
    return _type(label[:-1]) if label.endswith((":", "=")) else ""


_RECIPIENTS = frozenset(("to", "from", "cc", "bcc"))
_ABBREVIATIONS = re.compile(
    r"[:=\s]*[A-Z]{2,4}(?:(?:, | and |/| & )[A-Z]{2,4}){0,20}(?:[.;\n]|$)"
)
"""What mail goes to under initials is a post as often as somebody."""
_ENDS = re.compile(r"[;\u2022]| {2,}| (?:\(|[-\u2013] )")
_NEXT_SENTENCE = re.compile(r"\d[\w)]*[.!?] +(?=[A-Z][a-z])")
"""What follows a figure in the next sentence is no part of its value."""
_BEFORE_WORD = re.compile(r"\w*\d\w*(?=,? +[a-z]{2,}\b)")
"""No code goes on with a word in lower case."""
_EDGES = " \t,.;:*_`\"'()"


def _typed_value(text: str, start: int, end: int, type_: str) -> Iterator[Candidate]:
    """Yield what of `text[start:end]` is of the type that its label tells."""
    start, end = _bounds(text, start, end, type_)
    value = text[start:end]
    if not value or value.lower() in _EMPTY:
        return
    if type_ in {"PERSON", _AS_SPELLED}:
        if value.endswith("?"):
            return
        name = _name(value, loose=type_ == _AS_SPELLED)
        rest = value[len(name) :].split()
        if (
            rest
            and rest[0] in FUNCTION_WORDS
            and not _is_spelled_as_name(name.split(), name)
        ):
            return  # a sentence: Tenant: Water is coming in
        if name:
            sure = 0.7 if type_ == _AS_SPELLED else 0.85
            yield Candidate(start, start + len(name), "PERSON", sure, "field")
    elif (
        type_ != _AS_SPELLED
        and _FITS.get(type_, _ANY).search(value)
        and len(value.split()) <= _LONGEST.get(type_, 6)
    ):
        yield Candidate(start, end, type_, 0.8, "field")


def _bounds(text: str, start: int, end: int, type_: str) -> tuple[int, int]:
    """Return where what a label tells begins and ends in the rest of its line."""
    stop = _ENDS.search(text, start, end)
    end = stop.start() if stop else end
    if _FITS.get(type_) is _FIGURE:
        stop = _NEXT_SENTENCE.search(text, start, end)
        end = stop.end() if stop else end
    if type_ == "CODE":
        stop = _BEFORE_WORD.search(text, start, end)
        end = stop.end() if stop else end
    while start < end and text[start] in _EDGES:
        start += 1
    while start < end and text[end - 1] in _EDGES:
        end -= 1
    first = text[start:end].partition(" ")[0]
    if type_ == "USERNAME" and first and not is_common(first):
        end = start + len(first)
    return start, end


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
    "ORGANIZATION": re.compile(r"[^\W\d_]{2}"),
    "CREDENTIAL": re.compile(
        r"^(?!(?:\w+\.)+\w+[\[(]|\w+\(\)|\$?\{)(?:.*[\d\W_]|.*[a-z][A-Z]|[a-z]{6})"
    ),
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
_INITIALS = re.compile(r"(?:[A-Z]\.){2,4}")
_SHORTEST = 2
"""Two capitals behind the label of a person are initials: Pupil: HR."""
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
            if not _goes_on(value, match.end()):
                break
            continue
        if words and _ends_name(words[-1], word):
            break
        end = match.end()
        words.append(word)
        if _ends_sentence(word):
            break
    telling = [w for w in words if w not in PARTICLES and w.rstrip(".") not in TITLES]
    if (
        not telling
        or len(words) > _MOST
        or _NO_NAME.issuperset(w.lower() for w in words)
    ):
        return ""
    initials = not loose and all(len(w) <= _SHORTEST for w in telling)
    if not initials and (is_post(telling) or is_post(value.split())):
        return ""
    if loose and not _is_spelled_as_name(telling, value):
        return ""
    return value[:end]


def _goes_on(value: str, comma: int) -> bool:
    """Return True if a name goes on behind a comma: no small letter, no post."""
    following = value[comma : comma + 2].strip()[:1]
    if is_headed(value[comma:].split(maxsplit=3)[:3]):
        return False
    return following.isupper() or (bool(following) and value.islower())


def _ends_name(last: str, word: str) -> bool:
    """Return True if a name has ended before a word; behind initials, any word may."""
    if word in _NOT_IN_NAMES and word not in PARTICLES:
        return True
    after_initials = _INITIALS.fullmatch(last) is not None
    return after_initials and word.islower() and is_common(word)


def _ends_sentence(word: str) -> bool:
    """Return True for a word with a point that is neither an initial nor a title."""
    if not word.endswith(".") or word[:-1] in TITLES:
        return False
    return len(word) > _ABBREVIATED or (len(word) == _ABBREVIATED and word.isupper())


_NO_NAME = word_set("empty_values") | FUNCTION_WORDS - {"will", "may"}


def _is_spelled_as_name(words: Sequence[str], value: str) -> bool:
    """Return True if each word has a capital, and one of them is a name."""
    known = [w for w in words if _is_name(w.rstrip("."))]
    if value.islower():
        return len(known) == len(words)
    strange = any(len(w) > 2 and not _is_no_name(w.rstrip(".")) for w in words)
    return all(w[0].isupper() for w in words) and (bool(known) or strange)


def is_listed_name(value: str) -> bool:
    """Return True if words are names of the lists, and none an everyday word."""
    words = value.split()
    return bool(words) and all(
        _is_name(word) and not is_common(word.lower()) for word in words
    )


def _is_no_name(word: str) -> bool:
    listed = (WEEKDAYS, MONTHS, NATIONALITIES, tables.places(), tables.countries())
    return is_common(word) or any(word in words for words in listed)


def _is_name(word: str) -> bool:
    name = word.capitalize()
    return name in tables.first_names() or name in tables.surnames()


def find_cell_values(layout: Layout) -> Iterator[Candidate]:
    """Yield who speaks, writes or signs, and values on other lines than their label."""
    text = layout.text
    for cell in layout.cells:
        if cell.role == "speaker" and not is_label(text[cell.start : cell.end]):
            yield from _speaker(text, cell.start, cell.end, sure=cell.label == SPEAKER)
        elif cell.role == "key":
            if is_listed_name(text[cell.start : cell.end]):
                yield Candidate(cell.start, cell.end, "PERSON", 0.7, "field")
        elif cell.role == "field" and cell.label:
            if cell.label.lower() in _RECIPIENTS and _ABBREVIATIONS.match(
                text, cell.start, cell.end
            ):
                continue
            type_ = _type(cell.label)
            if type_:
                yield from _typed_value(text, cell.start, cell.end, type_)


_SPOKEN = re.compile(r"[\w.'\u2019-]+")
_FEWEST_DIGITS = 6
_NOBODY = (
    word_set("roles") | word_set("empty_values") | FUNCTION_WORDS - {"will", "may"}
)


def _speaker(text: str, start: int, end: int, *, sure: bool) -> Iterator[Candidate]:
    """Yield somebody by their place; where it tells little, not an everyday word."""
    value = text[start:end].partition(" (")[0].rstrip()
    words = _SPOKEN.findall(value)
    if "@" in value or sum(map(str.isdigit, value)) >= _FEWEST_DIGITS or not words:
        return
    if all(word.lower().rstrip(".") in _NOBODY for word in words):
        return
    everyday = all(_is_no_name(word.lower()) for word in words)
    is_sentence = not value.islower() and any(
        word.islower() and word not in PARTICLES for word in words
    )
    if not sure and (is_sentence or (everyday and not any(map(_is_name, words)))):
        return
    stop = start + len(value)
    if len(words) == 1:
        yield Candidate(start, stop, "USERNAME", 0.8, "field")
    if not any(map(str.isdigit, value)):
        yield Candidate(start, stop, "PERSON", 0.85, "field")


def is_label(text: str) -> bool:
    """Return True if a text is the label of a field as a whole."""
    return bool(_type(text))


def _type(cell: str) -> str:
    """Return the type of a cell that is a label as a whole."""
    words = split_word(cell)
    if (
        words
        and words[-1] in _PARTS_OF_DATES
        and _type_of_label(words[:-1])[0] == "DATE"
    ):
        words.pop()  # birth_month
    type_, length = _type_of_label(words)
    return type_ if length == len(words) else ""


_PARTS_OF_DATES = frozenset(("year", "month", "day", "y", "m", "d"))
