"""
MiniLM with upper layers that were trained for something else.

Lower layers and word embeddings are the published ones and are not trained, so only the
upper layers, and whatever a network adds to them, come with the package. Training reads
texts in the same way. A network whose figures allow it multiplies whole numbers when it
is not trained: see `int8_linear`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from importlib.resources import as_file
from importlib.resources.abc import Traversable
from itertools import chain
from typing import TYPE_CHECKING, ClassVar, TypeVar

from safetensors.torch import load_file
from torch.nn import Module, Parameter

from sdrag.errors import InternalError
from sdrag.minilm import load_minilm
from sdrag.minilm.bert import Bert, read_through
from sdrag.minilm.int8_linear import put_int8

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor

__all__ = ["Trained", "load_trained"]

_AT_ONCE = 256
"""So many tokens are widened at once: they stay near the processor."""


class Trained(Module):
    """
    The packaged MiniLM; its upper layers are a copy that can be trained.

    Args:
        bert: The packaged MiniLM; not changed.
        layers: How many are trained.
    """

    in_int8: ClassVar[bool] = False
    """Whether it is read in whole numbers of eight bits."""

    def __init__(self, bert: Bert, layers: int) -> None:
        super().__init__()
        self.embeddings = bert.embeddings
        self.lower = bert.encoder.layer[:-layers]
        self.upper = copy.deepcopy(bert.encoder.layer[-layers:])
        self.upper.requires_grad_(requires_grad=True)

    def trained(self) -> Iterator[tuple[str, Parameter]]:
        """Yield the parameters that training changes, by name."""
        return ((n, p) for n, p in self.named_parameters() if p.requires_grad)

    def merge(self) -> None:
        """Prepare for reading, once the weights are loaded."""

    def read(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """
        Read texts, each as if it were alone: see `read_through`.

        Returns:
            A vector for each token, text after text: (tokens, 384).
        """
        # Rows of whole numbers are the same in any company; others are rounded.
        at_once = _AT_ONCE if self.in_int8 and not self.training else None
        layers = chain(self.lower, self.upper)
        return read_through(self.embeddings, layers, rows, at_once)


T = TypeVar("T", bound=Trained)


def load_trained(kind: type[T], path: Traversable) -> tuple[T, Tokenizer]:
    """
    Build a network on the packaged MiniLM, with its weights, and its tokenizer.

    Raises:
        MissingExtraError: The extra `local` is not installed.
        InternalError: The weights are not those of this network.
    """
    bert, tokenizer = load_minilm()
    network = kind(bert)  # type: ignore[call-arg]
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
    return network.eval(), tokenizer
