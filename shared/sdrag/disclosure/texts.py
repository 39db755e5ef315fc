"""
The texts of one question: its passages, then the strings of their metadata.

A title or an author is disclosed like any sentence, so the strings among the allowed
metadata are judged as texts of their own, beside the passages they belong to. A string
that several passages of one document share is one text.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from sdrag.disclosure.metadata import allowed, strings
from sdrag.policy import applies
from sdrag.vocabulary import Confidential, Constraint, Passage

__all__ = ["Group", "Texts"]


@dataclass(frozen=True, slots=True, repr=False)
class Group(Confidential):
    """Texts for which the same constraints hold, and their places among all."""

    places: tuple[int, ...]
    texts: tuple[Passage, ...]
    constraints: tuple[Constraint, ...]


class Texts(Confidential):
    """
    What has to be judged, and which constraints hold for what.

    Args:
        passages: As retrieved.
        constraints: To be enforced where their `where` matches.
        keys: Of the metadata that may leave.
    """

    __slots__ = ("all", "applied", "constraints", "metadata", "passages", "places")

    def __init__(
        self,
        passages: tuple[Passage, ...],
        constraints: tuple[Constraint, ...],
        keys: tuple[str, ...],
    ) -> None:
        self.passages = passages
        self.constraints = constraints
        self.metadata = [allowed(passage.metadata, keys) for passage in passages]
        self.all = [_of_a_document(passage) for passage in passages]
        self.places = self._with_strings()
        self.applied = self._applied()

    def __repr__(self) -> str:
        return f"Texts({len(self.passages)} passages, {len(self.all)} texts)"

    def groups(self, names: Collection[str] | None = None) -> tuple[Group, ...]:
        """
        Return the texts by the constraints that hold for them; none, none.

        Args:
            names: The constraints that are asked for; all of them when missing.
        """
        rules = {rule.id: rule for rule in self.constraints}
        return tuple(
            Group(
                places=places,
                texts=tuple(self.all[place] for place in places),
                constraints=tuple(rules[name] for name in applied),
            )
            for applied, places in self._grouped(names).items()
        )

    def _grouped(
        self, names: Collection[str] | None
    ) -> dict[tuple[str, ...], tuple[int, ...]]:
        """Return the places of the texts for which the same constraints hold."""
        places: dict[tuple[str, ...], list[int]] = {}
        for place, applied in enumerate(self.applied):
            asked = tuple(n for n in applied if names is None or n in names)
            if asked:
                places.setdefault(asked, []).append(place)
        return {applied: tuple(own) for applied, own in places.items()}

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
        """Add the metadata's strings; return, for each passage, where they stand."""
        places: list[dict[str, int]] = []
        shared: dict[tuple[str | None, str], int] = {}
        for passage, metadata in zip(tuple(self.all), self.metadata, strict=True):
            own: dict[str, int] = {}
            for value in strings(metadata):
                group = (passage.document_id, value)
                if group not in shared:
                    shared[group] = len(self.all)
                    self.all.append(_as_text(passage, value))
                own[value] = shared[group]
            places.append(own)
        return places


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
