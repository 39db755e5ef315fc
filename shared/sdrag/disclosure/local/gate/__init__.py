"""
The gate: does a sentence hold what a constraint withholds, and in which words?

It reads constraint and sentence together and nothing else, so no neighbour, title or
heading changes a decision. A long sentence is read in windows, and is as surely open as
the surest of them, so that nothing added to a sentence closes it. Texts, training
script and limits: benchmarks/scorer/.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from sdrag.minilm import few_threads
from sdrag.minilm.packaged_network import PackagedNetwork
from sdrag.minilm.sentence_windows import padded, tokenized
from sdrag.vocabulary import Confidential, Span

if TYPE_CHECKING:
    import numpy as np

    from sdrag.disclosure.local.gate.gate_network import GateNetwork, InView

    Row = np.ndarray[tuple[int], np.dtype[np.float32]]

__all__ = ["Decision", "available", "decide"]

_SIZES = ((94, 62), (20, 10))
"""Tokens of windows, and how far it is to the next: some sixty words, and a clause."""
_SHORT = 26
"""A sentence of more tokens is read in both, so that no padding closes it."""
_BATCH = 4096
"""So many tokens are read at once."""
_POLICIES = 16
"""So many sets of constraints are kept as they were read."""
_MOST_ASKED = 510
"""So many tokens of a constraint are read."""
_DIGITS = 4
"""Chances are rounded, so that what is read beside a sentence does not count."""

_Window = tuple[int, tuple[int, ...]]
"""The row of a constraint, and tokens."""


@dataclass(frozen=True, slots=True, repr=False)
class Decision(Confidential):
    """
    What the gate says of a sentence for a constraint.

    Args:
        chance: How surely the sentence holds what is withheld.
        words: Where the words of the sentence are.
        chances: How surely each of them tells it.
    """

    chance: float
    words: tuple[Span, ...]
    chances: Row


def _network_class() -> type[GateNetwork]:
    from sdrag.disclosure.local.gate.gate_network import (  # noqa: PLC0415 -- torch
        GateNetwork,
    )

    return GateNetwork


_NETWORK = PackagedNetwork(
    "The trained gate",
    files(__package__).joinpath("weights.safetensors"),
    _network_class,
    without="What must be understood rests on the model alone.",
)
available = _NETWORK.available


def decide(
    pairs: Sequence[tuple[int, str]], constraints: Sequence[str]
) -> list[Decision]:
    """
    Decide sentences.

    Args:
        pairs: The number of a constraint and a sentence.
        constraints: Their words.

    Raises:
        MissingExtraError: The extra `local` is not installed.
        InternalError: The weights are missing or are not those of this network.
    """
    import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it

    if not pairs:
        return []
    _, tokenizer = _NETWORK.loaded()
    coded = {text: tokenized(text, tokenizer) for text in {text for _, text in pairs}}
    parts = {text: [*_windows(tokens.ids)] for text, tokens in coded.items()}
    chances = _read(
        {(row, ids) for row, text in pairs for _, ids in parts[text]}, constraints
    )

    def decision(row: int, text: str) -> Decision:
        tokens = coded[text]
        words, starts = tokens.words()
        by_token = np.zeros(len(tokens.ids), dtype=np.float32)
        sentence = 0.0
        for start, ids in parts[text]:
            chance, told = chances[row, ids]
            sentence = max(sentence, chance)
            here = by_token[start : start + len(ids)]
            np.maximum(here, told, out=here)
        by_word = np.maximum.reduceat(by_token, starts) if words else by_token
        return Decision(sentence, words, by_word)

    return [decision(row, text) for row, text in pairs]


def _windows(ids: Sequence[int]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield windows that overlap, each with the number of its first token."""
    for size, step in _SIZES if len(ids) > _SHORT else _SIZES[:1]:
        for start in range(0, max(1, len(ids) - size + step), step):
            if part := tuple(ids[start : start + size]):
                yield start, part


def _read(
    windows: Iterable[_Window], constraints: Sequence[str]
) -> dict[_Window, tuple[float, Row]]:
    """Return how surely each window is open, and how surely its tokens tell it."""
    import torch  # noqa: PLC0415 -- see decide

    network, tokenizer = _NETWORK.loaded()
    first, last = map(tokenizer.token_to_id, ("[CLS]", "[SEP]"))
    found: dict[_Window, tuple[float, Row]] = {}
    with torch.inference_mode(), few_threads([]):
        view = _view(tuple(constraints))
        for batch in _batches(windows):
            rows = {
                ids: row for row, ids in enumerate(dict.fromkeys(i for _, i in batch))
            }
            ids, mask = padded([(first, *window, last) for window in rows])
            states, present = network.begin(ids, mask.bool()), mask.bool()
            which = torch.tensor([rows[ids] for _, ids in batch])
            of = view.of(torch.tensor([row for row, _ in batch]))
            logits = network(states[which], present[which], of)
            sentence, words = (_NETWORK.finite(one).sigmoid() for one in logits)
            for window, chance, told in zip(
                batch, sentence.tolist(), words, strict=True
            ):
                kept = told[1 : len(window[1]) + 1].numpy().round(_DIGITS)
                found[window] = round(chance, _DIGITS), kept
    return found


def _batches(windows: Iterable[_Window]) -> Iterator[list[_Window]]:
    """Yield windows in batches, those of about one length together."""
    batch: list[_Window] = []
    for window in sorted(windows, key=lambda one: (len(one[1]), one)):
        if batch and (len(batch) + 1) * len(window[1]) > _BATCH:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


@lru_cache(maxsize=_POLICIES)
def _view(constraints: tuple[str, ...]) -> InView:
    """Read constraints: the same ones are asked about every document."""
    network, tokenizer = _NETWORK.loaded()
    coded = [tokenizer.encode(text).ids[:_MOST_ASKED] for text in constraints]
    ids, mask = padded(coded)
    return network.view(network.begin(ids, mask.bool()), mask.bool())
