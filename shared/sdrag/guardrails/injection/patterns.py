"""
Phrases that speak to a model, found in linear time.

Trigger words alone prove nothing: "Can I ignore this warning?" is a question. So each
pattern asks for a whole order: what to do *and* to what, such as an instruction that
is to be disregarded, a role that is to be taken on, an answer that is to be changed.
Patterns read folded text (lower case, single spaces). Every repetition is possessive
or has a small bound, and gaps are counted in words, so no input makes them slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.engine.deadlines import check_time

__all__ = ["find"]

_GAP = r"(?:[\w'-]{1,30}+[ ,]{1,2}){0,4}?"
_FORGET = r"\b(?:ignore|disregard|forget|bypass|override|overlook|discard|neglect)[ ,]"
_PRIOR = (
    r"(?:previous|prior|above|earlier|preceding|foregoing|initial|original|existing"
    r"|system|safety)"
)
_ORDERS = (
    r"(?:instructions?|prompts?|directions?|directives?|commands?|guidelines?|rules"
    r"|orders|guardrails|constraints|restrictions|context|text|messages?)\b"
)
_MODEL = r"(?:ai|ais|assistants?|chat ?bots?|bots?|llms?|language models?|(?:chat)?gpt)"
_WHEN = (
    r"\bwhen(?:ever)? (?:you (?:are )?)?(?:answer|ask|respond|reply|summari[sz]|quer)"
    r"(?:e|ed|es|ing|y|ied|ying)?\b"
)
_START = r"(?:^|[.!?:>\"] )(?:please )?"
_ANSWER = r"(?:next |final |own )?(?:response|answer|reply|message|output)s?"
_SHOW = (
    r"\b(?:reveal|show|print|output|repeat|leak|disclose|send|tell me|display|forward)"
)

_PATTERNS: dict[str, tuple[str, ...]] = {
    "override": (
        rf"{_FORGET}{_GAP}{_PRIOR}[ ,]{_GAP}{_ORDERS}",
        rf"{_FORGET}(?:all |any )?(?:of )?your {_GAP}{_ORDERS}",
        rf"{_FORGET}(?:all|any) (?:of )?(?:the |these |those |other )?{_ORDERS}",
        (
            r"\b(?:ignore|disregard|forget) (?:everything|anything|all|what)"
            r" (?:(?:that|which) )?(?:(?:was|is|came|comes|you|i|we|were) )?"
            r"(?:above|before|previously|prior|said|told|have been told|were told)\b"
        ),
    ),
    "override-other": (
        (
            r"\b(?:ignorieren? sie|ignoriere|missachte|vergiss) (?:\w{1,20}+ ){0,4}?"
            r"(?:anweisung(?:en)?|befehle|regeln|vorgaben)\b"
        ),
        (
            r"\b(?:ignora|ignore|olvida|olvide) (?:todas )?(?:las|le|as) "
            r"(?:\w{1,20}+ ){0,2}?(?:instrucciones|ordenes|reglas|istruzioni)\b"
        ),
        (
            r"\b(?:ignorez|ignore|oubliez|oublie) (?:toutes )?(?:les|tes|vos) "
            r"(?:\w{1,20}+ ){0,2}?(?:instructions|consignes|directives)\b"
        ),
        r"(?:忽略|无视|忘记)[^ 。]{0,12}(?:指令|指示|说明|提示)",
    ),
    "new-task": (
        (
            r"\b(?:new|updated|real|actual|revised) (?:system )?"
            r"(?:instructions?|task|directive|objective|prompt)s? ?(?::|is to\b|are:)"
        ),
    ),
    "role": (
        r"\byou (?:are|will be|must be) (?:now an?|no longer|from now on)\b",
        r"\bfrom now on,? (?:you|answer|respond|reply|act)\b",
        rf"\bact as (?:if you (?:are|were)|an? unrestricted|an? {_MODEL})\b",
        r"\b(?:enter|enable|activate) (?:developer|dan|jailbreak|god|debug) mode\b",
        r"\bdo anything now\b|\b(?:dan|apophis) mode\b",
    ),
    "address": (
        (
            rf"\b(?:dear|attention|hey|note to|(?:message|instructions?) (?:for|to))"
            rf":? (?:the |any |all |an? )?{_MODEL}\b"
        ),
        rf"\bif you are an? {_MODEL}\b",
        rf"\bas an? {_MODEL},? you (?:must|should|will|have to)\b",
    ),
    "always": (
        rf"{_WHEN}[^.!?]{{0,120}}?\b(?:always|never|you must|instead)\b",
        rf"\b(?:always|never) [^.!?]{{0,60}}?{_WHEN}",
    ),
    "exfiltrate": (
        rf"{_SHOW} {_GAP}(?:your|the|all) {_GAP}(?:system|initial|hidden) prompt\b",
        rf"{_SHOW} {_GAP}your (?:secret |hidden |initial )?instructions\b",
        rf"{_SHOW} {_GAP}(?:the|this|our|your) (?:conversation|chat) history\b",
        rf"{_SHOW} (?:all )?(?:the )?(?:above|previous|preceding|prior) instructions\b",
        r"\brepeat your (?:prompt|instructions)\b",
    ),
    "reply": (
        (
            rf"{_START}(?:modify|enhance|augment|alter|translate|encode|encrypt|scramble"
            rf"|reverse|rearrange|embellish|adjust|convert|render) your {_ANSWER}"
        ),
        (
            rf"{_START}(?:provide|give|write|deliver|return|format) your {_ANSWER}"
            r" (?:(?:in|as) (?:base|reverse|morse|binary|hex)|backwards?)"
        ),
        rf"{_START}in your {_ANSWER},? (?:add|include|mention|suggest|promote|say)\b",
    ),
    "conceal": (
        r"\b(?:do not|don't|never) (?:tell|inform|alert|notify|warn) (?:the )?users?\b",
        (
            r"\b(?:do not|don't|never) (?:mention|reveal) (?:this|it|these)"
            r" [^.!?]{0,40}?\bto (?:the )?users?\b"
        ),
        r"\bwithout (?:telling|informing|alerting|notifying) (?:the )?users?\b",
    ),
    "markup": (
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>",
        r"\[/?inst\]|<</?sys>>|<start_of_turn>|### ?(?:system|instruction)s?:",
        r"</?(?:system|system_prompt|context|retrieved_context|instructions?)>",
        r"(?:^|[.!?>\]] )(?:system|assistant): ",
    ),
}
_COMPILED = {name: re.compile("|".join(parts)) for name, parts in _PATTERNS.items()}


def find(text: str) -> Iterator[tuple[str, int, int]]:
    """
    Yield the name, start and end of every phrase that speaks to a model.

    Args:
        text: Folded, as `normalise.views` gives it.
    """
    for name, pattern in _COMPILED.items():
        check_time()
        for match in pattern.finditer(text):
            yield name, match.start(), match.end()
