"""
What a hijacked model would receive for a question: plain, and through a wrapper.

The worst that a prompt injection can make of a model is that it repeats all it was
given. So what is shown is the retrieved text itself: as it is in the index, and as the
pipeline releases it, in the same code that the wrappers of both frameworks run. The
documents that were retrieved are bound first, as an index is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from sdrag.documents import chunks_of
from sdrag.evaluation.index import SentenceIndex
from sdrag.pipeline import Engine, Request, bind, disclose
from sdrag.policy import Policy
from sdrag.reasons import explain as explain_reason
from sdrag.testing import verbatim
from sdrag.vocabulary import Confidential, Decision, Passage
from sdrag.workbench.colouring import audience
from sdrag.workbench.limits import MAX_ASKED_CHARACTERS
from sdrag.workbench.refusals import RefusedError

__all__ = ["Questions"]

_RETRIEVED = 5
"""Chunks, as many hosts retrieve."""


class Questions(Confidential):
    """Answers questions over the documents, and keeps their index while they stay."""

    def __init__(self) -> None:
        self._index: tuple[tuple[int, ...], SentenceIndex] | None = None
        self._lock = Lock()

    def received(
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
        found = index.search(question, _RETRIEVED)
        ids = {passage.document_id for passage in found}
        engine.run(bind([p for p in index.passages if p.document_id in ids], engine))
        request = Request(question, audience(roles), _RETRIEVED)
        shown, _ = engine.run(disclose(found, request, engine))
        return {
            "plain": [_said(passage) for passage in found],
            "wrapped": [_said(passage) for passage in shown.passages],
            "decisions": [_decision(one) for one in shown.decisions],
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


def _said(passage: Passage) -> dict[str, str]:
    """Return what the model that repeats everything says of a passage."""
    return {"id": passage.id, "text": verbatim(passage.text)}


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
