"""
Keyed fingerprints: what everything in a state file is known by.

Documents, texts and constraints are in the file as hashes under a key that lies in a
file of its own, so the state alone, in a backup say, lets nobody try texts against it.
Whoever has both can: a short name is guessed, hashed and looked up.
"""

from __future__ import annotations

import json
import secrets
from hashlib import blake2b

from sdrag.vocabulary import Confidential, Constraint, Principal

__all__ = [
    "DOCUMENT_BYTES",
    "PROCESS_KEYS",
    "RULE_BYTES",
    "TEXT_BYTES",
    "DocumentKeys",
    "Keys",
]

DOCUMENT_BYTES = 8
"""A text's key begins with so many bytes that are its document's."""

TEXT_BYTES = 12
"""And so many are its own."""

RULE_BYTES = 8

_KNOWN = 10_000


class Keys:
    """
    The fingerprints of one state.

    Args:
        secret: 32 random bytes.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._rules: dict[tuple[str, ...], bytes] = {}

    def __repr__(self) -> str:
        return "Keys()"

    def of(self, *parts: str, size: int = 16) -> bytes:
        """Return the keyed hash of parts, each with its length."""
        digest = blake2b(key=self._secret, digest_size=size)
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big"))
            digest.update(data)
        return digest.digest()

    def document(self, tenant: str | None, document: str) -> bytes:
        """Return the key of a document within a tenant."""
        scope = "" if tenant is None else f"tenant {tenant}"
        return self.of("document", scope, document, size=DOCUMENT_BYTES)

    def text(self, document: bytes, kind: str, text: str) -> bytes:
        """
        Return the key of a text of a document, whose key it begins with.

        Args:
            document: The key of the document.
            kind: A text, a value of metadata, or a leaf.
            text: Its words.
        """
        return document + self.of(kind, document.hex(), text, size=TEXT_BYTES)

    def passage(self, text: str) -> bytes:
        """Return the fingerprint by which a store knows that a passage was edited."""
        return self.of("passage", text)

    def rule(self, constraint: Constraint) -> bytes:
        """Return the key of what a constraint asks for: its words, not its id."""
        sensitivity = constraint.sensitivity
        words = (
            constraint.text,
            *(() if sensitivity is None else (f"{sensitivity}",)),
        )
        if words not in self._rules:
            if len(self._rules) >= _KNOWN:
                self._rules.clear()
            self._rules[words] = self.of("rule", *words, size=RULE_BYTES)
        return self._rules[words]

    def audience(self, principal: Principal | None) -> str:
        """Return four digits of the key, and twelve that are of one principal alone."""
        said: object = None
        if principal is not None:
            attributes = {name: _plain(v) for name, v in principal.attributes.items()}
            roles = sorted(principal.roles)
            said = [principal.id, principal.tenant, roles, principal.level, attributes]
        tag = self.of("audience", json.dumps(said, sort_keys=True, default=_plain))
        return self.of("key of audiences", size=2).hex() + tag[:6].hex()

    def of_document(self, document: bytes) -> DocumentKeys:
        """Return the hashes of one document's forms."""
        return DocumentKeys(self._secret, document)

    def tag(self, *parts: bytes) -> bytes:
        """Return what shows that a row is as it was written."""
        data = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        return blake2b(b"row" + data, key=self._secret, digest_size=12).digest()


class DocumentKeys(Confidential):
    """
    The hashes of the forms of one document, which no other document shares.

    Args:
        secret: Of the state.
        document: Its key.
    """

    __slots__ = ("_document", "_secret")

    def __init__(self, secret: bytes, document: bytes) -> None:
        self._secret, self._document = secret, document

    def __repr__(self) -> str:
        return "DocumentKeys()"

    def of(self, kind: str, text: str, size: int = 8) -> bytes:
        """Return the hash of a form or of words."""
        data = f"{kind}\x1f{text}".encode("utf-8", "surrogatepass")
        data = self._document + data
        return blake2b(data, key=self._secret, digest_size=size).digest()


def _plain(value: object) -> object:
    """Return what of an attribute is the same whenever its principal is made."""
    if isinstance(value, (set, frozenset, list, tuple)):
        return sorted(repr(_plain(item)) for item in value)
    known = isinstance(value, (str, int, float, bool)) or value is None
    return value if known else type(value).__qualname__


PROCESS_KEYS = Keys(secrets.token_bytes(32))
"""For what no state on disk knows."""
