"""
Values in other notations: identifiers, telephone numbers, ages, dates, short forms.

"MRN 44-718-02" is "4471802", "+1 (415) 555-0134" is "415.555.0134", "aged 56" is
"56-year-old", and "12 April 2019" is "12/04/19". Letters that belong to an identifier
must agree; a label before it, such as "policy no.", need not be there.

A date of numbers alone is read day first, as in the thesis's own example, unless the
corpus shows a date that can only be month first and none that can only be day first. A
date without a year joins the one full date of its type with that day.

"COPD" is "chronic obstructive pulmonary disease", and "Riverside Clinic" is short for
"Riverside Community Clinic, Leeds": the shorter form's words are all in the longer one,
in the same order, and both begin alike. One word is too little, unless the longer form
only adds what follows a comma. A form that shortens two different names is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise

from sdrag.policy.sections import Role
from sdrag.text.dates import NUMBER_WORDS, Date, month_first, read_date
from sdrag.text.folding import fold_text

_WORD = re.compile(r"[^\W_]+")
_LABEL_WORDS = """no nr num number id mrn policy claim patient member ref reference case
file account acct record chart ticket invoice order badge employee plan the"""
_LABELS = frozenset(_LABEL_WORDS.split())
_LEAST = 4
"""Fewer digits than this are no identifier."""
_NATIONAL = 9
"""Digits of a telephone number that must agree; what precedes is a trunk or country."""
_NUMBER = re.compile(r"\d{1,3}")
_DIGITS = re.compile(r"\d+")
_LETTERS = re.compile(r"[^\W\d_]+")
_SMALL_WORDS = frozenset({"of", "the", "and", "for", "in", "on", "at", "de", "la", "a"})
_WITHIN = re.compile(r"\w+(?:'\w+)?")
_ARTICLES = frozenset({"the", "a", "an"})
_TAG = re.compile(r"(?<=\w)\+[^@\s]*(?=@)")
"""What a mailbox is divided by: "ada+boats@fjord.example"."""


def canonical(form: str, role: Role) -> tuple[str, ...]:
    """
    Return what the ways to write a value have in common; nothing where it tells none.

    A date with a day is known by its day and month, one of numbers alone by both that
    it may be, and an e-mail address without what follows its plus sign.
    """
    folded = fold_text(form)
    if role == "date":
        dates = {read_date(folded), read_date(folded, months_first=True)}
        return tuple(sorted({_day(date) for date in dates if date} - {""}))
    if role == "number":
        return ("".join(_code(form)) or folded,)
    if role == "phone":
        return (_national(form) or folded,)
    if role == "age":
        return (str(_age(form) or folded),)
    return (_TAG.sub("", folded) if role == "exact" else folded,)


def _day(date: Date) -> str:
    if not date.day:
        return f"{date.month}/{date.year}" if date.year else ""
    return f"{date.month}/{date.day}"


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
    return _equal(forms, _national)


def age_pairs(forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of forms that state one age; ranges and decades are not ages."""
    return _equal(forms, _age)


def _equal(
    forms: Sequence[str], read: Callable[[str], Hashable | None]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of forms that are read as one value."""
    first: dict[Hashable, int] = {}
    for number, form in enumerate(forms):
        value = read(form)
        if value is not None and first.setdefault(value, number) != number:
            yield first[value], number


def _national(form: str) -> str | None:
    digits = "".join(c for c in fold_text(form).split(" ext")[0] if c.isdigit())
    return digits[-_NATIONAL:] if len(digits) >= _NATIONAL else None


def stated(folded: str) -> frozenset[str]:
    """Return the numbers that a form states, in digits or in words."""
    words = _WORD.findall(folded)
    spoken = {str(NUMBER_WORDS[word]) for word in words if word in NUMBER_WORDS}
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


def _age(form: str) -> int | None:
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


def date_pairs(forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of forms that name one date; forms that name none are ignored."""
    orders = set(map(month_first, forms))
    months_first = True in orders and False not in orders
    seen: dict[Date, int] = {}
    for number, form in enumerate(forms):
        date = read_date(form, months_first=months_first)
        if date is not None and seen.setdefault(date, number) != number:
            yield seen[date], number
    for date, number in seen.items():
        if date.day and not date.year:
            full = [n for d, n in seen.items() if d.year and d[1:] == date[1:]]
            if len(full) == 1:
                yield number, full[0]


def acronym_pairs(forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of a form in capitals and the words whose initials it is."""
    spelled: dict[str, list[int]] = {}
    for number, form in enumerate(forms):
        words = _LETTERS.findall(form)
        if len(words) < 2:
            continue
        kept = [word for word in words if word.lower() not in _SMALL_WORDS]
        for word_list in (words, kept):
            spelled.setdefault("".join(w[0] for w in word_list).upper(), []).append(
                number
            )
    for number, form in enumerate(forms):
        plain = form.replace(".", "")
        if 2 <= len(plain) <= 6 and plain.isalpha() and plain.isupper():
            for other in dict.fromkeys(spelled.get(plain, ())):
                yield number, other


def shortened_pairs(forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of a form and the longer form that it shortens."""
    folded = [fold_text(form) for form in forms]
    words = [_words(form) for form in folded]
    heads = [_words(form.partition(",")[0]) for form in folded]
    headed: dict[tuple[str, ...], list[int]] = {}
    holding: dict[tuple[str, str], list[int]] = {}
    for number, word_list in enumerate(words):
        headed.setdefault(heads[number], []).append(number)
        for word in set(word_list[1:]):
            holding.setdefault((word_list[0], word), []).append(number)
    for short, word_list in enumerate(words):
        if not word_list:
            continue
        # Only forms that hold the rarest of its words can hold all of them.
        rest = [holding[word_list[0], word] for word in word_list[1:]]
        near = min(rest, key=len) if rest else headed.get(word_list, [])
        longer = [
            number
            for number in near
            if len(words[number]) > len(word_list) and _within(word_list, words[number])
        ]
        longer.sort(key=lambda number: (len(words[number]), number))
        nested = pairwise(longer)
        if all(_within(words[left], words[right]) for left, right in nested):
            yield from ((short, number) for number in longer[:1])


def _words(form: str) -> tuple[str, ...]:
    return tuple(word for word in _WITHIN.findall(form) if word not in _ARTICLES)


def _within(short: Sequence[str], long: Sequence[str]) -> bool:
    """Say whether the words of one are in the other, in order."""
    rest = iter(long)
    return all(word in rest for word in short)
