"""
Figures in their short forms, written out: `$890M` is `$ 890 million`, `45 %` percent.

A text and what it is compared with are both written out, so a form that is read in two
ways costs nothing where both have it. A letter alone may be a unit: *m* is a metre and
*K* a kelvin unless the sum is of money, the letter touches the number, or what is
counted follows in a unit of its own.
"""

from __future__ import annotations

import re

__all__ = ["write_out_figures"]

_SCALES = {
    "thousand": "k thou",
    "million": "m mm mn mln mio",
    "billion": "b bn bln",
    "trillion": "t tn trn",
}
_SCALE_OF = {short: name for name, forms in _SCALES.items() for short in forms.split()}
_SURE = frozenset({"mn", "mln", "mio", "bn", "bln", "tn", "trn", "thou"})
_CURRENCY = r"(?:US|A|C|NZ)?[$\u20ac\u00a3\u00a5]|(?:USD|EUR|GBP|CHF|AUD|CAD)"
_MONEY = r"(?:dollars?|euros?|pounds?|francs?|USD|EUR|GBP|CHF)"
_COUNTED = (
    r"(?:lit(?:re|er)s?|tonnes?|tons?|kg|km|miles|people|units|users|cubic|square)"
)
_SHORT = re.compile(
    rf"(?<![\w.,])({_CURRENCY})?(\s?)(\d+(?:[.,]\d+)*)"
    r"(?:(\s?)(k|thou|mm?|mn|mln|mio|b|bn|bln|t|tn|trn)\b)?"
    rf"(?=(\s?{_MONEY}\b)?(\s?{_COUNTED}\b)?)",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"(?<=\d)\s?(?:%|per cent\b|pct\b\.?)", re.IGNORECASE)


def write_out_figures(text: str) -> str:
    """Return a text with the scales of its figures, and percent, as words."""
    return _PERCENT.sub(" percent", _SHORT.sub(_write_out, text))


def _write_out(match: re.Match[str]) -> str:
    currency, _, number, gap, short = match.group(1, 2, 3, 4, 5)
    if not short:
        return f"{currency} {number}" if currency else match.group()
    money = currency or match[6]
    attached = not gap and (short.isupper() or short == "k")
    if money or short.lower() in _SURE or attached or match[7]:
        number = f"{number} {_SCALE_OF[short.lower()]}"
    elif short:
        number = f"{number}{gap}{short}"
    return f"{currency} {number}" if currency else match[2] + number
