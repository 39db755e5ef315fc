"""What was masked stays masked, and a pseudonym stays what it is."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.effects.prompts import Prompt
from sdrag.errors import UsageError
from sdrag.linkage import Fitted, fit
from sdrag.linkage.replacing import Masker
from sdrag.vocabulary import Entity, Passage

from ..support.scripted import Scripted, canary
from .test_fitting import PLAIN, Marked, written

WHO, TOWN = canary("who"), canary("town")
KEY = b"sixteen bytes or more"
STRICT = {**PLAIN, "max_document_risk": 0.2}

Row = list[list[object]]


def passages(*texts: str, name: str = "a") -> list[Passage]:
    return [Passage(f"{name}{n}", text) for n, text in enumerate(texts)]


def texts(fitted: Fitted) -> list[str]:
    return [document.text for document in fitted.masked.documents]


def seen(form: str, type_: str, relevance: float = 1.0) -> Row:
    return [[form, "", type_, relevance]]


class TestMasksLast:
    """Nothing that a later document says brings a value back."""

    @pytest.mark.parametrize(
        ("first", "later"),
        [
            ("NAME", "NAME"),
            ("LOCATION", "PROVIDER"),
            ("PROVIDER", "LOCATION"),
            ("EVENT", "UNIQUE_FACT"),
        ],
    )
    def test_a_value_whose_type_changes_stays_masked(self, first, later):
        """The form was masked, whatever it is taken for once more is known."""
        plan = fit(passages(f"In {TOWN}."), STRICT, entities=[seen(TOWN, first)])
        assert TOWN not in texts(plan)[0]
        more = passages(*[f"At {TOWN} again."] * 9, name="b")
        update = plan.updated(more, ["a0"], entities=[seen(TOWN, later, 0.01)] * 9)
        assert TOWN not in "".join(texts(update.fitted))

    def test_what_is_joined_with_a_masked_form_goes_too(self):
        """Under its later type, and however little the other form says."""
        plan = fit(passages(f"In {TOWN}."), STRICT, entities=[seen(TOWN, "LOCATION")])
        more = passages(*[f"At {TOWN} again."] * 9, "At the works.", name="b")
        joined: Row = [["the works", TOWN, "PROVIDER", 0.01]]
        rows = [*[seen(TOWN, "PROVIDER", 0.01)] * 9, joined]
        update = plan.updated(more, ["a0"], entities=rows)
        assert "works" not in "".join(texts(update.fitted))

    @pytest.mark.parametrize("key", [None, KEY])
    def test_a_value_whose_document_is_gone_stays_masked(self, key):
        """Also when nobody finds it in the documents that come afterwards."""
        plan = fit(
            passages(f"{WHO} came."), PLAIN, entities=[seen(WHO, "NAME")], key=key
        )
        gone = plan.updated(removed=["a0"]).fitted
        back = gone.updated(
            passages(f"{WHO} left {TOWN}.", name="b"),
            entities=[seen(TOWN, "NAME", 1.0)],
        ).fitted
        assert re.sub(r"-\d+\]", "]", texts(back)[0]) == "[NAME] left [NAME]."
        forms = {form for entity in back.masked.entities for form in entity.forms}
        assert forms == {WHO, TOWN}
        assert len(back.masked.entities) == 2

    @given(written, written)
    def test_following_is_masking_all_at_once(self, first, later):
        """The same entities, links and texts, but for what was masked before."""
        old, new = passages(*first), passages(*later, name="b")
        plan = fit(old, PLAIN, Marked())
        followed = plan.updated(new, entities=Marked()).fitted
        whole = fit([*old, *new], PLAIN, Marked())
        resolved = whole.masked.assessment.resolved
        assert followed.masked.assessment.resolved.rows == resolved.rows
        if not plan.masked.entities:
            assert texts(followed) == texts(whole)

    def test_what_is_to_be_indexed_again_comes_masked(self):
        """The new documents, and the earlier ones in which more is masked now."""
        old = passages(f"One <{WHO}> x.", f"Also {TOWN}.")
        plan = fit(old, {**PLAIN, "max_document_risk": 0.3}, Marked())
        update = plan.updated(passages(f"Two <{TOWN}> y.", name="b"), entities=Marked())
        assert update.stale == ("a1",)
        assert [document.id for document in update.documents] == ["a1", "b0"]
        assert TOWN not in "".join(document.text for document in update.documents)


FORM = st.sampled_from(
    ["Lane", "Mill Lane", "12 Mill Lane", "Hull", "Ann Lane", "A. Lane", "nurse"]
)
TYPE = st.sampled_from(["NAME", "LOCATION", "PROVIDER", "UNIQUE_FACT", "ADDRESS"])
ENTRIES = st.lists(
    st.tuples(FORM, st.just(""), TYPE, st.sampled_from([0.4, 0.7, 1.0])), max_size=5
)


class TestTwice:
    """The same corpus and the plan of a first run give the same bytes."""

    @given(
        st.lists(ENTRIES, min_size=1, max_size=6),
        st.sampled_from([0.2, 0.6, 0.95]),
        st.sampled_from(["document", "greedy", "knapsack"]),
        st.sampled_from(["label", "pseudonym"]),
    )
    def test_a_small_corpus(self, rows, ceiling, select, style):
        """Whatever is shared by entities of several types."""
        section = {
            **PLAIN,
            "max_document_risk": ceiling,
            "select": select,
            "replace": style,
        }
        documents = passages(*(". ".join(str(e[0]) for e in row) for row in rows))
        assert_settled(fit(documents, section, entities=rows, key=KEY))


def assert_settled(first: Fitted) -> None:
    """Assert that a plan read from its file masks what it masked."""
    with TemporaryDirectory() as folder:
        first.save(Path(folder) / "plan", KEY)
        second = Fitted.open(Path(folder) / "plan", KEY)
    assert texts(second) == texts(first)
    assert second.masked.entities == first.masked.entities
    assert second.masked.plan.masked.sum() == first.masked.plan.masked.sum()
    assert second.masked.masker.pseudonyms == first.masked.masker.pseudonyms


PSEUDONYM = re.compile(r"\[NAME_[0-9a-f]{16}\]")
NAMES = {**PLAIN, "max_document_risk": 0.05, "replace": "pseudonym"}


def pseudonyms(fitted: Fitted) -> list[str]:
    return [match for text in texts(fitted) for match in PSEUDONYM.findall(text)]


class TestPseudonyms:
    """They are of the entity, and last."""

    def test_they_are_not_of_the_commonest_form(self):
        """Neither the order of documents nor how often a form is written counts."""
        long, short = "Dr. Elise Varga", "Varga, E."
        counts = [(1, 3), (3, 1)]
        found = set()
        for many, few in counts:
            forms = [long] * many + [short] * few
            for order in (forms, forms[::-1]):
                rows = [seen(form, "NAME") for form in order]
                plan = fit(passages(*order), NAMES, entities=rows, key=KEY)
                found.update(pseudonyms(plan))
        assert len(found) == 1

    @pytest.mark.parametrize("saved", [False, True])
    def test_they_never_change_under_one_key(self, tmp_path, *, saved):
        """Not by a longer form, another type or more documents; nor by a file."""
        plan = fit(
            passages("Varga, E."), NAMES, entities=[seen("Varga, E.", "NAME")], key=KEY
        )
        (before,) = pseudonyms(plan)
        if saved:
            plan.save(tmp_path / "plan")
            plan = Fitted.open(tmp_path / "plan", KEY)
        more = ["Dr. Elise Maria Varga"] * 3
        rows = [seen(form, "NAME") for form in more]
        later = plan.updated(passages(*more, name="b"), entities=rows).fitted
        if saved:
            later.save(tmp_path / "plan")
            later = Fitted.open(tmp_path / "plan", KEY)
        assert pseudonyms(later) == [before] * 4

    def test_two_that_turn_out_to_be_one_keep_what_they_have(self):
        """Both may be in an index; what is new is called as the first one."""
        forms = ["Elise Varga", "E. M. V."]
        plan = fit(
            passages(*forms), NAMES, entities=[seen(f, "NAME") for f in forms], key=KEY
        )
        before = pseudonyms(plan)
        assert len(set(before)) == 2
        joined: Row = [["E. M. V.", "Elise Varga", "NAME", 1.0]]
        later = plan.updated(passages("E. M. V.", name="b"), entities=[joined]).fitted
        assert len(later.masked.entities) == 1
        assert pseudonyms(later) == [*before, before[1]]

    def test_a_masked_word_in_one_does_not_name_nobody(self):
        """Where the type may not be written, the pseudonym goes without it."""
        masker = Masker((Entity("1", "NAME", ("name",)),), "pseudonym", KEY)
        assert re.fullmatch(r"\[[0-9a-f]{16}\]", masker.replace("name").text)


@pytest.mark.parametrize(
    "text",
    [
        "Sm9uYXRoYW4gTWV5ZXJz is he.",
        "J o n a t h a n  M e y e r s is he.",
        "Jonathan&#32;Meyers is he.",
        "J0n4th4n M3y3rs is he.",
        "JonathanMeyers is he.",
        "Jonathan%20Meyers is he.",
    ],
)
def test_a_masked_form_in_disguise_is_masked(text):
    """The text is searched decoded, too."""
    masker = Masker((Entity("1", "NAME", ("Jonathan Meyers",)),))
    assert masker.replace(text).text == "[NAME] is he."


REWRITE = {**STRICT, "replace": "rewrite"}


class TestRewriting:
    """`replace: rewrite` in shards, and kept with the fit."""

    @staticmethod
    def fitted() -> tuple[list[Prompt], Scripted, Fitted]:
        asked: list[Prompt] = []

        def answer(prompt: Prompt) -> str:
            asked.append(prompt)
            text = prompt.messages[-1].content.text.rpartition("Document:\n")[2]
            return text.replace("[NAME]", f"person {len(asked)}")

        runner, rows = Scripted(complete=answer), [seen(WHO, "NAME")]
        plan = fit(passages(f"{WHO} came."), REWRITE, entities=rows, runner=runner)
        return asked, runner, plan

    def test_a_shard_is_rewritten(self):
        """Not left with labels; what is known of a whole document is not asked."""
        asked, runner, plan = self.fitted()
        shards = passages(f"{WHO} came.", f"Then {WHO} left.", "Nobody.", name="s")
        found = [document.text for document in plan.apply(shards, runner)]
        assert found == ["person 1 came.", "Then person 2 left.", "Nobody."]
        assert len(asked) == 2
        with pytest.raises(UsageError):
            plan.apply(shards)

    def test_a_text_that_stays_is_not_rewritten_again(self):
        """An update asks for the new documents alone, and names no other as stale."""
        asked, runner, plan = self.fitted()
        update = plan.updated(
            passages(f"{WHO} left.", name="b"),
            entities=[seen(WHO, "NAME")],
            runner=runner,
        )
        assert update.stale == ()
        assert texts(update.fitted) == ["person 1 came.", "person 2 left."]
        assert len(asked) == 2

    def test_a_rewriting_that_spells_a_new_form_is_made_again(self):
        """What was said freely may name what is masked by now."""
        _, runner, plan = self.fitted()
        update = plan.updated(
            passages("A person 1 left.", name="b"),
            entities=[seen("person 1", "NAME")],
            runner=runner,
        )
        assert update.stale == ("a0",)
        assert "person 1" not in " ".join(texts(update.fitted))
