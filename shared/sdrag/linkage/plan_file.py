"""
A fitted plan in a file, sealed with a key.

It holds all that it takes to go on: the documents themselves, what was found in them,
the vectors, and what is masked. So it is worth as much as the corpus, and is written
encrypted or not at all. The plan itself is made anew when the file is opened, which
takes seconds: nothing is detected, embedded or rewritten again.

Metadata is written as JSON. What JSON does not know comes back as its text.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from sdrag.effects.steps import EffectRunner, run
from sdrag.errors import UsageError
from sdrag.linkage.carried import Carried
from sdrag.linkage.fitting import Fitted, PlanInput
from sdrag.linkage.mentions import Found
from sdrag.linkage.resolution import Vectors
from sdrag.linkage.sealing import Seal
from sdrag.linkage.settings import local_runner
from sdrag.policy import LinkageSection
from sdrag.vocabulary import Confidential, Entity, Mention, Passage, Span

__all__ = ["Saved", "open_plan", "packed", "save_plan", "saved_plan", "unpacked"]

_VERSION = 1
_FAST = 1
"""The level of compression."""
_LENGTH = struct.Struct(">Q")
_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, repr=False)
class Saved(Confidential):
    """
    What a file of a plan holds.

    Args:
        plan: What it was made of.
        carried: What is masked.
        vectors: Of the forms that were embedded.
        notes: Whatever the caller noted down with it.
    """

    plan: PlanInput
    carried: Carried
    vectors: Vectors
    notes: Mapping[str, Any]

    def unchanged(self, documents: Iterable[Passage]) -> frozenset[str]:
        """Return the ids of documents that the plan knows, under the same text."""
        known = self.plan.documents
        return frozenset(
            document.id
            for document in documents
            if document.id in known and known[document.id].text == document.text
        )


def save_plan(
    fitted: Fitted,
    path: str | Path,
    key: bytes | None = None,
    notes: Mapping[str, Any] = _NONE,
) -> None:
    """
    Write a plan, whole or not at all.

    Args:
        fitted: The plan.
        path: Of the file; one that is there is replaced.
        key: What it is sealed with; that of the plan by default.
        notes: Plain data to be kept with it.

    Raises:
        UsageError: There is no key, it is too short, or the file cannot be written.
    """
    secret = key or fitted.key
    if secret is None:
        raise UsageError(
            "A plan is saved with a key, and this one has none.",
            hint="Pass `key=`: the file holds the documents.",
        )
    sealed = Seal(secret).encrypt(packed(fitted, notes))
    target = Path(path)
    partial = target.with_name(target.name + ".partial")
    try:
        partial.unlink(missing_ok=True)  # of a run that was killed
        partial.touch(mode=0o600)
        partial.write_bytes(sealed)
        partial.replace(target)
    except OSError as error:
        raise UsageError(
            f"The plan cannot be written ({type(error).__name__})."
        ) from None


def open_plan(
    path: str | Path, key: bytes, runner: EffectRunner | None = None
) -> Fitted:
    """
    Open what `save_plan` wrote.

    Args:
        path: Of the file.
        key: That it was sealed with.
        runner: Answers effects; the same embeddings as when it was fitted.

    Raises:
        UsageError: There is no such file, or it is of another key or version.
    """
    saved = saved_plan(path, key)
    steps = saved.plan.fitted(saved.carried, saved.vectors)
    return run(steps, runner or local_runner())


def saved_plan(path: str | Path, key: bytes) -> Saved:
    """
    Read what `save_plan` wrote, and fit nothing.

    Args:
        path: Of the file.
        key: That it was sealed with.

    Raises:
        UsageError: There is no such file, or it is of another key or version.
    """
    try:
        sealed = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(
            f"The plan cannot be read ({type(error).__name__}).", hint="Check the path."
        ) from None
    return unpacked(Seal(key).decrypt(sealed))


def packed(fitted: Fitted, notes: Mapping[str, Any] = _NONE) -> bytes:
    """Return a plan as bytes that are not encrypted."""
    carried, vectors = fitted.masked.carried, fitted.masked.assessment.resolved.vectors
    held = {
        "version": _VERSION,
        "name": fitted.name,
        "notes": dict(notes),
        "settings": fitted.settings.model_dump(mode="json"),
        "key": fitted.key.hex() if fitted.key else None,
        "documents": [_document(one) for one in fitted.documents.values()],
        "found": {k: [astuple(one) for one in v] for k, v in fitted.found.items()},
        "mentions": {k: [*map(_mention, v)] for k, v in fitted.mentions.items()},
        "entities": [(e.id, e.type, e.forms, e.relevance) for e in carried.entities],
        "pseudonyms": dict(carried.pseudonyms),
        "rewritten": dict(carried.rewritten),
        "secret": carried.secret.hex() if carried.secret else None,
        "embedded": list(vectors),
    }
    compressed = zlib.compress(json.dumps(held).encode(), _FAST)
    matrix = b"".join(np.asarray(row, "<f4").tobytes() for row in vectors.values())
    return _LENGTH.pack(len(compressed)) + compressed + matrix


def unpacked(data: bytes) -> Saved:
    """
    Return what `packed` was given.

    Raises:
        UsageError: It was written by another version.
    """
    (size,) = _LENGTH.unpack_from(data)
    end = _LENGTH.size + size
    held = json.loads(zlib.decompress(data[_LENGTH.size : end]))
    if held["version"] != _VERSION:
        raise UsageError(
            "The plan was saved by another version of sdrag.",
            hint="Fit it again, with the same key.",
        )
    documents = (_passage(row) for row in held["documents"])
    plan = PlanInput(
        LinkageSection.model_validate(held["settings"]),
        {document.id: document for document in documents},
        {k: tuple(Found(*row) for row in v) for k, v in held["found"].items()},
        {k: tuple(map(_read_mention, v)) for k, v in held["mentions"].items()},
        bytes.fromhex(held["key"]) if held["key"] else None,
        held["name"],
    )
    carried = Carried(
        tuple(
            Entity(id_, type_, tuple(forms), relevance)
            for id_, type_, forms, relevance in held["entities"]
        ),
        held["pseudonyms"],
        held["rewritten"],
        bytes.fromhex(held["secret"]) if held["secret"] else None,
    )
    return Saved(plan, carried, _vectors(held["embedded"], data[end:]), held["notes"])


def _vectors(texts: list[str], data: bytes) -> Vectors:
    if not texts:
        return {}
    matrix = np.frombuffer(data, "<f4").astype(np.float32).reshape(len(texts), -1)
    return dict(zip(texts, matrix, strict=True))


def _document(passage: Passage) -> list[Any]:
    metadata = _plain(passage.metadata)
    return [passage.id, passage.text, metadata, passage.score, passage.document_id]


def _plain(value: Any) -> Any:
    """Return nested data as JSON knows it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(inner) for inner in value]
    known = value is None or isinstance(value, (str, bool, int, float))
    return value if known else str(value)


def _passage(row: list[Any]) -> Passage:
    id_, text, metadata, score, document_id = row
    return Passage(id_, text, metadata, score, document_id)


def _mention(mention: Mention) -> list[Any]:
    span = mention.span
    return [span.start, span.end, mention.type, mention.confidence, mention.reason]


def _read_mention(row: list[Any]) -> Mention:
    start, end, type_, confidence, reason = row
    return Mention(Span(start, end), type_, confidence, reason)
