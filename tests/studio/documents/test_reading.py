"""Files and folders as documents, and documents as chunks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.errors import UsageError
from sdrag.studio.documents import chunks_of, read_files, reading, rich_text
from sdrag.vocabulary import Passage
from tests.support.files import docx


def documents(*paths: Path) -> dict[str, str]:
    return {document.id: document.text for document in read_files(paths).documents}


def skipped(*paths: Path) -> dict[str, str]:
    return {file.path: file.reason for file in read_files(paths).skipped}


def test_a_folder_is_read_with_all_below_it(tmp_path):
    """In the order of its paths, which are the ids; hidden files are left out."""
    (tmp_path / "b" / ".git").mkdir(parents=True)
    (tmp_path / "b" / "c.txt").write_text("1")
    (tmp_path / "b" / ".git" / "d.txt").write_text("2")
    (tmp_path / "a.TXT").write_text("3")
    (tmp_path / ".e.txt").write_text("4")
    assert list(documents(tmp_path).items()) == [("a.TXT", "3"), ("b/c.txt", "1")]
    assert documents(tmp_path / "a.TXT") == {"a.TXT": "3"}


def test_no_link_leads_outside_or_around(tmp_path):
    """Links to folders, to nothing and to what is no file are listed, as is a pipe."""
    inside = tmp_path / "in"
    inside.mkdir()
    (inside / "kept.txt").write_text("kept")
    (tmp_path / "secret.txt").write_text("secret")
    (inside / "out.txt").symlink_to(tmp_path / "secret.txt")
    (inside / "here.txt").symlink_to(inside / "kept.txt")
    (inside / "loop").symlink_to(inside)
    (inside / "up").symlink_to(tmp_path)
    (inside / "self.txt").symlink_to(inside / "self.txt")
    (inside / "gone.txt").symlink_to(inside / "missing.txt")
    os.mkfifo(inside / "pipe.txt")

    assert documents(inside) == {"here.txt": "kept", "kept.txt": "kept"}
    reasons = skipped(inside)
    assert set(reasons) == {"out.txt", "loop", "up", "self.txt", "gone.txt", "pipe.txt"}
    assert "leads out" in reasons["out.txt"]
    assert "not followed" in reasons["loop"]


def test_what_cannot_be_opened_is_listed(tmp_path, monkeypatch):
    """Root may read everything, so it is refused here by hand."""
    (tmp_path / "a.txt").write_text("a")
    monkeypatch.setattr(Path, "read_bytes", lambda _: (tmp_path / "b").stat())
    assert "FileNotFoundError" in skipped(tmp_path)["a.txt"]


@pytest.mark.parametrize(
    ("module", "limit"), [(reading, "MAX_FILE_BYTES"), (rich_text, "MAX_UNPACKED")]
)
def test_sizes_are_limited(tmp_path, monkeypatch, module, limit):
    """A file that is too large, packed or not, is skipped."""
    monkeypatch.setattr(module, limit, 100)
    (tmp_path / "a.docx").write_bytes(docx("<w:p/>"))
    assert "100 bytes" in skipped(tmp_path)["a.docx"]


def test_a_missing_path_is_an_error(tmp_path):
    """Nothing is read before all paths are known to exist."""
    with pytest.raises(UsageError, match=r"no 'b\.txt'"):
        read_files([tmp_path, tmp_path / "b.txt"])


@given(st.text(max_size=300), st.integers(1, 60))
def test_chunks_joined_are_the_document(text, characters):
    """No character is lost or doubled, whatever the size."""
    chunks = chunks_of(Passage("d", text, document_id="d"), characters)
    assert "".join(chunk.text for chunk in chunks) == text
    assert all(0 < len(chunk.text) <= characters for chunk in chunks)
    assert {chunk.document_id for chunk in chunks} <= {"d"}
    assert len({chunk.id for chunk in chunks}) == len(chunks)


def test_chunks_end_with_sentences():
    """A chunk holds as many sentences as fit."""
    document = Passage("d", "One is here. Two is here. Three is here.")
    texts = [chunk.text for chunk in chunks_of(document, 30)]
    assert texts == ["One is here. Two is here.", " Three is here."]
