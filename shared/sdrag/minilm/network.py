"""
MiniLM with upper layers that were trained for something else.

Lower layers and word embeddings are the published ones and are not trained, so only the
upper layers, and whatever a network adds to them, come with the package.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from importlib.resources import as_file
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from safetensors.torch import load_file
from torch.nn import Module, Parameter

from sdrag.errors import InternalError
from sdrag.minilm import load_minilm

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Trained", "load_trained"]

_MASKED = -3e4


class Trained(Module):
    """
    The packaged MiniLM; its upper layers are a copy that can be trained.

    Args:
        bert: The transformer of the packaged MiniLM; left as it is.
        layers: How many are trained.
    """

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
    # A copy of its own: a tokenizer keeps padding as state, and threads share it.
    return network.eval(), copy.deepcopy(transformer.tokenizer)


def _through(layers: Any, states: Tensor, reach: Tensor) -> Tensor:
    for layer in layers:
        output = layer(states, reach)
        states = output[0] if isinstance(output, tuple) else output
    return states
