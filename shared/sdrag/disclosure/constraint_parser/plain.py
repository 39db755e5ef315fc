"""A constraint's text in plain characters: compatibility forms and look-alikes go."""

from __future__ import annotations

import unicodedata

from sdrag.text.folding import fold

__all__ = ["plain_text"]


def plain_text(text: str) -> str:
    """
    Fold a text and keep its capitals, since they tell names.

    Every hyphen and quotation mark becomes the plain one, and what cannot be seen goes.
    """
    composed = unicodedata.normalize("NFKC", text)
    kept = (c if c.isalnum() else fold(c).text for c in composed)
    return " ".join("".join(kept).split())
