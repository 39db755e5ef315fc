"""
The rules of the local detector, and a network that learned what they cannot say.

The network is the packaged MiniLM with low-rank updates, trained on court cases in
which people marked what identifies somebody (the Text Anonymization Benchmark). It adds
what no form gives away ("a municipal day-care centre"), and doubts what rules find too
often: nationalities, offices and quantities that name nobody. Names, dates and codes it
never doubts, for what it learned of courts need not hold elsewhere. Data, training
script and limits: benchmarks/tagger/.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import TYPE_CHECKING

from sdrag.detectors import Detector
from sdrag.detectors.local import LocalDetector
from sdrag.detectors.local.tables import ACRONYMS, common_words
from sdrag.effects.steps import Outcome, Steps, replied, try_each
from sdrag.embeddings import has_network, load_network, load_tokenizer
from sdrag.embeddings.windows import Window, check_finite, read_between, read_words
from sdrag.text.cells import Layout, read_cells
from sdrag.vocabulary import SCORE_DIGITS, Mention, Span

if TYPE_CHECKING:
    from sdrag.embeddings.windows import Matrix

IDENTIFYING = "IDENTIFYING"
"""The type of what the network finds; those it was taught hold less well elsewhere."""

_LIKELY = 0.15
"""From this probability on, a word is a mention's."""
_UNLIKELY = 0.02
"""Below it, a rule that is often wrong is doubted."""
_DOUBTED = 0.4
"""The confidence of such a mention: it names what many share."""
_SURE = 0.5
"""The least probability of a single everyday word."""
_EVERYDAY = 6000
"""So many of the most frequent English words are everyday ones."""
_COUNT = re.compile(r"\d{1,2}")
_BRIEF = 2
"""No sentence has so few words."""
_SPARED = frozenset(a for a in ACRONYMS if len(a) > 2 and a.isupper()) - {"MBA"}
"""Abbreviations of trades that are no degree's; two letters may be a region's."""
_PLAIN = 200
"""So many of the most frequent English words identify nobody alone."""
_DOUBTFUL = frozenset(
    {"CONDITION", "JOB_TITLE", "NATIONALITY", "ORGANIZATION", "QUANTITY", "TERM"}
)
_FEATURE = "The tagger"
_WEIGHTS = files(__package__).joinpath("tagger.safetensors")
_GRAPH = files(__package__).joinpath("tagger.onnx")


def available() -> bool:
    """Return True if the network can be loaded: see `has_network`."""
    return has_network(_FEATURE, _WEIGHTS)


@dataclass(frozen=True, slots=True)
class Tag:
    """A word, and the probability that it identifies somebody."""

    span: Span
    chance: float


def tags(text: str) -> tuple[Tag, ...]:
    """Tag every word of a text, of any length."""
    available()  # or an error that says what is missing
    network = load_network(_GRAPH, _WEIGHTS)

    def read(windows: Sequence[Window]) -> Matrix:
        kinds = read_between(network, [window.ids for window in windows])
        return 1 - check_finite(kinds, _FEATURE).T[:1]

    ((words, chances),) = read_words([text], load_tokenizer(), 1, read, around=True)
    rounded = chances[0].astype(float).round(SCORE_DIGITS)
    return tuple(map(Tag, words, rounded.tolist()))


@dataclass(frozen=True, slots=True)
class TaggerDetector:
    """
    Find what identifies people, by rules and by a trained network; English.

    Needs the extra `local`: see `available`. Reads some eight kilobytes a second.

    Args:
        rules: Finds what is united with what the network finds.
    """

    rules: Detector = field(default_factory=LocalDetector)

    def detect(self, texts: Sequence[str]) -> Steps[list[Outcome[tuple[Mention, ...]]]]:
        """Find the mentions in each text, as `Detector` says."""
        ruled = yield from self.rules.detect(texts)
        tagged = try_each(tags, texts)
        return try_each(
            lambda read: _unite(*read), zip(texts, ruled, tagged, strict=True)
        )


def _unite(
    text: str,
    ruled: Outcome[tuple[Mention, ...]],
    tagged: Outcome[tuple[Tag, ...]],
) -> tuple[Mention, ...]:
    all_tags = replied(tagged)
    starts = [tag.span.start for tag in all_tags]
    ends = [tag.span.end for tag in all_tags]
    mentions: list[Mention] = []
    covered: set[Tag] = set()
    for mention in replied(ruled):
        first = bisect_right(ends, mention.span.start)
        inside = all_tags[first : bisect_left(starts, mention.span.end)]
        surest = max((tag.chance for tag in inside), default=1.0)
        if mention.type in _DOUBTFUL and surest < _UNLIKELY:
            doubted = min(mention.confidence, _DOUBTED)
            mentions.append(replace(mention, confidence=doubted))
        else:
            mentions.append(mention)
            covered.update(inside if mention.confidence > _DOUBTED else ())
    mentions += _likely(text, [tag for tag in all_tags if tag not in covered])
    return tuple(sorted(mentions, key=lambda mention: mention.span))


def _likely(text: str, tagged: Sequence[Tag]) -> Iterator[Mention]:
    """Yield the mentions that the network sees: runs of likely words that tell."""
    layout = read_cells(text)
    likely = [tag for tag in tagged if tag.chance >= _LIKELY]
    for whole in _runs(text, [tag for tag in likely if not _is_label(layout, tag)]):
        # Marks, and abbreviations of a trade, at both ends are left out.
        kept = [i for i, tag in enumerate(whole) if _may_end(tag.span.of(text))]
        run = whole[kept[0] : kept[-1] + 1] if kept else ()
        words = [tag.span.of(text) for tag in run]
        if any(map(_tells, words)) and not _is_plain(words, run, layout):
            yield _mention(run)


def _is_label(layout: Layout, tag: Tag) -> bool:
    """Say whether a word is of a label: what it was taught are sentences."""
    cell = layout.at(tag.span.start)
    return cell is not None and cell.role in {"key", "header"}


def _may_end(word: str) -> bool:
    return any(map(str.isalnum, word)) and word not in _SPARED


def _runs(text: str, likely: Sequence[Tag]) -> Iterator[Sequence[Tag]]:
    """Yield words with nothing but space between them."""
    run: list[Tag] = []
    for tag in likely:
        if run and not text[run[-1].span.end : tag.span.start].isspace():
            yield run
            run = []
        run.append(tag)
    if run:
        yield run


def _tells(word: str) -> bool:
    """Return True if a word can be a mention alone; marks, counts and `of` cannot."""
    if not word.isalpha():
        return any(map(str.isalnum, word)) and not _COUNT.fullmatch(word)
    ranks = common_words()
    return ranks.get(word.lower(), len(ranks)) >= _PLAIN


def _is_plain(words: Sequence[str], run: Sequence[Tag], layout: Layout) -> bool:
    """
    Return True if words are one alone, written small, that every text may have.

    In a sentence the network may be sure of it all the same. Where there is none, in
    the value of a field, two such words are plain, with capitals too, and figures.
    """
    cell = layout.at(run[0].span.start)
    of_cell = layout.text[cell.start : cell.end].split() if cell else words
    in_sentence = len(of_cell) > _BRIEF and (cell is None or cell.role == "prose")
    most, said = (1, words) if in_sentence else (_BRIEF, [w.lower() for w in words])
    ranks = common_words()
    is_everyday = all(
        ranks.get(word, _EVERYDAY) < _EVERYDAY or (word.isdecimal() and not in_sentence)
        for word in said
    )
    is_sure = in_sentence and run[0].chance >= _SURE
    return len(words) <= most and is_everyday and not is_sure


def _mention(run: Sequence[Tag]) -> Mention:
    """Join words; a mention is as sure as its surest word, where 0.5 is likely."""
    chance = max(tag.chance for tag in run)
    confidence = 0.5 + (chance - _LIKELY) / (1 - _LIKELY) / 2
    span = Span(run[0].span.start, run[-1].span.end)
    return Mention(span, IDENTIFYING, confidence, "tagger")
