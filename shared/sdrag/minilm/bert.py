"""
The network of MiniLM: six layers of BERT (Devlin et al. 2019), read without padding.

sentence-transformers is the reference, and what this gives is tested against it. It is
not loaded: importing it takes about five times as long as importing torch, most of it
for what MiniLM does not need, such as scikit-learn and the generation of texts.

All but attention is done token by token, so the tokens of all texts are in one matrix.
Texts of one length attend each within itself in one go. Parameters have the names that
they have in the published file of weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors.torch import load_file
from torch.nn import Dropout, Embedding, LayerNorm, Linear, Module, ModuleList
from torch.nn.functional import gelu, scaled_dot_product_attention

if TYPE_CHECKING:
    from torch import Tensor

    Lengths = Sequence[tuple[int, int]]

__all__ = ["WIDTH", "Bert", "Embeddings", "load_bert", "read_through"]

WIDTH = 384
_VOCABULARY, _POSITIONS, _TYPES = 30_522, 512, 2
_LAYERS, _HEADS, _WIDE = 6, 12, 1536
_EPSILON = 1e-12
_DROPOUT = 0.1
_UNUSED = {
    "embeddings.position_ids",
    "pooler.dense.bias",
    "pooler.dense.weight",
}
_FEWEST = 16
"""A product of fewer rows is computed, and so rounded, another way."""


class Embeddings(Module):
    """What tokens mean out of context, each at its position."""

    def __init__(self) -> None:
        super().__init__()
        self.word_embeddings = _table(_VOCABULARY)
        self.position_embeddings = _table(_POSITIONS)
        self.token_type_embeddings = _table(_TYPES)
        self.LayerNorm = LayerNorm(WIDTH, eps=_EPSILON)
        self.dropout = Dropout(_DROPOUT)

    def forward(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Look tokens up: (tokens) become (tokens, 384)."""
        words = self.word_embeddings(ids) + self.token_type_embeddings.weight[0]
        states: Tensor = self.LayerNorm(words + self.position_embeddings(positions))
        return self.dropout(states)  # type: ignore[no-any-return]


def _table(rows: int) -> Embedding:
    # Drawn numbers would make torch load its compiler for tensors without memory.
    return Embedding(rows, WIDTH, _weight=torch.empty(rows, WIDTH))


class _Heads(Module):
    """What tokens take from the others of their text."""

    def __init__(self) -> None:
        super().__init__()
        self.query = Linear(WIDTH, WIDTH)
        self.key = Linear(WIDTH, WIDTH)
        self.value = Linear(WIDTH, WIDTH)
        self.dropout = Dropout(_DROPOUT)

    def forward(self, states: Tensor, lengths: Lengths) -> Tensor:
        sizes = [size * count for size, count in lengths]
        linears = (self.query, self.key, self.value)
        groups = zip(
            lengths, *(one(states).split(sizes) for one in linears), strict=True
        )
        return torch.cat([self._attended(size, *group) for (size, _), *group in groups])

    def _attended(self, size: int, *group: Tensor) -> Tensor:
        """Attend within each of the texts, which have one size."""
        query, key, value = (
            part.view(-1, size, _HEADS, WIDTH // _HEADS).transpose(1, 2)
            for part in group
        )
        dropped = self.dropout.p if self.training else 0.0
        attended = scaled_dot_product_attention(query, key, value, dropout_p=dropped)
        return attended.transpose(1, 2).reshape(-1, WIDTH)


class _Added(Module):
    """What is added to tokens, and the sum brought to one scale."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.dense = Linear(inputs, WIDTH)
        self.LayerNorm = LayerNorm(WIDTH, eps=_EPSILON)
        self.dropout = Dropout(_DROPOUT)

    def forward(self, found: Tensor, states: Tensor) -> Tensor:
        added: Tensor = self.LayerNorm(self.dropout(self.dense(found)) + states)
        return added


class _Attention(Module):
    def __init__(self) -> None:
        super().__init__()
        self.self = _Heads()
        self.output = _Added(WIDTH)

    def forward(self, states: Tensor, lengths: Lengths) -> Tensor:
        attended: Tensor = self.output(self.self(states, lengths), states)
        return attended


class _Intermediate(Module):
    def __init__(self) -> None:
        super().__init__()
        self.dense = Linear(WIDTH, _WIDE)

    def forward(self, states: Tensor) -> Tensor:
        return gelu(self.dense(states))


class _Layer(Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = _Attention()
        self.intermediate = _Intermediate()
        self.output = _Added(_WIDE)

    def forward(self, states: Tensor, lengths: Lengths, at_once: int) -> Tensor:
        parts = self.attention(states, lengths).split(at_once)
        return torch.cat([self.output(self.intermediate(part), part) for part in parts])


class _Encoder(Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = ModuleList(_Layer() for _ in range(_LAYERS))


class Bert(Module):
    """MiniLM, as it was published but for the pooler, which no vector comes from."""

    def __init__(self) -> None:
        super().__init__()
        self.embeddings = Embeddings()
        self.encoder = _Encoder()

    def read(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Read texts: see `read_through`."""
        return read_through(self.embeddings, self.encoder.layer, rows)


def load_bert(path: Path) -> Bert:
    """
    Load the published weights; what they are was checked before.

    Processes share the memory of the file, which nothing may write to.
    """
    with torch.device("meta"):  # nothing is drawn that the file replaces
        network = Bert()
    weights = load_file(path)
    for name in _UNUSED:
        del weights[name]
    network.load_state_dict(weights, assign=True)
    return network.requires_grad_(requires_grad=False).eval()


def read_through(
    embeddings: Embeddings,
    layers: Iterable[Module],
    rows: Sequence[Sequence[int]],
    at_once: int | None = None,
) -> Tensor:
    """
    Read texts, each as if it were alone.

    Args:
        embeddings: What the tokens are looked up in.
        layers: Of `Bert`, or trained ones.
        rows: Tokens of each text. It is quickest where texts of one length follow one
            another.
        at_once: So many tokens are widened at once; without it all are.

    Returns:
        A vector for each token, text after text: (tokens, 384).
    """
    total = sum(map(len, rows))
    filled = [*rows, [0] * (_FEWEST - total)] if total < _FEWEST else rows
    sizes = [*map(len, filled)]
    lengths = [(size, len([*group])) for size, group in groupby(sizes)]
    states: Tensor = embeddings(
        torch.tensor([*chain.from_iterable(filled)]),
        torch.cat([torch.arange(size) for size in sizes]),
    )
    for layer in layers:
        states = layer(states, lengths, at_once or len(states))
    return states[:total]
