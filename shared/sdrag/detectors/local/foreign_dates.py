"""Dates whose month is named in another language: 3. Mai 2024, 3 de mayo de 2024."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdrag.detectors.local.anchors import cased
from sdrag.detectors.local.found import Found
from sdrag.detectors.local.lexicon import listed
from sdrag.detectors.local.words import Tokens

__all__ = ["foreign_dates"]

_MONTHS = listed(
    """
        januar j\u00e4nner februar m\u00e4rz mai juni juli august oktober
        dezember janvier f\u00e9vrier mars avril juin juillet ao\u00fbt
        septembre octobre novembre d\u00e9cembre enero febrero marzo abril mayo
        junio julio agosto septiembre octubre noviembre diciembre gennaio
        febbraio aprile maggio giugno luglio settembre ottobre dicembre janeiro
        fevereiro mar\u00e7o maio junho julho setembro outubro novembro dezembro
        januari februari maart mei augustus augusti maj december november
        september april marts stycznia lutego marca kwietnia maja czerwca lipca
        sierpnia wrze\u015bnia pa\u017adziernika listopada grudnia tammikuuta
        helmikuuta maaliskuuta huhtikuuta toukokuuta kes\u00e4kuuta
        hein\u00e4kuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta
        desember ocak \u015fubat mart nisan may\u0131s haziran temmuz
        a\u011fustos eyl\u00fcl ekim kas\u0131m aral\u0131k
        """
)
_FORMS = cased(_MONTHS)
_DAY = re.compile(r"(?<![\w.,-])(?:3[01]|[12]\d|0?[1-9])(?:\.|er|o|\u00ba)? (?:de )?$")
_YEAR = re.compile(r"(?: de[l]?)? (?:1[5-9]|20)\d\d\b(?: r\.)?")
_EASTERN = re.compile(
    r"\d{4}[\u5e74\ub144] ?\d{1,2}[\u6708\uc6d4](?: ?\d{1,2}[\u65e5\uc77c])?"
)
_REACH = 8


def foreign_dates(tokens: Tokens) -> Iterator[Found]:
    """Yield a day, a month of another language and its year."""
    text = tokens.text
    for word in filter(_FORMS.__contains__, tokens.where):
        for index in tokens.where[word]:
            start, end = tokens.starts[index], tokens.ends[index]
            day = _DAY.search(text, max(0, start - _REACH), start)
            year = _YEAR.match(text, end)
            if day or year:
                first = day.start() if day else start
                last = year.end() if year else end
                yield Found(first, last, "DATE", 0.95 if day and year else 0.8, "month")
    if not text.isascii():
        for match in _EASTERN.finditer(text):
            yield Found(*match.span(), "DATE", 0.95, "month")
