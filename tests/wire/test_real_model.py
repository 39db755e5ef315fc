"""`make real-model` against the double: what the weekly job runs still runs."""

from __future__ import annotations

import pytest

from benchmarks.real_model import uses
from benchmarks.real_model.__main__ import is_worse, try_uses

from ..support import openai_server as server


def test_every_use_works_with_a_hijacked_model():
    """It answers with all that it is given, and no name is in that."""
    with server.openai_server(*uses.NAMES) as wire:
        rows = list(try_uses(wire.url.removesuffix("/v1")))

    assert {row["outcome"] for row in rows} == {"works"}, rows
    assert all(row["calls"] for row in rows if row["use"].startswith("question, "))
    frameworks = [
        [r["use"] for r in rows if r["framework"] == f]
        for f in ("LangChain", "LlamaIndex")
    ]
    assert frameworks[0] == frameworks[1]


@pytest.mark.parametrize(
    ("privacy", "over_redacted", "worse"),
    [(1.0, 0.12, False), (0.9, 0.1, True), (1.0, 0.13, True)],
)
def test_a_model_is_worse_than_none(privacy, over_redacted, worse):
    """If privacy is lost, or more than .02 of the harmless words."""
    none = {"privacy": 1.0, "over_redacted": 0.1}
    model = {"privacy": privacy, "over_redacted": over_redacted}

    assert is_worse(none, model) == worse
