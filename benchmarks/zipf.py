"""A corpus for growth: columns of mentions, drawn by Zipf's law, without texts."""

from __future__ import annotations

import numpy as np

from sdrag.linkage.incidence import Incidence
from sdrag.policy.sections import WEIGHTS

_MENTIONS = 10
_EXPONENT = 1.05


def zipf_corpus(documents: int, seed: int = 0) -> Incidence:
    """
    Draw a corpus.

    Ten mentions a document, by Zipf's law with exponent 1.05 over ten entities for
    each document; relevance uniform from 0.3 to 1, weights drawn from Table 4.1.

    Args:
        documents: How many.
        seed: Fixes the draw.
    """
    draw = np.random.default_rng(seed)
    size = documents * _MENTIONS
    share = np.cumsum(1.0 / np.arange(1, size + 1) ** _EXPONENT)
    entity = np.searchsorted(share / share[-1], draw.random(size))
    relevance = draw.uniform(0.3, 1.0, size)
    weight = draw.choice(np.array(list(WEIGHTS.values())), size)
    used, number = np.unique(entity, return_inverse=True)
    document = np.repeat(np.arange(documents), _MENTIONS)
    order = np.lexsort((-relevance, number, document))
    _, first = np.unique(document[order] * len(used) + number[order], return_index=True)
    kept = order[first]
    return Incidence(
        [str(number) for number in range(documents)],
        [f"{number:09}" for number in range(len(used))],
        document[kept],
        number[kept],
        relevance[kept],
        weight[used],
        np.ones(len(used), bool),
    )
