"""
Letters of other scripts that look like Latin ones.

Taken from Unicode's confusables.txt (the single letters of eight scripts whose target
is an ASCII letter), with the lower-case letters of Cyrillic, Greek and Armenian and
the small capitals that it leaves out.
"""

# ruff: noqa: RUF001 -- they are what the table is of

from __future__ import annotations

__all__ = ["LOOKALIKES"]

_BY_LETTER = {
    "A": "ΑАᎪꓮ",
    "B": "ΒВᏴꓐꞴ",
    "C": "ϹСᏟⲤꓚ𐐕",
    "D": "Ꭰꓓ",
    "E": "ΕЕᎬꓰ",
    "F": "ϜꓝꞘ",
    "G": "ԌᏀᏳꓖ",
    "H": "ΗНᎻⲎꓧ",
    "J": "ͿЈᎫꓙꞲ",
    "K": "ΚКᏦⲔꓗ",
    "L": "ᏞⳐꓡ𐐛",
    "M": "ΜϺМᎷⲘꓟ",
    "N": "ΝⲚꓠ",
    "O": "ΟОՕⲞꓳ𐐄",
    "P": "ΡРᏢⲢꓑ",
    "R": "ƦᎡᏒꓣ",
    "S": "ЅՏᏕᏚꓢ𐐠",
    "T": "ΤТᎢⲦꓔ",
    "U": "Սꓴ",
    "V": "ѴᏙꓦ",
    "W": "ԜᎳᏔꓪ",
    "X": "ΧХⲬꓫꞳ",
    "Y": "ΥϒУҮᎩᎽⲨꓬ",
    "Z": "ΖᏃꓜ",
    "a": "ɑαаᴀ",
    "b": "ƄʙβЬвьᏏ",
    "c": "ϲсᴄⲥꮯ𐐽",
    "d": "ԁᏧᴅꓒ",
    "e": "εеҽᴇꬲ",
    "f": "քẝꜰꞙꬵ",
    "g": "ƍɡɢցᶃ",
    "h": "ʜнһհᏂ",
    "i": "ıɩɪιіӏᎥιꙇꭵ",
    "j": "ϳјᴊ",
    "k": "κкᴋ",
    "l": "ƖǀʟΙІӀⲒꓲ",
    "m": "мᴍ",
    "n": "ɴηпոռ",
    "o": "οσоօᴏᴑⲟꬽ𐐬",
    "p": "ρϱрᴘⲣ",
    "q": "ԛգզ",
    "r": "ʀгᴦⲅꭇꭈꮁ",
    "s": "ƽѕꜱꮪ𐑈",
    "t": "τтᴛ",
    "u": "ʋυսᴜꞟꭎꭒ",
    "v": "νѵᴠꮩ",
    "w": "ɯωѡԝաᴡꮃ",
    "x": "χх",
    "y": "ɣʏγуүᶌỿꭚ",
    "z": "ᴢꮓ",
}

LOOKALIKES = {
    lookalike: letter for letter, own in _BY_LETTER.items() for lookalike in own
}
"""The letter that each looks like."""
