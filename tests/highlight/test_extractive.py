"""The highlighter over a question-answering model: whole sentences, or nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sdrag.effects.prompts import Label, untrusted
from sdrag.effects.steps import run
from sdrag.highlight.exchange import Context
from sdrag.highlight.extractive import Extractive
from sdrag.testing import Scripted
from sdrag.vocabulary import Passage

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

FERRY = "The ferry leaves at nine. It is green all over. It carries no cars at all."
MUSEUM = "The museum is old. It opens at ten in the morning."


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """A small tokenizer that knows the texts."""
    trained = tokenizers.BertWordPieceTokenizer()
    trained.train_from_iterator([FERRY, MUSEUM] * 20, show_progress=False)
    names = ("unk", "sep", "pad", "cls", "mask")
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer.from_str(trained.to_str()),
        **{f"{name}_token": f"[{name.upper()}]" for name in names},
    )


def marking(tokenizer: Any, first: str, last: str, score: float = 5.0) -> Any:
    """A trained model cannot be had here; this one marks two words of the passage."""
    start, end = tokenizer.convert_tokens_to_ids([first, last])

    def model(input_ids: Any, **_: Any) -> Any:
        starts, ends = (
            torch.where(input_ids == token, score, 0.0) for token in (start, end)
        )
        return SimpleNamespace(start_logits=starts, end_logits=ends)

    return model


def extracts(highlighter: Extractive, *texts: str) -> list[str]:
    passages = tuple(Passage(f"p{index}", text) for index, text in enumerate(texts))
    steps = highlighter(untrusted("When?"), Context(passages, Label.NONE))
    return list(run(steps, Scripted()).extracts)


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("nine", "nine", "The ferry leaves at nine."),
        ("green", "over", "It is green all over."),
        ("leaves", "green", "The ferry leaves at nine. It is green all over."),
    ],
)
def test_whole_sentences_around_the_answer(
    tokenizer: Any, first: str, last: str, expected: str
) -> None:
    """What is marked in mid-sentence, or over a full stop, becomes whole sentences."""
    model = marking(tokenizer, first, last)

    assert extracts(Extractive(model, tokenizer), FERRY) == [expected]


def test_an_answer_has_to_beat_no_answer(tokenizer: Any) -> None:
    """The score of the first token, and the margin over it, decide."""
    model = marking(tokenizer, "nine", "nine", score=2.0)

    assert extracts(Extractive(model, tokenizer, margin=3.9), FERRY)
    assert not extracts(Extractive(model, tokenizer, margin=4.1), FERRY)
    assert not extracts(
        Extractive(marking(tokenizer, "[CLS]", "[CLS]"), tokenizer), FERRY
    )


def test_the_best_passage_is_taken(tokenizer: Any) -> None:
    """Of several passages, the one with the best answer; more only if asked for."""
    model = marking(tokenizer, "ten", "ten")

    assert extracts(Extractive(model, tokenizer), FERRY, MUSEUM) == [
        "It opens at ten in the morning."
    ]


def test_an_answer_beyond_the_first_window_is_found(tokenizer: Any) -> None:
    """A long passage is read in windows that overlap."""
    model = marking(tokenizer, "ten", "ten")
    text = f"{FERRY * 12} {MUSEUM}"
    highlighter = Extractive(model, tokenizer, length=48, stride=16)

    assert extracts(highlighter, text) == ["It opens at ten in the morning."]


def test_the_question_is_no_answer(tokenizer: Any) -> None:
    """What the model marks in the question's own tokens is not looked at."""
    highlighter = Extractive(marking(tokenizer, "nine", "nine"), tokenizer)
    context = Context((Passage("p", "It is green all over."),), Label.NONE)

    assert run(highlighter(untrusted("nine"), context), Scripted()).extracts == ()


@pytest.mark.parametrize("texts", [("",), (" ", "\n"), ()])
def test_empty_passages_have_no_answer(tokenizer: Any, texts: tuple[str, ...]) -> None:
    """Nothing to read, nothing proposed."""
    assert not extracts(
        Extractive(marking(tokenizer, "nine", "nine"), tokenizer), *texts
    )
