"""
Disguises undone that need no code: letters apart, words split, `[at]`, look-alikes.

People write them to be read by people, and so does whoever wants a model to read what a
filter does not: `M e y e r s`, `ann.lee [at] corp.com`, a name split over two lines or
by markup, letters of other scripts among Latin ones, digits and letters by their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from ahocorasick_rs import AhoCorasick

from sdrag.text.decoding.lookalikes import LOOKALIKES
from sdrag.text.decoding.mapped import MappedText, Piece
from sdrag.text.decoding.passes import Pass, Sign, rewrite

__all__ = ["parted", "respelt"]

_GAP = r"(?:[^\w=&?]|_){1,4}"
"""What may be between letters; the parts of a query in a URL are no letters apart."""
_SINGLE = r"[^\W_](?![^\W_])"
_BLOCKS = (0x1F150, 0x1F170, 0x1F1E6)
"""White letters in circles and in squares, and those that flags are made of."""
_BRAILLE = (
    "\u2801\u2803\u2809\u2819\u2811\u280b\u281b\u2813\u280a\u281a\u2805\u2807\u280d"
)
_BRAILLE += (
    "\u281d\u2815\u280f\u281f\u2817\u280e\u281e\u2825\u2827\u283a\u282d\u283d\u2835"
)
_LETTERS = re.compile(
    rf"(?<![^\W_]){_SINGLE}(?:{_GAP}{_SINGLE}){{3,}}+"
    rf"|(?<![^\W_])[A-Z](?:{_GAP}[a-z](?![^\W_])){{2}}"
)
_SPLIT = re.compile(
    r"(?<=[^\W_])[-\u00ad\u2010][ \t]{0,4}\r?\n[\s>|*#/]{0,8}(?=[^\W_])"
    r"|(?<=[^\W_])\\\r?\n[ \t]{0,8}(?=[^\W_])"
)
_JOINED = re.compile(
    r"(?<=[^\W_])([\"'])\s{0,8}(?:\+|\.|&|\|\||\\)?\s{0,8}\1(?=[^\W_])"
)
_INSIDE = re.compile(
    r"(?<=[^\W\d_])(?:<!--[^<>]{0,200}-->|</?[A-Za-z][^<>]{0,100}>|\*{1,3}|__|~~|`"
    r"|\{\}|\[\]|\(\)){1,4}+(?=[^\W\d_])"
)
_TAG = re.compile(r"<!--[^<>]{0,200}-->|</?[A-Za-z][^<>]{0,100}>")
_AT = re.compile(
    r"[ \t]{0,3}(?:[\[({<]\s{0,2}(?:at|AT|At|@|\u00e4t|arroba)\s{0,2}[\])}>])[ \t]{0,3}"
    r"|(?<=\w)[ \t]{1,3}@[ \t]{0,3}(?=\w)|(?<=\w)@[ \t]{1,3}(?=\w)"
)
_DOT = re.compile(
    r"[ \t]{0,3}[\[({<]\s{0,2}(?:dot|DOT|Dot|\.|punkt|point|punto)\s{0,2}[\])}>]"
    r"[ \t]{0,3}"
)
_BRACKETED = re.compile(r"[\[({]([:/]{1,3})[\])}]")
_SCHEME = re.compile(
    r"\b(?i:h(?:tt|xx)p(s?))\s{0,2}:\s{0,2}/\s{0,2}/\s{0,2}(?=\w)|\bhxxp(s?)(?=:)"
)
_TOP = r"(?:com|org|net|info|biz|xyz|app|dev|io|example)"
_HOST = re.compile(
    rf"(?<=\w)(?:[ ](?i:dot)[ ]|[ ]{{1,2}}\.[ ]{{0,2}}|\.[ ]{{1,2}})(?={_TOP}\b)"
)
_SPOKEN = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}?(?P<at>[ _-](?i:at)[ _-])[\w-]{1,63}+"
    r"(?:(?:[ _-](?i:dot)[ _-]|\.)[\w-]{1,63}+){1,4}"
)
_SPOKEN_DOT = re.compile(r"[ _-](?i:dot)[ _-]")
_SPOKEN_LOCAL = re.compile(
    r"(?<![\w.+-])[\w+-]{1,64}+(?:[ _-](?i:dot)[ _-][\w+-]{1,64}+){1,3}(?=@)"
)
_SYMBOLS = re.compile(
    "[\U0001f150-\U0001f169\U0001f170-\U0001f189\U0001f1e6-\U0001f1ff\u2801-\u283f]"
)
_LETTER_OF = {
    **{chr(first + n): chr(65 + n) for first in _BLOCKS for n in range(26)},
    **dict(zip(_BRAILLE, "abcdefghijklmnopqrstuvwxyz", strict=True)),
}
_FOREIGN = re.compile(r"(?<![^\W\d_])[a-zA-Z]*+[^\x00-\x7f\W\d_][^\W\d_]*+")
_LOOKS_LIKE = str.maketrans(LOOKALIKES)

_DIGIT_NAMES = "zero one two three four five six seven eight nine"
_DIGITS = {name: str(digit) for digit, name in enumerate(_DIGIT_NAMES.split())}
_DIGITS["oh"] = "0"
_NAMES_OF_DIGITS = "|".join(_DIGITS)
_IN_WORDS = re.compile(
    rf"\b(?i:{_NAMES_OF_DIGITS})(?:[ ,.-]{{1,2}}(?i:{_NAMES_OF_DIGITS})\b){{3,}}+"
)
_ALIKE = (("\u0130", "i"), ("\u0131", "i"), ("\u017f", "s"), ("\u212a", "k"))
"""Letters that are the same as others to a pattern that looks at no case."""
_LETTER_NAMES = """
    alpha alfa bravo charlie delta echo foxtrot golf hotel india juliett juliet kilo
    lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey xray
    yankee zulu
    """
_SPELLING = {name: name[0] for name in _LETTER_NAMES.split()}
_NAMES_OF_LETTERS = "|".join(sorted(_SPELLING, reverse=True))
_SPELT_OUT = re.compile(
    rf"\b(?i:{_NAMES_OF_LETTERS})(?:[ ,.-]{{1,2}}(?i:{_NAMES_OF_LETTERS})\b){{2,}}+"
)
_MORSE_SIGNS = """
    .- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..-
    ...- .-- -..- -.-- --.. ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----.
    """
_MORSE = dict(
    zip(_MORSE_SIGNS.split(), "abcdefghijklmnopqrstuvwxyz0123456789", strict=True)
)
_MORSED = re.compile(r"(?<![\w.-])[.-]{1,5}(?:[ /|]{1,3}[.-]{1,5}(?![\w.-])){2,}+")
_SIGN = re.compile(r"(?P<gap>[ /|]{2,}|/)?[ |]?(?P<sign>[.-]{1,5})")
_HUMP = re.compile(
    r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
    r"|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])"
)


def _apart(match: re.Match[str]) -> list[Piece] | None:
    """
    Read single letters as words; a wider gap than the others parts two of them.

    "U.S. v. X" are four letters, and no word of any length.
    """
    run, offset = match.group(), match.start()
    letters = [at for at, item in enumerate(run) if item.isalnum()]
    gaps = [run[item + 1 : other] for item, other in pairwise(letters)]
    least, first = min(map(len, gaps)), letters[0]
    pieces: list[Piece] = [(run[first], offset + first, offset + first + 1)]
    for at, gap in zip(letters[1:], gaps, strict=True):
        word = len(gap) > least or (run[at].isupper() and pieces[-1][0].islower())
        if word:
            pieces.append((" ", offset + at - len(gap), offset + at))
        pieces.append((run[at], offset + at, offset + at + 1))
    words = "".join(said for said, _, _ in pieces).split()
    return pieces if any(map(_is_word, words)) else None


def _is_word(joined: str) -> bool:
    return len(joined) > 3 or (len(joined) == 3 and joined[1:].islower())


def _inside(match: re.Match[str]) -> str:
    """Drop markup inside a word, and see a break where there is any."""
    return "" if "<br" not in match.group().lower() else " "


def _spoken(match: re.Match[str]) -> str | None:
    """Read an address in words, where more than one word says that it is one."""
    run, at = match.group(), match.span("at")
    local = run[: at[0] - match.start()]
    domain = run[at[1] - match.start() :]
    telling = _SPOKEN_DOT.search(domain) or not local.isalpha()
    return f"{local}@{_SPOKEN_DOT.sub('.', domain)}" if telling else None


def _scheme(match: re.Match[str]) -> str | None:
    said = f"http{(match[1] or match[2] or '').lower()}"
    plain = said if match[2] is not None else f"{said}://"
    return None if plain == match.group() else plain


def _plain(match: re.Match[str]) -> str | None:
    """Write a word in Latin letters that has some, or looks as if it had."""
    word = match.group()
    plain = word.translate(_LOOKS_LIKE)
    if plain == word:
        return None
    looks = sum(item != other for item, other in zip(word, plain, strict=True))
    latin = sum(item.isascii() for item in plain)
    return plain if latin == len(plain) or 2 * looks <= latin else None


def _digits(match: re.Match[str]) -> str:
    words = re.findall(r"[a-z]+", match.group().lower())
    return "".join(_DIGITS[word] for word in words)


def _spelt_out(match: re.Match[str]) -> str:
    words = re.findall(r"[a-z]+", match.group().lower())
    return "".join(_SPELLING[word] for word in words)


def _morse(match: re.Match[str]) -> str | None:
    if not {".", "-"} <= set(match.group()):
        return None
    said = []
    for sign in _SIGN.finditer(match.group()):
        letter = _MORSE.get(sign["sign"])
        if letter is None:
            return None
        said.append(f" {letter}" if sign["gap"] else letter)
    return "".join(said).strip()


def _in_a_row(names: Iterable[str]) -> Sign:
    """Return what finds the first of two names next to each other, in any case."""
    automaton = AhoCorasick(list(names))

    def signs(text: str) -> Iterator[tuple[int, int]]:
        starts: dict[int, int] = {}
        found = automaton.find_matches_as_indexes(_lowered(text), overlapping=True)
        for _, start, end in found:
            starts[end] = start
            before = starts.get(start - 1, starts.get(start - 2))
            if before is not None:
                yield before, before

    return signs


def _lowered(text: str) -> str:
    """Write a text small as a pattern reads it that looks at no case."""
    if text.isascii():
        return text.lower()
    for alike, letter in _ALIKE:
        text = text.replace(alike, letter)
    return text.encode(errors="replace").decode().lower()  # halves of characters go


_SPELLINGS = (
    Pass(_INSIDE, _inside, "<*_~`{[(", re.compile(r"[<*_~`{\[(](?<=[^\W\d_].)")),
    Pass(_TAG, lambda _: " ", "<"),
    Pass(
        _SPLIT,
        lambda _: "",
        "\n",
        re.compile(r"[-\u00ad\u2010\\](?=[ \t]{0,4}\r?\n)"),
    ),
    Pass(
        _JOINED,
        lambda _: "",
        "\"'",
        re.compile(r"([\"'])(?<=[^\W_].)(?=\s{0,8}(?:[+.&\\]|\|\|)?\s{0,8}\1)"),
    ),
    Pass(_SYMBOLS, lambda match: _LETTER_OF.get(match.group()), is_foreign=True),
    Pass(_FOREIGN, _plain, "".join(LOOKALIKES), is_foreign=True),
    Pass(
        _AT,
        lambda _: "@",
        "[({<@",
        re.compile(
            r"[\[({<@](?:(?<=[ \t]@)|(?<=@)(?=[ \t])"
            r"|(?<!@)(?=\s{0,2}(?:at|AT|At|@|\u00e4t|arroba)\s{0,2}[\])}>]))"
        ),
        lead=3,
    ),
    Pass(
        _DOT,
        lambda _: ".",
        "[({<",
        re.compile(r"[\[({<](?=\s{0,2}(?:dot|DOT|Dot|\.|p[ou]))"),
        lead=3,
    ),
    Pass(_BRACKETED, lambda match: match[1], "[({"),
    Pass(_SCHEME, _scheme, ":", re.compile(r":(?<=[pPsS\u017f\s]:)"), lead=7),
    Pass(
        _SPOKEN,
        _spoken,
        sign=re.compile(
            r"[ _-][aA][tT][ _-][\w-]{1,63}+(?:[ _-][dD][oO][tT][ _-]|\.)[\w-]"
        ),
        lead=64,
    ),
    Pass(
        _SPOKEN_LOCAL,
        lambda match: _SPOKEN_DOT.sub(".", match.group()),
        "@",
        re.compile(r"[ _-][dD][oO][tT][ _-]"),
        lead=64,
    ),
    Pass(
        _HOST,
        lambda _: ".",
        ".dD",
        re.compile(rf"[dD.](?=(?:(?<=\.) {{0,2}}|(?<!\.)[oO][tT] ){_TOP}\b)"),
        lead=2,
    ),
    Pass(_IN_WORDS, _digits, sign=_in_a_row(_DIGITS)),
    Pass(_SPELT_OUT, _spelt_out, sign=_in_a_row(_SPELLING)),
    Pass(_MORSED, _morse, "-", re.compile(r"[.-](?<![\w.-].)(?=[.-]{0,4}[ /|])")),
    Pass(
        _LETTERS,
        _apart,
        sign=re.compile(
            r"[^0-9A-Za-z=&?](?s:.)[^0-9A-Za-z=&?](?<=[\W_][^\W_][\W_])"
            r"[^0-9A-Za-z=&?]{0,3}[^\W_](?![^\W_])"
        ),
        lead=4,
    ),
)
"""What finds each disguise, and how it is read; undone in this order."""

_HUMPS = (
    Pass(
        _HUMP,
        lambda match: [(" ", match.start(), match.end() + 1)],
        sign=re.compile(
            r"[A-Z0-9\u0660-\U0010ffff](?<=[A-Z\d])"
            r"(?:(?<=[^\W\d_].)|(?<=\d)(?=[^\W\d_]))"
        ),
    ),
)


def respelt(text: MappedText) -> MappedText:
    """Undo every disguise once."""
    return rewrite(text, _SPELLINGS)


def parted(text: MappedText) -> MappedText:
    """Part words that are run together: `getAnnLee`, `annLee7`, `1984-05-03T10`."""
    return rewrite(text, _HUMPS)
