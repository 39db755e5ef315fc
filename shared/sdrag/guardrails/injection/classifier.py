"""
The local classifier: windows of a text, each with the probability of an injection.

It looks for what does not belong: a request in the middle of something else. A text
that has nothing around the request gives it nothing to compare, and is left to the
patterns; a prompt on its own is harmless, and there is no telling the two apart.

An instruction is a sentence or two in a passage of many; a score of the whole would
hide it: on a set of twelve payloads, reading by sentence found 83 % where reading the
whole found 25 %. A window is a sentence, or a line where a text has lines instead.
Scraps are joined to what follows, long stretches are cut, and a block of code stays
whole.

The head is a logistic regression over the features of a window. Most injections are
plain requests with no "ignore previous" (BIPIA): "What is the capital of Brazil?" is
harmless as a prompt and out of place in an invoice. So the features are the embedding
of a window; its contrast with the rest of the passage (how close the closest other
window is, and the mean of all others); and a few marks of its form: an imperative, a
question, the words "your answer", code, a link. The weights ship as plain numbers in
`head.json`, so that loading them runs nothing and a change can be read.
`benchmarks/tools/train_injection.py` makes them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from sdrag.embeddings import DIMENSIONS, embed_texts, read_packaged
from sdrag.errors import InternalError
from sdrag.guardrails.injection.disguises import Reading, is_hidden, plain
from sdrag.text.sentences import sentences
from sdrag.vocabulary import SCORE_DIGITS, Confidential, Span

if TYPE_CHECKING:
    Row = np.ndarray[tuple[int], np.dtype[np.float64]]
    Vectors = np.ndarray[tuple[int, int], np.dtype[np.float32]]
    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]

_FENCE = re.compile(r"```[^`]{1,4000}+(?:```|\Z)")
_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"\S+")
_SCRAP = 3
_SCRAP_CHARACTERS = 200
"""More is no scrap, however few words it has: some scripts have no spaces."""
_LONGEST = 45
_MOST_HIDDEN = 300
"""Characters that are read of something hidden: a window, not a document."""
_FURTHEST = 30.0
LEAST_CONTEXT = 8
"""Words of other windows without which nothing can be out of place."""

_VERBS = (
    r"(?:add|adjust|alter|analy[sz]e|append|apply|arrange|augment|begin|break down"
    r"|calculate|change|close|combine|compare|compose|compute|conclude|convert|create"
    r"|define|describe|design|develop|discuss|draft|embed|emphasi[sz]e|encode|encrypt"
    r"|end|enhance|enrich|execute|explain|express|find|format|fuse|generate|give|group"
    r"|highlight|identify|implement|include|incorporate|insert|integrate|introduce"
    r"|jumble|list|make|mention|merge|mix|modify|name|outline|present|produce|promote"
    r"|propose|provide|rearrange|recommend|remove|render|replace|rephrase|represent"
    r"|reverse|revise|rewrite|say|scramble|share|show|simulate|solve|start|state"
    r"|structure|substitute|suggest|summari[sz]e|swap|tease|teach|tell|translate"
    r"|transform|use|utili[sz]e|weave|write)"
)
_REPLY = r"(?:answer|response|reply|replies|output|message|code|text|solution|writing)"
_WH = r"(?:what|which|who|whose|when|where|why|how)"
FORMS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:^|[.!?:|] ?)(?:please |kindly )?{_VERBS}\b",
        rf"\b{_VERBS}\b[^.!?]{{0,80}}?\byour {_REPLY}",
        rf"\b(?:in|to|of|from|with|within) (?:the |your ){_REPLY}",
        rf"(?:^|[.!?:|] ?){_WH}(?:'s|'re)?\b[^?]{{0,200}}\?",
        r"(?:^|[.!?:|] ?)(?:can|could|would|will) you\b",
        r"\?",
        r"\b(?:you|your)\b",
        r"\b(?:i|we|my|our|me|us)\b",
        r"```|\b(?:import|def|print)\b[ (]|[a-z]\(['\")]",
        r"https?:|www\.|\b\w{2,30}\.(?:com|org|net|xyz|io)\b",
        r"\b(?:users?|readers?)\b",
        r"\d",
        r"[\"'][^\"']{4,80}[\"']",
        r"\b(?:code|snippet|function|python|javascript|sql)\b",
        r"\b(?:subject|content|received date|email_from):",
        r"[$€£%•]",
    )
)

CONTRASTS = 4
WIDTH = DIMENSIONS + CONTRASTS + len(FORMS) + 1
"""How many numbers describe a window."""


@dataclass(frozen=True, slots=True, repr=False)
class Windows(Confidential):
    """A text in windows: where each is, and its folded words."""

    spans: tuple[Span, ...]
    texts: tuple[str, ...]


def cut(text: str, readings: Sequence[Reading] = ()) -> Windows:
    """Cut a text into windows, with what is encoded in it as windows of its own."""
    pairs = [(span, plain(span.of(text))) for span in windows(text)]
    for view in readings:
        for span in windows(view.source.text) if view.is_decoded else ():
            place = view.source.span(span.start, span.end)
            words = plain(span.of(view.source.text)[:_MOST_HIDDEN])
            if is_hidden(words, place, text):
                pairs.append((place, words))
    pairs = [(span, words) for span, words in dict.fromkeys(pairs) if words]
    return Windows(tuple(span for span, _ in pairs), tuple(words for _, words in pairs))


def classify(cuts: Sequence[Windows]) -> list[list[tuple[Span, float]]]:
    """Return each window of each text with the probability that it is an injection."""
    judged = [
        pieces if has_context(pieces.texts) else Windows((), ()) for pieces in cuts
    ]
    texts = [text for pieces in judged for text in pieces.texts]
    if not texts:
        return [[] for _ in cuts]
    vectors, trained, start = embed_texts(texts), load_head(), 0
    classified: list[list[tuple[Span, float]]] = []
    for pieces in judged:
        end = start + len(pieces.texts)
        rows = features(pieces.texts, vectors[start:end])
        chances = map(float, trained.probabilities(rows))
        classified.append(list(zip(pieces.spans, chances, strict=True)))
        start = end
    return classified


def windows(text: str) -> tuple[Span, ...]:
    """Cut a text into windows, in order, none of which overlap."""
    spans: list[Span] = []
    done = 0
    for fence in _FENCE.finditer(text):
        spans += _windows_of_prose(text, done, fence.start())
        spans.append(Span(*fence.span()))
        done = fence.end()
    return tuple(spans + _windows_of_prose(text, done, len(text)))


def _windows_of_prose(text: str, start: int, end: int) -> list[Span]:
    """Cut prose into lines, lines into sentences, and long ones into pieces."""
    spans: list[Span] = []
    scrap: Span | None = None
    for line in _LINE.finditer(text, start, end):
        for sentence in sentences(line.group()):
            left, right = line.start() + sentence.start, line.start() + sentence.end
            whole = Span(scrap.start if scrap else left, right)
            words = [
                Span(*word.span()) for word in _WORD.finditer(text, whole.start, right)
            ]
            few = len(words) <= _SCRAP and len(whole) <= _SCRAP_CHARACTERS
            scrap = whole if few else None
            for at in range(0, 0 if scrap else len(words), _LONGEST):
                piece = words[at : at + _LONGEST]
                spans.append(Span(piece[0].start, piece[-1].end))
    return [*spans, scrap] if scrap else spans


def features(windows: Sequence[str], vectors: Vectors) -> Matrix:
    """Describe each window of one passage by a row of embedding, contrast and form."""
    return np.hstack([vectors.astype(float), _contrast(vectors), _forms(windows)])


def has_context(windows: Sequence[str]) -> bool:
    """Say whether a passage has enough text around a window for it to stand out."""
    lengths = [len(window.split()) for window in windows]
    return len(lengths) > 1 and sum(lengths) - max(lengths) >= LEAST_CONTEXT


def _contrast(vectors: Vectors) -> Matrix:
    """Return how close each window is to the closest other, and to all others."""
    count = len(vectors)
    if count < 2:
        return np.full((count, CONTRASTS), 0.5)
    closeness = (vectors @ vectors.T).astype(float)
    np.fill_diagonal(closeness, -1.0)
    ranked = np.sort(closeness, axis=1)[:, ::-1]
    mean = (closeness.sum(axis=1) + 1.0) / (count - 1)
    overall = mean.mean()
    second = ranked[:, 1] if count > 2 else ranked[:, 0]
    return np.stack([ranked[:, 0], second, mean, mean - overall], axis=1)


def _forms(windows: Sequence[str]) -> Matrix:
    rows = []
    for window in windows:
        marks = [float(bool(form.search(window))) for form in FORMS]
        rows.append([*marks, min(len(window.split()), 50) / 50.0])
    return np.array(rows, dtype=float).reshape(len(windows), len(FORMS) + 1)


@dataclass(frozen=True, slots=True, eq=False)
class InjectionHead:
    """What turns features into the probability of an injection."""

    weights: Row
    bias: float

    def __post_init__(self) -> None:
        if self.weights.shape != (WIDTH,) or not np.isfinite(self.weights).all():
            raise InternalError("The weights do not fit the features.")

    def probabilities(self, features: Matrix) -> Row:
        """Return, for each row of features, the probability of an injection."""
        reach = np.clip(features @ self.weights + self.bias, -_FURTHEST, _FURTHEST)
        return np.asarray(1.0 / (1.0 + np.exp(-reach))).round(SCORE_DIGITS)


@lru_cache(maxsize=1)
def load_head() -> InjectionHead:
    """Load the head that comes with the package."""
    source = files("sdrag.guardrails.injection").joinpath("head.json")
    stored = json.loads(read_packaged(source))
    return InjectionHead(
        np.array(stored["weights"], dtype=float), float(stored["bias"])
    )
