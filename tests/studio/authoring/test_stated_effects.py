"""What `sdrag check` states of a sentence is what is then hidden in a text."""

from __future__ import annotations

import re

import pytest

from sdrag.disclosure.constraint_parser import parse
from sdrag.explanation.explain import Explainer
from sdrag.policy import Policy
from sdrag.studio.authoring.trial import opened_by, try_constraint
from sdrag.studio.authoring.understood_as import (
    describe,
    effects_of,
    kinds_of_mentions,
    limits_of,
    reword,
    warnings_of,
)
from sdrag.text.sentences import sentences
from sdrag.text.spans import SpanUnion
from sdrag.vocabulary import Constraint, Span

NONE = "none of the sentences that are tried"
"""Of these the networks find nothing, which `check` must say."""

# The sentence, and a text: what is in braces must go, and sentences without braces must
# stay.
WORDINGS = [
    (
        "Keep patients' diagnoses and the drugs they take out of every answer.",
        "He was diagnosed with {asthma} and takes {salbutamol}. The visit was short.",
    ),
    (
        "The whistleblower's identity is off limits, whoever asks.",
        "{Maria Lindqvist} rang from {020 7946 0018}. The lift was out of order.",
    ),
    (
        "Don't give out staff home addresses or private mobile numbers.",
        "She wore blue. Her mobile is {07700 900123}. She lives at {12 Mill Lane}.",
    ),
    (
        "Nothing about ongoing disciplinary proceedings.",
        "He got a {final written warning}. The canteen opens on Monday.",
    ),
    (
        "Any advice from counsel, and their view of our prospects, is privileged.",
        "Counsel thinks that we are likely to {lose}. It cost {£12,500}. He is late.",
    ),
    (
        "Strip out NHS numbers, hospital numbers and dates of birth.",
        "NHS number {943 476 5919}. Born on {3 March 1974}. Seen on 14 October 2024.",
    ),
    (
        "Passwords, API keys and tokens have no place in an answer.",
        "The password is {hunter2x}. The office is in Leeds.",
    ),
    (
        "Do not say that Dr Okafor was suspended.",
        "Dr Okafor was {suspended}. The car park is closed.",
    ),
    (
        "Remove anything that could identify a complainant.",
        "{Maria Lindqvist} is {34} and an {electrician}.",
    ),
    ("Don't disclose safeguarding referrals.", NONE),
    (
        "Which hospital the patient was treated in, and the ward.",
        "My aunt lives in {Norway}. The boat is red.",
    ),
    (
        "Hide ages and nationalities of asylum seekers.",
        "The judge is {52 years old} and {Polish}. The boat is red.",
    ),
    (
        "Do not mention Novaris Pharma or Elena Brandt.",
        "Mrs {Brandt} left {Novaris}. Tom Hale stayed with Bayer.",
    ),
    (
        "Pregnancies and fertility treatment of members of staff",
        "They are having {IVF}. The boat is red.",
    ),
]


@pytest.mark.parametrize(("wording", "text"), WORDINGS, ids=[w for w, _ in WORDINGS])
def test_what_is_stated_is_what_is_hidden(wording, text):
    """Kinds that are said to go everywhere do, and what is shown as tried was tried."""
    policy = Policy.read([wording])
    parsed, explainer = parse(policy.rules[0]), Explainer(policy)
    trial, stated = try_constraint(parsed, policy), " ".join(effects_of(parsed))
    kinds = [kind for kind in kinds_of_mentions() if kind.types & parsed.everywhere]

    assert all(kind.name in stated for kind in kinds if not parsed.identifying)
    for kind in kinds:
        looks = (look(phrase, explainer) for phrase in kind.phrases)
        assert any(hidden.overlaps(word) for _, (word, *_), hidden in looks), kind.name
    for words, sentence in (*trial.hides, *trial.beyond):
        (hidden,) = explainer.explain([sentence])
        assert tuple(s.span.of(sentence) for s in hidden.spans) == words
    assert not any(each.spans for each in explainer.explain([trial.stays]))
    assert bool(trial.hides) == (text is not NONE)
    if text is NONE:
        assert trial.few
    else:
        check_text(text, explainer)


def check_text(text: str, explainer: Explainer) -> None:
    """What is in braces is hidden, and sentences without braces are not."""
    plain, braced, hidden = look(text, explainer)
    assert [span.of(plain) for span in braced if not hidden.contains(span)] == []
    for part in sentences(plain):
        if not any(part.overlaps(span) for span in braced):
            assert not hidden.overlaps(part), part.of(plain)


def look(text: str, explainer: Explainer) -> tuple[str, list[Span], SpanUnion]:
    """Return a text without its braces, what was in them, and what is hidden."""
    pieces = re.split(r"[{}]", text)
    ends = [sum(map(len, pieces[:n])) for n in range(len(pieces) + 1)]
    braced = [Span(*ends[n : n + 2]) for n in range(1, len(pieces), 2)]
    (explanation,) = explainer.explain(["".join(pieces)])
    hidden = SpanUnion(each.span for each in explanation.spans)
    return "".join(pieces), braced, hidden


REFUSED = {
    "Only the verdict may be disclosed": "Remove names of people",
    "Nur das Urteil darf genannt werden": "Remove names of people",
    "Remove nams of witneses": "Remove names of witnesses",
    "See the policy on records": "Remove names of people",
    "Hide the Vertraulichkeit of Kunden": 'Hide "the Vertraulichkeit of Kunden"',
}


@pytest.mark.parametrize(("wording", "proposed"), REFUSED.items())
def test_a_refused_sentence_is_said_in_other_words(wording, proposed):
    """What is proposed was parsed, and is as near as can be."""
    parsed = parse(Constraint("c1", wording))

    assert parsed.status == "needs_model"
    assert reword(parsed) == proposed
    assert parse(Constraint("c1", proposed)).status == "understood"


def test_a_word_is_quoted_and_not_counted():
    """The author need not count to the fourth word."""
    policy = Policy.read(["Please remove the nams"])

    described = describe(parse(policy.rules[0]), policy, has_model=False)

    assert "“nams” is in no dictionary." in described.warnings


def test_limits_and_keeps_are_said_in_words():
    """Where, for whom not, how, and what stays; and what a keep of the policy opens."""
    limited = {
        "text": "Remove names of people and places",
        "where": {"ward": ["north", "south"]},
        "unless": [{"roles": ["clerk"]}, {"level": 3, "roles": "nurse"}],
        "method": "withhold",
        "sensitivity": "high",
        "keep": ["Ward 7", {"type": "DATE", "unless_near": "born"}],
    }
    keeps = ["Leeds", {"type": "DATE"}, {"pattern": "Bed [0-9]+"}]
    policy = Policy.read({"constraints": [limited, "Hide dates"], "keep": keeps})

    assert limits_of(policy.rules[0])[:6] == (
        "withholds a passage in which it finds something",
        "only where ward is north or south, or where that is missing",
        "not for whoever has roles: clerk",
        "not for whoever has level: 3 and roles: nurse",
        "with sensitivity high",
        "lets stay “Ward 7”",
    )
    assert "lets stay dates that are not near “born”" in limits_of(policy.rules[0])
    opened = [opened_by(each.keep(), policy) for each in policy.keep]
    assert opened == [["c1"], ["c2"], ["c1", "c2"]]


def test_people_are_no_narrower_than_anybody():
    """There is nothing to warn of."""
    assert not [*warnings_of(parse(Constraint("c1", "Remove names of people")))]
