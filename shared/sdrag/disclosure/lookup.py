"""
What is known of texts, and what nobody has looked for yet.

A text is known by its document and its words, so the same chunk is the same wherever it
is retrieved. Looked for is not the same as found: a row without spans says that nothing
is there.
"""

from __future__ import annotations

from collections.abc import Iterable

from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.texts import Texts
from sdrag.state.findings import LOCAL, MODEL, Located
from sdrag.vocabulary import Confidential, Finding, Span

__all__ = ["ENCODED", "Doubts", "Found", "Lookup"]

ENCODED = "encoded"
"""The reason of a finding that only the decoded text shows."""

Doubts = dict[tuple[int, str], str]
"""Why a constraint could not be decided on a text, by the text's index and its id."""

Found = dict[int, dict[bytes, list[Finding]]]
"""Findings by the text's index and the rule's key."""


class Lookup(Confidential):
    """
    Texts, each with its key and what is known of it.

    Args:
        texts: With all constraints of the policy.
        setup: The engine.

    Attributes:
        rules: The keys of the constraints, by their ids.
        documents: The key of each text's document.
        keys: The key of each text.
        local: The key of the local engine.
        model: The key of the model, if there is one.
        known: The rows of the state by the text's key; it grows.
    """

    __slots__ = (
        "documents",
        "keys",
        "known",
        "local",
        "model",
        "rules",
        "setup",
        "texts",
    )

    def __init__(self, texts: Texts, setup: DisclosureSetup) -> None:
        keys, many = setup.state.keys, len(texts.passages)
        self.texts, self.setup = texts, setup
        self.rules = {rule.id: keys.rule(rule) for rule in texts.constraints}
        self.documents = [setup.document_of(text) for text in texts.all]
        self.keys = [
            keys.text(document, "text" if index < many else "value", text.text)
            for index, (document, text) in enumerate(
                zip(self.documents, texts.all, strict=True)
            )
        ]
        self.local = LOCAL + keys.of("engine", setup.locator.identity)
        self.model = (
            MODEL + keys.of("model", setup.model_id) if setup.has_model else None
        )
        self.known: dict[bytes, list[Located]] = {}

    def load(self) -> None:
        """
        Look up what is known.

        Raises:
            HostError: The state failed.
        """
        self.known = self.setup.state.findings.read(self.keys, self.local)

    def add(self, rows: Iterable[Located]) -> None:
        """Add what was found now."""
        for row in rows:
            self.known.setdefault(row.text, []).append(row)

    def spans_of(self, index: int) -> dict[bytes, set[Span]]:
        """Return what was found in a text, by rule."""
        found: dict[bytes, set[Span]] = {}
        for row in self.known.get(self.keys[index], ()):
            for rule, spans in row.spans.items():
                found.setdefault(rule, set()).update(spans)
        return found

    def missing(self, engine: bytes | None, *, whole: bool) -> dict[int, list[str]]:
        """
        Return the ids of constraints that an engine has not looked for, by the text.

        Args:
            engine: Its key; without one, nothing is missing.
            whole: What was looked for in a text by itself counts for nothing, and all
                texts of a document are read for what is missing in any of them.
        """
        if engine is None:
            return {}
        missing: dict[int, list[str]] = {}
        for index, (key, applied) in enumerate(
            zip(self.keys, self.texts.applied, strict=True)
        ):
            looked = frozenset[bytes]().union(
                *(
                    row.rules
                    for row in self.known.get(key, ())
                    if row.engine == engine and (row.whole or not whole)
                )
            )
            names = [
                name
                for name in applied
                if name not in self.setup.closed and self.rules[name] not in looked
            ]
            if names:
                missing[index] = names
        if not whole:
            return missing
        wanted: dict[bytes, set[str]] = {}
        for index, names in missing.items():
            wanted.setdefault(self.documents[index], set()).update(names)
        of_all = {
            index: [n for n in self.texts.applied[index] if n in wanted[document]]
            for index, document in enumerate(self.documents)
            if document in wanted
        }
        return {index: names for index, names in of_all.items() if names}
