"""
Words to compare texts by: folded, stemmed, and in clauses.

Function words carry no claim. Clauses are cut at punctuation and at conjunctions. That
is coarse, and enough to tell what stands near what. Figures in short forms are written
out: `$890M` is `$ 890 million`. A letter alone may be a unit: *m* is a metre unless the
sum is of money, the letter touches the number, or what is counted follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sdrag.text import word_set
from sdrag.text.dates import NUMBER_WORDS
from sdrag.text.folding import fold_text
from sdrag.text.stemming import stem
from sdrag.vocabulary import Confidential

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


_WORD = re.compile(r"\w+(?:[.,]\d+)*")
_TOKEN = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}|\d+(?:[.,:/]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)*"
    r"|[%\u00b0\u20ac$\u00a3;:,()\u2013\u2014]"
)
_FUNCTION = word_set(
    "a an the of in on at by to for from with and or but as is are was were be been"
    " being it its this that these those he she his her they their them which who whom"
    " whose what when where while also into than then there has have had do does did"
    " after before during over under about between through would could can may might"
    " will more most other some such all both each i we you your our him us one two"
    " not no s t"
)
_BOUNDARIES = frozenset(";:,()-")
_HARD = frozenset(";:")
_CONJUNCTIONS = word_set(
    "and but or nor while although though whereas because if unless who whom which"
    " whose that when where"
)


def is_function_word(word: str) -> bool:
    """Say whether a folded word carries no claim of its own."""
    return word in _FUNCTION


def content_words(text: str) -> list[str]:
    """Return the stems of a text's content words, in order."""
    return [
        stem(word)
        for word in _WORD.findall(fold_text(write_out_figures(text)))
        if word not in _FUNCTION
    ]


@dataclass(frozen=True, slots=True, repr=False)
class Token(Confidential):
    """
    A word, a number or a mark.

    Args:
        text: Folded.
        base: Its stem.
        clause: The number of its clause in the text.
        hard: How many sentences and semicolons precede it.
        content: It carries meaning: no mark, no function word.
        name: It is written with a capital, and not because a sentence begins.
        first: It begins a sentence.
    """

    text: str
    base: str
    clause: int
    hard: int
    content: bool
    name: bool
    first: bool


TokenText = tuple[Token, ...]
"""The words of a text, in order."""


def read_tokens(texts: Iterable[str]) -> TokenText:
    """Read the sentences of a text, or of several that are read together."""
    return tuple(token for tokens in read_sentences(texts) for token in tokens)


def read_sentences(texts: Iterable[str]) -> list[TokenText]:
    """
    Read sentences one by one; clauses and sentences stay apart where they are joined.

    Nothing is kept of what was read: the words may be confidential.
    """
    read: list[TokenText] = []
    clause = hard = 0
    for text in texts:
        clause += 1
        hard += 1
        tokens: list[Token] = []
        for index, match in enumerate(_TOKEN.finditer(write_out_figures(text))):
            written = match.group()
            folded = fold_text(written).removesuffix("'s").removesuffix("'")
            clause += folded in _BOUNDARIES or folded in _CONJUNCTIONS
            hard += folded in _HARD
            tokens.append(
                Token(
                    text=folded,
                    base=stem(folded),
                    clause=clause,
                    hard=hard,
                    content=_is_content(folded),
                    name=written[0].isupper() and index > 0,
                    first=index == 0,
                )
            )
        read.append(tuple(tokens))
    return read


def _is_content(word: str) -> bool:
    if not word or not word[0].isalnum():
        return False
    return word in NUMBER_WORDS or not is_function_word(word)
