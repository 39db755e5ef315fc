"""
What is shown of the documents: their colours, what a question retrieves, their links.

A document is read whole, since one part of it tells of a name in another. What was
found is kept in memory for the policy, the sensitivity and the constraints that bind
whoever looks, so two audiences with the same constraints cost one reading. The worst
that a prompt injection can make of a model is that it repeats all it was given, so of a
question it is shown what a model receives, without sdrag and with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sdrag.detectors.local import LocalDetector
from sdrag.documents import chunks_of
from sdrag.evaluation.index import SentenceIndex
from sdrag.explanation import Explainer, Explanation
from sdrag.explanation.marked import Mark, stretches
from sdrag.linkage import Masked, fit
from sdrag.linkage.plan import Plan
from sdrag.memo import Memo
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.policy import Policy, binds
from sdrag.privacy.reasons import explain as explain_reason
from sdrag.reports.preview import Preview
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

_RETRIEVED = 5
"""Chunks, as many hosts retrieve."""

_FORMS = 5
Key = tuple[str, int, tuple[str, ...]]


def _audience(roles: Sequence[str]) -> Principal | None:
    """Return who looks: somebody with these roles, or nobody in particular."""
    return Principal("workbench", roles=frozenset(roles)) if roles else None


class Colouring(Confidential):
    """Explains documents, and remembers what it found."""

    def __init__(self) -> None:
        self._known = Memo[Key, tuple[Explanation, ...]](_REMEMBERED)

    def colour(
        self, policy: Policy, number: int, document: Passage, roles: Sequence[str]
    ) -> dict[str, Any]:
        """
        Return a document as stretches of text, each with what covers it.

        It is unredacted: what comes out is for the eyes of who may see it.
        """
        explanations = self.explain(policy, number, document, roles)
        preview = _preview(policy, explanations)
        spans: list[dict[str, Any]] = []
        return {
            "name": document.id,
            "chunks": [_chunk(explanation, spans) for explanation in explanations],
            "spans": spans,
            "counts": preview.by_constraint(),
            "hidden_share": round(preview.hidden_share, 4),
            "withheld": preview.withheld,
            "refused": dict(preview.refused),
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
        known = self._known.get(key)
        if known is None:
            known = tuple(Explainer(policy).explain(chunks_of(document), who))
            self._known.put(key, known)
        return known


def _preview(policy: Policy, explanations: Sequence[Explanation]) -> Preview:
    constraints = {rule.id: rule.text for rule in policy.rules}
    return Preview(constraints, Explainer(policy).refused, list(explanations))


def _chunk(explanation: Explanation, spans: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a chunk's stretches, and add its spans to those of the document."""
    text, marks = explanation.text, []
    for explained in (*explanation.spans, *explanation.left):
        hidden = explained in explanation.spans
        marks.append(Mark(explained.span, len(spans), "", hidden))
        spans.append(
            {
                "constraint": explained.constraint_id,
                "words": explanation.constraints[explained.constraint_id],
                "text": explained.span.of(text),
                "hidden": hidden,
                "causes": list(map(str, explained.causes)),
            }
        )
    return {
        "withheld": explanation.released is None,
        "reason": explanation.reason,
        "pieces": [
            {"text": span.of(text), "spans": [mark.group for mark in over]}
            for span, over in stretches(len(text), marks)
        ],
    }


class Questions(Confidential):
    """Answers questions over the documents, and keeps their index while they stay."""

    def __init__(self) -> None:
        self._index = Memo[tuple[int, ...], SentenceIndex](1)

    def ask(
        self,
        policy: Policy,
        documents: Mapping[int, Passage],
        question: str,
        roles: Sequence[str],
    ) -> dict[str, Any]:
        """Return what a model receives without sdrag, and with it."""
        if not documents:
            raise RefusedError(422, "There is no document to ask. Load one first.")
        engine = Engine(policy)
        index = self._index.get(tuple(documents))
        if index is None:
            _check_length(documents)
            chunks = [c for document in documents.values() for c in chunks_of(document)]
            index = SentenceIndex(chunks)
            self._index.put(tuple(documents), index)
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


def _check_length(documents: Mapping[int, Passage]) -> None:
    if (
        sum(len(document.text) for document in documents.values())
        > MAX_ASKED_CHARACTERS
    ):
        raise RefusedError(
            413,
            f"More than {MAX_ASKED_CHARACTERS:,} characters are not searched."
            " Remove some documents.",
        )


def _decision(decision: Decision) -> dict[str, Any]:
    reason = explain_reason(decision.reason)
    return {
        "subject": decision.subject,
        "action": decision.action,
        "reason": decision.reason,
        "means": reason.happened if reason else "",
        "constraints": list(decision.constraint_ids),
        "spans": decision.spans,
    }


def find_links(policy: Policy, documents: Mapping[int, Passage]) -> dict[str, Any]:
    """
    Return the chains of documents, and what the policy's masking takes out of them.

    Names and forms are shown as they are: to whoever may see the documents.
    """
    if len(documents) < 2:
        raise RefusedError(422, "Load two or more documents to see what links them.")
    _check_length(documents)
    masked = fit(list(documents.values()), policy.linkage, LocalDetector()).masked
    plan = masked.plan
    names = plan.corpus.document_ids
    return {
        "documents": len(names),
        "unread": len(documents) - len(names),
        "links_before": len(plan.before),
        "links_after": len(plan.after),
        "entities": len(plan.corpus.entity_ids),
        "masked": int(plan.masked.sum()),
        "chains": list(_chains(plan, names)),
        "broken": list(_broken(masked)),
    }


def _chains(plan: Plan, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the riskiest chains, with their risks before and after."""
    chains, after = plan.chains, plan.chain_risk
    order = np.argsort(-chains.risk_before, kind="stable")[:MAX_LINKED]
    for number in order.tolist():
        yield {
            "documents": [names[document] for document in chains.path(number)],
            "before": round(float(chains.risk_before[number]), 3),
            "after": round(float(after[number]), 3),
        }


def _broken(masked: Masked) -> Iterator[dict[str, Any]]:
    """Yield what masking takes out of the documents: nothing of it can be asked for."""
    plan = masked.plan
    for number in np.flatnonzero(plan.masked).tolist()[:MAX_LINKED]:
        entity = masked.assessment.resolved.entities[number]
        yield {
            "type": entity.type,
            "forms": list(entity.forms[:_FORMS]),
            "documents": int(plan.corpus.frequency[number]),
        }
