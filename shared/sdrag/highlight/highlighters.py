"""The highlighters of the package, by name: for settings, never for plug-ins."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sdrag.errors import UsageError
from sdrag.highlight.local import local
from sdrag.highlight.prompting import baseline, by_span, structured, two_steps
from sdrag.highlight.protocol import Highlighter

__all__ = ["HIGHLIGHTERS", "highlighter_named"]

HIGHLIGHTERS: Mapping[str, Highlighter] = MappingProxyType(
    {
        "baseline": baseline,
        "local": local,
        "span": by_span,
        "structured": structured,
        "two_steps": two_steps,
    }
)


def highlighter_named(name: str) -> Highlighter:
    """
    Return a highlighter of the package.

    Raises:
        UsageError: There is none of that name.
    """
    if name not in HIGHLIGHTERS:
        raise UsageError(
            f"There is no highlighter {name!r}.",
            hint=f"The highlighters are {', '.join(HIGHLIGHTERS)}.",
        )
    return HIGHLIGHTERS[name]
