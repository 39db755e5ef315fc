"""
How a date, a telephone number or an identifier may be written, and what its ways share.

"MRN 44-718-02" is "4471802", "+1 (415) 555-0134" is "415.555.0134", "aged 56" is
"56-year-old", and "12 April 2019" is "12/04/19". Each type has one key, which all ways
to write a value have in common. Whoever has hashes alone to compare asks for the ways
themselves: "3 May 1984" in a letter is `dob=19840503` in a form and 5/3/84 on a card.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.text.dates import MONTHS, NUMBER_WORDS, Date, read_date
from sdrag.text.folding import fold_text

_WORD = re.compile(r"[^\W_]+")
_LABEL_WORDS = """no nr num number id mrn policy claim patient member ref reference case
file account acct record chart ticket invoice order badge employee plan the"""
_LABELS = frozenset(_LABEL_WORDS.split())
_NATIONAL = 9
"""Digits of a telephone number that must agree; what precedes is a trunk or country."""
_NUMBER = re.compile(r"\d{1,3}")
_DIGITS = re.compile(r"\d+")
_TAG = re.compile(r"(?<=\w)\+[^@\s]*(?=@)")
"""What a mailbox is divided by: "ada+boats@fjord.example"."""
_LONGEST = 100
_PHONE = re.compile(r"\+?[\d\s()./-]{7,}")
_LEAST_DIGITS = 7
_LONGEST_CODE = 3
_SUFFIXES = {1: "st", 2: "nd", 3: "rd"}


def date_keys(form: str) -> frozenset[str]:
    """Return the days that a date may be, of any year; of one without a day, months."""
    dates = {read_date(form), read_date(form, months_first=True)}
    return frozenset(f"{date.month}/{date.day or date.year}" for date in dates if date)


def phone_key(form: str) -> str | None:
    """Return the national digits of a telephone number, if it has so many."""
    digits = "".join(c for c in fold_text(form).split(" ext")[0] if c.isdigit())
    return digits[-_NATIONAL:] if len(digits) >= _NATIONAL else None


def code_key(form: str) -> tuple[str, str]:
    """Return an identifier's letters and digits, its label left out."""
    words = [word for word in _WORD.findall(fold_text(form)) if word not in _LABELS]
    numbered = [
        index for index, word in enumerate(words) if any(map(str.isdigit, word))
    ]
    if not numbered:
        return "", ""
    # Letters right before the first digits are part of the identifier: "HX 1234".
    first = numbered[0]
    if first and words[first].isdigit() and len(words[first - 1]) <= 4:
        first -= 1
    joined = "".join(words[first : numbered[-1] + 1])
    letters = "".join(c for c in joined if c.isalpha())
    return letters, "".join(c for c in joined if c.isdigit())


def age_key(form: str) -> int | None:
    """Return the one age that a form states; ranges and decades are not ages."""
    text = fold_text(form)
    numbers = _NUMBER.findall(text)
    if len(numbers) == 1:
        return None if f"{numbers[0]}s" in text else int(numbers[0])
    if numbers:
        return None
    spoken = [
        NUMBER_WORDS[word] for word in _WORD.findall(text) if word in NUMBER_WORDS
    ]
    return sum(spoken) if 0 < len(spoken) <= 2 else None


def mail_key(folded: str) -> str:
    """Return an e-mail address without what follows its plus sign."""
    return _TAG.sub("", folded)


def stated_numbers(folded: str) -> frozenset[str]:
    """Return the numbers that a form states, in digits or in words."""
    words = _WORD.findall(folded)
    spoken = {str(NUMBER_WORDS[word]) for word in words if word in NUMBER_WORDS}
    return frozenset(_DIGITS.findall(folded)) | spoken


def value_forms(surface: str) -> frozenset[str]:
    """
    Return other ways in which a value may be written.

    Separators need no ways of their own: the register ignores them.

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
