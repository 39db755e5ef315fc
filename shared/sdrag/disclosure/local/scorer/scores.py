"""Words of a text with their probabilities, by the packaged network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from sdrag.errors import UsageError
from sdrag.minilm.packaged_network import PackagedNetwork
from sdrag.minilm.sentence_windows import Window, by_word, padded, read
from sdrag.vocabulary import SCORE_DIGITS, Confidential, Span

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from sdrag.disclosure.local.scorer.scorer_network import Asked, LateInteraction

    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

__all__ = ["Scores", "available", "score"]

_POLICIES = 16
"""So many sets of constraints are kept as they were read."""
_MOST_ASKED = 510
"""So many tokens of a constraint the network can read."""


@dataclass(frozen=True, slots=True, repr=False)
class Scores(Confidential):
    """
    How surely each word is withheld.

    Args:
        words: Where the words of the text stand, in order.
        chances: Probabilities, of shape (constraints, words).
    """

    words: tuple[Span, ...]
    chances: Matrix


def _network_class() -> type[LateInteraction]:
    from sdrag.disclosure.local.scorer.scorer_network import (  # noqa: PLC0415 -- torch
        LateInteraction,
    )

    return LateInteraction


_NETWORK = PackagedNetwork(
    "The trained scorer",
    files(__package__).joinpath("weights.safetensors"),
    _network_class,
    without="What must be understood rests on the model alone.",
)
available = _NETWORK.available
_loaded = _NETWORK.loaded


def score(texts: Sequence[str], constraints: Sequence[str]) -> list[Scores]:
    """
    Read texts for all constraints at once.

    Args:
        texts: Each is read apart from the others, in windows that overlap.
        constraints: Their words.

    Raises:
        MissingExtraError: The extra `local` is not installed.
        UsageError: A constraint is longer than the network can read.
        InternalError: The weights are missing or are not those of this network.
    """
    network, tokenizer = _loaded()

    def chances(windows: Sequence[Window]) -> Tensor:
        asked = _asked(tuple(constraints))
        states = read(network, tokenizer, windows)
        logits = network.logits(states, _sentences(windows), asked)
        return _NETWORK.finite(logits).sigmoid()

    found = by_word(texts, tokenizer, len(constraints), chances)
    return [Scores(words, values.round(SCORE_DIGITS)) for words, values in found]


@lru_cache(maxsize=_POLICIES)
def _asked(constraints: tuple[str, ...]) -> Asked:
    """Read constraints: the same ones are asked about every document."""
    import torch  # noqa: PLC0415 -- see score

    network, tokenizer = _NETWORK.loaded()
    coded = [tokenizer.encode(text).ids for text in constraints]
    lengths = [len(ids) for ids in coded]
    if (longest := max(lengths)) > _MOST_ASKED:
        raise UsageError(
            f"A constraint has {longest} tokens; {_MOST_ASKED} can be read.",
            hint="Say it in fewer words, or in several constraints.",
        )
    states = network.read(coded).split_with_sizes(lengths)
    _, mask = padded(coded)
    return network.asking(
        torch.nn.utils.rnn.pad_sequence(list(states), batch_first=True), mask
    )


def _sentences(windows: Sequence[Window]) -> Tensor:
    """Return the number of each token's sentence, from 0 over all windows."""
    import torch  # noqa: PLC0415 -- see score

    numbers: list[int] = []
    for window in windows:
        first = numbers[-1] + 1 if numbers else 0
        numbers += [first + number for number in window.sentences]
    return torch.tensor(numbers)
