"""Words of a text with how surely they identify, by the network that comes along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from threading import Lock
from typing import TYPE_CHECKING, Any

from sdrag.errors import InternalError
from sdrag.extras import require_extra
from sdrag.minilm import installed
from sdrag.minilm.sentence_windows import Tokens, tokenized
from sdrag.minilm.window_reading import Window, means, read
from sdrag.vocabulary import Span

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from sdrag.detectors.tagger.tagger_network import Tagger

    Vector = np.ndarray[tuple[int], np.dtype[np.float32]]

__all__ = ["Tag", "available", "tags"]

_WEIGHTS = files(__package__).joinpath("weights.safetensors")

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


def tags(texts: Sequence[str]) -> list[tuple[Tag, ...]]:
    """
    Say of every word of each text how surely it identifies somebody.

    Args:
        texts: Of any length. Each is read apart, in windows that overlap.

    Raises:
        MissingExtraError: The extra `local` is not installed.
        InternalError: The weights are not those of this network.
    """
    with require_extra("local", "The tagger"):
        import torch  # noqa: PLC0415 -- `import sdrag` must not load it
    network, tokenizer = _loaded()

    def chances(windows: Sequence[Window]) -> Tensor:
        logits = network.head(read(network, tokenizer, windows))
        if not logits.isfinite().all():  # it would compare as if it were harmless
            raise InternalError("The tagger gave something that is no number.")
        identifies: Tensor = 1 - logits.softmax(-1)[:, 0]
        return identifies[None]

    coded = [tokenized(text, tokenizer) for text in texts]
    with torch.inference_mode():
        found = means(coded, 1, chances)
    return [_words(tokens, own[0]) for tokens, own in zip(coded, found, strict=True)]


def _words(tokens: Tokens, chances: Vector) -> tuple[Tag, ...]:
    """Join the tokens of a word; a word is as sure as its surest token."""
    import numpy as np  # noqa: PLC0415 -- see tags

    words, starts = tokens.words()
    if not words:
        return ()
    return tuple(map(Tag, words, np.maximum.reduceat(chances, starts).tolist()))


def _loaded() -> tuple[Tagger, Any]:
    with _loading:
        return _load()


@lru_cache(maxsize=1)
def _load() -> tuple[Tagger, Any]:
    with require_extra("local", "The tagger"):
        from sdrag.detectors.tagger.tagger_network import Tagger  # noqa: PLC0415
        from sdrag.minilm.trained_layers import load_trained  # noqa: PLC0415
    network, tokenizer = load_trained(Tagger, _WEIGHTS)
    network.merge()
    return network, tokenizer
