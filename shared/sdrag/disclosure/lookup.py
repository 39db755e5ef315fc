"""
What is known of texts, what nobody has looked for yet, and what cannot be read.

A text is known by its document and its words, so the same chunk is the same wherever it
is retrieved. Looked for is not the same as found: a row without spans says that nothing
is there.

The local engine reads English. Without a model, a text in another language is in doubt
for every constraint that takes more than the form of a value to enforce, and so it is
withheld. Structured identifiers and what a constraint names itself are found in every
language.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sdrag.detectors.language import find_language
from sdrag.disclosure.setup import DisclosureSetup, ModelFailure
from sdrag.disclosure.texts import Texts
from sdrag.state.findings import FindingRow
from sdrag.vocabulary import Confidential, Finding, Span

ENCODED = "encoded"
"""The reason of a finding that only the decoded text shows."""

Doubts = dict[tuple[int, str], str]
"""Why a constraint could not be decided on a text, by the text's index and its id."""

_UNREAD = {"over-local-limit", "over-local-seconds", "detector-failed"}
"""Why the local engine did not read a text."""

Found = dict[int, list[Finding]]
"""Findings by the text's index."""

Wanted = dict[int, list[str]]
"""The ids of the constraints that a text is to be read for, by its index."""


class KnownFindings(Confidential):
    """
    Texts, each with its key, and what was known of them before.

    Args:
        texts: With all constraints of the policy.
        setup: The engine.
        stored: Whether the state is looked at.

    Attributes:
        constraints: By their ids.
        rules: Their keys, by their ids.
        documents: The key of each text's document.
        keys: The key of each text.
        rows: Of the state, by the text's key.
        tags: Of the forms of the documents as they were then; None to look again.
    """

    def __init__(
        self, texts: Texts, setup: DisclosureSetup, *, stored: bool = True
    ) -> None:
        keys = setup.state.keys
        self.texts, self.setup = texts, setup
        self.constraints = {rule.id: rule for rule in texts.constraints}
        self.rules = setup.rule_keys
        self.documents = [setup.document_of(text) for text in texts.all]
        self.keys = [
            keys.text(document, texts.kinds.get(index, "text"), text.text)
            for index, (document, text) in enumerate(
                zip(self.documents, texts.all, strict=True)
            )
        ]
        self.rows: Mapping[bytes, Sequence[FindingRow]] = {}
        self.tags: Mapping[bytes, bytes] | None = None
        if stored:
            read = setup.state.findings.read(self.keys, setup.local_key)
            self.rows, self.tags = read

    def find_unread(self, engine: bytes | None, *, from_document: bool) -> Wanted:
        """
        Return the constraints that an engine has not looked for, by the text.

        Args:
            engine: Its key; without one, nothing is unread.
            from_document: What was looked for in a text by itself counts for nothing.
        """
        unread: Wanted = {}
        for index, key in enumerate(self.keys if engine is not None else ()):
            looked = frozenset[bytes]().union(
                *(
                    row.rules
                    for row in self.rows.get(key, ())
                    if row.engine == engine and (row.from_document or not from_document)
                )
            )
            names = [
                name
                for name in self.texts.applied[index]
                if name not in self.setup.blanket_rules
                and self.rules[name] not in looked
            ]
            if names:
                unread[index] = names
        return unread

    def find_failures(self, unread: Wanted) -> dict[tuple[int, str], ModelFailure]:
        """Return what the model failed at, of what it has not read."""
        failures = {
            (index, name): self.setup.failures.get((self.keys[index], self.rules[name]))
            for index, names in unread.items()
            for name in names
        }
        return {pair: known for pair, known in failures.items() if known is not None}

    def widen_to_documents(self, unread: Wanted) -> Wanted:
        """Have all texts of a document read for what is missing in any of them."""
        wanted: dict[bytes, set[str]] = {}
        for index, names in unread.items():
            wanted.setdefault(self.documents[index], set()).update(names)
        of_all = {
            index: [n for n in self.texts.applied[index] if n in wanted[document]]
            for index, document in enumerate(self.documents)
            if document in wanted
        }
        return {index: names for index, names in of_all.items() if names}


@dataclass(frozen=True, slots=True, repr=False)
class Located(Confidential):
    """
    Texts that were located.

    Args:
        known: The texts, and what was known of them before.
        rows: What was found in them, before and now, by their keys.
        doubts: Why a constraint could not be decided on a text.
        fallbacks: The same where the model failed and the local engine decided.
        findings: What was found now.
        read: How many texts had to be read now.
    """

    known: KnownFindings
    rows: Mapping[bytes, Sequence[FindingRow]]
    doubts: Doubts
    fallbacks: Doubts
    findings: Found
    read: int

    def spans_of(self, index: int) -> dict[bytes, set[Span]]:
        """Return what was found in a text, by rule."""
        by_rule: dict[bytes, set[Span]] = {}
        for row in self.rows.get(self.known.keys[index], ()):
            for rule, spans in row.spans.items():
                by_rule.setdefault(rule, set()).update(spans)
        return by_rule


def doubt_documents(located: Located) -> Doubts:
    """
    Return the doubts, with one for each text of a document of which one was not read.

    What would have been found there would be known again in the others.
    """
    texts, documents = located.known.texts, located.known.documents
    unread = {
        (documents[index], name): code
        for (index, name), code in located.doubts.items()
        if code in _UNREAD
    }
    spread = {
        (index, name): unread[document, name]
        for index, document in enumerate(documents)
        for name in (texts.applied[index] if unread else ())
        if (document, name) in unread
    }
    return spread | located.doubts


def find_unreadable(known: KnownFindings) -> Doubts:
    """Return which constraints the local engine can't enforce on which texts."""
    texts, policy = known.texts, known.setup.policy
    if not (rules := known.setup.needing_language):
        return {}
    foreign = [
        index
        for index in range(len(texts.all))
        if _find_language(known, index) not in policy.languages
    ]
    return {
        (index, name): "other-language"
        for index in foreign
        for name in texts.applied[index]
        if name in rules
    }


def _find_language(known: KnownFindings, index: int) -> str:
    memo, made_of = known.setup.state.cuts, ("language", known.keys[index])
    language: str | None = memo.get(made_of)
    if language is None:
        placeholders = known.setup.placeholders
        language = find_language(placeholders.blank(known.texts.all[index].text))
        memo.put(made_of, language)
    return language
