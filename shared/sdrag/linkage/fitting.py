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

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sdrag.detectors import Detector, detect_each
from sdrag.effects.steps import EffectRunner, Failure, Outcome, Steps, run
from sdrag.errors import UsageError
from sdrag.linkage.extractor import ModelExtractor
from sdrag.linkage.masking import Earlier, Masked, Passes, apply_masker, mask_found
from sdrag.linkage.mentions import (
    Found,
    KnownForms,
    Mentions,
    Occurrence,
    by_id,
    check_mentions,
    find_descriptions,
    read_found,
)
from sdrag.linkage.plan_file import PlanParts, read_plan, write_plan
from sdrag.linkage.replacing import check_style
from sdrag.linkage.schema import Schema, SettingsSource, local_runner, read_settings
from sdrag.placeholders import DEFAULT, Placeholders
from sdrag.policy import LinkageSection
from sdrag.vocabulary import Confidential, Decision, Passage

Entities = Detector | ModelExtractor | Mentions
"""Where entities come from: a detector, a model, or what was found in each document."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Fitted(Confidential):
    """
    A plan for a corpus, and what it takes to keep it current.

    Args:
        documents: The corpus as it came, by id, without what could not be read.
    """

    settings: LinkageSection
    key: bytes | None
    documents: Mapping[str, Passage]
    found: Mapping[str, tuple[Found, ...]]
    masked: Masked

    def __repr__(self) -> str:
        return f"Fitted({len(self.documents)} documents)"

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
        """
        return run(self.apply_steps(documents), runner or local_runner())

    def apply_steps(self, documents: Sequence[Passage]) -> Steps[tuple[Passage, ...]]:
        """Mask further text as a step; as `apply`."""
        masked = self.masked
        return apply_masker(documents, masked.masker, self.settings, masked.rewritten)

    def save(self, path: str | Path, key: bytes | None = None) -> None:
        """
        Write the plan to a file, encrypted; see `sdrag.linkage.plan_file`.

        Args:
            path: Of the file; one that is there is replaced.
            key: What it is encrypted with, of 16 bytes or more; the plan's by default.

        Raises:
            UsageError: There is no key, or the file cannot be written.
        """
        earlier = self.masked.earlier
        parts = PlanParts(self.settings, self.key, self.documents, self.found, earlier)
        write_plan(parts, path, key)

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
        steps = _make_plan(read_plan(path, key), Passes())
        return run(steps, runner or local_runner())

    def updated(
        self,
        changed: Sequence[Passage] = (),
        removed: Collection[str] = (),
        entities: Entities = (),
        *,
        settings: SettingsSource = None,
        runner: EffectRunner | None = None,
        passes: Passes | None = None,
    ) -> Update:
        """
        Follow a change of the corpus.

        Args:
            changed: Documents that are new, or replace those with their id.
            removed: Ids of documents that are gone.
            entities: What finds entities in the changed documents, or what was found.
            settings: As in `fit`; those of the plan if not given.
            runner: Answers effects; the same embeddings as when it was fitted.
            passes: As in `fit`.

        Raises:
            UsageError: A document that is to be removed is not there.
        """
        section = self.settings if settings is None else read_settings(settings)
        steps = self.update_steps(
            changed, removed, entities, settings=section, passes=passes
        )
        return run(steps, runner or local_runner())

    def update_steps(
        self,
        changed: Sequence[Passage] = (),
        removed: Collection[str] = (),
        entities: Entities = (),
        *,
        settings: LinkageSection | None = None,
        passes: Passes | None = None,
    ) -> Steps[Update]:
        """Follow a change, yielding effects; see `updated` for the arguments."""
        if not set(removed) <= self.documents.keys():
            raise UsageError(
                "An id in `removed` is not in the corpus.",
                hint="Give ids of documents that the plan was fitted on.",
            )
        gone = {*removed, *(document.id for document in changed)}
        kept = {id_: d for id_, d in self.documents.items() if id_ not in gone}
        parts = PlanParts(
            settings or self.settings,
            self.key,
            kept,
            {id_: self.found[id_] for id_ in kept},
            self.masked.earlier,
        )
        fitted = yield from _fit_changed(
            parts, changed, entities if changed else (), passes
        )
        before = dict(zip(self.documents, self.masked.documents, strict=True))
        after = dict(zip(fitted.documents, fitted.masked.documents, strict=True))
        stale = tuple(id_ for id_ in kept if before[id_].text != after[id_].text)
        renew = {*stale, *(after.keys() - kept.keys())}
        return Update(fitted, stale, tuple(after[id_] for id_ in after if id_ in renew))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Update(Confidential):
    """
    What a change of the corpus brought.

    Args:
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
    entities: Entities = (),
    *,
    key: bytes | None = None,
    placeholders: Placeholders = DEFAULT,
    runner: EffectRunner | None = None,
    passes: Passes | None = None,
) -> Fitted:
    """
    Mask what links people across a corpus, and as little as breaks the links.

    A part of a corpus will not do: what links people is seen only in the whole.

    Args:
        documents: The whole corpus; ids must differ. Not changed.
        settings: A linkage section, a policy, a mapping or a path.
        entities: What finds entities, or what was found in each document.
        key: For ids and pseudonyms that stay the same from run to run.
        placeholders: Those of the state that the documents are retrieved with, so that
            they are known again there. A plan keeps those of its first run.
        runner: Answers effects; local work and the packaged MiniLM if not given.
        passes: How the texts are gone through: in a pool, and with a report of the
            progress. A detector is then run in the pool, without a host's model.

    Raises:
        UsageError: Two documents have one id, or a mention cannot be read.
    """
    steps = fit_steps(
        documents,
        read_settings(settings),
        entities,
        key=key,
        placeholders=placeholders,
        passes=passes,
    )
    return run(steps, runner or local_runner())


def fit_steps(
    documents: Sequence[Passage],
    settings: LinkageSection,
    entities: Entities = (),
    *,
    key: bytes | None = None,
    placeholders: Placeholders = DEFAULT,
    passes: Passes | None = None,
) -> Steps[Fitted]:
    """Fit, yielding effects; see `fit` for the arguments."""
    nothing = PlanParts(settings, key, {}, {}, Earlier(placeholders=placeholders))
    return _fit_changed(nothing, documents, entities, passes)


def _fit_changed(
    kept: PlanParts,
    changed: Sequence[Passage],
    entities: Entities,
    passes: Passes | None,
) -> Steps[Fitted]:
    """Find what is in the changed documents, and make the plan of all."""
    schema, new = Schema(kept.settings), by_id(changed)
    changed = _blank_placeholders(changed, kept.earlier.placeholders)
    texts = [document.text for document in changed]
    rows: Sequence[_Row]
    if isinstance(entities, (Mapping, Sequence)):
        rows = [*check_mentions(changed, entities, schema).values()]
    elif isinstance(entities, ModelExtractor):
        known = [
            read_found(document.text, kept.found[id_], schema)
            for id_, document in kept.documents.items()
        ]
        rows = _rows((yield from entities.extract(texts, schema, known)))
    else:
        rows = yield from _detect(texts, entities, passes)
    read = {id_: row for id_, row in zip(new, rows, strict=True) if row is not None}
    parts = replace(
        kept,
        documents={**kept.documents, **{id_: new[id_] for id_ in read}},
        found={**kept.found, **read},
    )
    fitted = yield from _make_plan(parts, passes or Passes())
    masked = fitted.masked
    lost = (
        Decision(masked.masker.alias(id_), "withheld", "linkage", "detector-failed")
        for id_ in new
        if id_ not in read
    )
    return replace(fitted, masked=replace(masked, decisions=(*masked.decisions, *lost)))


def _make_plan(parts: PlanParts, passes: Passes) -> Steps[Fitted]:
    settings, key, documents = parts.settings, parts.key, parts.documents
    check_style(settings.replace, key)
    texts = _blank_placeholders(documents.values(), parts.earlier.placeholders)
    # What was found in any document is looked for in every one.
    found = (parts.found[id_] for id_ in documents)
    rows = [(each.text, row) for each, row in zip(texts, found, strict=True)]
    common = KnownForms.of(rows), Schema(settings)
    occurrences = [*passes.each("Looking again", _make_look, common, rows)]
    masked = yield from mask_found(
        [*documents.values()], occurrences, settings, key, parts.earlier, passes
    )
    return Fitted(settings, key, documents, parts.found, masked)


def _blank_placeholders(
    documents: Iterable[Passage], placeholders: Placeholders
) -> list[Passage]:
    """Return documents with spaces for placeholders: what they say links nobody."""
    return [replace(each, text=placeholders.blank(each.text)) for each in documents]


_Row = tuple[Found, ...] | None
"""What was found in a text; none where it could not be read."""


def _rows(outcomes: Sequence[Outcome[Any]]) -> list[_Row]:
    return [None if isinstance(o, Failure) else tuple(o.value) for o in outcomes]


def _detect(
    texts: Sequence[str], detector: Detector, passes: Passes | None
) -> Steps[list[_Row]]:
    """Run a detector by the host's runner, or in the pool that was passed."""
    if passes is None:
        rows = _rows((yield from detect_each(detector, texts)))
    else:
        rows = list(passes.each("Detecting", _make_detect, (detector,), texts))
    return [
        None if row is None else (*row, *find_descriptions(text))
        for text, row in zip(texts, rows, strict=True)
    ]


def _make_detect(detector: Detector) -> Callable[[Sequence[str]], list[_Row]]:
    runner = local_runner()
    return lambda texts: _rows(run(detect_each(detector, texts), runner))


def _make_look(
    known: KnownForms, schema: Schema
) -> Callable[[Sequence[tuple[str, Sequence[Found]]]], list[tuple[Occurrence, ...]]]:
    return lambda rows: [
        read_found(text, known.look(text, row), schema) for text, row in rows
    ]
