"""
Fit on a corpus, apply to a stream, and follow the corpus as it changes.

Detecting and embedding are what costs; so what was found in a document is kept, with
the vectors of its forms, and a change detects and embeds only what is new. What a
detector found in one document is looked for in all, old and new. Frequencies
and the number of documents enter every uniqueness, so the plan is made anew over the
columns, which takes seconds for a hundred thousand documents. What was masked once
stays masked: a value that has been taken out must not come back because it has become
more common. So a change can only add to the masks, and the update names the earlier
documents in which something more is to be masked.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sdrag.detectors import Detector
from sdrag.engine.steps import EffectRunner, Steps, compute, replied, run
from sdrag.errors import UsageError
from sdrag.linkage.entity_schema import weights_of
from sdrag.linkage.masking import Masked, detected, mask_found
from sdrag.linkage.mentions import Found, Mentions, found_in
from sdrag.linkage.model_extractor import Extractor
from sdrag.linkage.second_look import look_again
from sdrag.linkage.settings import SettingsSource, local_runner, read_settings
from sdrag.policy import LinkageSection
from sdrag.text.folding import fold_text
from sdrag.vocabulary import Confidential, Decision, Mention, Passage

__all__ = ["Fitted", "Update", "check_whole", "fit", "fit_steps"]


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

    def apply(self, documents: Sequence[Passage]) -> tuple[Passage, ...]:
        """
        Mask further text by the plan, such as chunks of the corpus or a stream.

        Nothing is detected: an entity that the corpus did not hold passes. Use
        `updated` for new documents.
        """
        return tuple(self.masked.cleaned(document) for document in documents)

    def applying(self, documents: Sequence[Passage]) -> Steps[tuple[Passage, ...]]:
        """Mask further text as a step; as `apply`."""
        (outcome,) = yield from compute(self.apply, [documents])
        return replied(outcome)

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
        if not set(removed) <= self.documents.keys():
            raise UsageError(
                "An id in `removed` is not in the corpus.",
                hint="Give ids of documents that the plan was fitted on.",
            )
        if not changed:
            detector, mentions = None, []
        steps = detected(changed, self.settings, detector, mentions)
        kept, found, raw = run(steps, runner or local_runner())
        gone = set(removed) | {document.id for document in changed}
        documents = {k: v for k, v in self.documents.items() if k not in gone}
        entries = {k: v for k, v in self.found.items() if k not in gone}
        for document, row in zip(kept, found, strict=True):
            documents[document.id], entries[document.id] = document, row
        earlier = {k: v for k, v in self.mentions.items() if k not in gone}
        raw = earlier | dict(raw)
        entries |= _looked_again(documents, raw, self.settings)
        fitted = _fitted(documents, entries, raw, self, runner)
        return Update(fitted, self._stale(fitted), len(changed) - len(kept))

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
    """

    fitted: Fitted
    stale: tuple[str, ...]
    withheld: int = 0


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
    masked = yield from mask_found(kept, found, settings, key)
    entries = {document.id: row for document, row in zip(kept, found, strict=True)}
    return Fitted(settings, {d.id: d for d in kept}, entries, masked, key, raw)


def check_whole(fitted: Fitted | None, *, whole_corpus: bool) -> None:
    """
    See that a masker knows the whole corpus: it has a plan, or is given all of it.

    Raises:
        UsageError: It was given neither, or both.
    """
    if (fitted is None) != whole_corpus:
        raise UsageError(
            "A part of a corpus does not show what links people across it.",
            hint="Pass `fitted=`, or `whole_corpus=True` and all of it at once.",
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


def _fitted(
    documents: Mapping[str, Passage],
    found: Mapping[str, tuple[Found, ...]],
    mentions: Mapping[str, tuple[Mention, ...]],
    earlier: Fitted,
    runner: EffectRunner | None,
) -> Fitted:
    entities = earlier.masked.entities
    already = {(e.type, fold_text(form)) for e in entities for form in e.forms}
    steps = mask_found(
        list(documents.values()),
        list(found.values()),
        earlier.settings,
        earlier.key,
        already,
        earlier.masked.assessment.resolved.vectors,
    )
    masked = run(steps, runner or local_runner())
    return Fitted(earlier.settings, documents, found, masked, earlier.key, mentions)
