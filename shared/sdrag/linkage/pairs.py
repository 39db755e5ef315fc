"""
Pairs of forms that are one entity, rule by rule.

A name is joined with a shorter one as long as nobody else of the type fits that: a form
that fits two fuller names is left alone, for guessing would link two people. Letters
that belong to an identifier must agree; a label before it need not be there.

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
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import pairwise, product, zip_longest

from sdrag.policy.sections import Role
from sdrag.text.dates import Date, month_first, read_date
from sdrag.text.folding import fold_text
from sdrag.text.names import Name, parse_name
from sdrag.text.values import age_key, code_key, date_keys, mail_key, phone_key

_LEAST = 4
"""Fewer digits than this are no identifier."""
_LETTERS = re.compile(r"[^\W\d_]+")
_SMALL_WORDS = frozenset({"of", "the", "and", "for", "in", "on", "at", "de", "la", "a"})
_WITHIN = re.compile(r"\w+(?:'\w+)?")
_ARTICLES = frozenset({"the", "a", "an"})


def canonical(form: str, role: Role) -> tuple[str, ...]:
    """
    Return what the ways to write a value have in common; nothing where it tells none.

    A date with a day is known by its day and month, one of numbers alone by both that
    it may be, and an e-mail address without what follows its plus sign.
    """
    folded = fold_text(form)
    if role == "date":
        return tuple(sorted(date_keys(folded)))
    if role == "number":
        return ("".join(code_key(form)) or folded,)
    if role == "phone":
        return (phone_key(form) or folded,)
    if role == "age":
        return (str(age_key(form) or folded),)
    return (mail_key(folded) if role == "exact" else folded,)


def name_pairs(forms: Sequence[str], *, always: bool) -> Iterator[tuple[int, int]]:
    """
    Yield pairs of forms that name one person; they connect all forms of that person.

    `always`: read every form as a person; else only one with a title, or as "Family,
    G.".
    """
    numbers: dict[Name, list[int]] = {}
    for number, form in enumerate(forms):
        name = parse_name(form, always=always)
        if name is not None:
            numbers.setdefault(name, []).append(number)
    families: dict[str, list[Name]] = {}
    for name in numbers:
        families.setdefault(name.family, []).append(name)
    for members in families.values():
        by_given = _by_given(members)
        for name in members:
            fuller = _fuller(name, by_given)
            if _agree(fuller):
                first = numbers[name][0]
                for other in fuller:
                    yield from ((first, n) for n in numbers[other] if n != first)


def _by_given(names: Sequence[Name]) -> dict[tuple[str, ...], list[Name]]:
    """
    Return the names of a family by every way to begin their given names.

    A given name is listed under itself and under its first letter: "john", and "j*".
    """
    begun: dict[tuple[str, ...], list[Name]] = {(): list(names)}
    for name in names:
        ways = [tuple(dict.fromkeys((given, f"{given[0]}*"))) for given in name.given]
        for size in range(1, len(ways) + 1):
            for key in product(*ways[:size]):
                begun.setdefault(key, []).append(name)
    return begun


def _fuller(
    name: Name, by_given: Mapping[tuple[str, ...], Sequence[Name]]
) -> list[Name]:
    """Return the names that one name can represent, itself among them."""
    ways = [
        (given, given[0]) if len(given) > 1 else (f"{given}*",) for given in name.given
    ]
    return [
        other
        for key in product(*ways)
        for other in by_given.get(key, ())
        if _fullness(other) >= _fullness(name)
    ]


def _agree(names: Sequence[Name]) -> bool:
    for tokens in zip_longest(*(name.given for name in names)):
        given = {token for token in tokens if token}
        spelled_out = sum(len(token) > 1 for token in given)
        if spelled_out > 1 or len({token[0] for token in given}) > 1:
            return False
    return True


def _fullness(name: Name) -> tuple[int, int]:
    return len(name.given), sum(map(len, name.given))


def code_pairs(forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of identifiers with the same digits and letters that agree."""
    read = [code_key(form) for form in forms]
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
    return _pair_equal(forms, phone_key)


def age_pairs(forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of forms that state one age; ranges and decades are not ages."""
    return _pair_equal(forms, age_key)


def _pair_equal(
    forms: Sequence[str], read: Callable[[str], Hashable | None]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of forms that are read as one value."""
    first: dict[Hashable, int] = {}
    for number, form in enumerate(forms):
        value = read(form)
        if value is not None and first.setdefault(value, number) != number:
            yield first[value], number


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
            if len(words[number]) > len(word_list)
            and _is_within(word_list, words[number])
        ]
        longer.sort(key=lambda number: (len(words[number]), number))
        nested = pairwise(longer)
        if all(_is_within(words[left], words[right]) for left, right in nested):
            yield from ((short, number) for number in longer[:1])


def _words(form: str) -> tuple[str, ...]:
    return tuple(word for word in _WITHIN.findall(form) if word not in _ARTICLES)


def _is_within(short: Sequence[str], long: Sequence[str]) -> bool:
    rest = iter(long)
    return all(word in rest for word in short)
