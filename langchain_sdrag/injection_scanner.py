"""
Ingest: keep passages that talk to the model out of the store.

The first of the two scans: it "catches known attack patterns but misses novel ones",
so the retriever scans once more.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.documents import Document

from langchain_sdrag.convert import passages_of
from langchain_sdrag.wrapping import LANGCHAIN, IngestWrapper
from sdrag.effects.runner import Limits
from sdrag.effects.steps import Steps
from sdrag.guardrails.injection import screen
from sdrag.guardrails.screened import Screened
from sdrag.options import Audit, Judges
from sdrag.policy import InjectionSection, PolicySource
from sdrag.wrapper import build_engine

__all__ = ["InjectionScanner"]


class InjectionScanner(IngestWrapper[Screened]):
    """
    Drop, strip or flag documents that give orders, before they are stored.

    Example:
        ```python
        scanner = InjectionScanner(policy="policy.yaml")
        store.add_documents(scanner.transform_documents(chunks))
        ```

    Args:
        policy: Its section `injection` says what is done; its defaults hold without.
        judges: A model under `injection` that gives pairs of a text and an empty one
            the probability that the text gives orders.
        audit: Called with every audit event.
        limits: The bounds of the judge's calls.

    Raises:
        PolicyError: The policy cannot be read.
    """

    def __init__(
        self,
        *,
        policy: PolicySource,
        judges: Judges | None = None,
        audit: Audit = None,
        limits: Limits | None = None,
    ) -> None:
        self._has_judge = (judges or {}).get("injection") is not None
        super().__init__(
            build_engine(
                LANGCHAIN,
                "scan",
                policy=policy,
                judges=judges,
                audit=audit,
                limits=limits,
            )
        )

    def _steps(self, documents: Sequence[Document]) -> Steps[Screened]:
        section = self._engine.policy.injection or InjectionSection()
        passages = passages_of(documents)
        return (yield from screen(passages, section, classifier=self._has_judge))

    def _documents(
        self, documents: Sequence[Document], found: Screened
    ) -> list[Document]:
        """Return those that may be stored; a stripped one is a new document."""
        # What was kept and the documents it is of are in the same order.
        kept: list[Document] = []
        rest = iter(zip(documents, passages_of(documents), strict=True))
        for passage in found.passages:
            document = next(one for one, read in rest if read.id == passage.id)
            changed = {"page_content": passage.text, "metadata": dict(passage.metadata)}
            if any(getattr(document, name) != value for name, value in changed.items()):
                document = document.model_copy(update=changed)
            kept.append(document)
        return kept
