"""
How a constraint is worded: what it permits and excepts, its order, audience, language.

The rules are tables in `tables/wording.toml`, each with an example; `pattern` compiles
one. All functions take a constraint in plain characters.

A blanket constraint has no content: each of its words is part of an order, or means the
document as a whole. What permits, excepts from everything or forbids to hide says what
may be disclosed, and nothing of what must not be.

The tables of trades are asked about a constraint's topic. Its order is no topic, nor is
its audience, nor what only says whose names, dates or numbers it asks for: a detector
finds those, whatever trade they are of.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from sdrag.detectors.local.tables import listed
from sdrag.disclosure.constraint_parser.words import correct, table, word_set
from sdrag.text.folding import fold, fold_text

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_ALONE = listed("no not none nothing it do one please never any")
QUOTED = re.compile(r'"([^"]{2,80})"|(?<!\w)\'([^\']{2,80})\'(?!\w)')
"""What a constraint quotes is meant as it is, whatever its words."""
_CLAUSE_END = re.compile(r"[,;:.]| and ")
_PART = re.compile(r"(?:(?!,|;| and | or | nor | as well as ).)+")
_CLAUSE_START = re.compile(
    r"[;,(]|\.(?= )| (?=(?:but|though|although|whereas|while|yet) )| - "
)
_AROUND = " ,;:.()-!"
_LINK = re.compile(r"^(?:but|though|although|whereas|while|yet|and) ")
"""What joins a clause to the one before it."""
_HALF = 2


def plain_text(text: str) -> str:
    """
    Fold a text and keep its capitals, since they tell names.

    Every hyphen and quotation mark becomes the plain one, and what cannot be seen goes.
    """
    composed = unicodedata.normalize("NFKC", text)
    kept = (c if c.isalnum() else fold(c).text for c in composed)
    return " ".join("".join(kept).split())


def spell_out(text: str) -> str:
    """
    Return an order as it is meant: shorthand in full, and no slip of the pen.

    "Nothing else" behind what is to go says only that nothing else is to go.
    """
    spelt = _SHORTHAND_WORD.sub(_in_full, text)
    if is_english(text, ()):
        spelt = _WORD.sub(_correct, spelt)
    rest = pattern("rest", "^(.*?)[,;.:-]? ?(?:{})[ .!]*$").match(spelt)
    if rest and pattern("hurried", "(?:{})").search(rest[1]):
        return rest[1].rstrip()
    return spelt


def stands_for(text: str) -> str:
    """
    Return what the subject of an order to take it out stands for; or nothing.

    "IP away" is about IP addresses, and "people" alone are their names.
    """
    if not pattern("hurried", "(?:{})").search(text):
        return ""
    bare = _DETERMINER.sub("", subject_of(text).lower().strip(" .:!"))
    return _subjects().get(bare, "")


_SHORTHAND_WORD = re.compile(
    rf"{QUOTED.pattern}|(?<![\w\"'/&])[\w.'/&+-]*[\w&+](?![\w\"&])"
)
_WORD = re.compile(
    rf"{QUOTED.pattern}|(?<![\w\"'/&@.-])[^\W\d_]{{4,}}(?![\w\"&@]|[.'-]\w)"
)
_NAMED = re.compile(r" [A-Z]")
_MARKS = frozenset("\"'")
_DETERMINER = re.compile(r"^(?:(?:all|any|every|each|the|of) )+")


def _in_full(match: re.Match[str]) -> str:
    """Spell a word out that is no name, as Reg is in `Reg Cole`, and not quoted."""
    said = match.group()
    is_name = said[:1].isupper() and not said.isupper()
    opens = match.start() == 0 and not _NAMED.match(match.string, match.end())
    if said[:1] in _MARKS or (is_name and not opens):
        return said
    return _shorthand().get(said.lower(), said)


def _correct(match: re.Match[str]) -> str:
    word = match.group()
    quoted = word[:1] in _MARKS
    return word if quoted else correct(word, opens=match.start() == 0)


@lru_cache(maxsize=1)
def _shorthand() -> dict[str, str]:
    rows = table("words")["shorthand"].items()
    return {short: full for full, words in rows for short in words.split()}


@lru_cache(maxsize=1)
def _subjects() -> dict[str, str]:
    rows = table("words")["subjects"].items()
    return {short.strip(): full for full, all_ in rows for short in all_.split(";")}


@lru_cache(maxsize=64)
def pattern(name: str, frame: str = "{}") -> re.Pattern[str]:
    """Compile the rows of a table of `tables/wording.toml`, any of which may match."""
    joined = "|".join(rule.pattern for rule, _ in rows(name))
    return re.compile(frame.replace("{}", f"(?:{joined})"), re.IGNORECASE)


@lru_cache(maxsize=64)
def rows(name: str) -> tuple[tuple[re.Pattern[str], dict[str, Any]], ...]:
    """Return the rows of a table, each with its rule compiled."""
    return tuple(
        (re.compile(_fill("".join(row["rule"])), re.IGNORECASE), row)
        for row in table("wording")[name]
    )


def _fill(text: str) -> str:
    return _PLACEHOLDER.sub(lambda match: _part(match[1]), text)


@lru_cache(maxsize=64)
def _part(name: str) -> str:
    tables = table("wording")
    if name in tables["parts"]:
        return _fill(tables["parts"][name])
    if name == "audience":
        entries = sorted(word_set(name))
    else:
        entries = [" ".join(e.split()) for e in tables["lists"][name].split(",")]
    return f"(?:{'|'.join(map(re.escape, entries))})"


def is_permission(text: str) -> bool:
    """Say whether a constraint says what may be disclosed."""
    asked, _ = _split_permitted(text)
    if pattern("permission").search(asked.lower().strip(" .!\"'")):
        return True
    before, exception = split_exception(text)
    return bool(exception) and is_blanket(before)


def is_blanket(text: str) -> bool:
    """Say whether a constraint withholds everything."""
    return _is_blanket(text) or any(
        pattern("total").search(clause)
        and not word_set("orders").isdisjoint(_words(clause))
        and _is_blanket(clause)
        for clause in _CLAUSE_END.split(text)
    )


def _is_blanket(text: str) -> bool:
    words = set(_words(QUOTED.sub("quotation", text)))
    known = words <= word_set("blanket") | word_set("orders")
    return known and not words <= _ALONE and not pattern("event").search(text)


def _words(text: str) -> list[str]:
    return re.findall(r"[\w':-]*\w", text.lower())


def split_exception(text: str) -> tuple[str, str]:
    """Return a constraint without what it excepts, and that; empty for nothing."""
    asked, permitted = _split_permitted(text)
    kept, excepted = _split_excepted(asked)
    return kept, " ".join(filter(None, (excepted, permitted)))


def _split_permitted(text: str) -> tuple[str, str]:
    """Part a constraint from those of its clauses that only say what may stay."""
    said = QUOTED.sub(lambda match: "q" * len(match.group()), text)
    borders = [0, *(m.start() for m in _CLAUSE_START.finditer(said)), len(text)]
    clauses = [text[start:end] for start, end in pairwise(borders)]
    stays = [_is_permitted(said[start:end]) for start, end in pairwise(borders)]
    asked = "".join(c for c, stay in zip(clauses, stays, strict=True) if not stay)
    asked = asked.strip(_AROUND)
    if not any(stays) or not any(map(str.isalpha, asked)):
        return text, ""
    permitted = "".join(c for c, stay in zip(clauses, stays, strict=True) if stay)
    return _LINK.sub("", asked), permitted.strip(_AROUND)


def _is_permitted(clause: str) -> bool:
    """Say whether a clause, with what parts it from the one before, may only stay."""
    said = clause.strip(_AROUND)
    apart = clause[:1] != "," or _LINK.match(said) is not None
    return any(
        (apart or not row.get("apart")) and rule.search(said)
        for rule, row in rows("stays")
    )


def _split_excepted(text: str) -> tuple[str, str]:
    after_it = pattern("excepted").pattern
    match = pattern("exception", rf",? ?[(;]? ?\b{{}}\b|{after_it}").search(text)
    if match is None:
        return text, ""
    if match.start():
        return text[: match.start()], text[match.end() :].strip() or match.group()
    exception, comma, after = text.partition(",")
    return (after.strip(), exception[match.end() :]) if comma else (text, "")


def subject_of(text: str) -> str:
    """Return a constraint without the order it gives; all of it, if nothing is left."""
    whole = text.strip()
    rest = pattern("opening", "^{}").sub("", whole, count=1)
    subject = pattern("closing", r",? {}\.?$").sub("", rest, count=1)
    if subject == whole:
        clipped = pattern("clipped", r"[,:]? {}$").sub("", whole, count=1)
        subject = whole if is_clause(clipped) else clipped
    return subject.strip(" .,") or text


def has_order(text: str) -> bool:
    """Say whether a constraint is more than its subject."""
    return len(subject_of(text)) < len(text.strip(" .,"))


def statement_of(text: str) -> str:
    """Return what a constraint itself says that must not be said; empty for nothing."""
    begun = pattern("statement").search(text)
    return text[begun.end() :] if begun else ""


def topic_of(text: str) -> str:
    """Return a constraint, folded, with all blanked out that is not its topic."""
    subject = subject_of(text)
    start = text.find(subject)
    folded = "".join(map(_fold_letter, subject))
    return " " * start + pattern("typed").sub(_blank, folded)


def _fold_letter(character: str) -> str:
    folded = fold_text(character) if character.isalpha() else character
    return folded if len(folded) == 1 else character


def _blank(match: re.Match[str]) -> str:
    """Return a comma and blanks, so that offsets stay."""
    return ",".ljust(len(match.group()))


def blank_audience(text: str) -> str:
    """
    Return a constraint with its audience blanked out, and its occasion and grounds.

    To whom, when and by which law something must not be said is no topic.
    """
    for rule, _ in rows("audience"):
        text = rule.sub(_blank, text)
    return text


def is_clause(topic: str) -> bool:
    """Say whether a topic tells something that happened."""
    return pattern("topic_clause").search(topic) is not None


def asks_for_names(text: str) -> bool:
    """Say whether somebody must not be named, whoever that is."""
    return pattern("naming").search(fold_text(text)) is not None


def parts_of(text: str, start: int = 0) -> list[re.Match[str]]:
    """Return what a constraint lists."""
    return list(_PART.finditer(text, start))


def refusal(text: str, *, typed: bool) -> str:
    """Return why no table can enforce a wording; empty if one may."""
    for rule, row in rows("refused"):
        if rule.search(text) and not (typed and row.get("typed")):
            return str(row["reason"])
    return ""


def is_english(text: str, unknown: Sequence[str]) -> bool:
    """
    Say whether a constraint is in English, as far as it can be told.

    Other scripts tell, little words that English does not use, and words that are in no
    dictionary with no little word of English among them.

    Args:
        text: In plain characters.
        unknown: Its words that are in no dictionary.
    """
    letters = [c for c in text if c.isalpha()]
    others = [c for c in letters if not unicodedata.name(c, "").startswith("LATIN")]
    words = re.findall(r"[^\W\d_]+", fold_text(text))
    foreign = sum(word in _foreign_words() for word in words)
    english = sum(word in word_set("english") for word in words)
    return (
        len(others) * _HALF <= len(letters)
        and foreign <= english
        and (english > 0 or len(unknown) * _HALF <= len(words))
    )


@lru_cache(maxsize=1)
def _foreign_words() -> frozenset[str]:
    """Return the little words of other languages."""
    rows = table("words")["language"]
    words = (word for row in rows for word in row["words"].split())
    return frozenset(words) - word_set("shared")
