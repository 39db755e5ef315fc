"""
Taking masked forms out of text, in one pass.

All forms of all masked entities are one automaton, so ten thousand forms cost what one
costs. It goes over the text as it is and decoded, both folded: neither case, accents,
typographic characters and runs of space hide a form, nor do base64, escapes, letters
apart or digits for letters. What is written backwards or by rot13 is not looked for.
Matches count at word boundaries and are mapped back to the original characters; where
they overlap, their union is replaced by what represents the longest. A form is masked
wherever it is, also in a document in which nobody found it: what is masked must not
remain anywhere.

A label must not spell a masked form, and putting it in must not make one: if "name" is
to be masked, "[NAME]" will not do. So labels are chosen against the forms, and where a
form holds a bracket or was found decoded the result is searched again.

A pseudonym is of the entity, for it is made of the entity's id, not of a form. One that
was given to a form stays with it for good: texts that hold it may be in an index. Where
several people bear a name, the document says whose it is; in any other text the name is
replaced by its type.

A name is also looked for with its umlauts spelled out, with the family name first, and
with the full stop of its last initial; but not where that cuts a form as it is: "Mrs
Lee, Ann Lee" holds no "Lee, Ann".
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from sdrag.errors import InternalError, UsageError
from sdrag.linkage.entity_schema import ROLES
from sdrag.linkage.form_search import FormSearch, inner_offsets
from sdrag.linkage.resolution.person_names import other_spellings
from sdrag.text.folding import fold_text
from sdrag.text.readings import readings
from sdrag.vocabulary import Confidential, Entity, Span

__all__ = ["Masker", "MaskerRecipe", "Replaced", "Style", "check_style"]

Style = Literal["label", "redact", "pseudonym"]

_PLAIN = ("[REDACTED]", "[***]", "[\u2026]", "\u2588\u2588\u2588")
_ROUNDS = 8
_KEY_BYTES = 16
_DEPTH = 32
_JOINTS = re.compile(r"[_.+-]+")
"""What is between words where no space can be."""
_NONE: Mapping[str, str] = MappingProxyType({})

Bearers = Mapping[str, Mapping[str, str]]
"""By id of a document and folded name, the id of the entity that bears it there."""

_NO_BEARERS: Bearers = MappingProxyType({})

MaskerRecipe = tuple[
    tuple[Entity, ...],
    Style,
    bytes | None,
    dict[str, str],
    tuple[str, ...],
    Bearers,
    bytes,
]
"""What a `Masker` takes, in the order of its arguments, and its secret at the end."""

_Match = tuple[int, int, int, int, bool]
"""Start, end, the form's length, its number, and whether the text was decoded."""


@dataclass(frozen=True, slots=True, repr=False)
class Replaced(Confidential):
    """
    A text after masking.

    Args:
        text: What remains.
        spans: Where in the original something was taken out; apart and ascending.
        entity_ids: What was found, for each span that of the longest form.
    """

    text: str
    spans: tuple[Span, ...]
    entity_ids: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Replaced({len(self.text)} characters, {len(self.spans)} spans)"


class Masker(Confidential):
    """
    Replaces every form of every masked entity.

    Args:
        entities: What is masked.
        style: `label` puts the type in place, `redact` a placeholder that says
            nothing, `pseudonym` a name that is the same wherever the entity is.
        key: For pseudonyms, of 16 bytes or more; without it they can be guessed.
        given: By folded form, the pseudonyms that were given before, first ones first.
        secret: What aliases of ids are made with; the key, or chance, by default.
        order: Ids whose aliases are their numbers where there is no key.
        bearers: Of names that several entities share.

    Raises:
        UsageError: Pseudonyms were asked for without a key.
    """

    __slots__ = (
        "_bearers",
        "_given",
        "_labels",
        "_order",
        "_owner",
        "_plain",
        "_plain_forms",
        "_pseudonyms",
        "_recheck",
        "_search",
        "_secret",
    )

    def __init__(
        self,
        entities: Sequence[Entity],
        style: Style = "label",
        key: bytes | None = None,
        *,
        given: Mapping[str, str] = _NONE,
        secret: bytes | None = None,
        order: Sequence[str] = (),
        bearers: Bearers = _NO_BEARERS,
    ) -> None:
        check_style(style, key)
        self._given = (
            *(tuple(entities), style, key),
            *(dict(given), tuple(order), dict(bearers)),
        )
        owners: dict[str, tuple[Entity, str]] = {}
        for entity in entities:
            for form in map(fold_text, entity.forms):
                owners.setdefault(form, (entity, form))
        owners.pop("", None)
        self._plain_forms = len(owners)
        for entity in entities:
            named = ROLES.get(entity.type, "name") == "name"
            for form in entity.forms if named else ():
                for written in other_spellings(form):
                    owners.setdefault(written, (entity, fold_text(form)))
        self._search = FormSearch(list(owners))
        self._secret = secret or key or secrets.token_bytes(32)
        self._order = {} if key else {name: at for at, name in enumerate(order, 1)}
        self._recheck = any("[" in form or "]" in form for form in owners)
        self._plain = self._safe(())
        shared = {form for names in bearers.values() for form in names}
        own = {form: name for form, name in given.items() if form not in shared}
        self._labels = self._chosen(entities, style, key, own)
        self._owner = tuple(
            (form, entity.id, self._label_of(written, entity, style, given))
            if form not in shared or style != "pseudonym"
            else (form, entity.id, given.get(form) or self._safe((f"[{entity.type}]",)))
            for written, (entity, form) in owners.items()
        )
        self._bearers = {
            document: {form: id_ for form, id_ in names.items() if id_ in self._labels}
            for document, names in bearers.items()
        }
        new = zip(owners, self._owner, strict=True) if style == "pseudonym" else ()
        self._pseudonyms = {
            **given,
            **{form: row[2] for form, row in new if row[0] not in shared},
        }

    @property
    def secret(self) -> bytes:
        """What aliases are made with."""
        return self._secret

    @property
    def recipe(self) -> MaskerRecipe:
        """What the same masker is made of in another process."""
        return (*self._given, self._secret)

    @classmethod
    def of_recipe(cls, recipe: MaskerRecipe) -> Masker:
        """Make the masker again."""
        entities, style, key, given, order, bearers, secret = recipe
        return cls(
            entities,
            style,
            key,
            given=given,
            secret=secret,
            order=order,
            bearers=bearers,
        )

    @property
    def labels(self) -> dict[str, str]:
        """What stands for each entity, by its id."""
        return dict(self._labels)

    @property
    def pseudonyms(self) -> dict[str, str]:
        """By folded form, also those that were given before, the first ones first."""
        return dict(self._pseudonyms)

    def find(self, text: str) -> list[tuple[Span, str]]:
        """Return where masked forms are and whose they are; apart and ascending."""
        found, _ = self._found(text)
        return [(span, self._owner[pattern][1]) for span, pattern in found]

    def _found(self, text: str) -> tuple[list[tuple[Span, int]], bool]:
        """Return the spans and the forms' numbers, and whether any was in disguise."""
        found: list[_Match] = []
        for number, folded in enumerate(readings(text)):
            for pattern, start, end in self._search.matches(folded.text):
                span = folded.span(start, end)
                match = (span.start, span.end, end - start, pattern, number > 0)
                found.append(match)
        united = _united(self._uncut(found))
        spans = [(Span(start, end), pattern) for start, end, _, pattern, _ in united]
        return spans, any(disguised for *_, disguised in united)

    def _uncut(self, found: list[_Match]) -> list[_Match]:
        """Leave out other spellings that cut a form as it is."""
        forms = self._plain_forms
        if all(pattern < forms for _, _, _, pattern, _ in found):
            return found
        inner = inner_offsets(match[:2] for match in found if match[3] < forms)
        return [m for m in found if m[3] < forms or not inner.intersection(m[:2])]

    def replace(self, text: str, *documents: str | None) -> Replaced:
        """
        Replace all masked forms.

        Args:
            text: Any text.
            documents: Ids of what it is from; the first that is known says whose the
                names are that several entities share.
        """
        found, disguised = self._found(text)
        known = (self._bearers[name] for name in documents if name in self._bearers)
        bearers = next(known, _NONE)
        owned = [(span, *self._owned(pattern, bearers)) for span, pattern in found]
        result = _put(text, [(span, label) for span, _, label in owned])
        if self._recheck or disguised:
            for _ in range(_ROUNDS):
                again = self.find(result)
                if not again:
                    break
                result = _put(result, [(span, "\u2588") for span, _ in again])
            else:
                raise InternalError("Masking did not settle; the text is withheld.")
        return Replaced(
            result,
            tuple(span for span, _ in found),
            tuple(id_ for _, id_, _ in owned),
        )

    def _owned(self, pattern: int, bearers: Mapping[str, str]) -> tuple[str, str]:
        """Return whose a form is, and what represents it."""
        form, id_, label = self._owner[pattern]
        if form in bearers:
            return bearers[form], self._labels[bearers[form]]
        return id_, label

    def alias(self, name: str) -> str:
        """
        Return an id that holds nothing masked; always the same for one id.

        An id may be a path, so "jane_doe.txt" holds "Jane Doe".
        """
        if not self.find(name) and not self.find(_JOINTS.sub(" ", name)):
            return name
        if name in self._order:
            return f"document-n{self._order[name]:07d}"
        return (
            f"document-{hmac.digest(self._secret, name.encode(), 'sha256').hex()[:16]}"
        )

    def clean(self, value: Any, *documents: str | None, depth: int = 0) -> Any:
        """Replace masked forms in every string of a nested value of plain data."""
        if isinstance(value, str):
            return self.replace(value, *documents).text
        if depth > _DEPTH:
            return None
        if isinstance(value, Mapping):
            return {
                self.clean(key, *documents, depth=depth + 1): self.clean(
                    inner, *documents, depth=depth + 1
                )
                for key, inner in value.items()
            }
        if isinstance(value, (list, tuple, set, frozenset)):
            items = [self.clean(item, *documents, depth=depth + 1) for item in value]
            return _same_kind(value, items)
        if value is None or isinstance(value, (bool, float, int)):
            return self._clean_number(value)
        return self.replace(str(value)).text

    def _clean_number(self, value: float | None) -> float | str | None:
        return value if value is None or not self.find(str(value)) else self._plain

    def _chosen(
        self,
        entities: Sequence[Entity],
        style: Style,
        key: bytes | None,
        given: Mapping[str, str],
    ) -> dict[str, str]:
        """Return what represents each entity: the pseudonym it was given first."""
        if style != "pseudonym":
            types = {
                entity.id: _PLAIN[0] if style == "redact" else f"[{entity.type}]"
                for entity in entities
            }
            safe = {label: self._safe((label,)) for label in set(types.values())}
            return {id_: safe[label] for id_, label in types.items()}
        ranked = {form: (at, given[form]) for at, form in enumerate(given)}
        return {
            entity.id: self._safe((*_before(entity, ranked), *_pseudonyms(entity, key)))
            for entity in entities
        }

    def _label_of(
        self, form: str, entity: Entity, style: Style, given: Mapping[str, str]
    ) -> str:
        """Return what is put in place of a form: the pseudonym it has, or its own."""
        label = self._labels[entity.id]
        if style != "pseudonym" or given.get(form, label) == label:
            return label
        return self._safe((given[form], label))

    def _safe(self, labels: Iterable[str]) -> str:
        """Return the first label, else the first plain one, without a masked form."""
        for candidate in (*labels, *_PLAIN):
            if not self._spells(candidate):
                return candidate
        return "\u2588"

    def _spells(self, label: str) -> bool:
        """Say whether a label holds a masked form."""
        found = (any(self._search.matches(one.text)) for one in readings(label))
        return any(found)


def check_style(style: str, key: bytes | None) -> None:
    """
    See that what is put in place of a value can be made.

    Raises:
        UsageError: Pseudonyms were asked for without a key.
    """
    if style == "pseudonym" and (key is None or len(key) < _KEY_BYTES):
        raise UsageError(
            f"Pseudonyms need a key of {_KEY_BYTES} bytes or more.",
            hint="Pass a key: without one they could be guessed.",
        )


def _before(entity: Entity, ranked: Mapping[str, tuple[int, str]]) -> tuple[str, ...]:
    """Return the pseudonym that one of an entity's forms was given first."""
    known = [ranked[form] for form in map(fold_text, entity.forms) if form in ranked]
    return (min(known)[1],) if known else ()


def _pseudonyms(entity: Entity, key: bytes | None) -> tuple[str, str]:
    """Return a new pseudonym, with its type and without; after section 4.2.4."""
    digest = hmac.digest(key or b"", entity.id.encode(), "sha256").hex()[:16]
    return f"[{entity.type}_{digest}]", f"[{digest}]"


def _put(text: str, found: Iterable[tuple[Span, str]]) -> str:
    pieces: list[str] = []
    done = 0
    for span, label in found:
        pieces += (text[done : span.start], label)
        done = span.end
    pieces.append(text[done:])
    return "".join(pieces)


def _same_kind(value: Any, items: list[Any]) -> Any:
    """Return the items as a set or tuple where the value was one, else as a list."""
    if isinstance(value, (set, frozenset)):
        return set(items)
    return tuple(items) if isinstance(value, tuple) else items


def _united(found: list[_Match]) -> list[_Match]:
    """Join matches that overlap; each union belongs to its longest match."""
    united: list[_Match] = []
    for start, end, length, owner, disguised in sorted(
        found, key=lambda item: (item[0], -item[1])
    ):
        if united and start < united[-1][1]:
            low, high, most, longest_owner, before = united.pop()
            if length > most:
                most, longest_owner = length, owner
            either = disguised or before
            united.append((low, max(high, end), most, longest_owner, either))
        else:
            united.append((start, end, length, owner, disguised))
    return united
