"""
Constraints about all there is: blanket ones, and those that say what may be disclosed.

A blanket constraint has no content: each of its words is part of an order, or means the
document as a whole. What permits, excepts from everything or forbids to hide says what
may be disclosed, and nothing of what must not be. The rules read a constraint in plain
characters and small letters. Each knows one way to say it; those that permit look
whether a negation turns the permission around.
"""

from __future__ import annotations

import re

from sdrag.detectors.local.lexicon import listed
from sdrag.disclosure.constraint_parser.dictionary import word_set

__all__ = ["is_blanket", "is_permission", "permits", "split_exception"]


def permits(text: str) -> bool:
    """Say whether a constraint in plain characters permits, by its wording."""
    lower = text.lower().strip(" .!\"'")
    return any(rule.search(lower) for rule in _PERMISSIONS)


def _alternatives(words: str) -> str:
    return "|".join(words.split())


_HIDE = _alternatives(
    """withhold hide redact remove mask conceal suppress omit delete censor obscure
    anonymi[sz]e erase scrub blank black[ ]out cover[ ]up hold[ ]back keep[ ]back
    leave[ ]out take[ ]out strike[ ]out cut[ ]out keep[ ]secret sanitise sanitize"""
)
_HIDDEN = _alternatives(
    """withheld hidden redacted removed masked concealed suppressed omitted deleted
    censored obscured anonymi[sz]ed erased scrubbed blanked blacked[ ]out held[ ]back
    kept[ ](?:back|secret|confidential|private|out) left[ ]out taken[ ]out struck[ ]out
    cut[ ]out secret confidential private protected treated[ ]as[ ]confidential"""
)
_SHOW = _alternatives(
    """disclose reveal publish include expose provide announce give tell describe
    identify allow permit let retain preserve discuss communicate transmit send
    circulate distribute unredact unmask confirm print mention quote"""
)
_SHOW_OR_NOUN = _alternatives(
    "release share show report display supply output return answer state name pass"
)
_DETERMINER = _alternatives(
    "the all any every only this these it them everything what who how why his their"
)
_SHOWN = _alternatives(
    """disclosed revealed released shared shown published printed included reported
    displayed provided supplied announced quoted mentioned discussed given[ ]out
    made[ ]public passed[ ]on retained public visible available kept[ ]in left[ ]in
    used open unredacted circulated distributed communicated seen freely told"""
)
_NOT = r"(?:not|n't|cannot|never|no|nobody|nothing|none|neither|nor|without|unless)"
_MAY = r"(?:may|can|could|might|should|must|shall|will|to|need)"
_SO = r"(?:\w+ly |also |still |always |ever |please |then |be |ever )*"
_PERMISSIONS = tuple(
    re.compile(rule)
    for rule in (
        # It forbids to hide.
        (
            rf"^(?:please |you |we |there is |there's )*(?:do not|don't|never"
            rf"|no need to|need not|needn't|not necessary to|must not|should not"
            rf"|shall not|may not"
            rf"|cannot|can't|avoid|stop|refrain from)"
            rf"(?: \w+ly| bother to| ever| also)? (?:{_HIDE})(?:ing|e?s)?\b"
            rf"(?! (?:to|how|why|that)\b)"
        ),
        (
            rf"\b(?:nothing|none|no|not|never|n't|nobody|neither|needn't|cannot)\b"
            rf"(?: \w+){{0,4}}? (?:be|being|been|is|are|to) {_SO}(?:{_HIDDEN})\b"
        ),
        rf"\b(?:needn't|mustn't|shouldn't|not|never) be {_SO}(?:{_HIDDEN})\b",
        rf"\b(?:are|is) (?:not|never|no longer) {_SO}(?:{_HIDDEN}|sensitive)\b",
        rf"\b(?:nobody|no one|not|n't) needs? to (?:{_HIDE})\b",
        r"\bnothing (?:\w+ )?to (?:hide|redact|withhold|conceal|mask|remove)\b",
        rf"^(?:{_HIDE}) nothing\b",
        r"^(?:leave|keep) nothing (?:out|back|secret)|\bno (?:redactions?|masking)\b",
        # Only this may be shown.
        rf"^only (?!.*\b(?:{_HIDDEN})\b)(?!(?:{_HIDE})\b)",
        rf"\bonly (?:\w+ ){{0,8}}?{_MAY} {_SO}(?:{_SHOWN}|appear|leave|remain|stay)\b",
        rf"\b(?:{_SHOW}|{_SHOWN}|keep|leave)(?:s|d|ing)? only\b",
        rf"\bonly (?:{_SHOW})\b|\bsolely the\b|\bexclusively the\b",
        (
            r"\b(?:nothing|no (?:information|details?|data|content|part))"
            r" (?:but|other than|except|besides|apart from|aside from|beyond|more than"
            r"|further than|save)\b"
        ),
        (
            r"\b(?:everything|anything|all|whatever|everyone|no one|nobody)"
            r" (?:but|other than|except|besides|apart from|aside from|beyond|save)\b"
        ),
        r"(?<!\bor )(?<!\band )(?<!\bnor )\b(?:everything|anything|nothing|all) else\b",
        (
            r"\b(?:the rest|(?:everything|anything|all|nothing) else|no others?"
            r"|the remainder"
            r"|all (?:the )?others?(?: (?:information|content|data|details))?)"
            r"(?= (?:of|is|are|must|may|should|shall|can|has|have|goes|stays?|be)\b"
            r"|[.,;]|$)"
        ),
        (
            r"^(?:apart from|aside from|except(?: for)?|other than|besides|save for) .*"
            r"\b(?:nothing|everything|anything|all|no (?:information|details?|part))\b"
        ),
        r"\b(?:limit|restrict|confine)(?:ed|s)?\b.{0,60}? to\b",
        # This may be shown.
        (
            rf"^(?:please |you may |you can |always |feel free to "
            rf"|it is (?:fine|ok|okay|permitted|allowed|acceptable|permissible) to "
            rf"|freely |do |just |ok to "
            rf"|fine to )*(?:{_SHOW}|(?:{_SHOW_OR_NOUN})(?= (?:{_DETERMINER})\b))\b"
            rf"(?!.*\b{_NOT}\b)(?!.*\b(?:secret|secrecy|anonymity|privacy|privilege"
            rf"|away|confidential\w*|nameless|unsaid|{_HIDDEN})\b)"
        ),
        r"^(?:we )?(?:permit|allow|authori[sz]e)\b",
        (
            r"^(?:please )?keep (?!.*\b(?:secret|private|confidential|out|back|quiet"
            r"|silent|yourself|wraps|off|hidden|sealed|away|from|undisclosed|anonymous"
            r"|nameless|within|inside|internal|between|mum|safe|under|protected|unsaid|down|dark"
            r"|secure|redacted|masked|mouth|shut|restricted|lid|unnamed|confidence"
            r"|privileged|unpublished|in[- ]house|withheld|to ourselves)\b)"
        ),
        (
            r"^(?:please )?(?:leave|keep) .*\b(?:in|visible|intact|unredacted|readable"
            r"|as (?:it|they) (?:is|are)|unchanged|untouched|alone|public|legible)$"
        ),
        (
            rf"^(?!.*\b{_NOT}\b)(?!.*n't\b)(?!(?:whatever|anything|everything|what) )"
            rf".*\b{_MAY} (?:now |therefore )?{_SO}(?:{_SHOWN})\b"
            rf"(?! (?:secret|private|to be|in confidence|under))"
        ),
        (
            rf"^(?!.*\b{_NOT}\b).*\b(?:is|are) (?:free to|allowed|permitted|okay? to"
            rf"|fine to|public(?: knowledge)?|not secret|open to all)\b"
        ),
    )
)


_BLANKET = word_set("blanket")
_ORDERS = word_set("orders")
_ALONE = listed("no not none nothing it do one please never any")
_CLAUSE = re.compile(r"[,;:.]| and ")
_TOTAL = re.compile(
    r"\b(?:nothing|everything|anything|no part|any part|(?:any|all|none) of (?:it|this)"
    r"|whole|entire(?:ty|ly)?)\b",
    re.IGNORECASE,
)
"""What makes one clause of several speak of all there is."""
_EVENT = re.compile(
    r"\b(?:the|a|an|this|that|our|their|his|her|its|any) (?:\w+ )?(?:strikes?|cuts?"
    r"|drop|exits?|leaks?|escape|slip|block|seal|hold|break|blackout|pass|refusal|shares?"
    r"|leave|exposure|supply)\b",
    re.IGNORECASE,
)
"""What has an article is a thing and gives no order: "the strike", "a leak"."""
_EXCEPTION = re.compile(
    r",? ?[(;]? ?\b(?:except(?:ing)?(?: for| that| where| when| if| in)?|excluding"
    r"|other than|apart from|aside from|with the exception of"
    r"|save (?:for|that|where|as|the|those|when|if)|unless|barring|not including|minus"
    r"|but (?:not|keep|leave|retain|show|do not|don't|never)"
    r"|and (?:keep|retain|leave) (?!out|back)|not (?:those|that of|the ones?|the)"
    r"|if (?:it|they|he|she|there) [^,;]*(?:not|n't|no)|(?:everyone|everybody|anyone"
    r"|all|those|people) who (?:is|are) not|those [^,;]* (?:may|can|should) (?:stay"
    r"|remain))\b|, [\w' ]+ (?:excepted|excluded|exempted)\.?$",
    re.IGNORECASE,
)


def is_blanket(text: str) -> bool:
    """Say whether a constraint withholds everything; its text in plain characters."""
    return _is_blanket(text) or any(
        _TOTAL.search(clause) and _orders(clause) and _is_blanket(clause)
        for clause in _CLAUSE.split(text)
    )


def _orders(clause: str) -> bool:
    return not _ORDERS.isdisjoint(_words(clause))


def _is_blanket(text: str) -> bool:
    if _EVENT.search(text):
        return False
    words = _words(text)
    known = all(word in _BLANKET or word in _ORDERS for word in words)
    return known and not _ALONE.issuperset(words)


def is_permission(text: str) -> bool:
    """Say whether a constraint says what may be disclosed."""
    if permits(text):
        return True
    before, exception = split_exception(text)
    return bool(exception) and is_blanket(before)


def split_exception(text: str) -> tuple[str, str]:
    """Return a constraint without what it excepts, and that; empty for nothing."""
    match = _EXCEPTION.search(text)
    if match is None:
        return text, ""
    if match.start():
        return text[: match.start()], text[match.end() :].strip() or match.group()
    exception, comma, after = text.partition(",")
    return (after.strip(), exception[match.end() :]) if comma else (text, "")


def _words(text: str) -> list[str]:
    return re.findall(r"[\w':-]*\w", text.lower())
