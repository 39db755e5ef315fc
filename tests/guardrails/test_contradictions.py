"""Contradictions: seen by signs or by a judge, and settled as the policy says."""

from __future__ import annotations

import pytest

from sdrag.guardrails import contradictions
from sdrag.guardrails.opposition import find_opposition, read_sentence
from sdrag.policy import ContradictionsSection
from sdrag.vocabulary import Passage


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        ("The dose is 5 mg daily.", "The dose is 10 mg daily.", "figures"),
        ("The mayor talks on 3 March.", "The mayor talks on 3 April.", "figures"),
        (
            "Dogs are allowed on the ferry.",
            "Dogs are not allowed on the ferry.",
            "negation",
        ),
        ("The museum is open today.", "The museum is closed today.", "antonym"),
        ("The gate is open.", "The gate is closed.", "antonym"),
        ("Sales rose by 5 percent.", "Sales fell by 5 percent.", "antonym"),
        ("Take two tablets at noon.", "Take eight tablets at noon.", "figures"),
        ("Dr Grant works in the unit.", "Dr Hale works in the unit.", ""),
        ("Dr Grant heads the unit.", "Dr Hale heads the ward.", ""),
        ("The boat fee is 20 pounds.", "The car fee is 30 pounds.", ""),
        ("The fee is 20 pounds for a boat.", "The fee is 30 pounds for a car.", ""),
        ("The north gate is open.", "The south gate is closed.", ""),
        ("The ferry takes 40 minutes.", "The ferry takes 40 cars.", ""),
        ("The shop is closed on Mondays.", "The shop is not open on Mondays.", ""),
        ("The dose is 5 mg daily.", "The dose is 5 mg daily, at noon.", ""),
        ("The dose is 5 mg daily.", "The train has 10 coaches.", ""),
        ("Profits were 1,000 pounds.", "Profits were 1000 pounds.", ""),
        ("In 2023 the fee was 20 pounds.", "In 2024 the fee was 30 pounds.", ""),
        ("The fee was 20 pounds in 2023.", "The fee was 30 pounds in 2024.", ""),
        ("In 2023 the fee was 20 pounds.", "The fee was 30 pounds in 2024.", ""),
        ("In 2023 the fee was 20 pounds.", "In 2023 the fee was 30 pounds.", "figures"),
        ("The fee was 20 pounds in 2023.", "The fee was 20 pounds in 2024.", ""),
        (
            "In 2023 dogs were allowed.",
            "In 2024 dogs were not allowed.",
            "",
        ),
        (
            "On Mondays it closes at 17:00.",
            "On Tuesdays it closes at 19:00.",
            "",
        ),
        (
            "The quay was built in 1871.",
            "The quay was built in 1902.",
            "figures",
        ),
        ("In May the quay was open.", "In June the quay was closed.", ""),
        ("In May the quay was open.", "In May the quay was closed.", "antonym"),
        ("Dr Grant headed the unit in 2019.", "Dr Hale headed the unit in 2024.", ""),
        ("From 1 May 2023 the dose is 5 mg.", "From 1 May 2024 the dose is 10 mg.", ""),
        (
            "The budget is $1.2m for the year.",
            "The budget is 1,200,000 dollars for the year.",
            "",
        ),
        ("Sales were 5 million in March.", "Sales were 7 million in April.", ""),
    ],
)
def test_sentences_about_the_same_are_opposed_by_signs(left, right, reason):
    """Figures, denials and antonyms; two things are never compared."""
    assert find_opposition(read_sentence(left), read_sentence(right)) == reason
    assert find_opposition(read_sentence(right), read_sentence(left)) == reason


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
