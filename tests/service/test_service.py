"""The example service: who is known sees what they may, and errors are codes."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from textwrap import indent
from threading import Event, Thread
from time import sleep, time

import httpx
import jwt
import pytest
import uvicorn
from fastapi.testclient import TestClient
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

from sdrag import open_state
from sdrag.state.rotation import rotate

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "service" / "service.py"
KEY = "a key of the tests, and of nothing else"
ASK = {"question": "What was seen?", "tenant": "airport", "roles": ["judge"]}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    spec = importlib.util.spec_from_file_location("service", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SERVICE_STORE", str(tmp_path_factory.mktemp("chroma")))
        yield module


@pytest.fixture
def ask(service, monkeypatch):
    """Ask a service whose model repeats its prompt, unless another model is given."""
    monkeypatch.setenv("SERVICE_KEY", KEY)

    def answer(path, token, model=None, request_id=""):
        repeat = RunnableLambda(lambda prompt: AIMessage(prompt.to_string()))
        client = TestClient(service.create_app(model or repeat))
        headers = {"authorization": f"Bearer {token}", "x-request-id": request_id}
        return client.post(path, json=ASK, headers=headers)

    return answer


def test_each_caller_sees_what_they_may(service, ask):
    """Tenants are apart and roles count, whatever the body of a request says."""
    for path in ("/passages", "/answer"):
        clerk = ask(path, service.sign("clerk-7", "harbour", "clerk")).text
        judge = ask(path, service.sign("judge-1", "harbour", "judge")).text
        pilot = ask(path, service.sign("pilot-2", "airport")).text

        assert "two men" in clerk
        assert "Karlsson" in judge
        assert "hangar" in pilot
        assert not [word for word in ("Karlsson", "hangar", "0142") if word in clerk]
        assert not [word for word in ("Lindqvist", "two men") if word in pilot]
        assert "0142" not in judge


def test_a_request_has_one_id(service, ask, caplog):
    """The client's, if it is one, else a new one: in the answer and in every event."""
    caplog.set_level(logging.INFO, "sdrag.audit")
    token, ids = service.sign("clerk-7", "harbour"), []
    for given in ("r-1", "Anna Karlsson", ""):
        caplog.clear()
        answer = ask("/answer", token, request_id=given)
        ids.append(answer.headers["x-request-id"])
        events = [record.audit for record in caplog.records if hasattr(record, "audit")]
        (event,) = [event for event in events if event.stage == "retrieve"]
        assert event.request_id == ids[-1]
        assert event.principal not in {"", "clerk-7"}

    assert ids[0] == "r-1"
    assert len({*ids}) == 3
    assert not re.search("Karlsson", " ".join(ids))


def signed(key=KEY, **claims):
    whole = {"sub": "clerk-7", "tenant": "harbour", "exp": time() + 60} | claims
    given = {name: value for name, value in whole.items() if value is not None}
    return jwt.encode(given, key, algorithm="HS256")


@pytest.mark.parametrize(
    "token",
    [
        "",
        "nonsense",
        signed("another key of thirty-two bytes, at least"),
        signed(exp=time() - 60),
        signed(exp=None),
        signed(tenant=None),
        signed(roles=[{}]),
        jwt.encode({"sub": "clerk-7", "tenant": "harbour"}, None, algorithm="none"),
    ],
)
def test_who_is_not_known_is_shown_nothing(ask, token):
    """A token has to be signed with the key, complete and in time."""
    answer = ask("/passages", token)

    assert (answer.status_code, answer.json()) == (401, {"error": "unknown-caller"})


def test_a_failure_is_a_code(service, ask, monkeypatch, caplog):
    """Neither an answer nor a log quotes what an error says."""
    caplog.set_level(logging.DEBUG)
    token = service.sign("clerk-7", "harbour")

    def fail(*_args, **_kwargs):
        raise RuntimeError("Anna Karlsson")

    broken_off = ask("/answer", token, RunnableLambda(fail))
    monkeypatch.setattr(service.SelectiveDisclosureRetriever, "ainvoke", fail)
    failed = ask("/passages", token)

    assert json.loads(broken_off.text) == {"error": "model-failed"}
    assert (failed.status_code, failed.json()) == (500, {"error": "failed"})
    assert "Karlsson" not in caplog.text


@pytest.fixture
def serve(service, monkeypatch, tmp_path):
    """Serve on loopback, with one slot, a policy file and a state of its own."""
    monkeypatch.setenv("SERVICE_KEY", KEY)
    monkeypatch.setenv("SERVICE_STATE", str(tmp_path / "state.sqlite"))
    monkeypatch.setenv("SERVICE_POLICY", str(tmp_path / "policy.yaml"))
    monkeypatch.setattr(service, "SLOTS", 1)
    (tmp_path / "policy.yaml").write_text(json.dumps(service.POLICY), "utf-8")
    servers = []

    def start(model):
        config = uvicorn.Config(service.create_app(model), port=0, log_config=None)
        server = uvicorn.Server(config)
        servers.append((server, Thread(target=server.run)))
        servers[-1][1].start()
        while not server.started and servers[-1][1].is_alive():
            sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        token = service.sign("clerk-7", "harbour", "clerk", "operator")
        headers = {"authorization": f"Bearer {token}"}
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers)
        while client.get("/ready").status_code != 200:  # the networks are being loaded
            sleep(0.1)
        return client

    yield start
    for server, thread in servers:
        server.should_exit = True
        thread.join()


def test_a_full_service_says_so_at_once(serve):
    """Another request is answered while the first one streams, and served after it."""
    asked, gate = Event(), Event()

    async def wait(_prompt):
        asked.set()
        await asyncio.to_thread(gate.wait, 30)
        return AIMessage("Two men.")

    client = serve(RunnableLambda(lambda _: AIMessage(""), wait))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(client.post, "/answer", json=ASK, timeout=30)
        assert asked.wait(30)
        full = client.post("/passages", json=ASK)
        gate.set()
        assert first.result().text.endswith('{"done": true}\n')

    assert (full.status_code, full.json()) == (503, {"error": "full"})
    assert full.headers["retry-after"] == "1"
    assert client.post("/passages", json=ASK).status_code == 200


def test_what_fails_is_a_code_and_a_reload_is_refused_or_told(serve, tmp_path):
    """A model that fails, a policy that is empty, and a state that is gone."""

    def fail(_prompt):
        raise RuntimeError("Anna Karlsson")

    client = serve(RunnableLambda(fail))
    broken = client.post("/answer", json=ASK)
    assert (broken.status_code, broken.json()) == (502, {"error": "model-failed"})

    before = client.get("/health").json()
    assert before["live"]
    assert before["state"] == before["policy"] == "ok"
    (tmp_path / "policy.yaml").write_text("constraints: []", "utf-8")
    refused = client.post("/reload")
    assert (refused.status_code, refused.json()) == (422, {"error": "policy-refused"})
    assert client.get("/health").json() == before | {"policy": "refused"}
    (tmp_path / "policy.yaml").write_text("- Hide dates\n- Hide names\n", "utf-8")
    assert client.get("/health").json() == before | {"policy": "changed"}
    in_force = client.post("/reload").json()
    assert in_force.items() <= client.get("/ready").json().items()
    assert in_force["policy_hash"] != before["policy_hash"]
    with closing(sqlite3.connect(tmp_path / "state.sqlite")) as database:
        database.execute("drop table finding")
    gone = client.post("/passages", json=ASK)
    assert (gone.status_code, gone.json()) == (502, {"error": "failed-host"})


def test_who_must_be_restarted_says_so(serve, tmp_path):
    """Its state is rotated, or lost: neither takes questions, one is ended."""
    client = serve(RunnableLambda(lambda _: AIMessage("")))
    path = tmp_path / "state.sqlite"
    rotate(open_state(path))
    for route in ("/health", "/ready"):
        answer = client.get(route)
        assert answer.status_code == 503
        assert answer.json()["state"] == "failed-keyrotated"
        assert str(tmp_path) not in answer.text

    with closing(sqlite3.connect(path)) as database, database:
        database.execute("delete from meta")
    lost = client.get("/ready"), client.get("/health")
    assert [one.status_code for one in lost] == [503, 200]
    assert lost[0].json()["state"] == "failed-usage"


def test_an_answer_is_streamed_to_its_end(service, ask):
    """The last line says that the answer is whole."""
    model = GenericFakeChatModel(messages=iter([AIMessage("There were two men.")]))
    lines = ask("/answer", service.sign("clerk-7", "harbour"), model).text.splitlines()

    *words, end = map(json.loads, lines)
    assert "".join(word["text"] for word in words) == "There were two men."
    assert end == {"done": True}


def test_the_guide_shows_the_example():
    """Each block is a part of the file, as it is written there."""
    guide = (ROOT / "docs" / "guides" / "web-service.md").read_text(encoding="utf-8")
    code = SCRIPT.read_text(encoding="utf-8")
    mark = "<!-- not run: from examples/service/service.py -->\n"
    blocks = re.findall(rf"{mark}```python\n(.*?)```", guide, re.DOTALL)

    assert blocks
    for block in blocks:
        nested = indent(block, "    ", lambda line: bool(line.strip()))
        assert block in code or nested in code
