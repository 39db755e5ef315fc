"""
Postal codes: by their form where it tells, by a word for them where it does not.

The United Kingdom, Canada, Ireland and the Netherlands mix letters with figures. What
is figures alone is found behind a word for a postal code or in front of a town.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.lexicon import cased, listed
from sdrag.detectors.local.tables import word_set
from sdrag.detectors.local.tokens import Candidate, Tokens, cued, matches

__all__ = ["postcodes"]


_STATES = (
    "(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]"
    "|P[AR]|RI|S[CD]|T[NX]|UT|V[AIT]|W[AIVY])"
)
_FORM = re.compile(
    r"(?<![\w.,/:$-])(?:"
    r"(?P<british>(?i:GIR ?0AA|[A-PR-UWYZ][A-HK-Y]?\d(?:\d|[A-HJKMNPR-Y])? ?\d"
    r"(?!st|nd|rd|th)[ABD-HJLNP-UW-Z]{2}))"
    r"|(?P<canadian>(?i:[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ -]?"
    r"\d[ABCEGHJ-NPRSTV-Z]\d))"
    r"|(?P<irish>[AC-FHKNPRTV-Y](?:\d\d|6W) [AC-FHKNPRTV-Y\d]{4})"
    r"|(?P<dutch>[1-9]\d{3} (?!AM|AD|BC|PM|UK|US|EU|TO|IN|OF|AT|ON|NO|AND)[A-Z]{2}"
    r"(?= [A-Z][a-z]))"
    r"|(?P<hyphenated>\d{2}-\d{3}(?= [A-Z])|\d{4}-\d{3}(?= [A-Z])|\d{5}-\d{3,4})"
    r"|(?P<prefixed>(?:LV|LT|SI|CH|MD|AD|FL|HR|SE|FI|DK|SK|CZ|PL|D|A|B|F|I|L)-\d{4,5}"
    r"(?= [A-Z\u00c0-\u017e][a-z\u00df-\u017e]))"
    r"|(?P<spaced>\d{3} \d{2}(?= [A-Z\u00c0-\u017e][a-z\u00df-\u017e]{2}))"
    r"|(?P<argentine>[A-HJ-NP-Z]\d{4}[A-Z]{3})"
    rf"|(?P<state>{_STATES} \d{{5}}(?:-\d{{4}})?)"
    r")(?![\w-]|[.,/:]\d)"
)
_CONFIDENCE = {
    "british": 0.8,
    "canadian": 0.9,
    "irish": 0.7,
    "dutch": 0.75,
    "prefixed": 0.85,
    "argentine": 0.6,
    "hyphenated": 0.5,
    "spaced": 0.4,
}
_CUES = cased(word_set("postcode_cues"))
_TWO = cased(listed("post postal pin"))
_VALUE = (
    r"(?P<value>\d{3,6}(?:[ -]\d{2,4})?|\d{4} ?[A-Za-z]{2}"
    r"|[A-Za-z]{1,2}\d[A-Za-z\d]? ?\d[A-Za-z]{2}|[A-Za-z]\d[A-Za-z] ?\d[A-Za-z]\d"
    r"|[A-Z]{1,3}[ -]?\d{3,5}|[A-Za-z]\d[\dWw] ?[A-Za-z\d]{4})(?![\w-])"
)
_IS = r"(?: (?:is|was|of|no|number))?[.:#]? ?"
_CUED = re.compile(rf"(?i:(?: code)?{_IS}){_VALUE}")
_CODE_CUED = re.compile(rf"(?i: code{_IS}){_VALUE}")


def postcodes(tokens: Tokens, positions: list[int]) -> Iterator[Candidate]:
    """Yield postal codes."""
    for match in matches(_FORM, tokens.text, positions):
        kind, (start, end) = match.lastgroup, match.span()
        if kind == "state":
            yield Candidate(start + 3, end, "ZIP_CODE", 0.95, "layout")
        elif kind:
            sure = _CONFIDENCE[kind] - (0.2 if match.group().islower() else 0)
            yield Candidate(start, end, "ZIP_CODE", sure, "layout")
    for match in cued(_CUED, tokens, _CUES):
        yield Candidate(*match.span("value"), "ZIP_CODE", 0.95, "cue")
    for match in cued(_CODE_CUED, tokens, _TWO):
        yield Candidate(*match.span("value"), "ZIP_CODE", 0.95, "cue")
