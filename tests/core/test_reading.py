"""Texts read side by side: each as if it were alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

torch = pytest.importorskip("torch")

from transformers import BertModel  # noqa: E402 -- torch comes first

from sdrag import embeddings  # noqa: E402
from sdrag.detectors.tagger import tags  # noqa: E402
from sdrag.disclosure.local import scorer  # noqa: E402 -- torch comes first
from sdrag.embeddings import embed_texts, embed_tokens, load_minilm  # noqa: E402
from sdrag.embeddings.windows import Window, read_words, tokenize  # noqa: E402
from sdrag.memo import Memo  # noqa: E402

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
    network, _ = scorer._load("scorer")
    rows = _rows()
    with torch.inference_mode():
        beside = network.read(rows).split([len(row) for row in rows])[place]
        alone = network.read([rows[place]])

    assert torch.allclose(alone, beside, atol=1e-5)


def test_what_reads_alike_is_read_once() -> None:
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


def test_a_token_of_two_windows_is_given_their_mean() -> None:
    """Windows overlap."""
    _, tokenizer = load_minilm()
    text = tokenize(TEXTS[3], tokenizer)
    _, second, *_ = text.windows()
    numbers = iter(range(100))

    def network(windows):
        each = [torch.full((1, len(w.ids)), float(next(numbers))) for w in windows]
        return torch.cat(each, dim=1)

    ((words, matrix),) = read_words([TEXTS[3]], tokenizer, 1, network)

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
    """A reader, in an application with three threads, and how many each pass has."""
    before, seen = torch.get_num_threads(), []
    torch.set_num_threads(OWN)
    forward = BertModel.forward

    def seeing(self, *args, **kwargs):
        seen.append(torch.get_num_threads())
        return forward(self, *args, **kwargs)

    monkeypatch.setattr(BertModel, "forward", seeing)
    monkeypatch.setattr(embeddings, "_vectors", Memo(0))
    yield READERS[request.param], seen
    torch.set_num_threads(before)


def test_a_short_text_is_read_on_one_thread(reading):
    """The application's own count is what it was, on its other threads too."""
    read, seen = reading

    def counted(number):
        before = torch.get_num_threads()
        read(f"He came to number {number}.")
        return before, torch.get_num_threads()

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(counted, range(8))] == [(OWN, OWN)] * 8
    assert counted(8) == (OWN, OWN)
    assert set(seen) == {1}


def test_a_long_text_is_read_on_as_many_as_the_application_has(reading):
    """Binding a corpus is quicker so, where nothing else computes."""
    read, seen = reading

    read("He came. " * 2500)

    assert set(seen) == {OWN}


def test_threads_that_begin_meanwhile_have_their_own_count(reading, monkeypatch):
    """They are asked in the middle of a reading."""
    read, _ = reading
    forward, begun = BertModel.forward, []

    def beginning(self, *args, **kwargs):
        with ThreadPoolExecutor(1) as pool:
            begun.append(pool.submit(torch.get_num_threads).result())
        return forward(self, *args, **kwargs)

    monkeypatch.setattr(BertModel, "forward", beginning)
    read("He came.")

    assert set(begun) == {OWN}


def test_the_count_is_given_back_after_an_error(reading, monkeypatch):
    read, _ = reading

    def failing(*_args, **_kwargs):
        assert torch.get_num_threads() == 1
        raise ValueError

    monkeypatch.setattr(BertModel, "forward", failing)
    with pytest.raises(ValueError, match=r"^$"):
        read("He went away.")

    assert torch.get_num_threads() == OWN
