"""
Language models as judges of answers (sections 6.2 and 7): comparing and rating.

A judge is any function from a prompt's text to a reply, so any model serves. The order
of two compared answers is drawn at random "to mitigate any potential ordering bias". A
reply that cannot be read is no judgment: `None`, never a win. The wordings are our own
after the papers that the source names: correctness yes or no (Verga et al.), relevance
from 0 to 3 (Oosterhuis et al.), quality from 1 to 10 (Zheng et al.).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Literal

from benchmarks.highlight_experiments.elo import Battle, BattleResult

__all__ = ["Ask", "battles", "compare", "correctness", "quality", "relevance"]

Ask = Callable[[str], str]
Verdict = Literal["A", "B", "TIE", "NEITHER"]

_COMPARE = """\
Question: {question}

Answer A: {first}

Answer B: {second}

Which answer is better? Look only at whether it is correct and relevant. If both are
equally good, say TIE. If neither is acceptable, say NEITHER. End your reply with one
line: VERDICT: A, B, TIE or NEITHER."""

_CORRECT = """\
Does the answer say the same as the reference? Small differences of wording do not
matter.

Question: Who wrote Faust?
Reference: Goethe
Answer: It was written by Johann Wolfgang von Goethe.
VERDICT: True

Question: In which year did the war end?
Reference: 1945
Answer: The war ended in 1944.
VERDICT: False

Question: {question}
Reference: {reference}
Answer: {answer}
End your reply with one line: VERDICT: True or False."""

_RELEVANT = """\
How relevant is the passage to the query? 0: irrelevant. 1: related, but does not answer
it. 2: highly relevant, answers it in part or unclearly. 3: perfectly relevant.

Query: {question}
Passage: {answer}
End your reply with one line: VERDICT: 0, 1, 2 or 3."""

_QUALITY = """\
Rate the quality of the assistant's reply to the question: helpfulness, relevance,
accuracy, depth, creativity and level of detail. Be as objective as possible.

Question: {question}
Reply: {answer}
End your reply with one line: VERDICT: a whole number from 1 to 10."""

_VERDICT = re.compile(r"VERDICT:\s*\**\s*(\w+)", re.IGNORECASE)


def compare(
    ask: Ask, question: str, first: str, second: str, draw: random.Random
) -> BattleResult | None:
    """Compare two answers, shown in random order."""
    swapped = draw.random() < 0.5
    shown = (second, first) if swapped else (first, second)
    said = _said(
        ask(_COMPARE.format(question=question, first=shown[0], second=shown[1]))
    )
    if said in {"TIE", "NEITHER"}:
        return "tie" if said == "TIE" else "neither"
    if said not in {"A", "B"}:
        return None
    return "first" if (said == "A") != swapped else "second"


def battles(
    ask: Ask, question: str, answers: dict[str, str], draw: random.Random
) -> list[Battle]:
    """Compare the answers of every two pipelines to one question."""
    found = []
    for first, second in combinations(answers, 2):
        outcome = compare(ask, question, answers[first], answers[second], draw)
        if outcome is not None:
            found.append(Battle(first, second, outcome))
    return found


def correctness(ask: Ask, question: str, answer: str, reference: str) -> bool | None:
    """Say whether an answer agrees with the reference."""
    prompt = _CORRECT.format(question=question, reference=reference, answer=answer)
    return {"TRUE": True, "FALSE": False}.get(_said(ask(prompt)))


def relevance(ask: Ask, question: str, answer: str) -> int | None:
    """Rate relevance from 0 to 3."""
    return _number(ask(_RELEVANT.format(question=question, answer=answer)), range(4))


def quality(ask: Ask, question: str, answer: str) -> int | None:
    """Rate quality from 1 to 10."""
    prompt = _QUALITY.format(question=question, answer=answer)
    return _number(ask(prompt), range(1, 11))


def _said(reply: str) -> str:
    found = _VERDICT.findall(reply)
    return found[-1].upper() if found else ""


def _number(reply: str, allowed: Sequence[int]) -> int | None:
    said = _said(reply)
    return int(said) if said.isdecimal() and int(said) in allowed else None
