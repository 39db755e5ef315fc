"""What a policy hides in documents, as one page without scripts or outside links."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import groupby, pairwise
from pathlib import PurePath
from textwrap import shorten
from typing import Any

from sdrag.detectors.local import mentions
from sdrag.disclosure.keep import find_kept
from sdrag.explanation import Explanation
from sdrag.explanation.explanations import Mark, legend, marked, style
from sdrag.policy import Policy
from sdrag.studio.authoring.understood_as import keep_in_words, kind_of
from sdrag.studio.documents import TABLES, table_of
from sdrag.studio.reports.page import Markup, card, page, table
from sdrag.text.spans import SpanUnion, merge, shift
from sdrag.vocabulary import Confidential, Keep, Span

_MOST_CHUNKS = 2_000
_CHANGED = 2
"""What one policy alone hides is listed; what both hide is not."""
_LISTED, _CUT = 12, 60
"""So many stretches are listed in the terminal, each of so many characters."""
_WORD = re.compile(r"\w+")
_WARNING = (
    '<p class="soft">This page shows the documents themselves. Keep it where the '
    "documents may be kept.</p>"
)


@dataclass(slots=True, repr=False)
class Preview(Confidential):
    """What a policy hides in documents; `others` are explained under another one."""

    constraints: Mapping[str, str]  # their words by their ids, as the policy has them
    refused: Mapping[str, str] = field(default_factory=dict)  # ids, and why
    explanations: list[Explanation] = field(default_factory=list)  # of all chunks
    unread: list[tuple[str, str]] = field(default_factory=list)  # files, and why
    documents: int = 0
    names: tuple[str, str] = ("this policy", "the other policy")
    others: list[Explanation] = field(default_factory=list)

    def by_constraint(self) -> dict[str, dict[str, int]]:
        """Return what each constraint hides, the most words first."""
        counts = {name: Counter[str]() for name in self.constraints}
        for explanation in self.explanations:
            for name, hidden in explanation.by_constraint().items():
                spans = (explained.span for explained in hidden)
                words = count_words(explanation.text, spans)
                counts[name].update(words=words, spans=len(hidden), chunks=1)
        return {
            name: {figure: count[figure] for figure in ("words", "spans", "chunks")}
            for name, count in sorted(counts.items(), key=lambda c: -c[1]["words"])
        }

    def readable(self) -> dict[str, int]:
        """Count the mentions that are not hidden by their kind, the most first."""
        counts: Counter[str] = Counter()
        for explanation in self.explanations:
            hidden = SpanUnion(hidden_spans(explanation))
            for mention in mentions(explanation.text):
                kind = kind_of(mention)
                if kind and not hidden.overlaps(mention.span):
                    counts[kind] += 1
        return dict(counts.most_common())

    @property
    def withheld(self) -> int:
        """How many chunks are withheld whole."""
        return sum(item.released is None for item in self.explanations)

    @property
    def hidden_share(self) -> float:
        """The share of characters that is hidden, from 0 to 1."""
        hidden = sum(sum(map(len, hidden_spans(item))) for item in self.explanations)
        whole = sum(len(item.text) for item in self.explanations)
        return hidden / whole if whole else 0.0

    def count_changes(self) -> dict[str, int]:
        """Return how many words each policy alone hides, and both."""
        changes = self.find_changes()
        return {name: _count_pieces(pieces) for name, pieces in changes.items()}

    def find_changes(self) -> dict[str, Counter[str]]:
        """Return what each policy alone hides, and both, and how often."""
        here, there = self.names
        names = (
            f"words only {here} hides",
            f"words only {there} hides",
            "words both hide",
        )
        changes = {name: Counter[str]() for name in names}
        for first, second in zip(self.explanations, self.others, strict=True):
            for mark in compare(first, second):
                words = " ".join(mark.span.of(first.text).split())
                changes[names[mark.group]][words] += 1
        return changes

    def as_dict(self) -> dict[str, Any]:
        """Return what it counts; no word of the documents or of the policy."""
        return {
            "documents": self.documents,
            "chunks": len(self.explanations),
            "withheld_chunks": self.withheld,
            "hidden_share": round(self.hidden_share, 4),
            "constraints": self.by_constraint(),
            "readable": self.readable(),
            **({"against": self.count_changes()} if self.others else {}),
            "refused": dict(self.refused),
        }

    def lines(self) -> Iterator[str]:
        """Yield what it counts for the policy's author, whose sentences are quoted."""
        yield (
            f"documents: {self.documents:,}; {self.hidden_share:.0%} of the text is"
            f" hidden; {self.withheld:,} of {len(self.explanations):,} chunks are"
            " withheld whole"
        )
        yield "\nwords  spans  hidden by"
        for name, count in self.by_constraint().items():
            sentence = f"“{self.constraints[name]}” ({name})"
            yield f"{count['words']:5,}  {count['spans']:5,}  {sentence}"
        if self.others:
            yield ""
            for number, (name, pieces) in enumerate(self.find_changes().items()):
                yield f"{_count_pieces(pieces):5,}  {name}"
                yield from _list_pieces(pieces) if number < _CHANGED else ()
        kinds = (f"{kind} ({count:,})" for kind, count in self.readable().items())
        yield f"\nstill readable: {', '.join(kinds) or 'nothing of a known kind'}"
        for name, why in self.refused.items():
            yield f"NOT ENFORCED: “{self.constraints.get(name, '')}” ({name}): {why}"
        if self.refused:
            yield (
                "The preview left these out; without a model, an application refuses"
                " the policy. `sdrag check` says how to write each."
            )


def idle_keeps(policy: Policy, explanations: Sequence[Explanation]) -> Iterator[str]:
    """Yield a line for each keep of a policy that lets nothing of documents stay."""
    constraints: dict[Keep, list[str]] = {}
    for rule in policy.rules:
        for keep in rule.keep:
            constraints.setdefault(keep, []).append(rule.id)
    for keep, ids in constraints.items():
        if not any(_lets_stay(keep, ids, each) for each in explanations):
            yield (
                f"keep without effect: {keep_in_words(keep)} ({', '.join(ids)}): it is"
                " in no document, no sentence that it stands under hides it, or it may"
                " not be opened"
            )


def _lets_stay(keep: Keep, ids: Sequence[str], explanation: Explanation) -> bool:
    spans = SpanUnion(find_kept(explanation.text, [keep]))
    return any(
        keep.type in {c.type for c in left.causes} or spans.overlaps(left.span)
        for left in explanation.left
        if left.constraint_id in ids and left.causes[0].by == "kept"
    )


def _count_pieces(pieces: Counter[str]) -> int:
    return sum(len(_WORD.findall(words)) * n for words, n in pieces.items())


def _list_pieces(pieces: Counter[str]) -> Iterator[str]:
    """Yield the most frequent of what is hidden, cut, and how much more there is."""
    telling = [(w, n) for w, n in pieces.most_common() if _WORD.search(w)]
    for words, times in telling[:_LISTED]:
        often = f" ({times:,} times)" if times > 1 else ""
        cut = json.dumps(shorten(words, _CUT, placeholder=" ..."), ensure_ascii=False)
        yield f"         {cut}{often}"
    if len(telling) > _LISTED:
        yield f"         and {len(telling) - _LISTED:,} more"


def hidden_spans(explanation: Explanation) -> tuple[Span, ...]:
    """Return what is hidden of a text, apart and in order; all of it if withheld."""
    if explanation.released is None and explanation.text:
        return (Span(0, len(explanation.text)),)
    return merge(explained.span for explained in explanation.spans)


def count_words(text: str, spans: Iterator[Span] | Sequence[Span]) -> int:
    """Count the words in spans of a text."""
    return sum(len(_WORD.findall(span.of(text))) for span in merge(spans))


def compare(first: Explanation, second: Explanation) -> list[Mark]:
    """Return what only the first hides (group 0), only the second (1), and both (2)."""
    here, there = map(hidden_spans, (first, second))
    ends = sorted({end for s in (*here, *there) for end in (s.start, s.end)})
    marks = []
    for start, end in pairwise(ends):
        piece = Span(start, end)
        by = tuple(any(s.contains(piece) for s in spans) for spans in (here, there))
        if any(by):
            group = 2 if all(by) else 0 if by[0] else 1
            titles = ("newly hidden", "shown again", "hidden by both")
            marks.append(Mark(piece, group, titles[group], hidden=group != 1))
    return marks


def render_preview(preview: Preview) -> str:
    """Return the page, of 2,000 chunks. It shows raw text: keep it as the documents."""
    groups = {name: number for number, name in enumerate(preview.constraints)}
    marks = [list(item.marks(groups)) for item in preview.explanations[:_MOST_CHUNKS]]
    cards = (
        card(f"{preview.documents:,}", "documents"),
        card(f"{len(preview.explanations):,}", "chunks"),
        card(f"{preview.withheld:,}", "chunks withheld"),
        card(f"{preview.hidden_share:.1%}", "of the text hidden"),
    )
    title, lead = "What the policy hides", _constraints(preview, groups)
    if preview.others:
        pairs = zip(preview.explanations, preview.others, strict=True)
        marks = [compare(*pair) for pair in pairs][:_MOST_CHUNKS]
        title, lead = "What changes between two policies", _show_changes(preview)
    body = [
        f"<style>{style()}</style>",
        f"<h1>{title}</h1>",
        _show_refused(preview.refused),
        _WARNING,
        f'<div class="cards">{"".join(cards)}</div>',
        lead,
        "<h2>Documents</h2>",
        *_documents(preview.explanations, marks),
        _table(
            "Still readable, by kind", ("Kind", "mentions"), preview.readable().items()
        ),
        _table("Files", ("File", "what to know"), preview.unread),
    ]
    return page(title, body)


def _constraints(preview: Preview, groups: Mapping[str, int]) -> str:
    """Return the constraints in their colours, the noisiest first."""
    rows = [
        (
            Markup(legend(groups[name], name)),
            preview.constraints[name],
            *(counts[figure] for figure in ("words", "spans", "chunks")),
        )
        for name, counts in preview.by_constraint().items()
    ]
    heads = ("Constraint", "in its author's words", "words hidden", "spans", "chunks")
    return f"<h2>Constraints, by words hidden</h2>{table(heads, rows)}"


def _show_changes(preview: Preview) -> str:
    rows = [
        (Markup(marked(name, [Mark(Span(0, len(name)), group, "", group != 1)])), words)
        for group, (name, words) in enumerate(preview.count_changes().items())
    ]
    return f"<h2>What changes</h2>{table(('In the text', 'words'), rows)}"


def _show_refused(refused: Mapping[str, str]) -> str:
    if not refused:
        return ""
    return (
        '<div class="refused" role="alert"><h2>Not enforced: '
        f"{len(refused):,} of the constraints</h2><p>What they ask for is <b>not "
        "hidden below</b>. Without a model, a wrapper refuses the whole policy until "
        "each is written otherwise.</p>"
        f"{table(('Constraint', 'why'), list(refused.items()))}</div>"
    )


def _documents(
    explanations: Sequence[Explanation], marks: Sequence[Sequence[Mark]]
) -> Iterator[str]:
    """Yield the documents by their names, cut where a chunk of them is withheld."""
    pairs = zip(explanations, marks, strict=False)
    for name, chunks in groupby(pairs, lambda p: p[0].id.rpartition(":")[0] or p[0].id):
        line = 1
        yield f"<section><h3>{escape(name)}</h3>"
        for shown, some in groupby(chunks, lambda p: p[0].released is not None):
            if shown:
                text, over = join(some)
                yield _show_text(name, text, over)
                line += text.count("\n")
                continue
            for chunk, placed in some:
                last = line + chunk.text.count("\n")
                yield (
                    f'<div class="withheld"><b class="bad">Lines {line:,} to {last:,} '
                    f"are withheld ({escape(chunk.reason)})</b>"
                    f'<div class="marked">{marked(chunk.text, placed)}</div></div>'
                )
                line = last
        yield "</section>"
    left_out = len(explanations) - _MOST_CHUNKS
    if left_out > 0:
        yield f'<p class="soft">and {left_out:,} more chunks.</p>'


def join(
    chunks: Iterable[tuple[Explanation, Sequence[Mark]]],
) -> tuple[str, list[Mark]]:
    """Return the text of chunks that follow one another, and what is marked in it."""
    text, over = "", list[Mark]()
    for chunk, marks in chunks:
        over += [replace(m, span=shift(m.span, len(text))) for m in marks]
        text += chunk.text
    return text, over


def is_table(name: str) -> bool:
    """Say whether a document is shown as a table."""
    return PurePath(name.lower().partition("#")[0]).suffix in TABLES


def _show_text(name: str, text: str, marks: Sequence[Mark]) -> str:
    if not is_table(name):
        return f'<div class="marked">{marked(text, marks)}</div>'
    columns, rows = rows_of(text, marks)
    body = [[Markup(marked(*cell)) for cell in row] for row in rows]
    return f'<div class="scroll marked">{table(columns, body)}</div>'


def rows_of(
    text: str, marks: Sequence[Mark]
) -> tuple[Sequence[str], list[list[tuple[str, list[Mark]]]]]:
    """Return the columns of a table, and each row: its cells, and what is on them."""
    columns, rows = table_of(text)
    inside: dict[Span, list[Mark]] = {span: [] for r in rows for span in r.values()}
    cells = list(inside)
    starts = [cell.start for cell in cells]
    for mark in marks:
        first = max(0, bisect_right(starts, mark.span.start) - 1)
        for cell in cells[first : bisect_right(starts, mark.span.end - 1)]:
            start = max(mark.span.start, cell.start) - cell.start
            end = min(mark.span.end, cell.end) - cell.start
            if start < end:
                inside[cell].append(replace(mark, span=Span(start, end)))
    return columns, [
        [(r[c].of(text), inside[r[c]]) if c in r else ("", []) for c in columns]
        for r in rows
    ]


def _table(title: str, heads: tuple[str, str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table under a heading; nothing without rows."""
    given = list(rows)
    return f"<h2>{title}</h2>{table(heads, given)}" if given else ""
