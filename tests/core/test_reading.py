"""Texts read without padding and side by side: each as if it were alone."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from sdrag.detectors.tagger import tagging  # noqa: E402 -- torch comes first
from sdrag.disclosure.local.scorer import scores  # noqa: E402
from sdrag.minilm import load_minilm, model_folder, sentence_windows  # noqa: E402
from sdrag.minilm.sentence_windows import padded, tokenized  # noqa: E402

TEXTS = [
    "He came.",
    "She was seen on 4 May. Nobody knew why.",
    "He went.",
    "The boat lay at the quay. " * 60,
]


def _rows():
    _, tokenizer = load_minilm()
    return [tokenizer.encode(text).ids[:512] for text in TEXTS]


def _padding(network: Any, layers: Any) -> Any:
    """Return the network of transformers with the products of these layers."""
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig.from_json_file(model_folder() / "config.json")
    theirs = transformers.BertModel(config, add_pooling_layer=False).eval()
    for ours, other in [
        (network.embeddings, theirs.embeddings),
        *zip(layers, theirs.encoder.layer, strict=True),
    ]:
        for name, part in ours.named_modules():
            if not [*part.children()] and not isinstance(part, torch.nn.Dropout):
                other.set_submodule(name, part)
    return theirs


@pytest.mark.parametrize("module", [tagging, scores], ids=["tagger", "scorer"])
def test_without_padding_the_same_is_read(module) -> None:
    """Each row gives what transformers gives where all are filled up to the longest."""
    network, _ = module._loaded()
    rows = _rows()
    ids, mask = padded(rows)
    reference = _padding(network, [*network.lower, *network.upper])
    with torch.inference_mode():
        states = network.read(rows).split([len(row) for row in rows])
        filled = reference(input_ids=ids, attention_mask=mask).last_hidden_state

    for row, own, other in zip(rows, states, filled, strict=True):
        assert torch.allclose(own, other[: len(row)], atol=1e-4)


@pytest.mark.parametrize("place", range(len(TEXTS)))
def test_no_text_changes_what_another_gives(place: int) -> None:
    """A short one gives the same alone, though few rows are computed another way."""
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
