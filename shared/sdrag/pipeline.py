"""
The query pipeline: the stages in order, by `yield from`.

Question and principal, access filter, the host's retriever, access check, the guards at
retrieval, redaction, the guards on what is released. Each stage decides on its own;
this module says only what comes after what. Which guards there are, and in which order
they run, is the table `sdrag.policy.GUARDS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sdrag.disclosure.binding import bind as attached
from sdrag.disclosure.disclose import Disclosed, model_fails
from sdrag.disclosure.disclose import disclose as enforce
from sdrag.disclosure.documents import with_documents
from sdrag.disclosure.guesses import find_guesses
from sdrag.disclosure.ingest import Ingested, ingest
from sdrag.effects.progress import Progress
from sdrag.effects.steps import Steps, search
from sdrag.engine import Disclosure, Engine, Request
from sdrag.guardrails import access, staleness
from sdrag.guardrails import answer as answers
from sdrag.guardrails.answer import Draft, Guarded
from sdrag.guardrails.fetch import Fetched, fetch
from sdrag.guardrails.notices import MODEL_FAILED, notice
from sdrag.guardrails.screened import Retrieval, Screened, outward, stamped
from sdrag.policy import (
    GUARDS,
    AccessSection,
    Policy,
)
from sdrag.privacy.identities import pseudonymized
from sdrag.state import State
from sdrag.vocabulary import (
    Decision,
    Passage,
    Principal,
    Redaction,
    Span,
)

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

_RANKED = 4
_OF_THE_MODEL = frozenset(
    {
        "failed-model",
        "failed-modelreply",
        "failed-modeltimeout",
        "model-failed",
        "model-timeout",
        "no-verdict",
        "not-rephrased",
        "span-not-in-text",
        "unreadable",
    }
)
"""Reasons that are the failure of a model, and of nothing that was found."""


def retrieve(request: Request, engine: Engine) -> Steps[Disclosure]:
    """
    Run the whole query pipeline around the host's retriever.

    Raises:
        HostError: The host's retriever failed.
    """
    section = engine.policy.access
    if section is not None and (refused := access.refusal(request.principal, section)):
        return Disclosure((), (refused,))
    allowed = yield from _fetched(request, engine)
    return (yield from _after_access(allowed, allowed.wanted, request, engine))


def disclose(
    passages: Sequence[Passage], request: Request, engine: Engine
) -> Steps[Disclosure]:
    """Run what comes after retrieval, on passages that the host has retrieved."""
    allowed = yield from _checked(passages, request, engine)
    return (yield from _after_access(allowed, request.limit, request, engine))


def _fetched(request: Request, engine: Engine) -> Steps[Fetched]:
    """Search for what the principal may see; for more where too little was."""
    section, candidates = engine.policy.access, _candidates(engine.policy)
    if section is None and not engine.authorize:
        limit = request.limit and request.limit * candidates
        found = yield from search(request.query, limit=limit)
        return Fetched(tuple(found), wanted=request.limit)

    def check(passages: Sequence[Passage]) -> Steps[Screened]:
        return (yield from _checked(passages, request, engine))

    filters = None
    if section is not None:
        filters = access.filters(request.principal, section)
    return (
        yield from fetch(
            request.query,
            wanted=request.limit,
            budget=(section or AccessSection()).budget,
            check=check,
            filters=filters,
            candidates=candidates,
        )
    )


def _candidates(policy: Policy) -> int:
    """Say how many times as many passages as are wanted the guards rank anew."""
    by_age = policy.staleness and policy.staleness.recency_half_life_days
    anew = by_age or (policy.relevance and policy.relevance.rerank)
    return _RANKED if anew else 1


def _checked(
    passages: Sequence[Passage], request: Request, engine: Engine
) -> Steps[Screened]:
    return (
        yield from access.check(
            passages,
            request.principal,
            engine.policy.access,
            authorize=engine.authorize,
        )
    )


def _after_access(
    allowed: Screened, wanted: int | None, request: Request, engine: Engine
) -> Steps[Disclosure]:
    policy = engine.policy
    named = with_documents(allowed.passages, policy.disclosure.document_keys)
    screened = yield from _screened(named, request, engine)
    chosen = screened.passages[:wanted]
    disclosed = yield from enforce(
        chosen, request.query, request.principal, engine.disclosure
    )
    flags = _flags(screened.decisions)
    released = yield from _released(chosen, disclosed, flags, request, engine)
    guarded = pseudonymized(
        (*allowed.decisions, *screened.decisions),
        _judged(chosen, disclosed),
        engine.disclosure.key,
    )
    told: tuple[Passage, ...] = ()
    if policy.withheld.notice:
        told = yield from _of_failure(disclosed, released, engine)
    leaving = (*released.passages, *screened.notices, *released.notices, *told)
    key = policy.metadata.evidence
    return Disclosure(
        tuple(outward(passage, key) for passage in leaving),
        (*guarded, *disclosed.decisions, *released.decisions),
    )


def _of_failure(
    disclosed: Disclosed, released: Screened, engine: Engine
) -> Steps[tuple[Passage, ...]]:
    """
    Return one notice, always the same, if the model failed for any passage.

    Where nothing leaves, the model is tried: else the notice would say that something
    was found.
    """
    failed = any(each.reason in _OF_THE_MODEL for each in disclosed.redactions)
    if not failed and not released.passages:
        failed = yield from model_fails(engine.disclosure)
    return (notice("model-failed", MODEL_FAILED),) if failed else ()


def _screened(
    passages: Sequence[Passage], request: Request, engine: Engine
) -> Steps[Screened]:
    """Run the guards at retrieval, each on what the one before it let through."""
    policy = engine.policy
    retrieval = Retrieval(
        request.query, request.now, engine.classifier, policy.metadata.keys
    )
    screened = Screened(tuple(passages))
    for guard in GUARDS:
        section = guard.settings(policy)
        if guard.stage == "retrieval" and section is not None:
            found = yield from guard.load()(screened.passages, section, retrieval)
            screened = screened.then(found)
    return screened


def _released(
    retrieved: Sequence[Passage],
    disclosed: Disclosed,
    flags: Mapping[str, Sequence[str]],
    request: Request,
    engine: Engine,
) -> Steps[Screened]:
    """Run the guards on what is released; they decide by what the host stored."""
    policy, released, facts = engine.policy, [], []
    told, audience = _judged(retrieved, disclosed), _audience(request, engine)
    for passage, redaction in zip(retrieved, disclosed.redactions, strict=True):
        if redaction.passage is not None:
            age = staleness.facts(passage, policy.staleness, now=request.now)
            raised = _raised(redaction, flags, told)
            released.append(stamped(redaction.passage, age | raised | audience))
            facts.append(passage.metadata)
    screened = Screened(tuple(released))
    for guard in GUARDS:
        section = guard.settings(policy)
        if guard.stage == "release" and section is not None:
            found = yield from guard.load()(screened.passages, section, facts)
            screened = screened.then(found)
    return screened


def _audience(request: Request, engine: Engine) -> dict[str, str]:
    """Say for whom passages are released, where others would not get the same."""
    policy = engine.policy
    told_apart = policy.access is not None or any(rule.unless for rule in policy.rules)
    if not (told_apart or engine.authorize):
        return {}
    keys = engine.disclosure.state.shared_keys
    return {"audience": keys.audience(request.principal)}


def _flags(decisions: Sequence[Decision]) -> dict[str, list[str]]:
    """Return the codes of what guards flagged and let through, by passage id."""
    flags: dict[str, list[str]] = {}
    for one in decisions:
        if one.action == "flagged":
            flags.setdefault(one.subject, []).append(f"{one.rule}:{one.reason}")
    return flags


def _raised(
    redaction: Redaction, flags: Mapping[str, Sequence[str]], told: Mapping[str, str]
) -> dict[str, Any]:
    """Return the flags of all passages that a released one was made from."""
    codes = [
        code
        for identity, raised in flags.items()
        if not {identity, told.get(identity)}.isdisjoint(redaction.passage_ids)
        for code in raised
    ]
    return {"flagged": list(dict.fromkeys(codes))} if codes else {}


def _judged(passages: Sequence[Passage], disclosed: Disclosed) -> dict[str, str]:
    """Return what each id is reported as; an alias wins where an id occurs twice."""
    names: dict[str, str] = {}
    for passage, redaction in zip(passages, disclosed.redactions, strict=True):
        own = redaction.passage_ids[0]
        if own != passage.id or passage.id not in names:
            names[passage.id] = own
    return names


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
        or engine.authorize
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
