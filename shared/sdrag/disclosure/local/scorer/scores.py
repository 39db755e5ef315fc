"""Words of a text with their probabilities, by the network that comes along."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from threading import Lock
from typing import TYPE_CHECKING, Any

from sdrag.errors import InternalError, UsageError
from sdrag.extras import needs
from sdrag.minilm import installed
from sdrag.minilm.windows import Tokens, padded, tokenized
from sdrag.vocabulary import Confidential, Span

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from sdrag.disclosure.local.scorer.network import LateInteraction

    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

__all__ = ["Scores", "available", "score"]

_WEIGHTS = files(__package__).joinpath("weights.safetensors")
_BATCH = 8
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


def score(text: str, constraints: Sequence[str]) -> Scores:
    """
    Read a text for all constraints at once.

    Args:
        text: Of any length: it is read in windows that overlap.
        constraints: Their words.

    Raises:
        MissingExtraError: The extra `local` is not installed.
        UsageError: A constraint is longer than the network can read.
        InternalError: The weights are not those of this network.
    """
    with needs("local", "The trained scorer"):
        import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load them
        import torch  # noqa: PLC0415
    network, tokenizer = _loaded()
    tokens = tokenized(text, tokenizer)
    sums = np.zeros((len(constraints), len(tokens.ids)), dtype=np.float32)
    times = np.zeros(len(tokens.ids), dtype=np.float32)
    if constraints and tokens.ids:
        with torch.inference_mode():
            asked = _asked(network, tokenizer, constraints)
            for window, chances in _read(network, tokenizer, tokens, asked):
                sums[:, window.start : window.stop] += chances
                times[window.start : window.stop] += 1
    return _words(tokens, np.divide(sums, np.maximum(times, 1), out=sums))


def _asked(
    network: LateInteraction, tokenizer: Any, constraints: Sequence[str]
) -> tuple[Tensor, Tensor]:
    coded = [tokenizer(text, verbose=False)["input_ids"] for text in constraints]
    if (longest := max(map(len, coded))) > _MOST_ASKED:
        raise UsageError(
            f"A constraint has {longest} tokens; {_MOST_ASKED} can be read.",
            hint="Say it in fewer words, or in several constraints.",
        )
    ids, mask = padded(coded)
    return network(ids, mask), mask


def _read(
    network: LateInteraction,
    tokenizer: Any,
    tokens: Tokens,
    asked: tuple[Tensor, Tensor],
) -> Iterator[tuple[range, Matrix]]:
    """Yield each window with a probability for each constraint and token in it."""
    windows = list(tokens.windows())
    for at in range(0, len(windows), _BATCH):
        batch = windows[at : at + _BATCH]
        first, last = tokenizer.cls_token_id, tokenizer.sep_token_id
        ids, mask = padded(
            [[first, *tokens.ids[w.start : w.stop], last] for w in batch]
        )
        sentences, _ = padded(
            [[-1, *_from_zero(tokens.sentences[w.start : w.stop]), -1] for w in batch],
            -1,
        )
        logits = network.logits(network(ids, mask), sentences, *asked)
        if not logits.isfinite().all():  # it would compare as if it were harmless
            raise InternalError("The scorer gave something that is no number.")
        for window, rows in zip(batch, logits.sigmoid(), strict=True):
            yield window, rows[:, 1 : 1 + len(window)].numpy()


def _from_zero(numbers: Sequence[int]) -> list[int]:
    return [number - numbers[0] for number in numbers]


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
    with needs("local", "The trained scorer"):
        from sdrag.disclosure.local.scorer.network import (  # noqa: PLC0415
            LateInteraction,
        )
        from sdrag.minilm.network import load_trained  # noqa: PLC0415 -- see score
    return load_trained(LateInteraction, _WEIGHTS)
