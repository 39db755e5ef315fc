"""
The model that is always right: what it reaches is the most that any model can reach.

It knows what each constraint protects, and answers the prompts of redaction by that
alone. It is not sure about a constraint that it does not know: it quotes nothing for
it, and frees nothing of it, except that it answers control questions rightly.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from benchmarks.suites.scripted.asked import (
    Confirming,
    Extracting,
    MarkedWords,
    Rephrasing,
    is_control,
    is_harmless,
    planted,
    read_prompt,
)
from benchmarks.suites.scripted.witness_words import Known, Protected, Sources
from sdrag.effects.prompts import Prompt
from sdrag.studio.evaluation.measures import witness_spans
from sdrag.text.folding import fold, fold_text
from sdrag.text.spans import merge, splice
from sdrag.vocabulary import Confidential, Span

_GAP = " \N{HORIZONTAL ELLIPSIS} "
"""Stands in marked words for what has to go anyway."""
_GENERAL = "something"


class ExactModel(Confidential):
    """
    A model that answers the prompts of redaction exactly.

    It takes a `Prompt` and returns the reply's text, as `Scripted(complete=...)` and
    `Ports(complete=Port(...))` want it.

    Args:
        knows: The words of each constraint, and the words and phrases it protects; or
            several `Protected`, where that differs from text to text. A model that was
            given the texts frees nothing in a sentence that is in none of them; without
            them it takes any name for harmless that it does not know.
    """

    __slots__ = ("_sources",)

    def __init__(self, knows: Known) -> None:
        self._sources = Sources(knows)

    def __call__(self, prompt: Prompt) -> str:
        """
        Answer a prompt of redaction.

        Args:
            prompt: Of extraction, confirmation or rephrasing.

        Raises:
            UsageError: It is another prompt.
        """
        asked = read_prompt(prompt)
        if isinstance(asked, Extracting):
            return self._verdicts(asked)
        if isinstance(asked, Confirming):
            return self._answers(asked)
        return self._said_again(asked)

    def _verdicts(self, asked: Extracting) -> str:
        sources = self._sources.of(asked.text)
        return asked.write(
            {
                name: planted(asked.text)
                if is_control(rule)
                else _quotations(asked.text, _words(sources, rule))
                for name, rule in asked.constraints.items()
            }
        )

    def _answers(self, asked: Confirming) -> str:
        sources = self._sources.of(asked.text)
        answers = [
            {
                "question": question.id,
                "no": [
                    name
                    for name in question.constraints
                    if self._frees(question, asked.constraints[name], asked, sources)
                ],
            }
            for question in asked.questions
        ]
        return json.dumps({"answers": answers}, ensure_ascii=False)

    def _frees(
        self,
        question: MarkedWords,
        rule: str,
        asked: Confirming,
        sources: tuple[Protected, ...],
    ) -> bool:
        if not self._sources.knows(rule):
            return is_control(rule) and is_harmless(question.words)
        return self._is_free(question, asked.constraints.values(), sources)

    def _is_free(
        self,
        question: MarkedWords,
        rules: Iterable[str],
        sources: tuple[Protected, ...],
    ) -> bool:
        """Say whether marked words give nothing away in any of their sentences."""
        return all(
            _is_harmless(sentence, question.words, rule, sources)
            for rule in rules
            if self._sources.knows(rule)
            for sentence in question.sentences
        )

    def _said_again(self, asked: Rephrasing) -> str:
        sources = self._sources.of(asked.text)
        words = [word for rule in asked.constraints for word in _words(sources, rule)]
        spans = merge(witness_spans(asked.text, words))
        return splice(asked.text, spans, lambda _: _GENERAL)


def _words(sources: tuple[Protected, ...], rule: str) -> tuple[str, ...]:
    known = [source.witnesses(rule) for source in sources]
    return tuple(dict.fromkeys(word for words in known for word in words))


def _quotations(text: str, words: tuple[str, ...]) -> list[str]:
    """Quote what has to go, letter by letter, each spelling once."""
    spans = sorted(witness_spans(text, words))
    return list(dict.fromkeys(span.of(text) for span in spans))


def _is_harmless(
    sentence: str, marked: str, rule: str, sources: tuple[Protected, ...]
) -> bool:
    """Say whether no word of a witness stands under the marks in a sentence."""
    spans = list(_marked(sentence, marked))
    if not spans:
        return False
    stands = [
        (source, *index) for source in sources for index in source.around(sentence)
    ]
    return bool(stands) and not any(
        Span(span.start + offset, span.end + offset).overlaps(witness)
        for source, text, offset in stands
        for witness in witness_spans(text, source.witnesses(rule))
        for span in spans
    )


def _marked(sentence: str, marked: str) -> Iterator[Span]:
    """Yield where marked words are; nothing if a part of them is not found."""
    folded = fold(sentence)
    places = [list(folded.find(fold_text(part))) for part in marked.split(_GAP)]
    if all(places):
        for spans in places:
            yield from spans
