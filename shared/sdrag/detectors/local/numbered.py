"""
Numbers that the word before them makes somebody's, and registration plates.

A form that only plates have is found everywhere. Any other run of short groups of
capitals and figures is a plate only behind a word for a plate or a vehicle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.lexicon import ACRONYMS, UNITS, cased
from sdrag.detectors.local.tables import word_set
from sdrag.detectors.local.tokens import Candidate, Tokens, cued, matches

__all__ = ["numbered", "plates"]


_CUES = cased(word_set("number_cues"))
_CUE = re.compile(
    r"(?: (?:number|no|code|was|is|of|are))?[.:#,]? ?#?(?=[A-Z]{0,3}[-/]?\d)"
)
_VALUE = re.compile(r"[\w][\w./:-]{0,40}")
_DIGITED = re.compile(r"(?<![\w./:-])[A-Z]{0,4}\d[\w./:-]{3,40}")
_TELLING = 4
_JOIN = re.compile(r"(?:, and | and |, |/| or )(?=\d)")
_PLATE = re.compile(
    r"(?<![\w.,-])(?:[A-Z]{1,3}[ -]\d{3,6}(?:[ -][A-Z]{1,3})?"
    r"|\d{1,4}[A-Z]{1,3}(?:[ -]\d{2,4})?(?:[ -][A-Z]{1,3})?"
    r"|[A-Z]{1,3}\d{1,4}[ -][A-Z\d]{2,4}|\d{3,4}[ -][A-Z]{1,3})(?![\w-])"
)
_LONGEST = 3
_NO_PLATE = ACRONYMS | UNITS.keys()
"""BP 128 and 512 MB are readings."""
_LEGAL = re.compile(
    r"\b(?:Protocol|Laws?|Articles?|Acts?|Rules?|Decree|Regulation|Section|Directive|Recital"
    r"|Paragraph|Order|Resolution) (?:\()?$"
)
_ZIP_CUE = re.compile(r"(?i:zip|postcode)|(?<=ostal )code")


def numbered(tokens: Tokens) -> Iterator[Candidate]:
    """Yield numbers identified by the word before them, and their look-alikes."""
    text = tokens.text
    cued = list(_cued(tokens))
    yield from cued
    yield from _plates(tokens)
    shapes = {
        _shape(text[candidate.start : candidate.end])
        for candidate in cued
        if candidate.type == "CODE"
    }
    shapes = {shape for shape in shapes if shape.count("9") > _TELLING}
    if shapes:
        for match in _DIGITED.finditer(text):
            value = match.group().rstrip(".:-/")
            if _shape(value) in shapes:
                end = match.start() + len(value)
                yield Candidate(match.start(), end, "CODE", 0.9, "shape")


def _shape(value: str) -> str:
    return re.sub(r"\d", "9", value)


def _cued(tokens: Tokens) -> Iterator[Candidate]:
    text = tokens.text
    for index in tokens.indices(_CUES):
        start = tokens.starts[index]
        cue = _CUE.match(text, tokens.ends[index])
        if cue is None or _LEGAL.search(text, max(0, start - 16), start):
            continue
        type_ = "ZIP_CODE" if _ZIP_CUE.match(text, start) else "CODE"
        position: int | None = cue.end()
        while position is not None:
            value = _VALUE.match(text, position)
            if value is None:
                break
            end = value.start() + len(value.group().rstrip(".:-/"))
            yield Candidate(value.start(), end, type_, 0.9, "cue")
            join = _JOIN.match(text, end)
            position = join.end() if join else None


def _plates(tokens: Tokens) -> Iterator[Candidate]:
    """Yield what is shaped like a registration plate."""
    starts, ends = tokens.starts, tokens.ends
    for index in tokens.numbers:
        start = starts[index]
        if index and start - ends[index - 1] < 2:
            before = tokens.words[index - 1]
            if len(before) <= _LONGEST and before.isupper():
                start = starts[index - 1]
        match = _PLATE.match(tokens.text, start)
        if match and _NO_PLATE.isdisjoint(re.split("[ -]", match.group())):
            yield Candidate(*match.span(), "CODE", 0.7, "plate")


_PROVINCE = "(?:GP|ZN|WP|EC|NC|FS|LP|MP|NW|L|MZANSI)"
_REGISTRATION = re.compile(
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
_PLATE_BEFORE = re.compile(
    r"\b(?:number ?plates?|licen[cs]e ?plates?|plates?|registration|registered|reg"
    r"|registration (?:mark|number|no)|vehicle|car|van|lorry|truck|taxi|motorbike"
    r"|motorcycle|kennzeichen|plaka(?:s\u0131)?|targa|matr[i\u00ed]cula|plaque"
    r"|immatriculation|kenteken|rekisteritunnus|registreringsnummer|placa|tablica)"
    r"(?: (?:number|no|mark|is|was|with|reads?|bearing|registered|reg|plates?)){0,3}"
    r"(?:[.:#] ?| |, )\(?[\"']?$",
    re.IGNORECASE,
)
_PLATE_CUE = re.compile(
    r"(?: (?:number|no|mark|is|was|with|reads?|bearing)){0,3}[.:#]? ?[\"']?"
    r"(?P<value>(?=(?:[ -]?[A-Z\d]){5})(?=[A-Za-z -]{0,9}\d)(?=[\d -]{0,8}[A-Za-z])"
    r"[A-Z\d]{1,7}"
    r"(?:[ -][A-Z\d]{1,5}(?![a-z\d])){0,3}|(?i:[a-z]{2}\d{2} ?[a-z]{3}))"
    r"(?![\w-])"
)
_PLATE_CUES = cased(word_set("plate_cues"))
_LOWER_PLATE = re.compile(r"(?<!\w)(?i:[a-z]{2}\d{2} ?[a-z]{3})(?!\w)")
_NEAR_PLATE = re.compile(r"(?i:plates?|registration|\breg|vehicle)\b")
_BACK = 48


def plates(tokens: Tokens, positions: list[int]) -> Iterator[Candidate]:
    """Yield plates."""
    text = tokens.text
    for match in matches(_REGISTRATION, text, positions):
        start = match.start()
        cue = _PLATE_BEFORE.search(text, max(0, start - _BACK), start)
        yield Candidate(*match.span(), "CODE", 0.95 if cue else 0.55, "plate")
    for match in cued(_PLATE_CUE, tokens, _PLATE_CUES):
        yield Candidate(*match.span("value"), "CODE", 0.85, "plate")
    for match in matches(_LOWER_PLATE, text, positions):
        start, end = match.span()
        if _NEAR_PLATE.search(text, max(0, start - _BACK), end + _BACK):
            yield Candidate(start, end, "CODE", 0.7, "plate")
