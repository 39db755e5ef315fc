"""The runner used where a host hands in none: local work and the packaged MiniLM."""

from __future__ import annotations

from collections.abc import Sequence

from sdrag.engine.calls import Port
from sdrag.engine.effect_runner import PortRunner, Ports
from sdrag.engine.steps import EffectRunner, Embed
from sdrag.minilm import embed_texts

__all__ = ["local_performer"]


def local_performer() -> EffectRunner:
    """Return a runner that needs no host, no key and no network."""
    return PortRunner(Ports(embed=Port(_embed, local=True)))


def _embed(effect: Embed) -> Sequence[Sequence[float]]:
    return list(embed_texts(effect.items))
