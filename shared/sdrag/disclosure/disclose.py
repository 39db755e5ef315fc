"""
Disclosure control of the passages of one question (SD-RAG, section III-C).

Candidates are bound and ranked; the local locator and, where there is one, the model
say which spans each constraint withholds; the two are united, so a passage that talks
the model into "nothing to redact" opens nothing that the local detectors see; then
everything found is cut out of text, metadata and ids. Whatever cannot be judged is
withheld. The query serves ranking alone: no prompt here can hold it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sdrag.disclosure.candidates import Candidates, candidates
from sdrag.disclosure.extraction import Extraction, extract
from sdrag.disclosure.fingerprints import audience, fingerprint
from sdrag.disclosure.local import networks
from sdrag.disclosure.monotone import ROUNDS, Before, OvertakenError, keep, recall
from sdrag.disclosure.periphrasis import periphrasis
from sdrag.disclosure.picking import picked
from sdrag.disclosure.placeholders import beside_placeholders, placeholders
from sdrag.disclosure.redaction import cut, sweep_documents
from sdrag.disclosure.release import (
    Judged,
    Release,
    decision,
    read,
    release,
    withheld,
    written,
)
from sdrag.disclosure.setup import DisclosureSetup, Locator, Withheld
from sdrag.disclosure.texts import Group, Texts
from sdrag.errors import InternalError, SdragError
from sdrag.identities import alias
from sdrag.policy import binds
from sdrag.steps import Failure, Outcome, Reply, Steps, beside, compute, replied
from sdrag.vocabulary import (
    Confidential,
    Constraint,
    Decision,
    Finding,
    Passage,
    Principal,
    Redaction,
)

__all__ = ["Disclosed", "disclose"]


@dataclass(frozen=True, slots=True)
class Disclosed:
    """One redaction per passage, in order, and what was decided."""

    redactions: tuple[Redaction, ...]
    decisions: tuple[Decision, ...]


def disclose(
    passages: Sequence[Passage],
    query: str,
    principal: Principal | None,
    setup: DisclosureSetup,
) -> Steps[Disclosed]:
    """
    Enforce the policy's constraints on passages.

    Nothing is raised for a passage that cannot be judged: it is withheld.

    Args:
        passages: As retrieved.
        query: Ranks constraints, and goes nowhere else.
        principal: May lift constraints by `unless`.
        setup: The engine.
    """
    ask = _Ask(passages, query, principal, setup)
    try:
        shortcut = _shortcut(ask)
        known = yield from _recalled(shortcut, setup)
        if known is not None:
            chosen, releases = known
        else:
            section = setup.policy.disclosure
            chosen = yield from candidates(
                passages,
                query,
                principal,
                setup.rules,
                setup.bindings,
                section,
                has_model=setup.has_model,
            )
            if setup.has_model and section.candidates_by == "model":
                texts = ask.texts(chosen)
                chosen = yield from picked(chosen, texts, section, setup.key)
            chosen, releases = yield from _enforced(ask, chosen, shortcut)
    except SdragError as error:
        return _nothing(passages, error, setup)
    redactions = tuple(
        one.of(passage, passages)
        for one, passage in zip(releases, passages, strict=True)
    )
    return Disclosed(redactions, _decisions(redactions, chosen))


class _Ask(Confidential):
    """One question's passages, for whom, under which setup."""

    __slots__ = ("passages", "principal", "query", "seen", "setup")

    def __init__(
        self,
        passages: Sequence[Passage],
        query: str,
        principal: Principal | None,
        setup: DisclosureSetup,
    ) -> None:
        self.passages = tuple(passages)
        self.query = query
        self.principal = principal
        self.setup = setup
        policy, cache = setup.policy, setup.cache
        self.seen = [
            fingerprint(self.passages, setup.keys, policy, cache),
            setup.model_id,
            str(setup.has_model),
            networks(),
            *audience(principal),
        ]

    def texts(self, chosen: Candidates) -> Texts:
        """Lay the texts out for the constraints that were chosen."""
        return Texts(self.passages, chosen.applied, self.setup.policy.metadata.allow)

    def rules(self) -> list[Constraint]:
        """Return the constraints that bind the principal."""
        return [rule for rule in self.setup.rules if binds(rule, self.principal)]


def _shortcut(ask: _Ask) -> bytes | None:
    """
    Return what the releases are known by before constraints are chosen.

    There is none where choosing depends on more than the passages and a sidecar that
    stands still: a top K depends on the query, and a history goes on.
    """
    setup, section = ask.setup, ask.setup.policy.disclosure
    stamp: Callable[[], str] | None = getattr(setup.bindings, "stamp", None)
    limited = section.top_k is not None or section.max_candidates is not None
    if stamp is None or limited or setup.history is not None:
        return None
    lifted = [r.id for r in setup.conditional if not binds(r, ask.principal)]
    return setup.cache.key(["shortcut", stamp(), ",".join(lifted), *ask.seen])


def _recalled(
    shortcut: bytes | None, setup: DisclosureSetup
) -> Steps[tuple[Candidates, Sequence[Release]] | None]:
    """Look up the releases that a shortcut leads to, and what a model left out."""
    if shortcut is None:
        return None
    (known,) = yield from compute(setup.cache.get, [shortcut])
    if not isinstance(known, Reply) or known.value is None:
        return None
    key, _, names = known.value.partition(" ")
    releases = yield from _found(bytes.fromhex(key), setup)
    if releases is None:
        return None
    left = frozenset(names.split(",")) if names else frozenset()
    unpicked = tuple(r for r in setup.policy.rules if r.id in left) if left else ()
    return Candidates((), unpicked=unpicked), releases


def _found(key: bytes, setup: DisclosureSetup) -> Steps[Sequence[Release] | None]:
    """Look up releases; what was cut out of them must be known too, where asked."""
    (known,) = yield from compute(setup.cache.get, [key])
    if not isinstance(known, Reply) or known.value is None:
        return None
    releases = read(known.value)
    if setup.withheld is None or all(map(setup.withheld.recall, _cut(releases))):
        return releases
    return None


def _enforced(
    ask: _Ask, chosen: Candidates, shortcut: bytes | None
) -> Steps[tuple[Candidates, Sequence[Release]]]:
    """Enforce what was chosen; where asked, also what was withheld before."""
    history = ask.setup.history
    if history is None:
        return chosen, (yield from _remembered(ask, chosen, Before(), shortcut))
    for _ in range(ROUNDS):
        rules = ask.rules()
        before = yield from recall(ask.texts(chosen), rules, history)
        chosen = before.joined(chosen, rules)
        with suppress(OvertakenError):
            return chosen, (yield from _remembered(ask, chosen, before))
    raise InternalError("What is withheld did not come to rest.")


def _remembered(
    ask: _Ask, chosen: Candidates, before: Before, shortcut: bytes | None = None
) -> Steps[Sequence[Release]]:
    """Look the releases up, or judge and remember them unless one is doubtful."""
    setup, cache = ask.setup, ask.setup.cache
    applied = ",".join(rule.id for rule in chosen.applied)
    parts = ["releases", applied, ",".join(sorted(chosen.to_ask())), *ask.seen]
    key = cache.key([*parts, *before.key_parts()])
    releases = yield from _found(key, setup)
    if releases is None:
        judged = yield from _judge(ask, chosen, before)
        key = cache.key([*parts, *judged.before.key_parts()])
        releases = tuple(release(judged, i) for i in range(len(ask.passages)))
        if setup.withheld is not None:
            _note(judged, releases, setup.withheld)
        if any(one.doubtful for one in releases):
            return releases
        yield from compute(lambda one: cache.put(key, written(one)), [releases])
    if shortcut is not None:
        left = ",".join(rule.id for rule in chosen.unpicked)
        yield from compute(
            lambda one: cache.put(shortcut, one), [f"{key.hex()} {left}"]
        )
    return releases


def _cut(releases: Sequence[Release]) -> Iterator[Passage]:
    """Yield the passages that leave with something cut out, as they leave."""
    for one in releases:
        if one.spans and one.text is not None:
            yield Passage(one.id, one.text)


def _note(judged: Judged, releases: Sequence[Release], withheld: Withheld) -> None:
    """Tell what was cut out of each passage, in every form that was found."""
    for one, swept in zip(releases, judged.swept, strict=False):
        for passage in _cut([one]):
            needles = (swept.needles[name] for name in one.constraint_ids)
            withheld.remember(
                passage, (form for own in needles for form in own.forms())
            )


def _judge(ask: _Ask, chosen: Candidates, before: Before) -> Steps[Judged]:
    texts, setup = ask.texts(chosen), ask.setup
    section, locating = setup.policy.disclosure, _located(texts, setup)
    if setup.has_model:
        asked = chosen.to_ask() - setup.closed.keys()
        extracting = extract(texts.groups(asked), section, setup.key)
        extraction, located = yield from beside(extracting, locating)
        findings, doubts = located
        _unite(findings, doubts, extraction)
    else:
        findings, doubts = yield from locating
    said = placeholders(texts.constraints, section)
    marks = (section.placeholder, *said.values())
    plain = [text.text for text in texts.all]
    for place, applied in enumerate(texts.applied):
        own = [f for f in findings[place] if f.constraint_id in applied]
        findings[place] = beside_placeholders(plain[place], own, marks)
    swept = sweep_documents(texts.all, findings, texts.constraints, said)
    for place in range(len(plain)):
        findings[place] += before.findings(place)
    outcomes = yield from compute(
        lambda place: cut(
            plain[place], findings[place], texts.applied[place], swept[place]
        ),
        range(len(plain)),
    )
    cuts = [replied(outcome) for outcome in outcomes]
    if setup.history is not None:
        before = yield from keep(texts, cuts, swept, ask.rules(), setup.history)
    judged = Judged(texts, cuts, doubts, swept, setup.key, setup.closed, before=before)
    if setup.has_model and any(r.method == "rephrase" for r in texts.constraints):
        return (yield from periphrasis(judged, findings, section))
    return judged


def _located(
    texts: Texts, setup: DisclosureSetup
) -> Steps[tuple[dict[int, list[Finding]], dict[tuple[int, str], str]]]:
    """Ask the local engine; what it could not read is in doubt."""
    findings: dict[int, list[Finding]] = {place: [] for place in range(len(texts.all))}
    doubts: dict[tuple[int, str], str] = {}
    for group in texts.groups():
        outcomes = yield from _asked(setup.locator, group)
        for place, outcome in zip(group.places, outcomes, strict=True):
            if isinstance(outcome, Failure):
                names = [rule.id for rule in group.constraints]
                doubts |= {(place, name): "detector-failed" for name in names}
            else:
                findings[place] = list(outcome.value)
    return findings, doubts


def _asked(locator: Locator, group: Group) -> Steps[list[Outcome[tuple[Finding, ...]]]]:
    """Ask a locator; whatever a plug-in does wrong puts all its texts in doubt."""
    fault: SdragError
    try:
        outcomes = yield from locator.locate(group.texts, group.constraints)
    except SdragError as error:
        fault = error.sealed()
    except Exception as error:  # noqa: BLE001 -- its message may quote the texts
        fault = InternalError(f"A locator failed with {type(error).__name__}.")
    else:
        if len(outcomes) == len(group.texts):
            return list(outcomes)
        fault = InternalError("A locator did not answer for every text.")
    return [Failure(fault)] * len(group.texts)


def _unite(
    findings: dict[int, list[Finding]],
    doubts: dict[tuple[int, str], str],
    extraction: Extraction,
) -> None:
    for place, found in extraction.findings.items():
        findings[place] = [*findings[place], *found]
    doubts.update(extraction.doubts)


def _decisions(
    redactions: Sequence[Redaction], chosen: Candidates
) -> tuple[Decision, ...]:
    return tuple(map(decision, redactions)) + tuple(
        Decision(
            "constraints", "dropped", "ranking", reason, tuple(r.id for r in rules)
        )
        for reason, rules in chosen.left_out().items()
        if rules
    )


def _nothing(
    passages: Sequence[Passage], error: SdragError, setup: DisclosureSetup
) -> Disclosed:
    """Withhold everything; ids are aliased, for nobody has looked at them."""
    code = f"failed-{type(error).__name__.removesuffix('Error').lower()}"
    redactions = tuple(
        withheld(alias(passage.id, setup.key), code) for passage in passages
    )
    return Disclosed(redactions, tuple(map(decision, redactions)))
