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
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.guardrails.injection import screen
from sdrag.guardrails.screened import Screened
from sdrag.options import Options
from sdrag.policy import InjectionSection, PolicySource

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
        policy: Its section `injection` says what becomes of a passage.
        options: A judge under `injection`, sinks of audit events, and limits.

    Raises:
        PolicyError: The policy cannot be read.
    """

    def __init__(self, policy: PolicySource, options: Options | None = None) -> None:
        engine = Engine(policy, options=options, stage="scan", framework=LANGCHAIN)
        super().__init__(engine)
        self._has_judge = "injection" in engine.options.judges

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
