"""What a reader whom a sentence exempts is told, and whoever writes the exemption."""

from __future__ import annotations

import logging

import pytest

from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.policy import Policy
from sdrag.studio.authoring.understood_as import settings_of
from sdrag.vocabulary import Passage, Principal

NAMES = "Remove names of people"
# The sentences, the first with its exemption, and the ids that still hide from it.
STILL = [
    ({"roles": ["clerk"]}, [NAMES, "Hide names of witnesses"], "c2 hides"),
    ({"roles": ["clerk"]}, [NAMES, "Hide dates", "Hide names of patients"], "c3 hides"),
    (
        {"roles": ["a", "b"]},
        ["Hide dates", "Hide dates of birth and dates"],
        "c2 hides",
    ),
    ({"level": [3]}, ["Hide addresses", "Hide addresses and names"], "c2 hides"),
    ({"tenant": ["x"]}, [NAMES, NAMES, "Hide names of staff"], "c2 and c3 hide"),
    ({"roles": ["clerk"]}, [NAMES, "Hide dates"], ""),
    ({"roles": ["clerk"]}, [NAMES], ""),
    ({"roles": ["clerk"]}, ["Hide dates", NAMES], ""),
]
KEYS = [
    *(("role", "roles"), ("Roles", "roles"), ("rolls", "roles"), ("levels", "level")),
    *(("tenants", "tenant"), ("tennant", "tenant"), ("ids", "id"), ("department", "")),
]
ROLES = [
    *(("manger", "manager"), ("Manager", "manager"), ("managers", "manager")),
    *(("MANAGER", "manager"), ("menager", "manager"), ("phisician", "physician")),
    *(("Physician", "physician"), ("manager", ""), ("nurse", ""), ("man", "")),
]


@pytest.mark.parametrize(("attributes", "texts", "told"), STILL)
def test_check_says_who_is_exempt_and_is_still_shown_a_placeholder(
    attributes, texts, told
):
    """By role, and by the ids of the sentences that hide the same."""
    first = {"text": texts[0], "unless": attributes}
    lines = "\n".join(settings_of(Policy.read([first, *texts[1:]])))
    ((key, values),) = attributes.items()

    assert told in lines
    assert ("is exempt from c1" in lines) == bool(told)
    assert not told or f"{key}: {' or '.join(map(str, values))} is exempt" in lines
    lifted = [{"text": text, "unless": attributes} for text in texts]
    assert "is exempt" not in "\n".join(settings_of(Policy.read(lifted)))


def test_a_key_or_a_role_that_is_nearly_right_is_told(caplog):
    """The key when it is checked, the role once when a principal comes with it."""
    for key, near in KEYS:
        policy = Policy.read([{"text": NAMES, "unless": {key: ["clerk"]}}])
        told = [line for line in settings_of(policy) if "did you mean" in line]
        assert [f"`{near}`?" in line for line in told] == [True] * bool(near), key
    exempt = {"roles": ["manager", "physician"]}
    engine = Engine([{"text": NAMES, "unless": exempt}])
    for role, near in ROLES:
        caplog.clear()
        with caplog.at_level(logging.WARNING, "sdrag"):
            for _ in range(2):
                who = Principal("u", roles=frozenset({role}))
                request = Request("q", who)
                engine.run(disclose([Passage("a", "It rains.")], request, engine))
        engine.warnings._known.clear()
        told = [m for m in caplog.messages if "a role that no constraint names" in m]
        assert [f"nearly '{near}'" in m for m in told] == [True] * bool(near), role


# The policy that a state was bound under, the one asked under, and what was not bound.
BOUND = [
    ([NAMES, "Hide dates"], [NAMES, "Hide dates"], ""),
    ([NAMES, "Hide dates"], [NAMES], ""),
    ([NAMES], [NAMES, "Hide dates"], "c2"),
    ([NAMES], ["Hide names of staff"], "c1"),
    ([NAMES, "Hide dates"], ["Hide dates", NAMES], "c1, c2"),
    ([NAMES], [{"text": NAMES, "examples": [{"text": "x", "hides": "x"}]}], ""),
    ([NAMES], [NAMES, {"text": "Hide dates", "always": True}], ""),
    ([], [NAMES], ""),
]


@pytest.mark.parametrize(("bound", "asked", "told"), BOUND)
def test_a_state_that_was_bound_under_another_policy_is_warned_of(
    bound, asked, told, tmp_path, caplog
):
    """Once when it is opened, by ids and a hash, in no word of a sentence."""
    state = tmp_path / "state.sqlite"
    binder = Engine(bound, state=state, stage="bind")
    if bound:
        binder.run(bind([Passage("a", "It rains.", document_id="d")], binder))

    with caplog.at_level(logging.WARNING, "sdrag"):
        Engine(asked, state=state)

    lines = [m for m in caplog.messages if "bound under another policy" in m]
    assert [f" {told}." in line for line in lines] == [True] * bool(told)
    assert not any("names" in line for line in lines)
