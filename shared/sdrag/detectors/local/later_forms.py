"""Names that any detector found in parts of a text, in their shorter forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sdrag.detectors.local.found import Found
from sdrag.detectors.local.plain_view import view
from sdrag.detectors.local.shorter_forms import forms
from sdrag.detectors.local.words import tokenize
from sdrag.vocabulary import Mention, Span

__all__ = ["later_forms"]


def later_forms(text: str, mentions: Iterable[Mention]) -> Iterator[Mention]:
    """
    Yield where a name from somewhere in a text stands in a shorter form.

    Args:
        text: As the mentions point into it.
        mentions: In any order.
    """
    plain = view(text)
    shown = text if plain.moves else plain.text
    first = (
        Found(m.span.start, m.span.end, m.type, m.confidence, m.reason)
        for m in mentions
    )
    for form in forms(tokenize(shown), first):
        span = Span(form.start, form.end)
        yield Mention(span, form.type, form.confidence, form.reason)
