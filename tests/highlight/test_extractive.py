"""
Extractive highlighters; the models of spans are scripted.

None is packaged: what is tested is which windows a model reads, and what is made of the
spans that it marks. The tokenizer is MiniLM's own.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode

import langchain_sdrag
import llamaindex_sdrag
from sdrag.effects.prompts import Label, untrusted
from sdrag.errors import HostError
from sdrag.highlight.exchange import Context
from sdrag.highlight.extractive import ExtractiveHighlighter, mark_spans
from sdrag.vocabulary import Passage

QUESTION = "When does the museum open?"
MUSEUM = "The hall is old. The museum opens at ten. It has a cafe."
POOL = "The pool opens at six. It is heated."
FILLER = "Nothing of this is of any use here. " * 60
NO_ANSWER = {"score": 0.9, "start": 0, "end": 0, "answer": ""}


def marking(*words, **scores):
    """Return a model that marks the first of the words that a context holds."""

    def model(question, context, handle_impossible_answer):
        assert (question, handle_impossible_answer) == (QUESTION, True)
        assert len(context) < 1_300
        for word in words:
            if (start := context.find(word)) >= 0:
                score = scores.get(word, 0.5)
                return {"score": score, "start": start, "end": start + len(word)}
        return NO_ANSWER

    return model


def propose(model, *texts, **settings):
    passages = tuple(Passage(f"p{at}", text) for at, text in enumerate(texts))
    highlighter = ExtractiveHighlighter(model, **settings)
    return highlighter(untrusted(QUESTION), Context(passages, Label.NONE))


@pytest.mark.parametrize(
    ("model", "texts", "settings", "expected"),
    [
        (marking("ten"), (MUSEUM,), {}, ["The museum opens at ten."]),
        (
            marking("old. The"),
            (MUSEUM,),
            {},
            ["The hall is old. The museum opens at ten."],
        ),
        (marking(), (MUSEUM, POOL), {}, []),
        (
            lambda **_: [NO_ANSWER, {"score": 0.1, "start": 4, "end": 8}],
            (MUSEUM,),
            {},
            [],
        ),
        (
            marking("ten", "six", six=0.8),
            (MUSEUM, POOL),
            {},
            ["The pool opens at six."],
        ),
        (
            marking("ten", "six", six=0.8),
            (MUSEUM, POOL),
            {"most": 2},
            ["The pool opens at six.", "The museum opens at ten."],
        ),
        (marking("ten"), (MUSEUM,), {"min_score": 0.6}, []),
        (
            marking("ten"),
            (f"{FILLER}{MUSEUM} {FILLER}",),
            {},
            ["The museum opens at ten."],
        ),
        (marking("ten"), ("", MUSEUM), {}, ["The museum opens at ten."]),
        (lambda **_: {"score": 1, "start": 5, "end": 9_999}, (MUSEUM,), {}, []),
    ],
)
def test_the_sentences_around_what_a_model_marks_are_proposed(
    model, texts, settings, expected
):
    """Of all windows the likeliest answer; none, where the model prefers none."""
    assert propose(model, *texts, **settings) == expected


@pytest.mark.parametrize("given", [None, "ten", [], {"answer": "ten"}, [7]])
def test_a_model_that_gives_no_span_is_an_error_of_the_application(given):
    """It quotes nothing."""
    with pytest.raises(HostError) as caught:
        propose(lambda **_: given, MUSEUM)

    assert "ten" not in str(caught.value)


@pytest.mark.parametrize(
    ("marked", "expected"), [(("six", "six"), "six"), (("six", "heated"), None)]
)
def test_a_model_and_its_tokenizer_mark_a_span(marked, expected):
    """Where it beats no answer; a span that is too long does not count."""
    torch = pytest.importorskip("torch")
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415 -- of the extra

    from sdrag.embeddings import load_tokenizer  # noqa: PLC0415

    tokenizer = PreTrainedTokenizerFast(tokenizer_object=load_tokenizer())

    def model(input_ids, **_):
        words = tokenizer.convert_ids_to_tokens(input_ids[0])
        logits = [
            torch.tensor([[float(word == of) for word in words]]) for of in marked
        ]
        for row in logits:
            row[0, 0] = 0.9
        return SimpleNamespace(start_logits=logits[0], end_logits=logits[1])

    found = mark_spans(model, tokenizer, longest=3)(question=QUESTION, context=POOL)

    assert POOL[found["start"] : found["end"]] == (expected or "")


def test_it_is_a_highlighter_of_both_frameworks():
    """What it proposes is verified like any other highlight."""
    highlighter = ExtractiveHighlighter(marking("ten"))
    runnable = langchain_sdrag.HighlightAndSummarize(highlighter=highlighter)
    synthesizer = llamaindex_sdrag.HighlightAndSummarize(highlighter=highlighter)
    node = NodeWithScore(node=TextNode(text=MUSEUM))

    answered = runnable.invoke({"question": QUESTION, "context": [Document(MUSEUM)]})

    assert answered == "The museum opens at ten."
    assert str(synthesizer.synthesize(QUESTION, [node])) == answered
