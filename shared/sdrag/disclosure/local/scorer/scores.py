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
_BATCH = 2048
"""So many tokens are read at once."""
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
    with needs("local", "The trained scorer"):
        import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load them
        import torch  # noqa: PLC0415
    network, tokenizer = _loaded()
    read = [tokenized(text, tokenizer) for text in texts]
    sums = [np.zeros((len(constraints), len(t.ids)), dtype=np.float32) for t in read]
    times = [np.zeros(len(tokens.ids), dtype=np.float32) for tokens in read]
    if constraints and any(tokens.ids for tokens in read):
        with torch.inference_mode():
            asked = _asked(tuple(constraints))
            for place, window, chances in _read(network, tokenizer, read, asked):
                sums[place][:, window.start : window.stop] += chances
                times[place][window.start : window.stop] += 1
    return [
        _words(tokens, np.divide(own, np.maximum(count, 1), out=own))
        for tokens, own, count in zip(read, sums, times, strict=True)
    ]


@lru_cache(maxsize=_POLICIES)
def _asked(constraints: tuple[str, ...]) -> tuple[Tensor, Tensor]:
    """Read constraints: the same ones are asked about every document."""
    network, tokenizer = _load()
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
    read: Sequence[Tokens],
    asked: tuple[Tensor, Tensor],
) -> Iterator[tuple[int, range, Matrix]]:
    """Yield each text's windows with a chance for each constraint and token in them."""
    for batch in _batches(read):
        first, last = tokenizer.cls_token_id, tokenizer.sep_token_id
        ids, mask = padded(
            [[first, *read[p].ids[w.start : w.stop], last] for p, w in batch]
        )
        sentences, _ = padded(
            [
                [-1, *_from_zero(read[p].sentences[w.start : w.stop]), -1]
                for p, w in batch
            ],
            -1,
        )
        logits = network.logits(network(ids, mask), sentences, *asked)
        if not logits.isfinite().all():  # it would compare as if it were harmless
            raise InternalError("The scorer gave something that is no number.")
        for (place, window), rows in zip(batch, logits.sigmoid(), strict=True):
            yield place, window, rows[:, 1 : 1 + len(window)].numpy()


def _batches(read: Sequence[Tokens]) -> Iterator[list[tuple[int, range]]]:
    """Yield windows of like length together, so that little is padded."""
    windows = [
        (place, window)
        for place, tokens in enumerate(read)
        if tokens.ids
        for window in tokens.windows()
    ]
    windows.sort(key=lambda one: len(one[1]))
    batch: list[tuple[int, range]] = []
    for place, window in windows:
        if batch and (len(batch) + 1) * len(window) > _BATCH:
            yield batch
            batch = []
        batch.append((place, window))
    if batch:
        yield batch


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
