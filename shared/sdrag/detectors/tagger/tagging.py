"""Words of a text with how surely they identify, by the network that comes along."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from threading import Lock
from typing import TYPE_CHECKING, Any

from sdrag.errors import InternalError
from sdrag.extras import needs
from sdrag.minilm import installed
from sdrag.minilm.windows import Tokens, padded, tokenized
from sdrag.vocabulary import Span

if TYPE_CHECKING:
    import numpy as np

    from sdrag.detectors.tagger.network import Tagger

    Vector = np.ndarray[tuple[int], np.dtype[np.float32]]

__all__ = ["Tag", "available", "tags"]

_WEIGHTS = files(__package__).joinpath("weights.safetensors")
_BATCH = 8

_loading = Lock()


@dataclass(frozen=True, slots=True)
class Tag:
    """
    A word.

    Args:
        span: Where it stands.
        chance: The probability that it identifies somebody.
    """

    span: Span
    chance: float


def available() -> bool:
    """Say whether the weights, and what runs them, are installed."""
    return _WEIGHTS.is_file() and installed()


def tags(text: str) -> tuple[Tag, ...]:
    """
    Say of every word how surely it identifies somebody.

    Args:
        text: Of any length: it is read in windows that overlap.

    Raises:
        MissingExtraError: The extra `local` is not installed.
        InternalError: The weights are not those of this network.
    """
    with needs("local", "The tagger"):
        import numpy as np  # noqa: PLC0415 -- `import sdrag` must not load it
    network, tokenizer = _loaded()
    tokens = tokenized(text, tokenizer)
    words, starts = tokens.words()
    if not words:
        return ()
    chances = np.maximum.reduceat(_chances(network, tokenizer, tokens), starts)
    return tuple(map(Tag, words, chances.tolist()))


def _chances(network: Tagger, tokenizer: Any, tokens: Tokens) -> Vector:
    """Return a probability for each token, the mean over its windows."""
    import numpy as np  # noqa: PLC0415 -- see tags

    sums = np.zeros(len(tokens.ids), dtype=np.float32)
    times = np.zeros(len(tokens.ids), dtype=np.float32)
    for window, chances in _read(network, tokenizer, tokens):
        sums[window.start : window.stop] += chances
        times[window.start : window.stop] += 1
    means: Vector = sums / times
    return means


def _read(
    network: Tagger, tokenizer: Any, tokens: Tokens
) -> Iterator[tuple[range, Vector]]:
    """Yield each window with a probability for each token in it."""
    import torch  # noqa: PLC0415 -- see tags

    windows = list(tokens.windows())
    first, last = tokenizer.cls_token_id, tokenizer.sep_token_id
    for at in range(0, len(windows), _BATCH):
        batch = windows[at : at + _BATCH]
        ids, mask = padded(
            [[first, *tokens.ids[w.start : w.stop], last] for w in batch]
        )
        with torch.inference_mode():
            logits = network.logits(ids, mask)
        if not logits.isfinite().all():  # it would compare as if it were harmless
            raise InternalError("The tagger gave something that is no number.")
        for window, rows in zip(batch, logits.softmax(-1), strict=True):
            yield window, 1 - rows[1 : 1 + len(window), 0].numpy()


def _loaded() -> tuple[Tagger, Any]:
    with _loading:
        return _load()


@lru_cache(maxsize=1)
def _load() -> tuple[Tagger, Any]:
    with needs("local", "The tagger"):
        from sdrag.detectors.tagger.network import Tagger  # noqa: PLC0415
        from sdrag.minilm.network import load_trained  # noqa: PLC0415
    network, tokenizer = load_trained(Tagger, _WEIGHTS)
    network.merge()
    return network, tokenizer
