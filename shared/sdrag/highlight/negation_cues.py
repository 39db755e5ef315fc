"""
The words that turn a statement around, and the sentences that do it to a neighbour.

English, by class: negation, condition, attribution, exception. Each list names words
that, left outside a cut of the same sentence, can change whether the cut still says
what its source says. They are read as words and not parsed, so the lists lean towards
too many: a governor too many costs some precision, one too few costs the meaning.
"""

from __future__ import annotations

import re

__all__ = ["GOVERNOR", "LEADS_IN", "TAKES_BACK"]

_NEGATION = (
    r"not|never|no|none|nobody|no-one|nothing|nowhere|neither|nor|cannot|without"
    r"|hardly|scarcely|barely|rarely|seldom|\w+n['\u2019]t|false|falsely|untrue"
    r"|incorrect|incorrectly|wrong|wrongly|myths?|misconceptions?|invalid|void"
    r"|impossible|unlikely|unable|longer|contrary|anything but|far from"
    r"|(?:den|refut|disprov|disput|reject|refus|fail|lack|doubt|avoid|prevent|prohibit"
    r"|forbid|exclud|disallow|revok|ceas|bann|abolish|repeal|supersed|overturn)\w*"
)
_CONDITION = (
    r"if|unless|until|provided|providing|when|whenever|once|should|assuming|whether"
    r"|suppos\w+|depend\w*|subject to|in case|in the event|as long as|so long as"
    r"|conditional\w*|on condition|only|pending|contingent|otherwise|or else"
)
_ATTRIBUTION = (
    r"said|says?|saying|tells?|told|writes?|wrote|according|thinks?|thought|reportedly"
    r"|(?:claim|alleg|believ|argu|assert|suggest|insist|rumou?r|pretend|imagin|propos"
    r"|maintain|complain|purport|hypothe|accus|speculat|predict|warn|mistak|mislead"
    r"|stat(?=e[sd]?\b))\w*|so-called|misled|supposedly|seem\w*|appears?|appeared"
    r"|may|might|could|would|perhaps|possibly|hop(?:e[sd]?|ing)|wish\w*|ask(?:s|ed)?"
    r"|demand\w*|lie[sd]?|scams?|tr(?:y|ies|ied)|attempt\w*|in (?:his|her|their) view"
)
_EXCEPTION = (
    r"except\w*|other than|apart from|aside from|save for|excluding|instead|rather"
    r"|however|although|though|despite|notwithstanding|used to|formerly|previously"
    r"|expire[sd]?|besides|nothing but|but"
)

GOVERNOR = re.compile(
    rf"(?<![\w'\u2019-])(?:{_NEGATION}|{_CONDITION}|{_ATTRIBUTION}|{_EXCEPTION})"
    r"(?![\w\u2019])",
    re.IGNORECASE,
)
"""A word that governs the rest of its sentence."""

TAKES_BACK = re.compile(
    r"""["'\u201c\u2018(\s]*(?:
        (?:this|that|it|these|those|they|such|the\s(?:above|former|claim|offer|rule))
        (?:\s\w+){0,2}?\s(?:
            (?:is|are|was|were|has|have|had|did|does|do|holds?|applies|apply|seems?)
            (?:\s\w+){0,3}?\s(?:not|never|no|false|untrue|wrong|incorrect|mistaken
            |expired|(?:an?\s)?(?:\w+\s)?(?:myth|lie|scam|misconception|fiction|hoax)
            |only|refused|rejected|denied|withdrawn|repealed|abolished|overturned)
            |(?:\w+n['\u2019]t|cannot|never|no\slonger|expired|ended)
        )\b
        |(?:not|wrong|false|never|unless|except|provided|on\sthe\scontrary)\b
        |no[.,!;]
        )""",
    re.IGNORECASE | re.VERBOSE,
)
"""The beginning of a sentence that takes back, or limits, the sentence before it."""

LEADS_IN = re.compile(
    r"\b(?:myths?|misconceptions?|rumou?rs?|hoax|untrue|not true|suppose|imagine"
    r"|pretend|fiction\w*|hypothetical\w*|(?:following|next)[^.]{0,60}(?:not|false|wrong|never))"
    r"\b",
    re.IGNORECASE,
)
"""What makes a sentence say how the next one is meant."""
