"""
Does a claim affirm what the evidence denies, or say the opposite of it?

Each clause of the claim is compared with the clause of the evidence that has most of
its words. A denial on one side alone is a conflict, and so is an antonym. A denial and
an antonym together agree: what is not open is closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sdrag.guardrails.agreement.opposites import are_converse, are_opposite
from sdrag.guardrails.agreement.tokens import Token, TokenText, same
from sdrag.guardrails.comparable_words import word_set
from sdrag.vocabulary import Confidential

__all__ = ["Clause", "aligned", "clauses", "denied", "polarity_differs"]

_DENIALS = word_set(
    "no not never none neither nor without nothing nobody nowhere cannot unable"
    " incapable except hardly barely"
)
_DENYING_VERBS = word_set(
    "fail refus declin forget avoid omit neglect ceas stop prevent"
)
"""Base forms that deny the verb after `to`."""
_LACKING = word_set("lack miss absent absenc")
_COMPARED = word_set("more less fewer later earlier longer exceed only least most")
"""After a denial these make a bound or an emphasis."""
_PRONOUNS = frozenset({"it", "he", "she", "they", "this", "these", "that", "which"})
_SPLITTING = word_set("but while although though whereas except")
_COVERED = 0.4
"""The least share of a clause's words that makes another its counterpart."""
_FRAGMENT = 2
_INHERITED = 0.75


@dataclass(frozen=True, slots=True, repr=False)
class Clause(Confidential):
    """
    A clause, with the words of what it continues.

    Args:
        tokens: Its own words.
        inherited: Base forms of the clauses before it, in the same sentence or, where
            it begins with a pronoun, in the one before.
        denied: It has an odd number of denials.
    """

    tokens: TokenText
    inherited: frozenset[str]
    denied: bool

    @property
    def words(self) -> frozenset[str]:
        """The base forms of its own content words."""
        return frozenset(token.base for token in self.tokens if token.content)


def polarity_differs(claim: TokenText, evidence: TokenText) -> bool:
    """Say whether a clause of the claim turns what its evidence says around."""
    known = clauses(evidence)
    return any(
        not any(_agrees(clause, other) for other in aligned(clause, known))
        for clause in clauses(claim)
        if clause.words - _DENIALS and aligned(clause, known)
    )


def aligned(clause: Clause, known: list[Clause]) -> list[Clause]:
    """Return the clauses of the evidence that have most of a clause's words."""
    words = {word for word in clause.words if word not in _DENIALS}
    scores = [_score(words, other) for other in known]
    best = max(scores, default=0.0)
    if best < _COVERED * len(words):
        return []
    return [other for score, other in zip(scores, known, strict=True) if score == best]


def _score(words: set[str], other: Clause) -> float:
    return sum(
        1.0
        if any(same(word, one) for one in other.words)
        else _INHERITED * any(same(word, one) for one in other.inherited)
        for word in words
    )


def _agrees(clause: Clause, other: Clause) -> bool:
    return (clause.denied != other.denied) == _opposite(clause, other)


def _opposite(clause: Clause, other: Clause) -> bool:
    """Say whether an odd number of words are antonyms."""
    mine = clause.words
    theirs = other.words
    only_mine = {word for word in mine if not any(same(word, one) for one in theirs)}
    only_theirs = {word for word in theirs if not any(same(word, one) for one in mine)}
    only_mine -= other.inherited
    turned = {
        word
        for word in only_mine
        if any(
            are_opposite(word, one) and not are_converse(word, one)
            for one in only_theirs
        )
    }
    return len(turned) % 2 == 1


def clauses(tokens: TokenText) -> list[Clause]:
    """Cut a text into clauses; fragments go with what they belong to."""
    pieces: list[list[Token]] = []
    for token in tokens:
        starts = not pieces or pieces[-1][-1].clause != token.clause
        if starts and not _continues(pieces, token):
            pieces.append([])
        pieces[-1].append(token)
    found: list[Clause] = []
    inherited: frozenset[str] = frozenset()
    hard = -1
    for piece in _joined(pieces):
        words = [token for token in piece if token.text.isalnum()]
        led = bool(words) and words[0].text in _PRONOUNS
        if piece[0].hard != hard and not led:
            inherited = frozenset()
        hard = piece[0].hard
        clause = Clause(tuple(piece), inherited, denied(piece))
        found.append(clause)
        inherited |= clause.words
    return found


def _continues(pieces: list[list[Token]], token: Token) -> bool:
    """Say whether a new clause goes on with the piece before it."""
    if not pieces or pieces[-1][-1].hard != token.hard:
        return False
    return token.text in {",", "(", ")", "-"} and len(_content(pieces[-1])) <= _FRAGMENT


def _joined(pieces: list[list[Token]]) -> list[list[Token]]:
    """Join fragments that say nothing of their own with the piece before them."""
    joined: list[list[Token]] = []
    for piece in pieces:
        brief = len(_content(piece)) <= _FRAGMENT and not denied(piece)
        follows = bool(joined) and joined[-1][-1].hard == piece[0].hard
        set_apart = piece[0].text in _SPLITTING and bool(joined) and denied(joined[-1])
        if brief and follows and not set_apart:
            joined[-1].extend(piece)
        else:
            joined.append(list(piece))
    return joined


def _content(piece: list[Token]) -> list[Token]:
    return [token for token in piece if token.content]


def denied(piece: Sequence[Token]) -> bool:
    """Say whether a piece of text has an odd number of denials."""
    return sum(_denies(piece, at) for at in range(len(piece))) % 2 == 1


def _denies(piece: Sequence[Token], at: int) -> bool:
    token = piece[at]
    following = piece[at + 1] if at + 1 < len(piece) else None
    if token.base in _DENYING_VERBS:
        return following is not None and following.text == "to"
    if token.base in _LACKING:
        return True
    if token.text in _DENIALS or token.text.endswith("n't"):
        return following is None or following.base not in _COMPARED | {"exce"}
    return False
