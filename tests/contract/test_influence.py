"""With `influence: none`, what is hidden decides nothing of what comes back."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import QueryBundle

from sdrag.disclosure.redacted_index import (
    VIEW_KEY,
    redact_for_audience,
    redact_question,
)
from sdrag.effects.steps import run
from sdrag.errors import PolicyError, UsageError
from sdrag.pipeline import Engine, Request, disclose
from sdrag.state import open_state
from sdrag.vocabulary import Passage, Principal

from ..support.frameworks import BOTH, LangChain, LlamaIndex
from ..support.scripted import Scripted

POLICY = {
    "constraints": [
        "Remove the names of people",
        "Remove dates",
        {"id": "sums", "text": "Remove sums of money", "unless": {"roles": "auditor"}},
        "Do not reveal anything about people's health",
    ],
    "metadata": {"allow": ["title"]},
    "disclosure": {"influence": "none"},
    "withheld": {"question": True},
}
OPEN = {**POLICY, "disclosure": {}, "withheld": {}}
AUDITOR = Principal("a", roles=frozenset({"auditor"}))
FIRST = st.sampled_from(["Anna", "Harold", "Piotr", "Miriam", "Stefan", "Odile"])
LAST = st.sampled_from(["Karlsson", "Pemberton", "Lindgren", "Okonkwo", "Marchetti"])
MONTHS = st.sampled_from(["May", "October"])
DATES = st.builds(
    "{} {} {}".format, st.integers(1, 28), MONTHS, st.integers(1990, 2024)
)
SUMS = st.builds("{},500 euros".format, st.integers(11, 98))
SECRETS = st.tuples(FIRST, LAST, DATES, SUMS)
QUESTIONS = (
    "What did {0} {1} do?",
    "Who was paid {3}?",
    "What happened on {2}?",
    "Who forged the signatures?",
    "Is {0} {1} ill?",
    "when were the crates wet",
)


def corpus(secrets):
    first, last, date, amount = secrets
    return [
        (f"{first} {last} forged the signatures on {date}.", f"Report on {last}"),
        (f"For that, {first} was paid {amount} in cash.", "Ledger"),
        ("The crates were wet, and the tide was low.", "Log"),
        (f"Mr {last} has been treated for depression since {date}.", "Files"),
        ("A van left early, before the gate was open.", "Log"),
    ]


def ask_index(
    framework, corpus, *, policy=POLICY, state=None, asked_with=None, redact=True
):
    """Fill an index, and return how it is asked: with a policy and state of its own."""
    documents = [
        framework.document(f"c{n}", text, f"file-{n}", title=title)
        for n, (text, title) in enumerate(corpus)
    ]
    if redact:
        view = framework.package.RedactingTransformer(policy=policy, state=state)
        documents = framework.transform(view, documents)
    retriever = framework.package.SelectiveDisclosureRetriever(
        base_retriever=framework.index(documents, k=4),
        **(asked_with or {"policy": policy, "state": state}),
    )
    return partial(framework.find, retriever)


slowly = settings(
    max_examples=4, deadline=None, suppress_health_check=list(HealthCheck)
)


def engine(policy=POLICY, state=None, **more):
    return Engine(policy, state=state, **more)


def view(secrets, policy=POLICY, audience=None, **more):
    passages = [
        Passage(f"c{n}", text, {"title": title})
        for n, (text, title) in enumerate(corpus(secrets))
    ]
    steps = redact_for_audience(passages, audience, engine(policy, **more).disclosure)
    return run(steps, Scripted()).passages


@BOTH
@given(st.tuples(SECRETS, SECRETS))
@slowly
def test_other_secrets_give_the_same_answers(framework, tmp_path_factory, two):
    """Names, dates and sums are swapped: ids, order, scores and texts are equal."""
    state = open_state(tmp_path_factory.mktemp("state") / "state.sqlite")
    true, other = (ask_index(framework, corpus(each), state=state) for each in two)

    for question in QUESTIONS:
        for asked in (question.format(*two[0]), question.format(*two[1])):
            found = true(asked)
            assert found == other(asked) == other(asked, is_async=True)
            assert len(found) >= 4
            assert not any(secret in str(found) for secret in two[0])


@BOTH
@given(st.tuples(SECRETS, SECRETS))
@slowly
def test_a_name_that_the_corpus_holds_is_asked_for_as_any_other(
    framework, tmp_path_factory, two
):
    """John Doe's act comes back for whoever is asked for, with the same notice."""
    state = open_state(tmp_path_factory.mktemp("state") / "state.sqlite")
    ask = ask_index(framework, corpus(two[0]), state=state)

    for question in QUESTIONS:
        known, unknown = (ask(question.format(*each)) for each in two)
        assert known == unknown
        assert ("were not used" in str(known)) == ("{" in question)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("asked", ["Who forged what?", "What did Anna Karlsson do?"])
@pytest.mark.parametrize(
    "beside",
    [
        {"custom_embedding_strs": ["Anna Karlsson was paid"]},
        {"custom_embedding_strs": ["crates", "Karlsson"], "embedding": [0.1] * 3},
        {"embedding": [0.3] * 3},
        {"image_path": "karlsson.png"},
    ],
)
def test_a_bundle_is_searched_by_its_redacted_words_alone(is_async, asked, beside):
    """Texts to embed, vector and image hold what was redacted in the words."""
    bundles = []

    class Host(BaseRetriever):
        def _retrieve(self, query_bundle):
            bundles.append(query_bundle)
            return []

    bundle = QueryBundle(asked, **beside)
    retriever = LlamaIndex.package.SelectiveDisclosureRetriever(
        base_retriever=Host(), policy=POLICY
    )
    LlamaIndex().find(retriever, bundle, is_async=is_async)

    words = asked.replace("Anna Karlsson", "[person]")
    assert bundles
    assert all(each == QueryBundle(words) for each in bundles)
    assert bundle == QueryBundle(asked, **beside)


SECRET = ("Anna", "Karlsson", "3 May 2001", "11,500 euros")
OTHER = ("Harold", "Pemberton", "3 May 2001", "11,500 euros")


def test_by_default_an_asker_finds_out_who_it_was():
    """What the mode is for: over raw text the names decide which passage is first."""
    true, other = (
        ask_index(LangChain(), corpus(each), policy=OPEN, redact=False)
        for each in (SECRET, OTHER)
    )

    asked = "Karlsson, Anna Karlsson"
    assert [each.id for each in true(asked)] != [each.id for each in other(asked)]


@BOTH
def test_an_index_that_was_not_redacted_is_refused(framework, tmp_path):
    """Not redacted, or for another policy, or with another state: nothing leaves."""
    state, another = (open_state(tmp_path / name) for name in ("a", "b"))
    stricter = {**POLICY, "constraints": [*POLICY["constraints"], "Remove crates"]}
    for options in (
        {"redact": False},
        {"asked_with": {"policy": stricter, "state": state}},
        {"asked_with": {"policy": POLICY, "state": another}},
    ):
        ask = ask_index(framework, corpus(SECRET), state=state, **options)
        with pytest.raises(UsageError, match="not marked") as caught:
            ask("Who forged the signatures?")
        assert not any(secret in str(caught.value) for secret in SECRET)


def test_an_index_for_some_is_refused_to_others():
    """One for nobody is everybody's; an auditor's own is no clerk's."""
    clerk = Principal("c", roles=frozenset({"clerk"}))
    state = open_state(None)
    for audience, principal, passes in (
        (None, None, True),
        (None, clerk, True),
        (None, AUDITOR, True),
        (clerk, clerk, True),
        (clerk, AUDITOR, True),  # clerks are bound by all of them
        (AUDITOR, replace(AUDITOR, id="b"), True),
        (AUDITOR, clerk, False),
        (AUDITOR, None, False),
    ):
        passages = view(SECRET, audience=audience, state=state)
        asking = engine(state=state)
        steps = disclose(passages, Request("Who?", principal), asking)
        if passes:
            texts = [each.text for each in run(steps, asking.runner()).passages]
            assert texts == [each.text for each in passages]
            assert any("11,500" in text for text in texts) == (audience is AUDITOR)
        else:
            with pytest.raises(UsageError, match="not marked"):
                run(steps, asking.runner())


def test_what_would_be_left_out_is_looked_at_too():
    """A passage beyond the limit has taken another one's place."""
    state = open_state(None)
    asking = engine(state=state)
    found = [view(SECRET, state=state)[0], Passage("raw", "Anna Karlsson left.")]
    with pytest.raises(UsageError, match="not marked"):
        run(disclose(found, Request("Who?", limit=1), asking), asking.runner())


def test_what_was_changed_after_it_was_marked_is_refused():
    """Text and what leaves of the metadata are under the mark; the rest is dropped."""
    state = open_state(None)
    asking = engine(state=state)
    passage = view(SECRET, state=state)[0]
    for changed, passes in (
        (replace(passage, text=f"{passage.text} By Anna Karlsson."), False),
        (replace(passage, metadata={**passage.metadata, "title": "Karlsson"}), False),
        (replace(passage, metadata={**passage.metadata, VIEW_KEY: ""}), False),
        (replace(passage, metadata={**passage.metadata, "author": "Karlsson"}), True),
        (replace(passage, id="karlsson-1"), True),
    ):
        steps = disclose([changed], Request("Who?"), asking)
        if passes:
            (released,) = run(steps, asking.runner()).passages
            leaving = f"{released.id} {released.text} {dict(released.metadata)}"
            assert "karlsson" not in leaving.lower()
        else:
            with pytest.raises(UsageError, match="not marked"):
                run(steps, asking.runner())


@pytest.mark.parametrize(
    ("question", "principal", "searched"),
    [
        ("What did John Doe do?", None, "What did [person] do?"),
        ("Was Dr Meyers paid in May 2019?", None, "Was Dr [person] paid in [date]?"),
        ("Who got 40,000 euros?", None, "Who got [amount]?"),
        ("Who got 40,000 euros?", AUDITOR, "Who got 40,000 euros?"),
        ("Where do the crates come from?", None, "Where do the crates come from?"),
    ],
)
def test_a_question_is_searched_without_what_is_hidden(question, principal, searched):
    """Of every type that a constraint of the asker asks for, wherever it stands."""
    asking = engine()

    steps = redact_question(question, principal, asking.disclosure)

    assert run(steps, asking.runner()) == searched


def test_numbers_of_what_is_hidden_are_refused():
    """A placeholder with a number would be a trace of it in the index."""
    numbered = {"influence": "none", "placeholders": "numbered"}
    with pytest.raises(PolicyError, match="not numbered"):
        engine({**POLICY, "disclosure": numbered})
