"""Where settings are taken they may be the section, a policy, a mapping or a path."""

from __future__ import annotations

from collections.abc import Mapping

from sdrag.policy import LinkageSection, Policy, PolicySource

__all__ = ["SettingsSource", "read_settings"]

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
