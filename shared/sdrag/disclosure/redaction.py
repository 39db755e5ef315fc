"""
Replacing what was found, and proving that it is gone.

All spans are replaced at once, at the end, and every occurrence of a located span goes
with it: in the text, in the metadata that leaves and in the id. Then the result is
read again. If a located form still stands anywhere, the passage is withheld; that
cannot happen unless something here is wrong, which is why it is checked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from sdrag.disclosure.forms import name_forms, speaks_of_people
from sdrag.folding import fold
from sdrag.needles import Needles
from sdrag.spans import merge, splice
from sdrag.vocabulary import Confidential, Constraint, Finding, Span

__all__ = ["Cut", "Sweep", "alias", "cut", "public_id", "sweep"]

_SEPARATORS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True, repr=False)
class Sweep(Confidential):
    """
    What has to go wherever it stands, for each constraint.

    Args:
        needles: The surface forms found for each constraint id.
        placeholder: What stands in their place.
    """

    needles: Mapping[str, Needles]
    placeholder: str


@dataclass(frozen=True, slots=True, repr=False)
class Cut(Confidential):
    """
    A text after replacement.

    Args:
        text: `None` when a located form could not be removed.
        constraint_ids: Those that took something out.
        spans: How many stretches were replaced.
    """

    text: str | None
    constraint_ids: tuple[str, ...] = ()
    spans: int = 0


def sweep(
    texts: Sequence[str],
    findings: Mapping[int, Sequence[Finding]],
    constraints: Sequence[Constraint],
    placeholder: str,
) -> Sweep:
    """
    Collect the surface forms of all findings, with the other forms of names.

    Args:
        texts: What the findings point into.
        findings: By the text's place in the list.
        constraints: Those the findings belong to.
        placeholder: What will stand in their place.
    """
    surfaces: dict[str, set[str]] = {constraint.id: set() for constraint in constraints}
    for index, found in findings.items():
        for finding in found:
            surfaces[finding.constraint_id].add(finding.span.of(texts[index]))
    for constraint in constraints:
        if speaks_of_people(constraint.text):
            known = surfaces[constraint.id]
            known |= {form for surface in known for form in name_forms(surface)}
    for known in surfaces.values():
        known.discard(placeholder)
    return Sweep(
        {name: Needles(known) for name, known in surfaces.items()}, placeholder
    )


def cut(
    text: str,
    found: Sequence[Finding],
    applied: Sequence[str],
    swept: Sweep,
) -> Cut:
    """
    Replace the findings and every other occurrence of their forms.

    Args:
        text: Unredacted.
        found: Findings in this text.
        applied: The ids of the constraints that hold for it.
        swept: The forms found anywhere.
    """
    folded = fold(text)
    spans: dict[str, list[Span]] = {}
    for name in applied:
        own = [finding.span for finding in found if finding.constraint_id == name]
        own += swept.needles[name].find(folded)
        if own:
            spans[name] = own
    whole = merge((span for own in spans.values() for span in own), text)
    result = splice(text, whole, lambda _: swept.placeholder)
    if not _clean(result, applied, swept):
        return Cut(None, tuple(spans), len(whole))
    return Cut(result, tuple(spans), len(whole))


def public_id(identity: str, applied: Sequence[str], swept: Sweep, key: bytes) -> str:
    """Return the id, or an alias for it when it holds a form that was found."""
    spaced = fold(_SEPARATORS.sub(" ", identity))
    if not any(swept.needles[name].occur(spaced) for name in applied):
        return identity
    return alias(identity, key)


def alias(identity: str, key: bytes) -> str:
    """Return an id that tells nothing and is the same for the same id and key."""
    data = identity.encode("utf-8", "surrogatepass")
    return f"p-{blake2b(data, key=key, digest_size=8).hexdigest()}"


def _clean(text: str, applied: Sequence[str], swept: Sweep) -> bool:
    folded = fold(text.replace(swept.placeholder, "\N{WHITE SQUARE}"))
    return not any(swept.needles[name].occur(folded) for name in applied)
