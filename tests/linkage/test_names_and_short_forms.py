"""Names and short forms are joined through indexes, as if each pair were compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from sdrag.linkage import names as person_names
from sdrag.linkage import spellings
from sdrag.linkage.names import _Name, _parsed, name_pairs
from sdrag.linkage.spellings import shortened_pairs

GIVEN = st.sampled_from(["Jo", "J.", "John", "Jim", "Ann", "A.", "Jean"])
FAMILY = st.sampled_from(["Smith", "Ann", "John", "O'Neill"])
TITLE = st.sampled_from(["", "Dr. ", "Mr "])
PEOPLE = st.lists(
    st.builds(
        lambda title, first, family, inverted: (
            title
            + (
                f"{family}, {' '.join(first)}"
                if inverted
                else " ".join((*first, family))
            )
        ),
        TITLE,
        st.lists(GIVEN, max_size=3),
        FAMILY,
        st.booleans(),
    ),
    unique=True,
    max_size=9,
)
PLACES = st.lists(
    st.lists(
        st.sampled_from(["riverside", "clinic,", "clinic", "the", "north", "ward"]),
        min_size=1,
        max_size=5,
    ).map(" ".join),
    unique=True,
    max_size=9,
)


def groups(count: int, pairs: Iterable[tuple[int, int]]) -> list[int]:
    """Return, for each form, the first one that it is connected to."""
    found = list(range(count))
    for left, right in pairs:
        low, high = sorted((found[left], found[right]))
        found = [low if one == high else one for one in found]
    return found


def compatible(left: _Name, right: _Name) -> bool:
    return left.family == right.family and all(
        one == other or (1 in {len(one), len(other)} and one[0] == other[0])
        for one, other in zip(left.given, right.given, strict=False)
    )


def every_name_compared(forms: Sequence[str]) -> Iterable[tuple[int, int]]:
    """The rule, pair by pair."""
    names = dict(enumerate(_parsed(form, always=True) for form in forms))
    names = {number: name for number, name in names.items() if name is not None}
    for number, name in names.items():
        fuller = [
            other
            for other, whole in names.items()
            if other != number
            and compatible(name, whole)
            and person_names._fullness(whole) >= person_names._fullness(name)
        ]
        if all(compatible(names[a], names[b]) for a, b in combinations(fuller, 2)):
            yield from ((number, other) for other in fuller)
        full = [n for n, one in names.items() if one.given[:1] == (name.family,)]
        taken = any(one.given and one.family == name.family for one in names.values())
        if not name.given and not taken and len({names[n].family for n in full}) == 1:
            yield from ((number, other) for other in full)


def every_form_compared(folded: Sequence[str]) -> Iterable[tuple[int, int]]:
    """The rule, pair by pair."""
    words = [spellings._words(form) for form in folded]
    heads = [spellings._words(form.partition(",")[0]) for form in folded]
    for short, some in enumerate(words):
        longer = [
            number
            for number, more in enumerate(words)
            if some[:1] == more[:1]
            and 0 < len(some) < len(more)
            and (len(some) > 1 or heads[number] == some)
            and spellings._within(some, more)
        ]
        longer.sort(key=lambda number: (len(words[number]), number))
        if all(spellings._within(words[a], words[b]) for a, b in pairwise(longer)):
            yield from ((short, number) for number in longer[:1])


@given(PEOPLE)
def test_names_are_joined_as_if_every_pair_were_compared(forms: list[str]) -> None:
    """The forms of one person are the same, however many names there are."""
    expected = groups(len(forms), every_name_compared(forms))

    assert groups(len(forms), name_pairs(forms, always=True)) == expected


@given(PLACES)
def test_short_forms_are_found_as_if_every_pair_were_compared(forms: list[str]) -> None:
    """A short form joins the same longer form."""
    expected = sorted(every_form_compared(forms))

    assert sorted(shortened_pairs(forms)) == expected
