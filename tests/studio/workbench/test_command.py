"""`sdrag workbench`, as somebody types it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from sdrag.studio.cli import main
from sdrag.studio.workbench import serving
from sdrag.studio.workbench.app import Workbench

from ...support.scripted import canary

COMMAND = "from sdrag.studio.cli import main; main()"


def typed(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """Type a command; return its exit status."""
    monkeypatch.setattr(sys, "argv", ["sdrag", "workbench", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_a_port_in_use_is_one_line(folder, monkeypatch, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status = typed(monkeypatch, folder / "policy.yaml", "--port", port)

    assert status == 2
    told = capsys.readouterr().err
    assert told == (
        f"sdrag: Port {port} is in use. Give another with --port; 0 takes any.\n"
    )


@pytest.mark.parametrize("missing", ["uvicorn", "starlette.routing"])
def test_a_missing_extra_is_one_line(folder, monkeypatch, capsys, missing):
    """It names the command that mends it."""
    for name in [n for n in sys.modules if n.startswith("sdrag.studio.workbench")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)

    assert typed(monkeypatch, folder / "policy.yaml") == 2
    assert 'pip install "sdrag[workbench]"' in capsys.readouterr().err


def test_a_wrong_policy_is_no_wrong_call(folder, monkeypatch):
    """It is shown in the page, which is where it is mended."""
    (folder / "policy.yaml").write_text("constraints: [")
    begun: list[Workbench] = []
    monkeypatch.setattr(serving, "serve", lambda bench, *_: begun.append(bench))

    assert typed(monkeypatch, folder / "policy.yaml") == 0
    assert begun[0].start()["policy"] == "constraints: ["


@pytest.fixture
def running(folder: Path):
    """The command in a process of its own, and what it prints."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", COMMAND, "workbench", "policy.yaml"),
            *("--documents", "documents", "--port", "0"),
        ],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    stop = threading.Timer(120, process.kill)
    stop.start()
    yield process
    stop.cancel()
    process.kill()
    process.wait()


def test_it_serves_on_loopback_and_logs_no_request(running):
    """The address holds the token in its fragment; Ctrl-C ends it with status 0."""
    line = running.stdout.readline()
    found = re.fullmatch(r"Open (http://127\.0\.0\.1:\d+)/#token=([\w-]{43})\n", line)
    assert found, line
    secret = canary("document")
    headers = {"Authorization": f"Bearer {found[2]}"}
    with httpx.Client(base_url=found[1], headers=headers, trust_env=False) as client:
        assert client.get("/").status_code == 200
        assert (
            client.get("/api/start", headers={"Authorization": ""}).status_code == 401
        )
        dropped = client.post(
            "/api/documents",
            content=secret.encode(),
            headers={"X-File-Name": f"{secret}.txt"},
        )
        assert dropped.status_code == 200
        policy = {"policy": f"constraints: ['{secret}'", "x": json.dumps(secret)}
        assert client.post("/api/policy", json=policy).status_code == 422
        assert client.get(f"/{secret}?{secret}").status_code == 404
    running.send_signal(signal.SIGINT)
    printed = running.stdout.read()

    assert running.wait(60) == 0
    assert secret not in printed
    assert found[2] not in printed
    assert len(printed.splitlines()) == 1, printed
