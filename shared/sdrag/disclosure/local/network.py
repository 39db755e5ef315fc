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

from sdrag.embeddings import DIMENSIONS
from sdrag.embeddings.network import TrainedLayers

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import BertModel

_LAYERS = 4
_NARROW = 64
_MASKED = -3e4
_AT_ONCE = 256
"""Tokens that are scored for all constraints at once, to stay in the CPU's cache."""
_HEADS = 12
_SENTENCE_WIDTH = 128
_FAR = -3.0
"""Initial attention bias of a constraint's tokens, next to those of the sentence."""
_NONE = -1e4


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
        super().__init__(bert, _LAYERS)
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

    def logits(self, states: Tensor, sentences: Tensor, queries: Queries) -> Tensor:
        """
        Score every token for every constraint.

        Args:
            states: Of the tokens of all texts, of shape (tokens, 384).
            sentences: The number of each token's sentence, from 0 over all texts.
            queries: The constraints.

        Returns:
            Logits of shape (constraints, tokens).
        """
        states = states.float()
        counts = sentences.bincount()
        sums = states.new_zeros(len(counts), DIMENSIONS)
        means = sums.index_add(0, sentences, states) / counts.clamp(min=1)[:, None]
        near = queries.query @ normalize(self.key(states), dim=-1).T
        close = (queries.query @ normalize(self.key(means), dim=-1).T)[:, sentences]
        logits: Tensor = self.by_token * near + self.by_sentence * close + self.bias
        logits += self.telling(states).T
        narrow = self.narrow_key(states).split(_AT_ONCE)
        return logits + torch.cat([self._fit(part, queries) for part in narrow], dim=1)

    def _fit(self, narrow: Tensor, queries: Queries) -> Tensor:
        """Return how each token fits each constraint, by the words it attends to."""
        count, longest = queries.words.shape[:2]
        keys = narrow.T.contiguous()
        reach = (queries.words.flatten(0, 1) @ keys).view(count, longest, -1)
        weights = torch.softmax(reach + queries.hidden, dim=1)
        both = torch.baddbmm(keys.expand(count, -1, -1), queries.values, weights)
        fit: Tensor = self.together.weight @ self.activation(both)
        return fit[:, 0]


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
        self.near = Parameter(torch.full((_LAYERS, _HEADS), _FAR))
        self.surest = Linear(1, 1)
        first = Linear(3 * DIMENSIONS, _SENTENCE_WIDTH)
        self.sentence = Sequential(first, GELU(), Linear(_SENTENCE_WIDTH, 1))

    def begin(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Read texts by the published lower layers: (texts, tokens, 384)."""
        with torch.no_grad():
            states: Tensor = self.bert.embeddings(ids)
            for layer in self.bert.encoder.layer[:-_LAYERS]:
                states = _run_layer(layer, states, _hide(mask)[:, None])
        return states

    def view(self, states: Tensor, mask: Tensor) -> InView:
        """Read constraints, begun by `begin`."""
        layers: list[tuple[Tensor, Tensor]] = []
        layer: Any
        for layer in self.upper:
            attention = layer.attention.self
            layers.append(
                (_split(attention.key(states)), _split(attention.value(states)))
            )
            states = _run_layer(layer, states, _hide(mask)[:, None])
        return InView(tuple(layers), _hide(mask), self.prepare(states, mask))

    def forward(
        self, states: Tensor, mask: Tensor, view: InView
    ) -> tuple[Tensor, Tensor]:
        """
        Read sentences, begun by `begin`, each for the constraint in its row.

        Returns:
            Logits of the sentences, and of their tokens: (pairs), (pairs, tokens).
        """
        hidden = _hide(mask)[:, None].expand(-1, _HEADS, -1)
        for layer, near, context in zip(
            self.upper, self.near, view.layers, strict=True
        ):
            far = view.hidden[:, None] + near[:, None]
            states = _run_layer(layer, states, torch.cat([far, hidden], dim=2), context)
        inner = mask.clone()  # neither [CLS] nor [SEP] is a word
        inner[:, 0] = False
        inner[:, :-1] &= mask[:, 1:]
        inner[:, -1] = False
        mean = inner / inner.sum(dim=1, keepdim=True).clamp(min=1)
        words = self._score_words(states, mean, view.queries)
        chosen = words.masked_fill(~inner, _NONE)
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


def _split(states: Tensor) -> Tensor:
    return states.view(*states.shape[:-1], _HEADS, -1).transpose(1, 2)


def _hide(mask: Tensor) -> Tensor:
    return (~mask) * _NONE


def _run_layer(
    layer: Any,
    states: Tensor,
    hidden: Tensor,
    context: tuple[Tensor, Tensor] | None = None,
) -> Tensor:
    """Run a layer of MiniLM whose tokens attend to keys and values of others, too."""
    attention = layer.attention.self
    query, key, value = (
        _split(part(states))
        for part in (attention.query, attention.key, attention.value)
    )
    if context:
        key = torch.cat([context[0], key], dim=2)
        value = torch.cat([context[1], value], dim=2)
    reach = query @ key.transpose(2, 3) / key.shape[-1] ** 0.5 + hidden[:, :, None]
    attended = (reach.softmax(dim=-1) @ value).transpose(1, 2).flatten(2)
    attended = layer.attention.output(attended, states)
    output: Tensor = layer.output(layer.intermediate(attended), attended)
    return output
