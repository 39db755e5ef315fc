"""
Sealing a file with a key: whoever has not the key can neither read nor change it.

AES-256 in Galois/Counter Mode, from `cryptography`. The key is derived from the host's
secret by HKDF, under a salt of its own for each file, so that one secret can seal many.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdrag.errors import UsageError, require_extra
from sdrag.vocabulary import Confidential

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

__all__ = ["KEY_BYTES", "Seal"]

KEY_BYTES = 16
_MARK = b"sdrag sealed 1\n"
_SALT, _NONCE, _LARGEST = 16, 12, 2**31 - 64


@dataclass(frozen=True, slots=True, repr=False)
class Seal(Confidential):
    """
    A cipher under a secret.

    Args:
        secret: Of 16 bytes or more, from a generator of random bytes: a password can be
            guessed.

    Raises:
        UsageError: The secret is too short.
        MissingExtraError: The extra `linkage` is not installed.
    """

    secret: bytes

    def __post_init__(self) -> None:
        if len(self.secret) < KEY_BYTES:
            raise UsageError(
                f"The key has {len(self.secret)} bytes.",
                hint=f"A key has {KEY_BYTES} or more: a shorter one can be guessed.",
            )
        self._cipher(b"")  # a missing extra is an error now, not after the work

    def encrypt(self, plain: bytes) -> bytes:
        """
        Seal data.

        Raises:
            UsageError: It is over two gigabytes.
        """
        if len(plain) > _LARGEST:
            raise UsageError(
                f"{len(plain):,} bytes are too many to be sealed.",
                hint="Mask the corpus in several parts.",
            )
        head = _MARK + secrets.token_bytes(_SALT + _NONCE)
        salt, nonce = head[len(_MARK) : -_NONCE], head[-_NONCE:]
        return head + self._cipher(salt).encrypt(nonce, plain, head)

    def decrypt(self, sealed: bytes) -> bytes:
        """
        Open what `encrypt` returned.

        Raises:
            UsageError: It is no such data, was changed, or is of another key.
        """
        size = len(_MARK) + _SALT + _NONCE
        head = sealed[:size]
        if not sealed.startswith(_MARK) or len(head) < size:
            raise UsageError("The file is not a sealed one of sdrag's.")
        with require_extra("linkage", "A sealed file"):
            from cryptography.exceptions import InvalidTag  # noqa: PLC0415 -- an extra
        salt, nonce = head[len(_MARK) : -_NONCE], head[-_NONCE:]
        try:
            return self._cipher(salt).decrypt(nonce, sealed[size:], head)
        except InvalidTag:
            raise UsageError(
                "The file is of another key, or was changed.",
                hint="Give the key that it was sealed with.",
            ) from None

    def _cipher(self, salt: bytes) -> AESGCM:
        with require_extra("linkage", "A sealed file"):
            from cryptography.hazmat.primitives.ciphers import (  # noqa: PLC0415 -- an extra
                aead,
            )
            from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415 -- an extra
            from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415 -- an extra
        derived = HKDF(SHA256(), 32, salt, b"sdrag linkage").derive(self.secret)
        return aead.AESGCM(derived)
