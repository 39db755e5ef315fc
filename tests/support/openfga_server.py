"""
A stand-in for OpenFGA on loopback: its `check`, over a set of tuples.

It answers `POST /stores/STORE/check` as OpenFGA does, and remembers what it was asked.
What is in no tuple is not allowed.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Tuple = tuple[str, str, str]
"""A user, a relation and an object, such as `user:ada`, `reader`, `document:plan`."""
STORE = "01HVMMBCMGZNT3SED4Z17ECXCA"


@dataclass
class Relations:
    """
    What is allowed, and what was asked.

    Args:
        tuples: All that is allowed.
        asked: In the order of the requests.
        url: Of the server.
    """

    tuples: frozenset[Tuple]
    asked: list[Tuple] = field(default_factory=list)
    url: str = ""


@contextlib.contextmanager
def openfga_server(*tuples: Tuple) -> Iterator[Relations]:
    """Serve until the block ends."""
    relations = Relations(frozenset(tuples))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.relations = relations  # type: ignore[attr-defined]
    relations.url = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield relations
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = json.loads(self.rfile.read(length))
        if self.path != f"/stores/{STORE}/check":
            self._send(404, {"code": "undefined_endpoint"})
            return
        key = body["tuple_key"]
        asked = (key["user"], key["relation"], key["object"])
        relations: Relations = self.server.relations  # type: ignore[attr-defined]
        relations.asked.append(asked)
        self._send(200, {"allowed": asked in relations.tuples, "resolution": ""})

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
