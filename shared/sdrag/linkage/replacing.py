"""
Taking masked forms out of text, in one pass.

All forms of all masked entities are one automaton over the folded text, so case,
accents, typographic characters and runs of space do not hide a form, and ten thousand
forms cost what one costs. Matches count at word boundaries and are mapped back to the
original characters; where they overlap, their union is replaced by what represents the
longest. A form is masked wherever it is, also in a document in which nobody found
it: what is masked must not remain anywhere.

A label must not spell a masked form, and putting it in must not make one: if "name" is
to be masked, "[NAME]" will not do. So labels are chosen against the forms, and where a
form holds a bracket the result is searched again.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sdrag.errors import InternalError, UsageError
from sdrag.extras import require_extra
from sdrag.text.folding import fold, fold_text, is_boundary
from sdrag.vocabulary import Confidential, Entity, Span

__all__ = ["Masker", "Replaced", "Style"]

Style = Literal["label", "redact", "pseudonym"]

_PLAIN = ("[REDACTED]", "[***]", "[\u2026]", "\u2588\u2588\u2588")
_ROUNDS = 8
_KEY_BYTES = 16
_DEPTH = 32


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

    Raises:
        UsageError: Pseudonyms were asked for without a key.
        MissingExtraError: The extra `linkage` is not installed.
    """

    __slots__ = ("_automaton", "_labels", "_owner", "_recheck", "_secret")

    def __init__(
        self,
        entities: Sequence[Entity],
        style: Style = "label",
        key: bytes | None = None,
    ) -> None:
        with require_extra("linkage", "Masking"):
            from ahocorasick_rs import AhoCorasick, MatchKind  # noqa: PLC0415
        if style == "pseudonym" and (key is None or len(key) < _KEY_BYTES):
            raise UsageError(
                "Pseudonyms need a key of 16 bytes or more.",
                hint="Pass `key=`: without one they could be guessed.",
            )
        forms: dict[str, str] = {}
        for entity in entities:
            for form in entity.forms:
                forms.setdefault(fold_text(form), entity.id)
        forms.pop("", None)
        self._owner = tuple(forms.values())
        self._automaton = (
            AhoCorasick(list(forms), matchkind=MatchKind.Standard) if forms else None
        )
        self._labels = {
            entity.id: self._safe(_label(entity, style, key)) for entity in entities
        }
        self._secret = key or secrets.token_bytes(32)
        self._recheck = any("[" in form or "]" in form for form in forms)

    def find(self, text: str) -> list[tuple[Span, str]]:
        """Return where masked forms stand and whose they are; apart and ascending."""
        if self._automaton is None:
            return []
        folded = fold(text)
        found: list[tuple[int, int, int, str]] = []
        for pattern, start, end in self._automaton.find_matches_as_indexes(
            folded.text, overlapping=True
        ):
            if is_boundary(folded.text, start) and is_boundary(folded.text, end):
                found.append((start, end, end - start, self._owner[pattern]))
        return [
            (folded.span(start, end), owner) for start, end, _, owner in _united(found)
        ]

    def replace(self, text: str) -> Replaced:
        """Replace all masked forms."""
        found = self.find(text)
        result = self._put(text, found)
        if self._recheck:
            for _ in range(_ROUNDS):
                again = self.find(result)
                if not again:
                    break
                result = self._put(result, [(span, "") for span, _ in again])
            else:
                raise InternalError("Masking did not settle; the text is withheld.")
        return Replaced(
            result, tuple(span for span, _ in found), tuple(owner for _, owner in found)
        )

    def alias(self, name: str) -> str:
        """Return an id that holds nothing masked; always the same for one id."""
        if not self.find(name):
            return name
        return (
            f"document-{hmac.digest(self._secret, name.encode(), 'sha256').hex()[:16]}"
        )

    def clean(self, value: Any, depth: int = 0) -> Any:
        """Replace masked forms in every string of a nested value of plain data."""
        if isinstance(value, str):
            return self.replace(value).text
        if depth > _DEPTH:
            return None
        if isinstance(value, Mapping):
            return {
                self.clean(key, depth + 1): self.clean(inner, depth + 1)
                for key, inner in value.items()
            }
        if isinstance(value, (list, tuple, set, frozenset)):
            return _same_kind(value, [self.clean(item, depth + 1) for item in value])
        if value is None or isinstance(value, (bool, float, int)):
            return self._clean_number(value)
        return self.replace(str(value)).text

    def _clean_number(self, value: float | None) -> float | str | None:
        return value if value is None or not self.find(str(value)) else self._safe("")

    def _put(self, text: str, found: Iterable[tuple[Span, str]]) -> str:
        pieces: list[str] = []
        done = 0
        for span, owner in found:
            pieces += (text[done : span.start], self._labels.get(owner, "\u2588"))
            done = span.end
        pieces.append(text[done:])
        return "".join(pieces)

    def _safe(self, label: str) -> str:
        """Return the label, or the first plain one that holds no masked form."""
        for candidate in (label, *_PLAIN):
            if candidate and not self.find(candidate):
                return candidate
        return "\u2588"


def _same_kind(value: Any, items: list[Any]) -> Any:
    """Return the items as a set or tuple where the value was one, else as a list."""
    if isinstance(value, (set, frozenset)):
        return set(items)
    return tuple(items) if isinstance(value, tuple) else items


def _label(entity: Entity, style: Style, key: bytes | None) -> str:
    if style == "redact":
        return _PLAIN[0]
    if style == "label":
        return f"[{entity.type}]"
    name = fold_text(entity.forms[0])
    message = f"{name}::{entity.type}".encode()
    return f"[{entity.type}_{hmac.digest(key or b'', message, 'sha256').hex()[:16]}]"


def _united(
    found: list[tuple[int, int, int, str]],
) -> list[tuple[int, int, int, str]]:
    """Join matches that overlap; each union belongs to its longest match."""
    united: list[tuple[int, int, int, str]] = []
    for start, end, length, owner in sorted(
        found, key=lambda item: (item[0], -item[1])
    ):
        if united and start < united[-1][1]:
            low, high, most, longest_owner = united.pop()
            if length > most:
                most, longest_owner = length, owner
            united.append((low, max(high, end), most, longest_owner))
        else:
            united.append((start, end, length, owner))
    return united
