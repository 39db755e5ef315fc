"""
Types of Table 4.1 that the words around a find give away.

A detector says that something is a date or a code. That it is somebody's birth date, or
the number of a patient, is said by the words before it. A weight is only ever raised
here. Descriptions that single somebody out, such as "the last woman to tend a
lighthouse", are found by the words that begin them; no detector looks for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sdrag.vocabulary import Mention, Span

__all__ = ["descriptions", "type_in_context"]

_BEFORE = 40
_BIRTH = re.compile(
    r"\b(?:born|birth|birth ?date|birthday|d\.?o\.?b|geb(?:oren)?)\b[^.;!?\d]{0,25}$",
    re.IGNORECASE,
)
_PERSONS = """patient|member|insured|policy ?holder|subscriber|beneficiary|claimant|mrn
|nhs|record|chart|identified as|health card|student|pupil|employee|personnel|staff
|passport|licen[cs]e|social security|tenant|resident|client|customer|player|inmate
|volunteer|donor""".replace("\n", "")
_NUMBER_OF = re.compile(
    rf"\b(?:{_PERSONS})(?:'s)?\W{{0,3}}(?:(?:no|nr|number|id|code|file|card)\b)?\W{{0,3}}$",
    re.IGNORECASE,
)
_RAISED: Mapping[str, tuple[str, re.Pattern[str]]] = {
    "EVENT_DATE": ("BIRTHDATE", _BIRTH),
    "NON_PERSONAL_ID": ("PATIENT_ID", _NUMBER_OF),
}
"""What a type becomes, and after which words."""
_PART = r"(?!and (?:had|has|have|was|were|is|that|stands|will)\b)[^\s,.;:!?()\"]+"
_CLAUSE = rf"(?:{_PART}[ \n]+){{2,13}}{_PART}"
_KINDS = "only|sole|oldest|youngest|tallest|longest-serving|former|one-(?:eyed|armed)"
_SINGLED_OUT = re.compile(
    rf"\b(?:the|a|an|his|her|our|my) (?:(?:{_KINDS}) {_CLAUSE}"
    rf"|(?:first|last) (?:[^\s,.;:!?]+ ){{0,3}}(?:to|who|that) {_CLAUSE})",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    rf"\b(?P<of>[a-z][a-z'-]{{1,40}}),? (?P<said>who (?!should|may|must){_CLAUSE})"
)
_DOES = """works as|keeps|runs|makes|plays|drives|sells|restores|teaches|coaches|directs
|leads|breeds|collects|builds|repairs|paints|races|steers|serves|sings|owns|grows|carves
|trains|conducts|once|used to""".replace("\n", "")
_SAID_OF = re.compile(
    r"\b(?:he|she|patient|applicant|claimant|member|tenant|pupil|player|insured) "
    rf"(?:also |still )?(?P<said>(?:{_DOES}) {_CLAUSE})",
    re.IGNORECASE,
)
_NOBODY = frozenset(
    ("people", "those", "women", "men", "children", "anyone", "everyone")
)
_SURE = 0.5


def type_in_context(
    text: str, span: Span, type_: str, weights: Mapping[str, float]
) -> str:
    """
    Return a type, or the one of more weight that the words before the find say.

    Args:
        text: In which it is.
        span: Of the find.
        type_: Of the schema.
        weights: Of the schema; a type of less weight, or of none, is not taken.
    """
    raised, before = _RAISED.get(type_, ("", None))
    if before is None or weights.get(raised, 0.0) < weights.get(type_, 0.0):
        return type_
    words = text[max(0, span.start - _BEFORE) : span.start]
    return raised if before.search(words) else type_


def descriptions(text: str) -> Iterator[Mention]:
    """Yield what a text says that singles somebody out, as `UNIQUE_FACT`."""
    for match in _SINGLED_OUT.finditer(text):
        yield Mention(Span(*match.span()), "UNIQUE_FACT", _SURE, "description")
    for match in _SAID_OF.finditer(text):
        yield Mention(Span(*match.span("said")), "UNIQUE_FACT", _SURE, "description")
    for match in _RELATIVE.finditer(text):
        noun = match["of"]
        if not noun.endswith("s") and noun not in _NOBODY:
            yield Mention(
                Span(*match.span("said")), "UNIQUE_FACT", _SURE, "description"
            )
