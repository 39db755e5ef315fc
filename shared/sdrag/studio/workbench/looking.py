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
from itertools import islice
from typing import Any

from sdrag.detectors.local import LocalDetector
from sdrag.disclosure.enforceable import not_understood
from sdrag.explanation import Explainer, Explanation
from sdrag.explanation.explanations import Mark, stretches
from sdrag.linkage import Masked, fit
from sdrag.memo import Memo
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.policy import Policy, binds
from sdrag.privacy.identities import alias
from sdrag.privacy.reasons import explain as explain_reason
from sdrag.studio.documents import chunks_of
from sdrag.studio.evaluation.index import SentenceIndex
from sdrag.studio.reports.preview import Preview, compare, is_table, join, rows_of
from sdrag.studio.workbench.gate import RefusedError
from sdrag.vocabulary import Confidential, Decision, Passage, Principal

MAX_SHOWN_CHARACTERS = 200_000
"""Of one document that is coloured. It is read whole or not at all: a part of it would
show less than what its other parts tell of a name."""

MAX_ASKED_CHARACTERS = 2_000_000
"""Of all documents together, when a question is asked to them."""

MAX_LINKED = 100
"""Documents that are listed with what links them."""

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
    """Explains documents, and remembers what it found; what comes out is unredacted."""

    def __init__(self) -> None:
        self._known = Memo[Key, tuple[Explanation, ...]](_REMEMBERED)

    def colour(
        self, policy: Policy, number: int, document: Passage, roles: Sequence[str]
    ) -> dict[str, Any]:
        """Return a document as stretches of text, each with what covers it."""
        explanations = self.explain(policy, number, document, roles)
        preview = preview_of(policy, explanations)
        spans: list[dict[str, Any]] = []
        marks = [_marks(explanation, spans) for explanation in explanations]
        return {
            "name": document.id,
            "chunks": list(_chunks(document, explanations, marks)),
            "spans": spans,
            "counts": preview.by_constraint(),
            "readable": preview.readable(),
            "hidden_share": round(preview.hidden_share, 4),
            "withheld": preview.withheld,
            "refused": preview.refused,
        }

    def compare(
        self,
        policies: tuple[Policy, Policy],
        number: int,
        document: Passage,
        roles: Sequence[str],
    ) -> dict[str, Any]:
        """Return a document with what only one of two policies hides, or both."""
        here, there = (self.explain(p, number, document, roles) for p in policies)
        marks = [compare(*pair) for pair in zip(here, there, strict=True)]
        preview = Preview({}, explanations=list(here), others=list(there))
        return {
            "name": document.id,
            "chunks": list(_chunks(document, here, marks)),
            "words": list(preview.count_changes().values()),
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


def preview_of(
    policy: Policy, explanations: Sequence[Explanation], documents: int = 1
) -> Preview:
    """Return what the page and the report count."""
    constraints = {rule.id: rule.text for rule in policy.rules}
    is_refused = policy.when_not_understood == "refuse"
    refused = not_understood(policy) if is_refused else {}
    return Preview(constraints, refused, list(explanations), documents=documents)


def _marks(explanation: Explanation, spans: list[dict[str, Any]]) -> list[Mark]:
    """Return the marks of a chunk, and add its spans to those of the document."""
    marks = []
    for hidden, found in ((True, explanation.spans), (False, explanation.left)):
        for explained in found:
            marks.append(Mark(explained.span, len(spans), "", hidden))
            spans.append(
                {
                    "constraint": explained.constraint_id,
                    "words": explanation.constraints[explained.constraint_id],
                    "text": explained.span.of(explanation.text),
                    "hidden": hidden,
                    "causes": list(map(str, explained.causes)),
                }
            )
    return marks


def _chunks(
    document: Passage,
    explanations: Sequence[Explanation],
    marks: Sequence[Sequence[Mark]],
) -> Iterator[dict[str, Any]]:
    """Yield chunks in pieces; a table that leaves whole comes in cells of pieces."""
    whole = all(explanation.released is not None for explanation in explanations)
    if whole and is_table(str(document.metadata.get("source", document.id))):
        text, over = join(zip(explanations, marks, strict=True))
        columns, rows = rows_of(text, over)
        cells = [[_pieces(*cell) for cell in row] for row in rows]
        yield {"withheld": False, "columns": columns, "rows": cells}
        return
    for explanation, placed in zip(explanations, marks, strict=True):
        yield {
            "withheld": explanation.released is None,
            "reason": explanation.reason,
            "pieces": _pieces(explanation.text, placed),
        }


def _pieces(text: str, marks: Sequence[Mark]) -> list[dict[str, Any]]:
    return [
        {"text": span.of(text), "spans": [mark.group for mark in over]}
        for span, over in stretches(len(text), marks)
    ]


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
        engine = Engine(policy, stage="view")
        index = self._index.get(tuple(documents))
        if index is None:
            _check_length(documents)
            index = SentenceIndex([c for d in documents.values() for c in chunks_of(d)])
            self._index.put(tuple(documents), index)
        retrieved = index.search(question, _RETRIEVED)
        ids = {passage.document_id for passage in retrieved}
        engine.run(bind([p for p in index.passages if p.document_id in ids], engine))
        request = Request(question, _audience(roles), _RETRIEVED)
        shown, _ = engine.run(disclose(retrieved, request, engine))
        places = _places(documents, engine)
        return {
            "plain": [{"id": places[p.id], "text": p.text} for p in retrieved],
            "wrapped": [
                {"id": places.get(p.id, p.id), "text": p.text} for p in shown.passages
            ],
            "decisions": [_decision(each, places) for each in shown.decisions],
        }


def _check_length(documents: Mapping[int, Passage]) -> None:
    if sum(len(each.text) for each in documents.values()) > MAX_ASKED_CHARACTERS:
        raise RefusedError(
            413,
            f"More than {MAX_ASKED_CHARACTERS:,} characters are not searched."
            " Remove some documents.",
        )


def _places(documents: Mapping[int, Passage], engine: Engine) -> dict[str, str]:
    """Return where chunks are, by their ids and by what redaction calls them."""
    places: dict[str, str] = {}
    for document in documents.values():
        line = 1
        for chunk in chunks_of(document):
            last = line + chunk.text.rstrip("\n").count("\n")
            lines = f"line {line:,}" if last == line else f"lines {line:,} to {last:,}"
            place = f"{document.id}, {lines}"
            places |= {chunk.id: place, alias(chunk.id, engine.disclosure.key): place}
            line += chunk.text.count("\n")
    return places


def _decision(decision: Decision, places: Mapping[str, str]) -> dict[str, Any]:
    reason = explain_reason(decision.reason)
    return {
        "subject": places.get(decision.subject, decision.subject),
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
        "by_document": list(_by_document(masked)),
    }


def _by_document(masked: Masked) -> Iterator[dict[str, Any]]:
    """Yield each linked document: to which others, and what masking takes out of it."""
    plan, corpus, graph = masked.plan, masked.plan.corpus, masked.graph
    names = dict(zip(graph, corpus.document_ids, strict=True))
    entities = masked.assessment.resolved.entities
    linked = ((n, node) for n, node in enumerate(graph) if graph.degree[node])
    for number, node in islice(linked, MAX_LINKED):
        inside = corpus.entity[corpus.document == number].tolist()
        yield {
            "document": names[node],
            "linked": [names[other] for other in graph[node]],
            "left": [
                names[other] for other, link in graph[node].items() if link["kept"]
            ],
            "before": round(float(plan.document_risk_before[number]), 3),
            "after": round(float(plan.document_risk[number]), 3),
            "masked": [
                {"type": entities[n].type, "forms": list(entities[n].forms[:_FORMS])}
                for n in inside
                if plan.masked[n]
            ],
        }
