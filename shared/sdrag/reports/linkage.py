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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import networkx as nx
import numpy as np

from sdrag.linkage import Masked
from sdrag.linkage.graph import LEVELS
from sdrag.linkage.plan import Plan
from sdrag.linkage.schema import Schema
from sdrag.reports.page import Markup, bar, card, page, rest, table

_MOST_ROWS = 100
_SAME = 1e-12
_MOST_NODES = 150
_NAMED = 60
_ACROSS = 3
_CELL = 300
_TALL = 220
_MARGIN = 62
_LETTERS = 20
_TILT = 0.5

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
    yield _draw(masked.plan, names)
    yield from ("<h2>Chains</h2>", _chains(masked.plan, names))
    yield from ("<h2>Documents</h2>", _documents(masked.plan, names))
    yield from ("<h2>What was masked, and why</h2>", _entities(masked, names))
    yield from ("<h2>What this rests on</h2>", _settings(masked))


def _lead(masked: Masked) -> str:
    plan = masked.plan
    stuck = len(plan.impossible_documents), len(plan.impossible_chains)
    met = (
        f"Types declared unmaskable hold {stuck[0]:,} documents and {stuck[1]:,} "
        "chains over their ceiling; all others are at or under theirs."
        if any(stuck)
        else "Every document and every chain is at or under its ceiling."
    )
    withheld = sum(decision.action == "withheld" for decision in masked.decisions)
    left = (
        f" {withheld:,} documents could not be read to the end and are withheld."
        if withheld
        else ""
    )
    return f"<p>{met}{left}</p>"


def _cards(masked: Masked) -> str:
    plan = masked.plan
    before, after = plan.document_risk_before, plan.document_risk
    chains = plan.chains.risk_before.max(initial=0.0), plan.chain_risk.max(initial=0.0)
    top = before.max(initial=0.0), after.max(initial=0.0)
    entities = f"{int(plan.masked.sum()):,} of {len(plan.corpus.entity_ids):,}"
    cards = [
        card(f"{len(masked.documents):,}", "documents"),
        card(entities, "entities masked"),
        card(f"{len(plan.before):,} \u2192 {len(plan.after):,}", "links"),
        card(f"{top[0]:.2f} \u2192 {top[1]:.2f}", "riskiest document"),
        card(f"{chains[0]:.2f} \u2192 {chains[1]:.2f}", "riskiest chain"),
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
    lowered = int((after < chains.risk_before - _SAME).sum())
    broken = int((after <= _SAME).sum())
    order = np.argsort(-chains.risk_before, kind="stable")[:_MOST_ROWS].tolist()
    rows = [
        (
            _path(plan.chains.path(n), names),
            Markup(f'<span class="{_level(plan, n)}">{_level(plan, n)}</span>'),
            bar(chains.risk_before[n], after[n], chains.ceiling[n]),
            f"{chains.risk_before[n]:.2f} \u2192 {after[n]:.2f}",
            f"{chains.ceiling[n]:.2f}",
        )
        for n in order
    ]
    counts = ", ".join(f"{levels[name]:,} {name}" for name in reversed(LEVELS))
    text = (
        f"<p>{counts}, by the risk after document-level masking. {lowered:,} were "
        f"lowered further, {broken:,} of them to nothing. Blue is the risk that is "
        "left, amber what masking took off, and the red mark is the ceiling.</p>"
    )
    heads = ("Documents", "category", "risk", "", "ceiling")
    return text + table(heads, rows) + rest(levels.total(), len(rows))


def _level(plan: Plan, number: int) -> str:
    return LEVELS[int(plan.chains.level[number])]


def _path(documents: Sequence[int], names: list[str]) -> str:
    return " \u2013 ".join(names[document] for document in documents)


def _documents(plan: Plan, names: list[str]) -> str:
    before, after = plan.document_risk_before, plan.document_risk
    ceiling = plan.settings.max_document_risk
    order = np.argsort(-before, kind="stable")[:_MOST_ROWS].tolist()
    rows = [
        (
            names[n],
            bar(before[n], after[n], ceiling),
            f"{before[n]:.2f} \u2192 {after[n]:.2f}",
        )
        for n in order
    ]
    over = int((before > ceiling + _SAME).sum())
    text = f"<p>{over:,} were over the ceiling of {ceiling:g}.</p>"
    return text + table(("Document", "risk", ""), rows) + rest(len(names), len(rows))


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


def _settings(masked: Masked) -> str:
    plan = masked.plan
    settings, skipped = plan.settings, masked.assessment.resolved.not_compared
    rows = [
        ("Strategy", settings.select),
        ("Longest chain", f"{settings.chain_length} documents"),
        ("Ceiling on documents", f"{settings.max_document_risk:g}"),
        ("Ceiling on chains", f"{settings.max_chain_risk:g}"),
        ("Unmaskable types", ", ".join(settings.unmaskable) or "none"),
    ]
    known = Schema(settings).weights
    types = {entity.type for entity in masked.assessment.resolved.entities}
    if unweighed := sum(name not in known for name in types):
        rows.append(("Types without a weight of their own", f"{unweighed:,}"))
    if skipped:
        rows.append(("Too many forms to compare by meaning", ", ".join(skipped)))
    return table(("Setting", "value"), rows) + (
        '<p class="soft">What nobody detected is not masked. The ceilings are '
        "thresholds on a score; they are no formal guarantee.</p>"
    )


@dataclass(frozen=True, slots=True)
class Line:
    """A link between two documents, by their numbers; `kept` if masking leaves it."""

    first: int
    second: int
    width: float
    kept: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """
    Where everything of a graph is.

    Args:
        places: Of the documents, by their numbers.
        lines: Between them.
        width: Of the whole.
        height: Of the whole.
        left_out: How many linked documents are not drawn.
    """

    places: Mapping[int, Point]
    lines: tuple[Line, ...]
    width: int
    height: int
    left_out: int


def laid_out(plan: Plan) -> Drawing:
    """Place the linked documents of a plan, the largest groups first."""
    graph, left_out = _graph(plan)
    groups = sorted(nx.connected_components(graph), key=lambda g: (-len(g), min(g)))
    places: dict[int, Point] = {}
    for number, group in enumerate(groups):
        places.update(_placed(graph.subgraph(sorted(group)), number))
    lines = tuple(
        Line(one, two, round(0.5 + 2.5 * data["strength"], 1), data["kept"])
        for one, two, data in graph.edges(data=True)
    )
    width = min(len(groups), _ACROSS) * _CELL
    height = math.ceil(len(groups) / _ACROSS) * _TALL
    return Drawing(places, lines, width, height, left_out)


def _draw(plan: Plan, names: Sequence[str]) -> str:
    """Return the graph as SVG; broken links are dashed."""
    drawing = laid_out(plan)
    places = drawing.places
    if not places:
        return '<p class="soft">No two documents are linked.</p>'
    lines = "".join(_line(places, line) for line in drawing.lines)
    dots = "".join(_dots(places, names, named=len(places) <= _NAMED))
    note = f'<p class="soft">{drawing.left_out:,} linked documents are not drawn.</p>'
    return (
        f'<svg class="graph" viewBox="0 0 {drawing.width} {drawing.height}" role="img" '
        f'aria-label="Document graph">{lines}{dots}</svg>'
        f"{note if drawing.left_out else ''}"
    )


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
    """Lay a group out within its cell; the same group always in the same way."""
    layout = _tilted(nx.kamada_kawai_layout(group)) if len(group) > 2 else _pair(group)
    row, column = divmod(number, _ACROSS)
    broad, high = _CELL / 2 - _MARGIN, _TALL / 2 - _MARGIN / 2
    return {
        node: (
            round(column * _CELL + _CELL / 2 + float(x) * broad, 1),
            round(row * _TALL + _TALL / 2 + float(y) * high, 1),
        )
        for node, (x, y) in layout.items()
    }


def _tilted(places: dict[int, Point]) -> dict[int, Point]:
    """Turn a layout a little, so that names in a row do not lie on one line."""
    cos, sin = math.cos(_TILT), math.sin(_TILT)
    return {n: (x * cos - y * sin, x * sin + y * cos) for n, (x, y) in places.items()}


def _pair(group: nx.Graph[int]) -> dict[int, Point]:
    return dict(zip(sorted(group), ((-0.6, 0.0), (0.6, 0.0)), strict=False))


def _line(places: Mapping[int, Point], line: Line) -> str:
    (x1, y1), (x2, y2) = places[line.first], places[line.second]
    return (
        f'<line class="{"kept" if line.kept else "gone"}" x1="{x1}" y1="{y1}" '
        f'x2="{x2}" y2="{y2}" stroke-width="{line.width}"/>'
    )


def _dots(
    places: Mapping[int, Point], names: Sequence[str], *, named: bool
) -> Iterator[str]:
    for node, (x, y) in places.items():
        name = escape(names[node])
        yield f'<circle cx="{x}" cy="{y}" r="5"><title>{name}</title></circle>'
        if named:
            short = names[node][:_LETTERS]
            yield f'<text x="{x}" y="{y + 18}">{escape(short)}</text>'
