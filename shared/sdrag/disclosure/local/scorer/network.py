"""
The network of the scorer: MiniLM with trained upper layers, and a head.

A token is withheld by a constraint as far as the token, and its sentence, point where
the constraint does; as far as it fits those words of the constraint that it attends to;
and as far as it tells anything at all. Lower layers and word embeddings are the
published ones and are not trained.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn import GELU, Linear, Parameter
from torch.nn.functional import normalize, one_hot

from sdrag.minilm.network import Trained

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["LateInteraction"]

_LAYERS = 4
_NARROW = 64
_MASKED = -3e4


class LateInteraction(Trained):
    """
    Scores of tokens for constraints that were read apart from them.

    Args:
        bert: The transformer of the packaged MiniLM; left as it is.
    """

    def __init__(self, bert: Any) -> None:
        super().__init__(bert, _LAYERS)
        width = bert.config.hidden_size
        self.query = Linear(width, width, bias=False)
        self.key = Linear(width, width, bias=False)
        self.narrow_query = Linear(width, _NARROW, bias=False)
        self.narrow_key = Linear(width, _NARROW, bias=False)
        self.narrow_word = Linear(width, _NARROW, bias=False)
        self.said = Linear(width, _NARROW, bias=False)
        self.together = Linear(_NARROW, 1, bias=False)
        self.telling = Linear(width, 1)
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

    def logits(
        self, states: Tensor, sentences: Tensor, asked: Tensor, asked_mask: Tensor
    ) -> Tensor:
        """
        Score every token of every text for every constraint.

        Args:
            states: Of the texts, as `forward` gives them.
            sentences: The number of each token's sentence in its text, -1 for none.
            asked: States of the constraints.
            asked_mask: 1 where a constraint has a token.

        Returns:
            Logits of shape (texts, constraints, tokens).
        """
        states, asked = states.float(), asked.float()
        whole = _means(asked, asked_mask.float()[..., None])[:, 0]
        query = normalize(self.query(whole), dim=-1)
        member = one_hot(sentences + 1)[..., 1:].float()
        means = normalize(self.key(_means(states, member)), dim=-1)
        keys = normalize(self.key(states), dim=-1)
        near = torch.einsum("ntd,md->nmt", keys, query)
        close = torch.einsum("nsd,md,nts->nmt", means, query, member)
        logits: Tensor = self.by_token * near + self.by_sentence * close + self.bias
        logits += self._fit(states, whole, asked, asked_mask)
        logits += self.telling(states).squeeze(-1)[:, None]
        return logits

    def _fit(
        self, states: Tensor, whole: Tensor, asked: Tensor, asked_mask: Tensor
    ) -> Tensor:
        """Return how each token fits each constraint, and its words it attends to."""
        narrow = self.narrow_key(states)
        reach = torch.einsum("ntd,mcd->nmtc", narrow, self.narrow_word(asked))
        hidden = (1.0 - asked_mask[None, :, None].float()) * _MASKED
        weights = torch.softmax(reach / _NARROW**0.5 + hidden, dim=-1)
        attended = torch.einsum("nmtc,mcd->nmtd", weights, self.said(asked))
        both = narrow[:, None] + self.narrow_query(whole)[:, None] + attended
        fit: Tensor = self.together(self.activation(both)).squeeze(-1)
        return fit


def _means(states: Tensor, member: Tensor) -> Tensor:
    """Return the mean state of each group: (texts, groups, 384)."""
    sums = torch.einsum("nts,ntd->nsd", member, states)
    return sums / member.sum(1)[..., None].clamp(min=1)
