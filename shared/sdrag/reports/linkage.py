"""
The report of a masked corpus: one HTML file with no script, no link and no value.

Risks before and after, chains broken, what was masked and why, what the policy's own
unmaskable types made impossible, and the document graph drawn. Entities are shown by
type and number; documents by their ids after masking.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from sdrag.linkage.chains import LEVELS
from sdrag.linkage.masking import Masked

__all__ = ["render_linkage"]

_STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;
padding:0 1rem;color:#1d2433}table{border-collapse:collapse;margin:1rem 0}th,td{padding:
.25rem .8rem;border-bottom:1px solid #d7dce5;text-align:left}td.n{text-align:right;
font-variant-numeric:tabular-nums}svg{width:100%;height:auto;border:1px solid #d7dce5}
.gone{stroke:#c7ccd6;stroke-dasharray:4 4}.kept{stroke:#b3261e}circle{fill:#35507a}"""
_MOST_ROWS = 200
_MOST_NODES = 150
_SIZE = 720


def render_linkage(masked: Masked) -> str:
    """
    Return the report as an HTML document.

    Args:
        masked: What `mask_corpus` returned.
    """
    parts = (
        "<h1>Linkage report</h1>",
        _summary(masked),
        "<h2>Risk of documents</h2>",
        _documents(masked),
        "<h2>Chains</h2>",
        _chains(masked),
        "<h2>What was masked, and why</h2>",
        _entities(masked),
        "<h2>Document graph</h2>",
        _graph(masked),
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        "<title>Linkage report</title>"
        f"<style>{_STYLE}</style><body>{''.join(parts)}</body></html>\n"
    )


def _summary(masked: Masked) -> str:
    plan = masked.plan
    withheld = sum(decision.action == "withheld" for decision in masked.decisions)
    rows: list[tuple[str, object]] = [
        ("Documents", len(masked.decisions)),
        ("withheld, since they could not be read to the end", withheld),
        ("Entities", len(plan.corpus.entity_ids)),
        ("masked", int(plan.masked.sum())),
        ("Links before", plan.links_before),
        ("Strategy", plan.settings.select),
        (
            "Documents over their ceiling, by unmaskable types",
            len(plan.impossible_documents),
        ),
        ("Chains over their ceiling, by unmaskable types", len(plan.impossible_chains)),
    ]
    if plan.solution is not None:
        rows += [
            ("Cost of the plan", round(plan.solution.cost)),
            ("No plan costs less than", round(plan.solution.bound)),
        ]
    rows += [
        (f"Chains of {length} not enumerated (at most)", missed)
        for length, missed in plan.chains.left_out.items()
    ]
    if masked.assessment.resolved.not_compared:
        names = ", ".join(masked.assessment.resolved.not_compared)
        rows.append(("Types with too many forms to compare by meaning", names))
    return _table(("", ""), rows)


def _documents(masked: Masked) -> str:
    plan = masked.plan
    before, after = plan.document_risk_before, plan.document_risk
    ids = [document.id for document in masked.documents]
    order = np.argsort(-before, kind="stable")[:_MOST_ROWS].tolist()
    rows = [(ids[n], f"{before[n]:.3f}", f"{after[n]:.3f}") for n in order]
    return _table(("Document", "before", "after"), rows) + _rest(len(ids))


def _chains(masked: Masked) -> str:
    plan = masked.plan
    chains, after = plan.chains, plan.chain_risk
    levels = Counter(LEVELS[level] for level in chains.level.tolist())
    counts = ", ".join(f"{levels[name]} {name}" for name in reversed(LEVELS))
    lowered = int((after < chains.risk_before - 1e-12).sum())
    broken = int((after <= 0).sum())
    order = np.argsort(-chains.risk_before, kind="stable")[:_MOST_ROWS].tolist()
    rows = [
        (
            LEVELS[int(chains.level[n])],
            f"{chains.risk_before[n]:.3f}",
            f"{chains.ceiling[n]:.3f}",
            f"{after[n]:.3f}",
        )
        for n in order
    ]
    text = f"<p>{counts}; {lowered} lowered, {broken} of them broken altogether.</p>"
    heads = ("Category", "after document level", "ceiling", "after masking")
    return text + _table(heads, rows) + _rest(len(chains))


def _entities(masked: Masked) -> str:
    plan, resolved = masked.plan, masked.assessment.resolved
    ids = [document.id for document in masked.documents]
    rows = []
    for number in np.flatnonzero(plan.masked).tolist()[:_MOST_ROWS]:
        entity = resolved.entities[number]
        document = plan.selected.for_document.get(number)
        if document is None:
            chain = plan.chains.risk_before[plan.selected.for_chain[number]]
            why = f"a chain of risk {chain:.3f}"
        else:
            why = f"the risk of document {ids[document]}"
        joined = ", ".join(resolved.reasons.get(entity.id, ()))
        held = int(plan.corpus.frequency[number])
        rows.append((entity.id, entity.type, held, len(entity.forms), joined, why))
    heads = ("Entity", "type", "documents", "forms", "joined by", "masked for")
    return _table(heads, rows) + _rest(int(plan.masked.sum()))


def _graph(masked: Masked) -> str:
    """Draw the linked documents on a circle; links that are gone are dashed."""
    plan = masked.plan
    before = plan.before.expanded()
    after = before.without(plan.masked, plan.settings.edge_threshold)
    kept = set(zip(after.first.tolist(), after.second.tolist(), strict=True))
    pairs = list(
        zip(before.first.tolist(), before.second.tolist(), strict=True)
    )
    nodes = sorted({node for pair in pairs for node in pair})[:_MOST_NODES]
    place = {node: _point(index, len(nodes)) for index, node in enumerate(nodes)}
    lines = [
        f'<line class="{"kept" if pair in kept else "gone"}" x1="{one[0]}" '
        f'y1="{one[1]}" x2="{two[0]}" y2="{two[1]}"/>'
        for pair in pairs
        if pair[0] in place and pair[1] in place
        for one, two in ((place[pair[0]], place[pair[1]]),)
    ]
    ids = [document.id for document in masked.documents]
    dots = [
        f'<circle cx="{x}" cy="{y}" r="5"><title>{escape(ids[node])}</title></circle>'
        for node, (x, y) in place.items()
    ]
    note = f"<p>{len(pairs)} links before, {len(kept)} after (solid).</p>"
    body = "".join(lines + dots)
    return f'{note}<svg viewBox="0 0 {_SIZE} {_SIZE}" role="img">{body}</svg>'


def _point(index: int, count: int) -> tuple[float, float]:
    angle = 2 * math.pi * index / max(count, 1)
    radius = _SIZE / 2 - 20
    x, y = math.cos(angle) * radius, math.sin(angle) * radius
    return round(_SIZE / 2 + x, 1), round(_SIZE / 2 + y, 1)


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _cell(value: object) -> str:
    kind = ' class="n"' if isinstance(value, int) else ""
    return f"<td{kind}>{escape(str(value))}</td>"


def _rest(count: int) -> str:
    more = count - _MOST_ROWS
    return f"<p>and {more} more.</p>" if more > 0 else ""
