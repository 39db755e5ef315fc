"""
Putting summaries beside their chunks (SD-RAG, section III-C1).

A summary is a chunk of its own. It is bound anew, because it "may bring together
multiple chunks that would not individually trigger a redaction constraint but that
collectively do"; and it inherits what its sources are bound to, because it may repeat
them. It inherits from the moment it is known, and is bound after that: should the
binding fail, every constraint holds for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sdrag.disclosure.audience_view import control_keys
from sdrag.disclosure.binding import bind
from sdrag.disclosure.hierarchy.building import build_hierarchy
from sdrag.disclosure.hierarchy.tree import Hierarchy, HierarchySettings, Summary
from sdrag.engine.progress import progress_bar
from sdrag.engine.steps import Steps, compute, replied
from sdrag.policy import Policy
from sdrag.state import State
from sdrag.state.lineage import Link
from sdrag.vocabulary import Passage

__all__ = ["add_summaries", "inherit"]


def add_summaries(
    passages: Sequence[Passage],
    policy: Policy,
    state: State,
    settings: HierarchySettings | None = None,
    *,
    show_progress: bool = False,
) -> Steps[Hierarchy]:
    """
    Grow the trees of passages, and bind the summaries.

    The leaves are bound as any chunks are, before this or after it.

    Args:
        passages: The leaves.
        policy: Gives the constraints, and the metadata keys whose values stay apart
            beside those of the settings: whatever its guards and constraints look at.
        state: Where bindings live.
        settings: Depth three by default.
        show_progress: Shows a bar of the clusterings and summaries.

    Raises:
        SdragError: The embeddings or the state failed, or every summary did.
    """
    key = state.lineage.key("summaries")
    settings = settings or HierarchySettings()
    apart = dict.fromkeys((*settings.apart, *control_keys(policy)))
    told = replace(settings, apart=tuple(apart))
    with progress_bar("Summarizing", shown=show_progress) as progress:
        grown = yield from build_hierarchy(passages, told, progress, key=key)
    yield from inherit(grown.summaries, state)
    yield from bind(grown.passages, policy.rules, state, policy.disclosure)
    return grown


def inherit(summaries: Iterable[Summary], state: State) -> Steps[None]:
    """
    Have summaries inherit the bindings of all that they were made from.

    Args:
        summaries: Lowest layer first, down to the one above the leaves.
        state: Where bindings live.

    Raises:
        HostError: The state failed.
    """
    below: dict[str, dict[str, Passage]] = {}
    links: list[Link] = []
    for summary in summaries:
        held = {one.id: one for one in summary.sources}
        for one in summary.sources:
            held |= below.get(one.id, {})
        below[summary.passage.id] = held
        links.append((summary.passage, tuple(held.values())))
    (written,) = yield from compute(state.lineage.link, [links])
    replied(written)
