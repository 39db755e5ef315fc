"""Who is let in, and what leaves with every answer."""

from __future__ import annotations

import json
import logging

import httpx
import pytest
from starlette.routing import Route, Router

from sdrag.studio.workbench.bodies import MAX_JSON_BYTES, MAX_UPLOAD_BYTES
from sdrag.studio.workbench.gate import HEADERS, Gate

from ...support.scripted import canary

TOKEN = "token-of-the-test"
POSTS = "ask documents explain forget link open policy"
PATHS = [
    ("GET", "/api/start"),
    *[("POST", f"/api/{name}") for name in POSTS.split(" ")],
]
OWN_FILES = ["/", "/main.js", "/workbench.css", "/marked.css", "/icon.svg"]


@pytest.mark.parametrize(("method", "path"), PATHS)
@pytest.mark.parametrize(
    "given",
    [
        {"Authorization": ""},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer wrong"},
        {"Authorization": TOKEN},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": "", "Cookie": f"token={TOKEN}"},
    ],
)
async def test_nothing_is_done_without_the_token(client, method, path, given):
    """Every path that holds data is closed to whoever has not read the address."""
    answer = await client.request(method, path, json={}, headers=given)

    assert answer.status_code == 401
    assert "token" in answer.json()["error"]


async def test_two_tokens_are_none(app):
    """A header that is there twice is refused, whichever of them is right."""
    answer = await _sent(
        app, [(b"authorization", f"Bearer {t}".encode()) for t in (TOKEN, TOKEN)]
    )

    assert answer == 401


@pytest.mark.parametrize(
    "host",
    [
        "attacker.example",
        "attacker.example:8765",
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost:8766",
        "127.0.0.1.attacker.example:8765",
        "[::1]:8765",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/start"])
async def test_another_host_is_refused(client, path, host):
    """A name that somebody makes resolve to loopback opens not even the page."""
    answer = await client.get(path, headers={"Host": host})

    assert answer.status_code == 421


async def test_two_hosts_are_refused(app):
    """Servers differ in which of two they take."""
    hosts = [(b"host", b"127.0.0.1:8765"), (b"host", b"attacker.example")]

    assert await _sent(app, hosts, own_host=False) == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765"])
async def test_both_names_of_loopback_are_this_server(client, host):
    headers = {"Host": host, "Origin": f"http://{host}"}

    assert (await client.get("/api/start", headers=headers)).status_code == 200


@pytest.mark.parametrize(
    "given",
    [
        {"Origin": "http://attacker.example"},
        {"Origin": "https://127.0.0.1:8765"},
        {"Origin": "http://127.0.0.1:8000"},
        {"Origin": "http://localhost:8765"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
@pytest.mark.parametrize(("method", "path"), [*PATHS, ("GET", "/main.js")])
async def test_another_page_is_refused(client, method, path, given):
    """Also one of this machine, on another port; even if it had the token."""
    answer = await client.request(method, path, json={}, headers=given)

    assert answer.status_code == 403


@pytest.mark.parametrize("path", ["/", "/api/start", "/api/none"])
@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
async def test_every_answer_has_the_headers(client, method, path):
    """Refusals too; and to no origin is anything allowed."""
    answer = await client.request(method, path)

    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert "set-cookie" not in answer.headers


def test_the_policy_of_the_page_allows_no_inline_script_and_no_other_place():
    """What a document could smuggle into the page is not run, and cannot leave."""
    rules = dict(
        rule.split(" ", 1) for rule in HEADERS["Content-Security-Policy"].split("; ")
    )

    assert rules["default-src"] == "'none'"
    assert {value for name, value in rules.items() if name.endswith("-src")} == {
        "'none'",
        "'self'",
    }
    assert rules["require-trusted-types-for"] == "'script'"


@pytest.mark.parametrize("path", OWN_FILES)
async def test_the_pages_own_files_need_no_token_and_hold_nothing(client, path):
    """They are the same for everybody, name no other place, and have no inline code."""
    answer = await client.get(path, headers={"Authorization": ""})

    assert answer.status_code == 200
    text = answer.text.replace("http://www.w3.org/2000/svg", "")
    assert "//" not in text.replace("// ", "") or path.endswith(".js")
    assert "http:" not in text
    assert "https:" not in text
    assert "innerHTML" not in text
    assert "style=" not in text
    assert "onclick" not in text
    assert text.count("<script") == text.count('<script type="module" src="/')


@pytest.mark.parametrize(
    "path",
    [
        "/../app.py",
        "/static/index.html",
        "/..%2fapp.py",
        "/%2e%2e/app.py",
        "/index.html",
        "//etc/passwd",
    ],
)
async def test_no_other_file_is_served(client, path):
    """The files are a closed table: a path is looked up and never opened."""
    answer = await client.get(path)

    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("path", "most"),
    [("/api/documents", MAX_UPLOAD_BYTES), ("/api/policy", MAX_JSON_BYTES)],
)
@pytest.mark.parametrize("said", ["50000000", "{over}", "-1", "many"])
async def test_what_is_too_large_is_refused_before_it_is_read(app, path, most, said):
    """50 MB cost nothing: the body is not asked for."""
    length = said.format(over=most + 1).encode()
    headers = [
        (b"authorization", f"Bearer {TOKEN}".encode()),
        (b"content-length", length),
        (b"content-type", b"application/json"),
        (b"x-file-name", b"a.txt"),
    ]

    assert await _sent(app, headers, path=path, method="POST") == 413


async def test_what_does_not_say_its_size_is_refused_when_it_is_too_large(client):
    """A body that comes in pieces is read to the limit and no further."""
    taken = 0

    async def pieces():
        nonlocal taken
        while taken < 50:
            taken += 1
            yield b"x" * 1_000_000

    answer = await client.post(
        "/api/documents", content=pieces(), headers={"X-File-Name": "a.txt"}
    )

    assert answer.status_code == 413
    assert taken <= 1 + MAX_UPLOAD_BYTES // 1_000_000


@pytest.mark.parametrize(
    ("body", "kind", "status", "said"),
    [
        (b'{"policy": "a"}', "text/plain", 415, "Send JSON"),
        (b'{"policy": "a"}', "application/x-www-form-urlencoded", 415, "Send JSON"),
        (b'{"policy": "\xff"}', "application/json", 400, "not UTF-8"),
        (b'{"policy": "\\ud800"}', "application/json", 400, "not UTF-8"),
        (b'{"policy": ', "application/json", 400, "no JSON"),
        (b"[" * 100_000, "application/json", 400, "no JSON"),
        (b"[]", "application/json", 422, "not as it must be"),
        (b'{"policy": 5}', "application/json", 422, "not as it must be"),
        (b'{"policy": "a", "more": 1}', "application/json", 422, "not as it must be"),
    ],
)
async def test_what_is_no_request_is_refused(client, body, kind, status, said):
    """With one sentence; a form of another page could send plain text."""
    answer = await client.post(
        "/api/policy", content=body, headers={"Content-Type": kind}
    )

    assert answer.status_code == status
    assert said in answer.json()["error"]


async def test_a_fault_of_ours_is_told_without_its_words(capfd, caplog):
    """The message of an error may hold a document; only its name is told."""
    secret = canary("document")

    async def fail(request):
        raise ValueError(secret)

    gate = Gate(Router([Route("/api/x", fail)]), token=TOKEN, port=8765, public=())
    with caplog.at_level(logging.DEBUG):
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(gate), base_url="http://127.0.0.1:8765"
        ) as client:
            answer = await client.get(
                "/api/x", headers={"Authorization": f"Bearer {TOKEN}"}
            )

    assert answer.status_code == 500
    assert "ValueError" in answer.json()["error"]
    printed = capfd.readouterr()
    for where in (answer.text, printed.out, printed.err, caplog.text):
        assert secret not in where


async def _sent(app, headers, path="/api/start", method="GET", *, own_host=True):
    """Send headers alone; return the status. Asking for the body is an error."""
    sent = []

    async def receive():
        raise AssertionError("The body was read.")

    async def send(message):
        sent.append(message)

    host = [(b"host", b"127.0.0.1:8765")] if own_host else []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [*host, *headers],
    }
    await app(scope, receive, send)
    assert json.loads(sent[1]["body"])["error"]
    return sent[0]["status"]
