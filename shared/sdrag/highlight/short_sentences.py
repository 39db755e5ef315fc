"""
Whole sentences that may be quoted although they have fewer than `min_words` words.

`min_words` keeps an attacker from putting single words together (section 5.3, Figure 2:
"You", "won", "a $10", "voucher"). A whole sentence is nobody's mosaic: its author wrote
it, from its first word to its mark. So "Dogs are not allowed." can be highlighted,
where four words of a longer sentence cannot.

What is whole is doubted. A chunk may end in the middle of a sentence, so a sentence has
its mark. A chunk may begin in the middle of one, and a splitter may take a mark inside
a sentence for its end, so neither it nor the sentence after it begins with a small
letter. A sentence with a placeholder is not what its author wrote. Several such
sentences in a row may be quoted together, as they would be one by one. A row of a
table, from bar to bar, is as whole as a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from sdrag.highlight.boundaries import count_words
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Span

__all__ = ["short_runs", "whole_run"]

_ROW = re.compile(r"^[ \t]*+(\|[^\n]*\|)[ \t]*$", re.MULTILINE)
_MARKS = (".", "!", "?", "\u2026", "\u3002", "\uff01", "\uff1f", "\u061f", "\u0964")
_CLOSING = "\"'\u201d\u2019)]\u300d\u300f\u00bb"
_OPENING = "\"'\u201c\u2018([\u300c\u300e\u00ab"


def short_runs(
    text: str, least: int, holes: Sequence[Span] = ()
) -> tuple[tuple[Span, ...], ...]:
    """
    Give the sentences that may be quoted whole, in runs that nothing interrupts.

    Args:
        text: A passage.
        least: The fewest words of a sentence.
        holes: Its placeholders.
    """
    found = sentences(text)
    broken = {left for left, right in pairwise(found) if _begins_small(text, right)}
    runs: list[list[Span]] = [[]]
    for sentence in found:
        whole = (
            sentence not in broken
            and not _begins_small(text, sentence)
            and sentence.of(text).rstrip(_CLOSING).endswith(_MARKS)
            and not any(hole.overlaps(sentence) for hole in holes)
        )
        if whole and count_words(text, sentence) >= least:
            runs[-1].append(sentence)
        else:
            runs.append([])
    rows = (Span(*match.span(1)) for match in _ROW.finditer(text))
    runs += [
        [row]
        for row in rows
        if count_words(text, row) >= least
        and not any(hole.overlaps(row) for hole in holes)
    ]
    return tuple(tuple(run) for run in runs if run)


def whole_run(span: Span, runs: Sequence[Sequence[Span]]) -> Span | None:
    """Give the sentences of one run that a span touches, as one span, or nothing."""
    for run in runs:
        touched = [sentence for sentence in run if sentence.overlaps(span)]
        if touched and run[0].start <= span.start and span.end <= run[-1].end:
            return Span(touched[0].start, touched[-1].end)
    return None


def _begins_small(text: str, sentence: Span) -> bool:
    """Say whether a sentence begins with a small letter: it may go on from before."""
    return sentence.of(text).lstrip(_OPENING)[:1].islower()
