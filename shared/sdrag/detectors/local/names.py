"""
What a run of capitalised words names: a person, an organisation, a place.

`_RULES` is the table: rules over the run's own words (titles, heads and suffixes of
organisations, streets, given names) and cues over the words around it. The first that
can tell decides. Lists of names only weigh; a name in no list is still a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sdrag.detectors.local import tables
from sdrag.detectors.local.fields import is_label
from sdrag.detectors.local.runs import Run, find_runs
from sdrag.detectors.local.tables import (
    GENERIC,
    OFFICES,
    ORGANISATION_HEADS,
    PLACE_HEADS,
    PLACE_OF,
    STREET_HEADS,
    TITLES,
    is_common,
    listed,
    word_set,
)
from sdrag.detectors.local.terms import type_of_word
from sdrag.detectors.local.tokens import Candidate, TokenIndex

Guess = tuple[str, float] | None
"""A type and a confidence, or nothing where the rule cannot tell."""

_WORKS = listed("Act Acts Code Law War Treaty Convention Agreement Plan Award Prize")
_FEASTS = frozenset(("Day", "Eve"))
_EPONYMS = word_set("eponyms")
_EPONYM_AFTER = re.compile(r"(?:'s)? (?:disease|syndrome|dementia|lymphoma|palsy)\b")
_DIRECTIONS = listed("North South East West Northern Southern Eastern Western")
_STATES = frozenset(("Republic", "Kingdom", "Commonwealth", "State"))
_HIGHEST = listed("Court Cassation Supreme Constitutional Chamber Division")
_RARE = 12_000
"""Few texts speak of a word of this rank: reindeer, husbandry."""
_CALLED = TITLES - tables.surnames() | word_set("feasts")
"""What a text calls somebody or a day; alone it is no name."""
_TEAMS = word_set("teams")
_ACRONYM = range(2, 6)
_LONGEST = 40
_LEADING = listed("van von der den de di da del della ter ten zu zur al el bin ben ibn")
_PARTICLES = 3


def find_names(tokens: TokenIndex) -> Iterator[Candidate]:
    """Yield names, and the titles before them; the label of a field is none."""
    for run in find_runs(tokens):
        if run.after(2).lstrip(".").startswith(":") and is_label(run.surface):
            continue
        for title in run.titles:
            yield Candidate(
                tokens.starts[title], tokens.ends[title], "TITLE", 0.8, "title"
            )
        yield _name(run)


def _name(run: Run) -> Candidate:
    read = _in_small_letters(run) if _is_shouted(run) else run
    guesses = (rule(read) for rule in _RULES)
    type_, confidence = next(filter(None, guesses), ("TERM", 0.3))
    first = _with_particles(run) if type_ == "PERSON" else run.first_character
    return Candidate(first, run.last_character, type_, confidence, "name")


def _with_particles(run: Run) -> int:
    """Return where the name begins with its particles: van der Meer, al-Masri."""
    tokens, first = run.tokens, run.start
    while (
        first
        and run.start - first < _PARTICLES
        and tokens.words[first - 1] in _LEADING
        and tokens.gap(first) in {" ", "-"}
    ):
        first -= 1
    return tokens.starts[first] if first < run.start else run.first_character


# --------------------------------------------------------------- the run's own words


def _initials(run: Run) -> Guess:
    """K.F., J.P."""
    if len(run.words) in (2, 3) and all(len(word) == 1 for word in run.words):
        return ("PERSON", 0.6) if "." in run.surface else ("TERM", 0.3)
    return None


def _is_shouted(run: Run) -> bool:
    whole = run.tokens.text[run.first_character : run.last_character]
    return len(run.words) > 1 and whole.isupper()


def _in_small_letters(run: Run) -> Run:
    """Return JOHN SMITH as John Smith, THE BANK OF WALES as the Bank of Wales."""
    words = [
        word.lower() if word.lower() in tables.FUNCTION_WORDS else word.capitalize()
        for word in run.words
    ]
    return replace(run, words=words, surface=" ".join(words))


def _shouting(run: Run) -> Guess:
    """A heading in capitals is no name, unless a word of it is strange, or all are."""
    words = run.words
    full = words[0] in tables.first_names() and words[-1] in tables.surnames()
    heading = _is_shouted(run) and not run.unusual and not full
    return ("TERM", 0.2) if heading else None


def _company(run: Run) -> Guess:
    """A suffix of companies."""
    ends = run.words[-1] in tables.ORGANISATION_SUFFIXES
    return ("ORGANIZATION", 0.9) if ends and len(run.words) > 1 else None


def _titled(run: Run) -> Guess:
    """A title in front; "Mr Chairman" and "Nurse Practitioner" name nobody."""
    if not run.titles:
        return None
    office = len(run.words) == 1 and run.words[0] in OFFICES
    trade = type_of_word(run.words[-1].lower()) == "JOB_TITLE"
    listed_names = tables.first_names(), tables.surnames()
    post = trade and all(names.isdisjoint(run.words) for names in listed_names)
    return ("TERM", 0.3) if office or post else ("PERSON", 0.95)


def _state(run: Run) -> Guess:
    """The full name of a state, its government and its highest courts name nobody."""
    words = [w for w in run.words if w[0].isupper()]
    if run.words[:2] == ["United", "Kingdom"]:
        return ("LOCATION", 0.5) if len(words) == 2 else ("TERM", 0.45)
    if "of" in run.words and _HIGHEST.issuperset(words):
        return "TERM", 0.45
    return None


def _gloss(run: Run) -> Guess:
    """The same again in another language, in brackets behind an institution."""
    if not (run.before(1) == "(" and run.after(1) == ")" and run.start):
        return None
    before = run.tokens.words[max(0, run.start - 4) : run.start]
    if before[-1] not in GENERIC and before[-1] not in ORGANISATION_HEADS:
        return ("TERM", 0.45) if before[-1].islower() else None
    named = any(word[0].isupper() and not is_common(word) for word in before)
    return "ORGANIZATION", 0.6 if named or len(before) > 2 else 0.45


def _institution(run: Run) -> Guess:
    """A head of organisations, told apart by a name or a telling word."""
    words = run.words
    if ORGANISATION_HEADS.isdisjoint(words):
        return None
    if run.unusual or not tables.places().isdisjoint(words):
        return "ORGANIZATION", 0.8
    telling = [w for w in words if w not in GENERIC and len(w) > 2 and w[0].isupper()]
    return ("ORGANIZATION", 0.5) if len(words) > 1 and telling else ("TERM", 0.4)


def _region(run: Run) -> Guess:
    """A state or a part of one."""
    words = run.words
    if run.surface in tables.countries():
        return "LOCATION", 0.5
    if len(words) == 1:
        return None
    south = words[0] in _DIRECTIONS and " ".join(words[1:]) in tables.countries()
    if south or not tables.countries().isdisjoint(words):
        return "LOCATION", 0.5 if words[0] in _DIRECTIONS else 0.45
    if words[0] in PLACE_OF and "of" in words and len(words) > 2:
        return "LOCATION", 0.7 if words[0] not in _STATES else 0.45
    return None


def _eponym(run: Run) -> Guess:
    """Parkinson's disease is nobody's."""
    named = run.words[-1] in _EPONYMS and _EPONYM_AFTER.match(run.after(14))
    return ("CONDITION", 0.55) if named and len(run.words) == 1 else None


def _event(run: Run) -> Guess:
    """All Saints' Day; acts, wars and prizes name nobody."""
    words = run.words
    if len(words) > 1 and words[-1] in _FEASTS:
        return "DATE", 0.6
    if len(words) > 1 and words[-1] in _WORKS:
        ranks = (tables.common_words().get(word.lower(), 0) for word in words)
        return "TERM", 0.5 if any(rank > _RARE for rank in ranks) else 0.45
    return None


def _street(run: Run) -> Guess:
    """A head of streets."""
    ends = run.words[-1] in STREET_HEADS
    return ("ADDRESS", 0.8) if ends and len(run.words) > 1 else None


def _given_name(run: Run) -> Guess:
    """A given name in front of others."""
    words = run.words
    if len(words) > 1 and words[0] in tables.first_names() and words[-1] != words[0]:
        return "PERSON", 0.6 if all(map(is_common, words)) else 0.9
    return None


def _known_place(run: Run) -> Guess:
    """A town or a region."""
    words = run.words
    if run.surface in tables.places() and not _PERSON_AFTER.match(run.after(20)):
        common = is_common(run.surface) or run.surface in tables.first_names()
        return "LOCATION", 0.5 if common else 0.75
    if len(words) > 1 and (words[-1] in PLACE_HEADS or words[0] in PLACE_HEADS):
        return "LOCATION", 0.65 if run.unusual else 0.5
    return None


def _acronym(run: Run) -> Guess:
    """Capitals alone."""
    surface = run.surface
    if surface.isupper() and len(surface) in _ACRONYM:
        known = is_common(surface) or len(surface) == 2 or surface in tables.ACRONYMS
        return "ORGANIZATION", 0.35 if known else 0.5
    return None


def _listed_given_name(run: Run) -> Guess:
    """A given name, less sure where a sentence begins with it."""
    if run.words[0] not in tables.first_names():
        return None
    opens = run.tokens.opens_sentence(run.start)
    if is_common(run.words[0]):
        return "PERSON", 0.4 if opens else 0.5
    return "PERSON", 0.7 if opens else 0.75


def _strange(run: Run) -> Guess:
    """A word that is no English word names somebody until more is known."""
    tag = run.before(1) == "#"  # of a topic
    strange = run.unusual and not tag and not _CALLED.issuperset(run.words)
    return ("PERSON", 0.6) if strange else None


# ------------------------------------------------------------------ the words around it


def _is_named(run: Run) -> bool:
    """Return True for a strange word or a given name, which is no title alone."""
    named = run.unusual or run.words[0] in tables.first_names()
    return named and not TITLES.issuperset(run.words)


def _may_be_place(run: Run) -> bool:
    acronym = run.surface.isupper() and len(run.surface) in _ACRONYM
    return run.unusual and not acronym


def _may_be_town(run: Run) -> bool:
    surname = len(run.words) > 1 and run.words[-1] in tables.surnames()
    return _may_be_place(run) and not surname


@dataclass(frozen=True, slots=True)
class Cue:
    """
    What words in front of a run or behind it tell.

    Args:
        type: Of the run.
        confidence: Of it; less where no word of the run is unusual, if `usual` is set.
        before: Words in front, at the end of the pattern.
        after: Words behind.
        needs: What the run must be.
        words: The most words of the run.
    """

    type: str
    confidence: float
    before: re.Pattern[str] | None = None
    after: re.Pattern[str] | None = None
    needs: Callable[[Run], bool] = lambda _: True
    words: int = _LONGEST
    usual: float = 0.0

    def __call__(self, run: Run) -> Guess:
        """Return the type where a cue is there."""
        if len(run.words) > self.words or not self.needs(run):
            return None
        if (self.before and self.before.search(run.before(32))) or (
            self.after and self.after.match(run.after(60))
        ):
            sure = self.confidence if run.unusual else self.usual or self.confidence
            return self.type, sure
        return None


_NAME_CUE = re.compile(
    r"\b(?:name(?: is|:)|named|called|I am|I'm|this is|signed|regards,?|sincerely,?"
    r"|dear|hi|hello|hey|thanks,?|author:?|username:?|user:?|seller:?|applicant,?"
    r"|witness,?|patient,?|baker,?|son,?|daughter,?|wife,?|husband,?|mother,?|father,?"
    r"|brother,?|sister,?|friend,?|uncle,?|aunt,?|nephew,?|niece,?|colleague,?)\s+$",
    re.IGNORECASE,
)
_PLACE_CUE = re.compile(
    r"\b(?:in|at|near|into|towards?|outside|around|via|leaving|visiting|reached|left"
    r"|location:?|city:?|town of|village of|born in|lives? in|based in)"
    r"(?: (?:the|northern|southern|eastern|western|central))?\s+$",
    re.IGNORECASE,
)
_MOVED_CUE = re.compile(r"\b(?:from|to|of)(?: the)?\s+$")
_FIRM_CUE = re.compile(
    r"\b(?:work(?:s|ed|ing)? (?:for|at|with)|employed (?:by|at)|(?:year|job|career"
    r"|position|intern(?:ship)?|manager|director|engineer|consultant) at|(?:address"
    r"|office|website|CEO|founder|owner|customer|client|employee|board|shares) of"
    r"|joined|founded|hired by|employer|later became|looking to support"
    r"|according to the|company called)[ :]+$",
    re.IGNORECASE,
)
_FIRM_AFTER = re.compile(
    r"(?:'s)? (?:website|offices?|headquarters|employees|shares|invested|announced"
    r"|acquired)\b"
    r"|,? (?:is|was|are) (?:a|an|the) (?:[\w()-]+ ){0,4}(?:company|agency|firm"
    r"|corporation|multinational|provider|manufacturer|brainchild|start-?up|retailer"
    r"|subsidiary|organi[sz]ation|charity|bank)\b"
)
_PERSON_AFTER = re.compile(
    r"(?:'s (?:mother|father|wife|husband|son|daughter|sister|brother|lawyer))"
    r"|,? (?:who|whose|said|says|told|asked|remembered|denie[sd]|replied|answered|wrote"
    r"|thought|noticed|explained|admitted|testified|himself|herself|aged|was born"
    r"|(?:is|was) (?:a|an|the) )|, \d{2}\b"
)

_RULES: Sequence[Callable[[Run], Guess]] = (
    _initials,
    _shouting,
    _company,
    _titled,
    _state,
    _gloss,
    _institution,
    _region,
    _event,
    _eponym,
    _street,
    Cue("ORGANIZATION", 0.7, _FIRM_CUE, _FIRM_AFTER, usual=0.5),
    _given_name,
    Cue("PERSON", 0.6, re.compile(r"[A-Z]\w+ vs?\.? $"), re.compile(r" vs?\.? [A-Z]")),
    _known_place,
    Cue("PERSON", 0.8, _NAME_CUE, needs=_is_named),
    _acronym,
    Cue("LOCATION", 0.6, _PLACE_CUE, needs=_may_be_town),
    Cue("LOCATION", 0.6, _MOVED_CUE, needs=_may_be_place, words=1),
    _listed_given_name,
    _strange,
)
