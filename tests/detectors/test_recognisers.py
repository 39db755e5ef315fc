"""Recognisers are a table: listed, switched off by name, and joined by a user's own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import get_args

import pytest

from sdrag import Options
from sdrag.detectors import detector_identity
from sdrag.detectors.local import LocalDetector, mentions
from sdrag.detectors.local.patterns import FAMILIES
from sdrag.detectors.local.plain_text import plain_text
from sdrag.detectors.local.recognisers import RECOGNISERS, Reading
from sdrag.detectors.local.tokens import anchors, tokenize
from sdrag.detectors.models import UnionDetector
from sdrag.effects.steps import Reply
from sdrag.errors import ConstraintNotUnderstoodError, PolicyError
from sdrag.pipeline import Engine, Request, disclose
from sdrag.policy import Policy
from sdrag.policy.sections import RecogniserName
from sdrag.studio.authoring.understood_as import kinds_of_mentions
from sdrag.text.cells import read_cells
from sdrag.vocabulary import Mention, Passage, Span

from .test_marked import TABLES, read

CALL = "Ring 020 7946 0018, or write to ann.lee@corp.example."
PHONES = ("phone-numbers", "long-numbers", "fields", "cells")


@dataclass(frozen=True)
class Finder:
    """A detector of the application's own."""

    type: str
    pattern: str
    finds: tuple[str, ...] = ()

    def detect(self, texts):
        yield from ()
        return [Reply(tuple(self.find(text))) for text in texts]

    def find(self, text):
        for match in re.finditer(self.pattern, text):
            yield Mention(Span(*match.span()), self.type)


BERTH = Finder("CODE", "quay [a-z]+ pier", ("CODE",))


def test_the_policy_knows_every_row_and_every_family_is_in_one():
    """A row that no policy could name could not be switched off."""
    names = [recogniser.name for recogniser in RECOGNISERS]

    assert sorted(names) == sorted(get_args(RecogniserName))
    assert {family.recogniser for family in FAMILIES} <= {*names}


def test_what_a_row_finds_is_of_its_types():
    """On every marked text and every sentence that `sdrag check` tries."""
    cases = [
        case
        for tables in TABLES.values()
        for table in tables
        for case in table["cases"]
    ]
    texts = [read(case)[0] for case in cases]
    texts += [phrase for kind in kinds_of_mentions() for phrase in kind.phrases]
    for text in texts:
        plain = plain_text(text).text
        tokens = tokenize(plain)
        reading = Reading(plain, tokens, anchors(tokens), [], read_cells(plain))
        for recogniser in RECOGNISERS:
            found = list(recogniser.find(reading))
            reading.found.extend(found)
            assert {each.type for each in found} <= recogniser.types, recogniser.name


def test_a_row_that_is_off_finds_nothing_and_the_others_what_they_did():
    """Whoever asks in whatever order: it is an argument, and nothing that stays."""
    before = {mention for mention in mentions(CALL) if mention.type == "EMAIL_ADDRESS"}

    without = {mention.type for mention in mentions(CALL, ("mail-addresses",))}

    assert "EMAIL_ADDRESS" not in without
    assert "PHONE_NUMBER" in without
    assert before <= {*mentions(CALL)}


def released(policy, state, detector=None, text=CALL):
    engine = Engine(policy, state=state, options=Options(detector=detector))
    steps = disclose([Passage("p", text, document_id="d")], Request("q"), engine)
    (passage,) = engine.run(steps)[0].passages
    return passage.text


def switched(*names, **sections):
    return {
        "constraints": ["Remove telephone numbers", "Remove e-mail addresses"],
        "disclosure": {"recognisers_off": list(names)},
        **sections,
    }


def test_what_was_located_without_a_recogniser_is_located_anew_with_it(tmp_path):
    """The name of the detector, under which findings are kept, has the switch."""
    state = tmp_path / "sdrag.sqlite"

    without = released(switched("mail-addresses", "domains", "fields"), state)
    with_all = released(switched(), state)

    assert "ann.lee" in without
    assert "7946" not in without
    assert "ann.lee" not in with_all
    detectors = [LocalDetector(off=off) for off in ((), ("links",), ("terms",))]
    assert len({*map(detector_identity, detectors)}) == 3
    assert detector_identity(LocalDetector(off=("terms", "links"))) == (
        detector_identity(LocalDetector(off=("links", "terms", "links")))
    )


def test_a_constraint_that_nothing_finds_is_refused():
    """Its author would read it in the policy, and nothing would be hidden."""
    with pytest.raises(ConstraintNotUnderstoodError) as raised:
        Engine(switched(*PHONES))

    assert list(raised.value.reasons) == ["c1"]
    assert "phone-numbers" in raised.value.reasons["c1"]
    closed = switched(*PHONES, when_not_understood="withhold")
    engine = Engine(closed)
    steps = disclose([Passage("p", "It rained.")], Request("q"), engine)
    assert not engine.run(steps)[0].passages


def test_a_detector_of_the_application_may_take_its_place():
    """If it says that it finds the type; one that says nothing may find none."""
    own = Finder("PHONE_NUMBER", r"\d{3} \d{4} \d{4}", ("PHONE_NUMBER",))

    assert "7946" not in released(switched(*PHONES), None, own)
    assert "7946" not in released(switched(*PHONES), None, UnionDetector((own, BERTH)))
    with pytest.raises(ConstraintNotUnderstoodError):
        released(switched(*PHONES), None, BERTH)


def test_a_detector_of_the_application_is_unioned():
    """It adds what it finds, and takes nothing of the others away."""
    text = "Crates at quay kestrel pier; the key is AB-1234-567."

    shown = released({"constraints": ["Remove all codes"]}, None, BERTH, text)

    assert "kestrel" not in shown
    assert "1234" not in shown
    assert "Crates" in shown


def test_an_unknown_name_is_no_policy():
    """A typing error leaves no recogniser on that its author switched off."""
    with pytest.raises(PolicyError, match="recognisers_off"):
        Policy.read(switched("telephones"))
