"""
The query pipeline: the stages in order, by `yield from`.

Question and principal, access filter, the host's retriever, access check, the guards at
retrieval, redaction, the guards on what is released. Each stage decides on its own;
this module says only what comes after what.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sdrag.disclosure.binding import bind as attached
from sdrag.disclosure.disclose import disclose as enforce
from sdrag.disclosure.guesses import find_guesses
from sdrag.disclosure.ingest import Ingested, ingest
from sdrag.disclosure.texts import with_documents
from sdrag.effects.progress import Progress
from sdrag.effects.steps import Steps
from sdrag.engine import Disclosure, Engine, Request
from sdrag.guarding import (
    check_access,
    failure_notices,
    fetch_allowed,
    guard_released,
    guard_retrieved,
    reported_ids,
)
from sdrag.guardrails import access
from sdrag.guardrails import answer as answers
from sdrag.guardrails.answer_work import Draft, Guarded
from sdrag.guardrails.screened import Screened, export_evidence
from sdrag.policy import Policy
from sdrag.privacy.identities import pseudonymized
from sdrag.state import State
from sdrag.vocabulary import Passage, Principal, Span

__all__ = [
    "Disclosure",
    "Engine",
    "Request",
    "asks_again",
    "attach",
    "bind",
    "check_answer",
    "disclose",
    "retrieve",
]


def retrieve(request: Request, engine: Engine) -> Steps[Disclosure]:
    """
    Run the whole query pipeline around the host's retriever.

    Raises:
        HostError: The host's retriever failed.
    """
    section = engine.policy.access
    if section is not None and (refused := access.refusal(request.principal, section)):
        return Disclosure((), (refused,))
    allowed = yield from fetch_allowed(request, engine)
    return (yield from _release(allowed, allowed.wanted, request, engine))


def disclose(
    passages: Sequence[Passage], request: Request, engine: Engine
) -> Steps[Disclosure]:
    """Run what comes after retrieval, on passages that the host has retrieved."""
    allowed = yield from check_access(passages, request, engine)
    return (yield from _release(allowed, request.limit, request, engine))


def _release(
    allowed: Screened, wanted: int | None, request: Request, engine: Engine
) -> Steps[Disclosure]:
    """Guard, locate, cut and guard again what the principal may see."""
    policy, setup = engine.policy, engine.disclosure
    passages = with_documents(allowed.passages, policy.disclosure.document_keys)
    screened = yield from guard_retrieved(passages, request, engine)
    chosen = screened.passages[:wanted]
    disclosed = yield from enforce(chosen, request.query, request.principal, setup)
    released = yield from guard_released(chosen, disclosed, screened, request, engine)
    failed = yield from failure_notices(disclosed, released, engine)

    leaving = (*released.passages, *screened.notices, *released.notices, *failed)
    before = (*allowed.decisions, *screened.decisions)
    hidden = pseudonymized(before, reported_ids(chosen, disclosed), setup.key)
    return Disclosure(
        tuple(
            export_evidence(passage, policy.metadata.evidence) for passage in leaving
        ),
        (*hidden, *disclosed.decisions, *released.decisions),
    )


def check_answer(
    draft: Draft,
    policy: Policy,
    principal: Principal | None,
    *,
    now: datetime,
    state: State | None = None,
) -> Steps[Guarded]:
    """
    Check an answer, and annotate, cut or decline it as the policy says.

    Args:
        draft: The answer and what it was made from.
        policy: Its constraints say what the answer may not add to its context.
        principal: Who is answered, the one for whom the context was released.
        now: With its time zone.
        state: That the passages were released with, if the host keeps it.
    """

    def guesses(text: str) -> Steps[tuple[Span, ...]]:
        context = draft.passages
        return (
            yield from find_guesses(text, draft.question, context, policy, principal)
        )

    return (
        yield from answers.guard(
            draft, policy, now=now, state=state, principal=principal, guesses=guesses
        )
    )


def asks_again(engine: Engine) -> bool:
    """Say whether the question's vector may be needed after the host's one search."""
    policy = engine.policy
    return (
        policy.access is not None
        or engine.authorizes
        or policy.relevance is not None
        or policy.disclosure.top_k is not None
    )


def bind(
    passages: Sequence[Passage], engine: Engine, progress: Progress | None = None
) -> Steps[Ingested]:
    """
    Bind the policy's constraints to passages at ingest, and locate what they withhold.

    Raises:
        SdragError: The embeddings or the state failed.
    """
    named = with_documents(passages, engine.policy.disclosure.document_keys)
    return (yield from ingest(named, engine.disclosure, progress))


def attach(passages: Sequence[Passage], engine: Engine) -> Steps[None]:
    """
    Bind the policy's constraints to passages, and locate nothing yet.

    Raises:
        SdragError: The embeddings or the state failed.
    """
    setup = engine.disclosure
    yield from attached(
        passages, setup.policy.rules, setup.state, setup.policy.disclosure
    )
