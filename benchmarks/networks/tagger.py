"""
The network of the tagger: MiniLM with low-rank updates of every layer, and a head.

A low-rank update (Hu et al. 2021, LoRA) is some sixty times smaller than the weights it
changes, so little ships, and from few documents little is unlearned.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch.nn import Linear, Module, Parameter
from torch.nn.functional import linear

from benchmarks.networks.layers import TrainedLayers
from sdrag.embeddings import DIMENSIONS

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import BertModel

KINDS = (
    "",
    "PERSON",
    "CODE",
    "LOC",
    "ORG",
    "DEM",
    "DATETIME",
    "QUANTITY",
    "MISC",
)
"""What a token can be: nothing that identifies, or of a type of the benchmark."""

_RANK = 16


class TaggerNetwork(TrainedLayers):
    """A classifier of tokens."""

    def __init__(self, bert: BertModel) -> None:
        super().__init__(bert, len(bert.encoder.layer))
        self.upper.requires_grad_(requires_grad=False)
        for module, name, part in [*self._linears()]:
            setattr(module, name, _LowRank(part))
        self.head = Linear(DIMENSIONS, len(KINDS))

    def _linears(self) -> Iterator[tuple[Module, str, Linear]]:
        """Yield the linear layers, each with the module that has it, and its name."""
        for module in self.upper.modules():
            for name, part in module.named_children():
                if isinstance(part, Linear):
                    yield module, name, part


class _LowRank(Linear):
    """A linear layer that is not trained, and a narrow pair beside it that is."""

    def __init__(self, part: Linear) -> None:
        super().__init__(part.in_features, part.out_features, device="meta")
        self.weight, self.bias = part.weight, part.bias
        self.down = Parameter(torch.randn(_RANK, part.in_features))
        self.down.data /= part.in_features**0.5
        self.up = Parameter(torch.zeros(part.out_features, _RANK))

    def forward(self, states: Tensor) -> Tensor:
        beside = linear(linear(states, self.down), self.up)
        return linear(states, self.weight, self.bias) + beside
