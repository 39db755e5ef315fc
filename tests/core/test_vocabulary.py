"""Nouns that hold text show none of it, and errors say whose fault they are."""

from __future__ import annotations

import copy
import importlib
import pickle
import pkgutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import sdrag
from sdrag.effects.prompts import sensitive
from sdrag.effects.steps import Embed, Reply, Score, Search
from sdrag.errors import (
    MissingExtraError,
    PolicyError,
    SdragError,
    UsageError,
    require_extra,
)
from sdrag.privacy.audit import AuditEvent, emit, log_event
from sdrag.vocabulary import (
    Confidential,
    Constraint,
    Decision,
    Entity,
    Highlight,
    Mention,
    Passage,
    Principal,
    Redaction,
    Span,
)

from ..support.scripted import canary

SECRET = canary("vocabulary")
ROOT = Path(__file__).resolve().parents[2]


WORDS = {
    "all", "answer", "claim", "constraint", "content", "entries", "facts", "forms",
    "found", "function", "hidden", "items", "judged", "known", "leaves", "lookup",
    "metadata", "needles", "passage", "passages", "pieces", "query", "question",
    "registers", "rephrased", "sentences", "text", "texts", "value",
    "values", "view", "words",
}  # fmt: skip


def confidential_classes():
    """Import everything, then return every class that says it is confidential."""
    for info in pkgutil.walk_packages(sdrag.__path__, "sdrag."):
        if not info.name.endswith("__main__"):
            try:
                importlib.import_module(info.name)
            except (ImportError, SdragError):
                continue
    found, waiting = set(), [Confidential]
    while waiting:
        below = waiting.pop().__subclasses__()
        found |= {item for item in below if item.__module__.startswith("sdrag.")}
        waiting += below
    return sorted(found, key=lambda item: f"{item.__module__}.{item.__qualname__}")


def filled(kind):
    """Make an object without its checks, the secret in every field that holds words."""
    made = object.__new__(kind)
    fields = getattr(kind, "__dataclass_fields__", None) or getattr(
        kind, "__slots__", ()
    )
    for name in fields:
        words = (SECRET,) if name in WORDS else ()
        value = dict.fromkeys(words, SECRET) if name == "metadata" else words
        object.__setattr__(made, name, value)
    return made


def shows_something(made):
    for show in (repr, str, "{}".format):
        # A repr that counts fields of another shape shows nothing.
        with suppress(AttributeError, TypeError, ValueError):
            if SECRET in show(made):
                return True
    return False


def test_confidential_objects_are_never_pickled_and_show_nothing():
    """No pickle, at any protocol; no repr with content; a copy is the object itself."""
    kinds = confidential_classes()
    for kind in kinds:
        made = filled(kind)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(UsageError, match="never pickled"):
                pickle.dumps(made, protocol)
        assert copy.copy(made) is made
        assert copy.deepcopy([made])[0] is made

    assert len(kinds) > 100
    names = {kind.__name__ for kind in kinds}
    assert names >= {"Completion", "Masker", "MappedText", "Token", "Verification"}
    assert not [kind.__qualname__ for kind in kinds if shows_something(filled(kind))]


def test_no_repr_shows_text():
    """Ids that the package gives, counts and lengths are all that is shown."""
    held = [
        Passage(SECRET, SECRET, {SECRET: SECRET}, 0.5, SECRET),
        Highlight(SECRET, Span(0, 3), SECRET),
        Entity("e1", "PERSON", (SECRET,)),
        Redaction(Passage("p", SECRET), SECRET),
        Constraint("c1", SECRET),
        sensitive(SECRET),
        Reply(SECRET),
        Embed((SECRET,)),
        Search((SECRET,)),
        Score(((SECRET, SECRET),)),
    ]

    assert not [item for item in held if SECRET in f"{item} {item!r} {[item]}"]


def test_an_invalid_noun_does_not_exist():
    """What is wrong is refused when it is made."""
    for make in (
        lambda: Constraint("", "text"),
        lambda: Constraint("id", " \n"),
        lambda: Mention(Span(0, 1), "PERSON", 1.5),
        lambda: Principal("ann", roles="admin"),
        *(lambda edges=edges: Span(*edges) for edges in [(1, 1), (2, 1), (-1, 1)]),
    ):
        with pytest.raises(UsageError):
            make()


def test_inputs_are_not_shared():
    """A host that changes its metadata later does not change a passage."""
    metadata = {"page": 1}
    passage = Passage("p", "text", metadata)
    metadata["page"] = 2

    assert passage.metadata["page"] == 1
    with pytest.raises(TypeError):
        passage.metadata["page"] = 3


def test_a_missing_extra_names_the_command():
    """One ImportError that says what to type."""
    command = r'pip install "sdrag\[local\]"'
    with (
        pytest.raises(ImportError, match=command) as raised,
        require_extra("local", "MiniLM"),
    ):
        raise ModuleNotFoundError("torch")

    assert isinstance(raised.value, MissingExtraError)


def test_the_extra_that_is_missing_is_named_by_who_needs_it():
    """A command that needs one extra does not answer for another."""
    inner, outer = (
        require_extra("local", "MiniLM"),
        require_extra("cli", "The command line"),
    )
    with pytest.raises(MissingExtraError) as raised, outer, inner:
        raise ModuleNotFoundError("torch")

    assert raised.value.extra == "local"


def test_an_error_can_be_sealed():
    """Nothing of the error below hangs on it any more."""
    try:
        try:
            raise ValueError(SECRET)  # noqa: TRY301 -- an error below ours
        except ValueError:
            raise PolicyError("wrong", line=3) from None
    except PolicyError as error:
        sealed = error.sealed()

    assert (sealed.__context__, sealed.__cause__, sealed.__traceback__) == (None,) * 3
    assert str(sealed) == "line 3: wrong"


def test_an_event_holds_no_content(caplog):
    """Counts stand in the message, the event on the record, and every sink gets it."""
    event = AuditEvent(
        "retrieve", "h" * 16, (Decision("p", "redacted", "disclosure"),), 0.1
    )
    seen = []
    with caplog.at_level("INFO", "sdrag.audit"):
        emit(event, [log_event, seen.append])

    assert seen == [event]
    assert "{'redacted': 1}" in caplog.text
    assert event.as_dict()["decisions"][0]["action"] == "redacted"


def test_the_core_needs_no_framework_and_loads_no_network_early():
    """With both frameworks refused, the core imports."""
    script = """
import sys
for name in ("langchain_core", "llama_index", "langchain"):
    sys.modules[name] = None
import sdrag
heavy = {"networkx", "torch", "transformers", "sentence_transformers"}
print(sorted(heavy & set(sys.modules)))
"""
    path = str(ROOT / "shared")
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": path, "PATH": ""},
    )

    assert done.stdout.strip() == "[]"
