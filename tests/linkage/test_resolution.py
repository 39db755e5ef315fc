"""Which surface forms are one entity, rule by rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from sdrag.effects.steps import run
from sdrag.linkage import pairs as rules
from sdrag.linkage.mentions import Occurrence, read_found
from sdrag.linkage.pairs import name_pairs, shortened_pairs
from sdrag.linkage.resolve import Resolved, resolve
from sdrag.linkage.schema import Schema, local_runner
from sdrag.policy import ResolutionSection
from sdrag.text.names import Name, parse_name
from sdrag.vocabulary import Mention, Span

from ..support.tables import read_table

TABLES = read_table(__file__, "resolution.toml")
PLAIN = ResolutionSection(meaning=False, terms=False)


def resolved(
    *forms: tuple[str, str],
    settings: ResolutionSection = PLAIN,
    key: bytes | None = None,
) -> Resolved:
    found = [[Occurrence(form, type_)] for type_, form in forms]
    return run(resolve(found, settings, Schema(), key=key), local_runner())


def test_two_ways_to_write_one_thing_are_one_entity():
    """The report says why; a policy that says false to a rule keeps them apart."""
    off = ResolutionSection(
        names=False, dates=False, numbers=False, meaning=False, terms=False
    )
    for type_, one, two, reason in TABLES["one"]:
        result = resolved((type_, one), (type_, two))
        (entity,) = result.entities
        assert set(entity.forms) == {one, two}
        assert result.reasons[entity.id] == (reason,)
        assert len(resolved((type_, one), (type_, two), settings=off).entities) == 2


def test_what_differs_in_what_matters_stays_apart():
    """In a number, a first name, a year; or in the kind of value."""
    pairs = [((type_, one), (type_, two)) for type_, one, two in TABLES["two"]]
    assert not [pair for pair in pairs if len(resolved(*pair).entities) != 2]
    assert len(resolved(("AGE", "34"), ("PATIENT_ID", "34")).entities) == 2


def test_letters_and_their_spellings_are_one_name():
    """As names are written where a keyboard has no umlauts; other names stay two."""
    for count, pairs in ((1, TABLES["spelled_one"]), (2, TABLES["spelled_two"])):
        for left, right in pairs:
            for forms in ((left, right), (right, left)):
                found = resolved(*(("NAME", form) for form in forms)).entities
                assert len(found) == count, (left, right)


def test_an_ambiguous_short_form_is_left_alone():
    """A form that fits two people is neither."""
    forms = ("Dr. Elise Varga", "Dr. Anton Varga", "Dr. Varga")
    assert len(resolved(*(("PROVIDER", form) for form in forms)).entities) == 3


def test_month_first_where_the_corpus_shows_it():
    """A date that can only be month first decides for those that could be either."""
    forms = ("04/25/2019", "04/05/2019", "April 5, 2019")
    assert len(resolved(*(("EVENT_DATE", form) for form in forms)).entities) == 2


def test_a_normalized_value_joins_its_forms():
    """What an extractor says two forms mean is believed, within a type."""
    found = [
        [Occurrence("12 April 2019", "EVENT_DATE", 0.5, "12/04/2019")],
        [Occurrence("the spring visit", "EVENT_DATE", 0.7, "12/04/2019")],
    ]
    result = run(resolve(found, PLAIN, Schema()), local_runner())
    (entity,) = result.entities
    assert set(entity.forms) == {"12 April 2019", "the spring visit"}
    assert entity.relevance == 0.7


class TestMeaning:
    """Paraphrases are near in meaning."""

    def test_a_paraphrase_is_one_entity(self):
        """Two descriptions of one fact, with hardly a word in common."""
        result = resolved(
            ("UNIQUE_FACT", "night pilot on the ferry"),
            ("UNIQUE_FACT", "steers the ferry on the late shift"),
            ("UNIQUE_FACT", "keeps forty hives of bees"),
            settings=ResolutionSection(),
        )
        assert sorted(len(entity.forms) for entity in result.entities) == [1, 2]
        assert list(result.reasons.values()) == [("meaning",)]


class TestIds:
    """Ids are opaque and stable."""

    def test_without_a_key_they_are_numbers(self):
        """Nothing about a value can be tested against them."""
        (entity,) = resolved(("NAME", "Elise Varga")).entities
        assert entity.id == "e0000000"

    def test_a_key_makes_them_last(self):
        """The same entity has the same id in another corpus, under the same key."""
        key = b"0123456789abcdef"
        (one,) = resolved(("NAME", "Elise Varga"), key=key).entities
        many = resolved(("AGE", "34"), ("NAME", "Elise Varga"), key=key).entities
        (other,) = resolved(("NAME", "Elise Varga"), key=key[::-1]).entities
        assert one.id in {entity.id for entity in many}
        assert one.id != other.id


def test_of_overlapping_mentions_the_longest_stands():
    """A place within the name of a clinic is part of the clinic."""
    text = "SF Potrero Hill Arthritis Center"
    inner = Mention(Span(3, 15), "LOCATION")
    outer = Mention(Span(0, len(text)), "PROVIDER")
    (found,) = read_found(text, [inner, outer], Schema())
    assert (found.form, found.type) == (text, "PROVIDER")


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


def compatible(left: Name, right: Name) -> bool:
    return left.family == right.family and all(
        one == other or (1 in {len(one), len(other)} and one[0] == other[0])
        for one, other in zip(left.given, right.given, strict=False)
    )


def every_name_compared(forms: Sequence[str]) -> Iterable[tuple[int, int]]:
    """The rule, pair by pair."""
    names = dict(enumerate(parse_name(form, always=True) for form in forms))
    names = {number: name for number, name in names.items() if name is not None}
    for number, name in names.items():
        fuller = [
            other
            for other, whole in names.items()
            if other != number
            and compatible(name, whole)
            and rules._fullness(whole) >= rules._fullness(name)
        ]
        if all(compatible(names[a], names[b]) for a, b in combinations(fuller, 2)):
            yield from ((number, other) for other in fuller)


def every_form_compared(folded: Sequence[str]) -> Iterable[tuple[int, int]]:
    """The rule, pair by pair."""
    words = [rules._words(form) for form in folded]
    heads = [rules._words(form.partition(",")[0]) for form in folded]
    for short, some in enumerate(words):
        longer = [
            number
            for number, more in enumerate(words)
            if some[:1] == more[:1]
            and 0 < len(some) < len(more)
            and (len(some) > 1 or heads[number] == some)
            and rules._is_within(some, more)
        ]
        longer.sort(key=lambda number: (len(words[number]), number))
        if all(rules._is_within(words[a], words[b]) for a, b in pairwise(longer)):
            yield from ((short, number) for number in longer[:1])


@given(PEOPLE)
def test_names_are_joined_as_if_every_pair_were_compared(forms):
    """The forms of one person are the same, however many names there are."""
    expected = groups(len(forms), every_name_compared(forms))

    assert groups(len(forms), name_pairs(forms, always=True)) == expected


@given(PLACES)
def test_short_forms_are_found_as_if_every_pair_were_compared(forms):
    """A short form joins the same longer form."""
    expected = sorted(every_form_compared(forms))

    assert sorted(shortened_pairs(forms)) == expected
