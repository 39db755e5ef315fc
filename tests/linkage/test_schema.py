"""Types, weights and roles: Table 4.1, and those of another domain."""

from __future__ import annotations

import pytest

from sdrag.detectors.local import LocalDetector
from sdrag.errors import PolicyError, UsageError
from sdrag.linkage import assess, fit
from sdrag.linkage.schema import read_settings
from sdrag.policy.sections import ROLES, WEIGHTS
from sdrag.vocabulary import Mention, Passage, Span

SCHOOL = {
    "weights": {"pupil": 1.0, "PUPIL_NUMBER": 0.9, "VISIT": 0.8, "HOBBY": 0.7},
    "roles": {"pupil": "name", "PUPIL_NUMBER": "number", "VISIT": "date"},
}
WRITTEN_TWICE = [
    ("PUPIL", "Idris Fennimore", "Fennimore, I."),
    ("PUPIL_NUMBER", "KX 20-4417", "KX-204417"),
    ("VISIT", "12 April 2019", "12/04/19"),
    ("HOBBY", "races pigeons on Sundays", "on Sundays races pigeons"),
]


def test_table_4_1():
    """Seventeen types, each with a role."""
    assert len(WEIGHTS) == 17
    assert set(WEIGHTS) == set(ROLES)
    assert (WEIGHTS["NAME"], WEIGHTS["DEMOGRAPHIC"]) == (1.0, 0.35)


@pytest.mark.parametrize(("type_", "one", "two"), WRITTEN_TWICE)
def test_types_of_another_domain_are_compared_by_their_role(type_, one, two):
    """A name of a domain's own type is read as a name, a number as a number."""
    documents = [Passage("a", one), Passage("b", two)]
    mentions = [[[one, "", type_, 0.9]], [[two, "", type_, 0.9]]]
    assert len(assess(documents, mentions, SCHOOL).resolved.entities) == 1


class TestWeight:
    """What nobody has weighed."""

    def test_is_an_error_where_the_policy_says_so(self):
        """The message says what to do."""
        documents, mentions = [Passage("a", "row 7")], [[["row 7", "", "SEAT", 0.9]]]
        with pytest.raises(UsageError, match=r"linkage\.weights"):
            assess(documents, mentions, {"default_weight": None})

    def test_the_error_shows_no_type_that_a_model_made_up(self):
        """It could be a value."""
        documents, mentions = [Passage("a", "Dulac")], [[["Dulac", "", "DULAC", 0.9]]]
        with pytest.raises(UsageError) as caught:
            assess(documents, mentions, {"default_weight": None})
        assert "DULAC" not in str(caught.value).upper()

    def test_a_role_must_be_one_of_them(self):
        """A policy with another word is refused."""
        with pytest.raises(PolicyError):
            read_settings({"weights": {"SEAT": 0.5}, "roles": {"SEAT": "chair"}})


class TestDetectedTypes:
    """What the local detector finds has the types of the schema."""

    @pytest.mark.parametrize(
        ("text", "form"),
        [
            (
                "Ann Lee is the only man who swims to the island in winter.",
                "the only man who swims to the island in winter",
            ),
            (
                "Ann Lee came. She keeps forty hives by the dam and was stung.",
                "keeps forty hives by the dam",
            ),
            (
                "A woman who keeps forty hives by the dam called.",
                "who keeps forty hives by the dam called",
            ),
        ],
    )
    def test_what_singles_somebody_out_is_a_unique_fact(self, text, form):
        """As the words that begin it say."""
        assert (form, "UNIQUE_FACT") in _found(text)

    def test_what_a_detector_is_less_sure_of_can_be_left_out(self):
        """The policy says how sure it must be; what is handed in is not asked."""
        passage = Passage("a", "Ann Lee was seen.")
        detected = [Mention(Span(0, 7), "PERSON", 0.6)]
        for least, count in ((0.0, 1), (0.6, 1), (0.7, 0)):
            settings = {"min_confidence": least}
            found = assess([passage], [detected], settings).resolved.entities
            assert len(found) == count
        given = [["Ann Lee", "", "NAME", 0.6]]
        settings = {"min_confidence": 0.7}
        assert len(assess([passage], [given], settings).resolved.entities) == 1


def _found(text: str) -> set[tuple[str, str]]:
    """Return the forms of the entities of a text, with their types."""
    masked = fit([Passage("a", text)], None, LocalDetector()).masked
    return {(e.forms[0], e.type) for e in masked.assessment.resolved.entities}
