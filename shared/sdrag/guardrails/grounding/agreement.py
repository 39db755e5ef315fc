"""
Agreement: is everything that a claim says in the evidence, and said the same way?

Similarity passes *200 mg* for *20 mg*. So each part of a claim that makes it true or
false is compared by a rule of its own: figures (numbers, units, dates), bounds, names,
polarity (denials and antonyms), universal quantifiers and comparisons. A part that is
missing or conflicts makes the claim unsupported, however similar the rest is. The rules
can only take support away. Who did what to whom is a question for an NLI model.

Sentences chosen by the words of a claim may lack a figure or a name that is next to
them, in a heading or a date line. Each that holds what is lacking is added, the nearest
first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from sdrag.guardrails.statements.facts import (
    bounds_differ,
    figures_differ,
    missing_facts,
    names_differ,
)
from sdrag.guardrails.statements.polarity import polarity_differs
from sdrag.guardrails.statements.quantities import read_quantities
from sdrag.guardrails.statements.words import TokenText, word_set

_MOST_ADDED = 3
_UNIVERSAL = word_set(
    "all every each everyone everybody everything always entirely completely both"
    " invariably whenever wholly"
)
_COMPARATIVES = word_set(
    "than least better best worse worst older oldest younger youngest longer longest"
    " shorter shortest larger largest bigger biggest smaller smallest higher highest"
    " lower lowest earlier earliest later latest greater greatest richer richest poorer"
    " poorest taller tallest heavier heaviest lighter lightest faster fastest slower"
    " slowest exceed exceeds exceeded exceeding"
)
_COMPARED = 2
"""So many figures of the evidence can be compared."""
_TIMES = word_set("day week month year hour minute night morning evening quarter time")


class Agreement(NamedTuple):
    """
    Whether a claim says what its evidence says.

    Args:
        missing: Figures and names of the claim that are nowhere in the evidence.
        conflicts: The rules that the claim fails; none where something is missing.
    """

    missing: int
    conflicts: tuple[str, ...] = ()


def compare(
    claim: TokenText, cited: Sequence[int], evidence: Sequence[TokenText]
) -> Agreement:
    """
    Compare a claim with the sentences that it rests on.

    `cited`: places of those that have most of its words; what they lack is looked for
    in the other sentences of the evidence.
    """
    places, missing = _rest_on(claim, cited, evidence)
    if missing:
        return Agreement(missing)
    known = _join(places, evidence)
    return Agreement(
        0, tuple(name for name, differs in _RULES.items() if differs(claim, known))
    )


def _join(places: Iterable[int], evidence: Sequence[TokenText]) -> TokenText:
    return tuple(token for at in sorted(places) for token in evidence[at])


def _rest_on(
    claim: TokenText, cited: Sequence[int], evidence: Sequence[TokenText]
) -> tuple[list[int], int]:
    """Add the sentences that hold what the cited ones lack; say how much none holds."""
    lacking = missing_facts(claim, _join(cited, evidence))
    chosen = list(cited)
    if not lacking:
        return chosen, 0
    held = {
        at: lacking - missing_facts(claim, sentence)
        for at, sentence in enumerate(evidence)
        if at not in chosen
    }

    def gain(at: int) -> tuple[int, int]:
        return len(held[at] & lacking), -min((abs(at - to) for to in cited), default=0)

    while lacking and held and len(chosen) < len(cited) + _MOST_ADDED:
        best = max(held, key=gain)
        if not held[best] & lacking:
            break
        lacking -= held.pop(best)
        chosen.append(best)
    return chosen, len(lacking)


def quantifiers_differ(claim: TokenText, evidence: TokenText) -> bool:
    """Say whether the claim is about all of something, and the evidence is not."""
    known = {token.text for token in evidence}
    return _has_universal(claim) and known.isdisjoint(_UNIVERSAL | {"any"})


def comparisons_differ(claim: TokenText, evidence: TokenText) -> bool:
    """Say whether the claim compares what the evidence neither compares nor counts."""
    return (
        _compares(claim)
        and not _compares(evidence)
        and len(read_quantities(evidence)) < _COMPARED
    )


def _compares(tokens: TokenText) -> bool:
    """Look for *later* and *than*, and for *more* that counts nothing after it."""
    ends = (*(not token.text[:1].isalnum() for token in tokens[1:]), True)
    return any(
        token.text in _COMPARATIVES or (token.text in {"more", "less"} and ends)
        for token, ends in zip(tokens, ends, strict=False)
    )


def _has_universal(tokens: TokenText) -> bool:
    """Look for *all* and the like; *each day*, *after all* and *both 3* are none."""
    padded = ["", *(token.text for token in tokens), ""]
    return any(
        word in _UNIVERSAL
        and not (word in {"every", "each"} and after in _TIMES)
        and not (word == "all" and before in {"at", "after", "of", "above"})
        and not (word == "both" and after.isdigit())
        for before, word, after in zip(padded, padded[1:], padded[2:], strict=False)
    )


_RULES: dict[str, Callable[[TokenText, TokenText], bool]] = {
    "figures": figures_differ,
    "bounds": bounds_differ,
    "names": names_differ,
    "polarity": polarity_differs,
    "quantifiers": quantifiers_differ,
    "comparisons": comparisons_differ,
}
