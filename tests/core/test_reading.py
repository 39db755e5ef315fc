"""Texts read side by side: each as if it were alone."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from sdrag.disclosure.local.scorer import scores  # noqa: E402 -- torch comes first
from sdrag.minilm import load_minilm, sentence_windows  # noqa: E402
from sdrag.minilm.sentence_windows import tokenized  # noqa: E402

TEXTS = [
    "He came.",
    "She was seen on 4 May. Nobody knew why.",
    "He went.",
    "The boat lay at the quay. " * 60,
]


def _rows():
    _, tokenizer = load_minilm()
    return [tokenizer.encode(text).ids[:512] for text in TEXTS]


@pytest.mark.parametrize("place", range(len(TEXTS)))
def test_no_text_changes_what_another_gives(place: int) -> None:
    """But for its last digits, which depend on what is computed together."""
    network, _ = scores._loaded()
    rows = _rows()
    with torch.inference_mode():
        beside = network.read(rows).split([len(row) for row in rows])[place]
        alone = network.read([rows[place]])

    assert torch.allclose(alone, beside, atol=1e-5)


def test_what_reads_alike_is_read_once() -> None:
    """Every place of it is given what it says all the same."""
    _, tokenizer = scores._loaded()
    texts = [tokenized(text, tokenizer) for text in ["He came.", "She.", "He came."]]
    seen: list[sentence_windows.Window] = []

    def chances(windows):
        seen.extend(windows)
        return torch.tensor([[float(i) for window in windows for i in window.ids]])

    found = sentence_windows.means(texts, 1, chances)

    assert len(seen) == 2
    for text, own in zip(texts, found, strict=True):
        assert own.tolist() == [list(map(float, text.ids))]


def test_a_token_of_two_windows_is_given_their_mean() -> None:
    """Windows overlap."""
    _, tokenizer = scores._loaded()
    (text,) = [tokenized(TEXTS[3], tokenizer)]
    first, second, *_ = text.windows()
    numbers = iter(range(100))

    def chances(windows):
        each = [torch.full((1, len(w.ids)), float(next(numbers))) for w in windows]
        return torch.cat(each, dim=1)

    (own,) = sentence_windows.means([text], 1, chances)

    assert own.shape == (1, len(text.ids))
    assert len(set(own[0, first.start : second.stop].tolist())) > 1
