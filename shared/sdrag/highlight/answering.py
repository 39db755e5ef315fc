"""
Highlight, verify, summarize: the pipeline of Figure 1.

`plan` ends before the summarizer is asked: it gives either the prompt that may be sent,
or the text that is released without one. So the same steps serve a call that waits for
the answer (`answer`) and one that streams it (`sdrag.highlight.streaming`).

Everything fails closed. A highlighter that breaks, highlights that all are refused, a
reply that cannot be read: the text that the host set for declining is released, and the
reason is a short code. In place of a summary that its highlights do not support, they
are released themselves: they are verbatim, and answer the question.

Where the policy wants it, the question decides more (section 9 of the paper): several
are answered apart, a yes or a no is passed to the summarizer as a tag, and a summary of
another question is refused. None of its words reach the summarizer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

from pydantic import BaseModel, StrictBool

from sdrag.effects.limits import readable
from sdrag.effects.prompts import Label, Labelled, Message, Prompt, constant, untrusted
from sdrag.effects.replies import read_reply
from sdrag.effects.steps import CUT_OFF, Steps, complete, embed, replied, why_failed
from sdrag.errors import PromptSanitizationError, SdragError
from sdrag.highlight.exchange import (
    Answer,
    AnswerPlan,
    Context,
    Inquiry,
    Settings,
)
from sdrag.highlight.highlighters import propose
from sdrag.highlight.summarizer import MAX_GUESSES, Summary, summary_prompt
from sdrag.highlight.verification import verify_highlights
from sdrag.text.sentences import sentences
from sdrag.vocabulary import SCORE_DIGITS, Decision, Highlight, Passage

_DIGITS = re.compile(r"(\d+)")


def answer(asked: Inquiry, settings: Settings) -> Steps[Answer]:
    """
    Answer a question; several of one message one after the other.

    Raises:
        PromptSanitizationError: The passages are labelled SENSITIVE.
    """
    answers = []
    for part in parts_of(asked, settings):
        planned = yield from plan(part, settings)
        answers.append((yield from finish(part, planned, settings)))
    return _join(answers)


def parts_of(asked: Inquiry, settings: Settings) -> list[Inquiry]:
    """Return what is answered apart."""
    most = settings.rules.max_questions
    if most == 1:
        return [asked]
    parts = split_questions(asked.question, most)
    return [replace(asked, question=part) for part in parts]


def _join(answers: Sequence[Answer]) -> Answer:
    """Put answers one below the other; what was declined of all is said once."""
    return Answer(
        "\n".join(dict.fromkeys(each.text for each in answers)),
        tuple(dict.fromkeys(item for each in answers for item in each.highlights)),
        next((each.reason for each in answers if each.reason), ""),
        tuple(dict.fromkeys(item for each in answers for item in each.dropped)),
    )


def finish(asked: Inquiry, planned: AnswerPlan, settings: Settings) -> Steps[Answer]:
    """Ask the summarizer, and return what may be released."""
    if planned.prompt is None:
        return Answer(planned.text, planned.highlights, planned.reason, planned.dropped)
    try:
        (outcome,) = yield from complete([planned.prompt])
        summary = read_reply(replied(outcome).text, Summary)
    except SdragError as error:
        is_cut_off = why_failed(error) == CUT_OFF
        reason = "summary-cut-off" if is_cut_off else "summarizer-failed"
        return decline(settings, planned, reason)
    return (yield from release(asked, planned, summary, settings))


def plan(asked: Inquiry, settings: Settings) -> Steps[AnswerPlan]:
    """
    Do all that comes before the summarizer is asked.

    Raises:
        PromptSanitizationError: The passages are labelled SENSITIVE.
    """
    if Label.SENSITIVE in asked.labels:
        raise PromptSanitizationError(
            "Highlights go to the user; these passages still hold what is withheld.",
            hint="Use SelectiveDisclosureRetriever with this policy; pass its state.",
        )
    rules = settings.rules
    passages, unread = _select(asked.passages, settings)
    context = Context(passages, asked.labels)
    try:
        extracts = yield from propose(
            settings.highlighter,
            untrusted(asked.question),
            context,
            settings.limits.seconds,
        )
        verified = verify_highlights(
            extracts,
            passages,
            rules.least_words,
            rules.threshold,
            cut_at=rules.cut_at,
            max_highlights=rules.max_highlights,
            placeholders=settings.placeholders,
        )
    except PromptSanitizationError:
        raise
    except Exception:  # noqa: BLE001 -- a highlighter of the host may raise anything
        reason = "highlighter-failed"
        return AnswerPlan(rules.decline_text, reason=reason, dropped=unread)
    planned = yield from _plan_summary(asked, verified.highlights, settings)
    refused = (
        Decision(each.passage_id or "extract", "dropped", "highlight", each.reason)
        for each in verified.refusals
    )
    return replace(planned, dropped=(*unread, *refused))


def _select(
    passages: Sequence[Passage], settings: Settings
) -> tuple[tuple[Passage, ...], tuple[Decision, ...]]:
    """Give what is read, in document order, and a decision on each other passage."""
    unique = {passage.id: passage for passage in reversed(passages)}
    ranked = [unique.pop(passage.id) for passage in passages if passage.id in unique]
    most = settings.rules.max_passages
    fits = readable([passage.text for passage in ranked[:most]], settings.limits)
    unread = [(passage.id, "beyond-max-passages") for passage in ranked[most:]]
    unread += [
        (passage.id, "over-local-limit")
        for passage, fit in zip(ranked[:most], fits, strict=True)
        if not fit
    ]
    return in_document_order(list(compress(ranked, fits))), tuple(
        Decision(name, "dropped", "highlight", reason) for name, reason in unread
    )


def in_document_order(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """
    Order passages as in the corpus.

    The host's ranking follows from the question, so an attacker steers it. Document
    and passage ids do not; numbers in them count as numbers.
    """
    return tuple(
        sorted(
            passages,
            key=lambda passage: (
                _natural(passage.document_id or ""),
                _natural(passage.id),
            ),
        )
    )


def _natural(name: str) -> list[tuple[int, str]]:
    """Read numbers in a name as numbers: `p-2` comes before `p-10`."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part)
        for part in _DIGITS.split(name[:200])
        if part
    ]


def _plan_summary(
    asked: Inquiry, highlights: tuple[Highlight, ...], settings: Settings
) -> Steps[AnswerPlan]:
    """Make a prompt of what was verified; decline where that is nothing."""
    rules = settings.rules
    if not highlights:
        return AnswerPlan(rules.decline_text, reason="nothing-highlighted")
    text = "\n".join(highlight.text for highlight in highlights)
    if not settings.has_model:
        return AnswerPlan(text, None, highlights)
    question, verdict = untrusted(asked.question), None
    if rules.yes_no:
        verdict = yield from ask_verdict(question, highlights, asked.labels)
    prompt = summary_prompt(
        highlights,
        question.labels | asked.labels,
        sentences=rules.answer_sentences,
        guesses=rules.min_similarity is not False,
        verdict=verdict,
    )
    return AnswerPlan(text, prompt, highlights)


def release(
    asked: Inquiry, planned: AnswerPlan, summary: Summary, settings: Settings
) -> Steps[Answer]:
    """Return the answer of a summary, its highlights, or the text for declining."""
    text = summary.answer.strip()
    if not text:
        return decline(settings, planned, "empty-answer")
    if (least := settings.rules.min_similarity) is not False:
        guesses = summary.guessed_questions[:MAX_GUESSES]
        if not (yield from is_guessed(asked.question, guesses, least)):
            return decline(settings, planned, "question-diverges")
    fault = ""
    if settings.grounding is not None:
        fault = yield from settings.grounding(asked.question, text, planned.highlights)
    if fault:
        text, fault = planned.text, f"summary-{fault}"
    return Answer(text, planned.highlights, fault, planned.dropped)


def decline(settings: Settings, planned: AnswerPlan, reason: str) -> Answer:
    """Release the text for declining."""
    return Answer(settings.rules.decline_text, (), reason, planned.dropped)


_ASKS = re.compile(r"[?\u061f\uff1f][\"'\u201d\u2019)\u300d!]*\s*\Z")
_AUXILIARY = (
    r"(?:am|is|are|was|were|do|does|did|has|have|had|can|could|will|would|shall|should"
    r"|may|might|must)"
)
_SUBJECT = r"(?:i|you|he|she|it|we|they|there|this|that|these|those|the|an?)"
_AND = re.compile(
    r",?\s{1,9}(?:and|or|but)\s{1,9}(?:also\s{1,9})?(?="
    rf"(?:who|what|when|where|why|how)\s+{_AUXILIARY}\b|who\s+(?!{_SUBJECT}\s)\S"
    rf"|(?:how|what|which|whose)\s+(?!{_SUBJECT}\s)\S+\s+(?:\S+\s+)?{_AUXILIARY}\b"
    rf"|{_AUXILIARY}\s+{_SUBJECT}\s)",
    re.IGNORECASE,
)
_LEAST_WORDS = 3
_VERDICT = (
    "Say whether the question asks for yes or no and, if it does, whether the answer "
    "that the passages give is yes. "
    'Reply as JSON: {"is_yes_no": true or false, "says_yes": true or false}'
)


class Verdict(BaseModel):
    """The two booleans that a summarizer may be told."""

    is_yes_no: StrictBool
    says_yes: StrictBool


def split_questions(text: str, most: int) -> tuple[str, ...]:
    """Split a message into its questions; what is none stays with the one before it."""
    parts, is_asked = [""], False
    for span in sentences(text):
        sentence = span.of(text)
        asks = _ASKS.search(sentence) is not None
        for piece in _questions_in(sentence) if asks else [sentence]:
            if asks and is_asked and len(parts) < most:
                parts.append(piece)
            else:
                parts[-1] = f"{parts[-1]} {piece}".strip()
            is_asked = is_asked or asks
    return tuple(parts)


def _questions_in(sentence: str) -> list[str]:
    """Split *When does it open and what does it cost?*, but not *When and where?*."""
    pieces = _AND.split(sentence)
    is_short = any(len(piece.split()) < _LEAST_WORDS for piece in pieces)
    return [sentence] if is_short else pieces


def ask_verdict(
    question: Labelled, highlights: Sequence[Highlight], labels: Label
) -> Steps[bool | None]:
    """
    Ask whether the answer is yes or no; None, where the question asks for neither.

    A model that fails leaves the summarizer without the tag.
    """
    quoted = (Passage(each.passage_id, each.text) for each in highlights)
    asked = Context(tuple(quoted), labels).with_question(question)
    messages = (Message("system", constant(_VERDICT)), Message("user", asked))
    prompt = Prompt("highlight.yes_no", messages, reply_format=Verdict)
    try:
        (outcome,) = yield from complete([prompt])
        verdict = read_reply(replied(outcome).text, Verdict)
    except PromptSanitizationError:
        raise
    except SdragError:
        return None
    return verdict.says_yes if verdict.is_yes_no else None


def is_guessed(question: str, guesses: Sequence[str], least: float) -> Steps[bool]:
    """Say whether a guess is like the question; not, where it cannot be measured."""
    try:
        outcomes = yield from embed([question, *guesses], query=True)
        asked, *guessed = [replied(outcome) for outcome in outcomes]
    except SdragError:
        return False
    cosines = (round(float(asked @ guess), SCORE_DIGITS) for guess in guessed)
    return any(cosine >= least for cosine in cosines)
