"""
Texts to be read: passages, then the strings of their metadata.

A title or an author is disclosed like any sentence, so the strings among the allowed
metadata are read as texts of their own, next to the passages they belong to, and so is
what the host's templates print around a passage. A string
that several passages of one document share under the same constraints is one text. What
is no text but may hold a form, an id or a number, is a leaf.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from sdrag.disclosure.metadata import leaves, plain, spelt
from sdrag.disclosure.technical import Technical, technical
from sdrag.policy import MetadataSection, applies
from sdrag.vocabulary import Confidential, Constraint, Passage, is_unnamed

__all__ = ["Group", "Texts"]


@dataclass(frozen=True, slots=True, repr=False)
class Group(Confidential):
    """Texts for which the same constraints hold, and their indices among all."""

    text_indices: tuple[int, ...]
    texts: tuple[Passage, ...]
    constraints: tuple[Constraint, ...]


class Texts(Confidential):
    """
    What has to be read, and which constraints hold for what.

    Args:
        passages: As retrieved.
        constraints: To be enforced where their `where` matches.
        section: Says what of the metadata may leave.
    """

    __slots__ = (
        "_kinds",
        "all",
        "applied",
        "constraints",
        "leaves",
        "metadata",
        "passages",
        "string_indices",
        "verbatim",
    )

    def __init__(
        self,
        passages: tuple[Passage, ...],
        constraints: tuple[Constraint, ...],
        section: MetadataSection,
    ) -> None:
        self.passages = passages
        self.constraints = constraints
        self.metadata: list[dict[str, Any]] = []
        self.verbatim: list[dict[str, Any]] = []
        for passage in passages:
            leaving = plain(passage.metadata, section.keys)
            unread = {
                key: leaving.pop(key) for key in section.verbatim if key in leaving
            }
            self.metadata.append(leaving)
            self.verbatim.append(unread)
        self.all = [_of_a_document(passage) for passage in passages]
        self.applied = self._applied()
        self.string_indices = self._with_strings()
        self._kinds: dict[int, Technical | None] = {}
        self.leaves = [
            _leaves(passage, metadata)
            for passage, metadata in zip(passages, self.metadata, strict=True)
        ]

    def __repr__(self) -> str:
        return f"Texts({len(self.passages)} passages, {len(self.all)} texts)"

    def kind_of(self, text_index: int) -> Technical | None:
        """Return the kind of a technical value of metadata; no passage is one."""
        if text_index < len(self.passages):
            return None
        if text_index not in self._kinds:
            self._kinds[text_index] = technical(self.all[text_index].text)
        return self._kinds[text_index]

    def groups(self, wanted: Mapping[int, Collection[str]]) -> tuple[Group, ...]:
        """
        Return texts by the constraints they are read for; none, none.

        Args:
            wanted: The ids of those constraints, by the text's index.
        """
        rules = {rule.id: rule for rule in self.constraints}
        text_indices: dict[tuple[str, ...], list[int]] = {}
        for text_index, names in wanted.items():
            if asked := tuple(n for n in self.applied[text_index] if n in names):
                text_indices.setdefault(asked, []).append(text_index)
        return tuple(
            Group(
                text_indices=tuple(own),
                texts=tuple(self.all[text_index] for text_index in own),
                constraints=tuple(rules[name] for name in asked),
            )
            for asked, own in text_indices.items()
        )

    def _applied(self) -> list[tuple[str, ...]]:
        """Return the ids of the constraints that hold for each text, in order."""
        limited = [rule for rule in self.constraints if rule.where]
        every = tuple(rule.id for rule in self.constraints)
        if not limited:
            return [every] * len(self.all)
        return [
            tuple(rule.id for rule in self.constraints if applies(rule, text.metadata))
            for text in self.all
        ]

    def _with_strings(self) -> list[dict[str, int]]:
        """Add the metadata's strings; return, for each passage, where they are."""
        string_indices: list[dict[str, int]] = []
        shared: dict[tuple[str | None, str, tuple[str, ...]], int] = {}
        for passage, metadata, applied in zip(
            tuple(self.all), self.metadata, tuple(self.applied), strict=True
        ):
            own: dict[str, int] = {}
            frame = (passage.frame,) if passage.frame else ()
            for value in (*filter(_is_text, leaves(metadata)), *frame):
                group = (passage.document_id, value, applied)
                if group not in shared:
                    shared[group] = len(self.all)
                    self.all.append(_as_text(passage, value))
                    self.applied.append(applied)
                own[value] = shared[group]
            string_indices.append(own)
        return string_indices


def _leaves(passage: Passage, metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the id, where the host gave one, and how every plain value is spelt."""
    own = () if is_unnamed(passage) else (passage.id,)
    plain_values = (spelt(leaf) for leaf in leaves(metadata) if not _is_text(leaf))
    return tuple(dict.fromkeys((*own, *plain_values)))


def _is_text(leaf: str | float | bool | None) -> TypeGuard[str]:  # noqa: FBT001 -- any
    return isinstance(leaf, str)


def _of_a_document(passage: Passage) -> Passage:
    """Let a passage of no known document be one, so its metadata is read with it."""
    if passage.document_id is not None:
        return passage
    return replace(passage, document_id=f"passage {passage.id}")


def _as_text(passage: Passage, value: str) -> Passage:
    return Passage(
        id=f"{passage.id}#",
        text=value,
        metadata=passage.metadata,
        document_id=passage.document_id,
    )
