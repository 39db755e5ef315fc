"""
MiniLM with upper layers that were trained for something else.

Lower layers and word embeddings are the published ones and are not trained, so only the
upper layers, and whatever a network adds to them, come with the package. Training reads
texts in the same way.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from importlib.resources import as_file
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, TypeVar

import torch
from safetensors.torch import load_file
from torch.nn import Module, Parameter

from sdrag.errors import InternalError
from sdrag.minilm import load_minilm
from sdrag.minilm.sentence_windows import padded

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor
    from transformers import BertModel

__all__ = ["Trained", "load_trained", "read_rows"]

_BATCH = 2048
"""So many tokens are read at once, padding included."""
_PADDED = 1.25
"""So many times as long as the shortest row of a batch its longest may be."""


class Trained(Module):
    """
    The packaged MiniLM; its upper layers are a copy that can be trained.

    Args:
        bert: The packaged MiniLM; not changed.
        layers: How many are trained.
    """

    def __init__(self, bert: BertModel, layers: int) -> None:
        super().__init__()
        shared = [bert.embeddings, *bert.encoder.layer[:-layers], bert.pooler]
        whole = copy.deepcopy(bert, {id(module): module for module in shared})
        # First, so that the parameters are known by its name, as in files of weights.
        self.upper = whole.encoder.layer[-layers:]
        self.upper.requires_grad_(requires_grad=True)
        self.bert = whole

    def trained(self) -> Iterator[tuple[str, Parameter]]:
        """Yield the parameters that training changes, by name."""
        return ((n, p) for n, p in self.named_parameters() if p.requires_grad)

    def merge(self) -> None:
        """Prepare for reading, once the weights are loaded."""

    def read(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """
        Read texts, each as if it were alone.

        Returns:
            A vector for each token, text after text: (tokens, 384).
        """
        return torch.cat(read_rows(self.bert, rows))


def read_rows(bert: BertModel, rows: Sequence[Sequence[int]]) -> list[Tensor]:
    """Return the vectors of each row's tokens, each of shape (tokens, 384)."""
    states: dict[int, Tensor] = {}
    for batch in _batches([len(row) for row in rows]):
        ids, mask = padded([rows[index] for index in batch])
        read = bert(input_ids=ids, attention_mask=mask).last_hidden_state
        for index, vectors in zip(batch, read, strict=True):
            states[index] = vectors[: len(rows[index])]
    return [states[index] for index in range(len(rows))]


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield indices of rows to be read together, those of about one length."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch:
            size = (len(batch) + 1) * lengths[index]
            if size > _BATCH or lengths[index] > _PADDED * lengths[batch[0]]:
                yield batch
                batch = []
        batch.append(index)
    if batch:
        yield batch


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
    return network.eval(), tokenizer
