"""
Reading a text as words with what the rules of agreement need to know of each.

A word has a base form, which is the same for *rise*, *rises* and *rose*, and belongs
to a clause. Clauses are cut at punctuation and at conjunctions. That is coarse, and
enough to tell what stands near what.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files

from sdrag.guardrails.comparable_words import is_function_word, word_set
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Confidential

__all__ = [
    "NUMBER_WORDS",
    "Token",
    "TokenText",
    "base_form",
    "joined",
    "read_tokens",
    "same",
]

_WORD = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}|\d+(?:[.,:/]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)*|[%\u00b0\u20ac$\u00a3;:,()\u2013\u2014]"
)
_BOUNDARIES = frozenset(";:,()-")
_HARD = frozenset(";:")
_CONJUNCTIONS = word_set(
    "and but or nor while although though whereas because if unless who whom which"
    " whose that when where"
)
_SIDING = word_set("vot argu speak rul decid campaign")
_MEASURED = {
    "width": "wide",
    "length": "long",
    "depth": "deep",
    "height": "high",
    "strength": "strong",
}
"""What is measured, and how it is."""
_PREFIX = 5
_LEAST = 3
"""Letters that stay when an ending goes."""

NUMBER_WORDS = {
    "zero": 0,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "thirteen": 13,
    "fourteen": 14,
    "fifteen": 15,
    "sixteen": 16,
    "seventeen": 17,
    "eighteen": 18,
    "nineteen": 19,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}


@dataclass(frozen=True, slots=True, repr=False)
class Token(Confidential):
    """
    A word, a number or a mark.

    Args:
        text: Folded.
        base: Its base form.
        clause: The number of its clause in the text.
        hard: How many sentences and semicolons precede it.
        content: It carries meaning: no mark, no function word.
        name: It is written with a capital, and not because a sentence begins.
        first: It begins a sentence.
    """

    text: str
    base: str
    clause: int
    hard: int
    content: bool
    name: bool
    first: bool


TokenText = tuple[Token, ...]
"""The words of a text, in order."""


def read_tokens(texts: Sequence[str]) -> TokenText:
    """
    Read the sentences of a text, or of several that are read together.

    Nothing is kept of what was read: the words may be confidential.
    """
    found: list[Token] = []
    clause = hard = 0
    for text in texts:
        first = True
        clause += 1
        hard += 1
        for match in _WORD.finditer(text):
            written = match.group()
            folded = _without_possessive(fold_text(written))
            if folded in _BOUNDARIES or folded in _CONJUNCTIONS:
                clause += 1
            hard += folded in _HARD
            found.append(
                Token(
                    text=folded,
                    base=base_form(folded),
                    clause=clause,
                    hard=hard,
                    content=_is_content(folded) or _takes_sides(found, folded),
                    name=written[0].isupper() and not first,
                    first=first,
                )
            )
            first = False
    return tuple(found)


def joined(texts: Sequence[TokenText]) -> TokenText:
    """Join texts that were read one by one; clauses and sentences stay apart."""
    found: list[Token] = []
    clause = hard = 0
    for tokens in texts:
        found += [
            replace(token, clause=clause + token.clause, hard=hard + token.hard)
            for token in tokens
        ]
        if tokens:
            clause, hard = found[-1].clause, found[-1].hard
    return tuple(found)


def _without_possessive(word: str) -> str:
    for ending in ("'s", "\u2019s", "'", "\u2019"):
        if word.endswith(ending):
            return word[: -len(ending)]
    return word


def _is_content(word: str) -> bool:
    if not (word[0].isalnum()):
        return False
    return word in NUMBER_WORDS or not is_function_word(word)


def base_form(word: str) -> str:
    """Return what is left of a folded word without its endings."""
    if not word.isalpha():
        return word
    word = _MEASURED.get(word, word)
    word = _irregular().get(word, word)
    for ending, instead in (("ies", "y"), ("ied", "y"), ("sses", "ss"), ("xes", "x")):
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST - 1:
            word = word[: -len(ending)] + instead
            break
    else:
        word = _without_ending(word)
    return word.removesuffix("e") if len(word) > _LEAST else word


def _without_ending(word: str) -> str:
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1] if len(word) > _LEAST else word
    if word.endswith("eed"):
        return word
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= _LEAST and re.search("[aeiouy]", stem):
            doubled = stem[-1] == stem[-2] and stem[-1] not in "lsz"
            return stem[:-1] if doubled else stem
        if ending == "ed" and stem != word and re.search("[aeiouy]", stem):
            return word[:-1]
    return word


def same(left: str, right: str) -> bool:
    """Say whether two base forms are the same word, or near relatives."""
    if left == right:
        return True
    shorter = min(len(left), len(right))
    if shorter < _PREFIX or not (left.isalpha() and right.isalpha()):
        return False
    return left[:_PREFIX] == right[:_PREFIX]


def _takes_sides(before: Sequence[Token], word: str) -> bool:
    """Say whether *for* is the opposite of *against*, as in *vote for*."""
    return word == "for" and bool(before) and before[-1].base in _SIDING


@lru_cache(maxsize=1)
def _irregular() -> dict[str, str]:
    text = files(__package__).joinpath("irregular.txt").read_text("utf-8")
    return dict(line.split() for line in text.splitlines())
