"""
Masking a corpus on Ray: three passes over the texts, and a plan in one process.

1. A detector reads each text.
2. Each text is looked through again for what was found in all of them.
3. Links are found and the plan is made by the caller, from columns of numbers.
4. Each text is masked by the plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sdrag.detectors import Detector
from sdrag.detectors.local import LocalDetector
from sdrag.distributed.plain import (
    as_found,
    as_passages,
    as_recipe,
    plain_found,
    plain_passages,
    plain_recipe,
)
from sdrag.distributed.session import RayOptions, ray_session
from sdrag.distributed.workers import Work, placed
from sdrag.effects.progress import batched
from sdrag.effects.steps import run
from sdrag.linkage.entity_schema import weights_of
from sdrag.linkage.masking import Masked, mask_found
from sdrag.linkage.mentions import Found, found_in
from sdrag.linkage.placement import Cleaned, Here, cleaned_by
from sdrag.linkage.replacing import Masker
from sdrag.linkage.second_look import KnownForms
from sdrag.linkage.settings import SettingsSource, local_runner, read_settings
from sdrag.vocabulary import Decision, Mention, Passage

__all__ = ["RayPlacement", "mask_corpus"]

_AT_ONCE = 64


class RayPlacement:
    """
    Work on the documents of a corpus, on Ray, which is running.

    Args:
        options: How Ray is used.
    """

    __slots__ = ("_options",)

    def __init__(self, options: RayOptions | None = None) -> None:
        self._options = options or RayOptions()

    def detected(
        self, texts: Sequence[str], detector: Detector
    ) -> Iterator[tuple[Mention, ...] | None]:
        """Yield what a detector finds in each text; the detector is pickled."""
        return self._each(_detecting, (detector,), batched(texts, _AT_ONCE), texts)

    def looked_again(
        self,
        documents: Sequence[Passage],
        mentions: Sequence[Sequence[Mention]],
        weights: Mapping[str, float],
    ) -> Iterator[tuple[Found, ...]]:
        """Yield what is found in each text, knowing what was found in all."""
        texts = [document.text for document in documents]
        known = KnownForms.of(texts, mentions)
        parcels = (
            tuple(zip(*some, strict=True))
            for some in batched(zip(texts, mentions, strict=True), _AT_ONCE)
        )
        common = ((known.forms, known.codes, known.spelled), weights)
        for row in self._each(_looking_again, common, parcels, texts):
            yield from as_found([row])

    def cleaned(
        self, documents: Sequence[Passage], masker: Masker
    ) -> Iterator[Cleaned]:
        """Yield each document with its masked forms replaced."""
        parcels = map(plain_passages, batched(documents, _AT_ONCE))
        common = (plain_recipe(masker.recipe),)
        for row, spans in self._each(_cleaning, common, parcels, documents):
            (document,) = as_passages([row])
            yield document, spans

    def _each(
        self, make: Any, common: Sequence[Any], parcels: Any, items: Sequence[Any]
    ) -> Iterator[Any]:
        count = -(-len(items) // _AT_ONCE)
        for answers in placed(make, common, parcels, count, self._options):
            yield from answers


def mask_corpus(
    documents: Sequence[Passage],
    settings: SettingsSource = None,
    detector: Detector | None = None,
    *,
    key: bytes | None = None,
    options: RayOptions | None = None,
) -> Masked:
    """
    Mask what links people across a corpus; as `sdrag.linkage.mask_corpus`, on Ray.

    Args:
        documents: The whole corpus; ids must differ. Not changed.
        settings: A linkage section, a policy, a mapping or a path.
        detector: Finds entities; the local detector if not given. It is pickled.
        key: For ids and pseudonyms that stay the same from run to run.
        options: How Ray is used.

    Raises:
        MissingExtraError: The extra `ray` is not installed.
        HostError: Ray or a worker failed; nothing is returned.
    """
    section, found_by = read_settings(settings), detector or LocalDetector()
    texts = [document.text for document in documents]
    with ray_session(options):
        placement = RayPlacement(options)
        rows = list(placement.detected(texts, found_by))
        read = [
            (d, row) for d, row in zip(documents, rows, strict=True) if row is not None
        ]
        kept = [document for document, _ in read]
        mentions = [row for _, row in read]
        found = list(placement.looked_again(kept, mentions, weights_of(section)))
        steps = mask_found(kept, found, section, key, placement=placement)
        masked = run(steps, local_runner())
    names = {document.id for document in kept}
    withheld = (
        Decision(
            masked.masker.alias(document.id), "withheld", "linkage", "detector-failed"
        )
        for document in documents
        if document.id not in names
    )
    return replace(masked, decisions=(*masked.decisions, *withheld))


def _detecting(detector: Detector) -> Work:
    here = Here()
    return lambda texts: list(here.detected(texts, detector))


def _looking_again(held: Sequence[Any], weights: Mapping[str, float]) -> Work:
    known = KnownForms(*held)

    def look(parcel: Sequence[Sequence[Any]]) -> list[Any]:
        texts, mentions = parcel
        documents = [Passage("", text) for text in texts]
        return plain_found(found_in(documents, known.look(texts, mentions), weights))

    return look


def _cleaning(recipe: Sequence[Any]) -> Work:
    masker = Masker.of_recipe(as_recipe(tuple(recipe)))

    def clean(rows: Sequence[Any]) -> list[Any]:
        cleaned = [cleaned_by(masker, document) for document in as_passages(rows)]
        return [(plain_passages([one])[0], spans) for one, spans in cleaned]

    return clean
