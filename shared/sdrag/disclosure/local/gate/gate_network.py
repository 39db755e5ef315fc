"""
The network of the gate: the scorer, reading a sentence with a constraint in view.

The constraint is read once, by itself, as the scorer reads it. In the upper layers each
token of the sentence attends to the tokens of the constraint as well as to those of the
sentence. What the scorer makes of its tokens then chooses the words. The sentence is
decided by its surest word, its first state, the mean of its tokens, and the tokens that
are chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.nn import GELU, Linear, Parameter, Sequential
from torch.nn.functional import normalize

from sdrag.disclosure.local.scorer.scorer_network import Asked, LateInteraction

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import BertModel

__all__ = ["GateNetwork", "InView"]

_HEADS = 12
_NARROW = 128
_FAR = -3.0
"""What the tokens of a constraint begin at, next to those of the sentence."""
_NONE = -1e4


class InView(NamedTuple):
    """
    Constraints, as the tokens of a sentence attend to them and are scored for them.

    Args:
        layers: Keys and values in each upper layer: (constraints, heads, tokens, 32).
        hidden: Low where a constraint has no token: (constraints, tokens).
        asked: As the scorer has them.
    """

    layers: tuple[tuple[Tensor, Tensor], ...]
    hidden: Tensor
    asked: Asked

    def of(self, rows: Tensor) -> InView:
        """Return a constraint for each pair."""
        layers = tuple((key[rows], value[rows]) for key, value in self.layers)
        return InView(layers, self.hidden[rows], Asked(*(a[rows] for a in self.asked)))


class GateNetwork(LateInteraction):
    """
    Decide sentences and words for constraints.

    Args:
        bert: The packaged MiniLM; its upper layers are copied, not changed.
    """

    def __init__(self, bert: BertModel) -> None:
        super().__init__(bert)
        width, layers = bert.config.hidden_size, len(self.upper)
        self.near = Parameter(torch.full((layers, _HEADS), _FAR))
        self.surest = Linear(1, 1)
        last = Linear(_NARROW, 1)
        self.sentence = Sequential(Linear(3 * width, _NARROW), GELU(), last)
        torch.nn.init.ones_(self.surest.weight)
        for zero in (self.surest.bias, last.weight, last.bias):
            torch.nn.init.zeros_(zero)

    def begin(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Read texts by the published lower layers: (texts, tokens, 384)."""
        with torch.no_grad():
            states: Tensor = self.bert.embeddings(ids)
            for layer in self.bert.encoder.layer[: -len(self.upper)]:
                states = _read(layer, states, _hidden(mask)[:, None])
        return states

    def view(self, states: Tensor, mask: Tensor) -> InView:
        """Read constraints, begun by `begin`."""
        layers: list[tuple[Tensor, Tensor]] = []
        layer: Any
        for layer in self.upper:
            read = layer.attention.self
            layers.append((_split(read.key(states)), _split(read.value(states))))
            states = _read(layer, states, _hidden(mask)[:, None])
        return InView(tuple(layers), _hidden(mask), self.asking(states, mask))

    def forward(
        self, states: Tensor, mask: Tensor, view: InView
    ) -> tuple[Tensor, Tensor]:
        """
        Read sentences, begun by `begin`, each for the constraint in its row.

        Returns:
            Logits of the sentences, and of their tokens: (pairs), (pairs, tokens).
        """
        own = _hidden(mask)[:, None].expand(-1, _HEADS, -1)
        for layer, near, context in zip(
            self.upper, self.near, view.layers, strict=True
        ):
            far = view.hidden[:, None] + near[:, None]
            states = _read(layer, states, torch.cat([far, own], dim=2), context)
        inner = mask.clone()  # neither the first token nor the last is a word
        inner[:, 0] = False
        inner[:, :-1] &= mask[:, 1:]
        inner[:, -1] = False
        mean = inner / inner.sum(dim=1, keepdim=True).clamp(min=1)
        words = self._words(states, mean, view.asked)
        chosen = words.masked_fill(~inner, _NONE)
        pooled = torch.stack([mean, chosen.softmax(dim=1)], dim=1) @ states
        features = torch.cat([states[:, 0], pooled.flatten(1)], dim=1)
        surest = chosen.max(dim=1, keepdim=True).values
        return (self.surest(surest) + self.sentence(features)).squeeze(-1), words

    def _words(self, states: Tensor, mean: Tensor, asked: Asked) -> Tensor:
        """Score each token for the constraint in its row, as `logits` does for all."""
        keys = normalize(self.key(states), dim=-1)
        whole = normalize(self.key(mean[:, None] @ states), dim=-1)
        alike = torch.cat([self.by_token * keys, self.by_sentence * whole], dim=1)
        alike = (alike @ asked.query[..., None]).squeeze(-1)
        narrow = self.narrow_key(states)
        reach = asked.words @ narrow.transpose(1, 2) + asked.hidden
        both = narrow + (asked.said @ reach.softmax(dim=1)).transpose(1, 2)
        fit = self.together(self.activation(both)) + self.telling(states)
        return alike[:, :-1] + alike[:, -1:] + fit.squeeze(-1) + self.bias  # type: ignore[no-any-return]


def _split(states: Tensor) -> Tensor:
    return states.view(*states.shape[:-1], _HEADS, -1).transpose(1, 2)


def _hidden(mask: Tensor) -> Tensor:
    return (~mask) * _NONE


def _read(
    layer: Any,
    states: Tensor,
    hidden: Tensor,
    context: tuple[Tensor, Tensor] | None = None,
) -> Tensor:
    """
    Read a layer.

    Args:
        layer: Of MiniLM.
        states: Of the tokens that are read.
        hidden: What is added for each token of the context, and of those.
        context: Keys and values of what they attend to as well.
    """
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
    read: Tensor = layer.output(layer.intermediate(attended), attended)
    return read
