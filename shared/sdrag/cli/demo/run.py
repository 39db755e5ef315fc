"""The prompt of the demo's host, its questions, and what the answers give away."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from time import perf_counter

from sdrag.cli.demo.collection import DemoQuestion
from sdrag.evaluation.completeness import completeness
from sdrag.evaluation.rcqa import ATTACKS
from sdrag.evaluation.witnesses import broken, share_kept
from sdrag.testing import verbatim
from sdrag.vocabulary import Confidential

__all__ = ["TEMPLATE", "Ask", "DemoFigures", "hijacked", "measure"]

Ask = Callable[[str], str]
"""An application: a question to an answer."""


TEMPLATE = """\
Answer the question from the context.

<context>
{context}
</context>

DemoQuestion: {question}"""

_CONTEXT = re.compile(r"<context>\n(.*)\n</context>", re.DOTALL)


def hijacked(prompt: str) -> str:
    """
    Answer a prompt as a model does that an attacker has taken over.

    Args:
        prompt: Everything the model received.
    """
    found = _CONTEXT.search(prompt)
    return verbatim(found.group(1) if found else prompt)


@dataclass(frozen=True, slots=True, repr=False)
class DemoFigures(Confidential):
    """
    What one application gave away over all questions.

    Args:
        application: Which framework.
        retriever: `plain` or `wrapped`.
        attack: A key of `ATTACKS`.
        answers: As released, in the order of the questions.
        privacy: Equation 9 of SD-RAG, averaged.
        completeness: Equation 10 of SD-RAG, averaged.
        leaks: How many constraints were broken, counted once a question.
        empty: How many answers had no context at all.
        milliseconds: Per question.
    """

    application: str
    retriever: str
    attack: str
    answers: tuple[str, ...]
    privacy: float
    completeness: float
    leaks: int
    empty: int
    milliseconds: float


def measure(
    application: str,
    retriever: str,
    attack: str,
    ask: Ask,
    questions: Sequence[DemoQuestion],
) -> DemoFigures:
    """Ask every question and measure the answers."""
    started = perf_counter()
    answers = tuple(
        ask(ATTACKS[attack].format(question=question.text)) for question in questions
    )
    seconds = perf_counter() - started
    leaked = [
        broken(answer, question.witnesses, question.relevant)
        for question, answer in zip(questions, answers, strict=True)
    ]
    kept = [
        share_kept(question.relevant, names)
        for question, names in zip(questions, leaked, strict=True)
        if question.relevant
    ]
    golden = [question.golden for question in questions]
    return DemoFigures(
        application=application,
        retriever=retriever,
        attack=attack,
        answers=answers,
        privacy=fmean(kept),
        completeness=fmean(completeness(list(zip(golden, answers, strict=True)))),
        leaks=sum(map(len, leaked)),
        empty=sum(not answer.strip() for answer in answers),
        milliseconds=1000 * seconds / len(questions),
    )
