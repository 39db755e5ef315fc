"""
A fitted plan in a file, encrypted.

It holds all that a plan is made of: the documents, what was found in them, the vectors,
and what is masked under which pseudonyms. So it is worth as much as the corpus. Who
reads it makes the plan anew, and detects, embeds and rewrites nothing again.

The cipher is Fernet, from `cryptography`, under a key that HKDF derives from the host's
secret and a salt of the file. Metadata are JSON; what JSON does not know is text.
"""

from __future__ import annotations

import json
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sdrag.errors import SdragError, UsageError, require_extra
from sdrag.linkage.masking import Earlier
from sdrag.linkage.mentions import Found, Occurrence
from sdrag.linkage.replacing import Masker
from sdrag.placeholders import Placeholders
from sdrag.policy import LinkageSection
from sdrag.vocabulary import Confidential, Entity, Mention, Passage, Span

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


_FEATURE = "A plan in a file"
_VERSION = 4
_SALT = 16
_KEY_BYTES = 16


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlanParts(Confidential):
    """
    What a plan is made of.

    `documents`: the corpus as it came, by id, without what could not be read.
    """

    settings: LinkageSection
    key: bytes | None
    documents: Mapping[str, Passage]
    found: Mapping[str, tuple[Found, ...]]
    earlier: Earlier


def check_key(key: bytes) -> bytes:
    """Return a key that can encrypt a plan; refuse a short one, or a missing extra."""
    if len(key) < _KEY_BYTES:
        raise UsageError(
            f"The key has {len(key)} bytes.",
            hint=f"A key has {_KEY_BYTES} or more: a shorter one can be guessed.",
        )
    _cipher(key, b"")  # a missing extra is an error now, not after the work
    return key


def write_plan(parts: PlanParts, path: str | Path, key: bytes | None = None) -> None:
    """Write a plan, whole or not at all."""
    secret = key or parts.key
    if secret is None:
        raise UsageError(
            "A plan is saved with a key, and this one has none.",
            hint="Pass `key=`: the file holds the documents.",
        )
    salt = secrets.token_bytes(_SALT)
    data = salt + _cipher(check_key(secret), salt).encrypt(_pack(parts))
    target = Path(path)
    partial = target.with_name(target.name + ".partial")
    try:
        partial.unlink(missing_ok=True)  # of a run that was killed
        partial.touch(mode=0o600)
        partial.write_bytes(data)
        partial.replace(target)
    except OSError as error:
        raise UsageError(
            f"The plan cannot be written ({type(error).__name__})."
        ) from None


def read_plan(path: str | Path, key: bytes) -> PlanParts:
    """Read what `write_plan` wrote, under the same key and by the same version."""
    check_key(key)
    with require_extra("linkage", _FEATURE):
        from cryptography.fernet import InvalidToken  # noqa: PLC0415 -- an extra
    try:
        data = Path(path).read_bytes()
        plain = _cipher(key, data[:_SALT]).decrypt(data[_SALT:])
    except OSError as error:
        raise UsageError(
            f"The plan cannot be read ({type(error).__name__}).", hint="Check the path."
        ) from None
    except InvalidToken:
        raise UsageError(
            "The file is no plan, is of another key, or was changed.",
            hint="Give the key that it was encrypted with.",
        ) from None
    try:
        return _unpack(plain)
    except SdragError:
        raise
    except Exception as error:  # noqa: BLE001 -- whatever is wrong with it
        raise UsageError(
            f"The file is no plan, though its key opens it ({type(error).__name__}).",
            hint="Fit the plan again, with the same key.",
        ) from None


def _cipher(secret: bytes, salt: bytes) -> Fernet:
    with require_extra("linkage", _FEATURE):
        from cryptography.fernet import Fernet  # noqa: PLC0415 -- an extra
        from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415
    derived = HKDF(SHA256(), 32, salt, b"sdrag linkage").derive(secret)
    return Fernet(urlsafe_b64encode(derived))


def _pack(parts: PlanParts) -> bytes:
    earlier, masker = parts.earlier, parts.earlier.masker or Masker(())
    held = {
        "version": _VERSION,
        "settings": parts.settings.model_dump(mode="json"),
        "key": (parts.key or b"").hex(),
        "documents": [
            (d.id, d.text, _plain(d.metadata), d.score, d.document_id)
            for d in parts.documents.values()
        ],
        "found": [[*map(astuple, row)] for row in parts.found.values()],
        "entities": [astuple(entity) for entity in masker.entities],
        "pseudonyms": dict(masker.pseudonyms),
        "secret": masker.secret.hex(),
        "linking": sorted(masker.linking),
        "plain": sorted(earlier.placeholders.plain),
        "placeholders": earlier.placeholders.secret.hex(),
        "rewritten": dict(earlier.rewritten),
        "embedded": list(earlier.vectors),
    }
    file = BytesIO()
    text = np.frombuffer(json.dumps(held).encode(), np.uint8)
    matrix = np.array(list(earlier.vectors.values()), np.float32)
    np.savez_compressed(file, held=text, vectors=matrix)
    return file.getvalue()


def _unpack(data: bytes) -> PlanParts:
    with np.load(BytesIO(data), allow_pickle=False) as file:
        held, matrix = json.loads(file["held"].tobytes()), file["vectors"]
    if held["version"] != _VERSION:
        raise UsageError(
            "The plan was saved by another version of sdrag.",
            hint="Fit it again, with the same key.",
        )
    documents = {row[0]: Passage(*row) for row in held["documents"]}
    rows = (tuple(map(_read_found, row)) for row in held["found"])
    masker = Masker(
        tuple(Entity(i, t, tuple(f), r) for i, t, f, r in held["entities"]),
        given=held["pseudonyms"],
        secret=bytes.fromhex(held["secret"]),
        linking=frozenset(held["linking"]),
    )
    secret = bytes.fromhex(held["placeholders"])
    placeholders = Placeholders(frozenset(held["plain"]), secret)
    vectors = dict(zip(held["embedded"], matrix, strict=True))
    return PlanParts(
        LinkageSection.model_validate(held["settings"]),
        bytes.fromhex(held["key"]) or None,
        documents,
        dict(zip(documents, rows, strict=True)),
        Earlier(masker, held["rewritten"], vectors, placeholders),
    )


def _read_found(row: list[Any]) -> Found:
    first, *rest = row
    return Occurrence(*row) if isinstance(first, str) else Mention(Span(*first), *rest)


def _plain(value: Any) -> Any:
    """Return nested data as JSON knows it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(inner) for inner in value]
    known = value is None or isinstance(value, (str, bool, int, float))
    return value if known else str(value)
