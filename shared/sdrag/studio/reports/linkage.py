"""
The report of a masked corpus: one HTML file with no script, no link and no value.

Risks before and after, chains broken, what was masked and why, what the policy's own
unmaskable types made impossible, and the links of the documents as arcs beside their
names. Entities are shown by type and number; documents by their ids after masking.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from sdrag.errors import require_extra
from sdrag.linkage import Masked
from sdrag.linkage.graph import LEVELS
from sdrag.linkage.plan import Plan
from sdrag.studio.reports.page import card, page, rest, table

with require_extra("linkage", "A linkage report"):
    import networkx as nx

_MOST_ROWS = 100
_SAME = 1e-12
_MOST_NODES = 100
_ROW, _LEFT, _BROAD = 18, 260, 300
"""Of the drawing: the height of a document, and the widths of names and of arcs."""
_LETTERS = 34


def render_linkage(masked: Masked) -> str:
    """Return the report of a masked corpus as an HTML document."""
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
    if types := masked.assessment.resolved.not_compared:
        names = escape(", ".join(types))
        lead += f" Too many to be compared by their meaning: {names}."
    return f"<p>{lead} {_pseudonyms(masked)}</p>"


def _pseudonyms(masked: Masked) -> str:
    """Say which entities have a pseudonym, where those were asked for, and why not."""
    if masked.masker.style != "pseudonym":
        return ""
    why = Counter(masked.masker.refused.values())
    given = len(masked.entities) - why.total()
    return (
        f"{given:,} entities have a pseudonym; these keep {masked.links_kept:,} links. "
        f"{why['keeps-chain']:,} were masked to break a chain, which a pseudonym would "
        f"keep: they have a label. {why['spells-masked']:,} have neither, as it would "
        "spell what is masked."
    )


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
    """Yield the graph as SVG: a row a document, an arc a link, large groups first."""
    graph, left_out = _graph(plan)
    groups = sorted(nx.connected_components(graph), key=lambda g: (-len(g), min(g)))
    if not groups:
        yield '<p class="soft">No two documents are linked.</p>'
        return
    heights: dict[int, float] = {}
    bottom = 0.0
    for group in groups:
        for node in sorted(group):
            heights[node] = bottom = bottom + _ROW
        bottom += _ROW
    yield (
        f'<svg class="graph" viewBox="0 0 {_LEFT + _BROAD} {bottom:g}" role="img" '
        'aria-label="Document graph">'
    )
    for first, second, link in graph.edges(data=True):
        start, end = sorted((heights[first], heights[second]))
        out = _LEFT + min(_BROAD * 4 / 3, 3 * (end - start))  # it gets 3/4 there
        kind = "kept" if link["kept"] else "gone"
        yield (
            f'<path class="{kind}" d="M {_LEFT} {start:g} '
            f'C {out:g} {start:g} {out:g} {end:g} {_LEFT} {end:g}" '
            f'stroke-width="{0.5 + 2.5 * link["strength"]:.1f}"/>'
        )
    for node, height in heights.items():
        name = escape(names[node])
        short = escape(names[node][:_LETTERS])
        yield (
            f'<circle cx="{_LEFT}" cy="{height:g}" r="4"><title>{name}</title></circle>'
            f'<text x="{_LEFT - 10}" y="{height + 4:g}">{short}</text>'
        )
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
