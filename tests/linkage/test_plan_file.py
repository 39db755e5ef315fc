"""A plan is saved and opened: sealed, whole, and as it was."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdrag.effects.prompts import Prompt
from sdrag.errors import UsageError
from sdrag.linkage import Fitted, fit
from sdrag.linkage.plan_file import _cipher
from sdrag.vocabulary import Passage

from ..support.properties import few
from ..support.scripted import Scripted, canary
from .test_fitting import PLAIN, Marked, written

WHO = canary("who")
KEY = b"sixteen bytes or more"
OTHER = b"another key of bytes"


def fitted(**more: object) -> Fitted:
    documents = [
        Passage("a", f"{WHO} came.", {"by": WHO, "on": date(2020, 1, 2)}, 0.5, "d"),
        Passage(f"of {WHO}", "The \ud800 end."),
    ]
    given_ = [[[WHO, "", "NAME", 1.0]], []]
    return fit(documents, PLAIN, entities=given_, key=KEY, **more)  # type: ignore[arg-type]


def test_a_plan_comes_back_as_it_was(tmp_path):
    """Documents, masks, ids and name; the file is for its owner alone."""
    plan, path = fitted(), tmp_path / "plan"
    plan.save(path)
    opened = Fitted.open(path, KEY)
    assert [(d.id, d.text) for d in opened.masked.documents] == [
        (d.id, d.text) for d in plan.masked.documents
    ]
    assert opened.documents["a"].metadata == {"by": WHO, "on": "2020-01-02"}
    assert opened.settings == plan.settings
    assert opened.masked.masker.name == plan.masked.masker.name
    assert opened.masked.entities == plan.masked.entities
    assert path.stat().st_mode & 0o077 == 0
    assert [one.name for one in tmp_path.iterdir()] == ["plan"]


def test_aliases_last_without_a_key(tmp_path):
    """Chance made them, so chance is in the file."""
    documents = [Passage(f"{WHO} 1", f"{WHO} came.")]
    plan = fit(documents, PLAIN, entities=[[[WHO, "", "NAME", 1.0]]])
    plan.save(tmp_path / "plan", KEY)
    opened = Fitted.open(tmp_path / "plan", KEY)
    chunk = Passage(f"{WHO} 2", "x")
    assert opened.apply([chunk])[0].id == plan.apply([chunk])[0].id


@few
@given(written, written, st.sampled_from(["label", "redact", "pseudonym"]))
def test_a_plan_goes_on_as_if_it_had_not_been_saved(first, later, style):
    """The same masks, the same texts, the same stale documents."""
    old = [Passage(f"a{n}", text) for n, text in enumerate(first)]
    new = [Passage(f"b{n}", text) for n, text in enumerate(later)]
    plan = fit(old, {**PLAIN, "replace": style}, Marked(), key=KEY)
    with TemporaryDirectory() as folder:
        plan.save(Path(folder) / "plan")
        opened = Fitted.open(Path(folder) / "plan", KEY)
    one, two = (kept.updated(new, entities=Marked()) for kept in (plan, opened))
    assert one.stale == two.stale
    assert [d.text for d in one.documents] == [d.text for d in two.documents]


def test_nothing_is_embedded_or_rewritten_again(tmp_path):
    """The vectors and the replies are in the file."""
    asked: list[str] = []

    def vectors(forms: Sequence[str]) -> list[list[float]]:
        asked.extend(forms)
        return [[1.0, 0.0] if "kite" in form else [0.0, 1.0] for form in forms]

    def answer(prompt: Prompt) -> str:
        asked.append(prompt.name)
        return "Some birds, more birds."

    runner = Scripted(embed=vectors, complete=answer)
    rows = [[("red kite", "", "EVENT", 1.0), ("grey owl", "", "EVENT", 1.0)]]
    section = {"replace": "rewrite", "max_document_risk": 0.1}
    plan = fit(
        [Passage("a", "red kite, grey owl")], section, entities=rows, runner=runner
    )
    plan.save(tmp_path / "plan", KEY)
    before = list(asked)
    assert "linkage.rewrite" in before
    opened = Fitted.open(tmp_path / "plan", KEY, runner)
    assert asked == before
    assert opened.masked.documents[0].text == "Some birds, more birds."


def test_the_file_is_sealed(tmp_path):
    """It holds no value, and neither another key nor a changed byte opens it."""
    path = tmp_path / "plan"
    fitted().save(path)
    data = path.read_bytes()
    assert WHO.encode() not in data
    with pytest.raises(UsageError, match="of another key"):
        Fitted.open(path, OTHER)
    for at in (20, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(UsageError, match="was changed"):
            Fitted.open(path, KEY)


@pytest.mark.parametrize("data", [b"", b"sdrag", b"\0" * 90, b"sdrag" * 99])
def test_what_is_no_plan_is_refused(tmp_path, data):
    """Whatever it is."""
    (tmp_path / "plan").write_bytes(data)
    with pytest.raises(UsageError):
        Fitted.open(tmp_path / "plan", KEY)


@pytest.mark.parametrize(
    "held",
    ["", "[]", "{}", '{"version": 4}', '{"version": 4, "documents": "WHO"}', None],
)
def test_what_its_key_opens_and_is_no_plan_is_refused(tmp_path, held):
    """Whoever has the key may have written it; the error holds none of its words."""
    plain = WHO.encode()
    if held is not None:
        file, words = BytesIO(), held.replace("WHO", WHO).encode()
        np.savez(file, held=np.frombuffer(words, np.uint8), vectors=np.zeros(0))
        plain = file.getvalue()
    salt = bytes(16)
    (tmp_path / "plan").write_bytes(salt + _cipher(KEY, salt).encrypt(plain))
    with pytest.raises(UsageError, match="no plan") as caught:
        Fitted.open(tmp_path / "plan", KEY)
    assert WHO not in f"{caught.value!r}"


def test_wrong_calls(tmp_path):
    """No key, a short one, no file, no folder."""
    plan = fit([Passage("a", WHO)], PLAIN, entities=[[]])
    with pytest.raises(UsageError, match="saved with a key"):
        plan.save(tmp_path / "plan")
    with pytest.raises(UsageError, match="5 bytes"):
        plan.save(tmp_path / "plan", b"short")
    with pytest.raises(UsageError, match="cannot be read"):
        Fitted.open(tmp_path / "plan", KEY)
    with pytest.raises(UsageError, match="cannot be written"):
        plan.save(tmp_path / "none" / "plan", KEY)
    assert list(tmp_path.iterdir()) == []
