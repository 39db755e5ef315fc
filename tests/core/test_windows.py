"""Texts in windows, as MiniLM reads them: nothing is skipped, no sentence is torn."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sdrag.embeddings.windows import Tokens
from sdrag.vocabulary import Span


def _tokens(lengths: list[int]) -> Tokens:
    """Sentences of so many tokens, of a character each."""
    numbers = [n for n, length in enumerate(lengths) for _ in range(length)]
    spans = [Span(index, index + 1) for index in range(len(numbers))]
    return Tokens("x" * len(numbers), numbers, spans, numbers)


@given(st.lists(st.integers(1, 700), min_size=1, max_size=30))
def test_every_token_is_read(lengths: list[int]) -> None:
    """Windows cover a text, go on, and hold what the model can read at once."""
    tokens = _tokens(lengths)

    windows = list(tokens.windows())
    read = {window.start + at for window in windows for at in range(len(window.ids))}

    assert read == set(range(sum(lengths)))
    assert all(0 < len(window.ids) <= 256 for window in windows)
    assert all(a.start < b.start for a, b in pairwise(windows))


@given(st.lists(st.integers(1, 60), min_size=1, max_size=40))
def test_sentences_that_fit_are_never_cut(lengths: list[int]) -> None:
    """A window begins where a sentence does and ends where one does."""
    tokens = _tokens(lengths)

    for window in tokens.windows():
        assert len(window.ids) == sum(lengths[number] for number in {*window.sentences})
