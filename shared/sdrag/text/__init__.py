"""Texts: spans, folding, decoding, matching, dates, and the cells of structures."""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """Return the words of a list that is written as one string, to be read as one."""
    return frozenset(words.split())
