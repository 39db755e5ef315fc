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
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, compress

from sdrag.effects.prompts import Label, Labelled, untrusted
from sdrag.effects.replies import read_reply
from sdrag.effects.runner import readable
from sdrag.effects.steps import (
    Failure,
    Outcome,
    Steps,
    complete,
    embed,
    gather,
    replied,
)
from sdrag.errors import PromptSanitizationError, SdragError
from sdrag.highlight.exchange import (
    Answer,
    Asked,
    Context,
    Plan,
    Proposal,
    Settings,
)
from sdrag.highlight.questions import split_by_marks, split_by_model, with_yes_no
from sdrag.highlight.summarizer import (
    MAX_GUESSES,
    Summary,
    summary_prompt,
)
from sdrag.highlight.verification import Verification, verify_highlights
from sdrag.policy import HighlightSection
from sdrag.vocabulary import Decision, Highlight, Passage

_DIGITS = re.compile(r"(\d+)")


def answer(asked: Asked, settings: Settings) -> Steps[Answer]:
    """
    Answer a question; several in one prompt at the same time, if the policy allows.

    Raises:
        PromptSanitizationError: The passages are labelled SENSITIVE.
    """
    parts = yield from plans(asked, settings)
    return (yield from finish(parts, settings))


def plans(asked: Asked, settings: Settings) -> Steps[tuple[Plan, ...]]:
    """
    Do all that comes before a summarizer is asked, for each part of the question.

    Raises:
        PromptSanitizationError: The passages are labelled SENSITIVE.
    """
    parts = yield from _split(asked, settings)
    outcomes = yield from gather(*(plan(part, settings) for part in parts))
    return tuple(replied(outcome) for outcome in outcomes)


def finish(parts: Sequence[Plan], settings: Settings) -> Steps[Answer]:
    """Ask the summarizer about all parts at once, and join what may be released."""
    prompts = [part.prompt for part in parts if part.prompt is not None]
    try:
        outcomes = iter((yield from complete(prompts)))
    except SdragError as error:
        outcomes = iter([Failure(error)] * len(prompts))
    answers = yield from gather(
        *(
            _conclude(part, settings, next(outcomes) if part.prompt else None)
            for part in parts
        )
    )
    return _join([replied(outcome) for outcome in answers], settings.rules)


def _split(asked: Asked, settings: Settings) -> Steps[tuple[Asked, ...]]:
    most = settings.rules.max_questions
    if most == 1:
        return (asked,)
    question = untrusted(asked.question)
    if settings.has_model:
        parts = yield from split_by_model(question, most)
    else:
        parts = split_by_marks(question, most)
    return tuple(replace(asked, question=part.text) for part in parts)


def plan(asked: Asked, settings: Settings) -> Steps[Plan]:
    """
    Do all that comes before the summarizer is asked.

    Raises:
        PromptSanitizationError: The passages are labelled SENSITIVE.
    """
    if Label.SENSITIVE in asked.labels:
        raise PromptSanitizationError(
            "Highlights go to the asker; these passages still hold what is withheld.",
            hint="Use SelectiveDisclosureRetriever with this policy; pass its state.",
        )
    passages, unread = _select(asked.passages, settings)
    propose = settings.highlighter
    if settings.rules.yes_no and settings.has_model:
        propose = with_yes_no(propose)
    context = Context(passages, asked.labels)
    try:
        proposal = yield from propose(untrusted(asked.question), context)
        verified = _verify(proposal, passages, settings)
    except PromptSanitizationError:
        raise
    except Exception:  # noqa: BLE001 -- a highlighter of the host may raise anything
        text, reason = settings.rules.decline_text, "highlighter-failed"
        return Plan(asked.question, text, reason=reason, dropped=unread)
    planned = _planned(asked, proposal, verified.highlights, settings)
    return replace(planned, dropped=(*unread, *_refused(verified)))


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


def _verify(
    proposal: Proposal, passages: tuple[Passage, ...], settings: Settings
) -> Verification:
    rules = settings.rules
    return verify_highlights(
        proposal.extracts,
        passages,
        rules.min_words,
        rules.threshold,
        cut_at=rules.cut_at,
        max_highlights=rules.max_highlights,
        min_sentence_words=rules.min_sentence_words,
        withheld=settings.withheld,
    )


def _refused(verified: Verification) -> Iterator[Decision]:
    for refusal in verified.refusals:
        name = refusal.passage_id or "extract"
        yield Decision(name, "dropped", "highlight", refusal.reason)


def _planned(
    asked: Asked,
    proposal: Proposal,
    highlights: tuple[Highlight, ...],
    settings: Settings,
) -> Plan:
    """
    Make a prompt of what was verified; decline where that is nothing.

    A highlighter may give booleans unasked, and what is no boolean in their place.
    """
    rules = settings.rules
    if not highlights:
        return Plan(asked.question, rules.decline_text, reason="nothing-highlighted")
    prompt = summary_prompt(
        highlights,
        untrusted(asked.question).labels | asked.labels,
        is_yes_no=rules.yes_no and proposal.is_yes_no is True,
        says_yes=proposal.says_yes is True,
        sentences=rules.answer_sentences,
    )
    text = "\n".join(highlight.text for highlight in highlights)
    held = prompt if settings.has_model else None
    return Plan(asked.question, text, held, highlights)


def _conclude(
    part: Plan, settings: Settings, reply: Outcome[Labelled] | None
) -> Steps[Answer]:
    """Make the answer of a part from the summarizer's reply; None if not asked."""
    if reply is None:
        unanswered = {1: part.reason} if part.reason else {}
        return Answer(part.text, part.highlights, part.reason, unanswered, part.dropped)
    try:
        summary = read_reply(replied(reply).text, Summary)
    except SdragError:
        return decline(settings, part, "summarizer-failed")
    return (yield from release(settings, part, summary))


def release(settings: Settings, part: Plan, summary: Summary) -> Steps[Answer]:
    """Check a summary; return the answer that may be released."""
    text = summary.answer.strip()
    if not text:
        return decline(settings, part, "empty-answer")
    checked = yield from check_guesses(settings, part, tuple(summary.guessed_questions))
    return checked if checked.unanswered else replace(checked, text=text)


def check_guesses(
    settings: Settings, part: Plan, guesses: tuple[str, ...]
) -> Steps[Answer]:
    """
    Check the guessed questions, before a word of the answer is released.

    Section 9: "the H&S pipeline could monitor the similarity between the user's
    question and the question guessed by the summarizer. If there is too much
    divergence, the system could be programmed to refuse to answer". The paper found
    little relation to the quality of answers (Pearson 0.04), so the default is to
    answer. More guesses than were asked for are not read: enough of them come near any
    question.

    Args:
        settings: How questions are answered.
        part: The plan of the answer.
        guesses: The questions that the summarizer guessed.

    Returns:
        The answer without its text, or the one that declines.
    """
    rule, reason = settings.rules.on_divergence, ""
    if rule != "answer":
        try:
            likeness = yield from _similarity(part.question, guesses[:MAX_GUESSES])
        except SdragError:
            likeness = -1.0
        if not likeness >= settings.rules.min_similarity:
            reason = "diverged"
    if reason and rule == "decline":
        return decline(settings, part, reason)
    return Answer("", part.highlights, reason, dropped=part.dropped)


def _similarity(question: str, guesses: Sequence[str]) -> Steps[float]:
    """
    Return the greatest cosine of the question and a guess; 0 without a guess.

    The question meets the guesses in an embedding, and never in a prompt.

    Raises:
        SdragError: The texts could not be embedded.
    """
    texts = [guess for guess in guesses if guess.strip()]
    if not texts:
        return 0.0
    asked, *others = yield from embed([question, *texts])
    vector = replied(asked)
    return max(float(vector @ replied(outcome)) for outcome in others)


def decline(settings: Settings, part: Plan, reason: str) -> Answer:
    """Release the text for declining."""
    text = settings.rules.decline_text
    return Answer(text, (), reason, {1: reason}, part.dropped)


def _join(answers: Sequence[Answer], rules: HighlightSection) -> Answer:
    """
    Make one answer of the parts.

    A part that declines is reported by its number: its words are the asker's, or those
    of a model that has read them. Where all decline, the text for declining is there
    once.
    """
    if len(answers) == 1:
        return answers[0]
    numbered = list(enumerate(answers, start=1))
    unanswered = {number: part.reason for number, part in numbered if part.unanswered}
    texts = [
        rules.unanswered_text.replace("{number}", str(number)).replace(
            "{questions}", str(len(answers))
        )
        if part.unanswered
        else part.text
        for number, part in numbered
    ]
    return Answer(
        "\n\n".join(texts) if len(unanswered) < len(answers) else answers[0].text,
        tuple(dict.fromkeys(chain.from_iterable(part.highlights for part in answers))),
        next((part.reason for part in answers if part.reason), ""),
        unanswered,
        tuple(dict.fromkeys(chain.from_iterable(part.dropped for part in answers))),
        len(answers),
    )
