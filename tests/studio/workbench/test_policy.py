"""A policy as it is typed: problems and what is understood."""

from __future__ import annotations

import pytest

from sdrag.studio.workbench import policy as policy_module
from sdrag.studio.workbench.policy import describe_text

POLICY = """\
constraints:
  - id: names
    text: Remove names of witnesses
    unless: {roles: [clerk]}
  - Nur das Urteil darf genannt werden
"""


async def test_each_constraint_says_what_it_is_understood_as(ask):
    """With its line, what limits it, and a warning where it needs a model."""
    found = await ask("policy", policy=POLICY)

    names, german = found["constraints"]
    assert found["problems"] == []
    assert (names["id"], names["line"], names["status"]) == ("names", 2, "understood")
    assert names["effects"] == ["hides people's names, wherever they are"]
    assert names["limits"] == ["not for whoever has roles: clerk"]
    assert (german["line"], german["status"]) == (5, "needs_model")
    assert german["warnings"][0].startswith("REFUSED")
    assert found["roles"] == ["clerk"]
    assert found["sensitivity"] == "balanced"
    assert found["settings"][0] == "guards: none"


@pytest.mark.parametrize(
    ("policy", "problems"),
    [
        ("", [(1, "")]),
        ("constraints: [", [(None, "")]),
        ("- 5", [(1, "constraints.0")]),
        (
            "disclosure:\n  bind_top_n: 0\nconstraints:\n  - {id: a}\n",
            [(2, "disclosure.bind_top_n"), (4, "constraints.0.text")],
        ),
        ("disclosur: {}\n", [(1, "disclosur")]),
        ("a: &a [*a]\n", None),
        ("\0", None),
    ],
)
async def test_a_wrong_policy_is_shown_and_not_refused(ask, policy, problems):
    """All that is wrong is listed with line and key."""
    found = await ask("policy", policy=policy)

    told = [(one["line"], one["key"]) for one in found["problems"]]
    if problems is None:
        assert told
    else:
        wanted = [line for line, _ in problems if line]
        assert [line for line, _ in told if line and line in wanted] == wanted
        assert [key for _, key in told] == [key for _, key in problems]
    assert found["constraints"] == []
    assert found["problem_count"] == len(told)


def test_what_is_told_of_a_large_policy_is_bounded(monkeypatch):
    """A policy of thousands of entries is described in part, and counted."""
    monkeypatch.setattr(policy_module, "MAX_CONSTRAINTS", 3)
    monkeypatch.setattr(policy_module, "MAX_PROBLEMS", 2)

    whole = describe_text("constraints:\n" + "- Remove names\n" * 10)
    wrong = describe_text("constraints:\n" + "- {}\n" * 10)

    assert (len(whole["constraints"]), whole["constraint_count"]) == (3, 10)
    assert (len(wrong["problems"]), wrong["problem_count"]) == (2, 10)


@pytest.mark.parametrize("request_name", ["explain", "ask", "link"])
async def test_nothing_is_done_under_a_wrong_policy(client, request_name):
    """The error names the line and the key."""
    more = {"explain": {"document": 0}, "ask": {"question": "a"}}
    body = {"policy": "disclosur: {}\n", **more.get(request_name, {})}
    await client.post("/api/documents", content=b"x", headers={"X-File-Name": "a.txt"})

    answer = await client.post(f"/api/{request_name}", json=body)

    assert answer.status_code == 422
    assert "line 1, key 'disclosur'" in answer.json()["error"]
