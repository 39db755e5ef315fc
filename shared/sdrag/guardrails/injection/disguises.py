"""
Every reading of a text that a model may take: as it is, and with its disguises undone.

A model reads through zero-width characters, look-alike letters from other scripts, tag
characters that no screen shows, comments, base64 and entities. `sdrag.text.decoding`
undoes them, each encoding within the last. Here each reading is folded, and knows which
characters of the original it came from, so that what is found can be cut out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sdrag.text.decoding import LOOKALIKES, decode
from sdrag.text.folding import Folded, fold
from sdrag.text.mapped import MappedText
from sdrag.vocabulary import Confidential, Span

_LOOKALIKES = str.maketrans(LOOKALIKES)
_MARKUP = re.compile(r"<!--|-->|[<>]")
_SEAMS = re.compile(
    r"(?m)^[ \t]{0,20}(?:\*|//|#|--|;)[ \t]"
    r"|(?<=[\"'])[ \t]{1,20}[\w:-]{1,30}=[\"']|[\"'](?=[ \t]{1,20}[\w:-]{1,30}=[\"'])"
)
"""What parts the lines of a comment, and the attributes of a tag."""
_WORD = re.compile(r"\w{3,}")


@dataclass(frozen=True, slots=True, repr=False)
class Reading(Confidential):
    """A reading of a text."""

    text: str
    source: MappedText
    folded: Folded

    @property
    def is_decoded(self) -> bool:
        """Whether something in it was encoded."""
        return self.source.before is not None


def views(text: str, depth: int = 3) -> Iterator[Reading]:
    """
    Yield the readings of a text, the plain one first.

    `depth`: how many encodings inside each other are undone.
    """
    yield _fold_reading(MappedText.of(text))
    seamless = _SEAMS.sub(_blank, text)
    if seamless != text:
        yield _fold_reading(MappedText.of(seamless))
    # Decoding drops tags and comments; without their signs, what is in them stays.
    unmarked = _MARKUP.sub(_blank, text)
    for variant in dict.fromkeys((text, unmarked)):
        decoded = decode(variant, depth)
        if decoded.before is not None:
            yield _fold_reading(decoded)


def plain(text: str) -> str:
    """Return a text folded, with look-alike letters made plain."""
    return fold(text).text.translate(_LOOKALIKES).strip()


def is_hidden(words: str, span: Span, text: str) -> bool:
    """Say whether a reader of the original sees none of some decoded words."""
    shown = plain(span.of(text))
    return not any(word in shown for word in _WORD.findall(words))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _fold_reading(source: MappedText) -> Reading:
    folded = fold(source)
    return Reading(folded.text.translate(_LOOKALIKES), source, folded)
