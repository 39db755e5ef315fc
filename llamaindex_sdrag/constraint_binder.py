"""
Ingest: bind the constraints of the policy to the chunks of the corpus.

The state keeps what was bound and located; the nodes go to the host's store as they
are. The nodes of one document are read together, in the order in which they come; a
document whose nodes come in several batches is completed later. The state holds the
best bindings of everything ever written, so binding batch by batch, or shard by shard
in worker processes, ends where binding the whole corpus at once does.

The ingestion cache keeps what a transform returned, by the transform's fields. A binder
returns the nodes as they came, and what counts, the state, is not in the cache: its
fields name the policy, the models and the state, so another of these binds anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.schema import BaseNode, QueryBundle
from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR
from pydantic import PrivateAttr

from llamaindex_sdrag.convert import passage_of
from llamaindex_sdrag.searching import search_with
from llamaindex_sdrag.wrapping import LLAMAINDEX, IngestWrapper
from sdrag.corpus_binder import CorpusBinder
from sdrag.disclosure import Ingested
from sdrag.engine import Engine, HostSearch
from sdrag.errors import UsageError
from sdrag.options import Options
from sdrag.policy import PolicySource
from sdrag.state import StateSource
from sdrag.vocabulary import Passage

__all__ = ["ConstraintBinder"]


class ConstraintBinder(CorpusBinder[BaseNode], IngestWrapper[Ingested]):
    """
    Bind constraints to nodes before they are stored.

    Example:
        ```python
        binder = ConstraintBinder(policy="policy.yaml", state="sdrag.sqlite")
        IngestionPipeline(transformations=[splitter, binder, embed_model])
        ```

    Args:
        policy: A path, a mapping, a list of sentences or a `Policy`.
        state: Where it is kept, or its path; the retriever is given the same. In a
            worker of Ray it may not be left in memory.
        llm: Finds what the constraints mean, together with the local engine; then no
            model is asked when the chunks are retrieved.
        embeddings: The model that the retriever is given; MiniLM by default.
        options: Those of the retriever: its detector, above all.
        show_progress: Shows a bar.

    Raises:
        PolicyError: The policy cannot be read.
    """

    _shows_progress: bool = PrivateAttr()
    _rebuilt: Callable[[], ConstraintBinder] | None = PrivateAttr(default=None)

    def __init__(
        self,
        policy: PolicySource,
        state: StateSource,
        llm: LLM | None = None,
        *,
        embeddings: BaseEmbedding | None = None,
        options: Options | None = None,
        show_progress: bool = False,
    ) -> None:
        engine = Engine(
            policy,
            llm,
            embeddings,
            state,
            options,
            stage="bind",
            framework=LLAMAINDEX,
        )
        name = engine.disclosure.state.name
        super().__init__(engine, f"{engine.identity}/{name}")
        self._shows_progress = show_progress
        if isinstance(state, (str, Path)) and isinstance(policy, (str, Path)):
            self._rebuilt = partial(
                ConstraintBinder,
                str(policy),
                str(state),
                llm,
                embeddings=embeddings,
                options=options,
                show_progress=show_progress,
            )

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """
        Bind the constraints.

        Returns:
            The nodes, unchanged.

        Raises:
            HostError: As `bind_documents`.
        """
        self._bind(nodes)
        return nodes

    # A span would hold the nodes.
    setattr(__call__, DISPATCHER_SPAN_DECORATED_ATTR, True)

    async def acall(
        self, nodes: Sequence[BaseNode], **kwargs: Any
    ) -> Sequence[BaseNode]:
        """Bind the constraints without blocking the event loop."""
        await self._abind(nodes)
        return nodes

    def _passages(self, documents: Iterable[BaseNode]) -> Sequence[Passage]:
        return tuple(map(passage_of, documents))

    def _searching(self, retriever: BaseRetriever, question: str) -> HostSearch:
        return search_with(retriever, QueryBundle(question))

    def __reduce_ex__(
        self, protocol: Any
    ) -> tuple[Callable[[], ConstraintBinder], tuple[()]]:
        """Let worker processes build their own, from the same files."""
        if self._rebuilt is None:
            raise UsageError(
                "A binder works in several processes over files only.",
                hint="Pass the paths of the policy and of the state.",
            )
        return self._rebuilt, ()
