"""
The language of a text, as far as the rules need to know it.

The rules of the detectors are English. A text is taken for English unless it can be
told that it is not: most of its letters are of another script, or its words in lower
case are in no list of English words and py3langid [1] is sure of another language.
Names, numbers, code and logs have few words in lower case, so they count as English.

[1] M. Lui and T. Baldwin, "langid.py: An Off-the-shelf Language Identification Tool",
    ACL 2012; py3langid is its maintained fork.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from sdrag.detectors.local.tables import common_words
from sdrag.detectors.local.technical import find_technical
from sdrag.text.spans import merge, splice

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_LETTERS = 4
"""Fewer letters tell no script."""
_WORDS = 4
"""Fewer different words tell no language."""
_ENGLISH = 0.8
"""A larger share of English words makes a text English."""
_SURE = 0.6, 0.95
"""The least probability of another language, where less than half of the words are
English and where more are. No English text of the development data and none of 3,000
lines of forms, tables and logs reaches it, whatever its names."""

_NONE = "zxx"
"""What has no language, such as a line of a log."""

_WORD = re.compile(
    r"(?<!\S)[\"'(\[„“‘¿¡«-]*([^\W\d_]{2,})[\"')\],.;:!?”’»]*(?!\S)",  # noqa: RUF001
)


def find_language(text: str) -> str:
    """Return the ISO 639-1 code of a text's language; `en` where it can't be told."""
    text = splice(text, merge(find_technical(text)), lambda _: " ")
    if not _is_latin(text):
        language, _ = _identifier().classify(text)
        return "und" if language == "en" else str(language)
    words = {word for word in _WORD.findall(text) if word.islower()}
    english = sum(map(common_words().__contains__, words))
    if len(words) < _WORDS or english >= _ENGLISH * len(words):
        return "en"
    language, probability = _identifier().classify(text)
    sure = _SURE[2 * english >= len(words)]
    return str(language) if probability > sure and language != _NONE else "en"


def _is_latin(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    if text.isascii() or len(letters) < _LETTERS:
        return True
    latin = sum(
        character.isascii() or unicodedata.name(character, "").startswith("LATIN")
        for character in letters
    )
    return 2 * latin >= len(letters)


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import (  # noqa: PLC0415 -- 2 s, and seldom needed
        MODEL_FILE,
        LanguageIdentifier,
    )

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
