"""
What a session could put together, and what it is shown (CLAM, section 4.2.3).

At ingest `LinkageMasker` looks at a corpus. Here the documents are those that a session
was shown something of, and their entities are the facts that were left to read: names,
dates, places, descriptions that single somebody out. Two documents that show one fact
are linked. A passage is released as it is as long as the chains through its document
stay below `session.max_risk`. Else its facts go, or all of it, so no session ever
reaches that risk unless the policy says `answer`.

A question does not see the corpus. So a fact counts as if no other document had it,
`u(e) = 1`, which is the most that it can tell. In turn, what contributes little links
nothing: a title, a trade or a number, which many have. One document by itself is no
chain: how much it may show is decided at ingest, by `linkage.max_document_risk`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sdrag.detectors import Detector
from sdrag.effects.steps import Steps
from sdrag.errors import SdragError
from sdrag.linkage.facts import Fact, FactReader, Facts, unite
from sdrag.linkage.graph import find_chains, find_edges
from sdrag.linkage.incidence import Floats, Incidence
from sdrag.linkage.schema import Schema
from sdrag.placeholders import Placeholders
from sdrag.policy import LinkageSection, Policy
from sdrag.policy.sections import SessionSection
from sdrag.state import State
from sdrag.state.ledger import MOST_FACTS, Shown
from sdrag.text.cells import apply_edits, place, read_cells
from sdrag.text.spans import merge
from sdrag.vocabulary import (
    Action,
    Confidential,
    Decision,
    Passage,
    Redaction,
    Span,
)

_ACTIONS: Mapping[str, Action] = {
    "answer": "flagged",
    "coarsen": "redacted",
    "decline": "withheld",
}
"""What is done with a passage by each action of the policy."""


Found = Mapping[str, list[Fact]]
"""The facts of a passage by metadata key; those of its text by the empty one."""


@dataclass(frozen=True, slots=True, repr=False)
class Session(Confidential):
    """
    A session, at one question.

    Args:
        now: In seconds since 1970.
        limit: Its section `session`.
        placeholders: What may stand in a text already.
        mark: Returns what stands in place of a mention of a type.
    """

    key: bytes
    now: float
    policy: Policy
    limit: SessionSection
    state: State
    detector: Detector
    placeholders: Placeholders
    mark: Callable[[str], str]

    def show(
        self, redactions: Sequence[Redaction], documents: Sequence[bytes]
    ) -> Steps[tuple[list[Redaction], list[Decision]]]:
        """
        Return what the session is shown, and what was decided on each passage.

        Those come first that are to be shown first, with the key of the document of
        each. Nothing is raised for what cannot be decided: it is withheld.
        """
        shown = list(redactions)
        passages = {n: r.passage for n, r in enumerate(shown) if r.passage is not None}
        action, reason = _ACTIONS[self.limit.action], "session-risk"
        try:
            found = yield from self._find(passages)
            risky = self._remember(passages, documents, found)
        except SdragError as error:
            action, reason = "withheld", error.code
            risky = set(passages)
        decisions = []
        for n, passage in passages.items():
            if n in risky:
                if action == "withheld":
                    shown[n] = replace(shown[n], passage=None, reason=reason)
                elif action == "redacted":
                    shown[n] = self._coarsen(shown[n], passage, found[n])
                name, spans = shown[n].passage_id, shown[n].spans
                decision = Decision(name, action, "session", reason, spans=spans)
                decisions.append(decision)
        return shown, decisions

    @property
    def _reader(self) -> FactReader:
        keys = self.state.keys.of_document(self.key)
        return FactReader(self.detector, Schema(self.policy.linkage), keys)

    def _find(self, passages: Mapping[int, Passage]) -> Steps[Mapping[int, Found]]:
        texts = [
            (number, key, text)
            for number, passage in passages.items()
            for key, text in self._texts(passage).items()
        ]
        read = yield from self._reader.read([text for *_, text in texts])
        found: dict[int, dict[str, list[Fact]]] = {number: {} for number in passages}
        for (number, key, text), facts in zip(texts, read, strict=True):
            found[number][key] = self._without_placeholders(text, facts)
        return found

    def _texts(self, passage: Passage) -> Mapping[str, str]:
        """Return what a passage says, in metadata that constraints read too."""
        keys = self.policy.metadata.allow
        said = {key: str(v) for key, v in passage.metadata.items() if key in keys}
        return {"": passage.text, **said}

    def _without_placeholders(self, text: str, facts: Sequence[Fact]) -> list[Fact]:
        """Leave out facts in what stands in place of something."""
        standing = self.placeholders.find(text)
        return [fact for fact in facts if not any(map(fact.span.overlaps, standing))]

    def _remember(
        self,
        passages: Mapping[int, Passage],
        documents: Sequence[bytes],
        found: Mapping[int, Found],
    ) -> set[int]:
        """
        Return which passages are risky, and remember what is shown.

        `found`: what the session was shown before and is known again is added.
        """
        risky: set[int] = set()

        def choose(known: Sequence[Shown]) -> Iterator[Shown]:
            history = History(known, self.policy.linkage)
            for number, passage in passages.items():
                self._recognize(passage, found[number], history.facts)
                row = self._row(passage, documents[number], found[number])
                fits = history.fits(row)
                if not fits or history.risk_with(row) >= self.limit.max_risk:
                    risky.add(number)
                if fits and (number not in risky or self.limit.action == "answer"):
                    history.add(row)
                    if row.facts:
                        yield row

        until = self.now + self.limit.window_seconds
        self.state.ledger.update(self.key, choose, self.now, until)
        return risky

    def _recognize(self, passage: Passage, found: Found, known: Facts) -> None:
        """Add what is known again to what was found in a passage."""
        texts = self._texts(passage)
        again = self._reader.recognize([*texts.values()], known)
        for (key, text), facts in zip(texts.items(), again, strict=True):
            found[key].extend(self._without_placeholders(text, facts))

    def _row(self, passage: Passage, document: bytes, found: Found) -> Shown:
        keys = self.state.keys
        session = keys.uncover(self.key).hex()
        facts: dict[str, float] = {}
        for fact in (fact for each in found.values() for fact in each):
            facts[fact.key] = max(facts.get(fact.key, 0.0), round(fact.contribution, 4))
        metadata = repr(sorted((k, str(passage.metadata[k])) for k in found if k))
        return Shown(
            keys.of("shown", session, passage.text, metadata),
            keys.of("shown of", session, keys.uncover(document).hex(), size=8),
            facts,
        )

    def _coarsen(
        self, redaction: Redaction, passage: Passage, found: Found
    ) -> Redaction:
        """Put types in the place of facts; metadata that holds one goes whole."""
        facts = found[""]
        regions = merge(fact.span for fact in facts)

        def mark(region: Span) -> str:
            types = {fact.type for fact in facts if region.contains(fact.span)} - {""}
            return self.mark(types.pop() if len(types) == 1 else "")

        telling = {key for key, each in found.items() if key and each}
        metadata = {k: v for k, v in passage.metadata.items() if k not in telling}
        marks = {region: mark(region) for region in regions}
        text = apply_edits(passage.text, place(read_cells(passage.text), marks))
        coarse = replace(passage, text=text, metadata=metadata)
        spans = redaction.spans + len(regions) + len(telling)
        return replace(redaction, passage=coarse, spans=spans)


class History:
    """
    What a session was shown.

    Attributes:
        documents: What each fact contributes, by the keys of document and fact.
    """

    def __init__(self, shown: Sequence[Shown], settings: LinkageSection) -> None:
        self._settings = settings
        self._texts: set[bytes] = set()
        self.documents: dict[bytes, Facts] = {}
        self._room = MOST_FACTS
        for row in shown:
            self.add(row)

    def fits(self, row: Shown) -> bool:
        """Say whether there is room for a passage."""
        return row.text in self._texts or len(row.facts) <= self._room

    def add(self, row: Shown) -> None:
        """Count a passage as shown."""
        if row.text not in self._texts:
            self._texts.add(row.text)
            self._room -= len(row.facts)
            self.documents[row.document] = self._with(row)

    def risk_with(self, row: Shown) -> float:
        """Return the risk of the riskiest chain through the document of a passage."""
        if row.text in self._texts or not row.facts:
            return 0.0
        return chain_risk(
            row.document,
            {**self.documents, row.document: self._with(row)},
            self._settings,
        )

    @property
    def facts(self) -> Facts:
        """All facts that were shown."""
        return {k: c for facts in self.documents.values() for k, c in facts.items()}

    def _with(self, row: Shown) -> Facts:
        facts = dict(self.documents.get(row.document, {}))
        for key, contribution in row.facts.items():
            facts[key] = max(facts.get(key, 0.0), contribution)
        return facts


class _Shown(Incidence):
    """Facts of which nobody knows how many other documents have them."""

    @cached_property
    def contribution(self) -> Floats:
        return self.relevance


def chain_risk(
    document: bytes,
    shown: Mapping[bytes, Facts],
    settings: LinkageSection,
) -> float:
    """
    Return the risk of the riskiest chain through a document, from 0 to 1.

    Args:
        document: Its key.
        shown: What each fact contributes, by the keys of document and fact.
        settings: How long a chain is, and how strong a link.

    Raises:
        InputTooLargeError: There are more chains than `linkage.max_chains`.
    """
    shown = unite(shown)
    near = {document}
    for _ in range(settings.chain_length - 1):
        facts = {fact for name in near for fact in shown[name]}
        near |= {name for name in shown if not facts.isdisjoint(shown[name])}
    if len(near) == 1:
        return 0.0
    names = sorted(near)
    rows = [
        (number, fact, contribution)
        for number, name in enumerate(names)
        for fact, contribution in shown[name].items()
    ]
    weights = {fact: 1.0 for _, fact, _ in rows}
    corpus = _Shown.of([name.hex() for name in names], rows, weights)
    edges = find_edges(corpus, settings.edge_threshold)
    chains = find_chains(edges, corpus.document_risk(), settings)
    through = (chains.documents == names.index(document)).any(axis=1)
    return float(chains.risk_before[through].max(initial=0.0))
