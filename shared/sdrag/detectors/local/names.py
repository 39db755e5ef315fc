"""
What a run of capitalised words names: a person, an organisation, a place.

Read from its own words (titles, heads and suffixes of organisations, streets, given
names), then from the words around it. The first rule that can tell decides. Lists of
names only weigh; a name in no list is still a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from sdrag.detectors.local import lexicon, tables
from sdrag.detectors.local.found import Found
from sdrag.detectors.local.runs import Run, is_common, runs
from sdrag.detectors.local.tokens import Tokens

__all__ = ["names"]

Verdict = tuple[str, float] | None

_NAME_CUE = re.compile(
    r"\b(?:name(?: is|:)|named|called|I am|I'm|this is|signed|regards,?|sincerely,?"
    r"|dear|hi|hello|hey|thanks,?|author:?|username:?|user:?|seller:?|applicant,?"
    r"|witness,?|patient,?|baker,?|son,?|daughter,?|wife,?|husband,?|mother,?|father,?"
    r"|brother,?|sister,?|friend,?|uncle,?|aunt,?|nephew,?|niece,?|colleague,?)\s+$",
    re.IGNORECASE,
)
_WORK_CUE = re.compile(
    r"\b(?:work(?:s|ed|ing)? (?:for|at|with)|employed (?:by|at)|employer,?|company,?"
    r"|firm,?|customer,?|client,?|supplier,?|insurer,?|called|from|at|joined|founded"
    r"|CEO of|director of|manager of|support|by|visit|of|the)\s+$",
    re.IGNORECASE,
)
_ALIAS_CUE = re.compile(
    r"\b(?:(?:code|cover) ?names?|nick-?names?|alias|known as|dubbed|signs (?:himself"
    r"|herself)|calls? (?:him|her|himself|herself)|called|pet name)[,:]?(?: is| was)?"
    r"(?: the| \"| ')?\s*$",
    re.IGNORECASE,
)
_PLACE_CUE = re.compile(
    r"\b(?:in|at|near|into|towards?|outside|around|via|leaving|visiting|reached|left"
    r"|location:?|city:?|town of|village of|born in|lives? in|based in)"
    r"(?: (?:the|northern|southern|eastern|western|central))?\s+$",
    re.IGNORECASE,
)
_MOVED_CUE = re.compile(r"\b(?:from|to|of)(?: the)?\s+$")
_PERSON_AFTER = re.compile(
    r"(?:'s (?:mother|father|wife|husband|son|daughter|sister|brother|lawyer))"
    r"|,? (?:who|whose|said|says|told|asked|remembered|denie[sd]|replied"
    r"|answered|wrote|thought"
    r"|noticed|explained|admitted|testified|himself|herself|aged|was born|(?:is|was) "
    r"(?:a|an|the) )|, \d{2}\b"
)
_GENERIC = lexicon.listed("""
        Court Government Commission Convention Parliament Ministry Minister Supreme
        Constitutional Appeal Cassation Article Articles Protocol Rule Rules Section
        Chamber Code Act Law State National President Registrar Committee Council
        Federal Police Board Public Civil Criminal Administrative High Grand Human
        Rights Foreign Affairs Interior Justice Appeals First Instance Prosecutor
        General Assembly Agent Facts Procedure Part Chapter Annex Schedule Appendix
        Table Figure Paragraph Note Title Republic Constitution Penal Commonwealth
        District Regional City Principal Defence Military Education International
        Department Labour Union Agreement Treaty Regulation Directive
        """)
_WORKS = lexicon.listed(
    "Act Acts Code Law War Treaty Convention Agreement Plan Day Award Prize"
)
_STATES = frozenset(("Republic", "Kingdom", "Commonwealth", "State"))
_SHOUTED = 6


def names(tokens: Tokens) -> Iterator[Found]:
    """Yield names, and the titles before them."""
    for run in runs(tokens):
        for title in run.titles:
            yield Found(tokens.starts[title], tokens.ends[title], "TITLE", 0.8, "title")
        type_, confidence = _verdict(run)
        yield Found(run.first_character, run.last_character, type_, confidence, "name")


def _also_surname(run: Run) -> bool:
    """Say whether a town's name may just as well be somebody's here."""
    return (
        len(run.words) == 1
        and run.words[0] in tables.surnames()
        and not _PLACE_CUE.search(run.before(24))
        and not _MOVED_CUE.search(run.before(24))
    )


def _verdict(run: Run) -> tuple[str, float]:
    for rule in _RULES:
        verdict = rule(run)
        if verdict is not None:
            return verdict
    return "TERM", 0.3


def _titled(run: Run) -> Verdict:
    return ("PERSON", 0.95) if run.titles else None


def _initials(run: Run) -> Verdict:
    """K.F., J.P."""
    if len(run.words) in (2, 3) and all(len(word) == 1 for word in run.words):
        return ("PERSON", 0.6) if "." in run.surface else ("TERM", 0.3)
    return None


def _initialled(run: Run) -> Verdict:
    """J. Wolasiewicz, Z.M. Necatigil."""
    words = run.words
    if len(words) < 2 or len(words[0]) > 1 or len(words[-1]) == 1:
        return None
    if is_common(words[-1]) and run.tokens.opens_sentence(run.start):
        return "TERM", 0.2
    return "PERSON", 0.85


def _company(run: Run) -> Verdict:
    words = run.words
    if len(words) > 1 and words[-1] in lexicon.ORGANISATION_SUFFIXES:
        return "ORGANIZATION", 0.9
    return None


def _gloss(run: Run) -> Verdict:
    """The same again in another language, in brackets behind an institution."""
    if not (run.before(1) == "(" and run.after(1) == ")" and run.start):
        return None
    before = run.tokens.words[max(0, run.start - 4) : run.start]
    if before[-1] not in _GENERIC and before[-1] not in lexicon.ORGANISATION_HEADS:
        return ("TERM", 0.45) if before[-1].islower() else None
    named = any(word[0].isupper() and not is_common(word) for word in before)
    return "ORGANIZATION", 0.6 if named or len(before) > 2 else 0.45


def _shouting(run: Run) -> Verdict:
    """A heading in capitals is no name, unless a word of it is strange."""
    words = run.words
    if run.surface.isupper() and len(words) > 1 and not run.unusual:
        return "TERM", 0.2
    return None


def _institution(run: Run) -> Verdict:
    words = run.words
    if not any(word in lexicon.ORGANISATION_HEADS for word in words):
        return None
    if run.unusual or any(word in tables.places() for word in words):
        return "ORGANIZATION", 0.8
    telling = [w for w in words if w not in _GENERIC and len(w) > 2 and w[0].isupper()]
    if len(words) > 1 and telling:
        return "ORGANIZATION", 0.5
    return "TERM", 0.4


def _region(run: Run) -> Verdict:
    words = run.words
    if run.surface in tables.countries():
        return "LOCATION", 0.5
    if len(words) > 1 and any(word in tables.countries() for word in words):
        return "LOCATION", 0.45
    if words[-1] in _WORKS and len(words) > 1:
        return "TERM", 0.45
    if len(words) > 2 and words[0] in lexicon.PLACE_OF and "of" in words:
        return "LOCATION", 0.7 if words[0] not in _STATES else 0.45
    return None


def _street(run: Run) -> Verdict:
    words = run.words
    if len(words) > 1 and words[-1] in lexicon.STREET_HEADS:
        return "ADDRESS", 0.8
    return None


def _given_name(run: Run) -> Verdict:
    words = run.words
    if len(words) > 1 and words[0] in tables.first_names() and words[-1] != words[0]:
        common = all(is_common(word) for word in words)
        return "PERSON", 0.6 if common else 0.9
    return None


def _known_place(run: Run) -> Verdict:
    if run.surface in tables.places() and not _PERSON_AFTER.match(run.after(20)):
        common = is_common(run.surface) or run.surface in tables.first_names()
        return "LOCATION", 0.5 if common else 0.75
    words = run.words
    if len(words) > 1 and (
        words[-1] in lexicon.PLACE_HEADS or words[0] in lexicon.PLACE_HEADS
    ):
        return "LOCATION", 0.65 if run.unusual else 0.5
    return None


def _introduced(run: Run) -> Verdict:
    if _NAME_CUE.search(run.before(24)) and (
        run.unusual or run.words[0] in tables.first_names()
    ):
        return "PERSON", 0.8
    return None


def _acting(run: Run) -> Verdict:
    if run.unusual and len(run.words) < 4 and _PERSON_AFTER.match(run.after(24)):
        return "PERSON", 0.75
    return None


def _placed(run: Run) -> Verdict:
    if not run.unusual or run.surface.isupper():
        return None
    before = run.before(24)
    if _PLACE_CUE.search(before) and not (
        len(run.words) > 1 and run.words[-1] in tables.surnames()
    ):
        return "LOCATION", 0.6
    if len(run.words) == 1 and _MOVED_CUE.search(before):
        return "LOCATION", 0.6
    return None


def _alias(run: Run) -> Verdict:
    if len(run.words) < 3 and _ALIAS_CUE.search(run.before(24)):
        return "PERSON", 0.85
    return None


def _acronym(run: Run) -> Verdict:
    surface = run.surface
    if surface.isupper() and 1 < len(surface) < _SHOUTED:
        known = is_common(surface) or len(surface) == 2
        return "ORGANIZATION", 0.35 if known else 0.5
    return None


def _listed_given_name(run: Run) -> Verdict:
    word = run.words[0]
    if word in tables.first_names():
        common = is_common(word)
        sure = not run.tokens.opens_sentence(run.start)
        return "PERSON", (0.75 if sure else 0.7) if not common else (
            0.5 if sure else 0.4
        )
    return None


def _strange(run: Run) -> Verdict:
    return ("PERSON", 0.6) if run.unusual else None


def _several(run: Run) -> Verdict:
    """Several capitalised words within a sentence name something."""
    words = run.words
    if len(words) > 1 and not run.tokens.opens_sentence(run.start):
        telling = [w for w in words if w not in _GENERIC and w[0].isupper()]
        if len(telling) > 1 and _WORK_CUE.search(run.before(24)):
            return "ORGANIZATION", 0.5
        if words[-1] in tables.surnames() and len(telling) == len(words):
            return "PERSON", 0.5
    return None


_RULES: Sequence[Callable[[Run], Verdict]] = (
    _shouting,
    _titled,
    _company,
    _gloss,
    _institution,
    _region,
    _initials,
    _initialled,
    _street,
    _given_name,
    _known_place,
    _introduced,
    _alias,
    _acting,
    _acronym,
    _placed,
    _listed_given_name,
    _strange,
    _several,
)
