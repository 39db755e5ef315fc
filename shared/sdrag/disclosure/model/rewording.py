"""
Whether a reply is a rewording of its passage, and which values it adds.

A rewording shares words with what the cuts leave of the passage; a refusal, JSON and
the prompt itself do not. It has general words in place of what is protected, so a
figure, a name or a number in words that the cuts do not leave is the protected value in
another notation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from sdrag.detectors.local.tables import FUNCTION_WORDS
from sdrag.effects.prompts import Prompt
from sdrag.placeholders import Placeholders
from sdrag.text.dates import NUMBER_WORDS, ORDINALS
from sdrag.text.folding import fold_text
from sdrag.text.sentences import sentences
from sdrag.text.spans import SpanUnion
from sdrag.text.stemming import stem
from sdrag.vocabulary import Span

_SHARE = 0.25
"""Of the content words of either side that the other has, at least."""
_RUN = 4
"""So many words in a row of the prompt that are not the passage's are a quotation."""
_REFUSAL = re.compile(
    r"\W*(?:(?:i'?m|i am) (?:sorry|afraid|unable|not able)|sorry\b|as an ai\b"
    r"|i (?:can|will|must|do)(?:no|'|\u2019| no)?t?\b|unfortunately, i\b)",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+(?:['\u2019]\w+)?")
_TOKEN = re.compile(r"\w+(?:[.,:/@+-]\w+)*")
_NUMBERS = {*NUMBER_WORDS, *ORDINALS, "hundred", "thousand", "million"} - {
    *("one", "first", "second")
}


def is_rewording(
    reply: str, kept: str, source: str, prompt: Prompt, placeholders: Placeholders
) -> bool:
    """
    Say whether a reply says a passage again.

    Args:
        reply: What the model made of it.
        kept: What the cuts leave of it.
        source: What the model was shown of it.
        prompt: What it was asked.
        placeholders: Whose words say nothing of the passage.
    """
    if _is_json(reply) or (_REFUSAL.match(reply) and not _REFUSAL.match(source)):
        return False
    prompted = _runs("\n".join(each.content.text for each in prompt.messages))
    if _runs(reply) & (prompted - _runs(source)):
        return False
    left, shown, said = map(_content, map(placeholders.blank, (kept, source, reply)))
    ours, theirs = left & shown, said
    return len(ours & theirs) > _SHARE * max(len(ours), len(theirs))


def find_new_values(
    reply: str, kept: str, hidden: Iterable[str], placeholders: Placeholders
) -> Iterator[Span]:
    """
    Yield the figures and names of a reply that the cuts do not leave.

    Args:
        reply: A rewording.
        kept: What the cuts leave of the passage.
        hidden: What they take.
        placeholders: What is no value.
    """
    known = {str(NUMBER_WORDS.get(word, word)) for word in _words(kept)}
    parts = {word for form in hidden if len(form.split()) == 1 for word in _words(form)}
    starts = {_first_word(reply, each) for each in sentences(reply)}
    standing = SpanUnion(placeholders.find(reply))
    for match in _TOKEN.finditer(reply):
        if standing.overlaps(Span(*match.span())):
            continue
        new = [
            word
            for word in _words(match[0])
            if str(NUMBER_WORDS.get(word, word)) not in known
        ]
        is_name = match[0][0].isupper() and match.start() not in starts
        if any(_is_figure(word) or word in parts for word in new) or (
            new and is_name and match[0] != "I"
        ):
            yield Span(*match.span())


def _is_figure(word: str) -> bool:
    return word in _NUMBERS or any(map(str.isdigit, word))


def _first_word(text: str, sentence: Span) -> int:
    match = _TOKEN.search(text, sentence.start, sentence.end)
    return match.start() if match else sentence.start


def _is_json(reply: str) -> bool:
    bare = re.sub(r"^```\w*|```$", "", reply.strip()).strip()
    with suppress(ValueError, RecursionError):
        json.loads(bare)
        return True
    return False


def _words(text: str) -> Sequence[str]:
    return _WORD.findall(fold_text(text))


def _content(text: str) -> set[str]:
    return {stem(word) for word in _words(text) if word not in FUNCTION_WORDS}


def _runs(text: str) -> set[tuple[str, ...]]:
    listed = _words(text)
    return {tuple(listed[n : n + _RUN]) for n in range(len(listed) - _RUN + 1)}
