"""What a policy hides in documents, as one page without scripts or outside links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from sdrag.explanation import Explanation
from sdrag.explanation.marked import COLOURS, marked, style
from sdrag.reports.page import Markup, card, page, table
from sdrag.text.spans import merge
from sdrag.vocabulary import Confidential

_MOST_CHUNKS = 2_000
_WARNING = (
    '<p class="soft">This page shows the documents themselves. Keep it where the '
    "documents may be kept.</p>"
)


@dataclass(slots=True, repr=False)
class Preview(Confidential):
    """
    What a policy hides in documents.

    Args:
        constraints: The words of all constraints by their ids, in the policy's order.
        explanations: Of the chunks, in the order of the documents.
        refused: Why constraints are not enforced without a model, by their ids.
        unread: Files that were not read, or not all of, and what is left out.
        documents: How many were.
    """

    constraints: Mapping[str, str]
    refused: Mapping[str, str] = field(default_factory=dict)
    explanations: list[Explanation] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)
    documents: int = 0

    def by_constraint(self) -> dict[str, dict[str, int]]:
        """Return how many spans each constraint hides, and in how many chunks."""
        spans: Counter[str] = Counter()
        chunks: Counter[str] = Counter()
        for explanation in self.explanations:
            for name, hidden in explanation.by_constraint().items():
                spans[name] += len(hidden)
                chunks[name] += 1
        return {
            name: {"spans": spans[name], "chunks": chunks[name]}
            for name in self.constraints
        }

    @property
    def withheld(self) -> int:
        """How many chunks are withheld whole."""
        return sum(item.released is None for item in self.explanations)

    @property
    def hidden_share(self) -> float:
        """The share of characters that is hidden, from 0 to 1."""
        hidden = whole = 0
        for item in self.explanations:
            length = len(item.text)
            spans = merge(explained.span for explained in item.spans)
            hidden += length if item.released is None else sum(map(len, spans))
            whole += length
        return hidden / whole if whole else 0.0


def render_preview(preview: Preview) -> str:
    """
    Return the page. It shows raw text: it is for those who may read the documents.

    Args:
        preview: Of at most 2,000 chunks; the page says how many it leaves out.
    """
    groups = {name: number for number, name in enumerate(preview.constraints)}
    cards = (
        card(f"{preview.documents:,}", "documents"),
        card(f"{len(preview.explanations):,}", "chunks"),
        card(f"{preview.withheld:,}", "chunks withheld"),
        card(f"{preview.hidden_share:.1%}", "of the text hidden"),
    )
    body = [
        f"<style>{style()}</style>",
        "<h1>What the policy hides</h1>",
        _WARNING,
        f'<div class="cards">{"".join(cards)}</div>',
        _legend(preview, groups),
        _refused(preview.refused),
        "<h2>Documents</h2>",
        *_chunks(preview.explanations, groups),
        _unread(preview.unread),
    ]
    return page("What the policy hides", body)


def _legend(preview: Preview, groups: Mapping[str, int]) -> str:
    """Return the constraints, each in its colour."""
    counts = preview.by_constraint()
    rows = [
        (
            Markup(f'<mark class="hidden c{n % COLOURS}">{escape(name)}</mark>'),
            preview.constraints[name],
            counts[name]["spans"],
            counts[name]["chunks"],
        )
        for name, n in groups.items()
    ]
    heads = ("Constraint", "in its author's words", "spans", "chunks")
    return f"<h2>Constraints</h2>{table(heads, rows)}"


def _refused(refused: Mapping[str, str]) -> str:
    if not refused:
        return ""
    rows = [(name, reason) for name, reason in refused.items()]
    return (
        "<h2>Not enforced here</h2><p>These constraints need a model. A wrapper "
        f"without one refuses the policy.</p>{table(('Constraint', 'why'), rows)}"
    )


def _chunks(
    explanations: Sequence[Explanation], groups: Mapping[str, int]
) -> Iterator[str]:
    for explanation in explanations[:_MOST_CHUNKS]:
        marks = list(explanation.marks(groups))
        state = ""
        if explanation.released is None:
            state = f' <b class="bad">withheld ({escape(explanation.reason)})</b>'
        yield (
            f"<section><h3>{escape(explanation.id)}{state}</h3>"
            f'<div class="marked">{marked(explanation.text, marks)}</div></section>'
        )
    left_out = len(explanations) - _MOST_CHUNKS
    if left_out > 0:
        yield f'<p class="soft">and {left_out:,} more chunks.</p>'


def _unread(unread: Sequence[tuple[str, str]]) -> str:
    if not unread:
        return ""
    return f"<h2>Files</h2>{table(('File', 'what to know'), unread)}"
