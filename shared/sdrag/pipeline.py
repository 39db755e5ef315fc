"""
The query pipeline: the stages in order, by `yield from`.

Question and principal, access filter, the host's retriever, access check, the guards at
retrieval, redaction, the limit of the session, the guards on what is released. Each
stage decides on its own; this module says only what comes after what.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from sdrag.disclosure.disclose import Disclosed, Ingested, ingest, model_fails
from sdrag.disclosure.placeholder_style import choose_for_type
from sdrag.disclosure.redacted_index import choose_enforcement, redact_question
from sdrag.disclosure.restore import Restorer, RestoreScope
from sdrag.disclosure.texts import name_documents
from sdrag.disclosure.unsupported import find_unsupported
from sdrag.effects.progress import Progress
from sdrag.effects.steps import Steps, search
from sdrag.engine import Disclosure, Engine, Request
from sdrag.guardrails import access
from sdrag.guardrails import answer as answers
from sdrag.guardrails.access import AccessSection, Fetched, fetch
from sdrag.guardrails.answer_work import Draft, Guarded
from sdrag.guardrails.notices import (
    MODEL_FAILED,
    QUESTION_REDACTED,
    notice,
    sources,
)
from sdrag.guardrails.passage_guards import (
    find_reported_ids,
    guard_released,
    run_guards,
    stamp_released,
)
from sdrag.guardrails.results import Retrieval, Screened, export_evidence
from sdrag.linkage.session import Session
from sdrag.policy import Policy
from sdrag.privacy.identities import pseudonymized
from sdrag.privacy.reasons import MODEL_FAILURES
from sdrag.vocabulary import Passage, Principal

__all__ = [
    "Disclosure",
    "Engine",
    "Request",
    "bind",
    "check_answer",
    "disclose",
    "restore",
    "retrieve",
]

_RANKED = 4


def retrieve(request: Request, engine: Engine) -> Steps[Disclosure]:
    """
    Run the whole query pipeline around the host's retriever.

    Raises:
        HostError: The host's retriever failed.
    """
    section = engine.policy.access
    if section is not None and (refused := access.refusal(request.principal, section)):
        return Disclosure((), (refused,), principal=request.principal)
    if engine.policy.disclosure.influence == "none":
        return (yield from _retrieve_redacted(request, engine))
    return (yield from _retrieve(request, engine))


def disclose(
    passages: Iterable[Passage], request: Request, engine: Engine
) -> Steps[Disclosure]:
    """
    Run what comes after retrieval, on passages that the host has retrieved.

    They may be read lazily: an error of that is one of the request, and leaves without
    them.
    """
    allowed = yield from _check_access(tuple(passages), request, engine)
    return (yield from _release(allowed, request.limit, request, engine))


def _retrieve(request: Request, engine: Engine) -> Steps[Disclosure]:
    allowed = yield from _fetch_allowed(request, engine)
    return (yield from _release(allowed, allowed.wanted, request, engine))


def _retrieve_redacted(request: Request, engine: Engine) -> Steps[Disclosure]:
    """Ask without what is hidden, where nothing may rest on it; the policy says so."""
    asked = request.query, request.principal
    query = yield from redact_question(*asked, engine.disclosure)
    released = yield from _retrieve(replace(request, query=query), engine)
    if query == request.query or not engine.policy.withheld.question:
        return released
    words = notice("question-redacted", QUESTION_REDACTED)
    words = export_evidence(words, engine.policy.metadata.evidence)
    return replace(released, passages=(*released.passages, words))


def _release(
    allowed: Screened, wanted: int | None, request: Request, engine: Engine
) -> Steps[Disclosure]:
    """Guard, locate, cut and guard again what the principal may see."""
    policy, setup, principal = engine.policy, engine.disclosure, request.principal
    engine.warn_of_principal(principal)
    passages = name_documents(allowed.passages, policy.disclosure.document_keys)
    is_view = engine.stage == "view"
    enforce = choose_enforcement(passages, principal, setup, is_view=is_view)
    retrieval = Retrieval(
        request.query,
        request.now,
        "injection" in engine.options.judges,
        policy.metadata.keys,
        engine.limits,
    )
    screened = yield from run_guards("retrieval", passages, policy, retrieval)
    chosen = screened.passages[:wanted]
    disclosed = yield from enforce(chosen, request.query, principal, setup)
    disclosed = yield from _limit_session(chosen, disclosed, request, engine)
    keys, redactions = setup.state.shared_keys, disclosed.redactions
    audience = keys.audience(principal) if _differs(engine) else None
    of_request = policy, request.now, audience
    released = yield from guard_released(chosen, redactions, screened, *of_request)
    failed = yield from _failure_notices(disclosed, released, engine)

    stamped = stamp_released(released.passages, policy, keys)
    if policy.disclosure.restore and principal is not None:
        documents = [setup.document_of(passage) for passage in chosen]
        _restore_scope(request, engine).remember(stamped, redactions, documents)
    leaving = (*stamped, *screened.notices, *released.notices, *failed)
    before = (*allowed.decisions, *screened.decisions)
    hidden = pseudonymized(before, find_reported_ids(chosen, redactions), setup.key)
    return Disclosure(
        tuple(export_evidence(each, policy.metadata.evidence) for each in leaving),
        (*hidden, *disclosed.decisions, *released.decisions),
        principal=principal,
    )


def _differs(engine: Engine) -> bool:
    """Say whether others would not get the same passages."""
    policy = engine.policy
    exempts = any(rule.unless for rule in policy.rules)
    return policy.access is not None or exempts or engine.authorizes


def _limit_session(
    passages: Sequence[Passage], disclosed: Disclosed, request: Request, engine: Engine
) -> Steps[Disclosed]:
    policy, setup = engine.policy, engine.disclosure
    if policy.session is None:
        return disclosed
    session = Session(
        setup.state.keys.session(request.principal, request.session_id),
        request.now.timestamp(),
        policy,
        policy.session,
        setup.state,
        engine.detector,
        setup.placeholders,
        partial(choose_for_type, section=policy.disclosure),
    )
    documents = [setup.document_of(passage) for passage in passages]
    redactions, decisions = yield from session.show(disclosed.redactions, documents)
    return Disclosed(tuple(redactions), (*disclosed.decisions, *decisions))


def _failure_notices(
    disclosed: Disclosed, released: Screened, engine: Engine
) -> Steps[tuple[Passage, ...]]:
    """
    Return one notice, always the same, if the model failed and the policy wants it.

    Where nothing leaves, the model is tried: else the notice would say that something
    was found.
    """
    if not engine.policy.withheld.notice:
        return ()
    failed = any(each.reason in MODEL_FAILURES for each in disclosed.redactions)
    if not failed and not released.passages:
        failed = yield from model_fails(engine.disclosure)
    return (notice("model-failed", MODEL_FAILED),) if failed else ()


def _fetch_allowed(request: Request, engine: Engine) -> Steps[Fetched]:
    """Search for what the principal may see; for more where too little was."""
    section, candidates = engine.policy.access, _candidates(engine.policy)
    if section is None and not engine.authorizes:
        limit = request.limit and request.limit * candidates
        passages = yield from search(request.query, limit=limit)
        return Fetched(tuple(passages), wanted=request.limit)

    filters = None
    if section is not None:
        filters = access.filters(request.principal, section)
    return (
        yield from fetch(
            request.query,
            wanted=request.limit,
            budget=(section or AccessSection()).budget,
            screen=partial(_check_access, request=request, engine=engine),
            filters=filters,
            candidates=candidates,
        )
    )


def _candidates(policy: Policy) -> int:
    """Say how many times as many passages as are wanted the guards rank anew."""
    by_age = policy.staleness and policy.staleness.recency_half_life_days
    anew = by_age or (policy.relevance and policy.relevance.rerank)
    return _RANKED if anew else 1


def _check_access(
    passages: Sequence[Passage], request: Request, engine: Engine
) -> Steps[Screened]:
    return (
        yield from access.check(
            passages,
            request.principal,
            engine.policy.access,
            authorize=engine.authorizes,
        )
    )


def check_answer(
    draft: Draft,
    engine: Engine,
    principal: Principal | None,
    *,
    now: datetime | None = None,
) -> Steps[Guarded]:
    """
    Check an answer, and annotate, cut or decline it as the policy says.

    Args:
        draft: The answer and what it was made from.
        engine: The constraints of its policy say what the answer may not add to its
            context; its state is that which the passages were released with.
        principal: Who is answered, the one for whom the context was released.
        now: With its time zone.
    """
    policy, placeholders = engine.policy, engine.disclosure.placeholders
    work = answers.open_answer(draft, policy, placeholders, engine.state, principal)
    if isinstance(work, Guarded):
        return replace(work, principal=principal)
    context = draft.passages, policy, principal, placeholders
    work.withheld = yield from find_unsupported(
        draft.answer, *context, question=draft.question, withheld=work.withheld
    )
    asked_for = yield from find_unsupported(draft.question, *context)
    work.asks_for_withheld = bool(asked_for)
    guarded = yield from answers.guard(work, now=now or datetime.now(UTC))
    return replace(guarded, principal=principal)


def restore(
    passages: Sequence[Passage], request: Request, engine: Engine
) -> Steps[Restorer]:
    """
    Find the values that an answer may be given back.

    Args:
        passages: What the answer was made from, as they were released.
        request: For whom, and in which session.
        engine: Its state is that which the passages were released with.

    Raises:
        HostError: The state failed.
    """
    yield from ()
    return _restore_scope(request, engine).open(sources(passages))


def _restore_scope(request: Request, engine: Engine) -> RestoreScope:
    asker = request.principal, request.session_id, request.now
    return RestoreScope(engine.disclosure.state, engine.policy, *asker)


def bind(
    passages: Sequence[Passage], engine: Engine, progress: Progress | None = None
) -> Steps[Ingested]:
    """
    Bind the policy's constraints to passages at ingest, and locate what they withhold.

    Raises:
        SdragError: The embeddings or the state failed.
    """
    named = name_documents(passages, engine.policy.disclosure.document_keys)
    return (yield from ingest(named, engine.disclosure, progress))
