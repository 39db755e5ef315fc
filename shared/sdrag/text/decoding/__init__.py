"""
What an encoded or disguised text says, with the way back to the text itself.

A model reads base64, HTML entities, percent signs and letters set apart as well as
plain words, so whatever looks for something in a text looks at what it decodes to as
well. What is found there is cut where it is encoded.
"""

from __future__ import annotations

from sdrag.text.decoding.encodings import undone
from sdrag.text.decoding.mapped import MappedText
from sdrag.text.decoding.spelling import respelt

__all__ = ["MappedText", "decode"]

_DEPTH = 3
"""So many encodings inside each other are undone."""


def decode(text: str, depth: int = _DEPTH) -> MappedText:
    """
    Undo the encodings and disguises in a text, each within the last.

    Args:
        text: As it is.
        depth: How many inside each other are undone.

    Returns:
        A text that is never longer than a few times the given one; its `before` is
        `None` where nothing was encoded.
    """
    decoded = MappedText.of(text)
    for _ in range(depth):
        before = decoded
        decoded = respelt(undone(decoded))
        if decoded is before:
            break
    return decoded
