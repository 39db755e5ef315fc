"""
Identifiers, telephone numbers, ages and dates in other notations.

"MRN 44-718-02" is "4471802", "+1 (415) 555-0134" is "415.555.0134", "aged 56" is
"56-year-old", and "12 April 2019" is "12/04/19". Letters that belong to an identifier
must agree; a label before it, such as "policy no.", need not be there.

A date of numbers alone is read day first, as in the thesis's own example, unless the
corpus shows a date that can only be month first and none that can only be day first. A
date without a year joins the one full date of its type with that day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sdrag.text.dates import Date, month_first, read_date
from sdrag.text.folding import fold_text

__all__ = ["age_pairs", "code_pairs", "date_pairs", "phone_pairs", "stated"]

_WORD = re.compile(r"[^\W_]+")
_LABEL_WORDS = """no nr num number id mrn policy claim patient member ref reference case
file account acct record chart ticket invoice order badge employee plan the"""
_LABELS = frozenset(_LABEL_WORDS.split())
_LEAST = 4
"""Fewer digits than this are no identifier."""
_NATIONAL = 9
"""Digits of a telephone number that must agree; what precedes is a trunk or country."""
_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen
fourteen fifteen sixteen seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SPOKEN = {word: number for number, word in enumerate(_ONES.split())} | {
    word: 10 * number for number, word in enumerate(_TENS.split(), start=2)
}
_NUMBER = re.compile(r"\d{1,3}")
_DIGITS = re.compile(r"\d+")


def code_pairs(forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of identifiers with the same digits and letters that agree."""
    read = [_code(form) for form in forms]
    by_digits: dict[str, list[int]] = {}
    for number, (_, digits) in enumerate(read):
        if len(digits) >= _LEAST:
            by_digits.setdefault(digits, []).append(number)
    for members in by_digits.values():
        letters = sorted({read[number][0] for number in members} - {""})
        for index, number in enumerate(members):
            for other in members[index + 1 :]:
                left, right = read[number][0], read[other][0]
                if left == right or ("" in {left, right} and len(letters) == 1):
                    yield number, other


def phone_pairs(forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of telephone numbers that end in the same national number."""
    seen: dict[str, int] = {}
    for number, form in enumerate(forms):
        digits = "".join(c for c in fold_text(form).split(" ext")[0] if c.isdigit())
        if len(digits) < _NATIONAL:
            continue
        key = digits[-_NATIONAL:]
        if key in seen:
            yield seen[key], number
        seen.setdefault(key, number)


def age_pairs(forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of forms that state one age; ranges and decades are not ages."""
    seen: dict[int, int] = {}
    for number, form in enumerate(forms):
        age = _age(fold_text(form))
        if age is None:
            continue
        if age in seen:
            yield seen[age], number
        seen.setdefault(age, number)


def stated(folded: str) -> frozenset[str]:
    """Return the numbers that a form states, in digits or in words."""
    words = _WORD.findall(folded)
    spoken = {str(_SPOKEN[word]) for word in words if word in _SPOKEN}
    return frozenset(_DIGITS.findall(folded)) | spoken


def _code(form: str) -> tuple[str, str]:
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


def _age(text: str) -> int | None:
    numbers = _NUMBER.findall(text)
    if len(numbers) == 1:
        return None if f"{numbers[0]}s" in text else int(numbers[0])
    if numbers:
        return None
    spoken = [_SPOKEN[word] for word in _WORD.findall(text) if word in _SPOKEN]
    return sum(spoken) if 0 < len(spoken) <= 2 else None


def date_pairs(forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of forms that name one date; forms that name none are ignored."""
    orders = set(map(month_first, forms))
    months_first = True in orders and False not in orders
    seen: dict[Date, int] = {}
    for number, form in enumerate(forms):
        date = read_date(form, months_first=months_first)
        if date is None:
            continue
        if date in seen:
            yield seen[date], number
        else:
            seen[date] = number
    yield from _yearless(seen)


def _yearless(seen: dict[Date, int]) -> Iterator[tuple[int, int]]:
    for date, number in seen.items():
        if date.year or not date.day:
            continue
        full = [n for other, n in seen.items() if other.year and other[1:] == date[1:]]
        if len(full) == 1:
            yield number, full[0]
