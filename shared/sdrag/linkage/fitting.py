"""
Fit on a corpus, apply to a stream, and follow the corpus as it changes.

Detecting and embedding are what costs; so what was found in a document is kept, with
the vectors of its forms, and a change detects and embeds only what is new. What a
detector found in one document is looked for in all, old and new. Frequencies
and the number of documents enter every uniqueness, so the plan is made anew over the
columns, which takes seconds for a hundred thousand documents. What was masked once
stays masked: a value that has been taken out must not come back because it has become
more common, or because its document is gone. So a change can only add to the masks, and
the update names the earlier documents in which something more is to be masked. Else it
is the plan that would be made of all documents at once.

A fitted plan is saved with all that it takes to go on: the documents, what was found in
them, the vectors and the masks, encrypted.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sdrag.detectors import Detector
from sdrag.effects.steps import EffectRunner, Steps, run
from sdrag.errors import UsageError
from sdrag.linkage.carried import Carried
from sdrag.linkage.entity_schema import weights_of
from sdrag.linkage.masking import Masked, detected, mask_found
from sdrag.linkage.mentions import Found, Mentions, found_in
from sdrag.linkage.model_extractor import Extractor
from sdrag.linkage.placement import HERE, Placement
from sdrag.linkage.resolution import Vectors
from sdrag.linkage.rewriting import rewrite
from sdrag.linkage.second_look import found_elsewhere, look_again
from sdrag.linkage.settings import SettingsSource, local_runner, read_settings
from sdrag.policy import LinkageSection
from sdrag.vocabulary import Confidential, Decision, Mention, Passage

__all__ = [
    "Fitted",
    "PlanInput",
    "Update",
    "fit",
    "fit_steps",
]

_NOTHING = Carried()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Fitted(Confidential):
    """
    A plan for a corpus, and what it takes to keep it current.

    Args:
        settings: Under which it was made.
        documents: The corpus, as it came.
        found: What was found in each document.
        masked: The masked corpus.
        key: For ids and pseudonyms.
        mentions: What a detector found in each document, before a second look.
        name: Tells this plan from every other; says nothing else.
    """

    settings: LinkageSection
    documents: Mapping[str, Passage]
    found: Mapping[str, tuple[Found, ...]]
    masked: Masked
    key: bytes | None = None
    mentions: Mapping[str, tuple[Mention, ...]] = field(default_factory=dict)
    name: str = field(default_factory=lambda: secrets.token_hex(8))

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

        Raises:
            UsageError: The plan rewrites, and the runner has no model.
        """
        return run(self.applying(documents), runner or local_runner())

    def applying(self, documents: Sequence[Passage]) -> Steps[tuple[Passage, ...]]:
        """Mask further text as a step; as `apply`."""
        clean = [self.masked.cleaned(document) for document in documents]
        if self.settings.replace == "rewrite":
            masked = self.masked
            clean, _ = yield from rewrite(
                documents, clean, masked.masker, masked.rewritten
            )
        return tuple(clean)

    def save(self, path: str | Path, key: bytes | None = None) -> None:
        """
        Write the plan to a file, sealed; see `sdrag.linkage.plan_file.save_plan`.

        Args:
            path: Of the file; one that is there is replaced.
            key: What it is sealed with, of 16 bytes or more; the plan's by default.

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
        Open a plan that was saved.

        Args:
            path: Of the file.
            key: That it was sealed with.
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
        runner: EffectRunner | None = None,
    ) -> Update:
        """
        Follow a change of the corpus.

        Args:
            changed: Documents that are new, or replace those with their id.
            removed: Ids of documents that are gone.
            detector: Finds entities in the changed documents.
            mentions: What was found in them, in place of a detector.
            runner: Answers effects; the same embeddings as when it was fitted.

        Raises:
            UsageError: A document that is to be removed is not there.
        """
        steps = self.updating(changed, removed, detector, mentions=mentions)
        return run(steps, runner or local_runner())

    def updating(
        self,
        changed: Sequence[Passage] = (),
        removed: Collection[str] = (),
        detector: Detector | Extractor | None = None,
        *,
        mentions: Mentions | None = None,
    ) -> Steps[Update]:
        """Follow a change, yielding effects; see `updated` for the arguments."""
        if len({document.id for document in changed}) != len(changed):
            raise UsageError(
                "Two documents have the same id.", hint="Give each document its own id."
            )
        if not set(removed) <= self.documents.keys():
            raise UsageError(
                "An id in `removed` is not in the corpus.",
                hint="Give ids of documents that the plan was fitted on.",
            )
        if not changed:
            detector, mentions = None, []
        gone = set(removed) | {document.id for document in changed}
        left = {k: v for k, v in self.found.items() if k not in gone}
        kept, found, raw = yield from detected(
            changed, self.settings, detector, mentions, list(left.values())
        )
        documents = {k: v for k, v in self.documents.items() if k not in gone}
        entries = dict(left)
        for document, row in zip(kept, found, strict=True):
            documents[document.id], entries[document.id] = document, row
        earlier = {k: v for k, v in self.mentions.items() if k not in gone}
        raw = earlier | dict(raw)
        entries |= _looked_again(documents, raw, self.settings)
        if isinstance(detector, Extractor):
            entries = _learned(documents, entries)
        plan = PlanInput(self.settings, documents, entries, raw, self.key)
        carried = self.masked.carried
        vectors = self.masked.assessment.resolved.vectors
        fitted = yield from plan.fitted(carried, vectors)
        renewed = {document.id for document in kept}
        stale = self._stale(fitted)
        again = tuple(
            masked
            for id_, masked in zip(documents, fitted.masked.documents, strict=True)
            if id_ in renewed or id_ in stale
        )
        return Update(fitted, stale, len(changed) - len(kept), again)

    def _stale(self, later: Fitted) -> tuple[str, ...]:
        """Return ids of unchanged documents whose masked text is another."""
        before = dict(zip(self.documents, self.masked.documents, strict=True))
        after = dict(zip(later.documents, later.masked.documents, strict=True))
        return tuple(
            id_
            for id_, document in later.documents.items()
            if self.documents.get(id_) is document
            and before[id_].text != after[id_].text
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Update(Confidential):
    """
    What a change of the corpus brought.

    Args:
        fitted: The plan as it is.
        stale: Earlier documents that must be masked, and indexed, anew.
        withheld: How many changed documents could not be read.
        documents: What is to be indexed now, masked: the changed ones and the stale.
    """

    fitted: Fitted
    stale: tuple[str, ...]
    withheld: int = 0
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
) -> Fitted:
    """
    Fit a plan on a whole corpus; see `mask_corpus` for the arguments.

    A part of a corpus will not do: what links people is seen only in the whole.
    """
    section = read_settings(settings)
    steps = fit_steps(documents, section, detector, mentions=mentions, key=key)
    return run(steps, runner or local_runner())


def fit_steps(
    documents: Sequence[Passage],
    settings: LinkageSection,
    detector: Detector | Extractor | None = None,
    *,
    mentions: Mentions | None = None,
    key: bytes | None = None,
) -> Steps[Fitted]:
    """Fit, yielding effects; see `mask_corpus` for the arguments."""
    kept, found, raw = yield from detected(documents, settings, detector, mentions)
    entries = {document.id: row for document, row in zip(kept, found, strict=True)}
    if len(entries) != len(kept):
        raise UsageError(
            "Two documents have the same id.", hint="Give each document its own id."
        )
    plan = PlanInput(settings, {d.id: d for d in kept}, entries, raw, key)
    return (yield from plan.fitted())


@dataclass(frozen=True, slots=True, repr=False)
class PlanInput(Confidential):
    """
    What a plan is made of.

    Args:
        settings: The linkage section.
        documents: The corpus, by id.
        found: What was found in each document.
        mentions: What a detector found in each document, before a second look.
        key: For ids and pseudonyms.
        name: Of the plan, where it had one before.
    """

    settings: LinkageSection
    documents: Mapping[str, Passage]
    found: Mapping[str, tuple[Found, ...]]
    mentions: Mapping[str, tuple[Mention, ...]]
    key: bytes | None
    name: str = ""

    def fitted(
        self,
        carried: Carried = _NOTHING,
        vectors: Vectors | None = None,
        placement: Placement = HERE,
    ) -> Steps[Fitted]:
        """
        Fit a plan.

        Args:
            carried: What an earlier plan masked.
            vectors: Of forms that were embedded before.
            placement: Where the documents are masked, and their links are found.
        """
        masked = yield from mask_found(
            list(self.documents.values()),
            [self.found[id_] for id_ in self.documents],
            self.settings,
            self.key,
            carried,
            vectors,
            placement=placement,
        )
        return Fitted(
            self.settings,
            self.documents,
            self.found,
            masked,
            self.key,
            self.mentions,
            self.name or secrets.token_hex(8),
        )


def _looked_again(
    documents: Mapping[str, Passage],
    mentions: Mapping[str, tuple[Mention, ...]],
    settings: LinkageSection,
) -> dict[str, tuple[Found, ...]]:
    """Look in every document for what a detector found in any; return it by id."""
    if not mentions:
        return {}
    whole = [documents[id_] for id_ in mentions]
    again = look_again([document.text for document in whole], list(mentions.values()))
    found = found_in(whole, again, weights_of(settings))
    return dict(zip(mentions, found, strict=True))


def _learned(
    documents: Mapping[str, Passage], found: Mapping[str, tuple[Found, ...]]
) -> dict[str, tuple[Found, ...]]:
    """Look in every document for what a model found in any; return it by id."""
    texts = [documents[id_].text for id_ in found]
    rows = found_elsewhere(texts, list(found.values()))
    return {
        id_: (*row, *more) for (id_, row), more in zip(found.items(), rows, strict=True)
    }
