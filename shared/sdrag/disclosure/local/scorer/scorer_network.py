"""
The network of the scorer: MiniLM with trained upper layers, and a head.

A token is withheld by a constraint as far as the token, and its sentence, point where
the constraint does; as far as it fits those words of the constraint that it attends to;
and as far as it tells anything at all. Lower layers and word embeddings are the
published ones and are not trained.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch.nn import GELU, Linear, Parameter
from torch.nn.functional import normalize

from sdrag.minilm import DIMENSIONS
from sdrag.minilm.trained_layers import Trained

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import BertModel

__all__ = ["Asked", "LateInteraction"]

_LAYERS = 4
_NARROW = 64
_MASKED = -3e4
_AT_ONCE = 256
"""So many tokens are put to all constraints at once: they stay near the processor."""


class Asked(NamedTuple):
    """
    Constraints, as the tokens of any text meet them.

    Args:
        query: Where each points: (constraints, 384).
        words: What a token finds each of its words by: (constraints, words, 64).
        said: What a token takes from each of them: (constraints, 64, words).
        hidden: Low where there is no word: (constraints, words, 1).
    """

    query: Tensor
    words: Tensor
    said: Tensor
    hidden: Tensor


class LateInteraction(Trained):
    """
    Scores of tokens for constraints that were read apart from them.

    Args:
        bert: The packaged MiniLM; left as it is.
    """

    def __init__(self, bert: BertModel) -> None:
        super().__init__(bert, _LAYERS)
        self.query = Linear(DIMENSIONS, DIMENSIONS, bias=False)
        self.key = Linear(DIMENSIONS, DIMENSIONS, bias=False)
        self.narrow_query = Linear(DIMENSIONS, _NARROW, bias=False)
        self.narrow_key = Linear(DIMENSIONS, _NARROW, bias=False)
        self.narrow_word = Linear(DIMENSIONS, _NARROW, bias=False)
        self.said = Linear(DIMENSIONS, _NARROW, bias=False)
        self.together = Linear(_NARROW, 1, bias=False)
        self.telling = Linear(DIMENSIONS, 1)
        self.by_token = Parameter(torch.tensor(4.0))
        self.by_sentence = Parameter(torch.tensor(4.0))
        self.bias = Parameter(torch.tensor(-5.0))
        self.activation = GELU()
        self._begin()

    def _begin(self) -> None:
        # It starts as the published model does: near is near in meaning.
        for layer in (self.query, self.key):
            torch.nn.init.eye_(layer.weight)
        outputs = (self.together.weight, self.telling.weight, self.telling.bias)
        for zero in (*outputs, self.said.weight):
            torch.nn.init.zeros_(zero)

    def asking(self, states: Tensor, mask: Tensor) -> Asked:
        """
        Prepare constraints for any number of texts.

        Args:
            states: Of the constraints' tokens: (constraints, tokens, 384).
            mask: 1 where a constraint has a token.
        """
        states, there = states.float(), mask.float()
        whole = (there[:, None] @ states)[:, 0] / there.sum(1, keepdim=True)
        # A token takes a mean of these: what is added to each is added once.
        said = self.said(states) + self.narrow_query(whole)[:, None]
        return Asked(
            normalize(self.query(whole), dim=-1),
            self.narrow_word(states) / _NARROW**0.5,
            said.transpose(1, 2),
            ((1.0 - there) * _MASKED)[..., None],
        )

    def logits(self, states: Tensor, sentences: Tensor, asked: Asked) -> Tensor:
        """
        Score every token for every constraint.

        Args:
            states: Of the tokens of all texts, of shape (tokens, 384).
            sentences: The number of each token's sentence, from 0 over all texts.
            asked: The constraints.

        Returns:
            Logits of shape (constraints, tokens).
        """
        states = states.float()
        keys = normalize(self.key(states), dim=-1)
        means = normalize(self.key(_means(states, sentences)), dim=-1)
        near = asked.query @ keys.T
        close = (asked.query @ means.T)[:, sentences]
        logits: Tensor = self.by_token * near + self.by_sentence * close + self.bias
        logits += self.telling(states).T
        narrow = self.narrow_key(states).split(_AT_ONCE)
        return logits + torch.cat([self._fit(some, asked) for some in narrow], dim=1)

    def _fit(self, narrow: Tensor, asked: Asked) -> Tensor:
        """Return how each token fits each constraint, and its words it attends to."""
        count, longest = asked.words.shape[:2]
        own = narrow.T.contiguous()
        reach = (asked.words.flatten(0, 1) @ own).view(count, longest, -1)
        weights = torch.softmax(reach + asked.hidden, dim=1)
        both = torch.baddbmm(own.expand(count, -1, -1), asked.said, weights)
        fit: Tensor = self.together.weight @ self.activation(both)
        return fit[:, 0]


def _means(states: Tensor, sentences: Tensor) -> Tensor:
    """Return the mean state of each sentence: (sentences, 384)."""
    times = sentences.bincount()
    sums = states.new_zeros(len(times), states.shape[1])
    return sums.index_add(0, sentences, states) / times.clamp(min=1)[:, None]
