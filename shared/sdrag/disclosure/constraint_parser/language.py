"""
The language a constraint is written in, by its little words.

Only words that English does not use are listed, each under the languages that use it
most. Other scripts tell their language, or at least that it is not English.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from sdrag.disclosure.constraint_parser.dictionary import little_words, word_set
from sdrag.text.folding import fold_text

__all__ = ["UNKNOWN", "language_of"]

UNKNOWN = "und"
"""The code of a language that is not known here."""

_SHARED = word_set("shared")
"""English uses these, too, or has them in names and abbreviations."""
_ENGLISH = word_set("english")
_SCRIPTS = (
    *(("CYRILLIC", "ru"), ("GREEK", "el"), ("ARABIC", "ar"), ("HEBREW", "he")),
    *(("HIRAGANA", "ja"), ("KATAKANA", "ja"), ("HANGUL", "ko"), ("CJK", "zh")),
    *(("DEVANAGARI", "hi"), ("THAI", "th")),
)
_HALF = 2


@lru_cache(maxsize=1)
def _languages() -> dict[str, tuple[str, ...]]:
    """Return the languages of each little word that is not English."""
    by_word: dict[str, tuple[str, ...]] = {}
    for code, words in little_words().items():
        for word in words - _SHARED:
            by_word[word] = (*by_word.get(word, ()), code)
    return by_word


def language_of(text: str, unknown: Sequence[str]) -> str:
    """
    Return the ISO 639-1 code of a text's language.

    Args:
        text: In plain characters.
        unknown: Its words that are in no dictionary.
    """
    written = _script(text)
    if written:
        return written
    words = re.findall(r"[^\W\d_]+", fold_text(text))
    count = Counter(code for w in words for code in _languages().get(w, ()))
    foreign = sum(word in _languages() for word in words)
    english = sum(word in _ENGLISH for word in words)
    if foreign > english:
        return count.most_common(1)[0][0]
    if len(unknown) * _HALF > len(words) and not english:
        return UNKNOWN
    return "en"


def _script(text: str) -> str:
    """Return the language of the script most letters are in; empty for Latin."""
    letters = [c for c in text if c.isalpha() and not c.isascii()]
    names = [unicodedata.name(letter, "") for letter in letters]
    others = [name for name in names if not name.startswith("LATIN")]
    if len(others) * _HALF <= sum(c.isalpha() for c in text):
        return ""
    for script, code in _SCRIPTS:
        if any(name.startswith(script) for name in others):
            return code
    return UNKNOWN
