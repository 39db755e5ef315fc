"""
Passages out of nodes, and nodes out of passages.

A released node is a `TextNode` built anew from what the core released: id, text,
metadata, score. The host's node is not handed on, and with it stay behind the vector of
the raw text, the relationships (their metadata is the neighbours', and other
postprocessors follow them back to raw text), the `window` and `original_text` of
sentence windows, images, and the object behind an `IndexNode`. Its templates are handed
on where all nodes have the same, and where they hold no words of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, TextNode

from sdrag.errors import HostError, check_fields, check_listed
from sdrag.framework import is_layout
from sdrag.vocabulary import EVIDENCE_KEY, Passage, name_document

_TEMPLATES = ("text_template", "metadata_template", "metadata_separator")


def passages_of(nodes: Iterable[object]) -> tuple[Passage, ...]:
    """
    Read retrieved nodes.

    Raises:
        HostError: Something in the list is no scored node.
        UsageError: It is no list.
    """
    check_listed(nodes, "nodes")
    return tuple(map(read_scored_node, nodes))


def passage_of(node: BaseNode, score: float | None = None) -> Passage:
    """
    Read a node.

    Its document is what its metadata calls so, and else the one it was cut from: a file
    of several pages is several documents to the framework.
    """
    if not isinstance(node, BaseNode):
        raise HostError(f"A {type(node).__name__} is no node.")
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    check_fields(node.node_id, text, node.metadata)
    return Passage(
        id=node.node_id,
        text=text,
        metadata=node.metadata,
        score=score,
        document_id=name_document(node.metadata) or node.ref_doc_id,
    )


def nodes_of(
    passages: Sequence[Passage],
    evidence: str | None = EVIDENCE_KEY,
    hosts: Iterable[NodeWithScore] = (),
) -> list[NodeWithScore]:
    """
    Build the nodes that leave; their evidence is printed into no prompt.

    What the nodes that they were read from hide of their metadata from prompts and
    embeddings stays hidden, as far as it leaves at all.
    """
    hosts = list(hosts)
    templates = _shared_templates(hosts)
    llm, embed = {evidence}, {evidence}
    for scored in hosts:
        llm |= {*scored.node.excluded_llm_metadata_keys}
        embed |= {*scored.node.excluded_embed_metadata_keys}
    return [
        NodeWithScore(
            node=TextNode(
                id_=passage.id,
                text=passage.text,
                metadata=dict(passage.metadata),
                excluded_llm_metadata_keys=[k for k in passage.metadata if k in llm],
                excluded_embed_metadata_keys=[
                    k for k in passage.metadata if k in embed
                ],
                **templates,
            ),
            score=passage.score,
        )
        for passage in passages
    ]


def _shared_templates(hosts: Iterable[NodeWithScore]) -> dict[str, str]:
    """Return the templates of nodes, where they are one layout."""
    every = {
        tuple(str(getattr(scored.node, name, "")) for name in _TEMPLATES)
        for scored in hosts
    }
    if len(every) != 1:
        return {}
    (templates,) = every
    if not all(template and is_layout(template) for template in templates):
        return {}
    return dict(zip(_TEMPLATES, templates, strict=True))


def read_scored_node(node: object) -> Passage:
    """Read a retrieved node, or raise a `HostError`."""
    if not isinstance(node, NodeWithScore):
        raise HostError(
            f"The retriever returned a {type(node).__name__}, not a NodeWithScore."
        )
    return passage_of(node.node, node.score)
