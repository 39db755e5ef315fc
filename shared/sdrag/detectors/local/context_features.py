"""What a run of capitalised words names, read from the words around it."""

from __future__ import annotations

import re

from sdrag.detectors.local import tables
from sdrag.detectors.local.name_features import TypeGuess
from sdrag.detectors.local.runs import Run, is_common

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
_FIRM_CUE = re.compile(
    r"\b(?:work(?:s|ed|ing)? (?:for|at|with)|employed (?:by|at)|(?:year|job|career"
    r"|position|intern(?:ship)?|manager|director|engineer|consultant) at|(?:address"
    r"|office|website|CEO|founder|owner|customer|client|employee|board|shares) of"
    r"|joined|founded|hired by|employer|later became|looking to support"
    r"|according to the|company called)[ :]+$",
    re.IGNORECASE,
)
# The words that the cue ends in: looked up before the pattern is asked.
_FIRM_ENDS = tables.listed(
    "for at with by of joined founded employer became support the called"
)
_FIRM_AFTER = re.compile(
    r"(?:'s)? (?:website|offices?|headquarters|employees|shares|invested|announced"
    r"|acquired)\b"
    r"|,? (?:is|was|are) (?:a|an|the) (?:[\w()-]+ ){0,4}(?:company|agency|firm"
    r"|corporation|multinational|provider|manufacturer|brainchild|start-?up|retailer"
    r"|subsidiary|organi[sz]ation|charity|bank)\b"
)
_OTHER_BEFORE = re.compile(r"\b[A-Z][a-z]+,? and $|\b[A-Z][a-z]+, $")
_GIVEN_BEFORE = re.compile(r"\b([A-Z][a-z]+) and $")
_GIVEN_AFTER = re.compile(r" and ([A-Z][a-z]+)\b(?! [A-Z])")
_AGAINST_BEFORE = re.compile(r"[A-Z]\w+ (?:v|vs)\.? $")
_AGAINST_AFTER = re.compile(r" (?:v|vs)\.? [A-Z]")
_OTHER_AFTER = re.compile(r",? and [A-Z][a-z]")
_TRAVEL_CUE = re.compile(
    r"\b(?:moved|moving|originally|flew|fly|travel\w*|came|come|arrived|went|going|drove)"
    r" (?:here |back |over )?(?:from|to|in|at) $"
)
_SPEAKER = re.compile(r':\s?["A-Z]')
_SHOUTED_AT = re.compile(
    r"\b(?:shouted at|said to|told|asked|remember me,|gender of) $"
)
_MOVED_CUE = re.compile(r"\b(?:from|to|of)(?: the)?\s+$")
_PERSON_AFTER = re.compile(
    r"(?:'s (?:mother|father|wife|husband|son|daughter|sister|brother|lawyer))"
    r"|,? (?:who|whose|said|says|told|asked|remembered|denie[sd]|replied"
    r"|answered|wrote|thought"
    r"|noticed|explained|admitted|testified|himself|herself|aged|was born|(?:is|was) "
    r"(?:a|an|the) )|, \d{2}\b"
)


_ALIAS_ENDS = tables.listed(
    "name names nickname nicknames nick alias as dubbed himself herself him her called"
    " calls call is was the"
)
_PLACE_ENDS = tables.listed(
    "in at near into toward towards outside around via leaving visiting reached left"
    " location city of the northern southern eastern western central from to"
)
_SHOUTED = 6
_FEW = 2


def titled(run: Run) -> TypeGuess:
    """A title in front."""
    return ("PERSON", 0.95) if run.titles else None


def gloss(run: Run) -> TypeGuess:
    """The same again in another language, in brackets behind an institution."""
    if not (run.before(1) == "(" and run.after(1) == ")" and run.start):
        return None
    before = run.tokens.words[max(0, run.start - 4) : run.start]
    if before[-1] not in tables.GENERIC and before[-1] not in tables.ORGANISATION_HEADS:
        return ("TERM", 0.45) if before[-1].islower() else None
    named = any(word[0].isupper() and not is_common(word) for word in before)
    return "ORGANIZATION", 0.6 if named or len(before) > 2 else 0.45


def firm(run: Run) -> TypeGuess:
    """Words in front or behind that only firms have."""
    cued = run.previous in _FIRM_ENDS and _FIRM_CUE.search(run.before(30))
    if cued or _FIRM_AFTER.match(run.after(60)):
        return "ORGANIZATION", 0.7 if run.unusual else 0.5
    return None


def known_place(run: Run) -> TypeGuess:
    """A town or a region."""
    if run.surface in tables.places() and not _PERSON_AFTER.match(run.after(20)):
        common = is_common(run.surface) or run.surface in tables.first_names()
        return "LOCATION", 0.5 if common else 0.75
    words = run.words
    if len(words) > 1 and (
        words[-1] in tables.PLACE_HEADS or words[0] in tables.PLACE_HEADS
    ):
        return "LOCATION", 0.65 if run.unusual else 0.5
    return None


def introduced(run: Run) -> TypeGuess:
    """A word in front that introduces a person."""
    named = run.unusual or run.words[0] in tables.first_names()
    named = named and not tables.TITLES.issuperset(run.words)
    return ("PERSON", 0.8) if named and _NAME_CUE.search(run.before(24)) else None


def speaking(run: Run) -> TypeGuess:
    """A given name that opens a line of talk, or the person spoken to."""
    if (
        len(run.words) == 1
        and run.words[0] in tables.first_names()
        and (_SPEAKER.match(run.after(4)) or _SHOUTED_AT.search(run.before(24)))
    ):
        return "PERSON", 0.7
    return None


def against(run: Run) -> TypeGuess:
    """A party of a case: Calloway v. Boon."""
    before, after = run.before(24), run.after(8)
    if _AGAINST_BEFORE.search(before) or _AGAINST_AFTER.match(after):
        return "PERSON", 0.6
    return None


def paired(run: Run) -> TypeGuess:
    """A word next to another name: Bowman and White, Poppy and Sam."""
    word = run.surface
    before, after = run.before(24), run.after(24)
    joined = _GIVEN_BEFORE.search(before) or _GIVEN_AFTER.match(after)
    if joined and joined[1] in tables.first_names() and joined[1] not in tables.MONTHS:
        return "PERSON", 0.5
    if word not in tables.surnames() or word in tables.GENERIC:
        return None
    if _OTHER_BEFORE.search(run.before(24)) or _OTHER_AFTER.match(run.after(12)):
        return "PERSON", 0.5
    return None


def alias(run: Run) -> TypeGuess:
    """A word in front that introduces another name."""
    short = len(run.words) < 3 and run.previous in _ALIAS_ENDS
    return ("PERSON", 0.85) if short and _ALIAS_CUE.search(run.before(24)) else None


def acting(run: Run) -> TypeGuess:
    """Something behind that only people do."""
    if run.unusual and len(run.words) < 4 and _PERSON_AFTER.match(run.after(24)):
        return "PERSON", 0.75
    return None


def placed(run: Run) -> TypeGuess:
    """A word in front that introduces a place."""
    if not run.unusual or run.previous not in _PLACE_ENDS:
        return None
    if run.surface.isupper() and len(run.surface) < _SHOUTED:
        return None
    before = run.before(24)
    if _PLACE_CUE.search(before) and not (
        len(run.words) > 1 and run.words[-1] in tables.surnames()
    ):
        return "LOCATION", 0.6
    alone = len(run.words) == 1 and _MOVED_CUE.search(before)
    if alone or _TRAVEL_CUE.search(before):
        return "LOCATION", 0.6
    return None


def several(run: Run) -> TypeGuess:
    """Several capitalised words within a sentence name something."""
    words = run.words
    if len(words) > 1 and not run.tokens.opens_sentence(run.start):
        telling = [w for w in words if w not in tables.GENERIC and w[0].isupper()]
        if len(telling) > 1 and _WORK_CUE.search(run.before(24)):
            return "ORGANIZATION", 0.5
        if words[-1] in tables.surnames() and len(telling) == len(words):
            return "PERSON", 0.5
        headline = any(w.lower() in tables.FUNCTION_WORDS for w in telling)
        if len(telling) > _FEW and not headline:
            return "ORGANIZATION", 0.5
    return None
