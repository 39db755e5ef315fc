"""
Replacing what was found, and proving that it is gone.

All spans are replaced at once, at the end, and every occurrence of a located span in
its document goes with it: in the text, in the metadata that leaves and in the id. Then
the result is read again, until no located form stands in it; a text that does not come
to rest is withheld.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from urllib.parse import unquote

from sdrag.detectors.local.tables import common_words
from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.documents import by_document
from sdrag.disclosure.forms import name_forms, speaks_of_people
from sdrag.folding import fold, fold_text
from sdrag.identities import alias
from sdrag.needles import Needles, needs_case
from sdrag.spans import merge, splice
from sdrag.vocabulary import Confidential, Constraint, Finding, Passage, Span

__all__ = [
    "Cut",
    "Sweep",
    "cut",
    "disguised",
    "public_id",
    "sweep",
    "sweep_documents",
]

_SEPARATORS = re.compile(r"[\W_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_DENSE = 6
"""Shorter forms stand inside other words by accident."""
_ROUNDS = 8
"""Cutting can lay a form bare that stood inside a word; each round cuts one more."""
_BLANK = "\N{WHITE SQUARE}"


@dataclass(frozen=True, slots=True, repr=False)
class Sweep(Confidential):
    """
    What has to go wherever it stands, for each constraint.

    Args:
        needles: The surface forms found for each constraint id.
        placeholders: What stands in their place, for each constraint id.
    """

    needles: Mapping[str, Needles]
    placeholders: Mapping[str, str]


@dataclass(frozen=True, slots=True, repr=False)
class Cut(Confidential):
    """
    A text after replacement.

    Args:
        text: `None` when a located form could not be removed.
        constraint_ids: Those that took something out.
        spans: How many stretches were replaced.
        taken: What each of them took, in the text as it was.
    """

    text: str | None
    constraint_ids: tuple[str, ...] = ()
    spans: int = 0
    taken: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)


def sweep_documents(
    texts: Sequence[Passage],
    findings: Mapping[int, Sequence[Finding]],
    constraints: Sequence[Constraint],
    placeholders: Mapping[str, str],
) -> list[Sweep]:
    """
    Sweep every document by itself: what one says of a name is no fact of another.

    Args:
        texts: What the findings point into.
        findings: By the text's place in the list.
        constraints: Those the findings belong to.
        placeholders: What will stand in their place, for each constraint id.

    Returns:
        One for each text; texts of one document share it.
    """
    swept: dict[int, Sweep] = {}
    for places in by_document(texts):
        plain = [texts[place].text for place in places]
        own = {index: findings[place] for index, place in enumerate(places)}
        document = sweep(plain, own, constraints, placeholders)
        swept |= dict.fromkeys(places, document)
    return [swept[place] for place in range(len(texts))]


def sweep(
    texts: Sequence[str],
    findings: Mapping[int, Sequence[Finding]],
    constraints: Sequence[Constraint],
    placeholders: Mapping[str, str],
) -> Sweep:
    """
    Collect the surface forms of all findings, with the other forms of names.

    Args:
        texts: Of one document.
        findings: As for `sweep_documents`.
        constraints: The same.
        placeholders: The same.
    """
    surfaces: dict[str, set[str]] = {constraint.id: set() for constraint in constraints}
    for index, found in findings.items():
        for finding in found:
            surfaces[finding.constraint_id].add(finding.span.of(texts[index]))
    for constraint in constraints:
        known = surfaces[constraint.id]
        if known and _names_people(constraint):
            known |= {form for surface in known for form in name_forms(surface)}
    for known in surfaces.values():
        known.difference_update(placeholders.values())
    return Sweep(
        {name: Needles(_lasting(known)) for name, known in surfaces.items()},
        placeholders,
    )


def _names_people(constraint: Constraint) -> bool:
    return "PERSON" in parse(constraint).types or speaks_of_people(constraint.text)


def _lasting(surfaces: Iterable[str]) -> list[str]:
    """Leave out short everyday words: found once, "of" is not to go everywhere."""
    return [
        surface
        for surface in surfaces
        if not (needs_case(surface) and surface.strip().lower() in common_words())
    ]


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
    spans: dict[str, list[Span]] = {}
    for finding in found:
        if finding.constraint_id in applied:
            spans.setdefault(finding.constraint_id, []).append(finding.span)
    whole: tuple[Span, ...] = ()
    for _ in range(_ROUNDS):
        standing = _standing(_blanked(text, whole), applied, swept)
        for name, more in standing.items():
            spans.setdefault(name, []).extend(more)
        grown = _whole(text, spans, swept.placeholders)
        if grown == whole:
            taken = _taken(spans, applied)
            replace = partial(_instead, apart=taken, swept=swept)
            return Cut(splice(text, whole, replace), tuple(taken), len(whole), taken)
        whole = grown
    taken = _taken(spans, applied)
    return Cut(None, tuple(taken), len(whole), taken)


def _instead(span: Span, apart: Mapping[str, Sequence[Span]], swept: Sweep) -> str:
    """Return the placeholder of the first constraint that takes part of a span."""
    return next(
        said
        for name, said in swept.placeholders.items()
        if _takes_part(apart.get(name, ()), span)
    )


def _takes_part(apart: Sequence[Span], span: Span) -> bool:
    """Say whether one of the spans, which are sorted and apart, overlaps `span`."""
    place = bisect_left(apart, span.end, key=attrgetter("start")) - 1
    return place >= 0 and apart[place].end > span.start


def _standing(text: str, applied: Sequence[str], swept: Sweep) -> dict[str, list[Span]]:
    """Return where forms still stand in a text, for each constraint."""
    folded = fold(text)
    standing = {name: list(swept.needles[name].find(folded)) for name in applied}
    return {name: spans for name, spans in standing.items() if spans}


def _blanked(text: str, spans: Sequence[Span]) -> str:
    """Blank spans out, so that what they leave beside each other is read as it ends."""
    return splice(text, spans, lambda span: _BLANK * len(span))


def _whole(
    text: str, spans: Mapping[str, Sequence[Span]], placeholders: Mapping[str, str]
) -> tuple[Span, ...]:
    """Unite the spans; one that touches a placeholder takes all of it along."""
    found = merge(span for own in spans.values() for span in own)
    ends = [span.end for span in found]
    touched = []
    for match in _any_of(placeholders).finditer(text):
        next_one = bisect_right(ends, match.start())
        if next_one < len(found) and found[next_one].start < match.end():
            touched.append(Span(*match.span()))
    return merge([*found, *touched], text)


def _any_of(placeholders: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, dict.fromkeys(placeholders.values()))))


def _taken(
    spans: Mapping[str, Sequence[Span]], applied: Sequence[str]
) -> dict[str, tuple[Span, ...]]:
    """Join what each constraint takes, in the constraints' order."""
    return {name: merge(spans[name]) for name in applied if name in spans}


def public_id(identity: str, applied: Sequence[str], swept: Sweep, key: bytes) -> str:
    """Return the id, or an alias for it when it holds a form that was found."""
    return alias(identity, key) if disguised(identity, applied, swept) else identity


def disguised(name: str, applied: Sequence[str], swept: Sweep) -> bool:
    """
    Say whether a path, an address or an id holds a form in any of its spellings.

    `Ann%20Lee`, `ann_lee`, `AnnLee7` and, for longer forms, `annlee` are spellings of
    one name; what holds one is never shown, since it cannot be cut without a trace.
    """
    plain = _HUMP.sub(" ", unquote(name))
    spaced = fold(_SEPARATORS.sub(" ", plain))
    dense = _SEPARATORS.sub("", fold_text(plain))
    for applying in applied:
        needles = swept.needles[applying]
        if needles.occur(spaced):
            return True
        squeezed = (_SEPARATORS.sub("", form) for form in needles.forms())
        if any(len(form) >= _DENSE and form in dense for form in squeezed):
            return True
    return False
