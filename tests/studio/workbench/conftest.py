"""A workbench over a small folder, and a client that has its token."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from sdrag.studio.workbench.app import Workbench, build_app

PORT = 8765
TOKEN = "token-of-the-test"
POLICY = """\
# Who is named, and when.
constraints:
  - id: names
    text: Remove names of witnesses
    unless: {roles: [clerk]}
  - Hide exact dates of birth
"""
TEXT = (
    "The witness Jonathan Meyers, born on 12 May 1981, saw <b>a</b> grey van. "
    "Nobody else saw it.\nMeyers noted the plate."
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A policy, and documents of which some lie outside of the folder."""
    documents = tmp_path / "documents"
    (documents / "sub").mkdir(parents=True)
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "secret.txt").write_text("Outside of the folder.")
    (documents / "a.txt").write_text(TEXT)
    (documents / "sub" / "b.md").write_text("The quay opens at six.")
    (documents / ".hidden.txt").write_text("Hidden.")
    (documents / "c.bin").write_bytes(b"\0")
    (documents / "link.txt").symlink_to(tmp_path / "secret.txt")
    (documents / "up").symlink_to(tmp_path)
    return tmp_path


@pytest.fixture
def bench(folder: Path) -> Workbench:
    return Workbench(folder / "policy.yaml", POLICY, folder / "documents")


@pytest.fixture
def app(bench: Workbench):
    return build_app(bench, token=TOKEN, port=PORT)


@pytest.fixture
async def client(app):
    """A client that does what the page does."""
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app),
        base_url=f"http://127.0.0.1:{PORT}",
        headers={"Authorization": f"Bearer {TOKEN}"},
    ) as opened:
        yield opened


@pytest.fixture
async def ask(client: httpx.AsyncClient):
    """Ask something of the workbench that it does not refuse."""

    async def asked(where: str, /, **body: object) -> dict:
        answer = await client.post(f"/api/{where}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return asked


@pytest.fixture
async def drop(client: httpx.AsyncClient):
    """Drop a file on the page; return the answer."""

    async def dropped(name: str, data: bytes) -> httpx.Response:
        return await client.post(
            "/api/documents", content=data, headers={"X-File-Name": name}
        )

    return dropped
