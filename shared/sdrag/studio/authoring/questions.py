"""
Which sentences of documents teach most: those of which a yes or no is least certain.

A sentence near the threshold of a constraint says more than one that is open or closed
anyway, and ten that are unlike each other say more than ten of one kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdrag.disclosure.constraint_parser import parse
from sdrag.disclosure.local.by_example import judge
from sdrag.disclosure.local.by_meaning import THRESHOLDS, needs_meaning
from sdrag.disclosure.local.scorer import logit, score
from sdrag.embeddings import embed_texts
from sdrag.explanation.explain import Explainer
from sdrag.policy import Policy
from sdrag.text.folding import fold_text
from sdrag.text.sentences import sentences
from sdrag.vocabulary import Confidential, Passage

_MOST = 10
_READ = 1500
"""Sentences that are read; what is further on teaches another time."""
_JUDGED = 40
"""Of those, the likeliest for each constraint."""
_ALIKE = 0.7
"""From this cosine on two sentences teach the same."""
_WORDS = re.compile(r"(?:\w+\W+){3}\w")


@dataclass(frozen=True, slots=True, repr=False)
class Question(Confidential):
    """
    Whether a sentence holds what a constraint withholds.

    Args:
        number: Of the constraint, from 0.
        text: The sentence.
        hides: What of it would go.
    """

    number: int
    text: str
    hides: tuple[str, ...]

    def answer(self, *, goes: bool) -> dict[str, object]:
        """Return the example that an answer makes of it."""
        if goes:
            return {"text": self.text, "hides": [*self.hides]}
        return {"text": self.text, "keeps": [self.text]}


def find_questions(policy: Policy, documents: Sequence[Passage]) -> list[Question]:
    """Return ten sentences of documents whose answers would teach a policy most."""
    rules = [
        (number, rule)
        for number, rule in enumerate(policy.rules)
        if needs_meaning(parse(rule))
    ]
    texts = [*_list_sentences(documents, policy)][:_READ]
    if not rules or not texts:
        return []
    scored = score(texts, [rule.text for _, rule in rules])
    likely = np.stack([each.chances.max(axis=1, initial=0.0) for each in scored])
    ranked = np.argsort(-likely, axis=0, kind="stable")[:_JUDGED]
    doubts = [
        (abs(logit(chance) - least), number, text)
        for row, (number, rule) in enumerate(rules)
        for least in [logit(THRESHOLDS[rule.sensitivity or "balanced"].sentence)]
        for some in [[texts[place] for place in ranked[:, row]]]
        for chance, text in zip(judge(rule, some), some, strict=True)
    ]
    chosen: list[tuple[int, str]] = []
    share = -(-_MOST // len(rules))
    for _, number, text in sorted(doubts):
        of_rule = sum(taken == number for taken, _ in chosen)
        if len(chosen) < _MOST and of_rule < share and _is_new(text, chosen):
            chosen.append((number, text))
    return [Question(n, text, _choose(policy, n, text)) for n, text in chosen]


def _list_sentences(documents: Sequence[Passage], policy: Policy) -> dict[str, None]:
    """Return the sentences of documents that no example has, in their order."""
    shown = {fold_text(e.text) for rule in policy.rules for e in rule.examples}
    texts = (
        " ".join(span.of(document.text).split())
        for document in documents
        for span in sentences(document.text, cells=True)
    )
    return dict.fromkeys(
        text for text in texts if _WORDS.search(text) and fold_text(text) not in shown
    )


def _is_new(text: str, chosen: Sequence[tuple[int, str]]) -> bool:
    if not chosen:
        return True
    vectors = np.asarray(embed_texts([text, *(taken for _, taken in chosen)]))
    return bool((vectors[1:] @ vectors[0]).max() < _ALIKE)


def _choose(policy: Policy, number: int, text: str) -> tuple[str, ...]:
    """Return the words that a constraint would hide if it opened a sentence."""
    rule = policy.rules[number]
    shown = {"text": text, "hides": [text]}
    entry = {"text": rule.text, "sensitivity": "high", "examples": [shown]}
    (explained,) = Explainer(Policy.read([entry])).explain([text])
    spans = dict.fromkeys(part.span.of(text) for part in explained.spans)
    return tuple(spans) or (text,)
