"""
Disclosure control of the passages of one question (SD-RAG, section III-C), and ingest.

What constraints withhold is a fact about a chunk: it is looked up, or located now where
nobody has looked before. Then everything that a constraint withholds is cut out of
text, metadata and ids. Whatever cannot be decided is withheld. Without a top K every
constraint that binds is enforced, so the same chunk always leaves the same. The query
serves ranking alone: no prompt here can hold it.

At ingest constraints are bound to a corpus, and located in it. Documents are read
whole, some at a time; what was located is kept before the next ones are read, so an
interrupted run goes on where it stopped. A new constraint holds from the next question
on: what was never read for it is read then, or when the corpus is bound again. The
state knows constraints by a fingerprint of their words, so a reworded one is a new one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from sdrag.disclosure.binding import FEW, Candidates, bind, choose_for
from sdrag.disclosure.locate import locate_texts
from sdrag.disclosure.lookup import doubt_documents, find_unreadable
from sdrag.disclosure.model.extract import extract
from sdrag.disclosure.model.rephrase import rephrase
from sdrag.disclosure.propagation import Propagation
from sdrag.disclosure.release import Cutter, record_decision
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.texts import LAYER_KEY, Group, Texts, by_document, name_documents
from sdrag.effects.progress import Progress
from sdrag.effects.steps import Steps, replied, try_each
from sdrag.errors import SdragError
from sdrag.policy import binds
from sdrag.privacy.identities import alias
from sdrag.vocabulary import (
    Decision,
    Passage,
    Principal,
    Redaction,
)

_TRIED = Passage("tried", "The library opens at nine.")


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

    Nothing is raised for a passage that cannot be decided: it is withheld.

    Args:
        passages: As retrieved.
        query: Ranks constraints, and goes nowhere else.
        principal: May lift constraints by `unless`.
        setup: The engine.
    """
    try:
        texts = Texts(tuple(passages), setup.rules, setup.policy.metadata)
        candidates = yield from choose_for(texts.passages, query, principal, setup)
        cutter = yield from enforce(texts, candidates, setup)
        redactions = release_all(replace(cutter, exempt=_find_exempt(principal, setup)))
    except SdragError as error:
        return _withhold_all(passages, error, setup)
    left_out = candidates.decisions
    return Disclosed(redactions, (*map(record_decision, redactions), *left_out))


def _find_exempt(principal: Principal | None, setup: DisclosureSetup) -> frozenset[str]:
    """Return the constraints whose values a principal is given in the answer."""
    if not setup.policy.disclosure.restore:
        return frozenset()
    return frozenset(rule.id for rule in setup.rules if not binds(rule, principal))


def enforce(
    texts: Texts,
    candidates: Candidates,
    setup: DisclosureSetup,
    *,
    from_document: bool = False,
) -> Steps[Cutter]:
    """Locate what constraints withhold in texts, and say what is cut."""
    located = yield from locate_texts(
        texts, setup, candidates.asked, from_document=from_document
    )
    doubts = doubt_documents(located)
    if not setup.has_model and setup.locator.meaning:  # else it is read again
        doubts |= find_unreadable(located.known)
    located = replace(located, doubts=doubts)
    names = {rule.id for rule in candidates.applied}
    many = len(texts.passages)
    applied = [
        tuple(name for name in ids if name in names) for ids in texts.applied[:many]
    ]
    cutter = Cutter(Propagation(located), applied)
    writes = setup.has_model and not setup.is_small
    if writes and any(r.method == "rephrase" for r in candidates.applied):
        cutter = yield from rephrase(cutter, setup)
    return cutter


def release_all(cutter: Cutter) -> tuple[Redaction, ...]:
    """Cut out of each passage what its constraints withhold."""
    outcomes = try_each(cutter.release, range(len(cutter.applied)))
    return tuple(map(replied, outcomes))


def model_fails(setup: DisclosureSetup) -> Steps[bool]:
    """Try the model on a fixed text: whether it fails depends on no document."""
    rules = [rule for rule in setup.rules if rule.id not in setup.blanket_rules]
    if not setup.has_model or not rules:
        return False
    group = Group((0,), (_TRIED,), (rules[0],))
    tried = yield from extract([group], setup)
    return bool(tried.doubts)


def _withhold_all(
    passages: Sequence[Passage], error: SdragError, setup: DisclosureSetup
) -> Disclosed:
    """Withhold everything; ids are aliased, for nobody has looked at them."""
    redactions = tuple(
        Redaction(None, alias(passage.id, setup.key), reason=error.code)
        for passage in passages
    )
    return Disclosed(redactions, tuple(map(record_decision, redactions)))


_CHARACTERS, _FOR_A_CALL, _MOST = 20_000, 2_000, 40_000
"""So much text is read between two commits; with a model, so much for each of its calls
that may run at once, up to the most."""


@dataclass(frozen=True, slots=True)
class Ingested:
    """
    What came of a corpus.

    Args:
        passages: How many there were.
        located: For how many of them every constraint could be decided.
        read: How many texts had to be read: the others were known.
        reasons: Why the others could not be decided, as codes: for how many of them.
    """

    passages: int = 0
    located: int = 0
    read: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: Ingested) -> Ingested:
        return Ingested(
            self.passages + other.passages,
            self.located + other.located,
            self.read + other.read,
            self.reasons + other.reasons,
        )


def ingest(
    passages: Sequence[Passage],
    setup: DisclosureSetup,
    progress: Progress | None = None,
) -> Steps[Ingested]:
    """
    Bind the constraints of a policy to passages, and locate what they withhold.

    Args:
        passages: Of the corpus; those of one document come together, in their order.
        setup: The engine.
        progress: Is called after every step.
    """
    if setup.has_model and len(setup.policy.rules) > FEW:
        for batch in _batches(passages, setup):  # the whole corpus chooses what to ask
            yield from _bind_new(batch, setup)
    return (yield from locate(passages, setup, progress, binds=True))


def _bind_new(passages: Sequence[Passage], setup: DisclosureSetup) -> Steps[None]:
    if not setup.has_embeddings:
        return
    rules = setup.policy.rules
    asked = [rule for rule in rules if not rule.always]
    # Not to summaries: for what may say anything, every constraint may hold.
    chunks = [passage for passage in passages if not passage.metadata.get(LAYER_KEY)]
    known = setup.state.bindings.read(chunks, asked)
    new = [p for p, bound in zip(chunks, known, strict=True) if bound is None]
    yield from bind(new, rules, setup.state, setup.policy.disclosure)


def locate(
    passages: Sequence[Passage],
    setup: DisclosureSetup,
    progress: Progress | None = None,
    *,
    binds: bool = False,
) -> Steps[Ingested]:
    """Locate what constraints withhold in whole documents, or bind them too."""
    done = Ingested()
    unlimited = replace(setup, policy=setup.policy.without_limits())
    for batch in _batches(passages, setup):
        if binds:
            yield from _bind_new(batch, setup)
        texts = Texts(batch, setup.rules, setup.policy.metadata)
        candidates = yield from choose_for(batch, "", None, unlimited)
        chosen = candidates.asked
        located = yield from locate_texts(texts, setup, chosen, from_document=True)
        if setup.has_embeddings:
            setup.state.bindings.place({p.id: setup.document_of(p) for p in batch})
        doubts = located.doubts | located.fallbacks
        doubtful = {text_index for text_index, _ in doubts}
        codes = dict.fromkeys((index, code) for (index, _), code in doubts.items())
        reasons = Counter(code for _, code in codes)
        known = len(batch) - len(doubtful)
        done += Ingested(len(batch), known, located.read, reasons)
        if progress is not None:
            progress(done.passages, len(passages))
    return done


def forget_document(passages: Sequence[Passage], setup: DisclosureSetup) -> Steps[None]:
    """Forget documents that left the index, with all that was located in them."""
    state = setup.state
    keys = setup.policy.disclosure.document_keys
    named = name_documents(passages, keys)
    documents = {setup.document_of(passage) for passage in named}
    yield from ()
    state.findings.forget(documents)
    state.bindings.forget(passage.id for passage in passages)


def _batches(
    passages: Sequence[Passage], setup: DisclosureSetup
) -> Iterator[tuple[Passage, ...]]:
    """Yield whole documents, so many together that little is lost by a commit."""
    batch: list[Passage] = []
    size = _CHARACTERS
    if setup.has_model:
        size = min(_MOST, _FOR_A_CALL * setup.limits.concurrency)
    left = size
    for text_indices in by_document(passages):
        batch += (passages[text_index] for text_index in text_indices)
        left -= sum(len(passages[text_index].text) for text_index in text_indices)
        if left <= 0:
            yield tuple(batch)
            batch, left = [], size
    if batch:
        yield tuple(batch)
