"""What stands in the place of what was cut out."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.disclosure.cut import WITHHOLD_ALL, RedactedText, cut, find_values
from sdrag.disclosure.disclose import forget_document
from sdrag.disclosure.placeholder_style import PlaceholderStyle
from sdrag.effects.steps import run
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.placeholders import DEFAULT
from sdrag.policy import DisclosureSection
from sdrag.state import open_state
from sdrag.state.keys import Keys
from sdrag.vocabulary import Constraint, Passage, Principal, Span

from ..support.properties import few
from ..support.scripted import Scripted, locate_by
from ..support.tables import each_row


def released(text, section=None, constraints=("Remove names of witnesses",)):
    engine = Engine({"constraints": list(constraints), "disclosure": section or {}})
    passages = (Passage("p", text, document_id="d"),)
    runner = Scripted()
    run(bind(passages, engine), runner)
    (passage,) = run(disclose(passages, Request("?"), engine), runner).passages
    return passage.text


TYPES = {
    "Dear Ms Harriet Osborne, you owe 780 pounds.": (
        ("Remove names of people", "Hide sums of money"),
        "Dear [person], you owe [amount].",
    ),
    "Mr and Mrs Karlsson met Prof. Dr. Boon; Judge Hale, a judge, did not.": (
        ("Remove names of people",),
        "[person] met [person]; [person], a judge, did not.",
    ),
    "She was born on 14 March 1971.": (("Hide dates",), "She was born on [date]."),
    "Call 01632 960 114 or write to h.osborne@example.org.": (
        ("Hide phone numbers and e-mail addresses",),
        "Call [phone] or write to [e-mail].",
    ),
    "It went to DE89 3704 0044 0532 0130 00.": (
        ("Hide IBANs",),
        "It went to [account].",
    ),
}


@each_row("text", TYPES)
def test_a_mark_says_of_what_type_the_words_were(text):
    constraints, expected = TYPES[text]

    assert released(text, constraints=constraints) == expected


@each_row(
    "section, expected",
    [
        ({}, "Then [person] left."),
        ({"placeholders": "plain"}, "Then [REDACTED] left."),
        ({"placeholders": "plain", "placeholder": "***"}, "Then *** left."),
        ({"placeholders": "numbered"}, "Then [person-#] left."),
    ],
)
def test_styles(section, expected):
    left = released("Then Jonathan Meyers left.", section)

    assert re.sub(r"\d{8}", "#", left) == expected


@pytest.mark.parametrize("style", ["type", "plain"])
def test_placeholders_are_left_alone(style):
    """A placeholder that stands in a text is neither nested nor cut again."""
    marks = sorted(DEFAULT.plain)
    for text in (" ".join(marks), *(f"Then {m} met the {m}." for m in marks[::4])):
        assert released(text, {"placeholders": style}) == text


MARKED = PlaceholderStyle.of(
    [
        Constraint("people", "Remove names of people"),
        Constraint("dates", "Hide dates"),
        Constraint("why", "Conceal why the shop was closed"),
        Constraint("self", "Remove all personal data"),
    ],
    DisclosureSection(),
    DEFAULT,
)
TWO = {"people": ["Ann", "Bob"]}
JOINED = [
    # text, what each constraint takes, what is left
    ("saw Ann, Bob today", TWO, "saw [person] today"),
    ("saw Ann/Bob today", TWO, "saw [person] today"),
    ("saw Ann (Bob) today", TWO, "saw [person] ([person]) today"),
    ("saw Ann. Bob left", TWO, "saw [person]. [person] left"),
    ("- Ann\n- Bob", TWO, "- [person]\n- [person]"),
    ("| Ann | Bob |", TWO, "| [person] | [person] |"),
    ("Ann and Bob", TWO, "[person] and [person]"),
    ("a,b\nAnn,Bob\nx,y", TWO, "a,b\n[person],[person]\nx,y"),
    (
        "saw [Ann-12345678], or [b-12345678] or Bob",
        TWO,
        "saw [withheld], or [b-12345678] or [person]",
    ),
    ("Ann, 3 May 1971.", {"people": ["Ann"], "dates": ["3 May 1971"]}, "[withheld]."),
    ("the baker left", {"self": ["baker"]}, "the [occupation] left"),
    ("a mess in Leeds", {"self": ["mess in Leeds"]}, "a [withheld]"),
    ("in Leeds now", {"self": ["Leeds"]}, "in [name] now"),
    ("the 485 777 3456 file", {"self": ["485 777 3456"]}, "the [phone] file"),
    ("the AB/12 file", {"self": ["AB/12"]}, "the [code] file"),
    ("It was mice again", {"why": ["mice"]}, "It was [withheld] again"),
    ("It was Ann again", {"why": ["Ann"], "people": ["Ann"]}, "It was [person] again"),
    (
        "It was Ann the baker again",
        {"why": ["Ann the baker"], "people": ["Ann"]},
        "It was [withheld] again",
    ),
]


@each_row("text, taken, expected", JOINED)
def test_adjacent_marks_become_one(text, taken, expected):
    """Of one type, its mark; of two types, or by meaning, `[withheld]`."""
    spans = {}
    for name, listed in taken.items():
        for words in listed:
            span = Span(text.index(words), text.index(words) + len(words))
            spans[span] = spans.get(span, frozenset()) | {name}
    many = len(re.findall(r"\[[a-z]+\]", expected))
    for order in (spans, dict(reversed(spans.items()))):
        left = cut(text, order, ["none", *taken], MARKED).apply(text)

        assert left == RedactedText(expected, tuple(taken), many, left.types)
        assert len(left.types) == many
        assert cut(text, order, ["none"], MARKED).apply(text) == RedactedText(text)
        again = {
            Span(*each.span()): {"people"} for each in re.finditer("person", expected)
        }
        assert cut(expected, again, ["people"], MARKED).edits == ()


def test_what_is_withheld_whole_leaves_nothing():
    """Where a constraint that is enforced says so; all that take any are named."""
    text = "Ann left."
    taken = {Span(0, 3): frozenset({"people"}), WITHHOLD_ALL: frozenset({"why"})}

    for applied in (["why", "people", "dates"], ["people", "why"]):
        left = cut(text, taken, applied, MARKED).apply(text)
        assert left == RedactedText(None, tuple(applied[:2]), 1)
        assert not find_values(text, taken, applied, MARKED, {*applied})
    assert cut(text, taken, ["people"], MARKED).apply(text).text == "[person] left."


NUMBERED = {
    "constraints": [
        {"id": "names", "text": "Remove names of people", "unless": {"roles": ["hr"]}},
        {"id": "dates", "text": "Hide dates"},
    ],
    "disclosure": {"placeholders": "numbered"},
}
PEOPLE = ["Ann Lee", "Bob Ray", "Petra Olsen", "Jonathan Meyers"]
LINES = ["Dr {} came on 3 May 2020.", "We saw {}, then {}.", "{} left with {} at noon."]


def show(chunks, path, order, roles=()):
    """Forget chunks, bind them one after the other, and return what they leave as."""
    engine = Engine(NUMBERED, state=open_state(path))
    run(forget_document(chunks, engine.disclosure), Scripted())
    for number in order:
        run(bind([chunks[number]], engine), Scripted())
    asked = [chunks[number] for number in order] or chunks
    principal = Principal("p", roles=frozenset(roles))
    left = run(disclose(asked, Request("?", principal), engine), Scripted())
    return {passage.id: passage.text for passage in left.passages}


@few
@given(
    st.lists(
        st.tuples(st.sampled_from(LINES), st.permutations(PEOPLE)), min_size=2
    ).map(lambda listed: listed[:4]),
    st.data(),
)
def test_a_number_is_of_the_words_and_the_document_alone(
    tmp_path_factory, written, data
):
    """Whichever chunks come, in whatever order, for whomever, in whatever process."""
    path = tmp_path_factory.mktemp("state") / "state.db"
    texts = [line.format(*names) for line, names in written]
    chunks = [Passage(f"p{n}", text, document_id="d") for n, text in enumerate(texts)]
    every = range(len(chunks))
    order = data.draw(st.permutations(every))
    some = order[: data.draw(st.integers(0, len(order)))]

    whole, part = show(chunks, path, every), show(chunks, path, some)
    clerk = show(chunks, path, order, {"hr"})

    assert part.items() <= whole.items()
    numbers: dict[str, str] = {}
    for (line, names), text in zip(written, whole.values(), strict=True):
        given_numbers = re.findall(r"\[person-(\d{8})\]", text)
        assert len(given_numbers) == line.count("{}")
        for name, number in zip(names, given_numbers, strict=False):
            assert numbers.setdefault(name, number) == number
    date = re.compile(r"\[date-\d{8}\]")
    assert {*date.findall(str(clerk))} == {*date.findall(str(whole))}


def test_other_words_and_other_documents_have_other_numbers():
    """Under one key: what a number is made with is no secret to a test."""
    rules = [Constraint("names", "Remove names of people")]
    marks = PlaceholderStyle.of(
        rules, DisclosureSection(placeholders="numbered"), DEFAULT
    )
    text = "Ann Lee, ANN  LEE and Bob Ray"
    spans = (Span(0, 7), Span(9, 17), Span(22, 29))
    left = [
        cut(
            text,
            dict.fromkeys(spans, frozenset(("names",))),
            ["names"],
            marks.of_document(Keys(b"k" * 32).of_document(document)),
        ).apply(text)
        for document in (b"d" * 8, b"e" * 8)
    ]

    (ann, again, bob), other = (re.findall(r"\d{8}", each.text) for each in left)
    assert ann == again
    assert len({ann, bob, *other}) == 4


def test_only_a_number_of_what_one_may_see_stands_for_a_value():
    """Not where another constraint takes it too, and not what has no number."""
    rules = {"names": "Hide names", "sealed": "Remove names", "dates": "Hide dates"}
    style = PlaceholderStyle.of(
        [Constraint(*rule) for rule in rules.items()],
        DisclosureSection(placeholders="numbered"),
        DEFAULT,
    ).of_document(Keys(b"k" * 32).of_document(b"d" * 8))
    text = "3 May Ann, then Bob Ray, BOB RAY, Eve and Dr Eve"
    takers = {
        Span(0, 5): {"dates"},
        Span(6, 9): {"names"},
        Span(16, 23): {"names"},
        Span(25, 32): {"names"},
        Span(34, 37): {"names", "sealed"},
        Span(42, 48): {"names"},
    }
    taken = {span: frozenset(by) for span, by in takers.items()}
    left = cut(text, taken, list(rules), style).apply(text).text
    marks = re.findall(r"\[person-\d+\]", left)

    values = find_values(text, taken, list(rules), style, {"names"})

    assert left.startswith("[withheld], then ")
    assert values == {marks[0]: "Bob Ray", marks[-1]: None}
    assert not find_values(text, taken, [], style, {"names"})


def test_what_looks_like_a_mark_with_a_number_is_no_way_out():
    """The number may be the secret, so it goes; a mark that goes, goes whole."""
    looks = [f"[code-482133{n}]" for n in range(70, 80)]
    text = f"The code is {next(each for each in looks if not DEFAULT.holds(each))}."
    left = released(text, {"placeholders": "numbered"}, ["Hide codes and numbers"])

    assert "482133" not in left
    assert "[[" not in left


WITNESS = r"witness (\w+)"


@pytest.mark.parametrize(
    ("name", "section"),
    [
        ("ED", {"placeholders": "plain"}),
        ("Person", {}),
        ("Dose", {"placeholders": "plain", "placeholder": "[Dose withheld]"}),
    ],
)
def test_what_a_placeholder_spells_is_withheld_all_the_same(name, section):
    """Only what stands in a placeholder is no name; the same letters elsewhere are."""
    rule = {"id": "Karlsson", "text": "Remove names of witnesses"}
    policy = {"constraints": [rule], "disclosure": section}
    passages = (
        Passage("p", f"The witness {name} came.", document_id="d"),
        Passage("q", f"Then {name} left.", document_id="d"),
    )
    engine = locate_by(Engine(policy), WITNESS)

    seen = run(disclose(passages, Request("?"), engine), Scripted()).passages

    assert f"Then {name} left." not in [one.text for one in seen]


def test_one_state_serves_two_styles():
    """What was located under one style of placeholder is cut under every other."""
    state = open_state()
    passages = (
        Passage("p", "The witness Karlsson came.", document_id="d"),
        Passage("q", "Then Karlsson left.", document_id="d"),
    )
    rule = {"id": "Karlsson", "text": "Remove names of witnesses"}
    shown = []
    for style in ("plain", "type", "plain"):
        policy = {"constraints": [rule], "disclosure": {"placeholders": style}}
        engine = locate_by(Engine(policy, state=state), WITNESS)
        seen = run(disclose(passages, Request("?"), engine), Scripted()).passages
        shown.append([passage.text for passage in seen])

    assert "Then Karlsson left." not in str(shown)
    assert shown[0] == shown[2] != shown[1]
