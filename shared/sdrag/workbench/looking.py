"""
What is shown of the documents: their colours, what a question retrieves, their links.

A document is read whole, since one part of it tells of a name in another. What was
found is kept in memory for the policy, the sensitivity and the constraints that bind
whoever looks, so two audiences with the same constraints cost one reading. The worst
that a prompt injection can make of a model is that it repeats all it was given, so of a
question it is shown what a model receives, without sdrag and with it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np

from sdrag.detectors.local import LocalDetector
from sdrag.documents import chunks_of
from sdrag.evaluation.index import SentenceIndex
from sdrag.explanation import Explainer, Explanation
from sdrag.explanation.marked import COLOURS, Mark, stretches
from sdrag.linkage import Masked, fit
from sdrag.linkage.graph import LEVELS
from sdrag.linkage.plan import Plan
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.policy import Policy, binds
from sdrag.privacy.reasons import explain as explain_reason
from sdrag.reports.linkage import Drawing, laid_out
from sdrag.reports.preview import Preview, render_preview
from sdrag.vocabulary import Confidential, Decision, Passage, Principal
from sdrag.workbench.gate import RefusedError

MAX_SHOWN_CHARACTERS = 200_000
"""Of one document that is coloured. It is read whole or not at all: a part of it would
show less than what its other parts tell of a name."""

MAX_ASKED_CHARACTERS = 2_000_000
"""Of all documents together, when a question is asked to them."""

MAX_LINKED = 100
"""Chains and entities that are listed."""

_REMEMBERED = 100
"""Documents under a policy, with what was found in them."""

Key = tuple[str, int, tuple[str, ...]]

_RETRIEVED = 5
"""Chunks, as many hosts retrieve."""

_FORMS = 5


def _audience(roles: Sequence[str]) -> Principal | None:
    """Return who looks: somebody with these roles, or nobody in particular."""
    return Principal("workbench", roles=frozenset(roles)) if roles else None


class Colouring(Confidential):
    """Explains documents, and remembers what it found."""

    def __init__(self) -> None:
        self._known: OrderedDict[Key, tuple[Explanation, ...]] = OrderedDict()
        self._lock = Lock()

    def colour(
        self, policy: Policy, number: int, document: Passage, roles: Sequence[str]
    ) -> dict[str, Any]:
        """
        Return a document as stretches of text, each with what covers it.

        Args:
            policy: As it is looked at.
            number: Of the document.
            document: Unredacted: what comes out is for the eyes of who may see it.
            roles: Of who looks.

        Raises:
            RefusedError: It is too long to be shown.
            SdragError: It could not be read.
        """
        explanations = self.explain(policy, number, document, roles)
        spans: list[dict[str, Any]] = []
        chunks = []
        start = 0
        for explanation in explanations:
            chunks.append(_chunk(explanation, start, spans))
            start += len(explanation.text)
        preview = _preview(policy, explanations)
        return {
            "document": number,
            "name": document.id,
            "chunks": chunks,
            "spans": spans,
            "colours": {rule.id: n % COLOURS for n, rule in enumerate(policy.rules)},
            "counts": preview.by_constraint(),
            "hidden_share": round(preview.hidden_share, 4),
            "withheld": preview.withheld,
            "refused": dict(Explainer(policy).refused),
        }

    def explain(
        self, policy: Policy, number: int, document: Passage, roles: Sequence[str]
    ) -> tuple[Explanation, ...]:
        """Return the explanations of a document's chunks, in their order."""
        if len(document.text) > MAX_SHOWN_CHARACTERS:
            raise RefusedError(
                413,
                f"Documents of more than {MAX_SHOWN_CHARACTERS:,} characters are not"
                " shown. `sdrag preview` takes them.",
            )
        who = _audience(roles)
        bound = tuple(rule.id for rule in policy.rules if binds(rule, who))
        key = (policy.hash, number, bound)
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        explanations = tuple(Explainer(policy).explain(chunks_of(document), who))
        with self._lock:
            self._known[key] = explanations
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return explanations

    def report(
        self, policy: Policy, documents: Mapping[int, Passage], roles: Sequence[str]
    ) -> str:
        """Return the page that `sdrag preview` writes, of all documents."""
        preview = _preview(policy, ())
        preview.documents = len(documents)
        for number, document in documents.items():
            preview.explanations += self.explain(policy, number, document, roles)
        return render_preview(preview)


def _preview(policy: Policy, explanations: Sequence[Explanation]) -> Preview:
    constraints = {rule.id: rule.text for rule in policy.rules}
    refused = Explainer(policy).refused
    return Preview(constraints, refused, list(explanations))


def _chunk(
    explanation: Explanation, start: int, spans: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return a chunk's stretches, and add its spans to those of the document."""
    marks = list(_marks(explanation, start, spans))
    return {
        "withheld": explanation.released is None,
        "reason": explanation.reason,
        "pieces": [
            {"text": span.of(explanation.text), "spans": [mark.group for mark in over]}
            for span, over in stretches(len(explanation.text), marks)
        ],
    }


def _marks(
    explanation: Explanation, start: int, spans: list[dict[str, Any]]
) -> Iterator[Mark]:
    for hidden, spans_of_kind in (
        (True, explanation.spans),
        (False, explanation.left),
    ):
        for explained in spans_of_kind:
            span = explained.span
            spans.append(
                {
                    "constraint": explained.constraint_id,
                    "words": explanation.constraints[explained.constraint_id],
                    "start": start + span.start,
                    "text": span.of(explanation.text),
                    "hidden": hidden,
                    "causes": [
                        {"why": str(cause), "confidence": round(cause.confidence, 4)}
                        for cause in explained.causes
                    ],
                }
            )
            yield Mark(span, len(spans) - 1, "", hidden)


class Questions(Confidential):
    """Answers questions over the documents, and keeps their index while they stay."""

    def __init__(self) -> None:
        self._index: tuple[tuple[int, ...], SentenceIndex] | None = None
        self._lock = Lock()

    def ask(
        self,
        policy: Policy,
        documents: Mapping[int, Passage],
        question: str,
        roles: Sequence[str],
    ) -> dict[str, Any]:
        """
        Return what a model receives without sdrag, and with it.

        Raises:
            ConstraintNotUnderstoodError: A wrapper would refuse the policy.
            RefusedError: There is no document, or too much text.
        """
        if not documents:
            raise RefusedError(422, "There is no document to ask. Load one first.")
        engine = Engine(policy)
        index = self._indexed(documents)
        retrieved = index.search(question, _RETRIEVED)
        ids = {passage.document_id for passage in retrieved}
        engine.run(bind([p for p in index.passages if p.document_id in ids], engine))
        request = Request(question, _audience(roles), _RETRIEVED)
        shown, _ = engine.run(disclose(retrieved, request, engine))
        return {
            "plain": [{"id": p.id, "text": p.text} for p in retrieved],
            "wrapped": [{"id": p.id, "text": p.text} for p in shown.passages],
            "decisions": [_decision(decision) for decision in shown.decisions],
        }

    def _indexed(self, documents: Mapping[int, Passage]) -> SentenceIndex:
        """Return the chunks with their vectors; made anew where documents changed."""
        numbers = tuple(documents)
        with self._lock:
            if self._index is not None and self._index[0] == numbers:
                return self._index[1]
        characters = sum(len(document.text) for document in documents.values())
        if characters > MAX_ASKED_CHARACTERS:
            raise RefusedError(
                413,
                f"Questions are asked to at most {MAX_ASKED_CHARACTERS:,} characters."
                " Remove some documents.",
            )
        chunks = [c for document in documents.values() for c in chunks_of(document)]
        index = SentenceIndex(chunks)
        with self._lock:
            self._index = (numbers, index)
        return index


def _decision(decision: Decision) -> dict[str, Any]:
    reason = explain_reason(decision.reason)
    return {
        "subject": decision.subject,
        "action": decision.action,
        "rule": decision.rule,
        "reason": decision.reason,
        "means": reason.happened if reason else "",
        "constraints": list(decision.constraint_ids),
        "spans": decision.spans,
    }


def find_links(policy: Policy, documents: Sequence[Passage]) -> dict[str, Any]:
    """
    Return the graph of documents, and what the policy's masking does to it.

    Names and forms are shown as they are: to whoever may see the documents.

    Raises:
        RefusedError: There are fewer than two documents, or too much text.
        SdragError: The documents could not be assessed.
    """
    if len(documents) < 2:
        raise RefusedError(422, "Load two or more documents to see what links them.")
    if sum(len(document.text) for document in documents) > MAX_ASKED_CHARACTERS:
        raise RefusedError(
            413, f"Links are looked for in at most {MAX_ASKED_CHARACTERS:,} characters."
        )
    masked = fit(documents, policy.linkage, LocalDetector()).masked
    plan = masked.plan
    names = list(plan.corpus.document_ids)
    return {
        "documents": len(names),
        "unread": len(documents) - len(names),
        "links_before": len(plan.before),
        "links_after": len(plan.after),
        "entities": len(plan.corpus.entity_ids),
        "masked": int(plan.masked.sum()),
        "graph": _graph(laid_out(plan), names),
        "chains": list(_chains(plan, names)),
        "broken": list(_broken(masked)),
        "risks": list(_risks(plan, names)),
    }


def _graph(drawing: Drawing, names: Sequence[str]) -> dict[str, Any]:
    return {
        "width": drawing.width,
        "height": drawing.height,
        "left_out": drawing.left_out,
        "nodes": [
            {"name": names[number], "x": x, "y": y}
            for number, (x, y) in drawing.places.items()
        ],
        "lines": [
            {
                "from": drawing.places[line.first],
                "to": drawing.places[line.second],
                "width": line.width,
                "kept": line.kept,
            }
            for line in drawing.lines
        ],
    }


def _chains(plan: Plan, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the riskiest chains, with their risks before and after."""
    chains, after = plan.chains, plan.chain_risk
    order = np.argsort(-chains.risk_before, kind="stable")[:MAX_LINKED]
    for number in order.tolist():
        yield {
            "documents": [names[document] for document in chains.path(number)],
            "category": LEVELS[int(chains.level[number])],
            "before": round(float(chains.risk_before[number]), 3),
            "after": round(float(after[number]), 3),
        }


def _broken(masked: Masked) -> Iterator[dict[str, Any]]:
    """Yield what masking takes out of the documents: nothing of it can be asked for."""
    plan = masked.plan
    chosen = np.flatnonzero(plan.masked).tolist()
    for number in chosen[:MAX_LINKED]:
        entity = masked.assessment.resolved.entities[number]
        yield {
            "type": entity.type,
            "forms": list(entity.forms[:_FORMS]),
            "documents": int(plan.corpus.frequency[number]),
            "for": "one document" if len(plan.why[number]) == 1 else "a link",
        }


def _risks(plan: Plan, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    before, after = plan.document_risk_before, plan.document_risk
    for number in np.argsort(-before, kind="stable")[:MAX_LINKED].tolist():
        yield {
            "name": names[number],
            "before": round(float(before[number]), 3),
            "after": round(float(after[number]), 3),
        }
