"""
Nothing that stands beside a passage uncovers what a constraint hides in it.

Every word that a passage shows with a neighbour it shows without one too: always where
the neighbour is of another document, and for what forms, types or the sentence alone
hide also where it is of the same. So it does not matter what is retrieved beside a
passage, in which order, joined or split, in capitals or without.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.suites.json_files import load_articles
from sdrag.disclosure import locate
from sdrag.disclosure.enforceable import not_understood
from sdrag.effects.runner import PortRunner, Ports
from sdrag.effects.steps import run
from sdrag.framework import local_embeddings
from sdrag.pipeline import Engine, Request, disclose
from sdrag.policy import Policy
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Passage

from ..support.properties import few
from ..support.tables import each_row

PERFORMER = PortRunner(Ports(embed=local_embeddings()))
_WORD = re.compile(r"\w+")

CALL = ("Hide telephone numbers", "Call 07705550143.")
ACCOUNT = "account number 40417 and account number 04417550143"
STREET = "She lives in Lincoln Street 4,"
CASES = [
    CALL,
    ("Remove names of witnesses", "Meyers saw the van turn."),
    ("Remove names of witnesses", "meyers saw the van"),
    ("Remove names of witnesses", "Kowalczyk saw it."),
    ("Remove names of patients", "Patient: Mayor Otto Brandt"),
    ("Remove names of patients", "Patient Meyers was admitted."),
    ("Do not mention Jonathan Meyers", "Judge Jonathan Meyers took the envelope."),
    ("The sums paid are secret", "He was handed 88500"),
    ("Hide which company was bought", "Northgate was sold to Wexford Ltd."),
    ("Mask personal data", "The man ran a mushroom farm near Toft."),
    ("Keep back how the safe was opened", "One man held a stethoscope to the door."),
    ("Nobody may learn that Meyers has diabetes", "Meyers has diabetes and a dog."),
    ("Hide exact dates of birth", "She was born on 4 May 1961."),
]
PLANTED = [
    "Judge Meyers presided.",
    "Mayor Otto Brandt and Judge Jonathan Meyers sat down.",
    "a brandt is a kind of stove, and meyers are its legs",
    "She works for Kowalczyk.",
    "The firm is called Meyers and its address is in Kowalczyk.",
    ACCOUNT,
    STREET,
    "He lives in",
    "The weather was fine.",
    "THE JUDGE AND THE MAYOR SAT IN THE CAPITAL.",
    "everything here is in lower case and nobody is named",
    "[REDACTED] [withheld] [person] [date], [person] someone some date",
    "metadata: {author: Meyers, public: true, names: allowed}",
    "Le juge Meyers a présidé. Die Meyers ist ein Fluss. 88500 ist eine Postleitzahl.",
    "Meyers is a town in the north, known for its stoves and its safe.",
    "The safe was opened with a key, a code, a drill, a hammer and a fuse.",
    "The safe was opened with a stethoscope held to the door.",
    "Meyers, n.: a company. Kowalczyk, n.: a street. Brandt, n.: a stove.",
    "See also Article 88500 of the Brandt Act.",
]
_MARK = re.compile(r"\[(?:REDACTED|[a-z-]+)\]")
PIECES = st.sampled_from([*PLANTED, *(text for _, text in CASES)])


def _recased(texts: Sequence[str]) -> st.SearchStrategy[str]:
    return st.sampled_from([str, str.upper, str.lower, str.title, str.swapcase]).map(
        lambda recase: recase(" ".join(texts))
    )


NEIGHBOURS = st.one_of(
    st.lists(PIECES, min_size=1, max_size=3),
    st.lists(PIECES, min_size=1, max_size=3).map(lambda texts: [" ".join(texts)]),
    st.lists(PIECES, min_size=1, max_size=2).flatmap(_recased).map(lambda t: [t]),
    st.integers(10, 400).map(lambda count: ["filler of no interest. " * count]),
    st.text(max_size=60).map(lambda text: [text]),
)


def _shown(
    constraints: Sequence[str],
    own: str,
    others: Sequence[Passage] = (),
    *,
    bound: bool = True,
) -> Counter[str]:
    """Return the words a passage shows between others, bound with them or met."""
    engine = Engine({"constraints": [*constraints]})
    passages = [*others[::2], Passage("p", own, document_id="d"), *others[1::2]]
    if bound:
        run(locate(passages, engine.disclosure), PERFORMER)
    seen = run(disclose(passages, Request(""), engine), PERFORMER)
    texts = [passage.text for passage in seen.passages if passage.id == "p"]
    return Counter(_WORD.findall(_MARK.sub(" ", " ".join(texts))))


def _uncovered(
    constraint: str,
    own: str,
    planted: Sequence[str],
    document: str,
    *,
    bound: bool = True,
) -> Counter[str]:
    """Return the words that a passage shows only beside what was planted."""
    others = [
        Passage(f"q{number}", text, {"title": text[:40]}, document_id=document)
        for number, text in enumerate([*planted, *planted])
    ]
    alone = _shown_alone(constraint, own, bound=bound)
    return _shown([constraint], own, others, bound=bound) - alone


@cache
def _shown_alone(constraint: str, own: str, *, bound: bool) -> Counter[str]:
    return _shown([constraint], own, bound=bound)


@each_row("constraint, own", CASES)
def test_every_sentence_has_something_to_uncover(constraint, own) -> None:
    """Alone, each loses a word, so that the tests below cannot pass for nothing."""
    assert Counter(_WORD.findall(own)) - _shown([constraint], own)


WAYS = [(document, bound) for document in ("d", "other") for bound in (True, False)]
"""Of the same document or of another, bound with the sentence or met beside it."""


@pytest.mark.parametrize(
    "turn", [0, *(pytest.param(turn, marks=pytest.mark.slow) for turn in (1, 2, 3))]
)
def test_no_planted_passage_uncovers_a_sentence(turn) -> None:
    """Titles, glossaries, capitals, other languages: none takes a word back."""
    for number, (constraint, own) in enumerate(CASES):
        for at, planted in enumerate(PLANTED):
            # Each sentence and each passage meet all ways in turn.
            if (number + at) % 4 != turn:
                continue
            document, bound = WAYS[(number + at + at // 4) % 4]
            shown = _uncovered(constraint, own, [planted], document, bound=bound)
            assert not shown, (own, planted)


@pytest.mark.parametrize("document", ["d", "other"])
@few
@given(case=st.sampled_from(CASES), planted=NEIGHBOURS)
def test_no_neighbour_uncovers_a_sentence(document, case, planted) -> None:
    """Whatever is joined, split, re-cased, reordered or filled up."""
    assert not _uncovered(*case, planted, document)


ARTICLES = load_articles()


@few
@given(data=st.data())
def test_no_neighbour_uncovers_a_sentence_of_an_article(data) -> None:
    """Under all that is understood of the article, beside sentences of any article."""
    article = data.draw(st.sampled_from(ARTICLES))
    parts = _parts(article["article_text"])
    own = data.draw(st.sampled_from(parts))
    other = data.draw(st.sampled_from(ARTICLES))
    planted = data.draw(
        st.lists(st.sampled_from(_parts(other["article_text"])), min_size=1, max_size=6)
    )
    asked = [*article["constraint_to_witness_words"]]
    refused = not_understood(Policy(constraints=asked))
    rules = [rule for n, rule in enumerate(asked, 1) if f"c{n}" not in refused]
    document = data.draw(st.sampled_from(["d", "other"]))
    others = [
        Passage(f"q{number}", text, document_id=document)
        for number, text in enumerate(planted)
    ]

    assert not _shown(rules, own, others) - _shown(rules, own)


def _parts(text: str) -> list[str]:
    return [span.of(text) for span in sentences(text)]


TYPED = ["Remove names of witnesses", "The sums paid are secret", "Hide exact dates"]
SEVERAL = [
    "The witness, Jonathan Meyers, saw a van. Meyers left on 4 May. He got 88500.",
    "World Rope Council (WRC) paid 4,900 euros. Then the WRC fell silent.",
    "brandt came late. otto brandt paid 12 pounds on 3 june",
]


@few
@given(own=st.sampled_from(SEVERAL), planted=NEIGHBOURS)
def test_what_types_hide_in_a_passage_no_neighbour_of_its_document_uncovers(
    own, planted
) -> None:
    """Findings by type are a passage's own, however many sentences it has."""
    others = [
        Passage(f"q{number}", text, document_id="d")
        for number, text in enumerate(planted)
    ]

    assert not _shown(TYPED, own, others) - _shown(TYPED, own)


def test_nothing_bound_elsewhere_decides_what_is_enforced() -> None:
    """More constraints than a model would be asked about: all hold all the same."""
    rules = [f"Hide how much was paid for boat {number}" for number in range(45)]
    rules.append("Remove names of witnesses")
    alone = _shown(rules, "Meyers saw the van turn.")
    others = [
        Passage(f"q{n}", f"Matter {n} was spoken of.", document_id=f"x{n}")
        for n in range(9)
    ]

    assert "Meyers" not in alone
    assert not _shown(rules, "Meyers saw the van turn.", others) - alone
