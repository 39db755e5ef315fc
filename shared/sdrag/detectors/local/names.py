"""
What a run of capitalised words names: a person, an organisation, a place.

Read from its own words (titles, heads and suffixes of organisations, streets, given
names), then from the words around it. The first rule that can tell decides. Lists of
names only weigh; a name in no list is still a name. A name reaches over a head in lower
case (Salzburg municipal cemetery), over the place of a court (the High Court at
Edinburgh), and over the people in front of it (the Bulgarian Communist Party).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from sdrag.detectors.local import context_features, name_features
from sdrag.detectors.local.name_features import TypeGuess
from sdrag.detectors.local.runs import Run, is_common, runs
from sdrag.detectors.local.tables import (
    GENERIC,
    NATIONALITIES,
    ORGANISATION_HEADS,
    listed,
)
from sdrag.detectors.local.tokens import Candidate, Tokens


def names(tokens: Tokens) -> Iterator[Candidate]:
    """Yield names, and the titles before them."""
    for run in runs(tokens):
        for title in run.titles:
            yield Candidate(
                tokens.starts[title], tokens.ends[title], "TITLE", 0.8, "title"
            )
        yield _named(run)


def _named(run: Run) -> Candidate:
    """Say what the run names, and how far the name reaches."""
    type_, confidence = _guess(run)
    start, end = run.first_character, run.last_character
    if type_ == "TERM" and _seated(run):
        type_, confidence = "ORGANIZATION", 0.55
    elif run.unusual and not run.titles:
        end = _end_of(run)
        if end > run.last_character and type_ in {"PERSON", "TERM"}:
            type_, confidence = "ORGANIZATION", max(confidence, 0.6)
    if type_ in {"ORGANIZATION", "TERM"}:
        start = _start_of(run)
        if start < run.first_character and run.words[-1] in ORGANISATION_HEADS:
            type_, confidence = "ORGANIZATION", max(confidence, 0.5)
    return Candidate(start, end, type_, confidence, "name")


def _guess(run: Run) -> tuple[str, float]:
    for rule in _RULES:
        guess = rule(run)
        if guess is not None:
            return guess
    return "TERM", 0.3


_RULES: Sequence[Callable[[Run], TypeGuess]] = (
    name_features.generic,
    name_features.initials,
    name_features.shouting,
    name_features.company,
    context_features.titled,
    name_features.state,
    context_features.gloss,
    name_features.institution,
    name_features.region,
    name_features.event,
    name_features.initialled,
    name_features.street,
    context_features.firm,
    name_features.given_name,
    context_features.speaking,
    context_features.against,
    context_features.known_place,
    context_features.introduced,
    context_features.alias,
    context_features.acting,
    name_features.acronym,
    context_features.placed,
    name_features.listed_given_name,
    name_features.coined,
    name_features.strange,
    context_features.several,
    context_features.paired,
    name_features.listed_surname,
)


_HEAD = re.compile(
    r" (?:(?:municipal|public|provincial|district|regional|local|primary|secondary"
    r"|state|civil|criminal|police|military|central|general|high|city|county|town) )?"
    r"(?:court|prosecutor|cemetery|prison|hospital|school|college|university|academy"
    r"|village|district|municipality|province|county|region|airport|barracks|garrison"
    r"|church|mosque|synagogue|monastery|factory|plant|mine|mill|station|hotel|clinic"
    r"|bank|newspaper|magazine|motorway|street|square|market|orphanage|camp|estate"
    r"|farm|prosecutors|police|council|office|branch|party|club|group|company)\b"
)
_SEAT = re.compile(r",? (?:at|in|of) ([A-Z]\w{2,})")
_OF_STATES = listed(
    "Government Constitution Parliament Court Courts Code Law State Act"
)


def _start_of(run: Run) -> int:
    """Return where the name starts, with the people an organisation belongs to."""
    tokens, index = run.tokens, run.start
    while (
        index
        and tokens.words[index - 1] in NATIONALITIES
        and tokens.gap(index) == " "
        and not _OF_STATES & set(run.words)
    ):
        index -= 1
    return tokens.starts[index]


def _end_of(run: Run) -> int:
    """Return where the name ends, with a head in lower case."""
    head = _HEAD.match(run.tokens.text, run.last_character)
    return head.end() if head else run.last_character


def _seated(run: Run) -> bool:
    """Return True if what is no name by itself is recognized by its place."""
    if run.words[-1] not in ORGANISATION_HEADS:
        return False
    seat = _SEAT.match(run.tokens.text, run.last_character)
    return seat is not None and seat[1] not in GENERIC and not is_common(seat[1])
