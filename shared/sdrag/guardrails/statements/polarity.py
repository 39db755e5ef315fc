"""
Does a claim affirm what the evidence denies, or say the opposite of it?

Each clause of the claim is compared with the clause of the evidence that has most of
its words. A denial on one side alone is a conflict, and so is an antonym. A denial and
an antonym together agree: what is not open is closed.

`antonyms.txt` holds the groups of words, with the irregular forms of their verbs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from sdrag.guardrails.statements.words import Token, TokenText
from sdrag.text import word_set
from sdrag.text.stemming import stem
from sdrag.vocabulary import Confidential

_DENIALS = word_set(
    "no not never none neither nor without nothing nobody nowhere cannot unable"
    " incapable except hardly barely"
)
_DENYING_VERBS = word_set(
    "fail refus declin forget forgot avoid omit neglect ceas stop prevent"
)
"""Stems that deny the verb after `to`."""
_COMPARED = word_set("more less fewer later earlier than only least most")
"""After a denial these make a bound or an emphasis."""
_PRONOUNS = word_set("it he she they this these that which")
_COVERED = 0.4
"""The least share of a clause's words that makes another its counterpart."""
_FRAGMENT = 2
_INHERITED = 0.75


@dataclass(frozen=True, slots=True, repr=False)
class _Clause(Confidential):
    """A clause: its words, those of what it continues, and if its denials are odd."""

    words: frozenset[str]
    inherited: frozenset[str]
    denied: bool


def polarity_differs(claim: TokenText, evidence: TokenText) -> bool:
    """Say whether a clause of the claim turns what its evidence says around."""
    known = _clauses(evidence)
    return any(
        (aligned := _align(clause, known))
        and not any(_agrees(clause, other) for other in aligned)
        for clause in _clauses(claim)
        if clause.words - _DENIALS
    )


def is_denied(tokens: Sequence[Token]) -> bool:
    """Say whether a piece of text has an odd number of denials."""
    return sum(_denies(tokens, at) for at in range(len(tokens))) % 2 == 1


def are_opposite(left: str, right: str) -> bool:
    """Say whether two stems are antonyms."""
    return right in _antonyms().get(left, ())


def _denies(piece: Sequence[Token], at: int) -> bool:
    token = piece[at]
    following = piece[at + 1] if at + 1 < len(piece) else None
    if token.base in _DENYING_VERBS:
        return following is not None and following.text == "to"
    if token.text not in _DENIALS and not token.text.endswith("n't"):
        return False
    return following is None or following.text not in _COMPARED


def _align(clause: _Clause, known: Iterable[_Clause]) -> list[_Clause]:
    """Return the clauses of the evidence that have most of a clause's words."""
    words = clause.words - _DENIALS
    scores = [
        (
            len(words & other.words)
            + _INHERITED * len((words & other.inherited) - other.words),
            other,
        )
        for other in known
    ]
    best = max((score for score, _ in scores), default=0.0)
    if best < _COVERED * len(words):
        return []
    return [other for score, other in scores if score == best]


def _agrees(clause: _Clause, other: _Clause) -> bool:
    """Say whether denials and antonyms cancel each other out."""
    theirs = other.words - clause.words
    turned = sum(
        any(are_opposite(word, antonym) for antonym in theirs)
        for word in clause.words - other.words - other.inherited
    )
    return (clause.denied != other.denied) == (turned % 2 == 1)


def _clauses(tokens: TokenText) -> list[_Clause]:
    """Cut a text into clauses; each inherits from those before it in its sentence."""
    clauses: list[_Clause] = []
    inherited: frozenset[str] = frozenset()
    hard = -1
    for piece in _pieces(tokens):
        first = next((token.text for token in piece if token.text.isalnum()), "")
        if piece[0].hard != hard and first not in _PRONOUNS:
            inherited = frozenset()
        hard = piece[0].hard
        words = frozenset(token.base for token in piece if token.content)
        clauses.append(_Clause(words, inherited, is_denied(piece)))
        inherited |= words
    return clauses


def _pieces(tokens: TokenText) -> list[list[Token]]:
    """Cut a text at clauses; a fragment goes with the piece before it."""
    cut: list[list[Token]] = []
    for token in tokens:
        if not cut or (
            cut[-1][-1].clause != token.clause and not _continues(cut[-1], token)
        ):
            cut.append([])
        cut[-1].append(token)
    joined: list[list[Token]] = []
    for piece in cut:
        is_fragment = _is_brief(piece) and not is_denied(piece)
        follows = bool(joined) and joined[-1][-1].hard == piece[0].hard
        if is_fragment and follows:
            joined[-1].extend(piece)
        else:
            joined.append(piece)
    return joined


def _continues(piece: Sequence[Token], token: Token) -> bool:
    """Say whether a new clause goes on with a brief piece before it."""
    return (
        piece[-1].hard == token.hard
        and token.text in {",", "(", ")", "-"}
        and _is_brief(piece)
    )


def _is_brief(piece: Sequence[Token]) -> bool:
    return sum(token.content for token in piece) <= _FRAGMENT


@lru_cache(maxsize=1)
def _antonyms() -> dict[str, frozenset[str]]:
    """Read the opposites of each stem: what is on the other side of a line's bar."""
    text = files(__package__).joinpath("antonyms.txt").read_text("utf-8")
    antonyms: dict[str, frozenset[str]] = {}
    for line in text.splitlines():
        left, _, right = line.partition("|") if line[:1] != "#" else ("", "", "")
        for side, other in ((left, right), (right, left)):
            stems, opposites = (
                frozenset(map(stem, words.split())) for words in (side, other)
            )
            for word in stems:
                antonyms[word] = antonyms.get(word, frozenset()) | (opposites - stems)
    return antonyms
