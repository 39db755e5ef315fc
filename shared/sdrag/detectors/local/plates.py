"""
Registration plates of many countries, with and without spaces.

A form that only plates have is found wherever it stands; any other run of short groups
of capitals and figures only where a word for a plate or a vehicle comes before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.anchors import cased, cued, matches
from sdrag.detectors.local.found import Found
from sdrag.detectors.local.words import Tokens

__all__ = ["plates"]

_PROVINCE = "(?:GP|ZN|WP|EC|NC|FS|LP|MP|NW|L|MZANSI)"
_PLATE = re.compile(
    r"(?<![\w.,/:$+-])(?:"
    r"[A-Z]{2}[ -]?\d{2}[ -]?[A-Z]{3}|[A-Z]{2}[ -]?\d{3}[ -]?[A-Z]{2}"
    r"|[A-Z]{1,2}[ -]\d{2,3}[ -]?[A-Z]{3}|[A-Z]\d{1,3}[ -]?[A-Z]{3}"
    r"|[A-Z]{3}[ -]?\d{1,3}[ -]?[B-HJ-Z]|[A-Z]{3}[ -]?\d{3}[ -]?[A-Z]{2}"
    r"|[A-Z]{3} \d{2}[A-Z]|[A-Z]{3}[ -]\d[A-Z]\d{2}"
    r"|[A-Z]{2}[ -]?\d{1,2}[ -]?[A-Z]{1,3}[ -]?\d{4}"
    r"|\d{2}[ -]?BH[ -]?\d{4}[ -]?[A-Z]{1,2}"
    r"|(?:0[1-9]|[1-7]\d|8[01])(?:[ -][A-Z]{1,3}[ -]?|[A-Z]{1,3}[ -])\d{2,5}"
    r"|\d{2,3}[ -](?!AM|PM|AD|BC)[A-Z]{1,2}[ -]\d{3,6}|\d[A-Z]\d[ -]?\d{4}"
    rf"|[A-Z]{{2,3}} ?\d{{2,3}} ?(?:[A-Z]{{2,3}} ?)?{_PROVINCE}"
    r"|\d{2,3} ?[A-Z]{2,3} ?EC"
    r"|[A-Z]{2} \d\d \d{3}|[A-Z]{1,2}[ -]\d{3,5}[ -]?[A-Z]{1,2}"
    r"|[A-Z]{2,3} (?=[A-Z]{0,4}\d)[A-Z\d]{5}|[A-Z]{2,3}[ -]\d{3}[ -]\d{3}"
    r"|[A-Z\u00c4\u00d6\u00dc]{1,3}-[A-Z]{1,2}[ -]?\d{1,4}[EH]?"
    r"|[A-Z\u00c4\u00d6\u00dc]{1,3} (?!AM|AD|PM|TO|OF|IN|NO|ON|AT|OR|IS|A |I )"
    r"[A-Z]{1,2} \d{2,4}[EH]?|[A-Z\u00c4\u00d6\u00dc]{1,3} [A-Z]{1,2} \d{1,4}[EH]"
    r"|\d{2,3}[\uac00-\ud7a3] ?\d{4}|[\u4e00-\u9fff][A-Z][ \u00b7-]?[A-Z\d]{5,6}"
    r"|[\u0410-\u042f]\d{3}[\u0410-\u042f]{2} ?\d{2,3}"
    r")(?![\w-]|[.,:]\d)"
)
_WORDS = re.compile(
    r"\b(?:number ?plates?|licen[cs]e ?plates?|plates?|registration|registered|reg"
    r"|registration (?:mark|number|no)|vehicle|car|van|lorry|truck|taxi|motorbike"
    r"|motorcycle|kennzeichen|plaka(?:s\u0131)?|targa|matr[i\u00ed]cula|plaque"
    r"|immatriculation|kenteken|rekisteritunnus|registreringsnummer|placa|tablica)"
    r"(?: (?:number|no|mark|is|was|with|reads?|bearing|registered|reg|plates?)){0,3}"
    r"(?:[.:#] ?| |, )\(?[\"']?$",
    re.IGNORECASE,
)
_CUE = re.compile(
    r"(?: (?:number|no|mark|is|was|with|reads?|bearing)){0,3}[.:#]? ?[\"']?"
    r"(?P<value>(?=(?:[ -]?[A-Z\d]){5})(?=[A-Za-z -]{0,9}\d)(?=[\d -]{0,8}[A-Za-z])"
    r"[A-Z\d]{1,7}"
    r"(?:[ -][A-Z\d]{1,5}(?![a-z\d])){0,3}|(?i:[a-z]{2}\d{2} ?[a-z]{3}))"
    r"(?![\w-])"
)
_CUES = cased(
    (
        *("plate", "plates", "reg", "registration", "kennzeichen", "plaka", "targa"),
        *("placa", "tablica", "rekisteritunnus", "registreringsnummer"),
        *("matricula", "matr\u00edcula", "kenteken", "plaque", "immatriculation"),
    )
)
_LOWER = re.compile(r"(?<!\w)(?i:[a-z]{2}\d{2} ?[a-z]{3})(?!\w)")
_NEAR = re.compile(r"(?i:plates?|registration|\breg|vehicle)\b")
_BACK = 48


def plates(tokens: Tokens, places: list[int]) -> Iterator[Found]:
    """Yield plates."""
    text = tokens.text
    for match in matches(_PLATE, text, places):
        start = match.start()
        told = _WORDS.search(text, max(0, start - _BACK), start)
        yield Found(*match.span(), "CODE", 0.95 if told else 0.55, "plate")
    for match in cued(_CUE, tokens, _CUES):
        yield Found(*match.span("value"), "CODE", 0.85, "plate")
    for match in matches(_LOWER, text, places):
        start, end = match.span()
        if _NEAR.search(text, max(0, start - _BACK), end + _BACK):
            yield Found(start, end, "CODE", 0.7, "plate")
