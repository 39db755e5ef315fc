"""Words of a text with their probabilities, by the network that comes along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from threading import Lock
from typing import TYPE_CHECKING, Any

from sdrag.errors import InternalError, UsageError
from sdrag.extras import require_extra
from sdrag.minilm import installed
from sdrag.minilm.sentence_windows import Tokens, padded, tokenized
from sdrag.minilm.window_reading import Window, means, read
from sdrag.vocabulary import Confidential, Span

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from sdrag.disclosure.local.scorer.scorer_network import Asked, LateInteraction

    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

__all__ = ["Scores", "available", "score"]

_WEIGHTS = files(__package__).joinpath("weights.safetensors")
_POLICIES = 16
"""So many sets of constraints are kept as they were read."""
_MOST_ASKED = 510
"""So many tokens of a constraint the network can read."""

_loading = Lock()


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


def available() -> bool:
    """Say whether the weights, and what runs them, are installed."""
    return _WEIGHTS.is_file() and installed()


def score(texts: Sequence[str], constraints: Sequence[str]) -> list[Scores]:
    """
    Read texts for all constraints at once.

    Args:
        texts: Each is read apart from the others, in windows that overlap.
        constraints: Their words.

    Raises:
        MissingExtraError: The extra `local` is not installed.
        UsageError: A constraint is longer than the network can read.
        InternalError: The weights are not those of this network.
    """
    with require_extra("local", "The trained scorer"):
        import torch  # noqa: PLC0415 -- `import sdrag` must not load it
    network, tokenizer = _loaded()

    def chances(windows: Sequence[Window]) -> Tensor:
        asked = _asked(tuple(constraints))
        states = read(network, tokenizer, windows)
        logits = network.logits(states, _sentences(windows), asked)
        if not logits.isfinite().all():  # it would compare as if it were harmless
            raise InternalError("The scorer gave something that is no number.")
        return logits.sigmoid()

    coded = [tokenized(text, tokenizer) for text in texts]
    with torch.inference_mode():
        found = means(coded, len(constraints), chances)
    return [_words(tokens, own) for tokens, own in zip(coded, found, strict=True)]


@lru_cache(maxsize=_POLICIES)
def _asked(constraints: tuple[str, ...]) -> Asked:
    """Read constraints: the same ones are asked about every document."""
    import torch  # noqa: PLC0415 -- see score

    network, tokenizer = _load()
    coded = [tokenizer(text, verbose=False)["input_ids"] for text in constraints]
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


def _words(tokens: Tokens, chances: Matrix) -> Scores:
    """Join the tokens of a word; a word is as sure as its surest token."""
    import numpy as np  # noqa: PLC0415 -- see score

    words, starts = tokens.words()
    if not words:
        return Scores((), chances)
    return Scores(words, np.maximum.reduceat(chances, starts, axis=1))


def _loaded() -> tuple[LateInteraction, Any]:
    with _loading:
        return _load()


@lru_cache(maxsize=1)
def _load() -> tuple[LateInteraction, Any]:
    with require_extra("local", "The trained scorer"):
        from sdrag.disclosure.local.scorer.scorer_network import (  # noqa: PLC0415
            LateInteraction,
        )
        from sdrag.minilm.trained_layers import load_trained  # noqa: PLC0415 -- see score
    return load_trained(LateInteraction, _WEIGHTS)
