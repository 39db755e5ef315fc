"""`LinkageMasker` in both frameworks."""

from __future__ import annotations

import json

import pytest

from sdrag import Options
from sdrag.detectors.local import LocalDetector
from sdrag.errors import InternalError, UsageError
from sdrag.linkage import Fitted
from sdrag.linkage.replacing import Masker

from ..support.frameworks import BOTH, SYNC_AND_ASYNC

WHO = "Ivo Krastev"
KEY = b"sixteen bytes or more"
LINKAGE = {"resolution": {"meaning": False, "terms": False}}
TEXTS = (f"The member is Mr. {WHO}.", "Nobody is named in this one.")

pytestmark = BOTH


@pytest.fixture
def build(framework):
    def masker(linkage=None, **given):
        policy = {"linkage": LINKAGE | (linkage or {})}
        return framework.package.LinkageMasker(policy, **given)

    return masker


@pytest.fixture
def documents(framework):
    return [framework.document(f"n{n}", text, by=WHO) for n, text in enumerate(TEXTS)]


@SYNC_AND_ASYNC
def test_neither_text_nor_metadata_keeps_the_name(
    framework, build, documents, is_async
):
    """Ids stay, and inputs are as they were."""
    masked = framework.transform(build(whole_corpus=True), documents, is_async=is_async)

    assert [framework.fields(document)[0] for document in masked] == ["n0", "n1"]
    assert framework.fields(masked[1])[1] == TEXTS[1]
    assert WHO not in repr([document.model_dump() for document in masked])
    assert documents[0].metadata["by"] == WHO


def test_a_plan_is_applied_to_shards(framework, build, documents):
    """Fitted once, applied to a part; it says what is put in place of values."""
    plan = build({"replace": "pseudonym"}, whole_corpus=True, key=KEY).fit(documents)

    (shard,) = framework.transform(build(fitted=plan), documents[:1])

    assert WHO not in repr(shard.model_dump())
    assert "[NAME_" in framework.fields(shard)[1]


async def test_a_plan_follows_the_corpus(framework, build, documents, tmp_path):
    """Sync and async alike, also from a file: new documents and stale ones."""
    corpus = [
        framework.document("a", "The quay of Ms. Nadia Orlova."),
        framework.document("b", TEXTS[0]),
    ]
    plan = build(whole_corpus=True, key=KEY).fit(corpus)
    plan.save(tmp_path / "plan")
    new = framework.document("n", f"Later {WHO} came again with Ms. Nadia Orlova.")
    followed = []
    for held in (plan, Fitted.open(tmp_path / "plan", KEY)):
        masker = build(fitted=held)
        followed.append(masker.update([new], ["b"]))
        followed.append(await masker.aupdate([new], ["b"]))
    texts = [[framework.fields(one)[1] for one in made] for _, made in followed]

    assert texts == [texts[0]] * 4
    update, made = followed[0]
    assert framework.fields(made[-1])[0] == "n"
    assert len(made) == 1 + len(update.stale)
    assert WHO not in repr(texts)
    assert list(update.fitted.documents) == ["a", "n"]
    assert build(fitted=update.fitted).update([], [])[1] == []


def test_what_cannot_be_followed_is_refused(build, documents):
    """No plan, nobody of a name."""
    with pytest.raises(UsageError, match="with a plan"):
        build(whole_corpus=True).update(documents)
    fitted = build(whole_corpus=True).fit(documents)
    with pytest.raises(UsageError, match="not in the corpus"):
        build(fitted=fitted).update([], ["z"])


def test_what_cannot_be_masked_is_refused_at_the_start(framework, build, documents):
    """A shard without a plan, pseudonyms without a key, a rewriting without a model."""
    options = Options(detector=LocalDetector())
    model = framework.model(lambda prompt: "Somebody was here, it is said.")
    rewriting = {"replace": "rewrite"}
    given = {"llm": model, "options": options}
    plan = build(rewriting, whole_corpus=True, **given).fit(documents)
    for refused, missing in (
        ("part of a corpus", {}),
        ("part of a corpus", {"fitted": plan, "whole_corpus": True}),
        ("key", {"linkage": {"replace": "pseudonym"}, "whole_corpus": True}),
        ("needs a model", {"linkage": rewriting, "whole_corpus": True}),
        ("needs a model", {"fitted": plan}),
    ):
        with pytest.raises(UsageError, match=refused):
            build(**missing)

    shard = framework.document("s", f"Here {WHO} was, it is said.")
    (made,) = framework.transform(build(fitted=plan, llm=model), [shard])
    assert framework.fields(made)[1] == "Somebody was here, it is said."


SCHOOL = {
    "domain": "a school: pupils and their parents",
    "weights": {"PUPIL": 1.0, "HABIT": 0.8},
    "roles": {"PUPIL": "name", "HABIT": "description"},
    "max_document_risk": 0.3,
}
HABIT = "collects lighthouse stamps"


def read_as_a_school(prompt):
    """Find pupils at once, and what they are known by once it is known elsewhere."""
    known, _, document = str(prompt).rpartition("Document:")
    rows = [[WHO, WHO, "PUPIL", 0.9]] if WHO in document else []
    if HABIT in document and (rows or HABIT in known):
        rows.append([HABIT, "", "HABIT", 0.9])
    return json.dumps({"entities": rows})


@SYNC_AND_ASYNC
def test_a_model_reads_each_document_twice(framework, build, is_async):
    """In the domain of the policy; what one holds is found in another (4.2.2)."""
    model = framework.model(read_as_a_school)
    corpus = [
        framework.document("a", f"{WHO} {HABIT}."),
        framework.document("b", f"Somebody here {HABIT}, they say."),
        *(framework.document(f"c{n}", f"Room {n} is closed.") for n in range(4)),
    ]

    masker = build(SCHOOL, whole_corpus=True, llm=model)
    masked = framework.transform(masker, corpus, is_async=is_async)

    texts = [framework.fields(document)[1] for document in masked[:2]]
    assert texts == ["[PUPIL] [HABIT].", "Somebody here [HABIT], they say."]
    asked = [str(prompt) for prompt in framework.prompts(model)]
    assert len(asked) == 2 * len(corpus)
    for words in ("a school: pupils and their parents", "PUPIL: name, 1", "0.8"):
        assert all(words in prompt for prompt in asked)
    assert not any("patient" in prompt for prompt in asked)


def test_a_document_that_a_model_cannot_read_is_withheld(framework, build, documents):
    """It is not taken for one without entities, and the others are masked."""

    def reply(prompt):
        document = str(prompt).rpartition("Document:")[2]
        return "Sorry." if "Nobody" in document else read_as_a_school(prompt)

    masker = build(SCHOOL, whole_corpus=True, llm=framework.model(reply))

    (masked,) = framework.transform(masker, documents)

    assert framework.fields(masked)[:2] == ("n0", "The member is Mr. [PUPIL].")


def test_a_fault_of_a_plan_leaves_without_what_it_was_applied_to(
    framework, build, documents, monkeypatch
):
    """Whatever goes wrong in it; neither words nor frames."""

    def fail(_: object, text: str, *__: object) -> None:
        raise KeyError(text)

    masker = build(fitted=build(whole_corpus=True).fit(documents))
    monkeypatch.setattr(Masker, "replace", fail)

    with pytest.raises(InternalError) as caught:
        framework.transform(masker, documents)

    assert WHO not in str(caught.value)
    assert "fail" not in [entry.name for entry in caught.traceback]
