"""
Fit on a corpus, apply to a stream, and follow the corpus as it changes.

Detecting and embedding are what costs; so what was found in a document is kept, with
the vectors of its forms, and a change detects and embeds only what is new. What was
found in one document is looked for in all, old and new. Frequencies and the number of
documents enter every uniqueness, so the plan is made anew over the columns, which takes
seconds for a hundred thousand documents. What was masked once stays masked: a value
that has been taken out must not come back because it has become more common, or because
its document is gone. So a change can only add to the masks, and the update names the
earlier documents in which something more is to be masked. Else it is the plan that
would be made of all documents at once.

A document that the detector could not read to its end is withheld, not passed on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from sdrag.detectors import Detector
from sdrag.effects.steps import EffectRunner, Failure, Outcome, Steps, run
from sdrag.errors import UsageError
from sdrag.linkage.extractor import Extractor
from sdrag.linkage.masking import Earlier, Masked, Passes, clean_passage, mask_found
from sdrag.linkage.mentions import Mentions, Occurrence, read_mentions
from sdrag.linkage.replacing import check_style
from sdrag.linkage.rewriting import rewrite
from sdrag.linkage.schema import Schema, schema_of
from sdrag.linkage.second_look import KnownForms, occurrences_elsewhere
from sdrag.linkage.settings import SettingsSource, local_runner, read_settings
from sdrag.policy import LinkageSection
from sdrag.vocabulary import Confidential, Decision, Mention, Passage

__all__ = [
    "Corpus",
    "Fitted",
    "Update",
    "fit",
    "fit_steps",
    "mask_corpus",
]

T = TypeVar("T")
_Rows = Mapping[str, tuple[Mention, ...]]


@dataclass(frozen=True, slots=True, repr=False)
class Corpus(Confidential):
    """
    What a plan is made of.

    Args:
        settings: The linkage section.
        key: For ids and pseudonyms.
        documents: The corpus, by id.
        occurrences: What was found in each document.
        mentions: What a detector found in each document, before a second look.
    """

    settings: LinkageSection
    key: bytes | None = None
    documents: Mapping[str, Passage] = field(default_factory=dict)
    occurrences: Mapping[str, tuple[Occurrence, ...]] = field(default_factory=dict)
    mentions: _Rows = field(default_factory=dict)

    def fitted(
        self, earlier: Earlier, passes: Passes, withheld: Sequence[str] = ()
    ) -> Steps[Fitted]:
        """Make a plan; `withheld` are ids of documents that could not be read."""
        check_style(self.settings.replace, self.key)
        masked = yield from mask_found(
            list(self.documents.values()),
            [self.occurrences[id_] for id_ in self.documents],
            self.settings,
            self.key,
            earlier,
            passes,
        )
        lost = (
            Decision(masked.masker.alias(id_), "withheld", "linkage", "detector-failed")
            for id_ in withheld
        )
        decisions = (*masked.decisions, *lost)
        return Fitted(self, replace(masked, decisions=decisions))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Fitted(Confidential):
    """
    A plan for a corpus, and what it takes to keep it current.

    Args:
        corpus: What it was made of.
        masked: The masked corpus.
    """

    corpus: Corpus
    masked: Masked

    def __repr__(self) -> str:
        return f"Fitted({len(self.documents)} documents)"

    @property
    def settings(self) -> LinkageSection:
        """Under which it was made."""
        return self.corpus.settings

    @property
    def documents(self) -> Mapping[str, Passage]:
        """The corpus as it came, without what could not be read."""
        return self.corpus.documents

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What was done with each document of the corpus."""
        return self.masked.decisions

    def apply(
        self, documents: Sequence[Passage], runner: EffectRunner | None = None
    ) -> tuple[Passage, ...]:
        """
        Mask further text by the plan, such as chunks of the corpus or a stream.

        Nothing is detected: an entity that the corpus did not hold passes. Use
        `updated` for new documents. It is replaced as the plan says, whatever other
        policy is in force: with `replace: rewrite` each text is rewritten, by the model
        of the runner.

        Raises:
            UsageError: The plan rewrites, and the runner has no model.
        """
        return run(self.applying(documents), runner or local_runner())

    def applying(self, documents: Sequence[Passage]) -> Steps[tuple[Passage, ...]]:
        """Mask further text as a step; as `apply`."""
        masker = self.masked.masker
        clean = [clean_passage(masker, document)[0] for document in documents]
        if self.settings.replace == "rewrite":
            clean, _ = yield from rewrite(
                documents, clean, masker, self.masked.rewritten
            )
        return tuple(clean)

    def save(self, path: str | Path, key: bytes | None = None) -> None:
        """
        Write the plan to a file, encrypted; see `sdrag.linkage.plan_file`.

        Args:
            path: Of the file; one that is there is replaced.
            key: What it is encrypted with, of 16 bytes or more; the plan's by default.

        Raises:
            UsageError: There is no key, or the file cannot be written.
        """
        from sdrag.linkage.plan_file import save_plan  # noqa: PLC0415 -- it builds plans

        save_plan(self, path, key)

    @staticmethod
    def open(
        path: str | Path, key: bytes, runner: EffectRunner | None = None
    ) -> Fitted:
        """
        Open a plan that was saved; nothing is detected, embedded or rewritten again.

        Args:
            path: Of the file.
            key: That it was encrypted with.
            runner: Answers effects; the same embeddings as when it was fitted.

        Raises:
            UsageError: There is no such file, or it is of another key.
        """
        from sdrag.linkage.plan_file import open_plan  # noqa: PLC0415 -- it builds plans

        return open_plan(path, key, runner)

    def updated(
        self,
        changed: Sequence[Passage] = (),
        removed: Collection[str] = (),
        detector: Detector | Extractor | None = None,
        *,
        mentions: Mentions | None = None,
        settings: SettingsSource = None,
        runner: EffectRunner | None = None,
        passes: Passes | None = None,
    ) -> Update:
        """
        Follow a change of the corpus.

        Args:
            changed: Documents that are new, or replace those with their id.
            removed: Ids of documents that are gone.
            detector: Finds entities in the changed documents.
            mentions: What was found in them, in place of a detector.
            settings: As in `mask_corpus`; those of the plan if not given.
            runner: Answers effects; the same embeddings as when it was fitted.
            passes: As in `mask_corpus`.

        Raises:
            UsageError: A document that is to be removed is not there.
        """
        section = self.settings if settings is None else read_settings(settings)
        steps = self.updating(
            changed,
            removed,
            detector,
            mentions=mentions,
            settings=section,
            passes=passes,
        )
        return run(steps, runner or local_runner())

    def updating(
        self,
        changed: Sequence[Passage] = (),
        removed: Collection[str] = (),
        detector: Detector | Extractor | None = None,
        *,
        mentions: Mentions | None = None,
        settings: LinkageSection | None = None,
        passes: Passes | None = None,
    ) -> Steps[Update]:
        """Follow a change, yielding effects; see `updated` for the arguments."""
        if not set(removed) <= self.documents.keys():
            raise UsageError(
                "An id in `removed` is not in the corpus.",
                hint="Give ids of documents that the plan was fitted on.",
            )
        if not changed:
            detector, mentions = None, []
        gone = {*removed, *(document.id for document in changed)}
        kept = _without(self.corpus, gone, settings or self.settings)
        fitted = yield from _followed(
            kept, changed, detector, mentions, self.masked.earlier, passes
        )
        before = dict(zip(self.documents, self.masked.documents, strict=True))
        after = dict(zip(fitted.documents, fitted.masked.documents, strict=True))
        stale = tuple(
            id_ for id_ in kept.documents if before[id_].text != after[id_].text
        )
        renew = {*stale, *(after.keys() - kept.documents.keys())}
        return Update(fitted, stale, tuple(after[id_] for id_ in after if id_ in renew))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Update(Confidential):
    """
    What a change of the corpus brought.

    Args:
        fitted: The plan as it is.
        stale: Earlier documents that must be masked, and indexed, anew.
        documents: What is to be indexed now, masked: the changed ones and the stale.
    """

    fitted: Fitted
    stale: tuple[str, ...]
    documents: tuple[Passage, ...] = ()

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What was done with each document of the corpus."""
        return self.fitted.decisions

    def __repr__(self) -> str:
        return f"Update({len(self.documents)} documents, {len(self.stale)} stale)"


def fit(
    documents: Sequence[Passage],
    settings: SettingsSource = None,
    detector: Detector | Extractor | None = None,
    *,
    mentions: Mentions | None = None,
    key: bytes | None = None,
    runner: EffectRunner | None = None,
    passes: Passes | None = None,
) -> Fitted:
    """
    Fit a plan on a whole corpus; see `mask_corpus` for the arguments.

    A part of a corpus will not do: what links people is seen only in the whole.
    """
    steps = fit_steps(
        documents,
        read_settings(settings),
        detector,
        mentions=mentions,
        key=key,
        passes=passes,
    )
    return run(steps, runner or local_runner())


def fit_steps(
    documents: Sequence[Passage],
    settings: LinkageSection,
    detector: Detector | Extractor | None = None,
    *,
    mentions: Mentions | None = None,
    key: bytes | None = None,
    passes: Passes | None = None,
) -> Steps[Fitted]:
    """Fit, yielding effects; see `mask_corpus` for the arguments."""
    empty = Corpus(settings, key)
    return (
        yield from _followed(empty, documents, detector, mentions, Earlier(), passes)
    )


def mask_corpus(
    documents: Sequence[Passage],
    settings: SettingsSource = None,
    detector: Detector | Extractor | None = None,
    *,
    mentions: Mentions | None = None,
    key: bytes | None = None,
    runner: EffectRunner | None = None,
    passes: Passes | None = None,
) -> Masked:
    """
    Mask what links people across a corpus, and as little as breaks the links.

    Args:
        documents: The whole corpus; ids must differ. Not changed.
        settings: A linkage section, a policy, a mapping or a path.
        detector: Finds entities, where none are handed in.
        mentions: What was found in each document, in place of a detector.
        key: For ids and pseudonyms that stay the same from run to run.
        runner: Answers effects; local work and the packaged MiniLM if not given.
        passes: How the texts are gone through: in a pool, and with a report of the
            progress. A detector is then run in the pool, without a host's model.

    Raises:
        UsageError: Neither a detector nor mentions were given, or both.
    """
    fitted = fit(
        documents,
        settings,
        detector,
        mentions=mentions,
        key=key,
        runner=runner,
        passes=passes,
    )
    return fitted.masked


def _without(corpus: Corpus, gone: Collection[str], settings: LinkageSection) -> Corpus:
    def left(rows: Mapping[str, T]) -> dict[str, T]:
        return {id_: row for id_, row in rows.items() if id_ not in gone}

    return Corpus(
        settings,
        corpus.key,
        left(corpus.documents),
        left(corpus.occurrences),
        left(corpus.mentions),
    )


def _followed(
    kept: Corpus,
    changed: Sequence[Passage],
    detector: Detector | Extractor | None,
    mentions: Mentions | None,
    earlier: Earlier,
    passes: Passes | None,
) -> Steps[Fitted]:
    """Find what is in the changed documents, and make the plan of all."""
    if (detector is None) == (mentions is None):
        raise UsageError(
            "`detector` and `mentions` are both given, or neither is.",
            hint="Pass one: `mentions=` where entities are handed in.",
        )
    new = {document.id: document for document in changed}
    if len(new) != len(changed):
        raise UsageError(
            "Two documents have the same id.", hint="Give each document its own id."
        )
    schema, passes_ = schema_of(kept.settings), passes or Passes()
    occurrences, raw = dict(kept.occurrences), dict(kept.mentions)
    if detector is None:
        occurrences |= zip(
            new, read_mentions(changed, mentions or (), schema), strict=True
        )
    elif isinstance(detector, Extractor):
        known = list(kept.occurrences.values())
        texts = [document.text for document in changed]
        occurrences |= _read(new, _rows((yield from detector.extract(texts, known))))
    else:
        raw |= _read(new, (yield from _detected(changed, detector, passes)))
    documents = {
        id_: document
        for id_, document in {**kept.documents, **new}.items()
        if id_ in occurrences or id_ in raw
    }
    if raw:
        occurrences |= _looked_again(documents, raw, schema, passes_)
    if kept.occurrences and isinstance(detector, Extractor):
        occurrences = _learned(documents, occurrences)
    corpus = replace(kept, documents=documents, occurrences=occurrences, mentions=raw)
    withheld = [id_ for id_ in new if id_ not in documents]
    return (yield from corpus.fitted(earlier, passes_, withheld))


_Row = tuple[Any, ...] | None
"""What was found in a text; none where it could not be read."""


def _rows(outcomes: Sequence[Outcome[Any]]) -> list[_Row]:
    return [None if isinstance(o, Failure) else tuple(o.value) for o in outcomes]


def _read(
    documents: Collection[str], rows: Sequence[_Row]
) -> dict[str, tuple[Any, ...]]:
    """Return what was found by id of a document, for those that could be read."""
    pairs = zip(documents, rows, strict=True)
    return {id_: row for id_, row in pairs if row is not None}


def _detected(
    documents: Sequence[Passage], detector: Detector, passes: Passes | None
) -> Steps[list[_Row]]:
    """Run a detector by the host's runner, or in the pool that was passed."""
    texts = [document.text for document in documents]
    if passes is None:
        return _rows((yield from detector.detect(texts)))
    return list(passes.each("Detecting", _detecting, (detector,), texts))


def _detecting(detector: Detector) -> Callable[[Sequence[str]], list[_Row]]:
    runner = local_runner()
    return lambda texts: _rows(run(detector.detect(texts), runner))


def _looked_again(
    documents: Mapping[str, Passage], mentions: _Rows, schema: Schema, passes: Passes
) -> dict[str, tuple[Occurrence, ...]]:
    """Look in every document for what a detector found in any."""
    read = [(documents[id_], row) for id_, row in mentions.items()]
    known = KnownForms.of([d.text for d, _ in read], [row for _, row in read])
    rows = passes.each("Looking again", _looking_again, (known, schema), read)
    return dict(zip(mentions, rows, strict=True))


_Read = tuple[Passage, tuple[Mention, ...]]


def _looking_again(
    known: KnownForms, schema: Schema
) -> Callable[[Sequence[_Read]], list[tuple[Occurrence, ...]]]:
    def look(read: Sequence[_Read]) -> list[tuple[Occurrence, ...]]:
        documents = [document for document, _ in read]
        texts = [document.text for document in documents]
        again = known.look(texts, [mentions for _, mentions in read])
        return read_mentions(documents, again, schema, detected=True)

    return look


def _learned(
    documents: Mapping[str, Passage], occurrences: Mapping[str, tuple[Occurrence, ...]]
) -> dict[str, tuple[Occurrence, ...]]:
    """Look in every document for what a model found in any."""
    texts = [documents[id_].text for id_ in occurrences]
    more = occurrences_elsewhere(texts, list(occurrences.values()))
    return {
        id_: (*occurrences[id_], *row)
        for id_, row in zip(occurrences, more, strict=True)
    }
