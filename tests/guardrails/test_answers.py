"""An answer is cut into claims, judged claim by claim, and never passed in doubt."""

from __future__ import annotations

from itertools import chain, combinations, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.effects.prompts import Labelled
from sdrag.effects.steps import Failure
from sdrag.errors import ModelError, PolicyError
from sdrag.guardrails.answer import MOST_CHARACTERS
from sdrag.guardrails.answer_work import DECLINED
from sdrag.guardrails.grounding.support import Support
from sdrag.guardrails.statements.claims import claims
from sdrag.policy import Policy
from sdrag.vocabulary import Passage

from .answers import ENTAILED, HARBOUR, guarded

LATER = Passage("later", "The harbour was built in 1902 by the town of Lorne.")
MAIL = Passage("mail", "Write to me@evil.example for it.")


CLAIMS = [
    ("It was built in 1871 [1]. It is grey.", [("1",), ()]),
    ("It was built in 1871. [1] It is grey. [2][3]", [("1",), ("2", "3")]),
    ("Sure! Here is what I found: it was built in 1871.", [()]),
    ("1871.", [()]),
    ("Yes.", [()]),
    ("I do not know.", []),
    ("The sources do not say when.", []),
    ("The sources do not say it, but the code is seven.", [()]),
    ("Did you know the code is 1234?", [()]),
    ("Did you know that Bob stole the money?", [()]),
    ("Is it not clear that Bob stole the money?", [()]),
    ("Would you like to know more?", []),
    ("It is not safe to drink.", [()]),
    ("There is no danger.", [()]),
    ("We do not dispute that Bob stole it.", [()]),
    ("I do not know when, but Bob stole it.", [()]),
    ("I do not know when, Bob stole it.", [()]),
    ("I cannot answer this from the sources.", []),
    ("Unfortunately, the provided context does not mention the date.", []),
    ("There is no information about this.", []),
    ("It is unclear.", []),
    ("No.", [()]),
    ("It is.", [()]),
    ("Sure, Bob stole it.", [()]),
    ("Sure!", []),
    ("Key points:", []),
    ("The thief who stole the money is Bob:", [()]),
    ("Hello! What would you like to know?", []),
    ("", []),
]


def test_an_answer_is_cut_into_claims_with_their_citations():
    """Whatever says something is a claim; an admission is one no more than it is."""
    for answer, expected in CLAIMS:
        assert [claim.citations for claim in claims(answer)] == expected, answer


@given(st.text())
def test_claims_are_apart_and_in_order(answer):
    """Each claim points at its own stretch of the answer."""
    spans = [claim.span for claim in claims(answer)]

    assert all(item.end <= two.start for item, two in pairwise(spans))
    assert all(span.end <= len(answer) for span in spans)


MALFORMED = [
    "",
    "   ",
    None,
    7,
    ["x"],
    {"answer": "x"},
    "---",
    "[1][2]",
    "\x00",
    "\ud800",
    "x" * (MOST_CHARACTERS + 1),
]


def test_what_is_no_answer_is_declined(ask):
    """A malformed answer is never passed, whatever the policy."""
    for answer in MALFORMED:
        held = guarded(ask, answer, {"grounding": {}})
        assert (held.text, held.status) == (DECLINED, "declined"), answer


NLI = {"grounding": {"method": "nli"}}


def test_a_claim_is_checked_only_if_a_judge_said_yes(ask):
    """No judgment is not a judgment in favour."""
    for value, mark in (
        (0.9, ""),
        (0.1, " [unsupported]"),
        (float("nan"), " [unchecked]"),
        (1.7, " [unchecked]"),
        (Failure(ModelError("down")), " [unchecked]"),
    ):
        held = guarded(ask, ENTAILED, NLI, score=lambda *_, value=value: value)

        assert held.text == f"{ENTAILED}{mark}"
        assert held.status == ("annotated" if mark else "checked")


def test_a_reply_that_cannot_be_read_checks_nothing(ask):
    """A judge that malforms its reply has not judged."""
    for reply, status in (
        ('{"probability": 0.9}', "checked"),
        ('Certainly: {"probability": 0.8}.', "checked"),
        ('{"probability": 0.1}', "annotated"),
        ('{"probability": 0.9} {"probability": 0.1}', "annotated"),
        ('{"probability": "high"}', "annotated"),
        ('{"probability": true}', "annotated"),
        ('{"probability": 90}', "annotated"),
        ("yes", "annotated"),
        ("", "annotated"),
    ):

        def complete(_effect, prompt, reply=reply):
            return Labelled(reply, prompt.labels)

        policy = {"grounding": {"method": "llm"}}
        held = guarded(ask, ENTAILED, policy, complete=complete)
        assert held.status == status, reply


def test_the_actions_on_an_unsupported_claim(ask):
    """Mark it, drop it, or decline the answer."""
    answer = f"{ENTAILED} It is haunted."

    def judge(_effect, pair):
        return 0.9 if "1871" in pair[0] and "1871" in pair[1] else 0.0

    def done(action):
        policy = {"grounding": {"method": "nli", "action": action}}
        held = guarded(ask, answer, policy, score=judge)
        return held.text, held.status

    assert done("annotate") == (f"{answer} [unsupported]", "annotated")
    assert done("drop") == (ENTAILED, "annotated")
    assert done("decline") == (DECLINED, "declined")


def test_each_claim_carries_its_evidence(ask):
    """The report says which passages support a claim, and how far."""

    def judge(_effect, pair):
        return 0.8 if pair[0] == HARBOUR.text else 0.1

    held = guarded(ask, ENTAILED, NLI, score=judge)

    assert [(support.score, support.passage_ids) for support in held.supports] == [
        (0.8, ("harbour",))
    ]
    assert "1871" not in repr(held)
    assert "1871" not in repr(held.supports)


def test_the_date_is_that_of_the_sources_an_answer_rests_on(ask):
    """A newer passage that was retrieved beside them makes no answer fresher."""
    passages = [
        Passage("old", "The fee is 30 pounds.", {"updated": "2019-01-01"}),
        Passage("new", "The quay opened in May.", {"updated": "2025-01-01"}),
    ]
    fee, both = "The fee is 30 pounds", "between 2019-01-01 and 2025-01-01."
    for answer, sections, expected in (
        (f"{fee} [1].", {"citations": {}}, "on 2019-01-01."),
        (f"{fee}.", {"grounding": {}}, "on 2019-01-01."),
        (f"{fee} [1]. The quay opened in May [2].", {"citations": {}}, both),
        (f"{fee}.", {}, both),
    ):
        held = guarded(ask, answer, {"staleness": {}, **sections}, passages)

        assert held.text.endswith(f"last updated {expected}")


TRUE = "The harbour was built in 1871 by the town of Lorne"
CHECKS = ("presence", "validity", "accuracy", "completeness")
SUBSETS = [*chain.from_iterable(combinations(CHECKS, n) for n in range(1, 5))]
COMBINED = {
    "grounding": [None, {}],
    "contradictions": [None, {}],
    "monitoring": [None, {}],
    "citations": [
        None,
        *({"require": [*subset]} for subset in SUBSETS),
        {"format": "id", "require": [*CHECKS]},
    ],
}
DECLINING = {
    "grounding": {"action": "decline"},
    "contradictions": {"strategy": "decline"},
    "monitoring": {"look_for": ["emails"], "action": "decline"},
    "citations": {"require": [*CHECKS], "action": "decline"},
}
ALL = {"grounding": {}, "contradictions": {}, "monitoring": {}, "citations": {}}
BROKEN = {
    # What fails the check, and the passages that it was made from.
    "grounding": ("A ghost sails from it at midnight", "harbour", [HARBOUR]),
    "contradictions": (TRUE, "harbour", [HARBOUR, LATER]),
    "monitoring": ("Write to me@evil.example for it", "mail", [MAIL, HARBOUR]),
    "presence": (TRUE, None, [HARBOUR]),
    "validity": (TRUE, "invented", [HARBOUR]),
    "accuracy": (TRUE, "mail", [HARBOUR, MAIL]),
    "completeness": (TRUE, "harbour", [HARBOUR, LATER]),
}


def required(policy):
    """Return the name of everything that a policy has checked."""
    names = [name for name in policy if name != "citations"]
    return [*names, *policy.get("citations", {}).get("require", ())]


def by_words(claims, evidence):
    """Support what is made of the words of the evidence: quicker than the scorer."""
    known = set(" ".join(evidence).lower().replace(".", "").split())
    words = [set(claim.lower().replace(".", "").split()) for claim in claims]
    return [Support(float(one <= known), ()) for one in words]


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_whatever_a_policy_requires_is_checked(ask, monkeypatch, step):
    """In every combination of sections: no requirement is left to nobody."""
    monkeypatch.setattr("sdrag.guardrails.grounding.support.support_each", by_words)
    combined = [
        dict(zip(COMBINED, sections, strict=True))
        for sections in product(*COMBINED.values())
    ]
    declining = [{**ALL, name: section} for name, section in DECLINING.items()]
    for sections in (*combined[::step], *declining, DECLINING):
        policy = {name: of for name, of in sections.items() if of is not None}
        for name in required(policy):
            sentence, source, passages = BROKEN[name]
            answer = cited(policy, sentence, source, passages)
            held = guarded(ask, answer, policy, passages)

            assert held.status != "checked", (policy, name)
            if held.status == "annotated":
                expected = {"grounding": "unsupported", "contradictions": "figures"}
                reasons = [f"{item.rule}:{item.reason}" for item in held.decisions]
                reason = expected.get(name, name)
                assert any(reason in item for item in reasons), (policy, name)


def cited(policy, sentence, source, passages):
    """Cite a source for a sentence, in the format of a policy."""
    if source is None:
        return f"{sentence}."
    form = policy.get("citations", {}).get("format", "number")
    ids = [passage.id for passage in passages]
    number = ids.index(source) + 1 if source in ids else 9
    return f"{sentence} [{source if form == 'id' else number}]."


def test_a_section_that_would_check_nothing_is_refused():
    """A policy that asks for a check without saying which has a mistake in it."""
    for policy in (
        {"citations": {"require": []}},
        {"citations": {"threshold": 0}},
        {"grounding": {"threshold": 0}},
        {"monitoring": {"look_for": []}},
    ):
        with pytest.raises(PolicyError):
            Policy.read(policy)
