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

With a key, a label has a number that its entity has in this document alone: a reader
tells two people apart, and nobody joins two documents by it.

A label must not spell a masked form, and putting it in must not make one: if "name" is
to be masked, "[NAME]" will not do. So labels are chosen against the forms, and where a
form holds a bracket or was found decoded the result is searched again.

A pseudonym is of the entity, for it is made of the entity's id, not of a form. One that
was given to a form stays with it for good: texts that hold it may be in an index. What
was masked to break a chain has none, for a pseudonym would keep it: it has a label with
a number, and `refused` says so. Digits of a pseudonym are chance, and spell nothing.

A name is also looked for with its umlauts spelled out, with the family name first, and
with the full stop of its last initial; but not where that cuts a form as it is: "Mrs
Lee, Ann Lee" holds no "Lee, Ann".
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal

from sdrag.detectors.generalise import generalise
from sdrag.errors import InternalError, UsageError
from sdrag.placeholders import BLOCK, DEFAULT, PLAIN, Placeholders, with_brackets
from sdrag.policy.sections import ROLES
from sdrag.text.cells import apply_edits, place, read_cells
from sdrag.text.folding import fold_text
from sdrag.text.names import other_spellings
from sdrag.text.phrase_matcher import FormSearch
from sdrag.text.readings import readings
from sdrag.text.spans import SpanUnion, splice
from sdrag.vocabulary import Confidential, Entity, Span

Style = Literal["label", "type", "redact", "pseudonym"]
Refusal = Literal["keeps-chain", "spells-masked"]

_ROUNDS = 8
_KEY_BYTES = 16
_DEPTH = 32
_JOINTS = re.compile(r"[_.+-]+")
"""What is between words where no space can be."""

_CHANCE = re.compile(r"_?[0-9a-f]{16}(?=\]\Z)")
"""What of a pseudonym no word decides."""

_Match = tuple[int, int, int, int, bool]
"""Start, end, the form's length, its number, and whether the text was decoded."""


@dataclass(frozen=True, slots=True, repr=False)
class Replaced(Confidential):
    """
    A text after masking.

    Args:
        spans: Where in the original something was taken out; apart and ascending.
    """

    text: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, repr=False, eq=False)
class Masker(Confidential):
    """
    Replaces every form of every masked entity.

    Args:
        entities: What is masked, ascending by id.
        style: `label` puts the type in place, with a number if there is a key, `type`
            without one, `redact` a placeholder that says nothing, `pseudonym` a name
            that is the same wherever the entity is.
        key: For pseudonyms and numbers, of 16 bytes or more: without it they could be
            guessed.
        given: By folded form, the pseudonyms that were given before, first ones first.
        secret: What aliases of ids are made with; the key, or chance, by default.
        order: Ids whose aliases are their numbers where there is no key.
        linking: Forms, as they are searched for, of what was masked to break chains.
        placeholders: What is put in place of values, and is not searched.
        instead: With the style `label`, how coarse a value is said in its place.
    """

    entities: tuple[Entity, ...]
    style: Style = "label"
    key: bytes | None = None
    given: Mapping[str, str] = field(default_factory=dict)
    secret: bytes = b""
    order: tuple[str, ...] = ()
    linking: frozenset[str] = frozenset()
    placeholders: Placeholders = DEFAULT
    instead: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_style(self.style, self.key)
        secret = self.secret or self.key or secrets.token_bytes(32)
        object.__setattr__(self, "secret", secret)

    @cached_property
    def _plain(self) -> dict[str, Entity]:
        """By a form as it is."""
        owners: dict[str, Entity] = {}
        for entity in self.entities:
            for form in map(fold_text, entity.forms):
                owners.setdefault(form, entity)
        owners.pop("", None)  # of a plan that was written by hand
        return owners

    @cached_property
    def _owners(self) -> dict[str, Entity]:
        """By a form as it is searched for: first as they are, then other spellings."""
        owners = dict(self._plain)
        for entity in self.entities:
            for written in _respell(entity):
                owners.setdefault(written, entity)
        owners.pop("", None)
        return owners

    @cached_property
    def _search(self) -> FormSearch:
        return FormSearch(self._owners)

    @cached_property
    def _replacements(self) -> list[tuple[str, str]]:
        """Of each form as it is searched for: whose it is, and what is put in place."""
        rows = []
        for written, entity in self._owners.items():
            label = self.labels[entity.id]
            if self.style == "pseudonym" and written in self.given:
                label = self._safe((self.given[written], label))
            elif self.style == "pseudonym" and written in self.linking:
                label = self._types[entity.id]
            elif coarse := self._coarse.get(written):
                label = self._safe((coarse, label))
            rows.append((entity.id, label))
        return rows

    @cached_property
    def _coarse(self) -> dict[str, str]:
        """How values are said, by form; none that was masked to break a chain."""
        entities = self.entities if self.instead and self.style == "label" else ()
        forms = {fold_text(form): form for each in entities for form in each.forms}
        return {
            folded: generalise(form, self.instead)
            for folded, form in forms.items()
            if folded not in self.linking
        }

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """What stands for each entity, by its id: the pseudonym it was given first."""
        if self.style != "pseudonym":
            return self._types
        given = {form: at for at, form in enumerate(self.given)}
        return {e.id: self._pseudonym(e, given) for e in self.entities}

    @cached_property
    def _types(self) -> Mapping[str, str]:
        """What says the type of each entity, by its id, or nothing of it."""
        types = {
            entity.id: PLAIN[0] if self.style == "redact" else f"[{entity.type}]"
            for entity in self.entities
        }
        safe = {label: self._safe((label,)) for label in set(types.values())}
        return {id_: safe[label] for id_, label in types.items()}

    @cached_property
    def refused(self) -> Mapping[str, Refusal]:
        """Why an entity has no pseudonym where those were asked for, by its id."""
        if self.style != "pseudonym":
            return {}
        plain = {id_ for id_, label in self.labels.items() if label in PLAIN}
        spelled: dict[str, Refusal] = dict.fromkeys(plain, "spells-masked")
        kept = self.linking - self.given.keys()
        linking = {owner.id for form, owner in self._plain.items() if form in kept}
        return spelled | dict.fromkeys(linking, "keeps-chain")

    def _pseudonym(self, entity: Entity, given: Mapping[str, int]) -> str:
        """Return what was given first, else a new one, after section 4.2.4."""
        known = (form for form in map(fold_text, entity.forms) if form in given)
        first = sorted(known, key=given.__getitem__)[:1]
        digest = _digest(self.key or b"", entity.id)
        new = (self.placeholders.pseudonym(of, digest) for of in (entity.type, ""))
        return self._safe((*(self.given[form] for form in first), *new))

    @cached_property
    def pseudonyms(self) -> Mapping[str, str]:
        """By folded form, also those that were given before, the first ones first."""
        if self.style != "pseudonym":
            return dict(self.given)
        new = zip(self._owners, self._replacements, strict=True)
        made = {w: label for w, (_, label) in new if w not in self.linking}
        return {**self.given, **made}

    @property
    def name(self) -> str:
        """What tells it from a masker that masks otherwise, and tells nothing else."""
        forms = [(entity.id, entity.type, entity.forms) for entity in self.entities]
        linking = sorted(self.linking)
        return _digest(self.secret, repr((forms, self.style, self.given, linking)))

    def forms_of(self, name: str) -> tuple[str, ...]:
        """
        Return the forms of a masked entity, the commonest first: this undoes masking.

        Args:
            name: The entity's id, or a pseudonym as it is in the text.
        """
        by_form = self.pseudonyms
        return tuple(
            dict.fromkeys(
                form
                for entity in self.entities
                for form in entity.forms
                if name in {entity.id, self.labels[entity.id]}
                or name in {by_form.get(fold_text(other)) for other in entity.forms}
            )
        )

    def find(self, text: str) -> list[tuple[Span, str]]:
        """Return where masked forms are and whose they are; apart and ascending."""
        matches, _ = self._matches(text)
        return [(span, self._replacements[pattern][0]) for span, pattern in matches]

    def _matches(self, text: str) -> tuple[list[tuple[Span, int]], bool]:
        """Return the spans and the forms' numbers, and whether any was in disguise."""
        matches: list[_Match] = []
        for number, folded in enumerate(readings(text)):
            for pattern, start, end in self._search.matches(folded.text):
                span = folded.span(start, end)
                match = (span.start, span.end, end - start, pattern, number > 0)
                matches.append(match)
        standing = SpanUnion(self.placeholders.find(text))
        matches = [m for m in matches if not standing.contains(Span(m[0], m[1]))]
        united = _unite(self._uncut(matches))
        spans = [(Span(start, end), pattern) for start, end, _, pattern, _ in united]
        return spans, any(disguised for *_, disguised in united)

    def _uncut(self, matches: list[_Match]) -> list[_Match]:
        """Leave out other spellings that cut a form as it is."""
        plain = len(self._plain)
        inner = {
            offset
            for start, end, _, pattern, _ in matches
            if pattern < plain
            for offset in range(start + 1, end)
        }
        return [m for m in matches if m[3] < plain or not inner.intersection(m[:2])]

    def replace(self, text: str, document: str = "") -> Replaced:
        """
        Replace all masked forms.

        `document`: its id. With a key, labels have numbers in it.
        """
        matches, disguised = self._matches(text)
        layout = read_cells(text if matches else "")
        rows = [
            (with_brackets(layout, span), *self._replacements[pattern])
            for span, pattern in matches
        ]
        labels = {span: self._number(label, id_, document) for span, id_, label in rows}
        result = apply_edits(text, place(layout, labels))
        if disguised or self._has_brackets:
            for _ in range(_ROUNDS):
                again = [span for span, _ in self.find(result)]
                if not again:
                    break
                result = splice(result, again, lambda _: BLOCK)
            else:
                raise InternalError("Masking did not settle; the text is withheld.")
        return Replaced(result, tuple(labels))

    def _number(self, label: str, entity: str, document: str) -> str:
        """Return a label with the number of its entity in a document."""
        by_number = (
            self.style in {"label", "pseudonym"} and self._types[entity] == label
        )
        if not (by_number and self.key and document) or label in PLAIN:
            return label
        digest = _digest(self.key, f"number {document}\0{entity}")
        numbered = self.placeholders.number(label[1:-1], digest)
        if numbered not in self._safe_labels:
            self._safe_labels[numbered] = self._safe((numbered, label))
        return self._safe_labels[numbered]

    def alias(self, name: str) -> str:
        """
        Return an id that holds nothing masked; always the same for one id.

        An id may be a path, so "jane_doe.txt" holds "Jane Doe".
        """
        if not self.find(name) and not self.find(_JOINTS.sub(" ", name)):
            return name
        if self.key is None and name in self._numbers:
            return f"document-n{self._numbers[name]:07d}"
        return f"document-{_digest(self.secret, name)}"

    def clean(self, value: Any, document: str = "", depth: int = 0) -> Any:
        """Replace masked forms in every string of a nested value of plain data."""
        if depth > _DEPTH:
            return None
        below = partial(self.clean, document=document, depth=depth + 1)
        if isinstance(value, Mapping):
            return {below(key): below(inner) for key, inner in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            items = [below(item) for item in value]
            if isinstance(value, (set, frozenset)):
                return set(items)
            return tuple(items) if isinstance(value, tuple) else items
        if value is None or isinstance(value, (bool, float, int)):
            return self._safe(()) if self.find(str(value)) else value
        return self.replace(str(value), document).text

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {name: at for at, name in enumerate(self.order, 1)}

    @cached_property
    def _safe_labels(self) -> dict[str, str]:
        """What is put in place of labels with numbers, as far as they were needed."""
        return {}

    @cached_property
    def _has_brackets(self) -> bool:
        """Whether a label may make a form that is masked."""
        return any("[" in form or "]" in form for form in self._owners)

    def _safe(self, labels: Iterable[str]) -> str:
        """Return the first label, else the first plain one, without a masked form."""
        for candidate in (*labels, *PLAIN):
            if not self._spells(candidate):
                return candidate
        return BLOCK

    def _spells(self, label: str) -> bool:
        """Say whether a label holds a masked form; digits of chance only as a whole."""
        if any(self._search.matches(fold_text(label))):
            return True
        views = readings(_CHANCE.sub("", label))
        return any(any(self._search.matches(view.text)) for view in views)


def check_style(style: str, key: bytes | None) -> None:
    """See that what is put in place of a value can be made: a pseudonym needs a key."""
    if style == "pseudonym" and (key is None or len(key) < _KEY_BYTES):
        raise UsageError(
            f"Pseudonyms need a key of {_KEY_BYTES} bytes or more.",
            hint="Pass a key: without one they could be guessed.",
        )


def written_forms(entity: Entity) -> Iterator[str]:
    """Yield the forms of an entity as they are searched for."""
    yield from map(fold_text, entity.forms)
    yield from _respell(entity)


def _respell(entity: Entity) -> Iterator[str]:
    """Yield other spellings of the names of a person."""
    named = ROLES.get(entity.type, "name") == "name"
    for form in entity.forms if named else ():
        yield from other_spellings(form)


def _digest(key: bytes, name: str) -> str:
    data = name.encode("utf-8", "surrogatepass")
    return hmac.digest(key, data, "sha256").hex()[:16]


def _unite(matches: list[_Match]) -> list[_Match]:
    """Join matches that overlap; each union belongs to its longest match."""
    united: list[_Match] = []
    for match in sorted(matches, key=lambda item: (item[0], -item[1])):
        if united and match[0] < united[-1][1]:
            before = united.pop()
            _, _, length, pattern, _ = max(before, match, key=lambda item: item[2])
            end, disguised = max(before[1], match[1]), before[4] or match[4]
            united.append((before[0], end, length, pattern, disguised))
        else:
            united.append(match)
    return united
