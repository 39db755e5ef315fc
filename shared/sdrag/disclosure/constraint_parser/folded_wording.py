"""A constraint's words without the order they give, and what they state."""

from __future__ import annotations

import re

__all__ = ["statement_of", "subject_of"]

_STATED = re.compile(
    r"\bthe fact that\b|^(?:that|whether)\b|\b(?:reveal|say|disclose|mention|learn|know"
    r"|known|tell|told|hint|admit|state|suggest|hide|conceal|withhold|secret|public"
    r"|find out|explain|discuss)(?:ing|s|ed)?"
    r"(?: (?:it|at|to|anyone|anybody|him|her|them|us)){0,2} (?:that|whether)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:please |you must |it is forbidden to |nothing (?:may|must|should) be said )?"
    r"(?:(?:do not|don't|never|refuse to|avoid|no) )?"
    r"(?:(?:remove|mask|reveal|withhold|keep(?: back| out| secret| quiet)?|disclose"
    r"|hide|leave out|leave unmentioned|suppress|conceal|say(?: anything)?"
    r"|explain|omit|name|speak|talk|refer to"
    r"|strike out|give out|give away|give|hold back|tell|print|mention|bring up|quote"
    r"|protect|blank out|identify|redact|describe|state|show|share|cut|delete|drop"
    r"|release|discuss|hint at|let out)(?:ing)? )?(?:about |of |the fact )?",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r",? (?:(?:must|shall|should|may|can|is to|are to"
    r"|has to|have to|ought to|needs? to)"
    r"(?: not| never| no longer| still| always)?"
    r" (?:be|stay|remain|appear|come|leave|go|become)(?: \w+){0,5}"
    r"|(?:is|are|stays?|remains?) (?:protected|sealed|secret|confidential|private"
    r"|not for|internal|out).*|stays? out|out(?: of the answers?)?|secret"
    r"|confidential)\.?$",
    re.IGNORECASE,
)
"""An order at the end. What comes after many words is content: "must not learn where
the hives stand" gives no order that could be left out."""


def subject_of(text: str) -> str:
    """Return a constraint without the order it gives; all of it, if nothing is left."""
    subject = _TAIL.sub("", _LEAD.sub("", text.strip(), count=1), count=1).strip(" .,")
    return subject or text


def statement_of(text: str) -> str:
    """Return what a constraint itself says that must not be said; empty for nothing."""
    begun = _STATED.search(text)
    return text[begun.end() :] if begun else ""
