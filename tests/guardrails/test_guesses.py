"""The guard is no oracle: a true name and a false one come back alike."""

from __future__ import annotations

import base64
import datetime as dt
import tomllib
from functools import cache
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_sdrag
import llamaindex_sdrag
from sdrag import Options, Principal, acting_as
from sdrag.effects.steps import run
from sdrag.guardrails.answer_work import DECLINED, Draft
from sdrag.pipeline import Engine, Request, check_answer, disclose
from sdrag.policy import Policy
from sdrag.state import open_state
from sdrag.vocabulary import Passage
from tests.support.spellings import DISGUISES, ENCODINGS

from ..support.doubles import Answering
from ..support.properties import few
from ..support.scripted import Scripted
from ..support.tables import each_row
from .answers import NOW

NAMES = {"constraints": ["Remove the names of witnesses"]}
TEXT = (
    "The witness, Robert Meyers, saw a grey van near the harbour on 4 May 2021."
    " He paid 30 pounds for the ferry."
)
TRUE = "Robert Meyers"
FALSE = ("Rupert Quint", "Zelda Zorblatt", "Anna Hale", "Rose Lake", "Bo Li")


@cache
def world(sentence, text):
    """Return a policy, its state, and a text as it is released."""
    policy, state = Policy.read({"constraints": [sentence]}), open_state()
    engine = Engine(policy, state=state)
    passage = Passage("log", text, document_id="log")
    held = run(disclose([passage], Request("Who?"), engine), Scripted())
    return policy, state, held.passages


def checked(answer, *, question="Who?", given=None, state="own", principal=None):
    policy, own, context = given or world(NAMES["constraints"][0], TEXT)
    draft = Draft(question, answer, tuple(context))
    kept = own if state == "own" else state
    engine = Engine(policy, state=kept, stage="answer")
    return run(check_answer(draft, engine, principal, now=NOW), Scripted())


def told(guarded):
    """Return all that an asker or an operator is told."""
    return guarded.text, guarded.status, guarded.decisions


SAID = [
    "It was {name}.",
    "{name} saw it.",
    "It was {surname}, who paid 30 pounds.",
    "{initial}. {surname}",
    "- {name}\n- nobody else",
    "It was {upper}!",
    "{dashed} and {handle}@example.com",
    "The names are Ada Byron, {name}, Max Born and Lise Meitner.",
    "Ada Byron: no\n{name}: yes",
    "It is {hexed}, as hex.",
    "{letters}",
    "{base64}",
    "{backwards}",
]


def spelled(form, name):
    first, surname = name.split()
    return form.format(
        name=name,
        first=first,
        surname=surname,
        initial=first[0],
        upper=name.upper(),
        lower=name.lower(),
        dashed=name.replace(" ", "-"),
        handle=name.lower().replace(" ", "."),
        base64=base64.b64encode(name.encode()).decode(),
        hexed=name.encode().hex(),
        backwards=name[::-1],
        letters=" ".join(name),
    )


def test_a_true_and_a_false_name_come_back_alike():
    """Alone, in a sentence and in lists, in any spelling, and by an empty state."""
    for form, state in [*((form, "own") for form in SAID), (SAID[2], None)]:
        found = {}
        for name in (TRUE, *FALSE):
            question = f"Was it {name}, or Ada Byron?"
            done = checked(spelled(form, name), question=question, state=state)
            text = done.text.replace("Ada Byron", "").replace("Lise Meitner", "")
            assert not {name, *name.split()} & {*text.replace(",", " ").split()}
            found[name] = told(done)
        assert len(set(found.values())) == 1, found


def test_a_true_and_a_false_name_come_back_alike_however_they_are_spelt():
    """A guess that is encoded or disguised is one all the same."""
    for name, spell in {**DISGUISES, **ENCODINGS}.items():
        texts = {
            checked(f"The answer is {spell(guess)}, as asked.").text
            for guess in (TRUE, "Rupert Hale")
        }
        assert len(texts) == 1, name


HARMLESS = [
    "The witness saw a grey van near the harbour [1].",
    "On 4 May 2021 a van was seen.",
    "The van was seen on May 4, 2021.",
    "The ferry cost 30 pounds, and the payment was made near the harbour.",
    "I could not find an answer in the documents.",
    "**Summary:** The witness paid for the ferry.\n\n- Price: 30 pounds\n- Date: 4 May",
    "According to the sources, the van, which was grey, was parked nearby.",
    "Key Points: The Harbour was visited.",
    "The witness travelled 14 km in 80 ms, or EUR 20.",
    "It was not mentioned; unfortunately, nobody overheard the conversation.",
    "It was seen by one witness in May, on a Tuesday.",
    "No. The sources disagree.",
    "They didn't come in April, and hadn't by last March.",
    "She got 20mg twice, for covid19.",
    "The witness, [REDACTED], saw the van with [withheld] and [name] on [date].",
]


def test_released_and_ordinary_words_stay():
    """What the context holds is no guess, nor are the words of any text."""
    for answer in HARMLESS:
        assert checked(answer).text == answer


def test_a_name_that_the_context_holds_stays():
    """In its order and in others; two names of it are no third one."""
    policy = Policy.read(NAMES)
    text = "Anna Karlsson chairs the board, and Mr Quint keeps the books."
    given = (policy, open_state(), [Passage("board", text)])
    for answer in (
        "Anna Karlsson chairs the board.",
        "Karlsson, Anna",
        "Mr Quint keeps the books, not Karlsson.",
        "ANNA KARLSSON!",
    ):
        assert checked(answer, given=given).text == answer
    assert "Quint" not in checked("Anna Quint keeps them.", given=given).text
    first = (policy, open_state(), [Passage("first", "Marie called.")])
    assert checked("Marie called.", given=first).text == "Marie called."


IN_PLACE = [  # what was released, and what may have been there
    ("She has [MEDICAL_CONDITION].", "She has porphyria.", "She has asthma."),
    ("She came on [date].", "She came on 4 May.", "She came on 12 June."),
    ("She lives in [place].", "She lives in Hull.", "She lives in Dover."),
    ("[NAME] paid [EVENT].", "Ann Lee paid 485 pounds.", "Bo Li paid 730 pounds."),
    ("Call [PHONE_NUMBER].", "Call 01632 960 114.", "Call 01632 960 731."),
]


@each_row("released, one, other", IN_PLACE)
def test_what_is_said_in_the_place_of_a_placeholder_is_a_guess(released, one, other):
    """Whatever the policy asks for now; the placeholder itself may be said again."""
    policy = Policy.read(["Hide passwords"])
    given = (policy, open_state(), [Passage("p", released)])

    assert checked(released, given=given).text == released
    assert checked(one, given=given).text == checked(other, given=given).text
    assert "[withheld]" in checked(one, given=given).text


def test_a_constraint_that_is_lifted_for_a_principal_cuts_nothing():
    """A judge may be told what a judge may read, and what nobody has written."""
    policy = Policy.read(
        {
            "constraints": [
                {"text": NAMES["constraints"][0], "unless": {"roles": "judge"}}
            ]
        }
    )
    judge = Principal("j", roles=frozenset({"judge"}))
    given = (policy, open_state(), [Passage("log", TEXT)])

    assert "Quint" in checked("It was Quint.", given=given, principal=judge).text
    assert "Quint" not in checked("It was Quint.", given=given).text


def test_a_policy_may_decline_instead():
    """`on_guess: decline` tells as little."""
    policy = Policy.read({**NAMES, "disclosure": {"on_guess": "decline"}})
    _, state, context = world(NAMES["constraints"][0], TEXT)

    for name in (TRUE, *FALSE):
        done = checked(f"It was {name}.", given=(policy, state, context))
        assert (done.text, done.status) == (DECLINED, "declined")
    assert checked("It was seen.", given=(policy, state, context)).status == "checked"


UNLESS = {"constraints": [{"text": "Remove all dates", "unless": {"roles": "judge"}}]}
JUDGE = Principal("j", "north", frozenset({"judge"}), 2, {"use": "court", "x": {1}})
OTHERS = [
    None,
    Principal("c", "north"),
    Principal("j", "north"),
    Principal("j", "south", frozenset({"judge"}), 2, {"use": "court", "x": {1}}),
    Principal("j", "north", frozenset({"judge"}), 1, {"use": "court", "x": {1}}),
    Principal("j", "north", frozenset({"judge"}), 2, {"use": "sales", "x": {1}}),
    Principal("k", "north", frozenset({"judge"}), 2, {"use": "court", "x": {1}}),
]


@pytest.mark.parametrize("kept", ["memory", "disk"])
def test_a_context_of_one_principal_is_refused_for_another(kept, tmp_path):
    """Whoever answers with a judge's passages answers a judge."""
    policy = Policy.read({**UNLESS, "access": {}})
    path = tmp_path / "state.sqlite"
    state = open_state(path if kept == "disk" else None)
    passage = Passage("log", TEXT, {"tenant": "north"})
    again = Principal("j", "north", frozenset({"judge"}), 2, {"x": {1}, "use": "court"})
    answer = "A grey van was seen on 4 May 2021."
    for asker in (JUDGE, OTHERS[1]):
        request = Request("When?", asker)
        steps = disclose([passage], request, Engine(policy, state=state))
        context = run(steps, Scripted()).passages
        assert len(context[0].metadata["sdrag"]["audience"]) == 16
        for principal in (JUDGE, again, *OTHERS):
            same = principal == asker
            done = checked(answer, given=(policy, state, context), principal=principal)
            assert (done.status != "declined") is same
            if not same:
                assert done.decisions[-1].reason == "other-audience"


def test_nobody_is_told_apart_where_all_are_released_the_same():
    """Without `unless` and `access` a context says nothing of its principal."""
    policy, state, _ = world(NAMES["constraints"][0], TEXT)
    request = Request("Who?", JUDGE)
    steps = disclose([Passage("p", TEXT)], request, Engine(policy, state=state))
    context = run(steps, Scripted()).passages

    assert "audience" not in context[0].metadata["sdrag"]
    assert checked("It was seen.", given=(policy, state, context)).status == "checked"


def test_an_audience_of_another_state_is_unchecked(tmp_path):
    """Whose it is cannot be said without its key."""
    policy = Policy.read(UNLESS)
    request = Request("When?", JUDGE)
    engine = Engine(policy, state=tmp_path / "one.sqlite")
    context = run(disclose([Passage("p", TEXT)], request, engine), Scripted()).passages

    done = checked("It was seen.", given=(policy, None, context), principal=JUDGE)

    assert done.status == "annotated"
    assert [one.reason for one in done.decisions] == ["unchecked"]


def in_langchain(policy, answer, options):
    """Return the answer of a chain: released to a judge, then checked."""
    hook = langchain_sdrag.SelectiveDisclosureCompressor(policy=policy)
    with acting_as(JUDGE):
        context = hook.invoke([Document(TEXT, id="log")])
    guard = langchain_sdrag.AnswerGuard(policy=policy, options=options)
    return guard.invoke({"question": "When?", "context": context, "answer": answer})


def in_llamaindex(policy, answer, options):
    """Return the same of a synthesizer."""
    hook = llamaindex_sdrag.SelectiveDisclosurePostprocessor(policy=policy)
    node = NodeWithScore(node=TextNode(id_="log", text=TEXT))
    with acting_as(JUDGE):
        nodes = hook.postprocess_nodes([node], query_str="When?")
    inner = Answering([answer])
    guard = llamaindex_sdrag.AnswerGuard(inner, policy=policy, options=options)
    return guard.synthesize("When?", nodes).response


@pytest.mark.parametrize("face", [in_langchain, in_llamaindex])
def test_the_guards_of_both_frameworks_know_their_principal(face):
    """By `acting_as` or a resolver; whoever is not the retriever's gets no answer."""
    answer = "A grey van was seen on 4 May 2021."
    with acting_as(JUDGE):
        assert face(UNLESS, answer, None) == answer
    assert face(UNLESS, answer, None) == DECLINED
    for principal, text in ((JUDGE, answer), (OTHERS[1], DECLINED)):
        options = Options(principal_resolver=lambda _, who=principal: who)
        assert face(UNLESS, answer, options) == text


OPEN = {
    "14, mill lane, hull | 92, park road, leeds | 6, elm grove, york",
    "bluebird-holdings | redwood-partners | ironbridge-group",
}
"""Forms in everyday words alone: a wrong one is no different from any other answer."""
HELD = tomllib.loads(Path(__file__).with_name("guesses.toml").read_text())["held"]


@pytest.mark.parametrize("row", HELD, ids=lambda row: row["constraint"])
def test_a_guess_in_any_notation_tells_nothing(row):
    """A right value and two wrong ones come back alike, byte for byte."""
    given = world(row["constraint"], row["text"])
    forms = [line.split(" | ") for line in row["guesses"] if line not in OPEN]
    first, *rest = row["answers"]
    pairs = [*((first, form) for form in forms), *((each, forms[0]) for each in rest)]
    for frame, guesses in pairs:
        done = {told(checked(frame.format(guess), given=given)) for guess in guesses}
        assert len(done) == 1, done


def value(kind):
    """Return values of a kind that are written in the same way."""
    return st.builds(kind.format, *[DIGITS] * kind.count("{"))


DIGITS = st.integers(10, 99)
DAYS = st.dates(dt.date(1940, 1, 1), dt.date(2015, 12, 31))
NAMES_OF_PEOPLE = st.builds(
    "{} {}".format,
    st.sampled_from(["Robert", "Ola", "Grace", "Xiomara", "Mark", "Ngozi"]),
    st.sampled_from(["Meyers", "Lake", "Quint", "Zorblatt", "Okoro", "Brown"]),
)
KINDS = {
    "Remove account numbers": ("Her account number is {}.", value("{}{}{}{}")),
    "Remove number plates": ("The plate is {}.", value("AB{} CDE")),
    "Remove dates of birth": (
        "She was born on {}.",
        DAYS.map(lambda day: day.strftime("%d %B %Y")),
    ),
    "Remove telephone numbers": ("Call +44 20 79{} first.", value("{} {}{}")),
    "Remove e-mail addresses": ("Write to {}.", value("box{}@mail{}.example")),
    "Remove names of people": ("The bursar is {}.", NAMES_OF_PEOPLE),
}
SPELT = st.sampled_from(
    [
        str,
        str.upper,
        lambda guess: "-".join(guess.split()),
        lambda guess: guess.replace(" ", ""),
        lambda guess: " ".join(filter(str.isalnum, guess)),
        lambda guess: f"({guess})",
    ]
)


@pytest.mark.parametrize("sentence", KINDS)
@few
@hypothesis.given(data=st.data())
def test_any_two_values_written_alike_come_back_alike(sentence, data):
    """Whatever the values are, and however both are spelt."""
    frame, values = KINDS[sentence]
    true, false, spell = map(data.draw, (values, values, SPELT))
    held = world(sentence, frame.format(true))
    hypothesis.assume(true not in held[2][0].text)  # what was released tells nothing
    done = {
        told(checked(f"It is {spell(guess)} as asked.", given=held))
        for guess in (true, false)
    }
    assert len(done) == 1, done


def test_figures_that_were_released_stay():
    """In any notation."""
    text = (
        "Line 020 7946 0018 opened; room 12 14, by 2020-12-31, for 4,900,000 EUR."
        " The 14 rooms are near the quay."
    )
    answer = (
        "The line is (020) 7946-0018, in room 12 14, near the U.S., from"
        " December 31, 2020, for \u20ac4.9M or 4.9 million EUR; 14 rooms near the quay."
    )
    for sentence in (NAMES["constraints"][0], "Remove dates of birth and prices"):
        policy = Policy.read({"constraints": [sentence]})
        given = (policy, open_state(), [Passage("log", text)])
        assert checked(answer, given=given).text == answer
