"""
Probabilities of words and sentences, by the scorer and the gate.

Both are the packaged MiniLM with four trained layers and a head (what SD-RAG, section
V, leaves as fine-tuned redaction). `score` reads whole texts for all constraints at
once. `decide` reads a constraint and a sentence together and nothing else, so no
neighbour, title or heading changes a decision. Texts, training scripts and limits:
benchmarks/scorer/.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from sdrag.embeddings import few_threads, has_network
from sdrag.embeddings.windows import (
    CLS,
    SEP,
    Window,
    batches,
    check_finite,
    pad,
    read_words,
    tokenize,
)
from sdrag.errors import UsageError, require_extra
from sdrag.vocabulary import SCORE_DIGITS, Confidential, Span

if TYPE_CHECKING:
    from torch import Tensor

    from sdrag.disclosure.local.network import InView, Queries

    Row = np.ndarray[tuple[int], np.dtype[np.float32]]
    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

_WEIGHTS = {
    name: files(__package__).joinpath(f"{name}.safetensors")
    for name in ("scorer", "gate")
}
_GATE_WINDOWS = ((94, 62), (20, 10))
"""Tokens of the gate's windows, and their stride: some sixty words, and a clause."""
_SHORT = 26
"""A sentence of more tokens is read in both, so that no padding closes it."""
_POLICIES = 16
"""Sets of constraints that are kept as the networks read them."""
_MAX_TOKENS = 510
"""Tokens of a constraint that a network can read."""


@dataclass(frozen=True, slots=True, repr=False)
class Scores(Confidential):
    """The words of a text, and their probabilities: (constraints, words)."""

    words: tuple[Span, ...]
    chances: Matrix


@dataclass(frozen=True, slots=True, repr=False)
class GateScores(Confidential):
    """The probability that a sentence holds what is withheld, and that a word tells."""

    chance: float
    words: tuple[Span, ...]
    chances: Row


def is_available(name: str) -> bool:
    """Return True if the "scorer" or the "gate" can be loaded: see `has_network`."""
    return has_network(f"The trained {name}", _WEIGHTS[name])


def _load(name: str) -> tuple[Any, Any]:
    feature = f"The trained {name}"
    with require_extra("local", feature):
        from sdrag.disclosure.local import network  # noqa: PLC0415 -- it loads torch
        from sdrag.embeddings.network import load_network  # noqa: PLC0415
    kind = network.GateNetwork if name == "gate" else network.LateInteraction
    return load_network(kind, feature, _WEIGHTS[name])


def score(texts: Sequence[str], constraints: Sequence[str]) -> list[Scores]:
    """
    Score the words of texts for all constraints at once.

    Args:
        texts: Each is read apart from the others, in windows that overlap.
        constraints: Their words.
    """
    network, tokenizer = _load("scorer")

    def read(windows: Sequence[Window]) -> Tensor:
        queries = _prepare(tuple(constraints))
        states = network.read_between([window.ids for window in windows])
        logits = network.logits(states, _number_sentences(windows), queries)
        return check_finite(logits, "The trained scorer").sigmoid()

    return [
        Scores(words, chances.round(SCORE_DIGITS))
        for words, chances in read_words(texts, tokenizer, len(constraints), read)
    ]


@lru_cache(maxsize=_POLICIES)
def _prepare(constraints: tuple[str, ...]) -> Queries:
    import torch  # noqa: PLC0415 -- `import sdrag` must not load it

    network, tokenizer = _load("scorer")
    coded = [tokenizer.encode(text).ids for text in constraints]
    lengths = [len(ids) for ids in coded]
    if (longest := max(lengths)) > _MAX_TOKENS:
        raise UsageError(
            f"A constraint has {longest} tokens; {_MAX_TOKENS} can be read.",
            hint="Say it in fewer words, or in several constraints.",
        )
    states = network.read(coded).split_with_sizes(lengths)
    padded = torch.nn.utils.rnn.pad_sequence([*states], batch_first=True)
    queries: Queries = network.prepare(padded, pad(coded)[1])
    return queries


def _number_sentences(windows: Sequence[Window]) -> Tensor:
    """Return the number of each token's sentence, from 0 over all windows."""
    import torch  # noqa: PLC0415 -- see _prepare

    numbers: list[int] = []
    for window in windows:
        first = numbers[-1] + 1 if numbers else 0
        first -= window.sentences[0]
        numbers += [first + number for number in window.sentences]
    return torch.tensor(numbers)


def decide(
    pairs: Sequence[tuple[int, str]], constraints: Sequence[str]
) -> list[GateScores]:
    """
    Decide sentences, each for one constraint.

    A long sentence is read in windows, and takes the maximum of them, so that nothing
    added to a sentence closes it.

    Args:
        pairs: The number of a constraint and a sentence.
        constraints: Their words.
    """
    import torch  # noqa: PLC0415

    if not pairs:
        return []
    unique = list(dict.fromkeys(pairs))  # chunks overlap, so sentences repeat
    network, tokenizer = _load("gate")
    coded = {text: tokenize(text, tokenizer) for text in {text for _, text in unique}}
    tokens = [coded[text] for _, text in unique]
    by_token = [np.zeros(len(text.ids), dtype=np.float32) for text in tokens]
    by_sentence = [0.0] * len(unique)
    windows = [
        (at, start, ids)
        for at, text in enumerate(tokens)
        for start, ids in _gate_windows(text.ids)
    ]
    with torch.inference_mode(), few_threads([]):
        view = _view(tuple(constraints))
        for batch in batches([len(ids) for *_, ids in windows]):
            read = [windows[index] for index in batch]
            of = view.of(torch.tensor([unique[at][0] for at, *_ in read]))
            sentences, words = _run_gate(network, [ids for *_, ids in read], of)
            for (at, start, ids), chance, chances in zip(
                read, sentences, words, strict=True
            ):
                by_sentence[at] = max(by_sentence[at], round(chance, SCORE_DIGITS))
                part = by_token[at][start : start + len(ids)]
                np.maximum(part, chances[1 : len(ids) + 1], out=part)
    decisions = {
        pair: GateScores(chance, *text.join(chances))
        for pair, chance, text, chances in zip(
            unique, by_sentence, tokens, by_token, strict=True
        )
    }
    return [decisions[pair] for pair in pairs]


def _run_gate(
    network: Any, windows: Sequence[tuple[int, ...]], view: InView
) -> tuple[list[float], Matrix]:
    """Read windows, each for one constraint; the lower layers read each text once."""
    import torch  # noqa: PLC0415

    rows = {ids: row for row, ids in enumerate(dict.fromkeys(windows))}
    places = torch.tensor([rows[ids] for ids in windows])
    padded, mask = pad([(CLS, *ids, SEP) for ids in rows])
    states = network.begin(padded, mask)
    sentences, words = (
        check_finite(logits, "The trained gate").sigmoid()
        for logits in network(states[places], mask[places], view)
    )
    return sentences.tolist(), words.numpy().round(SCORE_DIGITS)


def _gate_windows(ids: Sequence[int]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield windows that overlap, each with the number of its first token."""
    for size, step in _GATE_WINDOWS if len(ids) > _SHORT else _GATE_WINDOWS[:1]:
        for start in range(0, max(1, len(ids) - size + step), step):
            if part := tuple(ids[start : start + size]):
                yield start, part


@lru_cache(maxsize=_POLICIES)
def _view(constraints: tuple[str, ...]) -> InView:
    network, tokenizer = _load("gate")
    ids, mask = pad([tokenizer.encode(text).ids[:_MAX_TOKENS] for text in constraints])
    view: InView = network.view(network.begin(ids, mask), mask)
    return view
