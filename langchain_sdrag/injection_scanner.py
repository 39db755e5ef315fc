"""
Ingest: keep passages that talk to the model out of the store.

The first of the two scans: it "catches known attack patterns but misses novel ones",
so the retriever scans once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.documents import BaseDocumentTransformer, Document

from langchain_sdrag.convert import passages_of
from langchain_sdrag.tracing import cover
from sdrag.engine.calls import Limits
from sdrag.engine.effect_runner import Ports
from sdrag.engine.steps import Steps
from sdrag.guardrails.injection import screen
from sdrag.guardrails.screened import Screened
from sdrag.judges import Scorer, scoring
from sdrag.policy import InjectionSection, Policy, PolicySource
from sdrag.vocabulary import Passage
from sdrag.wrapper_setup import Audit, GuardRunner, Unpickled

__all__ = ["InjectionScanner"]


class InjectionScanner(Unpickled, BaseDocumentTransformer):
    """
    Drop, strip or flag documents that give orders, before they are stored.

    Example:
        ```python
        scanner = InjectionScanner(policy="policy.yaml")
        store.add_documents(scanner.transform_documents(chunks))
        ```

    Args:
        policy: Its section `injection` says what is done; its defaults hold without.
        classifier: Gives pairs of a text and nothing the probability of an injection.
        audit: Takes the audit events.
        limits: The bounds of the classifier's calls.
    """

    def __init__(
        self,
        *,
        policy: PolicySource,
        classifier: Scorer = None,
        audit: Audit = None,
        limits: Limits | None = None,
    ) -> None:
        self._policy = Policy.read(policy)
        self._section = self._policy.injection or InjectionSection()
        self._asks = classifier is not None
        ports = Ports(score=scoring({"injection": classifier}))
        self._hook = GuardRunner.build(
            "scan", self._policy, ports, audit=audit, limits=limits or Limits()
        )

    def transform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """
        Scan documents.

        Returns:
            Those that may be stored; a stripped one is a new document.
        """
        passages = passages_of(documents)
        found, _ = self._hook.perform(self._steps(passages), cover(self._policy, None))
        return _kept(documents, passages, found)

    async def atransform_documents(
        self, documents: Sequence[Document], **kwargs: Any
    ) -> Sequence[Document]:
        """Scan documents without blocking the event loop."""
        passages = passages_of(documents)
        found, _ = await self._hook.aperform(
            self._steps(passages), cover(self._policy, None)
        )
        return _kept(documents, passages, found)

    def _steps(self, passages: Sequence[Passage]) -> Steps[Screened]:
        return screen(passages, self._section, classifier=self._asks)

    def __repr__(self) -> str:
        return f"InjectionScanner(policy_hash={self._hook.policy_hash!r})"


def _kept(
    documents: Sequence[Document], passages: Sequence[Passage], found: Screened
) -> list[Document]:
    """Pair what was kept with its documents: both are in the same order."""
    kept: list[Document] = []
    rest = iter(zip(documents, passages, strict=True))
    for passage in found.passages:
        document = next(one for one, held in rest if held.id == passage.id)
        changed = {"page_content": passage.text, "metadata": dict(passage.metadata)}
        if any(getattr(document, name) != value for name, value in changed.items()):
            document = document.model_copy(update=changed)
        kept.append(document)
    return kept
