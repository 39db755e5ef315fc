"""
Closed spans: all that a constraint cuts from a text, so that cutting needs no thought.

What was found in the text, every other occurrence of what was found in it by its form,
and what its document's register knows again are united and widened to whole words. A
word is cut whole or not at all, so no cut can lay a form bare that stood inside a word,
whichever of the constraints are enforced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from sdrag.disclosure.registering import IN_PLACE
from sdrag.disclosure.surface_forms import lasts
from sdrag.state.register import DENSE, Register
from sdrag.text.folding import Folded, fold
from sdrag.text.phrase_matcher import PhraseMatcher
from sdrag.text.readings import readings
from sdrag.text.spans import merge, splice, widened
from sdrag.vocabulary import Finding, Span

__all__ = ["closed", "disguised", "recalled"]

_SEPARATORS = re.compile(r"[\W_]+")
_APART = re.compile(
    r"(?<=[^\W_])[\W_]{1,4}(?=[^\W_](?![^\W_]))"
    r"|(?<=(?<![^\W_])[^\W_])[\W_]{1,4}(?=[^\W_])"
)
"""What is before or after a single letter, in a word or not: `noteM e y e r sbook`."""
_BRIEF, _ACROSS = 500, 8
"""In so many characters, forms of so many letters are looked for across words too."""
_BLANK = "\N{WHITE SQUARE}"


def closed(
    text: str, findings: Mapping[bytes, Sequence[Finding]], register: Register
) -> dict[bytes, tuple[Span, ...]]:
    """
    Close what was located in a text.

    Args:
        text: Unredacted.
        findings: In it, by rule.
        register: Of its document.

    Returns:
        What is cut, by rule; sorted and apart.
    """
    plain, *others = readings(text)
    spans: dict[bytes, set[Span]] = {}
    for rule, own in findings.items():
        if own:
            lasting = {f.span.of(text) for f in own if f.reason not in IN_PLACE}
            again = PhraseMatcher(filter(lasts, lasting)).find(plain)
            spans[rule] = {finding.span for finding in own} | set(again)
    for rules, span in _known(register, plain, others):
        for rule in rules:
            spans.setdefault(rule, set()).add(span)
    return {rule: _whole(text, own) for rule, own in spans.items()}


def recalled(
    text: str, spans: Mapping[bytes, tuple[Span, ...]], register: Register
) -> dict[bytes, tuple[Span, ...]]:
    """
    Close spans again, under a register that has grown.

    Args:
        text: Unredacted.
        spans: What was cut from it, by rule.
        register: Of its document, as it is now.
    """
    united = {rule: set(own) for rule, own in spans.items()}
    plain, *others = readings(text)
    for rules, span in _known(register, plain, others):
        for rule in rules:
            if united.get(rule, True):  # what hides the text whole stays so
                united.setdefault(rule, set()).add(span)
    return {rule: _whole(text, own) for rule, own in united.items()}


def _known(
    register: Register, plain: Folded, others: Iterable[Folded]
) -> Iterator[tuple[AbstractSet[bytes], Span]]:
    """Yield what is known again, however it is encoded or disguised."""
    if not register:
        return
    for reading in (plain, *others):
        yield from register.find(reading)


def _whole(text: str, spans: Iterable[Span]) -> tuple[Span, ...]:
    """Widen spans to whole words; not merged, so that rules can share them."""
    return tuple(sorted(set(widened(text, spans))))


def disguised(
    name: str, spans: Mapping[bytes, tuple[Span, ...]], register: Register
) -> frozenset[bytes]:
    """
    Return the rules a form of which a path, an address or an id holds all the same.

    `Ann%20Lee`, `ann_lee`, `AnnLee7` and, for longer forms, `annlee` are spellings of
    one name; what holds one is never shown, since it cannot be cut without a trace.

    Args:
        name: What may hold forms.
        spans: What each rule cuts from it anyway.
        register: Of its document.
    """
    if not register:
        return frozenset()
    held = _spelt(name, register)
    return frozenset(
        rule
        for rule in held
        if not spans.get(rule) or rule in _spelt(_blanked(name, spans[rule]), register)
    )


def _blanked(text: str, spans: Iterable[Span]) -> str:
    return splice(text, merge(spans), lambda span: _BLANK * len(span))


def _spelt(name: str, register: Register) -> frozenset[bytes]:
    held: set[bytes] = set()
    plain, *others = readings(name)
    for reading in (plain, *others):
        spaced = fold(_SEPARATORS.sub(" ", reading.text))
        held = held.union(*(rules for rules, _ in register.find_forms(spaced)))
        for token in (reading.text + "\n" + _APART.sub("", reading.text)).split():
            held |= register.inside(_SEPARATORS.sub("", token), DENSE)
        if len(name) <= _BRIEF:
            held |= register.inside(_SEPARATORS.sub("", reading.text), _ACROSS)
    for rules, _ in _known(register, plain, ()):
        held |= rules
    return frozenset(held)
