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
from typing import Any, TypeVar

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
from llamaindex_sdrag.wrapping import enforce, make_engine
from sdrag.disclosure.hierarchy import SOURCES_KEY, HierarchySettings
from sdrag.effects.callers import Caller, call_async, call_sync, run_sync
from sdrag.effects.steps import Steps
from sdrag.engine import Engine
from sdrag.errors import UsageError, check_listed
from sdrag.ingest import CorpusBinder, CorpusMasker, CorpusScanner, Transformer
from sdrag.linkage.fitting import Fitted
from sdrag.options import Options
from sdrag.policy import PolicySource
from sdrag.state import StateSource
from sdrag.tasks import Bind, Mask, Scan, Summarize, Task, Transformed, View
from sdrag.vocabulary import Passage, Principal

R = TypeVar("R")
_TEMPLATES = {
    name: TextNode.model_fields[name].default
    for name in ("text_template", "metadata_template", "metadata_separator")
}
_COPIES_OF_TEXT = ("window", "original_text")
"""The metadata keys in which sentence windows keep the text."""


class IngestTransformer(TransformComponent, Transformer[BaseNode]):
    """A task of the core over nodes."""

    policy_hash: str
    engine_id: str

    _engine: Engine = PrivateAttr()
    _task: Task = PrivateAttr()

    def __init__(
        self,
        task: Task,
        policy: PolicySource,
        llm: LLM | None = None,
        embeddings: BaseEmbedding | None = None,
        state: StateSource = None,
        options: Options | None = None,
    ) -> None:
        engine = make_engine(policy, llm, embeddings, state, options, stage=task.stage)
        task.check(engine)
        names = (engine.identity, task.cache_key(engine))
        fields = {"policy_hash": engine.policy_hash, "engine_id": "/".join(names)}
        TransformComponent.__init__(self, **fields)
        self._engine, self._task = engine, task

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
        self, documents: Sequence[BaseNode], done: Transformed
    ) -> list[BaseNode]:
        originals = {}
        if not self._task.rebuilds:
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
        return await enforce(do, self._engine, steps)

    def __repr__(self) -> str:
        return Transformer.__repr__(self)

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


class ConstraintBinder(IngestTransformer, CorpusBinder[BaseNode]):
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

    _task: Bind = PrivateAttr()
    _files: tuple[str, str] | None = PrivateAttr(default=None)

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
        super().__init__(Bind(show_progress), policy, llm, embeddings, state, options)
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
            show_progress=self._task.show_progress,
        )
        return build, (*self._files, engine.llm)


class LinkageMasker(IngestTransformer, CorpusMasker[BaseNode]):
    """
    Mask nodes before they are split and stored.

    Example:
        ```python
        masker = LinkageMasker(policy="policy.yaml", whole_corpus=True)
        IngestionPipeline(transformations=[masker, splitter, embed_model])
        ```

    Args:
        policy: A path, a mapping, a list of sentences or a `Policy`.
        llm: Extracts the entities, reading each document twice (section 4.2.2 of the
            thesis), and rewrites, where `linkage.replace` says so. With a detector in
            `options`, it rewrites alone.
        embeddings: Compares forms by meaning; MiniLM by default.
        state: That of the retriever, or its path: what stands in place of values is
            known again there, and is neither searched nor cut.
        options: A detector, sinks of audit events, and limits.
        fitted: A plan that `fit` made of the whole corpus. It is applied as it is: what
            `linkage` says in the policy is what it was fitted with.
        whole_corpus: What is given in one call is the whole corpus: fit on it. A worker
            of Ray is given batches, and refuses.
        key: For ids and pseudonyms that stay the same from run to run; by default one
            of the state, if that is in a file.

    Raises:
        UsageError: Neither a plan nor `whole_corpus` was given, or both; or what is to
            be put in place of values needs a key or a model that is missing.
    """

    _task: Mask = PrivateAttr()

    def __init__(
        self,
        policy: PolicySource,
        llm: LLM | None = None,
        *,
        embeddings: BaseEmbedding | None = None,
        state: StateSource = None,
        options: Options | None = None,
        fitted: Fitted | None = None,
        whole_corpus: bool = False,
        key: bytes | None = None,
    ) -> None:
        task = Mask(fitted, whole_corpus, key)
        super().__init__(task, policy, llm, embeddings, state, options)


class InjectionScanner(IngestTransformer, CorpusScanner[BaseNode]):
    """
    Drop, strip or flag nodes that inject prompts, before they are stored.

    This is the first of two scans: it "catches known attack patterns but misses novel
    ones", so the retriever scans once more.

    Example:
        ```python
        scanner = InjectionScanner(policy="policy.yaml")
        IngestionPipeline(transformations=[splitter, scanner, embed_model])
        ```

    Args:
        policy: Its section `injection` says what becomes of a passage.
        options: A judge under `injection`, sinks of audit events, and limits.

    Raises:
        PolicyError: The policy cannot be read.
    """

    def __init__(self, policy: PolicySource, options: Options | None = None) -> None:
        super().__init__(Scan(), policy, options=options)

    def _write(
        self, documents: Sequence[BaseNode], done: Transformed
    ) -> list[BaseNode]:
        """Return what is left, with the default templates: no scan reads others."""
        left = super()._write(documents, done)
        return [
            node
            if all(getattr(node, name, own) == own for name, own in _TEMPLATES.items())
            else node.model_copy(update={**_TEMPLATES, "embedding": None})
            for node in left
        ]


class RedactingTransformer(IngestTransformer):
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

    Args:
        policy: A path, a mapping, a list of sentences or a `Policy`.
        llm: Finds what the constraints mean; without one, the local engine does.
        embeddings: Compares constraints with passages; the packaged MiniLM by default.
        state: What a `ConstraintBinder` wrote, or its path; in memory by default. What
            nobody has located is located when it is retrieved. A worker of Ray is given
            batches, so it needs the state of a binding that is complete.
        options: A detector, sinks of audit events, and limits.
        audience: A principal that represents it; without one, every constraint holds.

    Raises:
        PolicyError: The policy cannot be read.
    """

    def __init__(
        self,
        policy: PolicySource,
        llm: LLM | None = None,
        *,
        embeddings: BaseEmbedding | None = None,
        state: StateSource = None,
        options: Options | None = None,
        audience: Principal | None = None,
    ) -> None:
        super().__init__(View(audience), policy, llm, embeddings, state, options)


class HierarchySummarizer(IngestTransformer):
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

    Args:
        policy: A path, a mapping, a list of sentences or a `Policy`.
        state: What a `ConstraintBinder` wrote, or its path; in memory by default. What
            nobody has located is located when it is retrieved.
        llm: Writes the summaries; it is given unredacted text.
        embeddings: Finds what belongs together, and binds; MiniLM by default.
        options: Sinks of audit events, and limits.
        settings: The depth of the tree, and how it is clustered.
        show_progress: Shows a bar.

    Raises:
        PolicyError: The policy cannot be read.
        UsageError: A setting makes no tree.
    """

    def __init__(
        self,
        policy: PolicySource,
        state: StateSource,
        llm: LLM,
        *,
        embeddings: BaseEmbedding | None = None,
        options: Options | None = None,
        settings: HierarchySettings | None = None,
        show_progress: bool = False,
    ) -> None:
        task = Summarize(settings or HierarchySettings(), show_progress)
        super().__init__(task, policy, llm, embeddings, state, options)
