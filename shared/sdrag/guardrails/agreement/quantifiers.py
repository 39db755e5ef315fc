"""Does a claim say all, most, half or only where the evidence says something else?"""

from __future__ import annotations

from sdrag.guardrails.agreement.quantities import quantities
from sdrag.guardrails.agreement.tokens import TokenText, same
from sdrag.guardrails.comparable_words import word_set

__all__ = ["quantifiers_differ"]

_CLASSES = {
    word: name
    for name, words in (
        ("all", "all every each everyone everybody everything always entirely"),
        ("all", "completely both invariably whenever wholly"),
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
_OFTEN = word_set("always never sometimes occasionally usually")
_TIMES = word_set(
    "day week month year hour minute night morning evening quarter time other"
)
_REACH = 4


def quantifiers_differ(claim: TokenText, evidence: TokenText) -> bool:
    """Say whether a quantifier of the claim has no match in the evidence."""
    return any(
        not _stands(name, claim, at, evidence)
        for at, token in enumerate(claim)
        if (name := _class(claim, at)) in _ALLOWED or token.text in _OFTEN
    )


def _class(tokens: TokenText, at: int) -> str:
    """Return the class of a quantifier; `each day` and `at most` are none."""
    word = tokens[at].text
    if word == "any":
        return "any"
    name = _CLASSES.get(word, "")
    return "" if name and _is_idiom(tokens, at) else name


def _is_idiom(tokens: TokenText, at: int) -> bool:
    """Say whether a word is no quantifier where it is."""
    word = tokens[at].text
    before = tokens[at - 1].text if at else ""
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    next_word = after.text if after else ""
    idioms = {
        "every": bool(after) and next_word in _TIMES | {"half", "first"},
        "each": bool(after) and next_word in _TIMES | {"half", "first"},
        "all": before in {"at", "after", "of", "above"},
        "most": before in {"at", "the"}
        or (after is not None and not after.content and next_word not in {"of", "the"}),
        "half": before in {"every", "first", "second"}
        or next_word in {"an", "a", "hour"},
        "few": before not in {"a", "the"},
        "only": next_word[:1].isdigit(),
        "both": next_word[:1].isdigit(),
    }
    return idioms.get(word, False)


def _stands(name: str, claim: TokenText, at: int, evidence: TokenText) -> bool:
    """Say whether the evidence says so, of the same thing where that can be told."""
    heads = [token.base for token in claim[at + 1 : at + 1 + _REACH] if token.content]
    said = [
        (place, found)
        for place in range(len(evidence))
        if (found := _class(evidence, place))
    ]
    if claim[at].text in _OFTEN:
        often = {evidence[place].text for place, _ in said} & _OFTEN
        return not often or claim[at].text in often
    near = {found for place, found in said if _heads(evidence, place, heads)}
    known = near or {found for _, found in said}
    if known & _ALLOWED[name]:
        return True
    shares = {one.unit for one in quantities(evidence)}
    return name in {"most", "half"} and "percent" in shares


def _heads(evidence: TokenText, place: int, heads: list[str]) -> bool:
    following = evidence[place + 1 : place + 1 + _REACH]
    return any(same(token.base, head) for token in following for head in heads[:2])
