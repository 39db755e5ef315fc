"""Access control: who is shown what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.effects.steps import Failure, run
from sdrag.errors import HostError, UsageError
from sdrag.guardrails import access
from sdrag.guardrails.access import AccessSection, fetch
from sdrag.guardrails.conditions import (
    And,
    Contains,
    Eq,
    In,
    Lte,
    Or,
    as_chroma,
    both,
    drop_lists,
)
from sdrag.vocabulary import Decision, Passage, Principal

ANA = Principal("ana", "a", frozenset({"hr", "it"}), 2, {"use": "court"})
SECTION = AccessSection()


def passage(**metadata):
    return Passage("p", "text", metadata)


def objection(principal, section, **metadata):
    """Return the reason why a passage is dropped, or nothing where it is not."""
    screened = run(access.check([passage(**metadata)], principal, section), None)
    reasons = [decision.reason for decision in screened.decisions]
    dropped = tuple(Decision("p", "dropped", "access", reason) for reason in reasons)
    assert screened.decisions == dropped
    assert len(screened.passages) + len(reasons) == 1
    return "".join(reasons)


def admits(principal, section, **metadata):
    return not objection(principal, section, **metadata)


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({"tenant": "a"}, ""),
        ({"tenant": "b"}, "tenant"),
        ({"tenant": ["b", "a"]}, ""),
        ({"tenant": ["b"]}, "tenant"),
        ({"tenant": {"a": 1}}, "tenant"),
        ({"tenant": ""}, "tenant"),
        ({"roles": "hr"}, "tenant"),
        ({"tenant": "a", "roles": "hr"}, ""),
        ({"tenant": "a", "roles": ["legal", "it"]}, ""),
        ({"tenant": "a", "roles": ["legal"]}, "roles"),
        ({"tenant": "a", "roles": []}, "roles"),
        ({"tenant": "a", "roles": "hr,it"}, "roles"),
        ({"tenant": "a", "level": 2}, ""),
        ({"tenant": "a", "level": 3}, "level"),
        ({"tenant": "a", "level": "1"}, "level"),
        ({"tenant": "a", "level": True}, "level"),
        ({"tenant": "a", "level": float("nan")}, "level"),
        ({"tenant": "a", "allowed_uses": ["sales", "court"]}, ""),
        ({"tenant": "a", "allowed_uses": "sales"}, "uses"),
        ({}, "untagged"),
    ],
)
def test_every_tag_must_admit_the_principal(metadata, reason):
    """Each tag a passage carries admits the principal, and there is one."""
    assert objection(ANA, SECTION, **metadata) == reason


def test_a_principal_without_a_use_has_none():
    """Nor one whose use is no string."""
    for attributes in ({}, {"use": None}, {"use": ["court"]}):
        who = Principal("ana", "a", attributes=attributes)
        assert objection(who, SECTION, tenant="a", allowed_uses=["court"]) == "uses"


def test_without_a_principal_nothing_is_returned_and_it_is_said_why():
    """No principal: no passage, and a decision that names the reason."""
    refused = Decision("query", "withheld", "access", "no-principal")

    assert objection(None, SECTION, tenant="a") == "no-principal"
    assert access.refusal(None, SECTION) == refused
    assert access.refusal(ANA, SECTION) is None


@pytest.mark.parametrize(
    ("principal", "metadata", "reason"),
    [
        (None, {}, ""),
        (None, {"level": 0}, ""),
        (None, {"level": 1}, "level"),
        (None, {"tenant": "a"}, "tenant"),
        (ANA, {"level": 1}, ""),
    ],
)
def test_public_passages_are_those_that_nothing_restricts(principal, metadata, reason):
    """Where the policy allows it, anyone sees what carries no tag."""
    section = AccessSection(without_principal="public")

    assert objection(principal, section, **metadata) == reason


def test_a_required_tag_must_be_there():
    """A tag that the policy requires is not taken for granted."""
    section = AccessSection(required=("roles",))

    assert objection(ANA, section, tenant="a") == "untagged"
    assert admits(ANA, section, tenant="a", roles="hr")


NO, DOWN = "unauthorized", "authorizer-failed"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(True, ""), (False, NO), (1, NO), ("yes", NO), (Failure(HostError("x")), DOWN)],
)
def test_only_a_yes_of_the_authorizer_is_a_yes(ask, answer, reason):
    """Anything but True, and any failure, withholds the passage; also for nobody."""
    asked, one = [], passage(tenant="a")

    def authorize(effect, item):
        asked.append((effect.principal, item))
        return answer

    for principal, section in ((ANA, SECTION), (None, None)):
        steps = access.check([one], principal, section, authorize=True)
        screened = ask(steps, authorize=authorize)
        assert screened.passages == (() if reason else (one,))
        said = [Decision("p", "dropped", "access", reason)] if reason else []
        assert [*screened.decisions] == said
    assert asked == [(ANA, one), (Principal(""), one)]


def test_an_authorizer_that_is_down_withholds_everything(ask):
    """A fault of the whole authorizer is a no to all."""
    steps = access.check([passage(tenant="a")], ANA, SECTION, authorize=True)

    screened = ask(steps)

    assert screened.passages == ()
    assert screened.decisions == (Decision("p", "dropped", "access", DOWN),)


def test_the_authorizer_is_not_asked_about_what_the_tags_forbid(ask):
    """The host's authorizer never hears of another tenant's passages."""
    asked = []
    steps = access.check([passage(tenant="b")], ANA, SECTION, authorize=True)

    ask(steps, authorize=lambda _effect, item: asked.append(item) or True)

    assert asked == []


def holds(condition, metadata):
    """Evaluate a condition the way stores do."""
    match condition:
        case Eq(key, value):
            return metadata.get(key) == value
        case In(key, values):
            return isinstance(metadata.get(key), str) and metadata[key] in values
        case Contains(key, value):
            return isinstance(metadata.get(key), list) and value in metadata[key]
        case Lte(key, value):
            return isinstance(metadata.get(key), int) and metadata[key] <= value
        case And(parts):
            return all(holds(part, metadata) for part in parts)
        case Or(parts):
            return any(holds(part, metadata) for part in parts)


names = st.sampled_from(["a", "b", "c"])
tags = st.fixed_dictionaries(
    {},
    optional={
        "tenant": names | st.lists(names, max_size=2),
        "roles": names | st.lists(names, max_size=2),
        "level": st.integers(-1, 3),
    },
)
principals = st.builds(
    Principal,
    id=st.just("u"),
    tenant=names | st.none(),
    roles=st.frozensets(names),
    level=st.integers(0, 3),
)
sections = st.builds(
    AccessSection,
    required=st.sampled_from([(), ("roles",), ("tenant", "level"), ("level",)]),
    listed=st.just(("tenant", "roles")),
    without_principal=st.sampled_from(["deny", "public"]),
)


@given(tags, principals, sections)
def test_the_filter_never_hides_what_the_check_would_admit(metadata, who, section):
    """The condition pushed into the store is no narrower than the check."""
    condition = access.filters(who, section)

    if admits(who, section, **metadata):
        assert condition is None or holds(condition, metadata)


ALL = AccessSection(required=("tenant", "roles", "level"), listed=("tenant", "roles"))
A_LISTED = Or((Eq("tenant", "a"), Contains("tenant", "a")))
HR, IT = Contains("roles", "hr"), Contains("roles", "it")


@pytest.mark.parametrize(
    ("principal", "section", "condition"),
    [
        (ANA, SECTION, Eq("tenant", "a")),
        (Principal("u"), SECTION, None),
        (None, SECTION, None),
        (ANA, AccessSection(without_principal="public"), None),
        (ANA, AccessSection(tenant_key=None), None),
        (ANA, AccessSection(listed=("tenant",)), A_LISTED),
        (
            ANA,
            ALL,
            And(
                (
                    A_LISTED,
                    Or((In("roles", ("hr", "it")), HR, IT)),
                    Lte("level", 2),
                )
            ),
        ),
        (
            Principal("u", roles=frozenset({"hr"})),
            AccessSection(required=("roles",), listed=()),
            Eq("roles", "hr"),
        ),
    ],
)
def test_the_store_is_asked_for_all_that_it_can_filter_by(
    principal, section, condition
):
    """The tenant of the principal, and the tags that the policy requires."""
    assert access.filters(principal, section) == condition


@given(tags, principals)
def test_no_tag_of_another_tenant_is_ever_admitted(metadata, who):
    """Whatever the other tags say, the tenant decides."""
    if admits(who, SECTION, **metadata):
        tenant = metadata.get("tenant")
        assert tenant == who.tenant or who.tenant in (tenant or ())


def test_conditions_take_plain_keys_and_typed_values_only():
    """A filter cannot be injected into, from the moment it exists."""
    for make in (
        lambda: Eq("tenant') OR 1=1 --", "a"),
        lambda: Eq("$where", "a"),
        lambda: Eq("tenant", {"$ne": ""}),
        lambda: In("tenant", ()),
        lambda: In("tenant", (["a"],)),
        lambda: Lte("level", float("inf")),
        lambda: Lte("level", value=True),
        lambda: And(()),
        lambda: AccessSection(tenant_key="a b"),
    ):
        with pytest.raises((UsageError, ValueError)):
            make()


EQ, IN, LTE = Eq("t", "a"), In("t", ("a", "b")), Lte("level", 2)
TAG = Contains("tags", "x")
OF_EQ, OF_TAG = {"t": {"$eq": "a"}}, {"tags": {"$contains": "x"}}


@pytest.mark.parametrize(
    ("condition", "where", "without_lists"),
    [
        (EQ, OF_EQ, EQ),
        (IN, {"t": {"$in": ["a", "b"]}}, IN),
        (LTE, {"level": {"$lte": 2}}, LTE),
        (TAG, OF_TAG, None),
        (And((EQ,)), OF_EQ, And((EQ,))),
        (And((TAG,)), OF_TAG, None),
        (And((EQ, TAG)), {"$and": [OF_EQ, OF_TAG]}, And((EQ,))),
        (Or((EQ, TAG)), {"$or": [OF_EQ, OF_TAG]}, None),
        (Or((EQ, LTE)), {"$or": [OF_EQ, {"level": {"$lte": 2}}]}, Or((EQ, LTE))),
    ],
)
def test_a_condition_in_the_words_of_a_store(condition, where, without_lists):
    """In full for Chroma; for a store without lists what admits no less."""
    assert as_chroma(condition) == where
    assert drop_lists(condition) == without_lists


def test_a_condition_is_anded_with_the_hosts_own():
    """The host's filter stays, and ours is added to it."""
    ours = as_chroma(And((Or((Eq("t", "a"), Contains("t", "a"))), Lte("level", 2))))
    either = {"$or": [{"t": {"$eq": "a"}}, {"t": {"$contains": "a"}}]}

    assert ours == {"$and": [either, {"level": {"$lte": 2}}]}
    assert both(ours, {"lang": "en"}) == {"$and": [{"lang": "en"}, ours]}
    assert both(ours, None) == ours


def store(size, every):
    """Make a store in which one in `every` passages is tenant a's."""
    return [
        Passage(str(n), f"text {n}", {"tenant": "b" if n % every else "a"})
        for n in range(size)
    ]


@pytest.mark.parametrize(
    ("every", "wanted", "budget", "found", "spent"),
    [
        (1, 3, 100, 3, False),
        (4, 5, 100, 5, False),
        (10, 5, 30, 3, True),
        (50, 2, 200, 2, False),
        (99, 2, 50, 1, True),
        (50, 3, 200, 2, False),
    ],
)
def test_the_store_is_asked_until_enough_is_allowed(
    ask, every, wanted, budget, found, spent
):
    """Over-fetching ends with enough, with the store, or with the budget, told why."""
    limits = []
    held = store(100, every)

    def search(effect, query):
        assert (query, effect.filters) == ("q", EQ)
        limits.append(effect.limit)
        return held[: effect.limit]

    steps = fetch(
        "q",
        wanted=wanted,
        budget=budget,
        screen=lambda fresh: access.check(fresh, ANA, SECTION),
        filters=EQ,
    )
    screened = ask(steps, search=search)

    assert len(screened.passages) == found
    assert screened.wanted == wanted
    assert max(limits) <= budget
    assert len([limit for limit in limits if limit > len(held)]) <= 1
    ended = [one for one in screened.decisions if one.subject == "query"]
    told = Decision("query", "withheld", "access", "budget-spent")
    assert ended == ([told] if spent else [])
    assert len({decision.subject for decision in screened.decisions}) == len(
        screened.decisions
    )


def test_a_passage_is_checked_once_however_often_it_is_found(ask):
    """The host's authorizer is not asked again, also by a store that varies."""
    asked, found = [], iter([0, 5, 0, 0, 0])
    held = store(40, 4)

    def check(fresh):
        asked.extend(item.id for item in fresh)
        return (yield from access.check(fresh, ANA, SECTION))

    steps = fetch("q", wanted=None, budget=100, screen=check)
    screened = ask(
        steps, search=lambda effect, _query: held[next(found) :][: effect.limit or 5]
    )

    assert len(screened.passages) == 5
    assert len(asked) == len(set(asked))
