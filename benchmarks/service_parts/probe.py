"""
Ask a service for `/health/live`, five times a second, and print how long it took.

    python benchmarks/service_parts/probe.py http://127.0.0.1:8000
"""

from __future__ import annotations

import sys
from http.client import HTTPConnection
from time import monotonic, sleep
from urllib.parse import urlsplit


def main() -> None:
    """Ask until the process is ended; an answer that is none ends it too."""
    where = urlsplit(sys.argv[1]).netloc
    while True:
        begin, connection = monotonic(), HTTPConnection(where, timeout=60)
        connection.request("GET", "/health/live")
        answer = connection.getresponse()
        answer.read()
        connection.close()
        if answer.status != 200:
            raise SystemExit(f"/health/live answered {answer.status}.")
        print(f"{monotonic() - begin:.6f}", flush=True)
        sleep(0.2)


if __name__ == "__main__":
    main()
