"""Effects that are put together."""

from __future__ import annotations

from sdrag.engine.steps import Embed, embed, run


def test_a_corpus_is_embedded_in_batches():
    """Each is a call of its own, so that a time limit holds for a part of it."""
    sizes = []

    class EffectRunner:
        def perform(self, effect: Embed):
            sizes.append(len(effect.items))
            return list(effect.items)

    texts = [str(n) for n in range(1200)]

    assert run(embed(texts), EffectRunner()) == texts
    assert sizes == [512, 512, 176]
