"""What a hijacked model would receive, and what links documents."""

from __future__ import annotations

import pytest

from sdrag.studio.workbench import looking

POLICY = """\
constraints:
  - id: names
    text: Remove names of witnesses
    unless: {roles: [clerk]}
"""
DOCUMENTS = {
    "gate.txt": "Jonathan Meyers came in at 06:40 with the van of Petra Olsen.",
    "call.txt": "Petra Olsen called from +44 20 7946 0018 about Jonathan Meyers.",
    "quay.txt": "The quay was closed for two days.",
}


@pytest.fixture
async def opened(drop):
    for name, text in DOCUMENTS.items():
        assert (await drop(name, text.encode())).status_code == 200


async def test_plain_it_receives_all_and_wrapped_what_may_leave(ask, opened):
    found = await ask("ask", policy=POLICY, question="Who came in with the van?")

    plain = " ".join(one["text"] for one in found["plain"])
    wrapped = " ".join(one["text"] for one in found["wrapped"])
    assert all(text in plain for text in DOCUMENTS.values())
    assert "Meyers" not in wrapped
    assert "[person] came in at 06:40" in wrapped
    assert any(one["constraints"] == ["names"] for one in found["decisions"])


async def test_guards_say_what_they_dropped(ask, opened):
    """With what the reason's code means."""
    policy = POLICY + "access: {}\n"

    found = await ask("ask", policy=policy, question="Who came in?")

    assert found["wrapped"] == []
    assert found["decisions"]
    assert all(one["means"] for one in found["decisions"])


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("constraints:\n- Nur das Urteil darf genannt werden\n", "without a model"),
        ("constraints: 5\n", "cannot be read"),
    ],
)
async def test_a_policy_that_a_wrapper_refuses_is_refused(client, opened, policy, said):
    answer = await client.post("/api/ask", json={"policy": policy, "question": "Who?"})

    assert answer.status_code == 422
    assert said in answer.json()["error"]


async def test_a_document_that_is_added_is_asked_too(ask, opened, drop):
    await ask("ask", policy=POLICY, question="Who fed the parrot?")
    await drop("parrot.txt", b"The parrot was fed by the cook.")

    found = await ask("ask", policy=POLICY, question="Who fed the parrot?")

    assert found["plain"][0]["id"].startswith("parrot.txt")


async def test_links_are_found_and_broken(ask, opened):
    """The chains, and what masking takes out of the documents."""
    found = await ask("link", policy=POLICY)

    assert (found["documents"], found["unread"]) == (3, 0)
    assert found["links_before"] > found["links_after"]
    first, second = found["by_document"]
    assert {first["document"], second["document"]} == {"gate.txt", "call.txt"}
    assert (first["linked"], first["left"]) == ([second["document"]], [])
    assert first["before"] > first["after"]
    assert ["Jonathan Meyers"] in [entity["forms"] for entity in first["masked"]]
    strict = await ask("link", policy="linkage: {edge_threshold: 1.0}\n")
    assert (strict["links_before"], strict["by_document"]) == (0, [])


@pytest.mark.parametrize("path", ["ask", "link"])
async def test_too_little_and_too_much_text_are_refused(
    client, drop, monkeypatch, path
):
    monkeypatch.setattr(looking, "MAX_ASKED_CHARACTERS", 10)
    body = {"policy": POLICY, "question": "Who?"}
    assert (await client.post(f"/api/{path}", json=body)).status_code == 422
    for name in ("a.txt", "b.txt"):
        await drop(name, b"Mara Whitlock.")
    assert (await client.post(f"/api/{path}", json=body)).status_code == 413
