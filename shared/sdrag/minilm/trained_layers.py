"""
MiniLM with upper layers that were trained for something else.

Lower layers and word embeddings are the published ones and are not trained, so only the
upper layers, and whatever a network adds to them, come with the package.

It is trained on texts that are padded to one length. It reads without padding: all but
attention is done token by token, so the tokens of all texts are in one matrix, and
texts of one length attend each within itself in one go. A network whose figures allow
it multiplies whole numbers then: see `int8_linear`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from importlib.resources import as_file
from importlib.resources.abc import Traversable
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import torch
from safetensors.torch import load_file
from torch.nn import Module, Parameter
from torch.nn.functional import scaled_dot_product_attention

from sdrag.errors import InternalError
from sdrag.minilm import load_minilm
from sdrag.minilm.int8_linear import put_int8

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Trained", "load_trained"]

_MASKED = -3e4
_AT_ONCE = 256
"""So many tokens are widened at once: they stay near the processor."""
_FEWEST = 16
"""A product of fewer rows is computed, and so rounded, another way."""


class Trained(Module):
    """
    The packaged MiniLM; its upper layers are a copy that can be trained.

    Args:
        bert: The transformer of the packaged MiniLM; not changed.
        layers: How many are trained.
    """

    in_int8: ClassVar[bool] = False
    """Whether it is read in whole numbers of eight bits."""

    def __init__(self, bert: Any, layers: int) -> None:
        super().__init__()
        self.embeddings = bert.embeddings
        self.lower = bert.encoder.layer[:-layers]
        self.upper = copy.deepcopy(bert.encoder.layer[-layers:])
        for frozen in (self.embeddings, self.lower):
            frozen.requires_grad_(requires_grad=False)
        self.upper.requires_grad_(requires_grad=True)

    def trained(self) -> Iterator[tuple[str, Parameter]]:
        """Yield the parameters that training changes, by name."""
        return ((n, p) for n, p in self.named_parameters() if p.requires_grad)

    def merge(self) -> None:
        """Prepare for reading, once the weights are loaded."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """
        Read texts.

        Args:
            ids: Tokens, of shape (texts, tokens).
            mask: 1 where there is a token, same shape.

        Returns:
            A vector for each token: (texts, tokens, 384).
        """
        reach = (1.0 - mask[:, None, None, :].float()) * _MASKED
        with torch.no_grad():
            states = self.embeddings(
                input_ids=ids, token_type_ids=torch.zeros_like(ids)
            )
            states = _through(self.lower, states, reach)
        return _through(self.upper, states, reach)

    def read(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """
        Read texts without padding; what is not to be trained is read so.

        Args:
            rows: Tokens of each text. It is quickest where texts of one length follow
                one another. None changes what another gives.

        Returns:
            A vector for each token, text after text: (tokens, 384).
        """
        total = sum(map(len, rows))
        filled = [*rows, [0] * (_FEWEST - total)] if total < _FEWEST else rows
        ids = torch.tensor([list(chain.from_iterable(filled))])
        positions = torch.cat([torch.arange(len(row)) for row in filled])[None]
        states: Tensor = self.embeddings(
            input_ids=ids, position_ids=positions, token_type_ids=torch.zeros_like(ids)
        )[0]
        lengths = [
            (size, len(list(group))) for size, group in groupby(map(len, filled))
        ]
        for layer in chain(self.lower, self.upper):
            attended = layer.attention.output(
                _attended(layer.attention.self, states, lengths), states
            )
            # Rows of whole numbers are the same in any company; others are rounded.
            parts = attended.split(_AT_ONCE if self.in_int8 else len(attended))
            wide = [layer.output(layer.intermediate(part), part) for part in parts]
            states = torch.cat(wide)
        return states[:total]


T = TypeVar("T", bound=Trained)


def load_trained(kind: type[T], path: Traversable) -> tuple[T, Any]:
    """
    Build a network on the packaged MiniLM, with its weights, and its tokenizer.

    Raises:
        MissingExtraError: The extra `local` is not installed.
        InternalError: The weights are not those of this network.
    """
    transformer: Any = load_minilm()[0]
    network = kind(transformer.auto_model)  # type: ignore[call-arg]
    with as_file(path) as file:
        weights = {name: value.float() for name, value in load_file(file).items()}
    if weights.keys() != dict(network.trained()).keys():
        raise InternalError(f"The weights are not those of {kind.__name__}.")
    network.load_state_dict(weights, strict=False)
    network.merge()
    if network.in_int8:
        network.lower = copy.deepcopy(network.lower)  # the embedding model's own stay
        put_int8(network.lower)
        put_int8(network.upper)
    # A copy of its own: a tokenizer keeps padding as state, and threads share it.
    return network.eval(), copy.deepcopy(transformer.tokenizer)


def _attended(layer: Any, states: Tensor, lengths: Sequence[tuple[int, int]]) -> Tensor:
    """Attend within each text, neighbours of one length at once."""
    heads = layer.num_attention_heads
    parts = [part(states) for part in (layer.query, layer.key, layer.value)]
    found = torch.empty_like(parts[0])
    start = 0
    for size, count in lengths:
        end = start + size * count
        inputs = (
            p[start:end].view(count, size, heads, -1).transpose(1, 2) for p in parts
        )
        attended = scaled_dot_product_attention(*inputs).transpose(1, 2)
        found[start:end] = attended.reshape(size * count, -1)
        start = end
    return found


def _through(layers: Any, states: Tensor, reach: Tensor) -> Tensor:
    for layer in layers:
        output = layer(states, reach)
        states = output[0] if isinstance(output, tuple) else output
    return states
