"""Documents in colour: the same spans as everywhere else, for each audience."""

from __future__ import annotations

import pytest

from sdrag.explanation import Explainer
from sdrag.policy import Policy
from sdrag.studio.documents import chunks_of, read_bytes
from sdrag.studio.workbench import looking

POLICY = """\
constraints:
  - id: names
    text: Remove names of witnesses
    unless: {roles: [clerk]}
  - id: dates
    text: Hide exact dates of birth
"""
TEXT = (
    "The witness Jonathan Meyers, born on 12 May 1981, saw <b>a</b> grey van. "
    "Nobody else saw it.\nMeyers noted the plate. \U0001f690 Meyers left."
)


@pytest.fixture
async def opened(drop):
    return (await drop("a.txt", TEXT.encode())).json()["documents"][0]["number"]


async def test_the_pieces_are_the_text_and_the_spans_those_of_an_explanation(
    ask, opened
):
    """Every character is there once, as it is; the page puts it in as text."""
    found = await ask("explain", policy=POLICY, document=opened)

    pieces = [piece for chunk in found["chunks"] for piece in chunk["pieces"]]
    assert "".join(piece["text"] for piece in pieces) == TEXT
    chunks = [
        c for d in read_bytes("a.txt", TEXT.encode()).documents for c in chunks_of(d)
    ]
    (expected,) = Explainer(Policy.parse(POLICY)).explain(chunks)
    shown = [
        (span["text"], span["constraint"]) for span in found["spans"] if span["hidden"]
    ]
    assert shown == [
        (explained.span.of(TEXT), explained.constraint_id)
        for explained in expected.spans
    ]
    covered = "".join(piece["text"] for piece in pieces if piece["spans"])
    assert covered == "Jonathan Meyers12 May 1981MeyersMeyers"


async def test_a_span_says_why(ask, opened):
    """Its constraint in its author's words, and who found it."""
    found = await ask("explain", policy=POLICY, document=opened)

    first = next(s for s in found["spans"] if s["text"] == "Jonathan Meyers")
    assert first["words"] == "Remove names of witnesses"
    assert "a detector found a mention of the type PERSON" in first["causes"]


async def test_each_audience_sees_what_binds_it(ask, opened):
    """Also where another audience has looked before."""
    for roles, expected in (
        ([], True),
        (["clerk"], False),
        (["guest"], True),
        (["guest", "clerk"], False),
    ):
        found = await ask("explain", policy=POLICY, document=opened, roles=roles)

        hidden = {span["constraint"] for span in found["spans"] if span["hidden"]}
        assert ("names" in hidden) == expected, roles
        assert "dates" in hidden


async def test_a_withheld_chunk_is_shown_as_one(ask, opened):
    policy = "constraints:\n- {text: Remove names of witnesses, method: withhold}\n"

    found = await ask("explain", policy=policy, document=opened)

    assert [chunk["withheld"] for chunk in found["chunks"]] == [True]
    assert found["hidden_share"] == 1.0


async def test_a_second_look_costs_no_second_reading(ask, opened, monkeypatch):
    """Also of another audience that the same constraints bind."""
    await ask("explain", policy=POLICY, document=opened)

    class NoExplainer(Explainer):
        def explain(self, passages, principal=None):
            raise AssertionError("It was read again.")

    monkeypatch.setattr(looking, "Explainer", NoExplainer)
    again = await ask("explain", policy=POLICY, document=opened, roles=["guest"])

    assert again["counts"]["names"]["spans"] == 3


async def test_a_document_is_shown_whole_or_not_at_all(client, opened, monkeypatch):
    """A part would show less than what the other parts tell of a name."""
    monkeypatch.setattr(looking, "MAX_SHOWN_CHARACTERS", 20)

    answer = await client.post(
        "/api/explain", json={"policy": POLICY, "document": opened}
    )

    assert answer.status_code == 413
    assert "Meyers" not in answer.text
