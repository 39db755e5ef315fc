"""
Ingest: bind constraints to a corpus, and locate what they withhold in it.

Documents are read whole, in the order in which their chunks come, some at a time; what
was located of them is kept before the next ones are read, so an interrupted run goes on
where it stopped. A text that could not be judged stays unlocated, and is located when
it is retrieved. A document whose chunks come in several batches is completed by its
register.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sdrag.disclosure.binding import bind
from sdrag.disclosure.choosing import Choosing
from sdrag.disclosure.documents import by_document, with_documents
from sdrag.disclosure.locating import located
from sdrag.disclosure.setup import DisclosureSetup
from sdrag.disclosure.texts import Texts
from sdrag.engine.progress import Progress
from sdrag.engine.steps import Steps, compute, replied
from sdrag.vocabulary import Passage

__all__ = ["Ingested", "forget_document", "ingest", "locate"]

_CHARACTERS = 40_000
"""So much text is located between two commits."""


@dataclass(frozen=True, slots=True)
class Ingested:
    """
    What came of a corpus.

    Args:
        passages: How many there were.
        located: For how many of them every constraint could be judged.
        read: How many texts had to be read: the others were known.
    """

    passages: int = 0
    located: int = 0
    read: int = 0

    def __add__(self, other: Ingested) -> Ingested:
        return Ingested(
            self.passages + other.passages,
            self.located + other.located,
            self.read + other.read,
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
        progress: Is told of every step.

    Raises:
        SdragError: The embeddings or the state failed.
    """
    rules = setup.policy.rules
    asked = [rule for rule in rules if not rule.always]
    (answer,) = yield from compute(
        lambda all_: setup.state.bindings.read(all_, asked), [passages]
    )
    known = replied(answer)
    new = [p for p, bound in zip(passages, known, strict=True) if bound is None]
    yield from bind(new, rules, setup.state, setup.policy.disclosure)
    return (yield from locate(passages, setup, progress))


def locate(
    passages: Sequence[Passage],
    setup: DisclosureSetup,
    progress: Progress | None = None,
) -> Steps[Ingested]:
    """Locate what constraints withhold in whole documents; as `ingest`."""
    done = Ingested()
    unlimited = replace(setup, policy=setup.policy.without_limits())
    for batch in _batches(passages):
        texts = Texts(batch, setup.rules, setup.policy.metadata)
        choosing = Choosing(texts, "", None, unlimited)
        facts = yield from located(texts, setup, choosing.to_ask, whole=True)
        doubtful = {place for place, _ in (*facts.doubts, *facts.hedged)}
        known = sum(place not in doubtful for place in range(len(batch)))
        done += Ingested(len(batch), known, facts.read)
        if progress is not None:
            progress(done.passages, len(passages))
    return done


def forget_document(passages: Sequence[Passage], setup: DisclosureSetup) -> Steps[None]:
    """
    Forget documents that left the index, with all that was located in them.

    Args:
        passages: Their chunks.
        setup: The engine.

    Raises:
        HostError: The state failed.
    """
    state = setup.state
    keys = setup.policy.disclosure.document_keys
    named = with_documents(passages, keys)
    documents = {setup.document_of(passage) for passage in named}
    (found,) = yield from compute(state.findings.forget, [documents])
    (bound,) = yield from compute(
        state.bindings.forget, [[passage.id for passage in passages]]
    )
    replied(found)
    replied(bound)


def _batches(passages: Sequence[Passage]) -> Iterator[tuple[Passage, ...]]:
    """Yield whole documents, so many together that little is lost by a commit."""
    batch: list[Passage] = []
    size = 0
    for places in by_document(passages):
        batch += (passages[place] for place in places)
        size += sum(len(passages[place].text) for place in places)
        if size >= _CHARACTERS:
            yield tuple(batch)
            batch, size = [], 0
    if batch:
        yield tuple(batch)
