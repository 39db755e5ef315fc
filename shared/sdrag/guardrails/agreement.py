"""
Agreement: is everything that a claim says in the evidence, and said the same way?

Similarity passes *200 mg* for *20 mg*. So each part of a claim that makes it true or
false is compared by a rule of its own: figures (numbers, units, dates), bounds, names,
polarity (denials and antonyms) and quantifiers. A part that is missing or conflicts
makes the claim unsupported, however similar the rest is. The rules can only take
support away. Who did what to whom is a question for an NLI model.

Sentences chosen by the words of a claim may lack a figure or a name that is next to
them, in a heading or a date line. Each that holds what is lacking is added, the nearest
first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from sdrag.guardrails.facts import (
    bounds_differ,
    figures_differ,
    missing_facts,
    names_differ,
)
from sdrag.guardrails.polarity import polarity_differs
from sdrag.guardrails.quantities import Value, read_numerals, read_quantities
from sdrag.guardrails.words import (
    TokenText,
    is_among,
    join_tokens,
    read_tokens,
    word_set,
)
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential

_MOST_ADDED = 3
_CLASSES = {
    word: name
    for name, words in (
        ("all", "all every each everyone everybody everything always entirely"),
        ("all", "completely both invariably whenever wholly"),
        ("any", "any"),
        ("most", "most majority mostly usually generally predominantly largely"),
        ("some", "some few several sometimes occasionally partly partially certain"),
        ("some", "somebody someone many various"),
        ("half", "half"),
        ("only", "only solely exclusively"),
        ("none", "no none never neither nobody nothing"),
    )
    for word in words.split()
}
_ALLOWED = {
    "all": {"all", "any"},
    "most": {"most", "all"},
    "half": {"half"},
    "only": {"only"},
}
"""What the evidence must say, by what the claim says."""
_TIMES = word_set(
    "day week month year hour minute night morning evening quarter time other half"
    " first"
)
_REACH = 4


class Agreement(NamedTuple):
    """
    Whether a claim says what its evidence says.

    Args:
        missing: Figures and names of the claim that are nowhere in the evidence.
        conflicts: The rules that the claim fails; none where something is missing.
    """

    missing: int
    conflicts: tuple[str, ...] = ()


class Evidence(Confidential):
    """
    Sentences that are each read once, when they are first asked for.

    Args:
        texts: In their order. They are kept as long as this object.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(texts)
        self._read: dict[int, TokenText] = {}

    def sentence(self, at: int) -> TokenText:
        """Return the words of a sentence."""
        if at not in self._read:
            self._read[at] = read_tokens([self.texts[at]])
        return self._read[at]

    @cached_property
    def numerals(self) -> frozenset[Value]:
        """The values of all figures that are written in digits."""
        places = range(len(self.texts))
        return frozenset().union(*(read_numerals(self.sentence(at)) for at in places))

    def together(self, places: Sequence[int]) -> TokenText:
        """Return the words of some sentences, in their order."""
        return join_tokens([self.sentence(at) for at in sorted(places)])

    def __repr__(self) -> str:
        return f"Evidence({len(self.texts)} sentences)"


def compare(claim: str, cited: Sequence[int], evidence: Evidence) -> Agreement:
    """
    Compare a claim with the sentences that it rests on.

    Args:
        claim: A sentence.
        cited: Places of the sentences that have most of its words.
        evidence: All sentences; what the cited ones lack is looked for there.
    """
    tokens = read_tokens([span.of(claim) for span in sentences(claim)])
    places, missing = _rest_on(tokens, cited, evidence)
    if missing:
        return Agreement(missing)
    known = evidence.together(places)
    return Agreement(
        0, tuple(name for name, differs in _RULES.items() if differs(tokens, known))
    )


def _rest_on(
    claim: TokenText, cited: Sequence[int], evidence: Evidence
) -> tuple[list[int], int]:
    """Add the sentences that hold what the cited ones lack; say how much none holds."""
    lacking = missing_facts(claim, evidence.together(cited))
    chosen = list(cited)
    if not lacking:
        return chosen, 0
    held = {
        at: lacking - missing_facts(claim, evidence.sentence(at))
        for at in range(len(evidence.texts))
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
    """Say whether *all*, *most*, *half* or *only* of the claim has no match."""
    known = [
        (place, name)
        for place in range(len(evidence))
        if (name := _quantifier(evidence, place))
    ]
    return any(
        not _has_match(name, claim, at, evidence, known)
        for at in range(len(claim))
        if (name := _quantifier(claim, at)) in _ALLOWED
    )


def _quantifier(tokens: TokenText, at: int) -> str:
    """Return the class of a quantifier; `each day` and `at most` are none."""
    word = tokens[at].text
    name = _CLASSES.get(word, "")
    return "" if name and _is_idiom(tokens, at) else name


def _is_idiom(tokens: TokenText, at: int) -> bool:
    """Say whether a word is no quantifier where it is."""
    word = tokens[at].text
    before = tokens[at - 1].text if at else ""
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    following = after.text if after else ""
    if word in {"every", "each"}:
        return following in _TIMES
    if word == "all":
        return before in {"at", "after", "of", "above"}
    if word == "most":
        grades = after is not None and not after.content
        return before in {"at", "the"} or (grades and following not in {"of", "the"})
    if word == "half":
        ordinal = before in {"every", "first", "second"}
        return ordinal or following in {"an", "a", "hour"}
    if word == "few":
        return before not in {"a", "the"}
    return word in {"only", "both"} and following[:1].isdigit()


def _has_match(
    name: str,
    claim: TokenText,
    at: int,
    evidence: TokenText,
    known: Sequence[tuple[int, str]],
) -> bool:
    """Say whether the evidence says so, of the same thing where that can be told."""
    heads = [token.base for token in claim[at + 1 : at + 1 + _REACH] if token.content]
    near = {
        other
        for place, other in known
        if any(
            is_among(token.base, heads[:2])
            for token in evidence[place + 1 : place + 1 + _REACH]
        )
    }
    if (near or {other for _, other in known}) & _ALLOWED[name]:
        return True
    shares = {figure.unit for figure in read_quantities(evidence)}
    return name in {"most", "half"} and "percent" in shares


_RULES: dict[str, Callable[[TokenText, TokenText], bool]] = {
    "figures": figures_differ,
    "bounds": bounds_differ,
    "names": names_differ,
    "polarity": polarity_differs,
    "quantifiers": quantifiers_differ,
}
