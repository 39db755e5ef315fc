"""
Highlight, verify, summarize: the pipeline of Figure 1.

`plan` ends before the summarizer is asked: it gives either the prompt that may be sent,
or the text that is released without one. So the same steps serve a call that waits for
the answer (`answer`) and one that streams it (`sdrag.highlight.streaming`).

Everything fails closed. A highlighter that breaks, highlights that all are refused, a
reply that cannot be read, guesses too far from the question where the policy minds:
the text that the host set for declining is released, and the reason is a short code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sdrag.engine.prompts import Label, untrusted
from sdrag.engine.steps import (
    Failure,
    Steps,
    complete,
    compute,
    replied,
    reserve,
    within_limits,
)
from sdrag.errors import LocalLimitError, PromptSanitizationError, SdragError
from sdrag.highlight.divergence import similarity
from sdrag.highlight.exchange import Answer, Asked, Plan, Settings
from sdrag.highlight.json_replies import read_reply
from sdrag.highlight.protocol import Context, Proposal
from sdrag.highlight.questions import split_by_marks, split_by_model
from sdrag.highlight.summarizer import (
    MAX_GUESSES,
    Summary,
    joined_highlights,
    summary_prompt,
)
from sdrag.highlight.together import together
from sdrag.highlight.verification import Verification, verify_highlights
from sdrag.highlight.yes_no import with_yes_no
from sdrag.vocabulary import Passage

__all__ = [
    "answer",
    "declined",
    "gathered",
    "in_document_order",
    "plan",
    "plans",
    "released",
    "verdict",
    "without_model",
]

_DIGITS = re.compile(r"(\d+)")


def answer(asked: Asked, settings: Settings) -> Steps[Answer]:
    """
    Answer a question; several in one prompt side by side, if the policy allows.

    Raises:
        PromptSanitizationError: The passages are labelled SENSITIVE.
    """
    parts = yield from _split(asked, settings)
    outcomes = yield from together([_answer_one(part, settings) for part in parts])
    return gathered([replied(outcome) for outcome in outcomes])


def plans(asked: Asked, settings: Settings) -> Steps[tuple[Plan, ...]]:
    """
    Do all that comes before a summarizer is asked, for each part of the question.

    Raises:
        PromptSanitizationError: The passages are labelled SENSITIVE.
    """
    parts = yield from _split(asked, settings)
    outcomes = yield from together([plan(part, settings) for part in parts])
    return tuple(replied(outcome) for outcome in outcomes)


def plan(asked: Asked, settings: Settings) -> Steps[Plan]:
    """
    Do all that comes before the summarizer is asked.

    Raises:
        PromptSanitizationError: The passages are labelled SENSITIVE.
    """
    if Label.SENSITIVE in asked.labels:
        raise PromptSanitizationError(
            "Highlights go to the asker; these passages still hold what is withheld.",
            hint="Redact first, for example with SelectiveDisclosureRetriever.",
        )
    rules = settings.rules
    passages = in_document_order(asked.passages[: rules.max_passages])
    question = untrusted(asked.question)
    propose = settings.highlighter
    if rules.yes_no and settings.has_model:
        propose = with_yes_no(propose)
    try:
        passages = yield from _readable(passages)
        proposal = yield from within_limits(
            propose(question, Context(passages, asked.labels))
        )
        found = yield from within_limits(_verify(proposal, passages, settings))
    except PromptSanitizationError:
        raise
    except LocalLimitError:
        return Plan(asked.question, rules.decline_text, reason="over-local-limit")
    except Exception:  # noqa: BLE001 -- a highlighter of the host may raise anything
        return Plan(asked.question, rules.decline_text, reason="highlighter-failed")
    return _planned(asked, proposal, found, settings)


def _readable(passages: tuple[Passage, ...]) -> Steps[tuple[Passage, ...]]:
    """Leave out passages that are over the limit of local work."""
    reserved = yield from reserve(passage.text for passage in passages)
    return tuple(
        passage
        for passage, outcome in zip(passages, reserved, strict=True)
        if not isinstance(outcome, Failure)
    )


def _planned(
    asked: Asked, proposal: Proposal, found: Verification, settings: Settings
) -> Plan:
    """Make a prompt of what was verified; decline where that is nothing."""
    rules, refusals = settings.rules, found.refusals
    if not found:
        reason = "nothing-highlighted"
        return Plan(
            asked.question, rules.decline_text, refusals=refusals, reason=reason
        )
    prompt = summary_prompt(
        found.highlights,
        untrusted(asked.question).labels | asked.labels,
        is_yes_no=proposal.is_yes_no,
        says_yes=proposal.is_yes_no and proposal.says_yes,
        sentences=rules.answer_sentences,
    )
    return Plan(
        asked.question,
        joined_highlights(found.highlights),
        prompt if settings.has_model else None,
        found.highlights,
        refusals,
    )


def in_document_order(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """
    Order passages as they stand in the corpus, and drop repeats.

    The host's ranking follows from the question, so an attacker steers it. Document
    and passage ids do not; numbers in them count as numbers.
    """
    unique = {passage.id: passage for passage in reversed(passages)}
    return tuple(sorted(unique.values(), key=_place))


def released(settings: Settings, held: Plan, summary: Summary) -> Steps[Answer]:
    """Judge a summary that was read; gives the answer that may be released."""
    text = summary.answer.strip()
    if not text:
        return declined(settings, held, "empty-answer")
    judged = yield from verdict(settings, held, tuple(summary.guessed_questions))
    return judged if judged.declined else judged.with_text(text)


def verdict(settings: Settings, held: Plan, guesses: tuple[str, ...]) -> Steps[Answer]:
    """
    Judge the guessed questions, before a word of the answer is released.

    Gives the answer without its text, or the one that declines. More guesses than were
    asked for are not read: enough of them come near any question.
    """
    guesses = guesses[:MAX_GUESSES]
    likeness: float | None = None
    diverged = False
    if settings.rules.on_divergence != "answer":
        try:
            likeness = yield from similarity(held.question, guesses)
        except SdragError:
            likeness = None
        diverged = likeness is None or likeness < settings.rules.min_similarity
    if diverged and settings.rules.on_divergence == "decline":
        return declined(settings, held, "diverged")
    reason = "diverged" if diverged else ""
    return Answer(
        "",
        held.highlights,
        held.refusals,
        reason,
        guessed_questions=guesses,
        similarity=likeness,
    )


def without_model(held: Plan) -> Answer:
    """Release what a plan without a prompt says."""
    return Answer(
        held.text,
        held.highlights,
        held.refusals,
        held.reason,
        declined=bool(held.reason),
    )


def declined(settings: Settings, held: Plan, reason: str) -> Answer:
    """Release the text for declining."""
    text = settings.rules.decline_text
    return Answer(text, (), held.refusals, reason, declined=True)


def _answer_one(asked: Asked, settings: Settings) -> Steps[Answer]:
    held = yield from plan(asked, settings)
    if held.prompt is None:
        return without_model(held)
    try:
        (outcome,) = yield from complete([held.prompt])
        summary = read_reply(replied(outcome), Summary)
    except SdragError:
        return declined(settings, held, "summarizer-failed")
    return (yield from released(settings, held, summary))


def _verify(
    proposal: Proposal, passages: tuple[Passage, ...], settings: Settings
) -> Steps[Verification]:
    rules = settings.rules

    def work(extracts: tuple[str, ...]) -> Verification:
        return verify_highlights(
            extracts,
            passages,
            rules.min_words,
            rules.threshold,
            cut_at=rules.cut_at,
            max_highlights=rules.max_highlights,
            withheld=settings.withheld,
        )

    (outcome,) = yield from compute(work, [proposal.extracts])
    return replied(outcome)


def _split(asked: Asked, settings: Settings) -> Steps[tuple[Asked, ...]]:
    most = settings.rules.max_questions
    if most == 1:
        return (asked,)
    question = untrusted(asked.question)
    if settings.has_model:
        parts = yield from split_by_model(question, most)
    else:
        parts = split_by_marks(question, most)
    return tuple(Asked(part.text, asked.passages, asked.labels) for part in parts)


def gathered(answers: Sequence[Answer]) -> Answer:
    """Make one answer of the parts; a part that declined is left out if others hold."""
    if len(answers) == 1:
        return answers[0]
    held = [each for each in answers if not each.declined] or [answers[0]]
    measured = [each.similarity for each in held if each.similarity is not None]
    return Answer(
        "\n\n".join(each.text for each in held),
        tuple(dict.fromkeys(one for each in held for one in each.highlights)),
        tuple(one for each in answers for one in each.refusals),
        next((each.reason for each in answers if each.reason), ""),
        held[0].declined,
        tuple(guess for each in held for guess in each.guessed_questions),
        min(measured, default=None),
    )


def _place(passage: Passage) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    return _natural(passage.document_id or ""), _natural(passage.id)


def _natural(name: str) -> list[tuple[int, str]]:
    """Read numbers in a name as numbers: `p-2` comes before `p-10`."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part)
        for part in _DIGITS.split(name[:200])
        if part
    ]
