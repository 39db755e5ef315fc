"""What redaction withheld is found in the answer, by the register of its document."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from sdrag import Principal
from sdrag.effects.steps import run
from sdrag.guardrails.answer_work import Draft
from sdrag.pipeline import Engine, Request, check_answer, disclose
from sdrag.policy import Policy
from sdrag.state import open_state
from sdrag.vocabulary import Passage
from tests.support.spellings import ADDRESSES_ONLY, DISGUISES, ENCODINGS, NAMES_ONLY

from ..support.scripted import Scripted, locate_by
from .answers import NOW

CODES = {"constraints": [{"id": "codes", "text": "Hide the code words"}]}
LOG = Passage("log", "Elspeth Moor built the harbour of Lorne.", document_id="log")
DIARY = Passage("diary", "Ailsa Craig was in the ferry's bar.", document_id="diary")
WORDS = st.lists(
    st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True), min_size=1, max_size=5
)


def released(state, *passages, hidden, reason="local", policy=CODES, principal=None):
    """Return what a retriever over this state hands on."""
    pattern = "|".join(map(re.escape, hidden))
    engine = locate_by(Engine(policy, state=state), pattern, reason)
    steps = disclose(passages, Request("Who was it?", principal), engine)
    return run(steps, Scripted()).passages


def checked(answer, passages, state, policy=CODES, principal=None):
    """Return an answer after the guard, which knows the state and no corpus."""
    draft, policy = Draft("Who was it?", answer, tuple(passages)), Policy.read(policy)
    engine = Engine(policy, state=open_state(state), stage="answer")
    steps = check_answer(draft, engine, principal, now=NOW)
    return run(steps, Scripted())


def reasons(guarded):
    """Return what the guard has decided, without what it released."""
    return [
        decision.reason
        for decision in guarded.decisions
        if decision.action != "released"
    ]


def gone(answer, form, *, reason="local", policy=CODES):
    """Say whether a form that was withheld is cut out of an answer."""
    state = open_state()
    passage = Passage("p", f"It was {form} there.", document_id="d")
    context = released(state, passage, hidden=[form], reason=reason, policy=policy)
    assert form not in context[0].text
    return checked(answer, context, state, policy).text != answer.strip()


SPELT = [
    *((name, "Elspeth Moor", spell) for name, spell in ENCODINGS.items()),
    *((name, "Elspeth Moor", spell) for name, spell in DISGUISES.items()),
    *((name, "Delia Meyers", spell) for name, spell in NAMES_ONLY.items()),
    *((name, "d.meyers@corp.com", spell) for name, spell in ADDRESSES_ONLY.items()),
]


def test_what_was_withheld_is_cut_however_the_answer_spells_it():
    """A model that was told to encode what it leaks gives away no more."""
    policy = {"constraints": [{"id": "codes", "text": "Hide names and addresses"}]}
    cut = r"The answer is .{0,8}\[withheld\].{0,12}, as asked\."
    contexts = {}
    for form in dict.fromkeys(form for _, form, _ in SPELT):
        state, hidden = open_state(), [form, form.split()[-1]]
        passage = Passage("p", f"It was {form} there.", document_id="d")
        contexts[form] = released(state, passage, hidden=hidden, policy=policy), state
    for name, form, spell in SPELT:
        answer = f"The answer is {spell(form)}, as asked."
        done = checked(answer, *contexts[form], policy)

        assert spell(form) not in done.text, name
        assert re.fullmatch(cut, done.text, re.DOTALL), name
        assert done.status == "annotated"


def test_a_form_of_another_document_is_left_alone():
    """A secret of the log is none in an answer from the diary, and the other way."""
    state, hidden = open_state(), ["Elspeth Moor", "Ailsa Craig"]
    log = released(state, LOG, hidden=hidden)
    diary = released(state, DIARY, hidden=hidden)
    answer = "It was Elspeth Moor or Ailsa Craig."

    assert checked(answer, log, state).text == "It was [withheld] or Ailsa Craig."
    assert checked(answer, diary, state).text == "It was Elspeth Moor or [withheld]."
    assert checked(answer, [*log, *diary], state).text == (
        "It was [withheld] or [withheld]."
    )


def test_a_document_of_one_tenant_is_none_of_another():
    """Two tenants may call their documents the same."""
    state, hidden = open_state(), ["Elspeth Moor", "Swallow"]
    policy = {**CODES, "access": {}}
    texts = {"a": "Elspeth Moor came.", "b": "Swallow came."}
    contexts = {
        tenant: released(
            state,
            Passage(tenant, text, {"tenant": tenant}, document_id="log"),
            hidden=hidden,
            policy=policy,
            principal=Principal("u", tenant=tenant),
        )
        for tenant, text in texts.items()
    }

    answer, principal = "Elspeth Moor or Swallow?", Principal("u", tenant="b")
    said = checked(answer, contexts["b"], state, policy, principal)

    assert said.text == "Elspeth Moor or [withheld]?"


def test_what_somebody_may_read_they_may_be_told():
    """A constraint that was lifted withheld nothing from them."""
    names = {"text": "Remove the names of witnesses", "unless": {"roles": ["judge"]}}
    policy = {"constraints": [names, "Remove all dates"]}
    answer = "Anna Karlsson saw it on 4 May 2021."
    passages = [Passage("log", f"The witness {answer}", document_id="log")]
    for role, text in (
        ("judge", "Anna Karlsson saw it on [withheld]."),
        ("clerk", "[withheld] saw it on [withheld]."),
    ):
        who, state = Principal("u", roles=frozenset({role})), open_state()
        engine = Engine(policy, state=state)
        steps = disclose(passages, Request("Who saw it?", who), engine)
        context = run(steps, Scripted()).passages

        assert checked(answer, context, state, policy, who).text == text


FORM = "Elspeth Moor"
WRITTEN = [
    # an answer, what was withheld, and whether that is in it
    ("So says elspeth moor here.", FORM, True),
    ("So says Elspeth Moor's here.", FORM, True),
    ("So says ELSPETH-MOOR here.", FORM, True),
    ("So says ElspethMoor here.", FORM, True),
    ("So says Elspeth\u200b  Moor here.", FORM, True),
    ("So says Els\u00adpeth Moor here.", FORM, True),
    ("So says \uff25lspeth Moor here.", FORM, True),
    ("So says Elsp\u00e9th Moor here.", FORM, True),
    ("\u6628\u65e5\u306f\u6771\u4eac\u3067", "\u6771\u4eac", True),
    ("It was Elspeth Moorland.", FORM, False),
    ("It was Moor.", FORM, False),
    ("It was on the moor, said Elspeth.", FORM, False),
    ("We li low.", "Li", False),
]


def test_a_form_is_found_however_it_is_written_and_other_words_stay():
    """Case, accents, hyphens, invisible and full-width letters change nothing."""
    assert [case for case in WRITTEN if gone(*case[:2]) is not case[2]] == []


def test_a_constraint_on_people_withholds_other_forms_of_a_name():
    """The surname alone and the initial are the person too."""
    people = {"constraints": ["Remove the names of witnesses"]}

    for name in ("Moor", "E. Moor", "Moor, Elspeth", "Captain Moor", "Elspeth"):
        assert gone(f"It was {name}, they say.", FORM, policy=people), name


@given(st.text(max_size=60), st.text(max_size=60), WORDS)
def test_a_form_between_spaces_is_always_found(before, after, words):
    """Whatever stands around it, a form with enough letters is found."""
    assume(len("".join(words)) >= 3)
    answer = f"{before} {' '.join(words)} {after}"
    state = open_state()
    form = "-".join(words)
    passage = Passage("p", f"It was {form} there.", document_id="d")
    context = released(state, passage, hidden=[form])

    done = checked(answer, context, state)

    expected = {"not-in-context"}
    if done.status == "declined":
        expected |= {"malformed"}
    assert expected.intersection(reasons(done))


def test_a_word_hidden_for_its_meaning_is_no_form_unless_it_is_surely_rare():
    """A lamp is a secret where it was stolen; elsewhere it is a lamp."""
    for word, reason, is_form in (
        ("lamp", "scored", False),
        ("lamp", "cue", False),
        ("theodolite", "scored", False),
        ("theodolite", "again", True),
        ("lamp", "local", True),
        ("lamp", "model", True),
    ):
        assert gone(f"Bring a {word}.", word, reason=reason) is is_form, reason


def test_withheld_forms_are_written_nowhere_and_found_by_whoever_opens_the_state(
    tmp_path,
):
    """The state holds no word; a guard with its path and the constraint finds them."""
    path = tmp_path / "state.sqlite"
    context = released(path, LOG, hidden=[FORM])
    plain = {"placeholders": "plain", "placeholder": "[CUT]"}
    longer = {**CODES, "disclosure": plain, "staleness": {}}

    done = checked("It was Elspeth Moor.", context, path, longer)

    assert done.text == "It was [CUT]."
    for file in (item for item in tmp_path.iterdir() if item.is_file()):
        held = file.read_bytes().lower()
        words = re.findall(r"\w{4,}", LOG.text.lower())
        assert not [word for word in words if word.encode() in held]


def test_what_is_not_known_to_the_state_is_unchecked():
    """A passage that says it was cut: a false handle, a forgotten document."""
    state = open_state()
    context = released(state, LOG, hidden=[FORM])
    for document in (None, "", "zz", "00", "00" * 8, 7, ["00"]):
        facts = {"constraints": ["codes"], "spans": 1, "document": document}
        unknown = replace(LOG, text="[withheld] built it.", metadata={"sdrag": facts})
        done = checked("The harbour was built.", [unknown], open_state())

        assert (done.text, done.status) == ("The harbour was built.", "annotated")
        assert reasons(done) == ["unchecked"], document

        done = checked("Elspeth Moor.", [*context, unknown], state)
        assert reasons(done) == ["not-in-context", "unchecked"], document

    handle = bytes.fromhex(context[0].metadata["sdrag"]["document"])
    state.findings.forget([handle])
    assert reasons(checked("It was built.", context, state)) == ["unchecked"]


def test_a_policy_without_the_constraint_finds_it_or_says_so():
    """The guard cannot tell what the constraint of another policy withheld."""
    state = open_state()
    context = released(state, LOG, hidden=[FORM])
    reworded = {"constraints": [{"id": "codes", "text": "Hide the ports"}]}
    renamed = {"constraints": [{"id": "others", "text": "Hide the code words"}]}

    for policy in ({}, reworded, renamed):
        done = checked("It was Elspeth Moor.", context, state, policy)
        assert set(reasons(done)) & {"not-in-context", "unchecked"}
