"""
Replacement by rewriting: a model says it again without the masked entities.

The thesis calls this hard to audit (section 4.2.4), so it is verified. The model reads
the text with labels already in place, never the values, and is asked for fluent prose
without the labels. A reply that brings back a masked form, that is empty, or that is
of another length is not used: the labelled text is kept. What was made of a text is
kept with the plan: a text that stays the same is not rewritten, and indexed, anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from sdrag.effects.prompts import Labelled, Message, Prompt, fill, sensitive
from sdrag.effects.steps import Outcome, Reply, Steps, complete
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
_NONE: Mapping[str, str] = MappingProxyType({})


def rewrite(
    originals: Sequence[Passage],
    labelled: Sequence[Passage],
    masker: Masker,
    known: Mapping[str, str] = _NONE,
) -> Steps[tuple[list[Passage], Mapping[str, str]]]:
    """
    Rewrite the documents in which something was masked.

    Args:
        originals: The documents as they came.
        labelled: The same with labels in place.
        masker: Knows every form that must not come back.
        known: By text with labels, what was made of it before.

    Returns:
        The documents, and what was made of each text with labels among them.
    """
    pairs = list(zip(originals, labelled, strict=True))
    changed = [right.text for left, right in pairs if left.text != right.text]
    kept = {
        text: known[text]
        for text in changed
        if text in known and not masker.find(known[text])
    }
    new = [text for text in dict.fromkeys(changed) if text not in kept]
    outcomes = yield from complete(map(_prompt, new))
    for text, outcome in zip(new, outcomes, strict=True):
        kept[text] = _verified(outcome, text, masker)
    made = [
        right if left.text == right.text else replace(right, text=kept[right.text])
        for left, right in pairs
    ]
    return made, kept


def _prompt(text: str) -> Prompt:
    content = fill(_ASK, document=sensitive(text))
    return Prompt("linkage.rewrite", (Message("user", content),))


def _verified(outcome: Outcome[Labelled], labelled: str, masker: Masker) -> str:
    if not isinstance(outcome, Reply):
        return labelled
    text = outcome.value.text.strip()
    fits = _SHORTEST * len(labelled) <= len(text) <= _LONGEST * len(labelled)
    return labelled if not fits or masker.find(text) else text
