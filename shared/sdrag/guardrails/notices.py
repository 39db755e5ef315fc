"""
Notices to the chain, after the sources: what they lack, and where they disagree.

A chain hands on documents and nothing else, so a notice is one, after the sources,
which keep their numbers. It is known by its words, which are fixed, and never by its
metadata, which a document of the store could carry too: whoever forges a notice can
make it say nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sdrag.vocabulary import EVIDENCE_KEY, Passage

INSUFFICIENT = (
    "There is not enough information in the documents to answer this question."
)
MODEL_FAILED = (
    "The model that checks documents failed, so documents or parts of them may be"
    " missing. This does not say whether any were found. Try again later."
)
QUESTION_REDACTED = (
    "Parts of the question, such as a name, were not used to search the documents. This"
    " does not say whether the documents hold them."
)
_DISAGREE = (
    "These sources disagree: {pairs}. State what each of them says, and cite both."
)
_UNCHECKED = (
    "Whether these sources agree could not be checked: {pairs}. Where they do not,"
    " state what each of them says, and cite both."
)
_PAIRS = r"\d{1,4} and \d{1,4}(?:; \d{1,4} and \d{1,4})*+"


def _pattern(words: str) -> str:
    return re.escape(words).replace(re.escape("{pairs}"), _PAIRS)


_WORDS = (INSUFFICIENT, MODEL_FAILED, QUESTION_REDACTED, _DISAGREE, _UNCHECKED)
_NOTICE = re.compile("|".join(map(_pattern, _WORDS)))

Pair = tuple[int, int]
"""The numbers of two sources, counted from 1."""


def notice(code: str, words: str) -> Passage:
    """Make a notice of fixed sentences; hosts find its code in the metadata."""
    return Passage(f"sdrag:{code}", words, {EVIDENCE_KEY: {"notice": code}})


def disagreement(opposed: Iterable[Pair], unchecked: Iterable[Pair]) -> str:
    """Word which sources disagree."""
    listed = [
        (words, "; ".join(f"{left} and {right}" for left, right in sorted(set(pairs))))
        for words, pairs in ((_DISAGREE, opposed), (_UNCHECKED, unchecked))
    ]
    return " ".join(words.format(pairs=pairs) for words, pairs in listed if pairs)


def is_notice(passage: Passage) -> bool:
    """Say whether a passage holds the fixed words and nothing else."""
    notices, rest = split_notices(passage.text)
    return bool(notices) and not rest


def sources(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Return the passages that are no notices, in order."""
    return tuple(passage for passage in passages if not is_notice(passage))


def split_notices(text: str) -> tuple[str, str]:
    """Take the fixed words out of a text; return them, and what is left."""
    notices = " ".join(_NOTICE.findall(text))
    return notices, _NOTICE.sub("", text).strip() if notices else text
