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

from collections.abc import Iterable
from time import monotonic

from sdrag.detectors.language import find_language
from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.disclosure.setup import DisclosureSetup, ModelFailure
from sdrag.disclosure.texts import Texts
from sdrag.state.findings import LOCAL, MODEL, FindingRow
from sdrag.vocabulary import STRUCTURED, Confidential, Finding, Span

ENCODED = "encoded"
"""The reason of a finding that only the decoded text shows."""

Doubts = dict[tuple[int, str], str]
"""Why a constraint could not be decided on a text, by the text's index and its id."""

Found = dict[int, dict[bytes, list[Finding]]]
"""Findings by the text's index and the rule's key."""

_REMEMBERED = 600.0
"""Seconds for which a model is not asked again what it failed at."""


class Lookup(Confidential):
    """
    Texts, each with its key and what is known of it.

    Args:
        texts: With all constraints of the policy.
        setup: The engine.

    Attributes:
        constraints: By their ids.
        rules: Their keys, by their ids.
        names: The ids of the constraints, by their keys.
        documents: The key of each text's document.
        keys: The key of each text.
        local: The key of the local engine.
        model: The key of the model, if there is one.
        known: The rows of the state by the text's key; it grows.
        failed: What the model failed at before, by the text's index and constraint.
        doubts: Once texts are located: why a constraint could not be decided on one.
        fallbacks: The same where the model failed and the local engine decided.
        findings: What was found now, by the texts' indices.
        read: How many texts had to be read now.
    """

    def __init__(self, texts: Texts, setup: DisclosureSetup) -> None:
        keys, many = setup.state.keys, len(texts.passages)
        self.texts, self.setup = texts, setup
        self.constraints = {rule.id: rule for rule in texts.constraints}
        self.rules = {rule.id: keys.rule(rule) for rule in texts.constraints}
        self.names: dict[bytes, list[str]] = {}
        for name, rule in self.rules.items():
            self.names.setdefault(rule, []).append(name)
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
        self.known: dict[bytes, list[FindingRow]] = {}
        self.failed: dict[tuple[int, str], ModelFailure] = {}
        self.doubts: Doubts = {}
        self.fallbacks: Doubts = {}
        self.findings: dict[int, list[Finding]] = {}
        self.read = 0

    def load(self) -> None:
        """Look up what is known."""
        self.known = self.setup.state.findings.read(self.keys, self.local)

    def add(self, rows: Iterable[FindingRow]) -> None:
        """Add what was found now."""
        for row in rows:
            self.known.setdefault(row.text, []).append(row)

    def spans_of(self, index: int) -> dict[bytes, set[Span]]:
        """Return what was found in a text, by rule."""
        by_rule: dict[bytes, set[Span]] = {}
        for row in self.known.get(self.keys[index], ()):
            for rule, spans in row.spans.items():
                by_rule.setdefault(rule, set()).update(spans)
        return by_rule

    def missing(
        self, engine: bytes | None, *, from_document: bool
    ) -> dict[int, list[str]]:
        """
        Return the ids of constraints that an engine has not looked for, by the text.

        Args:
            engine: Its key; without one, nothing is missing. A model is not asked
                what it has just failed at.
            from_document: What was looked for in a text by itself counts for nothing,
                and all texts of a document are read for what is missing in any.
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
                    if row.engine == engine and (row.from_document or not from_document)
                )
            )
            names = [
                name
                for name in applied
                if name not in self.setup.blanket_rules
                and self.rules[name] not in looked
            ]
            if engine == self.model:
                names = [name for name in names if not self._is_failing(index, name)]
            if names:
                missing[index] = names
        if not from_document:
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

    def remember_failure(
        self, index: int, name: str, code: str, spans: Iterable[Span]
    ) -> None:
        """Remember that the model failed at a constraint on a text."""
        seconds = 0.0 if code == "model-failed" else _REMEMBERED
        failure = ModelFailure(code, tuple(spans), monotonic() + seconds)
        self.setup.failures.put((self.keys[index], self.rules[name]), failure)
        self.failed[index, name] = failure

    def _is_failing(self, index: int, name: str) -> bool:
        """Say whether the model failed at this, and is not to be asked again yet."""
        failure = self.setup.failures.get((self.keys[index], self.rules[name]))
        if failure is None:
            return False
        self.failed[index, name] = failure
        return failure.until > monotonic()


def find_unreadable(lookup: Lookup) -> Doubts:
    """Return which constraints the local engine can't enforce on which texts."""
    texts, policy = lookup.texts, lookup.setup.policy
    rules = {rule.id for rule in texts.constraints if _needs_language(parse(rule))}
    if not rules:
        return {}
    foreign = [
        index
        for index in range(len(texts.all))
        if _language_of(lookup, index) not in policy.languages
    ]
    return {
        (index, name): "other-language"
        for index in foreign
        for name in texts.applied[index]
        if name in rules
    }


def _language_of(lookup: Lookup, index: int) -> str:
    memo, made_of = lookup.setup.state.cuts, ("language", lookup.keys[index])
    language: str | None = memo.get(made_of)
    if language is None:
        placeholders = lookup.setup.placeholders
        language = find_language(placeholders.blank(lookup.texts.all[index].text))
        memo.put(made_of, language)
    return language


def _needs_language(parsed: ParsedConstraint) -> bool:
    if parsed.kind == "named":
        return not parsed.surely_names
    return parsed.people or parsed.meaning or not parsed.types <= STRUCTURED
