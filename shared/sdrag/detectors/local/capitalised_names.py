"""
What a run of capitalised words names: a person, an organisation, a place.

Read from its own words (titles, heads and suffixes of organisations, streets, given
names), then from the words around it. The first rule that can tell decides. Lists of
names only weigh; a name in no list is still a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sdrag.detectors.local import context_features as surroundings
from sdrag.detectors.local import lexicon
from sdrag.detectors.local import name_features as ownwords
from sdrag.detectors.local.extents import end_of, seated, start_of
from sdrag.detectors.local.found import Found
from sdrag.detectors.local.name_features import Verdict
from sdrag.detectors.local.runs import Run, runs
from sdrag.detectors.local.words import Tokens

__all__ = ["names"]


def names(tokens: Tokens) -> Iterator[Found]:
    """Yield names, and the titles before them."""
    for run in runs(tokens):
        for title in run.titles:
            yield Found(tokens.starts[title], tokens.ends[title], "TITLE", 0.8, "title")
        yield _found(run)


def _found(run: Run) -> Found:
    """Say what the run names, and how far the name reaches."""
    type_, confidence = _verdict(run)
    start, end = run.first_character, run.last_character
    if type_ == "TERM" and seated(run):
        type_, confidence = "ORGANIZATION", 0.55
    elif run.unusual and not run.titles:
        end = end_of(run)
        if end > run.last_character and type_ in {"PERSON", "TERM"}:
            type_, confidence = "ORGANIZATION", max(confidence, 0.6)
    if type_ in {"ORGANIZATION", "TERM"}:
        start = start_of(run)
        if start < run.first_character and run.words[-1] in lexicon.ORGANISATION_HEADS:
            type_, confidence = "ORGANIZATION", max(confidence, 0.5)
    return Found(start, end, type_, confidence, "name")


def _verdict(run: Run) -> tuple[str, float]:
    for rule in _RULES:
        verdict = rule(run)
        if verdict is not None:
            return verdict
    return "TERM", 0.3


_RULES: Sequence[Callable[[Run], Verdict]] = (
    ownwords.generic,
    ownwords.initials,
    ownwords.shouting,
    ownwords.company,
    surroundings.titled,
    ownwords.state,
    surroundings.gloss,
    ownwords.institution,
    ownwords.region,
    ownwords.event,
    ownwords.initialled,
    ownwords.street,
    surroundings.firm,
    ownwords.given_name,
    surroundings.speaking,
    surroundings.known_place,
    surroundings.introduced,
    surroundings.alias,
    surroundings.acting,
    ownwords.acronym,
    surroundings.placed,
    ownwords.listed_given_name,
    ownwords.coined,
    ownwords.strange,
    surroundings.several,
    surroundings.beside,
)
