"""
Keyed fingerprints: what everything in a state file is known by.

Documents, texts and constraints are in the file as hashes under a key that lies in a
file of its own, so the state alone, in a backup say, lets nobody try texts against it.
Whoever has both can: a short name is guessed, hashed and looked up.

The key can be changed without the texts. Its first half makes the hashes and stays; the
second, which a key that was never rotated lacks, encrypts them, each to as many bytes,
so that the same hash stays the same. For that there is a Feistel network of ten rounds,
as in FF1 (NIST SP 800-38G), of keyed BLAKE2b. To rotate is to decrypt every hash and to
encrypt it anew. Without the new second half nobody can try texts against them.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import astuple
from hashlib import blake2b

from sdrag.vocabulary import Confidential, Constraint, Principal

DOCUMENT_BYTES = 8
"""A text's key begins with so many bytes that are its document's."""

TEXT_BYTES = 12
"""And so many are its own."""

RULE_BYTES = 8

_HALF = 32
_KNOWN = 10_000
_ROUNDS = range(10)
_WRITTEN = re.compile("[0-9a-f]{16}")
"""A hash of a document's form, as it is written down."""


class Keys:
    """The fingerprints of one state, under a secret of 32 random bytes, or of 64."""

    def __init__(self, secret: bytes) -> None:
        self._secret, self._cover = secret[:_HALF], secret[_HALF:]
        self._rules: dict[tuple[object, ...], bytes] = {}

    def of(self, *parts: str, size: int = 16) -> bytes:
        """Return the keyed hash of parts, each with its length."""
        data = (part.encode("utf-8", "surrogatepass") for part in parts)
        return self._hash(b"", data, size)

    def tag(self, *parts: bytes) -> bytes:
        """Return what shows that a row is as it was written."""
        return self._hash(b"row", parts, 12)

    def _hash(self, start: bytes, parts: Iterable[bytes], size: int) -> bytes:
        digest = blake2b(start, key=self._secret, digest_size=size)
        for part in parts:
            digest.update(len(part).to_bytes(8, "big") + part)
        return self.cover(digest.digest())

    def cover(self, digest: bytes) -> bytes:
        """Encrypt a hash of an even number of bytes, if the key was ever rotated."""
        return self._permute(digest, _ROUNDS) if self._cover else digest

    def uncover(self, digest: bytes) -> bytes:
        """Decrypt a hash."""
        if not self._cover:
            return digest
        half = len(digest) // 2
        swapped = digest[half:] + digest[:half]
        swapped = self._permute(swapped, reversed(_ROUNDS))
        return swapped[half:] + swapped[:half]

    def _permute(self, digest: bytes, rounds: Iterable[int]) -> bytes:
        half = len(digest) // 2
        left, right = digest[:half], digest[half:]
        for number in rounds:
            made_of = bytes([number]) + right
            pad = blake2b(made_of, key=self._cover, digest_size=half).digest()
            mixed = int.from_bytes(left, "big") ^ int.from_bytes(pad, "big")
            left, right = right, mixed.to_bytes(half, "big")
        return left + right

    def cover_written(self, text: str) -> str:
        """Encrypt every hash of `DocumentKeys` in what is written in a row."""
        return self._replace(text, self.cover)

    def uncover_written(self, text: str) -> str:
        """Decrypt them."""
        return self._replace(text, self.uncover)

    def _replace(self, text: str, change: Callable[[bytes], bytes]) -> str:
        if not self._cover:
            return text
        return _WRITTEN.sub(lambda m: change(bytes.fromhex(m.group())).hex(), text)

    def rotated(self) -> bytes:
        """Return another secret for the same hashes."""
        return self._secret + secrets.token_bytes(_HALF)

    def document(self, tenant: str | None, document: str) -> bytes:
        """Return the key of a document within a tenant."""
        scope = "" if tenant is None else f"tenant {tenant}"
        return self.of("document", scope, document, size=DOCUMENT_BYTES)

    def text(self, document: bytes, kind: str, text: str) -> bytes:
        """
        Return the key of a text of a document, whose key it begins with.

        Its kind says whether it is a text, a value of metadata, or a leaf.
        """
        known = self.uncover(document).hex()
        return document + self.of(kind, known, text, size=TEXT_BYTES)

    def passage(self, text: str) -> bytes:
        """Return the fingerprint by which a store knows that a passage was edited."""
        return self.of("passage", text)

    def rule(self, constraint: Constraint) -> bytes:
        """Return the key of what a constraint asks for, by its words and not its id."""
        shown, patterns = constraint.examples, constraint.patterns
        known = constraint.text, constraint.sensitivity, constraint.keep
        asked = *known, shown, patterns
        if asked not in self._rules:
            if len(self._rules) >= _KNOWN:
                self._rules.clear()
            words = [constraint.text, constraint.sensitivity or ""]
            if constraint.keep:
                words.append(json.dumps([astuple(keep) for keep in constraint.keep]))
            if shown:
                words.append(json.dumps({"examples": [*map(astuple, shown)]}))
            if patterns:
                words.append(json.dumps({"patterns": [*map(astuple, patterns)]}))
            self._rules[asked] = self.of("rule", *filter(None, words), size=RULE_BYTES)
        return self._rules[asked]

    def audience(self, principal: Principal | None) -> str:
        """Return four digits of the key, and twelve that are of one principal alone."""
        known: object = None
        if principal is not None:
            attributes = {name: _plain(v) for name, v in principal.attributes.items()}
            roles = sorted(principal.roles)
            level = principal.level
            known = [principal.id, principal.tenant, roles, level, attributes]
        tag = self.of("audience", json.dumps(known, sort_keys=True, default=_plain))
        return self.of("key of audiences", size=2).hex() + tag[:6].hex()

    def person(self, principal: Principal | None) -> str:
        """Return the pseudonym of who asks, as audits have it; empty for nobody."""
        if principal is None:
            return ""
        known = json.dumps([principal.id, principal.tenant], default=_plain)
        return self.of("person", known, size=8).hex()

    def session(self, principal: Principal | None, session_id: str | None) -> bytes:
        """Return the key of a session; without an id, all of a principal is one."""
        known = principal and (principal.id, principal.tenant)
        return self.of("session", json.dumps([known, session_id]))

    def mark_release(
        self, principal: Principal | None, policy: str, texts: Iterable[str]
    ) -> str:
        """
        Return the mark of texts that were released to a principal, None being nobody.

        A thread or a memory can be shared, so a message carries a mark and is read
        again under the policy, given by its hash, before another principal's model sees
        it. Nobody without the key can make a mark, or test a guess of a principal.
        """
        identity = ["nobody"]
        if principal is not None:
            attributes = sorted(principal.attributes.items(), key=repr)
            roles, level = sorted(principal.roles), principal.level
            named = (principal.id, principal.tenant, roles, level, attributes)
            identity = ["principal", *map(repr, named)]
        return self.of("released to", policy, *identity, *texts).hex()

    @property
    def placeholders(self) -> bytes:
        """What is right of the placeholders of this state is made with."""
        return self.of("placeholders", size=32)

    def release(self, policy: str, text: str) -> str:
        """Return the mark of a text as it was released under a policy, by its hash."""
        return self.of("released", policy, text, size=12).hex()

    def of_document(self, document: bytes) -> DocumentKeys:
        """Return the hashes of one document's forms, which no rotation changes."""
        return DocumentKeys(self._secret, self.uncover(document))


class DocumentKeys(Confidential):
    """
    The hashes of the forms of one document, which no other document shares.

    They are made by the thousand, so they are encrypted only where they are kept.
    """

    __slots__ = ("_begun",)

    def __init__(self, secret: bytes, document: bytes) -> None:
        self._begun = blake2b(document, key=secret, digest_size=8)

    def of(self, kind: str, text: str) -> str:
        """Return the hash of a form, in 16 hexadecimal digits."""
        digest = self._begun.copy()
        digest.update(f"{kind}\x1f{text}".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def join_rules(rules: Iterable[bytes]) -> bytes:
    """Write the keys of rules down, one after the other, sorted."""
    return b"".join(sorted(rules))


def split_rules(joined: bytes) -> list[bytes]:
    """Read the keys of rules."""
    starts = range(0, len(joined), RULE_BYTES)
    return [joined[start : start + RULE_BYTES] for start in starts]


def _plain(value: object) -> object:
    """Return what of an attribute is the same whenever its principal is made."""
    if isinstance(value, (set, frozenset, list, tuple)):
        return sorted(repr(_plain(item)) for item in value)
    known = isinstance(value, (str, int, float, bool)) or value is None
    return value if known else type(value).__qualname__


PROCESS_KEYS = Keys(secrets.token_bytes(_HALF))
"""For what no state on disk knows."""
