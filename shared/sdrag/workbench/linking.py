"""What links the loaded documents, and what masking would break."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sdrag.detectors.local import LocalDetector
from sdrag.linkage import Masked, mask_corpus
from sdrag.linkage.graph import LEVELS, documents_of
from sdrag.linkage.plan import Plan
from sdrag.policy import Policy
from sdrag.reports.linkage_graph import Drawing, laid_out
from sdrag.vocabulary import Passage
from sdrag.workbench.limits import MAX_ASKED_CHARACTERS, MAX_LINKED
from sdrag.workbench.refusals import RefusedError

__all__ = ["linked"]

_FORMS = 5


def linked(policy: Policy, documents: Sequence[Passage]) -> dict[str, Any]:
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
    masked = mask_corpus(documents, policy.linkage, LocalDetector())
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
        ends = plan.edges.ends(chains.hops[number])
        yield {
            "documents": [names[document] for document in documents_of(ends)],
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
            "for": "one document"
            if number in plan.selection.for_document
            else "a link",
        }


def _risks(plan: Plan, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    before, after = plan.document_risk_before, plan.document_risk
    for number in np.argsort(-before, kind="stable")[:MAX_LINKED].tolist():
        yield {
            "name": names[number],
            "before": round(float(before[number]), 3),
            "after": round(float(after[number]), 3),
        }
