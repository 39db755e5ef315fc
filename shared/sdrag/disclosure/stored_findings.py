"""
What is known of texts, what is missing, and what both come to.

A text is known by its document and its words, so the same chunk is the same wherever it
is retrieved. Looked for is not the same as found: a row without spans says that nothing
is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat

from sdrag.disclosure.cutting import CutGroup, Taken
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.texts import Texts
from sdrag.state.findings import LOCAL, MODEL, Known
from sdrag.state.keys import DOCUMENT_BYTES
from sdrag.state.register import Register
from sdrag.vocabulary import Confidential, Finding

__all__ = ["Doubts", "Facts", "Found", "Lookup"]

Doubts = dict[tuple[int, str], str]
"""Why a constraint could not be decided on a text, by the text's index and its id."""

Found = dict[int, dict[bytes, list[Finding]]]
"""Findings by the text's index and the rule's key."""

_TEXT, _VALUE, _LEAF = "text", "value", "leaf"
_NOTHING = Taken.of(())
_NOBODY: frozenset[str] = frozenset()


@dataclass(slots=True, repr=False)
class Facts(Confidential):
    """
    What is known of texts, once all of them were located.

    Args:
        taken: What constraints take from each text.
        hidden: Of each passage the leaves that hold a form, and the constraints.
        doubts: Why a constraint could not be decided on a text, as codes.
        fallbacks: The same where the model failed and the local engine decided.
        handles: By what each passage's document is known in the state.
        findings: What the engines found in texts that were read now, by the texts'
            indices.
        read: How many texts had to be read now.
    """

    taken: list[Taken]
    hidden: list[dict[str, frozenset[str]]]
    doubts: Doubts
    fallbacks: Doubts
    handles: tuple[bytes, ...]
    findings: Mapping[int, Sequence[Finding]] = field(default_factory=dict)
    read: int = 0


@dataclass(slots=True, repr=False)
class Lookup(Confidential):
    """
    The texts on their way, each known by its key.

    Args:
        texts: With all constraints of the policy.
        setup: The engine.
        known: What is known of them; filled when it was read.
        versions: Of the registers of their documents.
        registers: Those that were read.
    """

    texts: Texts
    setup: DisclosureSetup
    known: dict[bytes, Known] = field(default_factory=dict)
    versions: dict[bytes, int] = field(default_factory=dict)
    registers: dict[bytes, Register] = field(default_factory=dict)
    rules: dict[str, bytes] = field(init=False)
    documents: list[bytes] = field(init=False)
    own: list[bytes] = field(init=False)
    leaves: list[dict[str, bytes]] = field(init=False)
    local: bytes = field(init=False)
    model: bytes | None = field(init=False)

    def __post_init__(self) -> None:
        keys, texts = self.setup.state.keys, self.texts
        self.rules = {rule.id: keys.rule(rule) for rule in texts.constraints}
        self.documents = [self.setup.document_of(text) for text in texts.all]
        many = len(texts.passages)
        self.own = [
            keys.text(document, _TEXT if text_index < many else _VALUE, text.text)
            for text_index, (document, text) in enumerate(
                zip(self.documents, texts.all, strict=True)
            )
        ]
        self.leaves = [
            {leaf: keys.text(document, _LEAF, leaf) for leaf in own}
            for document, own in zip(self.documents[:many], texts.leaves, strict=True)
        ]
        self.local = LOCAL + keys.of("engine", self.setup.locator.identity)
        self.model = (
            MODEL + keys.of("model", self.setup.model_id)
            if self.setup.has_model
            else None
        )

    def keys(self) -> list[bytes]:
        """Return the keys of all texts and leaves."""
        return [*self.own, *(key for own in self.leaves for key in own.values())]

    def missing(
        self, *, whole: bool
    ) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
        """Return what the local engine, and what the model has not looked for."""
        local = self._missing(self.local, whole=whole)
        if self.model is None:
            return local, {}
        return local, self._missing(self.model, whole=whole)

    def _missing(self, engine: bytes, *, whole: bool) -> dict[int, list[str]]:
        missing: dict[int, list[str]] = {}
        rules_of: dict[tuple[str, ...], frozenset[bytes]] = {}
        for text_index, (key, applied) in enumerate(
            zip(self.own, self.texts.applied, strict=True)
        ):
            known = self.known.get(key)
            looked: set[bytes] = set()
            if known is not None:
                looked = (known.bound if whole else known.looked).get(engine, looked)
            if applied not in rules_of:
                rules_of[applied] = frozenset(map(self.rules.__getitem__, applied))
            if rules_of[applied] <= looked:  # nearly always
                continue
            names = [
                name
                for name in applied
                if name not in self.setup.closed and self.rules[name] not in looked
            ]
            if names:
                missing[text_index] = names
        return self._of_whole_documents(missing) if whole else missing

    def _of_whole_documents(
        self, missing: dict[int, list[str]]
    ) -> dict[int, list[str]]:
        """Have all of a document read for what is missing in any part of it."""
        wanted: dict[bytes, set[str]] = {}
        for text_index, names in missing.items():
            wanted.setdefault(self.documents[text_index], set()).update(names)
        return {
            text_index: names
            for text_index, document in enumerate(self.documents)
            if (
                names := [
                    name
                    for name in self.texts.applied[text_index]
                    if name in wanted.get(document, ())
                ]
            )
        }

    def late_documents(self) -> set[bytes]:
        """Return the documents of which some text is behind the register, or new."""
        return {
            document
            for key in self.keys()
            if (version := self.versions.get(document := key[:DOCUMENT_BYTES]))
            and ((known := self.known.get(key)) is None or known.is_behind(version))
        }

    def facts(
        self, doubts: Doubts, fallbacks: Doubts, found: Found, *, read: int
    ) -> Facts:
        """
        Say by constraints' ids what is known by now.

        Args:
            doubts: What could not be decided.
            fallbacks: Where the local engine decided in the model's place.
            found: What the engines found now.
            read: How many texts had to be read.
        """
        names = _Names(self.rules)
        return Facts(
            taken=[self._taken(key, names) for key in self.own],
            hidden=[
                {
                    leaf: taken.names
                    for leaf, key in own.items()
                    if (taken := self._taken(key, names)).names
                }
                for own in self.leaves
            ],
            doubts=doubts,
            fallbacks=fallbacks,
            handles=tuple(self.documents[: len(self.texts.passages)]),
            findings={
                text_index: tuple(chain.from_iterable(by_rule.values()))
                for text_index, by_rule in found.items()
            },
            read=read,
        )

    def _taken(self, key: bytes, names: _Names) -> Taken:
        """Say what is taken from a text, by constraints of the policy."""
        known = self.known.get(key)
        if known is None:
            return _NOTHING
        rules = [row.spans.together.rules for row in known.rows]
        if not any(rules):
            return _NOTHING

        def groups() -> list[CutGroup]:
            return [(by, own) for rules, own in known.groups if (by := names.of(rules))]

        return Taken(_NOBODY.union(*map(names.of, rules)), groups)


class _Names:
    """
    The ids of constraints by their rules' keys; most texts are cut by most rules.

    Args:
        rules: The keys by the ids.
    """

    __slots__ = ("_by_rule",)

    def __init__(self, rules: Mapping[str, bytes]) -> None:
        self._by_rule: dict[bytes, frozenset[str]] = {}
        for name, rule in rules.items():
            self._by_rule[rule] = self._by_rule.get(rule, _NOBODY) | {name}

    def of(self, rules: Iterable[bytes]) -> frozenset[str]:
        """Return the ids of those that the policy has."""
        return _NOBODY.union(*map(self._by_rule.get, rules, repeat(_NOBODY)))
