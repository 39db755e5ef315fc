"""
Who is let in: the checks that stand before every request.

The workbench listens on loopback, where every page of a browser and every user of the
machine can knock. So a request is refused unless

- it names this server as its `Host` (a name of somebody else's that resolves to
  loopback does not help: DNS rebinding),
- it comes from no other page: its `Origin` and `Sec-Fetch-Site`, where it has them,
- it brings the token, for all but the page's own files, which hold no data.

The token is in the fragment of the address that is printed. A fragment is sent to no
server and is in no `Referer`. The page takes it out of the address, keeps it for
its tab and sends it in `Authorization`. It is no cookie, since browsers send cookies of
one port of a host to every other port, and so to other users' servers. And a request
that another page forges has no such header.

Nothing is allowed to other origins (no CORS), and answers are stored nowhere.
"""

from __future__ import annotations

import hmac
import sys
from collections.abc import Collection, Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""On every answer, whatever it is."""

_OWN_PAGE = {"same-origin", "none"}
"""Values of `Sec-Fetch-Site`: from the page itself, or typed into the address bar."""


class RefusedError(Exception):
    """A request is refused; the message quotes no text of it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Gate:
    """Refuses what may not come in, and answers every error without its words."""

    def __init__(
        self, app: ASGIApp, *, token: str, port: int, public: Collection[str]
    ) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()
        self._hosts = frozenset((f"127.0.0.1:{port}", f"localhost:{port}"))
        self._public = frozenset(public)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request and pass it on."""
        if scope["type"] != "http":
            return  # no websockets here
        answer = _Sender(send)
        try:
            self._check(scope["path"], Headers(scope=scope))
            await self._app(scope, receive, answer)
        except RefusedError as error:
            response = JSONResponse({"error": error.message}, error.status)
            await answer.instead(response, scope, receive)
        except Exception as error:  # noqa: BLE001 -- its message may quote a document
            name = type(error).__name__
            sys.stderr.write(f"sdrag: the workbench failed with {name}\n")
            message = f"The workbench failed with {name}."
            await answer.instead(JSONResponse({"error": message}, 500), scope, receive)

    def _check(self, path: str, headers: Headers) -> None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise RefusedError(421, "This server has another name.")
        for origin in headers.getlist("origin"):
            if origin.lower() != f"http://{hosts[0].lower()}":
                raise RefusedError(403, "Another page may not ask this server.")
        for site in headers.getlist("sec-fetch-site"):
            if site not in _OWN_PAGE:
                raise RefusedError(403, "Another page may not ask this server.")
        if path not in self._public and not self._has_token(headers):
            raise RefusedError(
                401, "The token is missing. Open the address that `sdrag` printed."
            )

    def _has_token(self, headers: Headers) -> bool:
        given = headers.getlist("authorization")
        return len(given) == 1 and hmac.compare_digest(
            given[0].encode("utf-8", "replace"), self._expected
        )


class _Sender:
    """Sends an answer with the headers, or another one in its place."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._started = True
            MutableHeaders(scope=message).update(HEADERS)
        await self._send(message)

    async def instead(
        self, response: JSONResponse, scope: Scope, receive: Receive
    ) -> None:
        """Send an error; nothing where an answer has begun."""
        if not self._started:
            await response(scope, receive, self)
