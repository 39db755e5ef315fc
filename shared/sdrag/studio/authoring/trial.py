"""
Trying a constraint on sentences.

What a constraint is said to hide is tried by the local engine on sentences of
`kinds.toml`, each by itself. What is shown as hidden was hidden, and what is shown as
staying stayed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from typing import Any

from sdrag.detectors.local import mentions
from sdrag.detectors.local.number_kinds import number_kinds
from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.disclosure.local.by_type import find_by_cue
from sdrag.effects.progress import batched
from sdrag.explanation.explain import Explainer
from sdrag.explanation.explanations import Explanation
from sdrag.policy import Policy
from sdrag.policy.constraint_sections import ConstraintSection
from sdrag.studio.authoring.understood_as import (
    KindOfMention,
    kinds_of_mentions,
    telling_sentences,
)
from sdrag.vocabulary import Confidential, Keep

_AT_ONCE = 6
_MOST = 18
"""So many sentences a constraint is tried on at most; the networks take a while."""
_ENOUGH, _MANY = 3, 12
_TRIED_WORDS = 5
"""So many words of a long keep are tried."""
_MARKS = re.compile(r"[{}]")
_OF_NAMES = ("A letter from {} arrived.", "They spoke of {}.", "It says {}.")
_STATING = ("They know that {}.", "It is said that {}.", "He told me that {}.")
_NEUTRAL = ("The meeting was moved upstairs.", "They counted the boxes.")
_HOW = re.compile(
    r"(?i:how|why|that|when) (?P<clause>(?:the|an?|his|her|their|our|its|[A-Z]\w+) .+)$"
)


@dataclass(frozen=True, slots=True, repr=False)
class Trial(Confidential):
    """
    Words that a constraint hid, with their sentences, and a sentence that stays.

    In `beyond` are those of sentences that tell nothing of its subject.
    """

    hides: tuple[tuple[tuple[str, ...], str], ...]
    stays: str
    tried: int
    beyond: tuple[tuple[tuple[str, ...], str], ...] = ()

    @property
    def few(self) -> bool:
        """Whether it hid fewer of many sentences than are shown of others."""
        return len(self.hides) < _ENOUGH and self.tried >= _MANY


def try_constraint(parsed: ParsedConstraint, policy: Policy) -> Trial:
    """Try an understood constraint of a policy, with its keeps, on sentences."""
    entry = policy.entries[parsed.constraint.id]
    explainer = Explainer(_everywhere(policy, entry))
    hides: list[tuple[tuple[str, ...], str]] = []
    stays, tried = "", 0
    asked = dict.fromkeys(islice(_list_sentences(parsed), _MOST))
    own = (example.text for example in entry.examples if example.hides)
    beside = chain.from_iterable(kind.beside for kind in _kinds_of(parsed))
    texts = dict.fromkeys((*asked, *own, *beside, *_NEUTRAL))
    for some in batched(texts, _AT_ONCE):
        tried += len(some)
        explained = explainer.explain(some)
        hides += _find_hidden(explained)
        stays = stays or next((e.text for e in explained if not e.spans), "")
        if len(hides) >= _ENOUGH and stays:
            break
    beyond = _find_hidden(explainer.explain(_of_other_subjects(parsed)))
    return Trial(tuple(hides[:_ENOUGH]), stays, tried, tuple(beyond))


def _everywhere(policy: Policy, *entries: ConstraintSection) -> Policy:
    """Return a policy of constraints that hold everywhere and for everybody."""
    limits: dict[str, Any] = {"where": {}, "unless": ()}
    bare = tuple(entry.model_copy(update=limits) for entry in entries)
    return policy.model_copy(update={"constraints": bare})


def _find_hidden(explained: Iterable[Explanation]) -> list[tuple[tuple[str, ...], str]]:
    return [
        (tuple(each.span.of(e.text) for each in e.spans), e.text)
        for e in explained
        if e.spans
    ]


def _of_other_subjects(parsed: ParsedConstraint) -> list[str]:
    """Return sentences with mentions like those of a subject, and no word of it."""
    types = frozenset().union(*(t.types for t in parsed.topics if t.cues))
    texts = telling_sentences() if types - parsed.everywhere else ()
    others = [
        text
        for text in texts
        if not any(find_by_cue(text, [parsed]))
        and any(m.type in types - parsed.everywhere for m in mentions(text))
    ]
    return others[:: max(1, len(others) // _AT_ONCE)][:_AT_ONCE]


def _list_sentences(parsed: ParsedConstraint) -> Iterator[str]:
    """Yield sentences that a constraint should hide something of, by their kinds."""
    clause = _HOW.match(parsed.subject) if parsed.kind == "meaning" else None
    statement = parsed.statement.strip(" .") or (clause["clause"] if clause else "")
    literal = [
        *(form.format(name) for form in _OF_NAMES for name in parsed.names),
        *(form.format(statement) for form in _STATING if statement),
        *(
            f"We noted {kind.called}: {kind.example}."
            for kind in map(number_kinds().__getitem__, sorted(parsed.kinds))
        ),
    ]
    told = (text for text in telling_sentences() if any(find_by_cue(text, [parsed])))
    kinds = [kind.phrases for kind in _kinds_of(parsed)]
    for row in zip_longest(literal, told, *kinds, fillvalue=""):
        yield from (_MARKS.sub("", sentence) for sentence in row if sentence)


def _kinds_of(parsed: ParsedConstraint) -> list[KindOfMention]:
    """Return the kinds of mentions that a constraint asks for."""
    types = parsed.types - parsed.numbered | parsed.everywhere
    return [k for k in kinds_of_mentions() if not k.types.isdisjoint(types)]


def opened_by(keep: Keep, policy: Policy) -> list[str]:
    """
    Return the ids of constraints under which a keep of the policy lets something stay.

    Words are tried in two sentences, types are compared with those that a constraint
    asks for. What a pattern matches is not known: it may open any of them.
    """
    explainer = Explainer(_everywhere(policy, *policy.constraints))
    rules = [rule for rule in policy.rules if rule.id not in explainer.refused]
    if keep.pattern:
        return [rule.id for rule in rules]
    if keep.type:
        asked = {p.constraint.id: p.types | p.everywhere for p in map(parse, rules)}
        return [name for name, types in asked.items() if keep.type in types]
    frames = ("It was at {}.", "A letter from {} arrived.")
    texts = [
        frame.format(words) for words in keep.words[:_TRIED_WORDS] for frame in frames
    ]
    left = chain.from_iterable(each.left for each in explainer.explain(texts))
    ids = {each.constraint_id for each in left if each.causes[0].by == "kept"}
    return [rule.id for rule in rules if rule.id in ids]
