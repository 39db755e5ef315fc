"""Words of a text with how surely they identify, by the packaged network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from sdrag.minilm.packaged_network import PackagedNetwork
from sdrag.minilm.sentence_windows import Window, by_word, read
from sdrag.vocabulary import Span

if TYPE_CHECKING:
    from torch import Tensor

    from sdrag.detectors.tagger.tagger_network import Tagger

__all__ = ["Tag", "available", "tags"]


@dataclass(frozen=True, slots=True)
class Tag:
    """
    A word.

    Args:
        span: Where it is.
        chance: The probability that it identifies somebody.
    """

    span: Span
    chance: float


def _network_class() -> type[Tagger]:
    from sdrag.detectors.tagger.tagger_network import Tagger  # noqa: PLC0415 -- torch

    return Tagger


_NETWORK = PackagedNetwork(
    "The tagger",
    files(__package__).joinpath("weights.safetensors"),
    _network_class,
    without="What identifies people is found by rules and the model alone.",
)
available = _NETWORK.available
_loaded = _NETWORK.loaded


def tags(texts: Sequence[str]) -> list[tuple[Tag, ...]]:
    """
    Say of every word of each text how surely it identifies somebody.

    Args:
        texts: Of any length. Each is read apart, in windows that overlap.

    Raises:
        MissingExtraError: The extra `local` is not installed.
        InternalError: The weights are missing or are not those of this network.
    """
    network, tokenizer = _loaded()

    def chances(windows: Sequence[Window]) -> Tensor:
        logits = _NETWORK.finite(network.head(read(network, tokenizer, windows)))
        identifies: Tensor = 1 - logits.softmax(-1)[:, 0]
        return identifies[None]

    found = by_word(texts, tokenizer, 1, chances)
    return [tuple(map(Tag, words, values[0].tolist())) for words, values in found]
