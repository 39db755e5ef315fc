"""
The query pipeline: the stages in order, by `yield from`.

Question and principal, access filter, the host's retriever, access check, the guards at
retrieval, redaction, the limit of the session, the guards on what is released. Each
stage decides on its own; this module says only what comes after what.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sdrag.disclosure.cut import choose_for_type
from sdrag.disclosure.disclose import Disclosed, model_fails
from sdrag.disclosure.disclose import disclose as enforce
from sdrag.disclosure.ingest import Ingested, ingest
from sdrag.disclosure.redacted_index import (
    check_view_stamps,
    redact_question,
    release_stamped_view,
)
from sdrag.disclosure.release import record_decision
from sdrag.disclosure.texts import name_documents
from sdrag.disclosure.unsupported import find_unsupported
from sdrag.effects.progress import Progress
from sdrag.effects.steps import Steps, search
from sdrag.engine import Disclosure, Engine, Request
from sdrag.guardrails import answer as answers
from sdrag.guardrails import staleness
from sdrag.guardrails.access import AccessSection
from sdrag.guardrails.access import check as access
from sdrag.guardrails.access.check import Fetched, fetch
from sdrag.guardrails.answer_work import Draft, Guarded
from sdrag.guardrails.evidence import RELEASE_STAMP, add_evidence, export_evidence
from sdrag.guardrails.notices import MODEL_FAILED, QUESTION_REDACTED, notice
from sdrag.guardrails.results import Retrieval, Screened
from sdrag.linkage.session import Session
from sdrag.policy import GUARDS, Policy
from sdrag.privacy.identities import pseudonymized
from sdrag.privacy.reasons import MODEL_FAILURES
from sdrag.vocabulary import Decision, Passage, Principal, Redaction

__all__ = [
    "Disclosure",
    "Engine",
    "Request",
    "bind",
    "check_answer",
    "disclose",
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
        return Disclosure((), (refused,))
    searched = yield from _without_hidden(request, engine)
    allowed = yield from _fetch_allowed(searched, engine)
    released = yield from _release(allowed, allowed.wanted, searched, engine)
    if searched.query == request.query or not engine.policy.withheld.question:
        return released
    words = notice("question-redacted", QUESTION_REDACTED)
    words = export_evidence(words, engine.policy.metadata.evidence)
    return replace(released, passages=(*released.passages, words))


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


def _without_hidden(request: Request, engine: Engine) -> Steps[Request]:
    """Take what is hidden out of the question, where nothing may rest on it."""
    if engine.policy.disclosure.influence != "none":
        return request
    query = yield from redact_question(
        request.query, request.principal, engine.disclosure
    )
    return replace(request, query=query)


def _release(
    allowed: Screened, wanted: int | None, request: Request, engine: Engine
) -> Steps[Disclosure]:
    """Guard, locate, cut and guard again what the principal may see."""
    policy, setup = engine.policy, engine.disclosure
    engine.warn_of_principal(request.principal)
    passages = name_documents(allowed.passages, policy.disclosure.document_keys)
    is_marked = policy.disclosure.influence == "none" and engine.stage != "view"
    if is_marked:
        check_view_stamps(passages, request.principal, setup)
    screened = yield from _guard_retrieved(passages, request, engine)
    chosen = screened.passages[:wanted]
    if is_marked:
        redactions = release_stamped_view(chosen, setup)
        disclosed = Disclosed(redactions, tuple(map(record_decision, redactions)))
    else:
        disclosed = yield from enforce(chosen, request.query, request.principal, setup)
    disclosed = yield from _limit_session(chosen, disclosed, request, engine)
    released = yield from _guard_released(chosen, disclosed, screened, request, engine)
    failed = yield from _failure_notices(disclosed, released, engine)

    marked = _stamp_released(released.passages, engine)
    leaving = (*marked, *screened.notices, *released.notices, *failed)
    before = (*allowed.decisions, *screened.decisions)
    hidden = pseudonymized(before, _reported_ids(chosen, disclosed), setup.key)
    return Disclosure(
        tuple(
            export_evidence(passage, policy.metadata.evidence) for passage in leaving
        ),
        (*hidden, *disclosed.decisions, *released.decisions),
    )


def _limit_session(
    passages: Sequence[Passage], disclosed: Disclosed, request: Request, engine: Engine
) -> Steps[Disclosed]:
    """Limit what the session puts together, where the policy does."""
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
        return work
    context = draft.passages, policy, principal, placeholders
    work.withheld = yield from find_unsupported(
        draft.answer, *context, question=draft.question, withheld=work.withheld
    )
    asked_for = yield from find_unsupported(draft.question, *context)
    work.asks_for_withheld = bool(asked_for)
    return (yield from answers.guard(work, now=now or datetime.now(UTC)))


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


def _fetch_allowed(request: Request, engine: Engine) -> Steps[Fetched]:
    """Search for what the principal may see; for more where too little was."""
    section, candidates = engine.policy.access, _candidates(engine.policy)
    if section is None and not engine.authorizes:
        limit = request.limit and request.limit * candidates
        passages = yield from search(request.query, limit=limit)
        return Fetched(tuple(passages), wanted=request.limit)

    def check(passages: Sequence[Passage]) -> Steps[Screened]:
        return (yield from _check_access(passages, request, engine))

    filters = None
    if section is not None:
        filters = access.filters(request.principal, section)
    return (
        yield from fetch(
            request.query,
            wanted=request.limit,
            budget=(section or AccessSection()).budget,
            screen=check,
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
    """Check what the principal may see, by the policy and the host's authorizer."""
    return (
        yield from access.check(
            passages,
            request.principal,
            engine.policy.access,
            authorize=engine.authorizes,
        )
    )


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


def _guard_retrieved(
    passages: Sequence[Passage], request: Request, engine: Engine
) -> Steps[Screened]:
    """Run the guards at retrieval, each on what the one before it let through."""
    policy = engine.policy
    retrieval = Retrieval(
        request.query,
        request.now,
        "injection" in engine.options.judges,
        policy.metadata.keys,
        engine.limits,
    )
    screened = Screened(tuple(passages))
    for guard in GUARDS:
        section = guard.settings(policy)
        if guard.stage == "retrieval" and section is not None:
            result = yield from guard.load()(screened.passages, section, retrieval)
            screened = screened.then(result)
    return screened


def _guard_released(
    retrieved: Sequence[Passage],
    disclosed: Disclosed,
    screened: Screened,
    request: Request,
    engine: Engine,
) -> Steps[Screened]:
    """Run the guards on what is released; they decide by what the host stored."""
    policy, released, facts = engine.policy, [], []
    flags, audience = _flags(screened.decisions), _audience(request, engine)
    names = _reported_ids(retrieved, disclosed)
    for passage, redaction in zip(retrieved, disclosed.redactions, strict=True):
        if redaction.passage is not None:
            age = staleness.facts(passage, policy.staleness, now=request.now)
            raised = _raised(redaction, flags, names)
            released.append(add_evidence(redaction.passage, age | raised | audience))
            facts.append(passage.metadata)
    guarded = Screened(tuple(released))
    for guard in GUARDS:
        section = guard.settings(policy)
        if guard.stage == "release" and section is not None:
            result = yield from guard.load()(guarded.passages, section, facts)
            guarded = guarded.then(result)
    return guarded


def _stamp_released(passages: Sequence[Passage], engine: Engine) -> Sequence[Passage]:
    """Mark what leaves; Highlight & Summarize reads nothing without the mark."""
    policy, keys = engine.policy, engine.disclosure.state.shared_keys
    if not policy.constraints:
        return passages
    return [
        add_evidence(passage, {RELEASE_STAMP: keys.release(policy.hash, passage.text)})
        for passage in passages
    ]


def _audience(request: Request, engine: Engine) -> dict[str, str]:
    """Say for whom passages are released, where others would not get the same."""
    policy = engine.policy
    differs = policy.access is not None or any(rule.unless for rule in policy.rules)
    if not (differs or engine.authorizes):
        return {}
    keys = engine.disclosure.state.shared_keys
    return {"audience": keys.audience(request.principal)}


def _flags(decisions: Sequence[Decision]) -> dict[str, list[str]]:
    """Return the codes of what guards flagged and let through, by passage id."""
    flags: dict[str, list[str]] = {}
    for each in decisions:
        if each.action == "flagged":
            flags.setdefault(each.subject, []).append(f"{each.rule}:{each.reason}")
    return flags


def _raised(
    redaction: Redaction, flags: Mapping[str, Sequence[str]], names: Mapping[str, str]
) -> dict[str, Any]:
    """Return the flags of a released passage, which may have an alias."""
    codes = [
        code
        for identity, raised in flags.items()
        if redaction.passage_id in {identity, names.get(identity)}
        for code in raised
    ]
    return {"flagged": list(dict.fromkeys(codes))} if codes else {}


def _reported_ids(passages: Sequence[Passage], disclosed: Disclosed) -> dict[str, str]:
    """Return what each id is reported as; an alias wins where an id occurs twice."""
    names: dict[str, str] = {}
    for passage, redaction in zip(passages, disclosed.redactions, strict=True):
        name = redaction.passage_id
        if name != passage.id or passage.id not in names:
            names[passage.id] = name
    return names
