"""
What undoes masking: from an entity, or its pseudonym, to the forms it was seen under.

It has no repr and does not pickle. It can be read in memory, or sealed with a cipher of
the host's choice and opened again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Self

from sdrag.errors import UsageError
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Confidential, Entity

__all__ = ["Originals"]

_Entry = tuple[str, tuple[str, ...], tuple[str, ...]]
"""Type, forms, and pseudonyms where an entity has any."""


class Originals(Confidential):
    """
    The forms of masked entities.

    Args:
        forms: By entity id, the type, the forms, and the entity's pseudonyms.
    """

    __slots__ = ("_forms", "_named")

    def __init__(self, forms: Mapping[str, _Entry]) -> None:
        self._forms = dict(forms)
        self._named: dict[str, list[str]] = {}
        for id_, (_, _, names) in forms.items():
            for name in names:
                self._named.setdefault(name, []).append(id_)

    @classmethod
    def of(
        cls,
        entities: Sequence[Entity],
        pseudonyms: Mapping[str, str],
        labels: Mapping[str, str],
    ) -> Self:
        """
        Return the originals of masked entities.

        Args:
            entities: What is masked.
            pseudonyms: By folded form; empty where labels are put in place.
            labels: By id, what is put in place of an entity.
        """
        rows: dict[str, _Entry] = {}
        for entity in entities:
            known = [pseudonyms.get(fold_text(form)) for form in entity.forms]
            own = labels[entity.id] if pseudonyms else None
            names = tuple(dict.fromkeys(name for name in (*known, own) if name))
            rows[entity.id] = (entity.type, entity.forms, names)
        return cls(rows)

    @classmethod
    def opened(cls, sealed: bytes, decrypt: Callable[[bytes], bytes]) -> Self:
        """
        Open what `sealed` returned.

        Args:
            sealed: The encrypted map.
            decrypt: Undoes `encrypt`, for example `Fernet(key).decrypt`.

        Raises:
            UsageError: It cannot be opened, or holds no originals.
        """
        try:
            held = json.loads(decrypt(sealed))
            return cls(
                {
                    str(id_): (str(type_), tuple(forms), tuple(*names))
                    for id_, (type_, forms, *names) in held.items()
                }
            )
        except Exception as error:  # noqa: BLE001 -- a cipher raises what it likes
            raise UsageError(
                f"The originals cannot be opened ({type(error).__name__}).",
                hint="Give the cipher and the key that they were sealed with.",
            ) from None

    def __len__(self) -> int:
        return len(self._forms)

    def forms_of(self, name: str) -> tuple[str, ...]:
        """
        Return the forms of a masked entity, the commonest first.

        Args:
            name: The entity's id, or a pseudonym as it is in the text.
        """
        ids = self._named.get(name, [name])
        return tuple(dict.fromkeys(form for id_ in ids for form in self._forms[id_][1]))

    def sealed(self, encrypt: Callable[[bytes], bytes]) -> bytes:
        """
        Return the map encrypted.

        Args:
            encrypt: For example `cryptography.fernet.Fernet(key).encrypt`.

        Raises:
            UsageError: The cipher returned what it was given.
        """
        rows = {
            id_: (type_, forms, names) if names else (type_, forms)
            for id_, (type_, forms, names) in self._forms.items()
        }
        plain = json.dumps(rows, ensure_ascii=False).encode()
        cipher = encrypt(plain)
        if plain in cipher:
            raise UsageError(
                "`encrypt` returned the plain text; nothing is written.",
                hint="Pass a function that encrypts.",
            )
        return cipher
