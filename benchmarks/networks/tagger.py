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
from torch.nn.utils import parametrize

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
        for linear in self._linears():
            parametrize.register_parametrization(linear, "weight", _LowRank(linear))
        self.head = Linear(DIMENSIONS, len(KINDS))

    def _linears(self) -> Iterator[Linear]:
        return (part for part in self.upper.modules() if isinstance(part, Linear))


class _LowRank(Module):
    """A matrix plus the product of a narrow pair."""

    def __init__(self, linear: Linear) -> None:
        super().__init__()
        width = linear.in_features
        self.down = Parameter(torch.randn(_RANK, width) / width**0.5)
        self.up = Parameter(torch.zeros(linear.out_features, _RANK))

    def forward(self, weight: Tensor) -> Tensor:
        return weight + self.up @ self.down
