"""Words of a text with how surely they identify, by the packaged network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from sdrag.minilm.packaged_network import PackagedNetwork
from sdrag.minilm.sentence_windows import Window, by_word, read
from sdrag.vocabulary import SCORE_DIGITS, Span

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


def tags(text: str) -> tuple[Tag, ...]:
    """
    Say of every word of a text, of any length, how surely it identifies somebody.

    Raises:
        MissingExtraError: The extra `local` is not installed.
        InternalError: The weights are missing or are not those of this network.
    """
    network, tokenizer = _loaded()

    def chances(windows: Sequence[Window]) -> Tensor:
        logits = _NETWORK.finite(network.head(read(network, tokenizer, windows)))
        identifies: Tensor = 1 - logits.softmax(-1)[:, 0]
        return identifies[None]

    ((words, values),) = by_word([text], tokenizer, 1, chances)
    rounded = values[0].astype(float).round(SCORE_DIGITS)
    return tuple(map(Tag, words, rounded.tolist()))
