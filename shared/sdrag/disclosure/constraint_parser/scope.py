"""
Constraints about all there is: blanket ones, and those that say what may be disclosed.

A blanket constraint has no content: each of its words is part of an order, or stands
for the document as a whole. What permits, excepts from everything or forbids to hide
says what may be disclosed, and nothing of what must not be.
"""

from __future__ import annotations

import re

from sdrag.detectors.local.lexicon import listed
from sdrag.disclosure.constraint_parser.permission import permits

__all__ = ["is_blanket", "is_permission", "without_exception"]

_BLANKET = listed(
    """the this that these those any all every each a an some it its them they of in
    from to for with by on about out up under at as and or whatever whatsoever anything
    everything nothing whole entire entirety entirely full fully complete completely
    wholly total totally absolutely absolute strict strictly single at ever never not no
    none neither nor cannot may must shall should can could will would be is are am was
    were been being do does don don't mustn't shouldn't can't isn't aren't part parts
    portion portions piece bit bits word words line lines section sections aspect
    aspects detail details content contents text texts information info data material
    materials thing things document documents record records file files page pages
    passage passages report reports dossier paper papers memo transcript transcripts
    collection folder archive database corpus note notes anyone anybody someone
    everyone everybody whoever
    no-one one nobody outside outsider outsiders external externally third party parties
    public press media world user users reader readers firm company organisation
    organization department team building circumstances circumstance herein here person
    persons individual hereof therein contained within there below above following
    now ever until
    further notice time times purpose purposes please kindly you we i us our must treat
    treated keep kept remain remains stay stays leave leaves go goes get gets come comes
    let make made come such very least slightest anywhere any-one else's own way form
    shape manner kind sort nature altogether throughout across both whether oral written
    answer answers reply replies response responses output question questions ask asks
    asked asking asker query queries model assistant chatbot forbidden prohibited
    permitted allowed possible basis lot case"""
)
_ORDERS = listed(
    """withhold withheld withholding hide hidden redact redacted redaction remove
    removed mask masked conceal concealed suppress suppressed omit omitted delete
    deleted censor censored obscure obscured block blocked embargo embargoed seal sealed
    disclose disclosed disclosing disclosure reveal revealed revealing release released
    releasing share shared sharing show shown publish published publishing publication
    print printed quote quoted reproduce reproduced copy copied distribute distributed
    distribution circulate circulated circulation forward forwarded send sent transmit
    transmitted pass passed give given tell told say said mention mentioned state stated
    discuss discussed describe described summarise summarised summarize summarized
    repeat repeated communicate communicated divulge divulged expose exposed exposure
    leak leaked provide provided supply supplied secret secrecy confidential
    confidence confidentiality private classified restricted internal sensitive
    undisclosed privileged protected protect blackout black blacked blank blanked
    access accessed accessible seen see read view viewed known know learn become output
    privacy tlp:red tlp escape slip exit use used cite cited refuse deny denied
    unpublished hush quiet silent silence off limits cleared strike struck cut
    drop hold held back apply applies applied require required requires"""
)
_ALONE = listed("no not none nothing it do one please never any")
_CLAUSE = re.compile(r"[,;:.]| and ")
_TOTAL = re.compile(
    r"\b(?:nothing|everything|anything|no part|any part|(?:any|all|none) of (?:it|this)"
    r"|whole|entire(?:ty|ly)?)\b",
    re.IGNORECASE,
)
"""What makes one clause of several speak of all there is."""
_EXCEPTION = re.compile(
    r",? ?\b(?:except(?:ing)?(?: for| that| where| when| if| in)?|excluding|other than"
    r"|apart from|aside from|with the exception of|save (?:for|that|where|as|the)"
    r"|unless"
    r"|but (?:not|keep|leave|retain|show|do not|don't)|barring|not including"
    r"|and (?:keep|retain|leave) (?!out|back))\b",
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
    words = _words(text)
    known = all(word in _BLANKET or word in _ORDERS for word in words)
    return known and not _ALONE.issuperset(words)


def is_permission(text: str) -> bool:
    """Say whether a constraint says what may be disclosed."""
    if permits(text):
        return True
    before, exception = without_exception(text)
    return exception and is_blanket(before)


def without_exception(text: str) -> tuple[str, bool]:
    """Return a constraint without what it excepts, and whether it excepts anything."""
    found = _EXCEPTION.search(text)
    if found is None:
        return text, False
    if found.start():
        return text[: found.start()], True
    _, comma, after = text.partition(",")
    return (after.strip(), True) if comma else (text, False)


def _words(text: str) -> list[str]:
    return re.findall(r"[\w':-]*\w", text.lower())
