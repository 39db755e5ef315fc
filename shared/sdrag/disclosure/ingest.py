"""
Ingest: bind constraints to a corpus, and locate what they withhold in it.

Documents are read whole, in the order in which their chunks come, some at a time; what
was bound and located of them is kept before the next ones are read, so an interrupted
run goes on where it stopped. A text that could not be decided stays unlocated, and is
located when it is retrieved. What is to be known again of a document holds for all its
chunks, in whatever batches they come.

Constraints may come, change and go while the index stands. A new one holds from the
next question on: what was never read for it is read then, or when the corpus is bound
again. A reworded one is a new one, since the state knows constraints by a fingerprint
of their words. A removed one is not looked up any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from sdrag.disclosure.binding import FEW, bind, choose_for
from sdrag.disclosure.locate import locate_texts
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.texts import LAYER_KEY, Texts, by_document, name_documents
from sdrag.effects.progress import Progress
from sdrag.effects.steps import Steps
from sdrag.vocabulary import Passage

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
