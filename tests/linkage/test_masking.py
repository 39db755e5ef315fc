"""What stands in the masked corpus, and what does not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.effects.prompts import Prompt
from sdrag.effects.steps import Failure, Outcome, Reply, Steps
from sdrag.errors import ModelError, UsageError
from sdrag.linkage import fit
from sdrag.linkage.masking import Masked
from sdrag.linkage.replacing import Masker
from sdrag.text.folding import fold, fold_text
from sdrag.vocabulary import Entity, Mention, Passage, Span

from ..support.scripted import Scripted, canary

WHO = canary("who")
KEY = b"sixteen bytes or more"
PLAIN = {"resolution": {"meaning": False, "terms": False}}


def entity(*forms: str, type_: str = "NAME") -> Entity:
    return Entity(f"e-{forms[0]}", type_, forms)


def masked(style: str = "label", **more: object) -> Masked:
    documents = [
        Passage("a", f"{WHO} lives here.", {"author": WHO, "tags": [WHO, "x"]}),
        Passage("b", "Nobody lives there."),
    ]
    section = {**PLAIN, "replace": style}
    given = [[[WHO, "", "NAME", 1.0]], []]
    return fit(documents, section, given, **more).masked  # type: ignore[arg-type]


class TestMasker:
    """One pass over the text takes out every form."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Ann Lee came.", "[NAME] came."),
            ("ANN  LEE came.", "[NAME] came."),
            ("Ann\u00a0Lee's hat", "[NAME]'s hat"),
            ("A\u200bnn Lee", "[NAME]"),
            ("\uff21nn L\u00e9e", "[NAME]"),
            ("Joann Leeds", "Joann Leeds"),
            ("Mrs Lee, Ann Lee.", "[NAME], [NAME]."),
            ("\u0130 Ann Lee \ufb01n", "\u0130 [NAME] \ufb01n"),
        ],
    )
    def test_forms_are_found_as_words(self, text, expected):
        """Whole words, whatever the case, the spaces or the typography."""
        masker = Masker((entity("Ann Lee", "Mrs Lee"),))
        assert masker.replace(text).text == expected

    def test_overlaps_are_one_replacement(self):
        """The longest form says what stands in place of the union."""
        masker = Masker(
            (entity("Anna Maria"), entity("Maria Lopez Clinic", type_="PROVIDER"))
        )
        text = "Anna Maria Lopez Clinic"
        assert masker.replace(text).text == "[PROVIDER]"
        assert [id_ for _, id_ in masker.find(text)] == ["e-Maria Lopez Clinic"]

    def test_a_label_does_not_spell_what_is_masked(self):
        """If "name" is masked then "[NAME]" will not do."""
        masker = Masker((entity("name"), entity("redacted", type_="EVENT")))
        assert masker.replace("a name, redacted").text == "a [***], [EVENT]"

    @given(
        st.lists(
            st.text("ab [].\u00e9\u0130\ufb01X-", min_size=1, max_size=6), max_size=6
        ),
        st.text("ab [].\u00e9\u0130\ufb01X-", max_size=60),
    )
    def test_no_masked_form_remains(self, forms, text):
        """Whatever the forms, also labels and brackets."""
        wanted = [entity(form) for form in forms if fold_text(form)]
        result = Masker(tuple(wanted)).replace(text).text
        view = fold(result)
        for one in wanted:
            assert not any(view.positions(fold_text(one.forms[0])))

    @given(st.text(max_size=80), st.lists(st.text(min_size=1, max_size=5), max_size=5))
    def test_what_is_not_masked_stays(self, text, forms):
        """Outside the reported spans every character is as it was."""
        wanted = [entity(form) for form in forms if fold_text(form)]
        result = Masker(tuple(wanted), "redact").replace(text)
        kept = text
        for span in reversed(result.spans):
            kept = kept[: span.start] + "\x00" + kept[span.end :]
        pieces = kept.split("\x00")
        assert all(piece in result.text for piece in pieces)


FORMS = ("Christina M", "Juergen Mueller", "Søren Kjær", "J. R. Smith", "Joe Lane")
SPELLINGS = {
    "Christina M. called.": "[R] called.",
    "Christina M., a baker": "[R], a baker",
    "christina m.'s shop": "[R]'s shop",
    "Christina Maier.": "Christina Maier.",
    "Jürgen Müller": "[R]",
    "Mueller, Juergen": "[R]",
    "Jurgen Muller": "[R]",
    "Soren Kjaer and Kjær, Søren": "Soren Kjaer and [R]",
    "Smith, J. R. left.": "[R] left.",
    "Joe Lane, Jo Lane": "[R], Jo Lane",
}


def test_a_form_of_nothing_is_nowhere():
    """As in a plan that somebody wrote by hand."""
    masker = Masker((Entity("1", "NAME", ("", "Ann Lee")),))

    assert masker.replace("Then Ann Lee came.").text == "Then [NAME] came."


def test_a_name_goes_in_every_spelling():
    """With the full stop of its last initial, its umlauts spelled out, and turned."""
    masker = Masker((Entity("1", "NAME", FORMS),), "redact")
    for text, expected in SPELLINGS.items():
        assert masker.replace(text).text == expected.replace("[R]", "[REDACTED]")


class TestStyles:
    """What stands in place of a masked entity."""

    def test_what_is_put_in_place(self):
        """The type, nothing, or a pseudonym: under another key another."""
        assert masked().documents[0].text == "[NAME] lives here."
        assert masked("redact").documents[0].text == "[REDACTED] lives here."
        keys = (KEY, KEY, KEY[::-1])
        one, two, other = (masked("pseudonym", key=key).documents[0] for key in keys)
        assert one.text == two.text != other.text
        with pytest.raises(UsageError, match="key"):  # a hash without one is guessed
            masked("pseudonym")

    @pytest.mark.parametrize(
        ("reply", "expected"),
        [
            ("Someone lives here.", "Someone lives here."),
            (f"{WHO} lives here.", "[NAME] lives here."),
            ("", "[NAME] lives here."),
            ("word " * 40, "[NAME] lives here."),
            (ModelError("refused"), "[NAME] lives here."),
        ],
    )
    def test_a_rewriting_is_verified(self, reply, expected):
        """A reply that brings a form back, or is no rewriting, is not used."""
        asked: list[Prompt] = []

        def answer(prompt: Prompt) -> str:
            asked.append(prompt)
            if isinstance(reply, ModelError):
                raise reply
            return reply

        result = masked("rewrite", runner=Scripted(complete=answer))
        assert result.documents[0].text == expected
        assert asked
        assert not [one for one in asked if WHO in one.messages[0].content.text]


class TestNothingElseHoldsIt:
    """Metadata, ids, reprs, pickles and decisions."""

    def test_metadata_and_ids_are_cleaned(self):
        """A masked form is taken out of values and keys, and an id is aliased."""
        document = Passage(WHO, f"{WHO}!", {WHO: 1, "n": {"deep": (WHO,)}}, 0.5, WHO)
        plan = fit([document], PLAIN, [[[WHO, "", "NAME", 1.0]]])
        (clean,) = plan.masked.documents
        assert WHO not in repr((clean.id, clean.document_id, dict(clean.metadata)))
        assert clean.score == 0.5
        assert clean.metadata["n"] == {"deep": ("[NAME]",)}

    def test_masking_can_be_undone_by_whoever_has_the_masker(self):
        """By the id of an entity, or by its pseudonym."""
        result = masked("pseudonym", key=KEY)
        (entity_,) = result.entities
        name = result.documents[0].text.split()[0]
        assert result.masker.forms_of(entity_.id) == (WHO,)
        assert result.masker.forms_of(name) == (WHO,)
        assert result.masker.forms_of("[NAME]") == ()


class Half:
    """A detector that fails on every text but the first."""

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
        yield from ()
        found: list[Outcome[tuple[Mention, ...]]] = [
            Reply((Mention(Span(0, len(WHO)), "PERSON"),))
        ]
        return found + [Failure(UsageError("too long"))] * (len(texts) - 1)


def test_what_a_detector_could_not_read_is_withheld():
    """Closed: the document does not pass on raw, nor its id, which is text too."""
    documents = [Passage("a", f"{WHO} came."), Passage(WHO, f"{WHO} left.")]
    result = fit(documents, PLAIN, Half()).masked
    assert [document.text for document in result.documents] == ["[NAME] came."]
    assert [decision.action for decision in result.decisions] == [
        "redacted",
        "withheld",
    ]
    assert result.decisions[0].subject == "a"
    assert WHO not in repr(result.decisions)


def test_entities_have_to_be_given():
    """A corpus in which nobody looked is not taken for one without entities."""
    with pytest.raises(UsageError, match="0 lists for 1 documents"):
        fit([Passage("a", "x")])


def test_ids_must_differ():
    """Two documents of one id could not be told apart in the report."""
    twice = [Passage("a", "x"), Passage("a", "y")]
    with pytest.raises(UsageError, match="same id"):
        fit(twice, None, [[], []])
