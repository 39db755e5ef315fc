"""What one stage put in place of a value, no other stage reads, cuts or wraps."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_text_splitters import RecursiveCharacterTextSplitter
from llama_index.core.node_parser import SentenceSplitter

from sdrag.guardrails.answer_work import Draft
from sdrag.highlight import verify_highlights
from sdrag.pipeline import Engine, Request, check_answer, disclose
from sdrag.placeholders import DEFAULT, Placeholders
from sdrag.policy import Policy
from sdrag.state import open_state
from sdrag.vocabulary import Passage

from ..support.frameworks import BOTH
from ..support.properties import few

LETTERS = [
    "Dr. Marie Dupond signed the report on 4 May 2021. She has porphyria.",
    "Marie Dupond, born 4 May 1961, has porphyria and takes 20 mg of haem a day.",
    "Ms. Marie Dupond called 01632 960 114 about the lease in Tarnford.",
    "Her account 12345678 was closed. Write to marie.dupond@example.org.",
    "The museum opens at ten on weekdays, says J. Okafor (Tarnford Hall).",
    "(Note: Marie Dupond called) She paid [1] and [12] pounds to [Okafor].",
]
STYLES = ("label", "redact", "pseudonym")
ORDERS = st.lists(
    st.sampled_from(["mask", "view", "rephrase", "summarize"]), max_size=3
).filter(lambda order: order.count("summarize") < 2)  # a second tree replaces the first
NESTED = re.compile(r"\[[^\[\]]*\[")


def policy_of(style, placeholders, method):
    return {
        "constraints": [
            {"id": "who", "text": "Remove names of people", "method": method},
            "Hide dates, sums of money, doses and phone numbers",
            "Hide codes and numbers",
        ],
        "disclosure": {"placeholders": placeholders},
        "linkage": {"max_document_risk": 0.2, "max_chain_risk": 0.1, "replace": style},
        "grounding": {},
        "metadata": {"allow": ["source"]},
    }


@BOTH
@few
@given(
    st.lists(st.sampled_from(LETTERS), min_size=1, max_size=3, unique=True),
    ORDERS,
    st.sampled_from(STYLES),
    st.sampled_from(["type", "numbered", "plain"]),
)
def test_stages_come_in_any_order(
    tmp_path_factory, framework, texts, order, style, placeholders
):
    """Mask, redact, say again, twice or after one another: each leaves the marks."""
    state = open_state(tmp_path_factory.mktemp("state") / "state.db")
    model = framework.model(lambda prompt: "I cannot.")
    policy = policy_of(style, placeholders, "redact")
    again = policy_of(style, placeholders, "rephrase")
    package = framework.package
    stages = {
        "mask": lambda: package.LinkageMasker(policy, state=state, whole_corpus=True),
        "view": lambda: package.RedactingTransformer(policy, state=state),
        "rephrase": lambda: package.RedactingTransformer(again, model, state=state),
        "summarize": lambda: package.HierarchySummarizer(policy, state, model),
    }
    known = Placeholders.of(Policy.read(policy), state.shared_keys.placeholders)
    documents = [framework.document(f"d{n}", t) for n, t in enumerate(texts)]
    before = [[] for _ in documents]
    for name in [*order, "retrieve"]:
        if name == "retrieve":
            shown = framework.release(documents, policy=policy, state=state)
        else:
            documents = framework.transform(stages[name](), documents)
            shown = [framework.fields(each)[1] for each in documents]
        assert len(shown) >= len(before)  # summaries are added behind
        before += [[] for _ in shown[len(before) :]]
        for n, text in enumerate(shown):
            found = [span.of(text) for span in known.find(text)]
            assert not NESTED.search(text), (order, text)
            left = iter(found)
            assert all(mark in left for mark in before[n]), (order, before[n], text)
            before[n] = found
    passages = [Passage(f"p{n}", text) for n, text in enumerate(shown)]
    quoted = verify_highlights(
        [text[:-9] for text in shown], passages, cut_at="words", placeholders=known
    )
    for highlight in quoted:  # none is cut in two
        text = passages[int(highlight.passage_id[1:])].text
        touched = filter(highlight.span.overlaps, known.find(text))
        assert all(map(highlight.span.contains, touched))
    guard = Engine(policy, state=state, stage="answer")
    for passage in passages:  # an answer may say them again
        draft = Draft("What?", passage.text, tuple(passages))
        said, _ = guard.run(check_answer(draft, guard, None))
        assert [*known.find(said.text)] == [*known.find(passage.text)], said.status


SPLITTERS = {
    "recursive": lambda text: RecursiveCharacterTextSplitter(
        chunk_size=60, chunk_overlap=0
    ).split_text(text),
    "sentences": lambda text: SentenceSplitter(
        chunk_size=30, chunk_overlap=0
    ).split_text(text),
}


@pytest.mark.parametrize("name", SPLITTERS)
def test_what_splits_at_spaces_splits_no_placeholder(name):
    """A chunk holds one whole, or nothing of it."""
    numbered = DEFAULT.number("MEDICAL_CONDITION", "ab" * 16)
    pseudonym = DEFAULT.pseudonym("NAME", "cd" * 16)
    text = f"{pseudonym} has {numbered}. " * 9

    chunks = SPLITTERS[name](text)

    assert len(chunks) > 2
    found = [span.of(chunk) for chunk in chunks for span in DEFAULT.find(chunk)]
    assert sorted(found) == sorted([numbered, pseudonym] * 9)


def test_what_only_looks_like_one_is_text():
    """An author's, another state's, a forged one: they go where a constraint takes."""
    own, other = open_state(), Placeholders.of(Policy(), b"another state")
    genuine = Placeholders.of(Policy(), own.shared_keys.placeholders)
    number = genuine.number("NAME", "ab" * 16)
    alike = {
        "an author's": "[NAME 48213]",
        "another state's": next(
            each
            for each in (other.number("NAME", f"{n:032x}") for n in range(9))
            if not genuine.holds(each)
        ),
        "a forged one": f"{number[:-2]}{(int(number[-2]) + 1) % 10}]",
        "an author's name": "[Robert Meyers]",
    }
    engine = Engine(["Remove names of people", "Hide codes and numbers"], state=own)

    def released(text):
        passage = Passage("p", text, document_id="d")
        (left,) = engine.run(disclose([passage], Request("?"), engine))[0].passages
        return left.text

    assert released(f"It was {number} who called.") == f"It was {number} who called."
    for what, surface in alike.items():
        left = released(f"It was {surface} who called.")
        assert surface.strip("[]") not in left, what
        assert "[[" not in left, what
