"""
What becomes of passages that talk to the model: drop, strip the sentence, or flag.

"Malicious content enters through a trusted channel (the knowledge base) rather than
from the user" (section 3.5), so retrieved text gets the suspicion that user input
gets. A passage that could not be scanned to its end is doubt, and is dropped whatever
the action. What was stripped is scanned again, and dropped if it is still suspicious.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

from sdrag.effects.limits import Limits, readable
from sdrag.effects.steps import Failure, Outcome, Reply, Steps
from sdrag.errors import LocalLimitError
from sdrag.guardrails.injection import InjectionSection
from sdrag.guardrails.injection.scan import RULE, ScanResult, scan_passages
from sdrag.guardrails.results import Retrieval, Screened
from sdrag.text.sentences import sentences
from sdrag.text.spans import SpanUnion, merge, splice
from sdrag.vocabulary import Decision, Passage


def at_retrieval(
    passages: Sequence[Passage], section: InjectionSection, retrieval: Retrieval
) -> Steps[Screened]:
    """Scan passages, and the metadata of theirs that may leave."""
    return (
        yield from screen(
            passages,
            section,
            classifier=retrieval.has_judge,
            metadata_keys=retrieval.metadata_keys,
            limits=retrieval.limits,
        )
    )


def screen(
    passages: Sequence[Passage],
    section: InjectionSection,
    *,
    classifier: bool = False,
    metadata_keys: Sequence[str] | None = None,
    limits: Limits | None = None,
) -> Steps[Screened]:
    """
    Scan passages and do with each what the policy says.

    `classifier`: ask the classifier that was passed too, as `Score` pairs of the text
    and nothing, under the name `injection`; it answers the probability of an injection.
    `limits`: they are the passages of one request, and are read within its limits.
    """
    fits = [True] * len(passages)
    if limits is not None:
        fits = readable([passage.text for passage in passages], limits)
    within = yield from scan_passages(
        list(compress(passages, fits)),
        section,
        classifier=classifier,
        metadata_keys=metadata_keys,
        together=limits is not None,
    )
    scanned = iter(within)
    over = Failure(LocalLimitError("A text is over the limit."))
    scans = [next(scanned) if fit else over for fit in fits]
    stripped = yield from _strip(passages, scans, section)
    kept: list[Passage] = []
    decisions: list[Decision] = []
    for index, (passage, scan) in enumerate(zip(passages, scans, strict=True)):
        passed, decision = _decide(passage, scan, stripped.get(index), section)
        decisions += [decision] if decision else []
        kept += [passed] if passed else []
    return Screened(tuple(kept), tuple(decisions))


def _decide(
    passage: Passage,
    outcome: Outcome[ScanResult],
    stripped: tuple[Passage, int] | None,
    section: InjectionSection,
) -> tuple[Passage | None, Decision | None]:
    """Return the passage as it goes on, if it does, and what was decided."""
    if isinstance(outcome, Failure):
        over = isinstance(outcome.error, LocalLimitError)
        reason = "over-local-limit" if over else "scan-failed"
        return None, Decision(passage.id, "dropped", RULE, reason)
    reason = _reason(outcome.value)
    if not reason:
        return passage, None
    if section.action == "flag" and not outcome.value.whole:
        return passage, Decision(passage.id, "flagged", RULE, reason)
    if stripped is not None:
        rest, cuts = stripped
        return rest, Decision(passage.id, "redacted", RULE, reason, spans=cuts)
    return None, Decision(passage.id, "dropped", RULE, reason)


def _reason(scan: ScanResult) -> str:
    if scan.suspicions:
        return max(scan.suspicions, key=lambda item: item.score).reason
    return next((f"metadata:{reason}" for reason in scan.metadata.values()), "")


def _strip(
    passages: Sequence[Passage],
    scans: Sequence[Outcome[ScanResult]],
    section: InjectionSection,
) -> Steps[dict[int, tuple[Passage, int]]]:
    """Strip what is suspicious, by place, and keep what is clean when read again."""
    if section.action != "strip":
        return {}
    rests: dict[int, tuple[Passage, int]] = {}
    for index, (passage, scan) in enumerate(zip(passages, scans, strict=True)):
        if isinstance(scan, Failure):
            continue
        if _reason(scan.value) and not scan.value.whole:
            rest, cuts = _without(passage, scan.value)
            if rest.text:
                rests[index] = rest, cuts
    again = yield from scan_passages(
        [rest for rest, _ in rests.values()],
        section,
        classifier=False,
        metadata_keys=(),
    )
    return {
        index: rest
        for (index, rest), scan in zip(rests.items(), again, strict=True)
        if isinstance(scan, Reply) and not scan.value.suspicions
    }


def _without(passage: Passage, scan: ScanResult) -> tuple[Passage, int]:
    """Cut every sentence that a suspicion touches, and every such key."""
    text = passage.text
    spans = [suspicion.span for suspicion in scan.suspicions]
    touched = merge([*spans, *filter(SpanUnion(spans).overlaps, sentences(text))])
    rest = splice(text, touched, lambda _: "").strip() if touched else text
    metadata = {
        key: value
        for key, value in passage.metadata.items()
        if key not in scan.metadata
    }
    cuts = len(touched) + len(scan.metadata)
    return replace(passage, text=rest, metadata=metadata), cuts
