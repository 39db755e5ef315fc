"""
What a caller may leave out, or give in several forms: the settings and the runner.

Settings are a linkage section, a policy, a mapping or a path. The default runner needs
no host, no key and no network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sdrag.effects.runner import Port, PortRunner, Ports
from sdrag.effects.steps import EffectRunner, Embed
from sdrag.embeddings import embed_texts
from sdrag.policy import LinkageSection, Policy, PolicySource

__all__ = ["SettingsSource", "local_runner", "read_settings"]

SettingsSource = LinkageSection | PolicySource | None


def read_settings(source: SettingsSource) -> LinkageSection:
    """
    Return the linkage section of whatever was given; the defaults for nothing.

    A mapping is a policy where it has a key of one, else the section itself.

    Raises:
        PolicyError: It cannot be read.
    """
    if source is None:
        return LinkageSection()
    if isinstance(source, LinkageSection):
        return source
    if isinstance(source, Mapping) and not set(source) & set(Policy.model_fields):
        return Policy.read({"linkage": dict(source)}).linkage
    return Policy.read(source).linkage


def local_runner() -> EffectRunner:
    """Return a runner that embeds with the packaged MiniLM and works locally."""
    return PortRunner(Ports(embed=Port(_embed, local=True)))


def _embed(effect: Embed) -> Sequence[Sequence[float]]:
    return list(embed_texts(effect.items))
