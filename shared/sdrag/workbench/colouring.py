"""
Documents in colour: which stretches a policy hides, and why.

A document is read whole, since one part of it tells of a name in another. What was
found is kept in memory for the policy, the sensitivity and the constraints that bind
whoever looks, so two audiences with the same constraints cost one reading.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import Any

from sdrag.documents import chunks_of
from sdrag.explanation import Explainer, Explanation
from sdrag.html.marked import COLOURS, Mark, stretches
from sdrag.policy import Policy, binds
from sdrag.reports.preview_report import Preview, render_preview
from sdrag.vocabulary import Confidential, Passage, Principal, Span
from sdrag.workbench.limits import MAX_SHOWN_CHARACTERS
from sdrag.workbench.refusals import RefusedError

__all__ = ["Colouring", "audience"]

_REMEMBERED = 100
"""Documents under a policy, with what was found in them."""

Key = tuple[str, int, tuple[str, ...]]


def audience(roles: Sequence[str]) -> Principal | None:
    """Return who looks: somebody with these roles, or nobody in particular."""
    return Principal("workbench", roles=frozenset(roles)) if roles else None


class Colouring(Confidential):
    """Explains documents, and remembers what it found."""

    def __init__(self) -> None:
        self._known: OrderedDict[Key, tuple[Explanation, ...]] = OrderedDict()
        self._lock = Lock()

    def coloured(
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
        explanations = self.explained(policy, number, document, roles)
        spans: list[dict[str, Any]] = []
        chunks = []
        start = 0
        for explanation in explanations:
            chunks.append(_chunk(explanation, start, spans))
            start += len(explanation.text)
        found = _preview(policy, explanations)
        return {
            "document": number,
            "name": document.id,
            "chunks": chunks,
            "spans": spans,
            "colours": {rule.id: n % COLOURS for n, rule in enumerate(policy.rules)},
            "counts": found.by_constraint(),
            "hidden_share": round(found.hidden_share, 4),
            "withheld": found.withheld,
            "refused": dict(Explainer(policy).refused),
        }

    def explained(
        self, policy: Policy, number: int, document: Passage, roles: Sequence[str]
    ) -> tuple[Explanation, ...]:
        """Return the explanations of a document's chunks, in their order."""
        if len(document.text) > MAX_SHOWN_CHARACTERS:
            raise RefusedError(
                413,
                f"Documents of more than {MAX_SHOWN_CHARACTERS:,} characters are not"
                " shown. `sdrag preview` takes them.",
            )
        who = audience(roles)
        bound = tuple(rule.id for rule in policy.rules if binds(rule, who))
        key = (policy.hash, number, bound)
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        found = tuple(Explainer(policy).explain(chunks_of(document), who))
        with self._lock:
            self._known[key] = found
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return found

    def report(
        self, policy: Policy, documents: Mapping[int, Passage], roles: Sequence[str]
    ) -> str:
        """Return the page that `sdrag preview` writes, of all documents."""
        preview = _preview(policy, ())
        preview.documents = len(documents)
        for number, document in documents.items():
            preview.explanations += self.explained(policy, number, document, roles)
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
            {"text": span.of(explanation.text), "spans": [one.group for one in over]}
            for span, over in stretches(len(explanation.text), marks)
        ],
    }


def _marks(
    explanation: Explanation, start: int, spans: list[dict[str, Any]]
) -> Iterator[Mark]:
    for hidden, found in ((True, explanation.spans), (False, explanation.left)):
        for explained in found:
            span = explained.span
            spans.append(
                {
                    "constraint": explained.constraint_id,
                    "words": explanation.constraints[explained.constraint_id],
                    "start": start + span.start,
                    "text": _brief(span, explanation.text),
                    "hidden": hidden,
                    "causes": [
                        {"why": str(cause), "confidence": round(cause.confidence, 4)}
                        for cause in explained.causes
                    ],
                }
            )
            yield Mark(span, len(spans) - 1, "", hidden)


_BRIEF = 2_000


def _brief(span: Span, text: str) -> str:
    """Return what a span covers, as far as it can become an example."""
    return span.of(text)[:_BRIEF]
