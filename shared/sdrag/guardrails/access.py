"""
Access control: nobody is shown what they may not see, nor answered from it.

"Access control failures in RAG are data breaches": the model words what the user was
never meant to read, and nobody notices. Three layers (section 3.5): a condition that
the store applies before it searches, permissions that a chunk inherits from its
section at ingest, and a check of each chunk afterwards, against its tags and against
the host's own authorizer, because "indexing metadata is stale or incorrect".

A store that cannot apply the condition returns what others may see. "Over-retrieve to
compensate for filtering": `fetch` asks for what is wanted, then for twice that, and so
on until enough is allowed, the store has no more, or the budget ends.

The rule. Each tag a passage carries must admit the principal; the tenant's must equal
the principal's own, also where one of them is missing. A passage that carries no tag
at all is seen by no principal, unless the policy makes untagged passages public. A tag
of the wrong type admits nobody. Tags that the policy requires must be there. Only these
can be pushed into the store, since no store can be asked for "missing or equal".

No text is sent to a model; the host's authorizer is given what the tags admit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from pydantic import model_validator

from sdrag.effects.steps import Failure, Outcome, Steps, search
from sdrag.effects.steps import authorize as ask_host
from sdrag.errors import SdragError
from sdrag.guardrails.conditions import And, Condition, Contains, Eq, In, Lte, Or
from sdrag.guardrails.results import Screened, drop_all, drop_by_reason
from sdrag.sections import Count, GuardSection, MetadataKey
from sdrag.text.nested import items_of
from sdrag.vocabulary import Decision, Passage, Principal

RULE = "access"
_NOBODY = Principal("")


class AccessSection(GuardSection):
    """Who may see which passage, by keys of its metadata; a key of null is not used."""

    tenant_key: MetadataKey | None = "tenant"
    """Holds the tenant, or a list of tenants."""
    roles_key: MetadataKey | None = "roles"
    """Holds a role, or a list of roles, any of which opens the passage."""
    level_key: MetadataKey | None = "level"
    """Holds the clearance that is needed."""
    uses_key: MetadataKey | None = "allowed_uses"
    """Holds the uses that a licence allows; a principal's attribute `use` names its
    use."""
    required: tuple[Literal["tenant", "roles", "level"], ...] = ()
    """Tags without which nobody sees a passage; the store can filter by them."""
    listed: tuple[Literal["tenant", "roles"], ...] = ("roles",)
    """Tags that may hold a list in the store; not every store can filter by one."""
    without_principal: Literal["deny", "public"] = "deny"
    """`public` shows untagged passages to everybody."""
    budget: Count = 200
    """The most passages asked of the store until enough are allowed."""

    @model_validator(mode="after")
    def _required_have_keys(self) -> Self:
        if any(getattr(self, f"{name}_key") is None for name in self.required):
            raise ValueError("a required tag needs its key")
        return self


def refusal(principal: Principal | None, section: AccessSection) -> Decision | None:
    """Say that the request has no principal and returns nothing; else None."""
    if principal is None and section.without_principal == "deny":
        return Decision("query", "withheld", RULE, "no-principal")
    return None


def filters(principal: Principal | None, section: AccessSection) -> Condition | None:
    """
    Return what the store is asked to hold to before it searches, if it can be asked.

    It admits whatever `check` would, which runs on all that the store returns; but for
    lists under a tag that the policy does not say is listed.
    """
    if principal is None or section.without_principal == "public":
        return None
    parts: list[Condition] = []
    if section.tenant_key and principal.tenant is not None:
        listed = "tenant" in section.listed
        parts.append(_either(section.tenant_key, (principal.tenant,), listed=listed))
    if section.roles_key and "roles" in section.required and principal.roles:
        roles, listed = tuple(sorted(principal.roles)), "roles" in section.listed
        parts.append(_either(section.roles_key, roles, listed=listed))
    if section.level_key and "level" in section.required:
        parts.append(Lte(section.level_key, principal.level))
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def check(
    passages: Sequence[Passage],
    principal: Principal | None,
    section: AccessSection | None,
    *,
    authorize: bool = False,
) -> Steps[Screened]:
    """Drop every passage that the principal may not see."""
    if section is not None and refusal(principal, section):
        return drop_all(passages, RULE, "no-principal")
    reasons = [_objection(passage, principal, section) for passage in passages]
    admitted = drop_by_reason(passages, reasons, RULE)
    if not authorize:
        return admitted
    try:
        answers = yield from ask_host(admitted.passages, principal or _NOBODY)
    except SdragError:
        return admitted.then(drop_all(admitted.passages, RULE, "authorizer-failed"))
    return admitted.then(
        drop_by_reason(admitted.passages, map(_why_refused, answers), RULE)
    )


def _why_refused(answer: Outcome[Any]) -> str:
    """Return why the authorizer's answer is a no; anything but True is one."""
    if isinstance(answer, Failure):
        return "authorizer-failed"
    return "" if answer.value is True else "unauthorized"


def _objection(
    passage: Passage, principal: Principal | None, section: AccessSection | None
) -> str:
    """Return why the tags of a passage do not admit the principal, or nothing."""
    if section is None:
        return ""
    tags = {
        name: passage.metadata[key]
        for name, key in (
            ("tenant", section.tenant_key),
            ("roles", section.roles_key),
            ("level", section.level_key),
            ("uses", section.uses_key),
        )
        if key and passage.metadata.get(key) is not None
    }
    if not set(section.required) <= set(tags):
        return "untagged"
    if not tags:
        return "" if section.without_principal == "public" else "untagged"
    who = principal or _NOBODY
    admitted = {
        "tenant": not section.tenant_key
        or _same_tenant(tags.get("tenant"), who, section),
        "roles": "roles" not in tags or _shares(tags["roles"], who.roles),
        "level": "level" not in tags or _reaches(who.level, tags["level"]),
        "uses": "uses" not in tags or _shares(tags["uses"], _uses_of(who)),
    }
    return next((name for name, admits in admitted.items() if not admits), "")


def _same_tenant(tag: Any, who: Principal, section: AccessSection) -> bool:
    if tag is None:
        return who.tenant is None or section.without_principal == "public"
    return who.tenant is not None and _shares(tag, frozenset({who.tenant}))


def _shares(tag: Any, allowed: frozenset[str]) -> bool:
    """Say whether a tag, one string or a collection of them, names one of `allowed`."""
    return any(isinstance(name, str) and name in allowed for name in items_of(tag))


def _uses_of(who: Principal) -> frozenset[str]:
    use = who.attributes.get("use")
    return frozenset({use}) if isinstance(use, str) else frozenset()


def _reaches(level: int, tag: Any) -> bool:
    if isinstance(tag, bool) or not isinstance(tag, (int, float)):
        return False
    return tag <= level


def _either(key: str, values: tuple[str, ...], *, listed: bool) -> Condition:
    """Ask for a value that is one of `values`, or for a list that holds one of them."""
    single: Condition = Eq(key, values[0]) if len(values) == 1 else In(key, values)
    if not listed:
        return single
    return Or((single, *(Contains(key, value) for value in values)))


Screen = Callable[[Sequence[Passage]], Steps[Screened]]


@dataclass(frozen=True, slots=True, repr=False)
class Fetched(Screened):
    """
    All that was found and passed the check, in the store's order.

    `wanted` of them are wanted in the end; None for all.
    """

    wanted: int | None = None


def fetch(
    query: str,
    *,
    wanted: int | None,
    budget: int,
    screen: Screen,
    filters: object = None,
    candidates: int = 1,
) -> Steps[Fetched]:
    """
    Search until enough passages pass the check, or nothing more can be had.

    `wanted`: how many allowed passages are wanted; as many as the host's retriever
    returns of its own accord, if None. `budget`: the most passages asked of the store
    in one search, or `wanted`. `candidates`: how many times as many are enough, since
    they will be ranked anew.

    Returns:
        What may be seen. Where the budget ended before that was what is wanted, a
        decision says so, since the store may hold more.
    """
    seen: set[tuple[str, str]] = set()
    kept: list[Passage] = []
    decisions: list[Decision] = []
    limit = enough = None if wanted is None else wanted * candidates
    while True:
        results = yield from search(query, filters=filters, limit=limit)
        new = {(item.id, item.text): item for item in results}
        fresh = [item for key, item in new.items() if key not in seen]
        seen |= new.keys()
        checked = yield from screen(fresh)
        kept += checked.passages
        decisions += checked.decisions
        asked = limit or len(results)
        wanted, enough = wanted or len(results), enough or len(results)
        no_more = not fresh or len(results) < asked
        if len(kept) >= enough or no_more or asked >= budget:
            if len(kept) < wanted and not no_more:
                decisions.append(Decision("query", "withheld", RULE, "budget-spent"))
            return Fetched(tuple(kept), tuple(decisions), wanted=wanted)
        limit = min(budget, asked * 2)
