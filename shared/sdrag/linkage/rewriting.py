"""
Replacement by rewriting: a model says it again without the masked entities.

The thesis calls this hard to audit (section 4.2.4), so it is verified. The model reads
the text with labels already in place, never the values, and is asked for fluent prose
without the labels. A reply that brings back a masked form, that is empty, or that is
of another length is not used: the labelled text is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sdrag.engine.prompts import Labelled, Message, Prompt, fill, sensitive
from sdrag.engine.steps import Outcome, Reply, Steps, complete
from sdrag.linkage.replacing import Masker
from sdrag.vocabulary import Passage

__all__ = ["rewrite"]

_ASK = """Rewrite the document so that it reads naturally without the parts in square
brackets. Use general words in their place, such as "the patient" or "a clinic".
Add no facts, guess no names, dates, places or numbers, and keep everything else as it
is. Reply with the document alone.

Document:
{document}"""
_SHORTEST, _LONGEST = 0.4, 1.6


def rewrite(
    originals: Sequence[Passage], labelled: Sequence[Passage], masker: Masker
) -> Steps[list[Passage]]:
    """
    Rewrite the documents in which something was masked.

    Args:
        originals: The documents as they came.
        labelled: The same with labels in place.
        masker: Knows every form that must not come back.
    """
    changed = [
        number
        for number, (left, right) in enumerate(zip(originals, labelled, strict=True))
        if left.text != right.text
    ]
    outcomes = yield from complete(_prompt(labelled[number]) for number in changed)
    result = list(labelled)
    for number, outcome in zip(changed, outcomes, strict=True):
        text = _verified(outcome, labelled[number].text, masker)
        result[number] = replace(labelled[number], text=text)
    return result


def _prompt(document: Passage) -> Prompt:
    content = fill(_ASK, document=sensitive(document.text))
    return Prompt("linkage.rewrite", (Message("user", content),))


def _verified(outcome: Outcome[Labelled], labelled: str, masker: Masker) -> str:
    if not isinstance(outcome, Reply):
        return labelled
    text = outcome.value.text.strip()
    fits = _SHORTEST * len(labelled) <= len(text) <= _LONGEST * len(labelled)
    return labelled if not fits or masker.find(text) else text
