"""Contradictions: seen by signs or by a judge, and settled as the policy says."""

from __future__ import annotations

from itertools import chain

import pytest

from sdrag.guardrails.contradictions import ContradictionsSection
from sdrag.guardrails.contradictions import check as contradictions
from sdrag.guardrails.contradictions.opposition import find_opposition, read_sentence
from sdrag.vocabulary import Passage

from ..support.tables import read_table


def test_sentences_about_the_same_are_opposed_by_signs():
    """Figures, denials and antonyms; two things are never compared."""
    for reason, pairs in read_table(__file__, "contradictions.toml").items():
        expected = "" if reason == "nothing" else reason
        for left, right in chain(pairs, (pair[::-1] for pair in pairs)):
            found = find_opposition(read_sentence(left), read_sentence(right))
            assert found == expected, (left, right)


OLD = Passage("old", "The fee is 20 pounds.", {"updated": "2020-01-01", "authority": 9})
NEW = Passage("new", "The fee is 30 pounds.", {"updated": "2025-01-01", "authority": 1})


def settled(passages, section):
    metadata = [passage.metadata for passage in passages]
    return contradictions.at_release(passages, section, metadata)


@pytest.mark.parametrize(
    ("section", "kept", "action"),
    [
        ({"strategy": "present"}, ["old", "new"], "flagged"),
        ({"strategy": "review"}, ["old", "new"], "flagged"),
        ({"strategy": "recent"}, ["new"], "dropped"),
        ({"strategy": "authoritative"}, ["old"], "dropped"),
        ({"strategy": "decline"}, [], "withheld"),
    ],
)
def test_each_strategy_settles_a_contradiction(ask, section, kept, action):
    """The source's five ways, none of them silent."""
    held = ask(settled([OLD, NEW], ContradictionsSection(**section)))

    assert [passage.id for passage in held.passages] == kept
    assert action in {decision.action for decision in held.decisions}
    assert bool(held.notices) == (len(kept) == 2)
    assert "pounds" not in repr(held)


def test_a_critical_topic_always_declines(ask):
    """Whatever the strategy, and the decision says so."""
    section = ContradictionsSection(topic_key="topic", critical_topics=("medicine",))
    dosed = [
        Passage("a", "The dose is 5 mg.", {"topic": ["medicine", "heart"]}),
        Passage("b", "The dose is 9 mg.", {}),
    ]

    held = ask(settled(dosed, section))

    assert held.passages == ()
    assert held.decisions[0].reason == "critical"


def test_what_cannot_be_preferred_is_presented(ask):
    """A missing date decides nothing."""
    undated = Passage("undated", "The fee is 40 pounds.")
    section = ContradictionsSection(strategy="recent")

    held = ask(settled([OLD, undated], section))

    assert len(held.passages) == 2
    assert "1 and 2" in held.notices[0].text


def test_a_judge_that_fails_leaves_the_pair_unchecked(ask):
    """Unchecked declines where a contradiction would, and is said where not."""
    failing = ContradictionsSection(method="nli", strategy="decline")

    assert ask(settled([OLD, NEW], failing)).passages == ()

    failing = ContradictionsSection(method="nli")
    (notice,) = ask(settled([OLD, NEW], failing)).notices
    assert "could not be checked: 1 and 2" in notice.text
