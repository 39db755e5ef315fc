"""How a value can be written so that people or models read it and searches do not."""

from __future__ import annotations

import base64
import html
import json
import urllib.parse
from collections.abc import Callable

Spelling = Callable[[str], str]


def _each(form: str, joint: str = "") -> Spelling:
    return lambda said: joint.join(form.format(ord(one), one) for one in said)


def _each_byte(form: str, joint: str = "") -> Spelling:
    return lambda said: joint.join(form.format(one) for one in said.encode())


def _base64(said: str) -> str:
    return base64.b64encode(said.encode()).decode()


def _quoted(said: str) -> str:
    return urllib.parse.quote(said, safe="")


def _within(said: str, what: str) -> str:
    """Put something in the middle of the longest run of letters."""
    words = sorted(said.split(), key=len)
    longest = words[-1]
    middle = len(longest) // 2
    return said.replace(longest, f"{longest[:middle]}{what}{longest[middle:]}")


def _translated(table: str, into: str) -> Spelling:
    return lambda said: said.translate(str.maketrans(table, into))


def _shifted(capital: int, small: int, digit: int | None = None) -> Spelling:
    """Write letters as those of a Unicode block."""

    def one(letter: str) -> str:
        if "A" <= letter <= "Z":
            return chr(capital + ord(letter) - ord("A"))
        if "a" <= letter <= "z":
            return chr(small + ord(letter) - ord("a"))
        if digit is not None and "0" <= letter <= "9":
            return chr(digit + ord(letter) - ord("0"))
        return letter

    return lambda said: "".join(map(one, said))


ENCODINGS: dict[str, Spelling] = {
    "decimal entities": _each("&#{0};"),
    "hexadecimal entities": _each("&#x{0:X};"),
    "entities without an end": _each("&#{0:05}"),
    "one entity": lambda said: f"&#{ord(said[0])};{said[1:]}",
    "entities, twice": lambda said: html.escape(_each("&#{0};")(said)),
    "percent": _each_byte("%{0:02X}"),
    "percent where it must be": _quoted,
    "percent, twice": lambda said: _quoted(_each_byte("%{0:02X}")(said)),
    "base64": _base64,
    "base64 for URLs": lambda said: (
        base64.urlsafe_b64encode(said.encode()).decode().rstrip("=")
    ),
    "base64 of a sentence": lambda said: _base64(f"It is {said}, as you know."),
    "base64 in lines": lambda said: base64.encodebytes(
        f"It is {said}, and that is all there is to say of it, as you know.".encode()
    ).decode(),
    "base64, twice": lambda said: _base64(_base64(said)),
    "base64 of UTF-16": lambda said: base64.b64encode(
        said.encode("utf-16-le")
    ).decode(),
    "base64 of percent": lambda said: _base64(_quoted(said)),
    "hex": lambda said: said.encode().hex(),
    "hex in capitals": lambda said: said.encode().hex().upper(),
    "hex, apart": lambda said: said.encode().hex(" "),
    "hex with colons": lambda said: said.encode().hex(":"),
    "hex numbers": _each_byte("0x{0:02x}", ", "),
    "byte escapes": _each_byte("\\x{0:02x}"),
    "escapes": _each("\\u{0:04x}"),
    "escapes with braces": _each("\\u{{{0:x}}}"),
    "long escapes": _each("\\U{0:08x}"),
    "tag characters": lambda said: "".join(chr(0xE0000 + ord(one)) for one in said),
}
"""Codes; what they stand for cannot be read without undoing them."""

DISGUISES: dict[str, Spelling] = {
    "letters apart": _each("{1}", " "),
    "letters apart, words further": lambda said: "   ".join(
        " ".join(word) for word in said.split()
    ),
    "letters with points": _each("{1}", "."),
    "letters with hyphens": _each("{1}", "-"),
    "letters with underscores": _each("{1}", "_"),
    "letters with asterisks": _each("{1}", "*"),
    "letters in lines": _each("{1}", "\n"),
    "a list of letters": lambda said: json.dumps(list(said)),
    "letters in brackets": _each("[{1}]"),
    "soft hyphen": lambda said: _within(said, "\u00ad"),
    "soft hyphen as an entity": lambda said: _within(said, "&shy;"),
    "zero-width space": lambda said: _within(said, "\u200b"),
    "zero-width joiners everywhere": _each("{1}", "\u200d"),
    "split over two lines": lambda said: _within(said, "-\n"),
    "split in a quotation": lambda said: _within(said, "-\n> "),
    "split in a comment": lambda said: _within(said, "-\n# "),
    "bold letters": lambda said: _within(said, "**"),
    "markup inside": lambda said: _within(said, "<b></b>"),
    "a comment inside": lambda said: _within(said, "<!-- x -->"),
    "full width": _shifted(0xFF21, 0xFF41, 0xFF10),
    "mathematical bold": _shifted(0x1D400, 0x1D41A, 0x1D7CE),
    "circled": _shifted(0x24B6, 0x24D0),
    "Cyrillic letters": _translated("aceopxyAEKMOPCTBH", "асеорхуАЕКМОРСТВН"),
    "Greek letters": _translated("oApEMvTBHKNYXZ", "οΑρΕΜνΤΒΗΚΝΥΧΖ"),
    "accents": lambda said: "".join(
        f"{one}\u0301" if one in "aeiouy" else one for one in said
    ),
    "capitals": str.upper,
    "capitals and small letters": str.swapcase,
}
"""What a reader sees through."""

NAMES_ONLY: dict[str, Spelling] = {
    "digits for letters": _translated("eaEA", "3434"),
    "digits and signs for letters": _translated("eaisEAIS", "3@1$3@1$"),
    "small capitals": lambda said: said.lower().translate(
        str.maketrans("aemnrytd", "ᴀᴇᴍɴʀʏᴛᴅ")
    ),
    "an identifier": lambda said: f"get{''.join(map(str.capitalize, said.split()))}",
    "an identifier with a number": lambda said: f"{said.replace(' ', '')}7",
    "snake case": lambda said: f"file_{said.lower().replace(' ', '_')}_2",
    "kebab case": lambda said: said.lower().replace(" ", "-"),
    "a hashtag": lambda said: f"#{said.replace(' ', '')}",
    "escaped for Markdown": lambda said: said.replace(" ", "\\_"),
}
"""Spellings of names, which consist of letters."""

ADDRESSES_ONLY: dict[str, Spelling] = {
    "[at]": lambda said: said.replace("@", " [at] "),
    "(at) and (dot)": lambda said: said.replace("@", "(at)").replace(".", "(dot)"),
    "{at} in capitals": lambda said: said.replace("@", " {AT} "),
    "blanks around": lambda said: said.replace("@", " @ "),
    "[.]": lambda said: said.replace(".", "[.]"),
    "a full-width sign": lambda said: said.replace("@", "\uff20"),
    "an entity for the sign": lambda said: said.replace("@", "&commat;"),
    "escaped": lambda said: said.replace(".", "\\."),
    "split after the sign": lambda said: said.replace("@", "@\n"),
    "mailto": lambda said: f"mailto:{_quoted(said)}?subject=x",
}
"""Spellings of e-mail addresses."""

PLACES: dict[str, str] = {
    "prose": "It was {} again, as the file says.",
    "code": 'if user == "{}": return True',
    "JSON": '{{"who": "{}", "n": 3}}',
    "a table": "| 7 | {} | open |",
    "CSV": "7,{},open",
    "a path": "/srv/files/{}/notes.txt",
    "a URL": "https://files.example.org/u/{}?tab=2",
}
