"""
A small OpenAI-compatible server on loopback that remembers what it was sent.

It plays two models at once. Asked to redact, it finds the names it knows, in whatever
shape the request asks for: a tool call, JSON, or talk around JSON. Asked anything else,
it answers with all it was given. A fault replaces its answer.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from select import select
from socket import MSG_PEEK
from threading import Event, Lock, Thread
from typing import Any

from benchmarks.suites.scripted.asked import is_control

from .scripted import answer_control

Fault = Callable[["_Handler", dict[str, Any]], None]
REDACTION = "You mark confidential passages"
"""How the prompt of redaction begins."""


@dataclass
class Wire:
    """
    What went over the wire, and what goes wrong on it.

    Args:
        names: What the model finds when asked to redact.
        faults: One for each next request to redact, None for none; the last stays.
        say: Answers what is asked beside redactions, in place of `said`.
        over: Set when the server ends.
        faulty: What is in the prompts that go wrong; by default those of redaction.
        reached: Set when a request has come.
        gone: How many clients went away before they were answered.
        running: How many requests the server works on, and the most at once.
    """

    names: Sequence[str]
    faults: list[Fault | None] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""
    say: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    over: Event = field(default_factory=Event)
    faulty: str = REDACTION
    reached: Event = field(default_factory=Event)
    gone: int = 0
    running: list[int] = field(default_factory=lambda: [0, 0])
    slot: Lock = field(default_factory=Lock)

    def bodies(self) -> list[str]:
        return [json.dumps(body, ensure_ascii=False) for body in self.requests]

    def next_fault(self) -> Fault | None:
        if len(self.faults) > 1:
            return self.faults.pop(0)
        return self.faults[0] if self.faults else None


@contextlib.contextmanager
def openai_server(*names: str) -> Iterator[Wire]:
    wire = Wire(names)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.wire = wire  # type: ignore[attr-defined]
    wire.url = f"http://127.0.0.1:{server.server_port}/v1"
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield wire
    finally:
        wire.over.set()
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def wire(self) -> Wire:
        return self.server.wire  # type: ignore[attr-defined, no-any-return]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.wire.requests.append(body)
        self.wire.reached.set()
        redacting = REDACTION in json.dumps(body)
        fails = self.wire.faulty in json.dumps(body)
        fault = self.wire.next_fault() if fails else None
        if fault is not None:
            fault(self, body)
        elif body.get("stream"):
            self.stream(said(body))
        else:
            say = self.wire.say or said
            self.reply(found(body, self.wire.names) if redacting else say(body))

    def reply(self, message: dict[str, Any], **extra: Any) -> None:
        finish = "tool_calls" if "tool_calls" in message else "stop"
        choice = {"index": 0, "message": message, "finish_reason": finish}
        self.send(200, completion([choice | extra]))

    def send(self, status: int, payload: Any, **headers: str) -> None:
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def stream(self, message: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for word in message["content"].split(" "):
            delta = {"role": "assistant", "content": f"{word} "}
            self.event(completion([{"index": 0, "delta": delta}], "chunk"))
        last = {"index": 0, "delta": {}, "finish_reason": "stop"}
        self.event(completion([last], "chunk"))
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def event(self, payload: Any) -> None:
        self.wfile.write(f"data: {json.dumps(payload)}\n\n".encode())

    def log_message(self, *args: Any) -> None:
        pass


def completion(choices: list[Any], kind: str = "") -> dict[str, Any]:
    name = f"chat.completion.{kind}" if kind else "chat.completion"
    return {
        "id": "c",
        "object": name,
        "created": 0,
        "model": "double",
        "choices": choices,
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def said(body: dict[str, Any]) -> dict[str, Any]:
    """Answer with all that was given."""
    return {"role": "assistant", "content": json.dumps(body["messages"])}


def found(body: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Answer a request to redact, in the shape it asks for."""
    last = str(body["messages"][-1]["content"])
    spans = [name for name in names if name in last]
    rules = re.findall(r"^\[([\w.:-]+)\] (.*)", last, re.MULTILINE)
    asked = [name for name, rule in rules if not is_control(rule)]
    verdicts = [{"constraint": name, "spans": spans} for name in asked]
    written = answer_control(last, json.dumps({"verdicts": verdicts}))
    if tools := body.get("tools"):
        call = {"name": tools[0]["function"]["name"], "arguments": written}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": call}],
        }
    if body.get("response_format"):
        return {"role": "assistant", "content": written}
    return {"role": "assistant", "content": f"Certainly!\n```json\n{written}\n```"}


def plain_only(handler: _Handler, body: dict[str, Any]) -> None:
    """Know no tools and no reply formats, as servers of small models do."""
    if body.get("tools") or body.get("response_format"):
        handler.send(400, {"error": {"message": json.dumps(body)}})
    else:
        handler.reply(found(body, handler.wire.names))


def fails_at_formats(handler: _Handler, body: dict[str, Any]) -> None:
    """Answer 500 to any reply format, as llama-cpp-python's server does."""
    if body.get("tools") or body.get("response_format"):
        handler.send(500, {"error": {"message": json.dumps(body)}})
    else:
        handler.reply(found(body, handler.wire.names))


def thinks_first(handler: _Handler, body: dict[str, Any]) -> None:
    """Say nothing within a limit of tokens, and all without one."""
    if body.get("max_tokens") or body.get("max_completion_tokens"):
        handler.reply({"role": "assistant", "content": ""}, finish_reason="length")
    else:
        handler.reply(found(body, handler.wire.names))


def schema_only(handler: _Handler, body: dict[str, Any]) -> None:
    """Know no tools, and of reply formats only JSON schemas; talk is all in slips."""
    kind = (body.get("response_format") or {}).get("type", "text")
    if body.get("tools") or kind not in {"json_schema", "text"}:
        handler.send(400, {"error": {"message": json.dumps(body)}})
    elif kind == "json_schema":
        handler.reply(found(body, handler.wire.names))
    else:
        unheeding(handler, body)


def unheeding(handler: _Handler, body: dict[str, Any]) -> None:
    """Take any reply format, heed none, and write JSON as a small model does."""
    plain = {"messages": body["messages"]}
    said = str(found(plain, handler.wire.names)["content"])
    slips = said.replace('"', "'").replace("]}", ",],}").replace("[,", "[")
    handler.reply({"role": "assistant", "content": slips})


def stream_only(handler: _Handler, body: dict[str, Any]) -> None:
    """Refuse to answer in one piece."""
    if body.get("stream"):
        handler.stream(found(body, handler.wire.names))
    else:
        handler.send(400, {"error": {"message": json.dumps(body)}})


def broken_off(handler: _Handler, body: dict[str, Any]) -> None:
    """Stop before the first span, and say that all was said."""
    half = '{"verdicts": [{"constraint": "names", "spans": ['
    handler.reply({"role": "assistant", "content": half})


def too_many(handler: _Handler, body: dict[str, Any]) -> None:
    """Refuse for now; the error quotes the request, as some providers' do."""
    handler.send(429, {"error": {"message": json.dumps(body)}}, retry_after="0.01")


def too_many_for_long(handler: _Handler, body: dict[str, Any]) -> None:
    """Refuse for longer than anybody waits."""
    handler.send(429, {"error": {"message": json.dumps(body)}}, retry_after="6000")


def broken(handler: _Handler, body: dict[str, Any]) -> None:
    handler.send(500, {"error": {"message": json.dumps(body)}})


def cut(handler: _Handler, body: dict[str, Any]) -> None:
    """Close the connection in the middle of an answer."""
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"id": "c", "choices": [')
    handler.wfile.flush()
    handler.close_connection = True


def slow(handler: _Handler, body: dict[str, Any]) -> None:
    """Answer a byte at a time, so that no read times out, until the server ends."""
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("connection", "close")
    handler.end_headers()
    try:
        while not handler.wire.over.wait(0.05):
            handler.wfile.write(b" ")
            handler.wfile.flush()
    except OSError:
        handler.wire.gone += 1
    handler.close_connection = True


def silent(handler: _Handler, body: dict[str, Any]) -> None:
    """Think without a word for as long as anybody waits, as llama.cpp does."""
    while not handler.wire.over.wait(0.02):
        if select([handler.connection], [], [], 0)[0]:
            handler.wire.gone += not handler.connection.recv(1, MSG_PEEK)
            break
    handler.close_connection = True


def one_slot(handler: _Handler, body: dict[str, Any]) -> None:
    """Work on one request after the other."""
    running = handler.wire.running
    running[0] += 1
    running[1] = max(running)
    with handler.wire.slot:
        handler.wire.over.wait(0.05)
        handler.reply(found(body, handler.wire.names))
    running[0] -= 1


def endless(handler: _Handler, body: dict[str, Any]) -> None:
    """Say the same until the limit of tokens ends it; without one, for ever."""
    limit = body.get("max_tokens") or body.get("max_completion_tokens")
    if limit is None:
        slow(handler, body)
        return
    text = '{"verdicts": [' + '{"constraint": "names", "spans": [' * limit
    message = {"role": "assistant", "content": text[:limit]}
    handler.reply(message, finish_reason="length")


def no_to_the_first(handler: _Handler, body: dict[str, Any]) -> None:
    """Give a verdict on the first constraint alone, and find nothing."""
    last = str(body["messages"][-1]["content"])
    rules = re.findall(r"^\[([\w.:-]+)\] (.*)", last, re.MULTILINE)
    first = next(name for name, rule in rules if not is_control(rule))
    verdicts = [{"constraint": first, "spans": []}]
    written = json.dumps({"verdicts": verdicts})
    handler.reply({"role": "assistant", "content": written})


def prose(handler: _Handler, body: dict[str, Any]) -> None:
    handler.reply({"role": "assistant", "content": "Nothing here is confidential."})


def parrot(handler: _Handler, body: dict[str, Any]) -> None:
    """Repeat the example of the prompt."""
    told = [m for m in body["messages"] if m["role"] == "assistant"]
    handler.reply({"role": "assistant", "content": str(told[0]["content"])})


def nothing_goes(handler: _Handler, body: dict[str, Any]) -> None:
    """Say no to everything, the control too."""
    last = str(body["messages"][-1]["content"])
    ids = re.findall(r"^\[([\w.:-]+)\] ", last, re.MULTILINE)
    verdicts = [{"constraint": name, "spans": []} for name in ids]
    written = json.dumps({"verdicts": verdicts})
    handler.reply({"role": "assistant", "content": written})


def malformed(handler: _Handler, body: dict[str, Any]) -> None:
    handler.send(200, b'{"id": "c", "choices": [{"message"')


def garbled(handler: _Handler, body: dict[str, Any]) -> None:
    """Answer in the right envelope with a tool call and JSON that break off."""
    half = '{"verdicts": [{"constraint": "names", "spans": ["'
    message: dict[str, Any] = {"role": "assistant", "content": half}
    if tools := body.get("tools"):
        call = {"name": tools[0]["function"]["name"], "arguments": half}
        calls = [{"id": "1", "type": "function", "function": call}]
        message |= {"content": None, "tool_calls": calls}
    handler.reply(message)


def truncated(handler: _Handler, body: dict[str, Any]) -> None:
    """Run out of tokens in the middle of the list."""
    handler.reply(found(body, ()), finish_reason="length")


def refusal(handler: _Handler, body: dict[str, Any]) -> None:
    handler.reply(
        {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    )


def no_choices(handler: _Handler, body: dict[str, Any]) -> None:
    handler.send(200, completion([]))
