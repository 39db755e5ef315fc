"""
With a top K: what was once taken out of a chunk stays out of it.

The question chooses the constraints, so two answers could be subtracted. What a chosen
constraint took out of a chunk for an audience is therefore taken for it from then on,
whatever later questions choose. Without limits no question chooses anything, and
nothing needs to be remembered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sdrag.disclosure.release import Judged
from sdrag.engine.steps import Steps, compute, replied
from sdrag.state import State
from sdrag.vocabulary import Constraint

__all__ = ["taken_before"]


def taken_before(
    judged: Judged, rules: Sequence[Constraint], state: State
) -> Steps[Judged]:
    """
    Keep what is about to be taken out, and enforce all that ever was.

    Args:
        judged: As the question chose.
        rules: All that bind the principal.
        state: Where it is kept.

    Raises:
        HostError: The state failed; nothing may be released.
    """
    keys = state.keys
    by_name = {rule.id: keys.of("enforced", rule.id, rule.text) for rule in rules}
    audience = keys.ruleset(sorted(by_name.values()))
    texts = [
        handle
        + keys.of("passage of a document", handle.hex(), passage.id, passage.text)
        for handle, passage in zip(
            judged.facts.handles, judged.texts.passages, strict=True
        )
    ]
    taken: dict[bytes, list[bytes]] = {text: [] for text in texts}
    for index, text in enumerate(texts):
        chosen = judged.taking(index).intersection(judged.applied[index])
        taken[text] += [by_name[name] for name in sorted(chosen) if name in by_name]
    (answer,) = yield from compute(
        lambda them: state.enforced.add(audience, them), [taken]
    )
    ever = replied(answer)
    applied = []
    for index, text in enumerate(texts):
        names = {name for name, key in by_name.items() if key in ever[text]}
        names.update(judged.applied[index])
        applied.append(
            tuple(name for name in judged.texts.applied[index] if name in names)
        )
    return replace(judged, applied=applied)
