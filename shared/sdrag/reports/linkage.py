"""
The report of a masked corpus: one HTML file with no script, no link and no value.

Risks before and after, chains broken, what was masked and why, what the policy's own
unmaskable types made impossible, and the document graph drawn: each group of linked
documents in a cell. Entities are shown by type and number; documents by their ids
after masking.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape

import networkx as nx
import numpy as np

from sdrag.linkage import Masked
from sdrag.linkage.graph import LEVELS
from sdrag.linkage.plan import Plan
from sdrag.reports.page import card, page, rest, table

_MOST_ROWS = 100
_SAME = 1e-12
_MOST_NODES = 150
_NAMED = 60
_ACROSS = 3
_CELL = 300
_TALL = 220
_MARGIN = 62
_LETTERS = 20

Point = tuple[float, float]


def render_linkage(masked: Masked) -> str:
    """
    Return the report as an HTML document.

    Args:
        masked: Of a plan that `fit` returned.
    """
    return page("Linkage report", _parts(masked))


def _parts(masked: Masked) -> Iterator[str]:
    names = [document.id for document in masked.documents]
    yield from ("<h1>Linkage report</h1>", _lead(masked), _cards(masked))
    yield from ("<h2>What links the documents</h2>", _legend(masked.plan))
    yield from _draw(masked.plan, names)
    yield from ("<h2>Chains</h2>", _chains(masked.plan, names))
    yield from ("<h2>What was masked, and why</h2>", _entities(masked, names))
    yield (
        '<p class="soft">What nobody detected is not masked. The ceilings are '
        "thresholds on a score; they are no formal guarantee.</p>"
    )


def _lead(masked: Masked) -> str:
    plan = masked.plan
    stuck = len(plan.impossible_documents), len(plan.impossible_chains)
    lead = "Every document and every chain is at or under its ceiling."
    if any(stuck):
        lead = (
            f"Types declared unmaskable hold {stuck[0]:,} documents and {stuck[1]:,} "
            "chains over their ceiling; all others are at or under theirs."
        )
    withheld = sum(decision.action == "withheld" for decision in masked.decisions)
    if withheld:
        lead += f" {withheld:,} documents could not be read, and are withheld."
    return f"<p>{lead}</p>"


def _cards(masked: Masked) -> str:
    plan, chains = masked.plan, masked.plan.chains
    risks = (plan.document_risk_before, plan.document_risk)
    top, chain = (
        " \u2192 ".join(f"{risk.max(initial=0.0):.2f}" for risk in pair)
        for pair in (risks, (chains.risk_before, plan.chain_risk))
    )
    entities = f"{int(plan.masked.sum()):,} of {len(plan.corpus.entity_ids):,}"
    cards = [
        card(f"{len(masked.documents):,}", "documents"),
        card(entities, "entities masked"),
        card(f"{len(plan.before):,} \u2192 {len(plan.after):,}", "links"),
        card(top, "riskiest document"),
        card(chain, "riskiest chain"),
    ]
    return f'<div class="cards">{"".join(cards)}</div>'


def _legend(plan: Plan) -> str:
    return (
        "<p>A link joins two documents whose shared entities reach a strength of "
        f"{plan.settings.edge_threshold:g}. Dashed links are broken by masking; solid "
        "ones remain, in chains that may keep them. Broader is stronger.</p>"
    )


def _chains(plan: Plan, names: list[str]) -> str:
    chains, after = plan.chains, plan.chain_risk
    levels = Counter(LEVELS[level] for level in chains.level.tolist())
    broken = int((after <= _SAME).sum())
    order = np.argsort(-chains.risk_before, kind="stable")[:_MOST_ROWS].tolist()
    rows = [
        (
            _path(plan.chains.path(n), names),
            LEVELS[int(chains.level[n])],
            f"{chains.risk_before[n]:.2f} \u2192 {after[n]:.2f}",
            f"{chains.ceiling[n]:.2f}",
        )
        for n in order
    ]
    counts = ", ".join(f"{levels[name]:,} {name}" for name in reversed(LEVELS))
    text = (
        f"<p>{counts}, by the risk after document-level masking. {broken:,} were broken"
        " up.</p>"
    )
    heads = ("Documents", "category", "risk", "ceiling")
    return text + table(heads, rows) + rest(levels.total(), len(rows))


def _path(documents: Sequence[int], names: list[str]) -> str:
    return " \u2013 ".join(names[document] for document in documents)


def _entities(masked: Masked, names: list[str]) -> str:
    plan, resolved = masked.plan, masked.assessment.resolved
    chosen = np.flatnonzero(plan.masked).tolist()
    kinds = Counter(resolved.entities[number].type for number in chosen)
    counts = ", ".join(f"{count:,} {name}" for name, count in kinds.most_common())
    rows = []
    for number in chosen[:_MOST_ROWS]:
        entity = resolved.entities[number]
        joined = ", ".join(resolved.reasons.get(entity.id, ()))
        held, forms = int(plan.corpus.frequency[number]), len(entity.forms)
        why = _path(plan.why[number], names)
        rows.append((entity.type, entity.id, held, forms, joined, why))
    heads = ("Type", "entity", "documents", "forms", "joined by", "masked for")
    body = table(heads, rows) + rest(len(chosen), len(rows))
    return f"<p>{escape(counts or 'Nothing')}.</p>{body}"


def _draw(plan: Plan, names: Sequence[str]) -> Iterator[str]:
    """Yield the graph as SVG, the largest groups first; broken links are dashed."""
    graph, left_out = _graph(plan)
    groups = sorted(nx.connected_components(graph), key=lambda g: (-len(g), min(g)))
    if not groups:
        yield '<p class="soft">No two documents are linked.</p>'
        return
    places: dict[int, Point] = {}
    for number, group in enumerate(groups):
        places.update(_placed(graph.subgraph(sorted(group)), number))
    width = min(len(groups), _ACROSS) * _CELL
    height = math.ceil(len(groups) / _ACROSS) * _TALL
    yield (
        f'<svg class="graph" viewBox="0 0 {width} {height}" role="img" '
        'aria-label="Document graph">'
    )
    for first, second, link in graph.edges(data=True):
        (x1, y1), (x2, y2) = places[first], places[second]
        yield (
            f'<line class="{"kept" if link["kept"] else "gone"}" x1="{x1}" y1="{y1}" '
            f'x2="{x2}" y2="{y2}" stroke-width="{0.5 + 2.5 * link["strength"]:.1f}"/>'
        )
    for node, (x, y) in places.items():
        name = escape(names[node])
        yield f'<circle cx="{x}" cy="{y}" r="5"><title>{name}</title></circle>'
        if len(places) <= _NAMED:
            yield f'<text x="{x}" y="{y + 18}">{escape(names[node][:_LETTERS])}</text>'
    yield "</svg>"
    if left_out:
        yield f'<p class="soft">{left_out:,} linked documents are not drawn.</p>'


def _graph(plan: Plan) -> tuple[nx.Graph[int], int]:
    """Return the links among as many documents as are drawn, and how many are not."""
    graph: nx.Graph[int] = nx.Graph()
    before, after = plan.before, plan.after
    alive = set(zip(after.first.tolist(), after.second.tolist(), strict=True))
    pairs = zip(before.first.tolist(), before.second.tolist(), strict=True)
    for (first, second), strength in zip(pairs, before.strength.tolist(), strict=True):
        space = _MOST_NODES - len(graph)
        if space >= (first not in graph) + (second not in graph):
            graph.add_edge(
                first, second, strength=strength, kept=(first, second) in alive
            )
    return graph, len(np.union1d(before.first, before.second)) - len(graph)


def _placed(group: nx.Graph[int], number: int) -> dict[int, Point]:
    """Lay a group out in a circle within its cell."""
    row, column = divmod(number, _ACROSS)
    broad, high = _CELL / 2 - _MARGIN, _TALL / 2 - _MARGIN / 2
    return {
        node: (
            round(column * _CELL + _CELL / 2 + float(x) * broad, 1),
            round(row * _TALL + _TALL / 2 + float(y) * high, 1),
        )
        for node, (x, y) in nx.circular_layout(group).items()
    }
