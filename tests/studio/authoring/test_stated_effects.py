"""What `sdrag check` states of a sentence is what is then hidden in a text."""

from __future__ import annotations

import re

import pytest

import sdrag
from sdrag.disclosure.constraint_parser import parse
from sdrag.policy import Policy
from sdrag.studio.authoring.trial import opened_by, try_constraint
from sdrag.studio.authoring.understood_as import (
    describe,
    effects_of,
    limits_of,
    reworded,
    warnings_of,
)
from sdrag.text.sentences import sentences
from sdrag.text.spans import SpanUnion
from sdrag.vocabulary import Constraint, Span

NONE = "none of the sentences that are tried"
"""Of these the networks find nothing, which `check` must say."""

# The sentence, what is stated, and a text: what is in braces must go, and sentences
# without braces must stay.
WORDINGS = [
    (
        "Keep patients' diagnoses and the drugs they take out of every answer.",
        "illnesses and treatments, wherever they are",
        "He was diagnosed with {asthma} and takes {salbutamol}. The visit was short.",
    ),
    (
        "The whistleblower's identity is off limits, whoever asks.",
        "people's names, telephone numbers and e-mail addresses, wherever they are",
        "{Maria Lindqvist} rang from {020 7946 0018}. The lift was out of order.",
    ),
    (
        "Don't give out staff home addresses or private mobile numbers.",
        "telephone numbers, addresses and postcodes go, whether of “staff” or not",
        "She wore blue. Her mobile is {07700 900123}. She lives at {12 Mill Lane}.",
    ),
    (
        "Nothing about ongoing disciplinary proceedings.",
        "what tells of “disciplinary record”",
        "He got a {final written warning}. The canteen opens on Monday.",
    ),
    (
        "Any advice from counsel, and their view of our prospects, is privileged.",
        "sums of money go, whether of “privilege” or not",
        "Counsel thinks that we are likely to {lose}. It cost {£12,500}. He is late.",
    ),
    (
        "Settlement figures must never be disclosed to the other side.",
        "sums of money go, whether of “settlement” or not",
        "The roof cost {£12,500}. Tom Hale paid by bank transfer.",
    ),
    (
        "Strip out NHS numbers, hospital numbers and dates of birth.",
        "dates only near words such as",
        "NHS number {943 476 5919}. Born on {3 March 1974}. Seen on 14 October 2024.",
    ),
    (
        "Please do not reveal what any employee is paid.",
        "sums of money go, whether of “employee” or not",
        "She earns {£41,500}. The new boiler was {£9,300}. It was fitted in May.",
    ),
    (
        "Redact the names of minors.",
        "people's names go, whether of “minors” or not",
        "{Maria Lindqvist} is the head teacher. She met the boy's mother on Tuesday.",
    ),
    (
        "HIV status and sexual health records are strictly confidential.",
        "what tells of “sexual health”",
        "She was treated for {chlamydia}. The bus left at noon.",
    ),
    (
        "Nobody should learn how the intruders got past the badge reader.",
        "codes go, whether of “compromise” or not",
        "They left a {backdoor} on the server. Case {QX-2291-B}. Lunch is late.",
    ),
    (
        "Passwords, API keys and tokens have no place in an answer.",
        "codes and passwords, wherever they are",
        "The password is {hunter2x}. The office is in Leeds.",
    ),
    (
        "Withhold everything on the Larkfield acquisition.",
        "sums of money go, whether of “deals” or not",
        "Lunch cost {£18}. The boy is allergic to peanuts.",
    ),
    (
        "Do not say that Dr Okafor was suspended.",
        "what says that “Dr Okafor was suspended”",
        "Dr Okafor was {suspended}. The car park is closed.",
    ),
    (
        "The amounts we offered in mediation and when.",
        "sums of money, wherever they are",
        "We offered {£40,000}. The rent is {£900}. Tom Hale rang.",
    ),
    (
        "Bank details of suppliers and donors.",
        "go, whether of “suppliers” or “donors” or not",
        "My sister's account is {GB29 NWBK 6016 1331 9268 19}. She rang on Tuesday.",
    ),
    (
        "Remove anything that could identify a complainant.",
        "whatever may tell who somebody is",
        "{Maria Lindqvist} is {34} and an {electrician}.",
    ),
    (
        "Next of kin and their phone numbers.",
        "e-mail addresses go, whether of “next of kin” or not",
        "The plumber is at {fix@example.org} or {020 7946 0018}. The tap drips.",
    ),
    (
        "Mental health history, including self-harm and overdoses.",
        "what tells of “mental health”",
        "He suffers from {depression}. The train was late.",
    ),
    (
        "Trade union membership and political opinions",
        "“union”",
        "He is a {shop steward}. The boat is red.",
    ),
    ("Don't disclose safeguarding referrals.", "“safeguarding”", NONE),
    (
        "IP addresses, host names and open vulnerabilities of the network.",
        "codes and network addresses, wherever they are",
        "The printer is at {10.20.0.7}. Lunch is late.",
    ),
    (
        "Which hospital the patient was treated in, and the ward.",
        "addresses, places, organisations and treatments, wherever they are",
        "My aunt lives in {Norway}. The boat is red.",
    ),
    (
        "Hide ages and nationalities of asylum seekers.",
        "ages and nationalities go, whether of “seekers” or not",
        "The judge is {52 years old} and {Polish}. The boat is red.",
    ),
    (
        "Internal price lists, margins and discounts given to customers.",
        "sums of money go, whether of “prices” or not",
        "He paid a fine of {£60}. The boat is red.",
    ),
    (
        "Do not mention Novaris Pharma or Elena Brandt.",
        "“Novaris Pharma” and “Elena Brandt”, in every form",
        "Mrs {Brandt} left {Novaris}. Tom Hale stayed with Bayer.",
    ),
    (
        "Reasons for dismissal of former employees",
        "what tells of “leaving”",
        "He was {dismissed for lying}. The boat is red.",
    ),
    (
        "Pregnancies and fertility treatment of members of staff",
        "what tells of “pregnancy”",
        "They are having {IVF}. The boat is red.",
    ),
    (
        "Dates and places of the covert meetings.",
        "dates, addresses, postcodes and places go, whether of “meetings” or not",
        "The roof was mended on {14 October 2024} in {Durham}. Tom Hale rang.",
    ),
    (
        "E-mail addresses and usernames.",
        "people's names, codes, e-mail addresses, user names",
        "{Tom Hale} wrote to {m.lind@example.org}. The boat is red.",
    ),
]


@pytest.mark.parametrize(
    ("wording", "stated", "text"), WORDINGS, ids=[row[0] for row in WORDINGS]
)
def test_what_is_stated_is_what_is_hidden(wording, stated, text):
    """In a text written for it, and in the sentences that are shown as tried."""
    policy = Policy.read([wording])
    parsed = parse(policy.rules[0])
    trial = try_constraint(parsed, policy)

    assert stated in "\n".join([*effects_of(parsed), *warnings_of(parsed)])
    for words, sentence in trial.hides:
        hidden = sdrag.explain(sentence, [wording])
        assert tuple(s.span.of(sentence) for s in hidden.spans) == words
    assert not sdrag.explain(trial.stays, [wording]).spans
    if text is NONE:
        assert trial.few
        assert not trial.hides
    else:
        assert trial.hides
        check_text(text, wording)


def check_text(text, wording):
    pieces = re.split(r"[{}]", text)
    plain = "".join(pieces)
    ends = [sum(map(len, pieces[:n])) for n in range(len(pieces) + 1)]
    braced = [Span(*ends[n : n + 2]) for n in range(1, len(pieces), 2)]
    hidden = SpanUnion(each.span for each in sdrag.explain(plain, [wording]).spans)
    shown = [span.of(plain) for span in braced if not hidden.contains(span)]
    assert not shown
    for part in sentences(plain):
        if not any(part.overlaps(span) for span in braced):
            assert not hidden.overlaps(part), part.of(plain)


REFUSED = {
    "Only the verdict may be disclosed": "Remove names of people",
    "Nur das Urteil darf genannt werden": "Remove names of people",
    "Hide all dates except the date of the trial": "Hide all dates",
    "Remove nams of witneses": "Remove names of witnesses",
    "See the policy on records": "Remove names of people",
    "The risk appetite": "Hide the risk appetite",
    "Hide the Vertraulichkeit of Kunden": 'Hide "the Vertraulichkeit of Kunden"',
}


@pytest.mark.parametrize(("wording", "proposed"), REFUSED.items())
def test_a_refused_sentence_is_said_in_other_words(wording, proposed):
    """What is proposed was parsed, and is as near as can be."""
    parsed = parse(Constraint("c1", wording))

    assert parsed.status == "needs_model"
    assert reworded(parsed) == proposed
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
