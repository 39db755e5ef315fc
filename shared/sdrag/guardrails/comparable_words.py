"""
Words to compare by: what two texts must share to say the same thing.

Content words without endings, numbers, and names; function words carry no claim. A
stemmer of a dozen endings is enough, since both sides go through it.
"""

from __future__ import annotations

import re

from sdrag.text.folding import fold_text

__all__ = [
    "content_words",
    "is_function_word",
    "negated",
    "numbers",
    "shares",
    "word_set",
]


def word_set(listed: str) -> frozenset[str]:
    """Return the words of a list that is written as one string, to be read as one."""
    return frozenset(listed.split())


_WORD = re.compile(r"\w+(?:[.,]\d+)*")
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6}
_SCALES |= {"bn": 1e9, "billion": 1e9}
_SCALED = re.compile(
    r"(?<![\d.])(\d+(?:\.\d+)?)(?: ?(thousand|million|mn|bn|billion)|"
    r"(k|m)(?![\w-]))"
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_ENDINGS = (
    "ations",
    "ation",
    "ings",
    "ing",
    "edly",
    "ed",
    "ers",
    "er",
    "ies",
    "es",
    "s",
    "ly",
)
_FUNCTION = word_set(
    "a an the of in on at by to for from with and or but as is are was were be been"
    " being it its this that these those he she his her they their them which who whom"
    " whose what when where while also into than then there has have had do does did"
    " after before during over under about between through would could can may might"
    " will more most other some such all both each i we you your our him us one two"
    " not no s t"
)
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|neither|nor|without|nothing|nobody|cannot|unable|incapable"
    r"|refus\w{1,6}|fail(?:s|ed|ure)?|declin(?:es|ed)|lack(?:s|ed)?|non)\b|n't\b"
)
_PREFIX = 5


def content_words(text: str) -> list[str]:
    """Return a text's content words, folded and without endings, in order."""
    return [
        _stem(word) for word in _WORD.findall(fold_text(text)) if word not in _FUNCTION
    ]


def is_function_word(word: str) -> bool:
    """Say whether a folded word carries no claim of its own."""
    return word in _FUNCTION


def numbers(text: str) -> frozenset[str]:
    """Return a text's numbers, without separators of thousands, and written out."""
    folded = re.sub(r"(?<=\d),(?=\d{3}\b)", "", fold_text(text))
    return frozenset(
        f"{float(number) * _SCALES[scale or short]:.15g}"
        for number, scale, short in _SCALED.findall(folded)
    ) | frozenset(_NUMBER.findall(_SCALED.sub(" ", folded)))


def negated(text: str) -> bool:
    """Say whether a text denies something."""
    return _NEGATION.search(fold_text(text)) is not None


def shares(word: str, words: frozenset[str] | set[str]) -> bool:
    """Say whether a word, or a relative with the same beginning, is among others."""
    if word in words:
        return True
    if len(word) < _PREFIX or word[0].isdigit():
        return False
    return any(other.startswith(word[:_PREFIX]) for other in words)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
