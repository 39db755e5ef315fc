"""The performer used where a host hands in none: local work and the packaged MiniLM."""

from __future__ import annotations

from collections.abc import Sequence

from sdrag.calls import Port
from sdrag.minilm import embed_texts
from sdrag.performing import PortPerformer, Ports
from sdrag.steps import Embed, Performer

__all__ = ["local_performer"]


def local_performer() -> Performer:
    """Return a performer that needs no host, no key and no network."""
    return PortPerformer(Ports(embed=Port(_embed, local=True)))


def _embed(effect: Embed) -> Sequence[Sequence[float]]:
    return list(embed_texts(effect.items))
