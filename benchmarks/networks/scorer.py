"""
The trained networks of the local engine: MiniLM with trained upper layers, and heads.

The scorer reads texts and constraints apart (late interaction). A token is withheld by
a constraint as far as the token, and its sentence, point where the constraint does; as
far as it fits those words of the constraint that it attends to; and as far as it tells
anything at all.

The gate is the scorer reading a sentence with a constraint in view: in the upper layers
each token of the sentence also attends to the tokens of the constraint, which was read
by itself. The sentence is decided by its surest word, its first state, the mean of its
tokens, and the tokens that the scorer's head chooses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.nn import GELU, Linear, Parameter, Sequential
from torch.nn.functional import normalize

from benchmarks.networks.layers import (
    HEADS,
    NONE,
    TrainedLayers,
    embed,
    hide,
    run_layer,
    run_layers,
    split,
)
from sdrag.embeddings import DIMENSIONS

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import BertModel

LAYERS = 4
_NARROW = 64
_MASKED = -3e4
_SENTENCE_WIDTH = 128
_FAR = -3.0
"""Initial attention bias of a constraint's tokens, next to those of the sentence."""


class Queries(NamedTuple):
    """
    Constraints, prepared for any number of texts.

    Args:
        query: Where each points: (constraints, 384).
        words: What a token finds each of its words by: (constraints, words, 64).
        values: What a token takes from each of them: (constraints, 64, words).
        hidden: Low where there is no word: (constraints, words, 1).
    """

    query: Tensor
    words: Tensor
    values: Tensor
    hidden: Tensor


class LateInteraction(TrainedLayers):
    """The scorer: logits of tokens for constraints that were read apart from them."""

    def __init__(self, bert: BertModel) -> None:
        super().__init__(bert, LAYERS)
        self.query = Linear(DIMENSIONS, DIMENSIONS, bias=False)
        self.key = Linear(DIMENSIONS, DIMENSIONS, bias=False)
        self.narrow_query = Linear(DIMENSIONS, _NARROW, bias=False)
        self.narrow_key = Linear(DIMENSIONS, _NARROW, bias=False)
        self.narrow_word = Linear(DIMENSIONS, _NARROW, bias=False)
        self.said = Linear(DIMENSIONS, _NARROW, bias=False)  # as in the weights
        self.together = Linear(_NARROW, 1, bias=False)
        self.telling = Linear(DIMENSIONS, 1)
        self.by_token = Parameter(torch.tensor(4.0))
        self.by_sentence = Parameter(torch.tensor(4.0))
        self.bias = Parameter(torch.tensor(-5.0))
        self.activation = GELU()

    def prepare(self, states: Tensor, mask: Tensor) -> Queries:
        """
        Prepare constraints for any number of texts.

        Args:
            states: Of the constraints' tokens: (constraints, tokens, 384).
            mask: True where a constraint has a token.
        """
        states, present = states.float(), mask.float()
        whole = (present[:, None] @ states)[:, 0] / present.sum(1, keepdim=True)
        # A token takes a mean of these: what is added to each is added once.
        values = self.said(states) + self.narrow_query(whole)[:, None]
        return Queries(
            normalize(self.query(whole), dim=-1),
            self.narrow_word(states) / _NARROW**0.5,
            values.transpose(1, 2),
            ((1.0 - present) * _MASKED)[..., None],
        )

    def logits(self, states: Tensor, around: Tensor, queries: Queries) -> Tensor:
        """
        Score every token for every constraint.

        Args:
            states: Of tokens, of shape (tokens, 384).
            around: The mean of each token's sentence, of the same shape.
            queries: The constraints.

        Returns:
            Logits of shape (constraints, tokens).
        """
        near = queries.query @ normalize(self.key(states), dim=-1).T
        close = queries.query @ normalize(self.key(around), dim=-1).T
        logits: Tensor = self.by_token * near + self.by_sentence * close + self.bias
        logits = logits + self.telling(states).T
        return logits + self._fit(self.narrow_key(states), queries)

    def _fit(self, narrow: Tensor, queries: Queries) -> Tensor:
        """Return how each token fits each constraint, by the words it attends to."""
        weights = torch.softmax(queries.words @ narrow.T + queries.hidden, dim=1)
        both = narrow.T + queries.values @ weights
        fit: Tensor = self.together.weight @ self.activation(both)
        return fit[:, 0]


def average_sentences(states: Tensor, sentences: Tensor) -> Tensor:
    """Return for each token the mean of its sentence, whose number it is given."""
    counts = sentences.bincount()
    sums = states.new_zeros(len(counts), DIMENSIONS).index_add(0, sentences, states)
    return (sums / counts.clamp(min=1)[:, None])[sentences]


class InView(NamedTuple):
    """
    Constraints, as the tokens of a sentence attend to them and are scored for them.

    Args:
        layers: Keys and values in each upper layer: (constraints, heads, tokens, 32).
        hidden: Low where a constraint has no token: (constraints, tokens).
        queries: As the scorer has them.
    """

    layers: tuple[tuple[Tensor, Tensor], ...]
    hidden: Tensor
    queries: Queries

    def of(self, rows: Tensor) -> InView:
        """Return a constraint for each pair."""
        layers = tuple((key[rows], value[rows]) for key, value in self.layers)
        queries = Queries(*(part[rows] for part in self.queries))
        return InView(layers, self.hidden[rows], queries)


class GateNetwork(LateInteraction):
    """The gate: logits of sentences, and of their words, each for one constraint."""

    def __init__(self, bert: BertModel) -> None:
        super().__init__(bert)
        self.near = Parameter(torch.full((LAYERS, HEADS), _FAR))
        self.surest = Linear(1, 1)
        first = Linear(3 * DIMENSIONS, _SENTENCE_WIDTH)
        self.sentence = Sequential(first, GELU(), Linear(_SENTENCE_WIDTH, 1))

    def begin(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Read texts by the published lower layers: (texts, tokens, 384)."""
        with torch.no_grad():
            lower = self.bert.encoder.layer[:-LAYERS]
            return run_layers(lower, embed(self.bert, ids), mask)

    def view(self, states: Tensor, mask: Tensor) -> InView:
        """Read constraints, begun by `begin`."""
        layers: list[tuple[Tensor, Tensor]] = []
        layer: Any
        for layer in self.upper:
            attention = layer.attention.self
            layers.append(
                (split(attention.key(states)), split(attention.value(states)))
            )
            states = run_layer(layer, states, hide(mask)[:, None])
        return InView(tuple(layers), hide(mask), self.prepare(states, mask))

    def forward(
        self, states: Tensor, mask: Tensor, view: InView
    ) -> tuple[Tensor, Tensor]:
        """
        Read sentences, begun by `begin`, each for the constraint in its row.

        Returns:
            Logits of the sentences, and of their tokens: (pairs), (pairs, tokens).
        """
        hidden = hide(mask)[:, None].expand(-1, HEADS, -1)
        for layer, near, context in zip(
            self.upper, self.near, view.layers, strict=True
        ):
            far = view.hidden[:, None] + near[:, None]
            states = run_layer(layer, states, torch.cat([far, hidden], dim=2), context)
        inner = mask.clone()  # neither [CLS] nor [SEP] is a word
        inner[:, 0] = False
        inner[:, :-1] &= mask[:, 1:]
        inner[:, -1] = False
        mean = inner / inner.sum(dim=1, keepdim=True).clamp(min=1)
        words = self._score_words(states, mean, view.queries)
        chosen = words.masked_fill(~inner, NONE)
        pooled = torch.stack([mean, chosen.softmax(dim=1)], dim=1) @ states
        features = torch.cat([states[:, 0], pooled.flatten(1)], dim=1)
        surest = chosen.max(dim=1, keepdim=True).values
        return (self.surest(surest) + self.sentence(features)).squeeze(-1), words

    def _score_words(self, states: Tensor, mean: Tensor, queries: Queries) -> Tensor:
        """Score each token for the constraint in its row, as `logits` does for all."""
        keys = normalize(self.key(states), dim=-1)
        whole = normalize(self.key(mean[:, None] @ states), dim=-1)
        alike = torch.cat([self.by_token * keys, self.by_sentence * whole], dim=1)
        alike = (alike @ queries.query[..., None]).squeeze(-1)
        narrow = self.narrow_key(states)
        reach = queries.words @ narrow.transpose(1, 2) + queries.hidden
        both = narrow + (queries.values @ reach.softmax(dim=1)).transpose(1, 2)
        fit = self.together(self.activation(both)) + self.telling(states)
        return alike[:, :-1] + alike[:, -1:] + fit.squeeze(-1) + self.bias  # type: ignore[no-any-return]
