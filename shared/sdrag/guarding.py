"""
What runs around the release of passages: access, and the guards of the policy.

Each guard decides on its own, on what the one before it let through. Which guards there
are, and in which order they run, is the table `sdrag.policy.GUARDS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sdrag.disclosure.disclose import Disclosed, model_fails
from sdrag.effects.steps import Steps, search
from sdrag.engine import Engine, Request
from sdrag.guardrails import access, staleness
from sdrag.guardrails.access import Fetched, fetch
from sdrag.guardrails.notices import MODEL_FAILED, notice
from sdrag.guardrails.screened import Retrieval, Screened, stamped
from sdrag.policy import GUARDS, AccessSection, Policy
from sdrag.vocabulary import Decision, Passage, Redaction

__all__ = [
    "check_access",
    "failure_notices",
    "fetch_allowed",
    "guard_released",
    "guard_retrieved",
    "reported_ids",
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


def fetch_allowed(request: Request, engine: Engine) -> Steps[Fetched]:
    """Search for what the principal may see; for more where too little was."""
    section, candidates = engine.policy.access, _candidates(engine.policy)
    if section is None and not engine.authorizes:
        limit = request.limit and request.limit * candidates
        passages = yield from search(request.query, limit=limit)
        return Fetched(tuple(passages), wanted=request.limit)

    def check(passages: Sequence[Passage]) -> Steps[Screened]:
        return (yield from check_access(passages, request, engine))

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


def check_access(
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


def failure_notices(
    disclosed: Disclosed, released: Screened, engine: Engine
) -> Steps[tuple[Passage, ...]]:
    """
    Return one notice, always the same, if the model failed and the policy wants it.

    Where nothing leaves, the model is tried: else the notice would say that something
    was found.
    """
    if not engine.policy.withheld.notice:
        return ()
    failed = any(each.reason in _OF_THE_MODEL for each in disclosed.redactions)
    if not failed and not released.passages:
        failed = yield from model_fails(engine.disclosure)
    return (notice("model-failed", MODEL_FAILED),) if failed else ()


def guard_retrieved(
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


def guard_released(
    retrieved: Sequence[Passage],
    disclosed: Disclosed,
    screened: Screened,
    request: Request,
    engine: Engine,
) -> Steps[Screened]:
    """Run the guards on what is released; they decide by what the host stored."""
    policy, released, facts = engine.policy, [], []
    flags, audience = _flags(screened.decisions), _audience(request, engine)
    names = reported_ids(retrieved, disclosed)
    for passage, redaction in zip(retrieved, disclosed.redactions, strict=True):
        if redaction.passage is not None:
            age = staleness.facts(passage, policy.staleness, now=request.now)
            raised = _raised(redaction, flags, names)
            released.append(stamped(redaction.passage, age | raised | audience))
            facts.append(passage.metadata)
    guarded = Screened(tuple(released))
    for guard in GUARDS:
        section = guard.settings(policy)
        if guard.stage == "release" and section is not None:
            result = yield from guard.load()(guarded.passages, section, facts)
            guarded = guarded.then(result)
    return guarded


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


def reported_ids(passages: Sequence[Passage], disclosed: Disclosed) -> dict[str, str]:
    """Return what each id is reported as; an alias wins where an id occurs twice."""
    names: dict[str, str] = {}
    for passage, redaction in zip(passages, disclosed.redactions, strict=True):
        name = redaction.passage_id
        if name != passage.id or passage.id not in names:
            names[passage.id] = name
    return names
