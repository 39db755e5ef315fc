"""
Probabilities of words and sentences, by the scorer and the gate.

Both are the packaged MiniLM with four trained layers and a head (what SD-RAG, section
V, leaves as fine-tuned redaction). `score` reads whole texts for all constraints at
once. `decide` reads a constraint and a sentence together and nothing else, so no
neighbour, title or heading changes a decision. Texts, training scripts and limits:
benchmarks/scorer/.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from sdrag.embeddings import (
    DIMENSIONS,
    has_network,
    load_network,
    load_tokenizer,
    to_unit_length,
)
from sdrag.embeddings.windows import (
    CLS,
    SEP,
    Window,
    batches,
    check_finite,
    pad,
    read_between,
    read_words,
    to_probabilities,
    tokenize,
)
from sdrag.errors import UsageError
from sdrag.vocabulary import SCORE_DIGITS, Confidential, Span

if TYPE_CHECKING:
    from sdrag.embeddings.runtime import Network

    Row = np.ndarray[tuple[int], np.dtype[np.float32]]
    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

_WEIGHTS = {
    name: files(__package__).joinpath(f"{name}.safetensors")
    for name in ("scorer", "gate")
}
_QUERIES = ("query", "words", "values", "unused")
_VIEW = ("keys", "context", "hidden", *_QUERIES)
"""How the graphs name what they make of constraints."""
_AT_ONCE = 256
"""Tokens that are scored for all constraints at once, to stay in the CPU's cache."""
_GATE_WINDOWS = ((94, 62), (20, 10))
"""Tokens of the gate's windows, and their stride: some sixty words, and a clause."""
_SHORT = 26
"""
A sentence of more tokens is read in both, so that no padding closes it.

Of 756 sentences padded with others' clauses 9 close so; with clauses of 32 tokens 18,
of 40 tokens 22, with the first windows alone 41.
"""
_POLICIES = 16
"""Sets of constraints that are kept as the networks read them."""
_LEAST = 1e-4
"""Probabilities are clipped to this distance from 0 and 1."""
_MAX_TOKENS = 510
"""Tokens of a constraint that a network can read."""


@dataclass(frozen=True, slots=True, repr=False)
class Scores(Confidential):
    """
    The words of a text, and their probabilities: (constraints, words).

    In `cosines` are those to what it was compared with, row by row: of each word to the
    phrases, and of its sentence to the sentences.
    """

    words: tuple[Span, ...]
    chances: Matrix
    cosines: Matrix


@dataclass(frozen=True, slots=True, repr=False)
class Compared(Confidential):
    """What texts are compared with while they are read: rows of unit length."""

    phrases: Matrix
    sentences: Matrix


@dataclass(frozen=True, slots=True, repr=False)
class GateScores(Confidential):
    """The probability that a sentence holds what is withheld, and that a word tells."""

    chance: float
    words: tuple[Span, ...]
    chances: Row


def is_available(name: str) -> bool:
    """Return True if the "scorer" or the "gate" can be loaded: see `has_network`."""
    return has_network(f"The trained {name}", _WEIGHTS[name])


def _load(name: str, graph: str) -> Network:
    is_available(name)  # or an error that says what is missing
    return load_network(files(__package__).joinpath(f"{graph}.onnx"), _WEIGHTS[name])


def score(
    texts: Sequence[str],
    constraints: Sequence[str],
    compared: Compared | None = None,
) -> list[Scores]:
    """
    Score the words of texts for all constraints at once.

    Args:
        texts: Each is read apart from the others, in windows of whole sentences.
        constraints: Their words.
        compared: What the texts are compared with; it changes no probability.
    """
    reader, scorer = _load("scorer", "scorer-read"), _load("scorer", "scorer")
    tokenizer = load_tokenizer()

    def read(windows: Sequence[Window]) -> Matrix:
        queries = _prepare(tuple(constraints))
        states = read_between(reader, [window.ids for window in windows])
        around = _average_sentences(states, windows)
        parts = [
            scorer.run(
                states=states[at : at + _AT_ONCE],
                around=around[at : at + _AT_ONCE],
                **queries,
            )[0]
            for at in range(0, len(states), _AT_ONCE)
        ]
        logits = np.concatenate(parts, axis=1)
        chances = to_probabilities(check_finite(logits, "The trained scorer"))
        if compared is None:
            return chances
        near = to_unit_length(states) @ compared.phrases.T
        alike = to_unit_length(around) @ compared.sentences.T
        return np.concatenate([chances, near.T, alike.T])

    count = len(constraints)
    outputs = count
    if compared is not None:
        outputs += len(compared.phrases) + len(compared.sentences)
    return [
        Scores(words, rows[:count].round(SCORE_DIGITS), rows[count:])
        for words, rows in read_words(texts, tokenizer, outputs, read)
    ]


def read_states(text: str) -> tuple[tuple[Span, ...], Matrix]:
    """Return the tokens of a text, and how the scorer reads them: (tokens, 384)."""
    tokens = tokenize(text, load_tokenizer())
    if not tokens.ids:
        return (), np.empty((0, DIMENSIONS), dtype=np.float32)
    reader = _load("scorer", "scorer-read")
    windows = [*tokens.windows(around=False)]
    states = read_between(reader, [window.ids for window in windows])
    spans = [s for w in windows for s in tokens.spans[w.start :][: len(w.ids)]]
    return tuple(spans), states


@lru_cache(maxsize=_POLICIES)
def _prepare(constraints: tuple[str, ...]) -> Mapping[str, Any]:
    """Return constraints as the scorer takes them, for any number of texts."""
    coded = [load_tokenizer().encode(text).ids for text in constraints]
    if (longest := max(map(len, coded))) > _MAX_TOKENS:
        raise UsageError(
            f"A constraint has {longest} tokens; {_MAX_TOKENS} can be read.",
            hint="Say it in fewer words, or in several constraints.",
        )
    ids, mask = pad(coded)
    (states,) = _load("scorer", "scorer-read").run(ids=ids, mask=mask)
    prepared = _load("scorer", "scorer-prepare").run(states=states, mask=mask)
    return dict(zip(_QUERIES, prepared, strict=True))


def _average_sentences(states: Matrix, windows: Sequence[Window]) -> Matrix:
    """Return for each token the mean of its sentence, as far as it is in the window."""
    numbers = [(at, n) for at, window in enumerate(windows) for n in window.sentences]
    starts = [
        at for at, number in enumerate(numbers) if at == 0 or number != numbers[at - 1]
    ]
    counts = np.diff([*starts, len(numbers)])
    sums = np.add.reduceat(states, starts, axis=0)
    means: Matrix = np.repeat(sums / counts[:, None], counts, axis=0)
    return means.astype(np.float32)


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
    if not pairs:
        return []
    unique = list(dict.fromkeys(pairs))  # chunks overlap, so sentences repeat
    tokenizer = load_tokenizer()
    coded = {text: tokenize(text, tokenizer) for text in {text for _, text in unique}}
    tokens = [coded[text] for _, text in unique]
    by_token = [np.zeros(len(text.ids), dtype=np.float32) for text in tokens]
    by_sentence = [0.0] * len(unique)
    windows = [
        (at, start, ids)
        for at, text in enumerate(tokens)
        for start, ids in _gate_windows(text.ids)
    ]
    view = _view(tuple(constraints))
    for batch in batches([len(ids) for *_, ids in windows]):
        read = [windows[index] for index in batch]
        asked = [unique[at][0] for at, *_ in read]
        sentences, words = _run_gate([ids for *_, ids in read], asked, view)
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


def unite(decision: GateScores, scored: Row) -> GateScores:
    """Return the weighted means of the gate's logits and the scorer's of the words."""
    sentence = 2 * logit(decision.chance) + logit(float(scored.max(initial=0.0)))
    words = logit(decision.chances) + logit(scored)
    return GateScores(
        float(_sigmoid(sentence / 3)), decision.words, _sigmoid(words / 2)
    )


def logit(chances: Any) -> Any:
    """Return the logits of probabilities, which are clipped."""
    kept = np.clip(chances, _LEAST, 1 - _LEAST)
    return np.log(kept / (1 - kept))


def _sigmoid(logits: Any) -> Any:
    return 1 / (1 + np.exp(-logits))


def _run_gate(
    windows: Sequence[tuple[int, ...]],
    constraints: Sequence[int],
    view: Mapping[str, Any],
) -> tuple[list[float], Matrix]:
    """Read windows, each for one constraint; the lower layers read each text once."""
    rows = {ids: row for row, ids in enumerate(dict.fromkeys(windows))}
    ids, mask = pad([(CLS, *row, SEP) for row in rows])
    sentences, words = (
        to_probabilities(check_finite(logits, "The trained gate"))
        for logits in _load("gate", "gate").run(
            ids=ids,
            mask=mask,
            texts=np.array([rows[window] for window in windows]),
            constraints=np.array(constraints),
            **view,
        )
    )
    return sentences.tolist(), words.round(SCORE_DIGITS)


def _gate_windows(ids: Sequence[int]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield windows that overlap, each with the number of its first token."""
    for size, step in _GATE_WINDOWS if len(ids) > _SHORT else _GATE_WINDOWS[:1]:
        for start in range(0, max(1, len(ids) - size + step), step):
            if part := tuple(ids[start : start + size]):
                yield start, part


@lru_cache(maxsize=_POLICIES)
def _view(constraints: tuple[str, ...]) -> Mapping[str, Any]:
    """Return constraints as the gate reads a sentence in view of them."""
    tokenizer = load_tokenizer()
    ids, mask = pad([tokenizer.encode(text).ids[:_MAX_TOKENS] for text in constraints])
    view = _load("gate", "gate-view").run(ids=ids, mask=mask)
    return dict(zip(_VIEW, view, strict=True))
