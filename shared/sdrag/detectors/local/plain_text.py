"""
A text as the patterns read it, and the way back to the original offsets.

What nobody sees is left out: zero-width characters, soft hyphens, tags, fillers,
variation selectors, controls. A letter and its combining
mark become one character. Compatibility forms (full-width digits, non-breaking spaces,
typographic hyphens) are written plainly. A sentence all in lower case gets capitals
where names may be: names are found by their capitals. Linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from sdrag.detectors.local import tables
from sdrag.detectors.local.fields import is_label
from sdrag.detectors.local.tables import TITLES, is_common
from sdrag.text.folding import PLAIN_MARKS
from sdrag.text.mapped import MappedText, Pieces
from sdrag.text.sentences import is_structured, line_after, line_before, sentences

SMALL_CAPITALS = {
    unicodedata.lookup(f"LATIN LETTER SMALL CAPITAL {letter}"): letter.lower()
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWYZ"
}
"""The letter of each small capital; the first of a word is read as a capital."""
_ORDINARY = re.compile(r"[\t\n\r -~]*+")
_OTHERS = re.compile(r"[\x00-\x7f]?[^\t\n\r -~]+")
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164"
    "\ufe00-\ufe0f\uffa0\ufffc\U000e0100-\U000e01ef]"
)
"""Letters, marks and signs that are shown as nothing, or as a blank."""


def plain_text(text: str) -> MappedText:
    """Return the plain view of a text."""
    if _ORDINARY.fullmatch(text):
        return MappedText.of(text.replace("`", "'"))
    pieces, done = Pieces(), 0
    for match in _OTHERS.finditer(text):
        pieces.add(text[done : match.start()].replace("`", "'"), done)
        done = match.start()
        while done < match.end():
            end = done + 1
            while end < match.end() and unicodedata.combining(text[end]):
                end += 1
            plain = _plain_character(text[done:end])
            if text[done] in SMALL_CAPITALS and not text[done - 1 : done].isalpha():
                plain = plain.upper()
            pieces.add(plain, done, end - done)
            done = end
    pieces.add(text[done:].replace("`", "'"), done)
    return MappedText(*pieces.fields(), None)


@lru_cache(maxsize=4096)
def _plain_character(written: str) -> str:
    """Return a character and its marks as one, or nothing where it is invisible."""
    if _ORDINARY.fullmatch(written):
        return written.replace("`", "'")
    character = written[0]
    if character.isspace():
        return "\n" if character in "\n\u2028\u2029\x85" else " "
    if unicodedata.category(character) in {"Cc", "Cf"} or _UNSEEN.match(character):
        return ""
    plain = SMALL_CAPITALS.get(character) or character.translate(PLAIN_MARKS)
    folded = unicodedata.normalize("NFKC", plain)
    plain = folded if len(folded) == 1 else plain
    return unicodedata.normalize("NFC", plain + written[1:])[0]


_LOWER_WORD = re.compile(
    r"(?<![\w@./:-])(?<!\bthe )(?<!\ba )(?<!\ban )(?<!\bd')[^\W\d_]{3,}"
    r"(?![\w@/:']|\.\w)"
)
_I = re.compile(r"\bI\b")
_FREQUENT = 3000


def capitalise(text: str) -> str:
    """Return the text with capitals where names may be, in sentences without any."""
    pieces: list[str] = []
    done = 0
    for sentence in sentences(text):
        words = sentence.of(text)
        if has_no_capitals(words):
            pieces += [
                text[done : sentence.start],
                _LOWER_WORD.sub(_capitalise_word, words),
            ]
            done = sentence.end
    return "".join([*pieces, text[done:]])


def has_no_capitals(sentence: str) -> bool:
    """Return True if all letters are small, but for the word I."""
    return _I.sub("i", sentence).islower()


def _capitalise_word(match: re.Match[str]) -> str:
    word = match.group()
    capital = word[0].upper()
    if len(capital) != 1 or not _may_name(word):
        return word
    return capital + word[1:]


def _may_name(word: str) -> bool:
    if not is_common(word):
        return True
    given = word.capitalize() in tables.first_names()
    return given and tables.common_words().get(word, 0) > _FREQUENT


_LINE_END = re.compile(
    r"(?P<hyphen>(?<=[^\W\d_])[-\u00ad\u2010])?[ \t]{0,9}\r?\n[ \t>]{0,99}"
    r"(?=[\w@\"'(+\u201c\u2018])"
)
_SETTING = re.compile(r"(?:export |set )?[A-Za-z_][\w.-]{0,47}=\S")
_LOWER_CASE = re.compile(r"(?<!\w)(?!and\b|for\b|the\b|von\b|van\b)[a-z]{3}")
_GOES_ON = re.compile(r"(?:[\w,;&'\")]|(?<![\w.])[A-Z]\.)$")


def unwrap(text: str) -> MappedText | None:
    """Return a text with wrapped lines of prose as one, or `None` without any."""
    pieces, done = Pieces(), 0
    for match in _LINE_END.finditer(text):
        start, end = match.span()
        before, after = line_before(text, start), line_after(text, end)
        if _SETTING.match(after):
            continue
        if match["hyphen"] and text[end].isalpha():
            joined = "-" if text[end].isupper() and match["hyphen"] != "\u00ad" else ""
        elif _breaks_word(before, after):
            joined = ""
        elif _breaks_value(before, after) or _is_wrapped(before, after):
            joined = " "
        else:
            continue
        pieces.add(text[done:start], done).add(joined, start, end - start)
        done = end
    if not done:
        return None
    return MappedText(*pieces.add(text[done:], done).fields(), None)


def _breaks_word(before: str, after: str) -> bool:
    """Return True at the at sign of an e-mail address or a hyphen between figures."""
    last, first = before.rsplit(" ", maxsplit=1)[-1], after.split(" ", maxsplit=1)[0]
    if last.endswith("-") and last[-2:-1].isdigit() and first[:1].isdigit():
        return True
    return (last.endswith("@") and last[0].isalnum()) or (
        first.startswith("@") and "." in first and last[-1:].isalnum()
    )


_MONTH = "(?:" + "|".join(sorted(tables.MONTHS, key=len, reverse=True)) + ")"
_GROUPS = re.compile(
    r"[^\W\d_].*?(?<![\w.,-])(?:\+\d{1,3}|\(?0\d{1,4}\)?|\(\d{2,4}\)"
    r"|[+(]{0,2}[A-Z]{0,2}\d[A-Z\d)]*(?:[ -][A-Z\d]{2,6}){1,8})$"
)
_GROUP = re.compile(r"(?=[A-Z]{0,4}\d)[A-Z\d]{2,6}(?![\w.,:%)])")
_NUMBER_LABEL = re.compile(r"\b(?i:numbers?|no|nr)[.:]{0,2}$")
_SOME_NUMBER = re.compile(r"[A-Z]{0,3}\d")
_TO_YEAR = re.compile(rf"(?:\b\d{{1,2}}(?:st|nd|rd|th)? )?\b{_MONTH}\.?,?$")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d(?![\w/:%-])")
_TO_MONTH = re.compile(r"(?<![\w.,-])(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?$")
_MONTH_AND_YEAR = re.compile(rf"{_MONTH}(?:,? (?:1[5-9]|20)\d\d\b|,?$)")


def _breaks_value(before: str, after: str) -> bool:
    """Return True if a line breaks a number, a date, or a label from its value."""
    before = before.rstrip(" \t")
    if after[:1].isdigit() or after[:1].isupper() or after[:1] == "(":
        figures = _SOME_NUMBER.match(after)
        if before.endswith(":") and ":" not in after and is_label(before[:-1]):
            return True
        if figures and (
            (_GROUPS.search(before[-64:]) and _GROUP.match(after))
            or _NUMBER_LABEL.search(before)
            or (_TO_YEAR.search(before[-24:]) and _YEAR.match(after))
        ):
            return True
        return bool(_TO_MONTH.search(before[-5:]) and _MONTH_AND_YEAR.match(after))
    return False


def _is_wrapped(before: str, after: str) -> bool:
    """Return True if a line break wraps prose; after a title it always does."""
    before = before.rstrip(" \t")
    if before.rpartition(" ")[2].rstrip(".") in TITLES:
        return True
    if not _GOES_ON.search(before) or is_structured(before) or is_structured(after):
        return False
    prose = _LOWER_CASE.findall(before)
    if after[:1].isupper() and before[-1] != ".":
        return len(prose) > 1
    return bool(prose or _LOWER_CASE.search(after))
