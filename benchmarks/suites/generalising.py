"""
What coarser values leave of a text beside placeholders: on annotated court cases.

The same sentences hide names, dates and case numbers, once with placeholders and once
with `instead`. An identifier is gone where its words no longer stand in the text (a
bare year is none, for it is as coarse as was asked); words are kept where they stand in
it in their order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from benchmarks.suites.entities import Annotated, read_annotated
from sdrag.pipeline import Engine, Request, disclose
from sdrag.vocabulary import Passage

_SENTENCES = (
    ("Remove names of people", "initials"),
    ("Hide dates", "year"),
    ("Hide case numbers and reference codes", ""),
)
_TYPES = frozenset({"PERSON", "DATETIME", "CODE"})
_WORD = re.compile(r"\w+")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def generalising(*, data: Path, limit: int = 40) -> dict[str, Any]:
    """
    Measure what is gone and what is kept, hidden and generalised.

    `data`: TAB, in the form of SPIA. `limit`: so many of its documents.
    """
    documents = read_annotated(data)[:limit]
    return {
        name: _measure(documents, instead=instead)
        for name, instead in (("hidden", False), ("generalised", True))
    }


def _measure(documents: Sequence[Annotated], *, instead: bool) -> dict[str, float]:
    rules = [
        {"text": text, "instead": [level]} if instead and level else text
        for text, level in _SENTENCES
    ]
    engine = Engine({"constraints": rules})
    gone = years = dated = wanted = kept = words = 0
    for number, document in enumerate(documents):
        passage = Passage(f"p{number}", document.text, document_id=f"d{number}")
        released, _ = engine.run(disclose([passage], Request("q"), engine))
        shown = released.passages[0].text if released.passages else ""
        before, after = (_WORD.findall(text) for text in (document.text, shown))
        blocks = SequenceMatcher(None, before, after, autojunk=False)
        kept += sum(block.size for block in blocks.get_matching_blocks())
        words += len(before)
        for gold in document.wanted():
            surface = gold.span.of(document.text)
            if gold.type in _TYPES and not _YEAR.fullmatch(surface):
                wanted += 1
                gone += surface not in shown
                if gold.type == "DATETIME" and (told := _YEAR.search(surface)):
                    dated += 1
                    years += told.group() in shown
    return {
        "identifiers": wanted,
        "gone": gone / wanted,
        "words kept": kept / words,
        "dates whose year is shown": years / dated,
    }
