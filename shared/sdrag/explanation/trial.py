"""
Trying a constraint on sentences.

What a constraint is said to hide is tried by the local engine on sentences of
`kinds.toml`, each by itself. What is shown as hidden was hidden, and what is shown as
staying stayed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice, zip_longest

from sdrag.detectors.local import mentions
from sdrag.disclosure.constraint_parser import ParsedConstraint, parse
from sdrag.disclosure.local.by_type import find_by_cue
from sdrag.disclosure.setup import not_understood
from sdrag.explanation.explain import Explainer
from sdrag.explanation.explanations import Explanation
from sdrag.explanation.understood_as import (
    KindOfMention,
    kinds_of_mentions,
    telling_sentences,
)
from sdrag.policy import Policy
from sdrag.vocabulary import Confidential, Keep, Passage

_AT_ONCE = 6
_MOST = 18
"""So many sentences a constraint is tried on at most; the networks take a while."""
_ENOUGH, _MANY = 3, 12
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
    alone = entry.model_copy(update={"where": {}, "unless": (), "examples": ()})
    explainer = Explainer(policy.model_copy(update={"constraints": (alone,)}))
    hides: dict[str, tuple[str, ...]] = {}
    stays: list[str] = []
    sentences = [*dict.fromkeys(islice(_asked(parsed), _MOST)), *_beside(parsed)]
    tried = 0
    while sentences and not (len(hides) >= _ENOUGH and stays):
        part, sentences = sentences[:_AT_ONCE], sentences[_AT_ONCE:]
        tried += len(part)
        for explanation in explainer.explain([Passage(s, s) for s in part]):
            text = explanation.text
            if words := _hidden(explanation):
                hides[text] = words
            else:
                stays.append(text)
    shown = islice(((words, text) for text, words in hides.items()), _ENOUGH)
    beyond = explainer.explain([Passage(s, s) for s in _of_other_subjects(parsed)])
    return Trial(
        tuple(shown),
        next(iter(stays), ""),
        tried,
        tuple((_hidden(each), each.text) for each in beyond if each.spans),
    )


def _hidden(explanation: Explanation) -> tuple[str, ...]:
    return tuple(each.span.of(explanation.text) for each in explanation.spans)


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


def _asked(parsed: ParsedConstraint) -> Iterator[str]:
    """Yield sentences that a constraint should hide something of, by their kinds."""
    clause = _HOW.match(parsed.subject) if parsed.kind == "meaning" else None
    statement = parsed.statement.strip(" .") or (clause["clause"] if clause else "")
    literal = [
        *(form.format(name) for form in _OF_NAMES for name in parsed.names),
        *(form.format(statement) for form in _STATING if statement),
    ]
    told = (text for text in telling_sentences() if any(find_by_cue(text, [parsed])))
    kinds = [kind.phrases for kind in _kinds_of(parsed)]
    for row in zip_longest(literal, told, *kinds, fillvalue=""):
        yield from (_MARKS.sub("", sentence) for sentence in row if sentence)


def _beside(parsed: ParsedConstraint) -> Iterator[str]:
    """Yield sentences that a constraint may leave as they are."""
    for kind in _kinds_of(parsed):
        yield from kind.beside
    yield from _NEUTRAL


def _kinds_of(parsed: ParsedConstraint) -> list[KindOfMention]:
    """Return the kinds of mentions that a constraint asks for."""
    types = parsed.types | parsed.everywhere
    return [k for k in kinds_of_mentions() if not k.types.isdisjoint(types)]


def opened_by(keep: Keep, policy: Policy) -> list[str]:
    """
    Return the ids of constraints under which a keep of the policy lets something stay.

    Words are tried in two sentences, types are compared with those that a constraint
    asks for. What a pattern matches is not known: it may open any of them.
    """
    refused = not_understood(policy)
    rules = [rule for rule in policy.rules if rule.id not in refused]
    if keep.pattern:
        return [rule.id for rule in rules]
    if keep.type:
        asked = {p.constraint.id: p.types | p.everywhere for p in map(parse, rules)}
        return [name for name, types in asked.items() if keep.type in types]
    everywhere = tuple(
        entry.model_copy(update={"where": {}, "unless": ()})
        for entry in policy.constraints
    )
    explainer = Explainer(policy.model_copy(update={"constraints": everywhere}))
    texts = [f"It was at {keep.words}.", f"A letter from {keep.words} arrived."]
    explanations = explainer.explain([Passage(text, text) for text in texts])
    left = chain.from_iterable(explanation.left for explanation in explanations)
    ids = {each.constraint_id for each in left if each.causes[0].by == "kept"}
    return [rule.id for rule in rules if rule.id in ids]
