"""What the example's service promises, whatever answers."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from threading import Event
from time import time

import jwt
import pytest
from rag_service.identity import AUDIENCE
from rag_service.service import Found
from rag_service.settings import Settings

from sdrag import current_principal
from sdrag.errors import HostError, WithheldError

from ..support.waiting import eventually

SECRET = "Anna Karlsson, 555-0142"
KEY = "a key of the tests, and of nothing else"


class Scripted:
    """Does what the question says, and counts what was cut off."""

    def __init__(self):
        self.cut_off = 0
        self.begun = Event()

    async def retrieve(self, question):
        if question == "retriever fails":
            raise HostError("The retriever failed.")
        if question == "withheld":
            raise WithheldError("Withheld.")
        if question == "fault":
            raise RuntimeError(SECRET)
        if question == "waits":
            await self._forever()
        return [Found("log-1", f"for {current_principal().tenant}")]

    async def answer(self, question, passages):
        if question == "model fails":
            raise RuntimeError(SECRET)
        for passage in passages:
            yield passage.text
        if question == "model breaks off":
            raise RuntimeError(SECRET)
        if question == "endless":
            await self._forever()

    async def _forever(self):
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cut_off += 1


@pytest.fixture
def scripted():
    return Scripted()


@pytest.fixture
def client(serve, scripted):
    with serve(lambda _: scripted) as client:
        yield client


@pytest.fixture
def narrow(serve, scripted):
    with serve(lambda _: scripted, slots=1) as client:
        yield client


def ask(client, question, headers, path="/answer"):
    return client.post(path, json={"question": question}, headers=headers)


def lines(response):
    return [json.loads(line) for line in response.text.splitlines()]


def test_an_answer_is_streamed_and_says_when_it_is_done(client, bearer):
    """Each line is an object; the last one names the sources."""
    answer = ask(client, "Who?", bearer())

    assert answer.status_code == 200
    assert lines(answer) == [
        {"text": "for harbour"},
        {"done": True, "sources": ["log-1"]},
    ]


def test_passages_are_read_for_the_caller(client, bearer):
    """The principal is the signed one."""
    found = ask(client, "Who?", bearer(tenant="airport"), "/passages").json()

    assert found == [{"source": "log-1", "text": "for airport"}]


def _signed(key=KEY, algorithm="HS256", **changed):
    claims = {
        "sub": "clerk-7",
        "tenant": "harbour",
        "roles": [],
        "aud": AUDIENCE,
        "exp": time() + 60,
    }
    said = {name: value for name, value in (claims | changed).items() if value != ""}
    token = jwt.encode(said, key, algorithm=algorithm)
    return {"authorization": f"Bearer {token}"}


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({}, id="missing"),
        pytest.param({"authorization": "Bearer"}, id="empty"),
        pytest.param({"authorization": "Basic YTpi"}, id="another scheme"),
        pytest.param({"authorization": "Bearer a.b.c"}, id="no token"),
        pytest.param(_signed(key="another key of thirty-two bytes!"), id="wrong key"),
        pytest.param(_signed(key="", algorithm="none"), id="unsigned"),
        pytest.param(_signed(exp=time() - 1), id="expired"),
        pytest.param(_signed(exp=""), id="never expires"),
        pytest.param(_signed(aud="another"), id="for another service"),
        pytest.param(_signed(tenant=""), id="no tenant"),
        pytest.param(_signed(tenant=["harbour"]), id="tenant of another type"),
        pytest.param(_signed(roles="judge"), id="roles of another type"),
        pytest.param(_signed(roles=[{}]), id="a role of another type"),
    ],
)
@pytest.mark.parametrize("path", ["/answer", "/passages"])
def test_who_is_not_known_is_shown_nothing(client, headers, path):
    """A token has to be signed by us, for us, and in time."""
    answer = ask(client, "Who?", headers, path)

    assert answer.status_code == 401
    assert answer.json() == {"error": "unknown-caller"}


def test_a_role_cannot_be_taken_from_the_body(client, bearer):
    """What the body says of the caller is not read."""
    body = {"question": "Who?", "tenant": "airport", "roles": ["judge"]}
    found = client.post("/passages", json=body, headers=bearer()).json()

    assert found == [{"source": "log-1", "text": "for harbour"}]


@pytest.mark.parametrize(
    ("question", "status", "error"),
    [
        ("", 422, "not-a-question"),
        (SECRET * 100, 422, "not-a-question"),
        ("retriever fails", 502, "retrieval-failed"),
        ("model fails", 502, "model-failed"),
        ("withheld", 500, "withheld"),
        ("fault", 500, "failed"),
    ],
)
def test_a_failure_is_a_code(client, bearer, caplog, question, status, error):
    """Neither the answer nor a log quotes what an error says."""
    caplog.set_level(logging.DEBUG)

    answer = ask(client, question, bearer())

    assert (answer.status_code, answer.json()) == (status, {"error": error})
    assert "Karlsson" not in caplog.text
    assert "Karlsson" not in client.get("/metrics").text


def test_an_answer_that_breaks_off_is_not_done(client, bearer, caplog):
    """The status is sent by then, so the last line says it."""
    answer = ask(client, "model breaks off", bearer())

    assert lines(answer) == [{"text": "for harbour"}, {"error": "model-failed"}]
    assert "Karlsson" not in caplog.text


def test_a_full_service_says_so_and_has_room_once_a_client_has_gone(
    narrow, bearer, scripted
):
    """A slot is held to the end of a stream, and by nobody who has left."""
    asked = {"json": {"question": "endless"}, "headers": bearer()}
    with narrow.stream("POST", "/answer", **asked) as held:
        assert held.status_code == 200
        refused = ask(narrow, "Who?", bearer())
        ready = narrow.get("/health/ready")
        alive = narrow.get("/health/live")

    assert (refused.status_code, refused.json()) == (503, {"error": "full"})
    assert refused.headers["retry-after"] == "1"
    assert (ready.status_code, alive.status_code) == (503, 200)
    assert eventually(lambda: narrow.get("/health/ready").status_code == 200)
    assert scripted.cut_off == 1
    assert ask(narrow, "Who?", bearer()).status_code == 200


def test_a_slot_is_free_once_the_last_byte_is_read(narrow, bearer):
    """Whoever asks again at once is not refused for the answer just read."""
    for path in ["/answer", "/passages"] * 100:
        assert ask(narrow, "Who?", bearer(), path).status_code == 200


@pytest.mark.parametrize("path", ["/answer", "/passages"])
def test_work_ends_when_its_client_leaves_before_the_answer(
    narrow, bearer, scripted, path
):
    """A retrieval that nobody waits for is cancelled."""
    asked = {"headers": bearer(), "json": {"question": "waits"}}
    sent = narrow.build_request("POST", path, **asked)
    head = "".join(f"{name}: {value}\r\n" for name, value in sent.headers.items())
    with socket.create_connection((sent.url.host, sent.url.port)) as leaving:
        leaving.sendall(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + sent.read())
        assert scripted.begun.wait(60)

    assert eventually(lambda: scripted.cut_off == 1)
    assert eventually(lambda: narrow.get("/health/ready").status_code == 200)


def test_a_request_has_an_end(serve, bearer, scripted):
    """What takes longer than its time is cancelled, and gives its slot back."""
    with serve(lambda _: scripted, slots=1, seconds=0.2) as client:
        answer = ask(client, "waits", bearer())

        assert (answer.status_code, answer.json()) == (504, {"error": "too-slow"})
        assert eventually(lambda: client.get("/health/ready").status_code == 200)
        assert ask(client, "Who?", bearer()).status_code != 503
    assert scripted.cut_off == 1


def test_metrics_are_counts(client, bearer):
    """They know the paths and outcomes, and no user, tenant or question."""
    for question in ("Who is Karlsson?", "fault"):
        ask(client, question, bearer("clerk-7", "harbour"))

    for outcome in ("200", "500"):
        counted = f'rag_requests_total{{outcome="{outcome}",path="/answer"}}'
        assert eventually(lambda said=counted: said in client.get("/metrics").text)
    shown = client.get("/metrics").text
    assert not [word for word in ("Karlsson", "clerk", "harbour") if word in shown]


def test_a_short_key_is_refused():
    """A signature is as good as its key; the key is in no repr."""
    with pytest.raises(ValueError, match="32 bytes"):
        Settings(key="short")
    assert KEY not in repr(Settings(key=KEY))
