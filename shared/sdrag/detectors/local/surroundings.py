"""What a run of capitalised words names, read from the words around it."""

from __future__ import annotations

import re

from sdrag.detectors.local import lexicon, tables
from sdrag.detectors.local.ownwords import Verdict
from sdrag.detectors.local.runs import Run, is_common

__all__ = [
    "acting",
    "alias",
    "gloss",
    "introduced",
    "known_place",
    "placed",
    "several",
    "titled",
]

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


def titled(run: Run) -> Verdict:
    return ("PERSON", 0.95) if run.titles else None


def gloss(run: Run) -> Verdict:
    """The same again in another language, in brackets behind an institution."""
    if not (run.before(1) == "(" and run.after(1) == ")" and run.start):
        return None
    before = run.tokens.words[max(0, run.start - 4) : run.start]
    if (
        before[-1] not in lexicon.GENERIC
        and before[-1] not in lexicon.ORGANISATION_HEADS
    ):
        return ("TERM", 0.45) if before[-1].islower() else None
    named = any(word[0].isupper() and not is_common(word) for word in before)
    return "ORGANIZATION", 0.6 if named or len(before) > 2 else 0.45


def known_place(run: Run) -> Verdict:
    if run.surface in tables.places() and not _PERSON_AFTER.match(run.after(20)):
        common = is_common(run.surface) or run.surface in tables.first_names()
        return "LOCATION", 0.5 if common else 0.75
    words = run.words
    if len(words) > 1 and (
        words[-1] in lexicon.PLACE_HEADS or words[0] in lexicon.PLACE_HEADS
    ):
        return "LOCATION", 0.65 if run.unusual else 0.5
    return None


def introduced(run: Run) -> Verdict:
    if _NAME_CUE.search(run.before(24)) and (
        run.unusual or run.words[0] in tables.first_names()
    ):
        return "PERSON", 0.8
    return None


def alias(run: Run) -> Verdict:
    if len(run.words) < 3 and _ALIAS_CUE.search(run.before(24)):
        return "PERSON", 0.85
    return None


def acting(run: Run) -> Verdict:
    if run.unusual and len(run.words) < 4 and _PERSON_AFTER.match(run.after(24)):
        return "PERSON", 0.75
    return None


def placed(run: Run) -> Verdict:
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


def several(run: Run) -> Verdict:
    """Several capitalised words within a sentence name something."""
    words = run.words
    if len(words) > 1 and not run.tokens.opens_sentence(run.start):
        telling = [w for w in words if w not in lexicon.GENERIC and w[0].isupper()]
        if len(telling) > 1 and _WORK_CUE.search(run.before(24)):
            return "ORGANIZATION", 0.5
        if words[-1] in tables.surnames() and len(telling) == len(words):
            return "PERSON", 0.5
    return None
