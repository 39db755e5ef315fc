"""
Ingest: what is done with nodes before they are stored.

What is decided, the core decides; here nodes are read, and written again. A node that a
task leaves alone is returned itself, one in which it changes something is a copy
without a vector, and what is redacted or masked is a `TextNode` built anew.

The ingestion cache keeps what a transformation returned, by its fields. So these name
the policy, the models and what else decides: with another of these all is done anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.schema import (
    BaseNode,
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
    TransformComponent,
)
from llama_index_instrumentation.dispatcher import DISPATCHER_SPAN_DECORATED_ATTR
from pydantic import PrivateAttr

from llamaindex_sdrag.convert import nodes_of, passage_of
from llamaindex_sdrag.wrapping import LLAMAINDEX, enforce
from sdrag import ingest, masking, transformer
from sdrag.disclosure.hierarchy import SOURCES_KEY
from sdrag.effects.callers import Caller, call_async, call_sync, run_sync
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.errors import UsageError, check_listed
from sdrag.framework import Framework
from sdrag.principals import current_principal
from sdrag.vocabulary import Passage

R = TypeVar("R")
_TEMPLATES = {
    name: TextNode.model_fields[name].default
    for name in ("text_template", "metadata_template", "metadata_separator")
}
_COPIES_OF_TEXT = ("window", "original_text")
"""The metadata keys in which sentence windows keep the text."""


class IngestTransformer(TransformComponent, transformer.Transformer[BaseNode]):
    """What the core does with passages, over nodes."""

    policy_hash: str = ""
    engine_id: str = ""

    _framework: ClassVar[Framework] = LLAMAINDEX
    _engine: Engine = PrivateAttr()
    _audience: Any = PrivateAttr()
    _fitted: Any = PrivateAttr()
    _key: Any = PrivateAttr()
    _settings: Any = PrivateAttr()
    _show_progress: Any = PrivateAttr()

    def __init_subclass__(cls, *, init: bool = False, **settings: Any) -> None:
        """Take `init=False`: type checkers take the fields for arguments without it."""
        super().__init_subclass__(**settings)

    def _set_up(self, *given: Any, **settings: Any) -> None:
        TransformComponent.__init__(self)
        super()._set_up(*given, **settings)
        self.policy_hash = self._engine.policy_hash
        self.engine_id = f"{self._engine.identity}/{self._cache_key()}"

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex knows the class by."""
        return cls.__name__

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """
        Transform nodes; those of one document come together, in their order.

        Raises:
            UsageError: Two nodes have the same id.
            SdragError: Nothing was transformed; the error holds no text.
        """
        return run_sync(self._transform(call_sync, nodes))

    # A span would hold the nodes.
    setattr(__call__, DISPATCHER_SPAN_DECORATED_ATTR, True)

    async def acall(
        self, nodes: Sequence[BaseNode], **kwargs: Any
    ) -> Sequence[BaseNode]:
        """Transform nodes without blocking the event loop."""
        return await self._transform(call_async, nodes)

    def _read(self, documents: Iterable[BaseNode]) -> tuple[Passage, ...]:
        check_listed(documents, "nodes")
        return tuple(map(passage_of, documents))

    def _write(
        self, documents: Sequence[BaseNode], done: transformer.Transformed
    ) -> list[BaseNode]:
        originals = {}
        if not self._rebuilds:
            pairs = zip(done.given, documents, strict=True)
            originals = {passage.id: (passage, node) for passage, node in pairs}
        hosts = [NodeWithScore(node=node) for node in documents]
        new = [passage for passage in done.passages if passage.id not in originals]
        built = iter(nodes_of(new, None, hosts))
        leaving: list[BaseNode] = []
        for passage in done.passages:
            if passage.id not in originals:
                leaving.append(_build(next(built).node, passage, done.hidden))
                continue
            before, node = originals[passage.id]
            if passage != before:
                node = _edit(node, before, passage, done.hidden)
            leaving.append(node)
        return leaving

    async def _enforce(self, do: Caller, steps: Steps[R]) -> R:
        return await enforce(do, self._engine, steps, current_principal())

    def __repr__(self) -> str:
        return transformer.Transformer.__repr__(self)

    __str__ = __repr__


def _build(node: BaseNode, passage: Passage, hidden: Sequence[str]) -> BaseNode:
    """Give a new node its relationships; ids only, for metadata is for its own node."""
    sources = str(node.metadata.pop(SOURCES_KEY, ""))
    if sources:
        children = [RelatedNodeInfo(node_id=id_) for id_ in sources.split("\n")]
        node.relationships[NodeRelationship.CHILD] = children
    if passage.document_id is not None:
        source = RelatedNodeInfo(node_id=passage.document_id)
        node.relationships[NodeRelationship.SOURCE] = source
    _hide(node, hidden)
    return node


def _edit(
    node: BaseNode, before: Passage, passage: Passage, hidden: Sequence[str]
) -> BaseNode:
    """Copy a node with what a task changed in it."""
    copy = node.model_copy(
        update={
            "embedding": None,
            "metadata": dict(passage.metadata),
            "relationships": dict(node.relationships),
            "excluded_embed_metadata_keys": [*node.excluded_embed_metadata_keys],
            "excluded_llm_metadata_keys": [*node.excluded_llm_metadata_keys],
        }
    )
    if passage.text != before.text:
        copy.set_content(passage.text)
        for key in _COPIES_OF_TEXT:
            copy.metadata.pop(key, None)
    _hide(copy, hidden)
    return copy


def _hide(node: BaseNode, keys: Sequence[str]) -> None:
    for excluded in (
        node.excluded_embed_metadata_keys,
        node.excluded_llm_metadata_keys,
    ):
        excluded.extend(key for key in keys if key not in excluded)


class ConstraintBinder(
    ingest.ConstraintBinder[BaseNode, LLM, BaseEmbedding], IngestTransformer, init=False
):
    """
    Bind constraints to nodes before they are stored; they leave as they came.

    The nodes of one document are read together; a document whose nodes come in several
    batches is completed later. So binding shard by shard in worker processes ends where
    binding the whole corpus at once does.

    Example:
        ```python
        binder = ConstraintBinder(policy="policy.yaml", state="sdrag.sqlite")
        IngestionPipeline(transformations=[splitter, binder, embed_model])
        ```
    """

    _files: tuple[str, str] | None = PrivateAttr(default=None)

    def _set_up(self, *given: Any, **settings: Any) -> None:
        super()._set_up(*given, **settings)
        policy, _, _, state, _ = given
        if isinstance(state, (str, Path)) and isinstance(policy, (str, Path)):
            self._files = str(policy), str(state)

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable[..., Any], Any]:
        """Let worker processes build their own, from the same files."""
        if self._files is None:
            raise UsageError(
                "A binder works in several processes over files only.",
                hint="Pass the paths of the policy and of the state.",
            )
        engine = self._engine
        build = partial(
            ConstraintBinder,
            embeddings=engine.embeddings,
            options=engine.options,
            show_progress=self._show_progress,
        )
        return build, (*self._files, engine.llm)


class LinkageMasker(
    masking.LinkageMasker[BaseNode, LLM, BaseEmbedding], IngestTransformer, init=False
):
    """
    Mask nodes before they are split and stored.

    Example:
        ```python
        masker = LinkageMasker(policy="policy.yaml", whole_corpus=True)
        IngestionPipeline(transformations=[masker, splitter, embed_model])
        ```
    """


class InjectionScanner(
    ingest.InjectionScanner[BaseNode], IngestTransformer, init=False
):
    """
    Drop, strip or flag nodes that inject prompts, before they are stored.

    This is the first of two scans: it "catches known attack patterns but misses novel
    ones", so the retriever scans once more.

    Example:
        ```python
        scanner = InjectionScanner(policy="policy.yaml")
        IngestionPipeline(transformations=[splitter, scanner, embed_model])
        ```
    """

    def _write(
        self, documents: Sequence[BaseNode], done: transformer.Transformed
    ) -> list[BaseNode]:
        """Return what is left, with the default templates: no scan reads others."""
        left = super()._write(documents, done)
        return [
            node
            if all(getattr(node, name, own) == own for name, own in _TEMPLATES.items())
            else node.model_copy(update={**_TEMPLATES, "embedding": None})
            for node in left
        ]


class RedactingTransformer(
    ingest.RedactingTransformer[BaseNode, LLM, BaseEmbedding],
    IngestTransformer,
    init=False,
):
    """
    Redact nodes for an index of one audience, so that its vectors tell no more.

    Nodes keep their ids, unless those hold what is withheld; their source is known by
    an alias. Metadata is what may leave, with the keys that guards look at, which are
    kept out of vectors and prompts. So are the keys that the host keeps out of them.
    Wrap the retriever over this index all the same: constraints come and go.

    Example:
        ```python
        view = RedactingTransformer(policy="policy.yaml")
        IngestionPipeline(transformations=[splitter, view, embed_model])
        ```
    """


class HierarchySummarizer(
    ingest.HierarchySummarizer[BaseNode, LLM, BaseEmbedding],
    IngestTransformer,
    init=False,
):
    """
    Add summaries to nodes before they are stored, layer over layer.

    Every node that is returned names its layer in its metadata, 0 for the chunks, so a
    store's own filter holds a retrieval to layers. A summary is a node whose children
    are what it was made from, and whose source is their document. The model reads
    unredacted nodes and no question; what its summaries repeat is redacted when they
    are retrieved.

    Example:
        ```python
        binder = ConstraintBinder(policy="policy.yaml", state="sdrag.sqlite")
        summarizer = HierarchySummarizer(
            policy="policy.yaml", state="sdrag.sqlite", llm=llm
        )
        IngestionPipeline(transformations=[splitter, binder, summarizer, embed_model])
        summaries = MetadataFilter(
            key="sdrag_layer", value=[1, 2], operator=FilterOperator.IN
        )
        retriever = index.as_retriever(filters=MetadataFilters(filters=[summaries]))
        ```
    """
