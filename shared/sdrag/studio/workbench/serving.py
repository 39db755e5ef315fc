"""
Serving the workbench: on loopback alone, with a token, and without a log of requests.

The address is printed and not opened: the arguments of a process can be read by every
user of the machine, and the address holds the token.
"""

from __future__ import annotations

import errno
import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from sdrag.errors import UsageError
from sdrag.privacy.log_privacy import suppress_logs
from sdrag.studio.workbench.app import Workbench, build_app

HOST = "127.0.0.1"
_MOST_CONNECTIONS = 64


def serve(bench: Workbench, port: int, announce: Callable[[str], None]) -> None:
    """Serve until interrupted; `announce` is called with the address and its token."""
    listening = _listen(port)
    chosen = int(listening.getsockname()[1])
    token = secrets.token_urlsafe(32)
    config = uvicorn.Config(
        build_app(bench, token=token, port=chosen),
        access_log=False,
        log_level="warning",
        lifespan="off",
        ws="none",
        proxy_headers=False,
        server_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=1,
    )
    with listening:
        announce(f"http://{HOST}:{chosen}/#token={token}")
        threading.Thread(target=_warm, args=(bench,), daemon=True).start()
        with suppress(KeyboardInterrupt):  # Ctrl-C is how it ends
            uvicorn.Server(config).run(sockets=[listening])


def _listen(port: int) -> socket.socket:
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((HOST, port))
        opened.listen()
    except OSError as error:
        opened.close()
        used = error.errno == errno.EADDRINUSE
        fault = "is in use" if used else f"cannot be had ({type(error).__name__})"
        raise UsageError(
            f"Port {port} {fault}.", hint="Give another with --port; 0 takes any."
        ) from None
    return opened


def _warm(bench: Workbench) -> None:
    with suppress_logs():
        bench.warm_up()
