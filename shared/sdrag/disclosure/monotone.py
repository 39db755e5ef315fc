"""
Redaction that never takes back: once withheld, always withheld.

What was ever cut out of a text under a constraint is cut out again, whatever stands
beside the text and whatever the ranking says of the constraint; a constraint that is
lifted for a principal withholds nothing from it. So all whom the same constraints bind
are one audience, and share what is withheld: two of them learn no more than one.

What is known before judging makes findings of its own, in its own text only, so that
one chunk's history does not spread over its neighbours. After judging, what is to be
cut is kept and all that is kept is read back in one step; where another question kept
more in the meantime, the judging is done again. A failure that withholds a passage for
once is not kept: what it withheld was not found, and shows nothing when it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sdrag.disclosure.candidates import Candidates
from sdrag.disclosure.history import History, Spans
from sdrag.disclosure.metadata import plain_values
from sdrag.disclosure.redaction import Cut, Sweep, cut, disguised
from sdrag.disclosure.texts import Texts
from sdrag.policy import applies
from sdrag.steps import Steps, compute, replied
from sdrag.vocabulary import Confidential, Constraint, Finding, Passage, Span

__all__ = ["ROUNDS", "Before", "OvertakenError", "keep", "recall"]

ROUNDS = 8
"""So often is the judging done again because other questions withheld more."""


class OvertakenError(Exception):
    """Another question withheld more while this one was judged."""


@dataclass(frozen=True, slots=True, repr=False)
class Before(Confidential):
    """
    What was withheld before, under constraints that hold for it.

    Args:
        texts: For each text to be judged, the spans by constraint id.
        leaves: For each passage, its id and its plain values that were withheld whole.
    """

    texts: Sequence[Spans] = ()
    leaves: Sequence[Mapping[str, frozenset[str]]] = ()

    def findings(self, place: int) -> list[Finding]:
        """Return what was withheld of a text as findings."""
        if not self.texts:
            return []
        known = self.texts[place]
        return [Finding(s, name, "before") for name in known for s in known[name]]

    def hidden(self, index: int) -> frozenset[str]:
        """Return the id and the plain values that a passage must not show."""
        return frozenset(self.leaves[index]) if self.leaves else frozenset()

    def joined(self, chosen: Candidates, rules: Sequence[Constraint]) -> Candidates:
        """
        Add the constraints that withheld something to those that are enforced.

        Args:
            chosen: By the ranking.
            rules: All that bind the principal, in the policy's order.
        """
        names = {name for spans in self.texts for name in spans}
        names |= {name for own in self.leaves for by in own.values() for name in by}
        names |= {rule.id for rule in chosen.applied}
        return replace(
            chosen,
            applied=tuple(rule for rule in rules if rule.id in names),
            dropped=tuple(rule for rule in chosen.dropped if rule.id not in names),
            beyond=tuple(rule for rule in chosen.beyond if rule.id not in names),
            unpicked=tuple(rule for rule in chosen.unpicked if rule.id not in names),
        )

    def key_parts(self) -> list[str]:
        """Return everything of it that a release depends on."""
        spans = [
            f"{place} {name} {[(s.start, s.end) for s in own[name]]}"
            for place, own in enumerate(self.texts)
            for name in sorted(own)
        ]
        hidden = [
            f"{index} {value}"
            for index, own in enumerate(self.leaves)
            for value in sorted(own)
        ]
        return [*spans, "hidden", *hidden]


def recall(
    texts: Texts, rules: Sequence[Constraint], history: History
) -> Steps[Before]:
    """
    Look up what was withheld of the texts, and of ids and values beside them.

    Args:
        texts: To be judged.
        rules: All that bind the principal, chosen or not.
        history: Where it is kept.

    Raises:
        HostError: The history failed.
    """
    asked = _asked(texts)
    (answer,) = yield from compute(lambda them: history.read(them, rules), [asked])
    known = replied(answer)
    return _before(texts, asked, known, rules)


def keep(
    texts: Texts,
    cuts: Sequence[Cut],
    swept: Sequence[Sweep],
    rules: Sequence[Constraint],
    history: History,
) -> Steps[Before]:
    """
    Keep what is about to be withheld.

    Args:
        texts: That were judged.
        cuts: One per text.
        swept: For each text the forms that were found.
        rules: All that bind the principal.
        history: Where it is kept.

    Returns:
        All that is withheld, ids and values included.

    Raises:
        OvertakenError: The cuts do not withhold all of it; nothing may be released.
        HostError: The history failed.
    """
    asked = _asked(texts)
    given = _withheld(texts, cuts, swept, asked)
    (answer,) = yield from compute(
        lambda spans: history.add(asked, rules, spans), [given]
    )
    kept = replied(answer)
    after = _before(texts, asked, kept, rules)
    if after.texts != _before(texts, asked, given, rules).texts:
        raise OvertakenError
    return after


def _asked(texts: Texts) -> list[Passage]:
    """Return the texts, then each passage's id and plain values as texts."""
    leaves = [leaf for own in _leaves(texts) for leaf in own]
    return [*texts.all, *leaves]


def _leaves(texts: Texts) -> list[list[Passage]]:
    """Return the id and the plain values of each passage, as texts of their own."""
    return [
        [
            Passage(f"{passage.id}@", value, passage.metadata)
            for value in dict.fromkeys([passage.id, *plain_values(metadata)])
            if value
        ]
        for passage, metadata in zip(texts.passages, texts.metadata, strict=True)
    ]


def _before(
    texts: Texts,
    asked: Sequence[Passage],
    known: Sequence[Spans],
    rules: Sequence[Constraint],
) -> Before:
    held = [
        _holding(text, spans, rules) for text, spans in zip(asked, known, strict=True)
    ]
    rest = iter(held[len(texts.all) :])
    leaves = [
        {leaf.text: frozenset(spans) for leaf in own if (spans := next(rest))}
        for own in _leaves(texts)
    ]
    return Before(held[: len(texts.all)], leaves)


def _holding(text: Passage, spans: Spans, rules: Sequence[Constraint]) -> Spans:
    """Leave out constraints whose `where` does not match the passage today."""
    return {
        rule.id: spans[rule.id]
        for rule in rules
        if spans.get(rule.id) and applies(rule, text.metadata)
    }


def _withheld(
    texts: Texts, cuts: Sequence[Cut], swept: Sequence[Sweep], asked: Sequence[Passage]
) -> list[Spans]:
    """Say what is withheld of each text, and of each id and plain value."""
    count = len(texts.passages)
    spans = [
        one.taken if place < count else _of_a_string(text, one, applied, swept[place])
        for place, (text, one, applied) in enumerate(
            zip(texts.all, cuts, texts.applied, strict=True)
        )
    ]
    for index, own in enumerate(_leaves(texts)):
        applied = texts.applied[index]
        spans += [_of_a_leaf(leaf.text, applied, swept[index]) for leaf in own]
    assert len(spans) == len(asked)
    return spans


def _of_a_string(
    text: Passage, one: Cut, applied: Sequence[str], swept: Sweep
) -> Spans:
    """A string that still holds a form in another spelling is left out whole."""
    left = one.text if one.text is not None else text.text
    return {**one.taken, **_whole(text.text, left, applied, swept)}


def _of_a_leaf(value: str, applied: Sequence[str], swept: Sweep) -> Spans:
    taken = cut(value, (), applied, swept).constraint_ids
    whole = {name: (Span(0, len(value)),) for name in taken}
    return {**whole, **_whole(value, value, applied, swept)}


def _whole(value: str, left: str, applied: Sequence[str], swept: Sweep) -> Spans:
    if not disguised(left, applied, swept):
        return {}
    names = (name for name in applied if disguised(left, [name], swept))
    return {name: (Span(0, len(value)),) for name in names}
