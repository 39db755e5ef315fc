"""The example's service in both frameworks, over a store and a model's server."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from ..support.openai_server import openai_server

EXAMPLE = Path(__file__).parents[2] / "examples" / "service"


@pytest.fixture(scope="module", params=["langchain", "llamaindex"])
def opened(request):
    return importlib.import_module(f"rag_service.on_{request.param}").opened


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text((EXAMPLE / "policy.yaml").read_text(encoding="utf-8"))
    return path


def told(client, path, headers):
    """All that an answer holds."""
    asked = {"question": "What did the witness see?"}
    answer = client.post(path, json=asked, headers=headers)
    assert answer.status_code == 200
    return answer.text


def test_each_caller_sees_what_they_may(opened, policy, serve, bearer):
    """Tenants are apart, and roles count."""
    with (
        openai_server() as model,
        serve(opened, policy=str(policy), model_url=model.url) as client,
    ):
        for path in ("/passages", "/answer"):
            clerk = told(client, path, bearer())
            judge = told(client, path, bearer("judge-1", roles={"judge"}))
            pilot = told(client, path, bearer("pilot-2", "airport"))

            assert "crates" in clerk
            assert "crates" in judge
            assert "hangar" in pilot
            assert "Karlsson" in judge
            assert not [word for word in ("Karlsson", "hangar") if word in clerk]
            assert not [word for word in ("Lindqvist", "crates") if word in pilot]
            assert "555-01" not in clerk + judge + pilot


def test_a_model_that_cannot_be_reached_is_a_code(opened, policy, serve, bearer):
    """The error says nothing of what the model was to be sent."""
    unreachable = "http://127.0.0.1:9/v1"
    with serve(opened, policy=str(policy), model_url=unreachable) as client:
        asked = {"question": "What did the witness see?"}
        answer = client.post("/answer", json=asked, headers=bearer())

    assert (answer.status_code, answer.json()) == (502, {"error": "model-failed"})
