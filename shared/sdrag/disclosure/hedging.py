"""
The smallest loss: what is hidden where a model's verdict stays in doubt.

A constraint that asks for types of mentions, or for people, hides the sentences in
which a mention of such a type is: nothing else can be what it asks for. One that asks
for what it names, and not for all about it, hides the sentences that name it. One that
must be understood could mean anything, so it withholds the chunk. None is kept as a
finding: the next time the model is asked anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdrag.detectors.local import LocalDetector
from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.local.type_locator import typed
from sdrag.disclosure.stored_findings import Doubts, Found, Lookup
from sdrag.engine.steps import Failure, Steps
from sdrag.state.span_bytes import by_rule
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Constraint, Finding, Mention, Span

__all__ = ["hedged"]

_BY_TYPE = frozenset({"types", "people"})


def hedged(lookup: Lookup, doubts: Doubts) -> Steps[tuple[Found, Doubts]]:
    """
    Hide sentences where that is enough.

    Args:
        lookup: The texts.
        doubts: What a model left in doubt, by the text's index and the constraint.

    Returns:
        What is hidden, and what is still in doubt.
    """
    rules = {rule.id: rule for rule in lookup.texts.constraints}
    typed_ones = {name: rule for name, rule in rules.items() if _asks_for_types(rule)}
    named = {name for name, rule in rules.items() if _asks_for_names(rule)}
    text_indices = list(dict.fromkeys(p for p, name in doubts if name in typed_ones))
    texts = [lookup.texts.all[text_index].text for text_index in text_indices]
    outcomes = yield from LocalDetector().detect(texts)
    mentions = {
        text_index: outcome.value
        for text_index, outcome in zip(text_indices, outcomes, strict=True)
        if not isinstance(outcome, Failure)
    }
    found: Found = {}
    left: Doubts = {}
    for (text_index, name), code in doubts.items():
        if name in named:
            if naming := _naming(lookup, text_index, name):
                found.setdefault(text_index, {})[lookup.rules[name]] = naming
            continue
        if name not in typed_ones or text_index not in mentions:
            left[text_index, name] = code
            continue
        text = lookup.texts.all[text_index].text
        own = _sentences(text, mentions[text_index], typed_ones[name])
        if own:
            found.setdefault(text_index, {})[lookup.rules[name]] = own
    return found, left


def _asks_for_types(rule: Constraint) -> bool:
    parsed = parse(rule)
    return parsed.kind in _BY_TYPE and not parsed.identifying


def _asks_for_names(rule: Constraint) -> bool:
    parsed = parse(rule)
    understood = parsed.kind == "named" and parsed.status == "understood"
    return understood and not parsed.about_names


def _naming(lookup: Lookup, text_index: int, name: str) -> list[Finding]:
    """Return the sentences in which the local engine has found what is named."""
    text = lookup.texts.all[text_index].text
    known = lookup.known[lookup.own[text_index]]
    spans = by_rule(known.groups).get(lookup.rules[name], ())
    return _overlapping(text, spans, name)


def _overlapping(text: str, spans: Sequence[Span], name: str) -> list[Finding]:
    return [
        Finding(sentence, name, "doubt")
        for sentence in sentences(text)
        if any(sentence.overlaps(span) for span in spans)
    ]


def _sentences(
    text: str, mentions: Sequence[Mention], rule: Constraint
) -> list[Finding]:
    """Return the sentences in which a mention of the types is."""
    wanted = [finding.span for finding in typed(text, mentions, [parse(rule)])]
    return _overlapping(text, wanted, rule.id)
