"""
Networks with trained upper layers on the packaged MiniLM.

Lower layers and word embeddings are the published ones and are not trained, so only the
trained layers, and whatever a network adds to them, come with the package. A missing
file of weights is an error; a missing extra `local` is logged once: see `is_available`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources.abc import Traversable
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from safetensors.torch import load
from torch.nn import Module, Parameter

from sdrag.embeddings import has_network, load_minilm
from sdrag.embeddings.windows import CLS, SEP, pad
from sdrag.errors import InternalError

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor
    from transformers import BertModel

_loading = Lock()


class TrainedLayers(Module):
    """The packaged MiniLM with a copy of its upper layers that can be trained."""

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
        """Return a vector for each token of rows, row after row: (tokens, 384)."""
        ids, mask = pad(rows)
        read: Tensor = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state
        return read[mask]

    def read_between(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Do the same with [CLS] and [SEP] around each row, and leave these out."""
        states = self.read([(CLS, *row, SEP) for row in rows])
        parts = states.split_with_sizes([len(row) + 2 for row in rows])
        return torch.cat([part[1:-1] for part in parts])


T = TypeVar("T", bound=TrainedLayers)


def load_network(
    kind: type[T], feature: str, weights: Traversable
) -> tuple[T, Tokenizer]:
    """Build a network on the packaged MiniLM, with its weights, once a process."""
    has_network(feature, weights)  # or an error that says what is missing
    with _loading:
        return _load(kind, weights)  # type: ignore[arg-type]


@cache
def _load(kind: Any, path: Traversable) -> tuple[Any, Tokenizer]:
    bert, tokenizer = load_minilm()
    network = kind(bert)
    weights = {name: row.float() for name, row in load(path.read_bytes()).items()}
    if weights.keys() != dict(network.trained()).keys():
        raise InternalError(f"The weights are not those of {kind.__name__}.")
    network.load_state_dict(weights, strict=False)
    network.merge()
    return network.eval(), tokenizer
