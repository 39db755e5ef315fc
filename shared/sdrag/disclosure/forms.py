"""
What is to be known again of what was found, and its other forms.

Names, codes and whatever else was found by its form or by a model go wherever they
are in their document, with the other forms of names, and so is a rare word that surely
tells a secret. Any other word that was hidden for what it means there goes wherever the
same words are next to it.

"Jonathan Meyers" once and "Meyers" from then on is how people write, and a redaction
that knows only the full name leaves the surname standing. Forms are derived from names
alone, and only for constraints that speak of people: "Port Ellery" must not take every
"Port" with it. Initials that spell an everyday word (OF, THE) are no form of a name.

"3 May 1984" in a letter is `dob=19840503` in a form and 5/3/84 on a card. Separators
need no forms of their own, since the register ignores them: 1984-05-03 finds 1984.05.03
and 19840503 as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from sdrag.detectors.local.tables import common_words, listed
from sdrag.disclosure.constraint_parser import parse
from sdrag.state.keys import DocumentKeys
from sdrag.state.register import Form, find_words, make_forms, make_word
from sdrag.text.dates import MONTHS, Date, read_date
from sdrag.text.folding import fold, fold_text
from sdrag.text.phrase_matcher import needs_case
from sdrag.text.spans import SpanUnion
from sdrag.vocabulary import Constraint, Finding

IN_PLACE = frozenset({"scored", "cue"})
"""Who finds words for what they mean where they are."""
_OF_PEOPLE = frozenset({"", "PERSON"})
"""Types whose parts are names too; an organisation's may be everyday words."""

_PEOPLE = re.compile(
    r"\b(?:names?|named|who|whom|whose|identit\w+|identif\w+|person\w*|people|wit"
    r"ness\w*|victims?|patients?|suspects?|perpetrators?|clients?|minors?|children"
    r"|anonym\w+)\b",
    re.IGNORECASE,
)
_TITLES = listed(
    """
    dr mr mrs ms mx miss prof professor doctor sir dame lord lady rev father
    sister brother judge justice captain capt sgt sergeant inspector detective
    officer constable lt lieutenant col colonel major general hon jr sr madam
    mme herr frau senor senora don nurse president minister chairman chairwoman
    chairperson speaker
    """
)
_PARTICLES = listed(
    """
    van von der den de del della di da la le du bin ibn al el ter ten af of and
    y
    """
)
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*\.?")
_SHORTEST = 3
_SPELT_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "\u0131": "i", "æ": "ae"})
_DIGRAPH = re.compile("(?<=[aou])e")


def find_forms(
    text: str,
    findings: Sequence[Finding],
    constraint: Constraint,
    keys: DocumentKeys,
) -> set[Form]:
    """Return what is to be known again of one constraint's findings in a text."""
    forms: set[Form] = set()
    ranks = common_words()
    for surface in find_surfaces(text, findings, constraint):
        forms.update(make_forms(surface, keys))
        if surface.lower() not in ranks:  # of an everyday word, the plural is one too
            for plural in plurals(surface):
                forms.update(make_forms(plural, keys, whole=True))
    there = [  # another split may cut a date in two, so its words are kept as well
        finding.span
        for finding in findings
        if finding.reason in IN_PLACE or " " in finding.span.of(text)
    ]
    if not there:
        return forms
    folded, hidden = fold(text), SpanUnion(there)
    places, words = find_words(folded)
    for index, (start, end) in enumerate(places):
        if hidden.overlaps(folded.span(start, end)):
            forms.add(make_word(words, index, keys))
            if len(words) == 1:
                forms.update(make_forms(words[0], keys))
    return forms


def find_surfaces(
    text: str, findings: Iterable[Finding], constraint: Constraint
) -> Iterator[str]:
    """Yield the forms that a constraint withholds throughout the document."""
    lasting = [finding for finding in findings if finding.reason not in IN_PLACE]
    known = {finding.span.of(text) for finding in lasting}
    known |= {form for surface in known for form in value_forms(surface)}
    people = "PERSON" in parse(constraint).types or _PEOPLE.search(constraint.text)
    if known and people:
        ranks = common_words()
        known |= {
            form
            for finding in lasting
            for form in name_forms(finding.span.of(text))
            if finding.type in _OF_PEOPLE or form.lower() not in ranks
        }
    yield from filter(lasts, known)


def lasts(form: str) -> bool:
    """Say whether a form may go wherever it is: "of" and "12", found once, may not."""
    word = form.strip().lower()
    if word.isdigit():
        return len(word) >= _SHORTEST
    return not (needs_case(form) and word in common_words())


def name_forms(surface: str) -> tuple[str, ...]:
    """Return other ways in which a person's name may be written."""
    parts = [part.rstrip(".") for part in _WORD.findall(surface)]
    named = [part for part in parts if part.lower() not in _TITLES]
    core = [part for part in named if part.lower() not in _PARTICLES]
    if not 1 <= len(core) <= 5 or len(parts) != len(surface.split()):
        return ()
    if not all(part[0].isupper() for part in core):
        return ()
    forms = set(core) if len(core) == 1 else {part for part in core if _enough(part)}
    if len(core) > 1:
        first, last = core[0], core[-1]
        initials = "".join(part[0] for part in core)
        forms |= {
            f"{first} {last}",
            f"{last} {first}",
            f"{last}, {first}",
            f"{first[0]}. {last}",
            f"{first[0]} {last}",
            f"{last}, {first[0]}.",
            ".".join(initials) + ".",
        }
        if len(initials) >= _SHORTEST and initials.lower() not in common_words():
            forms.add(initials)
    forms.discard(surface)
    return tuple(sorted(forms, key=lambda form: (-len(form), fold_text(form))))


def spellings(form: str) -> frozenset[str]:
    """Return a form as given and in other letters: Müller, Mueller, Muller."""
    lower = form.lower()
    others = (
        lower.translate(_SPELT_OUT),
        lower.translate(_PLAIN),
        _DIGRAPH.sub("", lower),
    )
    return frozenset((form, *(other for other in others if other != lower)))


_SIBILANT = re.compile(r"(?:s|x|z|ch|sh)$", re.IGNORECASE)
_LONGEST_NAME = 5


def plurals(name: str) -> tuple[str, ...]:
    """Return the plural of a name: the Meyerses, two Bluebirds, the Kennedys."""
    words = name.split()
    last = words[-1] if 0 < len(words) <= _LONGEST_NAME else ""
    if not last.isalpha() or not last[0].isupper() or len(last) < _SHORTEST:
        return ()
    return (f"{name}es",) if _SIBILANT.search(last) else (f"{name}s",)


def _enough(part: str) -> bool:
    """Say whether a part of a name represents it: a short one, unless it is a word."""
    return len(part) >= _SHORTEST or (
        len(part) > 1 and part.lower() not in common_words()
    )


_LONGEST = 100
_PHONE = re.compile(r"\+?[\d\s()./-]{7,}")
_LEAST_DIGITS = 7
_LONGEST_CODE = 3
_SUFFIXES = {1: "st", 2: "nd", 3: "rd"}


def value_forms(surface: str) -> frozenset[str]:
    """
    Return other ways in which a value may be written.

    Args:
        surface: As found in the text. What is no whole date and no telephone number
            has no other forms.
    """
    value = surface.strip()
    if len(value) > _LONGEST or not (any(map(str.isdigit, value)) or " " in value):
        return frozenset()
    dates = {read_date(value), read_date(value, months_first=True)} - {None}
    forms = {form for date in dates if date and all(date) for form in _dates(date)}
    if _PHONE.fullmatch(value):
        forms |= set(_phones(value))
    return frozenset(forms - {value})


def _dates(date: Date) -> Iterator[str]:
    year, month, day = date
    short = f"{year % 100:02}"
    yield f"{year}-{month:02}-{day:02}"
    for first, second in ((day, month), (month, day)):
        yield f"{first:02}-{second:02}-{year}"
        yield f"{first}-{second}-{year}"
        yield f"{first:02}-{second:02}-{short}"
        yield from (f"{first}{mark}{second}{mark}{short}" for mark in "-/.")
    suffix = "th" if day in {11, 12, 13} else _SUFFIXES.get(day % 10, "th")
    ordinal = f"{day}{suffix}"
    for name in (name for name, number in MONTHS.items() if number == month):
        yield f"{year} {name} {day}"
        for value in (str(day), f"{day:02}", ordinal):
            yield f"{value} {name} {year}"
            yield f"{value} of {name} {year}"
            yield f"{name} {value} {year}"
        yield f"{day} {name} {short}"


def _phones(value: str) -> Iterator[str]:
    """Yield a number without its country code, and with a zero in its place."""
    digits = "".join(filter(str.isdigit, value.replace("(0)", "")))
    yield digits
    if value.startswith("+"):
        yield f"00{digits}"
    elif digits.startswith("00"):
        digits = digits[2:]
    elif digits.startswith("0"):
        yield digits[1:]
        return
    else:
        return
    for code in range(1, _LONGEST_CODE + 1):
        if len(rest := digits[code:]) >= _LEAST_DIGITS:
            yield rest
            yield f"0{rest}"
