"""A keep opens what it spells out under its constraint, and nothing else."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag import Policy, PolicyError
from sdrag.disclosure import keep
from sdrag.disclosure.keep import apply_keeps
from sdrag.pipeline import Engine, Request, disclose
from sdrag.state import State, open_state
from sdrag.text.folding import fold
from sdrag.vocabulary import Finding, Passage, Span

from ..support.properties import few

Keep = str | dict[str, Any]
LETTER = (
    "Date: 3 March 2020. Patient: Jane Doe. DOB: 4 May 1984. She came to Ward 7 under"
    " Dr Anna Ellery, and got a final written warning about the Ward 7 keys. Write to"
    " jane@example.org or call 020 7946 0018."
)
WORD = re.compile(r"\w+")
NEAR_BIRTH = {"type": "DATE", "unless_near": ["born", "DOB"]}


def release(
    texts: Sequence[str] | str,
    *constraints: str | dict[str, Any],
    state: State | None = None,
    **policy: Any,
) -> str:
    listed = [texts] if isinstance(texts, str) else texts
    source = {"constraints": list(constraints), **policy}
    engine = Engine(source, state=state)
    passages = [
        Passage(f"p{number}", text, document_id="letter")
        for number, text in enumerate(listed)
    ]
    shown, _ = engine.run(disclose(passages, Request(""), engine))
    return "\n".join(passage.text for passage in shown.passages)


def names(*keep: Keep) -> dict[str, Any]:
    return {"text": "Remove names of people and places", "keep": list(keep)}


def dates(*keep: Keep) -> dict[str, Any]:
    return {"text": "Hide all dates", "keep": list(keep)}


STAYS: list[tuple[str, dict[str, Any], list[str], list[str]]] = [
    (LETTER, names(), [], ["Ward 7", "Jane Doe", "Ellery"]),
    (LETTER, names("ward  7"), ["Ward 7"], ["Jane Doe", "Ellery"]),
    (LETTER, names({"pattern": r"Ward \d"}), ["Ward 7"], ["Jane Doe", "Ellery"]),
    (LETTER, names("Anna Ellery"), ["Anna Ellery"], ["Jane Doe"]),
    (LETTER, names("Doe"), [], ["Doe", "Ellery"]),  # a part of a name opens nothing
    (LETTER, names({"pattern": "[A-Z]llery|Elle"}), [], ["Ellery"]),
    (LETTER, dates(), [], ["3 March 2020", "4 May 1984"]),
    (LETTER, dates(NEAR_BIRTH), ["3 March 2020"], ["1984"]),
    (
        "Date of birth:\n4 May 1984\n\nSeen on 3 March 2020.",
        dates({"type": "DATE", "unless_near": ["birth"]}),
        ["3 March 2020"],
        ["1984"],
    ),
    (
        "name | DOB | seen\nLee | 4 May 1984 | yes\nKim | 3 June 1991 | no",
        dates({"type": "DATE", "unless_near": ["DOB"]}),
        [],
        ["1984", "1991"],
    ),
    (
        "He got a final written warning about Ward 7 keys and was suspended.",
        {"text": "Remove disciplinary records", "keep": ["Ward 7"]},
        ["Ward 7"],
        ["final written warning"],
    ),
]


@pytest.mark.parametrize(("text", "constraint", "shown", "hidden"), STAYS)
def test_what_is_spelled_out_stays_and_all_else_goes(
    text: str, constraint: dict[str, Any], shown: list[str], hidden: list[str]
) -> None:
    released = release(text, constraint)
    assert [words for words in shown if words not in released] == []
    assert [words for words in hidden if words in released] == []


ANYTHING: list[Keep] = [{"pattern": r"\S+(\s+\S+)*"}, {"pattern": r"[\w@. +-]+"}]


def test_structured_identifiers_names_of_the_constraint_and_encoded_text_stay_hidden():
    """Not even a pattern that matches everything opens them."""
    packed = base64.b64encode(b"Jane Doe was admitted with pneumonia").decode()
    contact = {"text": "Remove contact details", "keep": ANYTHING}
    named = {"text": "Do not mention ACME Corp", "keep": [*ANYTHING, "ACME Corp"]}
    assert "example.org" not in release(LETTER, contact)
    assert "7946" not in release(LETTER, contact)
    assert "ACME" not in release("They sued ACME Corp in May.", named)
    assert packed not in release(f"Note: {packed}", names(*ANYTHING))


def test_another_constraint_and_what_the_document_registers_stay_hidden() -> None:
    both = release(LETTER, names("Anna Ellery"), "Do not mention Anna Ellery")
    assert "Ellery" not in both
    texts = ["Tom Ward was seen at home.", "He came back to Ward 7 later."]
    assert "Ward" not in release(texts, names("Ward 7"))


def test_a_keep_for_the_whole_policy_holds_under_every_constraint() -> None:
    sentences = ["Remove names of people and places", "Remove disciplinary records"]
    assert release(LETTER, *sentences).count("Ward 7") == 0
    assert release(LETTER, *sentences, keep="Ward 7").count("Ward 7") == 2


def test_a_text_is_read_anew_when_its_keeps_change() -> None:
    state = open_state(None)
    assert "Ward 7" not in release(LETTER, names(), state=state)
    assert "Ward 7" in release(LETTER, names("Ward 7"), state=state)
    assert "Ward 7" not in release(LETTER, names("Ward 9"), state=state)


def test_half_a_character_keeps_nothing_from_being_read() -> None:
    assert release("Jane Doe \ud800 came to Ward 7.", names("Ward 7")).endswith(
        "came to Ward 7."
    )


def test_each_sentence_is_searched_once_for_what_is_near() -> None:
    """However many mentions it has: a text may be one sentence."""
    text = " ".join(["3 May 1984,"] * 300)
    rule = Policy.read({"constraints": [dates(NEAR_BIRTH)]}).rules[0]
    findings = [
        Finding(Span(*match.span()), rule.id, "type", 1.0, "DATE")
        for match in re.finditer(r"3 May 1984", text)
    ]
    with mock.patch.object(keep, "fold", wraps=fold) as folded:
        assert apply_keeps(text, findings, rule) == []
    assert folded.call_count == 1


@few
@given(st.lists(st.sampled_from(WORD.findall(LETTER)), min_size=1, max_size=4))
def test_a_keep_opens_no_word_that_it_does_not_spell(words: list[str]) -> None:
    bare = release(LETTER, names(), dates())
    kept = release(LETTER, names(*words), dates(" ".join(words)))
    opened = set(WORD.findall(kept)) - set(WORD.findall(bare))
    spelled = {word.lower() for word in words}
    if {"anna", "ellery"} <= spelled:
        spelled.add("dr")  # the title of a name that stays whole is no secret
    assert {word.lower() for word in opened} <= spelled


@pytest.mark.parametrize(
    "keep",
    [
        {"pattern": "(secret"},
        {"pattern": "(?=secret)"},
        {"pattern": "secret\ud800"},
        {"type": "EMAIL_ADDRESS"},
        {"words": "secret", "type": "DATE"},
        {"words": "secret", "unless_near": ["born"]},
        "--",
        {},
    ],
)
def test_a_keep_that_says_nothing_or_too_much_is_refused(keep: Keep) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.read({"constraints": [names(keep)]})
    assert "secret" not in f"{caught.value!r} {caught.value}"
