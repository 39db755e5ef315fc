"""
What must be understood: sentences are proposed, and the gate decides them.

Types, cues and the scorer propose sentences for a constraint; the scorer reads the
whole document as well, which only proposes more. The gate reads the constraint and the
sentence, and nothing else. In a sentence that it opens, it chooses the words; where
people are asked for, only names. Every threshold is absolute. A name, or a rare word
that is withheld, is withheld throughout the document.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sdrag.detectors.local.number_kinds import find_labelled
from sdrag.detectors.local.tables import TITLES, common_words
from sdrag.detectors.local.technical import find_technical
from sdrag.disclosure.constraint_parser import ParsedConstraint
from sdrag.disclosure.constraint_parser.wording import is_clause
from sdrag.disclosure.local.by_example import Lessons
from sdrag.disclosure.local.joined_text import JoinedText
from sdrag.disclosure.local.scorer import GateScores, Scores, decide, score, unite
from sdrag.text.sentences import words
from sdrag.text.spans import SpanUnion, shift
from sdrag.vocabulary import Finding, Sensitivity, Span

Row = np.ndarray[tuple[int], np.dtype[np.float32]]
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float32]]

_PLAIN = 300
"""The most frequent English words tell nothing by themselves."""
_RARE = 4000
"""From this rank on, a word is known again wherever it is."""
_FILLERS = 100
"""The most frequent of them stay at the edges of what is withheld."""
_UNKNOWN = 6000
"""From this rank on, a word is as sure as the networks are; before it, less."""
_SHORTEST = 4
_GAP = 1
"""Words between two that are withheld go as well."""
_NAME = 0.4
"""How sure the networks must be that a word with a capital is a name."""
_NAMED = 0.9
"""A word that the constraint says goes if it has this share of the best other word's
probability: "She was granted asylum" tells by it, "Her salary is 40,000" does not."""
_WHOLE = 0.7
"""The share of a clause from which on all of it is withheld."""
_CLAUSE = re.compile(
    r"[,;:()\n\u2013\u2014|]++\s*|\s+-\s+|\s+(?=(?:and|but|or|because)\s)"
)
_MACHINES = frozenset({"DOMAIN_NAME", "IP_ADDRESS", "SOFTWARE"})
"""Types of what machines are called, and run."""
_SETTING = re.compile(r"\w=[\"']?\w")
_LONE_WORDS = frozenset({"A", "I"})
_PLURALS_IN_ES = ("sses", "shes", "ches", "xes")

_OF_NAMES = re.compile(r"\bnames?\b")
"""Names are found by their form and their sentence alone."""

_Place = tuple[int, int]
"""The row of a constraint, and the number of a sentence."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """
    How sure the scorer and the gate must be.

    Args:
        proposed: The scorer, of a word, to propose its sentence.
        sentence: The gate, of a sentence.
        cued: The gate, of a sentence that speaks of what the constraint asks for.
        word: The gate, of a word in a sentence that is open.
        beside: The gate, of a word beside one that is withheld.
        again: The gate, of a word that is withheld throughout the document.
    """

    proposed: float
    sentence: float
    cued: float
    word: float
    beside: float
    again: float


THRESHOLDS: Mapping[Sensitivity, Thresholds] = {
    "low": Thresholds(0.1, sentence=0.45, cued=0.2, word=0.3, beside=0.15, again=0.7),
    "balanced": Thresholds(
        0.05, sentence=0.25, cued=0.1, word=0.12, beside=0.04, again=0.6
    ),
    "high": Thresholds(
        0.02, sentence=0.06, cued=0.03, word=0.1, beside=0.03, again=0.5
    ),
}
"""As measured. None rises with the sensitivity: a higher one never withholds less."""


def needs_meaning(parsed: ParsedConstraint) -> bool:
    """Return True if the networks decide sentences for a constraint."""
    if parsed.kind == "people":
        return _OF_NAMES.search(parsed.subject) is None
    return parsed.kind in {"meaning", "statement"}


def find_by_meaning(
    document: JoinedText,
    proposals: Iterable[Finding],
    parsed_rules: Sequence[ParsedConstraint],
    thresholds: Sequence[Thresholds],
) -> Iterator[Finding]:
    """Yield what the networks withhold in the sentences that the gate opens."""
    if not parsed_rules:
        return
    texts = [parsed.text for parsed in parsed_rules]
    lessons = Lessons.of([parsed.constraint for parsed in parsed_rules])
    scored = _score_sentences(document, texts, lessons)
    proposed, cued = _propose(
        document, proposals, parsed_rules, scored, thresholds, lessons
    )
    parts = [span.of(document.text) for span in document.sentences]
    decisions = decide([(row, parts[number]) for row, number in proposed], texts)
    again: list[dict[str, float]] = [{} for _ in parsed_rules]
    for (place, typed), decision in zip(proposed.items(), decisions, strict=True):
        row, number = place
        limits, text = thresholds[row], parts[number]
        united = unite(decision, scored[number].chances[row])
        united = lessons.weigh(row, united, scored[number].cosines)
        if united.chance < (limits.cued if place in cued else limits.sentence):
            continue
        machine = _find_machines(text, parsed_rules[row])
        yield from typed
        written = parsed_rules[row].kinds and (machine or _SETTING.search(text))
        if written and (typed or place not in cued):
            continue  # the networks read no logs and settings
        if parsed_rules[row].kind == "people":
            spans, how = _find_names(text, united), ("again", united.chance, "PERSON")
        else:
            spans, rare = _choose(text, united, parsed_rules[row], limits, machine)
            spans = spans or ([] if typed or machine else [Span(0, len(text))])
            how = "scored", united.chance, ""
            again[row] |= rare
        for span in spans:
            placed = shift(span, document.sentences[number].start)
            yield Finding(placed, parsed_rules[row].constraint.id, *how)
    yield from _propagate(document.text, parsed_rules, again)


def _propose(
    document: JoinedText,
    proposals: Iterable[Finding],
    parsed_rules: Sequence[ParsedConstraint],
    scored: Sequence[Scores],
    thresholds: Sequence[Thresholds],
    lessons: Lessons,
) -> tuple[dict[_Place, list[Finding]], set[_Place]]:
    """Return the typed findings of each sentence to decide, and which hold a cue."""
    rows = {parsed.constraint.id: row for row, parsed in enumerate(parsed_rules)}
    proposed: dict[_Place, list[Finding]] = {
        (row, number): []
        for number, scores in enumerate(scored)
        for row, limits in enumerate(thresholds)
        if scores.chances[row].max(initial=0.0) >= limits.proposed
        or lessons.proposes(row, scores, limits.sentence)
    }
    cued: set[_Place] = set()
    for finding in proposals:
        for number in document.indices(finding.span):
            place = rows[finding.constraint_id], number
            typed = proposed.setdefault(place, [])
            if finding.type:
                typed.append(finding)
            else:
                cued.add(place)
    return proposed, cued


def _score_sentences(
    document: JoinedText, constraints: Sequence[str], lessons: Lessons
) -> list[Scores]:
    """
    Return the maximum of two readings: of each sentence alone, and of the whole.

    What examples show is compared with each sentence alone.
    """
    parts = [span.of(document.text) for span in document.sentences]
    unique = dict.fromkeys(parts)  # chunks overlap, so sentences repeat
    whole, *each = score([document.text, *unique], constraints, lessons.compared)
    alone = dict(zip(unique, each, strict=True))
    starts = [word.start for word in whole.words]
    united = []
    for sentence, part in zip(document.sentences, parts, strict=True):
        scores = alone[part]
        columns = [
            bisect_right(starts, sentence.start + word.start) - 1
            for word in scores.words
        ]
        chances = np.maximum(scores.chances, whole.chances[:, columns])
        united.append(replace(scores, chances=chances))
    return united


def _find_machines(text: str, parsed: ParsedConstraint) -> list[Span]:
    """Return what machines wrote in a sentence, unless a constraint asks for such."""
    if not _MACHINES.isdisjoint(parsed.types):
        return []
    labelled = find_labelled(text, parsed.kinds) if parsed.kinds else ()
    return [*find_technical(text), *labelled]


def _find_names(text: str, decision: GateScores) -> list[Span]:
    """Return words that are a name here, and may be an everyday word elsewhere."""
    return [
        span
        for span, chance in zip(decision.words, decision.chances, strict=True)
        for word in (span.of(text),)
        if chance >= _NAME and word[0].isupper() and _tells(word) and word not in TITLES
    ]


def _choose(
    text: str,
    scores: GateScores,
    parsed: ParsedConstraint,
    limits: Thresholds,
    machine: Sequence[Span],
) -> tuple[list[Span], dict[str, float]]:
    """
    Choose the words to withhold in an open sentence.

    `machine`: what machines wrote, of which the networks know nothing.

    Returns:
        Their spans, and the rare ones among them with their probabilities.
    """
    stated = _stems(parsed.statement)
    named = frozenset() if stated else _stems(parsed.subject)
    words = [span.of(text) for span in scores.words]
    stems = [*map(_stem, words)]
    chances = [
        chance / (chance + (1 - chance) * _frequency(word))
        for word, chance in zip(words, scores.chances.tolist(), strict=True)
    ]
    written = SpanUnion(machine)
    telling = {
        index: 1.0 if stems[index] in stated else chances[index]
        for index, word in enumerate(words)
        if _tells(word) and stems[index] not in named
        if not written.overlaps(scores.words[index])
    }
    rare = {index for index in telling if _is_rare(words[index])}
    if not is_clause(parsed.subject):  # that asks what happened, in its own words
        best = max(telling.values(), default=0.0)
        telling |= {
            index: chances[index]
            for index, word in enumerate(words)
            if stems[index] in named
            and _tells(word)
            and chances[index] >= _NAMED * best
        }
    # Where no word is sure enough, the surest is.
    least = min(limits.word, max(telling.values(), default=0.0))
    least = max(least, THRESHOLDS["high"].word)
    hidden = {index for index, chance in telling.items() if chance >= least}
    again = {
        words[index].lower(): telling[index]
        for index in sorted(hidden & rare)
        if telling[index] >= limits.again
    }
    alike = {
        index
        for index, word in enumerate(words)
        if index in telling
        or not (
            _is_filler(word)
            or stems[index] in named
            or written.overlaps(scores.words[index])
        )
    }
    near = {index for index in alike if chances[index] >= limits.beside}
    for step in (1, -1):
        for index in range(len(words))[::step]:
            if index in near and index - step in hidden:
                hidden.add(index)
    return _join(text, scores.words, hidden, alike), again


def _join(
    text: str, words: Sequence[Span], hidden: set[int], alike: set[int]
) -> list[Span]:
    """Return clauses, and words with what is between them; `alike` go with them."""
    spans: list[Span] = []
    for clause in _clauses(text, words):
        chosen = [index for index in clause if index in hidden]
        if len(chosen) >= _WHOLE * len(clause):
            chosen = [index for index in clause if index in hidden | alike]
        last = -_GAP - 2
        for index in chosen:
            word = words[index]
            if index - last <= _GAP + 1:
                word = Span(spans.pop().start, word.end)
            spans.append(word)
            last = index
    return spans


def _clauses(text: str, words: Sequence[Span]) -> Iterator[range]:
    """Yield the words of each clause."""
    first = 0
    for end in (*(match.start() for match in _CLAUSE.finditer(text)), len(text)):
        last = first
        while last < len(words) and words[last].start < max(end, 1):
            last += 1
        if first < last:
            yield range(first, last)
        first = last


def _propagate(
    text: str,
    parsed_rules: Sequence[ParsedConstraint],
    again: Sequence[dict[str, float]],
) -> Iterator[Finding]:
    """Yield the rare words that were withheld, or are stated, wherever they are."""
    stated = [_stems(parsed.statement) for parsed in parsed_rules]
    known = zip(parsed_rules, stated, again, strict=True)
    looked_for = [each for each in known if each[1] or each[2]]
    for span in words(text) if looked_for else ():
        word = span.of(text)
        lower, stem, is_rare = word.lower(), _stem(word), _is_rare(word)
        for parsed, stems, rare in looked_for:
            chance = 1.0 if is_rare and stem in stems else rare.get(lower, 0.0)
            if chance:
                yield Finding(span, parsed.constraint.id, "again", chance)


def _tells(word: str) -> bool:
    """Return True if a word means something by itself."""
    if not word.isalpha():
        return any(map(str.isalnum, word))
    if len(word) == 1:
        return word.isupper() and word not in _LONE_WORDS
    ranks = common_words()
    return ranks.get(word.lower(), len(ranks)) >= _PLAIN


def _is_filler(word: str) -> bool:
    """Return True if a word need not go with those beside it."""
    return common_words().get(word.lower(), _FILLERS) < _FILLERS or not any(
        map(str.isalnum, word)
    )


def _frequency(word: str) -> float:
    """Return by what the odds of a word are divided: a frequent one is seldom it."""
    ranks = common_words()
    rank = ranks.get(word.lower(), _UNKNOWN) if word.isalpha() else _UNKNOWN
    return math.pow(_UNKNOWN / min(max(rank, _PLAIN), _UNKNOWN), 0.3)


def _is_rare(word: str) -> bool:
    ranks = common_words()
    return len(word) >= _SHORTEST and ranks.get(word.lower(), _RARE) >= _RARE


def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(span.of(text)) for span in words(text))


def _stem(word: str) -> str:
    """Return a noun without the ending of the plural."""
    lower = word.lower()
    if lower.endswith(_PLURALS_IN_ES):
        return lower[:-2]
    if lower.endswith("ies"):
        return f"{lower[:-3]}y"
    return lower if lower.endswith("ss") else lower.removesuffix("s")
